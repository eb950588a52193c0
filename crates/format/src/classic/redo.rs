//! The record by which a header takes the place of another one, whenever the writer is killed.
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

use crate::checksum::lookup3;
use crate::cursor::Cursor;
use crate::output::Output;

const SIGNATURE: &[u8; 8] = b"\x89CDFREDO";
const STRUCTURE: &str = "classic redo record";

/// What is to be done, and done again where it is not known to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redo {
    /// The bytes of the new header.
    pub header: Vec<u8>,
    /// What moves first; of length 0 where nothing does.
    pub moved: Moved,
    /// Length of the file in the end.
    pub file_len: u64,
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

impl Redo {
    /// Bytes behind the new header.
    pub const TRAILER_BYTES: u64 = 56;

    /// The record.
    pub fn encode(&self) -> Vec<u8> {
        let mut output = Output::with_capacity(self.header.len() + Self::TRAILER_BYTES as usize);
        output.put(&self.header);
        let Moved { from, to, length_bytes } = self.moved;
        for value in [from, to, length_bytes, self.file_len, self.header.len() as u64] {
            output.u64(value);
        }
        output.checksum();
        output.u32(0);
        output.put(SIGNATURE);
        output.into_bytes()
    }

    /// How many bytes the record has that ends with `trailer`, the last [`Self::TRAILER_BYTES`] of
    /// a file. `None` where there is no record.
    pub fn length_bytes(trailer: &[u8]) -> Option<u64> {
        let (_, header_len) = fields(trailer)?;
        header_len.checked_add(Self::TRAILER_BYTES)
    }

    /// Decodes the record. `None` where `bytes` are not one, or not whole.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let trailer = bytes.len().checked_sub(Self::TRAILER_BYTES as usize)?;
        let (header, trailer) = bytes.split_at(trailer);
        let ([from, to, length_bytes, file_len], header_len) = fields(trailer)?;
        let summed = &bytes[..bytes.len() - 16];
        let stored = trailer[40..44].try_into().map(u32::from_le_bytes).ok()?;
        let is_whole = header.len() as u64 == header_len && lookup3(summed) == stored;
        let moved = Moved { from, to, length_bytes };
        is_whole.then(|| Self { header: header.to_vec(), moved, file_len })
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
        self.file_len <= address && header_len <= address && (length_bytes == 0 || is_copied)
    }
}

/// The four numbers of a trailer, and the header's length.
fn fields(trailer: &[u8]) -> Option<([u64; 4], u64)> {
    let mut cursor = Cursor::new(trailer, STRUCTURE, 0);
    let mut numbers = [0; 4];
    for number in &mut numbers {
        *number = cursor.u64().ok()?;
    }
    let header_len = cursor.u64().ok()?;
    cursor.skip(8).ok()?;
    (cursor.take_rest() == SIGNATURE).then_some((numbers, header_len))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_back_and_no_damaged_one_is() {
        let moved = Moved { from: 1000, to: 200, length_bytes: 300 };
        let redo = Redo { header: b"CDF\x01 and so on".to_vec(), moved, file_len: 500 };
        let bytes = redo.encode();
        let trailer = &bytes[bytes.len() - Redo::TRAILER_BYTES as usize..];
        assert_eq!(Redo::length_bytes(trailer), Some(bytes.len() as u64));
        assert_eq!(Redo::decode(&bytes), Some(redo));
        for cut in 1..bytes.len() {
            assert_eq!(Redo::decode(&bytes[cut..]), None);
            assert_eq!(Redo::decode(&bytes[..cut]), None);
        }
        // The four bytes behind the checksum are not looked at.
        for at in (0..bytes.len()).filter(|at| !(bytes.len() - 12..bytes.len() - 8).contains(at)) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert_eq!(Redo::decode(&damaged), None, "byte {at}");
        }
    }
}
