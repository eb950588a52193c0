//! Slab after slab along one axis: the next chunks are decoded before they are asked for.
//!
//! Noticed at the second slab that begins where the one before it ended. Then the chunks behind
//! the present ones are decoded on a thread of the pool, into the cache, within a share of its
//! budget. It is not done where a request keeps all threads busy by itself and the next one follows
//! at once: there is nothing to gain.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use isotach_model::selection::{Axis, Selection};

use super::ChunkCache;
use crate::parallel;
use crate::plan::axis_runs::AxisRun;
use crate::plan::layout::{ArrayId, ArrayLayout, Placement};

/// Arrays whose pattern is remembered. When there are more, all are forgotten.
const ARRAYS: usize = 256;
/// The share of the cache that chunks decoded ahead may take.
const SHARE_OF_BUDGET: u64 = 4;
/// A pause between two requests in which something can be decoded.
const PAUSE: Duration = Duration::from_micros(500);

/// How an array was read last.
struct Track {
    /// Start and count along each axis.
    slab: Vec<(u64, u64)>,
    /// How many slabs in a row followed one another.
    streak: u32,
    /// Chunks along the axis that are decoded ahead already, or are being so.
    ahead_to: u64,
    ended: Instant,
    /// Counts up when the pattern breaks: work for an older one ends.
    epoch: Arc<AtomicU64>,
}

static TRACKS: Mutex<Option<HashMap<ArrayId, Track>>> = Mutex::new(None);

/// Tells that `selection` of an array was read, and decodes ahead what seems to come next.
pub(crate) fn notice(cache: &'static ChunkCache, layout: &ArrayLayout, selection: &Selection) {
    let Placement::Chunked(chunked) = &layout.placement else { return };
    if chunked.pipeline.filters.is_empty() || layout.shape.len() != selection.axes.len() {
        return;
    }
    let Some(slab) = slab_of(selection) else { return };
    let Some((axis, epoch)) = track(layout.id, &slab, &chunked.chunk_shape, &layout.shape) else {
        return;
    };
    let Some(next) = next_chunks(&slab, axis, &chunked.chunk_shape, &layout.shape) else { return };
    let chunk_bytes = isotach_model::shape::byte_count(&chunked.chunk_shape, layout.element_size);
    let chunks = next
        .iter()
        .zip(&chunked.chunk_shape)
        .try_fold(1u64, |n, (&(_, count), &len)| n.checked_mul(count.div_ceil(len.max(1))));
    let bytes = chunk_bytes.and_then(|bytes| chunks?.checked_mul(bytes as u64));
    if bytes.is_none_or(|bytes| bytes > cache.budget() / SHARE_OF_BUDGET) {
        return;
    }
    let layout = layout.clone();
    let started = epoch.load(Relaxed);
    parallel::spawn(move || {
        let axes: Vec<Vec<AxisRun>> = next
            .iter()
            .map(|&(start, count)| vec![AxisRun { result: 0, count, position: start, stride: 1 }])
            .collect();
        let go_on =
            || epoch.load(Relaxed) == started && super::open_files().contains(&layout.id.file);
        // Nobody waits for this: what is wrong comes out when the chunk is asked for.
        let _ = crate::read::keep_chunks(&layout, &axes, cache, go_on);
    });
}

/// Start and count along each axis; `None` for what is no slab.
fn slab_of(selection: &Selection) -> Option<Vec<(u64, u64)>> {
    let slab = selection.axes.iter().map(|axis| match *axis {
        Axis::Range { start, count, stride: 1 } if count > 0 => Some((start, count)),
        _ => None,
    });
    slab.collect()
}

/// Remembers the slab; the axis along which to decode ahead, where that is due now.
fn track(
    array: ArrayId,
    slab: &[(u64, u64)],
    chunk_shape: &[u64],
    shape: &[u64],
) -> Option<(usize, Arc<AtomicU64>)> {
    let now = Instant::now();
    let mut tracks = TRACKS.lock().unwrap_or_else(PoisonError::into_inner);
    let tracks = tracks.get_or_insert_default();
    if tracks.len() >= ARRAYS && !tracks.contains_key(&array) {
        tracks.clear();
    }
    let track = tracks.entry(array).or_insert_with(|| Track {
        slab: Vec::new(),
        streak: 0,
        ahead_to: 0,
        ended: now,
        epoch: Arc::default(),
    });
    let axis = follows(&track.slab, slab);
    let paused = now.duration_since(track.ended) >= PAUSE;
    track.ended = now;
    track.slab.clear();
    track.slab.extend_from_slice(slab);
    let Some(axis) = axis else {
        track.epoch.fetch_add(1, Relaxed);
        (track.streak, track.ahead_to) = (0, 0);
        return None;
    };
    track.streak += 1;
    let (start, count) = slab[axis];
    let next_chunk = (start + count - 1) / chunk_shape[axis] + 1;
    let chunks = slab
        .iter()
        .zip(chunk_shape)
        .map(|(&(start, count), &len)| (start + count - 1) / len - start / len + 1);
    let busy = chunks.fold(1, u64::saturating_mul) >= parallel::thread_count() as u64 && !paused;
    let beyond = next_chunk.checked_mul(chunk_shape[axis]).is_none_or(|at| at >= shape[axis]);
    if busy || beyond || next_chunk <= track.ahead_to {
        return None;
    }
    track.ahead_to = next_chunk;
    Some((axis, Arc::clone(&track.epoch)))
}

/// The axis along which `slab` begins where `last` ended, all else being the same.
fn follows(last: &[(u64, u64)], slab: &[(u64, u64)]) -> Option<usize> {
    if last.len() != slab.len() {
        return None;
    }
    let mut differing = (0..slab.len()).filter(|&axis| last[axis] != slab[axis]);
    let axis = differing.next().filter(|_| differing.next().is_none())?;
    let ((start, count), (next, next_count)) = (last[axis], slab[axis]);
    (start.checked_add(count) == Some(next) && count == next_count).then_some(axis)
}

/// The region of the chunks that come next along `axis`: as many as a slab has.
fn next_chunks(
    slab: &[(u64, u64)],
    axis: usize,
    chunk_shape: &[u64],
    shape: &[u64],
) -> Option<Vec<(u64, u64)>> {
    let mut next = slab.to_vec();
    let (start, count) = slab[axis];
    let chunk = chunk_shape[axis];
    let from = ((start + count - 1) / chunk + 1).checked_mul(chunk)?;
    let len = count.div_ceil(chunk).checked_mul(chunk)?;
    next[axis] = (from, len.min(shape[axis].checked_sub(from)?));
    (next[axis].1 > 0).then_some(next)
}
