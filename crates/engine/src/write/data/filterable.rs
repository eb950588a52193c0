//! What must be known before elements are taken: that their chunks can be filtered here, and that what is
//! in the file of them is whole.
//!
//! A part of a chunk waits in memory, and is filtered when the file is committed. Found out only then, a
//! filter for which there is no code, or a chunk that cannot be decoded, would be told to somebody who has
//! gone on long since.

use isotach_model::selection::Selection;

use super::buffers;
use super::chunked::{ChunkStore, Shared};
use super::claims::ChunkBox;
use super::cover::Cover;
use crate::error::{ErrorKind, Result};
use crate::plan::layout::ChunkIndex;

impl ChunkStore {
    /// See [`super::Store::check`].
    pub(super) fn check(&self, selection: &Selection, shape: &[u64]) -> Result<()> {
        let pipeline = self.pipeline();
        if pipeline.unsupported().is_some() || pipeline.not_encodable().is_some() {
            self.shared.check_filters(selection, shape)?;
        }
        let has_known = self.shared.parts.existing.is_some();
        if has_known && !pipeline.filters.is_empty() && selection.check(shape).is_ok() {
            self.shared.read_back_now(selection)?;
        }
        Ok(())
    }
}

impl Shared {
    fn check_filters(&self, selection: &Selection, shape: &[u64]) -> Result<()> {
        selection.check(shape).map_err(|error| self.target.error(ErrorKind::Selection(error)))?;
        if selection.element_count() == Some(0) {
            return Ok(());
        }
        let parts = &self.parts;
        let cover = Cover::new(selection, &parts.chunk_shape, &parts.max_shape)
            .ok_or_else(|| self.target.limit("chunks of a write", u64::MAX, usize::MAX as u64))?;
        let (low, high) = cover.bounds();
        parts.pipeline.check_encode().map_err(|source| {
            let (coordinates, source) = (low.clone(), Box::new(source));
            self.target.error(ErrorKind::Encode { coordinates, source })
        })?;
        // A chunk on its way to the file is nowhere to be found.
        let _claim = self.claims.wait_for(ChunkBox { low, high });
        let mut cursor = cover.cursor(0);
        for _ in 0..cover.count() {
            if !cursor.is_whole() {
                self.check_read_back(&cursor.coordinates)?;
            }
            cursor.advance();
        }
        Ok(())
    }

    /// Reads back the chunks of which parts are to be replaced, as far as there is memory for them to wait.
    /// What begins with a chunk's first element may go on until all of it is replaced, and nothing has
    /// to be read: that is left for when it must be.
    fn read_back_now(&self, selection: &Selection) -> Result<()> {
        let parts = &self.parts;
        let cover = Cover::new(selection, &parts.chunk_shape, &parts.max_shape);
        let Some(cover) = cover.filter(|cover| cover.count() > 0) else { return Ok(()) };
        let (low, high) = cover.bounds();
        let _claim = self.claims.wait_for(ChunkBox { low, high });
        let (mut known, mut cursor) = (Vec::<Box<[u64]>>::new(), cover.cursor(0));
        for _ in 0..cover.count() {
            let at = &cursor.coordinates[..];
            if !cursor.is_whole()
                && !cursor.is_at_start(&parts.chunk_shape)
                && !self.partials.lock().contains_key(at)
                && self.table.locate(at)?.is_some()
            {
                known.push(at.into());
            }
            cursor.advance();
        }
        let (shape, moment) = (self.shape().clone(), buffers::now());
        let bytes = known.len().saturating_mul(self.chunk_bytes);
        // Who of several threads gets the last memory would be chance.
        let has_room = buffers::has_room(known.len().saturating_mul(self.waiting_bytes()));
        let workers = if has_room { self.worker_count(known.len(), bytes) } else { 1 };
        self.share_out_over(workers, known.len(), bytes, |chunks, _, scratch| {
            for at in &known[chunks] {
                let Some(share) = buffers::take(self.waiting_bytes()) else { return Ok(()) };
                let mut partial = self.new_partial(Some(share))?;
                self.settle(at, &mut partial, &shape, &mut scratch.chunk)?;
                partial.used = moment;
                self.partials.put(at.clone(), partial);
            }
            Ok(())
        })
    }

    /// That elements of a chunk can be replaced while the others stay.
    fn check_read_back(&self, coordinates: &[u64]) -> Result<()> {
        // One that waits was whole once, or nothing of it was in the file.
        if self.partials.lock().contains_key(coordinates) {
            return Ok(());
        }
        let Some(place) = self.table.locate(coordinates)? else { return Ok(()) };
        if self.is_plain(coordinates, &self.shape()) {
            return Ok(());
        }
        self.parts.pipeline.check_decode(place.filter_mask).map_err(|source| {
            let (coordinates, source) = (coordinates.to_vec(), Box::new(source));
            self.target.error(ErrorKind::Chunk { address: place.address, coordinates, source })
        })
    }
}
