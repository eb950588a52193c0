//! Rows behind those of the last commit, of chunks that it has already: they are changed where they are.
//!
//! Nobody looks beyond the extent that was committed, so rows there may be written into a chunk that is in use. They
//! are part of the commit's changes in place: with the new extent they are there, without it the chunk has its fill
//! values still. So a commit after each record costs the record, and not its chunk. Chunks that are filtered, and
//! rows that are a large part of their chunk, go to fresh space as ever.

use super::chunked::{Shared, lock};
use super::partial::Partial;
use super::scratch;
use crate::error::Result;

/// The part of a chunk that is changed in place at most: a record has it twice, and then it is written.
const SMALLEST_SHARE: usize = 4;
/// Bytes of one variable that one commit changes in place at most.
const MOST_BYTES: usize = 4 << 20;

/// Bytes that a commit is to put at an address.
pub type Row = (u64, Vec<u8>);

impl Shared {
    /// Takes out of `waiting` the chunks whose changes are such rows, and gives these. They stay as they are in
    /// memory until [`Self::rows_are_committed`]. The caller has claimed all chunks.
    pub(super) fn rows_beyond(
        &self,
        waiting: &mut Vec<Box<[u64]>>,
        shape: &[u64],
    ) -> Result<Vec<Row>> {
        let mut rows = Vec::new();
        let mut coordinates = Vec::new();
        if self.parts.pipeline.filters.is_empty() {
            let mut left = MOST_BYTES;
            for at in std::mem::take(waiting) {
                match self.row_beyond(&at, shape, left)? {
                    Some(row) => {
                        left -= row.1.len();
                        rows.push(row);
                        coordinates.push(at);
                    }
                    None => waiting.push(at),
                }
            }
        }
        *lock(&self.rows) = coordinates;
        Ok(rows)
    }

    /// Whether a chunk that is whole now waits for the commit, which changes it where it is.
    pub(super) fn waits_for_commit(&self, at: &[u64], partial: &Partial) -> Result<bool> {
        let is_plain = self.parts.pipeline.filters.is_empty();
        let is_row = is_plain && partial.share.is_some() && self.is_row(at, partial, MOST_BYTES);
        Ok(is_row && self.place_in_use(at)?.is_some())
    }

    /// Whether all that was written to the chunk lies beyond the extent of the last commit, and has at most `most`
    /// bytes.
    fn is_row(&self, at: &[u64], partial: &Partial, most: usize) -> bool {
        let changed = partial.written.changed();
        let bytes = changed.len() * self.parts.element_size;
        let row_elements = self.element_count() as u64 / self.parts.chunk_shape[0];
        let row = at[0] * self.parts.chunk_shape[0] + changed.start as u64 / row_elements.max(1);
        let is_beyond = lock(&self.committed).first().is_some_and(|&len| row >= len);
        partial.in_file.is_none()
            && is_beyond
            && !changed.is_empty()
            && bytes <= most.min(self.chunk_bytes / SMALLEST_SHARE)
    }

    /// The address of a chunk that is in the last commit, all of it.
    fn place_in_use(&self, at: &[u64]) -> Result<Option<u64>> {
        let old = self.table.old_place(at)?.filter(|old| !old.is_fresh);
        let place = old.map(|old| old.place);
        let place = place.filter(|place| place.stored_bytes == self.chunk_bytes as u64);
        Ok(place.map(|place| place.address))
    }

    /// What was written to the chunk, if that is to be changed in place and has at most `most` bytes.
    fn row_beyond(&self, at: &[u64], shape: &[u64], most: usize) -> Result<Option<Row>> {
        let size = self.parts.element_size;
        let is_row = |partial: &Partial| self.is_row(at, partial, most);
        if !self.partials.lock().get(at).is_some_and(is_row) {
            return Ok(None);
        }
        let Some(address) = self.place_in_use(at)? else { return Ok(None) };
        let Some((at, mut partial)) = self.partials.take(at) else { return Ok(None) };
        let settled =
            scratch::with(|scratch| self.settle(&at, &mut partial, shape, &mut scratch.chunk));
        let changed = partial.written.changed();
        let bytes = partial.bytes.get(changed.start * size..changed.end * size);
        let row = bytes.map(|bytes| (address + (changed.start * size) as u64, bytes.to_vec()));
        self.partials.put(at, partial);
        settled.map(|()| row)
    }

    /// The rows that were given last are in the file, and `shape` is its extent.
    pub(super) fn rows_are_committed(&self, shape: Vec<u64>) {
        let rows = std::mem::take(&mut *lock(&self.rows));
        let mut partials = self.partials.lock();
        for at in rows {
            let Some(partial) = partials.get_mut(&at) else { continue };
            partial.is_dirty = false;
            partial.written.forget_changed();
            if partial.written.len() >= self.needed_count(&at)
                && let Some(whole) = partials.remove(&at)
            {
                self.partials.recycle(whole);
            }
        }
        *lock(&self.committed) = shape;
    }
}
