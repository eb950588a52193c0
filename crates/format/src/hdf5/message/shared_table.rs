//! The shared message table message, in the superblock extension: where the table of the file's
//! shared messages is.
//!
//! ```text
//!   0 version (0) | table address (O) | number of indexes
//! ```
//! Specification: IV.A.2.p "The Shared Message Table Message".

use super::{Message, MessageType};
use crate::cursor::Cursor;
use crate::error::Result;
use crate::hdf5::{Encoding, Sizes};
use crate::output::Output;

pub(super) const NAME: &str = "shared message table message";

/// Where the table is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SharedMessageTableLocation {
    /// Its address.
    pub address: u64,
    /// How many indexes it has.
    pub index_count: u8,
}

impl Message for SharedMessageTableLocation {
    const TYPE: MessageType = MessageType::SHARED_MESSAGE_TABLE;
    const NAME: &'static str = NAME;

    fn decode_fields(cursor: &mut Cursor<'_>, sizes: Sizes) -> Result<Self> {
        cursor.version(0)?;
        let address = cursor.address_field(sizes.offset)?;
        let address = address.ok_or_else(|| cursor.bad_field("table address", u64::MAX))?;
        Ok(Self { address, index_count: cursor.u8()? })
    }

    fn encode_fields(&self, output: &mut Output, encoding: Encoding) -> Result<()> {
        output.u8(0);
        output.sized_address("table address", Some(self.address), encoding.sizes.offset)?;
        output.u8(self.index_count);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields() {
        let narrow = Sizes { offset: 2, length: 2 };
        let decoded = SharedMessageTableLocation::decode(&[0, 1, 2, 3], 0, narrow);
        assert_eq!(decoded, Ok(SharedMessageTableLocation { address: 0x201, index_count: 3 }));
        assert!(SharedMessageTableLocation::decode(&[1, 1, 2, 3], 0, narrow).is_err());
    }
}
