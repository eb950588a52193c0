//! Slab after slab: the next chunks are decoded before they are asked for.
//!
//! Noticed at the second slab that begins where the one before it ended, along one axis or, at an
//! axis' end, along the next outer one. What the next slab will want is then decoded into the
//! cache, within a share of its budget:
//!
//! ```text
//! the slab leaves threads idle, or time passes between slabs
//!                  -> a thread of its own decodes all that is next, after the slab
//! the slab keeps all threads busy, or all that is next is more than that share
//!                  -> its chunks are filled up with some of the next to a multiple of the threads:
//!                     nine chunks take two threads as long as ten
//! ```

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use isotach_model::selection::{Axis, Selection};
use isotach_model::shape::byte_count;

use super::ChunkCache;
use crate::parallel;
use crate::plan::axis_runs::AxisRun;
use crate::plan::layout::{ArrayId, ArrayLayout, Placement};
use crate::sync::Mutex;

/// Arrays whose pattern is remembered. When there are more, all are forgotten.
const ARRAYS: usize = 256;
/// The share of the cache that chunks decoded ahead may take.
const SHARE_OF_BUDGET: u64 = 4;
/// A pause between two requests in which something can be decoded.
const PAUSE: Duration = Duration::from_micros(500);

/// Start and count along each axis.
type Slab = Vec<(u64, u64)>;

/// How an array was read last.
#[derive(Default)]
struct Track {
    slab: Slab,
    /// The axis along which slabs go on where the inner one is at its end, once that was seen.
    outer: Option<usize>,
    /// The chunks, as a slab of whole ones, that are decoded ahead already or are being so.
    ahead: Slab,
    ended: Option<Instant>,
    /// Counts up when the pattern breaks, or the reader comes to what is decoded ahead: work for it ends.
    epoch: Arc<AtomicU64>,
}

static TRACKS: Mutex<Option<HashMap<ArrayId, Track>>> = Mutex::fixed(None);

/// What a request that goes on where the last one ended may have decoded for the next one. Lives
/// as long as the request.
pub(crate) struct Ahead<'r> {
    cache: &'static ChunkCache,
    layout: &'r ArrayLayout,
    next: Next,
    /// The most chunks that may be decoded ahead.
    most: usize,
    /// Whether time passed since the last request.
    paused: bool,
    /// Whether nothing is left for [`Ahead::later`].
    done: AtomicBool,
}

/// What comes next, as long as the pattern holds.
#[derive(Clone)]
struct Next {
    /// In whole chunks.
    slab: Slab,
    chunk_count: usize,
    epoch: Arc<AtomicU64>,
    begun_in: u64,
}

/// Takes note of `selection`, which is read now; what to decode ahead where there is a pattern.
pub(crate) fn notice<'r>(
    cache: &'static ChunkCache,
    layout: &'r ArrayLayout,
    selection: &Selection,
) -> Option<Ahead<'r>> {
    let Placement::Chunked(chunked) = &layout.placement else { return None };
    if chunked.pipeline.filters.is_empty() || layout.shape.len() != selection.axes.len() {
        return None;
    }
    let slab = slab_of(selection)?;
    let mut tracks = tracks();
    let tracks = tracks.get_or_insert_default();
    if tracks.len() >= ARRAYS && !tracks.contains_key(&layout.id) {
        tracks.clear();
    }
    let track = tracks.entry(layout.id).or_default();
    let followed = follows(&track.slab, &slab, &layout.shape);
    track.slab.clone_from(&slab);
    let Some((axis, outer)) = followed else {
        track.epoch.fetch_add(1, Relaxed);
        (track.outer, track.ended) = (None, None);
        track.ahead.clear();
        return None;
    };
    track.outer = outer.or(track.outer);
    let chunk_shape = &chunked.chunk_shape;
    let next = next_chunks(&slab, axis, track.outer, chunk_shape, &layout.shape);
    if !track.ahead.is_empty() && next.as_ref() != Some(&track.ahead) {
        // From here on the reader decodes what is missing himself.
        track.epoch.fetch_add(1, Relaxed);
        track.ahead.clear();
    }
    let next = next?;
    let chunk_bytes = byte_count(chunk_shape, layout.element_size)?.max(1) as u64;
    let most = usize::try_from(cache.budget() / SHARE_OF_BUDGET / chunk_bytes).ok()?;
    let paused = track.ended.is_some_and(|ended| ended.elapsed() >= PAUSE);
    let done = AtomicBool::new(track.ahead == next);
    let lengths = next.iter().zip(chunk_shape).map(|(&(start, count), &len)| {
        usize::try_from((start + count - 1) / len - start / len + 1).unwrap_or(usize::MAX)
    });
    let chunk_count = lengths.fold(1, usize::saturating_mul);
    let epoch = Arc::clone(&track.epoch);
    let begun_in = epoch.load(Relaxed);
    let next = Next { slab: next, chunk_count, epoch, begun_in };
    Some(Ahead { cache, layout, next, most, paused, done })
}

fn tracks() -> MutexGuard<'static, Option<HashMap<ArrayId, Track>>> {
    TRACKS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Ahead<'_> {
    /// How many chunks a request that must decode `missing` decodes for the next one as well: no
    /// more than have no price.
    pub(crate) fn fill_up(&self, missing: usize) -> usize {
        let threads = parallel::thread_count();
        let is_for_later = self.paused && self.fits_whole();
        if missing < threads || is_for_later || self.done.swap(true, Relaxed) {
            return 0;
        }
        (missing.next_multiple_of(threads) - missing).min(self.most).min(self.next.chunk_count)
    }

    /// Whether all of what comes next may be decoded ahead.
    fn fits_whole(&self) -> bool {
        self.next.chunk_count <= self.most
    }

    /// Decodes one chunk for the next request: the one at `place` among those that are missing.
    pub(crate) fn keep_one(&self, place: usize) {
        self.next.keep(self.layout, self.cache, place, 1);
    }

    /// The request is over: another thread decodes what comes next, if that was not seen to.
    pub(crate) fn later(self) {
        if !self.fits_whole() || self.done.swap(true, Relaxed) {
            return;
        }
        if let Some(track) = tracks().as_mut().and_then(|all| all.get_mut(&self.layout.id)) {
            track.ahead.clone_from(&self.next.slab);
        }
        let (next, layout, cache) = (self.next.clone(), self.layout.clone(), self.cache);
        parallel::later(move || next.keep(&layout, cache, 0, next.chunk_count));
    }
}

impl Next {
    /// Decodes into the cache `most` of the chunks that are not there, `skipped` others aside.
    fn keep(&self, layout: &ArrayLayout, cache: &'static ChunkCache, skipped: usize, most: usize) {
        let run = |&(start, count)| AxisRun { result: 0, count, position: start, stride: 1 };
        let axes: Vec<Vec<AxisRun>> = self.slab.iter().map(|range| vec![run(range)]).collect();
        let go_on = || {
            self.epoch.load(Relaxed) == self.begun_in
                && super::open_files().contains(&layout.id.file)
        };
        // Nobody waits for this: what is wrong comes out when the chunk is asked for.
        let _ = crate::read::keep_chunks(layout, &axes, cache, skipped, most, go_on);
    }
}

impl Drop for Ahead<'_> {
    fn drop(&mut self) {
        if let Some(track) = tracks().as_mut().and_then(|all| all.get_mut(&self.layout.id)) {
            track.ended = Some(Instant::now());
        }
    }
}

/// Start and count along each axis; `None` for what is no slab.
fn slab_of(selection: &Selection) -> Option<Slab> {
    let slab = selection.axes.iter().map(|axis| match *axis {
        Axis::Range { start, count, stride: 1 } if count > 0 => Some((start, count)),
        _ => None,
    });
    slab.collect()
}

/// The axis along which `slab` goes on where `last` ended, all else being the same; and the axis
/// outside of it where `last` was at the inner one's end, and `slab` is at its beginning.
fn follows(last: &Slab, slab: &Slab, shape: &[u64]) -> Option<(usize, Option<usize>)> {
    if last.len() != slab.len() {
        return None;
    }
    let goes_on = |axis: usize| {
        let ((start, count), (next, next_count)) = (last[axis], slab[axis]);
        start.checked_add(count) == Some(next) && count == next_count
    };
    let begins_anew = |axis: usize| {
        let (start, count) = last[axis];
        start.checked_add(count) == Some(shape[axis]) && slab[axis].0 == 0
    };
    let differing: Vec<usize> = (0..slab.len()).filter(|&axis| last[axis] != slab[axis]).collect();
    match *differing {
        [axis] if goes_on(axis) => Some((axis, None)),
        [outer, inner] if goes_on(outer) && begins_anew(inner) => Some((inner, Some(outer))),
        _ => None,
    }
}

/// The chunks that come next along `axis`, or along `outer` at its end: as many as a slab has.
fn next_chunks(
    slab: &Slab,
    axis: usize,
    outer: Option<usize>,
    chunk_shape: &[u64],
    shape: &[u64],
) -> Option<Slab> {
    // From the chunk behind the slab's last one on.
    let behind = |axis: usize| {
        let ((start, count), chunk) = (slab[axis], chunk_shape[axis]);
        let from = ((start + count - 1) / chunk + 1).checked_mul(chunk)?;
        let len = count.div_ceil(chunk).checked_mul(chunk)?;
        (from < shape[axis]).then(|| (from, len.min(shape[axis] - from)))
    };
    let mut next = slab.clone();
    if let Some(range) = behind(axis) {
        next[axis] = range;
        return Some(next);
    }
    let outer = outer?;
    let (start, count) = slab[outer];
    let further = start.checked_add(count).filter(|&at| at < shape[outer])?;
    next[outer] = (further, count.min(shape[outer] - further));
    next[axis].0 = 0;
    Some(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: [u64; 3] = [4, 10, 100];
    const CHUNKS: [u64; 3] = [2, 3, 100];

    /// Row after row of level after level.
    fn row(level: u64, row: u64) -> Slab {
        vec![(level, 1), (row, 1), (0, 100)]
    }

    #[test]
    fn slabs_follow_along_one_axis_and_over_its_end() {
        let follows = |last, slab| super::follows(&last, &slab, &SHAPE);
        assert_eq!(follows(row(0, 4), row(0, 5)), Some((1, None)));
        assert_eq!(follows(row(0, 9), row(1, 0)), Some((1, Some(0))));
        for no in [row(0, 4), row(0, 6), row(1, 5), row(1, 4)] {
            let along_levels = no == row(1, 4);
            assert_eq!(follows(row(0, 4), no).is_some(), along_levels);
        }
        assert_eq!(follows(row(0, 8), row(1, 0)), None);
        assert_eq!(follows(Slab::new(), row(0, 0)), None);
    }

    #[test]
    fn the_next_chunks_are_those_behind_the_slab() {
        let next = |slab, outer| next_chunks(&slab, 1, outer, &CHUNKS, &SHAPE);
        assert_eq!(next(row(1, 4), None), Some(vec![(1, 1), (6, 3), (0, 100)]));
        // The last chunk is cut off at the array's end.
        assert_eq!(next(row(1, 7), None), Some(vec![(1, 1), (9, 1), (0, 100)]));
        assert_eq!(next(row(1, 9), None), None);
        assert_eq!(next(row(1, 9), Some(0)), Some(vec![(2, 1), (0, 1), (0, 100)]));
        assert_eq!(next(row(3, 9), Some(0)), None);
    }
}
