//! Arrays that lie in rows: read directly, or out of tiles where scattered requests come back.
//!
//! ```text
//! request -> in memory?                   -> scatter
//!         -> not scattered?               -> read directly
//!         -> tiles kept, or due to be?    -> read what is not kept, keep it -> scatter
//!         -> otherwise                    -> read directly; note what it cost
//! ```
//! A tile holds the elements as they are stored. What can go wrong with it (storage fails, there is
//! no room) costs the request nothing but time: it is read directly then.

use isotach_model::shape;

use super::chunked::memory;
use super::destination::Destination;
use super::reading::{Reading, target_strides};
use super::scatter::{OutOfBounds, Source, Target, scatter};
use super::strided::{self, Place};
use crate::cache::{ChunkKey, Decoded, Since};
use crate::error::Result;
use crate::parallel;
use crate::plan::axis_runs::AxisRun;
use crate::plan::tiles::TilePlan;

/// Copying less than this out of tiles that are kept stays on the caller's thread.
const SHARED_FROM_BYTES: u64 = 256 << 10;

/// A scattered request.
struct Request<'r, 'd> {
    reading: &'r Reading<'r>,
    place: &'r Place<'r>,
    target: &'r Target<'r, 'd>,
    tiles: &'r TilePlan<'r>,
    keys: &'r [ChunkKey],
    since: Since,
}

/// Reads the elements of `axes`, each of which has a run.
pub(super) fn read(
    reading: &Reading<'_>,
    place: &Place<'_>,
    axes: Vec<Vec<AxisRun>>,
    target: &Target<'_, '_>,
) -> Result<()> {
    if let Some(done) = strided::read_in_memory(place, &axes, target) {
        return Ok(done);
    }
    let (layout, cache) = (reading.layout, reading.cache);
    let (cost, budget) = (place.storage.call_cost_bytes(), cache.budget());
    let plan = strided::plan(reading, place, axes, target)?;
    let tiles = TilePlan::new(&layout.shape, &plan, cost, budget)
        .and_then(|tiles| tiles.keys(layout.id).map(|keys| (tiles, keys)));
    let Some((tiles, keys)) = tiles else {
        return strided::run(reading, place, &plan, target);
    };
    let (since, _) = cache.begin(layout.id, keys.iter().copied());
    let missing = cache.missing(&keys);
    if !cache.ghosts().are_due(&missing, tiles.tile_cost) {
        strided::run(reading, place, &plan, target)?;
        cache.ghosts().spend(&missing, tiles.direct_cost, tiles.tile_bytes, budget);
        return Ok(());
    }
    cache.ghosts().forget(&missing);
    let (tiles, keys) = (&tiles, keys.as_slice());
    let request = Request { reading, place, target, tiles, keys, since };
    let much = !missing.is_empty() || plan.wanted_bytes() >= SHARED_FROM_BYTES;
    if much && place.storage.parallel() {
        parallel::for_each(tiles.count(), |index| request.serve(index))
    } else {
        (0..tiles.count()).try_for_each(|index| request.serve(index))
    }
}

impl Request<'_, '_> {
    /// Copies what is wanted of a tile, which is read first where it is not kept.
    fn serve(&self, index: usize) -> Result<()> {
        let task = self.tiles.task(index);
        let extent = self.tiles.extent(&task.origin);
        if let Some(bytes) = self.tile(index, &task.origin, &extent) {
            let strides = self.reading.row_major_bytes(&extent)?;
            let source =
                Source { bytes: &bytes, start: 0, origin: &task.origin, strides: &strides };
            return scatter(&source, &task.region, self.target)
                .map_err(|OutOfBounds| self.reading.short(bytes.len() as u64));
        }
        let axes = task.region.iter().map(|runs| runs.to_vec()).collect();
        strided::read(self.reading, self.place, axes, self.target)
    }

    /// The elements of the tile at `origin`; `None` where they cannot be had or cannot be kept.
    fn tile(&self, index: usize, origin: &[u64], extent: &[u64]) -> Option<Decoded> {
        let size = self.reading.layout.element_size;
        let len = shape::byte_count(extent, size)?;
        let reads = self.tiles.reads(origin)?;
        let kept = self.reading.cache.get_or_decode(self.keys[index], len, self.since, |spare| {
            memory::decoded_vec(spare, len, |memory| {
                let destination = Destination::new(memory);
                let strides = target_strides(extent, size);
                let target = Target::whole(&destination, &strides, size, false);
                // On this thread alone: others wait for it, and may be those that would help.
                let all = 0..reads.read_count();
                strided::run_share(self.reading, self.place, &reads, all, &target)?;
                destination.into_written().ok_or_else(|| self.reading.short(0))
            })
        });
        // What is wrong comes up again if it is with what is wanted, not with what lies around it.
        kept.ok()?.filter(|bytes| bytes.len() == len)
    }
}
