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

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use isotach_codec::Pipeline;
use isotach_model::selection::Selection;
use isotach_model::shape;

use super::batch::{Destination, Turn, Turns};
use super::beyond::Row;
use super::buffers::{self, Moment};
use super::claims::{ChunkBox, Claim, Claims};
use super::cover::{Cover, Cursor};
use super::gather::{Elements, Gather};
use super::partial::{Partial, Partials, Waiting};
use super::scratch::{self, ChunkScratch, Scratch};
use super::table::ChunkTable;
use super::{Target, fill_with};
use crate::error::{Error, Result};
use crate::parallel;
use crate::plan::layout::{ChunkIndex, DecodeCount};
use crate::write::told::ToTell;

/// Chunks that are gathered before they are written: as many bytes, or one chunk.
const BATCH_BYTES: usize = 1 << 20;
/// Work below this stays on the caller's thread: a thread of the pool takes some 10 us to begin.
const SHARED_FROM_BYTES: usize = 128 << 10;
/// So many chunks of a call keep most machines busy; how many it takes must not depend on the machine, as it decides
/// what lies next to what in the file.
const MANY_CHUNKS: usize = 16;
/// The batches of a call are at most so many, where that makes them smaller.
const MOST_BATCHES: usize = 32;

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
    pub(super) shared: Arc<Shared>,
}

/// The same, for all who work on it.
pub(super) struct Shared {
    pub(super) target: Target,
    pub(super) parts: ChunkParts,
    /// Bytes from one element of a chunk to the next along each axis.
    strides: Vec<u64>,
    pub(super) chunk_bytes: usize,
    pub(super) table: Arc<ChunkTable>,
    pub(super) claims: Arc<Claims>,
    pub(super) partials: Partials,
    /// The largest extent of each axis that was seen.
    shape: Mutex<Vec<u64>>,
    /// The extent in the last commit.
    pub(super) committed: Mutex<Vec<u64>>,
    /// The chunks of which the commit that is under way changes rows in place.
    pub(super) rows: Mutex<Vec<Box<[u64]>>>,
    /// Of those who read what was written.
    decoded: DecodeCount,
    /// Why chunks could not be written while the caller went on, until he is told.
    pub(super) failed: ToTell,
    /// Why parts of chunks never can be, until a commit tells it.
    pub(super) lost: Mutex<Option<Error>>,
}

/// What all threads of a call need.
pub(super) struct Call<'c> {
    cover: &'c Cover,
    pub(super) elements: Elements<'c>,
    shape: &'c [u64],
    pub(super) grid: &'c [u64],
    pub(super) moment: Moment,
    /// Whether some chunk may be waiting.
    has_waiting: bool,
    /// Whole chunks that are encoded and written later, by other threads; `None` where that is not
    /// worth it.
    for_later: Option<Later<'c>>,
}

/// Chunks that other threads are to write, until there are enough for one of them.
struct Later<'c> {
    shared: &'c Arc<Shared>,
    claim: &'c Claim,
    chunks: Mutex<Vec<Waiting>>,
}

impl ChunkStore {
    /// The chunks that `parts` describe; they go to `target`.
    ///
    /// # Errors
    /// [`Limit`](crate::ErrorKind::Limit) where a chunk has no axis, no element, or more than memory can hold.
    pub fn new(target: Target, parts: ChunkParts) -> Result<Self> {
        let size = parts.element_size;
        let too_large = || target.limit("bytes of a chunk", u64::MAX, isize::MAX as u64);
        let chunk_bytes = shape::byte_count(&parts.chunk_shape, size).ok_or_else(too_large)?;
        if parts.chunk_shape.is_empty() || chunk_bytes == 0 {
            return Err(target.limit("bytes of a chunk", 0, isize::MAX as u64));
        }
        let strides = shape::row_major_strides(&parts.chunk_shape).ok_or_else(too_large)?;
        let table = ChunkTable::new(parts.chunk_shape.len(), parts.existing.clone());
        let shared = Arc::new(Shared {
            strides: strides.into_iter().map(|stride| stride * size as u64).collect(),
            chunk_bytes,
            table: Arc::new(table),
            claims: Arc::default(),
            partials: Partials::default(),
            shape: Mutex::new(parts.shape.clone()),
            committed: Mutex::new(parts.shape.clone()),
            rows: Mutex::default(),
            decoded: DecodeCount::default(),
            failed: ToTell::default(),
            lost: Mutex::default(),
            target,
            parts,
        });
        buffers::register(Arc::downgrade(&shared));
        Ok(Self { shared })
    }

    /// Writes elements; see [`super::Store::write`].
    pub fn write(&self, selection: &Selection, elements: &[u8], shape: &[u64]) -> Result<()> {
        if let Some(error) = self.shared.failed.take() {
            return Err(error);
        }
        let moment = buffers::now();
        if !self.shared.write_one_run(selection, elements, shape, moment)? {
            self.shared.write(selection, elements, shape, moment)?;
        }
        buffers::make_room(moment);
        Ok(())
    }

    /// Brings chunks that wait to the file; they stay in memory, too.
    pub fn flush(&self, shape: &[u64]) -> Result<()> {
        self.flush_some(shape, |_| Ok(())).map(drop)
    }

    /// The same for a commit, which is to make the changes that are returned: bytes, and their addresses. Until then
    /// the file does not have them.
    pub(in crate::write) fn flush_for_commit(&self, shape: &[u64]) -> Result<Vec<Row>> {
        let mut rows = Vec::new();
        self.flush_some(shape, |waiting| {
            rows = self.shared.rows_beyond(waiting, shape)?;
            Ok(())
        })?;
        Ok(rows)
    }

    /// Brings those of the chunks that wait to the file that `choose` leaves.
    fn flush_some(
        &self,
        shape: &[u64],
        choose: impl FnOnce(&mut Vec<Box<[u64]>>) -> Result<()>,
    ) -> Result<()> {
        let shared = &self.shared;
        shared.grow(shape)?;
        let rank = shared.parts.chunk_shape.len();
        let _claim = shared.claims.wait_for(ChunkBox::everything(rank));
        // What could not be written waits, and is tried again.
        drop(shared.failed.take());
        let mut waiting = shared.partials.select(|partial| partial.is_dirty);
        choose(&mut waiting)?;
        shared.write_waiting(&waiting, shape, true)
    }

    /// Why elements that were written are not in the file after a flush, and never will be; once. The rest
    /// of their chunk, which is in the file, is broken.
    pub fn take_lost(&self) -> Option<Error> {
        lock(&self.shared.lost).take()
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

    /// The same for the changes that [`Self::flush_for_commit`] returned last, where `shape` is the extent.
    pub(in crate::write) fn mark_rows_committed(&self, shape: &[u64]) {
        self.shared.rows_are_committed(shape.to_vec());
    }

    pub(super) fn chunk_shape(&self) -> &[u64] {
        &self.shared.parts.chunk_shape
    }

    pub(super) fn pipeline(&self) -> Arc<Pipeline> {
        Arc::clone(&self.shared.parts.pipeline)
    }

    /// Counts the chunks that are decoded.
    pub(super) fn decoded(&self) -> DecodeCount {
        self.shared.decoded.clone()
    }

    pub(super) fn edge_chunks_unfiltered(&self) -> bool {
        self.shared.parts.edge_chunks_unfiltered
    }
}

impl Later<'_> {
    /// Adds a chunk, and begins a job where there are enough.
    fn push(&self, chunk: Waiting, shape: &[u64]) {
        let job = {
            let mut chunks = lock(&self.chunks);
            chunks.push(chunk);
            let is_enough = chunks.len().saturating_mul(self.shared.chunk_bytes) >= BATCH_BYTES;
            is_enough.then(|| std::mem::take(&mut *chunks))
        };
        if let Some(job) = job {
            self.shared.write_later(job, self.claim, shape);
        }
    }
}

impl Drop for ChunkStore {
    /// Waits for chunks that are being written, and forgets those that wait: the file may not be there
    /// afterwards, when some other store looks for memory.
    fn drop(&mut self) {
        let rank = self.shared.parts.chunk_shape.len();
        let _claim = self.shared.claims.wait_for(ChunkBox::everything(rank));
        self.shared.partials.lock().clear();
    }
}

impl Shared {
    fn write(
        self: &Arc<Self>,
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
        let claim = self.claims.wait_for(ChunkBox { low, high });
        let (count, bytes) = (cover.count(), elements.len());
        let later = Later { shared: self, claim: &claim, chunks: Mutex::default() };
        let call = Call {
            for_later: self.is_for_later(count, bytes).then_some(later),
            elements: Elements { bytes: elements, strides: &strides, element_size: *element_size },
            shape,
            grid: &self.grid(shape),
            moment,
            has_waiting: !self.partials.is_empty(),
            cover: &cover,
        };
        // Who of several threads gets the last memory for parts of chunks would be chance.
        let has_room = buffers::has_room(count.saturating_mul(self.waiting_bytes()));
        let workers = match call.for_later {
            None if has_room => self.worker_count(count, bytes),
            _ => 1,
        };
        let written = self.share_out_over(workers, count, bytes, |chunks, turn, scratch| {
            self.write_batch(&call, chunks, turn, scratch)
        });
        if let Some(later) = &call.for_later {
            self.write_later(std::mem::take(&mut lock(&later.chunks)), &claim, shape);
        }
        written
    }

    /// Whether the caller may go on while some of the `count` chunks of his call are encoded: where
    /// a call does not keep all threads busy, those of the next one can.
    fn is_for_later(&self, count: usize, bytes: usize) -> bool {
        let is_filtered = !self.parts.pipeline.filters.is_empty();
        let chunk_bytes = count.saturating_mul(self.chunk_bytes);
        let is_shared_out = bytes >= SHARED_FROM_BYTES && count >= MANY_CHUNKS;
        is_filtered && chunk_bytes >= SHARED_FROM_BYTES && !is_shared_out
    }

    /// How many threads share `bytes` bytes of elements for `count` chunks.
    pub(super) fn worker_count(&self, count: usize, bytes: usize) -> usize {
        let threads = parallel::thread_count();
        let is_enough = bytes >= SHARED_FROM_BYTES && count >= threads.min(MANY_CHUNKS);
        if is_enough { threads.min(count) } else { 1 }
    }

    /// Does `work` with ranges of `count` chunks, for which there are `bytes` bytes, on several threads
    /// where that is worth it. Each range is told its turn.
    pub(super) fn share_out(
        &self,
        count: usize,
        bytes: usize,
        work: impl Fn(Range<usize>, Turn<'_>, &mut Scratch) -> Result<()> + Send + Sync,
    ) -> Result<()> {
        self.share_out_over(self.worker_count(count, bytes), count, bytes, work)
    }

    /// The same on that many threads. The ranges are the same on any number of them.
    pub(super) fn share_out_over(
        &self,
        workers: usize,
        count: usize,
        bytes: usize,
        work: impl Fn(Range<usize>, Turn<'_>, &mut Scratch) -> Result<()> + Send + Sync,
    ) -> Result<()> {
        let mut batch_chunks = (BATCH_BYTES / self.chunk_bytes).max(1);
        if bytes >= SHARED_FROM_BYTES {
            batch_chunks = batch_chunks.min(count.div_ceil(MOST_BATCHES));
        }
        let batch_count = count.div_ceil(batch_chunks);
        let (turns, next) = (Turns::default(), AtomicUsize::new(0));
        let done = parallel::for_each(workers, |_| {
            loop {
                // Whoever takes a batch is at work: those that come later may wait for it.
                let batch = next.fetch_add(1, Relaxed);
                if batch >= batch_count {
                    return Ok(());
                }
                let first = batch * batch_chunks;
                let chunks = first..count.min(first + batch_chunks);
                let turn = Turn::Of(&turns, batch);
                turns.guard(|| scratch::with(|scratch| work(chunks, turn, scratch)))?;
            }
        });
        turns.give_back(self.target.space.as_ref());
        done
    }

    /// Gathers some of a call's chunks, and writes those that are whole.
    fn write_batch(
        &self,
        call: &Call<'_>,
        chunks: Range<usize>,
        turn: Turn<'_>,
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
            match written {
                Ok(()) => self.partials.recycle(partial),
                Err(_) => self.partials.put(coordinates, partial),
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
        let is_plain = self.is_plain(coordinates, call.shape);
        let has_fill = self.needed_count(coordinates) < self.element_count();
        if !is_plain
            && let Some(later) = &call.for_later
            && let Some(share) = buffers::take_for_later(self.chunk_bytes)
        {
            let mut partial = self.new_partial(Some(share))?;
            if has_fill {
                fill_with(&mut partial.bytes, &self.parts.fill);
            }
            let copied = gather.copy(&cursor.region, &mut partial.bytes, 0, |_| ());
            copied.map_err(|_| self.beyond_chunk(coordinates))?;
            (partial.is_settled, partial.is_dirty) = (true, true);
            partial.used = call.moment;
            later.push((coordinates.as_slice().into(), partial), call.shape);
            return Ok(());
        }
        let Scratch { batch, chunk: ChunkScratch { stored, codec, .. } } = scratch;
        let one_run = gather.one_run(&cursor.region, self.chunk_bytes);
        if let (Some(start), true) = (one_run, is_plain) {
            batch.add_callers(coordinates, start, self.chunk_bytes);
            return Ok(());
        }
        if let Some(start) = one_run {
            let chunk = &call.elements.bytes[start..start + self.chunk_bytes];
            return self.encode(coordinates, chunk, stored, codec, batch);
        }
        if !is_plain
            && !has_fill
            && let Some(whole) = gather.whole_box(&cursor.region, self.chunk_bytes)
        {
            return self.encode_box(coordinates, &whole, scratch);
        }
        let Scratch { batch, chunk: ChunkScratch { elements, stored, codec } } = scratch;
        let memory = match is_plain {
            true => batch.add(coordinates, self.chunk_bytes, 0),
            false => {
                elements.resize(self.chunk_bytes, 0);
                &mut elements[..]
            }
        };
        if has_fill {
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
        if self.write_in_place(call, cursor, gather)? {
            return Ok(());
        }
        let waiting = self.partials.take(&cursor.coordinates);
        let (coordinates, mut partial) = match waiting {
            Some(waiting) => waiting,
            None => {
                let share = buffers::take(self.waiting_bytes());
                (cursor.coordinates.as_slice().into(), self.new_partial(share)?)
            }
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
        let waits = match is_whole {
            true => self.waits_for_commit(&coordinates, &partial),
            false => Ok(partial.share.is_some()),
        };
        if let Ok(true) | Err(_) = waits {
            self.partials.put(coordinates, partial);
            return waits.map(drop);
        }
        if is_whole
            && let Some(later) = &call.for_later
            && let Some(share) = buffers::take_for_later(self.chunk_bytes)
        {
            partial.share = Some(share);
            later.push((coordinates, partial), call.shape);
            return Ok(());
        }
        self.add_waited(coordinates, partial, call.shape, scratch)
    }

    pub(super) fn shape(&self) -> MutexGuard<'_, Vec<u64>> {
        lock(&self.shape)
    }

    /// Chunks along each axis of the variable.
    pub(super) fn grid(&self, shape: &[u64]) -> Vec<u64> {
        let lens = shape.iter().zip(&self.parts.chunk_shape);
        lens.map(|(len, chunk_len)| len.div_ceil((*chunk_len).max(1))).collect()
    }

    /// Elements of a chunk.
    pub(super) fn element_count(&self) -> usize {
        self.chunk_bytes / self.parts.element_size.max(1)
    }

    /// Elements of the chunk that the variable can ever show.
    pub(super) fn needed_count(&self, coordinates: &[u64]) -> usize {
        let ChunkParts { chunk_shape, max_shape, .. } = &self.parts;
        let axes = coordinates.iter().zip(chunk_shape).zip(max_shape);
        let lens = axes.map(|((at, len), max)| max.saturating_sub(at * len).min(*len));
        lens.product::<u64>() as usize
    }

    /// Whether the chunk is stored as its elements are.
    pub(super) fn is_plain(&self, coordinates: &[u64], shape: &[u64]) -> bool {
        let ChunkParts { chunk_shape, pipeline, edge_chunks_unfiltered, .. } = &self.parts;
        let mut ends =
            coordinates.iter().zip(chunk_shape).map(|(at, len)| (at + 1).saturating_mul(*len));
        pipeline.filters.is_empty()
            || (*edge_chunks_unfiltered && shape.iter().any(|len| ends.next() > Some(*len)))
    }

    pub(super) fn beyond_chunk(&self, coordinates: &[u64]) -> Error {
        let at = coordinates.iter().max().copied().unwrap_or(0);
        self.target.limit("elements of a chunk", at, self.element_count() as u64)
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
