//! Tiles that are not kept: what was spent on reading past them, which decides when to keep them.
//!
//! ```text
//! read directly: spend(tile) -> ... -> half of the tile's own cost is spent -> read the tile, keep it
//! ```
//! - A tile is read when direct reads in it have cost half of what reading it costs: a time series
//!   of all its steps comes to that at its second time, a series of a tenth of them at its eighth.
//!   So what tiles cost is never more than about twice what was spent before without them.
//! - Only as many bytes of tiles are remembered as the cache may keep. What comes back after more
//!   than that would have been pushed out before it was of any use, and is read directly for ever.

use super::ChunkKey;
use super::remembered::Remembered;

/// More tiles than this are not remembered, however large the cache is.
const TILES: usize = 16 << 10;

/// What was spent on tiles, in the order in which they were last wanted.
#[derive(Default)]
pub(crate) struct Ghosts(Remembered<u64>);

impl Ghosts {
    /// True where enough was spent on each of these tiles that to read it (at `tile_cost`) pays.
    pub(crate) fn are_due(&self, tiles: &[ChunkKey], tile_cost: u64) -> bool {
        let spent = |key| self.0.get(key).copied().unwrap_or(0);
        tiles.iter().all(|key| spent(key) >= tile_cost.div_ceil(2))
    }

    /// A request was read directly, at that cost, for want of these tiles of `tile_bytes` bytes.
    /// Remembers no more than `budget` bytes of tiles.
    pub(crate) fn spend(&mut self, tiles: &[ChunkKey], cost: u64, tile_bytes: u64, budget: u64) {
        let each = cost / (tiles.len() as u64).max(1);
        for key in tiles {
            let spent = self.0.get(key).copied().unwrap_or(0).saturating_add(each);
            self.0.put(*key, tile_bytes, spent);
        }
        self.shrink(budget);
    }

    /// Remembers no more than `budget` bytes of tiles.
    pub(super) fn shrink(&mut self, budget: u64) {
        self.0.shrink(budget, TILES);
    }

    /// These tiles are kept from now on: when they have gone, they start anew.
    pub(crate) fn forget(&mut self, tiles: &[ChunkKey]) {
        for key in tiles {
            self.0.take(key);
        }
    }

    /// Forgets all tiles of a file.
    pub(super) fn drop_file(&mut self, file: u64) {
        self.0.drop_file(file);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::layout::ArrayId;

    fn key(file: u64, number: u64) -> ChunkKey {
        ChunkKey { array: ArrayId { file, address: 7 }, number }
    }

    #[test]
    fn a_tile_is_due_when_half_of_its_cost_was_spent() {
        let mut ghosts = Ghosts::default();
        let tiles = [key(1, 0), key(1, 1)];
        ghosts.spend(&tiles, 60, 10, 1000);
        assert!(!ghosts.are_due(&tiles, 100));
        ghosts.spend(&tiles[..1], 20, 10, 1000);
        assert!(ghosts.are_due(&tiles[..1], 100) && !ghosts.are_due(&tiles, 100));
        ghosts.spend(&tiles, 40, 10, 1000);
        assert!(ghosts.are_due(&tiles, 100));
        ghosts.forget(&tiles[..1]);
        assert!(!ghosts.are_due(&tiles, 100));
    }

    #[test]
    fn no_more_is_remembered_than_could_be_kept() {
        let mut ghosts = Ghosts::default();
        for number in 0..5 {
            ghosts.spend(&[key(1, number)], 100, 10, 30);
        }
        let due: Vec<bool> = (0..5).map(|number| ghosts.are_due(&[key(1, number)], 100)).collect();
        assert_eq!(due, [false, false, true, true, true]);
        ghosts.spend(&[key(2, 0)], 100, 10, 30);
        ghosts.drop_file(1);
        assert!(ghosts.are_due(&[key(2, 0)], 100) && !ghosts.are_due(&[key(1, 4)], 100));
        assert_eq!(ghosts.0.size(), (1, 10));
        ghosts.spend(&[key(3, 0)], 100, 10, 0);
        assert_eq!(ghosts.0.size(), (0, 0));
    }
}
