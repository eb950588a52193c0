//! Shared object header messages: the master table and the list index.
//!
//! The superblock extension's shared message table message gives the master table's address and
//! the count of indexes; a shared message elsewhere names a heap ID, which belongs to the heap of
//! the index for its message type. The list (or B-tree records of type 7) matters to checks only.
//!
//! ```text
//! table: | "SMTB" | then for each index:
//!        | version 1 = 0 | type 1 | message types 2 | minimum message size 4 | list cutoff 2 |
//!        | B-tree cutoff 2 | messages 2 | index   offset | fractal heap   offset |
//!        | checksum 4 |
//! list:  | "SMLI" | records | checksum 4 |
//! record: | location 1 | hash 4 |
//!        in heap 0: reference count 4, heap ID 8
//!        in header 1: reserved 1, message type 1, creation index 2, object header   offset
//! ```
//! Section III.H, "Disk Format: Level 1H - Shared Object Header Message Table".

use super::super::Sizes;
use crate::cursor::Cursor;
use crate::error::Result;
use crate::limits;

/// The indexes of shared messages of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedMessageTable {
    /// One for each set of message types.
    pub indexes: Vec<SharedMessageIndex>,
}

/// One index and where it keeps its messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedMessageIndex {
    /// List or B-tree.
    pub kind: IndexKind,
    /// Bit n set: messages of type n are here.
    pub message_types: u16,
    /// Bytes of the smallest message that is shared.
    pub min_message_bytes: u32,
    /// Messages in the index.
    pub message_count: u16,
    /// Address of the list or B-tree header; `None` while the index is empty.
    pub index_address: Option<u64>,
    /// Address of the fractal heap; `None` while the index is empty.
    pub heap_address: Option<u64>,
}

/// How an index is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexKind {
    /// A [`SharedMessageList`].
    List,
    /// A version-2 B-tree of [`SharedMessageRecord`]s.
    BTree,
}

/// One shared message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SharedMessageRecord {
    /// The metadata checksum of the message.
    pub hash: u32,
    /// Where it stands.
    pub location: MessageLocation,
}

/// Where a shared message stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageLocation {
    /// In the index's fractal heap.
    Heap { reference_count: u32, heap_id: [u8; 8] },
    /// In an object header, while only one object uses it.
    Header { message_type: u8, creation_index: u16, header_address: u64 },
}

impl SharedMessageTable {
    /// Reads the table of `index_count` indexes that stands at `address`.
    ///
    /// # Errors
    /// Signature, version, checksum, an index type other than 0 and 1, or too many indexes.
    pub fn decode(bytes: &[u8], address: u64, sizes: Sizes, index_count: u8) -> Result<Self> {
        let mut cursor = Cursor::new(bytes, "shared message table", address);
        let count = u64::from(index_count);
        cursor.limited("index count", count, limits::SHARED_MESSAGE_INDEXES)?;
        cursor.signature(b"SMTB")?;
        cursor.require(count * (14 + 2 * sizes.offset as u64) + 4)?;
        let indexes = (0..count)
            .map(|_| SharedMessageIndex::decode(&mut cursor, sizes))
            .collect::<Result<Vec<_>>>()?;
        cursor.verify_checksum()?;
        Ok(Self { indexes })
    }

    /// The index that keeps messages of type `message_type`.
    pub fn index_for(&self, message_type: u16) -> Option<&SharedMessageIndex> {
        let bit = 1_u16.checked_shl(u32::from(message_type))?;
        self.indexes.iter().find(|index| index.message_types & bit != 0)
    }
}

impl SharedMessageIndex {
    fn decode(cursor: &mut Cursor<'_>, sizes: Sizes) -> Result<Self> {
        cursor.version(0)?;
        let kind = match cursor.u8()? {
            0 => IndexKind::List,
            1 => IndexKind::BTree,
            other => return Err(cursor.bad_field("index type", u64::from(other))),
        };
        let message_types = cursor.u16()?;
        let min_message_bytes = cursor.u32()?;
        cursor.skip(4)?;
        Ok(Self {
            kind,
            message_types,
            min_message_bytes,
            message_count: cursor.u16()?,
            index_address: cursor.address_field(sizes.offset)?,
            heap_address: cursor.address_field(sizes.offset)?,
        })
    }
}

/// The records of a list index, in no order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedMessageList {
    /// One for each message.
    pub records: Vec<SharedMessageRecord>,
}

impl SharedMessageList {
    /// Reads the list of `message_count` records that stands at `address`.
    ///
    /// # Errors
    /// Signature, checksum, or a record that cannot be.
    pub fn decode(bytes: &[u8], address: u64, sizes: Sizes, message_count: u16) -> Result<Self> {
        let mut cursor = Cursor::new(bytes, "shared message list", address);
        cursor.signature(b"SMLI")?;
        let record_bytes = SharedMessageRecord::byte_len(sizes);
        cursor.require(u64::from(message_count) * record_bytes as u64 + 4)?;
        let mut records = Vec::with_capacity(usize::from(message_count));
        for _ in 0..message_count {
            let record = cursor.take(record_bytes)?;
            records.push(SharedMessageRecord::decode(record, address, sizes)?);
        }
        cursor.verify_checksum()?;
        Ok(Self { records })
    }
}

impl SharedMessageRecord {
    /// Bytes of a record, of either location.
    pub fn byte_len(sizes: Sizes) -> usize {
        5 + (4 + sizes.offset).max(12)
    }

    /// Reads one record of the list or B-tree node at `address`.
    ///
    /// # Errors
    /// A location other than 0 and 1, or no object header address.
    pub fn decode(bytes: &[u8], address: u64, sizes: Sizes) -> Result<Self> {
        let mut cursor = Cursor::new(bytes, "shared message record", address);
        let location = cursor.u8()?;
        let hash = cursor.u32()?;
        let location = match location {
            0 => MessageLocation::Heap { reference_count: cursor.u32()?, heap_id: cursor.array()? },
            1 => {
                cursor.skip(1)?;
                MessageLocation::Header {
                    message_type: cursor.u8()?,
                    creation_index: cursor.u16()?,
                    header_address: cursor
                        .address_field(sizes.offset)?
                        .ok_or_else(|| cursor.bad_field("object header address", u64::MAX))?,
                }
            }
            other => return Err(cursor.bad_field("message location", u64::from(other))),
        };
        Ok(Self { hash, location })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checksum::lookup3;
    use crate::error::ErrorKind;

    fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
        let checksum = lookup3(&bytes);
        bytes.extend(checksum.to_le_bytes());
        bytes
    }

    fn table() -> Vec<u8> {
        let mut bytes = b"SMTB".to_vec();
        for (kind, types, index, heap) in [(0, 0x08_u16, 500, 600), (1, 0x02, u64::MAX, u64::MAX)] {
            bytes.extend([0, kind]);
            bytes.extend(types.to_le_bytes());
            bytes.extend(50_u32.to_le_bytes());
            bytes.extend([50, 0, 40, 0, 2, 0]);
            bytes.extend(index.to_le_bytes());
            bytes.extend(heap.to_le_bytes());
        }
        sealed(bytes)
    }

    #[test]
    fn master_table() {
        let table = SharedMessageTable::decode(&table(), 0, Sizes::default(), 2).unwrap();
        let index = table.index_for(3).unwrap();
        assert_eq!((index.index_address, index.heap_address), (Some(500), Some(600)));
        assert_eq!(table.index_for(1).unwrap().kind, IndexKind::BTree);
        assert_eq!(table.index_for(1).unwrap().heap_address, None);
        assert_eq!(table.index_for(5), None);
        assert_eq!(table.index_for(1000), None);
    }

    #[test]
    fn master_table_faults() {
        let sizes = Sizes::default();
        let error = SharedMessageTable::decode(&table(), 0, sizes, 200).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Limit { .. }));
        let mut bytes = table();
        bytes[7] ^= 1;
        let error = SharedMessageTable::decode(&bytes, 0, sizes, 2).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Checksum { .. }));
    }

    #[test]
    fn list_of_both_locations() {
        let mut bytes = b"SMLI".to_vec();
        bytes.extend([0, 1, 0, 0, 0, 7, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]);
        bytes.extend([1, 2, 0, 0, 0, 0, 3, 4, 0, 0x20, 3, 0, 0, 0, 0, 0, 0]);
        let list = SharedMessageList::decode(&sealed(bytes), 0, Sizes::default(), 2).unwrap();
        let heap = MessageLocation::Heap { reference_count: 7, heap_id: [1, 2, 3, 4, 5, 6, 7, 8] };
        assert_eq!(list.records[0], SharedMessageRecord { hash: 1, location: heap });
        let header =
            MessageLocation::Header { message_type: 3, creation_index: 4, header_address: 0x320 };
        assert_eq!(list.records[1], SharedMessageRecord { hash: 2, location: header });
    }
}
