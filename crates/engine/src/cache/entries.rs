//! What is kept, in the order of its last use. Always behind the cache's lock.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::{ChunkKey, Decoded, Flight};
use crate::plan::layout::ArrayId;

#[derive(Default)]
pub(super) struct Entries {
    by_key: HashMap<ChunkKey, Entry>,
    /// By the time of their last use, which is different for each.
    by_use: BTreeMap<u64, ChunkKey>,
    /// How many chunks of each array.
    arrays: HashMap<ArrayId, usize>,
    clock: u64,
    kept_bytes: u64,
}

struct Entry {
    place: Place,
    bytes: u64,
    used: u64,
}

/// A chunk that is kept, or will be when who decodes it is done.
#[derive(Clone)]
pub(super) enum Place {
    Ready(Decoded),
    Flying(Arc<Flight>),
}

impl Entries {
    pub(super) fn kept_bytes(&self) -> u64 {
        self.kept_bytes
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

    /// The chunk counts as used now. False where it is not there.
    pub(super) fn touch(&mut self, key: &ChunkKey) -> bool {
        let Some(entry) = self.by_key.get_mut(key) else { return false };
        self.by_use.remove(&entry.used);
        self.clock += 1;
        entry.used = self.clock;
        self.by_use.insert(self.clock, *key);
        true
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
        let too_much = self.kept_bytes.checked_add(bytes)?.saturating_sub(budget);
        let mut freed = 0;
        let mut victims = Vec::new();
        for (&used, victim) in &self.by_use {
            if freed >= too_much {
                break;
            }
            if used >= since {
                return None;
            }
            let entry = self.by_key.get(victim)?;
            if matches!(entry.place, Place::Ready(_)) {
                freed += entry.bytes;
                victims.push(*victim);
            }
        }
        if freed < too_much {
            return None;
        }
        let gone = victims.iter().filter_map(|victim| self.remove(victim)).collect();
        let flight = Arc::new(Flight::default());
        let used = self.now();
        self.by_use.insert(used, key);
        *self.arrays.entry(key.array).or_default() += 1;
        self.kept_bytes += bytes;
        self.by_key.insert(key, Entry { place: Place::Flying(Arc::clone(&flight)), bytes, used });
        Some((flight, gone))
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

    fn remove(&mut self, key: &ChunkKey) -> Option<Place> {
        let entry = self.by_key.remove(key)?;
        self.by_use.remove(&entry.used);
        self.kept_bytes -= entry.bytes;
        if let Some(count) = self.arrays.get_mut(&key.array) {
            *count -= 1;
            if *count == 0 {
                self.arrays.remove(&key.array);
            }
        }
        Some(entry.place)
    }

    pub(super) fn shrink(&mut self, budget: u64) -> Vec<Place> {
        let mut gone = Vec::new();
        while self.kept_bytes > budget {
            let Some((_, &oldest)) = self.by_use.first_key_value() else { break };
            gone.extend(self.remove(&oldest));
        }
        gone
    }

    pub(super) fn drop_file(&mut self, file: u64) -> Vec<Place> {
        if !self.arrays.keys().any(|array| array.file == file) {
            return Vec::new();
        }
        let keys: Vec<ChunkKey> =
            self.by_key.keys().filter(|key| key.array.file == file).copied().collect();
        keys.iter().filter_map(|key| self.remove(key)).collect()
    }
}
