//! The driver info message, in the superblock extension: which file driver wrote the file.
//!
//! ```text
//!   0 version (0) | driver (8) | size (2) | information
//! ```
//! Specification: IV.A.2.u "The Driver Info Message".

use super::{Message, MessageType};
use crate::cursor::Cursor;
use crate::error::Result;
use crate::hdf5::{Encoding, Sizes};
use crate::output::Output;

pub(super) const NAME: &str = "driver info message";

/// A file driver's own information.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DriverInfo {
    /// The driver: `NCSAmult` multi, `NCSAfami` family.
    pub driver: [u8; 8],
    /// What only the driver understands.
    pub information: Vec<u8>,
}

impl Message for DriverInfo {
    const TYPE: MessageType = MessageType::DRIVER_INFO;
    const NAME: &'static str = NAME;

    fn decode_fields(cursor: &mut Cursor<'_>, _sizes: Sizes) -> Result<Self> {
        cursor.version(0)?;
        let driver = cursor.array()?;
        let len = usize::from(cursor.u16()?);
        Ok(Self { driver, information: cursor.take(len)?.to_vec() })
    }

    fn encode_fields(&self, output: &mut Output, _encoding: Encoding) -> Result<()> {
        output.u8(0);
        output.put(&self.driver);
        output.counted("size", &self.information)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields() {
        let decode = |bytes: &[u8]| DriverInfo::decode(bytes, 0, Sizes::default());
        let expected = DriverInfo { driver: *b"NCSAfami", information: vec![7, 8] };
        assert_eq!(decode(b"\0NCSAfami\x02\x00\x07\x08"), Ok(expected));
        assert!(decode(b"\0NCSAfami\x02\x00\x07").is_err());
    }
}
