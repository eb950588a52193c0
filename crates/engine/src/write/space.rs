//! Which bytes of the file are in use.
//!
//! What the last commit refers to may be replayed or fallen back to, and readers may hold states that are older. So
//! freed space waits:
//!
//! ```text
//! allocate -> fresh --free------------------------------------------------------> free -> allocate
//!               |commit                                                            ^
//!             in use --free--> freed --commit--> waiting --commit, and no reader --+
//! ```
//! What was allocated since the last commit is known to nobody else and is free at once. What
//! the last commit, or one that is under way, refers to is free after two commits: the first no longer
//! refers to it, the second shows that the first one is over. And it is free only when nobody holds a state from
//! before the first of them: [`Space::is_unread`] decides that, of whichever space.
//!
//! Those who read in this process look at what was put last, committed or not. Each of their requests has a
//! [`Pin`], and what would be free while somebody has one is `retired` instead:
//!
//! ```text
//! epoch 1: pins ... | epoch 2: pins ... | epoch 3 (now): pins ...
//!  batch 1: retired |  batch 2: retired |  retired
//! ```
//! A batch is free when nobody has a pin of its epoch or one before it. Who comes later did not find it any more.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;
use std::sync::{Arc, PoisonError};

use super::data::Line;
use crate::sync::primitives::{Mutex, MutexGuard};
use crate::writer::Alignment;

/// Finds the pieces of a file that something in its last commit is in, in their order: address and
/// bytes. `None` where that cannot be told.
pub(crate) type Survey = Box<dyn Fn() -> Option<Vec<(u64, u64)>> + Send>;

/// The file is looked at where it would otherwise grow beyond a multiple of about this part of it, and
/// of these bytes at least.
const SURVEYED_PART: u64 = 16;
const SURVEYED_BYTES: u64 = 4096;

/// More bytes than this are not taken for structures at once.
const LARGEST_BLOCK: u64 = 1 << 30;

/// A gap takes a part of what is written together where that is at least this part of it.
const SMALLEST_PART: u64 = 4;

/// Batches of freed space that wait: more of them become fewer.
const MOST_BATCHES: usize = 64;

/// Tells the generation of a state from the first one on and before the second that somebody may read; `None` where nobody
/// does, 0 where that cannot be told. See [`crate::storage::WritableStorage::held_between`].
///
/// Readers of this process who go through the writer's own handles hold no state: who has to keep space for them adds
/// what they hold to this one answer.
pub(crate) type Holders = Box<dyn Fn(u64, u64) -> Option<u64> + Send + Sync>;

/// The smallest free places that are tried when an alignment is asked for.
const TRIED: usize = 16;

/// The space of one file that is open for writing, in addresses of the file. Used by all threads.
pub struct Space {
    alignment: Alignment,
    /// Structures take so many bytes at once, and share them; 0 where each takes its own.
    block_bytes: u64,
    /// Tells what is free from before the file was opened. A session that takes little does without:
    /// the file is looked at only where its end would come to another multiple of `step`.
    survey: Mutex<Option<Survey>>,
    step: u64,
    /// Nobody, where there are none.
    holders: Option<Holders>,
    /// The generation of the file as it was opened.
    opened: u64,
    state: Mutex<State>,
    /// Those who take space later.
    line: Arc<Line>,
}

#[derive(Debug, Default)]
struct State {
    /// Behind everything that is in use or waiting; nothing free touches it.
    end: u64,
    /// The same when the file was opened.
    opened_end: u64,
    free: FreeList,
    /// What structures have taken and not used yet.
    blocks: FreeList,
    /// Allocated since the last commit began.
    fresh: Extents,
    /// Freed since the last commit began, and not fresh.
    freed: Extents,
    /// Freed before commits that are over.
    waiting: Vec<Batch>,
    /// What commits of this session brought about, and the first generation under which that may have been found.
    born: Vec<(u64, Extents)>,
    /// That of the last commit.
    generation: u64,
    /// The commit that is under way.
    commit: Option<UnderWay>,
    /// Commits that began.
    commit_count: u64,
    /// Allocated since the file was opened, and not freed: whoever has it frees it.
    own: Extents,
    /// Bytes of nobody known stand behind the end that the file had when it was opened.
    has_tail: bool,
    /// Of the readers who come now.
    epoch: Arc<Epoch>,
    /// What nobody has any more but perhaps readers of this epoch or an earlier one.
    retired: Extents,
    /// The same of earlier epochs, oldest first.
    batches: VecDeque<(Arc<Epoch>, Extents)>,
}

/// A time in which readers begin; see the module.
#[derive(Debug, Default)]
struct Epoch;

/// Keeps all that can be found now from being given to somebody else, while it lives.
#[derive(Debug, Clone)]
pub(crate) struct Pin {
    _epoch: Arc<Epoch>,
}

/// Space that no state before the generation `born` refers to, nor any of `generation` or later.
#[derive(Debug)]
struct Batch {
    freed: Extents,
    born: u64,
    generation: u64,
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
        let state = Mutex::new(State { end, opened_end: end, ..State::default() });
        let step = (end / SURVEYED_PART).max(SURVEYED_BYTES).next_power_of_two();
        let survey = Mutex::default();
        let (holders, line) = (None, Arc::default());
        Self { alignment, block_bytes: 0, survey, step, holders, opened: 0, state, line }
    }

    /// Has structures take so many bytes at once: they lie together, and what is read with one of them has others.
    pub(crate) fn with_blocks(self, block_bytes: u64) -> Self {
        Self { block_bytes: block_bytes.min(LARGEST_BLOCK), ..self }
    }

    /// Has space wait for those who read states of the file before they are given to others; `generation` is that of
    /// the file as it is.
    pub(crate) fn with_holders(self, generation: u64, holders: Holders) -> Self {
        Self { opened: generation, holders: Some(holders), ..self }
    }

    /// Whether nobody reads this batch any more: whoever holds a state that refers to it.
    fn is_unread(&self, batch: &Batch) -> bool {
        let holders = self.holders.as_ref();
        holders.is_none_or(|holders| holders(batch.born, batch.generation).is_none())
    }

    /// Makes free what waits and nobody reads.
    fn give_back_unread(&self, state: &mut State) {
        for batch in std::mem::take(&mut state.waiting) {
            if self.is_unread(&batch) {
                batch.freed.ranges().for_each(|range| state.give_back(range));
            } else {
                state.waiting.push(batch);
            }
        }
    }

    /// The space of a file that ends at `end`, and behind which other bytes stand up to `behind`: all of that counts
    /// as used until the first commit has it looked at. A broken file may be longer than it says.
    pub(crate) fn opened(end: u64, behind: u64, alignment: Alignment) -> Self {
        let space = Self::aligned(behind, alignment);
        space.lock().has_tail = behind > end;
        space
    }

    /// Frees what stood behind the end of the file when it was opened, if nothing refers to it.
    pub(super) fn look_at_tail(&self) {
        if std::mem::take(&mut self.lock().has_tail) {
            self.survey();
        }
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
                let freed = state.unused(&used);
                let batch = Batch { freed, born: 0, generation: self.opened };
                if self.is_unread(&batch) {
                    batch.freed.ranges().for_each(|range| state.give_back(range));
                } else {
                    state.wait(batch);
                }
            }
            *survey = None;
        }
    }

    /// The address of `bytes` bytes for a structure that nobody uses, a multiple of `alignment`, or of the file's if
    /// that is larger.
    ///
    /// There is always an address: one beyond what a file can have is an error when it is written.
    pub fn allocate(&self, bytes: u64, alignment: u64) -> u64 {
        self.line.settle();
        let alignment = alignment.max(self.alignment.of(bytes));
        if bytes >= self.block_bytes {
            return self.allocate_aligned(&[bytes], alignment).0;
        }
        let kept = self.lock().take_of_blocks(bytes, alignment);
        kept.unwrap_or_else(|| {
            let (address, _) = self.allocate_aligned(&[self.block_bytes], alignment);
            self.lock().keep_for_structures(address + bytes..address + self.block_bytes);
            address
        })
    }

    /// The same for values, and for heaps that have them: they lie apart from structures.
    pub(super) fn allocate_for_values(&self, bytes: u64, alignment: u64) -> u64 {
        self.line.settle();
        self.allocate_aligned(&[bytes], alignment.max(self.alignment.of(bytes))).0
    }

    /// [`super::data::Allocate::allocate_first`]. Where no gap has room for all, the largest takes what it
    /// can, unless that is little: what is written together is to lie in few pieces.
    fn allocate_aligned(&self, ends: &[u64], alignment: u64) -> (u64, usize) {
        let bytes = ends.last().copied().unwrap_or_default();
        let mut state = self.lock();
        state.release();
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
        self.line.settle();
        self.free_now(address, bytes);
    }

    fn free_now(&self, address: u64, bytes: u64) {
        let mut state = self.lock();
        let range = address..address.saturating_add(bytes);
        if !state.is_used(&range) {
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

    /// Whether these bytes may be taken back.
    pub(super) fn is_used(&self, address: u64, bytes: u64) -> bool {
        self.lock().is_used(&(address..address.saturating_add(bytes)))
    }

    /// Whether nobody uses any of these bytes but readers, nor did at the last commit.
    pub(super) fn is_free(&self, range: &Range<u64>) -> bool {
        let state = self.lock();
        let mut rest = Extents::default();
        rest.insert(range.clone());
        let batches = state.batches.iter().map(|(_, extents)| extents);
        let free = [&state.retired, &state.free.extents, &state.blocks.extents];
        for extents in batches.chain(free) {
            for (start, end) in extents.within(range) {
                rest.remove(start..end);
            }
        }
        rest.by_start.is_empty()
    }

    /// What everybody who is about to read has: before anything is looked up.
    pub(crate) fn pin(&self) -> Pin {
        Pin { _epoch: Arc::clone(&self.lock().epoch) }
    }

    /// Behind everything that is in use: the end of the file if it were committed now.
    pub fn end(&self) -> u64 {
        self.lock().end
    }

    /// Begins a commit: the end of the file that it is to have. What is allocated from now on lies
    /// behind `record_bytes` bytes there, and belongs to the next commit.
    pub(super) fn begin_commit(&self, record_bytes: u64) -> u64 {
        let mut state = self.lock();
        state.release();
        let end = state.end;
        let record = end..end.saturating_add(record_bytes);
        state.end = record.end;
        let (fresh, freed) = (std::mem::take(&mut state.fresh), std::mem::take(&mut state.freed));
        state.commit = Some(UnderWay { fresh, freed, record });
        state.commit_count += 1;
        end
    }

    /// The commit is over: it is what readers find, under this generation.
    pub(super) fn finish_commit(&self, generation: u64) {
        let mut state = self.lock();
        if let Some(commit) = state.commit.take() {
            self.give_back_unread(&mut state);
            state.wait_for_all(commit.freed, generation);
            let born = state.generation.max(self.opened) + 1;
            state.bear(born, commit.fresh);
            state.generation = generation;
            // Readers of this process do without it.
            state.make_free(commit.record);
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
            state.make_free(commit.record);
        }
    }

    /// Frees what waits and nobody reads: nobody will write to the file, it only remains to cut off its tail. The
    /// file's generation is the one given.
    pub(super) fn free_waiting(&self, generation: u64) {
        drop(self.survey.lock().unwrap_or_else(PoisonError::into_inner).take());
        let mut state = self.lock();
        let blocks = std::mem::take(&mut state.blocks);
        blocks.extents.ranges().for_each(|range| state.make_free(range));
        let freed = std::mem::take(&mut state.freed);
        state.wait_for_all(freed, generation.saturating_add(1));
        self.give_back_unread(&mut state);
        // Who still reads is told that the file was closed.
        state.release_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl super::data::Allocate for Space {
    fn allocate(&self, bytes: u64) -> u64 {
        self.allocate_for_values(bytes, 1)
    }

    fn allocate_first(&self, ends: &[u64]) -> (u64, usize) {
        self.allocate_aligned(ends, self.alignment.of(ends.last().copied().unwrap_or_default()))
    }

    fn alignment(&self, bytes: u64) -> u64 {
        self.alignment.of(bytes)
    }

    fn free(&self, address: u64, bytes: u64) {
        self.free_now(address, bytes);
    }

    fn line(&self) -> Option<&Arc<Line>> {
        Some(&self.line)
    }
}

impl State {
    /// `bytes` of what structures have taken already.
    fn take_of_blocks(&mut self, bytes: u64, alignment: u64) -> Option<u64> {
        let address = self.blocks.take(bytes, alignment)?;
        self.fresh.insert(address..address + bytes);
        self.own.insert(address..address + bytes);
        Some(address)
    }

    /// Leaves `range`, which was allocated a moment ago, to the next structures.
    fn keep_for_structures(&mut self, range: Range<u64>) {
        self.fresh.remove(range.clone());
        self.own.remove(range.clone());
        self.blocks.insert(range);
    }

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

    /// Whether all of `range` is what somebody was given here, or lies in the file as it was opened, and none of it
    /// was taken back. What a broken file has at its end may seem to reach into what was given since.
    fn is_used(&self, range: &Range<u64>) -> bool {
        let is_there = range.end <= self.opened_end.min(self.end) || self.own.covers(range);
        is_there && !self.is_unused(range)
    }

    /// Whether a part of `range` is free already or waits for it.
    fn is_unused(&self, range: &Range<u64>) -> bool {
        let mut retired = self.batches.iter().map(|(_, extents)| extents).chain([&self.retired]);
        self.free.extents.overlaps(range)
            || self.blocks.extents.overlaps(range)
            || self.waiting.iter().any(|batch| batch.freed.overlaps(range))
            || retired.any(|extents| extents.overlaps(range))
    }

    /// Has what was freed before this generation wait, by when it came about.
    fn wait_for_all(&mut self, freed: Extents, generation: u64) {
        let mut rest = Extents::default();
        let mut batches: Vec<Batch> = Vec::new();
        for range in freed.ranges() {
            rest.insert(range.clone());
            for (born, extents) in &mut self.born {
                let mut own = Extents::default();
                for part in extents.remove(range.clone()) {
                    rest.remove(part.clone());
                    own.insert(part);
                }
                match batches.iter_mut().find(|batch| batch.born == *born) {
                    Some(batch) => own.ranges().for_each(|part| batch.freed.insert(part)),
                    None => batches.push(Batch { freed: own, born: *born, generation }),
                }
            }
        }
        batches.push(Batch { freed: rest, born: 0, generation });
        batches.into_iter().for_each(|batch| self.wait(batch));
        self.born.retain(|(_, extents)| !extents.by_start.is_empty());
    }

    /// Notes that this came about with a state of this generation.
    fn bear(&mut self, born: u64, extents: Extents) {
        self.born.push((born, extents));
        if self.born.len() > MOST_BATCHES {
            // As if the second had come about with the first.
            let (_, second) = self.born.remove(1);
            second.ranges().for_each(|range| self.born[0].1.insert(range));
        }
    }

    /// Has a batch wait.
    fn wait(&mut self, batch: Batch) {
        if batch.freed.by_start.is_empty() {
            return;
        }
        self.waiting.push(batch);
        if self.waiting.len() > MOST_BATCHES {
            let first = self.waiting.remove(0);
            let second = &mut self.waiting[0];
            second.born = second.born.min(first.born);
            second.generation = second.generation.max(first.generation);
            first.freed.ranges().for_each(|range| second.freed.insert(range));
        }
    }

    /// What lies between the pieces that the last commit uses, and is nobody's since.
    fn unused(&self, used: &[(u64, u64)]) -> Extents {
        let mut unused = Extents::default();
        unused.insert(0..self.end);
        let used = used.iter().map(|&(address, bytes)| address..address.saturating_add(bytes));
        let waiting = self.waiting.iter().map(|batch| &batch.freed);
        let kept = [&self.retired, &self.free.extents, &self.blocks.extents];
        let others = [&self.own, &self.freed].into_iter().chain(kept);
        let batches = self.batches.iter().map(|(_, extents)| extents);
        let others = others.chain(batches).chain(waiting);
        let others = others.flat_map(|extents| extents.by_start.iter());
        for range in used.chain(others.map(|(&start, &end)| start..end)) {
            unused.remove(range);
        }
        unused
    }

    /// Makes `range` free as soon as nobody can be reading there.
    fn give_back(&mut self, range: Range<u64>) {
        if self.batches.is_empty() && Arc::get_mut(&mut self.epoch).is_some() {
            return self.make_free(range);
        }
        self.retired.insert(range);
    }

    /// Frees what only readers had who are gone.
    fn release(&mut self) {
        if !self.retired.by_start.is_empty() {
            let retired = std::mem::take(&mut self.retired);
            let nobody_reads = Arc::get_mut(&mut self.epoch).is_some();
            match self.batches.back_mut().filter(|_| nobody_reads) {
                // Readers of this epoch are none: it is as if all that had been retired before it.
                Some((_, batch)) => retired.ranges().for_each(|range| batch.insert(range)),
                None => self.batches.push_back((std::mem::take(&mut self.epoch), retired)),
            }
        }
        while let Some((epoch, _)) = self.batches.front_mut()
            && Arc::get_mut(epoch).is_some()
            && let Some((_, batch)) = self.batches.pop_front()
        {
            batch.ranges().for_each(|range| self.make_free(range));
        }
    }

    /// Frees what readers may have.
    fn release_all(&mut self) {
        let batches = std::mem::take(&mut self.batches).into_iter().map(|(_, batch)| batch);
        for batch in batches.chain([std::mem::take(&mut self.retired)]) {
            batch.ranges().for_each(|range| self.make_free(range));
        }
    }

    /// Makes `range` free; the end of the file is where the last byte is that is not.
    fn make_free(&mut self, range: Range<u64>) {
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

    fn covers(&self, range: &Range<u64>) -> bool {
        let before = self.by_start.range(..=range.start).next_back();
        range.is_empty() || before.is_some_and(|(_, &end)| end >= range.end)
    }

    fn overlaps(&self, range: &Range<u64>) -> bool {
        let before_end = self.by_start.range(..range.end).next_back();
        before_end.is_some_and(|(_, &end)| end > range.start)
    }

    /// The extents that overlap `range`.
    fn within(&self, range: &Range<u64>) -> impl Iterator<Item = (u64, u64)> {
        let start = range.start;
        let overlapping = self.by_start.range(..range.end).rev();
        overlapping.map(|(&from, &to)| (from, to)).take_while(move |(_, to)| *to > start)
    }

    /// Takes out what lies in `range`: its parts that were there, ascending.
    fn remove(&mut self, range: Range<u64>) -> Vec<Range<u64>> {
        let mut removed = Vec::new();
        if range.is_empty() {
            return removed;
        }
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
