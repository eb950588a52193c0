//! What must be known before elements are taken: that their chunks can be filtered here.
//!
//! A part of a chunk waits in memory, and is filtered when the file is committed. Found out only then, a
//! filter for which there is no code would keep all of the file from being committed, for good.

use isotach_model::selection::Selection;

use super::chunked::{ChunkStore, Shared};
use super::claims::ChunkBox;
use super::cover::Cover;
use crate::error::{ErrorKind, Result};
use crate::plan::layout::ChunkIndex;

impl ChunkStore {
    /// See [`super::Store::check`].
    pub(super) fn check(&self, selection: &Selection, shape: &[u64]) -> Result<()> {
        let pipeline = self.pipeline();
        if pipeline.unsupported().is_none() && pipeline.not_encodable().is_none() {
            return Ok(());
        }
        self.shared.check_filters(selection, shape)
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
