//! The continuation message: where more of an object header is.
//!
//! ```text
//!   0 address of the block (O) | bytes of the block (L)
//! ```
//! Specification: IV.A.2.q "The Object Header Continuation Message".

use super::{Message, MessageType};
use crate::cursor::Cursor;
use crate::error::Result;
use crate::hdf5::{Encoding, Sizes};
use crate::output::Output;

pub(super) const NAME: &str = "continuation message";

/// A further block of an object header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Continuation {
    /// Where the block is.
    pub address: u64,
    /// Its bytes, signature and checksum included.
    pub len_bytes: u64,
}

impl Continuation {
    /// Bytes of the message.
    pub fn byte_len(sizes: Sizes) -> usize {
        sizes.offset + sizes.length
    }
}

impl Message for Continuation {
    const TYPE: MessageType = MessageType::CONTINUATION;
    const NAME: &'static str = NAME;

    fn decode_fields(cursor: &mut Cursor<'_>, sizes: Sizes) -> Result<Self> {
        let address = cursor.address_field(sizes.offset)?;
        let address = address.ok_or_else(|| cursor.bad_field("address", u64::MAX))?;
        Ok(Self { address, len_bytes: cursor.uint(sizes.length)? })
    }

    fn encode_fields(&self, output: &mut Output, encoding: Encoding) -> Result<()> {
        output.sized_address("address", Some(self.address), encoding.sizes.offset)?;
        output.sized("bytes", self.len_bytes, encoding.sizes.length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields() {
        let narrow = Sizes { offset: 2, length: 4 };
        let decoded = Continuation::decode(&[1, 2, 3, 0, 0, 0], 0, narrow);
        assert_eq!(decoded, Ok(Continuation { address: 0x201, len_bytes: 3 }));
        assert!(Continuation::decode(&[255, 255, 3, 0, 0, 0], 0, narrow).is_err());
        assert!(Continuation::decode(&[1, 2, 3], 0, narrow).is_err());
    }
}
