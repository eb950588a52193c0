//! Elements that lie in rows: contiguous data sets, classic variables, unfiltered chunks.

use std::io;
use std::mem::MaybeUninit;
use std::ops::Range;

use super::reading::{Reading, as_region};
use super::scatter::{OutOfBounds, Source, Target, bounds, element_count, scatter};
use super::scratch;
use crate::error::{Error, ErrorKind, Result};
use crate::parallel;
use crate::plan::axis_runs::{AxisRun, count_of};
use crate::plan::layout::BeyondEnd;
use crate::plan::strided::{DirectRead, Overflow, StridedPlan, StridedRead};
use crate::storage::{Storage, uninit};

/// From this much work on, several threads share it. A read counts as many bytes as a page.
pub(super) const SHARED_FROM_BYTES: u64 = 4 << 20;
const READ_COUNTS_AS_BYTES: u64 = 4 << 10;
/// The work that a thread takes at a time.
const SHARE_BYTES: u64 = 512 << 10;

/// Where the elements lie.
pub(super) struct Place<'p> {
    pub(super) storage: &'p dyn Storage,
    pub(super) address: u64,
    pub(super) strides: &'p [u64],
    pub(super) beyond_end: BeyondEnd,
}

/// Reads the elements of `axes`, each of which has a run.
pub(super) fn read(
    reading: &Reading<'_>,
    place: &Place<'_>,
    axes: Vec<Vec<AxisRun>>,
    target: &Target<'_, '_>,
) -> Result<()> {
    if let Some(done) = read_in_memory(place, &axes, target) {
        return Ok(done);
    }
    run(reading, place, &plan(reading, place, axes, target)?, target)
}

/// Plans reading `axes`, each of which has a run.
pub(super) fn plan(
    reading: &Reading<'_>,
    place: &Place<'_>,
    axes: Vec<Vec<AxisRun>>,
    target: &Target<'_, '_>,
) -> Result<StridedPlan> {
    let (size, cost) = (target.element_size, place.storage.call_cost_bytes());
    StridedPlan::new(place.address, place.strides, size, axes, target.strides, cost)
        .map_err(|Overflow| reading.too_large())
}

/// Makes the reads of a plan, on several threads where that is worth it.
pub(super) fn run(
    reading: &Reading<'_>,
    place: &Place<'_>,
    plan: &StridedPlan,
    target: &Target<'_, '_>,
) -> Result<()> {
    let count = plan.read_count();
    let work = plan.wanted_bytes().saturating_add(count.saturating_mul(READ_COUNTS_AS_BYTES));
    if count < 2 || work < SHARED_FROM_BYTES || !place.storage.parallel() {
        return run_share(reading, place, plan, 0..count, target);
    }
    let reads_per_share = (SHARE_BYTES / (work / count).max(1)).max(1);
    let shares =
        usize::try_from(count.div_ceil(reads_per_share)).map_err(|_| reading.too_large())?;
    parallel::for_each(shares, |share| {
        let first = share as u64 * reads_per_share;
        run_share(reading, place, plan, first..count.min(first + reads_per_share), target)
    })
}

/// Makes these reads of a plan on this thread.
pub(super) fn run_share(
    reading: &Reading<'_>,
    place: &Place<'_>,
    plan: &StridedPlan,
    mut reads: Range<u64>,
    target: &Target<'_, '_>,
) -> Result<()> {
    reads.try_for_each(|index| {
        if plan.is_direct() {
            read_direct(reading, place, plan.direct_read(index, target.strides), target)
        } else {
            read_through_buffer(reading, place, &plan.read(index), target)
        }
    })
}

/// Copies straight out of a storage that lies in memory; `None` where it does not, or where not
/// all of the elements are there.
pub(super) fn read_in_memory(
    place: &Place<'_>,
    axes: &[Vec<AxisRun>],
    target: &Target<'_, '_>,
) -> Option<()> {
    let bytes = place.storage.as_slice()?;
    let start = usize::try_from(place.address).ok()?;
    let origin = vec![0; axes.len()];
    let mut end = place.address.checked_add(target.element_size as u64)?;
    for ((_, high), stride) in bounds(&as_region(axes)).iter().zip(place.strides) {
        end = end.checked_add(high.checked_mul(*stride)?)?;
    }
    if end > bytes.len() as u64 {
        return None;
    }
    let source = Source { bytes, start, origin: &origin, strides: place.strides };
    let region = as_region(axes);
    let wanted = element_count(&region).saturating_mul(target.element_size as u64);
    let pieces = wanted.div_ceil(SHARED_FROM_BYTES / 2);
    match axes.iter().position(|runs| count_of(runs) > 1) {
        Some(axis) if wanted >= SHARED_FROM_BYTES => {
            let runs = &axes[axis];
            let per_piece = count_of(runs).div_ceil(pieces);
            let pieces = usize::try_from(count_of(runs).div_ceil(per_piece)).ok()?;
            parallel::for_each(pieces, |piece| {
                let part = cut(runs, piece as u64 * per_piece, per_piece);
                let mut region = region.clone();
                region[axis] = &part;
                scatter(&source, &region, target)
            })
        }
        _ => scatter(&source, &region, target),
    }
    .ok()
}

/// The results `first .. first + count` of runs, counted over all of them.
fn cut(runs: &[AxisRun], mut first: u64, mut count: u64) -> Vec<AxisRun> {
    let mut part = Vec::new();
    for run in runs {
        if count == 0 {
            break;
        }
        if first >= run.count {
            first -= run.count;
            continue;
        }
        let taken = count.min(run.count - first);
        part.push(run.part(first, taken));
        (first, count) = (0, count - taken);
    }
    part
}

/// One read that stands at the target as it stands in the storage.
fn read_direct(
    reading: &Reading<'_>,
    place: &Place<'_>,
    read: DirectRead,
    target: &Target<'_, '_>,
) -> Result<()> {
    let length = usize::try_from(read.length).map_err(|_| reading.too_large())?;
    let offset = usize::try_from(read.target_offset).ok();
    let offset = offset.and_then(|offset| offset.checked_add(target.offset));
    let offset = offset.ok_or_else(|| reading.too_large())?;
    target
        .write_run(offset, length, |memory| fetch(place, read.address, memory))
        .map_err(|source| not_read(reading, place, read.address, read.length, source))
}

/// Why the bytes at `address` cannot be had.
fn not_read(
    reading: &Reading<'_>,
    place: &Place<'_>,
    address: u64,
    length_bytes: u64,
    source: io::Error,
) -> Error {
    if place.beyond_end == BeyondEnd::Missing
        && source.kind() == io::ErrorKind::UnexpectedEof
        && let Ok(len) = place.storage.len()
        && let there_bytes = len.saturating_sub(address)
        && there_bytes < length_bytes
    {
        return reading.error(ErrorKind::MissingBytes { address, length_bytes, there_bytes });
    }
    reading.storage_error(address, length_bytes, source)
}

/// One read that brings gaps along, or elements in another order.
fn read_through_buffer(
    reading: &Reading<'_>,
    place: &Place<'_>,
    read: &StridedRead,
    target: &Target<'_, '_>,
) -> Result<()> {
    let fail = |source| not_read(reading, place, read.address, read.length, source);
    scratch::with(|scratch| {
        let length = usize::try_from(read.length).map_err(|_| reading.too_large())?;
        scratch.stored.clear();
        if scratch.stored.try_reserve(length).is_err() {
            return Err(fail(io::Error::from(io::ErrorKind::OutOfMemory)));
        }
        let memory = &mut scratch.stored.spare_capacity_mut()[..length];
        let bytes = fetch(place, read.address, memory).map_err(fail)?;
        let source = Source { bytes, start: 0, origin: &read.origin, strides: place.strides };
        scatter(&source, &as_region(&read.region), target)
            .map_err(|OutOfBounds| reading.short(read.length))
    })
}

/// Fills `into`; what lies beyond the end of the storage as the place says.
fn fetch<'m>(
    place: &Place<'_>,
    address: u64,
    into: &'m mut [MaybeUninit<u8>],
) -> io::Result<&'m mut [u8]> {
    match place.beyond_end {
        BeyondEnd::Error | BeyondEnd::Missing => uninit::read_at(place.storage, address, into),
        BeyondEnd::Zeros => uninit::read_with_zeros(place.storage, address, into),
    }
}
