//! Where the chunks of one variable are, now.
//!
//! ```text
//! locate -> written since the file was opened?  -> dense: a window of the grid, row by row
//!        |                                      -> sparse: a tree, where the window would be mostly empty
//!        -> otherwise the file's own index
//! ```

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::error::Result;
use crate::plan::layout::{ChunkIndex, ChunkPlace};

/// A window of so many chunks is dense whatever is in it: 6 MiB.
const ALWAYS_DENSE: u64 = 1 << 18;
/// A larger one where at least one of so many chunks is there.
const DENSE_SHARE: u64 = 8;

/// The truth about all chunks of a variable that is written.
pub struct ChunkTable {
    rank: usize,
    /// Finds the chunks that were in the file when it was opened.
    existing: Option<Arc<dyn ChunkIndex>>,
    places: RwLock<Places>,
}

/// The chunks that were written since the file was opened.
struct Places {
    known: Known,
    count: u64,
    /// Coordinates of those that are not in the last commit, one chunk after the other.
    changed: Vec<u64>,
}

/// How the chunks are found.
enum Known {
    Dense(Window),
    Sparse(BTreeMap<Box<[u64]>, Entry>),
}

/// A part of the grid: some coordinates along the first axis, and along the others all from 0.
struct Window {
    first: u64,
    /// Chunks along the axes behind the first.
    inner: Vec<u64>,
    /// The product of these.
    row: u64,
    entries: VecDeque<Entry>,
}

/// One chunk.
#[derive(Clone, Copy)]
struct Entry {
    address: u64,
    stored_bytes: u64,
    filter_mask: u32,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Not written since the file was opened.
    Absent,
    /// As it is in the last commit.
    Committed,
    /// Written since: its space may be used again at once.
    Fresh,
}

/// Where a chunk was before it is written again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OldPlace {
    pub(super) place: ChunkPlace,
    /// Not in the last commit: it may be overwritten.
    pub(super) is_fresh: bool,
}

impl ChunkTable {
    /// The table of a variable of `rank` axes.
    pub(in crate::write) fn new(rank: usize, existing: Option<Arc<dyn ChunkIndex>>) -> Self {
        let places = Places { known: Known::nothing(), count: 0, changed: Vec::new() };
        Self { rank, existing, places: RwLock::new(places) }
    }

    fn read(&self) -> RwLockReadGuard<'_, Places> {
        self.places.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Places> {
        self.places.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many chunks were written since the last commit.
    pub fn changed_count(&self) -> usize {
        self.read().changed.len() / self.rank.max(1)
    }

    /// Calls `visit` with coordinates and place of every chunk that was written since the last
    /// commit, in row-major order; a fault ends the walk.
    pub fn for_each_changed(
        &self,
        visit: &mut dyn FnMut(&[u64], ChunkPlace) -> Result<()>,
    ) -> Result<()> {
        let places = self.read();
        let mut changed: Vec<&[u64]> = places.changed.chunks_exact(self.rank.max(1)).collect();
        if !changed.is_sorted() {
            changed.sort_unstable();
        }
        let mut found = changed.into_iter().filter_map(|at| Some((at, places.known.get(at)?)));
        found.try_for_each(|(coordinates, entry)| visit(coordinates, entry.place()))
    }

    /// All that was written is in a commit now, and is not overwritten any more.
    pub(in crate::write) fn mark_committed(&self) {
        let places = &mut *self.write();
        for coordinates in places.changed.chunks_exact(self.rank.max(1)) {
            if let Some(entry) = places.known.get_mut(coordinates) {
                entry.state = State::Committed;
            }
        }
        places.changed.clear();
    }

    /// Where `chunks` are, one after the other, in place of what `old` held.
    pub(super) fn old_places<'c>(
        &self,
        chunks: impl Iterator<Item = &'c [u64]> + Clone,
        old: &mut Vec<Option<OldPlace>>,
    ) -> Result<()> {
        old.clear();
        let places = self.read();
        old.extend(chunks.clone().map(|at| places.known.get(at).map(Entry::old_place)));
        drop(places);
        if self.existing.is_some() {
            for (coordinates, old) in chunks.zip(old).filter(|(_, old)| old.is_none()) {
                *old = self.opened_place(coordinates)?;
            }
        }
        Ok(())
    }

    /// Where one chunk is.
    pub(super) fn old_place(&self, coordinates: &[u64]) -> Result<Option<OldPlace>> {
        if let Some(entry) = self.read().known.get(coordinates) {
            return Ok(Some(entry.old_place()));
        }
        self.opened_place(coordinates)
    }

    /// Where one chunk was when the file was opened.
    fn opened_place(&self, coordinates: &[u64]) -> Result<Option<OldPlace>> {
        let Some(existing) = &self.existing else { return Ok(None) };
        let place = existing.locate(coordinates)?;
        Ok(place.map(|place| OldPlace { place, is_fresh: false }))
    }

    /// Enters chunks of a variable that has `grid` chunks along each axis.
    pub(in crate::write) fn put<'c>(
        &self,
        grid: &[u64],
        chunks: impl Iterator<Item = (&'c [u64], ChunkPlace)> + Clone,
    ) {
        let rows = chunks.clone().filter_map(|(at, _)| at.first().copied());
        let rows = rows.fold(None, |range: Option<(u64, u64)>, row| {
            let (low, high) = range.unwrap_or((row, row));
            Some((low.min(row), high.max(row)))
        });
        let places = &mut *self.write();
        places.known.make_room(grid, rows.unwrap_or_default(), places.count);
        for (coordinates, place) in chunks {
            let fresh = Entry {
                address: place.address,
                stored_bytes: place.stored_bytes,
                filter_mask: place.filter_mask,
                state: State::Fresh,
            };
            let before = places.known.set(coordinates, fresh);
            if before != State::Fresh {
                places.changed.extend_from_slice(coordinates);
            }
            places.count += u64::from(before == State::Absent);
        }
    }
}

impl ChunkIndex for ChunkTable {
    fn locate(&self, coordinates: &[u64]) -> Result<Option<ChunkPlace>> {
        if let Some(entry) = self.read().known.get(coordinates) {
            return Ok(Some(entry.place()));
        }
        self.existing.as_ref().map_or(Ok(None), |existing| existing.locate(coordinates))
    }

    fn for_each(&self, visit: &mut dyn FnMut(&[u64], ChunkPlace) -> Result<()>) -> Result<()> {
        let places = self.read();
        if let Some(existing) = &self.existing {
            existing.for_each(&mut |coordinates, place| match places.known.get(coordinates) {
                Some(_) => Ok(()),
                None => visit(coordinates, place),
            })?;
        }
        places.known.for_each(visit)
    }
}

impl Entry {
    const ABSENT: Self = Self { address: 0, stored_bytes: 0, filter_mask: 0, state: State::Absent };

    fn place(&self) -> ChunkPlace {
        let Self { address, stored_bytes, filter_mask, .. } = *self;
        ChunkPlace { address, stored_bytes, filter_mask }
    }

    fn old_place(&self) -> OldPlace {
        OldPlace { place: self.place(), is_fresh: self.state == State::Fresh }
    }
}

impl Known {
    fn nothing() -> Self {
        let entries = VecDeque::new();
        Self::Dense(Window { first: 0, inner: Vec::new(), row: 0, entries })
    }

    fn get(&self, coordinates: &[u64]) -> Option<&Entry> {
        let entry = match self {
            Self::Dense(window) => window.entries.get(window.index(coordinates)?)?,
            Self::Sparse(tree) => return tree.get(coordinates),
        };
        (entry.state != State::Absent).then_some(entry)
    }

    fn get_mut(&mut self, coordinates: &[u64]) -> Option<&mut Entry> {
        match self {
            Self::Dense(window) => {
                let index = window.index(coordinates)?;
                window.entries.get_mut(index).filter(|entry| entry.state != State::Absent)
            }
            Self::Sparse(tree) => tree.get_mut(coordinates),
        }
    }

    /// Enters a chunk, for which [`Self::make_room`] has made room, and tells what was known of it.
    fn set(&mut self, coordinates: &[u64], entry: Entry) -> State {
        match self {
            Self::Dense(window) => {
                let place = window.index(coordinates).and_then(|at| window.entries.get_mut(at));
                place.map_or(State::Absent, |place| std::mem::replace(place, entry).state)
            }
            Self::Sparse(tree) => match tree.get_mut(coordinates) {
                Some(place) => std::mem::replace(place, entry).state,
                None => {
                    tree.insert(coordinates.into(), entry);
                    State::Absent
                }
            },
        }
    }

    /// Makes the window so large that it has the rows from the first to the last of `rows` of
    /// `grid`, or a tree of it where most of it would be empty.
    fn make_room(&mut self, grid: &[u64], rows: (u64, u64), count: u64) {
        let Self::Dense(window) = self else { return };
        if window.has(grid, rows) {
            return;
        }
        let most = ALWAYS_DENSE.max(count.saturating_mul(DENSE_SHARE));
        match window.grown(grid, rows, most) {
            Some(Grown::Longer { before, after }) => window.lengthen(before, after),
            Some(Grown::Wider(mut wider)) => {
                window.for_each(&mut |at, entry| {
                    if let Some(place) = wider.index(at).and_then(|at| wider.entries.get_mut(at)) {
                        *place = *entry;
                    }
                });
                *window = wider;
            }
            None => {
                let mut tree = BTreeMap::new();
                window.for_each(&mut |at, entry| {
                    tree.insert(at.into(), *entry);
                });
                *self = Self::Sparse(tree);
            }
        }
    }

    fn for_each(&self, visit: &mut dyn FnMut(&[u64], ChunkPlace) -> Result<()>) -> Result<()> {
        match self {
            Self::Dense(window) => {
                let mut outcome = Ok(());
                window.for_each(&mut |at, entry| {
                    if outcome.is_ok() {
                        outcome = visit(at, entry.place());
                    }
                });
                outcome
            }
            Self::Sparse(tree) => tree.iter().try_for_each(|(at, entry)| visit(at, entry.place())),
        }
    }
}

/// How a window becomes larger.
enum Grown {
    /// By so many entries at its ends.
    Longer { before: u64, after: u64 },
    /// Into another one.
    Wider(Window),
}

impl Window {
    fn rows(&self) -> u64 {
        (self.entries.len() as u64).checked_div(self.row).unwrap_or(0)
    }

    /// Where the chunk stands; `None` where it is not in the window.
    fn index(&self, coordinates: &[u64]) -> Option<usize> {
        let (row, inner) = coordinates.split_first().unwrap_or((&0, &[]));
        let mut index = row.checked_sub(self.first)?;
        if index >= self.rows() {
            return None;
        }
        for (at, len) in inner.iter().zip(&self.inner) {
            if at >= len {
                return None;
            }
            index = index * len + at;
        }
        usize::try_from(index).ok()
    }

    fn has(&self, grid: &[u64], (low, high): (u64, u64)) -> bool {
        let wide = grid.iter().skip(1).zip(&self.inner).all(|(len, inner)| len <= inner);
        let end = self.first + self.rows();
        !self.entries.is_empty() && wide && low >= self.first && high < end
    }

    /// How to have `rows` of `grid` too; `None` where that takes more than `most` entries.
    fn grown(&self, grid: &[u64], (low, high): (u64, u64), most: u64) -> Option<Grown> {
        let is_empty = self.entries.is_empty();
        let inner = grid.iter().skip(1).enumerate().map(|(axis, &len)| {
            // A grid that grows step by step is not laid out anew at each.
            let had = self.inner.get(axis).copied().unwrap_or(0);
            if len <= had { had } else { len.max(had + had / 2) }
        });
        let inner: Vec<u64> = inner.collect();
        let row = inner.iter().try_fold(1u64, |row, len| row.checked_mul(*len))?;
        let end = high.checked_add(1)?;
        let (first, end) = match is_empty {
            true => (low, end),
            false => (self.first.min(low), end.max(self.first + self.rows())),
        };
        let len = (end - first).checked_mul(row).filter(|len| *len <= most)?;
        if is_empty || inner != self.inner {
            let len = usize::try_from(len).ok()?;
            let entries = std::iter::repeat_n(Entry::ABSENT, len).collect();
            return Some(Grown::Wider(Self { first, inner, row, entries }));
        }
        let (before, after) = (self.first - first, end - (self.first + self.rows()));
        Some(Grown::Longer { before: before * row, after: after * row })
    }

    fn lengthen(&mut self, before: u64, after: u64) {
        self.first -= before / self.row;
        self.entries.reserve((before + after) as usize);
        (0..before).for_each(|_| self.entries.push_front(Entry::ABSENT));
        self.entries.extend(std::iter::repeat_n(Entry::ABSENT, after as usize));
    }

    /// Every chunk that was written, in row-major order.
    fn for_each(&self, visit: &mut dyn FnMut(&[u64], &Entry)) {
        let mut coordinates = vec![0; self.inner.len() + 1];
        coordinates[0] = self.first;
        for entry in &self.entries {
            if entry.state != State::Absent {
                visit(&coordinates, entry);
            }
            for axis in (0..coordinates.len()).rev() {
                coordinates[axis] += 1;
                if axis == 0 || coordinates[axis] < self.inner[axis - 1] {
                    break;
                }
                coordinates[axis] = 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Chunks that were in the file before.
    struct Existing;

    impl ChunkIndex for Existing {
        fn locate(&self, coordinates: &[u64]) -> Result<Option<ChunkPlace>> {
            Ok((coordinates[0] == 3).then_some(place(1 << 40)))
        }

        fn for_each(&self, visit: &mut dyn FnMut(&[u64], ChunkPlace) -> Result<()>) -> Result<()> {
            (0..4).try_for_each(|column| visit(&[3, column], place(1 << 40)))
        }
    }

    fn place(address: u64) -> ChunkPlace {
        ChunkPlace { address, stored_bytes: address % 7, filter_mask: 0 }
    }

    fn all(
        walk: impl Fn(&mut dyn FnMut(&[u64], ChunkPlace) -> Result<()>) -> Result<()>,
    ) -> Vec<(Vec<u64>, ChunkPlace)> {
        let mut found = Vec::new();
        walk(&mut |coordinates, place| {
            found.push((coordinates.to_vec(), place));
            Ok(())
        })
        .unwrap();
        found
    }

    proptest! {
        #[test]
        fn finds_what_was_put(
            // Far chunks make a window too large.
            scale in prop::sample::select(vec![1u64, 1, 1, 1 << 20]),
            has_existing in any::<bool>(),
            puts in prop::collection::vec(
                (prop::collection::vec((0u64..40, 0u64..6), 1..5), any::<bool>()), 0..20,
            ),
        ) {
            let existing = has_existing.then(|| Arc::new(Existing) as Arc<dyn ChunkIndex>);
            let table = ChunkTable::new(2, existing);
            let (mut model, mut changed) = (BTreeMap::new(), BTreeMap::new());
            let mut grid = [1, 1];
            for (number, (chunks, commits)) in puts.into_iter().enumerate() {
                let chunks: Vec<[u64; 2]> =
                    chunks.iter().map(|(row, column)| [row * scale, *column]).collect();
                for [row, column] in &chunks {
                    grid = [grid[0].max(row + 1), grid[1].max(column + 1)];
                }
                let place = place(number as u64);
                table.put(&grid, chunks.iter().map(|at| (&at[..], place)));
                for at in chunks {
                    model.insert(at.to_vec(), place);
                    changed.insert(at.to_vec(), place);
                }
                prop_assert_eq!(table.changed_count(), changed.len());
                let found: BTreeMap<_, _> = all(|visit| table.for_each_changed(visit)).into_iter().collect();
                prop_assert_eq!(&found, &changed);
                if commits {
                    table.mark_committed();
                    changed.clear();
                }
                let mut old = Vec::new();
                table.old_places(model.keys().map(Vec::as_slice), &mut old).unwrap();
                for ((at, place), old) in model.iter().zip(old) {
                    let is_fresh = changed.contains_key(at);
                    prop_assert_eq!(old, Some(OldPlace { place: *place, is_fresh }));
                }
            }
            if has_existing {
                for column in 0..4 {
                    let place = self::place(1 << 40);
                    prop_assert_eq!(
                        table.locate(&[3, column]).unwrap(),
                        Some(*model.entry(vec![3, column]).or_insert(place)),
                    );
                }
            }
            let mut found = all(|visit| table.for_each(visit));
            if !has_existing {
                prop_assert!(found.is_sorted_by_key(|(at, _)| at.clone()));
            }
            found.sort_by_key(|(at, _)| at.clone());
            prop_assert_eq!(found, model.into_iter().collect::<Vec<_>>());
            prop_assert_eq!(table.locate(&[77, 77]).unwrap(), None);
        }
    }
}
