//! Where a variable's values begin: its store, and the layout message that leads to them.

use std::collections::BTreeMap;
use std::sync::Arc;

use isotach_format::hdf5::Sizes;
use isotach_format::hdf5::btree::v1::ChunkEntry;
use isotach_format::hdf5::btree::v1_build::{ChunkTreeBuilder, TreeChunks};
use isotach_format::hdf5::message::layout::{ChunkIndex, ChunkedLayout, Layout};

use super::WrittenVariable;
use super::dense::Block;
use super::objects::Changes;
use super::planned::Planned;
use crate::draft::{Draft, VariableId};
use crate::error::{DefinitionFault, ErrorKind, Result};
use crate::plan::layout::{self as plan, ChunkIndex as _, ChunkPlace, Placement};
use crate::read::Array;
use crate::variable::StorageKind;
use crate::write::data::{self, ChunkParts, ChunkStore, InlineStore, Store, StridedStore};
use crate::write::target::Target;

/// Half the entries that libhdf5's nodes of chunk trees have.
const CHUNK_TREE_K: u16 = 32;

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
        Some(Placement::External(_) | Placement::Virtual(_)) => {
            return Err(fault(DefinitionFault::NotWritable { name: variable.name.to_string() }));
        }
        Some(Placement::Unallocated | Placement::Chunked(_)) | None => (None, None),
    };
    Ok(match (planned.kind, &planned.chunk_shape) {
        (_, Some(chunk_shape)) => {
            let max = |&id| {
                let dimension = draft.dimension(id)?;
                Ok(if dimension.is_unlimited { u64::MAX } else { dimension.len })
            };
            let max_shape =
                variable.dimensions.iter().map(max).collect::<crate::draft::Defined<_>>();
            Store::Chunked(ChunkStore::new(
                values,
                ChunkParts {
                    chunk_shape: chunk_shape.clone(),
                    max_shape: max_shape.map_err(fault)?,
                    element_size,
                    fill,
                    shape: variable.extent.clone(),
                    pipeline: Arc::clone(&planned.pipeline),
                    edge_chunks_unfiltered: false,
                    existing: existing.map(known_chunks).transpose()?.flatten(),
                },
            )?)
        }
        (StorageKind::Compact, None) => {
            Store::Inline(InlineStore::new(values, extent, element_size, &fill, inline)?)
        }
        (_, None) => {
            let fill = planned.fill.clone();
            Store::Strided(StridedStore::new(values, extent, element_size, fill, address)?)
        }
    })
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

/// The layout message of a variable whose values have been flushed; `None` where none was ever
/// written.
pub(super) fn layout(
    written: &WrittenVariable,
    extent: &[u64],
    target: &Target,
    changes: &mut Changes,
) -> Result<Option<Layout>> {
    match &written.store {
        Store::Chunked(store) => chunked(written, store, target, changes),
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
    written: &WrittenVariable,
    store: &ChunkStore,
    target: &Target,
    changes: &mut Changes,
) -> Result<Option<Layout>> {
    let table = store.table();
    let planned = &written.planned;
    let Some(chunk_shape) = &planned.chunk_shape else { return Ok(None) };
    if table.changed_count() == 0 {
        return Ok(None);
    }
    let (mut entries, mut offsets) = (Vec::new(), Vec::new());
    table.for_each(&mut |coordinates, place| {
        let axes = coordinates.iter().zip(chunk_shape);
        offsets.extend(axes.map(|(coordinate, len)| coordinate.saturating_mul(*len)));
        entries.push(ChunkEntry {
            address: Some(place.address),
            stored_bytes: u32::try_from(place.stored_bytes).unwrap_or(u32::MAX),
            filter_mask: place.filter_mask,
        });
        Ok(())
    })?;
    let rank = chunk_shape.len();
    let error = |error| target.error(ErrorKind::Structure(error));
    let tree = ChunkTreeBuilder::new(entries.len(), rank, CHUNK_TREE_K, Sizes::default());
    let tree = tree.map_err(error)?;
    let address = target.space.allocate(tree.byte_len(), 8);
    let element_bytes = planned.element_size() as u32;
    let chunks = TreeChunks { entries: &entries, offsets: &offsets, chunk_shape, element_bytes };
    let bytes = tree.encode(address, chunks).map_err(error)?;
    changes.fresh.push(Block { address, bytes });
    Ok(Some(Layout::Chunked(ChunkedLayout {
        version: 3,
        chunk_shape: chunk_shape.clone(),
        element_bytes: planned.element_size() as u64,
        edge_chunks_unfiltered: false,
        index: ChunkIndex::BtreeV1,
        address: Some(address),
    })))
}
