//! The symbol table message: where a group of the older kind keeps its links.
//!
//! ```text
//!   0 version-1 B-tree address (O) | local heap address (O)
//! ```
//! Specification: IV.A.2.r "The Symbol Table Message".

use super::{Message, MessageType};
use crate::cursor::Cursor;
use crate::error::Result;
use crate::hdf5::{Encoding, Sizes};
use crate::output::Output;

pub(super) const NAME: &str = "symbol table message";

/// The two structures of a group of the older kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SymbolTable {
    /// The B-tree by name.
    pub btree_address: u64,
    /// The local heap with the names.
    pub heap_address: u64,
}

impl Message for SymbolTable {
    const TYPE: MessageType = MessageType::SYMBOL_TABLE;
    const NAME: &'static str = NAME;

    fn decode_fields(cursor: &mut Cursor<'_>, sizes: Sizes) -> Result<Self> {
        let mut defined = |field| {
            cursor.address_field(sizes.offset)?.ok_or_else(|| cursor.bad_field(field, u64::MAX))
        };
        Ok(Self {
            btree_address: defined("B-tree address")?,
            heap_address: defined("local heap address")?,
        })
    }

    fn encode_fields(&self, output: &mut Output, encoding: Encoding) -> Result<()> {
        let width = encoding.sizes.offset;
        output.sized_address("B-tree address", Some(self.btree_address), width)?;
        output.sized_address("local heap address", Some(self.heap_address), width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields() {
        let narrow = Sizes { offset: 2, length: 2 };
        let decoded = SymbolTable::decode(&[1, 2, 3, 4], 0, narrow);
        assert_eq!(decoded, Ok(SymbolTable { btree_address: 0x201, heap_address: 0x403 }));
        assert!(SymbolTable::decode(&[1, 2, 255, 255], 0, narrow).is_err());
    }
}
