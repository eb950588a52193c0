//! What is asked of a variable: for each axis, which positions and in which order.
//!
//! A selection stands between the caller's words (start/count/stride, Python's indices, the command
//! line's `0:10,::2`) and the plan. It is orthogonal: its elements are the product of its axes.

mod axis;
mod error;
mod index;
mod parse;
#[cfg(test)]
mod tests;

pub use axis::{Axis, BlockRun, BlockRuns};
pub use error::SelectionError;
pub use index::{Index, Indexed};
pub use parse::{ParseIndexError, parse_indices};

use std::fmt;

/// The elements that a request names, in the order in which it wants them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// One for each axis of the variable; none for a scalar, whose one element is selected.
    pub axes: Vec<Axis>,
}

impl Selection {
    /// Everything.
    pub fn all(shape: &[u64]) -> Self {
        Self { axes: shape.iter().map(|&len| Axis::all(len)).collect() }
    }

    /// `count` elements from `start`, every `stride`-th, by netCDF's rules: a start may equal the
    /// dimension's length only when the count is 0, and strides are positive (1 where `stride` is
    /// `None`).
    ///
    /// # Errors
    /// As netCDF finds them: first any bad stride, then any start beyond its dimension, then any
    /// edge beyond it; [`SelectionError::Rank`] when the lengths of the lists differ.
    pub fn hyperslab(
        start: &[u64],
        count: &[u64],
        stride: Option<&[i64]>,
        shape: &[u64],
    ) -> Result<Self, SelectionError> {
        let rank = shape.len();
        for len in [start.len(), count.len(), stride.map_or(rank, <[i64]>::len)] {
            if len != rank {
                return Err(SelectionError::Rank { given: len, rank });
            }
        }
        let stride_of = |axis: usize| stride.map_or(1, |strides| strides[axis]);
        if let Some(axis) = (0..rank).find(|&axis| stride_of(axis) <= 0) {
            return Err(SelectionError::Stride { axis, stride: stride_of(axis) });
        }
        for axis in 0..rank {
            let (start, len) = (start[axis], shape[axis]);
            if start > len || (start == len && count[axis] > 0) {
                return Err(SelectionError::Coordinates { axis, start, len });
            }
        }
        let axes = (0..rank).map(|axis| {
            let (start, count, stride) = (start[axis], count[axis], stride_of(axis));
            let range = Axis::range(start, count, stride);
            if range.fits(shape[axis]) {
                Ok(range)
            } else {
                Err(SelectionError::Edge { axis, start, count, stride, len: shape[axis] })
            }
        });
        Ok(Self { axes: axes.collect::<Result<_, _>>()? })
    }

    /// The shape of what is selected, with one entry for each axis.
    pub fn shape(&self) -> Vec<u64> {
        self.axes.iter().map(Axis::len).collect()
    }

    /// How many elements are selected. `None` where that does not fit 64 bits, which repeated
    /// positions can bring about.
    pub fn element_count(&self) -> Option<u64> {
        if self.is_empty() {
            return Some(0);
        }
        self.axes.iter().try_fold(1u64, |product, axis| product.checked_mul(axis.len()))
    }

    /// True where nothing is selected.
    pub fn is_empty(&self) -> bool {
        self.axes.iter().any(Axis::is_empty)
    }

    /// True where every element of a variable of this shape is selected, in its own order.
    pub fn is_all(&self, shape: &[u64]) -> bool {
        self.axes.len() == shape.len()
            && self.axes.iter().zip(shape).all(|(axis, &len)| axis.is_all(len))
    }

    /// True where every position lies inside a variable of this shape.
    pub fn fits(&self, shape: &[u64]) -> bool {
        self.axes.len() == shape.len()
            && self.axes.iter().zip(shape).all(|(axis, &len)| axis.fits(len))
    }

    /// The same, with the reason where one does not.
    ///
    /// # Errors
    /// [`SelectionError::Rank`] where the shape has another number of axes; of the first axis with
    /// a position outside, [`SelectionError::Edge`] for a range, [`SelectionError::Index`] for a list.
    pub fn check(&self, shape: &[u64]) -> Result<(), SelectionError> {
        let (given, rank) = (self.axes.len(), shape.len());
        if given != rank {
            return Err(SelectionError::Rank { given, rank });
        }
        let mut axes = self.axes.iter().zip(shape).enumerate();
        let Some((axis, (wanted, &len))) = axes.find(|(_, (axis, len))| !axis.fits(**len)) else {
            return Ok(());
        };
        Err(match *wanted {
            Axis::Range { start, count, stride } => {
                SelectionError::Edge { axis, start, count, stride, len }
            }
            Axis::Indices(_) => {
                let index = wanted.bounds().map_or(0, |(_, high)| high);
                let index = i64::try_from(index).unwrap_or(i64::MAX);
                SelectionError::Index { axis, index, len }
            }
        })
    }

    /// How many elements follow one another both in row-major storage of a variable of this
    /// shape and in the result: the selection falls into runs of this length (0 when it is empty).
    pub fn contiguous_run(&self, shape: &[u64]) -> u64 {
        if self.is_empty() {
            return 0;
        }
        let mut run = 1u64;
        for (axis, &len) in self.axes.iter().zip(shape).rev() {
            if !axis.is_ascending_run() {
                break;
            }
            run = run.saturating_mul(axis.len());
            if axis.len() != len {
                break;
            }
        }
        run
    }

    /// True where the selection is one run of neighbours in row-major storage, in storage order.
    pub fn is_contiguous(&self, shape: &[u64]) -> bool {
        self.element_count() == Some(self.contiguous_run(shape))
    }
}

/// As it would be written in Python, such as `[0:10, 5:6, ::-1]` with the ends filled in.
impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (index, axis) in self.axes.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}{axis}")?;
        }
        f.write_str("]")
    }
}
