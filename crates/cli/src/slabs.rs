//! An array's elements in row-major order, read in pieces that fit into memory.

use std::sync::Arc;

use isotach::model::Values;
use isotach::model::selection::{Axis, Selection};
use isotach::plan::layout::Placement;
use isotach::read::Array;

/// Bytes of a piece where nothing speaks for more.
const PIECE_BYTES: u64 = 8 << 20;
/// Bytes of a piece that is made larger so that whole chunks are in it.
const LARGEST_PIECE_BYTES: u64 = 128 << 20;
/// Bytes that a string or sequence is taken for.
const REFERRED_BYTES: u64 = 32;

/// The pieces of an array, one after the other.
pub(crate) struct Slabs {
    array: Arc<Array>,
    /// The axis along which pieces follow one another; axes before it are read one by one, those
    /// behind it whole.
    axis: usize,
    /// Positions of a piece along the axis.
    step: u64,
    /// Where the next piece begins; `None` at the end.
    next: Option<Vec<u64>>,
}

impl Slabs {
    /// The pieces of `array`.
    pub(crate) fn new(array: Arc<Array>) -> Self {
        let chunk_shape = match &array.layout.placement {
            Placement::Chunked(chunked) => Some(&chunked.chunk_shape[..]),
            _ => None,
        };
        // What an element refers to is taken for some more bytes of it.
        let element_bytes = match array.stored.is_flat() {
            true => array.layout.element_size as u64,
            false => array.layout.element_size as u64 + REFERRED_BYTES,
        };
        let (axis, step) = piece(&array.shape, chunk_shape, element_bytes);
        let next = if array.shape.contains(&0) { None } else { Some(vec![0; array.shape.len()]) };
        Self { array, axis, step, next }
    }

    /// The selection of the next piece.
    fn selection(&self, start: &[u64]) -> Selection {
        let axes =
            start.iter().zip(&self.array.shape).enumerate().map(
                |(axis, (&start, &len))| match axis.cmp(&self.axis) {
                    std::cmp::Ordering::Less => Axis::range(start, 1, 1),
                    std::cmp::Ordering::Equal => Axis::range(start, self.step.min(len - start), 1),
                    std::cmp::Ordering::Greater => Axis::all(len),
                },
            );
        Selection { axes: axes.collect() }
    }

    /// The start of the piece behind the one at `start`.
    fn following(&self, mut start: Vec<u64>) -> Option<Vec<u64>> {
        let mut step = self.step;
        for axis in (0..=self.axis.min(start.len().checked_sub(1)?)).rev() {
            start[axis] = start[axis].saturating_add(step);
            if start[axis] < self.array.shape[axis] {
                return Some(start);
            }
            start[axis] = 0;
            step = 1;
        }
        None
    }
}

impl Iterator for Slabs {
    type Item = (Selection, isotach::Result<Values>);

    fn next(&mut self) -> Option<Self::Item> {
        let start = self.next.take()?;
        let selection = self.selection(&start);
        self.next = self.following(start);
        let values = self.array.read(&selection);
        Some((selection, values))
    }
}

/// The axis along which to cut, and how many positions along it are one piece.
fn piece(shape: &[u64], chunk_shape: Option<&[u64]>, element_bytes: u64) -> (usize, u64) {
    let mut inner_bytes = element_bytes.max(1);
    let mut axis = shape.len();
    while axis > 0 {
        let larger = inner_bytes.saturating_mul(shape[axis - 1]);
        axis -= 1;
        if larger > PIECE_BYTES || axis == 0 {
            break;
        }
        inner_bytes = larger;
    }
    let fitting = (PIECE_BYTES / inner_bytes).max(1);
    let Some(&chunk) = chunk_shape.and_then(|chunk_shape| chunk_shape.get(axis)) else {
        return (axis, fitting);
    };
    let chunk = chunk.max(1);
    let whole_chunks = fitting / chunk * chunk;
    let step = match whole_chunks {
        0 if chunk.saturating_mul(inner_bytes) <= LARGEST_PIECE_BYTES => chunk,
        0 => fitting,
        _ => whole_chunks,
    };
    (axis, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_fit_into_memory() {
        assert_eq!(piece(&[], None, 8), (0, (8 << 20) / 8));
        assert_eq!(piece(&[10, 20], None, 8), (0, (8 << 20) / 160));
        assert_eq!(piece(&[10, 1 << 30], None, 8), (1, 1 << 20));
        assert_eq!(piece(&[1000, 1 << 10, 1 << 10], None, 4), (0, 2));
    }

    #[test]
    fn pieces_hold_whole_chunks() {
        assert_eq!(piece(&[1000, 1 << 10, 1 << 10], Some(&[16, 64, 64]), 4), (0, 16));
        assert_eq!(piece(&[1 << 20, 256], Some(&[100, 256]), 4), (0, 8100));
    }
}
