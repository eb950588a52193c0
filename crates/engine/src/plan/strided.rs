//! Which reads deliver the wanted elements of an array that lies in rows.
//!
//! ```text
//! outer axes: one position at a time | grouped axis: some steps per read | inner axes: all of them
//! ```
//! From the innermost axis outward, neighbours share a read while the bytes between them cost less
//! than a call and the read stays within a buffer. Where the wanted bytes of a read stand in the
//! same order in the caller's memory, they are read straight into it: such a read is as long as it
//! can be, cut only so that several threads have something to do.

use super::axis_runs::{AxisRun, bounds_of, count_of};

/// The longest read that goes through a buffer.
const BUFFER_BYTES: u64 = 4 << 20;
/// The longest read straight into the caller's memory; longer ones become several.
const PIECE_BYTES: u64 = 4 << 20;
/// From this length on, runs are read straight into place rather than together with the gaps.
const DIRECT_CALLS: u64 = 4;

/// The reads for a region of a strided array, counted from 0.
#[derive(Debug, Clone)]
pub struct StridedPlan {
    address: u64,
    strides: Vec<u64>,
    element_size: u64,
    axes: Vec<Vec<AxisRun>>,
    /// The axis whose steps are shared out over reads; `None` where one read has everything.
    grouped: Option<usize>,
    /// The shares, and how many reads there are up to the end of each.
    shares: Vec<(Share, u64)>,
    /// Reads for one position of the outer axes.
    reads_per_outer: u64,
    read_count: u64,
    /// Whether each read is one run of bytes in the caller's memory too.
    direct: bool,
}

/// Some runs of the grouped axis that are read alike.
#[derive(Debug, Clone, Copy)]
struct Share {
    first_run: usize,
    run_count: usize,
    /// Steps of the run that one read has; all of them where there are several runs.
    steps_per_read: u64,
}

/// One read and what it is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StridedRead {
    /// First byte in the storage.
    pub address: u64,
    /// How many bytes.
    pub length: u64,
    /// The runs along each axis that it delivers.
    pub region: Vec<Vec<AxisRun>>,
    /// The lowest position along each axis: the element at `address`.
    pub origin: Vec<u64>,
}

/// A read straight into the caller's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DirectRead {
    /// First byte in the storage.
    pub(crate) address: u64,
    /// How many bytes.
    pub(crate) length: u64,
    /// Where they go: bytes behind the result 0 of every axis.
    pub(crate) target_offset: u64,
}

/// The elements lie beyond what 64 bits can address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overflow;

/// How far an axis, with everything inside it, was brought together.
struct Inner {
    /// Bytes from the first to behind the last.
    span: u64,
    /// True where these are all wanted, and stand in the same order at the target.
    dense: bool,
}

impl StridedPlan {
    /// Plans reading `axes` (each with at least one run) of the array at `address`.
    /// `target_strides` are those of the caller's memory; a call costs `call_cost` bytes.
    pub fn new(
        address: u64,
        strides: &[u64],
        element_size: usize,
        axes: Vec<Vec<AxisRun>>,
        target_strides: &[usize],
        call_cost: u64,
    ) -> Result<Self, Overflow> {
        let element_size = element_size as u64;
        let bounds: Vec<(u64, u64)> = axes.iter().map(|runs| bounds_of(runs)).collect();
        check_end(address, strides, element_size, &bounds).ok_or(Overflow)?;
        let mut plan = Self {
            address,
            strides: strides.to_vec(),
            element_size,
            grouped: None,
            shares: Vec::new(),
            reads_per_outer: 1,
            read_count: 1,
            direct: true,
            axes,
        };
        let mut inner = Inner { span: element_size, dense: true };
        for axis in (0..plan.axes.len()).rev() {
            let runs = &plan.axes[axis];
            let joined = join(runs, strides[axis], target_strides[axis] as u64, &inner);
            let (low, high) = bounds[axis];
            let span = inner.span.saturating_add((high - low).saturating_mul(strides[axis]));
            let better_apart = inner.dense
                && !joined.dense
                && inner.span >= call_cost.saturating_mul(DIRECT_CALLS);
            let fits = span <= if joined.dense { PIECE_BYTES } else { BUFFER_BYTES };
            if joined.gap <= call_cost && fits && !better_apart {
                inner = Inner { span, dense: joined.dense };
                continue;
            }
            let together = if better_apart { 0 } else { call_cost };
            plan.group(axis, &inner, together, target_strides[axis] as u64)?;
            return Ok(plan);
        }
        plan.direct = inner.dense;
        Ok(plan)
    }

    /// Shares the steps of `axis` out over reads.
    fn group(
        &mut self,
        axis: usize,
        inner: &Inner,
        together: u64,
        target_stride: u64,
    ) -> Result<(), Overflow> {
        let (runs, stride) = (&self.axes[axis], self.strides[axis]);
        let mut total = 0u64;
        let mut first_run = 0;
        while first_run < runs.len() {
            let run_count = alike(&runs[first_run..], stride, inner.span, together);
            let run = &runs[first_run];
            let step = run.stride.unsigned_abs().saturating_mul(stride);
            let run_dense = inner.dense && is_dense(run, stride, target_stride, inner.span);
            let gap = step.saturating_sub(inner.span);
            let steps_per_read = match (run_count, run_dense) {
                (1, true) => (PIECE_BYTES / inner.span.max(1)).max(1),
                (1, false) if gap <= together && together > 0 => {
                    BUFFER_BYTES.saturating_sub(inner.span) / step.max(1) + 1
                }
                (1, false) => 1,
                _ => u64::MAX,
            };
            self.direct &= inner.dense && run_count == 1 && (run_dense || steps_per_read == 1);
            let reads = if run_count > 1 { 1 } else { run.count.div_ceil(steps_per_read) };
            total = total.checked_add(reads).ok_or(Overflow)?;
            self.shares.push((Share { first_run, run_count, steps_per_read }, total));
            first_run += run_count;
        }
        self.grouped = Some(axis);
        self.reads_per_outer = total;
        let outer = self.axes[..axis].iter().map(|runs| count_of(runs));
        self.read_count =
            outer.into_iter().try_fold(total, |n, count| n.checked_mul(count)).ok_or(Overflow)?;
        Ok(())
    }

    /// How many reads.
    pub fn read_count(&self) -> u64 {
        self.read_count
    }

    /// True where each read goes straight into the caller's memory.
    pub fn is_direct(&self) -> bool {
        self.direct
    }

    /// Bytes that are wanted.
    pub fn wanted_bytes(&self) -> u64 {
        let counts = self.axes.iter().map(|runs| count_of(runs));
        counts.fold(self.element_size, u64::saturating_mul)
    }

    /// Bytes that all reads take, wanted or not.
    pub fn read_bytes(&self) -> u64 {
        let span = |runs: &[AxisRun], stride: u64| {
            let (low, high) = bounds_of(runs);
            (high - low).saturating_mul(stride)
        };
        let inner_axes = self.grouped.map_or(0, |axis| axis + 1);
        let inner = self.axes[inner_axes..].iter().zip(&self.strides[inner_axes..]);
        let inner = inner
            .fold(self.element_size, |sum, (runs, stride)| sum.saturating_add(span(runs, *stride)));
        let Some(axis) = self.grouped else { return inner };
        let (mut first, mut sum) = (0, 0u64);
        for (share, end) in &self.shares {
            let runs = &self.axes[axis][share.first_run..][..share.run_count];
            let reads = end - first;
            let steps = match runs {
                // Between two reads there is a step that none of them takes.
                [run] => run.stride.unsigned_abs().saturating_mul(run.count - reads),
                _ => bounds_of(runs).1 - bounds_of(runs).0,
            };
            let bytes = steps.saturating_mul(self.strides[axis]);
            sum = sum.saturating_add(bytes).saturating_add(inner.saturating_mul(reads));
            first = *end;
        }
        let outer = self.axes[..axis].iter().map(|runs| count_of(runs));
        outer.fold(sum, u64::saturating_mul)
    }

    /// What the reads cost in bytes, where a call costs as many as `call_cost`.
    pub fn cost_bytes(&self, call_cost: u64) -> u64 {
        self.read_count.saturating_mul(call_cost).saturating_add(self.read_bytes())
    }

    /// Bytes of one element.
    pub(crate) fn element_size(&self) -> usize {
        // It was one when the plan was made.
        self.element_size as usize
    }

    /// Where the array's first element lies.
    pub(crate) fn address(&self) -> u64 {
        self.address
    }

    /// Bytes from one position to the next along each axis.
    pub(crate) fn strides(&self) -> &[u64] {
        &self.strides
    }

    /// The wanted runs along each axis.
    pub(crate) fn axes(&self) -> &[Vec<AxisRun>] {
        &self.axes
    }

    /// The `index`-th read, below [`Self::read_count`].
    pub fn read(&self, index: u64) -> StridedRead {
        let mut region = Vec::with_capacity(self.axes.len());
        if let Some(grouped) = self.grouped {
            self.push_outer(grouped, index / self.reads_per_outer, &mut region);
            region.push(self.share(grouped, index % self.reads_per_outer));
        }
        region.extend(self.axes[region.len()..].iter().cloned());
        let bounds = region.iter().map(|runs| bounds_of(runs));
        let mut address = self.address;
        let mut length = self.element_size;
        let mut origin = Vec::with_capacity(region.len());
        for ((low, high), stride) in bounds.zip(&self.strides) {
            // `new` has checked that the farthest element can be addressed.
            address += low * stride;
            length += (high - low) * stride;
            origin.push(low);
        }
        StridedRead { address, length, region, origin }
    }

    /// The `index`-th read of a plan that [is direct](Self::is_direct), into memory with these
    /// strides. The same as [`Self::read`] for one who needs no region, and takes no memory.
    pub(crate) fn direct_read(&self, index: u64, target_strides: &[usize]) -> DirectRead {
        let (mut address, mut length, mut target_offset) = (self.address, self.element_size, 0u64);
        let mut outer = index / self.reads_per_outer;
        let grouped = self.grouped.unwrap_or(0);
        for axis in (0..self.axes.len()).rev() {
            let runs = &self.axes[axis];
            // What is inside the grouped axis, or all where none is, is one run without a gap.
            let run = match self.grouped {
                Some(_) if axis < grouped => one_of(runs, &mut outer),
                Some(_) if axis == grouped => self.share_run(axis, index % self.reads_per_outer).0,
                _ => runs[0],
            };
            // `new` has checked that the farthest element can be addressed.
            address += run.position * self.strides[axis];
            length += (run.count - 1) * self.strides[axis];
            let offset = run.result.saturating_mul(target_strides[axis] as u64);
            target_offset = target_offset.saturating_add(offset);
        }
        DirectRead { address, length, target_offset }
    }

    /// One position of each axis outside the grouped one.
    fn push_outer(&self, grouped: usize, mut outer: u64, region: &mut Vec<Vec<AxisRun>>) {
        let outward = self.axes[..grouped].iter().rev();
        region.extend(outward.map(|runs| vec![one_of(runs, &mut outer)]));
        region.reverse();
    }

    /// The runs of the grouped axis that a read has.
    fn share(&self, grouped: usize, index: u64) -> Vec<AxisRun> {
        let (run, share) = self.share_run(grouped, index);
        match share.run_count {
            1 => vec![run],
            count => self.axes[grouped][share.first_run..share.first_run + count].to_vec(),
        }
    }

    /// The share that a read is of, and what the read has of the share's first run.
    fn share_run(&self, grouped: usize, index: u64) -> (AxisRun, Share) {
        let at = self.shares.partition_point(|(_, end)| *end <= index);
        let before = at.checked_sub(1).map_or(0, |before| self.shares[before].1);
        let (share, _) = self.shares[at];
        let run = self.axes[grouped][share.first_run];
        if share.run_count > 1 {
            return (run, share);
        }
        let first = (index - before) * share.steps_per_read;
        (run.part(first, share.steps_per_read.min(run.count - first)), share)
    }
}

/// The position of an axis that stands at the end of the number `outer`, which is taken off it.
fn one_of(runs: &[AxisRun], outer: &mut u64) -> AxisRun {
    let count = count_of(runs);
    let mut index = *outer % count;
    *outer /= count;
    for run in runs {
        if index < run.count {
            return run.part(index, 1);
        }
        index -= run.count;
    }
    // Not reached: the index is below the sum of the counts.
    runs[0].part(0, 1)
}

/// How the steps of an axis stand to one another.
struct Joined {
    /// The most bytes between two that follow one another.
    gap: u64,
    /// True where they follow one another without a gap, here and at the target.
    dense: bool,
}

fn join(runs: &[AxisRun], stride: u64, target_stride: u64, inner: &Inner) -> Joined {
    let steps = runs.iter().filter(|run| run.count > 1).map(|run| run.stride.unsigned_abs());
    let jumps = runs.windows(2).map(|pair| jump(&pair[0], &pair[1]));
    let step = steps.chain(jumps).max().unwrap_or(0);
    let gap = step.saturating_mul(stride).saturating_sub(inner.span);
    let dense = match runs {
        [run] => inner.dense && is_dense(run, stride, target_stride, inner.span),
        _ => false,
    };
    Joined { gap, dense }
}

/// From the last position of a run to the first of the next.
fn jump(run: &AxisRun, next: &AxisRun) -> u64 {
    run.position_at(run.count - 1).abs_diff(next.position)
}

fn is_dense(run: &AxisRun, stride: u64, target_stride: u64, span: u64) -> bool {
    run.count == 1 || (run.stride == 1 && stride == span && target_stride == span)
}

/// How many of the first runs share a read: as long as the bytes between and within them cost less
/// than a call, and the whole fits into a buffer.
fn alike(runs: &[AxisRun], stride: u64, span: u64, together: u64) -> usize {
    let cheap = |step: u64| step.saturating_mul(stride).saturating_sub(span) <= together;
    let whole = |run: &AxisRun| run.count == 1 || cheap(run.stride.unsigned_abs());
    if together == 0 || !whole(&runs[0]) {
        return 1;
    }
    let (mut low, mut high) = runs[0].bounds();
    let mut count = 1;
    for pair in runs.windows(2) {
        let (next_low, next_high) = pair[1].bounds();
        (low, high) = (low.min(next_low), high.max(next_high));
        let all = (high - low).saturating_mul(stride).saturating_add(span);
        if !cheap(jump(&pair[0], &pair[1])) || !whole(&pair[1]) || all > BUFFER_BYTES {
            break;
        }
        count += 1;
    }
    count
}

/// The end of the farthest element; `None` where it cannot be addressed.
fn check_end(address: u64, strides: &[u64], size: u64, bounds: &[(u64, u64)]) -> Option<u64> {
    let mut end = address.checked_add(size)?;
    for ((_, high), stride) in bounds.iter().zip(strides) {
        end = end.checked_add(high.checked_mul(*stride)?)?;
    }
    Some(end)
}

#[cfg(test)]
mod tests {
    use isotach_model::shape::row_major_strides;
    use proptest::prelude::*;

    use super::*;

    fn runs(len: u64) -> impl Strategy<Value = Vec<AxisRun>> {
        let run = (0..len, 1..4i64, 1..=len).prop_map(move |(position, stride, count)| {
            let count = count.min((len - 1 - position) / stride as u64 + 1);
            AxisRun { result: 0, count, position, stride }
        });
        prop::collection::vec(run, 1..3).prop_map(|mut runs| {
            let mut result = 0;
            for run in &mut runs {
                run.result = result;
                result += run.count;
            }
            runs
        })
    }

    proptest! {
        #[test]
        fn direct_reads_are_the_reads(
            axes in prop::collection::vec(runs(9), 0..4),
            whole in 0..4usize,
            call_cost in prop::sample::select(vec![0, 8, 100, 5000]),
        ) {
            let mut axes = axes;
            let inner = axes.len().saturating_sub(whole);
            for runs in &mut axes[inner..] {
                *runs = vec![AxisRun { result: 0, count: 9, position: 0, stride: 1 }];
            }
            let bytes = |shape: &[u64]| -> Vec<u64> {
                row_major_strides(shape).unwrap().iter().map(|stride| stride * 4).collect()
            };
            let strides = bytes(&vec![9; axes.len()]);
            let counts: Vec<u64> = axes.iter().map(|runs| count_of(runs)).collect();
            let target: Vec<usize> = bytes(&counts).iter().map(|&stride| stride as usize).collect();
            let plan = StridedPlan::new(100, &strides, 4, axes, &target, call_cost).unwrap();
            let lengths = (0..plan.read_count()).map(|index| plan.read(index).length);
            prop_assert_eq!(plan.read_bytes(), lengths.sum::<u64>());
            prop_assume!(plan.is_direct());
            for index in 0..plan.read_count() {
                let (direct, read) = (plan.direct_read(index, &target), plan.read(index));
                prop_assert_eq!((direct.address, direct.length), (read.address, read.length));
                let first = read.region.iter().zip(&target);
                let offset: u64 = first.map(|(runs, stride)| runs[0].result * *stride as u64).sum();
                prop_assert_eq!(direct.target_offset, offset);
            }
        }
    }
}
