//! Blocks of an extensible array: index block, super blocks, data blocks and their pages.
//!
//! The engine fetches the index block and asks [`IndexBlock::locate`] for an element; it answers
//! with the elements, or with the block to fetch next, which answers in turn.
//!
//! ```text
//! index: | "EAIB" | version 1 = 0 | client 1 | header   offset | elements |
//!        | data block addresses | super block addresses | checksum 4 |
//! super: | "EASB" | version 1 = 0 | client 1 | header   offset | block offset   N |
//!        | page bitmap, where data blocks are paged | data block addresses | checksum 4 |
//! data:  | "EADB" | version 1 = 0 | client 1 | header   offset | block offset   N |
//!        not paged: | elements | checksum 4 |
//!        paged:     | checksum 4 | then pages: | elements | checksum 4 |
//! ```
//! N bytes hold the largest index; the block offset does not count the index block's elements. In
//! data blocks that the index block points at, libhdf5 writes another one (all data blocks before
//! it, times its own elements), and other writers may not: both are taken. The
//! bitmap's bits run on from one data block to the next, the highest of a byte first, though room
//! is made for whole bytes for each. Section VII.D, "The Extensible Array Index".

use super::element::{ChunkElement, Elements};
use super::extensible_array::{DataBlockPlace, ExtensibleArray, Place};
use super::fixed_array::{Bitmap, bit};
use crate::cursor::Cursor;
use crate::error::{Error, ErrorKind, Result};
use crate::output::Output;

const INDEX: &str = "extensible array index block";
const SUPER: &str = "extensible array super block";
const DATA: &str = "extensible array data block";
const PAGE: &str = "extensible array data block page";

/// Where an element is from a block on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExtensiblePlace<'a> {
    /// Among these.
    Elements(Elements<'a>),
    /// In this data block.
    DataBlock(DataBlockRef),
    /// In this page.
    Page(PageRef),
    /// Where this super block says.
    SuperBlock(SuperBlockRef),
    /// In a block that was never written: the chunk does not exist.
    Absent,
}

/// A super block, known before it is fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SuperBlockRef {
    /// Where it stands.
    pub address: u64,
    group: u32,
}

/// A data block that is not paged, known before it is fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataBlockRef {
    /// Where it stands.
    pub address: u64,
    /// Elements in it.
    pub element_count: u64,
    block_offset: u64,
    /// What the libraries write in its place.
    stored_offset: u64,
}

/// A page of a data block, known before it is fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageRef {
    /// Where it stands.
    pub address: u64,
    /// Index of its first element.
    pub first_index: u64,
    /// Elements in it.
    pub element_count: u64,
}

/// The index block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexBlock<'a> {
    elements: Elements<'a>,
    data_blocks: Vec<Option<u64>>,
    super_blocks: Vec<Option<u64>>,
}

/// A super block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuperBlock<'a> {
    place: SuperBlockRef,
    bitmap: &'a [u8],
    data_blocks: Vec<Option<u64>>,
}

impl IndexBlock<'_> {
    /// Bytes of the index block of `array`.
    pub fn byte_len(array: &ExtensibleArray) -> u64 {
        let super_blocks = u64::from(array.groups() - array.index_groups());
        let addresses = (array.index_blocks() + super_blocks) * array.offset_bytes as u64;
        let elements = array.index_elements * array.layout.byte_len as u64;
        (6 + array.offset_bytes + 4) as u64 + elements + addresses
    }

    /// The bytes of the index block with the first elements of `array`; `data_blocks` and
    /// `super_blocks` are the addresses of those it leads to, of which the last may be left out.
    pub fn encode(
        array: &ExtensibleArray,
        elements: &[ChunkElement],
        data_blocks: &[Option<u64>],
        super_blocks: &[Option<u64>],
    ) -> Vec<u8> {
        let mut output = Output::with_capacity(Self::byte_len(array) as usize);
        put_prefix(&mut output, b"EAIB", array);
        array.layout.encode_all(elements, array.index_elements, &mut output);
        put_addresses(&mut output, array, data_blocks, array.index_blocks());
        let super_count = u64::from(array.groups() - array.index_groups());
        put_addresses(&mut output, array, super_blocks, super_count);
        output.checksum();
        output.into_bytes()
    }
}

impl<'a> IndexBlock<'a> {
    /// Reads the index block of `array` that stands at `address`.
    ///
    /// # Errors
    /// Signature, version, checksum, or a block of another array.
    pub fn decode(bytes: &'a [u8], address: u64, array: &ExtensibleArray) -> Result<Self> {
        let mut cursor = Cursor::new(bytes, INDEX, address);
        cursor.signature(b"EAIB")?;
        cursor.require(Self::byte_len(array) - 4)?;
        let super_blocks = u64::from(array.groups() - array.index_groups());
        check_prefix(&mut cursor, array)?;
        let elements = Elements::take(&mut cursor, array.layout, 0, array.index_elements)?;
        let data_blocks = take_addresses(&mut cursor, array, array.index_blocks())?;
        let super_blocks = take_addresses(&mut cursor, array, super_blocks)?;
        cursor.verify_checksum()?;
        Ok(Self { elements, data_blocks, super_blocks })
    }

    /// Where the element with `index` is.
    ///
    /// # Errors
    /// No array of this kind has such an element.
    pub fn locate(&self, array: &ExtensibleArray, index: u64) -> Result<ExtensiblePlace<'a>> {
        if index >= array.element_count {
            return Ok(ExtensiblePlace::Absent);
        }
        let place = match array.place(index).ok_or_else(|| no_element(array, index))? {
            Place::IndexBlock => return Ok(ExtensiblePlace::Elements(self.elements)),
            Place::DataBlock(place) => place,
        };
        Ok(match place.group.checked_sub(array.index_groups()) {
            None => {
                let number = array.blocks_before(place.group) + place.block;
                match self.data_blocks.get(number as usize) {
                    Some(&Some(address)) => {
                        ExtensiblePlace::DataBlock(DataBlockRef::new(address, array, place))
                    }
                    _ => ExtensiblePlace::Absent,
                }
            }
            Some(number) => match self.super_blocks.get(number as usize) {
                Some(&Some(address)) => {
                    ExtensiblePlace::SuperBlock(SuperBlockRef { address, group: place.group })
                }
                _ => ExtensiblePlace::Absent,
            },
        })
    }
}

impl SuperBlock<'_> {
    /// Bytes of the super block of `group`.
    pub(super) fn byte_len(array: &ExtensibleArray, group: u32) -> u64 {
        let header_bytes = 6 + array.offset_bytes + array.block_offset_bytes() + 4;
        let addresses = array.group_blocks(group).saturating_mul(array.offset_bytes as u64);
        (header_bytes as u64).saturating_add(addresses).saturating_add(bitmap_bytes(array, group))
    }

    /// The bytes of the super block of `group`, whose data blocks stand at `data_blocks`
    /// and have the `written_pages`, counted through all of them.
    pub(super) fn encode(
        array: &ExtensibleArray,
        group: u32,
        data_blocks: &[Option<u64>],
        written_pages: impl IntoIterator<Item = u64>,
    ) -> Vec<u8> {
        let mut output = Output::with_capacity(Self::byte_len(array, group) as usize);
        put_prefix(&mut output, b"EASB", array);
        output.uint(array.group_offset(group), array.block_offset_bytes());
        let mut bitmap = Bitmap::new(bitmap_bytes(array, group));
        written_pages.into_iter().for_each(|page| bitmap.set(page));
        output.put(&bitmap.bytes);
        put_addresses(&mut output, array, data_blocks, array.group_blocks(group));
        output.checksum();
        output.into_bytes()
    }
}

impl IndexBlock<'_> {
    /// Address and bytes of the data blocks that it leads to.
    pub fn data_blocks(&self, array: &ExtensibleArray) -> Vec<(u64, u64)> {
        let groups = (0..array.index_groups()).flat_map(|group| {
            let len = DataBlockRef::byte_len(array, group);
            (0..array.group_blocks(group)).map(move |_| len)
        });
        let lens = self.data_blocks.iter().zip(groups);
        lens.filter_map(|(address, len)| Some(((*address)?, len))).collect()
    }

    /// The super blocks that it leads to.
    pub fn super_blocks(&self, array: &ExtensibleArray) -> Vec<SuperBlockRef> {
        let groups = self.super_blocks.iter().zip(array.index_groups()..);
        groups
            .filter_map(|(address, group)| Some(SuperBlockRef { address: (*address)?, group }))
            .collect()
    }
}

impl SuperBlock<'_> {
    /// Address and bytes of the data blocks that it leads to.
    pub fn data_blocks(&self, array: &ExtensibleArray) -> Vec<(u64, u64)> {
        let len = DataBlockRef::byte_len(array, self.place.group);
        self.data_blocks.iter().filter_map(|address| Some(((*address)?, len))).collect()
    }
}

impl SuperBlockRef {
    /// Its bytes.
    pub fn byte_len(&self, array: &ExtensibleArray) -> u64 {
        SuperBlock::byte_len(array, self.group)
    }
}

impl<'a> SuperBlock<'a> {
    /// Reads the super block that `place` says.
    ///
    /// # Errors
    /// Signature, version, checksum, or a block of another array or another place in it.
    pub fn decode(bytes: &'a [u8], place: &SuperBlockRef, array: &ExtensibleArray) -> Result<Self> {
        let mut cursor = Cursor::new(bytes, SUPER, place.address);
        cursor.signature(b"EASB")?;
        let blocks = array.group_blocks(place.group);
        cursor.require(Self::byte_len(array, place.group) - 4)?;
        check_prefix(&mut cursor, array)?;
        check_offset(&mut cursor, array, [array.group_offset(place.group); 2])?;
        let bitmap = cursor.take(bitmap_bytes(array, place.group) as usize)?;
        let data_blocks = take_addresses(&mut cursor, array, blocks)?;
        cursor.verify_checksum()?;
        Ok(Self { place: *place, bitmap, data_blocks })
    }

    /// Where the element with `index` is.
    ///
    /// # Errors
    /// It belongs to another super block, or its page lies beyond 64 bits.
    pub fn locate(&self, array: &ExtensibleArray, index: u64) -> Result<ExtensiblePlace<'a>> {
        let place = match array.place(index) {
            Some(Place::DataBlock(place)) if place.group == self.place.group => place,
            _ => return Err(no_element(array, index)),
        };
        let Some(&Some(address)) = self.data_blocks.get(place.block as usize) else {
            return Ok(ExtensiblePlace::Absent);
        };
        let pages = array.block_pages(place.group);
        if pages == 0 {
            return Ok(ExtensiblePlace::DataBlock(DataBlockRef::new(address, array, place)));
        }
        let element_count = array.page_elements();
        let page = place.element / element_count;
        if !bit(self.bitmap, place.block * pages + page) {
            return Ok(ExtensiblePlace::Absent);
        }
        let page_bytes = element_count * array.layout.byte_len as u64 + 4;
        let prefix_bytes = 6 + array.offset_bytes + array.block_offset_bytes() + 4;
        let address = page
            .checked_mul(page_bytes)
            .and_then(|offset| offset.checked_add(prefix_bytes as u64))
            .and_then(|offset| offset.checked_add(address))
            .ok_or_else(|| no_element(array, index))?;
        let first_index = index - place.element % element_count;
        Ok(ExtensiblePlace::Page(PageRef { address, first_index, element_count }))
    }
}

impl DataBlockRef {
    fn new(address: u64, array: &ExtensibleArray, place: DataBlockPlace) -> Self {
        let element_count = array.block_elements(place.group);
        let group_offset = array.group_offset(place.group);
        let block_offset = group_offset + place.block * element_count;
        let stored_offset = match place.group < array.index_groups() {
            // The library counts all data blocks here, not those of the group.
            true => {
                let number = array.blocks_before(place.group) + place.block;
                group_offset + number * element_count
            }
            false => block_offset,
        };
        Self { address, element_count, block_offset, stored_offset }
    }

    /// Bytes of a data block in `group`, pages included.
    pub(super) fn byte_len(array: &ExtensibleArray, group: u32) -> u64 {
        let prefix_bytes = 6 + array.offset_bytes + array.block_offset_bytes() + 4;
        let elements = array.block_elements(group).saturating_mul(array.layout.byte_len as u64);
        let checksums = array.block_pages(group).saturating_mul(4);
        (prefix_bytes as u64).saturating_add(elements).saturating_add(checksums)
    }

    /// The bytes of the data block at `place`, pages included, with `elements`, of which the last
    /// may be left out.
    pub(super) fn encode(
        array: &ExtensibleArray,
        place: DataBlockPlace,
        elements: &[ChunkElement],
    ) -> Vec<u8> {
        let mut output = Output::with_capacity(Self::byte_len(array, place.group) as usize);
        put_prefix(&mut output, b"EADB", array);
        let stored_offset = Self::new(0, array, place).stored_offset;
        output.uint(stored_offset, array.block_offset_bytes());
        let pages = array.block_pages(place.group);
        if pages == 0 {
            array.layout.encode_all(elements, array.block_elements(place.group), &mut output);
        }
        output.checksum();
        let mut elements = elements.chunks(array.page_elements() as usize);
        for _ in 0..pages {
            let mut page = Output::new();
            let elements = elements.next().unwrap_or_default();
            array.layout.encode_all(elements, array.page_elements(), &mut page);
            page.checksum();
            output.put(page.bytes());
        }
        output.into_bytes()
    }

    /// The block's elements out of its `bytes`.
    ///
    /// # Errors
    /// Signature, version, checksum, or a block of another array or another place in it.
    pub fn decode<'a>(&self, bytes: &'a [u8], array: &ExtensibleArray) -> Result<Elements<'a>> {
        let mut cursor = Cursor::new(bytes, DATA, self.address);
        cursor.signature(b"EADB")?;
        let header_bytes = 2 + array.offset_bytes + array.block_offset_bytes() + 4;
        let element_bytes = array.layout.byte_len as u64;
        let elements_bytes = self.element_count.saturating_mul(element_bytes);
        cursor.require(elements_bytes.saturating_add(header_bytes as u64))?;
        check_prefix(&mut cursor, array)?;
        check_offset(&mut cursor, array, [self.block_offset, self.stored_offset])?;
        let first_index = self.block_offset + array.index_elements;
        let elements = Elements::take(&mut cursor, array.layout, first_index, self.element_count)?;
        cursor.verify_checksum()?;
        Ok(elements)
    }
}

impl PageRef {
    /// The page's elements out of its `bytes`.
    ///
    /// # Errors
    /// Checksum.
    pub fn decode<'a>(&self, bytes: &'a [u8], array: &ExtensibleArray) -> Result<Elements<'a>> {
        let mut cursor = Cursor::new(bytes, PAGE, self.address);
        let element_bytes = array.layout.byte_len as u64;
        cursor.require(self.element_count.saturating_mul(element_bytes).saturating_add(4))?;
        let elements =
            Elements::take(&mut cursor, array.layout, self.first_index, self.element_count)?;
        cursor.verify_checksum()?;
        Ok(elements)
    }
}

/// Writes signature, version, client and header address.
fn put_prefix(output: &mut Output, signature: &[u8; 4], array: &ExtensibleArray) {
    output.put(signature);
    output.put(&[0, array.layout.client]);
    output.uint(array.address, array.offset_bytes);
}

/// Writes `count` addresses: `addresses`, then undefined ones.
fn put_addresses(
    output: &mut Output,
    array: &ExtensibleArray,
    addresses: &[Option<u64>],
    count: u64,
) {
    let given = addresses.iter().copied().chain(std::iter::repeat(None));
    for address in given.take(count as usize) {
        output.address(address, array.offset_bytes);
    }
}

/// Bytes of the bitmap of pages in the super block of `group`.
fn bitmap_bytes(array: &ExtensibleArray, group: u32) -> u64 {
    array.group_blocks(group).saturating_mul(array.block_pages(group).div_ceil(8))
}

/// Reads version, client and header address, which every block has behind its signature.
fn check_prefix(cursor: &mut Cursor<'_>, array: &ExtensibleArray) -> Result<()> {
    cursor.version(0)?;
    let client = cursor.u8()?;
    if client != array.layout.client {
        return Err(cursor.bad_field("client ID", u64::from(client)));
    }
    let header = cursor.uint(array.offset_bytes)?;
    if header != array.address {
        return Err(cursor.bad_field("header address", header));
    }
    Ok(())
}

/// Reads the block offset of a super block or data block, which must be one of `expected`.
fn check_offset(
    cursor: &mut Cursor<'_>,
    array: &ExtensibleArray,
    expected: [u64; 2],
) -> Result<()> {
    let offset = cursor.uint(array.block_offset_bytes())?;
    if !expected.contains(&offset) {
        return Err(cursor.bad_field("block offset", offset));
    }
    Ok(())
}

/// Reads `count` addresses, for which the caller has seen that the bytes are there.
fn take_addresses(
    cursor: &mut Cursor<'_>,
    array: &ExtensibleArray,
    count: u64,
) -> Result<Vec<Option<u64>>> {
    (0..count).map(|_| cursor.address_field(array.offset_bytes)).collect()
}

fn no_element(array: &ExtensibleArray, index: u64) -> Error {
    Error {
        structure: INDEX,
        address: array.address,
        kind: ErrorKind::Field { field: "element index", value: index },
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::Sizes;
    use super::super::extensible_array::tests::{LIBRARY, header};
    use super::*;
    use crate::checksum::lookup3;

    fn array() -> ExtensibleArray {
        ExtensibleArray::decode(&header(LIBRARY, 1 << 30), 64, Sizes::default()).unwrap()
    }

    fn block(signature: &[u8; 4], fields: &[&[u8]]) -> Vec<u8> {
        let mut bytes = signature.to_vec();
        bytes.extend([0, 0]);
        bytes.extend(64_u64.to_le_bytes());
        fields.iter().for_each(|field| bytes.extend(*field));
        seal(bytes)
    }

    fn seal(mut bytes: Vec<u8>) -> Vec<u8> {
        let checksum = lookup3(&bytes);
        bytes.extend(checksum.to_le_bytes());
        bytes
    }

    fn addresses(from: u64, count: u64) -> Vec<u8> {
        (from..from + count).flat_map(u64::to_le_bytes).collect()
    }

    /// Elements 100 to 103, data blocks at 200 to 205, super blocks at 300 to 324.
    fn index_block() -> Vec<u8> {
        block(b"EAIB", &[&addresses(100, 4), &addresses(200, 6), &addresses(300, 25)])
    }

    #[test]
    fn from_the_index_block() {
        let (array, bytes) = (array(), index_block());
        let index = IndexBlock::decode(&bytes, 700, &array).unwrap();
        let ExtensiblePlace::Elements(elements) = index.locate(&array, 3).unwrap() else {
            panic!("in the index block")
        };
        assert_eq!(elements.get(3).unwrap().address, Some(103));
        // Group 2, block 1: 3 blocks come before it, 4 + 16 + 32 + 32 elements too.
        let ExtensiblePlace::DataBlock(data) = index.locate(&array, 84 + 5).unwrap() else {
            panic!("in a data block")
        };
        assert_eq!((data.address, data.element_count), (203, 32));
        let bytes = block(b"EADB", &[&80_u32.to_le_bytes(), &addresses(500, 32)]);
        let elements = data.decode(&bytes, &array).unwrap();
        assert_eq!(elements.get(84 + 5).unwrap().address, Some(505));
        // As libhdf5 has it: 48 + 3 blocks of 32 before it.
        let quirk = block(b"EADB", &[&144_u32.to_le_bytes(), &addresses(500, 32)]);
        assert!(data.decode(&quirk, &array).is_ok());
        let other = block(b"EADB", &[&81_u32.to_le_bytes(), &addresses(500, 32)]);
        assert!(data.decode(&other, &array).is_err());
        assert_eq!(index.locate(&array, 1 << 30).unwrap(), ExtensiblePlace::Absent);
    }

    #[test]
    fn from_a_super_block() {
        let (array, bytes) = (array(), index_block());
        let index = IndexBlock::decode(&bytes, 700, &array).unwrap();
        let first = 4 + 15 * 16;
        let ExtensiblePlace::SuperBlock(place) = index.locate(&array, first).unwrap() else {
            panic!("in a super block")
        };
        assert_eq!(place, SuperBlockRef { address: 300, group: 4 });
        let bytes = block(b"EASB", &[&240_u32.to_le_bytes(), &addresses(900, 4)]);
        let group = SuperBlock::decode(&bytes, &place, &array).unwrap();
        assert_eq!(
            group.locate(&array, first + 64).unwrap(),
            ExtensiblePlace::DataBlock(DataBlockRef {
                address: 901,
                element_count: 64,
                block_offset: 240 + 64,
                stored_offset: 240 + 64
            })
        );
        assert!(group.locate(&array, first - 1).is_err());
        assert!(group.locate(&array, first + 256).is_err());
    }

    #[test]
    fn from_paged_data_blocks() {
        let array = array();
        let offset = 8191 * 16_u64;
        let place = SuperBlockRef { address: 300, group: 13 };
        // 64 data blocks of 2 pages: block 0 has its second page, block 1 its first.
        let mut bitmap = [0; 64];
        bitmap[0] = 0b0110_0000;
        let offset_field = (offset as u32).to_le_bytes();
        let bytes = block(b"EASB", &[&offset_field, &bitmap, &addresses(9000, 64)]);
        let group = SuperBlock::decode(&bytes, &place, &array).unwrap();
        let first = offset + 4;
        let locate = |index| group.locate(&array, first + index).unwrap();
        assert_eq!(locate(1023), ExtensiblePlace::Absent);
        let prefix = 4 + 2 + 8 + 4 + 4;
        let page = |address: u64, index| {
            let (address, first_index) = (address + prefix, first + index);
            PageRef { address, first_index, element_count: 1024 }
        };
        assert_eq!(locate(1025), ExtensiblePlace::Page(page(9000 + 8196, 1024)));
        assert_eq!(locate(2048), ExtensiblePlace::Page(page(9001, 2048)));
        assert_eq!(locate(3072), ExtensiblePlace::Absent);
        let bytes = seal(addresses(40_000, 1024));
        let elements = page(9001, 2048).decode(&bytes, &array).unwrap();
        assert_eq!(elements.get(first + 2050).unwrap().address, Some(40_002));
    }
}
