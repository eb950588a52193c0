//! Single values of files that are only read: each thread keeps those around the last one.
//!
//! Programs that take one value after the other seldom go far. What they find here costs neither a lock nor
//! memory; what they do not find is read with its neighbours. A window holds no file: when one is closed or
//! looked at anew, all windows are out of date.

use std::cell::RefCell;
use std::ffi::{c_int, c_void};

use isotach::StorageKind;
use isotach::model::Atomic;
use isotach::model::convert::{Misfit, Rules, convert};
use isotach::model::selection::{Axis, Selection};

use super::access::{Access, Transfer};
use crate::file::mode::NC_SHARE;
use crate::handle;
use crate::model::OpenFile;
use crate::status::{Outcome, Status};

/// What a window may hold: reading as much takes hardly longer than reading one value.
const WINDOW_BYTES: u64 = 4096;

thread_local! {
    static WINDOW: RefCell<Option<Window>> = const { RefCell::new(None) };
}

struct Window {
    /// When it was filled.
    generation: u64,
    id: c_int,
    variable: c_int,
    stored: Atomic,
    rules: Rules,
    /// The first position along each axis, and how many there are.
    axes: Vec<(usize, usize)>,
    /// In this machine's byte order.
    elements: Vec<u8>,
}

/// The value that `access` asks for, where this thread has it.
///
/// # Safety
/// As for `get`.
#[inline]
pub(super) unsafe fn look_up(
    id: c_int,
    variable: c_int,
    access: &Access,
    to: *mut c_void,
) -> Option<Outcome> {
    let (index, memory) = access.one()?;
    WINDOW.with_borrow(|window| {
        let window = window.as_ref()?;
        if (window.id, window.variable) != (id, variable)
            || window.generation != handle::generation()
        {
            return None;
        }
        // SAFETY: by this function's contract there is an entry for each axis.
        let element = unsafe { window.element(index) }?;
        // SAFETY: by this function's contract there is room for one element.
        unsafe { window.give(element, memory.unwrap_or(window.stored), to.cast()) }
    })
}

/// Reads the value that `transfer` asks for with those around it; false where it has none that may be kept.
pub(super) fn fill(
    generation: u64,
    (id, variable): (c_int, c_int),
    file: &OpenFile,
    transfer: &Transfer<'_>,
) -> bool {
    let is_still = file.writer.is_none() && file.edited.is_none() && !file.mode.has(NC_SHARE);
    let stored = transfer.node.variable.data_type().atomic();
    let stored = stored.filter(|&stored| is_still && stored != Atomic::String);
    let Some(stored) = stored else { return false };
    let filled = read(stored, transfer).map(|(axes, elements)| {
        let rules = match stored {
            Atomic::Float | Atomic::Double if !file.is_hdf5() => {
                Rules { misfit: Misfit::Keep, ..file.rules() }
            }
            _ => file.rules(),
        };
        Window { generation, id, variable, stored, rules, axes, elements }
    });
    let is_filled = filled.is_some();
    WINDOW.set(filled);
    is_filled
}

type Filled = (Vec<(usize, usize)>, Vec<u8>);

fn read(stored: Atomic, transfer: &Transfer<'_>) -> Option<Filled> {
    let variable = &transfer.node.variable;
    let storage = variable.storage().ok()?;
    let array = variable.array().ok()?;
    // Elements of several chunks are not near to one another.
    let chunk = match (storage.kind, &storage.chunk_shape) {
        (StorageKind::Chunked, Some(chunk_shape)) => chunk_shape,
        _ => &array.shape,
    };
    let mut room = WINDOW_BYTES / stored.size() as u64;
    let mut axes = Vec::with_capacity(array.shape.len());
    for ((axis, &len), &chunk) in transfer.selection.axes.iter().zip(&array.shape).zip(chunk).rev()
    {
        let position = axis.get(0)?;
        let block = chunk.min(room).max(1);
        // Blocks do not reach over the edges of chunks.
        let origin = position - position % chunk.max(1);
        let first = origin + (position - origin) / block * block;
        let end = (first + block).min(origin + chunk).min(len);
        axes.push((first, end.checked_sub(first).filter(|&count| count > 0)?));
        room /= end - first;
    }
    axes.reverse();
    let ranges = axes.iter().map(|&(first, count)| Axis::range(first, count, 1));
    let selection = Selection { axes: ranges.collect() };
    let len = usize::try_from(selection.element_count()?).ok()? * stored.size();
    let mut elements: Vec<u8> = Vec::with_capacity(len);
    let written = array.read_native_into(&selection, &mut elements.spare_capacity_mut()[..len]);
    let len = written.ok()?.len();
    // SAFETY: all of them were written.
    unsafe { elements.set_len(len) };
    let place = |number: u64| usize::try_from(number).ok();
    let axes = axes.into_iter().map(|(first, count)| Some((place(first)?, place(count)?)));
    Some((axes.collect::<Option<_>>()?, elements))
}

impl Window {
    /// The element of that index; `None` where it is not here.
    ///
    /// # Safety
    /// `index` has an entry for each axis.
    #[inline]
    unsafe fn element(&self, index: *const usize) -> Option<&[u8]> {
        let mut number = 0;
        for (axis, &(first, count)) in self.axes.iter().enumerate() {
            // SAFETY: by this function's contract.
            let within = unsafe { *index.add(axis) }.wrapping_sub(first);
            if within >= count {
                return None;
            }
            number = number * count + within;
        }
        let size = self.stored.size();
        self.elements.get(number * size..(number + 1) * size)
    }

    /// Hands an element over as that type; `None` where that is an error.
    ///
    /// # Safety
    /// `to` has room for one element of it.
    #[inline]
    unsafe fn give(&self, element: &[u8], memory: Atomic, to: *mut u8) -> Option<Outcome> {
        if to.is_null() {
            return None;
        }
        if memory == self.stored {
            // SAFETY: by this function's contract; `element` is our own.
            unsafe { to.copy_from_nonoverlapping(element.as_ptr(), element.len()) };
            return Some(Ok(()));
        }
        // SAFETY: by this function's contract; C memory, which holds something.
        let to = unsafe { std::slice::from_raw_parts_mut(to, memory.size()) };
        let report = convert(element, self.stored, to, memory, self.rules).ok()?;
        Some(if report.is_in_range() { Ok(()) } else { Err(Status::ERANGE) })
    }
}
