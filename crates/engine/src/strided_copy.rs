//! Room for unsafe code: boxes of evenly spaced elements from one place in memory to another.
//!
//! ```text
//! element (i, j, ..): source + i * source step + j * source step' ..  -> target + i * target step ..
//! ```
//! `read::scatter` takes elements apart with it, `write::data` puts them together. The contract:
//! - Every element lies within the source and within the target: [`copy_box`] checks the first and
//!   the last byte on both sides once for the box, callers of [`copy`] do so themselves; the loops
//!   then do not.
//! - Source and target do not overlap.
//!
//! Axes that continue one another in source and target are merged ([`push_axis`]), so that the
//! innermost loop is as long as can be.

/// One axis of a box of evenly spaced elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CopyAxis {
    /// How many elements; never 0.
    pub(crate) count: usize,
    /// Bytes from one to the next where they come from.
    pub(crate) source_step: isize,
    /// Bytes from one to the next where they go.
    pub(crate) target_step: isize,
}

/// Elements lie outside of the memory that they should be in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OutOfBounds;

/// Appends an inner axis; merged with the one before where that only continues it.
pub(crate) fn push_axis(axes: &mut Vec<CopyAxis>, inner: CopyAxis) {
    if let Some(outer) = axes.last_mut()
        && (inner.count as isize).checked_mul(inner.source_step) == Some(outer.source_step)
        && (inner.count as isize).checked_mul(inner.target_step) == Some(outer.target_step)
        && let Some(count) = outer.count.checked_mul(inner.count)
    {
        *outer = CopyAxis { count, ..inner };
        return;
    }
    axes.push(inner);
}

/// Copies a box of elements of `size` bytes, whose first one stands at `from` in `source` and goes
/// to `to` in `target`.
pub(crate) fn copy_box(
    axes: &[CopyAxis],
    source: &[u8],
    from: usize,
    target: &mut [u8],
    to: usize,
    size: usize,
) -> Result<(), OutOfBounds> {
    check(axes.iter().map(|axis| (axis.count, axis.source_step)), from, size, source.len())?;
    check(axes.iter().map(|axis| (axis.count, axis.target_step)), to, size, target.len())?;
    // SAFETY: the lines above checked the lowest and the highest byte on both sides; one is
    // borrowed exclusively, so they do not overlap.
    unsafe { copy(axes, source.as_ptr().add(from), target.as_mut_ptr().add(to), size, false) };
    Ok(())
}

/// Whether all elements of a box lie within `len` bytes.
fn check(
    axes: impl Iterator<Item = (usize, isize)>,
    first: usize,
    size: usize,
    len: usize,
) -> Result<(), OutOfBounds> {
    let (mut low, mut high) = (first as i128, first as i128);
    for (count, step) in axes {
        let way = (count as i128 - 1) * step as i128;
        (low, high) = (low + way.min(0), high + way.max(0));
    }
    let within = low >= 0 && high + size as i128 <= len as i128;
    within.then_some(()).ok_or(OutOfBounds)
}

/// Copies a box of elements; those of 2, 4 and 8 bytes with their bytes in `reverse` order on demand.
///
/// # Safety
/// For every combination of indices, `size` bytes at `from + sum(index * source_step)` may be
/// read, and at `to + sum(index * target_step)` written.
pub(crate) unsafe fn copy(
    axes: &[CopyAxis],
    from: *const u8,
    to: *mut u8,
    size: usize,
    reverse: bool,
) {
    match axes {
        // SAFETY: there is one combination, that of no indices.
        [] => unsafe { copy_run(from, to, 1, size, reverse) },
        [axis] if axis.source_step == size as isize && axis.target_step == size as isize => {
            // SAFETY: the elements follow one another on both sides.
            unsafe { copy_run(from, to, axis.count, size, reverse) }
        }
        // SAFETY: as the caller said.
        [axis] => unsafe { copy_steps(*axis, from, to, size, reverse) },
        [axis, inner @ ..] => {
            for index in 0..axis.count {
                // SAFETY: the sums with this index of the outer axis are among the caller's.
                unsafe {
                    let from = from.offset(index as isize * axis.source_step);
                    copy(inner, from, to.offset(index as isize * axis.target_step), size, reverse);
                }
            }
        }
    }
}

/// # Safety
/// `count * size` bytes may be read at `from` and written at `to`.
unsafe fn copy_run(from: *const u8, to: *mut u8, count: usize, size: usize, reverse: bool) {
    let axis = CopyAxis { count, source_step: size as isize, target_step: size as isize };
    // SAFETY: as the caller said.
    unsafe {
        match (size, reverse) {
            (2, true) => steps::<2, true>(axis, from, to),
            (4, true) => steps::<4, true>(axis, from, to),
            (8, true) => steps::<8, true>(axis, from, to),
            _ => std::ptr::copy_nonoverlapping(from, to, count * size),
        }
    }
}

/// # Safety
/// For every index of `axis`, `size` bytes may be read and written at its steps.
unsafe fn copy_steps(axis: CopyAxis, from: *const u8, to: *mut u8, size: usize, reverse: bool) {
    // SAFETY: as the caller said.
    unsafe {
        match (size, reverse) {
            (1, _) => steps::<1, false>(axis, from, to),
            (2, false) => steps::<2, false>(axis, from, to),
            (2, true) => steps::<2, true>(axis, from, to),
            (4, false) => steps::<4, false>(axis, from, to),
            (4, true) => steps::<4, true>(axis, from, to),
            (8, false) => steps::<8, false>(axis, from, to),
            (8, true) => steps::<8, true>(axis, from, to),
            (16, _) => steps::<16, false>(axis, from, to),
            _ => {
                for index in 0..axis.count {
                    let from = from.offset(index as isize * axis.source_step);
                    std::ptr::copy_nonoverlapping(
                        from,
                        to.offset(index as isize * axis.target_step),
                        size,
                    );
                }
            }
        }
    }
}

/// # Safety
/// For every index of `axis`, `SIZE` bytes may be read and written at its steps.
#[inline(always)]
unsafe fn steps<const SIZE: usize, const REVERSE: bool>(
    axis: CopyAxis,
    from: *const u8,
    to: *mut u8,
) {
    // Where elements follow one another, constant steps let the compiler use vectors.
    // SAFETY: as the caller said.
    unsafe {
        if axis.source_step == SIZE as isize && axis.target_step == SIZE as isize {
            each::<SIZE, REVERSE>(axis.count, from, to, SIZE as isize, SIZE as isize);
        } else {
            each::<SIZE, REVERSE>(axis.count, from, to, axis.source_step, axis.target_step);
        }
    }
}

/// # Safety
/// For every index below `count`, `SIZE` bytes may be read and written at its steps.
#[inline(always)]
unsafe fn each<const SIZE: usize, const REVERSE: bool>(
    count: usize,
    from: *const u8,
    to: *mut u8,
    source_step: isize,
    target_step: isize,
) {
    for index in 0..count {
        // SAFETY: this index is one of the caller's; arrays of bytes need no alignment.
        unsafe {
            let mut element: [u8; SIZE] =
                from.offset(index as isize * source_step).cast::<[u8; SIZE]>().read();
            if REVERSE {
                element.reverse();
            }
            to.offset(index as isize * target_step).cast::<[u8; SIZE]>().write(element);
        }
    }
}
