//! Symbol table node: a leaf of a group's version-1 B-tree, with up to 2K links in name order.
//!
//! ```text
//! | "SNOD" | version 1 = 1 | reserved 1 | symbol count 2 | symbol table entries ... |
//! ```
//! Section III.B, "Disk Format: Level 1B - Group Symbol Table Nodes".

use super::super::Sizes;
use super::symbol_table_entry::SymbolTableEntry;
use crate::cursor::Cursor;
use crate::error::{Error, ErrorKind, Result};
use crate::output::Output;

const STRUCTURE: &str = "symbol table node";

/// The links of one leaf, ordered by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SymbolTableNode {
    /// The links.
    pub entries: Vec<SymbolTableEntry>,
}

impl SymbolTableNode {
    /// Reads the node that stands at `address`.
    ///
    /// # Errors
    /// Signature, version, or an entry that cannot be.
    pub fn decode(bytes: &[u8], address: u64, sizes: Sizes) -> Result<Self> {
        let mut cursor = Cursor::new(bytes, STRUCTURE, address);
        cursor.signature(b"SNOD")?;
        cursor.version(1)?;
        cursor.skip(1)?;
        let count = cursor.u16()?;
        cursor.require(u64::from(count) * SymbolTableEntry::byte_len(sizes) as u64)?;
        let entries = (0..count)
            .map(|_| SymbolTableEntry::decode(&mut cursor, sizes))
            .collect::<Result<Vec<_>>>()?;
        Ok(Self { entries })
    }

    /// Bytes of a node in a file whose nodes have up to 2 `leaf_k` links.
    pub fn byte_len(leaf_k: u16, sizes: Sizes) -> usize {
        8 + 2 * usize::from(leaf_k) * SymbolTableEntry::byte_len(sizes)
    }

    /// The bytes of the node in such a file.
    ///
    /// # Errors
    /// More than 2 `leaf_k` links.
    pub fn encode(&self, leaf_k: u16, sizes: Sizes) -> Result<Vec<u8>> {
        let too_many = Error {
            structure: STRUCTURE,
            address: 0,
            kind: ErrorKind::Field { field: "symbol count", value: self.entries.len() as u64 },
        };
        let byte_len = Self::byte_len(leaf_k, sizes);
        let mut output = Output::with_capacity(byte_len);
        output.put(b"SNOD\x01\0");
        output.u16(u16::try_from(self.entries.len()).map_err(|_| too_many.clone())?);
        self.entries.iter().for_each(|entry| entry.encode(&mut output, sizes));
        let rest = byte_len.checked_sub(output.len()).ok_or(too_many)?;
        output.zeros(rest);
        Ok(output.into_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::super::symbol_table_entry::EntryCache;
    use super::*;
    use crate::error::ErrorKind;

    fn node() -> Vec<u8> {
        let mut bytes = b"SNOD\x01\x00\x03\x00".to_vec();
        for (name, header, cache) in [(8_u64, 800_u64, 0_u32), (16, 900, 1), (24, u64::MAX, 2)] {
            bytes.extend(name.to_le_bytes());
            bytes.extend(header.to_le_bytes());
            bytes.extend(cache.to_le_bytes());
            bytes.extend([0; 4]);
            bytes.extend(136_u64.to_le_bytes());
            bytes.extend(680_u64.to_le_bytes());
        }
        bytes
    }

    #[test]
    fn entries_of_all_cache_types() {
        let node = SymbolTableNode::decode(&node(), 0, Sizes::default()).unwrap();
        assert_eq!(node.entries[0].header_address, Some(800));
        assert_eq!(node.entries[0].cache, EntryCache::None);
        assert_eq!(
            node.entries[1].cache,
            EntryCache::Group { btree_address: Some(136), heap_address: Some(680) }
        );
        assert_eq!(node.entries[2].header_address, None);
        assert_eq!(node.entries[2].cache, EntryCache::SoftLink { value_offset: 136 });
    }

    #[test]
    fn encoded_as_decoded() {
        let sizes = Sizes::default();
        let decoded = SymbolTableNode::decode(&node(), 0, sizes).unwrap();
        let bytes = decoded.encode(2, sizes).unwrap();
        assert_eq!(bytes.len(), SymbolTableNode::byte_len(2, sizes));
        assert_eq!(SymbolTableNode::decode(&bytes, 0, sizes).unwrap(), decoded);
        assert!(decoded.encode(1, sizes).is_err());
    }

    #[test]
    fn asks_once_for_all_entries() {
        let error = SymbolTableNode::decode(&node()[..8], 64, Sizes::default()).unwrap_err();
        assert_eq!(error.kind, ErrorKind::NeedMore { bytes: 8 + 3 * 40 });
    }

    #[test]
    fn unknown_cache_type() {
        let mut bytes = node();
        bytes[8 + 16] = 9;
        let error = SymbolTableNode::decode(&bytes, 64, Sizes::default()).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Field { field: "cache type", value: 9 });
    }
}
