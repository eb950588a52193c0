//! One chunk: where it is stored, fetching it, decoding it, keeping it.

use std::io;
use std::mem::MaybeUninit;

use isotach_codec::Scratch as CodecScratch;
use isotach_model::shape;

use super::memory;
use crate::cache::{ChunkCache, ChunkKey, Decoded, Since};
use crate::error::{Error, ErrorKind, Result};
use crate::plan::axis_runs::AxisRun;
use crate::plan::chunked::{ChunkPlan, ChunkTask};
use crate::plan::layout::{ArrayLayout, ChunkPlace, Chunked, Placement};
use crate::read::reading::Reading;
use crate::read::scratch::{self, Scratch};
use crate::storage::uninit;

/// Chunks of one array that are wanted.
pub(super) struct Job<'j> {
    pub(super) reading: &'j Reading<'j>,
    pub(super) chunked: &'j Chunked,
    pub(super) plan: ChunkPlan,
    /// Bytes from one element to the next along each axis of a decoded chunk.
    pub(super) strides: Vec<u64>,
    pub(super) chunk_bytes: usize,
    since: Since,
}

/// Decodes chunks of `axes` into the cache, as far as there is room, while `go_on` says so: `most`
/// of those that are not there, not counting the first `skipped` of them.
pub(crate) fn keep(
    layout: &ArrayLayout,
    axes: &[Vec<AxisRun>],
    cache: &'static ChunkCache,
    skipped: usize,
    most: usize,
    go_on: impl Fn() -> bool,
) -> Result<()> {
    let Placement::Chunked(chunked) = &layout.placement else { return Ok(()) };
    let reading = Reading { layout, cache, ahead: None, depth: 0 };
    let plan = ChunkPlan::new(&layout.shape, &chunked.chunk_shape, axes)
        .ok_or_else(|| reading.too_large())?;
    let (since, _) = cache.begin(layout.id, std::iter::empty());
    let job = Job::new(&reading, chunked, plan, since)?;
    let tasks = (0..job.plan.chunk_count()).map(|index| job.plan.task(index));
    let missing = tasks.filter(|task| job.key(task).is_some_and(|key| !cache.knows(&key)));
    for task in missing.skip(skipped).take(most) {
        if !go_on() {
            break;
        }
        if let Some(place) = job.locate(&task)?.filter(|place| !job.is_plain(&task, place)) {
            job.check(&place)?;
            scratch::with(|scratch| job.decode_and_keep(&task, &place, None, scratch))?;
            // Who was to read it has come meanwhile, and may have it without this.
            if !go_on() {
                job.spend(&task);
            }
        }
    }
    Ok(())
}

impl<'j> Job<'j> {
    /// The chunks of `plan`, wanted since then.
    pub(super) fn new(
        reading: &'j Reading<'j>,
        chunked: &'j Chunked,
        plan: ChunkPlan,
        since: Since,
    ) -> Result<Self> {
        let chunk_bytes = shape::byte_count(&chunked.chunk_shape, reading.layout.element_size)
            .ok_or_else(|| reading.too_large())?;
        let strides = reading.row_major_bytes(&chunked.chunk_shape)?;
        Ok(Self { reading, chunked, plan, strides, chunk_bytes, since })
    }

    /// The chunk where it is kept, and whether all of it was read when the request has what it wants of it.
    pub(super) fn kept(&self, task: &ChunkTask<'_>) -> Option<(Decoded, bool)> {
        let key = self.key(task)?;
        let (wanted, whole) = self.plan.element_counts(task, &self.reading.layout.shape);
        self.reading.cache.get(&key, wanted, whole)
    }

    /// Counts so much of a chunk that is kept as read as the request wants; whether that is all of it.
    pub(super) fn count_read(&self, task: &ChunkTask<'_>) -> bool {
        let Some(key) = self.key(task) else { return false };
        let (wanted, whole) = self.plan.element_counts(task, &self.reading.layout.shape);
        self.reading.cache.count_read(&key, wanted, whole)
    }

    /// All of the chunk was read, here or without the one that is kept or will be.
    pub(super) fn spend(&self, task: &ChunkTask<'_>) {
        if let Some(key) = self.key(task) {
            self.reading.cache.spend(&key, self.array_bytes());
        }
    }

    /// Bytes of all decoded elements.
    fn array_bytes(&self) -> u64 {
        let layout = self.reading.layout;
        let bytes = shape::byte_count(&layout.shape, layout.element_size);
        bytes.map_or(u64::MAX, |bytes| bytes as u64)
    }

    /// The chunk's name in the cache.
    pub(super) fn key(&self, task: &ChunkTask<'_>) -> Option<ChunkKey> {
        task.number.map(|number| ChunkKey { array: self.reading.layout.id, number })
    }

    /// Where the chunk is stored.
    pub(super) fn locate(&self, task: &ChunkTask<'_>) -> Result<Option<ChunkPlace>> {
        let place = self.chunked.index.locate(&task.coordinates);
        place.map_err(|error| error.at(&self.reading.layout.path))
    }

    /// Whether so large a chunk may be decoded.
    pub(super) fn check(&self, place: &ChunkPlace) -> Result<()> {
        memory::check(self.chunk_bytes, place).map_err(|kind| self.reading.error(kind))
    }

    /// The chunk out of the cache, or decoded to be kept there; `None` where there is no room.
    pub(super) fn decode_and_keep(
        &self,
        task: &ChunkTask<'_>,
        place: &ChunkPlace,
        fetched: Option<&[u8]>,
        scratch: &mut Scratch,
    ) -> Result<Option<Decoded>> {
        let Some(key) = self.key(task) else { return Ok(None) };
        let Scratch { stored: buffer, codec, .. } = scratch;
        self.reading.cache.get_or_decode(key, self.chunk_bytes, self.since, |spare| {
            let stored = self.stored(place, fetched, buffer)?;
            memory::decoded_vec(spare, self.chunk_bytes, |memory| {
                self.decode(task, place, stored, codec, memory)
            })
        })
    }

    /// The chunk's stored bytes, fetched into `buffer` if they are not there yet.
    pub(super) fn stored<'b>(
        &'b self,
        place: &ChunkPlace,
        fetched: Option<&'b [u8]>,
        buffer: &'b mut Vec<u8>,
    ) -> Result<&'b [u8]> {
        if let Some(bytes) = fetched {
            return Ok(bytes);
        }
        let storage = self.reading.layout.storage.as_ref();
        let start = usize::try_from(place.address).map_err(|_| self.reading.too_large())?;
        let len = usize::try_from(place.stored_bytes).map_err(|_| self.reading.too_large())?;
        if let Some(all) = storage.as_slice() {
            let bytes = all.get(start..).and_then(|rest| rest.get(..len));
            return bytes.ok_or_else(|| self.storage_error(place, crate::storage::past_end()));
        }
        uninit::read_vec(storage, place.address, len, buffer)
            .map_err(|source| self.storage_error(place, source))?;
        Ok(buffer)
    }

    /// Decodes `stored` into `memory`, which has the chunk's length, and gives it back.
    pub(super) fn decode<'m>(
        &self,
        task: &ChunkTask<'_>,
        place: &ChunkPlace,
        stored: &[u8],
        codec: &mut CodecScratch,
        memory: &'m mut [MaybeUninit<u8>],
    ) -> Result<&'m mut [u8]> {
        self.chunked.decoded.add_one();
        let pipeline = &self.chunked.pipeline;
        pipeline
            .decode(stored, place.filter_mask, codec, memory)
            .map_err(|source| self.chunk_error(task, place, source))
    }

    /// True where the stored bytes are the elements.
    pub(super) fn is_plain(&self, task: &ChunkTask<'_>, place: &ChunkPlace) -> bool {
        let filters = self.chunked.pipeline.filters.len();
        let all_skipped = (0..filters).all(|i| i < 32 && place.filter_mask >> i & 1 == 1);
        all_skipped || (self.chunked.edge_chunks_unfiltered && self.reaches_over_edge(task))
    }

    fn reaches_over_edge(&self, task: &ChunkTask<'_>) -> bool {
        let ends = task.origin.iter().zip(&self.chunked.chunk_shape);
        let ends = ends.map(|(origin, len)| origin.saturating_add(*len));
        self.reading.layout.shape.iter().zip(ends).any(|(&len, end)| end > len)
    }

    /// The error that the chunk cannot be decoded.
    pub(super) fn chunk_error(
        &self,
        task: &ChunkTask<'_>,
        place: &ChunkPlace,
        source: isotach_codec::Error,
    ) -> Error {
        let coordinates = task.coordinates.clone();
        let source = Box::new(source);
        self.reading.error(ErrorKind::Chunk { address: place.address, coordinates, source })
    }

    /// The error that the chunk's bytes could not be had.
    pub(super) fn storage_error(&self, place: &ChunkPlace, source: io::Error) -> Error {
        self.reading.storage_error(place.address, place.stored_bytes, source)
    }
}
