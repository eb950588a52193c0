//! An array in pieces of whole chunks that fit into memory.

use isotach_model::selection::{Axis, Selection};

use crate::plan::layout::Placement;
use crate::read::Array;

/// Bytes of a piece, where its chunks are no larger.
const SLAB_BYTES: u64 = 32 << 20;
/// Bytes that a string or sequence is taken for.
const REFERRED_BYTES: u64 = 64;

/// The pieces of an array, in row-major order of where they begin.
pub(super) struct Slabs {
    shape: Vec<u64>,
    /// Positions of a piece along each axis.
    step: Vec<u64>,
    /// Where the next piece begins; `None` at the end.
    next: Option<Vec<u64>>,
}

impl Slabs {
    /// The pieces of what is stored of `from`: whole chunks of it, or where it has none, of `into`. Its
    /// shape is `shown`: along an unlimited dimension of a group beside its own that can be less.
    pub(super) fn new(from: &Array, into: &Array, shown: &[u64]) -> Self {
        let stored = from.layout.shape.iter().zip(shown);
        let shape: Vec<u64> = stored.map(|(&stored, &shown)| stored.min(shown)).collect();
        let unit = chunk_shape(from).or_else(|| chunk_shape(into));
        let unit = unit.map_or_else(|| vec![1; shape.len()], <[u64]>::to_vec);
        let element_size = from.layout.element_size as u64;
        let element_bytes =
            if from.stored.is_flat() { element_size } else { element_size + REFERRED_BYTES };
        let step = step(&shape, &unit, element_bytes.max(1));
        let next = if shape.contains(&0) { None } else { Some(vec![0; shape.len()]) };
        Self { shape, step, next }
    }

    /// The start of the piece behind the one at `start`.
    fn following(&self, mut start: Vec<u64>) -> Option<Vec<u64>> {
        for axis in (0..start.len()).rev() {
            start[axis] = start[axis].saturating_add(self.step[axis]);
            if start[axis] < self.shape[axis] {
                return Some(start);
            }
            start[axis] = 0;
        }
        None
    }
}

impl Iterator for Slabs {
    type Item = Selection;

    fn next(&mut self) -> Option<Selection> {
        let start = self.next.take()?;
        let axes = start.iter().zip(&self.step).zip(&self.shape);
        let axes = axes
            .map(|((&start, &step), &len)| Axis::range(start, step.min(len - start), 1))
            .collect();
        self.next = self.following(start);
        Some(Selection { axes })
    }
}

pub(super) fn chunk_shape(array: &Array) -> Option<&[u64]> {
    match &array.layout.placement {
        Placement::Chunked(chunked) => Some(&chunked.chunk_shape),
        _ => None,
    }
}

/// Positions of a piece along each axis: one unit, and more of them along the last axes as long as there
/// is room.
fn step(shape: &[u64], unit: &[u64], element_bytes: u64) -> Vec<u64> {
    let mut step: Vec<u64> =
        unit.iter().zip(shape).map(|(&unit, &len)| unit.clamp(1, len.max(1))).collect();
    let mut bytes = step.iter().fold(element_bytes, |bytes, &len| bytes.saturating_mul(len));
    for (step, &len) in step.iter_mut().zip(shape).rev() {
        let times = (SLAB_BYTES / bytes).clamp(1, len.div_ceil(*step).max(1));
        *step *= times;
        bytes = bytes.saturating_mul(times);
        if *step < len {
            break;
        }
    }
    step
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_whole_chunks_that_fit() {
        assert_eq!(step(&[1000, 1024, 1024], &[16, 64, 64], 4), [16, 512, 1024]);
        assert_eq!(step(&[1000, 1024, 1024], &[1, 1, 1], 4), [8, 1024, 1024]);
        assert_eq!(step(&[10, 20], &[3, 20], 8), [12, 20]);
        assert_eq!(step(&[1 << 40], &[1 << 30], 8), [1 << 30]);
        assert!(step(&[], &[], 8).is_empty());
    }

    #[test]
    fn pieces_cover_the_array_once() {
        let slabs = Slabs { shape: vec![3, 5], step: vec![2, 4], next: Some(vec![0, 0]) };
        let ranges: Vec<Selection> = slabs.collect();
        let piece = |rows: (u64, u64), columns: (u64, u64)| Selection {
            axes: vec![Axis::range(rows.0, rows.1, 1), Axis::range(columns.0, columns.1, 1)],
        };
        let rows = [(0, 2), (2, 1)];
        let expected = rows.map(|rows| [piece(rows, (0, 4)), piece(rows, (4, 1))]).concat();
        assert_eq!(ranges, expected);
        let scalar = Slabs { shape: vec![], step: vec![], next: Some(vec![]) };
        assert_eq!(scalar.count(), 1);
    }
}
