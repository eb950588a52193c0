//! The element of a fixed or extensible array: one chunk.
//!
//! ```text
//! client 0, not filtered: | address   offset |
//! client 1, filtered:     | address   offset | stored bytes   N | filter mask 4 |
//! ```
//! Sections VII.C and VII.D, "The Fixed Array Index" and "The Extensible Array Index".

use super::super::Sizes;
use crate::cursor::Cursor;
use crate::error::{Error, ErrorKind, Result};
use crate::output::Output;

/// Client ID of arrays of chunks that are not filtered.
const UNFILTERED: u8 = 0;
/// Client ID of arrays of filtered chunks.
const FILTERED: u8 = 1;

/// How the elements of an array are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ElementLayout {
    /// The client ID, which every block repeats.
    pub(super) client: u8,
    /// Bytes of an element.
    pub byte_len: usize,
    offset_bytes: usize,
    /// Bytes of the stored size; `None` where chunks are not filtered.
    size_bytes: Option<usize>,
}

/// What an array knows of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkElement {
    /// Where it is; `None` where nothing was allocated.
    pub address: Option<u64>,
    /// Its bytes in the file; `None` where it is not filtered and has the size of its layout.
    pub stored_bytes: Option<u64>,
    /// Bit n set: filter n was skipped.
    pub filter_mask: u32,
}

impl ElementLayout {
    /// The layout of elements of `byte_len` bytes.
    ///
    /// The width of the stored size follows from the element's size, so that a writer which widens
    /// it (layout version 5 does) is understood.
    pub(super) fn new(
        cursor: &Cursor<'_>,
        client: u8,
        byte_len: usize,
        sizes: Sizes,
    ) -> Result<Self> {
        let misfit = || cursor.bad_field("element size", byte_len as u64);
        let size_bytes = match client {
            UNFILTERED if byte_len == sizes.offset => None,
            UNFILTERED => return Err(misfit()),
            FILTERED => {
                let width = byte_len.checked_sub(sizes.offset + 4).ok_or_else(misfit)?;
                if !(1..=8).contains(&width) {
                    return Err(misfit());
                }
                Some(width)
            }
            other => return Err(cursor.bad_field("client ID", u64::from(other))),
        };
        Ok(Self { client, byte_len, offset_bytes: sizes.offset, size_bytes })
    }

    /// The layout that the library gives arrays of chunks; `filtered_chunk_bytes` are the bytes of
    /// a chunk before its filters, `None` where it has none.
    pub fn for_chunks(filtered_chunk_bytes: Option<u64>, sizes: Sizes) -> Self {
        let size_bytes = filtered_chunk_bytes.map(Self::stored_size_width);
        Self {
            client: if size_bytes.is_some() { FILTERED } else { UNFILTERED },
            byte_len: sizes.offset + size_bytes.map_or(0, |width| width + 4),
            offset_bytes: sizes.offset,
            size_bytes,
        }
    }

    /// True where the array's chunks are filtered.
    pub fn is_filtered(&self) -> bool {
        self.size_bytes.is_some()
    }

    /// Bytes of the stored size that the library gives an array of chunks of `chunk_bytes` bytes,
    /// in layouts before version 5: one more than the size needs, so that a chunk which a filter
    /// made larger still fits.
    pub fn stored_size_width(chunk_bytes: u64) -> usize {
        let bits = chunk_bytes.checked_ilog2().unwrap_or(0) as usize;
        (1 + (bits + 8) / 8).min(8)
    }

    fn decode(&self, cursor: &mut Cursor<'_>) -> Result<ChunkElement> {
        let address = cursor.address_field(self.offset_bytes)?;
        let (stored_bytes, filter_mask) = match self.size_bytes {
            Some(width) => (Some(cursor.uint(width)?), cursor.u32()?),
            None => (None, 0),
        };
        Ok(ChunkElement { address, stored_bytes, filter_mask })
    }
}

impl ElementLayout {
    /// Writes an element; where chunks are not filtered, its address is all of it.
    pub fn encode(&self, element: &ChunkElement, output: &mut Output) {
        output.address(element.address, self.offset_bytes);
        if let Some(width) = self.size_bytes {
            output.uint(element.stored_bytes.unwrap_or(0), width);
            output.u32(element.filter_mask);
        }
    }

    /// Writes `count` elements: `elements`, then missing ones.
    pub(super) fn encode_all(&self, elements: &[ChunkElement], count: u64, output: &mut Output) {
        let given = elements.iter().chain(std::iter::repeat(&ChunkElement::MISSING));
        given.take(count as usize).for_each(|element| self.encode(element, output));
    }
}

impl ChunkElement {
    /// The element of a chunk that was never written.
    pub const MISSING: Self = Self { address: None, stored_bytes: None, filter_mask: 0 };
}

/// Elements that stand next to each other, out of a verified block or page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Elements<'a> {
    bytes: &'a [u8],
    layout: ElementLayout,
    first_index: u64,
    address: u64,
}

impl<'a> Elements<'a> {
    /// Takes `count` elements, of which the first has `first_index`, where `cursor` stands.
    pub(super) fn take(
        cursor: &mut Cursor<'a>,
        layout: ElementLayout,
        first_index: u64,
        count: u64,
    ) -> Result<Self> {
        let byte_len = count.saturating_mul(layout.byte_len as u64);
        cursor.require(byte_len)?;
        let address = cursor.address();
        let bytes = cursor.take(byte_len as usize)?;
        Ok(Self { bytes, layout, first_index, address })
    }

    /// The index of the first element in the whole array.
    pub fn first_index(&self) -> u64 {
        self.first_index
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        (self.bytes.len() / self.layout.byte_len) as u64
    }

    /// The element with `index` in the whole array.
    ///
    /// # Errors
    /// It is not among these.
    pub fn get(&self, index: u64) -> Result<ChunkElement> {
        let element = index
            .checked_sub(self.first_index)
            .and_then(|local| usize::try_from(local).ok())
            .and_then(|local| self.bytes.chunks_exact(self.layout.byte_len).nth(local));
        let bytes = element.ok_or(Error {
            structure: "chunk index block",
            address: self.address,
            kind: ErrorKind::Field { field: "element index", value: index },
        })?;
        self.layout.decode(&mut Cursor::new(bytes, "chunk index element", self.address))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_clients() {
        let sizes = Sizes { offset: 4, length: 4 };
        let bytes = [1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 7, 0, 0, 0];
        let mut cursor = Cursor::new(&bytes, "test", 0);
        let plain = ElementLayout::new(&cursor, 0, 4, sizes).unwrap();
        let elements = Elements::take(&mut cursor, plain, 10, 2).unwrap();
        assert_eq!(elements.get(10).unwrap().address, Some(1));
        assert_eq!(elements.get(11).unwrap().address, None);
        assert!(elements.get(9).is_err() && elements.get(12).is_err());
        assert!(elements.get(u64::MAX).is_err());

        let mut cursor = Cursor::new(&bytes, "test", 0);
        let filtered = ElementLayout::new(&cursor, 1, 12, sizes).unwrap();
        let elements = Elements::take(&mut cursor, filtered, 0, 1).unwrap();
        let element = elements.get(0).unwrap();
        assert_eq!((element.address, element.stored_bytes), (Some(1), Some(0xffff_ffff)));
        assert_eq!(element.filter_mask, 7);
        for (client, byte_len) in [(0, 8), (1, 8), (1, 17), (2, 4)] {
            assert!(ElementLayout::new(&cursor, client, byte_len, sizes).is_err());
        }
    }

    #[test]
    fn encoded_as_decoded() {
        let sizes = Sizes::default();
        let element = ChunkElement { address: Some(9), stored_bytes: Some(777), filter_mask: 5 };
        for (chunk_bytes, byte_len) in [(None, 8), (Some(1 << 16), 8 + 4 + 4)] {
            let layout = ElementLayout::for_chunks(chunk_bytes, sizes);
            assert_eq!((layout.byte_len, layout.is_filtered()), (byte_len, chunk_bytes.is_some()));
            let mut output = Output::new();
            layout.encode_all(&[element], 2, &mut output);
            let mut cursor = Cursor::new(output.bytes(), "test", 0);
            let decoded = ElementLayout::new(&cursor, layout.client, byte_len, sizes).unwrap();
            assert_eq!(decoded, layout);
            let elements = Elements::take(&mut cursor, layout, 0, 2).unwrap();
            let (first, second) = (elements.get(0).unwrap(), elements.get(1).unwrap());
            assert_eq!((first.address, second.address), (Some(9), None));
            if layout.is_filtered() {
                assert_eq!(first, element);
                assert_eq!((second.stored_bytes, second.filter_mask), (Some(0), 0));
            }
        }
    }

    #[test]
    fn widths_of_stored_sizes() {
        let widths = [1, 255, 256, 65_535, 65_536, u64::MAX].map(ElementLayout::stored_size_width);
        assert_eq!(widths, [2, 2, 3, 3, 4, 8]);
    }
}
