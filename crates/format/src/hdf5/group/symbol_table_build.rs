//! Builds what a group of the first kind finds its links by, whole: B-tree, local heap and symbol
//! table nodes.
//!
//! ```text
//! | nodes of the B-tree, root first | local heap, data segment | symbol table nodes |
//! ```

use super::super::Sizes;
use super::super::btree::v1_build::GroupTreeBuilder;
use super::super::heap::local::LocalHeapBuilder;
use super::super::superblock::BtreeK;
use super::symbol_table_entry::{EntryCache, SymbolTableEntry};
use super::symbol_table_node::SymbolTableNode;
use crate::error::{Error, ErrorKind, Result};
use crate::output::Output;

const STRUCTURE: &str = "symbol table";

/// A link of a group, before the addresses of objects are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SymbolTableLink<'a> {
    /// Its name.
    pub name: &'a [u8],
    /// What a soft link says; `None` where the link is to an object.
    pub soft_value: Option<&'a [u8]>,
}

/// The links of a group in their order, before the group's structures have an address.
#[derive(Debug, Clone)]
pub struct SymbolTableBuilder {
    /// The entries, still without object addresses.
    entries: Vec<SymbolTableEntry>,
    heap: LocalHeapBuilder,
    tree: GroupTreeBuilder,
    leaf_k: u16,
    sizes: Sizes,
}

impl SymbolTableBuilder {
    /// A group of `links`, which must be sorted by name, in a file with the B-tree sizes `k`.
    ///
    /// # Errors
    /// Names that are not sorted, are empty, appear twice or have a NUL in them, or more of
    /// them than can be built at once.
    pub fn new(links: &[SymbolTableLink<'_>], k: BtreeK, sizes: Sizes) -> Result<Self> {
        let fault = |field, value| {
            let kind = ErrorKind::Field { field, value };
            Error { structure: STRUCTURE, address: 0, kind }
        };
        if k.group_leaf == 0 {
            return Err(fault("group leaf K", 0));
        }
        let mut heap = LocalHeapBuilder::new(sizes);
        let mut entries = Vec::with_capacity(links.len());
        let mut previous: &[u8] = b"";
        for (index, link) in links.iter().enumerate() {
            let has_nul = link.name.contains(&0) || link.soft_value.is_some_and(|v| v.contains(&0));
            if link.name <= previous || has_nul {
                return Err(fault("link name", index as u64));
            }
            previous = link.name;
            let name_offset = heap.push(link.name);
            let cache = match link.soft_value {
                None => EntryCache::None,
                Some(value) => {
                    let offset = heap.push(value);
                    let value_offset = u32::try_from(offset);
                    let value_offset = value_offset.map_err(|_| fault("link value", offset))?;
                    EntryCache::SoftLink { value_offset }
                }
            };
            entries.push(SymbolTableEntry { name_offset, header_address: None, cache });
        }
        let node_count = entries.len().div_ceil(2 * usize::from(k.group_leaf));
        let tree = GroupTreeBuilder::new(node_count, k.group_internal, sizes)?;
        let builder = Self { entries, heap, tree, leaf_k: k.group_leaf, sizes };
        sizes.check_space(STRUCTURE, 0, builder.byte_len())?;
        Ok(builder)
    }

    /// Bytes of all of it.
    pub fn byte_len(&self) -> u64 {
        self.nodes_start() + self.node_count() as u64 * self.node_bytes()
    }

    /// Where the root of the B-tree is when all of it stands at `address`.
    pub fn btree_address(&self, address: u64) -> u64 {
        address
    }

    /// Where the local heap is when all of it stands at `address`.
    pub fn heap_address(&self, address: u64) -> u64 {
        address + self.tree.byte_len()
    }

    /// The bytes of all of it at `address`, with the object header of each link; `None` for soft
    /// links.
    ///
    /// # Errors
    /// Other than as many object headers as links, or one where there must be none; an address
    /// too large for its field.
    pub fn encode(&self, address: u64, headers: &[Option<u64>]) -> Result<Vec<u8>> {
        self.sizes.check_space(STRUCTURE, address, self.byte_len())?;
        let is_soft = |entry: &SymbolTableEntry| matches!(entry.cache, EntryCache::SoftLink { .. });
        let mut pairs = self.entries.iter().zip(headers);
        let fit = pairs.all(|(entry, header)| is_soft(entry) == header.is_none());
        if headers.len() != self.entries.len() || !fit {
            let kind = ErrorKind::Field { field: "headers", value: headers.len() as u64 };
            return Err(Error { structure: STRUCTURE, address, kind });
        }
        let mut nodes = Output::new();
        let mut places = Vec::with_capacity(self.node_count());
        let mut rest = self.entries.iter().zip(headers);
        for index in 0..self.node_count() {
            let place = address + self.nodes_start() + nodes.len() as u64;
            let count = self.entries.len() / self.node_count()
                + usize::from(index < self.entries.len() % self.node_count());
            let entries: Vec<_> = rest
                .by_ref()
                .take(count)
                .map(|(entry, &header_address)| SymbolTableEntry {
                    header_address,
                    ..entry.clone()
                })
                .collect();
            places.push((place, entries.last().map_or(0, |entry| entry.name_offset)));
            nodes.put(&SymbolTableNode { entries }.encode(self.leaf_k, self.sizes)?);
            nodes.pad_to(8);
        }
        let mut output = Output::with_capacity(self.byte_len() as usize);
        output.put(&self.tree.encode(self.btree_address(address), &places)?);
        output.put(&self.heap.encode(self.heap_address(address))?);
        output.put(nodes.bytes());
        Ok(output.into_bytes())
    }

    fn node_count(&self) -> usize {
        self.entries.len().div_ceil(2 * usize::from(self.leaf_k))
    }

    fn node_bytes(&self) -> u64 {
        (SymbolTableNode::byte_len(self.leaf_k, self.sizes) as u64).next_multiple_of(8)
    }

    /// Bytes before the symbol table nodes.
    fn nodes_start(&self) -> u64 {
        self.tree.byte_len() + self.heap.byte_len()
    }
}
