//! Reads the fields of a classic header in their order, and asks for more of the file in steps
//! that grow, as nothing in the file says how long its header is.
//!
//! ```text
//! count, length:  4 bytes, in CDF-5 8        name:   length | bytes | zeros up to a multiple of 4
//! address:        4 bytes in CDF-1, else 8   list:   tag (4) | count | entries
//! ```

use super::external_type::ExternalType;
use super::header::Version;
use crate::error::{Error, ErrorKind, Result};

/// What an error is about where no part of the header can be named: all of it.
const HEADER: &str = "classic header";

/// A structure of the header, by its first byte, for the errors about it.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) structure: &'static str,
    pub(super) address: u64,
}

impl Place {
    pub(super) fn error(self, kind: ErrorKind) -> Error {
        Error { structure: self.structure, address: self.address, kind }
    }

    pub(super) fn bad_field(self, field: &'static str, value: u64) -> Error {
        self.error(ErrorKind::Field { field, value })
    }
}

/// The place in the header up to which it has been decoded.
pub(super) struct HeaderReader<'a> {
    bytes: &'a [u8],
    file_size: u64,
    position: usize,
    version: Version,
}

impl<'a> HeaderReader<'a> {
    /// A reader of `bytes`, the first of a file of `file_size`.
    ///
    /// It takes the magic number, so that the widths of all that follows are known.
    pub(super) fn new(bytes: &'a [u8], file_size: u64) -> Result<Self> {
        let file_size = file_size.max(bytes.len() as u64);
        let mut reader = Self { bytes, file_size, position: 0, version: Version::Cdf1 };
        let place = reader.place(HEADER);
        let magic: [u8; 4] = reader.array()?;
        reader.version = match magic {
            [b'C', b'D', b'F', 1] => Version::Cdf1,
            [b'C', b'D', b'F', 2] => Version::Cdf2,
            [b'C', b'D', b'F', 5] => Version::Cdf5,
            [b'C', b'D', b'F', other] => {
                return Err(place.error(ErrorKind::Version { found: u64::from(other) }));
            }
            found => return Err(place.error(ErrorKind::Signature { expected: *b"CDF\x01", found })),
        };
        Ok(reader)
    }

    pub(super) fn version(&self) -> Version {
        self.version
    }

    pub(super) fn position(&self) -> u64 {
        self.position as u64
    }

    /// The place of a structure that begins at the next byte.
    pub(super) fn place(&self, structure: &'static str) -> Place {
        Place { structure, address: self.position() }
    }

    /// Bytes of a count or length.
    pub(super) fn count_width(&self) -> u64 {
        if self.version == Version::Cdf5 { 8 } else { 4 }
    }

    /// The next 4 bytes.
    pub(super) fn u32(&mut self) -> Result<u32> {
        self.array().map(u32::from_be_bytes)
    }

    /// A count or length (`NON_NEG` in the grammar).
    ///
    /// The grammar has it signed. Taken as unsigned, as libnetcdf takes it, a negative one is a
    /// huge one, which the bounds on sizes refuse where it matters.
    pub(super) fn count(&mut self) -> Result<u64> {
        self.uint(self.count_width() == 8)
    }

    /// The address of a variable's first value (`OFFSET` in the grammar).
    pub(super) fn file_address(&mut self) -> Result<u64> {
        self.uint(self.version != Version::Cdf1)
    }

    /// A type code; `place` is the structure it belongs to.
    ///
    /// The five types of CDF-5 are taken in any version: libnetcdf takes them too, and their
    /// meaning is clear.
    pub(super) fn external_type(&mut self, place: Place) -> Result<ExternalType> {
        let code = self.u32()?;
        ExternalType::from_code(code).ok_or_else(|| place.bad_field("type", u64::from(code)))
    }

    /// A name as text, and the bytes of its field where they are more than its own.
    ///
    /// It ends at the first zero byte, as it does for every C program. Bytes that are not UTF-8
    /// are written as `\xNN`, so that two names that differ in them stay two names.
    pub(super) fn name(&mut self) -> Result<(String, u64)> {
        let length = self.count()?;
        let bytes = self.padded_bytes(length)?;
        let name = bytes.split(|&byte| byte == 0).next().unwrap_or_default();
        let room = if name.len() < bytes.len() { length } else { 0 };
        Ok((shown_name(name), room))
    }

    /// `length` bytes, then the padding up to a multiple of 4, whose content is not looked at.
    pub(super) fn padded_bytes(&mut self, length: u64) -> Result<&'a [u8]> {
        let padded = length.saturating_add(3) & !3;
        let bytes = self.take(padded.max(length))?;
        Ok(&bytes[..length as usize])
    }

    /// The tag and count that open a list whose entries take at least `entry_bytes` each.
    ///
    /// Returns the count, and how many entries the bytes at hand can hold, to allocate for. A
    /// count for which the whole file is too short is an error at once.
    pub(super) fn list(
        &mut self,
        place: Place,
        tag: u32,
        entry_bytes: u64,
    ) -> Result<(u64, usize)> {
        let found = self.u32()?;
        let count = self.count()?;
        // An absent list has tag 0 and count 0. Writers that leave the tag in are forgiven.
        if count > 0 && found != tag {
            return Err(place.bad_field("list tag", u64::from(found)));
        }
        let needed = count.saturating_mul(entry_bytes);
        self.check_file_holds(needed)?;
        let at_hand = (self.bytes.len() - self.position) as u64;
        Ok((count, (needed.min(at_hand) / entry_bytes) as usize))
    }

    /// That the file goes on for `count` bytes.
    pub(super) fn check_file_holds(&self, count: u64) -> Result<()> {
        let needed_bytes = self.position().saturating_add(count);
        if needed_bytes <= self.file_size {
            return Ok(());
        }
        let available_bytes = self.file_size;
        let kind = ErrorKind::Truncated { needed_bytes, available_bytes };
        Err(Error { structure: HEADER, address: 0, kind })
    }

    fn take(&mut self, count: u64) -> Result<&'a [u8]> {
        self.check_file_holds(count)?;
        let end = self.position() + count;
        let at_hand = self.bytes.len() as u64;
        if end > at_hand {
            // Decoding starts anew with each answer, so the steps double.
            let bytes = end.max(at_hand.saturating_mul(2)).min(self.file_size);
            let kind = ErrorKind::NeedMore { bytes };
            return Err(Error { structure: HEADER, address: 0, kind });
        }
        let taken = &self.bytes[self.position..end as usize];
        self.position = end as usize;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut out = [0; N];
        out.copy_from_slice(self.take(N as u64)?);
        Ok(out)
    }

    fn uint(&mut self, wide: bool) -> Result<u64> {
        if wide { self.array().map(u64::from_be_bytes) } else { self.u32().map(u64::from) }
    }
}

/// A name as text: bytes that are not UTF-8 stand as `\xNN`.
pub(super) fn shown_name(bytes: &[u8]) -> String {
    let mut name = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        name.push_str(chunk.valid());
        for byte in chunk.invalid() {
            name.push_str(&format!("\\x{byte:02x}"));
        }
    }
    name
}
