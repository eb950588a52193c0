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

use super::super::Sizes;
use super::fractal::FractalHeap;
use crate::cursor::Cursor;
use crate::error::{ErrorKind, Result};
use crate::output::Output;

/// Types in bits 4 and 5 of the first byte.
const MANAGED: u8 = 0;
const HUGE: u8 = 1;
const TINY: u8 = 2;

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
        if let Some(managed) = Self::managed(id, heap) {
            return Ok(managed);
        }
        let mut cursor = Cursor::new(id, "fractal heap ID", heap.address);
        let id = Self::decode_fields(&mut cursor, heap);
        id.map_err(|error| error.at_end(heap.id_bytes as u64))
    }

    /// Writes the ID as `heap` has them.
    ///
    /// # Errors
    /// The object's place or length does not fit the heap's IDs.
    pub fn encode(&self, heap: &FractalHeap) -> Result<Vec<u8>> {
        let mut output = Output::with_capacity(heap.id_bytes);
        let (field, value) = match self {
            Self::Managed { offset, byte_len } => {
                if fits(*offset, heap.offset_width()) && fits(*byte_len, heap.length_width()) {
                    output.u8(MANAGED << 4);
                    output.uint(*offset, heap.offset_width());
                    output.uint(*byte_len, heap.length_width());
                }
                ("heap ID length", heap.id_bytes as u64)
            }
            Self::Tiny(data) => {
                if (1..=TINY_SHORT_BYTES).contains(&data.len()) && !has_long_tiny_ids(heap) {
                    output.u8(TINY << 4 | (data.len() - 1) as u8);
                    output.put(data);
                }
                ("tiny object size", data.len() as u64)
            }
            Self::Huge(huge) => {
                if !heap.has_huge_keys() && heap.is_filtered() == huge.filtered.is_some() {
                    output.u8(HUGE << 4);
                    huge.encode(&mut output, heap.sizes());
                }
                ("heap ID length", heap.id_bytes as u64)
            }
            Self::HugeKey(key) => {
                let width = (heap.id_bytes - 1).min(HUGE_KEY_BYTES);
                if heap.has_huge_keys() && fits(*key, width) {
                    output.u8(HUGE << 4);
                    output.uint(*key, width);
                }
                ("huge object key", *key)
            }
        };
        if output.is_empty() || output.len() > heap.id_bytes {
            return Err(heap.error(ErrorKind::Field { field, value }));
        }
        output.zeros(heap.id_bytes - output.len());
        Ok(output.into_bytes())
    }

    /// The usual ID: of a managed object, with fields that fit into it. Listings decode two for each attribute.
    fn managed(id: &[u8], heap: &FractalHeap) -> Option<Self> {
        let (offset_width, length_width) = (heap.offset_width(), heap.length_width());
        let fields = id.strip_prefix(&[MANAGED << 4])?.get(..offset_width + length_width)?;
        let mut bytes = [0; 2 * size_of::<u64>()];
        bytes.get_mut(..fields.len())?.copy_from_slice(fields);
        let fields = u128::from_le_bytes(bytes);
        let offset = fields & low_bytes(offset_width)?;
        let byte_len = fields >> (8 * offset_width) & low_bytes(length_width)?;
        Some(Self::Managed { offset: offset as u64, byte_len: byte_len as u64 })
    }

    fn decode_fields(cursor: &mut Cursor<'a>, heap: &FractalHeap) -> Result<Self> {
        let first = cursor.u8()?;
        if first >> 6 != 0 {
            return Err(cursor.error(ErrorKind::Version { found: u64::from(first >> 6) }));
        }
        match first >> 4 & 3 {
            MANAGED => Ok(Self::Managed {
                offset: cursor.uint(heap.offset_width())?,
                byte_len: cursor.uint(heap.length_width())?,
            }),
            HUGE => Self::huge(cursor, heap),
            TINY => {
                let mut length = usize::from(first & 0x0f);
                if has_long_tiny_ids(heap) {
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
        if heap.has_huge_keys() {
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

/// A mask of so many bytes of a 64-bit integer; `None` where it has not as many.
fn low_bytes(width: usize) -> Option<u128> {
    let is_integer = (1..=size_of::<u64>()).contains(&width);
    is_integer.then(|| u128::from(u64::MAX >> (64 - 8 * width)))
}

impl HugeObject {
    /// Writes the fields that direct IDs and B-tree records have of a huge object.
    pub(in super::super) fn encode(&self, output: &mut Output, sizes: Sizes) {
        output.uint(self.address, sizes.offset);
        output.uint(self.stored_bytes, sizes.length);
        if let Some(filtered) = self.filtered {
            output.u32(filtered.filter_mask);
            output.uint(filtered.byte_len, sizes.length);
        }
    }
}

/// True where tiny IDs have a second byte of length.
fn has_long_tiny_ids(heap: &FractalHeap) -> bool {
    heap.id_bytes > TINY_SHORT_BYTES + 2
}

/// True where `width` bytes hold `value`.
pub(super) fn fits(value: u64, width: usize) -> bool {
    width >= 8 || value >> (8 * width) == 0
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
    fn encoded_as_decoded() {
        let plain = HugeObject { address: 800, stored_bytes: 70_000, filtered: None };
        let filtered = Some(FilteredObject { filter_mask: 3, byte_len: 90_000 });
        for (id, id_bytes, filters) in [
            (HeapId::Managed { offset: 0x15, byte_len: 0x120 }, 7, &[][..]),
            (HeapId::Tiny(b"tiny"), 8, &[]),
            (HeapId::HugeKey(0xff_ffff), 7, &[]),
            (HeapId::Huge(plain), 17, &[]),
            (HeapId::Huge(HugeObject { filtered, ..plain }), 29, &[2, 0]),
        ] {
            let heap = heap(id_bytes, filters);
            let bytes = id.encode(&heap).unwrap();
            assert_eq!(bytes.len(), usize::from(id_bytes));
            assert_eq!(HeapId::decode(&bytes, &heap).unwrap(), id);
        }
        let heap = heap(7, &[]);
        for id in [
            HeapId::Managed { offset: 1 << 32, byte_len: 1 },
            HeapId::Managed { offset: 1, byte_len: 1 << 16 },
            HeapId::Tiny(b"longer than the ID"),
            HeapId::Tiny(b""),
            HeapId::Huge(plain),
            HeapId::HugeKey(1 << 48),
        ] {
            assert!(id.encode(&heap).is_err(), "{id:?}");
        }
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
