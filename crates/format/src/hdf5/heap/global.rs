//! Global heap collection: values of variable length, region references, virtual mappings.
//!
//! A value on disk names the collection's address and an index; the engine fetches the collection
//! once and takes every object of it from the same bytes.
//!
//! ```text
//! | "GCOL" | version 1 = 1 | reserved 3 | collection size   length | pad to 8 |
//! then objects up to the collection's end:
//! | index 2 | reference count 2 | reserved 4 | object size   length | pad to 8 | data, pad to 8 |
//! the object with index 0 is the free space; its size includes its own header
//! ```
//! Section III.E, "Disk Format: Level 1E - Global Heap".

use std::collections::BTreeMap;
use std::ops::Range;

use super::super::Sizes;
use crate::cursor::Cursor;
use crate::error::Result;
use crate::output::Output;

const STRUCTURE: &str = "global heap collection";

/// Where each object of a collection lies in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GlobalHeapCollection {
    /// Bytes of the whole collection, header included.
    pub byte_len: u64,
    objects: BTreeMap<u16, Range<usize>>,
}

impl GlobalHeapCollection {
    /// Reads the collection that stands at `address`; asks for all of its bytes at once.
    ///
    /// # Errors
    /// Signature, version, a size smaller than the header, or an object beyond the end.
    pub fn decode(bytes: &[u8], address: u64, sizes: Sizes) -> Result<Self> {
        let mut cursor = Cursor::new(bytes, STRUCTURE, address);
        let byte_len = Self::decode_header(&mut cursor, sizes)?;
        let header_bytes = header_bytes(sizes);
        cursor.require(byte_len - cursor.position() as u64)?;
        let mut objects = BTreeMap::new();
        let mut start = header_bytes;
        // Less than an object header at the end is free space that has no object.
        while byte_len - start >= header_bytes {
            let mut object = Cursor::new(
                &bytes[start as usize..byte_len as usize],
                "global heap object",
                address.saturating_add(start),
            );
            let index = object.u16()?;
            object.skip(6)?;
            let size = object.uint(sizes.length)?;
            if index == 0 {
                break;
            }
            let data = start + header_bytes;
            if size > byte_len - data {
                return Err(object.bad_field("object size", size));
            }
            objects.insert(index, data as usize..(data + size) as usize);
            // The last object's padding may be cut off by the collection's end.
            start = (data + padded(size)).min(byte_len);
        }
        Ok(Self { byte_len, objects })
    }

    /// Bytes of the collection that stands at `address`; asks for its header alone.
    ///
    /// # Errors
    /// Signature, version, or a size smaller than the header.
    pub fn decode_byte_len(bytes: &[u8], address: u64, sizes: Sizes) -> Result<u64> {
        Self::decode_header(&mut Cursor::new(bytes, STRUCTURE, address), sizes)
    }

    fn decode_header(cursor: &mut Cursor<'_>, sizes: Sizes) -> Result<u64> {
        cursor.signature(b"GCOL")?;
        cursor.version(1)?;
        cursor.skip(3)?;
        let byte_len = cursor.uint(sizes.length)?;
        match byte_len < header_bytes(sizes) {
            true => Err(cursor.bad_field("collection size", byte_len)),
            false => Ok(byte_len),
        }
    }

    /// Where in the collection's bytes the object `index` lies; `None` where there is none.
    pub fn range(&self, index: u32) -> Option<Range<usize>> {
        self.objects.get(&u16::try_from(index).ok()?).cloned()
    }

    /// The object `index` out of the collection's `bytes`; `None` where there is none.
    pub fn object<'a>(&self, bytes: &'a [u8], index: u32) -> Option<&'a [u8]> {
        bytes.get(self.range(index)?)
    }

    /// The indexes of all objects, ascending.
    pub fn indexes(&self) -> impl Iterator<Item = u16> + '_ {
        self.objects.keys().copied()
    }
}

/// Bytes of the smallest collection that the libraries write.
const MIN_COLLECTION_BYTES: u64 = 4096;

/// A collection that is being filled.
///
/// The indexes count from 1; nothing in it depends on the collection's address.
#[derive(Debug, Clone)]
pub struct GlobalHeapBuilder {
    /// The objects with their headers.
    objects: Output,
    count: u16,
    sizes: Sizes,
}

impl GlobalHeapBuilder {
    /// A collection without objects.
    pub fn new(sizes: Sizes) -> Self {
        Self { objects: Output::new(), count: 0, sizes }
    }

    /// Takes an object in; returns its index, or `None` where the collection is full: it has
    /// 65,535 objects, which is all that indexes can tell apart, or its size would not fit.
    pub fn push(&mut self, object: &[u8]) -> Option<u16> {
        let index = self.count.checked_add(1)?;
        self.sizes.check_space(STRUCTURE, 0, self.byte_len_with(object.len() as u64)).ok()?;
        self.count = index;
        self.objects.u16(index);
        // The libraries count references to objects that they share, which these are not.
        self.objects.u16(0);
        self.objects.zeros(4);
        self.objects.uint(object.len() as u64, self.sizes.length);
        self.objects.pad_to(8);
        self.objects.put(object);
        self.objects.pad_to(8);
        Some(index)
    }

    /// How many objects it has.
    pub fn object_count(&self) -> u16 {
        self.count
    }

    /// Bytes of the collection as it is now.
    pub fn byte_len(&self) -> u64 {
        self.whole(header_bytes(self.sizes) + self.objects.len() as u64)
    }

    /// Bytes of the collection with one more object of `object_bytes`.
    pub fn byte_len_with(&self, object_bytes: u64) -> u64 {
        self.whole(2 * header_bytes(self.sizes) + self.objects.len() as u64 + padded(object_bytes))
    }

    /// Bytes of a collection of which `used` are not free.
    fn whole(&self, used: u64) -> u64 {
        match MIN_COLLECTION_BYTES.checked_sub(used) {
            // The free space, where there is any, has a header of its own.
            Some(free) if free > 0 => used + free.max(header_bytes(self.sizes)),
            _ => used,
        }
    }

    /// The collection's bytes.
    pub fn encode(&self) -> Vec<u8> {
        let byte_len = self.byte_len();
        let mut output = Output::with_capacity(byte_len as usize);
        output.put(b"GCOL\x01\0\0\0");
        output.uint(byte_len, self.sizes.length);
        output.pad_to(8);
        output.put(self.objects.bytes());
        let free = byte_len - output.len() as u64;
        if free > 0 {
            output.zeros(8);
            output.uint(free, self.sizes.length);
        }
        output.zeros(byte_len as usize - output.len());
        output.into_bytes()
    }
}

/// Bytes of the collection's header, and of an object's, which has the same fields by width.
fn header_bytes(sizes: Sizes) -> u64 {
    padded(8 + sizes.length as u64)
}

/// `size` rounded up to a multiple of 8.
fn padded(size: u64) -> u64 {
    size.saturating_add(7) & !7
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    fn object(bytes: &mut Vec<u8>, index: u16, data: &[u8], size: u64) {
        bytes.extend(index.to_le_bytes());
        bytes.extend([1, 0, 0, 0, 0, 0]);
        bytes.extend(size.to_le_bytes());
        bytes.extend(data);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
    }

    fn collection(size: u64) -> Vec<u8> {
        let mut bytes = b"GCOL\x01\0\0\0".to_vec();
        bytes.extend(size.to_le_bytes());
        object(&mut bytes, 1, b"hello", 5);
        object(&mut bytes, 3, b"", 0);
        object(&mut bytes, 0, &[], 4096 - 56);
        bytes.resize(4096, 0);
        bytes
    }

    #[test]
    fn objects_by_index() {
        let bytes = collection(4096);
        let heap = GlobalHeapCollection::decode(&bytes, 0, Sizes::default()).unwrap();
        assert_eq!(heap.object(&bytes, 1), Some(&b"hello"[..]));
        assert_eq!(heap.object(&bytes, 3), Some(&b""[..]));
        assert_eq!(heap.object(&bytes, 0), None);
        assert_eq!(heap.object(&bytes, 65_537), None, "not folded into 16 bits");
        assert_eq!(heap.indexes().collect::<Vec<_>>(), [1, 3]);
    }

    #[test]
    fn built_collections() {
        for sizes in [Sizes::default(), Sizes { offset: 4, length: 4 }] {
            for count in [0, 1, 3, 126, 127, 128, 500] {
                let mut builder = GlobalHeapBuilder::new(sizes);
                for index in 1..=count {
                    assert_eq!(builder.push(&vec![7; usize::from(index) % 20]), Some(index));
                }
                assert_eq!(builder.object_count(), count);
                let bytes = builder.encode();
                assert_eq!(bytes.len() as u64, builder.byte_len());
                let heap = GlobalHeapCollection::decode(&bytes, 0, sizes).unwrap();
                assert_eq!(heap.indexes().collect::<Vec<_>>(), (1..=count).collect::<Vec<_>>());
                for index in 1..=u32::from(count) {
                    let expected = vec![7; index as usize % 20];
                    assert_eq!(heap.object(&bytes, index), Some(&expected[..]));
                }
            }
        }
    }

    #[test]
    fn built_collections_of_every_fill() {
        // From 0 to 24 bytes are left of the smallest collection; 8 have no room for a header.
        for object_bytes in 4032..=4072 {
            let mut builder = GlobalHeapBuilder::new(Sizes::default());
            builder.push(&vec![1; object_bytes]);
            let used = 32 + object_bytes.next_multiple_of(8);
            let expected = if 4096 - used.min(4096) == 8 { 4104 } else { used.max(4096) };
            assert_eq!(builder.byte_len(), expected as u64, "{object_bytes}");
            let bytes = builder.encode();
            let heap = GlobalHeapCollection::decode(&bytes, 0, Sizes::default()).unwrap();
            assert_eq!(heap.object(&bytes, 1).map(<[u8]>::len), Some(object_bytes));
        }
    }

    #[test]
    fn as_many_objects_as_indexes() {
        let mut builder = GlobalHeapBuilder::new(Sizes::default());
        assert!((1..=u16::MAX).all(|index| builder.push(b"") == Some(index)));
        assert_eq!(builder.push(b""), None);
    }

    #[test]
    fn asks_for_the_whole_collection() {
        let bytes = collection(4096);
        let error = GlobalHeapCollection::decode(&bytes[..16], 0, Sizes::default()).unwrap_err();
        assert_eq!(error.kind, ErrorKind::NeedMore { bytes: 4096 });
    }

    #[test]
    fn object_beyond_the_end() {
        let mut bytes = collection(4096);
        bytes[24..32].fill(0xff);
        let error = GlobalHeapCollection::decode(&bytes, 0, Sizes::default()).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Field { field: "object size", .. }));
    }

    #[test]
    fn short_lengths_are_padded() {
        let sizes = Sizes { offset: 2, length: 2 };
        let mut bytes = b"GCOL\x01\0\0\0\x28\0\0\0\0\0\0\0".to_vec();
        bytes.extend([1, 0, 1, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0]);
        bytes.extend(*b"abc\0\0\0\0\0");
        let heap = GlobalHeapCollection::decode(&bytes, 0, sizes).unwrap();
        assert_eq!(heap.object(&bytes, 1), Some(&b"abc"[..]));
    }
}
