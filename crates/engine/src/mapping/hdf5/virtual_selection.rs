//! Two selections of a virtual mapping, cut into pieces that are regular on both sides.
//!
//! The n-th selected element of the one is the n-th of the other, both counted in row-major order
//! (points: in their own order). Where both sides are regular they are one piece; else both are
//! cut into row segments, which are then paired.

use isotach_format::hdf5::selection::{RegularAxis, Selection};

use crate::plan::layout::Blocks;

/// Row segments of one irregular mapping.
const SEGMENT_LIMIT: usize = 1 << 18;

/// Corresponding parts: of the virtual data set, and of the source.
pub(super) type Pair = (Vec<Blocks>, Vec<Blocks>);

/// Why two selections cannot be paired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Misfit {
    /// A selection of another rank than its data set.
    Rank,
    /// A selection beyond its data set's shape.
    Outside,
    /// Selections with different numbers of elements.
    Count,
    /// More segments than the limit.
    TooMany,
}

/// True for an axis without end.
pub(super) fn is_unlimited(axis: &RegularAxis) -> bool {
    axis.count.is_none() || axis.block.is_none()
}

/// The axis along which a selection has no end.
pub(super) fn unlimited_axis(selection: &Selection) -> Option<usize> {
    match selection {
        Selection::Regular(axes) => axes.iter().position(is_unlimited),
        _ => None,
    }
}

/// Selected slices below `extent` along an axis without end.
pub(super) fn slices_within(axis: &RegularAxis, extent: u64) -> u64 {
    let Some(room) = extent.checked_sub(axis.start) else { return 0 };
    match axis.block {
        Some(block) if block < axis.stride => {
            let whole = room / axis.stride;
            whole.saturating_mul(block).saturating_add((room % axis.stride).min(block))
        }
        _ => room,
    }
}

/// The extent that holds the first `slices` slices of an axis without end.
pub(super) fn extent_for(axis: &RegularAxis, slices: u64) -> u64 {
    let Some(last) = slices.checked_sub(1) else { return 0 };
    let offset = match axis.block {
        Some(block) if block < axis.stride && block > 0 => {
            (last / block).saturating_mul(axis.stride).saturating_add(last % block)
        }
        _ => last,
    };
    axis.start.saturating_add(offset).saturating_add(1)
}

/// One more than the last element along each axis that a selection with an end reaches; `None`
/// along an axis without one, and for a selection of all.
pub(super) fn ends(selection: &Selection) -> Vec<Option<u64>> {
    match selection {
        Selection::Regular(axes) => axes
            .iter()
            .map(|axis| {
                let (count, block) = (axis.count?, axis.block?);
                let last = count.checked_sub(1)?.saturating_mul(axis.stride);
                Some(axis.start.saturating_add(last).saturating_add(block))
            })
            .collect(),
        Selection::Points { rank, coordinates } => largest(*rank, coordinates),
        Selection::Blocks { rank, corners } => largest(*rank, corners),
        Selection::None | Selection::All => Vec::new(),
    }
}

fn largest(rank: usize, coordinates: &[u64]) -> Vec<Option<u64>> {
    let along = |axis| coordinates.iter().skip(axis).step_by(rank.max(1)).max();
    (0..rank).map(|axis| along(axis).map(|last| last.saturating_add(1))).collect()
}

/// `selection` with its endless axis replaced by `blocks`.
pub(super) fn with_axis(selection: &Selection, axis: usize, blocks: Blocks) -> Selection {
    let mut replaced = selection.clone();
    if let Selection::Regular(axes) = &mut replaced
        && let Some(axis) = axes.get_mut(axis)
    {
        let Blocks { start, stride, count, block } = blocks;
        *axis = RegularAxis { start, stride, count: Some(count), block: Some(block) };
    }
    replaced
}

/// The first `slices` slices of two axes without end, cut where the blocks of either begin.
pub(super) fn cut(
    virtual_axis: &RegularAxis,
    source: &RegularAxis,
    slices: u64,
) -> Vec<(Blocks, Blocks)> {
    let mut pieces = Vec::new();
    let unit = lcm(period(virtual_axis), period(source));
    let regular = unit.map_or(0, |unit| slices - slices % unit);
    if regular > 0 {
        pieces.push((part(virtual_axis, 0, regular), part(source, 0, regular)));
    }
    let mut at = regular;
    while at < slices && pieces.len() < SEGMENT_LIMIT {
        let left = |axis| match period(axis) {
            1 => u64::MAX,
            block => block - at % block,
        };
        let len = left(virtual_axis).min(left(source)).min(slices - at);
        pieces.push((part(virtual_axis, at, len), part(source, at, len)));
        at += len;
    }
    pieces
}

/// Slices of a block where blocks have gaps between them, else 1.
fn period(axis: &RegularAxis) -> u64 {
    axis.block.filter(|&block| block < axis.stride && block > 0).unwrap_or(1)
}

/// The `len` slices from the slice `from` on: whole blocks, or all in one block.
fn part(axis: &RegularAxis, from: u64, len: u64) -> Blocks {
    let has_gaps = axis.block.is_some_and(|block| block < axis.stride);
    if !has_gaps {
        return Blocks {
            start: axis.start.saturating_add(from),
            stride: len,
            count: 1,
            block: len,
        };
    }
    let block = period(axis);
    let start = (from / block).saturating_mul(axis.stride).saturating_add(from % block);
    let start = axis.start.saturating_add(start);
    match len.is_multiple_of(block) {
        true => Blocks { start, stride: axis.stride, count: len / block, block },
        false => Blocks { start, stride: len, count: 1, block: len },
    }
}

fn lcm(a: u64, b: u64) -> Option<u64> {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    (a / x).checked_mul(b)
}

/// Pairs the elements of two selections with an end.
pub(super) fn pair(
    target: &Selection,
    target_shape: &[u64],
    source: &Selection,
    source_shape: &[u64],
) -> Result<Vec<Pair>, Misfit> {
    if let (Some(target), Some(source)) =
        (regular(target, target_shape)?, regular(source, source_shape)?)
    {
        return match (element_count(&target), element_count(&source)) {
            (Some(0), Some(0)) => Ok(Vec::new()),
            (Some(a), Some(b)) if a == b => Ok(vec![(target, source)]),
            _ => Err(Misfit::Count),
        };
    }
    let target = segments(target, target_shape)?;
    let source = segments(source, source_shape)?;
    pair_segments(&target, &source)
}

/// A selection that is regular, by its blocks; `None` for one that is not.
fn regular(selection: &Selection, shape: &[u64]) -> Result<Option<Vec<Blocks>>, Misfit> {
    let blocks: Vec<Blocks> = match selection {
        Selection::All => shape
            .iter()
            .map(|&len| Blocks { start: 0, stride: len, count: 1, block: len })
            .collect(),
        Selection::None => {
            shape.iter().map(|_| Blocks { start: 0, stride: 1, count: 0, block: 1 }).collect()
        }
        Selection::Regular(axes) => axes
            .iter()
            .map(|axis| Blocks {
                start: axis.start,
                stride: axis.stride,
                count: axis.count.unwrap_or(0),
                block: axis.block.unwrap_or(0),
            })
            .collect(),
        Selection::Points { .. } | Selection::Blocks { .. } => return Ok(None),
    };
    if blocks.len() != shape.len() {
        return Err(Misfit::Rank);
    }
    let is_inside = blocks.iter().zip(shape).all(|(axis, &len)| {
        let last = axis.count.saturating_sub(1).checked_mul(axis.stride);
        let end = last
            .and_then(|last| last.checked_add(axis.start))
            .and_then(|last| last.checked_add(axis.block));
        axis.count == 0 || axis.block == 0 || end.is_some_and(|end| end <= len)
    });
    if is_inside { Ok(Some(blocks)) } else { Err(Misfit::Outside) }
}

fn element_count(blocks: &[Blocks]) -> Option<u64> {
    blocks.iter().try_fold(1_u64, |n, axis| n.checked_mul(axis.count.checked_mul(axis.block)?))
}

/// A part of a row: where it begins, and how many elements it has.
type Segment = (Vec<u64>, u64);

/// A selection's row segments in the order of its elements.
fn segments(selection: &Selection, shape: &[u64]) -> Result<Vec<Segment>, Misfit> {
    let mut found = Vec::new();
    match selection {
        Selection::Points { rank, coordinates } => {
            check_rank(*rank, shape)?;
            for point in coordinates.chunks_exact(*rank) {
                push(&mut found, (point.to_vec(), 1), shape)?;
            }
        }
        Selection::Blocks { rank, corners } => {
            check_rank(*rank, shape)?;
            for corners in corners.chunks_exact(2 * rank) {
                let (first, last) = corners.split_at(*rank);
                let ranges: Vec<Vec<(u64, u64)>> = first
                    .iter()
                    .zip(last)
                    .map(|(&first, &last)| vec![(first, last.saturating_sub(first) + 1)])
                    .collect();
                rows(&ranges, &mut found, shape)?;
            }
            found.sort_unstable();
        }
        _ => {
            let blocks = regular(selection, shape)?.ok_or(Misfit::Rank)?;
            let mut ranges = Vec::new();
            for axis in &blocks {
                if axis.count as usize > SEGMENT_LIMIT {
                    return Err(Misfit::TooMany);
                }
                let starts = (0..axis.count).map(|index| axis.start + index * axis.stride);
                ranges.push(starts.map(|start| (start, axis.block)).collect());
            }
            rows(&ranges, &mut found, shape)?;
        }
    }
    Ok(found)
}

fn check_rank(rank: usize, shape: &[u64]) -> Result<(), Misfit> {
    if rank == shape.len() && rank > 0 { Ok(()) } else { Err(Misfit::Rank) }
}

/// Adds the row segments of the product of `ranges`, each `(start, length)`, in row-major order.
fn rows(ranges: &[Vec<(u64, u64)>], found: &mut Vec<Segment>, shape: &[u64]) -> Result<(), Misfit> {
    let Some((inner, outer)) = ranges.split_last() else { return Ok(()) };
    let lens: Vec<u64> =
        outer.iter().map(|axis| axis.iter().map(|range| range.1).sum::<u64>()).collect();
    let count = lens.iter().try_fold(1_u64, |n, &len| n.checked_mul(len));
    if count.is_none_or(|count| count > SEGMENT_LIMIT as u64) {
        return Err(Misfit::TooMany);
    }
    for number in 0..count.unwrap_or(0) {
        let mut rest = number;
        let mut start = vec![0; ranges.len()];
        for (axis, ranges) in outer.iter().enumerate().rev() {
            start[axis] = nth(ranges, rest % lens[axis]);
            rest /= lens[axis];
        }
        for &(at, len) in inner {
            start[outer.len()] = at;
            push(found, (start.clone(), len), shape)?;
        }
    }
    Ok(())
}

/// The element `index` of ranges one behind the other.
fn nth(ranges: &[(u64, u64)], mut index: u64) -> u64 {
    for &(start, len) in ranges {
        if index < len {
            return start + index;
        }
        index -= len;
    }
    0
}

fn push(found: &mut Vec<Segment>, segment: Segment, shape: &[u64]) -> Result<(), Misfit> {
    let (start, len) = &segment;
    let is_inside = start.iter().zip(shape).all(|(at, len)| at < len)
        && start.last().zip(shape.last()).is_some_and(|(at, axis)| *len <= axis - at);
    if !is_inside {
        return Err(Misfit::Outside);
    }
    if found.len() >= SEGMENT_LIMIT {
        return Err(Misfit::TooMany);
    }
    found.push(segment);
    Ok(())
}

fn pair_segments(target: &[Segment], source: &[Segment]) -> Result<Vec<Pair>, Misfit> {
    let mut pairs = Vec::new();
    let (mut targets, mut sources) = (target.iter().cloned(), source.iter().cloned());
    let (mut left, mut right) = (targets.next(), sources.next());
    loop {
        match (left.as_mut(), right.as_mut()) {
            (None, None) => return Ok(pairs),
            (Some(a), Some(b)) => {
                let len = a.1.min(b.1);
                pairs.push((row_blocks(&a.0, len), row_blocks(&b.0, len)));
                for segment in [a, b] {
                    segment.1 -= len;
                    if let Some(at) = segment.0.last_mut() {
                        *at += len;
                    }
                }
            }
            _ => return Err(Misfit::Count),
        }
        if left.as_ref().is_some_and(|segment| segment.1 == 0) {
            left = targets.next();
        }
        if right.as_ref().is_some_and(|segment| segment.1 == 0) {
            right = sources.next();
        }
    }
}

/// The blocks of a part of a row.
fn row_blocks(start: &[u64], len: u64) -> Vec<Blocks> {
    let last = start.len().saturating_sub(1);
    let block = |axis| if axis == last { len } else { 1 };
    start
        .iter()
        .enumerate()
        .map(|(axis, &start)| Blocks { start, stride: block(axis), count: 1, block: block(axis) })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(start: u64, stride: u64, count: Option<u64>, block: Option<u64>) -> RegularAxis {
        RegularAxis { start, stride, count, block }
    }

    /// The elements of a selection of blocks in row-major order.
    fn elements(blocks: &[Blocks]) -> Vec<Vec<u64>> {
        blocks.iter().fold(vec![Vec::new()], |found, axis| {
            let along = (0..axis.count)
                .flat_map(|index| (0..axis.block).map(move |at| (index, at)))
                .map(|(index, at)| axis.start + index * axis.stride + at);
            found
                .iter()
                .flat_map(|start| along.clone().map(move |at| [start.as_slice(), &[at]].concat()))
                .collect()
        })
    }

    #[test]
    fn slices_and_extents_without_end() {
        let gaps = axis(2, 5, None, Some(3));
        let within: Vec<u64> = (0..12).map(|extent| slices_within(&gaps, extent)).collect();
        assert_eq!(within, [0, 0, 0, 1, 2, 3, 3, 3, 4, 5, 6, 6]);
        let extents: Vec<u64> = (0..6).map(|slices| extent_for(&gaps, slices)).collect();
        assert_eq!(extents, [0, 3, 4, 5, 8, 9]);
        let solid = axis(2, 1, Some(1), None);
        assert_eq!((slices_within(&solid, 9), extent_for(&solid, 7)), (7, 9));
    }

    #[test]
    fn axes_without_end_are_cut_where_blocks_begin() {
        let cases = [
            (axis(2, 5, None, Some(3)), axis(0, 1, Some(1), None)),
            (axis(2, 5, None, Some(3)), axis(1, 4, None, Some(2))),
            (axis(0, 1, Some(1), None), axis(7, 1, None, Some(1))),
        ];
        for (target, source) in cases {
            for slices in 0..20 {
                let (mut targets, mut sources) = (Vec::new(), Vec::new());
                for (here, there) in cut(&target, &source, slices) {
                    targets.extend(elements(&[here]).concat());
                    sources.extend(elements(&[there]).concat());
                }
                for (axis, found) in [(&target, targets), (&source, sources)] {
                    let end = extent_for(axis, slices);
                    let is_selected =
                        |&at: &u64| slices_within(axis, at + 1) > slices_within(axis, at);
                    let expected: Vec<u64> = (0..end).filter(is_selected).collect();
                    assert_eq!(found, expected, "{slices} slices of {axis:?}");
                }
            }
        }
    }

    #[test]
    fn irregular_selections_are_paired_in_row_major_order() {
        // Two blocks side by side: their rows take turns.
        let target = Selection::Blocks { rank: 2, corners: vec![0, 0, 1, 1, 0, 3, 1, 4] };
        let pairs = pair(&target, &[2, 5], &Selection::All, &[8]).unwrap();
        let found: Vec<(Vec<u64>, Vec<u64>)> =
            pairs.iter().flat_map(|(a, b)| elements(a).into_iter().zip(elements(b))).collect();
        let expected = [[0, 0], [0, 1], [0, 3], [0, 4], [1, 0], [1, 1], [1, 3], [1, 4]];
        let expected: Vec<_> =
            expected.iter().zip(0..).map(|(at, n)| (at.to_vec(), vec![n])).collect();
        assert_eq!(found, expected);
        // Points keep their own order.
        let points = Selection::Points { rank: 1, coordinates: vec![5, 1] };
        let pairs = pair(&Selection::All, &[2], &points, &[8]).unwrap();
        let sources: Vec<u64> = pairs.iter().map(|(_, source)| source[0].start).collect();
        assert_eq!(sources, [5, 1]);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let rows = |count| Selection::Regular(vec![axis(0, 2, Some(count), Some(1))]);
        assert_eq!(pair(&rows(4), &[6], &Selection::All, &[4]), Err(Misfit::Outside));
        assert_eq!(pair(&rows(3), &[6], &Selection::All, &[4]), Err(Misfit::Count));
        assert_eq!(pair(&rows(3), &[6, 2], &Selection::All, &[3]), Err(Misfit::Rank));
        let wide = Selection::Blocks { rank: 2, corners: vec![0, 0, u64::MAX - 1, 0] };
        assert_eq!(pair(&wide, &[6, 2], &Selection::All, &[3]), Err(Misfit::TooMany));
        assert_eq!(pair(&Selection::None, &[6], &Selection::None, &[3]), Ok(Vec::new()));
    }
}
