//! The straight road of rows: elements that are one run of bytes of a chunk, of which others were written before
//! and more will be.
//!
//! All else goes the road of `chunked`, also the first row of a chunk, which gives it its place, and the last one,
//! with which it may go to the file.

use isotach_model::selection::Selection;

use super::buffers::Moment;
use super::chunked::Shared;
use super::in_place::LEAST_RUN_BYTES;
use crate::error::Result;
use crate::plan::one_run::OneRun;

impl Shared {
    /// Writes the selected elements; false where they must go the other road.
    pub(super) fn write_one_run(
        &self,
        selection: &Selection,
        elements: &[u8],
        shape: &[u64],
        moment: Moment,
    ) -> Result<bool> {
        // Whether such chunks are filtered depends on how far the array reaches.
        if self.parts.edge_chunks_unfiltered {
            return Ok(false);
        }
        let size = self.parts.element_size;
        let Some(run) = OneRun::new(selection, shape, &self.parts.chunk_shape) else {
            return Ok(false);
        };
        // Those of a chunk fit memory.
        let (first, count) = (run.first as usize, run.count as usize);
        if count * size != elements.len() {
            return Ok(false);
        }
        let at = run.coordinates();
        let _claim = self.claims.wait_for_chunk(at);
        let Some((at, mut partial)) = self.partials.take(at) else { return Ok(false) };
        let is_last = partial.written.len() + count >= self.needed_count(&at);
        let is_short = partial.in_file.is_some() && elements.len() < LEAST_RUN_BYTES;
        if is_last || is_short || partial.share.is_none() {
            self.partials.put(at, partial);
            return Ok(false);
        }
        let taken = match partial.in_file {
            Some(address) => self.target.write_at(address + (first * size) as u64, elements),
            None => {
                partial.bytes[first * size..][..elements.len()].copy_from_slice(elements);
                Ok(())
            }
        };
        if taken.is_ok() {
            partial.written.mark_run(first, count);
        }
        (partial.used, partial.is_dirty) = (moment, true);
        self.partials.put(at, partial);
        taken.map(|()| true)
    }
}
