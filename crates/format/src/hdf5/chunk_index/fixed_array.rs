//! Fixed array: the index of a data set whose dimensions all have a maximum.
//!
//! The engine decodes the header, then the data block; a block with more elements than a page is
//! only a bitmap of the pages that exist, and [`FixedArrayBlock::locate`] says which page to
//! fetch.
//!
//! ```text
//! header: | "FAHD" | version 1 = 0 | client 1 | element size 1 | page bits 1 |
//!         | elements   length | data block   offset | checksum 4 |
//! block:  | "FADB" | version 1 = 0 | client 1 | header   offset |
//!         not paged: | elements | checksum 4 |
//!         paged:     | page bitmap | checksum 4 | then pages: | elements | checksum 4 |
//! ```
//! Each page has 2^(page bits) elements, the last one what is left. A page whose bit (the highest
//! of a byte is the first) is clear was never written. Section VII.C, "The Fixed Array Index".

use super::super::Sizes;
use super::element::{ChunkElement, ElementLayout, Elements};
use crate::cursor::Cursor;
use crate::error::{Error, ErrorKind, Result};
use crate::output::Output;

const HEADER: &str = "fixed array header";
const BLOCK: &str = "fixed array data block";
const PAGE: &str = "fixed array data block page";

/// log2 of the elements of a page, as libhdf5 has it; the layout message says it too.
pub const LIBRARY_PAGE_BITS: u8 = 10;

/// The header of a fixed array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FixedArray {
    /// The header's own address, which the data block repeats.
    pub address: u64,
    /// How elements are laid out.
    pub layout: ElementLayout,
    /// How many there are.
    pub element_count: u64,
    /// The data block; `None` where no chunk was ever written.
    pub block_address: Option<u64>,
    page_bits: u32,
    offset_bytes: usize,
}

/// The data block: all elements, or which pages there are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FixedArrayBlock<'a> {
    /// The elements themselves.
    Elements(Elements<'a>),
    /// They are in pages.
    Paged(PageMap<'a>),
}

/// Which pages of a data block exist, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageMap<'a> {
    bitmap: &'a [u8],
    first_page_address: u64,
}

/// Where an element is from its data block on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FixedArrayPlace<'a> {
    /// Among these.
    Elements(Elements<'a>),
    /// In this page.
    Page(FixedArrayPage),
    /// In a page that was never written: the chunk does not exist.
    Absent,
}

/// A page, known before it is fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FixedArrayPage {
    /// Where it stands.
    pub address: u64,
    /// Index of its first element.
    pub first_index: u64,
    /// Elements in it.
    pub element_count: u64,
}

impl FixedArray {
    /// Reads the header that stands at `address`.
    ///
    /// # Errors
    /// Signature, version, checksum, an element size that does not fit the client, or more
    /// elements than 64 bits can address.
    pub fn decode(bytes: &[u8], address: u64, sizes: Sizes) -> Result<Self> {
        let mut cursor = Cursor::new(bytes, HEADER, address);
        cursor.signature(b"FAHD")?;
        cursor.version(0)?;
        cursor.require(7 + (sizes.length + sizes.offset) as u64)?;
        let client = cursor.u8()?;
        let element_bytes = usize::from(cursor.u8()?);
        let page_bits = u32::from(cursor.u8()?);
        let element_count = cursor.uint(sizes.length)?;
        let block_address = cursor.address_field(sizes.offset)?;
        cursor.verify_checksum()?;
        let layout = ElementLayout::new(&cursor, client, element_bytes, sizes)?;
        if page_bits > 32 {
            return Err(cursor.bad_field("page bits", u64::from(page_bits)));
        }
        cursor.limited("element count", element_count, most_elements(layout))?;
        let offset_bytes = sizes.offset;
        Ok(Self { address, layout, element_count, block_address, page_bits, offset_bytes })
    }

    /// The header's bytes.
    pub fn encode(&self, sizes: Sizes) -> Vec<u8> {
        let mut output = Output::with_capacity(Self::byte_len(sizes));
        output.put(b"FAHD\0");
        output.u8(self.layout.client);
        output.uint(self.layout.byte_len as u64, 1);
        output.uint(u64::from(self.page_bits), 1);
        output.uint(self.element_count, sizes.length);
        output.address(self.block_address, sizes.offset);
        output.checksum();
        output.into_bytes()
    }

    /// Bytes of the header.
    pub fn byte_len(sizes: Sizes) -> usize {
        12 + sizes.length + sizes.offset
    }

    /// Bytes of the data block, with all of its pages.
    pub fn block_bytes(&self) -> u64 {
        let element_bytes = self.element_count * self.layout.byte_len as u64;
        let prefix_bytes = 6 + self.offset_bytes as u64;
        match self.pages() {
            0 => prefix_bytes + element_bytes + 4,
            pages => prefix_bytes + pages.div_ceil(8) + 4 + element_bytes + 4 * pages,
        }
    }

    /// The bytes of the data block with `elements`, of which the last ones may be left out. Pages
    /// without a chunk have room but do not count as written.
    pub fn encode_block(&self, elements: &[ChunkElement]) -> Vec<u8> {
        let mut output = Output::with_capacity(self.block_bytes() as usize);
        output.put(b"FADB\0");
        output.u8(self.layout.client);
        output.uint(self.address, self.offset_bytes);
        if self.pages() == 0 {
            self.layout.encode_all(elements, self.element_count, &mut output);
            output.checksum();
            return output.into_bytes();
        }
        let page_elements = usize::try_from(self.page_elements()).unwrap_or(usize::MAX);
        let mut bitmap = Bitmap::new(self.pages().div_ceil(8));
        for (page, elements) in elements.chunks(page_elements).enumerate() {
            if elements.iter().any(|element| element.address.is_some()) {
                bitmap.set(page as u64);
            }
        }
        output.put(&bitmap.bytes);
        output.checksum();
        let mut pages = elements.chunks(page_elements);
        for first in (0..self.element_count).step_by(page_elements) {
            let count = self.page_elements().min(self.element_count - first);
            let mut page = Output::new();
            self.layout.encode_all(pages.next().unwrap_or_default(), count, &mut page);
            page.checksum();
            output.put(page.bytes());
        }
        output.into_bytes()
    }

    /// Pages of the data block; 0 where it is not paged.
    fn pages(&self) -> u64 {
        match self.element_count > self.page_elements() {
            true => self.element_count.div_ceil(self.page_elements()),
            false => 0,
        }
    }

    /// One more than the index of the last element in the page of the element `index`: where a
    /// walk goes on that found the page absent.
    pub fn page_end(&self, index: u64) -> u64 {
        (index >> self.page_bits).saturating_add(1).saturating_mul(self.page_elements())
    }

    fn page_elements(&self) -> u64 {
        1 << self.page_bits
    }
}

impl<'a> FixedArrayBlock<'a> {
    /// Reads the data block of `array` that stands at `address`.
    ///
    /// # Errors
    /// Signature, version, checksum, or a block of another array.
    pub fn decode(bytes: &'a [u8], address: u64, array: &FixedArray) -> Result<Self> {
        let mut cursor = Cursor::new(bytes, BLOCK, address);
        cursor.signature(b"FADB")?;
        let is_paged = array.pages() > 0;
        let bitmap_bytes = array.pages().div_ceil(8);
        let content_bytes = match is_paged {
            true => bitmap_bytes,
            false => array.element_count * array.layout.byte_len as u64,
        };
        cursor.require((2 + array.offset_bytes + 4) as u64 + content_bytes)?;
        cursor.version(0)?;
        let client = cursor.u8()?;
        if client != array.layout.client {
            return Err(cursor.bad_field("client ID", u64::from(client)));
        }
        let header = cursor.uint(array.offset_bytes)?;
        if header != array.address {
            return Err(cursor.bad_field("header address", header));
        }
        if !is_paged {
            let elements = Elements::take(&mut cursor, array.layout, 0, array.element_count)?;
            cursor.verify_checksum()?;
            return Ok(Self::Elements(elements));
        }
        let bitmap = cursor.take(bitmap_bytes as usize)?;
        cursor.verify_checksum()?;
        let first_page_address = address.saturating_add(cursor.position() as u64);
        Ok(Self::Paged(PageMap { bitmap, first_page_address }))
    }

    /// Where the element with `index` is.
    ///
    /// # Errors
    /// The array has fewer elements, or the page lies beyond 64 bits.
    pub fn locate(&self, array: &FixedArray, index: u64) -> Result<FixedArrayPlace<'a>> {
        let fault = || Error {
            structure: HEADER,
            address: array.address,
            kind: ErrorKind::Field { field: "element index", value: index },
        };
        if index >= array.element_count {
            return Err(fault());
        }
        let map = match self {
            Self::Elements(elements) => return Ok(FixedArrayPlace::Elements(*elements)),
            Self::Paged(map) => map,
        };
        let page = index >> array.page_bits;
        if !bit(map.bitmap, page) {
            return Ok(FixedArrayPlace::Absent);
        }
        let first_index = page << array.page_bits;
        let page_bytes = array.page_elements() * array.layout.byte_len as u64 + 4;
        let address = page
            .checked_mul(page_bytes)
            .and_then(|offset| offset.checked_add(map.first_page_address))
            .ok_or_else(fault)?;
        let element_count = array.page_elements().min(array.element_count - first_index);
        Ok(FixedArrayPlace::Page(FixedArrayPage { address, first_index, element_count }))
    }
}

impl FixedArrayPage {
    /// The page's elements out of its `bytes`.
    ///
    /// # Errors
    /// Checksum.
    pub fn decode<'a>(&self, bytes: &'a [u8], array: &FixedArray) -> Result<Elements<'a>> {
        let mut cursor = Cursor::new(bytes, PAGE, self.address);
        let element_bytes = array.layout.byte_len as u64;
        cursor.require(self.element_count.saturating_mul(element_bytes).saturating_add(4))?;
        let elements =
            Elements::take(&mut cursor, array.layout, self.first_index, self.element_count)?;
        cursor.verify_checksum()?;
        Ok(elements)
    }
}

/// A header and its data block, before they have an address.
#[derive(Debug, Clone)]
pub struct FixedArrayBuilder {
    array: FixedArray,
    sizes: Sizes,
}

impl FixedArrayBuilder {
    /// An array of `element_count` elements in pages as libhdf5 makes them.
    ///
    /// # Errors
    /// More elements than can be built at once.
    pub fn new(layout: ElementLayout, element_count: u64, sizes: Sizes) -> Result<Self> {
        if element_count > most_elements(layout) {
            let kind = ErrorKind::Field { field: "element count", value: element_count };
            return Err(Error { structure: HEADER, address: 0, kind });
        }
        let array = FixedArray {
            address: 0,
            layout,
            element_count,
            block_address: None,
            page_bits: LIBRARY_PAGE_BITS.into(),
            offset_bytes: sizes.offset,
        };
        let builder = Self { array, sizes };
        sizes.check_space(BLOCK, 0, builder.byte_len())?;
        Ok(builder)
    }

    /// Bytes of header and data block.
    pub fn byte_len(&self) -> u64 {
        self.block_start() + self.array.block_bytes()
    }

    /// The bytes of header and data block at `address`, which is that of the header, with
    /// `elements`, of which the last ones may be left out.
    ///
    /// # Errors
    /// More elements than were said, or an address too large for its field.
    pub fn encode(&self, address: u64, elements: &[ChunkElement]) -> Result<Vec<u8>> {
        self.sizes.check_space(HEADER, address, self.byte_len())?;
        if elements.len() as u64 > self.array.element_count {
            let kind = ErrorKind::Field { field: "elements", value: elements.len() as u64 };
            return Err(Error { structure: BLOCK, address, kind });
        }
        let block_address = Some(address + self.block_start());
        let array = FixedArray { address, block_address, ..self.array.clone() };
        let mut output = Output::with_capacity(self.byte_len() as usize);
        output.put(&array.encode(self.sizes));
        output.pad_to(8);
        output.put(&array.encode_block(elements));
        Ok(output.into_bytes())
    }

    fn block_start(&self) -> u64 {
        (FixedArray::byte_len(self.sizes) as u64).next_multiple_of(8)
    }
}

/// The most elements that the bytes of an array can be counted for: half of the address space is
/// room for all pages' checksums too.
fn most_elements(layout: ElementLayout) -> u64 {
    u64::MAX / 2 / (layout.byte_len as u64 + 4)
}

/// Which pages were written; the first bit is the highest of the first byte.
pub(super) struct Bitmap {
    pub bytes: Vec<u8>,
}

impl Bitmap {
    pub fn new(byte_len: u64) -> Self {
        Self { bytes: vec![0; byte_len as usize] }
    }

    pub fn set(&mut self, index: u64) {
        if let Some(byte) = self.bytes.get_mut((index / 8) as usize) {
            *byte |= 0x80 >> (index % 8);
        }
    }
}

/// Bit `index` of `bitmap`, counted from the highest bit of the first byte; clear beyond the end.
pub(super) fn bit(bitmap: &[u8], index: u64) -> bool {
    usize::try_from(index / 8)
        .ok()
        .and_then(|byte| bitmap.get(byte))
        .is_some_and(|byte| byte & 0x80 >> (index % 8) != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checksum::lookup3;

    fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
        let checksum = lookup3(&bytes);
        bytes.extend(checksum.to_le_bytes());
        bytes
    }

    fn header(page_bits: u8, element_count: u64) -> Vec<u8> {
        let mut bytes = vec![b'F', b'A', b'H', b'D', 0, 0, 8, page_bits];
        bytes.extend(element_count.to_le_bytes());
        bytes.extend(1000_u64.to_le_bytes());
        sealed(bytes)
    }

    fn array(page_bits: u8, element_count: u64) -> FixedArray {
        FixedArray::decode(&header(page_bits, element_count), 64, Sizes::default()).unwrap()
    }

    fn block(content: &[u8]) -> Vec<u8> {
        let mut bytes = b"FADB\0\0".to_vec();
        bytes.extend(64_u64.to_le_bytes());
        bytes.extend(content);
        sealed(bytes)
    }

    #[test]
    fn unpaged() {
        let array = array(10, 3);
        assert_eq!(array.encode(Sizes::default()), header(10, 3));
        let content: Vec<u8> =
            [4096, u64::MAX, 8192].into_iter().flat_map(u64::to_le_bytes).collect();
        let bytes = block(&content);
        let block = FixedArrayBlock::decode(&bytes, 1000, &array).unwrap();
        let FixedArrayPlace::Elements(elements) = block.locate(&array, 2).unwrap() else {
            panic!("not paged")
        };
        assert_eq!(elements.get(2).unwrap().address, Some(8192));
        assert_eq!(elements.get(1).unwrap().address, None);
        assert!(block.locate(&array, 3).is_err());
        let error = FixedArrayBlock::decode(&bytes[..8], 1000, &array).unwrap_err();
        assert_eq!(error.kind, ErrorKind::NeedMore { bytes: bytes.len() as u64 });
    }

    #[test]
    fn paged() {
        let array = array(1, 5);
        let bytes = block(&[0b1010_0000]);
        let block = FixedArrayBlock::decode(&bytes, 1000, &array).unwrap();
        let first = bytes.len() as u64 + 1000;
        assert_eq!(
            block.locate(&array, 1).unwrap(),
            FixedArrayPlace::Page(FixedArrayPage {
                address: first,
                first_index: 0,
                element_count: 2
            })
        );
        assert_eq!(block.locate(&array, 2).unwrap(), FixedArrayPlace::Absent);
        let FixedArrayPlace::Page(last) = block.locate(&array, 4).unwrap() else {
            panic!("a page")
        };
        assert_eq!((last.address, last.element_count), (first + 2 * 20, 1));
        let mut page = sealed(77_u64.to_le_bytes().to_vec());
        assert_eq!(last.decode(&page, &array).unwrap().get(4).unwrap().address, Some(77));
        page[0] = 0;
        assert!(last.decode(&page, &array).is_err());
    }

    #[test]
    fn impossible_arrays() {
        let decode = |bytes: &[u8]| FixedArray::decode(bytes, 64, Sizes::default());
        assert!(decode(&header(64, 3)).is_err());
        assert!(decode(&header(10, u64::MAX)).is_err());
        let other = FixedArray { address: 65, ..array(10, 0) };
        let error = FixedArrayBlock::decode(&block(&[]), 1000, &other).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Field { field: "header address", value: 64 }));
    }
}
