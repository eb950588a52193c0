//! The attribute info message: where an object keeps attributes that are not in its header.
//!
//! ```text
//!   0 version (0) | flags [flags 0: next creation order (2)]
//!     fractal heap address (O) | name index address (O) [flags 1: creation order index (O)]
//! ```
//! Specification: IV.A.2.v "The Attribute Info Message".

use super::{Message, MessageType};
use crate::cursor::Cursor;
use crate::error::Result;
use crate::hdf5::{Encoding, Sizes};
use crate::output::Output;

pub(super) const NAME: &str = "attribute info message";

/// Where dense attributes are. All three addresses are `None` while they stand in the header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttributeInfo {
    /// The creation order that the next attribute gets; `None` where the object tracks none.
    pub max_creation_order: Option<u16>,
    /// The fractal heap that holds the attributes.
    pub heap_address: Option<u64>,
    /// The version-2 B-tree by name.
    pub name_index_address: Option<u64>,
    /// True where dense attributes are indexed by creation order too.
    pub creation_order_indexed: bool,
    /// The version-2 B-tree by creation order.
    pub creation_order_index_address: Option<u64>,
}

impl Message for AttributeInfo {
    const TYPE: MessageType = MessageType::ATTRIBUTE_INFO;
    const NAME: &'static str = NAME;

    fn decode_fields(cursor: &mut Cursor<'_>, sizes: Sizes) -> Result<Self> {
        cursor.version(0)?;
        let flags = cursor.u8()?;
        Ok(Self {
            max_creation_order: if flags & 1 != 0 { Some(cursor.u16()?) } else { None },
            heap_address: cursor.address_field(sizes.offset)?,
            name_index_address: cursor.address_field(sizes.offset)?,
            creation_order_indexed: flags & 2 != 0,
            creation_order_index_address: match flags & 2 {
                0 => None,
                _ => cursor.address_field(sizes.offset)?,
            },
        })
    }

    fn encode_fields(&self, output: &mut Output, encoding: Encoding) -> Result<()> {
        output.u8(0);
        let is_tracked = self.max_creation_order.is_some();
        output.u8(u8::from(is_tracked) | u8::from(self.creation_order_indexed) << 1);
        if let Some(order) = self.max_creation_order {
            output.u16(order);
        }
        let width = encoding.sizes.offset;
        output.sized_address("fractal heap address", self.heap_address, width)?;
        output.sized_address("name index address", self.name_index_address, width)?;
        if self.creation_order_indexed {
            let address = self.creation_order_index_address;
            output.sized_address("creation order index address", address, width)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hdf5::damage::survive;

    #[test]
    fn with_and_without_order() {
        let narrow = Sizes { offset: 2, length: 2 };
        let decode = |bytes: &[u8]| AttributeInfo::decode(bytes, 0, narrow);
        let full = [0, 3, 5, 0, 1, 0, 2, 0, 3, 0];
        let info = decode(&full).unwrap();
        assert_eq!((info.max_creation_order, info.heap_address), (Some(5), Some(1)));
        assert_eq!(info.creation_order_index_address, Some(3));
        assert_eq!(decode(&[0, 0, 255, 255, 255, 255]).unwrap().heap_address, None);
        survive(&full, |bytes| drop(decode(bytes)));
    }
}
