//! Selections that are one run: elements which follow one another both in the result and in one block of an
//! array, a chunk or all of it.
//!
//! Who writes an array row by row, or step by step, asks for many of them. Each is planned as a value, without
//! memory of its own.

use isotach_model::selection::{Axis, Selection};

/// Arrays of more axes are planned as everything else is.
const MOST_AXES: usize = 8;

/// A run of elements that lie in one block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OneRun {
    coordinates: [u64; MOST_AXES],
    rank: usize,
    /// The first element, counted in its block.
    pub first: u64,
    /// How many elements.
    pub count: u64,
}

impl OneRun {
    /// What `selection` is of an array of `shape` in blocks of `block_shape`, of which none is empty and the
    /// elements can be counted. `None` where it is no such run, or not inside the shape.
    pub fn new(selection: &Selection, shape: &[u64], block_shape: &[u64]) -> Option<Self> {
        let rank = shape.len();
        if rank > MOST_AXES || selection.axes.len() != rank || block_shape.len() != rank {
            return None;
        }
        let mut run = Self { coordinates: [0; MOST_AXES], rank, first: 0, count: 1 };
        let axes = selection.axes.iter().zip(shape).zip(block_shape);
        for (at, ((axis, &len), &block_len)) in run.coordinates.iter_mut().zip(axes) {
            let &Axis::Range { start, count, stride } = axis else { return None };
            let is_ascending = stride == 1 || count == 1;
            if !is_ascending || count == 0 || start.checked_add(count)? > len {
                return None;
            }
            *at = start / block_len;
            let first = start - *at * block_len;
            // Once there are several, all of each further axis is among them.
            let is_one_run = run.count == 1 || count == block_len;
            if first + count > block_len || !is_one_run {
                return None;
            }
            run.first = run.first * block_len + first;
            run.count *= count;
        }
        Some(run)
    }

    /// The coordinates of its block.
    pub fn coordinates(&self) -> &[u64] {
        &self.coordinates[..self.rank]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Shape, block shape and the range of each axis.
    fn axes() -> impl Strategy<Value = Vec<(u64, u64, Axis)>> {
        let axis =
            (1u64..7, 1u64..5, 0u64..8, 0u64..7, prop::sample::select(vec![1i64, 1, 1, 2, -1]));
        let axis = axis.prop_map(|(len, block, start, count, stride)| {
            (len, block, Axis::Range { start, count, stride })
        });
        prop::collection::vec(axis, 0..4)
    }

    proptest! {
        #[test]
        fn is_what_the_elements_say(axes in axes()) {
            let shape: Vec<u64> = axes.iter().map(|(len, ..)| *len).collect();
            let blocks: Vec<u64> = axes.iter().map(|(_, block, _)| *block).collect();
            let selection = Selection { axes: axes.iter().map(|(.., axis)| axis.clone()).collect() };
            let found = OneRun::new(&selection, &shape, &blocks);
            if selection.check(&shape).is_err() || selection.is_empty() {
                prop_assert_eq!(found, None);
                return Ok(());
            }
            // Block and place in it of each element, in the order of the result.
            let mut places = vec![(Vec::new(), 0)];
            for ((_, block, axis), _) in axes.iter().zip(&shape) {
                places = places.iter().flat_map(|(at, place): &(Vec<u64>, u64)| {
                    axis.positions().map(move |position| {
                        let at = at.iter().copied().chain([position / block]).collect();
                        (at, place * block + position % block)
                    })
                }).collect();
            }
            let (at, first) = places[0].clone();
            let expected = (0..).zip(&places).all(|(n, place)| *place == (at.clone(), first + n));
            prop_assert_eq!(found.is_some(), expected);
            if let Some(found) = found {
                prop_assert_eq!(found.coordinates(), &at[..]);
                prop_assert_eq!((found.first, found.count), (first, places.len() as u64));
            }
        }
    }
}
