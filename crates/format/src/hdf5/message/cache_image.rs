//! The metadata cache image message, in the superblock extension: where the metadata that the
//! writer kept in memory at the last close stands in one block.
//!
//! ```text
//!   0 version (0) | address of the block (O) | bytes of the block (L)
//! ```
//! Not in the specification's list of messages; libhdf5 writes it since 1.10 when asked to.

use super::{Message, MessageType};
use crate::cursor::Cursor;
use crate::error::Result;
use crate::hdf5::{Encoding, Sizes};
use crate::output::Output;

pub(super) const NAME: &str = "metadata cache image message";

/// Where the image is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheImage {
    /// Its address; `None` where there is no image.
    pub address: Option<u64>,
    /// Its bytes.
    pub len_bytes: u64,
}

impl Message for CacheImage {
    const TYPE: MessageType = MessageType::CACHE_IMAGE;
    const NAME: &'static str = NAME;

    fn decode_fields(cursor: &mut Cursor<'_>, sizes: Sizes) -> Result<Self> {
        cursor.version(0)?;
        Ok(Self {
            address: cursor.address_field(sizes.offset)?,
            len_bytes: cursor.uint(sizes.length)?,
        })
    }

    fn encode_fields(&self, output: &mut Output, encoding: Encoding) -> Result<()> {
        output.u8(0);
        output.sized_address("address", self.address, encoding.sizes.offset)?;
        output.sized("bytes", self.len_bytes, encoding.sizes.length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields() {
        let narrow = Sizes { offset: 2, length: 2 };
        let decoded = CacheImage::decode(&[0, 1, 2, 3, 0], 0, narrow);
        assert_eq!(decoded, Ok(CacheImage { address: Some(0x201), len_bytes: 3 }));
        assert!(CacheImage::decode(&[0, 1, 2], 0, narrow).is_err());
    }
}
