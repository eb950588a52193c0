//! Chunks: each gathered, encoded and written when it is whole, else waiting for the rest of it.
//!
//! ```text
//! chunk -> whole, as it is in the caller's memory -> written from there
//!       -> whole                                  -> gather into the batch | gather, encode
//!       -> part of it                             -> gather into a chunk that waits
//!                                                      -> whole now, or no memory left -> encode
//! a chunk that must go before it is whole: what is missing is read back, or is fill
//! ```
//! The chunks of a call are shared out over threads in batches.

use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use isotach_codec::Pipeline;
use isotach_model::selection::Selection;
use isotach_model::shape;

use super::batch::{Batch, Destination, Turns};
use super::buffers::{self, Moment};
use super::claims::{ChunkBox, Claims};
use super::cover::{Cover, Cursor};
use super::gather::{Elements, Gather};
use super::partial::{Partial, Partials};
use super::scratch::{self, ChunkScratch, Scratch};
use super::table::ChunkTable;
use super::written::Written;
use super::{Target, fill_with};
use crate::error::{Error, ErrorKind, Result};
use crate::parallel;
use crate::plan::layout::{ChunkIndex, ChunkPlace};
use crate::storage::{storage_error, uninit};

/// Chunks that are gathered before they are written: as many bytes, or one chunk.
const BATCH_BYTES: usize = 1 << 20;
/// Work below this stays on the caller's thread: a thread of the pool takes some 10 us to begin.
const SHARED_FROM_BYTES: usize = 128 << 10;

/// What a chunked variable is.
pub struct ChunkParts {
    /// Elements of a chunk along each axis; none is 0.
    pub chunk_shape: Vec<u64>,
    /// The largest extent of each axis there can ever be; `u64::MAX` where it is unlimited.
    pub max_shape: Vec<u64>,
    /// Bytes of one stored element.
    pub element_size: usize,
    /// One stored element, for what was never written.
    pub fill: Arc<[u8]>,
    /// Extent of each axis, as it is in the file.
    pub shape: Vec<u64>,
    /// The filters.
    pub pipeline: Arc<Pipeline>,
    /// True where chunks that reach over the array's edge are stored unfiltered.
    pub edge_chunks_unfiltered: bool,
    /// Finds the chunks that are in the file already.
    pub existing: Option<Arc<dyn ChunkIndex>>,
}

/// The chunks of one variable that is written. Several threads may write at once; those whose
/// chunks may be the same take turns.
pub struct ChunkStore {
    shared: Arc<Shared>,
}

/// The same, for all who work on it.
pub(super) struct Shared {
    pub(super) target: Target,
    pub(super) parts: ChunkParts,
    /// Bytes from one element of a chunk to the next along each axis.
    strides: Vec<u64>,
    chunk_bytes: usize,
    pub(super) table: Arc<ChunkTable>,
    pub(super) claims: Arc<Claims>,
    pub(super) partials: Partials,
    /// The largest extent of each axis that was seen.
    shape: Mutex<Vec<u64>>,
}

/// What all threads of a call need.
struct Call<'c> {
    cover: &'c Cover,
    elements: Elements<'c>,
    shape: &'c [u64],
    grid: &'c [u64],
    moment: Moment,
    /// Whether some chunk may be waiting.
    has_waiting: bool,
}

impl ChunkStore {
    /// The chunks that `parts` describe; they go to `target`.
    ///
    /// # Errors
    /// [`ErrorKind::Limit`] where a chunk is larger than this machine's memory can be.
    pub fn new(target: Target, parts: ChunkParts) -> Result<Self> {
        let size = parts.element_size;
        let too_large = || target.limit("bytes of a chunk", u64::MAX, isize::MAX as u64);
        let chunk_bytes = shape::byte_count(&parts.chunk_shape, size).ok_or_else(too_large)?;
        let strides = shape::row_major_strides(&parts.chunk_shape).ok_or_else(too_large)?;
        let table = ChunkTable::new(parts.chunk_shape.len(), parts.existing.clone());
        let shared = Arc::new(Shared {
            strides: strides.into_iter().map(|stride| stride * size as u64).collect(),
            chunk_bytes,
            table: Arc::new(table),
            claims: Arc::default(),
            partials: Partials::default(),
            shape: Mutex::new(parts.shape.clone()),
            target,
            parts,
        });
        buffers::register(Arc::downgrade(&shared));
        Ok(Self { shared })
    }

    /// Writes elements; see [`super::Store::write`].
    pub fn write(&self, selection: &Selection, elements: &[u8], shape: &[u64]) -> Result<()> {
        let moment = buffers::now();
        self.shared.write(selection, elements, shape, moment)?;
        buffers::make_room(moment);
        Ok(())
    }

    /// Brings chunks that wait to the file; they stay in memory, too.
    pub fn flush(&self, shape: &[u64]) -> Result<()> {
        let shared = &self.shared;
        shared.grow(shape)?;
        let rank = shared.parts.chunk_shape.len();
        let _claim = shared.claims.wait_for(ChunkBox::everything(rank));
        let waiting = shared.partials.select(|partial| partial.is_dirty);
        shared.write_waiting(&waiting, shape, true)
    }

    /// The truth about all chunks.
    pub fn table(&self) -> Arc<ChunkTable> {
        Arc::clone(&self.shared.table)
    }

    /// Everything that was flushed is in a commit now: none of it is overwritten any more. Between
    /// the flush and this, nothing may be written.
    pub fn mark_committed(&self) {
        self.shared.table.mark_committed();
    }

    pub(super) fn chunk_shape(&self) -> &[u64] {
        &self.shared.parts.chunk_shape
    }

    pub(super) fn pipeline(&self) -> Arc<Pipeline> {
        Arc::clone(&self.shared.parts.pipeline)
    }

    pub(super) fn edge_chunks_unfiltered(&self) -> bool {
        self.shared.parts.edge_chunks_unfiltered
    }
}

impl Shared {
    fn write(
        &self,
        selection: &Selection,
        elements: &[u8],
        shape: &[u64],
        moment: Moment,
    ) -> Result<()> {
        let ChunkParts { chunk_shape, max_shape, element_size, .. } = &self.parts;
        let strides = self.target.check(selection, elements, shape, *element_size)?;
        if elements.is_empty() {
            return Ok(());
        }
        self.grow(shape)?;
        let cover = Cover::new(selection, chunk_shape, max_shape)
            .ok_or_else(|| self.target.limit("chunks of a write", u64::MAX, usize::MAX as u64))?;
        let (low, high) = cover.bounds();
        let _claim = self.claims.wait_for(ChunkBox { low, high });
        let call = Call {
            elements: Elements { bytes: elements, strides: &strides, element_size: *element_size },
            shape,
            grid: &self.grid(shape),
            moment,
            has_waiting: !self.partials.is_empty(),
            cover: &cover,
        };
        self.share_out(cover.count(), |chunks, turn, scratch| {
            self.write_batch(&call, chunks, turn, scratch)
        })
    }

    /// Does `work` with ranges of `count` chunks, on several threads where that is worth it. Each
    /// range is told its turn.
    fn share_out(
        &self,
        count: usize,
        work: impl Fn(Range<usize>, (&Turns, usize), &mut Scratch) -> Result<()> + Send + Sync,
    ) -> Result<()> {
        let threads = parallel::thread_count();
        let mut batch_chunks = (BATCH_BYTES / self.chunk_bytes.max(1)).max(1);
        let is_shared = count.saturating_mul(self.chunk_bytes) >= SHARED_FROM_BYTES;
        if is_shared {
            batch_chunks = batch_chunks.min(count.div_ceil(threads * 4));
        }
        let batch_count = count.div_ceil(batch_chunks);
        let workers = if is_shared { threads.min(batch_count) } else { 1 };
        let (turns, next) = (Turns::default(), AtomicUsize::new(0));
        parallel::for_each(workers, |_| {
            loop {
                // Whoever takes a batch is at work: those that come later may wait for it.
                let batch = next.fetch_add(1, Relaxed);
                if batch >= batch_count {
                    return Ok(());
                }
                let first = batch * batch_chunks;
                let chunks = first..count.min(first + batch_chunks);
                turns.guard(|| scratch::with(|scratch| work(chunks, (&turns, batch), scratch)))?;
            }
        })
    }

    /// Gathers some of a call's chunks, and writes those that are whole.
    fn write_batch(
        &self,
        call: &Call<'_>,
        chunks: Range<usize>,
        turn: (&Turns, usize),
        scratch: &mut Scratch,
    ) -> Result<()> {
        let mut gather = Gather::new(call.elements, &self.parts.chunk_shape, &self.strides);
        let mut cursor = call.cover.cursor(chunks.start);
        scratch.batch.clear();
        let mut outcome = Ok(());
        for _ in chunks {
            outcome = match cursor.is_whole() {
                true => self.add_whole(call, &cursor, &mut gather, scratch),
                false => self.add_part(call, &cursor, &mut gather, scratch),
            };
            if outcome.is_err() {
                break;
            }
            cursor.advance();
        }
        let (target, table) = (&self.target, &self.table);
        let to = Destination { target, table, grid: call.grid, caller: call.elements.bytes, turn };
        let written = outcome.and_then(|()| scratch.batch.write(&to));
        for (coordinates, partial) in scratch.batch.take_waited() {
            if written.is_err() {
                self.partials.put(coordinates, partial);
            }
        }
        written
    }

    /// Adds a chunk of which the call has every element.
    fn add_whole(
        &self,
        call: &Call<'_>,
        cursor: &Cursor<'_>,
        gather: &mut Gather<'_>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let coordinates = &cursor.coordinates;
        if call.has_waiting {
            drop(self.partials.take(coordinates));
        }
        let Scratch { batch, chunk: ChunkScratch { elements, stored, codec } } = scratch;
        let one_run = gather.one_run(&cursor.region, self.chunk_bytes);
        let is_plain = self.is_plain(coordinates, call.shape);
        if let (Some(start), true) = (one_run, is_plain) {
            batch.add_callers(coordinates, start, self.chunk_bytes);
            return Ok(());
        }
        if let Some(start) = one_run {
            let chunk = &call.elements.bytes[start..start + self.chunk_bytes];
            return self.encode(coordinates, chunk, stored, codec, batch);
        }
        let memory = match is_plain {
            true => batch.add(coordinates, self.chunk_bytes, 0),
            false => {
                elements.resize(self.chunk_bytes, 0);
                &mut elements[..]
            }
        };
        if self.needed_count(coordinates) < self.element_count() {
            fill_with(memory, &self.parts.fill);
        }
        let copied = gather.copy(&cursor.region, memory, 0, |_| ());
        copied.map_err(|_| self.beyond_chunk(coordinates))?;
        match is_plain {
            true => Ok(()),
            false => self.encode(coordinates, elements, stored, codec, batch),
        }
    }

    /// Gathers into a chunk that waits, and adds that if it is whole now or cannot wait.
    fn add_part(
        &self,
        call: &Call<'_>,
        cursor: &Cursor<'_>,
        gather: &mut Gather<'_>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let waiting = self.partials.take(&cursor.coordinates);
        let (coordinates, mut partial) = match waiting {
            Some(waiting) => waiting,
            None => (cursor.coordinates.clone().into(), self.new_partial()?),
        };
        let Partial { bytes, written, .. } = &mut partial;
        let size = self.parts.element_size;
        let copied =
            gather.copy(&cursor.region, bytes, 0, |part| written.mark(part.axes, part.to, size));
        (partial.used, partial.is_dirty) = (call.moment, true);
        if copied.is_err() {
            return Err(self.beyond_chunk(&coordinates));
        }
        let is_whole = partial.written.len() >= self.needed_count(&coordinates);
        if partial.share.is_some() && !is_whole {
            self.partials.put(coordinates, partial);
            return Ok(());
        }
        self.add_waited(coordinates, partial, call.shape, scratch)
    }

    /// Adds a chunk that has waited; where that fails, it waits on.
    fn add_waited(
        &self,
        coordinates: Box<[u64]>,
        mut partial: Partial,
        shape: &[u64],
        scratch: &mut Scratch,
    ) -> Result<()> {
        let Scratch { batch, chunk } = scratch;
        let mut added = self.settle(&coordinates, &mut partial, shape, chunk);
        if added.is_ok() && self.is_plain(&coordinates, shape) {
            batch.add_waited(coordinates, partial);
            return Ok(());
        }
        if added.is_ok() {
            let ChunkScratch { stored, codec, .. } = chunk;
            added = self.encode(&coordinates, &partial.bytes, stored, codec, batch);
        }
        match added {
            Ok(()) => batch.keep_waited(coordinates, partial),
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
    fn encode(
        &self,
        coordinates: &[u64],
        chunk: &[u8],
        stored: &mut Vec<u8>,
        codec: &mut isotach_codec::Scratch,
        batch: &mut Batch,
    ) -> Result<()> {
        let encoded = self.parts.pipeline.encode(chunk, codec, stored);
        let filter_mask = encoded.map_err(|source| {
            let (coordinates, source) = (coordinates.to_vec(), Box::new(source));
            self.target.error(ErrorKind::Encode { coordinates, source })
        })?;
        batch.add(coordinates, stored.len(), filter_mask).copy_from_slice(stored);
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
        let grid = self.grid(shape);
        self.share_out(waiting.len(), |chunks, turn, scratch| {
            scratch.batch.clear();
            let mut partials =
                waiting[chunks].iter().filter_map(|coordinates| self.partials.take(coordinates));
            let mut added = Ok(());
            for (coordinates, partial) in partials.by_ref() {
                added = self.add_waited(coordinates, partial, shape, scratch);
                if added.is_err() {
                    break;
                }
            }
            let (target, table) = (&self.target, &self.table);
            let to = Destination { target, table, grid: &grid, caller: &[], turn };
            let written = added.and_then(|()| scratch.batch.write(&to));
            for (coordinates, mut partial) in scratch.batch.take_waited() {
                partial.is_dirty = written.is_err();
                if partial.is_dirty || (kept && partial.share.is_some()) {
                    self.partials.put(coordinates, partial);
                }
            }
            written
        })
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

    pub(super) fn shape(&self) -> MutexGuard<'_, Vec<u64>> {
        self.shape.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A chunk of which nothing was written.
    pub(super) fn new_partial(&self) -> Result<Partial> {
        let count = self.element_count();
        let size = self.chunk_bytes + Written::bytes(count) + size_of::<Partial>();
        // Zeroed memory cannot be asked for softly: whether there is any is asked beforehand.
        Vec::<u8>::new().try_reserve_exact(size).map_err(|_| {
            self.target.limit("bytes of a chunk", self.chunk_bytes as u64, isize::MAX as u64)
        })?;
        Ok(Partial {
            bytes: vec![0; self.chunk_bytes],
            written: Written::nothing(count),
            is_settled: false,
            is_dirty: false,
            used: 0,
            share: buffers::take(size),
        })
    }

    /// Chunks along each axis of the variable.
    pub(super) fn grid(&self, shape: &[u64]) -> Vec<u64> {
        let lens = shape.iter().zip(&self.parts.chunk_shape);
        lens.map(|(len, chunk_len)| len.div_ceil((*chunk_len).max(1))).collect()
    }

    /// Elements of a chunk.
    fn element_count(&self) -> usize {
        self.chunk_bytes / self.parts.element_size.max(1)
    }

    /// Elements of the chunk that the variable can ever show.
    fn needed_count(&self, coordinates: &[u64]) -> usize {
        let ChunkParts { chunk_shape, max_shape, .. } = &self.parts;
        let axes = coordinates.iter().zip(chunk_shape).zip(max_shape);
        let lens = axes.map(|((at, len), max)| max.saturating_sub(at * len).min(*len));
        lens.product::<u64>() as usize
    }

    /// Whether the chunk is stored as its elements are.
    pub(super) fn is_plain(&self, coordinates: &[u64], shape: &[u64]) -> bool {
        let ChunkParts { chunk_shape, pipeline, edge_chunks_unfiltered, .. } = &self.parts;
        let mut ends = coordinates.iter().zip(chunk_shape).map(|(at, len)| (at + 1) * len);
        pipeline.filters.is_empty()
            || (*edge_chunks_unfiltered && shape.iter().any(|len| ends.next() > Some(*len)))
    }

    fn beyond_chunk(&self, coordinates: &[u64]) -> Error {
        let at = coordinates.iter().max().copied().unwrap_or(0);
        self.target.limit("elements of a chunk", at, self.element_count() as u64)
    }
}
