//! Writes the fields of a classic header in their order: the counterpart of
//! [`super::header_reader`], where the widths and the padding are drawn.

use std::borrow::Cow;

use super::external_type::ExternalType;
use super::header::Version;
use super::header_reader::{Place, shown_name};
use crate::error::{ErrorKind, Result};

/// The bytes of a header so far.
pub(super) struct HeaderWriter {
    bytes: Vec<u8>,
    version: Version,
}

impl HeaderWriter {
    /// A header of `version` that has its magic number.
    pub(super) fn new(version: Version) -> Self {
        let number = match version {
            Version::Cdf1 => 1,
            Version::Cdf2 => 2,
            Version::Cdf5 => 5,
        };
        Self { bytes: vec![b'C', b'D', b'F', number], version }
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// The place of a structure that begins at the next byte.
    pub(super) fn place(&self, structure: &'static str) -> Place {
        Place { structure, address: self.bytes.len() as u64 }
    }

    /// A count or length (`NON_NEG` in the grammar); `field` names it in the error that it does
    /// not fit.
    pub(super) fn count(&mut self, place: Place, field: &'static str, value: u64) -> Result<()> {
        self.uint(place, field, value, self.version == Version::Cdf5)
    }

    /// The address of a variable's first value (`OFFSET` in the grammar).
    pub(super) fn file_address(&mut self, place: Place, value: u64) -> Result<()> {
        self.uint(place, "begin", value, self.version != Version::Cdf1)
    }

    /// A type code.
    pub(super) fn external_type(&mut self, external_type: ExternalType) {
        self.u32(external_type as u32);
    }

    /// A name in a field of at least `room` bytes; see [`stored_name`].
    pub(super) fn name(&mut self, place: Place, name: &str, room: u64) -> Result<()> {
        let mut stored = stored_name(name);
        let room = usize::try_from(room).unwrap_or(0);
        if room > stored.len() {
            stored.to_mut().resize(room, 0);
        }
        self.count(place, "length of a name", stored.len() as u64)?;
        self.padded_bytes(&stored);
        Ok(())
    }

    /// `bytes` and zeros up to a multiple of 4.
    pub(super) fn padded_bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }

    /// The tag and count that open a list; an empty one has neither.
    pub(super) fn list(&mut self, place: Place, tag: u32, count: usize) -> Result<()> {
        self.u32(if count == 0 { 0 } else { tag });
        self.count(place, "count", count as u64)
    }

    fn u32(&mut self, value: u32) {
        self.bytes.extend_from_slice(&value.to_be_bytes());
    }

    fn uint(&mut self, place: Place, field: &'static str, value: u64, wide: bool) -> Result<()> {
        if wide {
            self.bytes.extend_from_slice(&value.to_be_bytes());
            return Ok(());
        }
        let narrow = u32::try_from(value)
            .map_err(|_| place.error(ErrorKind::Limit { field, value, limit: u32::MAX.into() }))?;
        self.u32(narrow);
        Ok(())
    }
}

/// A name's bytes. Where it has `\xNN` for bytes that are not UTF-8, as a name that was read has,
/// these bytes are written again, so that reading and writing a header changes no name.
fn stored_name(name: &str) -> Cow<'_, [u8]> {
    let as_it_is = Cow::Borrowed(name.as_bytes());
    if !name.contains("\\x") {
        return as_it_is;
    }
    let mut stored = Vec::with_capacity(name.len());
    let mut rest = name.as_bytes();
    while let Some((&first, behind)) = rest.split_first() {
        let (byte, behind) = match escaped_byte(rest) {
            Some(byte) => (byte, &rest[4..]),
            None => (first, behind),
        };
        stored.push(byte);
        rest = behind;
    }
    if shown_name(&stored) == name { Cow::Owned(stored) } else { as_it_is }
}

/// The byte that `text` begins with as `\xNN`.
fn escaped_byte(text: &[u8]) -> Option<u8> {
    let digits = std::str::from_utf8(text.strip_prefix(b"\\x")?.get(..2)?).ok()?;
    u8::from_str_radix(digits, 16).ok().filter(|byte| *byte >= 0x80)
}
