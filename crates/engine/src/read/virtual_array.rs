//! Virtual data sets: pieces of other arrays, later ones on top of earlier ones.
//!
//! ```text
//! wanted runs -> those in a piece's target blocks -> the same elements of its source -> read there
//! ```
//! A piece's target and selection have the same elements in row-major order. Where they also have
//! the same shape (axes of one element aside), only what is wanted of the source is read. Otherwise
//! the piece's whole selection is read and the wanted elements are picked out of it.

use super::destination::Destination;
use super::reading::{Reading, as_region, target_strides};
use super::scatter::{OutOfBounds, Source, Target, element_count, scatter};
use crate::error::{ErrorKind, Result};
use crate::plan::axis_runs::{AxisRun, runs_of_positions};
use crate::plan::layout::{Blocks, VirtualPiece, VirtualSources};

/// The most memory for a piece whose target and selection have different shapes.
const WHOLE_PIECE_BYTES: u64 = 1 << 30;

/// Reads the elements of `axes`: fill first, then what the pieces have, one after the other.
pub(super) fn read(
    reading: &Reading<'_>,
    sources: &dyn VirtualSources,
    axes: &[Vec<AxisRun>],
    target: &Target<'_, '_>,
) -> Result<()> {
    let pieces = sources.pieces().map_err(|error| error.at(&reading.layout.path))?;
    reading.fill(&as_region(axes), target)?;
    let again = target.destination.again();
    let over = Target { destination: &again, ..*target };
    pieces.iter().try_for_each(|piece| read_piece(reading, piece, axes, &over))
}

fn read_piece(
    reading: &Reading<'_>,
    piece: &VirtualPiece,
    axes: &[Vec<AxisRun>],
    target: &Target<'_, '_>,
) -> Result<()> {
    let source = &piece.source;
    check(reading, piece)?;
    // Per axis: which results want which of the piece's own indices.
    let hits: Vec<Vec<(u64, u64)>> =
        axes.iter().zip(&piece.target).map(|(runs, blocks)| hits(runs, blocks)).collect();
    if hits.iter().any(Vec::is_empty) {
        return Ok(());
    }
    let inner = Reading { layout: source, depth: reading.depth + 1, ..*reading };
    match matching_axes(&piece.target, &piece.selection) {
        Some(matches) => read_matching(&inner, piece, &hits, &matches, target),
        None => read_by_order(&inner, piece, &hits, target),
    }
}

/// What must hold for a piece to be readable at all.
fn check(reading: &Reading<'_>, piece: &VirtualPiece) -> Result<()> {
    let source = &piece.source;
    let count = |blocks: &[Blocks]| {
        blocks.iter().try_fold(1u64, |count, axis| count.checked_mul(axis.len()?))
    };
    let counts = count(&piece.target);
    let fits = counts.is_some()
        && counts == count(&piece.selection)
        && piece.target.len() == reading.layout.shape.len()
        && piece.selection.len() == source.shape.len()
        && source.element_size == reading.layout.element_size;
    if fits {
        return Ok(());
    }
    let stored = format!("{} bytes", source.element_size);
    Err(reading.error(ErrorKind::WrongType { stored, wanted: "an element of a virtual array" }))
}

/// Pairs (index within the piece's axis, result) for the wanted positions that are in `blocks`.
fn hits(runs: &[AxisRun], blocks: &Blocks) -> Vec<(u64, u64)> {
    let mut hits = Vec::new();
    for run in runs {
        for index in 0..run.count {
            if let Some(within) = blocks.index_of(run.position_at(index)) {
                hits.push((within, run.result + index));
            }
        }
    }
    hits
}

/// For each axis of the source, the axis of the target that it goes with; `None` in it for axes of
/// one element. `None` where the shapes differ.
fn matching_axes(target: &[Blocks], selection: &[Blocks]) -> Option<Vec<Option<usize>>> {
    let long = |blocks: &Blocks| blocks.len().is_some_and(|len| len > 1);
    let mut rest = target.iter().enumerate().filter(|(_, blocks)| long(blocks));
    let mut matches = Vec::with_capacity(selection.len());
    for blocks in selection {
        matches.push(if long(blocks) {
            let (axis, other) = rest.next()?;
            if other.len() != blocks.len() {
                return None;
            }
            Some(axis)
        } else {
            None
        });
    }
    rest.next().is_none().then_some(matches)
}

/// Reads just what is wanted of the source: each of its axes is an axis of the target.
fn read_matching(
    inner: &Reading<'_>,
    piece: &VirtualPiece,
    hits: &[Vec<(u64, u64)>],
    matches: &[Option<usize>],
    target: &Target<'_, '_>,
) -> Result<()> {
    let mut axes = Vec::with_capacity(matches.len());
    let mut strides = Vec::with_capacity(matches.len());
    for (blocks, axis) in piece.selection.iter().zip(matches) {
        let pairs: Vec<(u64, u64)> = match axis {
            Some(axis) => {
                let at = |&(within, result): &(u64, u64)| (blocks.position_at(within), result);
                hits[*axis].iter().map(at).collect()
            }
            None => vec![(blocks.start, 0)],
        };
        axes.push(runs_of_positions(pairs));
        strides.push(axis.map_or(0, |axis| target.strides[axis]));
    }
    // Axes of one element of the target: their one index, once for each result that wants it.
    let beside: Vec<usize> =
        (0..hits.len()).filter(|axis| !matches.contains(&Some(*axis))).collect();
    let mut offsets = vec![target.offset];
    for axis in beside {
        let steps = hits[axis].iter().map(|(_, result)| *result as usize * target.strides[axis]);
        let steps: Vec<usize> = steps.collect();
        offsets = offsets.iter().flat_map(|at| steps.iter().map(move |step| at + step)).collect();
    }
    offsets.into_iter().try_for_each(|offset| {
        let target = Target { offset, strides: &strides, ..*target };
        inner.read(axes.clone(), &target)
    })
}

/// Reads all that the piece selects and picks the wanted elements out by their number.
fn read_by_order(
    inner: &Reading<'_>,
    piece: &VirtualPiece,
    hits: &[Vec<(u64, u64)>],
    target: &Target<'_, '_>,
) -> Result<()> {
    let size = inner.layout.element_size;
    let shape_of = |blocks: &[Blocks]| -> Vec<u64> {
        blocks.iter().map(|axis| axis.len().unwrap_or(0)).collect()
    };
    let shape = shape_of(&piece.selection);
    let axes: Vec<Vec<AxisRun>> = piece
        .selection
        .iter()
        .map(|blocks| {
            let len = blocks.len().unwrap_or(0);
            runs_of_positions((0..len).map(|within| (blocks.position_at(within), within)))
        })
        .collect();
    let bytes = element_count(&as_region(&axes)).saturating_mul(size as u64);
    let limit = || {
        inner.error(ErrorKind::Limit {
            what: "bytes of a piece of another shape",
            value: bytes,
            limit: WHOLE_PIECE_BYTES,
        })
    };
    let len = usize::try_from(bytes).ok().filter(|_| bytes <= WHOLE_PIECE_BYTES);
    let len = len.ok_or_else(limit)?;
    let mut memory: Vec<u8> = Vec::new();
    memory.try_reserve_exact(len).map_err(|_| limit())?;
    let destination = Destination::new(&mut memory.spare_capacity_mut()[..len]);
    let strides = target_strides(&shape, size);
    let whole = Target {
        destination: &destination,
        offset: 0,
        strides: &strides,
        element_size: size,
        reverse: target.reverse,
    };
    inner.read(axes, &whole)?;
    let bytes = destination.into_written().ok_or_else(limit)?;
    // The same elements in the shape of the target.
    let strides = inner.row_major_bytes(&shape_of(&piece.target))?;
    let wanted: Vec<Vec<AxisRun>> =
        hits.iter().map(|pairs| runs_of_positions(pairs.iter().copied())).collect();
    let origin = vec![0; strides.len()];
    let source = Source { bytes, start: 0, origin: &origin, strides: &strides };
    let target = Target { reverse: false, ..*target };
    scatter(&source, &as_region(&wanted), &target)
        .map_err(|OutOfBounds| inner.short(bytes.len() as u64))
}

impl Blocks {
    /// How many positions; `None` where that does not fit 64 bits.
    fn len(&self) -> Option<u64> {
        self.count.checked_mul(self.block)
    }

    /// The `index`-th position.
    fn position_at(&self, index: u64) -> u64 {
        let block = self.block.max(1);
        let start = (index / block).saturating_mul(self.stride);
        self.start.saturating_add(start).saturating_add(index % block)
    }

    /// The index of a position; `None` where it is not in a block.
    fn index_of(&self, position: u64) -> Option<u64> {
        let from_start = position.checked_sub(self.start)?;
        let (at, within) = match self.stride {
            _ if self.count < 2 => (0, from_start),
            0 => return None,
            stride => (from_start / stride, from_start % stride),
        };
        (at < self.count && within < self.block).then(|| at * self.block + within)
    }
}
