//! Builds a version-1 B-tree whole, from all its children in their order.
//!
//! The tree has as few levels and nodes as can hold the children, which are spread evenly over the
//! nodes of a level. The nodes stand level by level behind each other, the root first.

use std::ops::Range;

use super::super::Sizes;
use super::v1::{ChunkEntry, ChunkNode, EndKey, GroupNode, NodeHeader};
use crate::error::{Error, ErrorKind, Result};

const STRUCTURE: &str = "version 1 B-tree";

/// Which children the nodes of a tree have, and where the nodes stand.
#[derive(Debug, Clone, PartialEq, Eq)]
struct TreeShape {
    child_count: usize,
    /// Nodes by level, from the leaves to the one root.
    node_counts: Vec<usize>,
    node_bytes: u64,
}

/// One node of a shape.
#[derive(Debug, Clone, PartialEq, Eq)]
struct NodePlace {
    header: NodeHeader,
    /// Which children of its level it has.
    children: Range<usize>,
}

impl TreeShape {
    fn new(child_count: usize, k: u16, node_bytes: usize, sizes: Sizes) -> Result<Self> {
        let most = 2 * usize::from(k);
        if most == 0 {
            let kind = ErrorKind::Field { field: "K", value: 0 };
            return Err(Error { structure: STRUCTURE, address: 0, kind });
        }
        let mut node_counts = vec![child_count.div_ceil(most).max(1)];
        while let Some(&count) = node_counts.last().filter(|&&count| count > 1) {
            node_counts.push(count.div_ceil(most));
        }
        let node_bytes = (node_bytes as u64).next_multiple_of(8);
        let shape = Self { child_count, node_counts, node_bytes };
        sizes.check_space(STRUCTURE, 0, shape.byte_len())?;
        Ok(shape)
    }

    fn byte_len(&self) -> u64 {
        let count = self.node_counts.iter().fold(0, |sum: u64, &n| sum.saturating_add(n as u64));
        count.saturating_mul(self.node_bytes)
    }

    /// The address of node `index` of `level` in the tree at `address`.
    fn address(&self, address: u64, level: usize, index: usize) -> u64 {
        let above: usize = self.node_counts[level + 1..].iter().sum();
        address + (above + index) as u64 * self.node_bytes
    }

    /// The nodes in the order in which they stand in the tree at `address`.
    fn nodes(&self, address: u64) -> impl Iterator<Item = NodePlace> {
        let levels = self.node_counts.iter().enumerate().rev();
        levels.flat_map(move |(level, &count)| {
            (0..count).map(move |index| {
                let at = |index| self.address(address, level, index);
                let header = NodeHeader {
                    level: level as u8,
                    left: index.checked_sub(1).map(at),
                    right: Some(index + 1).filter(|&right| right < count).map(at),
                };
                NodePlace { header, children: self.children(level, index) }
            })
        })
    }

    /// The children of node `index` of `level`.
    fn children(&self, level: usize, index: usize) -> Range<usize> {
        let count = self.node_counts[level];
        let below = match level {
            0 => self.child_count,
            _ => self.node_counts[level - 1],
        };
        let start = |index: usize| below / count * index + (below % count).min(index);
        start(index)..start(index + 1)
    }

    /// The children at the very bottom, below child `index` of `level`: the first and the one
    /// behind the last.
    fn bottom(&self, level: usize, index: usize) -> Range<usize> {
        (0..level).rev().fold(index..index + 1, |range, below| {
            self.children(below, range.start).start..self.children(below, range.end - 1).end
        })
    }
}

/// The tree of a data set's chunks, before it has an address.
#[derive(Debug, Clone)]
pub struct ChunkTreeBuilder {
    shape: TreeShape,
    rank: usize,
    k: u16,
    sizes: Sizes,
}

/// The chunks of a tree in the order of their offsets.
#[derive(Debug, Clone, Copy)]
pub struct TreeChunks<'a> {
    /// What the leaves know of each chunk.
    pub entries: &'a [ChunkEntry],
    /// The offset of each, by elements: as many numbers as there are dimensions.
    pub offsets: &'a [u64],
    /// Elements of a chunk along each dimension.
    pub chunk_shape: &'a [u64],
    /// Bytes of an element.
    pub element_bytes: u32,
}

impl ChunkTreeBuilder {
    /// A tree of `k` for `chunk_count` chunks of `rank` dimensions.
    ///
    /// # Errors
    /// A `k` of 0, or more chunks than can be built at once.
    pub fn new(chunk_count: usize, rank: usize, k: u16, sizes: Sizes) -> Result<Self> {
        let shape = TreeShape::new(chunk_count, k, ChunkNode::byte_len(k, rank, sizes), sizes)?;
        Ok(Self { shape, rank, k, sizes })
    }

    /// Bytes of the whole tree; without chunks, those of an empty leaf.
    pub fn byte_len(&self) -> u64 {
        self.shape.byte_len()
    }

    /// The bytes of the tree at `address`, which is that of its root.
    ///
    /// # Errors
    /// Other than as many chunks or dimensions as were said, or an address too large for its field.
    pub fn encode(&self, address: u64, chunks: TreeChunks<'_>) -> Result<Vec<u8>> {
        self.sizes.check_space(STRUCTURE, address, self.byte_len())?;
        let offset_count = chunks.entries.len().checked_mul(self.rank);
        if chunks.entries.len() != self.shape.child_count
            || offset_count != Some(chunks.offsets.len())
            || chunks.chunk_shape.len() != self.rank
        {
            let kind = ErrorKind::Field { field: "chunks", value: chunks.entries.len() as u64 };
            return Err(Error { structure: STRUCTURE, address, kind });
        }
        let mut bytes = Vec::with_capacity(self.byte_len() as usize);
        for NodePlace { header, children } in self.shape.nodes(address) {
            let level = usize::from(header.level);
            let (mut entries, mut offsets) = (Vec::new(), Vec::new());
            for child in children.clone() {
                let first = self.shape.bottom(level, child).start;
                let chunk = chunks.entries[first];
                let node = level.checked_sub(1).map(|l| self.shape.address(address, l, child));
                entries.push(ChunkEntry { address: node.or(chunk.address), ..chunk });
                offsets.extend_from_slice(self.offset(&chunks, first));
            }
            let end = match children.is_empty() {
                true => 0,
                false => self.shape.bottom(level, children.end - 1).end,
            };
            let end_key = self.put_end(&chunks, end, &mut offsets);
            let node = ChunkNode::new(header, self.rank, entries, offsets, end_key)?;
            bytes.extend(node.encode(self.k, self.sizes)?);
            bytes.resize(bytes.len().next_multiple_of(8), 0);
        }
        Ok(bytes)
    }

    fn offset<'a>(&self, chunks: &TreeChunks<'a>, index: usize) -> &'a [u64] {
        &chunks.offsets[index * self.rank..(index + 1) * self.rank]
    }

    /// Writes the last key of a node that ends before chunk `end`: that chunk's own, or one behind
    /// all chunks, which is what libhdf5 writes: the corner of the last one.
    fn put_end(&self, chunks: &TreeChunks<'_>, end: usize, offsets: &mut Vec<u64>) -> EndKey {
        if let Some(next) = chunks.entries.get(end) {
            offsets.extend_from_slice(self.offset(chunks, end));
            let (stored_bytes, filter_mask) = (next.stored_bytes, next.filter_mask);
            return EndKey { stored_bytes, filter_mask, element_offset: 0 };
        }
        match end.checked_sub(1) {
            None => offsets.resize(self.rank, 0),
            Some(last) => {
                let corner = self.offset(chunks, last).iter().zip(chunks.chunk_shape);
                offsets.extend(corner.map(|(offset, len)| offset.saturating_add(*len)));
            }
        }
        EndKey { element_offset: chunks.element_bytes.into(), ..EndKey::default() }
    }
}

/// The tree of a group's symbol table nodes, before it has an address.
#[derive(Debug, Clone)]
pub(in super::super) struct GroupTreeBuilder {
    shape: TreeShape,
    k: u16,
    sizes: Sizes,
}

impl GroupTreeBuilder {
    /// A tree of `k` for `node_count` symbol table nodes.
    pub fn new(node_count: usize, k: u16, sizes: Sizes) -> Result<Self> {
        let shape = TreeShape::new(node_count, k, GroupNode::byte_len(k, sizes), sizes)?;
        Ok(Self { shape, k, sizes })
    }

    /// Bytes of the whole tree; without symbol table nodes, those of an empty leaf.
    pub fn byte_len(&self) -> u64 {
        self.shape.byte_len()
    }

    /// The bytes of the tree at `address`, which is that of its root. Each symbol table node is
    /// given by its address and the offset of its last name in the local heap.
    pub fn encode(&self, address: u64, symbol_nodes: &[(u64, u64)]) -> Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(self.byte_len() as usize);
        for NodePlace { header, children } in self.shape.nodes(address) {
            let level = usize::from(header.level);
            // The first key of all is the empty name; any other is the last name before it.
            let last_name = |end: usize| end.checked_sub(1).map_or(0, |last| symbol_nodes[last].1);
            let bottom = |child| self.shape.bottom(level, child);
            let mut keys = vec![match children.is_empty() {
                true => 0,
                false => last_name(bottom(children.start).start),
            }];
            keys.extend(children.clone().map(|child| last_name(bottom(child).end)));
            let child_address = |child: usize| match level {
                0 => symbol_nodes[child].0,
                _ => self.shape.address(address, level - 1, child),
            };
            let node = GroupNode { header, keys, children: children.map(child_address).collect() };
            bytes.extend(node.encode(self.k, self.sizes)?);
            bytes.resize(bytes.len().next_multiple_of(8), 0);
        }
        Ok(bytes)
    }
}
