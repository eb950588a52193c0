//! Builds an extensible array whole, from all its elements.
//!
//! Data blocks without a chunk are left out, and super blocks without data blocks.
//!
//! ```text
//! | header | index block | its data blocks | super block | its data blocks | super block ... |
//! ```

use std::ops::Range;

use super::super::Sizes;
use super::element::{ChunkElement, ElementLayout};
use super::extensible_array::{DataBlockPlace, ExtensibleArray};
use super::extensible_block::{DataBlockRef, IndexBlock, SuperBlock};
use crate::error::{Error, ErrorKind, Result};
use crate::output::Output;

const STRUCTURE: &str = "extensible array";

/// The blocks of an array in their places, before the array has an address.
#[derive(Debug, Clone)]
pub struct ExtensibleArrayBuilder<'a> {
    /// The header, with addresses from the array's own start.
    array: ExtensibleArray,
    elements: &'a [ChunkElement],
    groups: Vec<Group>,
    sizes: Sizes,
    byte_len: u64,
}

/// The data blocks of a group; addresses count from the array's start.
#[derive(Debug, Clone)]
struct Group {
    group: u32,
    /// `None` in the groups that the index block leads to, and where there is no data block.
    super_block: Option<u64>,
    data_blocks: Vec<Option<u64>>,
}

impl<'a> ExtensibleArrayBuilder<'a> {
    /// An array of `elements`, made as libhdf5 makes it.
    ///
    /// # Errors
    /// More elements than 32 bits can count, or than can be built at once.
    pub fn new(layout: ElementLayout, elements: &'a [ChunkElement], sizes: Sizes) -> Result<Self> {
        let array = ExtensibleArray::empty(layout, sizes);
        let len = elements.iter().rposition(|e| e.address.is_some()).map_or(0, |last| last + 1);
        let byte_len = (ExtensibleArray::byte_len(sizes) as u64).next_multiple_of(8);
        let elements = &elements[..len];
        let mut builder = Self { array, elements, groups: Vec::new(), sizes, byte_len };
        let Some(last) = len.checked_sub(1) else { return Ok(builder) };
        if last as u64 > u64::from(u32::MAX) || builder.array.place(last as u64).is_none() {
            let kind = ErrorKind::Field { field: "element count", value: len as u64 };
            return Err(Error { structure: STRUCTURE, address: 0, kind });
        }
        builder.array.element_count = len as u64;
        builder.array.index_block_address = Some(builder.byte_len);
        builder.array.totals.elements = builder.array.index_elements;
        builder.take(IndexBlock::byte_len(&builder.array));
        for group in 0..builder.array.groups() {
            if builder.block_range(group, 0).start >= len {
                break;
            }
            builder.place_group(group);
        }
        sizes.check_space(STRUCTURE, 0, builder.byte_len)?;
        Ok(builder)
    }

    /// Bytes of the whole array.
    pub fn byte_len(&self) -> u64 {
        self.byte_len
    }

    /// The bytes of the array at `address`, which is that of its header.
    ///
    /// # Errors
    /// An address too large for its field.
    pub fn encode(&self, address: u64) -> Result<Vec<u8>> {
        self.sizes.check_space(STRUCTURE, address, self.byte_len)?;
        let absolute = |place: &Option<u64>| place.map(|place| place + address);
        let mut array = self.array.clone();
        array.address = address;
        array.index_block_address = absolute(&array.index_block_address);
        let mut output = Output::with_capacity(self.byte_len as usize);
        let mut put = |bytes: Vec<u8>| {
            output.put(&bytes);
            output.pad_to(8);
        };
        put(array.encode(self.sizes));
        if array.index_block_address.is_some() {
            put(self.encode_index_block(&array));
        }
        for group in &self.groups {
            let data_blocks: Vec<_> = group.data_blocks.iter().map(absolute).collect();
            if group.super_block.is_some() {
                let pages = self.written_pages(group.group);
                put(SuperBlock::encode(&array, group.group, &data_blocks, pages));
            }
            for (block, _) in (0..).zip(&data_blocks).filter(|(_, place)| place.is_some()) {
                let place = DataBlockPlace { group: group.group, block, element: 0 };
                let elements = &self.elements[self.block_range(group.group, block)];
                put(DataBlockRef::encode(&array, place, elements));
            }
        }
        Ok(output.into_bytes())
    }

    fn encode_index_block(&self, array: &ExtensibleArray) -> Vec<u8> {
        let absolute = |place: Option<u64>| place.map(|place| place + array.address);
        let (mut data_blocks, mut super_blocks) = (Vec::new(), Vec::new());
        for group in &self.groups {
            match group.group < array.index_groups() {
                true => data_blocks.extend(group.data_blocks.iter().copied().map(absolute)),
                false => super_blocks.push(absolute(group.super_block)),
            }
        }
        IndexBlock::encode(array, self.elements, &data_blocks, &super_blocks)
    }

    fn place_group(&mut self, group: u32) {
        let blocks = 0..self.array.group_blocks(group);
        let is_there: Vec<bool> =
            blocks.map(|block| self.has_chunk(self.block_range(group, block))).collect();
        let has_super_block = group >= self.array.index_groups() && is_there.contains(&true);
        let super_block = has_super_block.then(|| {
            let bytes = SuperBlock::byte_len(&self.array, group);
            self.array.totals.super_blocks += 1;
            self.array.totals.super_block_bytes += bytes;
            self.take(bytes)
        });
        let bytes = DataBlockRef::byte_len(&self.array, group);
        let place = |is_there: bool| {
            is_there.then(|| {
                self.array.totals.data_blocks += 1;
                self.array.totals.data_block_bytes += bytes;
                self.array.totals.elements += self.array.block_elements(group);
                self.take(bytes)
            })
        };
        let data_blocks = is_there.into_iter().map(place).collect();
        self.groups.push(Group { group, super_block, data_blocks });
    }

    /// Takes room for `bytes`; returns where it begins.
    fn take(&mut self, bytes: u64) -> u64 {
        let start = self.byte_len;
        self.byte_len += bytes.next_multiple_of(8);
        start
    }

    /// The elements of a data block, as far as there are any.
    fn block_range(&self, group: u32, block: u64) -> Range<usize> {
        let array = &self.array;
        let count = array.block_elements(group);
        let start = array.index_elements + array.group_offset(group) + block * count;
        let within = |index: u64| index.min(self.elements.len() as u64) as usize;
        within(start)..within(start + count)
    }

    fn has_chunk(&self, range: Range<usize>) -> bool {
        self.elements[range].iter().any(|element| element.address.is_some())
    }

    /// The pages of a group's data blocks that have a chunk, counted through all blocks.
    fn written_pages(&self, group: u32) -> Vec<u64> {
        let pages = self.array.block_pages(group) * self.array.group_blocks(group);
        let first = self.block_range(group, 0).start;
        let page_elements = self.array.page_elements() as usize;
        let written = |page: &u64| {
            let start = (first + *page as usize * page_elements).min(self.elements.len());
            let end = (start + page_elements).min(self.elements.len());
            self.has_chunk(start..end)
        };
        (0..pages).filter(written).collect()
    }
}
