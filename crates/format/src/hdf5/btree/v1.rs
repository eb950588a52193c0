//! Version-1 B-tree nodes: the links of groups of the first kind, and the chunks of data sets.
//!
//! The engine descends from the root to a symbol table node or a chunk, or walks the leaves.
//! A group node's child i has the names above key i up to key i + 1; a chunk node's child i has the
//! chunks from key i up to, not including, key i + 1.
//!
//! ```text
//! | "TREE" | type 1 | level 1 | entries used 2 | left sibling   offset | right sibling   offset |
//! | key 0 | child 0   offset | key 1 | child 1   offset | ... | last key |
//! key of a group (type 0): | offset of a name in the local heap   length |
//! key of chunks (type 1):  | stored bytes 4 | filter mask 4 | offset 8 for each dimension | 0  8 |
//! ```
//! Section III.A.1, "Disk Format: Level 1A1 - Version 1 B-trees".

use std::cmp::Ordering;

use super::super::Sizes;
use crate::cursor::Cursor;
use crate::error::{Error, ErrorKind, Result};
use crate::limits;
use crate::output::Output;

const STRUCTURE: &str = "version 1 B-tree node";

const GROUP: u8 = 0;
const CHUNK: u8 = 1;

/// What nodes of both types begin with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodeHeader {
    /// 0 in a leaf; children of other nodes are nodes of the next lower level.
    pub level: u8,
    /// The node to the left on the same level.
    pub left: Option<u64>,
    /// The node to the right on the same level.
    pub right: Option<u64>,
}

/// A node of a group's B-tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupNode {
    /// Level and siblings.
    pub header: NodeHeader,
    /// Offsets of names in the local heap: one more than children.
    pub keys: Vec<u64>,
    /// Addresses of symbol table nodes in a leaf, else of nodes.
    pub children: Vec<u64>,
}

/// A node of a data set's B-tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkNode {
    /// Level and siblings.
    pub header: NodeHeader,
    pub(super) rank: usize,
    pub(super) entries: Vec<ChunkEntry>,
    /// `rank` offsets for each entry, and those of the last key.
    pub(super) offsets: Vec<u64>,
    pub(super) end_key: EndKey,
}

/// What the last key of a chunk node has beside its offset.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EndKey {
    /// Of the first chunk of the node to the right; 0 where there is none.
    pub stored_bytes: u32,
    /// Of the first chunk of the node to the right; 0 where there is none.
    pub filter_mask: u32,
    /// The offset in an element: 0, or the element's bytes where there is no node to the right.
    pub element_offset: u64,
}

/// A child of a chunk node with the key on its left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkEntry {
    /// In a leaf: bytes of the chunk in the file.
    pub stored_bytes: u32,
    /// In a leaf: bit n set, filter n was skipped.
    pub filter_mask: u32,
    /// The chunk in a leaf, else the node; `None` where nothing was allocated.
    pub address: Option<u64>,
}

impl NodeHeader {
    /// Reads up to the keys; gives the count of children too.
    fn decode(cursor: &mut Cursor<'_>, sizes: Sizes, node_type: u8) -> Result<(Self, u16)> {
        cursor.signature(b"TREE")?;
        let found = cursor.u8()?;
        if found != node_type {
            return Err(cursor.bad_field("node type", u64::from(found)));
        }
        let level = cursor.u8()?;
        cursor.limited("node level", u64::from(level), u64::from(limits::BTREE_DEPTH))?;
        let count = cursor.u16()?;
        let left = cursor.address_field(sizes.offset)?;
        let right = cursor.address_field(sizes.offset)?;
        Ok((Self { level, left, right }, count))
    }

    /// Writes up to the keys.
    fn encode(&self, output: &mut Output, sizes: Sizes, node_type: u8, count: u16) {
        output.put(b"TREE");
        output.put(&[node_type, self.level]);
        output.u16(count);
        output.address(self.left, sizes.offset);
        output.address(self.right, sizes.offset);
    }

    /// Bytes of a node of keys of `key_bytes` in a tree of `k`; it has room for twice as many
    /// children, however many it has.
    fn node_bytes(k: u16, key_bytes: usize, sizes: Sizes) -> usize {
        8 + 2 * sizes.offset + 2 * usize::from(k) * (key_bytes + sizes.offset) + key_bytes
    }

    /// The count of `children`, which must have one key more, as it is stored.
    fn count(k: u16, children: usize, keys: usize) -> Result<u16> {
        let fits = children <= 2 * usize::from(k) && keys == children + 1;
        u16::try_from(children).ok().filter(|_| fits).ok_or(Error {
            structure: STRUCTURE,
            address: 0,
            kind: ErrorKind::Field { field: "children", value: children as u64 },
        })
    }
}

impl GroupNode {
    /// Reads the node that stands at `address`.
    ///
    /// # Errors
    /// Signature, a node of another type or too high, or a child without address.
    pub fn decode(bytes: &[u8], address: u64, sizes: Sizes) -> Result<Self> {
        let mut cursor = Cursor::new(bytes, STRUCTURE, address);
        let (header, count) = NodeHeader::decode(&mut cursor, sizes, GROUP)?;
        let entry_bytes = (sizes.length + sizes.offset) as u64;
        cursor.require(u64::from(count) * entry_bytes + sizes.length as u64)?;
        let mut keys = Vec::with_capacity(usize::from(count) + 1);
        let mut children = Vec::with_capacity(usize::from(count));
        for _ in 0..count {
            keys.push(cursor.uint(sizes.length)?);
            let child = cursor
                .address_field(sizes.offset)?
                .ok_or_else(|| cursor.bad_field("child address", u64::MAX))?;
            children.push(child);
        }
        keys.push(cursor.uint(sizes.length)?);
        Ok(Self { header, keys, children })
    }

    /// Bytes of a node in a tree of `k`.
    pub fn byte_len(k: u16, sizes: Sizes) -> usize {
        NodeHeader::node_bytes(k, sizes.length, sizes)
    }

    /// The bytes of the node in a tree of `k`.
    ///
    /// # Errors
    /// More than 2 `k` children, or other than one key more than children.
    pub fn encode(&self, k: u16, sizes: Sizes) -> Result<Vec<u8>> {
        let count = NodeHeader::count(k, self.children.len(), self.keys.len())?;
        let byte_len = Self::byte_len(k, sizes);
        let mut output = Output::with_capacity(byte_len);
        self.header.encode(&mut output, sizes, GROUP, count);
        for (index, &key) in self.keys.iter().enumerate() {
            output.uint(key, sizes.length);
            if let Some(&child) = self.children.get(index) {
                output.uint(child, sizes.offset);
            }
        }
        output.zeros(byte_len - output.len());
        Ok(output.into_bytes())
    }

    /// The child that may have a name, which `compare` holds against the name at an offset of the
    /// local heap: `Less` where the wanted name comes before it.
    ///
    /// # Errors
    /// Those of `compare`.
    pub fn child_for<E>(
        &self,
        mut compare: impl FnMut(u64) -> std::result::Result<Ordering, E>,
    ) -> std::result::Result<Option<u64>, E> {
        // The first child whose right key is not before the name.
        let (mut low, mut high) = (0, self.children.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if compare(self.keys[middle + 1])? == Ordering::Greater {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(self.children.get(low).copied())
    }
}

impl ChunkNode {
    /// The node with `entries`, whose keys have the `offsets`: `rank` for each entry and `rank`
    /// more for the last key.
    ///
    /// # Errors
    /// Other than as many offsets.
    pub fn new(
        header: NodeHeader,
        rank: usize,
        entries: Vec<ChunkEntry>,
        offsets: Vec<u64>,
        end_key: EndKey,
    ) -> Result<Self> {
        if (entries.len() + 1).checked_mul(rank) != Some(offsets.len()) {
            let kind = ErrorKind::Field { field: "offsets", value: offsets.len() as u64 };
            return Err(Error { structure: STRUCTURE, address: 0, kind });
        }
        Ok(Self { header, rank, entries, offsets, end_key })
    }

    /// Bytes of a node in a tree of `k` for chunks of `rank` dimensions.
    pub fn byte_len(k: u16, rank: usize, sizes: Sizes) -> usize {
        NodeHeader::node_bytes(k, 8 + 8 * (rank + 1), sizes)
    }

    /// The bytes of the node in a tree of `k`.
    ///
    /// # Errors
    /// More than 2 `k` children.
    pub fn encode(&self, k: u16, sizes: Sizes) -> Result<Vec<u8>> {
        let count = NodeHeader::count(k, self.entries.len(), self.entries.len() + 1)?;
        let byte_len = Self::byte_len(k, self.rank, sizes);
        let mut output = Output::with_capacity(byte_len);
        self.header.encode(&mut output, sizes, CHUNK, count);
        let mut offsets = self.offsets.chunks_exact(self.rank.max(1));
        let mut put_key = |output: &mut Output, [stored_bytes, filter_mask]: [u32; 2], last| {
            output.u32(stored_bytes);
            output.u32(filter_mask);
            let key = offsets.next().unwrap_or_default();
            key.iter().for_each(|&offset| output.u64(offset));
            output.u64(last);
        };
        for entry in &self.entries {
            put_key(&mut output, [entry.stored_bytes, entry.filter_mask], 0);
            output.address(entry.address, sizes.offset);
        }
        let end = self.end_key;
        put_key(&mut output, [end.stored_bytes, end.filter_mask], end.element_offset);
        output.zeros(byte_len - output.len());
        Ok(output.into_bytes())
    }

    /// Reads the node that stands at `address`, of a data set with `rank` dimensions.
    ///
    /// # Errors
    /// Signature, a node of another type or too high, or a rank beyond its limit.
    pub fn decode(bytes: &[u8], address: u64, sizes: Sizes, rank: usize) -> Result<Self> {
        let mut cursor = Cursor::new(bytes, STRUCTURE, address);
        cursor.limited("rank", rank as u64, limits::RANK)?;
        let (header, count) = NodeHeader::decode(&mut cursor, sizes, CHUNK)?;
        let key_bytes = 8 + 8 * (rank as u64 + 1);
        let entry_bytes = key_bytes + sizes.offset as u64;
        cursor.require(u64::from(count) * entry_bytes + key_bytes)?;
        let mut entries = Vec::with_capacity(usize::from(count));
        let mut offsets = Vec::with_capacity((usize::from(count) + 1) * rank);
        for _ in 0..count {
            let stored_bytes = cursor.u32()?;
            let filter_mask = cursor.u32()?;
            take_offsets(&mut cursor, rank, &mut offsets)?;
            cursor.skip(8)?;
            let address = cursor.address_field(sizes.offset)?;
            entries.push(ChunkEntry { stored_bytes, filter_mask, address });
        }
        let (stored_bytes, filter_mask) = (cursor.u32()?, cursor.u32()?);
        take_offsets(&mut cursor, rank, &mut offsets)?;
        let end_key = EndKey { stored_bytes, filter_mask, element_offset: cursor.u64()? };
        Ok(Self { header, rank, entries, offsets, end_key })
    }

    /// The children in order.
    pub fn entries(&self) -> &[ChunkEntry] {
        &self.entries
    }

    /// What the last key has beside its offset.
    pub fn end_key(&self) -> EndKey {
        self.end_key
    }

    /// Offset in the data set, by elements, of the chunk that key `index` names; the key after the
    /// last child's is the node's end. `None` beyond it.
    pub fn offset(&self, index: usize) -> Option<&[u64]> {
        let start = index.checked_mul(self.rank)?;
        self.offsets.get(start..start.checked_add(self.rank)?)
    }

    /// The child that may have the chunk at `offset`, by elements: in a leaf the chunk itself.
    pub fn find(&self, offset: &[u64]) -> Option<&ChunkEntry> {
        let index = self.count_up_to(offset).checked_sub(1)?;
        if self.header.level == 0 && self.offset(index)? != offset {
            return None;
        }
        self.entries.get(index)
    }
}

/// Reads the offsets of a key. The one after them, in an element, is 0 for every chunk; the key at
/// a node's end may have the last chunk's offsets and the element's size there.
fn take_offsets(cursor: &mut Cursor<'_>, rank: usize, offsets: &mut Vec<u64>) -> Result<()> {
    for _ in 0..rank {
        offsets.push(cursor.u64()?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    fn start(node_type: u8, level: u8, count: u16) -> Vec<u8> {
        let mut bytes = b"TREE".to_vec();
        bytes.extend([node_type, level]);
        bytes.extend(count.to_le_bytes());
        bytes.extend(u64::MAX.to_le_bytes());
        bytes.extend(5000_u64.to_le_bytes());
        bytes
    }

    fn chunk_node(level: u8, keys: &[[u64; 2]]) -> Vec<u8> {
        let mut bytes = start(1, level, keys.len() as u16 - 1);
        for (index, key) in keys.iter().enumerate() {
            bytes.extend(100_u32.to_le_bytes());
            bytes.extend(1_u32.to_le_bytes());
            for offset in [key[0], key[1], 0] {
                bytes.extend(offset.to_le_bytes());
            }
            if index + 1 < keys.len() {
                bytes.extend((1000 + index as u64).to_le_bytes());
            }
        }
        bytes
    }

    #[test]
    fn group_look_up() {
        let names = ["", "d", "k", "z"];
        let mut bytes = start(0, 0, 3);
        for child in 0..4_u64 {
            bytes.extend(child.to_le_bytes());
            if child < 3 {
                bytes.extend((700 + child).to_le_bytes());
            }
        }
        let node = GroupNode::decode(&bytes, 0, Sizes::default()).unwrap();
        assert_eq!((node.header.left, node.header.right), (None, Some(5000)));
        let find =
            |name: &str| node.child_for(|key| Ok::<_, ()>(name.cmp(names[key as usize]))).unwrap();
        assert_eq!(find("a"), Some(700));
        assert_eq!(find("d"), Some(700), "the right key belongs to the child");
        assert_eq!(find("e"), Some(701));
        assert_eq!(find("z"), Some(702));
        assert_eq!(find("zz"), None);
        assert_eq!(node.child_for(|_| Err(7)), Err(7));
    }

    #[test]
    fn chunk_look_up() {
        let keys = [[0, 0], [0, 10], [10, 0], [20, 0]];
        let leaf = ChunkNode::decode(&chunk_node(0, &keys), 0, Sizes::default(), 2).unwrap();
        assert_eq!(leaf.find(&[0, 10]).unwrap().address, Some(1001));
        assert_eq!(leaf.find(&[10, 0]).unwrap().stored_bytes, 100);
        assert_eq!(leaf.find(&[0, 20]), None, "a leaf has only its own chunks");
        assert_eq!(leaf.offset(3), Some(&[20, 0][..]));
        assert_eq!(leaf.offset(4), None);
        assert_eq!(leaf.offset(usize::MAX), None);
        let inner = ChunkNode::decode(&chunk_node(1, &keys), 0, Sizes::default(), 2).unwrap();
        assert_eq!(inner.find(&[0, 20]).unwrap().address, Some(1001));
        assert_eq!(inner.find(&[30, 0]).unwrap().address, Some(1002));
    }

    #[test]
    fn encoded_as_decoded() {
        let sizes = Sizes::default();
        let bytes = chunk_node(0, &[[0, 0], [0, 10], [10, 0], [20, 0]]);
        let leaf = ChunkNode::decode(&bytes, 0, sizes, 2).unwrap();
        assert_eq!(leaf.end_key(), EndKey { stored_bytes: 100, filter_mask: 1, element_offset: 0 });
        let encoded = leaf.encode(2, sizes).unwrap();
        assert_eq!(encoded[..bytes.len()], bytes);
        assert_eq!(encoded.len(), ChunkNode::byte_len(2, 2, sizes));
        assert_eq!(encoded.len(), 24 + 4 * 40 + 32);
        assert!(leaf.encode(1, sizes).is_err(), "three children need a K of two");
        let rebuilt = ChunkNode::new(
            leaf.header,
            2,
            leaf.entries().to_vec(),
            vec![0, 0, 0, 10, 10, 0, 20, 0],
            leaf.end_key(),
        );
        assert_eq!(rebuilt.unwrap(), leaf);
        let short = ChunkNode::new(leaf.header, 2, Vec::new(), vec![0], EndKey::default());
        assert!(short.is_err());

        let header = NodeHeader { level: 1, left: None, right: Some(9) };
        let node = GroupNode { header, keys: vec![0, 8, 16], children: vec![700, 800] };
        let encoded = node.encode(1, sizes).unwrap();
        assert_eq!(encoded.len(), GroupNode::byte_len(1, sizes));
        assert_eq!(GroupNode::decode(&encoded, 0, sizes).unwrap(), node);
        assert!(GroupNode { keys: vec![0, 8], ..node }.encode(1, sizes).is_err());
    }

    #[test]
    fn another_type_and_short_bytes() {
        let bytes = chunk_node(0, &[[0, 0], [10, 0]]);
        let error = GroupNode::decode(&bytes, 0, Sizes::default()).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Field { field: "node type", value: 1 });
        let error = ChunkNode::decode(&bytes[..24], 0, Sizes::default(), 2).unwrap_err();
        assert_eq!(error.kind, ErrorKind::NeedMore { bytes: bytes.len() as u64 });
        let error = ChunkNode::decode(&bytes, 0, Sizes::default(), 1 << 40).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Limit { field: "rank", .. }));
    }
}
