//! Virtual data sets: pieces of other arrays, later ones on top of earlier ones.
//!
//! ```text
//! wanted runs -> those in a piece's target blocks -> the same elements of its source -> read there
//! ```
//! A piece's target and selection have the same elements in row-major order. Where they also have
//! the same shape (axes of one element aside), only what is wanted of the source is read. Otherwise
//! the piece's whole selection is read and the wanted elements are picked out of it. Elements of
//! another type are read into memory of their own, part by part, and converted on their way.

use isotach_model::convert::ElementConversion;

use super::destination::Destination;
use super::memory;
use super::reading::{Reading, as_region, target_strides};
use super::scatter::{OutOfBounds, Source, Target, element_count, scatter};
use crate::error::{Error, ErrorKind, Result};
use crate::plan::axis_runs::{AxisRun, runs_of_positions};
use crate::plan::layout::{Blocks, VirtualPiece, VirtualSources};

/// The most memory for a piece whose target and selection have different shapes.
const WHOLE_PIECE_BYTES: u64 = 1 << 30;
/// The most stored bytes that are converted at a time, where an element is not larger.
const CONVERTED_BYTES: u64 = 8 << 20;

/// Positions along one axis of a source, each with the result that wants it.
type Pairs = [(u64, u64)];

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
    let depth = reading.depth + 1;
    let inner = Reading { layout: source, ahead: None, depth, ..*reading };
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
        && match &piece.conversion {
            None => source.element_size == reading.layout.element_size,
            Some(conversion) => {
                source.element_size == conversion.source_size()
                    && reading.layout.element_size == conversion.target_size()
            }
        };
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
    let mut axes: Vec<Vec<(u64, u64)>> = Vec::with_capacity(matches.len());
    let mut strides = Vec::with_capacity(matches.len());
    for (blocks, axis) in piece.selection.iter().zip(matches) {
        let pairs: Vec<(u64, u64)> = match axis {
            Some(axis) => {
                let at = |&(within, result): &(u64, u64)| (blocks.position_at(within), result);
                hits[*axis].iter().map(at).collect()
            }
            None => vec![(blocks.start, 0)],
        };
        axes.push(pairs);
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
    let axes: Vec<&Pairs> = axes.iter().map(Vec::as_slice).collect();
    offsets.into_iter().try_for_each(|offset| {
        let target = Target { offset, strides: &strides, ..*target };
        match &piece.conversion {
            None => inner.read(axes.iter().map(|pairs| runs_of(pairs)).collect(), &target),
            Some(conversion) => read_converted(inner, conversion, &axes, &target),
        }
    })
}

fn runs_of(pairs: &Pairs) -> Vec<AxisRun> {
    runs_of_positions(pairs.iter().copied())
}

/// Reads the elements of `axes` as the source has them, and puts what they are converted to into
/// place; in halves where they are too many for one go.
fn read_converted(
    inner: &Reading<'_>,
    conversion: &ElementConversion,
    axes: &[&Pairs],
    target: &Target<'_, '_>,
) -> Result<()> {
    let shape: Vec<u64> = axes.iter().map(|pairs| pairs.len() as u64).collect();
    let size = conversion.source_size().max(conversion.target_size()) as u64;
    let count = shape.iter().fold(1u64, |count, &len| count.saturating_mul(len));
    if count.saturating_mul(size) > CONVERTED_BYTES
        && let Some(axis) = axes.iter().position(|pairs| pairs.len() > 1)
    {
        let (front, back) = axes[axis].split_at(axes[axis].len() / 2);
        return [front, back].into_iter().try_for_each(|half| {
            let mut axes = axes.to_vec();
            axes[axis] = half;
            read_converted(inner, conversion, &axes, target)
        });
    }
    let in_a_row = |pairs: &&Pairs| runs_of_positions(pairs.iter().map(|pair| pair.0).zip(0..));
    let mut stored = read_dense(inner, axes.iter().map(in_a_row).collect(), &shape, false)?;
    let bytes = convert(inner, conversion, &mut stored)?;
    let wanted: Vec<Vec<AxisRun>> = axes
        .iter()
        .map(|pairs| runs_of_positions((0..).zip(pairs.iter().map(|pair| pair.1))))
        .collect();
    scatter_dense(inner, &bytes, &shape, &wanted, target)
}

/// The elements of `axes`, whose results are all of `shape`, in memory of their own.
fn read_dense(
    inner: &Reading<'_>,
    axes: Vec<Vec<AxisRun>>,
    shape: &[u64],
    reverse: bool,
) -> Result<Vec<u8>> {
    let size = inner.layout.element_size;
    let bytes = element_count(&as_region(&axes)).saturating_mul(size as u64);
    let limit = || over_limit(inner, bytes);
    let len = usize::try_from(bytes).ok().filter(|_| bytes <= WHOLE_PIECE_BYTES);
    let memory = memory::filled_vec::<u8, _>(len.ok_or_else(limit)?, |into| {
        let destination = Destination::new(into);
        let strides = target_strides(shape, size);
        let target = Target::whole(&destination, &strides, size, reverse);
        inner.read(axes, &target)?;
        destination.into_written().ok_or_else(limit)
    });
    memory.ok_or_else(limit)?
}

/// What `stored` elements of the source are in the virtual array.
fn convert(
    inner: &Reading<'_>,
    conversion: &ElementConversion,
    stored: &mut [u8],
) -> Result<Vec<u8>> {
    let count = stored.len() / conversion.source_size().max(1);
    let bytes = (count as u64).saturating_mul(conversion.target_size() as u64);
    let limit = || over_limit(inner, bytes);
    let len = usize::try_from(bytes).ok().filter(|_| bytes <= WHOLE_PIECE_BYTES);
    let len = len.ok_or_else(limit)?;
    let mut converted = Vec::new();
    converted.try_reserve_exact(len).map_err(|_| limit())?;
    converted.resize(len, 0);
    let done = conversion.convert(stored, &mut converted);
    done.map_err(|error| inner.error(ErrorKind::Convert(error)))?;
    Ok(converted)
}

fn over_limit(inner: &Reading<'_>, bytes: u64) -> Error {
    let what = "bytes of a piece of a virtual array";
    inner.error(ErrorKind::Limit { what, value: bytes, limit: WHOLE_PIECE_BYTES })
}

/// Puts the `wanted` elements of a row-major block of `shape` into place.
fn scatter_dense(
    inner: &Reading<'_>,
    bytes: &[u8],
    shape: &[u64],
    wanted: &[Vec<AxisRun>],
    target: &Target<'_, '_>,
) -> Result<()> {
    // The block's bytes are counted in memory.
    let strides = target_strides(shape, target.element_size);
    let strides: Vec<u64> = strides.into_iter().map(|stride| stride as u64).collect();
    let origin = vec![0; strides.len()];
    let source = Source { bytes, start: 0, origin: &origin, strides: &strides };
    scatter(&source, &as_region(wanted), target)
        .map_err(|OutOfBounds| inner.short(bytes.len() as u64))
}

/// Reads all that the piece selects and picks the wanted elements out by their number.
fn read_by_order(
    inner: &Reading<'_>,
    piece: &VirtualPiece,
    hits: &[Vec<(u64, u64)>],
    target: &Target<'_, '_>,
) -> Result<()> {
    let shape_of = |blocks: &[Blocks]| -> Vec<u64> {
        blocks.iter().map(|axis| axis.len().unwrap_or(0)).collect()
    };
    let axes: Vec<Vec<AxisRun>> = piece
        .selection
        .iter()
        .map(|blocks| {
            let len = blocks.len().unwrap_or(0);
            runs_of_positions((0..len).map(|within| (blocks.position_at(within), within)))
        })
        .collect();
    // What is converted is reversed after that, not before.
    let reverse = target.reverse && piece.conversion.is_none();
    let mut bytes = read_dense(inner, axes, &shape_of(&piece.selection), reverse)?;
    if let Some(conversion) = &piece.conversion {
        bytes = convert(inner, conversion, &mut bytes)?;
    }
    // The same elements in the shape of the target.
    let wanted: Vec<Vec<AxisRun>> = hits.iter().map(|pairs| runs_of(pairs)).collect();
    let target = Target { reverse: target.reverse && !reverse, ..*target };
    scatter_dense(inner, &bytes, &shape_of(&piece.target), &wanted, &target)
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
