//! Why a selection cannot be made.

use std::fmt;

/// What is wrong with a request. Axes are counted from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum SelectionError {
    /// A list has `given` entries and the variable has `rank` dimensions.
    Rank { given: usize, rank: usize },
    /// The start lies beyond the dimension; netCDF's `NC_EINVALCOORDS`.
    Coordinates { axis: usize, start: u64, len: u64 },
    /// The last element lies beyond the dimension; netCDF's `NC_EEDGE`.
    Edge { axis: usize, start: u64, count: u64, stride: i64, len: u64 },
    /// A stride that is not positive; netCDF's `NC_ESTRIDE`.
    Stride { axis: usize, stride: i64 },
    /// An integer index beyond the dimension on either side; Python's `IndexError`.
    Index { axis: usize, index: i64, len: u64 },
    /// A mask with another length than the dimension.
    Mask { axis: usize, mask_len: u64, len: u64 },
    /// A slice with step 0.
    Step { axis: usize },
    /// More indices than dimensions.
    TooManyIndices { given: usize, rank: usize },
    /// More than one `...`.
    SeveralEllipses,
}

impl fmt::Display for SelectionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rank { given, rank } => {
                write!(f, "{given} entries given for {rank} dimensions")
            }
            Self::Coordinates { axis, start, len } => {
                write!(f, "axis {axis}: start {start} is beyond the length {len}")
            }
            Self::Edge { axis, start, count, stride, len } => write!(
                f,
                "axis {axis}: {count} elements from {start} with stride {stride} reach beyond \
                 the length {len}"
            ),
            Self::Stride { axis, stride } => {
                write!(f, "axis {axis}: stride {stride} is not positive")
            }
            Self::Index { axis, index, len } => {
                write!(f, "index {index} is out of bounds for axis {axis} with length {len}")
            }
            Self::Mask { axis, mask_len, len } => write!(
                f,
                "axis {axis}: a mask of length {mask_len} does not match the length {len}"
            ),
            Self::Step { axis } => write!(f, "axis {axis}: slice step cannot be zero"),
            Self::TooManyIndices { given, rank } => {
                write!(f, "too many indices: {given} for {rank} dimensions")
            }
            Self::SeveralEllipses => {
                f.write_str("an index can only have a single ellipsis ('...')")
            }
        }
    }
}

impl std::error::Error for SelectionError {}
