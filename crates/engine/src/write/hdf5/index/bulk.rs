//! The chunk indexes of HDF5 1.10: which one a variable has, and building it whole.

use isotach_format::Output;
use isotach_format::hdf5::Sizes;
use isotach_format::hdf5::btree::v2_build::{BTreeBuilder, BTreeKind};
use isotach_format::hdf5::btree::v2_record::{ChunkRecord, ChunkRecordLayout};
use isotach_format::hdf5::chunk_index::element::{ChunkElement, ElementLayout};
use isotach_format::hdf5::chunk_index::extensible_build::ExtensibleArrayBuilder;
use isotach_format::hdf5::chunk_index::fixed_array::FixedArrayBuilder;
use isotach_format::hdf5::chunk_index::grid::ChunkGrid;
use isotach_format::hdf5::message::layout::{
    ChunkIndex, ChunkedLayout, ExtensibleArrayParameters, FilteredChunk, Layout,
};

use super::{Chunks, tree_layout};
use crate::error::{ErrorKind, Result};
use crate::mapping::hdf5::Dataset;
use crate::plan::layout::ChunkPlace;
use crate::write::data::ChunkTable;
use crate::write::hdf5::ALIGNMENT;
use crate::write::hdf5::blocks::Block;
use crate::write::hdf5::objects::Changes;
use crate::write::hdf5::planned::Planned;
use crate::write::target::Target;
use crate::writer::Layout as Structures;

/// An array with more elements than this, of which few are chunks, gives way to a tree.
const ALWAYS_ARRAY: u64 = 1 << 22;
/// Few: one in so many.
const ARRAY_SHARE: u64 = 64;

// What libhdf5 says of the indexes that it makes.
const PAGE_BITS: u8 = 10;
const EXTENSIBLE_ARRAY: ExtensibleArrayParameters = ExtensibleArrayParameters {
    max_entries_bits: 32,
    index_block_entries: 4,
    super_block_min_data_blocks: 4,
    data_block_min_entries: 16,
    page_bits: PAGE_BITS,
};
const BTREE: ChunkIndex =
    ChunkIndex::BtreeV2 { node_bytes: 2048, split_percent: 100, merge_percent: 40 };

/// Which chunk index a variable has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) enum IndexKind {
    /// That of all HDF5 before 1.10.
    BtreeV1,
    /// The variable is one chunk.
    Single,
    /// No dimension is unlimited.
    FixedArray(ChunkGrid),
    /// One is.
    ExtensibleArray(ChunkGrid),
    /// More are, or there are more chunks than an array can count.
    BtreeV2,
}

impl IndexKind {
    /// The index of chunks of `chunk_shape` along dimensions of these lengths, `None` for unlimited
    /// ones: as libhdf5 chooses it.
    pub(in super::super) fn choose(
        structures: Structures,
        axes: &[Option<u64>],
        chunk_shape: &[u64],
    ) -> Self {
        if structures == Structures::Compatible {
            return Self::BtreeV1;
        }
        if axes.iter().zip(chunk_shape).all(|(axis, len)| *axis == Some(*len)) {
            return Self::Single;
        }
        Self::array(axes, chunk_shape)
    }

    /// That of a variable which was there when the file was opened, whose dimensions have at most
    /// these lengths.
    pub(in super::super) fn of(layout: &ChunkedLayout, max_shape: &[Option<u64>]) -> Self {
        match layout.index {
            ChunkIndex::BtreeV1 => Self::BtreeV1,
            ChunkIndex::Single { .. } => Self::Single,
            ChunkIndex::BtreeV2 { .. } => Self::BtreeV2,
            ChunkIndex::Implicit
            | ChunkIndex::FixedArray { .. }
            | ChunkIndex::ExtensibleArray(_) => Self::array(max_shape, &layout.chunk_shape),
        }
    }

    fn array(axes: &[Option<u64>], chunk_shape: &[u64]) -> Self {
        let chunk_counts = axes.iter().zip(chunk_shape);
        let chunk_counts = chunk_counts.map(|(axis, len)| axis.map(|axis| axis.div_ceil(*len)));
        match ChunkGrid::new(&chunk_counts.collect::<Vec<_>>()) {
            Some(grid) if axes.iter().all(Option::is_some) => Self::FixedArray(grid),
            Some(grid) => Self::ExtensibleArray(grid),
            None => Self::BtreeV2,
        }
    }

    /// The layout of chunks of which none was written.
    pub(in super::super) fn unwritten(
        &self,
        chunk_shape: Vec<u64>,
        element_bytes: u64,
        is_filtered: bool,
    ) -> Layout {
        let index = match self {
            Self::BtreeV1 => return tree_layout(chunk_shape, element_bytes, None),
            Self::Single => {
                let filtered =
                    is_filtered.then_some(FilteredChunk { len_bytes: 0, filter_mask: 0 });
                ChunkIndex::Single { filtered }
            }
            Self::FixedArray(_) => ChunkIndex::FixedArray { page_bits: PAGE_BITS },
            Self::ExtensibleArray(_) => ChunkIndex::ExtensibleArray(EXTENSIBLE_ARRAY),
            Self::BtreeV2 => BTREE,
        };
        latest_layout(chunk_shape, element_bytes, false, index, None)
    }
}

fn latest_layout(
    chunk_shape: Vec<u64>,
    element_bytes: u64,
    edge_chunks_unfiltered: bool,
    index: ChunkIndex,
    address: Option<u64>,
) -> Layout {
    Layout::Chunked(ChunkedLayout {
        version: 4,
        chunk_shape,
        element_bytes,
        edge_chunks_unfiltered,
        index,
        address,
    })
}

/// An index that is in the file whole.
pub(in super::super) struct BulkIndex {
    /// Address and bytes of its parts; a single chunk has no index.
    blocks: Vec<(u64, u64)>,
}

impl BulkIndex {
    /// That of a data set which was there when the file was opened.
    pub(super) fn opened(dataset: &Dataset) -> Result<Self> {
        Ok(Self { blocks: dataset.index_space()? })
    }

    /// The space that it takes.
    pub(super) fn into_space(self) -> Vec<(u64, u64)> {
        self.blocks
    }

    /// The index of all chunks of the table, of which there is one, and the layout that leads to
    /// it.
    pub(super) fn build(
        planned: &Planned,
        table: &ChunkTable,
        target: &Target,
        changes: &mut Changes,
    ) -> Result<(Self, Layout)> {
        let chunk_shape = planned.chunk_shape.clone().unwrap_or_default();
        let chunks = Chunks::of(table, chunk_shape.len())?;
        let element_bytes = planned.element_size() as u64;
        let chunk_bytes = chunk_shape.iter().fold(element_bytes, |n, len| n.saturating_mul(*len));
        let filtered_bytes = (!planned.pipeline.filters.is_empty()).then_some(chunk_bytes);
        let edge = planned.edge_chunks_unfiltered;
        let sizes = planned.sizes;
        let mut builder = Builder { chunks: &chunks, filtered_bytes, sizes, target, changes };
        let (block, index) = match &planned.index {
            IndexKind::Single => {
                let place = chunks.places.first().copied();
                let filtered = place.filter(|_| filtered_bytes.is_some()).map(|place| {
                    FilteredChunk { len_bytes: place.stored_bytes, filter_mask: place.filter_mask }
                });
                let address = place.map(|place| place.address);
                let index = ChunkIndex::Single { filtered };
                let layout = latest_layout(chunk_shape, element_bytes, edge, index, address);
                return Ok((Self { blocks: Vec::new() }, layout));
            }
            IndexKind::FixedArray(grid) => builder.fixed_array(grid),
            IndexKind::ExtensibleArray(grid) => builder.extensible_array(grid),
            IndexKind::BtreeV1 | IndexKind::BtreeV2 => builder.tree(),
        }
        .map_err(|error| target.error(ErrorKind::Structure(error)))?;
        let layout = latest_layout(chunk_shape, element_bytes, edge, index, Some(block.0));
        Ok((Self { blocks: vec![block] }, layout))
    }
}

/// Address and bytes of an index, and what its layout says.
type Built = isotach_format::Result<((u64, u64), ChunkIndex)>;

struct Builder<'b> {
    chunks: &'b Chunks,
    /// Bytes of a chunk before its filters; `None` where it has none.
    filtered_bytes: Option<u64>,
    sizes: Sizes,
    target: &'b Target,
    changes: &'b mut Changes,
}

impl Builder<'_> {
    fn fixed_array(&mut self, grid: &ChunkGrid) -> Built {
        let count = grid.chunk_count().unwrap_or(u64::MAX);
        let Some(elements) = self.elements(grid, count) else { return self.tree() };
        let layout = ElementLayout::for_chunks(self.filtered_bytes, self.sizes);
        let array = FixedArrayBuilder::new(layout, count, self.sizes)?;
        let address = self.target.space.allocate(array.byte_len(), ALIGNMENT);
        let bytes = array.encode(address, &elements)?;
        Ok((self.put(address, bytes), ChunkIndex::FixedArray { page_bits: PAGE_BITS }))
    }

    fn extensible_array(&mut self, grid: &ChunkGrid) -> Built {
        let indexes = self.chunks.iter().map(|(at, _)| grid.index(at).unwrap_or(u64::MAX));
        let count = indexes.max().map_or(0, |last| last.saturating_add(1));
        let Some(elements) = self.elements(grid, count) else { return self.tree() };
        let layout = ElementLayout::for_chunks(self.filtered_bytes, self.sizes);
        let array = ExtensibleArrayBuilder::new(layout, &elements, self.sizes)?;
        let address = self.target.space.allocate(array.byte_len(), ALIGNMENT);
        let bytes = array.encode(address)?;
        Ok((self.put(address, bytes), ChunkIndex::ExtensibleArray(EXTENSIBLE_ARRAY)))
    }

    fn tree(&mut self) -> Built {
        let (rank, sizes) = (self.chunks.rank, self.sizes);
        let width = self.filtered_bytes.map(ElementLayout::stored_size_width);
        let kind = BTreeKind::chunks(rank, width, sizes);
        let layout = ChunkRecordLayout::new(kind.record_type, kind.record_bytes, rank, 0, sizes)?;
        let mut records = Output::new();
        for (coordinates, place) in self.chunks.iter() {
            let ChunkElement { address, stored_bytes, filter_mask } = self.element(place);
            let scaled = coordinates.to_vec();
            layout
                .encode(&ChunkRecord { address, stored_bytes, filter_mask, scaled }, &mut records);
        }
        let tree = BTreeBuilder::new(kind, self.chunks.places.len() as u64, sizes)?;
        let address = self.target.space.allocate(tree.byte_len(), ALIGNMENT);
        let bytes = tree.encode(address, records.bytes())?;
        Ok((self.put(address, bytes), BTREE))
    }

    /// The first `count` elements of an array; `None` where nearly all of them would be missing.
    fn elements(&self, grid: &ChunkGrid, count: u64) -> Option<Vec<ChunkElement>> {
        let chunk_count = self.chunks.places.len() as u64;
        if count > ALWAYS_ARRAY.max(chunk_count.saturating_mul(ARRAY_SHARE)) {
            return None;
        }
        let mut elements = vec![ChunkElement::MISSING; usize::try_from(count).ok()?];
        for (coordinates, place) in self.chunks.iter() {
            let index = usize::try_from(grid.index(coordinates)?).ok()?;
            *elements.get_mut(index)? = self.element(place);
        }
        Some(elements)
    }

    fn element(&self, place: ChunkPlace) -> ChunkElement {
        let stored_bytes = self.filtered_bytes.is_some().then_some(place.stored_bytes);
        let filter_mask = place.filter_mask;
        ChunkElement { address: Some(place.address), stored_bytes, filter_mask }
    }

    fn put(&mut self, address: u64, bytes: Vec<u8>) -> (u64, u64) {
        let len = bytes.len() as u64;
        self.changes.fresh.push(Block { address, bytes });
        (address, len)
    }
}
