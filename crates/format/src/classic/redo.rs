//! The record by which a commit takes the place of another one, whenever the writer is killed.
//!
//! ```text
//! end of the file
//!   | new header | from (8) | to (8) | length (8) | file length (8) | header length (8)
//!                                    | checksum (4) | 0 (4) | "\x89CDFREDO" |
//! ```
//! It stands at the very end of a file, and is not part of netCDF: whoever does not know it sees
//! the old header, and bytes behind the values. Integers are little-endian. `length` bytes at
//! `from` are to be copied to `to`, then the header is to be written at 0, then the file is to be
//! cut to its length. Nothing of that changes what it is made from, so it can be repeated.
//!
//! Where values are overwritten, too, they stand between header and numbers, and go to their places before the header:
//!
//! ```text
//!   | new header | count of changes (8) | each one's address (8), length (8) | each one's checksums of before (4 each)
//!                | each one's bytes
//!                | from (8) | to (8) | length (8) | file length (8) | header length (8) | length of the changes (8)
//!                | checksum without the changes (4) | CRC-32 of the changes (4) | "\x89CDFRED2" |
//! ```
//! There is a CRC-32 for each block of 512 bytes of the file of what stood there before. It shows a record to be stale:
//! see [`Overwrite::applies_to`].

use std::sync::Arc;

use crate::checksum::lookup3;
use crate::cursor::Cursor;
use crate::limits;
use crate::output::Output;

const SIGNATURE: &[u8; 8] = b"\x89CDFREDO";
const SIGNATURE_WITH_CHANGES: &[u8; 8] = b"\x89CDFRED2";
const STRUCTURE: &str = "classic redo record";

/// Bytes of the trailer of a record with changes.
const LONG_TRAILER_BYTES: usize = 64;
/// What is written is there or not in blocks of at least so many bytes: those of a sector.
const BLOCK_BYTES: u64 = 512;

/// What is to be done, and done again where it is not known to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redo {
    /// The bytes of the new header.
    pub header: Vec<u8>,
    /// Values that are overwritten, by their addresses, which ascend; they do not overlap.
    pub changes: Vec<Overwrite>,
    /// What moves first; of length 0 where nothing does.
    pub moved: Moved,
    /// Length of the file in the end.
    pub file_len: u64,
}

/// Bytes that take the place of as many others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overwrite {
    address: u64,
    after: Arc<Vec<u8>>,
    /// Of each block, those at the ends in part.
    before: Vec<u32>,
}

impl Overwrite {
    /// `after` is to stand at `address`, where `before` are the checksums that [`Self::sum`] has of what is there.
    pub fn new(address: u64, after: Arc<Vec<u8>>, before: Vec<u32>) -> Self {
        debug_assert_eq!(before.len(), blocks(address, after.len()).count());
        Self { address, after, before }
    }

    /// Adds the checksums of `bytes`, which stand at `address`, to `sums`. Parts that follow one another meet where a block
    /// ends.
    pub fn sum(address: u64, bytes: &[u8], sums: &mut Vec<u32>) {
        sums.extend(blocks(address, bytes.len()).map(|block| crc32fast::hash(&bytes[block])));
    }

    /// How many bytes from `address` on are as many as `most` and end where a block does.
    pub fn part(address: u64, most: u64) -> u64 {
        (address + most) / BLOCK_BYTES * BLOCK_BYTES - address
    }

    /// Where the bytes go.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// The bytes.
    pub fn after(&self) -> &Arc<Vec<u8>> {
        &self.after
    }

    /// Whether `present` are bytes that this change, begun, made in part, or made, would find.
    /// Where they are not, somebody else has written there since.
    pub fn applies_to(&self, present: &[u8]) -> bool {
        present.len() == self.after.len()
            && blocks(self.address, present.len()).zip(&self.before).all(|(block, before)| {
                let (present, after) = (&present[block.clone()], &self.after[block]);
                present == after || crc32fast::hash(present) == *before
            })
    }
}

/// The blocks that `len` bytes at `address` lie in, as ranges of these.
fn blocks(address: u64, len: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let at = start;
        let rest = BLOCK_BYTES - (address.wrapping_add(at as u64)) % BLOCK_BYTES;
        start = len.min(at + rest as usize);
        (at < start).then_some(at..start)
    })
}

/// A range of bytes that is copied to where it does not overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Moved {
    /// Where it is.
    pub from: u64,
    /// Where it goes.
    pub to: u64,
    /// How many bytes.
    pub length_bytes: u64,
}

/// The end of a record.
struct Trailer {
    moved: Moved,
    file_len: u64,
    header_len: u64,
    changes_len: u64,
    checksum: u32,
    changes_checksum: u32,
    /// How many bytes it has.
    len: usize,
}

impl Redo {
    /// The fewest bytes behind the new header.
    pub const LEAST_TRAILER_BYTES: u64 = 56;
    /// Bytes at the end of a file that tell whether there is a record; fewer where the file has fewer.
    pub const TRAILER_BYTES: u64 = LONG_TRAILER_BYTES as u64;

    /// The record, but for the bytes of the changes, which stand between these two parts.
    pub fn encode(&self) -> (Vec<u8>, Vec<u8>) {
        let Moved { from, to, length_bytes } = self.moved;
        let numbers = [from, to, length_bytes, self.file_len, self.header.len() as u64];
        let mut front = Output::with_capacity(self.header.len());
        front.put(&self.header);
        let mut trailer = Output::with_capacity(LONG_TRAILER_BYTES);
        numbers.into_iter().for_each(|number| trailer.u64(number));
        if self.changes.is_empty() {
            let checksum = lookup3(&[front.bytes(), trailer.bytes()].concat());
            trailer.u32(checksum);
            trailer.u32(0);
            trailer.put(SIGNATURE);
            return (front.into_bytes(), trailer.into_bytes());
        }
        let table = encode_table(&self.changes);
        let mut sum = crc32fast::Hasher::new();
        sum.update(&table);
        self.changes.iter().for_each(|change| sum.update(&change.after));
        let bytes: usize = self.changes.iter().map(|change| change.after.len()).sum();
        trailer.u64((table.len() + bytes) as u64);
        let checksum = lookup3(&[front.bytes(), trailer.bytes()].concat());
        trailer.u32(checksum);
        trailer.u32(sum.finalize());
        trailer.put(SIGNATURE_WITH_CHANGES);
        front.put(&table);
        (front.into_bytes(), trailer.into_bytes())
    }

    /// How many bytes the record has that ends with `end`, the last [`Self::TRAILER_BYTES`] of
    /// a file, or all of it. `None` where there is no record.
    pub fn length_bytes(end: &[u8]) -> Option<u64> {
        let trailer = Trailer::decode(end)?;
        let len =
            trailer.header_len.checked_add(trailer.changes_len)?.checked_add(trailer.len as u64)?;
        (trailer.changes_len <= limits::REDO_RECORD_BYTES).then_some(len)
    }

    /// Decodes the record. `None` where `bytes` are not one, or not whole.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let trailer = Trailer::decode(bytes)?;
        let body = &bytes[..bytes.len() - trailer.len];
        let header_len = usize::try_from(trailer.header_len).ok()?;
        let (header, changes) = (body.get(..header_len)?, body.get(header_len..)?);
        let numbers = &bytes[body.len()..bytes.len() - 16];
        let is_whole = changes.len() as u64 == trailer.changes_len
            && lookup3(&[header, numbers].concat()) == trailer.checksum
            && (changes.is_empty() || crc32fast::hash(changes) == trailer.changes_checksum);
        if !is_whole {
            return None;
        }
        let changes = if changes.is_empty() { Vec::new() } else { decode_changes(changes)? };
        let Trailer { moved, file_len, .. } = trailer;
        Some(Self { header: header.to_vec(), changes, moved, file_len })
    }

    /// Whether it can be what a writer left at `address`: all that it is made from, and all that it makes, lies
    /// before it, and nothing is copied over itself.
    pub fn fits(&self, address: u64) -> bool {
        let Moved { from, to, length_bytes } = self.moved;
        let header_len = self.header.len() as u64;
        let (Some(from_end), Some(to_end)) =
            (from.checked_add(length_bytes), to.checked_add(length_bytes))
        else {
            return false;
        };
        let is_copied =
            from_end <= address && header_len <= to && (to_end <= from || from_end <= to);
        let is_apart = |change: &Overwrite| {
            let end = change.address.saturating_add(change.after.len() as u64);
            let is_outside =
                |start, behind| length_bytes == 0 || end <= start || behind <= change.address;
            change.address >= header_len
                && end <= self.file_len
                && is_outside(from, from_end)
                && is_outside(to, to_end)
        };
        self.file_len <= address
            && header_len <= address
            && (length_bytes == 0 || is_copied)
            && self.changes.iter().all(is_apart)
    }
}

impl Trailer {
    /// The trailer at the end of `bytes`.
    fn decode(bytes: &[u8]) -> Option<Self> {
        let signature = bytes.last_chunk::<8>()?;
        let len = match signature {
            SIGNATURE => Redo::LEAST_TRAILER_BYTES as usize,
            SIGNATURE_WITH_CHANGES => LONG_TRAILER_BYTES,
            _ => return None,
        };
        let at = bytes.len().checked_sub(len)?;
        let mut cursor = Cursor::new(&bytes[at..], STRUCTURE, 0);
        let mut number = || cursor.u64().ok();
        let moved = Moved { from: number()?, to: number()?, length_bytes: number()? };
        let (file_len, header_len) = (number()?, number()?);
        let changes_len = if len == LONG_TRAILER_BYTES { number()? } else { 0 };
        let (checksum, changes_checksum) = (cursor.u32().ok()?, cursor.u32().ok()?);
        Some(Self { moved, file_len, header_len, changes_len, checksum, changes_checksum, len })
    }
}

/// What stands before the bytes of the changes.
fn encode_table(changes: &[Overwrite]) -> Vec<u8> {
    let sums: usize = changes.iter().map(|change| change.before.len()).sum();
    let mut output = Output::with_capacity(8 + 16 * changes.len() + 4 * sums);
    output.u64(changes.len() as u64);
    for change in changes {
        output.u64(change.address);
        output.u64(change.after.len() as u64);
    }
    changes.iter().flat_map(|change| &change.before).for_each(|&sum| output.u32(sum));
    output.into_bytes()
}

/// The changes; `None` where they do not ascend, or are not all of `bytes`.
fn decode_changes(bytes: &[u8]) -> Option<Vec<Overwrite>> {
    let mut cursor = Cursor::new(bytes, STRUCTURE, 0);
    let count = cursor.u64().ok()?;
    if count > limits::REDO_RECORD_CHANGES || cursor.require(count.checked_mul(16)?).is_err() {
        return None;
    }
    let mut changes: Vec<(u64, usize, Vec<u32>)> = Vec::with_capacity(count as usize);
    let mut behind = 0;
    for _ in 0..count {
        let (address, length) = (cursor.u64().ok()?, cursor.u64().ok()?);
        if address < behind || length == 0 || length > bytes.len() as u64 {
            return None;
        }
        behind = address.checked_add(length)?;
        changes.push((address, usize::try_from(length).ok()?, Vec::new()));
    }
    for (address, length, before) in &mut changes {
        for _ in blocks(*address, *length) {
            before.push(cursor.u32().ok()?);
        }
    }
    let bytes_of = |(address, length, before): (u64, usize, Vec<u32>)| {
        let after = Arc::new(cursor.take(length).ok()?.to_vec());
        Some(Overwrite { address, after, before })
    };
    let changes = changes.into_iter().map(bytes_of).collect::<Option<Vec<_>>>()?;
    (cursor.remaining() == 0).then_some(changes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(changes: Vec<Overwrite>) -> Redo {
        let moved = Moved { from: 10_000, to: 2000, length_bytes: 3000 };
        Redo { header: b"CDF\x01 and so on".to_vec(), changes, moved, file_len: 5000 }
    }

    fn change(address: u64, before: &[u8], after: &[u8]) -> Overwrite {
        let mut sums = Vec::new();
        Overwrite::sum(address, before, &mut sums);
        Overwrite::new(address, Arc::new(after.to_vec()), sums)
    }

    fn encoded(redo: &Redo) -> Vec<u8> {
        let (front, trailer) = redo.encode();
        let changes = redo.changes.iter().flat_map(|change| change.after.iter().copied());
        front.into_iter().chain(changes).chain(trailer).collect()
    }

    fn changes() -> Vec<Overwrite> {
        vec![change(20, b"0123", b"abcd"), change(500, &[b'x'; 600], &[b'y'; 600])]
    }

    #[test]
    fn a_record_is_read_back_and_no_damaged_one_is() {
        for changes in [vec![], changes()] {
            let redo = with(changes);
            let bytes = encoded(&redo);
            let end = &bytes[bytes.len().saturating_sub(Redo::TRAILER_BYTES as usize)..];
            assert_eq!(Redo::length_bytes(end), Some(bytes.len() as u64));
            assert!(redo.fits(13_000));
            for cut in 1..bytes.len() {
                assert_eq!(Redo::decode(&bytes[cut..]), None);
                assert_eq!(Redo::decode(&bytes[..cut]), None);
            }
            // The second checksum of a record without changes is not looked at.
            let unused = bytes.len() - 12..bytes.len() - 8;
            let unused = if redo.changes.is_empty() { unused } else { 0..0 };
            for at in (0..bytes.len()).filter(|at| !unused.contains(at)) {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1;
                assert_eq!(Redo::decode(&damaged), None, "byte {at}");
            }
            assert_eq!(Redo::decode(&bytes), Some(redo));
        }
    }

    #[test]
    fn changes_lie_apart_from_everything_else() {
        let fits = |address| with(vec![change(address, b"0123", b"abcd")]).fits(13_000);
        // Behind the header, and before what is copied.
        assert!(fits(15) && fits(1996));
        assert!(!fits(13) && !fits(1997) && !fits(4999) && !fits(10_000));
        let overlapping = with(vec![change(20, b"0123", b"abcd"), change(23, b"x", b"y")]);
        assert_eq!(Redo::decode(&encoded(&overlapping)), None);
    }

    #[test]
    fn a_change_is_believed_where_each_block_is_that_of_before_or_after() {
        let (before, after) = ([b'x'; 1300], [b'y'; 1300]);
        let change = change(300, &before, &after);
        let mut sums = Vec::new();
        let first = Overwrite::part(300, 600) as usize;
        Overwrite::sum(300, &before[..first], &mut sums);
        Overwrite::sum(300 + first as u64, &before[first..], &mut sums);
        assert_eq!((sums, first), (change.before.clone(), 212));
        assert!(change.applies_to(&before) && change.applies_to(&after));
        let with_blocks = |count: usize| {
            let mut present = before;
            present[..212 + 512 * count].fill(b'y');
            present
        };
        assert!(change.applies_to(&with_blocks(0)) && change.applies_to(&with_blocks(1)));
        let mut other = with_blocks(1);
        other[900] = b'z';
        assert!(!change.applies_to(&other) && !change.applies_to(&before[1..]));
    }

    #[test]
    fn damage_never_panics() {
        crate::hdf5::damage::survive(&encoded(&with(changes())), |bytes| {
            let _ = (Redo::decode(bytes), Redo::length_bytes(bytes));
        });
    }
}
