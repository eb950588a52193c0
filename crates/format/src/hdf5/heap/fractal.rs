//! Fractal heap header: the entrance to the heap of dense links, attributes and shared messages.
//!
//! The engine decodes it once, then resolves heap IDs ([`super::heap_id`]) and walks from
//! [`FractalHeap::root`] through [`super::fractal_block`] to the block that holds an object.
//!
//! ```text
//! | "FRHP" | version 1 = 0 | heap ID length 2 | I/O filters' encoded length 2 | flags 1 |
//! | maximum size of managed objects 4 | next huge ID   length | huge B-tree   offset |
//! | free space   length | free-space manager   offset | managed space   length |
//! | allocated managed space   length | iterator offset   length | managed objects   length |
//! | huge bytes   length | huge objects   length | tiny bytes   length | tiny objects   length |
//! | table width 2 | starting block size   length | maximum direct block size   length |
//! | maximum heap size (bits) 2 | starting rows 2 | root block   offset | current rows 2 |
//! with filters only: | filtered root block size   length | filter mask 4 | filter message |
//! | checksum 4 |
//! ```
//! Section III.G, "Disk Format: Level 1G - Fractal Heap".

use super::super::Sizes;
use super::doubling_table::DoublingTable;
use crate::cursor::Cursor;
use crate::error::{Error, ErrorKind, Result};
use crate::output::Output;

/// Structure name in errors.
pub(super) const STRUCTURE: &str = "fractal heap";

const HUGE_IDS_WRAPPED: u8 = 0x01;
const CHECKSUM_DIRECT_BLOCKS: u8 = 0x02;

/// The header of a fractal heap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FractalHeap {
    /// The header's own address, which every block repeats.
    pub address: u64,
    /// Bytes of a heap ID.
    pub id_bytes: usize,
    /// True where huge-object IDs have started again from 0.
    pub huge_ids_wrapped: bool,
    /// True where direct blocks carry a checksum.
    pub direct_blocks_checksummed: bool,
    /// Bytes of the largest managed object; larger ones are huge.
    pub max_managed_bytes: u32,
    /// Version-2 B-tree of the huge objects.
    pub huge_btree_address: Option<u64>,
    /// Key of the last huge object that got one.
    pub last_huge_key: u64,
    /// The heap's address space and what of it is in use.
    pub space: HeapSpace,
    /// Counts of the objects of each kind.
    pub object_counts: ObjectCounts,
    /// The table by which blocks grow.
    pub table: DoublingTable,
    /// The encoded filter pipeline message; empty where blocks and huge objects are not filtered.
    pub filter_message: Vec<u8>,
    /// Rows that a root indirect block has when it is made.
    pub(super) starting_rows: u16,
    pub(super) root_address: Option<u64>,
    pub(super) root_rows: u32,
    pub(super) root_filtered: Option<FilteredBlock>,
    pub(super) sizes: Sizes,
}

/// The space of a heap, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HeapSpace {
    /// What the root block spans, allocated or not.
    pub spanned: u64,
    /// Direct blocks that are there.
    pub allocated: u64,
    /// What no object takes in direct blocks, including those that are not there yet.
    pub free: u64,
    /// Where the free-space manager stands; `None` where there is none.
    pub manager_address: Option<u64>,
    /// Offset in the heap behind the last block, where the next one will be: 0 while the root is a
    /// direct block.
    pub next_block_offset: u64,
    /// Huge objects.
    pub huge: u64,
    /// Tiny objects.
    pub tiny: u64,
}

/// How many objects a heap holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ObjectCounts {
    /// In direct blocks.
    pub managed: u64,
    /// On their own in the file.
    pub huge: u64,
    /// Inside their heap IDs.
    pub tiny: u64,
}

/// How a filtered direct block is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FilteredBlock {
    /// Bytes in the file.
    pub stored_bytes: u64,
    /// Bit n set: filter n was skipped.
    pub filter_mask: u32,
}

/// The next block on the way to an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockRef {
    /// Holds the object itself.
    Direct(DirectBlockRef),
    /// Leads on; decode it as [`super::fractal_block::IndirectBlock`].
    Indirect(IndirectBlockRef),
}

/// A direct block, known before it is fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectBlockRef {
    /// Where it stands in the file.
    pub address: u64,
    /// Offset of its first byte in the heap.
    pub heap_offset: u64,
    /// Bytes of the block after the filters are undone.
    pub block_bytes: u64,
    /// How it is stored where the heap has filters.
    pub filtered: Option<FilteredBlock>,
}

/// An indirect block, known before it is fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndirectBlockRef {
    /// Where it stands in the file.
    pub address: u64,
    /// Offset of its first byte in the heap.
    pub heap_offset: u64,
    /// Rows of its table.
    pub rows: u32,
}

impl FractalHeap {
    /// Reads the header that stands at `address`.
    ///
    /// # Errors
    /// Signature, version, checksum, or a doubling table that cannot be.
    pub fn decode(bytes: &[u8], address: u64, sizes: Sizes) -> Result<Self> {
        let mut cursor = Cursor::new(bytes, STRUCTURE, address);
        cursor.signature(b"FRHP")?;
        cursor.version(0)?;
        let id_bytes = usize::from(cursor.u16()?);
        let filter_bytes = usize::from(cursor.u16()?);
        cursor.require(rest_bytes(sizes, filter_bytes) as u64)?;
        let flags = cursor.u8()?;
        let max_managed_bytes = cursor.u32()?;
        let last_huge_key = cursor.uint(sizes.length)?;
        let huge_btree_address = cursor.address_field(sizes.offset)?;
        let free = cursor.uint(sizes.length)?;
        let manager_address = cursor.address_field(sizes.offset)?;
        let [spanned, allocated, next_block_offset, managed, huge_bytes, huge, tiny_bytes, tiny] =
            take_lengths(&mut cursor, sizes)?;
        let table = DoublingTable::decode(&mut cursor, sizes.length)?;
        let starting_rows = cursor.u16()?;
        let root_address = cursor.address_field(sizes.offset)?;
        let root_rows = u32::from(cursor.u16()?);
        let (root_filtered, filter_message) = match filter_bytes {
            0 => (None, Vec::new()),
            _ => {
                let stored_bytes = cursor.uint(sizes.length)?;
                let filter_mask = cursor.u32()?;
                let message = cursor.take(filter_bytes)?.to_vec();
                (Some(FilteredBlock { stored_bytes, filter_mask }), message)
            }
        };
        cursor.verify_checksum()?;
        if id_bytes == 0 {
            return Err(cursor.bad_field("heap ID length", 0));
        }
        cursor.limited("root rows", u64::from(root_rows), u64::from(table.max_rows()))?;
        Ok(Self {
            address,
            id_bytes,
            huge_ids_wrapped: flags & HUGE_IDS_WRAPPED != 0,
            direct_blocks_checksummed: flags & CHECKSUM_DIRECT_BLOCKS != 0,
            max_managed_bytes,
            huge_btree_address,
            last_huge_key,
            space: HeapSpace {
                spanned,
                allocated,
                free,
                manager_address,
                next_block_offset,
                huge: huge_bytes,
                tiny: tiny_bytes,
            },
            object_counts: ObjectCounts { managed, huge, tiny },
            table,
            filter_message,
            starting_rows,
            root_address,
            root_rows,
            root_filtered,
            sizes,
        })
    }

    /// The header's bytes.
    ///
    /// # Errors
    /// A heap ID length or filter message beyond 16 bits.
    pub fn encode(&self) -> Result<Vec<u8>> {
        let sizes = self.sizes;
        let mut output = Output::with_capacity(self.header_bytes());
        output.put(b"FRHP\0");
        output.u16(self.two_bytes("heap ID length", self.id_bytes)?);
        output.u16(self.two_bytes("filter message length", self.filter_message.len())?);
        let wrapped = if self.huge_ids_wrapped { HUGE_IDS_WRAPPED } else { 0 };
        let checksummed = if self.direct_blocks_checksummed { CHECKSUM_DIRECT_BLOCKS } else { 0 };
        output.u8(wrapped | checksummed);
        output.u32(self.max_managed_bytes);
        output.uint(self.last_huge_key, sizes.length);
        output.address(self.huge_btree_address, sizes.offset);
        output.uint(self.space.free, sizes.length);
        output.address(self.space.manager_address, sizes.offset);
        let (space, counts) = (&self.space, &self.object_counts);
        let managed = [space.spanned, space.allocated, space.next_block_offset, counts.managed];
        let others = [space.huge, counts.huge, space.tiny, counts.tiny];
        for field in managed.into_iter().chain(others) {
            output.uint(field, sizes.length);
        }
        self.table.encode(&mut output, sizes.length);
        output.u16(self.starting_rows);
        output.address(self.root_address, sizes.offset);
        output.uint(u64::from(self.root_rows), 2);
        if self.is_filtered() {
            output.uint(self.root_filtered.map_or(0, |root| root.stored_bytes), sizes.length);
            output.u32(self.root_filtered.map_or(0, |root| root.filter_mask));
            output.put(&self.filter_message);
        }
        output.checksum();
        Ok(output.into_bytes())
    }

    /// Bytes of the header.
    pub fn header_bytes(&self) -> usize {
        9 + rest_bytes(self.sizes, self.filter_message.len())
    }

    /// A length as the two bytes that it is stored in.
    fn two_bytes(&self, field: &'static str, len: usize) -> Result<u16> {
        u16::try_from(len).map_err(|_| {
            self.error(ErrorKind::Limit { field, value: len as u64, limit: u16::MAX.into() })
        })
    }

    /// The block to start from; `None` where the heap has no managed objects.
    pub fn root(&self) -> Option<BlockRef> {
        let address = self.root_address?;
        Some(match self.root_rows {
            0 => BlockRef::Direct(DirectBlockRef {
                address,
                heap_offset: 0,
                block_bytes: self.table.start_block_bytes(),
                filtered: self.root_filtered,
            }),
            rows => BlockRef::Indirect(IndirectBlockRef { address, heap_offset: 0, rows }),
        })
    }

    /// True where blocks and huge objects went through filters.
    pub fn is_filtered(&self) -> bool {
        !self.filter_message.is_empty()
    }

    /// True where the IDs of huge objects are keys of the B-tree, because address and length do
    /// not fit them.
    pub(super) fn has_huge_keys(&self) -> bool {
        let filter_bytes = if self.is_filtered() { 4 + self.sizes.length } else { 0 };
        1 + self.sizes.offset + self.sizes.length + filter_bytes > self.id_bytes
    }

    /// Bytes in front of the objects of a direct block.
    pub(super) fn direct_header_bytes(&self) -> usize {
        let checksum_bytes = if self.direct_blocks_checksummed { 4 } else { 0 };
        5 + self.sizes.offset + self.offset_width() + checksum_bytes
    }

    /// Widths of addresses and lengths in the file.
    pub(super) fn sizes(&self) -> Sizes {
        self.sizes
    }

    /// Bytes of an offset in the heap, in blocks and IDs.
    pub(super) fn offset_width(&self) -> usize {
        self.table.max_heap_bits().div_ceil(8) as usize
    }

    /// Bytes of a managed object's length in its ID: what the largest direct block or the largest
    /// managed object needs, whichever is less.
    pub(super) fn length_width(&self) -> usize {
        let block = self.table.max_direct_bytes().trailing_zeros().div_ceil(8);
        let object = self.max_managed_bytes.checked_ilog2().unwrap_or(0) / 8 + 1;
        block.min(object) as usize
    }

    /// An error about this heap.
    pub(super) fn error(&self, kind: ErrorKind) -> Error {
        Error { structure: STRUCTURE, address: self.address, kind }
    }
}

/// Reads `N` lengths.
fn take_lengths<const N: usize>(cursor: &mut Cursor<'_>, sizes: Sizes) -> Result<[u64; N]> {
    let mut lengths = [0; N];
    for length in &mut lengths {
        *length = cursor.uint(sizes.length)?;
    }
    Ok(lengths)
}

/// Bytes from the flags to the end of the checksum.
fn rest_bytes(sizes: Sizes, filter_bytes: usize) -> usize {
    let filters = if filter_bytes == 0 { 0 } else { sizes.length + 4 + filter_bytes };
    5 + 12 * sizes.length + 3 * sizes.offset + 8 + filters + 4
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::checksum::lookup3;

    /// A header with 8-byte sizes, table width 4, blocks of 512 bytes to 64 KiB, 32 bits.
    pub(in super::super) fn header(
        id_bytes: u16,
        flags: u8,
        root: u64,
        rows: u16,
        filters: &[u8],
    ) -> Vec<u8> {
        let mut bytes = b"FRHP\0".to_vec();
        bytes.extend(id_bytes.to_le_bytes());
        bytes.extend((filters.len() as u16).to_le_bytes());
        bytes.push(flags);
        bytes.extend(4096_u32.to_le_bytes());
        for field in [0, u64::MAX, 0, u64::MAX, 4096, 4096, 0, 3, 0, 2, 0, 1] {
            bytes.extend(field.to_le_bytes());
        }
        bytes.extend(4_u16.to_le_bytes());
        bytes.extend(512_u64.to_le_bytes());
        bytes.extend(65_536_u64.to_le_bytes());
        bytes.extend(32_u16.to_le_bytes());
        bytes.extend(1_u16.to_le_bytes());
        bytes.extend(root.to_le_bytes());
        bytes.extend(rows.to_le_bytes());
        if !filters.is_empty() {
            bytes.extend(300_u64.to_le_bytes());
            bytes.extend(5_u32.to_le_bytes());
            bytes.extend(filters);
        }
        let checksum = lookup3(&bytes);
        bytes.extend(checksum.to_le_bytes());
        bytes
    }

    #[test]
    fn plain_header() {
        let bytes = header(8, 2, 1000, 0, &[]);
        let heap = FractalHeap::decode(&bytes, 64, Sizes::default()).unwrap();
        assert!(heap.direct_blocks_checksummed && !heap.huge_ids_wrapped && !heap.is_filtered());
        assert_eq!(heap.object_counts, ObjectCounts { managed: 3, huge: 2, tiny: 1 });
        assert_eq!((heap.offset_width(), heap.length_width()), (4, 2));
        assert_eq!(heap.encode().unwrap(), bytes);
        assert_eq!(heap.header_bytes(), bytes.len());
        assert_eq!(
            heap.root(),
            Some(BlockRef::Direct(DirectBlockRef {
                address: 1000,
                heap_offset: 0,
                block_bytes: 512,
                filtered: None
            }))
        );
        let error = FractalHeap::decode(&bytes[..9], 64, Sizes::default()).unwrap_err();
        assert_eq!(error.kind, ErrorKind::NeedMore { bytes: bytes.len() as u64 });
    }

    #[test]
    fn filtered_header() {
        let bytes = header(7, 0, 1000, 0, &[2, 1, 1, 0]);
        let heap = FractalHeap::decode(&bytes, 64, Sizes::default()).unwrap();
        assert_eq!(heap.filter_message, [2, 1, 1, 0]);
        assert_eq!(heap.encode().unwrap(), bytes);
        let Some(BlockRef::Direct(root)) = heap.root() else { panic!("a direct root") };
        assert_eq!(root.filtered, Some(FilteredBlock { stored_bytes: 300, filter_mask: 5 }));
    }

    #[test]
    fn checksum_and_rows() {
        let mut bytes = header(8, 2, 1000, 0, &[]);
        bytes[11] ^= 1;
        let error = FractalHeap::decode(&bytes, 64, Sizes::default()).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Checksum { .. }));
        let error =
            FractalHeap::decode(&header(8, 2, 0, 23, &[]), 64, Sizes::default()).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Limit { field: "root rows", limit: 22, .. }));
    }
}
