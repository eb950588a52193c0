//! The records of version-2 B-trees, by the header's type.
//!
//! ```text
//!  1 huge object, by key:            | address | length | key   length |
//!  2 the same, filtered:             | address | length | mask 4 | size   length | key   length |
//!  3 huge object, by address:        | address | length |
//!  4 the same, filtered:             | address | length | mask 4 | size   length |
//!  5 link by name:                   | name hash 4 | heap ID 7 |
//!  6 link by creation order:         | creation order 8 | heap ID 7 |
//!  7 shared message:                 see `SharedMessageRecord`
//!  8 attribute by name:              | heap ID 8 | message flags 1 | creation order 4 | hash 4 |
//!  9 attribute by creation order:    | heap ID 8 | message flags 1 | creation order 4 |
//! 10 chunk:                          | address | scaled offset 8 for each dimension |
//! 11 chunk, filtered:                | address | stored bytes   N | mask 4 | scaled offsets |
//! ```
//! Section III.A.2, "Disk Format: Level 1A2 - Version 2 B-trees". A scaled offset counts chunks.

use super::super::Sizes;
use super::super::heap::heap_id::{FilteredObject, HugeObject};
use crate::checksum::lookup3;
use crate::cursor::Cursor;
use crate::error::{Error, ErrorKind, Result};
use crate::limits;
use crate::output::Output;

const STRUCTURE: &str = "version 2 B-tree record";

/// Type of huge objects that are not filtered and found by key.
pub const HUGE_BY_KEY: u8 = 1;
/// Type of huge objects that are filtered and found by key.
pub const HUGE_FILTERED_BY_KEY: u8 = 2;
/// Type of huge objects that are not filtered and found by address.
pub const HUGE_BY_ADDRESS: u8 = 3;
/// Type of huge objects that are filtered and found by address.
pub const HUGE_FILTERED_BY_ADDRESS: u8 = 4;
/// Type of links found by name.
pub const LINK_NAME: u8 = 5;
/// Type of links found by creation order.
pub const LINK_CREATION_ORDER: u8 = 6;
/// Type of shared messages.
pub const SHARED_MESSAGE: u8 = 7;
/// Type of attributes found by name.
pub const ATTRIBUTE_NAME: u8 = 8;
/// Type of attributes found by creation order.
pub const ATTRIBUTE_CREATION_ORDER: u8 = 9;
/// Type of chunks that are not filtered.
pub const CHUNK: u8 = 10;
/// Type of filtered chunks.
pub const CHUNK_FILTERED: u8 = 11;

/// A huge object of a fractal heap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HugeRecord {
    /// Where it is.
    pub object: HugeObject,
    /// What its heap ID has; `None` where the heap ID has the address itself.
    pub key: Option<u64>,
}

impl HugeRecord {
    /// Reads a record of type 1 to 4 in the tree at `tree_address`.
    ///
    /// # Errors
    /// Another type, a record shorter than its fields, or no address.
    pub fn decode(record: &[u8], tree_address: u64, record_type: u8, sizes: Sizes) -> Result<Self> {
        let mut cursor = Cursor::new(record, STRUCTURE, tree_address);
        if !(HUGE_BY_KEY..=HUGE_FILTERED_BY_ADDRESS).contains(&record_type) {
            return Err(cursor.bad_field("record type", u64::from(record_type)));
        }
        let is_filtered = matches!(record_type, HUGE_FILTERED_BY_KEY | HUGE_FILTERED_BY_ADDRESS);
        let fields = |cursor: &mut Cursor<'_>| {
            let address = cursor
                .address_field(sizes.offset)?
                .ok_or_else(|| cursor.bad_field("huge object address", u64::MAX))?;
            let stored_bytes = cursor.uint(sizes.length)?;
            let filtered = match is_filtered {
                true => Some(FilteredObject {
                    filter_mask: cursor.u32()?,
                    byte_len: cursor.uint(sizes.length)?,
                }),
                false => None,
            };
            let key = match record_type {
                HUGE_BY_KEY | HUGE_FILTERED_BY_KEY => Some(cursor.uint(sizes.length)?),
                _ => None,
            };
            Ok(Self { object: HugeObject { address, stored_bytes, filtered }, key })
        };
        fields(&mut cursor).map_err(|error: Error| error.at_end(record.len() as u64))
    }
}

impl HugeRecord {
    /// Writes the record of type 1 to 4 that it is.
    pub fn encode(&self, output: &mut Output, sizes: Sizes) {
        self.object.encode(output, sizes);
        if let Some(key) = self.key {
            output.uint(key, sizes.length);
        }
    }
}

/// What trees of links and attributes by name are ordered by: the hash, then the name itself.
pub fn name_key(name: &[u8]) -> (u32, &[u8]) {
    (lookup3(name), name)
}

/// A link found by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkNameRecord<'a> {
    /// The metadata checksum of the name.
    pub hash: u32,
    /// The link message in the group's fractal heap.
    pub heap_id: &'a [u8],
}

impl<'a> LinkNameRecord<'a> {
    /// Reads a record of type 5 in the tree at `tree_address`.
    ///
    /// # Errors
    /// A record shorter than its fields.
    pub fn decode(record: &'a [u8], tree_address: u64) -> Result<Self> {
        whole(record, tree_address, |cursor| {
            Ok(Self { hash: cursor.u32()?, heap_id: cursor.take(7)? })
        })
    }
}

impl LinkNameRecord<'_> {
    /// Writes a record of type 5.
    pub fn encode(&self, output: &mut Output) {
        output.u32(self.hash);
        output.put(self.heap_id);
    }
}

/// A link found by its creation order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkCreationOrderRecord<'a> {
    /// When it was created among the links of its group.
    pub creation_order: i64,
    /// The link message in the group's fractal heap.
    pub heap_id: &'a [u8],
}

impl<'a> LinkCreationOrderRecord<'a> {
    /// Reads a record of type 6 in the tree at `tree_address`.
    ///
    /// # Errors
    /// A record shorter than its fields.
    pub fn decode(record: &'a [u8], tree_address: u64) -> Result<Self> {
        whole(record, tree_address, |cursor| {
            let creation_order = cursor.u64()?.cast_signed();
            Ok(Self { creation_order, heap_id: cursor.take(7)? })
        })
    }
}

impl LinkCreationOrderRecord<'_> {
    /// Writes a record of type 6.
    pub fn encode(&self, output: &mut Output) {
        output.u64(self.creation_order.cast_unsigned());
        output.put(self.heap_id);
    }
}

/// An attribute found by its name or creation order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttributeRecord<'a> {
    /// The attribute message in the object's fractal heap, or that of shared messages.
    pub heap_id: &'a [u8],
    /// The message's flags, as an object header would have them.
    pub message_flags: u8,
    /// When it was created among the attributes of its object.
    pub creation_order: u32,
    /// The metadata checksum of the name; `None` in a tree by creation order.
    pub hash: Option<u32>,
}

impl<'a> AttributeRecord<'a> {
    /// Reads a record of type 8 or 9 in the tree at `tree_address`.
    ///
    /// # Errors
    /// Another type, or a record shorter than its fields.
    pub fn decode(record: &'a [u8], tree_address: u64, record_type: u8) -> Result<Self> {
        whole(record, tree_address, |cursor| {
            let heap_id = cursor.take(8)?;
            let message_flags = cursor.u8()?;
            let creation_order = cursor.u32()?;
            let hash = match record_type {
                ATTRIBUTE_NAME => Some(cursor.u32()?),
                ATTRIBUTE_CREATION_ORDER => None,
                other => return Err(cursor.bad_field("record type", u64::from(other))),
            };
            Ok(Self { heap_id, message_flags, creation_order, hash })
        })
    }
}

impl AttributeRecord<'_> {
    /// Writes a record of type 8, or of type 9 where there is no hash.
    pub fn encode(&self, output: &mut Output) {
        output.put(self.heap_id);
        output.u8(self.message_flags);
        output.u32(self.creation_order);
        if let Some(hash) = self.hash {
            output.u32(hash);
        }
    }
}

/// How the chunk records of a tree are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkRecordLayout {
    offset_bytes: usize,
    /// Bytes of the stored size; `None` where chunks are not filtered.
    size_bytes: Option<usize>,
    rank: usize,
    tree_address: u64,
}

/// A chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkRecord {
    /// Where it is; `None` where nothing was allocated.
    pub address: Option<u64>,
    /// Its bytes in the file; `None` where it is not filtered and has the size of its layout.
    pub stored_bytes: Option<u64>,
    /// Bit n set: filter n was skipped.
    pub filter_mask: u32,
    /// Its place among the chunks of the data set: offset divided by chunk shape.
    pub scaled: Vec<u64>,
}

impl ChunkRecordLayout {
    /// The layout of records of type 10 or 11 of `record_bytes` in the tree at `tree_address`.
    ///
    /// The width of the stored size differs between layout versions; what a record has left beside
    /// its other fields is that width in all of them.
    ///
    /// # Errors
    /// Another type, a rank beyond its limit, or record bytes that do not fit type and rank.
    pub fn new(
        record_type: u8,
        record_bytes: usize,
        rank: usize,
        tree_address: u64,
        sizes: Sizes,
    ) -> Result<Self> {
        let field = |field, value| {
            let kind = ErrorKind::Field { field, value };
            Error { structure: STRUCTURE, address: tree_address, kind }
        };
        if rank as u64 > limits::RANK {
            return Err(field("rank", rank as u64));
        }
        let misfit = || field("record size", record_bytes as u64);
        let fixed = sizes.offset + 8 * rank;
        let size_bytes = match record_type {
            CHUNK if record_bytes == fixed => None,
            CHUNK_FILTERED => {
                let width = record_bytes.checked_sub(fixed + 4).ok_or_else(misfit)?;
                Some(width).filter(|width| (1..=8).contains(width))
            }
            CHUNK => return Err(misfit()),
            other => return Err(field("record type", u64::from(other))),
        };
        if record_type == CHUNK_FILTERED && size_bytes.is_none() {
            return Err(misfit());
        }
        Ok(Self { offset_bytes: sizes.offset, size_bytes, rank, tree_address })
    }

    /// Reads a record.
    ///
    /// # Errors
    /// A record shorter than its fields.
    pub fn decode(&self, record: &[u8]) -> Result<ChunkRecord> {
        whole(record, self.tree_address, |cursor| {
            let address = cursor.address_field(self.offset_bytes)?;
            let (stored_bytes, filter_mask) = match self.size_bytes {
                Some(width) => (Some(cursor.uint(width)?), cursor.u32()?),
                None => (None, 0),
            };
            let scaled = (0..self.rank).map(|_| cursor.u64()).collect::<Result<Vec<_>>>()?;
            Ok(ChunkRecord { address, stored_bytes, filter_mask, scaled })
        })
    }

    /// Writes a record; a chunk that is not filtered has neither stored size nor mask.
    pub fn encode(&self, chunk: &ChunkRecord, output: &mut Output) {
        output.address(chunk.address, self.offset_bytes);
        if let Some(width) = self.size_bytes {
            output.uint(chunk.stored_bytes.unwrap_or(0), width);
            output.u32(chunk.filter_mask);
        }
        for &offset in &chunk.scaled {
            output.u64(offset);
        }
    }

    /// Compares the wanted chunk's scaled offset with a record's, as the tree is ordered.
    pub fn compare(&self, scaled: &[u64], record: &[u8]) -> std::cmp::Ordering {
        let start = record.len().saturating_sub(8 * self.rank);
        let of_record = record[start..]
            .chunks_exact(8)
            .map(|bytes| bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)));
        scaled.iter().copied().cmp(of_record)
    }
}

/// Decodes a record that is all there: needing more is a fault.
fn whole<'a, T>(
    record: &'a [u8],
    tree_address: u64,
    decode: impl FnOnce(&mut Cursor<'a>) -> Result<T>,
) -> Result<T> {
    decode(&mut Cursor::new(record, STRUCTURE, tree_address))
        .map_err(|error| error.at_end(record.len() as u64))
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use super::*;

    fn encoded(encode: impl FnOnce(&mut Output)) -> Vec<u8> {
        let mut output = Output::new();
        encode(&mut output);
        output.into_bytes()
    }

    #[test]
    fn huge_objects() {
        let sizes = Sizes { offset: 4, length: 2 };
        let record = [1, 2, 0, 0, 9, 0, 3, 0, 0, 0, 20, 0, 5, 0];
        let filtered = Some(FilteredObject { filter_mask: 3, byte_len: 20 });
        let object = HugeObject { address: 0x201, stored_bytes: 9, filtered };
        let huge = HugeRecord::decode(&record, 0, HUGE_FILTERED_BY_KEY, sizes).unwrap();
        assert_eq!(huge, HugeRecord { object, key: Some(5) });
        assert_eq!(encoded(|output| huge.encode(output, sizes)), record);
        assert_eq!(
            HugeRecord::decode(&record, 0, HUGE_FILTERED_BY_ADDRESS, sizes).unwrap(),
            HugeRecord { object, key: None }
        );
        let plain = HugeObject { filtered: None, ..object };
        assert_eq!(
            HugeRecord::decode(&record, 0, HUGE_BY_KEY, sizes).unwrap(),
            HugeRecord { object: plain, key: Some(3) }
        );
        assert_eq!(
            HugeRecord::decode(&record[..6], 0, HUGE_BY_ADDRESS, sizes).unwrap(),
            HugeRecord { object: plain, key: None }
        );
        let error = HugeRecord::decode(&record[..6], 0, HUGE_BY_KEY, sizes).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Truncated { .. }));
        assert!(HugeRecord::decode(&record, 0, LINK_NAME, sizes).is_err());
        let by_address = HugeRecord { object: plain, key: None };
        assert_eq!(encoded(|output| by_address.encode(output, sizes)), record[..6]);
    }

    #[test]
    fn links_and_attributes() {
        let record = [1, 0, 0, 0, 2, 0, 0, 0, 3, 4, 5, 6, 7, 8, 9, 10, 11];
        let link = LinkNameRecord::decode(&record[..11], 0).unwrap();
        assert_eq!((link.hash, link.heap_id), (1, &record[4..11]));
        assert_eq!(encoded(|output| link.encode(output)), record[..11]);
        let link = LinkCreationOrderRecord::decode(&record[..15], 0).unwrap();
        assert_eq!((link.creation_order, link.heap_id), (0x2_0000_0001, &record[8..15]));
        assert_eq!(encoded(|output| link.encode(output)), record[..15]);
        let attribute = AttributeRecord::decode(&record, 0, ATTRIBUTE_NAME).unwrap();
        assert_eq!((attribute.message_flags, attribute.creation_order), (3, 0x0706_0504));
        assert_eq!(attribute.hash, Some(0x0b0a_0908));
        assert_eq!(encoded(|output| attribute.encode(output)), record);
        let attribute =
            AttributeRecord::decode(&record[..13], 0, ATTRIBUTE_CREATION_ORDER).unwrap();
        assert_eq!(attribute.hash, None);
        assert_eq!(encoded(|output| attribute.encode(output)), record[..13]);
        assert!(AttributeRecord::decode(&record[..13], 0, ATTRIBUTE_NAME).is_err());
        assert!(AttributeRecord::decode(&record, 0, CHUNK).is_err());
    }

    #[test]
    fn chunks() {
        let sizes = Sizes::default();
        let mut record = 4096_u64.to_le_bytes().to_vec();
        record.extend([0x10, 0x27, 0x00]);
        record.extend(2_u32.to_le_bytes());
        record.extend(3_u64.to_le_bytes());
        record.extend(256_u64.to_le_bytes());
        let layout = ChunkRecordLayout::new(CHUNK_FILTERED, record.len(), 2, 0, sizes).unwrap();
        let chunk = layout.decode(&record).unwrap();
        assert_eq!((chunk.address, chunk.stored_bytes), (Some(4096), Some(10_000)));
        assert_eq!((chunk.filter_mask, &chunk.scaled[..]), (2, &[3, 256][..]));
        assert_eq!(encoded(|output| layout.encode(&chunk, output)), record);
        assert_eq!(layout.compare(&[3, 256], &record), Ordering::Equal);
        assert_eq!(layout.compare(&[3, 2], &record), Ordering::Less);
        assert_eq!(layout.compare(&[4, 0], &record), Ordering::Greater);
        assert!(layout.decode(&record[..20]).is_err());
        assert!(ChunkRecordLayout::new(CHUNK, 24, 2, 0, sizes).is_ok());
        for (record_type, record_bytes) in [(CHUNK, 25), (CHUNK_FILTERED, 28), (5, 24)] {
            assert!(ChunkRecordLayout::new(record_type, record_bytes, 2, 0, sizes).is_err());
        }
    }
}
