//! Where a variable's values begin: its store, and the layout message that leads to them.
//!
//! ```text
//! chunks -> chunk_tree: a version-1 B-tree that grows where it is
//!        -> bulk:       the indexes of HDF5 1.10, built anew at every commit
//! ```

mod bulk;
mod chunk_tree;

use std::collections::BTreeMap;
use std::sync::Arc;

use isotach_format::hdf5::message::layout::{ChunkIndex, ChunkedLayout, Layout};
use isotach_model::shape;

use self::bulk::BulkIndex;
pub(super) use self::bulk::IndexKind;
use self::chunk_tree::{ChunkTree, TreeKind};
use super::WrittenVariable;
use super::objects::Changes;
use super::planned::Planned;
use crate::draft::{Draft, VariableId};
use crate::error::{DefinitionFault, ErrorKind, Result};
use crate::mapping::hdf5::Dataset;
use crate::plan::layout::{self as plan, ChunkIndex as _, ChunkPlace, Placement};
use crate::read::Array;
use crate::variable::StorageKind;
use crate::write::data::{
    self, ChunkParts, ChunkStore, ChunkTable, InlineStore, Store, StridedStore,
};
use crate::write::target::Target;

/// Chunks of the file up to so many bytes need no room, as they may become much less.
const SMALL_CHUNK_BYTES: u64 = 64 << 20;

/// An empty store for a new variable.
pub(super) fn store(
    draft: &Draft,
    id: VariableId,
    planned: &Planned,
    existing: Option<&Array>,
    target: &Target,
) -> Result<Store> {
    let fault = |fault| target.error(ErrorKind::Definition(fault));
    let variable = draft.variable(id).map_err(fault)?;
    let path = draft.group(variable.group).map_err(fault)?.path_of(&variable.name);
    let values = data::Target {
        storage: Arc::clone(&target.storage),
        space: Arc::clone(&target.space) as _,
        file: Arc::clone(&target.name),
        path: path.into(),
    };
    let (element_size, fill) = (planned.element_size(), planned.fill_element());
    let extent = variable.extent.clone();
    let placement = existing.map(|array| &array.layout.placement);
    let (address, inline) = match placement {
        Some(Placement::Strided { address, .. }) => (Some(*address), None),
        Some(Placement::Inline(bytes)) => (None, Some(&**bytes)),
        Some(Placement::External { .. } | Placement::Virtual(_)) => {
            return Err(fault(DefinitionFault::NotWritable { name: variable.name.to_string() }));
        }
        Some(Placement::Unallocated | Placement::Chunked(_)) | None => (None, None),
    };
    if let (Some(_), Some(chunk_shape)) = (existing, &planned.chunk_shape) {
        check_chunk(target, chunk_shape, element_size)?;
    }
    Ok(match (planned.kind, &planned.chunk_shape) {
        (_, Some(chunk_shape)) => Store::Chunked(ChunkStore::new(
            values,
            ChunkParts {
                chunk_shape: chunk_shape.clone(),
                max_shape: draft.limits(variable).map_err(fault)?,
                element_size,
                fill,
                shape: variable.extent.clone(),
                pipeline: Arc::clone(&planned.pipeline),
                edge_chunks_unfiltered: planned.edge_chunks_unfiltered,
                existing: existing.map(known_chunks).transpose()?.flatten(),
            },
        )?),
        (StorageKind::Compact, None) => {
            Store::Inline(InlineStore::new(values, extent, element_size, &fill, inline)?)
        }
        (_, None) => {
            let fill = planned.fill.clone();
            let store = StridedStore::new(values, extent, element_size, fill, address)?;
            if existing.is_some() {
                check_claim(target, address, store.byte_len())?;
            }
            Store::Strided(if planned.stored.is_flat() { store } else { store.of_references() })
        }
    })
}

/// That an array of the file lies within it, or that there is room for one that has no place yet: how large it is,
/// only the file says.
fn check_claim(target: &Target, address: Option<u64>, byte_len: u64) -> Result<()> {
    let Some(address) = address else {
        let limit = target.storage.room();
        let what = "bytes of an array";
        return match byte_len <= limit {
            true => Ok(()),
            false => Err(target.error(ErrorKind::Limit { what, value: byte_len, limit })),
        };
    };
    let (needed_bytes, available_bytes) = (address.saturating_add(byte_len), target.len()?);
    if needed_bytes <= available_bytes {
        return Ok(());
    }
    let kind = isotach_format::ErrorKind::Truncated { needed_bytes, available_bytes };
    let error = isotach_format::Error { structure: "values to be written", address, kind };
    Err(target.error(ErrorKind::Structure(error)))
}

/// That there is room for a chunk of the file, all of which is made where a part of it is written: how large it is,
/// only the file says.
fn check_chunk(target: &Target, chunk_shape: &[u64], element_size: usize) -> Result<()> {
    let value = shape::byte_count(chunk_shape, element_size).map_or(u64::MAX, |bytes| bytes as u64);
    let limit = target.storage.room().max(SMALL_CHUNK_BYTES);
    match value <= limit {
        true => Ok(()),
        false => Err(target.error(ErrorKind::Limit { what: "bytes of a chunk", value, limit })),
    }
}

/// The chunks that are in the file: all of them now, as the index that tells them is going to change.
fn known_chunks(array: &Array) -> Result<Option<Arc<dyn plan::ChunkIndex>>> {
    let Placement::Chunked(chunked) = &array.layout.placement else { return Ok(None) };
    let mut places = BTreeMap::new();
    chunked.index.for_each(&mut |coordinates, place| {
        places.insert(coordinates.to_vec(), place);
        Ok(())
    })?;
    Ok(Some(Arc::new(KnownChunks { places })))
}

/// See [`known_chunks`].
struct KnownChunks {
    places: BTreeMap<Vec<u64>, ChunkPlace>,
}

impl plan::ChunkIndex for KnownChunks {
    fn locate(&self, coordinates: &[u64]) -> Result<Option<ChunkPlace>> {
        Ok(self.places.get(coordinates).copied())
    }

    fn for_each(&self, visit: &mut dyn FnMut(&[u64], ChunkPlace) -> Result<()>) -> Result<()> {
        self.places.iter().try_for_each(|(coordinates, place)| visit(coordinates, *place))
    }
}

/// A chunk index that is in the file.
pub(super) enum Index {
    Tree(ChunkTree),
    Bulk(BulkIndex),
    /// One whose commit failed: nothing in the file is what it was in memory, so it is built anew.
    Lost,
}

impl Index {
    /// The index of a variable that was there when the file was opened; version-1 B-trees have nodes
    /// of `k`.
    pub(super) fn opened(dataset: &Dataset, planned: &Planned, k: u16) -> Result<Option<Self>> {
        let Layout::Chunked(layout) = &**dataset.layout()? else { return Ok(None) };
        Ok(match (layout.address, &layout.index) {
            (None, _) => None,
            (Some(root), ChunkIndex::BtreeV1) => {
                Some(Self::Tree(ChunkTree::at(tree_kind(planned, k), root)))
            }
            _ => Some(Self::Bulk(BulkIndex::opened(dataset)?)),
        })
    }

    /// The space that it takes: address and bytes.
    pub(super) fn into_space(self, target: &Target) -> Result<Vec<(u64, u64)>> {
        match self {
            Self::Tree(tree) => tree.into_space(target),
            Self::Bulk(bulk) => Ok(bulk.into_space()),
            Self::Lost => Ok(Vec::new()),
        }
    }
}

fn tree_kind(planned: &Planned, k: u16) -> TreeKind {
    TreeKind {
        chunk_shape: planned.chunk_shape.clone().unwrap_or_default(),
        element_bytes: planned.datatype.size(),
        k,
        sizes: planned.sizes,
    }
}

/// The layout message of a variable whose values have been flushed; `None` where it stays what it
/// was, or none was ever written. `index` is the variable's chunk index: of the last commit, then of
/// the next. A new version-1 B-tree has nodes of `k`.
pub(super) fn layout(
    written: &WrittenVariable,
    extent: &[u64],
    k: u16,
    index: &mut Option<Index>,
    target: &Target,
    changes: &mut Changes,
) -> Result<Option<Layout>> {
    match &written.store {
        Store::Chunked(store) => {
            chunked(&written.planned, &store.table(), k, index, target, changes)
        }
        Store::Strided(store) => {
            let Placement::Strided { address, .. } = store.placement() else { return Ok(None) };
            let Layout::Contiguous { len_bytes, .. } = written.planned.unwritten_layout(extent)
            else {
                return Ok(None);
            };
            Ok(Some(Layout::Contiguous { address: Some(address), len_bytes }))
        }
        Store::Inline(store) => Ok(Some(Layout::Compact(store.bytes()))),
    }
}

fn chunked(
    planned: &Planned,
    table: &ChunkTable,
    k: u16,
    index: &mut Option<Index>,
    target: &Target,
    changes: &mut Changes,
) -> Result<Option<Layout>> {
    let Some(chunk_shape) = &planned.chunk_shape else { return Ok(None) };
    if table.changed_count() == 0 {
        return Ok(None);
    }
    let element_bytes = planned.element_size() as u64;
    let bulk = match (&planned.index, index.replace(Index::Lost)) {
        (IndexKind::BtreeV1, Some(Index::Tree(mut tree))) => {
            tree.update(table, target, changes)?;
            let root = tree.root();
            *index = Some(Index::Tree(tree));
            return Ok(Some(tree_layout(chunk_shape.clone(), element_bytes, Some(root))));
        }
        (IndexKind::BtreeV1, _) => {
            let tree = ChunkTree::build(tree_kind(planned, k), table, target, changes)?;
            let root = tree.root();
            *index = Some(Index::Tree(tree));
            return Ok(Some(tree_layout(chunk_shape.clone(), element_bytes, Some(root))));
        }
        (_, Some(Index::Bulk(bulk))) => Some(bulk),
        _ => None,
    };
    if let Some(old) = bulk {
        changes.freed.extend(old.into_space());
    }
    let (bulk, layout) = BulkIndex::build(planned, table, target, changes)?;
    *index = Some(Index::Bulk(bulk));
    Ok(Some(layout))
}

/// The layout of chunks that a version-1 B-tree finds; `None` where none was written.
pub(super) fn tree_layout(
    chunk_shape: Vec<u64>,
    element_bytes: u64,
    address: Option<u64>,
) -> Layout {
    Layout::Chunked(ChunkedLayout {
        version: 3,
        chunk_shape,
        element_bytes,
        edge_chunks_unfiltered: false,
        index: ChunkIndex::BtreeV1,
        address,
    })
}

/// All chunks of a variable, in row-major order.
struct Chunks {
    rank: usize,
    coordinates: Vec<u64>,
    places: Vec<ChunkPlace>,
}

impl Chunks {
    /// Those of the table.
    fn of(table: &ChunkTable, rank: usize) -> Result<Self> {
        let mut all = Self { rank, coordinates: Vec::new(), places: Vec::new() };
        table.for_each(&mut |coordinates, place| {
            all.coordinates.extend_from_slice(coordinates);
            all.places.push(place);
            Ok(())
        })?;
        // Chunks of a file that was opened come before those written since.
        if !all.iter().is_sorted_by_key(|(coordinates, _)| coordinates) {
            let mut order: Vec<(&[u64], ChunkPlace)> = all.iter().collect();
            order.sort_unstable_by_key(|&(coordinates, _)| coordinates);
            let coordinates = order.iter().flat_map(|(at, _)| at.iter().copied()).collect();
            let places = order.iter().map(|&(_, place)| place).collect();
            return Ok(Self { rank, coordinates, places });
        }
        Ok(all)
    }

    fn iter(&self) -> impl Iterator<Item = (&[u64], ChunkPlace)> {
        self.coordinates.chunks_exact(self.rank.max(1)).zip(self.places.iter().copied())
    }
}
