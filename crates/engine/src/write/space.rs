//! Which bytes of the file are in use.
//!
//! Readers take no lock, and what the last commit refers to may be replayed or fallen back to. So
//! freed space waits:
//!
//! ```text
//! allocate -> fresh --free--------------------------------------> free -> allocate
//!               |commit                                            ^
//!             in use --free--> freed --commit--> waiting --commit--+
//! ```
//! What was allocated since the last commit is known to nobody else and is free at once. What
//! the last commit, or one that is under way, refers to is free after two commits: the first no longer
//! refers to it, the second shows that the first one is over.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::writer::Alignment;

/// Finds the pieces of a file that something in its last commit is in, in their order: address and
/// bytes. `None` where that cannot be told.
pub(crate) type Survey = Box<dyn Fn() -> Option<Vec<(u64, u64)>> + Send>;

/// The file is looked at where it would otherwise grow beyond a multiple of about this part of it, and
/// of these bytes at least.
const SURVEYED_PART: u64 = 16;
const SURVEYED_BYTES: u64 = 4096;

/// A gap takes a part of what is written together where that is at least this part of it.
const SMALLEST_PART: u64 = 4;

/// The smallest free places that are tried when an alignment is asked for.
const TRIED: usize = 16;

/// The space of one file that is open for writing, in addresses of the file. Used by all threads.
pub struct Space {
    alignment: Alignment,
    /// Tells what is free from before the file was opened. A session that takes little does without:
    /// the file is looked at only where its end would come to another multiple of `step`.
    survey: Mutex<Option<Survey>>,
    step: u64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Behind everything that is in use or waiting; nothing free touches it.
    end: u64,
    free: FreeList,
    /// Allocated since the last commit began.
    fresh: Extents,
    /// Freed since the last commit began, and not fresh.
    freed: Extents,
    /// Freed before the last commit that is over.
    waiting: Extents,
    /// The commit that is under way.
    commit: Option<UnderWay>,
    /// Commits that began.
    commit_count: u64,
    /// Allocated since the file was opened, and not freed: whoever has it frees it.
    own: Extents,
}

#[derive(Debug)]
struct UnderWay {
    fresh: Extents,
    freed: Extents,
    record: Range<u64>,
}

impl Space {
    /// The space of a file that ends at `end`, all of it in use.
    pub fn new(end: u64) -> Self {
        Self::aligned(end, Alignment::default())
    }

    /// The same, where larger pieces are aligned.
    pub fn aligned(end: u64, alignment: Alignment) -> Self {
        let state = Mutex::new(State { end, ..State::default() });
        let step = (end / SURVEYED_PART).max(SURVEYED_BYTES).next_power_of_two();
        Self { alignment, survey: Mutex::default(), step, state }
    }

    /// Says how to find what of the file is not in use.
    pub(crate) fn set_survey(&self, survey: Survey) {
        *self.survey.lock().unwrap_or_else(PoisonError::into_inner) = Some(survey);
    }

    /// Finds what of the file is not in use. Others wait until that is done.
    fn survey(&self) {
        let mut survey = self.survey.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(find) = &*survey else { return };
        let state = self.lock();
        let (is_between_commits, commit_count) = (state.commit.is_none(), state.commit_count);
        drop(state);
        // What a commit that is under way leads to is looked at later.
        if !is_between_commits {
            return;
        }
        let used = find();
        let mut state = self.lock();
        if commit_count == state.commit_count {
            if let Some(used) = used {
                state.give_back_unused(&used);
            }
            *survey = None;
        }
    }

    /// The address of `bytes` bytes that nobody uses, a multiple of `alignment`, or of the file's if
    /// that is larger.
    ///
    /// There is always an address: one beyond what a file can have is an error when it is written.
    pub fn allocate(&self, bytes: u64, alignment: u64) -> u64 {
        self.allocate_aligned(&[bytes], alignment.max(self.alignment.of(bytes))).0
    }

    /// [`super::data::Allocate::allocate_first`]. Where no gap has room for all, the largest takes what it
    /// can, unless that is little: what is written together is to lie in few pieces.
    fn allocate_aligned(&self, ends: &[u64], alignment: u64) -> (u64, usize) {
        let bytes = ends.last().copied().unwrap_or_default();
        let mut state = self.lock();
        let mut whole = state.free.take(bytes, alignment);
        if whole.is_none() && state.end / self.step != state.end.saturating_add(bytes) / self.step {
            drop(state);
            self.survey();
            state = self.lock();
            whole = state.free.take(bytes, alignment);
        }
        let part = || {
            let gap = state.free.largest().saturating_sub(alignment - 1);
            let count = ends.partition_point(|&end| end <= gap);
            let part = *ends.get(count.checked_sub(1)?)?;
            if part < bytes / SMALLEST_PART {
                return None;
            }
            Some((state.free.take(part, alignment)?, part, count))
        };
        let whole = whole.map(|address| (address, bytes, ends.len()));
        let (address, bytes, count) = whole
            .or_else(part)
            .unwrap_or_else(|| (state.place(bytes, alignment), bytes, ends.len()));
        let range = address..address.saturating_add(bytes);
        state.fresh.insert(range.clone());
        state.own.insert(range);
        (address, count)
    }

    /// Takes `bytes` bytes at `address` back, in whatever parts they were allocated. Structures of a
    /// broken file may lie over each other or behind its end: of these, nothing is taken.
    pub fn free(&self, address: u64, bytes: u64) {
        let mut state = self.lock();
        let range = address..address.saturating_add(bytes);
        if range.end > state.end || state.is_unused(&range) {
            return;
        }
        state.own.remove(range.clone());
        let mut from = range.start;
        for fresh in state.fresh.remove(range.clone()) {
            state.freed.insert(from..fresh.start);
            from = fresh.end;
            state.give_back(fresh);
        }
        state.freed.insert(from..range.end);
    }

    /// Whether nobody uses any of these bytes, nor did at the last commit.
    pub(super) fn is_free(&self, range: &Range<u64>) -> bool {
        self.lock().free.extents.holds(range)
    }

    /// Behind everything that is in use: the end of the file if it were committed now.
    pub fn end(&self) -> u64 {
        self.lock().end
    }

    /// Begins a commit: the end of the file that it is to have. What is allocated from now on lies
    /// behind `record_bytes` bytes there, and belongs to the next commit.
    pub(super) fn begin_commit(&self, record_bytes: u64) -> u64 {
        let mut state = self.lock();
        let end = state.end;
        let record = end..end.saturating_add(record_bytes);
        state.end = record.end;
        let (fresh, freed) = (std::mem::take(&mut state.fresh), std::mem::take(&mut state.freed));
        state.commit = Some(UnderWay { fresh, freed, record });
        state.commit_count += 1;
        end
    }

    /// The commit is over: it is what readers find.
    pub(super) fn finish_commit(&self) {
        let mut state = self.lock();
        if let Some(commit) = state.commit.take() {
            let waited = std::mem::replace(&mut state.waiting, commit.freed);
            for range in waited.ranges().chain([commit.record]) {
                state.give_back(range);
            }
        }
    }

    /// The commit did not come about: everything is as if it had not begun.
    pub(super) fn abandon_commit(&self) {
        let mut state = self.lock();
        if let Some(commit) = state.commit.take() {
            for range in commit.fresh.ranges() {
                state.fresh.insert(range);
            }
            for range in commit.freed.ranges() {
                state.freed.insert(range);
            }
            state.give_back(commit.record);
        }
    }

    /// Frees what waits: nobody will write to the file, it only remains to cut off its tail.
    pub(super) fn free_waiting(&self) {
        drop(self.survey.lock().unwrap_or_else(PoisonError::into_inner).take());
        let mut state = self.lock();
        let (freed, waiting) =
            (std::mem::take(&mut state.freed), std::mem::take(&mut state.waiting));
        for range in freed.ranges().chain(waiting.ranges()) {
            state.give_back(range);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl super::data::Allocate for Space {
    fn allocate(&self, bytes: u64) -> u64 {
        Self::allocate(self, bytes, 1)
    }

    fn allocate_first(&self, ends: &[u64]) -> (u64, usize) {
        self.allocate_aligned(ends, self.alignment.of(ends.last().copied().unwrap_or_default()))
    }

    fn alignment(&self, bytes: u64) -> u64 {
        self.alignment.of(bytes)
    }

    fn free(&self, address: u64, bytes: u64) {
        Self::free(self, address, bytes);
    }
}

impl State {
    /// A new place at the end.
    fn place(&mut self, bytes: u64, alignment: u64) -> u64 {
        if bytes == 0 {
            return self.end;
        }
        let address = self.end.checked_next_multiple_of(alignment).unwrap_or(u64::MAX);
        self.free.insert(self.end..address);
        self.end = address.saturating_add(bytes);
        address
    }

    /// Whether a part of `range` is free already or waits for it.
    fn is_unused(&self, range: &Range<u64>) -> bool {
        self.free.extents.overlaps(range) || self.waiting.overlaps(range)
    }

    /// Makes free what lies between the pieces that the last commit uses, and is nobody's since.
    fn give_back_unused(&mut self, used: &[(u64, u64)]) {
        let mut unused = Extents::default();
        unused.insert(0..self.end);
        let used = used.iter().map(|&(address, bytes)| address..address.saturating_add(bytes));
        let others = [&self.own, &self.freed, &self.waiting];
        let others = others.into_iter().flat_map(|extents| extents.by_start.iter());
        for range in used.chain(others.map(|(&start, &end)| start..end)) {
            unused.remove(range);
        }
        for range in unused.ranges() {
            self.give_back(range);
        }
    }

    /// Makes `range` free; the end of the file is where the last byte is that is not.
    fn give_back(&mut self, range: Range<u64>) {
        self.free.insert(range);
        if let Some(start) = self.free.remove_last(self.end) {
            self.end = start;
        }
    }
}

/// Bytes of the file, as ranges that neither overlap nor touch: start -> end.
#[derive(Debug, Default)]
struct Extents {
    by_start: BTreeMap<u64, u64>,
}

impl Extents {
    /// Adds `range`, as one with what it touches.
    fn insert(&mut self, range: Range<u64>) {
        self.merge(range, |_| {});
    }

    /// The same: what `range` is part of now, and a call of `absorbed` for each extent it touched.
    fn merge(&mut self, mut range: Range<u64>, mut absorbed: impl FnMut(Range<u64>)) -> Range<u64> {
        if range.is_empty() {
            return range;
        }
        while let Some((&start, &end)) = self.by_start.range(..=range.end).next_back()
            && end >= range.start
        {
            self.by_start.remove(&start);
            absorbed(start..end);
            range = range.start.min(start)..range.end.max(end);
        }
        self.by_start.insert(range.start, range.end);
        range
    }

    fn overlaps(&self, range: &Range<u64>) -> bool {
        let before_end = self.by_start.range(..range.end).next_back();
        before_end.is_some_and(|(_, &end)| end > range.start)
    }

    fn holds(&self, range: &Range<u64>) -> bool {
        let before = self.by_start.range(..=range.start).next_back();
        range.is_empty() || before.is_some_and(|(_, &end)| end >= range.end)
    }

    /// Takes out what lies in `range`: its parts that were there, ascending.
    fn remove(&mut self, range: Range<u64>) -> Vec<Range<u64>> {
        let mut removed = Vec::new();
        while let Some((&start, &end)) = self.by_start.range(..range.end).next_back()
            && end > range.start
        {
            self.by_start.remove(&start);
            self.insert(start..range.start);
            self.insert(range.end..end);
            removed.push(start.max(range.start)..end.min(range.end));
        }
        removed.reverse();
        removed
    }

    fn ranges(self) -> impl Iterator<Item = Range<u64>> {
        self.by_start.into_iter().map(|(start, end)| start..end)
    }
}

/// Free extents, found by size as well as by address.
#[derive(Debug, Default)]
struct FreeList {
    extents: Extents,
    /// Length and start of each.
    by_size: BTreeSet<(u64, u64)>,
}

impl FreeList {
    /// Adds `range`, as one with what it touches.
    fn insert(&mut self, range: Range<u64>) {
        let Self { extents, by_size } = self;
        let whole = extents.merge(range, |part| {
            by_size.remove(&(part.end - part.start, part.start));
        });
        if !whole.is_empty() {
            by_size.insert((whole.end - whole.start, whole.start));
        }
    }

    fn remove(&mut self, range: Range<u64>) {
        self.extents.by_start.remove(&range.start);
        self.by_size.remove(&(range.end - range.start, range.start));
    }

    /// Takes `bytes` bytes at a multiple of `alignment` out of the smallest extent that has them.
    fn take(&mut self, bytes: u64, alignment: u64) -> Option<u64> {
        let place = |&(size, start): &(u64, u64)| {
            let address = start.checked_next_multiple_of(alignment)?;
            let end = address.checked_add(bytes)?;
            (end <= start + size).then_some((start..start + size, address..end))
        };
        let smallest = self.by_size.range((bytes, 0)..).take(TRIED).find_map(place);
        // Wherever it begins, one of these is large enough.
        let surely = bytes.saturating_add(alignment - 1);
        let (extent, taken) =
            smallest.or_else(|| self.by_size.range((surely, 0)..).find_map(place))?;
        self.remove(extent.clone());
        self.insert(extent.start..taken.start);
        self.insert(taken.end..extent.end);
        Some(taken.start)
    }

    /// Bytes of the largest extent.
    fn largest(&self) -> u64 {
        self.by_size.last().map_or(0, |&(size, _)| size)
    }

    /// Takes out the extent that ends at `end`: where it begins.
    fn remove_last(&mut self, end: u64) -> Option<u64> {
        let last = self.extents.by_start.last_key_value();
        let (&start, _) = last.filter(|(_, last)| **last == end)?;
        self.remove(start..end);
        Some(start)
    }
}

#[cfg(test)]
mod tests;
