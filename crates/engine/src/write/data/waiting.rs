//! Chunks that have waited, for the rest of their elements or for a thread: encoded and written.
//!
//! A chunk that must go before it is whole gets what is missing from the file, else the fill value.

use std::io;
use std::sync::Arc;

use isotach_codec::Pipeline;

use super::batch::{Batch, Destination, Turn};
use super::buffers::{Job, Moment, Share};
use super::chunked::{Shared, lock};
use super::claims::{ChunkBox, Claim};
use super::fill_with;
use super::gather::WholeBox;
use super::partial::{Partial, Waiting};
use super::scratch::{self, ChunkScratch, Scratch};
use super::written::Written;
use crate::error::{Error, ErrorKind, Result};
use crate::parallel;
use crate::plan::layout::{ChunkIndex, ChunkPlace};
use crate::storage::{storage_error, uninit};
use crate::strided_copy::OutOfBounds;

/// Whether a part of a chunk never comes into the file because the rest cannot be decoded.
fn is_lost(error: &Error) -> bool {
    matches!(error.kind, ErrorKind::Chunk { .. })
}

/// Larger chunks are worth a call each.
const COPIED_BYTES: usize = 64 << 10;

impl Shared {
    /// Adds a chunk that has waited; where that fails, it waits on.
    pub(super) fn add_waited(
        &self,
        coordinates: Box<[u64]>,
        mut partial: Partial,
        shape: &[u64],
        scratch: &mut Scratch,
    ) -> Result<()> {
        if partial.in_file.is_some() {
            return self.fill_in_place(coordinates, partial);
        }
        let Scratch { batch, chunk } = scratch;
        let mut added = self.settle(&coordinates, &mut partial, shape, chunk);
        if added.is_ok() && self.is_plain(&coordinates, shape) {
            // Many small ones are written with one call.
            if self.chunk_bytes > COPIED_BYTES {
                batch.add_waited(coordinates, partial);
            } else {
                batch.add(&coordinates, self.chunk_bytes, 0).copy_from_slice(&partial.bytes);
                batch.keep_waited(coordinates, partial);
            }
            return Ok(());
        }
        if added.is_ok() {
            let ChunkScratch { stored, codec, .. } = chunk;
            added = self.encode(&coordinates, &partial.bytes, stored, codec, batch);
        }
        match &added {
            Ok(()) => batch.keep_waited(coordinates, partial),
            // It would fail again every time, and with it every commit.
            Err(error) if is_lost(error) => self.partials.recycle(partial),
            Err(_) => self.partials.put(coordinates, partial),
        }
        added
    }

    /// Gives elements that were not written what the file has for them, else the fill value.
    pub(super) fn settle(
        &self,
        coordinates: &[u64],
        partial: &mut Partial,
        shape: &[u64],
        scratch: &mut ChunkScratch,
    ) -> Result<()> {
        if partial.is_settled || partial.written.is_all() {
            return Ok(());
        }
        let size = self.parts.element_size;
        let is_whole = partial.written.len() >= self.needed_count(coordinates);
        let place = if is_whole { None } else { self.table.locate(coordinates)? };
        let Partial { bytes, written, .. } = &mut *partial;
        match place {
            Some(place) => {
                let old = self.read_back(coordinates, &place, shape, scratch)?;
                written.each_gap(|first, end| {
                    let gap = first * size..end * size;
                    bytes[gap.clone()].copy_from_slice(&old[gap]);
                });
            }
            None => written.each_gap(|first, end| {
                fill_with(&mut bytes[first * size..end * size], &self.parts.fill);
            }),
        }
        partial.is_settled = true;
        Ok(())
    }

    /// The elements of a chunk in the file.
    fn read_back(
        &self,
        coordinates: &[u64],
        place: &ChunkPlace,
        shape: &[u64],
        scratch: &mut ChunkScratch,
    ) -> Result<Vec<u8>> {
        let ChunkScratch { stored, codec, .. } = scratch;
        let ChunkPlace { address, stored_bytes, filter_mask } = *place;
        let read = usize::try_from(stored_bytes)
            .map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))
            .and_then(|len| uninit::read_vec(self.target.storage.as_ref(), address, len, stored));
        let file = &self.target.file;
        read.map_err(|source| storage_error(file, address, stored_bytes, source))?;
        let plain = Pipeline::default();
        let pipeline =
            if self.is_plain(coordinates, shape) { &plain } else { self.parts.pipeline.as_ref() };
        pipeline.decode_vec(stored, filter_mask, self.chunk_bytes, codec).map_err(|source| {
            let (coordinates, source) = (coordinates.to_vec(), Box::new(source));
            self.target.error(ErrorKind::Chunk { address, coordinates, source })
        })
    }

    /// Encodes a chunk and adds it.
    pub(super) fn encode(
        &self,
        coordinates: &[u64],
        chunk: &[u8],
        stored: &mut Vec<u8>,
        codec: &mut isotach_codec::Scratch,
        batch: &mut Batch,
    ) -> Result<()> {
        let encoded = self.parts.pipeline.encode(chunk, codec, stored);
        self.add_encoded(coordinates, encoded, stored, batch)
    }

    /// Encodes a chunk that is whole in the caller's memory, and adds it.
    pub(super) fn encode_box(
        &self,
        coordinates: &[u64],
        whole: &WholeBox<'_>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let Scratch { batch, chunk: ChunkScratch { elements, stored, codec } } = scratch;
        let (len, size) = (self.chunk_bytes, self.parts.element_size);
        let mut gathered = Ok(());
        let encoded = self.parts.pipeline.encode_pieces(len, size, codec, stored, |take| {
            gathered = whole.pieces(elements, take);
        });
        gathered.map_err(|OutOfBounds| self.beyond_chunk(coordinates))?;
        self.add_encoded(coordinates, encoded, stored, batch)
    }

    /// Adds a chunk as it came out of the filters.
    fn add_encoded(
        &self,
        coordinates: &[u64],
        encoded: isotach_codec::Result<u32>,
        stored: &mut Vec<u8>,
        batch: &mut Batch,
    ) -> Result<()> {
        let filter_mask = encoded.map_err(|source| {
            let (coordinates, source) = (coordinates.to_vec(), Box::new(source));
            self.target.error(ErrorKind::Encode { coordinates, source })
        })?;
        batch.add_stored(coordinates, stored, filter_mask);
        Ok(())
    }

    /// Writes chunks that wait, which the caller has claimed. They stay in memory if they are to be
    /// `kept` and there is room, and in any case where they cannot be written.
    pub(super) fn write_waiting(
        &self,
        waiting: &[Box<[u64]>],
        shape: &[u64],
        kept: bool,
    ) -> Result<()> {
        let bytes = waiting.len().saturating_mul(self.chunk_bytes);
        self.share_out(waiting.len(), bytes, |chunks, turn, scratch| {
            let taken = waiting[chunks].iter().filter_map(|at| self.partials.take(at));
            self.write_taken(taken, shape, turn, kept, scratch)
        })
    }

    /// The same for chunks that were taken out.
    fn write_taken(
        &self,
        taken: impl Iterator<Item = Waiting>,
        shape: &[u64],
        turn: Turn<'_>,
        kept: bool,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let added = self.add_taken(taken, shape, scratch);
        self.write_added(added, &mut scratch.batch, shape, turn, kept)
    }

    /// Encodes chunks that were taken out.
    fn add_taken(
        &self,
        mut taken: impl Iterator<Item = Waiting>,
        shape: &[u64],
        scratch: &mut Scratch,
    ) -> Result<()> {
        scratch.batch.clear();
        let added = taken.by_ref().try_for_each(|(coordinates, partial)| match partial.is_dirty {
            true => match self.add_waited(coordinates, partial, shape, scratch) {
                // The others are none the worse for it.
                Err(error) if is_lost(&error) => {
                    lock(&self.lost).get_or_insert(error);
                    Ok(())
                }
                added => added,
            },
            false => Ok(()),
        });
        taken.for_each(|(coordinates, partial)| self.partials.put(coordinates, partial));
        added
    }

    /// Writes what was `added`, if all of it was.
    fn write_added(
        &self,
        added: Result<()>,
        batch: &mut Batch,
        shape: &[u64],
        turn: Turn<'_>,
        kept: bool,
    ) -> Result<()> {
        let (target, table, grid) = (&self.target, &self.table, &self.grid(shape));
        let to = Destination { target, table, grid, caller: &[], turn };
        let written = added.and_then(|()| batch.write(&to));
        for (coordinates, mut partial) in batch.take_waited() {
            partial.is_dirty = written.is_err();
            if !partial.is_dirty {
                partial.written.forget_changed();
            }
            if partial.is_dirty || (kept && partial.share.is_some()) {
                self.partials.put(coordinates, partial);
            } else {
                self.partials.recycle(partial);
            }
        }
        written
    }

    /// Has another thread encode whole chunks, which are among those of `claim`, while the caller goes on, and write
    /// them where he would have written them. What cannot be written waits, and the next write or flush tells why.
    pub(super) fn write_later(
        self: &Arc<Self>,
        chunks: Vec<Waiting>,
        claim: &Claim,
        shape: &[u64],
    ) {
        let Some(around) = ChunkBox::around(chunks.iter().map(|(at, _)| &**at)) else { return };
        let (shared, claim, shape) = (Arc::clone(self), claim.share(around), shape.to_vec());
        let line = shared.target.space.line().map(Arc::clone);
        let (job, place) = (Job::begin(), line.as_ref().map(|line| line.join()));
        parallel::soon(move || {
            let (added, mut batch) = scratch::with(|scratch| {
                let added = shared.add_taken(chunks.into_iter(), &shape, scratch);
                (added, std::mem::take(&mut scratch.batch))
            });
            let write = move || {
                let written = shared.write_added(added, &mut batch, &shape, Turn::InLine, false);
                if let Err(error) = written {
                    shared.failed.put_first(error);
                }
                // Whoever waits for the claim may want to close the file.
                drop(shared);
                drop(claim);
                drop(job);
            };
            match line.zip(place) {
                Some((line, place)) => line.come(place, write),
                None => write(),
            }
        });
    }

    /// When each chunk that waits was last used, and its bytes.
    pub(super) fn waiting(&self, into: &mut Vec<(Moment, u64)>) {
        let chunks = self.partials.lock();
        into.extend(chunks.values().map(|partial| (partial.used, partial.bytes.len() as u64)));
    }

    /// Writes the chunks that were last used at `last` or before, and forgets them; none where
    /// somebody works on them. What cannot be written waits on.
    pub(super) fn write_out(&self, last: Moment) {
        let old = self.partials.select(|partial| partial.used <= last);
        let Some(around) = ChunkBox::around(old.iter().map(AsRef::as_ref)) else { return };
        let shape = self.shape().clone();
        let Some(_claim) = self.claims.try_for(around) else { return };
        // What cannot be written waits on, and the store's next flush tells why.
        let _ = self.write_waiting(&old, &shape, false);
    }

    /// Memory that a chunk takes which waits.
    pub(super) fn waiting_bytes(&self) -> usize {
        self.chunk_bytes + Written::bytes(self.element_count()) + size_of::<Waiting>()
    }

    /// A chunk of which nothing was written.
    pub(super) fn new_partial(&self, share: Option<Share>) -> Result<Partial> {
        let count = self.element_count();
        // Zeroed memory cannot be asked for softly: whether there is any is asked beforehand.
        Vec::<u8>::new().try_reserve_exact(self.waiting_bytes()).map_err(|_| {
            self.target.limit("bytes of a chunk", self.chunk_bytes as u64, isize::MAX as u64)
        })?;
        let (bytes, written) = match self.partials.spare() {
            Some((bytes, mut written)) => {
                written.clear();
                (bytes, written)
            }
            None => (vec![0; self.chunk_bytes], Written::nothing(count)),
        };
        Ok(Partial {
            bytes,
            written,
            is_settled: false,
            is_dirty: false,
            in_file: None,
            used: 0,
            share,
        })
    }
}
