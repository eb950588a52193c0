//! In which order chunks go: of all that are kept, and of one array.

use std::collections::BTreeMap;

use super::ChunkKey;

/// Chunks by the time of their last use, which is different for each.
#[derive(Default)]
pub(super) struct Order {
    /// Those that were used up.
    spent: BTreeMap<u64, ChunkKey>,
    others: BTreeMap<u64, ChunkKey>,
    bytes: u64,
    spent_bytes: u64,
}

impl Order {
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes of chunks that were used up.
    pub(super) fn spent_bytes(&self) -> u64 {
        self.spent_bytes
    }

    pub(super) fn count(&self) -> usize {
        self.spent.len() + self.others.len()
    }

    pub(super) fn add(&mut self, key: ChunkKey, used: u64, bytes: u64, is_spent: bool) {
        self.bytes += bytes;
        if is_spent {
            self.spent_bytes += bytes;
            self.spent.insert(used, key);
        } else {
            self.others.insert(used, key);
        }
    }

    pub(super) fn remove(&mut self, used: u64, bytes: u64, is_spent: bool) {
        self.bytes -= bytes;
        if is_spent {
            self.spent_bytes -= bytes;
            self.spent.remove(&used);
        } else {
            self.others.remove(&used);
        }
    }

    /// The chunk that was used up and not wanted for longest.
    pub(super) fn oldest_spent(&self) -> Option<ChunkKey> {
        self.spent.first_key_value().map(|(_, key)| *key)
    }

    /// Those that go first, and then those behind them, for who may push out what was used before `since`. Nobody wants
    /// a chunk that was used up for a second time in one request.
    pub(super) fn first_to_go(&self, since: u64) -> impl Iterator<Item = &ChunkKey> {
        self.spent.values().chain(self.others.range(..since).map(|(_, key)| key))
    }
}
