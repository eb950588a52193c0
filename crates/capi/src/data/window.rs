//! Single values of files that are only read: each thread keeps those around the last one.
//!
//! Programs that take one value after the other seldom go far. What they find here costs neither a lock nor
//! memory; what they do not find is read with its neighbours. A window holds no file: when one is closed or
//! looked at anew, all windows are out of date.

use std::cell::{Cell, RefCell};
use std::ffi::{c_int, c_void};
use std::ptr;

use isotach::StorageKind;
use isotach::model::Atomic;
use isotach::model::convert::{Misfit, Rules, convert};
use isotach::model::selection::{Axis, Selection};

use super::access::Transfer;
use crate::file::mode::NC_SHARE;
use crate::handle;
use crate::model::OpenFile;
use crate::status::Status;

/// What a window may hold: reading as much takes hardly longer than reading one value.
const WINDOW_BYTES: usize = 16 << 10;
/// The same where values are taken one after the other.
const NEXT_WINDOW_BYTES: usize = 64 << 10;
/// Where a window was of use so often, the next value is read with its neighbours as well.
const ENOUGH_USES: u32 = 2;

thread_local! {
    static WINDOW: RefCell<Option<Box<Window>>> = const { RefCell::new(None) };
    /// The same, or null: what has nothing to drop is there without being asked whether it still is.
    static PRESENT: Cell<*const Window> = const { Cell::new(ptr::null()) };
}

struct Window {
    /// When it was filled.
    generation: u64,
    id: c_int,
    variable: c_int,
    stored: Atomic,
    /// Of an element, in bytes; that is found sooner than by its type.
    size: usize,
    rules: Rules,
    /// The first position along each axis, and how many there are.
    axes: Vec<(usize, usize)>,
    /// In this machine's byte order, as many as the axes say.
    elements: Vec<u8>,
    /// How many values were found here; more than two are not told apart.
    uses: Cell<u32>,
}

impl Drop for Window {
    fn drop(&mut self) {
        PRESENT.set(ptr::null());
    }
}

/// Hands over the value at `index`, where this thread has it.
///
/// # Safety
/// As for `one`.
#[inline(always)]
pub(super) unsafe fn look_up(
    id: c_int,
    variable: c_int,
    index: *const usize,
    memory: Option<Atomic>,
    to: *mut c_void,
) -> Option<c_int> {
    // SAFETY: what it points to is this thread's, and takes the pointer along when it goes.
    let window = unsafe { PRESENT.get().as_ref() }?;
    if (window.id, window.variable) != (id, variable)
        || window.generation != handle::generation()
        || (index.is_null() && !window.axes.is_empty())
    {
        return None;
    }
    // SAFETY: by this function's contract there is an entry for each axis.
    let number = unsafe { window.number(index) }?;
    if window.uses.get() < ENOUGH_USES {
        window.uses.set(window.uses.get() + 1);
    }
    // SAFETY: the element is there; by this function's contract there is room for one.
    unsafe { window.give(number, memory.unwrap_or(window.stored), to.cast()) }
}

/// Reads the value that `transfer` asks for, with those around it where that was of use before; false where
/// it has none that may be kept.
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
    let before = WINDOW.try_with(RefCell::take).ok().flatten();
    let before = before.filter(|before| (before.id, before.variable) == (id, variable));
    let found = around(stored, transfer, WINDOW_BYTES).and_then(|(axes, index)| {
        let shape = &transfer.node.variable.array().ok()?.shape;
        match &before {
            Some(before) if before.comes_before(&index, shape) => {
                around(stored, transfer, NEXT_WINDOW_BYTES)
            }
            _ => Some((axes, index)),
        }
    });
    let filled = found.and_then(|(mut axes, index)| {
        if before.is_some_and(|before| before.uses.get() < ENOUGH_USES && !before.begins_in(&axes))
        {
            axes = index.iter().map(|&position| (position, 1)).collect();
        }
        let elements = read(stored, transfer, &axes)?;
        let rules = match stored {
            Atomic::Float | Atomic::Double if !file.is_hdf5() => {
                Rules { misfit: Misfit::Keep, ..file.rules() }
            }
            _ => file.rules(),
        };
        let uses = Cell::new(0);
        let size = stored.size();
        let window = Window { generation, id, variable, stored, size, rules, axes, elements, uses };
        Some(Box::new(window))
    });
    let is_kept = WINDOW.try_with(|window| {
        *window.borrow_mut() = filled;
        let present = window.borrow().as_deref().map(ptr::from_ref);
        PRESENT.set(present.unwrap_or(ptr::null()));
        present.is_some()
    });
    is_kept.unwrap_or(false)
}

type Around = (Vec<(usize, usize)>, Vec<usize>);

/// The window of at most so many bytes that an element lies in, and its index.
fn around(stored: Atomic, transfer: &Transfer<'_>, bytes: usize) -> Option<Around> {
    let variable = &transfer.node.variable;
    let storage = variable.storage().ok()?;
    let array = variable.array().ok()?;
    // Elements of several chunks are not near to one another.
    let chunk = match (storage.kind, &storage.chunk_shape) {
        (StorageKind::Chunked, Some(chunk_shape)) => chunk_shape,
        _ => &array.shape,
    };
    let mut room = bytes / stored.size();
    let (mut axes, mut index) = (Vec::new(), Vec::new());
    for ((axis, &len), &chunk) in transfer.selection.axes.iter().zip(&array.shape).zip(chunk).rev()
    {
        let position = usize::try_from(axis.get(0)?).ok()?;
        let (len, chunk) = (usize::try_from(len).ok()?, usize::try_from(chunk).ok()?.max(1));
        let block = chunk.min(room).max(1);
        let origin = position - position % chunk;
        let first = origin + (position - origin) / block * block;
        let end = first.saturating_add(block).min(origin.saturating_add(chunk)).min(len);
        axes.push((first, end.checked_sub(first).filter(|&count| count > 0)?));
        index.push(position);
        room /= end - first;
    }
    axes.reverse();
    index.reverse();
    Some((axes, index))
}

fn read(stored: Atomic, transfer: &Transfer<'_>, axes: &[(usize, usize)]) -> Option<Vec<u8>> {
    let ranges = axes.iter().map(|&(first, count)| Axis::range(first as u64, count as u64, 1));
    let selection = Selection { axes: ranges.collect() };
    let len = axes.iter().map(|&(_, count)| count).product::<usize>() * stored.size();
    let mut elements: Vec<u8> = Vec::with_capacity(len);
    let memory = &mut elements.spare_capacity_mut()[..len];
    let array = transfer.node.variable.array().ok()?;
    if array.stored.native_size() != stored.size() {
        return None;
    }
    let written = array.read_native_into(&selection, memory).ok()?.len();
    // SAFETY: so many of them were written.
    unsafe { elements.set_len(written) };
    (written == len).then_some(elements)
}

impl Window {
    /// Whether its first element lies in the window of these axes.
    fn begins_in(&self, axes: &[(usize, usize)]) -> bool {
        let firsts = self.axes.iter().map(|&(first, _)| first);
        firsts.zip(axes).all(|(position, &(first, count))| position.wrapping_sub(first) < count)
    }

    /// Whether the element of that index is the one after its last, row-major in an array of that shape.
    fn comes_before(&self, index: &[usize], shape: &[u64]) -> bool {
        let mut is_end = true;
        let axes = self.axes.iter().zip(shape).zip(index).rev();
        let mut is_next = axes.map(|((&(first, count), &len), &position)| {
            let end = first + count;
            let next = match (is_end, end as u64 == len) {
                (true, true) => 0,
                (true, false) => end,
                (false, _) => end - 1,
            };
            is_end &= next == 0;
            position == next
        });
        is_next.all(|is_next| is_next) && !is_end
    }

    /// The number of the element of that index, which is one of those here; `None` where it is not.
    ///
    /// # Safety
    /// `index` has an entry for each axis.
    #[inline(always)]
    unsafe fn number(&self, index: *const usize) -> Option<usize> {
        let within = |axis: usize, &(first, count): &(usize, usize)| {
            // SAFETY: by this function's contract.
            let within = unsafe { *index.add(axis) }.wrapping_sub(first);
            (within < count).then_some(within)
        };
        match &self.axes[..] {
            // The most frequent ones without a loop.
            [x] => within(0, x),
            [y, x] => Some(within(0, y)? * x.1 + within(1, x)?),
            axes => axes
                .iter()
                .enumerate()
                .try_fold(0, |number, (axis, range)| Some(number * range.1 + within(axis, range)?)),
        }
    }

    /// Hands the element of that number over as that type; `None` where that is an error.
    ///
    /// # Safety
    /// There are more elements than `number`; `to` has room for one.
    #[inline(always)]
    unsafe fn give(&self, number: usize, memory: Atomic, to: *mut u8) -> Option<c_int> {
        if to.is_null() {
            return None;
        }
        if memory == self.stored {
            let elements = self.elements.as_ptr();
            // Sizes that the compiler knows are moved without a call.
            // SAFETY: by this function's contract; elements are our own and as large as the caller's.
            unsafe {
                match memory.size() {
                    8 => to.cast::<[u8; 8]>().write(*elements.cast::<[u8; 8]>().add(number)),
                    4 => to.cast::<[u8; 4]>().write(*elements.cast::<[u8; 4]>().add(number)),
                    size => to.copy_from_nonoverlapping(elements.add(number * size), size),
                }
            }
            return Some(0);
        }
        // SAFETY: by this function's contract.
        unsafe { self.give_converted(number, memory, to) }
    }

    /// The same for another type than that of the elements: apart, so that the other road needs no memory of its own.
    ///
    /// # Safety
    /// As for `give`.
    #[inline(never)]
    unsafe fn give_converted(&self, number: usize, memory: Atomic, to: *mut u8) -> Option<c_int> {
        let element = self.element(number)?;
        // SAFETY: by this function's contract; C memory, which holds something.
        let to = unsafe { std::slice::from_raw_parts_mut(to, memory.size()) };
        let report = convert(element, self.stored, to, memory, self.rules).ok()?;
        Some(if report.is_in_range() { 0 } else { Status::ERANGE.0 })
    }

    fn element(&self, number: usize) -> Option<&[u8]> {
        self.elements.get(number * self.size..)?.get(..self.size)
    }
}
