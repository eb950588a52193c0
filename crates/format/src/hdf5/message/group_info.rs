//! The group info message: when a group of the newer kind changes how it keeps its links.
//!
//! ```text
//!   0 version (0) | flags
//!     [flags 0: most links in the header (2) | fewest in dense storage (2)]
//!     [flags 1: expected links (2) | expected length of a name (2)]
//! ```
//! Specification: IV.A.2.k "The Group Info Message".

use super::{Message, MessageType};
use crate::cursor::Cursor;
use crate::error::Result;
use crate::hdf5::{Encoding, Sizes};
use crate::output::Output;

pub(super) const NAME: &str = "group info message";

/// A group's constants; `None` is the library's default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroupInfo {
    /// Most links in the header, fewest in dense storage.
    pub phase_change: Option<(u16, u16)>,
    /// Expected number of links, expected length of their names in bytes.
    pub estimates: Option<(u16, u16)>,
}

impl Message for GroupInfo {
    const TYPE: MessageType = MessageType::GROUP_INFO;
    const NAME: &'static str = NAME;

    fn decode_fields(cursor: &mut Cursor<'_>, _sizes: Sizes) -> Result<Self> {
        cursor.version(0)?;
        let flags = cursor.u8()?;
        Ok(Self {
            phase_change: pair_if(cursor, flags & 1 != 0)?,
            estimates: pair_if(cursor, flags & 2 != 0)?,
        })
    }

    fn encode_fields(&self, output: &mut Output, _encoding: Encoding) -> Result<()> {
        output.u8(0);
        output.u8(u8::from(self.phase_change.is_some()) | u8::from(self.estimates.is_some()) << 1);
        for (first, second) in self.phase_change.into_iter().chain(self.estimates) {
            output.u16(first);
            output.u16(second);
        }
        Ok(())
    }
}

fn pair_if(cursor: &mut Cursor<'_>, present: bool) -> Result<Option<(u16, u16)>> {
    if present { Ok(Some((cursor.u16()?, cursor.u16()?))) } else { Ok(None) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hdf5::damage::survive;

    #[test]
    fn optional_parts() {
        let decode = |bytes: &[u8]| GroupInfo::decode(bytes, 0, Sizes::default());
        let full = [0, 3, 8, 0, 6, 0, 4, 0, 8, 0];
        let expected = GroupInfo { phase_change: Some((8, 6)), estimates: Some((4, 8)) };
        assert_eq!(decode(&full), Ok(expected));
        assert_eq!(decode(&[0, 0]), Ok(GroupInfo { phase_change: None, estimates: None }));
        survive(&full, |bytes| drop(decode(bytes)));
    }
}
