//! The redo record: what a commit changes in the midst of a file, until it is changed.
//!
//! A structure of this library, not of HDF5: it stands behind the end of the file, where other
//! programs neither look nor find it in their way.
//!
//! ```text
//!  0 signature "IRDO" | version (1) | reserved (3)
//!  8 length of all of it in bytes (8)
//! 16 end-of-file address it stands at (8)
//! 24 count of changes (8)
//! 32 for each change, in the order in which they are made: address (8) | length (8)
//!    for each change: the bytes before it | the bytes after it
//!    checksum of everything before (8)
//! ```
//! Addresses count from the base address. That the bytes before are there too is what shows a
//! record to be stale: see [`Change::applies_to`].

use crate::checksum::lookup3_wide;
use crate::cursor::Cursor;
use crate::error::{ErrorKind, Result};
use crate::limits;
use crate::output::Output;

/// The four bytes it begins with.
pub const SIGNATURE: [u8; 4] = *b"IRDO";

/// Bytes that hold the signature and the length.
pub const PREFIX_BYTES: usize = 16;

const NAME: &str = "redo record";
const VERSION: u8 = 1;
const FIXED_BYTES: usize = 32;
const CHECKSUM_BYTES: usize = 8;

/// Everything that one commit changes in place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The end-of-file address that the record stands at.
    pub end: u64,
    /// The changes in the order in which they are made. They do not overlap.
    pub changes: Vec<Change>,
}

/// Bytes that take the place of as many others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Where they stand.
    pub address: u64,
    /// The bytes that were there.
    pub before: Vec<u8>,
    /// The bytes that are to be there.
    pub after: Vec<u8>,
}

impl Change {
    /// Whether `present` are bytes that this change, begun, made in part, or made, would find.
    /// Where they are not, somebody else has written there since.
    pub fn applies_to(&self, present: &[u8]) -> bool {
        let change = self.before.iter().zip(&self.after);
        present.len() == self.after.len()
            && present.iter().zip(change).all(|(byte, (old, new))| byte == old || byte == new)
    }
}

/// How many bytes the record has that begins with `prefix`; `None` where no record begins so.
pub fn byte_len(prefix: &[u8; PREFIX_BYTES]) -> Option<u64> {
    let mut cursor = Cursor::new(prefix, NAME, 0);
    cursor.signature(&SIGNATURE).ok()?;
    cursor.skip(4).ok()?;
    cursor.u64().ok().filter(|&len| len <= limits::REDO_RECORD_BYTES)
}

impl Record {
    /// Bytes of a record of changes of `lengths`; `None` for more than any record has.
    pub fn encoded_len(lengths: &[usize]) -> Option<u64> {
        let fixed = (FIXED_BYTES + CHECKSUM_BYTES) as u64;
        let add = |sum: u64, &length: &usize| {
            sum.checked_add((length as u64).checked_mul(2)?)?.checked_add(16)
        };
        let len = lengths.iter().try_fold(fixed, add)?;
        let is_small = lengths.len() as u64 <= limits::REDO_RECORD_CHANGES;
        (is_small && len <= limits::REDO_RECORD_BYTES).then_some(len)
    }

    /// The bytes of the record.
    pub fn encode(&self) -> Vec<u8> {
        let lengths = self.changes.iter().map(|change| change.after.len());
        let len = FIXED_BYTES + CHECKSUM_BYTES + lengths.map(|len| 16 + 2 * len).sum::<usize>();
        let mut output = Output::with_capacity(len);
        output.put(&SIGNATURE);
        output.u8(VERSION);
        output.zeros(3);
        for field in [len as u64, self.end, self.changes.len() as u64] {
            output.u64(field);
        }
        for change in &self.changes {
            output.u64(change.address);
            output.u64(change.after.len() as u64);
        }
        for change in &self.changes {
            debug_assert_eq!(change.before.len(), change.after.len());
            output.put(&change.before);
            output.put(&change.after);
        }
        let checksum = lookup3_wide(output.bytes());
        output.u64(checksum);
        output.into_bytes()
    }

    /// Decodes the record in `bytes`, which stand at `address` and are at least as many as
    /// [`byte_len`] says.
    pub fn decode(bytes: &[u8], address: u64) -> Result<Self> {
        let mut cursor = Cursor::new(bytes, NAME, address);
        cursor.signature(&SIGNATURE)?;
        let version = cursor.u8()?;
        cursor.skip(3)?;
        let len = cursor.u64()?;
        cursor.limited("length", len, limits::REDO_RECORD_BYTES)?;
        // These fields and the checksum are the same in every version.
        let body_bytes = len
            .checked_sub((FIXED_BYTES + CHECKSUM_BYTES) as u64)
            .ok_or_else(|| cursor.bad_field("length", len))?;
        cursor.require(len - PREFIX_BYTES as u64)?;
        let (body, checksum) = bytes[..len as usize].split_at(len as usize - CHECKSUM_BYTES);
        let stored = Cursor::new(checksum, NAME, address).u64()?;
        if stored != lookup3_wide(body) {
            return Err(cursor.bad_field("checksum", stored));
        }
        if version != VERSION {
            return Err(cursor.error(ErrorKind::Version { found: u64::from(version) }));
        }
        let end = cursor.u64()?;
        let count = cursor.u64()?;
        let limit = limits::REDO_RECORD_CHANGES.min(body_bytes / 16);
        cursor.limited("count of changes", count, limit)?;
        let extents = decode_extents(&mut cursor, count, end)?;
        let mut changes = Vec::with_capacity(extents.len());
        for (address, length) in extents {
            let (before, after) = (cursor.take(length)?.to_vec(), cursor.take(length)?.to_vec());
            changes.push(Change { address, before, after });
        }
        if cursor.position() != body.len() {
            return Err(cursor.bad_field("length", len));
        }
        Ok(Self { end, changes })
    }
}

/// The addresses and lengths of `count` changes, which lie before `end` and do not overlap.
fn decode_extents(cursor: &mut Cursor<'_>, count: u64, end: u64) -> Result<Vec<(u64, usize)>> {
    let mut extents = Vec::with_capacity(count as usize);
    for _ in 0..count {
        let (address, length) = (cursor.u64()?, cursor.u64()?);
        let is_within = address.checked_add(length).is_some_and(|behind| behind <= end);
        if !is_within || length == 0 {
            return Err(cursor.bad_field("length of a change", length));
        }
        cursor.require(length)?;
        extents.push((address, length as usize));
    }
    let mut sorted = extents.clone();
    sorted.sort_unstable();
    for pair in sorted.windows(2) {
        if pair[0].0 + pair[0].1 as u64 > pair[1].0 {
            return Err(cursor.bad_field("address of a change", pair[1].0));
        }
    }
    Ok(extents)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        let change = |address: u64, before: &[u8], after: &[u8]| Change {
            address,
            before: before.to_vec(),
            after: after.to_vec(),
        };
        Record {
            end: 100,
            changes: vec![change(90, b"0123456789", b"abcdefghij"), change(0, b"x", b"y")],
        }
    }

    /// `record` with `edit` made to its bytes and the checksum that belongs to them.
    fn edited(edit: impl FnOnce(&mut Vec<u8>)) -> Result<Record> {
        let mut bytes = record().encode();
        bytes.truncate(bytes.len() - CHECKSUM_BYTES);
        edit(&mut bytes);
        bytes.extend(lookup3_wide(&bytes).to_le_bytes());
        Record::decode(&bytes, 100)
    }

    #[test]
    fn what_is_encoded_is_decoded() {
        let record = record();
        let bytes = record.encode();
        assert_eq!(byte_len(bytes[..PREFIX_BYTES].try_into().unwrap()), Some(bytes.len() as u64));
        assert_eq!(Record::encoded_len(&[10, 1]), Some(bytes.len() as u64));
        assert_eq!(Record::decode(&bytes, 100), Ok(record));
        assert_eq!(edited(|_| {}), Ok(self::record()));
        assert_eq!(Record::encoded_len(&[usize::MAX]), None);
    }

    #[test]
    fn any_other_byte_is_noticed() {
        let bytes = record().encode();
        for place in 0..bytes.len() {
            for bit in 0..8 {
                let mut bytes = bytes.clone();
                bytes[place] ^= 1 << bit;
                assert!(Record::decode(&bytes, 100).is_err(), "bit {bit} of byte {place}");
            }
            assert!(Record::decode(&bytes[..place], 100).is_err(), "{place} bytes");
        }
    }

    #[test]
    fn changes_lie_in_the_file_and_apart() {
        let set = |at: usize, value: u64| {
            edited(|bytes| bytes[at..at + 8].copy_from_slice(&value.to_le_bytes()))
                .unwrap_err()
                .kind
        };
        assert!(matches!(set(32, 91), ErrorKind::Field { field: "length of a change", .. }));
        assert!(matches!(set(32, u64::MAX), ErrorKind::Field { .. }));
        assert!(matches!(set(48, 95), ErrorKind::Field { field: "address of a change", .. }));
        assert!(matches!(set(40, 0), ErrorKind::Field { .. }));
        assert!(matches!(set(24, 3), ErrorKind::Field { .. } | ErrorKind::NeedMore { .. }));
        assert!(matches!(set(24, u64::MAX), ErrorKind::Limit { .. }));
        let newer = edited(|bytes| bytes[4] = 2).unwrap_err();
        assert_eq!(newer.kind, ErrorKind::Version { found: 2 });
    }

    #[test]
    fn only_bytes_of_before_or_after_are_changed() {
        let change = &record().changes[0];
        for present in [b"0123456789", b"abcdefghij", b"abcde56789", b"01234fghij"] {
            assert!(change.applies_to(present));
        }
        assert!(!change.applies_to(b"abcdefghiJ") && !change.applies_to(b"abcdefghi"));
    }

    #[test]
    fn damage_never_panics() {
        crate::hdf5::damage::survive(&record().encode(), |bytes| {
            let _ = Record::decode(bytes, 100);
        });
    }
}
