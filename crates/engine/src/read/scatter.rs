//! Room for unsafe code: elements from where they lie to where they are wanted.
//!
//! ```text
//! source: offset = sum((position - origin) * source stride)   a chunk, a file's bytes, one fill
//! target: offset = sum(result * target stride)                the caller's memory
//! ```
//! The contract:
//! - [`scatter`] checks, once for each box of evenly spaced elements, that the first and the last
//!   byte it reads and writes lie within source and destination; the loops then do not.
//! - Source and destination do not overlap: the destination is the caller's exclusive memory.
//! - The results of a region are given to one task only (see `destination`).

use std::mem::MaybeUninit;

use isotach_model::byte_order;

use super::destination::Destination;
use crate::plan::axis_runs::{AxisRun, bounds_of, count_of};
pub(crate) use crate::strided_copy::OutOfBounds;
use crate::strided_copy::{CopyAxis, copy, push_axis};

/// Elements of an array that are wanted: the product of runs along each axis.
pub(crate) type Region<'r> = [&'r [AxisRun]];

/// Where a region's elements lie in a slice.
pub(crate) struct Source<'s> {
    /// The slice.
    pub(crate) bytes: &'s [u8],
    /// Where in the slice the element at `origin` begins.
    pub(crate) start: usize,
    /// Position of that element along each axis.
    pub(crate) origin: &'s [u64],
    /// Bytes from one position to the next along each axis.
    pub(crate) strides: &'s [u64],
}

/// Where a region's elements go.
#[derive(Clone, Copy)]
pub(crate) struct Target<'t, 'd> {
    /// The caller's memory.
    pub(crate) destination: &'t Destination<'d>,
    /// Where in it the result 0 of every axis stands.
    pub(crate) offset: usize,
    /// Bytes from one result to the next along each axis.
    pub(crate) strides: &'t [usize],
    /// Bytes of an element.
    pub(crate) element_size: usize,
    /// Whether the bytes of each element are reversed on the way; only for sizes 2, 4 and 8.
    pub(crate) reverse: bool,
}

impl<'t, 'd> Target<'t, 'd> {
    /// All of `destination`, whose results stand `strides` apart.
    pub(crate) fn whole(
        destination: &'t Destination<'d>,
        strides: &'t [usize],
        element_size: usize,
        reverse: bool,
    ) -> Self {
        Self { destination, offset: 0, strides, element_size, reverse }
    }

    /// Where the first result of a region stands.
    pub(crate) fn offset_of(&self, region: &Region<'_>) -> Option<usize> {
        region.iter().zip(self.strides).try_fold(self.offset, |sum, (runs, stride)| {
            let result = usize::try_from(runs.first()?.result).ok()?;
            result.checked_mul(*stride)?.checked_add(sum)
        })
    }

    /// Lets `write` fill a run of `len` bytes from `offset`, as they are stored, and reverses
    /// them where that is wanted.
    pub(crate) fn write_run<E>(
        &self,
        offset: usize,
        len: usize,
        write: impl FnOnce(&mut [MaybeUninit<u8>]) -> Result<&mut [u8], E>,
    ) -> Result<(), E> {
        self.destination.write(offset, len, |memory| {
            let bytes = write(memory)?;
            if self.reverse {
                byte_order::swap_in_place(bytes, self.element_size);
            }
            Ok(bytes)
        })
    }
}

/// The number of elements of a region.
pub(crate) fn element_count(region: &Region<'_>) -> u64 {
    region.iter().map(|runs| count_of(runs)).product()
}

/// The lowest and the highest position along each axis.
pub(crate) fn bounds(region: &Region<'_>) -> Vec<(u64, u64)> {
    region.iter().map(|runs| bounds_of(runs)).collect()
}

/// Copies the elements of `region` and counts them as written.
pub(crate) fn scatter(
    source: &Source<'_>,
    region: &Region<'_>,
    target: &Target<'_, '_>,
) -> Result<(), OutOfBounds> {
    if region.iter().any(|runs| runs.is_empty()) {
        return Ok(());
    }
    let mut chosen = vec![0; region.len()];
    let mut axes = Vec::with_capacity(region.len());
    loop {
        scatter_box(source, region, &chosen, target, &mut axes)?;
        let mut axis = region.len();
        loop {
            if axis == 0 {
                return Ok(());
            }
            axis -= 1;
            chosen[axis] += 1;
            if chosen[axis] < region[axis].len() {
                break;
            }
            chosen[axis] = 0;
        }
    }
}

/// Copies the box of the `chosen` run of each axis.
fn scatter_box(
    source: &Source<'_>,
    region: &Region<'_>,
    chosen: &[usize],
    target: &Target<'_, '_>,
    axes: &mut Vec<CopyAxis>,
) -> Result<(), OutOfBounds> {
    let size = target.element_size;
    let (mut from, mut low, mut high) = (source.start as i128, 0i128, 0i128);
    let (mut to, mut reach, mut count) = (target.offset, 0usize, 1usize);
    axes.clear();
    for (axis, runs) in region.iter().enumerate() {
        let run = &runs[chosen[axis]];
        let stride = i128::from(source.strides[axis]);
        from += (i128::from(run.position) - i128::from(source.origin[axis])) * stride;
        let step = i128::from(run.stride) * stride;
        let way = step * i128::from(run.count - 1);
        (low, high) = (low + way.min(0), high + way.max(0));
        let run_count = usize::try_from(run.count).map_err(|_| OutOfBounds)?;
        let result = usize::try_from(run.result).map_err(|_| OutOfBounds)?;
        let target_step = target.strides[axis];
        to = add_product(to, result, target_step)?;
        reach = add_product(reach, run_count - 1, target_step)?;
        count = count.checked_mul(run_count).ok_or(OutOfBounds)?;
        if run_count > 1 {
            let source_step = isize::try_from(step).map_err(|_| OutOfBounds)?;
            let target_step = isize::try_from(target_step).map_err(|_| OutOfBounds)?;
            push_axis(axes, CopyAxis { count: run_count, source_step, target_step });
        }
    }
    let within = from + low >= 0 && from + high + size as i128 <= source.bytes.len() as i128;
    let end = to.checked_add(reach).and_then(|last| last.checked_add(size)).ok_or(OutOfBounds)?;
    if !within || end > target.destination.len() {
        return Err(OutOfBounds);
    }
    let to = target.destination.address(to);
    // SAFETY: the first and the last byte on both sides were checked above: the steps of all axes
    // lead nowhere below `low` or above `high`; the target's bytes are this task's own.
    unsafe { copy(axes, source.bytes.as_ptr().offset(from as isize), to, size, target.reverse) };
    target.destination.wrote(count.saturating_mul(size));
    Ok(())
}

fn add_product(sum: usize, count: usize, step: usize) -> Result<usize, OutOfBounds> {
    count.checked_mul(step).and_then(|product| product.checked_add(sum)).ok_or(OutOfBounds)
}
