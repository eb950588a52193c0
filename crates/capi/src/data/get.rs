//! From the file to the caller's memory.

use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr::null;

use isotach::model::Atomic;
use isotach::model::convert::{Misfit, Rules, convert};
use isotach::read::Array;
use isotach::read::memory::advise_huge_pages;

use super::access::{Access, Direction, Kind, Transfer};
use super::{byte_count, is_plain, map, nowhere, window};
use crate::boundary::answer;
use crate::handle;
use crate::memory::pack;
use crate::model::OpenFile;
use crate::status::{Outcome, Status};
use crate::trace;

/// Reads one value to `to`.
///
/// # Safety
/// `index` is NULL or has an entry for each dimension of the variable; `to` has room for one element.
#[inline(always)]
pub(super) unsafe fn one(
    id: c_int,
    variable: c_int,
    index: *const usize,
    memory: Option<Atomic>,
    to: *mut c_void,
) -> c_int {
    // SAFETY: by this function's contract.
    if let Some(status) = unsafe { window::look_up(id, variable, index, memory, to) } {
        return status;
    }
    // SAFETY: by this function's contract.
    unsafe { one_elsewhere(id, variable, index, memory, to) }
}

/// Reads one value that this thread has not near by.
///
/// # Safety
/// As for `one`.
#[cold]
#[inline(never)]
unsafe fn one_elsewhere(
    id: c_int,
    variable: c_int,
    index: *const usize,
    memory: Option<Atomic>,
    to: *mut c_void,
) -> c_int {
    // SAFETY: by this function's contract.
    answer(move || unsafe { one_out_of(id, variable, index, memory, to) })
}

/// # Safety
/// As for `one`.
unsafe fn one_out_of(
    id: c_int,
    variable: c_int,
    index: *const usize,
    memory: Option<Atomic>,
    to: *mut c_void,
) -> Outcome {
    let access = Access::new(Kind::One, memory, index, null(), null(), null());
    let generation = handle::generation();
    let (file, group) = handle::group(id)?;
    // SAFETY: by this function's contract.
    let transfer = unsafe { access.resolve(&file, &group, variable, Direction::Get) }?;
    let Some(transfer) = transfer else { return Ok(()) };
    if !trace::is_on() && window::fill(generation, (id, variable), &file, &transfer) {
        // SAFETY: by this function's contract.
        match unsafe { window::look_up(id, variable, index, memory, to) } {
            Some(0) => return Ok(()),
            Some(status) => return Err(Status(status)),
            None => {}
        }
    }
    // SAFETY: by this function's contract.
    unsafe { take(&file, &transfer, to) }
}

/// Reads what `access` says to `to`.
///
/// # Safety
/// The lists of `access` are NULL or have an entry for each dimension of the variable; `to` has room for what
/// they select.
pub(super) unsafe fn get(id: c_int, variable: c_int, access: &Access, to: *mut c_void) -> Outcome {
    let (file, group) = handle::group(id)?;
    // SAFETY: by this function's contract.
    let transfer = unsafe { access.resolve(&file, &group, variable, Direction::Get) }?;
    let Some(transfer) = transfer else { return Ok(()) };
    // SAFETY: by this function's contract.
    unsafe { take(&file, &transfer, to) }
}

/// # Safety
/// `to` has room for what is moved.
unsafe fn take(file: &OpenFile, transfer: &Transfer<'_>, to: *mut c_void) -> Outcome {
    let shape = transfer.selection.shape();
    let size = transfer.memory.layout().size;
    let len = byte_count(&shape, size)?;
    trace::access("read", file, &transfer.node.variable, &transfer.selection, len);
    if len == 0 {
        return transfer.end(true);
    }
    if to.is_null() {
        return Err(nowhere(file));
    }
    let to: *mut MaybeUninit<u8> = to.cast();
    let reading = Reading { file, transfer };
    let Some(map) = &transfer.map else {
        // SAFETY: by this function's contract.
        let into = unsafe { std::slice::from_raw_parts_mut(to, len) };
        advise_huge_pages(into);
        let is_in_range = reading.read(into)?;
        return transfer.end(is_in_range);
    };
    let mut elements = Vec::new();
    elements.try_reserve_exact(len).map_err(|_| Status::ENOMEM)?;
    // What a conversion leaves as it is, it finds here.
    map::for_each(&shape, map, |_, place| {
        let element = map::element(to, place, size);
        // SAFETY: by this function's contract, that of the map.
        elements.extend_from_slice(unsafe { std::slice::from_raw_parts(element, size) });
    });
    let is_in_range = reading.read(&mut elements)?;
    map::for_each(&shape, map, |number, place| {
        let element = &elements[number * size..][..size];
        // SAFETY: by this function's contract, that of the map; `elements` are our own.
        unsafe { map::element(to, place, size).copy_from_nonoverlapping(element.as_ptr(), size) };
    });
    transfer.end(is_in_range)
}

struct Reading<'r> {
    file: &'r OpenFile,
    transfer: &'r Transfer<'r>,
}

impl Reading<'_> {
    /// Fills `into` with the selected elements; false where some are out of range.
    fn read(&self, into: &mut [MaybeUninit<u8>]) -> Outcome<bool> {
        let Transfer { node, selection, memory, .. } = self.transfer;
        let stored = node.variable.data_type();
        let array = node.variable.array()?;
        if !is_plain(memory) {
            // SAFETY: room for as many elements as the selection has.
            unsafe { pack(memory, &array.read(selection)?, into.as_mut_ptr().cast()) }?;
            return Ok(true);
        }
        if memory == stored {
            array.read_native_into(selection, into)?;
            return Ok(true);
        }
        let (Some(from), Some(to)) = (stored.atomic(), memory.atomic()) else {
            return Err(Status::EBADTYPE);
        };
        if !self.file.is_hdf5() && matches!(from, Atomic::Float | Atomic::Double) {
            return self.read_keeping(&array, from, to, into);
        }
        let (_, report) = array.read_converted_into(selection, to, self.file.rules(), into)?;
        Ok(report.is_in_range())
    }

    /// Floats of classic files that do not fit leave the caller's memory as it is.
    fn read_keeping(
        &self,
        array: &Array,
        from: Atomic,
        to: Atomic,
        into: &mut [MaybeUninit<u8>],
    ) -> Outcome<bool> {
        let len = into.len() / to.size() * from.size();
        let mut stored = Vec::new();
        stored.try_reserve_exact(len).map_err(|_| Status::ENOMEM)?;
        let stored = &mut stored.spare_capacity_mut()[..len];
        let stored = array.read_native_into(&self.transfer.selection, stored)?;
        // SAFETY: bytes of C memory, which holds something.
        let into = unsafe { std::slice::from_raw_parts_mut(into.as_mut_ptr().cast(), into.len()) };
        let rules = Rules { misfit: Misfit::Keep, ..self.file.rules() };
        let report = convert(stored, from, into, to, rules).map_err(|_| Status::EBADTYPE)?;
        Ok(report.is_in_range())
    }
}
