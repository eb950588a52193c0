//! Extensible array: the index of a data set with one unlimited dimension.
//!
//! The engine decodes this header once; [`super::extensible_block`] leads from its index block to
//! the block or page of an element. Here is the arithmetic that all of them share.
//!
//! ```text
//! | "EAHD" | version 1 = 0 | client 1 | element size 1 | bits of the largest index 1 |
//! | elements in the index block 1 | elements of the smallest data block 1 |
//! | data blocks of the smallest super block 1 | page bits 1 |
//! | super blocks   length | their bytes   length | data blocks   length | their bytes   length |
//! | largest index set + 1   length | elements   length | index block   offset | checksum 4 |
//! ```
//! Behind the elements of the index block, data blocks are in groups: group s has 2^(s/2) blocks
//! of 2^((s+1)/2) times the smallest count, so 2^s times it in all. The index block has the
//! addresses of the data blocks of the first groups; each later group has a super block.
//! Section VII.D, "The Extensible Array Index".

use super::super::Sizes;
use super::element::ElementLayout;
use crate::cursor::Cursor;
use crate::error::Result;
use crate::output::Output;

/// The header of an extensible array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExtensibleArray {
    /// The header's own address, which every block repeats.
    pub address: u64,
    /// How elements are laid out.
    pub layout: ElementLayout,
    /// One more than the largest index that was set: elements from here on do not exist.
    pub element_count: u64,
    /// The index block; `None` where no chunk was ever written.
    pub index_block_address: Option<u64>,
    /// What its blocks come to.
    pub totals: BlockTotals,
    pub(super) index_elements: u64,
    pub(super) offset_bytes: usize,
    max_bits: u32,
    min_bits: u32,
    min_pointer_bits: u32,
    page_bits: u32,
}

/// What the blocks of an extensible array come to, beside the index block.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BlockTotals {
    /// Super blocks.
    pub super_blocks: u64,
    /// Their bytes.
    pub super_block_bytes: u64,
    /// Data blocks.
    pub data_blocks: u64,
    /// Their bytes, pages included.
    pub data_block_bytes: u64,
    /// Elements that there is room for, in the index block too.
    pub elements: u64,
}

/// What libhdf5 makes extensible arrays with; the layout message repeats it.
pub mod library {
    /// Bits of the largest index.
    pub const MAX_BITS: u8 = 32;
    /// Elements in the index block.
    pub const INDEX_ELEMENTS: u8 = 4;
    /// Elements of the smallest data block.
    pub const MIN_ELEMENTS: u8 = 16;
    /// Data blocks of the smallest super block.
    pub const MIN_POINTERS: u8 = 4;
    /// log2 of the elements of a page.
    pub const PAGE_BITS: u8 = 10;
}

/// Where an element stands in an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In the index block.
    IndexBlock,
    /// In this data block.
    DataBlock(DataBlockPlace),
}

/// Which data block an element stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DataBlockPlace {
    /// Its group.
    pub group: u32,
    /// The block's number in the group.
    pub block: u64,
    /// The element's number in the block.
    pub element: u64,
}

impl ExtensibleArray {
    /// Reads the header that stands at `address`.
    ///
    /// # Errors
    /// Signature, version, checksum, or sizes that cannot be.
    pub fn decode(bytes: &[u8], address: u64, sizes: Sizes) -> Result<Self> {
        let mut cursor = Cursor::new(bytes, "extensible array header", address);
        cursor.signature(b"EAHD")?;
        cursor.version(0)?;
        cursor.require(11 + (6 * sizes.length + sizes.offset) as u64)?;
        let client = cursor.u8()?;
        let element_bytes = usize::from(cursor.u8()?);
        let max_bits = u32::from(cursor.u8()?);
        let index_elements = u64::from(cursor.u8()?);
        let min_elements = cursor.u8()?;
        let min_pointers = cursor.u8()?;
        let page_bits = u32::from(cursor.u8()?);
        let mut length = || cursor.uint(sizes.length);
        let (super_blocks, super_block_bytes) = (length()?, length()?);
        let (data_blocks, data_block_bytes) = (length()?, length()?);
        let (element_count, elements) = (length()?, length()?);
        let index_block_address = cursor.address_field(sizes.offset)?;
        cursor.verify_checksum()?;
        let array = Self {
            address,
            layout: ElementLayout::new(&cursor, client, element_bytes, sizes)?,
            element_count,
            index_block_address,
            totals: BlockTotals {
                super_blocks,
                super_block_bytes,
                data_blocks,
                data_block_bytes,
                elements,
            },
            index_elements,
            offset_bytes: sizes.offset,
            max_bits,
            min_bits: min_elements.trailing_zeros(),
            min_pointer_bits: min_pointers.trailing_zeros(),
            page_bits,
        };
        if max_bits == 0 || max_bits > 64 {
            return Err(cursor.bad_field("bits of the largest index", u64::from(max_bits)));
        }
        if !min_elements.is_power_of_two() || array.min_bits > max_bits {
            return Err(cursor.bad_field("smallest data block", u64::from(min_elements)));
        }
        let is_power = min_pointers >= 2 && min_pointers.is_power_of_two();
        if !is_power || array.index_groups() > array.groups() {
            return Err(cursor.bad_field("smallest super block", u64::from(min_pointers)));
        }
        // The libraries never page a data block that the index block points at.
        if page_bits > max_bits || page_bits < array.min_bits + array.min_pointer_bits {
            return Err(cursor.bad_field("page bits", u64::from(page_bits)));
        }
        Ok(array)
    }

    /// An array without blocks, made as libhdf5 makes it.
    pub fn empty(layout: ElementLayout, sizes: Sizes) -> Self {
        Self {
            address: 0,
            layout,
            element_count: 0,
            index_block_address: None,
            totals: BlockTotals::default(),
            index_elements: library::INDEX_ELEMENTS.into(),
            offset_bytes: sizes.offset,
            max_bits: library::MAX_BITS.into(),
            min_bits: library::MIN_ELEMENTS.trailing_zeros(),
            min_pointer_bits: library::MIN_POINTERS.trailing_zeros(),
            page_bits: library::PAGE_BITS.into(),
        }
    }

    /// Bytes of the header.
    pub fn byte_len(sizes: Sizes) -> usize {
        16 + 6 * sizes.length + sizes.offset
    }

    /// The header's bytes.
    pub fn encode(&self, sizes: Sizes) -> Vec<u8> {
        let mut output = Output::with_capacity(Self::byte_len(sizes));
        output.put(b"EAHD\0");
        output.u8(self.layout.client);
        output.uint(self.layout.byte_len as u64, 1);
        output.uint(u64::from(self.max_bits), 1);
        output.uint(self.index_elements, 1);
        output.uint(1 << self.min_bits, 1);
        output.uint(1 << self.min_pointer_bits, 1);
        output.uint(u64::from(self.page_bits), 1);
        let totals = &self.totals;
        let super_blocks = [totals.super_blocks, totals.super_block_bytes];
        let data_blocks = [totals.data_blocks, totals.data_block_bytes];
        let elements = [self.element_count, totals.elements];
        for field in super_blocks.into_iter().chain(data_blocks).chain(elements) {
            output.uint(field, sizes.length);
        }
        output.address(self.index_block_address, sizes.offset);
        output.checksum();
        output.into_bytes()
    }

    /// Where the element with `index` stands; `None` where no array of this kind has it.
    pub(super) fn place(&self, index: u64) -> Option<Place> {
        let Some(beyond) = index.checked_sub(self.index_elements) else {
            return Some(Place::IndexBlock);
        };
        let group = (beyond >> self.min_bits).checked_add(1)?.ilog2();
        if group >= self.groups() {
            return None;
        }
        let offset = beyond - self.group_offset(group);
        let block = offset / self.block_elements(group);
        let element = offset % self.block_elements(group);
        Some(Place::DataBlock(DataBlockPlace { group, block, element }))
    }

    /// Where a walk goes on that found the element `index` absent: behind the page or data block
    /// that was never written, or, where that is not known from the group's super block, behind
    /// all data blocks that have the same super block.
    pub fn absent_end(&self, index: u64, in_super_block: bool) -> u64 {
        let Some(Place::DataBlock(place)) = self.place(index) else {
            return index.saturating_add(1);
        };
        let elements = self.block_elements(place.group);
        let start = self.group_offset(place.group).saturating_add(self.index_elements);
        let (unit, offset) = match (in_super_block, place.group < self.index_groups()) {
            (false, false) => (elements.saturating_mul(self.group_blocks(place.group)), 0),
            (false, true) => (elements, place.block * elements),
            (true, _) => {
                let unit = elements.min(self.page_elements());
                let within = place.block * elements + place.element;
                (unit, within - within % unit)
            }
        };
        start.saturating_add(offset).saturating_add(unit)
    }

    /// Groups of data blocks.
    pub(super) fn groups(&self) -> u32 {
        1 + self.max_bits - self.min_bits
    }

    /// Groups whose data blocks the index block points at.
    pub(super) fn index_groups(&self) -> u32 {
        2 * self.min_pointer_bits
    }

    /// Data blocks that the index block points at.
    pub(super) fn index_blocks(&self) -> u64 {
        self.blocks_before(self.index_groups())
    }

    /// Data blocks in all groups before `group`.
    pub(super) fn blocks_before(&self, group: u32) -> u64 {
        let pairs = (1_u64 << (group / 2)) - 1;
        2 * pairs + if group % 2 == 1 { 1 << (group / 2) } else { 0 }
    }

    /// Data blocks in `group`.
    pub(super) fn group_blocks(&self, group: u32) -> u64 {
        1 << (group / 2)
    }

    /// Elements of a data block in `group`.
    pub(super) fn block_elements(&self, group: u32) -> u64 {
        1 << (self.min_bits + group.div_ceil(2))
    }

    /// Elements in all groups before `group`, not counting the index block's.
    pub(super) fn group_offset(&self, group: u32) -> u64 {
        // A group that exists starts below 2^64, whatever the shift loses.
        ((1_u64 << group) - 1) << self.min_bits
    }

    /// Pages of a data block in `group`; 0 where it is not paged.
    pub(super) fn block_pages(&self, group: u32) -> u64 {
        let elements = self.block_elements(group);
        if elements > self.page_elements() { elements >> self.page_bits } else { 0 }
    }

    /// Elements of a page.
    pub(super) fn page_elements(&self) -> u64 {
        1_u64.checked_shl(self.page_bits).unwrap_or(u64::MAX)
    }

    /// Bytes of the offset that super blocks and data blocks begin with.
    pub(super) fn block_offset_bytes(&self) -> usize {
        self.max_bits.div_ceil(8) as usize
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::checksum::lookup3;

    /// A header with 8-byte sizes and elements that are not filtered, at address 64.
    pub(in super::super) fn header(fields: [u8; 5], element_count: u64) -> Vec<u8> {
        let mut bytes = b"EAHD\0\0\x08".to_vec();
        bytes.extend(fields);
        for field in [0, 0, 0, 0, element_count, 0, 700] {
            bytes.extend(field.to_le_bytes());
        }
        let checksum = lookup3(&bytes);
        bytes.extend(checksum.to_le_bytes());
        bytes
    }

    /// What the library writes.
    pub(in super::super) const LIBRARY: [u8; 5] = [32, 4, 16, 4, 10];

    fn array(fields: [u8; 5]) -> Result<ExtensibleArray> {
        ExtensibleArray::decode(&header(fields, 1 << 40), 64, Sizes::default())
    }

    #[test]
    fn every_element_has_one_place() {
        for fields in [LIBRARY, [20, 0, 1, 2, 3], [24, 7, 2, 8, 4]] {
            let array = array(fields).unwrap();
            let mut expected = u64::from(fields[1]);
            for group in 0..10 {
                assert_eq!(array.group_offset(group) + array.index_elements, expected);
                for block in 0..array.group_blocks(group) {
                    for element in 0..array.block_elements(group) {
                        let place = DataBlockPlace { group, block, element };
                        assert_eq!(array.place(expected), Some(Place::DataBlock(place)));
                        expected += 1;
                    }
                }
            }
        }
    }

    #[test]
    fn counts_of_blocks() {
        let array = array(LIBRARY).unwrap();
        assert_eq!((array.groups(), array.index_groups(), array.index_blocks()), (29, 4, 6));
        let mut blocks = 0;
        for group in 0..29 {
            assert_eq!(array.blocks_before(group), blocks);
            blocks += array.group_blocks(group);
        }
        assert_eq!(array.place(3), Some(Place::IndexBlock));
        assert_eq!(array.place(u64::MAX), None);
        // 2,048 elements, two pages, are first in group 13.
        assert_eq!((array.block_pages(12), array.block_pages(13)), (0, 2));
    }

    #[test]
    fn impossible_sizes() {
        for fields in [
            [0, 4, 16, 4, 10],
            [65, 4, 16, 4, 10],
            [32, 4, 15, 4, 10],
            [32, 4, 0, 4, 10],
            [3, 4, 16, 4, 3],
            [32, 4, 16, 1, 10],
            [32, 4, 16, 3, 10],
            [5, 4, 16, 8, 5],
            [32, 4, 16, 4, 5],
            [32, 4, 16, 4, 33],
        ] {
            assert!(array(fields).is_err(), "{fields:?}");
        }
        assert!(array([64, 255, 128, 128, 64]).is_ok());
        assert_eq!(array([64, 0, 1, 2, 1]).unwrap().place(u64::MAX), None);
    }
}
