//! Builds a version-2 B-tree whole, from all its records in their order.
//!
//! The tree has as few levels and nodes as can hold the records, which are spread evenly over the
//! nodes of a level, so that no node is anywhere near the size at which it would be merged.
//!
//! ```text
//! | header, padded to 8 | root | its first child and all below it | its second child ... |
//! ```

use super::super::Sizes;
use super::v2::{BTreeHeader, Node, NodeRef, NodeShape};
use super::v2_record::{
    ATTRIBUTE_CREATION_ORDER, ATTRIBUTE_NAME, CHUNK, CHUNK_FILTERED, HUGE_BY_KEY,
    LINK_CREATION_ORDER, LINK_NAME,
};
use crate::error::{Error, ErrorKind, Result};
use crate::limits;

const STRUCTURE: &str = "version 2 B-tree";

/// Bytes of a node in the trees of links, attributes and huge objects, as libhdf5 makes them.
const NODE_BYTES: u32 = 512;
/// Bytes of a node in the trees of chunks.
const CHUNK_NODE_BYTES: u32 = 2048;

/// What the records of a tree are, and how large its nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BTreeKind {
    /// Type of the records; see [`super::v2_record`].
    pub record_type: u8,
    /// Bytes of a record.
    pub record_bytes: usize,
    /// Bytes of a node.
    pub node_bytes: u32,
}

/// A tree of so many records, before it has an address.
#[derive(Debug, Clone)]
pub struct BTreeBuilder {
    /// The header, without address and root.
    header: BTreeHeader,
    sizes: Sizes,
    node_count: u64,
}

impl BTreeKind {
    /// Links by the key of their names, [`super::v2_record::name_key`].
    pub const LINK_NAMES: Self = Self::of(LINK_NAME, 11);
    /// Links by creation order.
    pub const LINK_CREATION_ORDERS: Self = Self::of(LINK_CREATION_ORDER, 15);
    /// Attributes by the key of their names, [`super::v2_record::name_key`].
    pub const ATTRIBUTE_NAMES: Self = Self::of(ATTRIBUTE_NAME, 17);
    /// Attributes by creation order.
    pub const ATTRIBUTE_CREATION_ORDERS: Self = Self::of(ATTRIBUTE_CREATION_ORDER, 13);

    const fn of(record_type: u8, record_bytes: usize) -> Self {
        Self { record_type, record_bytes, node_bytes: NODE_BYTES }
    }

    /// Huge objects of a fractal heap by key.
    pub fn huge_objects(sizes: Sizes) -> Self {
        Self::of(HUGE_BY_KEY, sizes.offset + 2 * sizes.length)
    }

    /// Chunks of a data set of `rank` dimensions by scaled offset; `size_bytes` is the width of
    /// the stored size of filtered chunks.
    pub fn chunks(rank: usize, size_bytes: Option<usize>, sizes: Sizes) -> Self {
        let fixed = sizes.offset + 8 * rank;
        let (record_type, record_bytes) = match size_bytes {
            None => (CHUNK, fixed),
            Some(width) => (CHUNK_FILTERED, fixed + width + 4),
        };
        Self { record_type, record_bytes, node_bytes: CHUNK_NODE_BYTES }
    }
}

impl BTreeBuilder {
    /// A tree of `record_count` records.
    ///
    /// # Errors
    /// Nodes too small for two records, or more records than a file can have.
    pub fn new(kind: BTreeKind, record_count: u64, sizes: Sizes) -> Result<Self> {
        let fault = |field, value| Error {
            structure: STRUCTURE,
            address: 0,
            kind: ErrorKind::Field { field, value },
        };
        let node_bytes = u64::from(kind.node_bytes);
        let most = limits::BUILT_BYTES / (kind.record_bytes as u64).max(1);
        let shapes = (0..limits::BTREE_DEPTH)
            .map_while(|depth| {
                NodeShape::levels(node_bytes, kind.record_bytes as u64, depth, sizes)
            })
            // A node of one record cannot be split into two that have records.
            .take_while(|shapes| shapes.iter().all(|shape| shape.max_records >= 2))
            .find(|shapes| shapes.last().is_some_and(|root| root.max_total >= record_count))
            .filter(|_| record_count <= most)
            .ok_or_else(|| fault("record count", record_count))?;
        let header = BTreeHeader {
            address: 0,
            record_type: kind.record_type,
            record_bytes: kind.record_bytes,
            record_count,
            node_bytes,
            root: None,
            shapes,
            offset_bytes: sizes.offset,
        };
        let mut builder = Self { header, sizes, node_count: 0 };
        if record_count > 0 {
            builder.node_count = builder.count_nodes(record_count, builder.depth());
        }
        sizes.check_space(STRUCTURE, 0, builder.byte_len())?;
        Ok(builder)
    }

    /// Bytes of the whole tree.
    pub fn byte_len(&self) -> u64 {
        self.header_bytes() + self.node_count * self.header.node_bytes
    }

    /// The bytes of the tree of `records`, one behind the other in their order, at `address`,
    /// which is that of its header.
    ///
    /// # Errors
    /// Other than as many records as were said, or an address too large for its field.
    pub fn encode(&self, address: u64, records: &[u8]) -> Result<Vec<u8>> {
        self.sizes.check_space(STRUCTURE, address, self.byte_len())?;
        let expected = self.header.record_count.checked_mul(self.header.record_bytes as u64);
        if expected != Some(records.len() as u64) {
            let kind = ErrorKind::Field { field: "records", value: records.len() as u64 };
            return Err(Error { structure: STRUCTURE, address, kind });
        }
        let mut bytes = vec![0; self.byte_len() as usize];
        let mut header = self.header.clone();
        header.address = address;
        if self.node_count > 0 {
            let mut next_node = 0;
            header.root =
                Some(self.put_node(&mut bytes, &mut next_node, &header, records, self.depth()));
        }
        let header = header.encode(self.sizes);
        bytes[..header.len()].copy_from_slice(&header);
        Ok(bytes)
    }

    fn header_bytes(&self) -> u64 {
        (BTreeHeader::byte_len(self.sizes) as u64).next_multiple_of(8)
    }

    fn depth(&self) -> u32 {
        self.header.shapes.len() as u32 - 1
    }

    /// Writes the node of `records` with all nodes below it, in the order of their numbers.
    fn put_node(
        &self,
        bytes: &mut [u8],
        next_node: &mut u64,
        header: &BTreeHeader,
        records: &[u8],
        level: u32,
    ) -> NodeRef {
        let start = self.header_bytes() + *next_node * header.node_bytes;
        *next_node += 1;
        let width = header.record_bytes;
        let (mut own, mut children) = (Vec::new(), Vec::new());
        if level > 0 {
            let mut rest = records;
            for count in self.split((records.len() / width) as u64, level) {
                let (below, behind) = rest.split_at(count as usize * width);
                let child = self.put_node(bytes, next_node, header, below, level - 1);
                children.push((child, count));
                let (separator, behind) = behind.split_at(width.min(behind.len()));
                own.extend_from_slice(separator);
                rest = behind;
            }
        }
        let own = if level == 0 { records } else { &own };
        let node = Node::encode(header, level, own, &children);
        bytes[start as usize..start as usize + node.len()].copy_from_slice(&node);
        let record_count = (own.len() / width) as u64;
        NodeRef { address: header.address + start, record_count, level }
    }

    /// The children of a node with `record_count` records in it and below it, and the records in
    /// and below all of them.
    fn spread(&self, record_count: u64, level: u32) -> (u64, u64) {
        let most = self.header.shapes[level as usize - 1].max_total;
        // Each child but the last brings one record along that stands between it and the next.
        let children = (record_count + 1).div_ceil(most.saturating_add(1)).max(2);
        (children, record_count - (children - 1))
    }

    /// For each child of such a node, the records in it and below it.
    fn split(&self, record_count: u64, level: u32) -> impl Iterator<Item = u64> + use<> {
        let (children, below) = self.spread(record_count, level);
        (0..children).map(move |child| below / children + u64::from(child < below % children))
    }

    /// Nodes of a tree with so many records whose root has `level`.
    fn count_nodes(&self, record_count: u64, level: u32) -> u64 {
        if level == 0 {
            return 1;
        }
        let (children, below) = self.spread(record_count, level);
        let larger = below % children;
        let count = |records| self.count_nodes(records, level - 1);
        let of_larger = if larger > 0 { larger * count(below / children + 1) } else { 0 };
        1 + of_larger + (children - larger) * count(below / children)
    }
}
