//! Fractal heap blocks: direct blocks hold objects, indirect blocks lead to further blocks.
//!
//! ```text
//! direct:   | "FHDB" | version 1 = 0 | heap header   offset | block offset   offset width |
//!           | checksum 4, where the heap's flags say so | objects ... to the block's end |
//! indirect: | "FHIB" | version 1 = 0 | heap header   offset | block offset   offset width |
//!           for each direct block: | address   offset | with filters: size   length, mask 4 |
//!           for each indirect block: | address   offset |
//!           | checksum 4 |
//! ```
//! Offsets in the heap count a direct block's own header too. A direct block's checksum is of the
//! whole block with zeros for the checksum itself, before any filter.
//! Section III.G, "Disk Format: Level 1G - Fractal Heap".

use super::fractal::{BlockRef, DirectBlockRef, FilteredBlock, FractalHeap, IndirectBlockRef};
use crate::checksum::{lookup3, lookup3_with_zeros};
use crate::cursor::Cursor;
use crate::error::{Error, ErrorKind, Result};
use crate::output::Output;

const DIRECT: &str = "fractal heap direct block";
const INDIRECT: &str = "fractal heap indirect block";

impl DirectBlockRef {
    /// Bytes to fetch.
    pub fn stored_bytes(&self) -> u64 {
        self.filtered.map_or(self.block_bytes, |filtered| filtered.stored_bytes)
    }

    /// Checks the block's header and checksum; `bytes` are the block after its filters are undone.
    ///
    /// # Errors
    /// Signature, version, checksum, or a block of another heap or another place in it.
    pub fn verify(&self, bytes: &[u8], heap: &FractalHeap) -> Result<()> {
        let mut cursor = Cursor::new(bytes, DIRECT, self.address);
        cursor.signature(b"FHDB")?;
        cursor.require(self.block_bytes.saturating_sub(4))?;
        check_prefix(&mut cursor, heap, self.heap_offset)?;
        if !heap.direct_blocks_checksummed {
            return Ok(());
        }
        let start = cursor.position();
        let stored = cursor.u32()?;
        let block = &bytes[..(self.block_bytes as usize).max(cursor.position())];
        match lookup3_with_zeros(block, start..start + 4) {
            computed if computed == stored => Ok(()),
            computed => Err(cursor.error(ErrorKind::Checksum { stored, computed })),
        }
    }

    /// The `byte_len` bytes at `offset` of the heap, out of this block's verified `bytes`.
    ///
    /// # Errors
    /// The object does not lie in this block behind its header.
    pub fn object<'a>(
        &self,
        bytes: &'a [u8],
        heap: &FractalHeap,
        offset: u64,
        byte_len: u64,
    ) -> Result<&'a [u8]> {
        let fault = |field, value| Error {
            structure: DIRECT,
            address: self.address,
            kind: ErrorKind::Field { field, value },
        };
        let header_bytes = heap.direct_header_bytes() as u64;
        let start = offset
            .checked_sub(self.heap_offset)
            .filter(|&start| start >= header_bytes && start < self.block_bytes)
            .ok_or_else(|| fault("heap ID offset", offset))?;
        if byte_len > self.block_bytes - start {
            return Err(fault("heap ID length", byte_len));
        }
        let end = (start + byte_len) as usize;
        bytes.get(start as usize..end).ok_or_else(|| fault("block size", bytes.len() as u64))
    }
}

impl DirectBlockRef {
    /// Encodes a block that holds `objects`, one behind the other, before any filter.
    ///
    /// # Errors
    /// More objects than the block has room for.
    pub fn encode<'o>(
        &self,
        objects: impl IntoIterator<Item = &'o [u8]>,
        heap: &FractalHeap,
        output: &mut Output,
    ) -> Result<()> {
        let start = output.len();
        output.put(b"FHDB");
        put_prefix(output, heap, self.heap_offset);
        let checksum_start = output.len();
        output.zeros(heap.direct_header_bytes() - (checksum_start - start));
        objects.into_iter().for_each(|object| output.put(object));
        let Some(rest) = (self.block_bytes as usize).checked_sub(output.len() - start) else {
            let kind = ErrorKind::Field { field: "block size", value: self.block_bytes };
            return Err(Error { structure: DIRECT, address: self.address, kind });
        };
        output.zeros(rest);
        if heap.direct_blocks_checksummed {
            let checksum = lookup3(&output.bytes()[start..]);
            output.replace(checksum_start, &checksum.to_le_bytes());
        }
        Ok(())
    }
}

/// The table of an indirect block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndirectBlock {
    place: IndirectBlockRef,
    entries: Vec<Entry>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    address: Option<u64>,
    filtered: Option<FilteredBlock>,
}

impl IndirectBlock {
    /// The block at `place` of a heap without filters that leads to the blocks at `addresses`, row
    /// by row, `None` where there is none yet; what is left of its rows leads nowhere.
    pub fn new(
        place: IndirectBlockRef,
        addresses: impl IntoIterator<Item = Option<u64>>,
        heap: &FractalHeap,
    ) -> Self {
        let count = u64::from(place.rows) * heap.table.width();
        let entry = |address| Entry { address, filtered: None };
        let mut entries: Vec<_> = addresses.into_iter().map(entry).collect();
        entries.resize(count as usize, entry(None));
        Self { place, entries }
    }

    /// Bytes of a block of `rows` rows.
    pub fn byte_len(rows: u32, heap: &FractalHeap) -> usize {
        let sizes = heap.sizes();
        let filter_bytes = if heap.is_filtered() { sizes.length + 4 } else { 0 };
        let direct_rows = rows.min(heap.table.direct_rows()) as usize;
        let columns = heap.table.width() as usize;
        let entries = columns * (rows as usize * sizes.offset + direct_rows * filter_bytes);
        5 + sizes.offset + heap.offset_width() + entries + 4
    }

    /// The block's bytes.
    pub fn encode(&self, heap: &FractalHeap) -> Vec<u8> {
        let sizes = heap.sizes();
        let mut output = Output::with_capacity(Self::byte_len(self.place.rows, heap));
        output.put(b"FHIB");
        put_prefix(&mut output, heap, self.place.heap_offset);
        let direct = (u64::from(heap.table.direct_rows()) * heap.table.width()) as usize;
        for (index, entry) in self.entries.iter().enumerate() {
            output.address(entry.address, sizes.offset);
            if heap.is_filtered() && index < direct {
                output.uint(entry.filtered.map_or(0, |block| block.stored_bytes), sizes.length);
                output.u32(entry.filtered.map_or(0, |block| block.filter_mask));
            }
        }
        output.checksum();
        output.into_bytes()
    }

    /// Reads the block that `place` says.
    ///
    /// # Errors
    /// Signature, version, checksum, or a block of another heap or another place in it.
    pub fn decode(bytes: &[u8], place: &IndirectBlockRef, heap: &FractalHeap) -> Result<Self> {
        let sizes = heap.sizes();
        let mut cursor = Cursor::new(bytes, INDIRECT, place.address);
        cursor.signature(b"FHIB")?;
        let direct = u64::from(place.rows.min(heap.table.direct_rows())) * heap.table.width();
        let indirect = u64::from(place.rows) * heap.table.width() - direct;
        cursor.require(Self::byte_len(place.rows, heap) as u64 - 4)?;
        check_prefix(&mut cursor, heap, place.heap_offset)?;
        let mut entries = Vec::with_capacity((direct + indirect) as usize);
        for index in 0..direct + indirect {
            let address = cursor.address_field(sizes.offset)?;
            let filtered = match index < direct && heap.is_filtered() {
                true => Some(FilteredBlock {
                    stored_bytes: cursor.uint(sizes.length)?,
                    filter_mask: cursor.u32()?,
                }),
                false => None,
            };
            entries.push(Entry { address, filtered });
        }
        cursor.verify_checksum()?;
        Ok(Self { place: place.clone(), entries })
    }

    /// The next block on the way to `offset` of the heap.
    ///
    /// # Errors
    /// The offset lies outside this block, or where no block has been allocated.
    pub fn locate(&self, heap: &FractalHeap, offset: u64) -> Result<BlockRef> {
        let fault = || self.error(ErrorKind::Field { field: "heap ID offset", value: offset });
        let local = offset.checked_sub(self.place.heap_offset).ok_or_else(fault)?;
        let place = heap.table.locate(local);
        if place.row >= self.place.rows {
            return Err(fault());
        }
        self.child(heap, place.row, place.column)?.ok_or_else(fault)
    }

    /// Every block this one leads to, in the order of the heap; for a walk over all of it.
    ///
    /// # Errors
    /// A block beyond the heap's address space.
    pub fn children(&self, heap: &FractalHeap) -> Result<Vec<BlockRef>> {
        let mut children = Vec::new();
        for row in 0..self.place.rows {
            for column in 0..heap.table.width() {
                children.extend(self.child(heap, row, column)?);
            }
        }
        Ok(children)
    }

    fn child(&self, heap: &FractalHeap, row: u32, column: u64) -> Result<Option<BlockRef>> {
        let index = u64::from(row) * heap.table.width() + column;
        let Some(Entry { address: Some(address), filtered }) = self.entries.get(index as usize)
        else {
            return Ok(None);
        };
        let beyond = || self.error(ErrorKind::Field { field: "row", value: u64::from(row) });
        let heap_offset = heap
            .table
            .block_offset(row, column)
            .and_then(|offset| offset.checked_add(self.place.heap_offset))
            .ok_or_else(beyond)?;
        Ok(Some(match heap.table.indirect_rows(row) {
            0 => BlockRef::Direct(DirectBlockRef {
                address: *address,
                heap_offset,
                block_bytes: heap.table.block_bytes(row).ok_or_else(beyond)?,
                filtered: *filtered,
            }),
            rows => BlockRef::Indirect(IndirectBlockRef { address: *address, heap_offset, rows }),
        }))
    }

    fn error(&self, kind: ErrorKind) -> Error {
        Error { structure: INDIRECT, address: self.place.address, kind }
    }
}

/// Writes version, heap address and block offset, which both kinds of block begin with.
fn put_prefix(output: &mut Output, heap: &FractalHeap, heap_offset: u64) {
    output.u8(0);
    output.uint(heap.address, heap.sizes().offset);
    output.uint(heap_offset, heap.offset_width());
}

/// Reads version, heap address and block offset, which both kinds of block begin with.
fn check_prefix(cursor: &mut Cursor<'_>, heap: &FractalHeap, heap_offset: u64) -> Result<()> {
    cursor.version(0)?;
    let header = cursor.uint(heap.sizes().offset)?;
    if header != heap.address {
        return Err(cursor.bad_field("heap header address", header));
    }
    let offset = cursor.uint(heap.offset_width())?;
    if offset != heap_offset {
        return Err(cursor.bad_field("block offset", offset));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::super::Sizes;
    use super::super::fractal::tests::header;
    use super::*;
    use crate::checksum::lookup3;

    fn heap(flags: u8, rows: u16, filters: &[u8]) -> FractalHeap {
        FractalHeap::decode(&header(8, flags, 1000, rows, filters), 64, Sizes::default()).unwrap()
    }

    fn direct(checksummed: bool) -> Vec<u8> {
        let mut block = b"FHDB\0".to_vec();
        block.extend(64_u64.to_le_bytes());
        block.extend(0_u32.to_le_bytes());
        block.resize(512, 0);
        block[30..35].copy_from_slice(b"hello");
        if checksummed {
            let checksum = lookup3(&block);
            block[17..21].copy_from_slice(&checksum.to_le_bytes());
        }
        block
    }

    fn indirect(heap: &FractalHeap, rows: u32) -> Vec<u8> {
        let mut block = b"FHIB\0".to_vec();
        block.extend(64_u64.to_le_bytes());
        block.extend(0_u32.to_le_bytes());
        for row in 0..rows {
            for column in 0..4 {
                let address = if column == 3 { u64::MAX } else { u64::from(row) * 100 + column };
                block.extend(address.to_le_bytes());
                if heap.is_filtered() && row < heap.table.direct_rows() {
                    block.extend(77_u64.to_le_bytes());
                    block.extend(1_u32.to_le_bytes());
                }
            }
        }
        let checksum = lookup3(&block);
        block.extend(checksum.to_le_bytes());
        block
    }

    #[test]
    fn objects_of_a_direct_block() {
        let heap = heap(2, 0, &[]);
        let Some(BlockRef::Direct(root)) = heap.root() else { panic!("a direct root") };
        let mut block = direct(true);
        root.verify(&block, &heap).unwrap();
        let encode = |object: &[u8]| {
            let mut output = Output::new();
            root.encode([object], &heap, &mut output).map(|()| output.into_bytes())
        };
        assert_eq!(encode(&block[21..35]).unwrap(), block);
        assert_eq!(encode(&[1; 491]).unwrap().len(), 512);
        assert!(encode(&[1; 492]).is_err(), "no room");
        assert_eq!(root.object(&block, &heap, 30, 5).unwrap(), b"hello");
        assert!(root.object(&block, &heap, 20, 5).is_err(), "inside the header");
        assert!(root.object(&block, &heap, 510, 5).is_err(), "beyond the end");
        assert!(root.object(&block, &heap, 512, 0).is_err());
        assert!(root.object(&block, &heap, 30, u64::MAX).is_err());
        let error = root.verify(&block[..100], &heap).unwrap_err();
        assert_eq!(error.kind, ErrorKind::NeedMore { bytes: 512 });
        block[400] = 1;
        let error = root.verify(&block, &heap).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Checksum { .. }));
    }

    #[test]
    fn blocks_of_another_heap() {
        let heap = heap(0, 0, &[]);
        let Some(BlockRef::Direct(root)) = heap.root() else { panic!("a direct root") };
        let mut block = direct(false);
        root.verify(&block, &heap).unwrap();
        block[5] = 1;
        let error = root.verify(&block, &heap).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Field { field: "heap header address", .. }));
    }

    #[test]
    fn the_way_through_indirect_blocks() {
        for filters in [&[][..], &[2, 1, 1, 0]] {
            let heap = heap(2, 11, filters);
            let Some(BlockRef::Indirect(root)) = heap.root() else { panic!("indirect") };
            let bytes = indirect(&heap, 11);
            let block = IndirectBlock::decode(&bytes, &root, &heap).unwrap();
            assert_eq!(IndirectBlock::byte_len(11, &heap), bytes.len());
            if filters.is_empty() {
                assert_eq!(block.encode(&heap), bytes);
            }
            let BlockRef::Direct(child) = block.locate(&heap, 4096 + 1024).unwrap() else {
                panic!("direct")
            };
            assert_eq!((child.address, child.heap_offset, child.block_bytes), (201, 5120, 1024));
            assert_eq!(child.stored_bytes(), if filters.is_empty() { 1024 } else { 77 });
            let offset = heap.table.block_offset(10, 2).unwrap();
            assert_eq!(
                block.locate(&heap, offset + 9).unwrap(),
                BlockRef::Indirect(IndirectBlockRef {
                    address: 1002,
                    heap_offset: offset,
                    rows: 8
                })
            );
            assert!(block.locate(&heap, 1536).is_err(), "not allocated");
            assert!(block.locate(&heap, u64::MAX).is_err());
            assert_eq!(block.children(&heap).unwrap().len(), 33);
        }
    }
}
