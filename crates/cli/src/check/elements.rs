//! Elements: every stored chunk is fetched, its checksum verified, decoded; all else is read in
//! pieces.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use isotach::model::selection::{Axis, Selection};
use isotach::plan::layout::{BeyondEnd, Chunked, Placement};
use isotach::read::Array;

use crate::progress::Progress;
use crate::size;
use crate::slabs::Slabs;

/// Faults told of one array; the rest is only counted.
const TOLD_FAULTS: usize = 20;
/// Larger chunks are not decoded: no program writes them, and they would have to lie in memory.
const LARGEST_CHUNK_BYTES: u64 = 1 << 30;
/// More elements than this are not read where they take no room in the file: a shape alone
/// should not keep the check busy.
const LARGEST_ARRAY_BYTES: u64 = 1 << 36;
/// Chunks that are listed before they are decoded.
const BATCH: usize = 4096;

/// What came of reading an array.
#[derive(Default)]
pub(super) struct Outcome {
    pub(super) chunks: u64,
    pub(super) unreadable_chunks: u64,
    /// Bytes of elements that were read.
    pub(super) bytes: u64,
    /// What is wrong.
    pub(super) faults: Vec<String>,
}

impl Outcome {
    fn fault(&mut self, what: String) {
        if self.faults.len() < TOLD_FAULTS {
            self.faults.push(what);
        }
    }
}

/// Reads all of an array, and tells `progress` the bytes of its elements that are done.
pub(super) fn read(array: &Arc<Array>, progress: &Progress) -> Outcome {
    let mut outcome = Outcome::default();
    match &array.layout.placement {
        Placement::Chunked(chunked) => read_chunks(array, chunked, &mut outcome, progress),
        Placement::Strided { beyond_end, .. } => {
            let missing = array.layout.missing_bytes();
            if missing == 0 {
                read_pieces(array, &mut outcome, progress);
            } else {
                let read_as = match beyond_end {
                    BeyondEnd::Error | BeyondEnd::Missing => "cannot be read",
                    BeyondEnd::Zeros => "read as zeros",
                };
                let missing = size::shown(missing);
                outcome.fault(format!("the file ends {missing} before the elements: {read_as}"));
            }
        }
        // There is nothing of them in the file.
        Placement::Unallocated => {}
        Placement::Inline(_) | Placement::External { .. } | Placement::Virtual(_) => {
            read_pieces(array, &mut outcome, progress);
        }
    }
    outcome
}

fn read_pieces(array: &Arc<Array>, outcome: &mut Outcome, progress: &Progress) {
    if size::logical_bytes(array).is_none_or(|bytes| bytes > LARGEST_ARRAY_BYTES) {
        return outcome.fault("larger than what is checked".to_owned());
    }
    for (selection, values) in Slabs::new(Arc::clone(array)) {
        let bytes = bytes_of(array, &selection);
        progress.advance(bytes);
        match values {
            Ok(_) => outcome.bytes += bytes,
            Err(error) => outcome.fault(format!("elements {selection}: {}", error.kind)),
        }
    }
}

fn bytes_of(array: &Array, selection: &Selection) -> u64 {
    let count = selection.element_count().unwrap_or(u64::MAX);
    count.saturating_mul(array.layout.element_size as u64)
}

fn read_chunks(array: &Arc<Array>, chunked: &Chunked, outcome: &mut Outcome, progress: &Progress) {
    let chunk_bytes = chunked
        .chunk_shape
        .iter()
        .fold(array.layout.element_size as u64, |bytes, &len| bytes.saturating_mul(len));
    if chunk_bytes > LARGEST_CHUNK_BYTES {
        return outcome.fault(format!("chunks of {} are not checked", size::shown(chunk_bytes)));
    }
    let mut batch = Vec::new();
    let listed = chunked.index.for_each(&mut |coordinates, _| {
        batch.push(coordinates.to_vec());
        if batch.len() == BATCH {
            read_batch(array, chunked, &std::mem::take(&mut batch), outcome, progress);
        }
        Ok(())
    });
    read_batch(array, chunked, &batch, outcome, progress);
    if let Err(error) = listed {
        outcome.fault(format!("chunk index: {}", error.kind));
    }
    let untold = (outcome.unreadable_chunks as usize).saturating_sub(TOLD_FAULTS);
    if untold > 0 {
        outcome.faults.push(format!("{untold} more chunks cannot be read"));
    }
    if outcome.unreadable_chunks > 0 {
        let (unreadable, chunks) = (outcome.unreadable_chunks, outcome.chunks);
        outcome.faults.push(format!("{} of {chunks} chunks can be read", chunks - unreadable));
    }
}

/// Reads the chunks with these coordinates, on all cores.
fn read_batch(
    array: &Array,
    chunked: &Chunked,
    batch: &[Vec<u64>],
    outcome: &mut Outcome,
    progress: &Progress,
) {
    let next = AtomicUsize::new(0);
    let shared = Mutex::new(outcome);
    let work = || {
        while let Some(coordinates) = batch.get(next.fetch_add(1, Ordering::Relaxed)) {
            let Some(selection) = region(array, chunked, coordinates) else { continue };
            let read = array.read(&selection).map(drop);
            let bytes = bytes_of(array, &selection);
            progress.advance(bytes);
            let mut outcome = shared.lock().unwrap_or_else(PoisonError::into_inner);
            outcome.chunks += 1;
            match read {
                Ok(()) => outcome.bytes += bytes,
                Err(error) => {
                    outcome.unreadable_chunks += 1;
                    outcome.fault(match error.kind {
                        kind @ isotach::ErrorKind::Chunk { .. } => kind.to_string(),
                        kind => format!("chunk {coordinates:?}: {kind}"),
                    });
                }
            }
        }
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 1..cores.min(batch.len()) {
            scope.spawn(work);
        }
        work();
    });
}

/// The elements of a chunk that lie within the array; `None` where there are none.
fn region(array: &Array, chunked: &Chunked, coordinates: &[u64]) -> Option<Selection> {
    let lengths = chunked.chunk_shape.iter().zip(&array.layout.shape);
    let axes = coordinates.iter().zip(lengths).map(|(&coordinate, (&chunk_len, &len))| {
        let start = coordinate.checked_mul(chunk_len).filter(|&start| start < len)?;
        Some(Axis::range(start, chunk_len.min(len - start), 1))
    });
    let axes: Vec<Axis> = axes.collect::<Option<_>>()?;
    (axes.len() == array.shape.len()).then_some(Selection { axes })
}
