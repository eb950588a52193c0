//! Parts of large chunks that are not filtered: each run of bytes straight to its place in the file.
//!
//! A chunk that is in no commit may be written piece by piece, as an array that lies in rows is. Where
//! it has no space it gets some with its first part; what was not written until the chunk must be
//! whole becomes fill then. So rows cost no more than the whole chunk at once.

use super::buffers;
use super::chunked::{Call, Shared};
use super::cover::Cursor;
use super::fill_with;
use super::gather::{Gather, Run};
use super::partial::{Partial, Waiting};
use super::written::Written;
use crate::error::Result;
use crate::plan::layout::ChunkPlace;

/// Shorter runs are better gathered: a call costs about as much as to copy so many bytes.
pub(super) const LEAST_RUN_BYTES: usize = 4 << 10;
/// Smaller chunks are better gathered: several of them go to the file with one call.
const LEAST_CHUNK_BYTES: usize = 256 << 10;
/// The longest piece of fill.
const FILL_BYTES: usize = 1 << 20;

impl Shared {
    /// Writes a part of a chunk to its place in the file; false where it is to be gathered.
    pub(super) fn write_in_place(
        &self,
        call: &Call<'_>,
        cursor: &Cursor<'_>,
        gather: &mut Gather<'_>,
    ) -> Result<bool> {
        if self.chunk_bytes < LEAST_CHUNK_BYTES || !self.parts.pipeline.filters.is_empty() {
            return Ok(false);
        }
        let coordinates = &cursor.coordinates[..];
        let Some(runs) = gather.long_runs(&cursor.region, LEAST_RUN_BYTES) else {
            return self.leave_place(coordinates).map(|()| false);
        };
        let Some((address, mut waiting)) = self.take_place(call, coordinates)? else {
            return Ok(false);
        };
        let size = self.parts.element_size;
        let written = runs.into_iter().try_for_each(|Run { from, to, len }| {
            let bytes = &call.elements.bytes[from..from + len];
            self.target.write_at(address + to as u64, bytes)?;
            if let Some((_, partial)) = &mut waiting {
                partial.written.mark_run(to / size, len / size);
            }
            Ok(())
        });
        let Some((at, mut partial)) = waiting else { return written.map(|()| true) };
        let is_whole = partial.written.len() >= self.needed_count(&at);
        if written.is_err() || (partial.share.is_some() && !is_whole) {
            (partial.used, partial.is_dirty) = (call.moment, true);
            self.partials.put(at, partial);
            return written.map(|()| true);
        }
        self.fill_in_place(at, partial).map(|()| true)
    }

    /// Where a chunk may be written in place, and what waits of it, if that is not whole; `None`
    /// where it waits in memory, or is in a commit.
    fn take_place(
        &self,
        call: &Call<'_>,
        coordinates: &[u64],
    ) -> Result<Option<(u64, Option<Waiting>)>> {
        if let Some((at, partial)) = self.partials.take(coordinates) {
            if let Some(address) = partial.in_file {
                return Ok(Some((address, Some((at, partial)))));
            }
            self.partials.put(at, partial);
            return Ok(None);
        }
        match self.table.old_place(coordinates)? {
            Some(old) => {
                let is_free = old.is_fresh && old.place.stored_bytes == self.chunk_bytes as u64;
                Ok(is_free.then_some((old.place.address, None)))
            }
            None => {
                let stored_bytes = self.chunk_bytes as u64;
                let address = self.target.space.allocate(stored_bytes);
                self.target.storage.expect(address.saturating_add(stored_bytes));
                let place = ChunkPlace { address, stored_bytes, filter_mask: 0 };
                self.table.put(call.grid, std::iter::once((coordinates, place)));
                let count = self.element_count();
                let partial = Partial {
                    bytes: Vec::new(),
                    in_file: Some(address),
                    written: Written::nothing(count),
                    is_settled: false,
                    is_dirty: true,
                    used: call.moment,
                    share: buffers::take(Written::bytes(count) + size_of::<Waiting>()),
                };
                Ok(Some((address, Some((coordinates.into(), partial)))))
            }
        }
    }

    /// A chunk that was written in place becomes whole, and waits in memory from now on.
    fn leave_place(&self, coordinates: &[u64]) -> Result<()> {
        match self.partials.take(coordinates) {
            Some((at, partial)) if partial.in_file.is_some() => self.fill_in_place(at, partial),
            Some((at, partial)) => {
                self.partials.put(at, partial);
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Writes the fill value to what was not written of a chunk in place; where that fails, it
    /// waits on.
    pub(super) fn fill_in_place(&self, at: Box<[u64]>, partial: Partial) -> Result<()> {
        let mut filled = Ok(());
        if let Some(address) = partial.in_file {
            filled = self.fill_gaps(address, &partial.written);
        }
        if filled.is_err() {
            self.partials.put(at, partial);
        }
        filled
    }

    fn fill_gaps(&self, address: u64, written: &Written) -> Result<()> {
        if written.is_all() {
            return Ok(());
        }
        let size = self.parts.element_size;
        let mut fill = vec![0; (FILL_BYTES / size).max(1) * size];
        fill_with(&mut fill, &self.parts.fill);
        let mut filled = Ok(());
        written.each_gap(|first, end| {
            let mut pieces = (first * size..end * size).step_by(fill.len());
            if filled.is_ok() {
                filled = pieces.try_for_each(|at| {
                    let len = fill.len().min(end * size - at);
                    self.target.write_at(address + at as u64, &fill[..len])
                });
            }
        });
        filled
    }
}
