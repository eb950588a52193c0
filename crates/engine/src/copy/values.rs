//! The values of one variable, copied; and of one that is damaged, those that can be read.
//!
//! ```text
//! pieces of whole chunks -> read -> written
//!                        -> cannot be read -> halves, down to one chunk -> filled, and told
//! ```

use isotach_model::fill::default_fill_of;
use isotach_model::selection::{Axis, Selection};
use isotach_model::{Atomic, Values};

use super::definitions::Copied;
use super::slabs::{Slabs, chunk_shape};
use crate::error::Error;
use crate::read::Array;

/// Places that one gap tells; of more there is only the count.
const TOLD_PLACES: usize = 20;
/// Of an array without chunks, what is read as one at least: damage is rarely smaller.
const LEAST_PIECE_BYTES: u64 = 4 << 10;

/// What of a variable could not be read. Its copy has the fill value there.
#[derive(Debug, Clone)]
pub struct Gap {
    /// The variable's path.
    pub path: String,
    /// How many of its elements are missing, and how many it has.
    pub elements: (u64, u64),
    /// The same of chunks, where it has chunks.
    pub chunks: Option<(u64, u64)>,
    /// Where, in the order of the variable; at most 20 places.
    pub places: Vec<Selection>,
    /// Why the first of them cannot be read.
    pub reason: Error,
}

/// On which side copying values failed.
pub(super) enum Failure {
    Reading(Error),
    Writing(Error),
}

type Outcome<T = ()> = std::result::Result<T, Failure>;

/// A variable whose values are being copied.
struct Copying<'c> {
    copied: &'c Copied,
    array: &'c Array,
    /// Numbers that are alike on both sides need not become values between.
    is_alike: bool,
    /// Positions along each axis of the pieces that are not cut any further.
    unit: Vec<u64>,
    leave_out: bool,
    gap: Option<Gap>,
    elements: Vec<u8>,
}

/// Copies the values; what could not be read, where that is to be left out.
pub(super) fn copy(
    copied: &Copied,
    leave_out: bool,
    progress: &mut dyn FnMut(u64),
) -> Outcome<Option<Gap>> {
    let Copied { from, to } = copied;
    let array = from.array().map_err(Failure::Reading)?;
    let new = to.variable().and_then(|variable| variable.array()).map_err(Failure::Writing)?;
    let number = array.stored.number().filter(|_| from.data_type().atomic().is_some());
    let shown = from.shape().map_err(Failure::Reading)?;
    let mut copying = Copying {
        copied,
        array: &array,
        is_alike: number.is_some() && array.stored.native() == new.stored.native(),
        unit: unit(&array),
        leave_out,
        gap: None,
        elements: Vec::new(),
    };
    for selection in Slabs::new(&array, &new, &shown) {
        let count = selection.element_count().unwrap_or(0);
        copying.piece(&selection)?;
        progress(count.saturating_mul(array.layout.element_size as u64));
    }
    let total = shown.iter().fold(1, |count: u64, &len| count.saturating_mul(len));
    match copying.gap {
        // Nothing of it is there.
        Some(gap) if gap.elements.0 >= total => Err(Failure::Reading(gap.reason)),
        Some(gap) => Ok(Some(Gap { elements: (gap.elements.0, total), ..gap })),
        None => Ok(None),
    }
}

impl Copying<'_> {
    /// Copies a piece, or as much of it as can be read.
    fn piece(&mut self, selection: &Selection) -> Outcome {
        match self.whole(selection) {
            Err(Failure::Reading(reason)) if self.leave_out && !reason.fault().is_failure() => {
                match self.halves(selection) {
                    Some(halves) => halves.iter().try_for_each(|half| self.piece(half)),
                    None => self.missing(selection, reason),
                }
            }
            done => done,
        }
    }

    fn whole(&mut self, selection: &Selection) -> Outcome {
        let Copied { from, to } = self.copied;
        if !self.is_alike {
            let values = self.array.read(selection).map_err(Failure::Reading)?;
            return to.write(selection, &values).map(drop).map_err(Failure::Writing);
        }
        let count = selection.element_count().unwrap_or(0) as usize;
        let bytes = count.saturating_mul(self.array.stored.native_size());
        self.elements.clear();
        self.elements.reserve(bytes);
        let spare = &mut self.elements.spare_capacity_mut()[..bytes];
        let read = from.read_native_into(selection, spare).map_err(Failure::Reading)?;
        to.write_native(selection, read).map_err(Failure::Writing)
    }

    /// A piece in two, between two units; `None` where it is one unit or has no elements.
    fn halves(&self, selection: &Selection) -> Option<[Selection; 2]> {
        for (number, (axis, &unit)) in selection.axes.iter().zip(&self.unit).enumerate() {
            let &Axis::Range { start, count, .. } = axis else { return None };
            // Chunks begin at multiples of their length.
            let end = start.checked_add(count)?;
            let units = end.div_ceil(unit) - start / unit;
            let middle = (start / unit + units / 2) * unit;
            if units > 1 && middle > start && middle < end {
                let with = |start: u64, end: u64| {
                    let mut axes = selection.axes.clone();
                    axes[number] = Axis::range(start, end - start, 1);
                    Selection { axes }
                };
                return Some([with(start, middle), with(middle, end)]);
            }
        }
        self.single_elements(selection)
    }

    /// Of a piece without chunks that begins with what can be read, the rest is looked for more closely.
    fn single_elements(&self, selection: &Selection) -> Option<[Selection; 2]> {
        if chunk_shape(self.array).is_some() {
            return None;
        }
        let wide = selection.axes.iter().position(|axis| axis.len() > 1)?;
        let &Axis::Range { start, count, .. } = &selection.axes[wide] else { return None };
        let with = |start: u64, count: u64| {
            let mut axes = selection.axes.clone();
            axes[wide] = Axis::range(start, count, 1);
            Selection { axes }
        };
        let first = selection.axes.iter().map(|axis| match *axis {
            Axis::Range { start, .. } => Axis::range(start, 1, 1),
            Axis::Indices(_) => axis.clone(),
        });
        self.array.read(&Selection { axes: first.collect() }).ok()?;
        Some([with(start, count / 2), with(start + count / 2, count - count / 2)])
    }

    /// Fills what cannot be read, and notes it.
    fn missing(&mut self, selection: &Selection, reason: Error) -> Outcome {
        let count = selection.element_count().unwrap_or(0);
        if let Some(fill) = self.fill()? {
            let values = fill.repeat(count as usize);
            self.copied.to.write(selection, &values).map_err(Failure::Writing)?;
        }
        let has_chunks = chunk_shape(self.array).is_some();
        let gap = self.gap.get_or_insert_with(|| Gap {
            path: self.copied.from.path(),
            elements: (0, 0),
            chunks: has_chunks.then(|| (0, chunk_count(self.array))),
            places: Vec::new(),
            reason,
        });
        gap.elements.0 = gap.elements.0.saturating_add(count);
        if let Some((missing, _)) = &mut gap.chunks {
            *missing += 1;
        }
        note(&mut gap.places, selection);
        Ok(())
    }

    /// The element that stands for what is not there; `None` where the type has none.
    fn fill(&self) -> Outcome<Option<Values>> {
        let from = &self.copied.from;
        let stated = from.fill_value().map_err(Failure::Reading)?.value;
        let is_usable = stated.len() == 1 && stated.atomic().is_none_or(|of| of != Atomic::String);
        Ok(if is_usable { Some(stated) } else { default_fill_of(from.data_type()) })
    }
}

/// Adds a place, which may go on where the last one ended.
fn note(places: &mut Vec<Selection>, place: &Selection) {
    if let Some(joined) = places.last().and_then(|last| joined(last, place)) {
        places.pop();
        places.push(joined);
    } else if places.len() < TOLD_PLACES {
        places.push(place.clone());
    }
}

/// Two places as one, where the second goes on along one axis where the first ends.
fn joined(one: &Selection, other: &Selection) -> Option<Selection> {
    let mut axes = one.axes.clone();
    let mut differing = one.axes.iter().zip(&other.axes).enumerate().filter(|(_, (a, b))| a != b);
    let (number, (one, other)) = differing.next()?;
    let (&Axis::Range { start, count, .. }, &Axis::Range { start: next, count: more, .. }) =
        (one, other)
    else {
        return None;
    };
    if differing.next().is_some() || start + count != next {
        return None;
    }
    axes[number] = Axis::range(start, count + more, 1);
    Some(Selection { axes })
}

/// The smallest pieces that are looked at: chunks, or the last axes as far as they have few bytes.
fn unit(array: &Array) -> Vec<u64> {
    if let Some(chunk_shape) = chunk_shape(array) {
        return chunk_shape.iter().map(|&len| len.max(1)).collect();
    }
    let mut unit = vec![1; array.layout.shape.len()];
    let mut bytes = (array.layout.element_size as u64).max(1);
    for (unit, &len) in unit.iter_mut().zip(&array.layout.shape).rev() {
        *unit = (LEAST_PIECE_BYTES / bytes).clamp(1, len.max(1));
        bytes = bytes.saturating_mul(*unit);
    }
    unit
}

fn chunk_count(array: &Array) -> u64 {
    let chunks = chunk_shape(array).unwrap_or_default().iter().zip(&array.layout.shape);
    chunks.fold(1, |count: u64, (&chunk, &len)| count.saturating_mul(len.div_ceil(chunk.max(1))))
}
