//! The B-tree "K" values message, in the superblock extension.
//!
//! ```text
//!   0 version (0) | indexed storage internal K (2) | group internal K (2) | group leaf K (2)
//! ```
//! Specification: IV.A.2.t "The B-tree 'K' Values Message".

use super::{Message, MessageType};
use crate::cursor::Cursor;
use crate::error::Result;
use crate::hdf5::superblock::BtreeK;
use crate::hdf5::{Encoding, Sizes};
use crate::output::Output;

pub(super) const NAME: &str = "B-tree K values message";

impl Message for BtreeK {
    const TYPE: MessageType = MessageType::BTREE_K;
    const NAME: &'static str = NAME;

    fn decode_fields(cursor: &mut Cursor<'_>, _sizes: Sizes) -> Result<Self> {
        cursor.version(0)?;
        Ok(Self {
            indexed_storage: cursor.u16()?,
            group_internal: cursor.u16()?,
            group_leaf: cursor.u16()?,
        })
    }

    fn encode_fields(&self, output: &mut Output, _encoding: Encoding) -> Result<()> {
        output.u8(0);
        output.u16(self.indexed_storage);
        output.u16(self.group_internal);
        output.u16(self.group_leaf);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields() {
        let decoded = BtreeK::decode(&[0, 32, 0, 16, 0, 4, 0], 0, Sizes::default());
        assert_eq!(decoded, Ok(BtreeK::default()));
        assert!(BtreeK::decode(&[0, 32, 0], 0, Sizes::default()).is_err());
    }
}
