//! A plan to look at: what a request would touch, read and decode.

use std::fmt;

use isotach_model::selection::Selection;
use isotach_model::shape;

use super::axis_runs::{AxisRun, count_of, runs_of, split_at_extent};
use super::chunked::ChunkPlan;
use super::layout::{ArrayLayout, Chunked, Placement};
use super::strided::StridedPlan;
use super::tiles::TilePlan;
use crate::cache::{self, ChunkKey};
use crate::error::{Error, ErrorKind, Result};

/// How a request will be answered.
#[derive(Debug, Clone)]
pub enum Plan {
    /// Nothing is stored of what is wanted: all of it is fill, or nothing is wanted.
    Fill,
    /// Out of the object header, which is in memory.
    Inline,
    /// By these reads.
    Strided(StridedPlan),
    /// From these chunks.
    Chunked(ChunkPlan),
    /// From pieces of other arrays.
    Virtual {
        /// How many pieces the array has.
        piece_count: usize,
    },
}

/// What a plan touches, in numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// Where the elements lie: "contiguous", "chunked", ...
    pub placement: &'static str,
    /// Elements that are wanted.
    pub element_count: u64,
    /// Bytes that are wanted, as stored.
    pub wanted_bytes: u64,
    /// Reads that storage is asked for. Neighbouring chunks may share one.
    pub reads: u64,
    /// Bytes that these reads bring.
    pub read_bytes: u64,
    /// Chunks touched, stored or not.
    pub chunks: u64,
    /// Those of them that were never written.
    pub missing_chunks: u64,
    /// Those of them that are decoded in the cache already.
    pub cached_chunks: u64,
    /// Bytes that decoding gives.
    pub decoded_bytes: u64,
    /// Tiles of an array that is not chunked, where the request is scattered over it: they are
    /// read and kept when that pays, which is usually at its second time.
    pub tiles: u64,
    /// Those of them that are in the cache already.
    pub cached_tiles: u64,
}

impl Plan {
    /// Plans `selection`, which lies within the array.
    pub fn new(layout: &ArrayLayout, selection: &Selection) -> Result<Self> {
        let axes: Vec<Vec<AxisRun>> = selection
            .axes
            .iter()
            .zip(&layout.shape)
            .map(|(axis, &len)| split_at_extent(runs_of(axis), len).0)
            .collect();
        if axes.iter().any(Vec::is_empty) {
            return Ok(Self::Fill);
        }
        let too_large = || {
            let kind = ErrorKind::Limit { what: "chunks", value: u64::MAX, limit: i64::MAX as u64 };
            Error::new(&layout.file, kind).at(&layout.path)
        };
        let strided = |address, strides: &[u64], axes, cost| {
            let target = crate::read::target_strides(&selection.shape(), layout.element_size);
            StridedPlan::new(address, strides, layout.element_size, axes, &target, cost)
                .map(Self::Strided)
                .map_err(|_| too_large())
        };
        match &layout.placement {
            Placement::Unallocated => Ok(Self::Fill),
            Placement::Inline(_) => Ok(Self::Inline),
            Placement::Strided { address, strides_bytes, .. } => {
                strided(*address, strides_bytes, axes, layout.storage.call_cost_bytes())
            }
            Placement::External { .. } => {
                let size = layout.element_size as u64;
                let strides = shape::row_major_strides(&layout.shape).ok_or_else(too_large)?;
                let strides: Vec<u64> = strides.iter().map(|s| s.saturating_mul(size)).collect();
                strided(0, &strides, axes, layout.storage.call_cost_bytes())
            }
            Placement::Chunked(chunked) => {
                ChunkPlan::new(&layout.shape, &chunked.chunk_shape, &axes)
                    .map(Self::Chunked)
                    .ok_or_else(too_large)
            }
            Placement::Virtual(sources) => {
                Ok(Self::Virtual { piece_count: sources.pieces()?.len() })
            }
        }
    }

    /// What it touches. Looks every chunk up in the array's index, and in the cache.
    pub fn summary(&self, layout: &ArrayLayout, selection: &Selection) -> Result<Summary> {
        let element_count = selection.element_count().unwrap_or(u64::MAX);
        let mut summary = Summary {
            placement: placement_name(&layout.placement),
            element_count,
            wanted_bytes: element_count.saturating_mul(layout.element_size as u64),
            ..Summary::default()
        };
        match (self, &layout.placement) {
            (Self::Strided(plan), _) => {
                let in_memory = layout.storage.as_slice().is_some();
                summary.reads = if in_memory { 0 } else { plan.read_count() };
                summary.read_bytes =
                    if in_memory { plan.wanted_bytes() } else { plan.read_bytes() };
                if !in_memory && matches!(layout.placement, Placement::Strided { .. }) {
                    add_tiles(plan, layout, &mut summary);
                }
            }
            (Self::Chunked(plan), Placement::Chunked(chunked)) => {
                add_chunks(plan, layout, chunked, &mut summary)?;
            }
            _ => {}
        }
        Ok(summary)
    }
}

fn add_tiles(plan: &StridedPlan, layout: &ArrayLayout, summary: &mut Summary) {
    let (cache, cost) = (cache::global(), layout.storage.call_cost_bytes());
    let Some(tiles) = TilePlan::new(&layout.shape, plan, cost, cache.budget()) else { return };
    let Some(keys) = tiles.keys(layout.id) else { return };
    let missing = cache.missing(&keys);
    summary.tiles = keys.len() as u64;
    summary.cached_tiles = summary.tiles - missing.len() as u64;
    if !cache.ghosts().are_due(&missing, tiles.tile_cost) {
        return;
    }
    let origins = (0..tiles.count()).map(|index| tiles.task(index).origin);
    let read = origins.zip(&keys).filter(|(_, key)| missing.contains(key));
    let plans: Vec<_> = read.filter_map(|(origin, _)| tiles.reads(&origin)).collect();
    summary.reads = plans.iter().map(StridedPlan::read_count).sum();
    summary.read_bytes = plans.iter().map(StridedPlan::read_bytes).sum();
}

fn add_chunks(
    plan: &ChunkPlan,
    layout: &ArrayLayout,
    chunked: &Chunked,
    summary: &mut Summary,
) -> Result<()> {
    let chunk_bytes = shape::byte_count(&chunked.chunk_shape, layout.element_size);
    let chunk_bytes = chunk_bytes.map_or(u64::MAX, |bytes| bytes as u64);
    for index in 0..plan.chunk_count() {
        let task = plan.task(index);
        summary.chunks += 1;
        let key = task.number.map(|number| ChunkKey { array: layout.id, number });
        if key.is_some_and(|key| cache::global().contains(&key)) {
            summary.cached_chunks += 1;
            continue;
        }
        let Some(place) = chunked.index.locate(&task.coordinates)? else {
            summary.missing_chunks += 1;
            continue;
        };
        if !chunked.pipeline.filters.is_empty() {
            summary.reads += 1;
            summary.read_bytes = summary.read_bytes.saturating_add(place.stored_bytes);
            summary.decoded_bytes = summary.decoded_bytes.saturating_add(chunk_bytes);
            continue;
        }
        let counts = task.region.iter().map(|runs| count_of(runs));
        let wanted = counts.fold(layout.element_size as u64, u64::saturating_mul);
        summary.reads += 1;
        summary.read_bytes = summary.read_bytes.saturating_add(wanted);
    }
    Ok(())
}

fn placement_name(placement: &Placement) -> &'static str {
    match placement {
        Placement::Unallocated => "unallocated",
        Placement::Inline(_) => "compact",
        Placement::Strided { .. } => "contiguous",
        Placement::Chunked(_) => "chunked",
        Placement::External { .. } => "external",
        Placement::Virtual(_) => "virtual",
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{}: {} elements, {} bytes",
            self.placement, self.element_count, self.wanted_bytes
        )?;
        if self.chunks > 0 {
            writeln!(
                f,
                "chunks: {} touched, {} cached, {} never written",
                self.chunks, self.cached_chunks, self.missing_chunks
            )?;
            writeln!(f, "decoded: {} bytes", self.decoded_bytes)?;
        }
        if self.tiles > 0 {
            writeln!(f, "tiles: {} touched, {} cached", self.tiles, self.cached_tiles)?;
        }
        write!(f, "read: {} bytes in {} reads", self.read_bytes, self.reads)
    }
}
