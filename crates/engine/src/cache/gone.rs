//! Chunks that were used up and had to go: who wants one of them again reads something for the second time.

use std::collections::{BTreeMap, HashMap};

use super::ChunkKey;

/// More chunks than this are not remembered, however large the cache is.
const CHUNKS: usize = 64 << 10;

/// Chunks in the order in which they went.
#[derive(Default)]
pub(super) struct Gone {
    by_key: HashMap<ChunkKey, (u64, u64)>,
    by_time: BTreeMap<u64, ChunkKey>,
    clock: u64,
    bytes: u64,
}

impl Gone {
    /// A chunk of so many bytes has gone.
    pub(super) fn add(&mut self, key: ChunkKey, bytes: u64) {
        self.take(&key);
        self.clock += 1;
        self.by_key.insert(key, (self.clock, bytes));
        self.by_time.insert(self.clock, key);
        self.bytes = self.bytes.saturating_add(bytes);
    }

    /// Forgets a chunk; true where it was remembered.
    pub(super) fn take(&mut self, key: &ChunkKey) -> bool {
        let Some((time, bytes)) = self.by_key.remove(key) else { return false };
        self.by_time.remove(&time);
        self.bytes -= bytes;
        true
    }

    /// Remembers no more chunks than `budget` bytes would have room for: one that comes back later than that would have
    /// gone anyway.
    pub(super) fn shrink(&mut self, budget: u64) {
        while self.bytes > budget || self.by_key.len() > CHUNKS {
            let Some((_, &oldest)) = self.by_time.first_key_value() else { break };
            self.take(&oldest);
        }
    }

    /// Forgets all chunks of a file.
    pub(super) fn drop_file(&mut self, file: u64) {
        if self.by_key.is_empty() {
            return;
        }
        let keys = self.by_key.keys().filter(|key| key.array.file == file);
        let keys: Vec<ChunkKey> = keys.copied().collect();
        for key in &keys {
            self.take(key);
        }
    }
}
