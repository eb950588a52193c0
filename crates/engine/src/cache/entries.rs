//! What is kept, and what goes for it. Always behind the cache's lock.
//!
//! ```text
//! decoded -> fresh --all of it was read--> spent --wanted again--> reused
//!              ^                             |gone
//!            wanted, and nothing is known    +----> remembered --wanted again--> reused
//! ```
//! Who reads on from chunk to chunk comes to the end of each and does not come back: spent chunks go first, and take a
//! share of the budget only. A chunk that is wanted again is kept like any other from then on, also where it has gone
//! meanwhile: who reads something for the second time is likely to do so again.

use std::collections::HashMap;
use std::sync::Arc;

use super::order::Order;
use super::remembered::Remembered;
use super::{Bound, ChunkKey, Decoded, Flight};
use crate::plan::layout::ArrayId;

/// More spent chunks than this are not remembered, however large the cache is.
const MOST_GONE: usize = 64 << 10;

#[derive(Default)]
pub(super) struct Entries {
    by_key: HashMap<ChunkKey, Entry>,
    all: Order,
    arrays: HashMap<ArrayId, Order>,
    /// Of arrays for which somebody has set one.
    bounds: HashMap<ArrayId, Bound>,
    /// Spent chunks that had to go: who wants one of them again reads something for the second time.
    gone: Remembered<()>,
    clock: u64,
}

struct Entry {
    place: Place,
    bytes: u64,
    used: u64,
    stage: Stage,
}

/// How far a chunk has been used; see the module.
#[derive(Clone, Copy, PartialEq)]
enum Stage {
    /// So many elements of it were read.
    Fresh(u64),
    Spent,
    Reused,
}

/// A chunk that is kept, or will be when who decodes it is done.
#[derive(Clone)]
pub(super) enum Place {
    Ready(Decoded),
    Flying(Arc<Flight>),
}

/// How many bytes of spent chunks are kept: of all arrays, and of one.
#[derive(Clone, Copy)]
pub(super) struct MostSpent {
    pub(super) of_all: u64,
    pub(super) of_array: u64,
}

impl Entries {
    pub(super) fn kept_bytes(&self) -> u64 {
        self.all.bytes()
    }

    pub(super) fn now(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    pub(super) fn has_array(&self, array: ArrayId) -> bool {
        self.arrays.contains_key(&array)
    }

    pub(super) fn find(&self, key: &ChunkKey) -> Option<Place> {
        self.by_key.get(key).map(|entry| entry.place.clone())
    }

    pub(super) fn bound(&self, array: ArrayId) -> Option<Bound> {
        self.bounds.get(&array).copied()
    }

    /// The largest bound in bytes that an array has.
    pub(super) fn largest_bound(&self) -> u64 {
        self.bounds.values().map(|bound| bound.bytes).max().unwrap_or(0)
    }

    /// Bounds what is kept of an array; returns what had to go.
    pub(super) fn set_bound(&mut self, array: ArrayId, bound: Bound) -> Vec<Place> {
        self.bounds.insert(array, bound);
        let mut gone = Vec::new();
        while let Some(first) = self.too_much(array, bound) {
            gone.extend(self.remove(&first));
        }
        gone
    }

    /// The next to go where more of an array is kept than may be.
    fn too_much(&self, array: ArrayId, bound: Bound) -> Option<ChunkKey> {
        let own = self.arrays.get(&array)?;
        let is_too_much = own.bytes() > bound.bytes || own.count() as u64 > bound.chunks;
        if is_too_much { own.first_to_go(u64::MAX).next().copied() } else { None }
    }

    /// The chunk counts as used now. False where it is not there.
    pub(super) fn touch(&mut self, key: &ChunkKey) -> bool {
        let Some(entry) = self.by_key.get(key) else { return false };
        let stage = if entry.stage == Stage::Spent { Stage::Reused } else { entry.stage };
        if entry.used == self.clock && entry.stage == stage {
            // Nothing was used since.
            return true;
        }
        let used = self.now();
        self.place_anew(key, used, stage);
        true
    }

    /// So many elements of a chunk are read, of `whole` that there are; true where all of them are with these.
    pub(super) fn count_read(&mut self, key: &ChunkKey, elements: u64, whole: u64) -> bool {
        let Some(Entry { stage: Stage::Fresh(read), .. }) = self.by_key.get_mut(key) else {
            return false;
        };
        let before = *read;
        *read = before.saturating_add(elements);
        before < whole && *read >= whole
    }

    /// All of a chunk was read, or whoever wanted it has it already. Returns what had to go.
    pub(super) fn spend(&mut self, key: &ChunkKey, most: MostSpent) -> Vec<Place> {
        let Some(&Entry { used, stage: Stage::Fresh(_), .. }) = self.by_key.get(key) else {
            return Vec::new();
        };
        self.place_anew(key, used, Stage::Spent);
        let mut gone = Vec::new();
        while let Some(oldest) = self.too_much_spent(key.array, most) {
            gone.extend(self.let_go(&oldest));
        }
        gone
    }

    /// The next to go where more spent chunks are kept than may be.
    fn too_much_spent(&self, array: ArrayId, most: MostSpent) -> Option<ChunkKey> {
        let of_array = self.arrays.get(&array).filter(|own| own.spent_bytes() > most.of_array);
        let of_all = Some(&self.all).filter(|all| all.spent_bytes() > most.of_all);
        of_array.or(of_all)?.oldest_spent()
    }

    /// Makes room for a chunk and enters it as being decoded; also returns what had to go. `None`
    /// where there is no room without pushing out what was used after `since`.
    pub(super) fn take_off(
        &mut self,
        key: ChunkKey,
        bytes: u64,
        budget: u64,
        since: u64,
    ) -> Option<(Arc<Flight>, Vec<Place>)> {
        let mut gone = Vec::new();
        if let (Some(bound), Some(own)) = (self.bound(key.array), self.arrays.get(&key.array)) {
            let count = (own.count() as u64 + 1).saturating_sub(bound.chunks);
            let too_much = own.bytes().checked_add(bytes)?.saturating_sub(bound.bytes);
            let victims = self.victims(own, too_much, count, since)?;
            gone.extend(victims.iter().filter_map(|victim| self.let_go(victim)));
        } else if self.bound(key.array).is_some_and(|bound| !bound.admits(bytes)) {
            return None;
        }
        let too_much = self.kept_bytes().checked_add(bytes)?.saturating_sub(budget);
        let victims = self.victims(&self.all, too_much, 0, since)?;
        gone.extend(victims.iter().filter_map(|victim| self.let_go(victim)));
        let flight = Arc::new(Flight::default());
        let stage = if self.gone.take(&key).is_some() { Stage::Reused } else { Stage::Fresh(0) };
        let (used, place) = (self.now(), Place::Flying(Arc::clone(&flight)));
        self.by_key.insert(key, Entry { place, bytes, used, stage });
        self.all.add(key, used, bytes, false);
        self.arrays.entry(key.array).or_default().add(key, used, bytes, false);
        Some((flight, gone))
    }

    /// Those to go for `too_much` bytes and `count` chunks in `order`; `None` where these are not to be had.
    fn victims(
        &self,
        order: &Order,
        too_much: u64,
        count: u64,
        since: u64,
    ) -> Option<Vec<ChunkKey>> {
        let (mut freed, mut victims) = (0, Vec::new());
        let mut first_to_go = order.first_to_go(since);
        while freed < too_much || (victims.len() as u64) < count {
            let victim = first_to_go.next()?;
            let entry = self.by_key.get(victim)?;
            if matches!(entry.place, Place::Ready(_)) {
                freed += entry.bytes;
                victims.push(*victim);
            }
        }
        Some(victims)
    }

    /// What was being decoded is there, or will not come.
    pub(super) fn land(&mut self, key: &ChunkKey, flight: &Arc<Flight>, decoded: Option<Decoded>) {
        let Some(entry) = self.by_key.get_mut(key) else { return };
        if !matches!(&entry.place, Place::Flying(own) if Arc::ptr_eq(own, flight)) {
            return;
        }
        match decoded {
            Some(decoded) => entry.place = Place::Ready(decoded),
            None => drop(self.remove(key)),
        }
    }

    /// Gives a chunk another place in the order.
    fn place_anew(&mut self, key: &ChunkKey, used: u64, stage: Stage) {
        let Some(entry) = self.by_key.get_mut(key) else { return };
        let own = self.arrays.entry(key.array).or_default();
        for order in [&mut self.all, own] {
            order.remove(entry.used, entry.bytes, entry.stage == Stage::Spent);
            order.add(*key, used, entry.bytes, stage == Stage::Spent);
        }
        (entry.used, entry.stage) = (used, stage);
    }

    /// Takes a chunk out for which there is no room; one that was spent is remembered.
    fn let_go(&mut self, key: &ChunkKey) -> Option<Place> {
        let entry = self.by_key.get(key)?;
        if entry.stage == Stage::Spent {
            self.gone.put(*key, entry.bytes, ());
        }
        self.remove(key)
    }

    fn remove(&mut self, key: &ChunkKey) -> Option<Place> {
        let entry = self.by_key.remove(key)?;
        let is_spent = entry.stage == Stage::Spent;
        self.all.remove(entry.used, entry.bytes, is_spent);
        if let Some(own) = self.arrays.get_mut(&key.array) {
            own.remove(entry.used, entry.bytes, is_spent);
            if own.count() == 0 {
                self.arrays.remove(&key.array);
            }
        }
        Some(entry.place)
    }

    /// Remembers spent chunks of no more than `budget` bytes.
    pub(super) fn remember(&mut self, budget: u64) {
        self.gone.shrink(budget, MOST_GONE);
    }

    pub(super) fn shrink(&mut self, budget: u64) -> Vec<Place> {
        let mut gone = Vec::new();
        while self.kept_bytes() > budget {
            let Some(first) = self.all.first_to_go(u64::MAX).next().copied() else { break };
            gone.extend(self.remove(&first));
        }
        self.remember(budget);
        gone
    }

    pub(super) fn drop_file(&mut self, file: u64) -> Vec<Place> {
        self.bounds.retain(|array, _| array.file != file);
        self.gone.drop_file(file);
        if !self.arrays.keys().any(|array| array.file == file) {
            return Vec::new();
        }
        let keys: Vec<ChunkKey> =
            self.by_key.keys().filter(|key| key.array.file == file).copied().collect();
        keys.iter().filter_map(|key| self.remove(key)).collect()
    }
}
