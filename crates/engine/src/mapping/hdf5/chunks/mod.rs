//! Chunk indexes: from a chunk's coordinates to its place in the file.
//!
//! Each kind of index fetches its nodes when first needed and keeps them decoded; `plan` asks
//! through [`ChunkIndex`](crate::plan::layout::ChunkIndex) and does not know which kind it is.

mod btree;
mod extensible_array;
mod fixed_array;
mod implicit;
mod runs;

use std::sync::Arc;

use isotach_format::hdf5::chunk_index::element::ChunkElement;
use isotach_format::hdf5::chunk_index::grid::ChunkGrid;

pub(super) use btree::{BTree1Index, BTree2Index};
pub(super) use extensible_array::ExtensibleArrayIndex;
pub(super) use fixed_array::FixedArrayIndex;
pub(super) use implicit::{ImplicitIndex, SingleChunk};

use runs::Run;

use super::context::Context;
use crate::error::{Error, Result};
use crate::plan::layout::ChunkPlace;

/// What all kinds of index know of their data set.
pub(super) struct ChunkedArray {
    pub(super) context: Arc<Context>,
    /// Path of the data set, for errors.
    pub(super) path: Arc<str>,
    /// Present length of each axis.
    pub(super) shape: Vec<u64>,
    /// Elements of a chunk along each axis.
    pub(super) chunk_shape: Vec<u64>,
    /// Bytes of a chunk that is not filtered.
    pub(super) chunk_bytes: u64,
    /// Most chunks along each axis; `None` where it is unlimited.
    pub(super) max_chunks: Vec<Option<u64>>,
}

impl ChunkedArray {
    /// The order in which array indexes count the chunks.
    fn grid(&self, structure: &'static str, address: u64) -> Result<ChunkGrid> {
        ChunkGrid::new(&self.max_chunks).ok_or_else(|| {
            let rank = self.max_chunks.len() as u64;
            self.at(self.context.bad_field(structure, address, "maximum dimensions", rank))
        })
    }

    /// The place of a chunk that an index has these facts of.
    fn place(
        &self,
        address: Option<u64>,
        stored_bytes: Option<u64>,
        filter_mask: u32,
    ) -> Option<ChunkPlace> {
        Some(ChunkPlace {
            address: self.context.offset(address?),
            stored_bytes: stored_bytes.unwrap_or(self.chunk_bytes),
            filter_mask,
        })
    }

    /// The place that an array's element tells.
    fn element_place(&self, element: ChunkElement) -> Option<ChunkPlace> {
        self.place(element.address, element.stored_bytes, element.filter_mask)
    }

    /// Visits the chunks of `run` from `index` up to `end`; gives the index after the last.
    fn visit_run(
        &self,
        run: &Run,
        mut index: u64,
        end: u64,
        grid: &ChunkGrid,
        visit: &mut dyn FnMut(&[u64], ChunkPlace) -> Result<()>,
    ) -> Result<u64> {
        while index < end
            && let Some(element) = run.get(index)
        {
            if let (Some(place), Some(coordinates)) =
                (self.element_place(element), grid.scaled(index))
                && self.holds(&coordinates)
            {
                visit(&coordinates, place)?;
            }
            index += 1;
        }
        Ok(index)
    }

    /// True where a chunk with these coordinates holds elements of the data set as it is now. What
    /// is left of a data set that was made smaller, or is broken, is not.
    fn holds(&self, coordinates: &[u64]) -> bool {
        let axes = self.shape.iter().zip(&self.chunk_shape);
        coordinates.len() == self.shape.len()
            && coordinates
                .iter()
                .zip(axes)
                .all(|(place, (len, chunk))| place.checked_mul(*chunk).is_some_and(|at| at < *len))
    }

    /// `error` with the data set's path.
    fn at(&self, error: Error) -> Error {
        error.at(&self.path)
    }

    fn structure_error(&self, error: isotach_format::Error) -> Error {
        self.at(self.context.structure_error(error))
    }
}
