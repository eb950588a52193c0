//! Memory maps: for each axis, how many elements of memory lie between one result and the next.

/// The map of memory without gaps whose last axis varies fastest.
pub(super) fn row_major(count: &[u64]) -> Vec<isize> {
    let mut step = 1isize;
    let mut map = vec![0; count.len()];
    for (place, &count) in map.iter_mut().zip(count).rev() {
        *place = step;
        step = step.saturating_mul(isize::try_from(count).unwrap_or(isize::MAX));
    }
    map
}

/// Calls `visit` for each element of a box of `shape`, in row-major order, with its number and its place by
/// `map`.
pub(super) fn for_each(shape: &[u64], map: &[isize], mut visit: impl FnMut(usize, isize)) {
    if shape.contains(&0) {
        return;
    }
    let mut index = vec![0u64; shape.len()];
    let (mut number, mut place) = (0, 0isize);
    loop {
        visit(number, place);
        number += 1;
        let mut axis = shape.len();
        loop {
            let Some(next) = axis.checked_sub(1) else { return };
            axis = next;
            index[axis] += 1;
            place = place.wrapping_add(map[axis]);
            if index[axis] < shape[axis] {
                break;
            }
            index[axis] = 0;
            place = place.wrapping_sub(map[axis].wrapping_mul(shape[axis] as isize));
        }
    }
}

/// The element of `size` units at a place that a map says.
pub(super) fn element<T>(first: *mut T, place: isize, size: usize) -> *mut T {
    first.wrapping_offset(place.wrapping_mul(size as isize))
}
