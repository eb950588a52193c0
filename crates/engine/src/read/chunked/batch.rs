//! Chunks from a storage whose calls are costly: neighbours in the file share a read.

use std::ops::Range;

use super::Request;
use crate::error::Result;
use crate::parallel;
use crate::plan::layout::ChunkPlace;
use crate::storage::uninit;

/// Chunks that are looked for and fetched together.
const CHUNKS: usize = 256;
/// Stored bytes that are held at a time.
const BYTES: u64 = 32 << 20;
/// The longest read.
const READ_BYTES: u64 = 8 << 20;

/// A chunk of a batch: its index in the plan and where it is stored.
struct Located {
    index: usize,
    place: Option<ChunkPlace>,
    /// The read that has it, and where in it.
    fetched: Option<(usize, Range<usize>)>,
}

/// Reads all chunks of a request, batch by batch.
pub(super) fn read(request: &Request<'_, '_>) -> Result<()> {
    let mut next = 0;
    while next < request.job.plan.chunk_count() {
        let mut batch = Vec::new();
        let mut bytes = 0u64;
        while next < request.job.plan.chunk_count() && batch.len() < CHUNKS && bytes < BYTES {
            let task = request.job.plan.task(next);
            match request.serve_kept(&task) {
                Some(done) => done?,
                None => {
                    let place = request.job.locate(&task)?;
                    bytes = bytes.saturating_add(place.map_or(0, |place| place.stored_bytes));
                    batch.push(Located { index: next, place, fetched: None });
                }
            }
            next += 1;
        }
        read_batch(request, batch)?;
    }
    Ok(())
}

fn read_batch(request: &Request<'_, '_>, mut batch: Vec<Located>) -> Result<()> {
    let reads = share_reads(request, &mut batch);
    let storage = request.job.reading.layout.storage.as_ref();
    let fetch = |read: &Range<u64>| {
        let mut bytes = Vec::new();
        let len = read.end - read.start;
        usize::try_from(len)
            .map_err(|_| std::io::Error::from(std::io::ErrorKind::OutOfMemory))
            .and_then(|len| uninit::read_vec(storage, read.start, len, &mut bytes))
            .map_err(|source| request.job.reading.storage_error(read.start, len, source))?;
        Ok(bytes)
    };
    let fetched: Vec<Vec<u8>> = if storage.parallel() {
        parallel::map(&reads, fetch)?
    } else {
        reads.iter().map(fetch).collect::<Result<_>>()?
    };
    parallel::for_each(batch.len(), |at| {
        let Located { index, place, fetched: found } = &batch[at];
        let stored = found.as_ref().and_then(|(read, range)| fetched[*read].get(range.clone()));
        request.read_chunk(&request.job.plan.task(*index), *place, stored)
    })
}

/// Gives each stored chunk its place in a read: as many neighbours to a read as is cheaper.
fn share_reads(request: &Request<'_, '_>, batch: &mut [Located]) -> Vec<Range<u64>> {
    let storage = &request.job.reading.layout.storage;
    let cost = storage.call_cost_bytes();
    let file_len = storage.len().unwrap_or(u64::MAX);
    let mut by_address: Vec<&mut Located> = batch.iter_mut().collect();
    by_address.sort_by_key(|located| located.place.map(|place| place.address));
    let mut reads: Vec<Range<u64>> = Vec::new();
    for located in by_address {
        let Some(place) = located.place else { continue };
        let end = place.address.checked_add(place.stored_bytes);
        // What the file does not have is no reason to miss what it has: it is read by itself.
        let Some(end) = end.filter(|&end| end <= file_len) else { continue };
        let task = request.job.plan.task(located.index);
        // Little is wanted of much that is not filtered: just that is read, chunk by chunk.
        let apart =
            request.job.is_plain(&task, &place) && place.stored_bytes > cost.saturating_mul(4);
        if apart && !request.job.plan.is_whole(&task, &request.job.reading.layout.shape) {
            continue;
        }
        match reads.last_mut() {
            Some(read)
                if place.address <= read.end.saturating_add(cost)
                    && end.max(read.end) - read.start <= READ_BYTES =>
            {
                read.end = read.end.max(end);
            }
            _ => reads.push(place.address..end),
        }
        let read = reads.len() - 1;
        // No longer than a read; that it fits memory is found out when it is made.
        let start = (place.address - reads[read].start) as usize;
        located.fetched = Some((read, start..start.saturating_add(place.stored_bytes as usize)));
    }
    reads
}
