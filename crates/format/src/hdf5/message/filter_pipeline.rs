//! The filter pipeline message: what was done to each chunk before it was written.
//!
//! ```text
//! version 1                                  version 2
//!   0 version | count | - (6)                  0 version | count
//!   for each filter:                           for each filter:
//!     0 ID (2) | name length (2)                 0 ID (2) | [ID >= 256: name length (2)]
//!     4 flags (2) | values (2)                     flags (2) | values (2)
//!     8 name, padded to 8                          [name]
//!       values (4 each) [odd: - (4)]               values (4 each)
//! ```
//! Specification: IV.A.2.l "The Data Storage - Filter Pipeline Message".

use std::sync::Arc;

use super::{Message, MessageType};
use crate::cursor::Cursor;
use crate::error::{ErrorKind, Result};
use crate::hdf5::{Encoding, OldestReader, Sizes};
use crate::limits;
use crate::output::Output;

pub(super) const NAME: &str = "filter pipeline message";

/// The first filter ID that a program other than the library itself may have.
const FIRST_NAMED_ID: u16 = 256;

/// The filters of a data set, in the order in which a writer applies them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FilterPipeline {
    /// A reader undoes the last one first.
    pub filters: Vec<Filter>,
}

/// One filter and its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    /// The registered number.
    pub id: u16,
    /// The name as the writer knew it; empty where none is stored.
    pub name: Arc<[u8]>,
    /// Bit 0: a writer may leave the filter out where it fails.
    pub flags: u16,
    /// Parameters ("client data").
    pub values: Vec<u32>,
}

impl Filter {
    /// True where a chunk may have been written without the filter.
    pub fn is_optional(&self) -> bool {
        self.flags & 1 != 0
    }

    fn decode(cursor: &mut Cursor<'_>, version: u8) -> Result<Self> {
        let id = cursor.u16()?;
        let has_name = version == 1 || id >= FIRST_NAMED_ID;
        let name_len = if has_name { usize::from(cursor.u16()?) } else { 0 };
        let flags = cursor.u16()?;
        let count = cursor.u16()?;
        let padded_len = if version == 1 { name_len.next_multiple_of(8) } else { name_len };
        let padded = cursor.take(padded_len)?;
        let name_end = padded.iter().position(|&byte| byte == 0).unwrap_or(name_len);
        cursor.require(u64::from(count) * 4)?;
        let values = (0..count).map(|_| cursor.u32()).collect::<Result<_>>()?;
        if version == 1 && count % 2 == 1 {
            cursor.skip(4)?;
        }
        Ok(Self { id, name: padded[..name_end].into(), flags, values })
    }

    fn encode(&self, output: &mut Output, version: u8) -> Result<()> {
        output.u16(self.id);
        let has_name = version == 1 || self.id >= FIRST_NAMED_ID;
        let mut name = if has_name { self.name.to_vec() } else { Vec::new() };
        if !name.is_empty() {
            name.push(0);
        }
        if version == 1 {
            name.resize(name.len().next_multiple_of(8), 0);
        }
        if has_name {
            output.sized("length of a filter's name", name.len() as u64, 2)?;
        }
        output.u16(self.flags);
        output.sized("number of a filter's values", self.values.len() as u64, 2)?;
        output.put(&name);
        for &value in &self.values {
            output.u32(value);
        }
        if version == 1 && self.values.len() % 2 == 1 {
            output.zeros(4);
        }
        Ok(())
    }
}

impl Message for FilterPipeline {
    const TYPE: MessageType = MessageType::FILTER_PIPELINE;
    const NAME: &'static str = NAME;

    fn decode_fields(cursor: &mut Cursor<'_>, _sizes: Sizes) -> Result<Self> {
        let version = cursor.u8()?;
        let count = cursor.u8()?;
        cursor.limited("number of filters", u64::from(count), limits::FILTERS)?;
        match version {
            1 => cursor.skip(6)?,
            2 => {}
            _ => return Err(cursor.error(ErrorKind::Version { found: u64::from(version) })),
        }
        let filters = (0..count).map(|_| Filter::decode(cursor, version)).collect::<Result<_>>()?;
        Ok(Self { filters })
    }

    fn encode_fields(&self, output: &mut Output, encoding: Encoding) -> Result<()> {
        let version = if encoding.oldest_reader == OldestReader::V16 { 1 } else { 2 };
        let count =
            output.limited("number of filters", self.filters.len() as u64, limits::FILTERS)?;
        output.put(&[version, count as u8]);
        if version == 1 {
            output.zeros(6);
        }
        self.filters.iter().try_for_each(|filter| filter.encode(output, version))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hdf5::damage::survive;

    const FIRST: &[u8] = &[
        1, 2, 0, 0, 0, 0, 0, 0, 2, 0, 8, 0, 1, 0, 1, 0, b's', b'h', b'u', b'f', 0, 0, 0, 0, 4, 0,
        0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 2, 0, 6, 0, 0, 0, 7, 0, 0, 0,
    ];
    const SECOND: &[u8] =
        &[2, 2, 1, 0, 0, 0, 1, 0, 6, 0, 0, 0, 0x15, 0x7d, 3, 0, 1, 0, 0, 0, b'z', b's', 0];

    fn decode(bytes: &[u8]) -> Result<FilterPipeline> {
        FilterPipeline::decode(bytes, 0, Sizes::default())
    }

    #[test]
    fn first_version() {
        let filters = decode(FIRST).unwrap().filters;
        assert_eq!(filters.len(), 2);
        assert_eq!((filters[0].id, &filters[0].name[..]), (2, &b"shuf"[..]));
        assert_eq!(filters[0].values, [4]);
        assert!(filters[0].is_optional());
        assert_eq!((filters[1].id, &filters[1].values[..]), (1, &[6, 7][..]));
    }

    #[test]
    fn second_version() {
        let filters = decode(SECOND).unwrap().filters;
        assert_eq!((filters[0].id, &filters[0].values[..]), (1, &[6][..]));
        assert_eq!((filters[1].id, &filters[1].name[..]), (32021, &b"zs"[..]));
    }

    #[test]
    fn damage_never_panics() {
        for valid in [FIRST, SECOND] {
            survive(valid, |bytes| drop(decode(bytes)));
        }
    }
}
