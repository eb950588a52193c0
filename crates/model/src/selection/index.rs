//! Python's indexing, turned into a selection.

use super::{Axis, Selection, SelectionError};

/// One entry between the brackets of `variable[...]`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Index {
    /// One position, which drops the axis from the result; negative from the end.
    Integer(i64),
    /// `start:stop:step` with Python's rules: ends beyond the axis are cut to it.
    Slice { start: Option<i64>, stop: Option<i64>, step: Option<i64> },
    /// `...`: as many whole axes as are missing.
    Ellipsis,
    /// A new axis of length 1 in the result.
    NewAxis,
    /// These positions along the axis, negative ones from the end. Several lists select the
    /// product of their positions (orthogonally), as netCDF4-python does and NumPy does not.
    Integers(Vec<i64>),
    /// The positions at which the mask is true.
    Mask(Vec<bool>),
}

/// A selection with the shape in which its elements are to be handed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Indexed {
    /// What to read, with one axis for each axis of the variable.
    pub selection: Selection,
    /// The shape of the result: without the axes that an integer dropped, with the new ones.
    pub result_shape: Vec<u64>,
    /// For each axis of the result the axis of the variable it comes from, `None` for a new one.
    pub kept_axes: Vec<Option<usize>>,
}

impl Selection {
    /// What `variable[indices]` selects from a variable of this shape, as NumPy has it (but see
    /// [`Index::Integers`]). Axes without an index are selected whole.
    ///
    /// # Errors
    /// An integer out of bounds, a mask of another length, a step of 0, too many indices, or more
    /// than one ellipsis.
    pub fn from_indices(indices: &[Index], shape: &[u64]) -> Result<Indexed, SelectionError> {
        let rank = shape.len();
        let ellipses = indices.iter().filter(|index| matches!(index, Index::Ellipsis)).count();
        let new_axes = indices.iter().filter(|index| matches!(index, Index::NewAxis)).count();
        let given = indices.len() - ellipses - new_axes;
        if ellipses > 1 {
            return Err(SelectionError::SeveralEllipses);
        }
        if given > rank {
            return Err(SelectionError::TooManyIndices { given, rank });
        }
        let mut indexed = Indexed {
            selection: Self { axes: Vec::with_capacity(rank) },
            result_shape: Vec::new(),
            kept_axes: Vec::new(),
        };
        for index in indices {
            match index {
                Index::Ellipsis => indexed.push_whole(rank - given, shape),
                Index::NewAxis => {
                    indexed.result_shape.push(1);
                    indexed.kept_axes.push(None);
                }
                _ => {
                    let axis = indexed.selection.axes.len();
                    let selected = select(index, axis, shape[axis])?;
                    indexed.push(selected, !matches!(index, Index::Integer(_)));
                }
            }
        }
        indexed.push_whole(rank - indexed.selection.axes.len(), shape);
        Ok(indexed)
    }
}

impl Indexed {
    fn push(&mut self, axis: Axis, keep: bool) {
        if keep {
            self.result_shape.push(axis.len());
            self.kept_axes.push(Some(self.selection.axes.len()));
        }
        self.selection.axes.push(axis);
    }

    fn push_whole(&mut self, axis_count: usize, shape: &[u64]) {
        for _ in 0..axis_count {
            let len = shape[self.selection.axes.len()];
            self.push(Axis::all(len), true);
        }
    }
}

fn select(index: &Index, axis: usize, len: u64) -> Result<Axis, SelectionError> {
    match index {
        Index::Integer(index) => Ok(Axis::range(position(*index, axis, len)?, 1, 1)),
        Index::Slice { start, stop, step } => slice(*start, *stop, step.unwrap_or(1), axis, len),
        Index::Integers(indices) => {
            let positions = indices.iter().map(|&index| position(index, axis, len));
            Ok(Axis::from_positions(positions.collect::<Result<_, _>>()?))
        }
        Index::Mask(mask) if mask.len() as u64 != len => {
            Err(SelectionError::Mask { axis, mask_len: mask.len() as u64, len })
        }
        Index::Mask(mask) => {
            let positions =
                mask.iter().zip(0u64..).filter_map(|(&wanted, at)| wanted.then_some(at));
            Ok(Axis::from_positions(positions.collect()))
        }
        // The caller has dealt with these two: they stand for no axis of their own.
        Index::Ellipsis | Index::NewAxis => Ok(Axis::all(len)),
    }
}

/// An index from either end as a position.
fn position(index: i64, axis: usize, len: u64) -> Result<u64, SelectionError> {
    let position = if index < 0 {
        len.checked_sub(index.unsigned_abs())
    } else {
        Some(index.unsigned_abs()).filter(|&position| position < len)
    };
    position.ok_or(SelectionError::Index { axis, index, len })
}

/// Python's slice, in 128 bits, where none of its sums can overflow.
fn slice(
    start: Option<i64>,
    stop: Option<i64>,
    step: i64,
    axis: usize,
    len: u64,
) -> Result<Axis, SelectionError> {
    if step == 0 {
        return Err(SelectionError::Step { axis });
    }
    let wide_len = i128::from(len);
    let (low, high) = if step > 0 { (0, wide_len) } else { (-1, wide_len - 1) };
    let end = |end: i64| {
        let end = i128::from(end);
        (if end < 0 { end + wide_len } else { end }).clamp(low, high)
    };
    let (first, last) = if step > 0 { (low, high) } else { (high, low) };
    let (start, stop) = (start.map_or(first, end), stop.map_or(last, end));
    let way = if step > 0 { stop - start } else { start - stop };
    let count = if way > 0 { (way - 1) / i128::from(step.unsigned_abs()) + 1 } else { 0 };
    // Both lie between 0 and the length, which is a u64; only an empty slice can start at -1.
    let start = u64::try_from(start).unwrap_or(0);
    Ok(Axis::range(start, u64::try_from(count).unwrap_or(len), step))
}
