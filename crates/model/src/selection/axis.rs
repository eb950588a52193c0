//! The positions wanted along one axis.

use std::fmt;

/// Positions along one axis, in the order in which they are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Axis {
    /// `start`, `start + stride`, and so on; `count` of them.
    Range {
        /// The first position. At most the length of the axis when `count` is 0.
        start: u64,
        /// How many positions.
        count: u64,
        /// From one position to the next; negative to go backwards, never 0.
        stride: i64,
    },
    /// Any positions, also repeated and in any order.
    Indices(Vec<u64>),
}

impl Axis {
    /// All positions of an axis of this length.
    pub fn all(len: u64) -> Self {
        Self::Range { start: 0, count: len, stride: 1 }
    }

    /// A range. The stride of fewer than two positions says nothing and becomes 1.
    pub fn range(start: u64, count: u64, stride: i64) -> Self {
        Self::Range { start, count, stride: if count < 2 { 1 } else { stride } }
    }

    /// These positions: as a range where they are equally spaced.
    pub fn from_positions(positions: Vec<u64>) -> Self {
        let stride = match positions[..] {
            [] => return Self::range(0, 0, 1),
            [only] => return Self::range(only, 1, 1),
            [first, second, ..] => i128::from(second) - i128::from(first),
        };
        let even =
            positions.windows(2).all(|pair| i128::from(pair[1]) - i128::from(pair[0]) == stride);
        match i64::try_from(stride) {
            Ok(stride) if even && stride != 0 => {
                Self::range(positions[0], positions.len() as u64, stride)
            }
            _ => Self::Indices(positions),
        }
    }

    /// How many positions.
    pub fn len(&self) -> u64 {
        match self {
            Self::Range { count, .. } => *count,
            Self::Indices(positions) => positions.len() as u64,
        }
    }

    /// True where no position is selected.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The position wanted at `index` of the result.
    pub fn get(&self, index: u64) -> Option<u64> {
        match self {
            Self::Range { count, .. } if index >= *count => None,
            // Modulo 2^64 the sum is right whenever the position is one.
            Self::Range { start, stride, .. } => {
                Some(start.wrapping_add(index.wrapping_mul(stride.cast_unsigned())))
            }
            Self::Indices(positions) => positions.get(usize::try_from(index).ok()?).copied(),
        }
    }

    /// Those of the positions that are wanted from `first` on, `count` of them, which are there.
    #[must_use]
    pub fn part(&self, first: u64, count: u64) -> Self {
        match self {
            Self::Range { start, stride, .. } => {
                Self::range(self.get(first).unwrap_or(*start), count, *stride)
            }
            Self::Indices(positions) => {
                Self::Indices(positions[first as usize..(first + count) as usize].to_vec())
            }
        }
    }

    /// The positions in order.
    pub fn positions(&self) -> impl Iterator<Item = u64> + '_ {
        (0..self.len()).map_while(|index| self.get(index))
    }

    /// The lowest and the highest position; `None` where there is none.
    pub fn bounds(&self) -> Option<(u64, u64)> {
        match self {
            Self::Range { .. } => {
                let (first, last) = (self.get(0)?, self.get(self.len() - 1)?);
                Some((first.min(last), first.max(last)))
            }
            Self::Indices(positions) => Some((*positions.iter().min()?, *positions.iter().max()?)),
        }
    }

    /// True where every position lies on an axis of this length.
    pub fn fits(&self, len: u64) -> bool {
        match self {
            Self::Range { start, count: 0, .. } => *start <= len,
            Self::Range { start, count, stride: 1 } => {
                start.checked_add(*count).is_some_and(|end| end <= len)
            }
            Self::Range { start, count, stride } => {
                let way = i128::from(count - 1) * i128::from(*stride);
                let last = i128::from(*start).saturating_add(way);
                *start < len && *stride != 0 && (0..i128::from(len)).contains(&last)
            }
            Self::Indices(positions) => positions.iter().all(|&position| position < len),
        }
    }

    /// True where the whole of an axis of this length is wanted in its own order.
    pub fn is_all(&self, len: u64) -> bool {
        match self {
            Self::Range { count, .. } if *count != len => false,
            Self::Range { start, count, stride } => {
                *count == 0 || (*start == 0 && (*stride == 1 || *count == 1))
            }
            Self::Indices(positions) => {
                positions.len() as u64 == len && (0..len).eq(positions.iter().copied())
            }
        }
    }

    /// True where each position is the one before it plus 1.
    pub fn is_ascending_run(&self) -> bool {
        match self {
            Self::Range { count, stride, .. } => *count < 2 || *stride == 1,
            Self::Indices(positions) => {
                positions.windows(2).all(|pair| pair[0].checked_add(1) == Some(pair[1]))
            }
        }
    }

    /// Cuts the positions where they pass from one block of `block_len` positions (the extent of a
    /// chunk along this axis) to another. A block comes up again where the order comes back to it.
    pub fn block_runs(&self, block_len: u64) -> BlockRuns<'_> {
        BlockRuns { axis: self, block_len: block_len.max(1), next: 0 }
    }
}

/// Positions that follow one another in the selection and lie in the same block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockRun {
    /// Which block: position divided by the block's length.
    pub block: u64,
    /// Index of the first of them in the result.
    pub first: u64,
    /// How many of them.
    pub count: u64,
}

/// What [`Axis::block_runs`] returns.
#[derive(Debug, Clone)]
pub struct BlockRuns<'a> {
    axis: &'a Axis,
    block_len: u64,
    next: u64,
}

impl Iterator for BlockRuns<'_> {
    type Item = BlockRun;

    fn next(&mut self) -> Option<BlockRun> {
        let first = self.next;
        let position = self.axis.get(first)?;
        let block = position / self.block_len;
        let within = position % self.block_len;
        let count = match self.axis {
            Axis::Range { count, stride, .. } => {
                let room = if *stride < 0 { within } else { self.block_len - 1 - within };
                (room / stride.unsigned_abs().max(1)).saturating_add(1).min(count - first)
            }
            Axis::Indices(positions) => {
                let rest = usize::try_from(first).ok().and_then(|first| positions.get(first..))?;
                rest.iter().take_while(|&&other| other / self.block_len == block).count() as u64
            }
        };
        self.next = first + count;
        Some(BlockRun { block, first, count })
    }
}

impl fmt::Display for Axis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// A list longer than this is told by its head and its length.
        const SHOWN: usize = 8;
        match self {
            Self::Range { start, count, stride } => {
                let stop = i128::from(*start)
                    .saturating_add(i128::from(*count).saturating_mul(i128::from(*stride)));
                match (stop < 0, stride) {
                    (true, _) => write!(f, "{start}::{stride}"),
                    (false, 1) => write!(f, "{start}:{stop}"),
                    (false, _) => write!(f, "{start}:{stop}:{stride}"),
                }
            }
            Self::Indices(positions) => {
                let shown: Vec<String> = positions.iter().take(SHOWN).map(u64::to_string).collect();
                let more = if positions.len() > SHOWN {
                    format!(", ... {} in all", positions.len())
                } else {
                    String::new()
                };
                write!(f, "[{}{more}]", shown.join(", "))
            }
        }
    }
}
