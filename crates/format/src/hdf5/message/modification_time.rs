//! The modification time messages: when an object was last changed.
//!
//! ```text
//! new (type 0x12)                         old (type 0x0E)
//!   0 version (1) | - (3) | seconds (4)     0 year (4) | month (2) | day | hour | minute | second
//!                                             in ASCII digits, then - (2)
//! ```
//! Specification: IV.A.2.o and IV.A.2.s, "The Object Modification Time Message".

use super::{Message, MessageType};
use crate::cursor::Cursor;
use crate::error::Result;
use crate::hdf5::{Encoding, Sizes};
use crate::output::Output;

pub(super) const NAME: &str = "modification time message";
pub(super) const OLD_NAME: &str = "old modification time message";

/// Seconds since 1970-01-01 00:00 UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModificationTime(pub u32);

impl Message for ModificationTime {
    const TYPE: MessageType = MessageType::MODIFICATION_TIME;
    const NAME: &'static str = NAME;

    fn decode_fields(cursor: &mut Cursor<'_>, _sizes: Sizes) -> Result<Self> {
        cursor.version(1)?;
        cursor.skip(3)?;
        cursor.u32().map(Self)
    }

    fn encode_fields(&self, output: &mut Output, _encoding: Encoding) -> Result<()> {
        output.u8(1);
        output.zeros(3);
        output.u32(self.0);
        Ok(())
    }
}

/// Date and time of day in UTC, as libraries before 1.4 wrote them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OldModificationTime {
    /// Year.
    pub year: u16,
    /// Month, day, hour, minute, second.
    pub month_to_second: [u8; 5],
}

impl Message for OldModificationTime {
    const TYPE: MessageType = MessageType::OLD_MODIFICATION_TIME;
    const NAME: &'static str = OLD_NAME;

    fn decode_fields(cursor: &mut Cursor<'_>, _sizes: Sizes) -> Result<Self> {
        let century = u16::from(decode_pair(cursor)?);
        let year = century * 100 + u16::from(decode_pair(cursor)?);
        let mut month_to_second = [0; 5];
        for part in &mut month_to_second {
            *part = decode_pair(cursor)?;
        }
        Ok(Self { year, month_to_second })
    }

    fn encode_fields(&self, output: &mut Output, _encoding: Encoding) -> Result<()> {
        let (century, year) = (self.year / 100, self.year % 100);
        encode_pair(output, century)?;
        encode_pair(output, year)?;
        for part in self.month_to_second {
            encode_pair(output, u16::from(part))?;
        }
        output.zeros(2);
        Ok(())
    }
}

/// Two decimal digits.
fn decode_pair(cursor: &mut Cursor<'_>) -> Result<u8> {
    let mut value = 0;
    for byte in cursor.array::<2>()? {
        if !byte.is_ascii_digit() {
            return Err(cursor.bad_field("digit", u64::from(byte)));
        }
        value = value * 10 + (byte - b'0');
    }
    Ok(value)
}

fn encode_pair(output: &mut Output, value: u16) -> Result<()> {
    output.limited("part of a date", u64::from(value), 99)?;
    output.put(format!("{value:02}").as_bytes());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hdf5::damage::survive;

    #[test]
    fn both_kinds() {
        let new = ModificationTime::decode(&[1, 0, 0, 0, 1, 2, 0, 0], 0, Sizes::default());
        assert_eq!(new, Ok(ModificationTime(0x201)));
        let decode = |bytes: &[u8]| OldModificationTime::decode(bytes, 0, Sizes::default());
        let valid = b"19980704235959\0\0";
        let expected = OldModificationTime { year: 1998, month_to_second: [7, 4, 23, 59, 59] };
        assert_eq!(decode(valid), Ok(expected));
        assert!(decode(b"1998070423595x\0\0").is_err());
        survive(valid, |bytes| drop(decode(bytes)));
    }
}
