//! Symbol table entry: one link of a group of the first kind.
//!
//! Stands in symbol table nodes and, for the root group, in superblocks 0 and 1. The engine's
//! group mapping takes the name from the group's local heap and follows the header address.
//!
//! ```text
//! | link name offset   offset | object header address   offset | cache type 4 | reserved 4 |
//! | scratch-pad space 16: nothing; B-tree address, heap address; or link value offset 4      |
//! ```
//! Section III.C, "Disk Format: Level 1C - Symbol Table Entry".

use super::super::Sizes;
use crate::cursor::Cursor;
use crate::error::Result;
use crate::output::Output;

/// Bytes of the scratch-pad space.
const SCRATCH_BYTES: usize = 16;

/// One link, by where its name stands and what it leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SymbolTableEntry {
    /// Where the link's name begins in the data segment of the group's local heap.
    pub name_offset: u64,
    /// The object header; `None` where there is none, as for a soft link.
    pub header_address: Option<u64>,
    /// What the scratch-pad space holds.
    pub cache: EntryCache,
}

/// What an entry tells of its object beside the address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryCache {
    /// Nothing.
    None,
    /// The object is a group with this B-tree and local heap.
    Group { btree_address: Option<u64>, heap_address: Option<u64> },
    /// The link is soft; its value begins here in the local heap's data segment.
    SoftLink { value_offset: u32 },
}

impl SymbolTableEntry {
    /// Bytes of an entry.
    pub fn byte_len(sizes: Sizes) -> usize {
        2 * sizes.offset + 8 + SCRATCH_BYTES
    }

    /// Reads one entry where `cursor` stands.
    ///
    /// # Errors
    /// A cache type other than 0, 1 and 2.
    pub fn decode(cursor: &mut Cursor<'_>, sizes: Sizes) -> Result<Self> {
        let name_offset = cursor.uint(sizes.offset)?;
        let header_address = cursor.address_field(sizes.offset)?;
        let cache_type = cursor.u32()?;
        cursor.skip(4)?;
        let scratch_address = cursor.address();
        let scratch = cursor.take(SCRATCH_BYTES)?;
        let mut scratch = Cursor::new(scratch, "symbol table entry", scratch_address);
        let cache = match cache_type {
            0 => EntryCache::None,
            // Wider addresses than 8 bytes do not fit here; the object header has them too.
            1 if 2 * sizes.offset > SCRATCH_BYTES => EntryCache::None,
            1 => EntryCache::Group {
                btree_address: scratch.address_field(sizes.offset)?,
                heap_address: scratch.address_field(sizes.offset)?,
            },
            2 => EntryCache::SoftLink { value_offset: scratch.u32()? },
            other => return Err(cursor.bad_field("cache type", u64::from(other))),
        };
        Ok(Self { name_offset, header_address, cache })
    }

    /// Writes the entry; what is cached of a group is left out where it does not fit.
    pub fn encode(&self, output: &mut Output, sizes: Sizes) {
        output.uint(self.name_offset, sizes.offset);
        output.address(self.header_address, sizes.offset);
        let mut scratch = Output::with_capacity(SCRATCH_BYTES);
        let cache_type = match self.cache {
            EntryCache::Group { btree_address, heap_address }
                if 2 * sizes.offset <= SCRATCH_BYTES =>
            {
                scratch.address(btree_address, sizes.offset);
                scratch.address(heap_address, sizes.offset);
                1
            }
            EntryCache::None | EntryCache::Group { .. } => 0,
            EntryCache::SoftLink { value_offset } => {
                scratch.u32(value_offset);
                2
            }
        };
        output.u32(cache_type);
        output.zeros(4);
        output.put(scratch.bytes());
        output.zeros(SCRATCH_BYTES - scratch.len());
    }
}
