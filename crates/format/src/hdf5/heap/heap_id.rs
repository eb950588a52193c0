//! Fractal heap ID: what link, attribute and message records hold in place of the object.
//!
//! ```text
//! first byte: version (bits 6-7) = 0, type (bits 4-5)
//! managed 0: | offset   offset width | length   length width |
//! huge 1:    directly: | address   offset | length   length | filtered: mask 4, size   length |
//!            else the key of the heap's B-tree of huge objects
//! tiny 2:    length - 1 in bits 0-3 (with the next byte below them where IDs are long), data
//! ```
//! Section III.G, "Disk Format: Level 1G - Fractal Heap", "Fractal Heap ID".

use super::fractal::FractalHeap;
use crate::cursor::Cursor;
use crate::error::{ErrorKind, Result};

/// Longest object that a tiny ID's 4 bits of length can say.
const TINY_SHORT_BYTES: usize = 16;
/// Bytes of the largest B-tree key of a huge object.
const HUGE_KEY_BYTES: usize = 8;

/// Where an object of a fractal heap is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeapId<'a> {
    /// In a direct block: walk from [`FractalHeap::root`].
    Managed { offset: u64, byte_len: u64 },
    /// In the ID itself.
    Tiny(&'a [u8]),
    /// On its own in the file.
    Huge(HugeObject),
    /// On its own in the file, where the record with this key in the heap's B-tree says.
    HugeKey(u64),
}

/// Where a huge object is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HugeObject {
    /// Its address.
    pub address: u64,
    /// Its bytes in the file.
    pub stored_bytes: u64,
    /// What the filters did to it; `None` where the heap has none.
    pub filtered: Option<FilteredObject>,
}

/// A huge object before the heap's filters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FilteredObject {
    /// Bit n set: filter n was skipped.
    pub filter_mask: u32,
    /// Bytes after the filters are undone.
    pub byte_len: u64,
}

impl<'a> HeapId<'a> {
    /// Reads an ID of `heap`; `bytes` beyond the heap's ID length are ignored.
    ///
    /// # Errors
    /// Fewer bytes than an ID has, an unknown version or type, or a tiny object longer than its ID.
    pub fn decode(bytes: &'a [u8], heap: &FractalHeap) -> Result<Self> {
        let id = bytes.get(..heap.id_bytes).ok_or_else(|| {
            heap.error(ErrorKind::Truncated {
                needed_bytes: heap.id_bytes as u64,
                available_bytes: bytes.len() as u64,
            })
        })?;
        let mut cursor = Cursor::new(id, "fractal heap ID", heap.address);
        let id = Self::decode_fields(&mut cursor, heap);
        id.map_err(|error| error.at_end(heap.id_bytes as u64))
    }

    fn decode_fields(cursor: &mut Cursor<'a>, heap: &FractalHeap) -> Result<Self> {
        let first = cursor.u8()?;
        if first >> 6 != 0 {
            return Err(cursor.error(ErrorKind::Version { found: u64::from(first >> 6) }));
        }
        match first >> 4 & 3 {
            0 => Ok(Self::Managed {
                offset: cursor.uint(heap.offset_width())?,
                byte_len: cursor.uint(heap.length_width())?,
            }),
            1 => Self::huge(cursor, heap),
            2 => {
                let mut length = usize::from(first & 0x0f);
                if heap.id_bytes > TINY_SHORT_BYTES + 2 {
                    length = length << 8 | usize::from(cursor.u8()?);
                }
                cursor.take(length + 1).map(Self::Tiny)
            }
            other => Err(cursor.bad_field("heap ID type", u64::from(other))),
        }
    }

    /// A huge ID says address and length itself where they fit.
    fn huge(cursor: &mut Cursor<'_>, heap: &FractalHeap) -> Result<Self> {
        let sizes = heap.sizes();
        let filter_bytes = if heap.is_filtered() { 4 + sizes.length } else { 0 };
        if sizes.offset + sizes.length + filter_bytes > cursor.remaining() {
            return cursor.uint(cursor.remaining().min(HUGE_KEY_BYTES)).map(Self::HugeKey);
        }
        let address = cursor
            .address_field(sizes.offset)?
            .ok_or_else(|| cursor.bad_field("huge object address", u64::MAX))?;
        let stored_bytes = cursor.uint(sizes.length)?;
        let filtered = match heap.is_filtered() {
            true => Some(FilteredObject {
                filter_mask: cursor.u32()?,
                byte_len: cursor.uint(sizes.length)?,
            }),
            false => None,
        };
        Ok(Self::Huge(HugeObject { address, stored_bytes, filtered }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::Sizes;
    use super::super::fractal::tests::header;
    use super::*;

    fn heap(id_bytes: u16, filters: &[u8]) -> FractalHeap {
        FractalHeap::decode(&header(id_bytes, 2, 1000, 0, filters), 64, Sizes::default()).unwrap()
    }

    #[test]
    fn managed() {
        assert_eq!(
            HeapId::decode(&[0, 0x15, 0, 0, 0, 0x20, 1, 0], &heap(7, &[])).unwrap(),
            HeapId::Managed { offset: 0x15, byte_len: 0x120 }
        );
    }

    #[test]
    fn tiny() {
        let tiny = HeapId::decode(&[0x22, b'a', b'b', b'c', 0, 0, 0, 0], &heap(8, &[])).unwrap();
        assert_eq!(tiny, HeapId::Tiny(b"abc"));
        assert!(HeapId::decode(&[0x2f, 0, 0, 0, 0, 0, 0, 0], &heap(8, &[])).is_err());
        let mut long = vec![0x21, 0x00];
        long.resize(300, 7);
        let tiny = HeapId::decode(&long, &heap(300, &[])).unwrap();
        assert_eq!(tiny, HeapId::Tiny(&[7; 257]));
    }

    #[test]
    fn huge() {
        let id = [0x10, 9, 0, 0, 0, 0, 0, 0];
        assert_eq!(HeapId::decode(&id, &heap(8, &[])).unwrap(), HeapId::HugeKey(9));
        let mut id = vec![0x10];
        id.extend(800_u64.to_le_bytes());
        id.extend(70_000_u64.to_le_bytes());
        let plain = HugeObject { address: 800, stored_bytes: 70_000, filtered: None };
        assert_eq!(HeapId::decode(&id, &heap(17, &[])).unwrap(), HeapId::Huge(plain));
        assert_eq!(HeapId::decode(&id, &heap(17, &[2, 0])).unwrap(), HeapId::HugeKey(800));
        id.extend(3_u32.to_le_bytes());
        id.extend(90_000_u64.to_le_bytes());
        let filtered = Some(FilteredObject { filter_mask: 3, byte_len: 90_000 });
        let object = HugeObject { filtered, ..plain };
        assert_eq!(HeapId::decode(&id, &heap(29, &[2, 0])).unwrap(), HeapId::Huge(object));
    }

    #[test]
    fn unknown_kinds_and_short_ids() {
        let heap = heap(8, &[]);
        for bytes in [&[0x40, 0, 0, 0, 0, 0, 0, 0][..], &[0x30, 0, 0, 0, 0, 0, 0, 0], &[0, 1], &[]]
        {
            let error = HeapId::decode(bytes, &heap).unwrap_err();
            assert!(!error.is_need_more());
        }
    }
}
