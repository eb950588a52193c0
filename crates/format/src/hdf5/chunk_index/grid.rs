//! The grid of a data set's chunks: from a chunk's place to its index in an array, and back.
//!
//! Indexes count in row-major order over the chunks of the maximum shape. Where one dimension is
//! unlimited (extensible arrays) it is moved to the front, so that the array grows at its end.

use crate::limits;

/// The order in which an array index counts chunks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkGrid {
    /// Chunks of each dimension at most; `None` where it is unlimited.
    max_chunks: Vec<Option<u64>>,
    /// The step of the index for each dimension.
    steps: Vec<u64>,
    unlimited: Option<usize>,
}

impl ChunkGrid {
    /// The grid of at most `max_chunks` chunks in each dimension, `None` for an unlimited one.
    ///
    /// `None` where there is more than one unlimited dimension, too many dimensions, or more
    /// chunks than 64 bits can count.
    pub fn new(max_chunks: &[Option<u64>]) -> Option<Self> {
        let mut unlimited = max_chunks.iter().enumerate().filter(|(_, max)| max.is_none());
        let first = unlimited.next().map(|(dimension, _)| dimension);
        if unlimited.next().is_some() || max_chunks.len() as u64 > limits::RANK {
            return None;
        }
        let mut steps = vec![0; max_chunks.len()];
        let mut step = 1_u64;
        for (dimension, max) in max_chunks.iter().enumerate().rev() {
            if let Some(max) = max {
                steps[dimension] = step;
                step = step.checked_mul(*max)?;
            }
        }
        if let Some(dimension) = first {
            steps[dimension] = step;
        }
        Some(Self { max_chunks: max_chunks.to_vec(), steps, unlimited: first })
    }

    /// The index of the chunk at `scaled`, its offset divided by the chunk shape; `None` outside
    /// the maximum shape.
    pub fn index(&self, scaled: &[u64]) -> Option<u64> {
        if scaled.len() != self.steps.len() {
            return None;
        }
        let mut index = 0_u64;
        for ((&place, &step), max) in scaled.iter().zip(&self.steps).zip(&self.max_chunks) {
            if max.is_some_and(|max| place >= max) {
                return None;
            }
            index = index.checked_add(place.checked_mul(step)?)?;
        }
        Some(index)
    }

    /// How many chunks there can be; `None` where a dimension is unlimited.
    pub fn chunk_count(&self) -> Option<u64> {
        self.max_chunks.iter().try_fold(1_u64, |count, max| count.checked_mul((*max)?))
    }

    /// The place of the chunk with `index`, the reverse of [`Self::index`]; `None` beyond the end.
    pub fn scaled(&self, index: u64) -> Option<Vec<u64>> {
        let mut scaled = vec![0; self.steps.len()];
        let mut rest = index;
        let limited = (0..scaled.len()).filter(|&dimension| Some(dimension) != self.unlimited);
        for dimension in self.unlimited.into_iter().chain(limited) {
            scaled[dimension] = rest.checked_div(self.steps[dimension])?;
            rest %= self.steps[dimension];
            if self.max_chunks[dimension].is_some_and(|max| scaled[dimension] >= max) {
                return None;
            }
        }
        (rest == 0).then_some(scaled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_is_row_major() {
        let grid = ChunkGrid::new(&[Some(3), Some(4), Some(5)]).unwrap();
        assert_eq!(grid.index(&[1, 2, 3]), Some(20 + 10 + 3));
        assert_eq!(grid.index(&[2, 3, 4]), Some(59));
        assert_eq!(grid.index(&[0, 4, 0]), None);
        assert_eq!(grid.index(&[0, 0]), None);
        assert_eq!(grid.scaled(60), None);
        for index in 0..60 {
            assert_eq!(grid.index(&grid.scaled(index).unwrap()), Some(index));
        }
        assert_eq!(grid.chunk_count(), Some(60));
    }

    #[test]
    fn the_unlimited_dimension_comes_first() {
        let grid = ChunkGrid::new(&[Some(3), Some(4), None]).unwrap();
        assert_eq!(grid.index(&[1, 2, 7]), Some(7 * 12 + 4 + 2));
        assert_eq!(grid.index(&[0, 0, u64::MAX]), None);
        assert_eq!(grid.chunk_count(), None);
        for index in 0..100 {
            assert_eq!(grid.index(&grid.scaled(index).unwrap()), Some(index));
        }
    }

    #[test]
    fn impossible_grids() {
        assert_eq!(ChunkGrid::new(&[None, None]), None);
        assert_eq!(ChunkGrid::new(&[Some(1 << 40), Some(1 << 40)]), None);
        assert_eq!(ChunkGrid::new(&[Some(1); 40]), None);
        let empty = ChunkGrid::new(&[Some(0), Some(3)]).unwrap();
        assert_eq!((empty.index(&[0, 0]), empty.scaled(0)), (None, None));
        let scalar = ChunkGrid::new(&[]).unwrap();
        assert_eq!((scalar.index(&[]), scalar.scaled(1)), (Some(0), None));
    }
}
