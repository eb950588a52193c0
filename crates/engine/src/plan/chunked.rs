//! Which chunks a region touches, each once.

use super::axis_runs::{AxisBlocks, AxisRun, count_of};

/// The chunks of a region, counted from 0 in row-major order.
#[derive(Debug, Clone)]
pub struct ChunkPlan {
    chunk_shape: Vec<u64>,
    axes: Vec<AxisBlocks>,
    chunk_count: usize,
    /// For each axis, chunks from one coordinate to the next in row-major order; `None` where
    /// chunks cannot be numbered within 64 bits.
    numbering: Option<Vec<u64>>,
}

/// One chunk and the part of it that is wanted.
#[derive(Debug, Clone)]
pub struct ChunkTask<'p> {
    /// Its coordinates.
    pub coordinates: Vec<u64>,
    /// Position of its first element along each axis.
    pub origin: Vec<u64>,
    /// The runs that lie in it.
    pub region: Vec<&'p [AxisRun]>,
    /// Its number in row-major order.
    pub number: Option<u64>,
}

impl ChunkPlan {
    /// Cuts `axes` (runs inside the array's `shape`) along the chunks. `None` where there are more
    /// chunks than this machine can count.
    pub fn new(shape: &[u64], chunk_shape: &[u64], axes: &[Vec<AxisRun>]) -> Option<Self> {
        let blocks = axes.iter().zip(chunk_shape).map(|(runs, &len)| AxisBlocks::new(runs, len));
        let axes: Vec<AxisBlocks> = blocks.collect();
        let chunk_count = axes.iter().try_fold(1usize, |n, axis| n.checked_mul(axis.len()))?;
        let grid = shape.iter().zip(chunk_shape).map(|(&len, &chunk)| len.div_ceil(chunk.max(1)));
        let numbering = isotach_model::shape::row_major_strides(&grid.collect::<Vec<_>>());
        Some(Self { chunk_shape: chunk_shape.to_vec(), axes, chunk_count, numbering })
    }

    /// How many chunks.
    pub fn chunk_count(&self) -> usize {
        self.chunk_count
    }

    /// The `index`-th chunk, below [`Self::chunk_count`].
    pub fn task(&self, mut index: usize) -> ChunkTask<'_> {
        let rank = self.axes.len();
        let mut coordinates = vec![0; rank];
        let mut region: Vec<&[AxisRun]> = vec![&[]; rank];
        for (axis, blocks) in self.axes.iter().enumerate().rev() {
            (coordinates[axis], region[axis]) = blocks.get(index % blocks.len());
            index /= blocks.len();
        }
        let origin = coordinates.iter().zip(&self.chunk_shape).map(|(at, len)| at * len).collect();
        let number = self.number(&coordinates);
        ChunkTask { coordinates, origin, region, number }
    }

    /// The number of the chunk at `coordinates`.
    pub fn number(&self, coordinates: &[u64]) -> Option<u64> {
        let products = self.numbering.as_ref()?.iter().zip(coordinates);
        products
            .map(|(stride, at)| stride.checked_mul(*at))
            .try_fold(0u64, |sum, product| sum.checked_add(product?))
    }

    /// The lowest and the highest chunk coordinate along each axis.
    pub fn coordinate_bounds(&self) -> Vec<(u64, u64)> {
        let bounds = |blocks: &AxisBlocks| (blocks.get(0).0, blocks.get(blocks.len() - 1).0);
        self.axes.iter().filter(|blocks| !blocks.is_empty()).map(bounds).collect()
    }

    /// True where the region has every element of the chunk that lies in an array of `shape`.
    pub fn is_whole(&self, task: &ChunkTask<'_>, shape: &[u64]) -> bool {
        let axes = task.region.iter().zip(&task.origin).zip(self.chunk_shape.iter().zip(shape));
        axes.into_iter().all(|((runs, origin), (chunk_len, len))| {
            count_of(runs) >= (len - origin).min(*chunk_len)
        })
    }

    /// How many elements are wanted of the chunk, and how many of it lie in an array of `shape`.
    pub fn element_counts(&self, task: &ChunkTask<'_>, shape: &[u64]) -> (u64, u64) {
        let wanted = task.region.iter().map(|runs| count_of(runs));
        let axes = task.origin.iter().zip(self.chunk_shape.iter().zip(shape));
        let there = axes.map(|(origin, (chunk_len, len))| (len - origin).min(*chunk_len));
        (wanted.fold(1, u64::saturating_mul), there.fold(1, u64::saturating_mul))
    }
}
