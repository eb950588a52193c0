//! The reference count message: how many hard links lead to an object, where it is not one.
//!
//! ```text
//!   0 version (0) | count (4)
//! ```
//! Specification: IV.A.2.w "The Object Reference Count Message".

use super::{Message, MessageType};
use crate::cursor::Cursor;
use crate::error::Result;
use crate::hdf5::{Encoding, Sizes};
use crate::output::Output;

pub(super) const NAME: &str = "reference count message";

/// How many hard links lead to the object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReferenceCount(pub u32);

impl Message for ReferenceCount {
    const TYPE: MessageType = MessageType::REFERENCE_COUNT;
    const NAME: &'static str = NAME;

    fn decode_fields(cursor: &mut Cursor<'_>, _sizes: Sizes) -> Result<Self> {
        cursor.version(0)?;
        cursor.u32().map(Self)
    }

    fn encode_fields(&self, output: &mut Output, _encoding: Encoding) -> Result<()> {
        output.u8(0);
        output.u32(self.0);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields() {
        let decoded = ReferenceCount::decode(&[0, 2, 0, 0, 0], 0, Sizes::default());
        assert_eq!(decoded, Ok(ReferenceCount(2)));
        assert!(ReferenceCount::decode(&[0, 2], 0, Sizes::default()).is_err());
    }
}
