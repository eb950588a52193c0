//! Chunks and tiles that are not kept, and what is known of each, as far back as it may be of use.

use std::collections::{BTreeMap, HashMap};

use super::ChunkKey;

/// In the order in which they were put here last.
#[derive(Default)]
pub(super) struct Remembered<T> {
    by_key: HashMap<ChunkKey, Entry<T>>,
    /// By the time when they were put here, which is different for each.
    by_time: BTreeMap<u64, ChunkKey>,
    clock: u64,
    bytes: u64,
}

struct Entry<T> {
    known: T,
    /// Bytes that it would take if it were kept.
    bytes: u64,
    time: u64,
}

impl<T> Remembered<T> {
    pub(super) fn get(&self, key: &ChunkKey) -> Option<&T> {
        self.by_key.get(key).map(|entry| &entry.known)
    }

    /// Remembers what is known of one that would take so many bytes.
    pub(super) fn put(&mut self, key: ChunkKey, bytes: u64, known: T) {
        self.take(&key);
        self.clock += 1;
        self.by_time.insert(self.clock, key);
        self.by_key.insert(key, Entry { known, bytes, time: self.clock });
        self.bytes = self.bytes.saturating_add(bytes);
    }

    /// Forgets one; what was known of it.
    pub(super) fn take(&mut self, key: &ChunkKey) -> Option<T> {
        let entry = self.by_key.remove(key)?;
        self.by_time.remove(&entry.time);
        self.bytes -= entry.bytes;
        Some(entry.known)
    }

    /// Remembers no more than `budget` bytes would have room for, nor more than `most`: what comes back later than that would
    /// have gone anyway.
    pub(super) fn shrink(&mut self, budget: u64, most: usize) {
        while self.bytes > budget || self.by_key.len() > most {
            let Some((_, &oldest)) = self.by_time.first_key_value() else { break };
            self.take(&oldest);
        }
    }

    /// Forgets all of a file.
    pub(super) fn drop_file(&mut self, file: u64) {
        let keys = self.by_key.keys().filter(|key| key.array.file == file);
        let keys: Vec<ChunkKey> = keys.copied().collect();
        for key in &keys {
            self.take(key);
        }
    }

    /// How many there are, and the bytes that they would take.
    #[cfg(test)]
    pub(super) fn size(&self) -> (usize, u64) {
        assert_eq!(self.by_key.len(), self.by_time.len());
        (self.by_key.len(), self.bytes)
    }
}
