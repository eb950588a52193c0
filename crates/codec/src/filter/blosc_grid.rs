//! Arrays that Blosc2 stores as chunks of blocks, each of several dimensions, and the way of a
//! block's elements to their places in row-major order.

/// The shapes of an array, of its chunks and of their blocks. Ranks are equal and at least 1;
/// chunks and blocks are not empty; no block is longer than its chunk, no chunk than the array.
pub(super) struct Grid {
    pub(super) shape: Vec<usize>,
    chunk: Vec<usize>,
    block: Vec<usize>,
    /// Blocks of a chunk in each dimension.
    blocks: Vec<usize>,
}

impl Grid {
    /// `None` where the shapes do not fit each other. An array without elements has no chunks, so
    /// theirs may be anything.
    pub(super) fn new(shape: Vec<usize>, chunk: Vec<usize>, block: Vec<usize>) -> Option<Self> {
        let fits = |(inner, outer): (&usize, &usize)| *inner > 0 && inner <= outer;
        let fit = chunk.iter().zip(&shape).all(fits) && block.iter().zip(&chunk).all(fits);
        // Lengths are multiplied and added below: far from overflow, farther than any chunk.
        let small = shape.iter().all(|&len| len <= u32::MAX as usize);
        if shape.is_empty() || !fit || !small {
            return None;
        }
        let blocks = chunk.iter().zip(&block).map(|(len, part)| len.div_ceil(*part)).collect();
        Some(Self { shape, chunk, block, blocks })
    }

    /// Bytes of the whole array, of elements of `size` bytes.
    pub(super) fn len_bytes(&self, size: usize) -> Option<usize> {
        checked_product(&self.shape, size)
    }

    /// Bytes of a block.
    pub(super) fn block_bytes(&self, size: usize) -> Option<usize> {
        checked_product(&self.block, size)
    }

    /// Bytes of a chunk with its padding to whole blocks.
    pub(super) fn chunk_bytes(&self, size: usize) -> Option<usize> {
        checked_product(&self.blocks, self.block_bytes(size)?)
    }

    pub(super) fn chunk_counts(&self) -> Vec<usize> {
        self.shape.iter().zip(&self.chunk).map(|(len, part)| len.div_ceil(*part)).collect()
    }

    /// The blocks of the chunk at `chunk_at` that hold elements of the array, in each dimension.
    pub(super) fn block_counts(&self, chunk_at: &[usize]) -> Vec<usize> {
        let dimensions = chunk_at.iter().enumerate();
        dimensions
            .map(|(axis, at)| {
                let rest = self.shape[axis] - at * self.chunk[axis];
                rest.min(self.chunk[axis]).div_ceil(self.block[axis])
            })
            .collect()
    }

    /// The number of the block at `block_at` among all of its chunk.
    pub(super) fn block_index(&self, block_at: &[usize]) -> usize {
        block_at.iter().zip(&self.blocks).fold(0, |index, (at, count)| index * count + at)
    }

    /// Calls `visit` with every position within `counts`, in row-major order.
    pub(super) fn for_each_cell<E>(
        counts: &[usize],
        mut visit: impl FnMut(&[usize]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut at = vec![0; counts.len()];
        if counts.contains(&0) {
            return Ok(());
        }
        loop {
            visit(&at)?;
            let next = (0..counts.len()).rev().find(|&axis| at[axis] + 1 < counts[axis]);
            let Some(axis) = next else { return Ok(()) };
            at[axis] += 1;
            at[axis + 1..].fill(0);
        }
    }
}

fn checked_product(lengths: &[usize], size: usize) -> Option<usize> {
    lengths.iter().try_fold(size, |product, &len| product.checked_mul(len))
}

/// Copies the elements of a block that are not padding to their places in `array`.
pub(super) fn copy_block(
    grid: &Grid,
    size: usize,
    chunk_at: &[usize],
    block_at: &[usize],
    block: &[u8],
    array: &mut [u8],
) {
    let rank = grid.shape.len();
    let in_chunk = |axis: usize| block_at[axis] * grid.block[axis];
    let origin: Vec<usize> =
        (0..rank).map(|axis| chunk_at[axis] * grid.chunk[axis] + in_chunk(axis)).collect();
    let extent = (0..rank).map(|axis| {
        let room = grid.shape[axis] - origin[axis];
        grid.block[axis].min(room).min(grid.chunk[axis] - in_chunk(axis))
    });
    let extent: Vec<usize> = extent.collect();
    let row_len = extent[rank - 1] * size;
    let rows = &extent[..rank - 1];
    let copied: Result<(), std::convert::Infallible> = Grid::for_each_cell(rows, |row| {
        let (mut from, mut to) = (0, 0);
        for (axis, start) in origin.iter().enumerate() {
            let at = row.get(axis).copied().unwrap_or(0);
            from = from * grid.block[axis] + at;
            to = to * grid.shape[axis] + start + at;
        }
        array[to * size..][..row_len].copy_from_slice(&block[from * size..][..row_len]);
        Ok(())
    });
    let Ok(()) = copied;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_chunks_go_to_their_places() {
        // 5 x 7 elements in chunks of 3 x 4, these in blocks of 2 x 3.
        let grid = Grid::new(vec![5, 7], vec![3, 4], vec![2, 3]).unwrap();
        let mut array = vec![0_u8; 35];
        Grid::for_each_cell(&grid.chunk_counts(), |chunk_at| {
            Grid::for_each_cell(&grid.block_counts(chunk_at), |block_at| {
                let value = |row: usize, column: usize| {
                    let (row, column) = (block_at[0] * 2 + row, block_at[1] * 3 + column);
                    match row < 3 && column < 4 {
                        true => ((chunk_at[0] * 3 + row) * 7 + chunk_at[1] * 4 + column) as u8,
                        false => 255,
                    }
                };
                let block: Vec<u8> = (0..6).map(|i| value(i / 3, i % 3)).collect();
                copy_block(&grid, 1, chunk_at, block_at, &block, &mut array);
                Ok::<(), ()>(())
            })
        })
        .unwrap();
        assert_eq!(array, (0..35).collect::<Vec<u8>>());
        assert_eq!(grid.chunk_bytes(2), Some(48));
    }

    #[test]
    fn shapes_that_do_not_fit_are_refused() {
        assert!(Grid::new(vec![4], vec![5], vec![2]).is_none());
        assert!(Grid::new(vec![4], vec![4], vec![0]).is_none());
        assert!(Grid::new(vec![], vec![], vec![]).is_none());
    }
}
