//! B-tree indexes, of both versions.
//!
//! Planning all chunks of an array looks up each of them: a node of a version-1 tree is decoded
//! once and kept by its index (some 10 MB at most), one of a version-2 tree is verified once and
//! kept by the file (2 MiB at most, of all its trees).

use std::sync::Arc;

use isotach_format::hdf5::btree::v1::ChunkNode;
use isotach_format::hdf5::btree::v2_record::{self, ChunkRecord, ChunkRecordLayout};

use super::super::btree2::BTree2;
use super::super::context::WalkBudget;
use super::super::kept::Kept;
use super::ChunkedArray;
use crate::error::Result;
use crate::plan::layout::{ChunkIndex, ChunkPlace};
use crate::sync::OnceLock;

/// Children in nodes that one version-1 index keeps: some 10 MB.
const KEPT_ENTRIES: u64 = 1 << 17;

const NODE: &str = "version 1 B-tree node";

/// A version-1 B-tree.
pub(in super::super) struct BTree1Index {
    array: ChunkedArray,
    root: Option<u64>,
    nodes: Kept<u64, Arc<ChunkNode>>,
}

impl BTree1Index {
    /// The tree with its root at `root`; `None` where no chunk was ever written.
    pub(in super::super) fn new(array: ChunkedArray, root: Option<u64>) -> Self {
        Self { array, root, nodes: Kept::new(KEPT_ENTRIES) }
    }

    /// The node at `address`, which must be of the `level` that the node above it says.
    fn node(&self, address: u64, level: Option<u8>) -> Result<Arc<ChunkNode>> {
        let context = &self.array.context;
        let rank = self.array.shape.len();
        let node = self.nodes.get_or_make(address, || {
            let sizes = context.sizes();
            // Twice the default K children.
            let guess = 24 + 64 * (16 + 8 * rank + sizes.offset) as u64;
            let decode = |bytes: &[u8]| ChunkNode::decode(bytes, address, sizes, rank);
            let node = context.structure(address, guess, decode);
            let node = node.map_err(|error| self.array.at(error))?;
            let weight = node.entries().len() as u64 + 1;
            Ok((Arc::new(node), weight))
        })?;
        if level.is_some_and(|level| level != node.header.level) {
            let found = u64::from(node.header.level);
            return Err(self.array.at(context.bad_field(NODE, address, "node level", found)));
        }
        Ok(node)
    }

    fn walk(
        &self,
        address: u64,
        level: Option<u8>,
        budget: &mut WalkBudget,
        visit: &mut dyn FnMut(&[u64], ChunkPlace) -> Result<()>,
    ) -> Result<()> {
        let node = self.node(address, level)?;
        let rank = self.array.shape.len();
        let byte_len = 24 + node.entries().len() as u64 * (16 + 8 * rank as u64);
        budget
            .spend(&self.array.context, byte_len, NODE, address)
            .map_err(|error| self.array.at(error))?;
        for (index, entry) in node.entries().iter().enumerate() {
            if let Some(below) = node.header.level.checked_sub(1) {
                if let Some(child) = entry.address {
                    self.walk(child, Some(below), budget, visit)?;
                }
                continue;
            }
            let Some(offset) = node.offset(index) else { continue };
            let coordinates = self.coordinates(offset);
            let stored_bytes = Some(u64::from(entry.stored_bytes));
            if let Some(coordinates) = coordinates.filter(|place| self.array.holds(place))
                && let Some(place) =
                    self.array.place(entry.address, stored_bytes, entry.filter_mask)
            {
                visit(&coordinates, place)?;
            }
        }
        Ok(())
    }

    /// Offset in elements to chunk coordinates; `None` for what is no chunk's corner.
    fn coordinates(&self, offset: &[u64]) -> Option<Vec<u64>> {
        let axes = offset.iter().zip(&self.array.chunk_shape);
        axes.map(|(&offset, &chunk)| offset.is_multiple_of(chunk).then(|| offset / chunk)).collect()
    }
}

impl ChunkIndex for BTree1Index {
    fn locate(&self, coordinates: &[u64]) -> Result<Option<ChunkPlace>> {
        let Some(mut address) = self.root else { return Ok(None) };
        let axes = coordinates.iter().zip(&self.array.chunk_shape);
        let Some(offset) =
            axes.map(|(place, chunk)| place.checked_mul(*chunk)).collect::<Option<Vec<u64>>>()
        else {
            return Ok(None);
        };
        let mut level = None;
        // Levels become fewer with each step, so it ends.
        loop {
            let node = self.node(address, level)?;
            let Some(entry) = node.find(&offset) else { return Ok(None) };
            let Some(below) = node.header.level.checked_sub(1) else {
                let stored_bytes = Some(u64::from(entry.stored_bytes));
                return Ok(self.array.place(entry.address, stored_bytes, entry.filter_mask));
            };
            let Some(child) = entry.address else { return Ok(None) };
            (address, level) = (child, Some(below));
        }
    }

    fn for_each(&self, visit: &mut dyn FnMut(&[u64], ChunkPlace) -> Result<()>) -> Result<()> {
        match self.root {
            Some(root) => self.walk(root, None, &mut WalkBudget::new(&self.array.context), visit),
            None => Ok(()),
        }
    }
}

/// A version-2 B-tree.
pub(in super::super) struct BTree2Index {
    array: ChunkedArray,
    address: u64,
    opened: OnceLock<(BTree2, ChunkRecordLayout)>,
}

impl BTree2Index {
    pub(in super::super) fn new(array: ChunkedArray, address: u64) -> Self {
        Self { array, address, opened: OnceLock::new() }
    }

    fn opened(&self) -> Result<&(BTree2, ChunkRecordLayout)> {
        if let Some(opened) = self.opened.get() {
            return Ok(opened);
        }
        let context = &self.array.context;
        let types = [v2_record::CHUNK, v2_record::CHUNK_FILTERED];
        let tree =
            BTree2::open(context, self.address, &types).map_err(|error| self.array.at(error))?;
        let layout = ChunkRecordLayout::new(
            tree.header.record_type,
            tree.header.record_bytes,
            self.array.shape.len(),
            self.address,
            context.sizes(),
        )
        .map_err(|error| self.array.structure_error(error))?;
        Ok(self.opened.get_or_init(|| (tree, layout)))
    }

    fn place(&self, record: &ChunkRecord) -> Option<ChunkPlace> {
        self.array.place(record.address, record.stored_bytes, record.filter_mask)
    }
}

impl ChunkIndex for BTree2Index {
    fn locate(&self, coordinates: &[u64]) -> Result<Option<ChunkPlace>> {
        let (tree, layout) = self.opened()?;
        let context = &self.array.context;
        let found = tree
            .find(context, |record| Ok(layout.compare(coordinates, record)))
            .map_err(|error| self.array.at(error))?;
        let Some(record) = found else { return Ok(None) };
        let record = layout.decode(&record).map_err(|error| self.array.structure_error(error))?;
        Ok(self.place(&record))
    }

    fn for_each(&self, visit: &mut dyn FnMut(&[u64], ChunkPlace) -> Result<()>) -> Result<()> {
        let (tree, layout) = self.opened()?;
        tree.for_each(&self.array.context, &mut |record| {
            let record =
                layout.decode(record).map_err(|error| self.array.structure_error(error))?;
            match self.place(&record) {
                Some(place) if self.array.holds(&record.scaled) => visit(&record.scaled, place),
                _ => Ok(()),
            }
        })
        .map_err(|error| self.array.at(error))
    }
}
