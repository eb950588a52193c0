//! The fill value messages: what elements that were never written are.
//!
//! ```text
//! old (type 4)    version 1, 2                            version 3
//!   0 size (4)      0 version | allocation | write          0 version | flags
//!   4 value         3 defined                               2 [flags bit 5: size (4) | value]
//!                   4 [v.1 or defined: size (4) | value]
//! ```
//! Specification: IV.A.2.e and IV.A.2.f, "The Data Storage - Fill Value Message".

use std::sync::Arc;

use super::{Message, MessageType};
use crate::cursor::Cursor;
use crate::error::{ErrorKind, Result};
use crate::hdf5::{Encoding, OldestReader, Sizes};
use crate::output::Output;

pub(super) const NAME: &str = "fill value message";
pub(super) const OLD_NAME: &str = "old fill value message";

const FLAG_UNDEFINED: u8 = 0x10;
const FLAG_HAS_VALUE: u8 = 0x20;

/// A data set's fill value and when it is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FillValue {
    /// When the writer reserves space.
    pub allocation_time: AllocationTime,
    /// When the writer fills it.
    pub write_time: WriteTime,
    /// The value.
    pub value: Fill,
}

/// What the fill value is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fill {
    /// There is none: what was never written is anything.
    Undefined,
    /// All bytes zero.
    Default,
    /// One element, as the data set's type has it in the file.
    User(Arc<[u8]>),
}

/// When space is reserved in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AllocationTime {
    /// The old message does not tell, or the number is not one of these.
    Unknown,
    /// When the data set is made.
    Early,
    /// At the first write.
    Late,
    /// As chunks are written.
    Incremental,
}

/// When the fill value is written into reserved space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteTime {
    /// On allocation.
    OnAllocation,
    /// Never.
    Never,
    /// On allocation when the user set a value.
    IfSet,
}

impl AllocationTime {
    fn from_number(number: u8) -> Self {
        match number {
            1 => Self::Early,
            2 => Self::Late,
            3 => Self::Incremental,
            _ => Self::Unknown,
        }
    }

    fn number(self) -> u8 {
        match self {
            Self::Unknown => 0,
            Self::Early => 1,
            Self::Late => 2,
            Self::Incremental => 3,
        }
    }
}

impl WriteTime {
    fn decode(cursor: &Cursor<'_>, number: u8) -> Result<Self> {
        Ok(match number {
            0 => Self::OnAllocation,
            1 => Self::Never,
            2 => Self::IfSet,
            _ => return Err(cursor.bad_field("fill value write time", u64::from(number))),
        })
    }

    fn number(self) -> u8 {
        match self {
            Self::OnAllocation => 0,
            Self::Never => 1,
            Self::IfSet => 2,
        }
    }
}

impl Fill {
    /// The size, which is signed, and so many bytes. The library tells "default" from "user" by
    /// the size alone, and so do we.
    fn decode(cursor: &mut Cursor<'_>) -> Result<Self> {
        Ok(match cursor.u32()? {
            0 => Self::Default,
            size if size >> 31 != 0 => Self::Undefined,
            size => Self::User(cursor.take(size as usize)?.into()),
        })
    }

    fn encode(&self, output: &mut Output) -> Result<()> {
        match self {
            Self::Undefined => output.u32(u32::MAX),
            Self::Default => output.u32(0),
            Self::User(value) if value.is_empty() => return Err(output.bad_field("size", 0)),
            Self::User(value) => {
                let len = output.limited("size", value.len() as u64, i32::MAX as u64)?;
                output.u32(len as u32);
                output.put(value);
            }
        }
        Ok(())
    }
}

impl Message for FillValue {
    const TYPE: MessageType = MessageType::FILL_VALUE;
    const NAME: &'static str = NAME;

    fn decode_fields(cursor: &mut Cursor<'_>, _sizes: Sizes) -> Result<Self> {
        let version = cursor.u8()?;
        let (allocation, write, value) = match version {
            1 | 2 => {
                let (allocation, write, defined) = (cursor.u8()?, cursor.u8()?, cursor.u8()?);
                let has_size = version == 1 || defined != 0;
                let value = if has_size { Fill::decode(cursor)? } else { Fill::Undefined };
                (allocation, write, value)
            }
            3 => {
                let flags = cursor.u8()?;
                let value = match (flags & FLAG_UNDEFINED != 0, flags & FLAG_HAS_VALUE != 0) {
                    (true, true) => {
                        return Err(cursor.bad_field("fill value flags", u64::from(flags)));
                    }
                    (true, false) => Fill::Undefined,
                    (false, true) => Fill::decode(cursor)?,
                    (false, false) => Fill::Default,
                };
                (flags & 3, flags >> 2 & 3, value)
            }
            _ => return Err(cursor.error(ErrorKind::Version { found: u64::from(version) })),
        };
        let write_time = WriteTime::decode(cursor, write)?;
        let allocation_time = AllocationTime::from_number(allocation);
        Ok(Self { allocation_time, write_time, value })
    }

    fn encode_fields(&self, output: &mut Output, encoding: Encoding) -> Result<()> {
        let (allocation, write) = (self.allocation_time.number(), self.write_time.number());
        if encoding.oldest_reader == OldestReader::V16 {
            let is_defined = self.value != Fill::Undefined;
            output.put(&[2, allocation, write, u8::from(is_defined)]);
            return if is_defined { self.value.encode(output) } else { Ok(()) };
        }
        let value_flags = match self.value {
            Fill::Undefined => FLAG_UNDEFINED,
            Fill::Default => 0,
            Fill::User(_) => FLAG_HAS_VALUE,
        };
        output.put(&[3, allocation | write << 2 | value_flags]);
        if value_flags == FLAG_HAS_VALUE { self.value.encode(output) } else { Ok(()) }
    }
}

/// The message of libraries before 1.6 (and beside the new one for them, until 1.8).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OldFillValue(pub Fill);

impl From<OldFillValue> for FillValue {
    fn from(old: OldFillValue) -> Self {
        Self {
            allocation_time: AllocationTime::Unknown,
            write_time: WriteTime::IfSet,
            value: old.0,
        }
    }
}

impl Message for OldFillValue {
    const TYPE: MessageType = MessageType::OLD_FILL_VALUE;
    const NAME: &'static str = OLD_NAME;

    fn decode_fields(cursor: &mut Cursor<'_>, _sizes: Sizes) -> Result<Self> {
        Fill::decode(cursor).map(Self)
    }

    fn encode_fields(&self, output: &mut Output, _encoding: Encoding) -> Result<()> {
        self.0.encode(output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hdf5::damage::survive;

    fn value(bytes: &[u8]) -> Fill {
        FillValue::decode(bytes, 0, Sizes::default()).unwrap().value
    }

    #[test]
    fn every_version() {
        assert_eq!(value(&[1, 2, 2, 0, 0, 0, 0, 0]), Fill::Default);
        assert_eq!(value(&[1, 2, 2, 0, 255, 255, 255, 255]), Fill::Undefined);
        assert_eq!(value(&[2, 2, 2, 0]), Fill::Undefined);
        assert_eq!(value(&[2, 2, 2, 1, 2, 0, 0, 0, 7, 8]), Fill::User([7, 8].as_slice().into()));
        assert_eq!(value(&[3, 0x0a]), Fill::Default);
        assert_eq!(value(&[3, 0x1a]), Fill::Undefined);
        assert_eq!(value(&[3, 0x2a, 1, 0, 0, 0, 9]), Fill::User([9].as_slice().into()));
        assert!(FillValue::decode(&[3, 0x3a], 0, Sizes::default()).is_err());
        let old = OldFillValue::decode(&[1, 0, 0, 0, 5], 0, Sizes::default()).unwrap();
        assert_eq!(old.0, Fill::User([5].as_slice().into()));
    }

    #[test]
    fn times() {
        let message = FillValue::decode(&[3, 0x0b], 0, Sizes::default()).unwrap();
        assert_eq!(message.allocation_time, AllocationTime::Incremental);
        assert_eq!(message.write_time, WriteTime::IfSet);
    }

    #[test]
    fn damage_never_panics() {
        for valid in [&[2, 2, 2, 1, 2, 0, 0, 0, 7, 8][..], &[3, 0x2a, 1, 0, 0, 0, 9]] {
            survive(valid, |bytes| drop(FillValue::decode(bytes, 0, Sizes::default())));
        }
    }
}
