//! Builds a fractal heap whole, from all the objects it is to hold.
//!
//! Objects are put one behind the other into direct blocks in the order of the heap, those beyond
//! the largest managed size behind the blocks, with the B-tree that finds them. What is left at a
//! block's end stays unused, because there is no free-space manager to know of it; a library that
//! adds objects later begins with the next block.
//!
//! ```text
//! | header | root block, depth first | huge objects | B-tree of huge objects |   each padded to 8
//! ```

use std::iter::Peekable;
use std::ops::Range;
use std::vec::IntoIter;

use super::super::Sizes;
use super::super::btree::v2_build::{BTreeBuilder, BTreeKind};
use super::super::btree::v2_record::HugeRecord;
use super::doubling_table::DoublingTable;
use super::fractal::{
    DirectBlockRef, FractalHeap, HeapSpace, IndirectBlockRef, ObjectCounts, STRUCTURE,
};
use super::fractal_block::IndirectBlock;
use super::heap_id::{HeapId, HugeObject, fits};
use crate::error::{ErrorKind, Result};
use crate::output::Output;

/// Bytes of the largest managed object in the heaps that libhdf5 makes.
const MAX_MANAGED_BYTES: u32 = 4096;

/// A heap's objects in their places, before the heap has an address.
#[derive(Debug, Clone)]
pub struct FractalHeapBuilder<'a> {
    /// The header, with addresses from the heap's own start.
    header: FractalHeap,
    objects: Vec<&'a [u8]>,
    /// One behind the other.
    ids: Vec<u8>,
    /// Depth first, so that the root comes first and a block before its children.
    blocks: Vec<Block>,
    huge: Vec<HugePlace>,
    huge_tree: BTreeBuilder,
    byte_len: u64,
}

/// A block; its address counts from the heap's start.
#[derive(Debug, Clone)]
enum Block {
    /// Holds these of the managed objects.
    Direct { place: DirectBlockRef, objects: Vec<usize> },
    /// Leads to the blocks with these addresses.
    Indirect { place: IndirectBlockRef, children: Vec<Option<u64>> },
}

/// A huge object; its address counts from the heap's start.
#[derive(Debug, Clone, Copy)]
struct HugePlace {
    object: usize,
    address: u64,
}

/// A direct block that objects are being put into.
#[derive(Debug, Clone)]
struct Filling {
    heap_offset: u64,
    block_bytes: u64,
    room: u64,
    objects: Vec<usize>,
}

impl FractalHeap {
    /// A heap without objects as libhdf5 makes them for links.
    pub fn for_links(sizes: Sizes) -> Self {
        Self::empty(7, DoublingTable::LINKS, sizes)
    }

    /// A heap without objects as libhdf5 makes them for attributes.
    pub fn for_attributes(sizes: Sizes) -> Self {
        Self::empty(8, DoublingTable::ATTRIBUTES, sizes)
    }

    fn empty(id_bytes: usize, table: DoublingTable, sizes: Sizes) -> Self {
        Self {
            address: 0,
            id_bytes,
            huge_ids_wrapped: false,
            direct_blocks_checksummed: true,
            max_managed_bytes: MAX_MANAGED_BYTES,
            huge_btree_address: None,
            last_huge_key: 0,
            space: HeapSpace::default(),
            object_counts: ObjectCounts::default(),
            table,
            filter_message: Vec::new(),
            starting_rows: 1,
            root_address: None,
            root_rows: 0,
            root_filtered: None,
            sizes,
        }
    }

    /// Bytes for objects in the direct blocks of `rows`.
    fn object_room(&self, rows: Range<u32>) -> u64 {
        let header_bytes = self.direct_header_bytes() as u64;
        let of_row = |row| match self.table.indirect_rows(row) {
            0 => self.table.block_bytes(row).unwrap_or(u64::MAX).saturating_sub(header_bytes),
            rows => self.object_room(0..rows),
        };
        let rooms = rows.map(|row| self.table.width().saturating_mul(of_row(row)));
        rooms.fold(0, u64::saturating_add)
    }
}

impl<'a> FractalHeapBuilder<'a> {
    /// Puts `objects` into `empty`, one of [`FractalHeap::for_links`] and
    /// [`FractalHeap::for_attributes`].
    ///
    /// # Errors
    /// A heap that has objects or filters, an object without bytes, or more of them than the heap
    /// can address.
    pub fn new(empty: FractalHeap, objects: Vec<&'a [u8]>) -> Result<Self> {
        if empty.object_counts != ObjectCounts::default() || empty.is_filtered() {
            let (feature, value) = ("heap with objects or filters", empty.object_counts.managed);
            return Err(empty.error(ErrorKind::Unsupported { feature, value }));
        }
        if !empty.has_huge_keys() {
            let (feature, value) = ("direct IDs of huge objects", empty.sizes.offset as u64);
            return Err(empty.error(ErrorKind::Unsupported { feature, value }));
        }
        let is_huge = |object: &&&[u8]| object.len() as u64 > u64::from(empty.max_managed_bytes);
        let huge_count = objects.iter().filter(is_huge).count();
        let kind = BTreeKind::huge_objects(empty.sizes);
        let mut builder = Self {
            byte_len: (empty.header_bytes() as u64).next_multiple_of(8),
            huge_tree: BTreeBuilder::new(kind, huge_count as u64, empty.sizes)?,
            header: empty,
            objects,
            ids: Vec::new(),
            blocks: Vec::new(),
            huge: Vec::new(),
        };
        let (filled, managed_bytes) = builder.fill_blocks()?;
        builder.place_blocks(filled, managed_bytes)?;
        builder.place_huge_objects();
        builder.header.sizes.check_space(STRUCTURE, 0, builder.byte_len)?;
        Ok(builder)
    }

    /// Bytes of the whole heap.
    pub fn byte_len(&self) -> u64 {
        self.byte_len
    }

    /// The heap ID of the object `index`; empty where there is no such object.
    pub fn id(&self, index: usize) -> &[u8] {
        self.ids.chunks_exact(self.header.id_bytes).nth(index).unwrap_or_default()
    }

    /// The bytes of the heap at `address`, which is that of its header.
    ///
    /// # Errors
    /// An address too large for its field.
    pub fn encode(&self, address: u64) -> Result<Vec<u8>> {
        self.header.sizes.check_space(STRUCTURE, address, self.byte_len)?;
        let mut header = self.header.clone();
        header.address = address;
        header.root_address = header.root_address.map(|root| root + address);
        header.huge_btree_address = header.huge_btree_address.map(|tree| tree + address);
        let mut output = Output::with_capacity(self.byte_len as usize);
        output.put(&header.encode()?);
        output.pad_to(8);
        for block in &self.blocks {
            self.encode_block(block, &header, &mut output)?;
            output.pad_to(8);
        }
        let mut records = Output::new();
        for (key, place) in (1..).zip(&self.huge) {
            let object = self.objects[place.object];
            output.put(object);
            output.pad_to(8);
            let (address, stored_bytes) = (place.address + address, object.len() as u64);
            let object = HugeObject { address, stored_bytes, filtered: None };
            HugeRecord { object, key: Some(key) }.encode(&mut records, header.sizes);
        }
        if let Some(tree) = header.huge_btree_address {
            output.put(&self.huge_tree.encode(tree, records.bytes())?);
        }
        Ok(output.into_bytes())
    }

    fn encode_block(&self, block: &Block, header: &FractalHeap, output: &mut Output) -> Result<()> {
        match block {
            Block::Direct { place, objects } => {
                let objects = objects.iter().map(|&index| self.objects[index]);
                place.encode(objects, header, output)?;
            }
            Block::Indirect { place, children } => {
                let addresses = children.iter().map(|child| child.map(|a| a + header.address));
                output.put(&IndirectBlock::new(place.clone(), addresses, header).encode(header));
            }
        }
        Ok(())
    }

    /// Gives every object its ID; returns the direct blocks in the order of the heap, and the bytes
    /// of the objects in them.
    fn fill_blocks(&mut self) -> Result<(Vec<Filling>, u64)> {
        let mut filled: Vec<Filling> = Vec::new();
        let header_bytes = self.header.direct_header_bytes() as u64;
        let (mut huge, mut managed_bytes) = (Vec::new(), 0);
        for (index, object) in self.objects.iter().enumerate() {
            let byte_len = object.len() as u64;
            if byte_len == 0 {
                let kind = ErrorKind::Field { field: "object size", value: 0 };
                return Err(self.header.error(kind));
            }
            if byte_len > u64::from(self.header.max_managed_bytes) {
                huge.push(HugePlace { object: index, address: 0 });
                let id = HeapId::HugeKey(huge.len() as u64);
                self.ids.extend(id.encode(&self.header)?);
                self.header.space.huge += byte_len;
                continue;
            }
            if filled.last().is_none_or(|block| block.room < byte_len) {
                let start = filled.last().map_or(0, |block| block.heap_offset + block.block_bytes);
                filled.push(self.next_block(start, byte_len + header_bytes)?);
            }
            let Some(block) = filled.last_mut() else { continue };
            let offset = block.heap_offset + block.block_bytes - block.room;
            block.room -= byte_len;
            block.objects.push(index);
            self.ids.extend(HeapId::Managed { offset, byte_len }.encode(&self.header)?);
            self.header.object_counts.managed += 1;
            managed_bytes += byte_len;
        }
        self.header.last_huge_key = huge.len() as u64;
        self.header.object_counts.huge = huge.len() as u64;
        self.huge = huge;
        Ok((filled, managed_bytes))
    }

    /// The first direct block from `start` of the heap on that has `needed` bytes. Those before it
    /// are left out: they take no space in the file.
    fn next_block(&self, start: u64, needed: u64) -> Result<Filling> {
        let mut heap_offset = start;
        loop {
            let kind = ErrorKind::Field { field: "heap size", value: heap_offset };
            let block_bytes = self.header.table.direct_block_bytes(heap_offset);
            let block_bytes = block_bytes.ok_or_else(|| self.header.error(kind))?;
            if block_bytes >= needed {
                let room = block_bytes - self.header.direct_header_bytes() as u64;
                return Ok(Filling { heap_offset, block_bytes, room, objects: Vec::new() });
            }
            heap_offset += block_bytes;
        }
    }

    /// Gives the blocks their addresses and makes the indirect ones that lead to them.
    fn place_blocks(&mut self, filled: Vec<Filling>, managed_bytes: u64) -> Result<()> {
        let Some(last) = filled.last() else { return Ok(()) };
        let table = self.header.table;
        self.header.root_address = Some(self.byte_len);
        self.header.space.allocated = filled.iter().map(|block| block.block_bytes).sum();
        if last.heap_offset == 0 {
            self.header.space.spanned = last.block_bytes;
            self.header.space.free = last.room;
            for block in filled {
                self.place_direct(block);
            }
            return Ok(());
        }
        let rows = table.locate(last.heap_offset).row + 1;
        let beyond = ErrorKind::Field { field: "root rows", value: u64::from(rows) };
        self.header.root_rows = rows;
        self.header.space.next_block_offset = last.heap_offset + last.block_bytes;
        self.header.space.spanned = table
            .block_offset(rows, 0)
            .filter(|&spanned| fits(spanned, self.header.sizes.length))
            .ok_or_else(|| self.header.error(beyond))?;
        self.header.space.free = self.header.object_room(0..rows) - managed_bytes;
        self.place_indirect(0, rows, &mut filled.into_iter().peekable())?;
        Ok(())
    }

    fn place_direct(&mut self, block: Filling) -> u64 {
        let Filling { heap_offset, block_bytes, objects, .. } = block;
        let address = self.byte_len;
        let place = DirectBlockRef { address, heap_offset, block_bytes, filtered: None };
        self.byte_len += block_bytes.next_multiple_of(8);
        self.blocks.push(Block::Direct { place, objects });
        address
    }

    /// Places the indirect block of `rows` at `heap_offset` and all blocks below it, which are the
    /// next of `filled`.
    fn place_indirect(
        &mut self,
        heap_offset: u64,
        rows: u32,
        filled: &mut Peekable<IntoIter<Filling>>,
    ) -> Result<u64> {
        let (table, address, index) = (self.header.table, self.byte_len, self.blocks.len());
        let place = IndirectBlockRef { address, heap_offset, rows };
        self.blocks.push(Block::Indirect { place: place.clone(), children: Vec::new() });
        self.byte_len += (IndirectBlock::byte_len(rows, &self.header) as u64).next_multiple_of(8);
        let mut children = Vec::new();
        for row in 0..rows {
            for column in 0..table.width() {
                let kind = ErrorKind::Field { field: "row", value: u64::from(row) };
                let offset = table.block_offset(row, column).zip(table.block_bytes(row));
                let (offset, bytes) = offset.ok_or_else(|| self.header.error(kind))?;
                let start = heap_offset + offset;
                let is_next = |block: &Filling| (start..start + bytes).contains(&block.heap_offset);
                children.push(match table.indirect_rows(row) {
                    0 => filled.next_if(is_next).map(|block| self.place_direct(block)),
                    rows if filled.peek().is_some_and(is_next) => {
                        Some(self.place_indirect(start, rows, filled)?)
                    }
                    _ => None,
                });
            }
        }
        self.blocks[index] = Block::Indirect { place, children };
        Ok(address)
    }

    /// Gives the huge objects their addresses, and the tree that finds them.
    fn place_huge_objects(&mut self) {
        if self.huge.is_empty() {
            return;
        }
        for place in &mut self.huge {
            place.address = self.byte_len;
            self.byte_len += (self.objects[place.object].len() as u64).next_multiple_of(8);
        }
        self.header.huge_btree_address = Some(self.byte_len);
        self.byte_len += self.huge_tree.byte_len();
    }
}
