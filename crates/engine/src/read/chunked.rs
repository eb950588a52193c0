//! Chunks: each fetched and decoded once for a request, in parallel, straight into its place.
//!
//! ```text
//! chunk -> kept decoded?            -> scatter
//!       -> never written?           -> fill
//!       -> not filtered?            -> read like any array that lies in rows
//!       -> whole, one run at target -> decode straight into the caller's memory
//!       -> part of it wanted        -> decode, keep while there is room -> scatter
//!       -> otherwise                -> decode into the thread's buffer -> scatter
//! ```
//! Where calls are costly, chunks that are neighbours in the file are fetched with one read.

use super::reading::Reading;
use super::scatter::{OutOfBounds, Source, Target, scatter};
use super::scratch::{self, Scratch};
use super::strided;
use crate::cache::{ChunkKey, Decoded};
use crate::error::Result;
use crate::parallel;
use crate::plan::axis_runs::AxisRun;
use crate::plan::chunked::{ChunkPlan, ChunkTask};
use crate::plan::layout::{BeyondEnd, ChunkPlace, Chunked};

mod batch;
mod job;
pub(super) mod memory;

use job::Job;
pub(crate) use job::keep;

/// Work below this stays on the caller's thread: a thread of the pool takes some 10 us to begin.
const SHARED_FROM_BYTES: u64 = 128 << 10;
/// Calls that cost more than this are worth gathering.
const COSTLY_CALL: u64 = 64 << 10;
/// Marking chunks that are kept as used is worth it up to this many.
const MARKED_CHUNKS: usize = 4096;

/// What is wanted of the chunks, and where it goes.
struct Request<'j, 'd> {
    job: Job<'j>,
    target: &'j Target<'j, 'd>,
    /// How many of the chunks are in the cache; no number where none of the array is.
    known: Option<usize>,
}

/// Reads the elements of `axes`, which lie inside the stored extent.
pub(super) fn read(
    reading: &Reading<'_>,
    chunked: &Chunked,
    axes: &[Vec<AxisRun>],
    target: &Target<'_, '_>,
) -> Result<()> {
    let layout = reading.layout;
    let plan = ChunkPlan::new(&layout.shape, &chunked.chunk_shape, axes)
        .ok_or_else(|| reading.too_large())?;
    let count = plan.chunk_count();
    let numbers = (0..count.min(MARKED_CHUNKS)).filter_map(|index| plan.task(index).number);
    let keys = numbers.map(|number| ChunkKey { array: layout.id, number });
    let (since, known) = reading.cache.begin(layout.id, keys);
    let job = Job::new(reading, chunked, plan, since)?;
    let bytes = (count as u64).saturating_mul(job.chunk_bytes as u64);
    let request = Request { job, target, known };
    let more = reading.ahead.map_or(0, |ahead| ahead.fill_up(count - known.unwrap_or(0)));
    let costly = layout.storage.call_cost_bytes() > COSTLY_CALL || !layout.storage.parallel();
    if count > 1 && costly {
        return batch::read(&request);
    }
    let one = |index| {
        let task = request.job.plan.task(index);
        match request.serve_kept(&task) {
            Some(done) => done,
            None => request.read_chunk(&task, request.job.locate(&task)?, None),
        }
    };
    if bytes < SHARED_FROM_BYTES {
        return (0..count).try_for_each(one);
    }
    parallel::for_each(count + more, |index| match (index.checked_sub(count), reading.ahead) {
        (Some(place), Some(ahead)) => {
            ahead.keep_one(place);
            Ok(())
        }
        _ => one(index),
    })
}

impl Request<'_, '_> {
    /// Serves the chunk out of the cache, where it is there.
    fn serve_kept(&self, task: &ChunkTask<'_>) -> Option<Result<()>> {
        self.known?;
        let (decoded, is_all) = self.job.kept(task)?;
        Some(self.scatter_kept(task, decoded, is_all))
    }

    /// Reads a chunk that is not in the cache; `fetched` are its bytes where they are there.
    fn read_chunk(
        &self,
        task: &ChunkTask<'_>,
        place: Option<ChunkPlace>,
        fetched: Option<&[u8]>,
    ) -> Result<()> {
        let Job { reading, .. } = self.job;
        let Some(place) = place else { return reading.fill(&task.region, self.target) };
        if self.job.is_plain(task, &place) {
            return self.read_plain(task, &place, fetched);
        }
        self.job.check(&place)?;
        scratch::with(|scratch| {
            let is_whole = self.job.plan.is_whole(task, &reading.layout.shape);
            if let Some(offset) = self.one_run_at_target(task) {
                self.decode_in_place(task, &place, fetched, offset, scratch)?;
            } else {
                if !is_whole
                    && let Some(kept) = self.job.decode_and_keep(task, &place, fetched, scratch)?
                {
                    return self.scatter_kept(task, kept, self.job.count_read(task));
                }
                self.read_through_buffer(task, &place, fetched, scratch)?;
            }
            if is_whole && reading.ahead.is_some() {
                // One that was decoded ahead is not wanted any more.
                self.job.spend(task);
            }
            Ok(())
        })
    }

    /// Decodes straight into the caller's memory, from `offset`.
    fn decode_in_place(
        &self,
        task: &ChunkTask<'_>,
        place: &ChunkPlace,
        fetched: Option<&[u8]>,
        offset: usize,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let Scratch { stored: buffer, codec, .. } = scratch;
        let stored = self.job.stored(place, fetched, buffer)?;
        self.target.write_run(offset, self.job.chunk_bytes, |memory| {
            self.job.decode(task, place, stored, codec, memory)
        })?;
        self.job.reading.cache.count_decoded(self.job.chunk_bytes);
        Ok(())
    }

    /// Decodes into the thread's buffer and copies what is wanted.
    fn read_through_buffer(
        &self,
        task: &ChunkTask<'_>,
        place: &ChunkPlace,
        fetched: Option<&[u8]>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let Scratch { stored: buffer, decoded, codec } = scratch;
        let stored = self.job.stored(place, fetched, buffer)?;
        decoded.clear();
        if decoded.try_reserve(self.job.chunk_bytes).is_err() {
            return Err(self.job.storage_error(place, std::io::ErrorKind::OutOfMemory.into()));
        }
        let memory = &mut decoded.spare_capacity_mut()[..self.job.chunk_bytes];
        let bytes = self.job.decode(task, place, stored, codec, memory)?;
        self.job.reading.cache.count_decoded(self.job.chunk_bytes);
        self.scatter(task, bytes)
    }

    /// Copies what is wanted out of a chunk that is kept; with that, all of it was read where it `is_all`.
    fn scatter_kept(&self, task: &ChunkTask<'_>, decoded: Decoded, is_all: bool) -> Result<()> {
        let done = self.scatter(task, &decoded);
        // Its memory serves the next chunk, where it has to go and nobody reads it any more.
        drop(decoded);
        if is_all {
            self.job.spend(task);
        }
        done
    }

    /// Copies what is wanted out of the chunk's elements.
    fn scatter(&self, task: &ChunkTask<'_>, bytes: &[u8]) -> Result<()> {
        let strides = &self.job.strides;
        let source = Source { bytes, start: 0, origin: &task.origin, strides };
        scatter(&source, &task.region, self.target)
            .map_err(|OutOfBounds| self.job.reading.short(bytes.len() as u64))
    }

    /// Reads what is wanted of a chunk whose stored bytes are its elements.
    fn read_plain(
        &self,
        task: &ChunkTask<'_>,
        place: &ChunkPlace,
        fetched: Option<&[u8]>,
    ) -> Result<()> {
        let Job { reading, chunk_bytes, .. } = self.job;
        if place.stored_bytes < chunk_bytes as u64 {
            let (expected_bytes, decoded_bytes) = (chunk_bytes, place.stored_bytes as usize);
            let source = isotach_codec::Error {
                filter_id: 0,
                filter_name: "none".to_owned(),
                kind: isotach_codec::ErrorKind::Length { expected_bytes, decoded_bytes },
            };
            return Err(self.job.chunk_error(task, place, source));
        }
        if let Some(bytes) = fetched {
            return self.scatter(task, bytes);
        }
        // Positions count from the chunk's first element.
        let within = |(runs, origin): (&&[AxisRun], &u64)| {
            let shift = |run: &AxisRun| AxisRun { position: run.position - origin, ..*run };
            runs.iter().map(shift).collect()
        };
        let axes = task.region.iter().zip(&task.origin).map(within).collect();
        let place = strided::Place {
            storage: reading.layout.storage.as_ref(),
            address: place.address,
            strides: &self.job.strides,
            beyond_end: BeyondEnd::Error,
        };
        strided::read(reading, &place, axes, self.target)
    }

    /// Where in the caller's memory the chunk stands just as it is decoded, all of it in one run.
    fn one_run_at_target(&self, task: &ChunkTask<'_>) -> Option<usize> {
        let shape = &self.job.chunked.chunk_shape;
        for (axis, runs) in task.region.iter().enumerate() {
            let &[run] = *runs else { return None };
            let stride_fits = self.target.strides[axis] as u64 == self.job.strides[axis];
            let in_order = run.count == 1 || (run.stride == 1 && stride_fits);
            if run.count != shape[axis] || !in_order {
                return None;
            }
        }
        self.target.offset_of(&task.region)
    }
}
