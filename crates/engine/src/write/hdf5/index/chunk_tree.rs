//! A version-1 B-tree of chunks that grows with its variable.
//!
//! ```text
//! no tree yet  -> all chunks -> built whole -> fresh space
//! tree in file -> changed chunks -> nodes on their paths -> new nodes: fresh space
//!                                                        -> nodes of the last commit: in place
//! ```
//! What is changed in place never hides a chunk: a node that is full is left as it is and gets a right
//! sibling where the tree grows at its end; elsewhere two new nodes take its place, and one change of
//! their parent (the object header, above the root) leads to them. So the changes may be made in
//! any order.
//!
//! Keys of inner nodes carry the size and filter mask that a chunk had when its node was made; no
//! reader looks at them.

use std::collections::HashMap;

use isotach_format::hdf5::Sizes;
use isotach_format::hdf5::btree::v1::{ChunkEntry, ChunkNode, EndKey, NodeHeader};
use isotach_format::hdf5::btree::v1_build::{ChunkTreeBuilder, TreeChunks};
use isotach_format::hdf5::btree::v1_edit::changed_ranges;
use isotach_format::{Error, ErrorKind as FormatErrorKind};

use super::Chunks;
use crate::error::{ErrorKind, Result};
use crate::plan::layout::ChunkPlace;
use crate::storage::uninit;
use crate::write::data::ChunkTable;
use crate::write::hdf5::ALIGNMENT;
use crate::write::hdf5::blocks::Block;
use crate::write::hdf5::objects::Changes;
use crate::write::target::Target;

/// Nodes that are kept in memory from one commit to the next.
const KEPT_NODES: usize = 64;

/// See the module.
pub(in super::super) struct ChunkTree {
    kind: TreeKind,
    root: u64,
    nodes: HashMap<u64, Node>,
}

/// What the nodes of a tree have in common.
#[derive(Clone)]
pub(super) struct TreeKind {
    /// Elements of a chunk along each dimension.
    pub(super) chunk_shape: Vec<u64>,
    /// Bytes of an element.
    pub(super) element_bytes: u32,
    /// Half the entries that a node has room for.
    pub(super) k: u16,
    pub(super) sizes: Sizes,
}

struct Node {
    content: ChunkNode,
    in_file: InFile,
}

/// What the last commit has of a node.
enum InFile {
    Nothing,
    AsItIs,
    Other(Vec<u8>),
}

/// A chunk or node that gets its place in a node.
struct NewChild {
    entry: ChunkEntry,
    /// True where the last commit has chunks below it, which must not be hidden.
    is_known: bool,
}

/// The nodes from the root to the one above a leaf, and which child leads on.
type Path = Vec<(u64, usize)>;

impl TreeKind {
    fn rank(&self) -> usize {
        self.chunk_shape.len()
    }

    fn node_bytes(&self) -> u64 {
        ChunkNode::byte_len(self.k, self.rank(), self.sizes) as u64
    }

    /// A chunk's offset by elements.
    fn offset<'a>(&'a self, coordinates: &'a [u64]) -> impl Iterator<Item = u64> + 'a {
        let axes = coordinates.iter().zip(&self.chunk_shape);
        axes.map(|(coordinate, len)| coordinate.saturating_mul(*len))
    }
}

/// What a leaf says of a chunk.
fn entry(place: ChunkPlace, target: &Target) -> Result<ChunkEntry> {
    let stored_bytes = u32::try_from(place.stored_bytes).map_err(|_| {
        let limit = u32::MAX.into();
        target.error(ErrorKind::Limit {
            what: "bytes of a chunk",
            value: place.stored_bytes,
            limit,
        })
    })?;
    Ok(ChunkEntry { stored_bytes, filter_mask: place.filter_mask, address: Some(place.address) })
}

impl ChunkTree {
    /// The tree of all chunks of the table.
    pub(super) fn build(
        kind: TreeKind,
        table: &ChunkTable,
        target: &Target,
        changes: &mut Changes,
    ) -> Result<Self> {
        let chunks = Chunks::of(table, kind.rank())?;
        let offsets: Vec<u64> = chunks.iter().flat_map(|(at, _)| kind.offset(at)).collect();
        let entries = chunks.iter().map(|(_, place)| entry(place, target));
        let entries = entries.collect::<Result<Vec<_>>>()?;
        let error = |error| target.error(ErrorKind::Structure(error));
        let tree = ChunkTreeBuilder::new(entries.len(), kind.rank(), kind.k, kind.sizes);
        let tree = tree.map_err(error)?;
        let root = target.space.allocate(tree.byte_len(), ALIGNMENT);
        let (chunk_shape, element_bytes) = (&kind.chunk_shape, kind.element_bytes);
        let chunks =
            TreeChunks { entries: &entries, offsets: &offsets, chunk_shape, element_bytes };
        let bytes = tree.encode(root, chunks).map_err(error)?;
        changes.fresh.push(Block { address: root, bytes });
        Ok(Self::at(kind, root))
    }

    /// The tree in the file whose root is at `root`.
    pub(super) fn at(kind: TreeKind, root: u64) -> Self {
        Self { kind, root, nodes: HashMap::new() }
    }

    /// The address of the root.
    pub(super) fn root(&self) -> u64 {
        self.root
    }

    /// The space that it takes: address and bytes.
    pub(super) fn into_space(mut self, target: &Target) -> Result<Vec<(u64, u64)>> {
        let node_bytes = self.kind.node_bytes();
        let mut waiting = vec![(self.root, None)];
        let mut space = Vec::new();
        let mut edit = Edit { tree: &mut self, target, freed: Vec::new() };
        while let Some((address, level)) = waiting.pop() {
            space.push((address, node_bytes));
            let node = edit.node(address, level)?;
            // Levels become fewer with each step, so it ends.
            let Some(below) = node.header.level.checked_sub(1) else { continue };
            let children = node.entries().iter().filter_map(|child| child.address);
            waiting.extend(children.map(|child| (child, Some(below))));
        }
        Ok(space)
    }

    /// Enters the chunks that changed since the last commit. Where this or the commit fails, the tree
    /// is of no more use.
    pub(super) fn update(
        &mut self,
        table: &ChunkTable,
        target: &Target,
        changes: &mut Changes,
    ) -> Result<()> {
        let mut edit = Edit { tree: self, target, freed: Vec::new() };
        let mut offset = Vec::new();
        table.for_each_changed(&mut |coordinates, place| {
            offset.clear();
            offset.extend(edit.tree.kind.offset(coordinates));
            edit.put(&offset, entry(place, target)?)
        })?;
        edit.reach_last_chunk()?;
        let freed = edit.freed;
        let node_bytes = self.kind.node_bytes();
        changes.freed.extend(freed.into_iter().map(|address| (address, node_bytes)));
        self.collect(target, changes)
    }

    /// What is to be written for the nodes that changed.
    fn collect(&mut self, target: &Target, changes: &mut Changes) -> Result<()> {
        let TreeKind { k, sizes, .. } = self.kind;
        let mut nodes: Vec<(u64, &mut Node)> =
            self.nodes.iter_mut().map(|(&address, node)| (address, node)).collect();
        nodes.sort_unstable_by_key(|&(address, _)| address);
        for (address, node) in nodes {
            let in_file = std::mem::replace(&mut node.in_file, InFile::AsItIs);
            if matches!(in_file, InFile::AsItIs) {
                continue;
            }
            let bytes = node.content.encode(k, sizes);
            let bytes = bytes.map_err(|error| target.error(ErrorKind::Structure(error)))?;
            let InFile::Other(old) = in_file else {
                changes.fresh.push(Block { address, bytes });
                continue;
            };
            for range in changed_ranges(&old, &bytes, self.kind.chunk_shape.len(), sizes) {
                changes.in_place.push(Block::of_words(address, &bytes, range));
            }
        }
        if self.nodes.len() > KEPT_NODES {
            self.nodes.clear();
        }
        Ok(())
    }
}

/// A tree while chunks are entered.
struct Edit<'t> {
    tree: &'t mut ChunkTree,
    target: &'t Target,
    /// Nodes of the last commit that are not part of the tree any more.
    freed: Vec<u64>,
}

impl Edit<'_> {
    /// Enters a chunk.
    fn put(&mut self, offset: &[u64], entry: ChunkEntry) -> Result<()> {
        let (mut path, mut address) = (Path::new(), self.tree.root);
        let mut level = None;
        let index = loop {
            let node = self.node(address, level)?;
            let before = node.count_up_to(offset);
            if node.header.level == 0 {
                break before;
            }
            level = Some(node.header.level - 1);
            let child = before.saturating_sub(1);
            path.push((address, child));
            address = self.child(address, child)?;
        };
        let leaf = self.node(address, level)?;
        if index > 0 && leaf.key(index - 1) == offset {
            self.changed(address)?.replace(index - 1, entry);
            return Ok(());
        }
        // Nothing stands before the first chunk, so the path leads through first children only.
        if index == 0 {
            for &(above, child) in &path {
                self.changed(above)?.set_key(child, offset);
            }
        }
        let child = NewChild { entry, is_known: false };
        self.insert(path, address, index, offset, child)
    }

    /// Puts a child before child `index` of the node at `address`, to which `path` leads.
    fn insert(
        &mut self,
        path: Path,
        address: u64,
        index: usize,
        offset: &[u64],
        child: NewChild,
    ) -> Result<()> {
        let NewChild { entry, is_known } = child;
        let most = 2 * usize::from(self.tree.kind.k);
        let node = self.changed(address)?;
        if node.len() < most {
            node.insert(index, offset, entry);
            return Ok(());
        }
        if index == node.len() && node.header.right.is_none() && !is_known {
            let sibling = self.begin_sibling(address, offset, entry)?;
            return self.insert_above(path, address, sibling, is_known);
        }
        let halves = self.split(address)?;
        if let Some(&(above, child)) = path.last() {
            let first = self.pointer(halves.0)?;
            self.changed(above)?.replace(child, first);
        }
        let left_len = self.node(halves.0, None)?.len();
        let (half, index) =
            if index <= left_len { (halves.0, index) } else { (halves.1, index - left_len) };
        // Both have room now.
        self.changed(half)?.insert(index, offset, entry);
        self.insert_above(path, halves.0, halves.1, true)
    }

    /// Makes `right` known to the node that leads to `left`, its sibling; a new root where none does.
    fn insert_above(
        &mut self,
        mut path: Path,
        left: u64,
        right: u64,
        is_known: bool,
    ) -> Result<()> {
        let entry = self.pointer(right)?;
        let offset = self.node(right, None)?.key(0).to_vec();
        if let Some((above, child)) = path.pop() {
            return self.insert(path, above, child + 1, &offset, NewChild { entry, is_known });
        }
        let first = self.pointer(left)?;
        let node = self.node(left, None)?;
        let level = node.header.level.saturating_add(1);
        let mut offsets = node.key(0).to_vec();
        let right = self.node(right, None)?;
        offsets.extend_from_slice(&offset);
        offsets.extend_from_slice(right.key(right.len()));
        let end_key = right.end_key();
        let header = NodeHeader { level, left: None, right: None };
        let rank = self.tree.kind.rank();
        let root = ChunkNode::new(header, rank, vec![first, entry], offsets, end_key);
        let root = root.map_err(|error| self.fault(error))?;
        self.tree.root = self.add(root);
        Ok(())
    }

    /// Gives the full last node of a level a right sibling, which has one child.
    fn begin_sibling(&mut self, address: u64, offset: &[u64], entry: ChunkEntry) -> Result<u64> {
        let node = self.changed(address)?;
        let mut sibling = node.split_off(node.len());
        sibling.header.left = Some(address);
        sibling.insert(0, offset, entry);
        node.set_end(offset, EndKey::of(&entry));
        let sibling = self.add(sibling);
        self.changed(address)?.header.right = Some(sibling);
        Ok(sibling)
    }

    /// Two new nodes in place of a full one.
    fn split(&mut self, address: u64) -> Result<(u64, u64)> {
        let node = self.changed(address)?;
        let NodeHeader { left: before, right: behind, .. } = node.header;
        let mut left = node.clone();
        let mut right = left.split_off(left.len() / 2);
        right.header.right = behind;
        let is_new = matches!(self.tree.nodes[&address].in_file, InFile::Nothing);
        let left_address = if is_new { address } else { self.allocate() };
        let right_address = self.allocate();
        left.header.right = Some(right_address);
        right.header.left = Some(left_address);
        if !is_new {
            self.tree.nodes.remove(&address);
            self.freed.push(address);
            if let Some(before) = before {
                self.changed(before)?.header.right = Some(left_address);
            }
        }
        if let Some(behind) = behind {
            self.changed(behind)?.header.left = Some(right_address);
        }
        for (address, content) in [(left_address, left), (right_address, right)] {
            self.tree.nodes.insert(address, Node { content, in_file: InFile::Nothing });
        }
        Ok((left_address, right_address))
    }

    /// Makes the last keys of all levels reach behind the last chunk: that of the leaf to its corner, as
    /// libhdf5 does, those above it farther, for the chunks to come: then an append changes nothing but
    /// the leaf, however high the tree. Who looks for a chunk is led to the leaf, where it is not.
    fn reach_last_chunk(&mut self) -> Result<()> {
        let (mut spine, mut address) = (vec![self.tree.root], self.tree.root);
        let mut node = self.node(address, None)?;
        while node.header.level > 0 {
            let (level, last) = (node.header.level - 1, node.len().saturating_sub(1));
            address = self.child(address, last)?;
            spine.push(address);
            node = self.node(address, Some(level))?;
        }
        let last = node.key(node.len().saturating_sub(1)).to_vec();
        let axes = last.iter().zip(&self.tree.kind.chunk_shape);
        let corner: Vec<u64> = axes.map(|(offset, len)| offset.saturating_add(*len)).collect();
        let mut farther = corner.clone();
        if let (Some(end), Some(len)) = (farther.first_mut(), self.tree.kind.chunk_shape.first()) {
            // Whole chunks: libhdf5 refuses keys that are none.
            let ahead = len.saturating_mul(2 * u64::from(self.tree.kind.k));
            *end = end.checked_add(ahead).unwrap_or(*end);
        }
        let element_offset = self.tree.kind.element_bytes.into();
        for address in spine {
            let node = self.node(address, None)?;
            if node.key(node.len()) < &corner[..] {
                let end_key = EndKey { element_offset, ..EndKey::default() };
                let end = if node.header.level > 0 { &farther } else { &corner };
                self.changed(address)?.set_end(end, end_key);
            }
        }
        Ok(())
    }

    /// A child that leads to the node at `address`.
    fn pointer(&mut self, address: u64) -> Result<ChunkEntry> {
        let first = self.node(address, None)?.entries().first().copied();
        let fields = first.map_or((0, 0), |first| (first.stored_bytes, first.filter_mask));
        let (stored_bytes, filter_mask) = fields;
        Ok(ChunkEntry { stored_bytes, filter_mask, address: Some(address) })
    }

    /// Where child `index` of an inner node is.
    fn child(&mut self, address: u64, index: usize) -> Result<u64> {
        let child = self.node(address, None)?.entries().get(index).and_then(|child| child.address);
        child.ok_or_else(|| self.field(address, "child", index as u64))
    }

    /// The node at `address`, from the file where it is not in memory. A node below another one has
    /// the next lower `level`.
    fn node(&mut self, address: u64, level: Option<u8>) -> Result<&ChunkNode> {
        if !self.tree.nodes.contains_key(&address) {
            let content = self.fetch(address)?;
            self.tree.nodes.insert(address, Node { content, in_file: InFile::AsItIs });
        }
        let found = self.tree.nodes[&address].content.header.level;
        if level.is_some_and(|level| level != found) {
            return Err(self.field(address, "node level", found.into()));
        }
        Ok(&self.tree.nodes[&address].content)
    }

    fn fetch(&self, address: u64) -> Result<ChunkNode> {
        let TreeKind { k, sizes, .. } = self.tree.kind;
        let (len, mut bytes) = (self.tree.kind.node_bytes(), Vec::new());
        uninit::read_vec(self.target.storage.as_ref(), address, len as usize, &mut bytes)
            .map_err(|source| self.target.read_error(address, len, source))?;
        let node = ChunkNode::decode(&bytes, address, sizes, self.tree.kind.rank());
        let node = node.map_err(|error| self.fault(error))?;
        match node.len() {
            // Only the root of a tree without chunks has no children.
            0 if node.header.level > 0 || address != self.tree.root => {
                Err(self.field(address, "children", 0))
            }
            count if count > 2 * usize::from(k) => {
                Err(self.field(address, "children", count as u64))
            }
            _ => Ok(node),
        }
    }

    /// The node at `address`, to be changed.
    fn changed(&mut self, address: u64) -> Result<&mut ChunkNode> {
        let TreeKind { k, sizes, .. } = self.tree.kind;
        self.node(address, None)?;
        let target = self.target;
        let missing = || target.error(ErrorKind::Structure(field(address, "child", address)));
        let node = self.tree.nodes.get_mut(&address).ok_or_else(missing)?;
        if matches!(node.in_file, InFile::AsItIs) {
            let bytes = node.content.encode(k, sizes);
            let bytes = bytes.map_err(|error| target.error(ErrorKind::Structure(error)))?;
            node.in_file = InFile::Other(bytes);
        }
        Ok(&mut node.content)
    }

    /// Adds a new node; its address.
    fn add(&mut self, content: ChunkNode) -> u64 {
        let address = self.allocate();
        self.tree.nodes.insert(address, Node { content, in_file: InFile::Nothing });
        address
    }

    fn allocate(&self) -> u64 {
        self.target.space.allocate(self.tree.kind.node_bytes(), ALIGNMENT)
    }

    fn field(&self, address: u64, name: &'static str, value: u64) -> crate::error::Error {
        self.fault(field(address, name, value))
    }

    fn fault(&self, error: Error) -> crate::error::Error {
        self.target.error(ErrorKind::Structure(error))
    }
}

fn field(address: u64, field: &'static str, value: u64) -> Error {
    let kind = FormatErrorKind::Field { field, value };
    Error { structure: "version 1 B-tree node", address, kind }
}

#[cfg(test)]
mod tests;
