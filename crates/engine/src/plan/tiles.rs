//! An array that lies in rows, cut into tiles: which of them a scattered request touches.
//!
//! ```text
//! v(time, y, x), 4-byte elements:   one tile = many steps of time  x  a page of (y, x)
//! v[:, 3, 7]                        one element of every step of the tiles above one another
//! ```
//! A time series across maps takes one call for each step, or brings whole maps along, for a few
//! bytes of each. For little more a call brings a page. So reading a tile costs about as much as
//! the series, and has a thousand series in it. When that is due is for `cache::ghosts` to say.

use isotach_model::shape;

use super::axis_runs::AxisRun;
use super::chunked::{ChunkPlan, ChunkTask};
use super::layout::ArrayId;
use super::strided::StridedPlan;
use crate::cache::ChunkKey;

/// A page of a tile is this part of what a call costs: bytes that hardly matter beside the call.
const PAGES_PER_CALL: u64 = 4;
/// A tile has the bytes of that many calls. Smaller ones are more to look after, larger ones fewer
/// to share out over threads.
const CALLS_PER_TILE: u64 = 128;
/// The largest tile.
const TILE_BYTES: u64 = 4 << 20;
/// A tile takes at most this part of the cache. All that a request touches must fit into it.
const TILES_IN_CACHE: u64 = 16;
/// Requests that cost less than so many calls are too small to look at.
const CALLS_OF_A_REQUEST: u64 = 16;
/// A request is scattered where it costs so many times the bytes that are wanted.
const COST_PER_WANTED: u64 = 8;

/// The tiles that a scattered request touches.
#[derive(Debug, Clone)]
pub(crate) struct TilePlan<'p> {
    /// How the request is read directly.
    direct: &'p StridedPlan,
    shape: &'p [u64],
    tile_shape: Vec<u64>,
    tiles: ChunkPlan,
    call_cost: u64,
    /// Bytes of a tile that the array's edge does not cut.
    pub(crate) tile_bytes: u64,
    /// What reading such a tile costs in bytes.
    pub(crate) tile_cost: u64,
    /// What the request costs in bytes where it is read directly.
    pub(crate) direct_cost: u64,
}

impl<'p> TilePlan<'p> {
    /// The tiles of an array of `shape` that the request of `direct` touches; `None` where that is
    /// not scattered, or where they are too large for a cache of `budget` bytes.
    pub(crate) fn new(
        shape: &'p [u64],
        direct: &'p StridedPlan,
        call_cost: u64,
        budget: u64,
    ) -> Option<Self> {
        let (wanted, direct_cost) = (direct.wanted_bytes(), direct.cost_bytes(call_cost));
        if call_cost == 0
            || direct_cost < CALLS_OF_A_REQUEST.saturating_mul(call_cost)
            || direct_cost < COST_PER_WANTED.saturating_mul(wanted)
        {
            return None;
        }
        let size = direct.element_size();
        let most = call_cost.saturating_mul(CALLS_PER_TILE).min(TILE_BYTES);
        let tile_shape = tile_shape(shape, size, call_cost / PAGES_PER_CALL, most);
        let tile_bytes = shape::byte_count(&tile_shape, size)? as u64;
        if tile_bytes > budget / TILES_IN_CACHE {
            return None;
        }
        let tiles = ChunkPlan::new(shape, &tile_shape, direct.axes())?;
        if tile_bytes.checked_mul(tiles.chunk_count() as u64)? > budget {
            return None;
        }
        let tile_cost = 0;
        let mut plan = Self {
            direct,
            shape,
            tile_shape,
            tiles,
            call_cost,
            tile_bytes,
            tile_cost,
            direct_cost,
        };
        let first = vec![0; plan.shape.len()];
        plan.tile_cost = plan.reads(&first)?.cost_bytes(call_cost);
        Some(plan)
    }

    /// How many tiles.
    pub(crate) fn count(&self) -> usize {
        self.tiles.chunk_count()
    }

    /// The `index`-th tile, below [`Self::count`], and what is wanted of it.
    pub(crate) fn task(&self, index: usize) -> ChunkTask<'_> {
        self.tiles.task(index)
    }

    /// The names of all of them in the cache.
    pub(crate) fn keys(&self, array: ArrayId) -> Option<Vec<ChunkKey>> {
        let numbers = (0..self.count()).map(|index| self.task(index).number);
        numbers.map(|number| number.map(|number| ChunkKey { array, number })).collect()
    }

    /// The shape of the tile that begins at `origin`, cut at the array's edge.
    pub(crate) fn extent(&self, origin: &[u64]) -> Vec<u64> {
        let left = self.shape.iter().zip(origin).map(|(len, origin)| len - origin);
        left.zip(&self.tile_shape).map(|(left, len)| left.min(*len)).collect()
    }

    /// The reads that bring the tile which begins at `origin`, row by row.
    pub(crate) fn reads(&self, origin: &[u64]) -> Option<StridedPlan> {
        let (extent, size) = (self.extent(origin), self.direct.element_size());
        let axes = origin.iter().zip(&extent);
        let axes = axes
            .map(|(&position, &count)| vec![AxisRun { result: 0, count, position, stride: 1 }])
            .collect();
        let target = crate::read::target_strides(&extent, size);
        let (address, strides) = (self.direct.address(), self.direct.strides());
        StridedPlan::new(address, strides, size, axes, &target, self.call_cost).ok()
    }
}

/// The tiles' shape: from the innermost axis outward as many elements as fill a page, then from the
/// outermost axis inward as many as fill the tile. Along an axis all tiles are about as long.
fn tile_shape(shape: &[u64], element_size: usize, page_bytes: u64, tile_bytes: u64) -> Vec<u64> {
    let size = (element_size as u64).max(1);
    let mut tile = vec![1; shape.len()];
    let mut room = (page_bytes / size).max(1);
    for (len, &all) in tile.iter_mut().zip(shape).rev() {
        *len = even_part(all, room);
        room /= *len;
    }
    let page: u64 = tile.iter().product();
    let mut room = (tile_bytes / size / page).max(1);
    for (len, &all) in tile.iter_mut().zip(shape) {
        let longer = even_part(all, room.saturating_mul(*len));
        room = room.saturating_mul(*len) / longer;
        *len = longer;
    }
    tile
}

/// The length of parts of `len` that are at most `most` and as even as can be; at least 1.
fn even_part(len: u64, most: u64) -> u64 {
    let len = len.max(1);
    len.div_ceil(len.div_ceil(most.max(1)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_tile_is_a_page_of_many_steps() {
        let shape = |shape: &[u64], size| tile_shape(shape, size, 4 << 10, 2 << 20);
        // 512 steps at most: four times 390.
        assert_eq!(shape(&[1560, 128, 256], 4), [390, 4, 256]);
        // A row is more than a page: an even part of it.
        assert_eq!(shape(&[1560, 128, 1500], 4), [520, 1, 750]);
        // Few steps: levels too.
        assert_eq!(shape(&[100, 20, 128, 256], 4), [100, 5, 4, 256]);
        // Maps of less than a page: all of them.
        assert_eq!(shape(&[50_000, 3, 5], 8), [16_667, 3, 5]);
        // One axis, no axis, an axis without elements, an element beyond a tile.
        assert_eq!(shape(&[1 << 20], 4), [1 << 19]);
        assert!(shape(&[], 4).is_empty());
        assert_eq!(shape(&[10, 0, 7], 4), [10, 1, 7]);
        assert_eq!(shape(&[10, 3], 8 << 20), [1, 1]);
    }

    proptest! {
        #[test]
        fn tiles_stay_within_bounds(
            shape in prop::collection::vec(prop_oneof![0..40u64, 0..u64::MAX], 0..6),
            size in 1..100usize,
            page in 0..5000u64,
            tile in 0..100_000u64,
        ) {
            let found = tile_shape(&shape, size, page, tile);
            let count = found.iter().product::<u64>();
            let most = (page.max(tile) / size as u64).max(1);
            prop_assert!(count <= most, "{found:?}");
            for (&len, &all) in found.iter().zip(&shape) {
                prop_assert!(len >= 1 && len <= all.max(1));
            }
        }
    }
}
