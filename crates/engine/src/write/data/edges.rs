//! Chunks that reach over the edge of an array which grows, where such chunks are not filtered.
//!
//! HDF5 lets a data set keep them as they are (`H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS`). Whether a
//! chunk is filtered then follows from the extent alone: those that the edge leaves behind must be
//! filtered when the extent grows.

use super::chunked::Shared;
use super::claims::ChunkBox;
use super::scratch;
use crate::error::Result;
use crate::plan::layout::ChunkIndex;

impl Shared {
    /// Takes note that the extent is `shape`, and filters the chunks that are no longer at the edge.
    /// The caller holds no claim.
    pub(super) fn grow(&self, shape: &[u64]) -> Result<()> {
        let mut known = self.shape();
        if known.iter().zip(shape).all(|(known, len)| len <= known) {
            return Ok(());
        }
        let old = known.clone();
        let new: Vec<u64> = old.iter().zip(shape).map(|(old, len)| *old.max(len)).collect();
        if self.parts.edge_chunks_unfiltered && !self.parts.pipeline.filters.is_empty() {
            // Nobody writes chunks while it is not known how they are stored.
            let _claim = self.claims.wait_for(ChunkBox::everything(shape.len()));
            self.filter_left_behind(&old, &new)?;
        }
        *known = new;
        Ok(())
    }

    /// Filters the chunks that reach over the edge of `old`, and not over that of `new`.
    fn filter_left_behind(&self, old: &[u64], new: &[u64]) -> Result<()> {
        let grid = self.grid(old);
        if grid.contains(&0) {
            return Ok(());
        }
        for axis in 0..grid.len() {
            // The chunks at the end of this axis; all of them along the others.
            let mut coordinates = vec![0; grid.len()];
            coordinates[axis] = grid[axis] - 1;
            loop {
                // Those at the end of several axes were met along the first of these.
                let is_new = (0..axis).all(|other| coordinates[other] + 1 < grid[other]);
                let was_at_edge = is_new && self.is_plain(&coordinates, old);
                if was_at_edge && !self.is_plain(&coordinates, new) {
                    self.filter_again(&coordinates, old, new)?;
                }
                let next = (0..grid.len()).rev().find(|&other| {
                    other != axis && {
                        coordinates[other] = (coordinates[other] + 1) % grid[other];
                        coordinates[other] > 0
                    }
                });
                if next.is_none() {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Writes a chunk that was stored as one at the edge of `old` as one inside `new`.
    fn filter_again(&self, coordinates: &[u64], old: &[u64], new: &[u64]) -> Result<()> {
        let waiting = self.partials.take(coordinates);
        if waiting.is_none() && self.table.locate(coordinates)?.is_none() {
            return Ok(());
        }
        let (coordinates, mut partial) = match waiting {
            Some(waiting) => waiting,
            None => (coordinates.into(), self.new_partial(None)?),
        };
        let settled = scratch::with(|scratch| {
            self.settle(&coordinates, &mut partial, old, &mut scratch.chunk)
        });
        let was_waiting = partial.is_dirty;
        partial.is_dirty = true;
        self.partials.put(coordinates.clone(), partial);
        settled?;
        self.write_waiting(&[coordinates], new, was_waiting)
    }
}
