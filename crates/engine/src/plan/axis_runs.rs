//! The positions wanted along one axis, as runs of evenly spaced ones.
//!
//! ```text
//! Axis (range or index list) -> runs -> inside | outside the stored extent -> by chunk
//! ```
//! Every later step works on runs alone: an index list is many short ones, a slice is one.

use isotach_model::selection::Axis;

/// Results `result .. result + count` of an axis stand at `position`, `position + stride`, ...
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AxisRun {
    /// Index of the first of them in the result.
    pub result: u64,
    /// How many; never 0.
    pub count: u64,
    /// Position of the first of them in the array.
    pub position: u64,
    /// From one position to the next; may be negative, and 0 where the same one is repeated.
    pub stride: i64,
}

/// Runs that lie in the same chunk along an axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AxisBlock {
    /// Chunk coordinate.
    pub block: u64,
    /// The first of its runs and how many.
    runs: (usize, usize),
}

/// An axis cut along its chunks: each chunk once, however often the selection comes back to it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AxisBlocks {
    blocks: Vec<AxisBlock>,
    runs: Vec<AxisRun>,
}

impl AxisRun {
    /// The run of all positions of an axis of this length; `None` for length 0.
    pub fn all(len: u64) -> Option<Self> {
        (len > 0).then_some(Self { result: 0, count: len, position: 0, stride: 1 })
    }

    /// The position of its `index`-th result.
    pub fn position_at(&self, index: u64) -> u64 {
        // Modulo 2^64 the sum is right whenever the position is one.
        self.position.wrapping_add(index.wrapping_mul(self.stride.cast_unsigned()))
    }

    /// The lowest and the highest position.
    pub fn bounds(&self) -> (u64, u64) {
        let last = self.position_at(self.count - 1);
        (self.position.min(last), self.position.max(last))
    }

    /// The results `first .. first + count` of this run as a run.
    pub fn part(&self, first: u64, count: u64) -> Self {
        let position = self.position_at(first);
        Self { result: self.result + first, count, position, stride: self.stride }
    }

    /// How many results from `first` on have positions in `low..=high`, where the first has.
    fn stay(&self, first: u64, low: u64, high: u64) -> u64 {
        let position = self.position_at(first);
        let room = if self.stride < 0 { position - low } else { high - position };
        let left = self.count - first;
        match self.stride.unsigned_abs() {
            0 => left,
            step => (room / step).saturating_add(1).min(left),
        }
    }
}

/// The runs of an axis of a selection.
pub fn runs_of(axis: &Axis) -> Vec<AxisRun> {
    match axis {
        Axis::Range { count: 0, .. } => Vec::new(),
        &Axis::Range { start, count, stride } => {
            let stride = if count == 1 { 1 } else { stride };
            vec![AxisRun { result: 0, count, position: start, stride }]
        }
        Axis::Indices(positions) => runs_of_positions(positions.iter().copied().zip(0..)),
    }
}

/// The runs of pairs (position, result), which are taken in their order. Two alone make a run only
/// where they are neighbours: what lies far apart is better read apart.
pub fn runs_of_positions(pairs: impl IntoIterator<Item = (u64, u64)>) -> Vec<AxisRun> {
    let mut runs: Vec<AxisRun> = Vec::new();
    let mut pairs = pairs.into_iter().peekable();
    while let Some((position, result)) = pairs.next() {
        if let Some(run) = runs.last_mut()
            && run.result + run.count == result
            && let Some(stride) = difference(run.position_at(run.count - 1), position)
        {
            let mut goes_on = || {
                let third = pairs.peek().and_then(|(next, _)| difference(position, *next));
                stride.unsigned_abs() <= 1 || third == Some(stride)
            };
            if run.stride == stride || (run.count == 1 && goes_on()) {
                run.stride = stride;
                run.count += 1;
                continue;
            }
        }
        runs.push(AxisRun { result, count: 1, position, stride: 1 });
    }
    runs
}

fn difference(from: u64, to: u64) -> Option<i64> {
    i64::try_from(i128::from(to) - i128::from(from)).ok()
}

/// Cuts runs at the end of an axis of `len` stored positions: those inside and those beyond it.
pub fn split_at_extent(runs: Vec<AxisRun>, len: u64) -> (Vec<AxisRun>, Vec<AxisRun>) {
    if runs.iter().all(|run| run.bounds().1 < len) {
        return (runs, Vec::new());
    }
    let (mut inside, mut outside) = (Vec::new(), Vec::new());
    for run in runs {
        let mut first = 0;
        while first < run.count {
            let is_inside = run.position_at(first) < len;
            let (low, high) = if is_inside { (0, len - 1) } else { (len, u64::MAX) };
            let count = run.stay(first, low, high);
            let side = if is_inside { &mut inside } else { &mut outside };
            side.push(run.part(first, count));
            first += count;
        }
    }
    (inside, outside)
}

impl AxisBlocks {
    /// Cuts `runs` where they pass from one block of `block_len` positions to another.
    pub fn new(runs: &[AxisRun], block_len: u64) -> Self {
        let block_len = block_len.max(1);
        let mut pieces: Vec<(u64, AxisRun)> = Vec::new();
        for run in runs {
            let mut first = 0;
            while first < run.count {
                let block = run.position_at(first) / block_len;
                let low = block * block_len;
                let count = run.stay(first, low, low.saturating_add(block_len - 1));
                pieces.push((block, run.part(first, count)));
                first += count;
            }
        }
        if !pieces.is_sorted_by_key(|(block, _)| *block) {
            pieces.sort_by_key(|(block, _)| *block);
        }
        let mut blocks: Vec<AxisBlock> = Vec::new();
        for (index, (block, _)) in pieces.iter().enumerate() {
            match blocks.last_mut() {
                Some(last) if last.block == *block => last.runs.1 += 1,
                _ => blocks.push(AxisBlock { block: *block, runs: (index, 1) }),
            }
        }
        Self { blocks, runs: pieces.into_iter().map(|(_, run)| run).collect() }
    }

    /// How many chunks the axis touches.
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// True where it touches none.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Chunk coordinate and runs of the `index`-th of them.
    pub fn get(&self, index: usize) -> (u64, &[AxisRun]) {
        let AxisBlock { block, runs: (first, count) } = self.blocks[index];
        (block, &self.runs[first..first + count])
    }
}

/// The results that `runs` have in all.
pub fn count_of(runs: &[AxisRun]) -> u64 {
    runs.iter().map(|run| run.count).sum()
}

/// The lowest and the highest position of `runs`; (0, 0) where there are none.
pub fn bounds_of(runs: &[AxisRun]) -> (u64, u64) {
    runs.iter()
        .map(AxisRun::bounds)
        .reduce(|(low, high), (other_low, other_high)| (low.min(other_low), high.max(other_high)))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn axis() -> impl Strategy<Value = (Axis, u64)> {
        (1u64..60).prop_flat_map(|len| {
            let range = (0..len, 1i64..9, any::<bool>(), 0u64..60).prop_map(
                move |(start, step, back, count)| {
                    let room = if back { start } else { len - 1 - start };
                    let count = count.min(room / step as u64 + 1);
                    Axis::range(start, count, if back { -step } else { step })
                },
            );
            let indices = prop::collection::vec(0..len, 0..40).prop_map(Axis::Indices);
            (prop_oneof![range, indices], Just(len))
        })
    }

    fn expand<'r>(runs: impl IntoIterator<Item = &'r AxisRun>) -> Vec<(u64, u64)> {
        let mut pairs: Vec<(u64, u64)> = runs
            .into_iter()
            .flat_map(|run| (0..run.count).map(|i| (run.result + i, run.position_at(i))))
            .collect();
        pairs.sort_unstable();
        pairs
    }

    proptest! {
        #[test]
        fn cuts_keep_every_position_once(
            (axis, _) in axis(),
            stored in 0u64..60,
            block_len in 1u64..20,
        ) {
            let expected: Vec<(u64, u64)> = (0..).zip(axis.positions()).collect();
            let runs = runs_of(&axis);
            prop_assert_eq!(expand(&runs), expected.clone());
            let (inside, outside) = split_at_extent(runs, stored);
            prop_assert!(inside.iter().all(|run| run.bounds().1 < stored));
            prop_assert!(outside.iter().all(|run| run.bounds().0 >= stored));
            prop_assert_eq!(expand(inside.iter().chain(&outside)), expected);
            let blocks = AxisBlocks::new(&inside, block_len);
            let mut cut = Vec::new();
            for index in 0..blocks.len() {
                let (block, runs) = blocks.get(index);
                prop_assert!(index == 0 || blocks.get(index - 1).0 < block);
                for run in runs {
                    let (low, high) = run.bounds();
                    prop_assert_eq!((low / block_len, high / block_len), (block, block));
                    cut.push(*run);
                }
            }
            prop_assert_eq!(expand(&cut), expand(&inside));
        }
    }
}
