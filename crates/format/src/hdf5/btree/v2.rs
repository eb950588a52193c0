//! Version-2 B-tree: header, internal nodes and leaves, with records of any type.
//!
//! The engine decodes the header once and descends with [`Node::step`], comparing records
//! ([`super::v2_record`]) on the way, or walks all children and records in order.
//!
//! ```text
//! header:   | "BTHD" | version 1 = 0 | type 1 | node size 4 | record size 2 | depth 2 |
//!           | split percent 1 | merge percent 1 | root   offset | root's records 2 |
//!           | all records   length | checksum 4 |
//! internal: | "BTIN" | version 1 = 0 | type 1 | records | children | checksum 4 |
//!           child: | node   offset | its records   N | records below it too   M, above level 1 |
//! leaf:     | "BTLF" | version 1 = 0 | type 1 | records | checksum 4 |
//! ```
//! N and M are the bytes that the largest possible count needs, which [`NodeShape`] computes. A
//! node's checksum follows its last record or child, not the end of the node's space.
//! Section III.A.2, "Disk Format: Level 1A2 - Version 2 B-trees".

use std::cmp::Ordering;

use super::super::Sizes;
use crate::cursor::Cursor;
use crate::error::{Error, ErrorKind, Result};
use crate::limits;
use crate::output::Output;

const HEADER: &str = "version 2 B-tree header";
const NODE: &str = "version 2 B-tree node";

/// Signature, version, type and checksum of a node.
const NODE_OVERHEAD_BYTES: u64 = 10;

/// When libhdf5 splits a node and merges it with its neighbours, in percent of its room.
const SPLIT_PERCENT: u8 = 100;
const MERGE_PERCENT: u8 = 40;

/// The entrance to a B-tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BTreeHeader {
    /// The header's own address.
    pub address: u64,
    /// What the records are: 1 to 11, see [`super::v2_record`].
    pub record_type: u8,
    /// Bytes of a record.
    pub record_bytes: usize,
    /// Records in the whole tree.
    pub record_count: u64,
    /// Bytes of a node's space in the file.
    pub node_bytes: u64,
    pub(super) root: Option<NodeRef>,
    /// By level, from the leaves.
    pub(super) shapes: Vec<NodeShape>,
    pub(super) offset_bytes: usize,
}

/// What nodes of one level can hold at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NodeShape {
    /// Records of a node.
    pub max_records: u64,
    /// Records of a node and all below it.
    pub max_total: u64,
}

/// A node, known before it is fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodeRef {
    /// Where it stands.
    pub address: u64,
    /// Records in it.
    pub record_count: u64,
    /// Its level: 0 for a leaf.
    pub level: u32,
}

/// The records and children of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node<'a> {
    records: &'a [u8],
    record_bytes: usize,
    children: Vec<NodeRef>,
}

/// Where a look-up goes from a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<'a> {
    /// This record is the one.
    Found(&'a [u8]),
    /// It can only be below.
    Descend(NodeRef),
    /// The tree has none.
    Absent,
}

impl BTreeHeader {
    /// Reads the header that stands at `address`.
    ///
    /// # Errors
    /// Signature, version, checksum, a node too small for a record, or a depth beyond
    /// [`limits::BTREE_DEPTH`].
    pub fn decode(bytes: &[u8], address: u64, sizes: Sizes) -> Result<Self> {
        let mut cursor = Cursor::new(bytes, HEADER, address);
        cursor.signature(b"BTHD")?;
        cursor.version(0)?;
        cursor.require(17 + (sizes.offset + sizes.length) as u64)?;
        let record_type = cursor.u8()?;
        let node_bytes = u64::from(cursor.u32()?);
        let record_bytes = usize::from(cursor.u16()?);
        let depth = u32::from(cursor.u16()?);
        cursor.skip(2)?;
        let root = cursor.address_field(sizes.offset)?;
        let root_records = u64::from(cursor.u16()?);
        let record_count = cursor.uint(sizes.length)?;
        cursor.verify_checksum()?;
        cursor.limited("node size", node_bytes, limits::BTREE_NODE_BYTES)?;
        cursor.limited("depth", u64::from(depth), u64::from(limits::BTREE_DEPTH))?;
        let shapes = NodeShape::levels(node_bytes, record_bytes as u64, depth, sizes)
            .ok_or_else(|| cursor.bad_field("node size", node_bytes))?;
        let root = match root {
            Some(address) if root_records > 0 => {
                let max_records = shapes[depth as usize].max_records;
                cursor.limited("root records", root_records, max_records)?;
                Some(NodeRef { address, record_count: root_records, level: depth })
            }
            _ => None,
        };
        let offset_bytes = sizes.offset;
        Ok(Self {
            address,
            record_type,
            record_bytes,
            record_count,
            node_bytes,
            root,
            shapes,
            offset_bytes,
        })
    }

    /// Writes the header of a tree whose nodes split when they are full and merge below 40%, as
    /// those of libhdf5 do.
    pub fn encode(&self, sizes: Sizes) -> Vec<u8> {
        let mut output = Output::with_capacity(Self::byte_len(sizes));
        output.put(b"BTHD\0");
        output.u8(self.record_type);
        output.uint(self.node_bytes, 4);
        output.uint(self.record_bytes as u64, 2);
        output.uint(self.root.map_or(0, |root| u64::from(root.level)), 2);
        output.put(&[SPLIT_PERCENT, MERGE_PERCENT]);
        output.address(self.root.map(|root| root.address), sizes.offset);
        output.uint(self.root.map_or(0, |root| root.record_count), 2);
        output.uint(self.record_count, sizes.length);
        output.checksum();
        output.into_bytes()
    }

    /// The node to start from; `None` where the tree has no records.
    pub fn root(&self) -> Option<NodeRef> {
        self.root
    }

    /// An error unless the records are of one of `types`.
    ///
    /// # Errors
    /// They are of another type.
    pub fn expect_type(&self, types: &[u8]) -> Result<()> {
        if types.contains(&self.record_type) {
            return Ok(());
        }
        let kind = ErrorKind::Field { field: "record type", value: u64::from(self.record_type) };
        Err(Error { structure: HEADER, address: self.address, kind })
    }

    /// Bytes of a child's count of records, which is the same on all levels.
    fn count_width(&self) -> usize {
        needed_bytes(self.shapes[0].max_records)
    }

    /// Bytes of a child's count of all records below it too, in a node of `level` above 0.
    fn total_width(&self, level: u32) -> usize {
        match level {
            1 => 0,
            _ => needed_bytes(self.shapes[level as usize - 1].max_total),
        }
    }

    /// Bytes of the header.
    pub fn byte_len(sizes: Sizes) -> usize {
        22 + sizes.offset + sizes.length
    }
}

impl NodeShape {
    /// The shapes from the leaves to the root; `None` where a node has no room for a record.
    pub fn levels(node: u64, record: u64, depth: u32, sizes: Sizes) -> Option<Vec<Self>> {
        let room = node.checked_sub(NODE_OVERHEAD_BYTES)?;
        let leaf = room.checked_div(record).filter(|&count| count > 0)?;
        let mut shapes = vec![Self { max_records: leaf, max_total: leaf }];
        for _ in 0..depth {
            let below = *shapes.last()?;
            let total_width = if shapes.len() > 1 { needed_bytes(below.max_total) } else { 0 };
            let child = (sizes.offset + needed_bytes(leaf) + total_width) as u64;
            let max_records = room.checked_sub(child)? / (record + child);
            if max_records == 0 {
                return None;
            }
            // Saturation is right: no count needs more than 8 bytes.
            let max_total =
                (max_records + 1).saturating_mul(below.max_total).saturating_add(max_records);
            shapes.push(Self { max_records, max_total });
        }
        Some(shapes)
    }
}

/// Bytes that hold every count up to `limit`.
fn needed_bytes(limit: u64) -> usize {
    (limit.checked_ilog2().unwrap_or(0) / 8 + 1) as usize
}

impl<'a> Node<'a> {
    /// Reads the node that `place` says; its records stay where they are in `bytes`.
    ///
    /// # Errors
    /// Signature, version, checksum, a record type or count that is not the tree's, or a child
    /// without address.
    pub fn decode(bytes: &'a [u8], place: &NodeRef, tree: &BTreeHeader) -> Result<Self> {
        let (node, mut cursor) = Self::decode_fields(bytes, place, tree)?;
        cursor.verify_checksum()?;
        Ok(node)
    }

    /// As [`Node::decode`], of bytes whose checksum was verified before.
    ///
    /// # Errors
    /// As [`Node::decode`], the checksum aside.
    pub fn decode_verified(bytes: &'a [u8], place: &NodeRef, tree: &BTreeHeader) -> Result<Self> {
        Self::decode_fields(bytes, place, tree).map(|(node, _)| node)
    }

    /// The node, and where its checksum stands.
    fn decode_fields(
        bytes: &'a [u8],
        place: &NodeRef,
        tree: &BTreeHeader,
    ) -> Result<(Self, Cursor<'a>)> {
        let mut cursor = Cursor::new(bytes, NODE, place.address);
        cursor.signature(if place.level == 0 { b"BTLF" } else { b"BTIN" })?;
        cursor.version(0)?;
        let record_type = cursor.u8()?;
        if record_type != tree.record_type {
            return Err(cursor.bad_field("record type", u64::from(record_type)));
        }
        let shape = tree
            .shapes
            .get(place.level as usize)
            .ok_or_else(|| cursor.bad_field("level", u64::from(place.level)))?;
        // The counts are held against a node's room, so the sizes below cannot overflow.
        let count = cursor.limited("record count", place.record_count, shape.max_records)?;
        let widths = (place.level > 0).then(|| (tree.count_width(), tree.total_width(place.level)));
        let child_bytes = widths.map_or(0, |(count, total)| tree.offset_bytes + count + total);
        let records_bytes = count * tree.record_bytes as u64;
        cursor.require(records_bytes + (count + 1) * child_bytes as u64 + 4)?;
        let records = cursor.take(records_bytes as usize)?;
        let mut children = Vec::new();
        if let Some((count_width, total_width)) = widths {
            children.reserve_exact(count as usize + 1);
            for _ in 0..=count {
                let address = cursor
                    .address_field(tree.offset_bytes)?
                    .ok_or_else(|| cursor.bad_field("child address", u64::MAX))?;
                let record_count = cursor.uint(count_width)?;
                cursor.skip(total_width)?;
                children.push(NodeRef { address, record_count, level: place.level - 1 });
            }
        }
        Ok((Self { records, record_bytes: tree.record_bytes, children }, cursor))
    }

    /// The bytes of a node of `tree` at `level` with `records`, one behind the other, and, above
    /// level 0, `children`, each with the count of all records in it and below it; without what
    /// fills up the node's space.
    pub(super) fn encode(
        tree: &BTreeHeader,
        level: u32,
        records: &[u8],
        children: &[(NodeRef, u64)],
    ) -> Vec<u8> {
        let mut output = Output::with_capacity(tree.node_bytes as usize);
        output.put(if level == 0 { b"BTLF" } else { b"BTIN" });
        output.put(&[0, tree.record_type]);
        output.put(records);
        for (child, total_count) in children {
            output.uint(child.address, tree.offset_bytes);
            output.uint(child.record_count, tree.count_width());
            if level > 1 {
                output.uint(*total_count, tree.total_width(level));
            }
        }
        output.checksum();
        output.into_bytes()
    }

    /// The records in order.
    pub fn records(&self) -> impl ExactSizeIterator<Item = &'a [u8]> + use<'a> {
        self.records.chunks_exact(self.record_bytes)
    }

    /// The children: none in a leaf, else one more than records. Child i comes before record i.
    pub fn children(&self) -> &[NodeRef] {
        &self.children
    }

    /// Where the look-up goes on. `compare` holds what is wanted against a record: `Less` where it
    /// comes before.
    ///
    /// # Errors
    /// Those of `compare`.
    pub fn step<E>(
        &self,
        mut compare: impl FnMut(&'a [u8]) -> std::result::Result<Ordering, E>,
    ) -> std::result::Result<Step<'a>, E> {
        let (mut low, mut high) = (0, self.records.len() / self.record_bytes);
        while low < high {
            let middle = low + (high - low) / 2;
            let start = middle * self.record_bytes;
            let record = &self.records[start..start + self.record_bytes];
            match compare(record)? {
                Ordering::Equal => return Ok(Step::Found(record)),
                Ordering::Greater => low = middle + 1,
                Ordering::Less => high = middle,
            }
        }
        Ok(self.children.get(low).map_or(Step::Absent, |&child| Step::Descend(child)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checksum::lookup3;

    fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
        let checksum = lookup3(&bytes);
        bytes.extend(checksum.to_le_bytes());
        bytes
    }

    fn header(node_bytes: u32, record_bytes: u16, depth: u16, root_records: u16) -> Vec<u8> {
        let mut bytes = b"BTHD\0\x05".to_vec();
        bytes.extend(node_bytes.to_le_bytes());
        bytes.extend(record_bytes.to_le_bytes());
        bytes.extend(depth.to_le_bytes());
        bytes.extend([100, 40]);
        bytes.extend(700_u64.to_le_bytes());
        bytes.extend(root_records.to_le_bytes());
        bytes.extend(5_u64.to_le_bytes());
        sealed(bytes)
    }

    fn tree(depth: u16, root_records: u16) -> BTreeHeader {
        let bytes = header(512, 11, depth, root_records);
        BTreeHeader::decode(&bytes, 64, Sizes::default()).unwrap()
    }

    #[test]
    fn widths_follow_the_levels() {
        let tree = tree(3, 1);
        // 502 bytes of room: 45 records of 11; then children of 9, 10 (945 needs 2) and more bytes.
        let shape = |level: usize| (tree.shapes[level].max_records, tree.shapes[level].max_total);
        assert_eq!(shape(0), (45, 45));
        assert_eq!(shape(1), ((502 - 9) / 20, 25 * 45 + 24));
        assert_eq!(shape(2), ((502 - 11) / 22, 23 * 1149 + 22));
        assert_eq!(shape(3), ((502 - 11) / 22, 23 * 26_449 + 22));
    }

    #[test]
    fn leaf_look_up() {
        let tree = tree(0, 2);
        let mut bytes = b"BTLF\0\x05".to_vec();
        bytes.extend(b"bbbbbbbbbbbdddddddddddd"[..22].iter());
        let bytes = sealed(bytes);
        let node = Node::decode(&bytes, &tree.root().unwrap(), &tree).unwrap();
        let step = |byte: u8| node.step(|record| Ok::<_, ()>(byte.cmp(&record[0]))).unwrap();
        assert_eq!(step(b'b'), Step::Found(b"bbbbbbbbbbb"));
        assert_eq!(step(b'c'), Step::Absent);
        assert_eq!(node.records().len(), 2);
        let error = Node::decode(&bytes[..9], &tree.root().unwrap(), &tree).unwrap_err();
        assert_eq!(error.kind, ErrorKind::NeedMore { bytes: 32 });
    }

    #[test]
    fn a_checksum_is_verified_once() {
        let tree = tree(0, 1);
        let place = tree.root().unwrap();
        let mut bytes = sealed(b"BTLF\0\x05mmmmmmmmmmm".to_vec());
        let verified = Node::decode(&bytes, &place, &tree).unwrap();
        assert_eq!(Node::decode_verified(&bytes, &place, &tree), Ok(verified));
        *bytes.last_mut().unwrap() ^= 1;
        let error = Node::decode(&bytes, &place, &tree).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Checksum { .. }), "{error}");
        assert!(Node::decode_verified(&bytes, &place, &tree).is_ok());
    }

    #[test]
    fn internal_look_up() {
        let tree = tree(2, 1);
        let mut bytes = b"BTIN\0\x05mmmmmmmmmmm".to_vec();
        for child in [800_u64, 900] {
            bytes.extend(child.to_le_bytes());
            bytes.extend([2, 2, 0]);
        }
        let bytes = sealed(bytes);
        let node = Node::decode(&bytes, &tree.root().unwrap(), &tree).unwrap();
        let step = |byte: u8| node.step(|record| Ok::<_, ()>(byte.cmp(&record[0]))).unwrap();
        let child = |address| Step::Descend(NodeRef { address, record_count: 2, level: 1 });
        assert_eq!(step(b'a'), child(800));
        assert_eq!(step(b'z'), child(900));
        assert_eq!(step(b'm'), Step::Found(b"mmmmmmmmmmm"));
        assert_eq!(node.children().len(), 2);
    }

    #[test]
    fn impossible_headers() {
        let sizes = Sizes::default();
        for bytes in [header(8, 11, 0, 1), header(512, 0, 0, 1), header(40, 30, 1, 1)] {
            let error = BTreeHeader::decode(&bytes, 0, sizes).unwrap_err();
            assert!(matches!(error.kind, ErrorKind::Field { field: "node size", .. }));
        }
        let error = BTreeHeader::decode(&header(512, 11, 900, 1), 0, sizes).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Limit { field: "depth", .. }));
        let error = BTreeHeader::decode(&header(512, 11, 0, 46), 0, sizes).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Limit { field: "root records", .. }));
        assert_eq!(tree(0, 0).root(), None);
        assert!(tree(0, 0).expect_type(&[6, 8]).is_err());
    }
}
