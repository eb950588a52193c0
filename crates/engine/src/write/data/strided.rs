//! Arrays that lie in rows: the selected runs straight from the caller's memory to their place.
//!
//! ```text
//! selection -> blocks that are one run in the file -> one run in the caller's memory? -> write
//!                                                  -> otherwise gather -> write
//! ```
//! Runs that follow one another, in memory and in the file, are written with one call. What was
//! never written gets the fill value at a flush, so that writing all of an array writes it once.
//! Without one it becomes zeros where the file may have other bytes: those of what was there before.
//!
//! Elements that a commit leads to stay where and as they are until the next one: who writes over some of them has the
//! array move to fresh space first. Those that were never written are not waited for.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use isotach_model::selection::{Axis, Selection};
use isotach_model::shape;

use super::cover::{Cover, Cursor};
use super::gather::{Elements, Gather};
use super::{Target, fill_with};
use crate::error::{ErrorKind, Result};
use crate::plan::axis_runs::bounds_of;
use crate::plan::layout::{BeyondEnd, Placement};
use crate::plan::one_run::OneRun;
use crate::storage::{storage_error, uninit};

/// The longest run that is gathered, and the longest piece of fill.
const BUFFER_BYTES: u64 = 1 << 20;
/// Arrays of so many bytes always have room for another one.
const SMALL_BYTES: u64 = 64 << 10;
/// So many pieces are remembered; where there would be more, what is between them is filled.
const MOST_PIECES: usize = 1 << 16;

/// The elements of an array that is contiguous in the file.
pub struct StridedStore {
    target: Target,
    shape: Vec<u64>,
    element_size: usize,
    /// One stored element, for what was never written; `None` for zeros, as the file has behind its end.
    fill: Option<Arc<[u8]>>,
    /// Bytes from one element to the next along each axis.
    strides: Vec<u64>,
    len: u64,
    /// Whether elements are shown before their commit where none was ever written.
    shows_first: bool,
    /// Whether elements that a commit leads to are never written over.
    keeps_committed: bool,
    state: Mutex<State>,
}

/// What is in the file.
struct State {
    /// Where the array is; `None` until something is written.
    address: Option<u64>,
    /// Whether a commit leads there.
    is_committed: bool,
    /// Bytes that still hold nothing, where that is known: first and one past the last.
    gaps: Gaps,
    /// Bytes that nobody has written, where that is known; a flush has filled them.
    unwritten: Gaps,
}

/// Where a write goes.
struct Place {
    address: u64,
    /// Where the array was, if it moved and this write brings all of it.
    left: Option<u64>,
}

/// Ranges of bytes: the end of each by its beginning. None overlaps or touches another one.
#[derive(Default)]
struct Gaps(BTreeMap<u64, u64>);

/// Bytes that are written next.
#[derive(Clone, Copy)]
struct Run {
    /// Whether they are the caller's, or gathered ones.
    is_callers: bool,
    start: usize,
    len: usize,
    address: u64,
}

impl StridedStore {
    /// An array of `shape`, at `existing` if it is in the file already: then all of it counts as
    /// written. An error says that it is larger than a file can be.
    pub fn new(
        target: Target,
        shape: Vec<u64>,
        element_size: usize,
        fill: Option<Arc<[u8]>>,
        existing: Option<u64>,
    ) -> Result<Self> {
        let too_large = || target.limit("bytes of an array", u64::MAX, isize::MAX as u64);
        let len = shape::byte_count(&shape, element_size).ok_or_else(too_large)? as u64;
        let strides = shape::row_major_strides(&shape).ok_or_else(too_large)?;
        let strides = strides.into_iter().map(|stride| stride * element_size as u64).collect();
        let is_committed = existing.is_some();
        let (gaps, mut unwritten) = (Gaps::default(), Gaps::default());
        if !is_committed && len > 0 {
            unwritten.0.insert(0, len);
        }
        let state = Mutex::new(State { address: existing, is_committed, gaps, unwritten });
        // Nobody else looks into memory, which may have no room for another one that is large.
        let keeps_committed = len <= SMALL_BYTES || target.storage.largest_len() == u64::MAX;
        let shows_first = true;
        Ok(Self {
            target,
            shape,
            element_size,
            fill,
            strides,
            len,
            shows_first,
            keeps_committed,
            state,
        })
    }

    /// The same for references: one into a heap that no commit has would be all that is left of it.
    pub fn of_references(self) -> Self {
        Self { shows_first: false, keeps_committed: true, ..self }
    }

    /// Says that a commit leads to what was written.
    pub fn mark_committed(&self) {
        let mut state = self.lock();
        state.is_committed = state.address.is_some();
        if !self.shows_first {
            state.unwritten = Gaps::default();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// See [`super::Store::check`]: all of an array gets its place with the first element that is written, and
    /// another one with the first that is written over.
    pub fn check(&self, selection: &Selection) -> Result<()> {
        self.check_inside(selection)?;
        let state = self.lock();
        let moves = self.moves(&state, &self.range(selection));
        if state.address.is_some() && !moves {
            return Ok(());
        }
        drop(state);
        let storage = &self.target.storage;
        let largest = storage.largest_len();
        if largest == u64::MAX {
            let room = if self.fill.is_some() || moves { storage.room() } else { u64::MAX };
            return match self.len <= room {
                true => Ok(()),
                false => Err(self.target.limit("bytes of an array", self.len, room)),
            };
        }
        let there =
            storage.len().map_err(|source| storage_error(&self.target.file, 0, 0, source))?;
        match there.saturating_add(self.len) {
            needed if needed <= largest => Ok(()),
            needed => Err(self.target.limit("bytes of a file in memory", needed, largest)),
        }
    }

    /// That the selection lies in the array, which does not grow: its dimensions may be longer in a file of others.
    fn check_inside(&self, selection: &Selection) -> Result<()> {
        let inside = selection.check(&self.shape);
        inside.map_err(|error| self.target.error(ErrorKind::Selection(error)))
    }

    /// Writes elements; see [`super::Store::write`].
    pub fn write(&self, selection: &Selection, elements: &[u8]) -> Result<()> {
        let size = self.element_size;
        if let Some(run) = OneRun::new(selection, &self.shape, &self.shape)
            && run.count.checked_mul(size as u64) == Some(elements.len() as u64)
        {
            let first = run.first * size as u64;
            let place = self.place(first..first + elements.len() as u64, true)?;
            let address = place.address + first;
            let run = Run { is_callers: true, start: 0, len: elements.len(), address };
            return self.settle(&place, self.write_run(run, elements, &[]));
        }
        let source_strides = self.target.check(selection, elements, &self.shape, size)?;
        if elements.is_empty() {
            return Ok(());
        }
        let place = self.place(self.range(selection), false)?;
        let written = self.write_runs(&place, selection, elements, &source_strides);
        self.settle(&place, written)
    }

    fn write_runs(
        &self,
        place: &Place,
        selection: &Selection,
        elements: &[u8],
        source_strides: &[usize],
    ) -> Result<()> {
        let (address, size) = (place.address, self.element_size);
        let (block_shape, block_strides) = self.blocks(selection);
        let cover = Cover::new(selection, &block_shape, &self.shape)
            .ok_or_else(|| self.target.limit("runs of a write", u64::MAX, usize::MAX as u64))?;
        let elements = Elements { bytes: elements, strides: source_strides, element_size: size };
        let mut gather = Gather::new(elements, &block_shape, &block_strides);
        let mut cursor = cover.cursor(0);
        let mut buffer = Vec::new();
        let mut last: Option<Run> = None;
        for _ in 0..cover.count() {
            let mut run = self.run(&cursor, address);
            match gather.one_run(&cursor.region, run.len) {
                Some(start) => (run.is_callers, run.start) = (true, start),
                None => {
                    if buffer.len() + run.len > BUFFER_BYTES as usize
                        && let Some(full) = last.take()
                    {
                        self.write_run(full, elements.bytes, &buffer)?;
                        buffer.clear();
                    }
                    run.start = buffer.len();
                    buffer.resize(run.start + run.len, 0);
                    let origin = origin(&cursor, &block_shape, &block_strides);
                    let copied =
                        gather.copy(&cursor.region, &mut buffer[run.start..], origin, |_| ());
                    copied.map_err(|_| self.target.limit("bytes of a run", self.len, self.len))?;
                }
            }
            last = match last {
                Some(last) if last.goes_on_in(&run) => {
                    Some(Run { len: last.len + run.len, ..last })
                }
                Some(done) => {
                    self.write_run(done, elements.bytes, &buffer)?;
                    Some(run)
                }
                None => Some(run),
            };
            cursor.advance();
        }
        last.map_or(Ok(()), |last| self.write_run(last, elements.bytes, &buffer))
    }

    /// Writes the fill value to what was never written, once anything was.
    pub fn flush(&self) -> Result<()> {
        let mut state = self.lock();
        let Some(address) = state.address else { return Ok(()) };
        let size = self.element_size.max(1) as u64;
        let longest = state.gaps.0.iter().map(|(first, end)| end - first).max().unwrap_or(0);
        let most = (BUFFER_BYTES / size).max(1).saturating_mul(size);
        let mut buffer = vec![0; longest.min(most) as usize];
        if let Some(fill) = &self.fill {
            fill_with(&mut buffer, fill);
        }
        while let Some((first, end)) = state.gaps.first() {
            let piece = (end - first).min(buffer.len() as u64);
            self.target.write_at(address + first, &buffer[..piece as usize])?;
            state.gaps.remove(first, first + piece);
        }
        Ok(())
    }

    /// Where the elements are.
    pub fn placement(&self) -> Placement {
        match self.address_if_any() {
            None => Placement::Unallocated,
            Some(address) => Placement::Strided {
                address,
                strides_bytes: self.strides.clone(),
                beyond_end: BeyondEnd::Error,
            },
        }
    }

    /// Bytes of the whole array.
    pub fn byte_len(&self) -> u64 {
        self.len
    }

    /// Where the array is in the file; `None` where nothing was ever written.
    pub fn address_if_any(&self) -> Option<u64> {
        self.lock().address
    }

    /// The bytes of the array from the first selected element to the last.
    fn range(&self, selection: &Selection) -> Range<u64> {
        let (mut first, mut last) = (0, 0);
        for (axis, stride) in selection.axes.iter().zip(&self.strides) {
            let Some((low, high)) = axis.bounds() else { return 0..0 };
            first += low * stride;
            last += high * stride;
        }
        first..last + self.element_size as u64
    }

    /// Where bytes `range` of the array are to be written, all of them or some, from now on at the latest.
    fn place(&self, range: Range<u64>, all: bool) -> Result<Place> {
        let mut state = self.lock();
        let (address, left) = match state.address {
            Some(committed) if self.moves(&state, &range) => {
                let brings_all = all && range == (0..self.len);
                let address = self.target.space.allocate(self.len);
                self.target.storage.expect(address.saturating_add(self.len));
                if !brings_all {
                    self.copy(committed, address)?;
                }
                (address, brings_all.then_some(committed))
            }
            Some(address) => return Ok(Place { address, left: None }),
            None => {
                let address = self.target.space.allocate(self.len);
                let unfilled = self.unfilled_from(address)?;
                if unfilled > 0 {
                    state.gaps.0.insert(0, unfilled);
                }
                self.target.storage.expect(address.saturating_add(self.len));
                (address, None)
            }
        };
        (state.address, state.is_committed) = (Some(address), false);
        Ok(Place { address, left })
    }

    /// Ends a write: where it was to bring all of an array that moved, and failed, the array is where it was.
    fn settle(&self, place: &Place, written: Result<()>) -> Result<()> {
        if let Some(left) = place.left {
            let mut state = self.lock();
            let unused = if written.is_ok() { left } else { place.address };
            if written.is_err() {
                (state.address, state.is_committed) = (Some(left), true);
            }
            drop(state);
            self.target.space.settle();
            self.target.space.free(unused, self.len);
        }
        written
    }

    /// Whether the array moves before bytes `range` are written.
    fn moves(&self, state: &State, range: &Range<u64>) -> bool {
        let writes_over =
            state.is_committed && !range.is_empty() && !state.unwritten.contain(range);
        writes_over && self.keeps_committed
    }

    /// How many bytes of a place do not hold yet what is read where nothing was written.
    fn unfilled_from(&self, address: u64) -> Result<u64> {
        if self.fill.is_some() {
            return Ok(self.len);
        }
        let end = self.target.storage.len();
        let end =
            end.map_err(|source| storage_error(&self.target.file, address, self.len, source))?;
        Ok(end.saturating_sub(address).min(self.len))
    }

    /// Copies the array to fresh space, and frees the one that is not needed any more.
    fn copy(&self, from: u64, to: u64) -> Result<()> {
        let mut buffer = Vec::new();
        let mut pieces = (0..self.len).step_by(BUFFER_BYTES as usize);
        let copied = pieces.try_for_each(|at| {
            let len = BUFFER_BYTES.min(self.len - at);
            let storage = self.target.storage.as_ref();
            uninit::read_vec(storage, from + at, len as usize, &mut buffer)
                .map_err(|source| storage_error(&self.target.file, from + at, len, source))?;
            self.target.write_at(to + at, &buffer)
        });
        let unused = if copied.is_ok() { from } else { to };
        self.target.space.settle();
        self.target.space.free(unused, self.len);
        copied
    }

    /// The shape of the largest blocks of which the selection has one run of bytes each, and the
    /// bytes from one element to the next along each axis of a block.
    fn blocks(&self, selection: &Selection) -> (Vec<u64>, Vec<u64>) {
        let mut block_shape = vec![1; self.shape.len()];
        let mut is_in_order = true;
        for axis in (0..self.shape.len()).rev() {
            let (wanted, len) = (&selection.axes[axis], self.shape[axis]);
            let Some((low, high)) = dense_bounds(wanted) else { break };
            is_in_order &= wanted.is_ascending_run();
            // What must be gathered needs a buffer.
            let most = if is_in_order { len } else { BUFFER_BYTES / self.strides[axis].max(1) };
            block_shape[axis] = len.min(most.max(1));
            if (low, high) != (0, len - 1) || block_shape[axis] < len {
                break;
            }
        }
        let strides = shape::row_major_strides(&block_shape).unwrap_or_default();
        let size = self.element_size as u64;
        let strides = strides.into_iter().map(|stride| stride * size).collect();
        (block_shape, strides)
    }

    /// The run of bytes of the block at which `cursor` stands.
    fn run(&self, cursor: &Cursor<'_>, address: u64) -> Run {
        let (mut first, mut len) = (0, self.element_size as u64);
        for (runs, stride) in cursor.region.iter().zip(&self.strides) {
            let (low, high) = bounds_of(runs);
            first += low * stride;
            len += (high - low) * stride;
        }
        Run { is_callers: false, start: 0, len: len as usize, address: address + first }
    }

    fn write_run(&self, run: Run, callers: &[u8], buffer: &[u8]) -> Result<()> {
        let bytes = if run.is_callers { callers } else { buffer };
        let mut state = self.lock();
        let first = run.address - state.address.unwrap_or(run.address);
        state.gaps.remove(first, first + run.len as u64);
        state.unwritten.remove(first, first + run.len as u64);
        if state.unwritten.0.len() > MOST_PIECES {
            state.unwritten = Gaps::default();
        }
        let is_scattered = state.gaps.0.len() > MOST_PIECES;
        drop(state);
        if is_scattered {
            self.flush()?;
        }
        self.target.write_at(run.address, &bytes[run.start..run.start + run.len])
    }
}

impl Run {
    /// Whether `next` follows in memory and in the file.
    fn goes_on_in(&self, next: &Self) -> bool {
        self.is_callers == next.is_callers
            && self.start + self.len == next.start
            && self.address + self.len as u64 == next.address
    }
}

impl Gaps {
    fn first(&self) -> Option<(u64, u64)> {
        self.0.first_key_value().map(|(&first, &end)| (first, end))
    }

    /// Whether all of `range` is one gap.
    fn contain(&self, range: &Range<u64>) -> bool {
        let gap = self.0.range(..=range.start).next_back();
        gap.is_some_and(|(_, &end)| end >= range.end)
    }

    /// Bytes `first .. end` are no gap any more.
    fn remove(&mut self, first: u64, end: u64) {
        while let Some((&low, &high)) = self.0.range(..end).next_back() {
            if high <= first {
                return;
            }
            self.0.remove(&low);
            if high > end {
                self.0.insert(end, high);
            }
            if low < first {
                self.0.insert(low, first);
                return;
            }
        }
    }
}

/// Where in its block the first selected element lies, in bytes.
fn origin(cursor: &Cursor<'_>, block_shape: &[u64], block_strides: &[u64]) -> usize {
    let axes = cursor.region.iter().zip(block_shape).zip(block_strides);
    axes.map(|((runs, len), stride)| bounds_of(runs).0 % len * stride).sum::<u64>() as usize
}

/// The lowest and the highest position, if all positions between them are selected.
fn dense_bounds(axis: &Axis) -> Option<(u64, u64)> {
    let (low, high) = axis.bounds()?;
    let count = match axis {
        Axis::Range { count, .. } => *count,
        Axis::Indices(positions) => {
            let mut positions = positions.clone();
            positions.sort_unstable();
            positions.dedup();
            positions.len() as u64
        }
    };
    (high - low < count).then_some((low, high))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn gaps_are_as_a_list_of_booleans(
            ranges in prop::collection::vec((0u64..64, 0u64..20), 0..12),
        ) {
            let (mut gaps, mut model) = (Gaps(BTreeMap::from([(0, 64)])), [true; 64]);
            for (first, len) in ranges {
                let end = (first + len).min(64);
                gaps.remove(first, end);
                model[first as usize..end as usize].fill(false);
            }
            let mut found = [false; 64];
            gaps.0.iter().for_each(|(&low, &high)| found[low as usize..high as usize].fill(true));
            prop_assert_eq!(found, model);
            prop_assert!(gaps.0.iter().all(|(low, high)| low < high));
        }
    }
}
