//! Indexes without a structure of their own: a single chunk, and chunks one behind the other.

use isotach_format::hdf5::chunk_index::grid::ChunkGrid;
use isotach_format::hdf5::chunk_index::implicit::chunk_address;

use super::ChunkedArray;
use crate::error::Result;
use crate::plan::layout::{ChunkIndex, ChunkPlace};

/// The data set is one chunk.
pub(in super::super) struct SingleChunk {
    rank: usize,
    place: Option<ChunkPlace>,
}

impl SingleChunk {
    pub(in super::super) fn new(
        array: &ChunkedArray,
        address: Option<u64>,
        stored_bytes: Option<u64>,
        filter_mask: u32,
    ) -> Self {
        let place = array.place(address, stored_bytes, filter_mask);
        Self { rank: array.shape.len(), place }
    }
}

impl ChunkIndex for SingleChunk {
    fn locate(&self, coordinates: &[u64]) -> Result<Option<ChunkPlace>> {
        Ok(self.place.filter(|_| coordinates.iter().all(|&place| place == 0)))
    }

    fn for_each(&self, visit: &mut dyn FnMut(&[u64], ChunkPlace) -> Result<()>) -> Result<()> {
        match self.place {
            Some(place) => visit(&vec![0; self.rank], place),
            None => Ok(()),
        }
    }
}

/// Chunks that are not filtered, all allocated, in the order of the grid.
pub(in super::super) struct ImplicitIndex {
    array: ChunkedArray,
    grid: ChunkGrid,
    address: u64,
}

impl ImplicitIndex {
    pub(in super::super) fn new(array: ChunkedArray, address: u64) -> Result<Self> {
        let grid = array.grid("implicit chunk index", address)?;
        Ok(Self { array, grid, address })
    }
}

impl ChunkIndex for ImplicitIndex {
    fn locate(&self, coordinates: &[u64]) -> Result<Option<ChunkPlace>> {
        let index = self.grid.index(coordinates);
        let address =
            index.and_then(|index| chunk_address(self.address, index, self.array.chunk_bytes));
        Ok(self.array.place(address, None, 0))
    }

    fn for_each(&self, visit: &mut dyn FnMut(&[u64], ChunkPlace) -> Result<()>) -> Result<()> {
        // No more chunks than the file has room for.
        let room = self.array.context.len() / self.array.chunk_bytes.max(1);
        for index in 0..=room {
            let Some(coordinates) = self.grid.scaled(index) else { break };
            if self.array.holds(&coordinates)
                && let Some(place) = self.locate(&coordinates)?
            {
                visit(&coordinates, place)?;
            }
        }
        Ok(())
    }
}
