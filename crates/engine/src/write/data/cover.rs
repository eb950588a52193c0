//! Which chunks a write touches, each once, and whether it gives all of their elements.
//!
//! The mirror of `plan::chunked`, made for very many small chunks: what is known along each axis is
//! worked out once, and a [`Cursor`] walks over the chunks without taking memory.

use isotach_model::selection::Selection;

use crate::plan::axis_runs::{AxisBlocks, AxisRun, runs_of};

/// The chunks of a selection, counted from 0 in row-major order.
pub(super) struct Cover {
    axes: Vec<CoverAxis>,
    count: usize,
}

/// One axis, cut along its chunks.
struct CoverAxis {
    blocks: AxisBlocks,
    /// For each of the blocks, whether the selection has every position that there can ever be.
    is_whole: Vec<bool>,
}

/// A walk over the chunks of a [`Cover`]; it always stands at one of them.
pub(super) struct Cursor<'c> {
    cover: &'c Cover,
    /// Which of each axis' blocks.
    at: Vec<usize>,
    /// Its coordinates.
    pub(super) coordinates: Vec<u64>,
    /// The runs that lie in it.
    pub(super) region: Vec<&'c [AxisRun]>,
}

impl Cover {
    /// Cuts `selection` along chunks of `chunk_shape`, of an array that is never larger than
    /// `max_shape`. `None` where there are more chunks than this machine can count.
    pub(super) fn new(
        selection: &Selection,
        chunk_shape: &[u64],
        max_shape: &[u64],
    ) -> Option<Self> {
        let lens = chunk_shape.iter().zip(max_shape);
        let axes = selection.axes.iter().zip(lens).map(|(axis, (&chunk_len, &max_len))| {
            let blocks = AxisBlocks::new(&runs_of(axis), chunk_len);
            let is_whole = (0..blocks.len()).map(|index| {
                let (block, runs) = blocks.get(index);
                distinct_count(runs) == chunk_len.min(max_len.saturating_sub(block * chunk_len))
            });
            CoverAxis { is_whole: is_whole.collect(), blocks }
        });
        let axes: Vec<CoverAxis> = axes.collect();
        let count = axes.iter().try_fold(1usize, |n, axis| n.checked_mul(axis.blocks.len()))?;
        Some(Self { axes, count })
    }

    /// How many chunks.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// The lowest and the highest coordinates along each axis, where there is a chunk.
    pub(super) fn bounds(&self) -> (Vec<u64>, Vec<u64>) {
        let bounds =
            |axis: &CoverAxis| (axis.blocks.get(0).0, axis.blocks.get(axis.blocks.len() - 1).0);
        self.axes.iter().map(bounds).unzip()
    }

    /// A walk that begins at the `index`-th chunk, below [`Self::count`].
    pub(super) fn cursor(&self, mut index: usize) -> Cursor<'_> {
        let rank = self.axes.len();
        let mut cursor = Cursor {
            cover: self,
            at: vec![0; rank],
            coordinates: vec![0; rank],
            region: vec![&[]; rank],
        };
        for (axis, CoverAxis { blocks, .. }) in self.axes.iter().enumerate().rev() {
            cursor.stand(axis, index % blocks.len());
            index /= blocks.len();
        }
        cursor
    }
}

impl Cursor<'_> {
    /// Goes on to the next chunk; from the last one to the first.
    pub(super) fn advance(&mut self) {
        for axis in (0..self.at.len()).rev() {
            let next = self.at[axis] + 1;
            if next < self.cover.axes[axis].blocks.len() {
                return self.stand(axis, next);
            }
            self.stand(axis, 0);
        }
    }

    /// Whether the selection has every element that the chunk can ever show.
    pub(super) fn is_whole(&self) -> bool {
        self.cover.axes.iter().zip(&self.at).all(|(axis, &at)| axis.is_whole[at])
    }

    /// Whether it has the chunk's first element, as the first of many writes has that give all of it.
    pub(super) fn is_at_start(&self, chunk_shape: &[u64]) -> bool {
        let starts = self.coordinates.iter().zip(chunk_shape).map(|(at, len)| at * len);
        let mut axes = self.region.iter().zip(starts);
        axes.all(|(runs, start)| runs.iter().any(|run| run.position_at(0) == start))
    }

    fn stand(&mut self, axis: usize, at: usize) {
        self.at[axis] = at;
        (self.coordinates[axis], self.region[axis]) = self.cover.axes[axis].blocks.get(at);
    }
}

/// How many different positions runs have.
fn distinct_count(runs: &[AxisRun]) -> u64 {
    match runs {
        [run] if run.stride != 0 => run.count,
        [_] => 1,
        _ => {
            let positions = |run: &AxisRun| {
                let run = *run;
                (0..run.count).map(move |index| run.position_at(index))
            };
            let mut positions: Vec<u64> = runs.iter().flat_map(positions).collect();
            positions.sort_unstable();
            positions.dedup();
            positions.len() as u64
        }
    }
}
