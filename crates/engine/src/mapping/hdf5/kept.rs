//! Decoded structures that are kept for a while.
//!
//! Two generations: what is used goes to the young one; when that is full it becomes the old one,
//! and what nobody used since then is dropped. Every step is one look-up; nothing is sorted.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::PoisonError;

use crate::sync::Mutex;

use foldhash::fast::RandomState;

/// Values by key, bounded by the sum of their weights.
pub(super) struct Kept<K, V> {
    generations: Mutex<Generations<K, V>>,
    /// Weight at which the young generation is full; up to twice that is kept.
    capacity: u64,
}

struct Generations<K, V> {
    young: HashMap<K, (V, u64), RandomState>,
    old: HashMap<K, (V, u64), RandomState>,
    young_weight: u64,
}

impl<K: Eq + Hash + Copy, V: Clone> Kept<K, V> {
    /// Room for values that weigh `capacity` (and the generation before them).
    pub(super) fn new(capacity: u64) -> Self {
        Self { generations: Mutex::default(), capacity }
    }

    /// The value of `key` where it is kept.
    pub(super) fn get(&self, key: K) -> Option<V> {
        let mut generations = self.generations.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((value, _)) = generations.young.get(&key) {
            return Some(value.clone());
        }
        let (value, weight) = generations.old.remove(&key)?;
        generations.insert(key, value.clone(), weight, self.capacity);
        Some(value)
    }

    /// Keeps `value`, which weighs `weight`.
    pub(super) fn insert(&self, key: K, value: V, weight: u64) {
        let mut generations = self.generations.lock().unwrap_or_else(PoisonError::into_inner);
        generations.insert(key, value, weight, self.capacity);
    }

    /// The value of `key`; where it is not kept, what `make` makes with its weight.
    pub(super) fn get_or_make<E>(
        &self,
        key: K,
        make: impl FnOnce() -> Result<(V, u64), E>,
    ) -> Result<V, E> {
        if let Some(value) = self.get(key) {
            return Ok(value);
        }
        let (value, weight) = make()?;
        self.insert(key, value.clone(), weight);
        Ok(value)
    }
}

impl<K, V> Default for Generations<K, V> {
    fn default() -> Self {
        Self { young: HashMap::default(), old: HashMap::default(), young_weight: 0 }
    }
}

impl<K: Eq + Hash, V> Generations<K, V> {
    fn insert(&mut self, key: K, value: V, weight: u64, capacity: u64) {
        if self.young_weight.saturating_add(weight) > capacity {
            self.old = std::mem::take(&mut self.young);
            self.young_weight = 0;
        }
        if weight > capacity {
            return;
        }
        self.young_weight += weight;
        if let Some((_, replaced)) = self.young.insert(key, (value, weight)) {
            self.young_weight -= replaced;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Kept;

    #[test]
    fn what_is_used_stays_and_the_rest_goes() {
        let kept = Kept::new(10);
        for key in 0..10 {
            kept.insert(key, key * 2, 1);
        }
        kept.insert(10, 20, 1);
        assert_eq!(kept.get(3), Some(6), "of the generation before");
        for key in 11..30 {
            kept.insert(key, key * 2, 1);
            assert_eq!(kept.get(3), Some(6), "used all the time");
        }
        assert_eq!(kept.get(4), None);
        kept.insert(99, 1, 11);
        assert_eq!(kept.get(99), None, "heavier than the whole");
    }
}
