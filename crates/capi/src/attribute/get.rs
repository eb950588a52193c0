//! Reading attributes.

use std::ffi::{c_char, c_int};
use std::slice;

use isotach::Attribute;
use isotach::model::convert::{Misfit, Rules, convert};
use isotach::model::names::MAX_NAME_BYTES;
use isotach::model::{Atomic, DataType, Values};

use super::{Holder, glance};
use crate::boundary::text;
use crate::memory;
use crate::status::{Outcome, Status};

/// The name by which an attribute is looked for.
///
/// # Errors
/// `NC_EBADNAME` for NULL, `NC_EMAXNAME` in netCDF-4 files.
///
/// # Safety
/// `name` is NULL or ends with a zero.
pub(super) unsafe fn name_of<'a>(holder: &Holder, name: *const c_char) -> Outcome<&'a str> {
    if name.is_null() {
        return Err(Status::EBADNAME);
    }
    // SAFETY: by this function's contract.
    let name = unsafe { text(name) };
    match name {
        Ok(name) if holder.file.is_hdf5() && name.len() > MAX_NAME_BYTES => Err(Status::EMAXNAME),
        // In classic files no name is wrong; there is just no such attribute.
        Err(_) if !holder.file.is_hdf5() => Err(Status::ENOTATT),
        name => name,
    }
}

/// Reads an attribute to memory of its own type, or of an atomic type.
///
/// # Errors
/// `NC_ENOTVAR`, `NC_EBADNAME`, `NC_ENOTATT`; `NC_ECHAR` between text and others, `NC_EBADTYPE` between
/// other types that do not convert; `NC_ERANGE`, and then everything is there.
///
/// # Safety
/// `name` is NULL or ends with a zero; `to` is NULL or valid for all elements.
pub(super) unsafe fn get(
    group: c_int,
    variable: c_int,
    name: *const c_char,
    memory: Option<Atomic>,
    to: *mut u8,
) -> Outcome {
    let copy = |known: &Attribute| {
        let own = known.data_type().atomic().filter(|&own| memory.is_none_or(|to| to == own));
        let bytes = known.native_bytes().filter(|_| own.is_some() && !to.is_null())?;
        // SAFETY: by this function's contract; the two do not overlap, as `bytes` are ours.
        unsafe { to.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        Some(())
    };
    // SAFETY: by this function's contract.
    if unsafe { glance::at_one(group, variable, name, copy) }.is_some() {
        return Ok(());
    }
    let holder = Holder::find(group, variable)?;
    // SAFETY: by this function's contract.
    let name = unsafe { name_of(&holder, name) }?;
    let attribute = holder.attribute(name)?.ok_or(Status::ENOTATT)?;
    let own = attribute.data_type();
    if attribute.is_empty() || (to.is_null() && holder.file.is_hdf5()) {
        return Ok(());
    }
    let Some(memory) = memory.filter(|&memory| own.atomic() != Some(memory)) else {
        if copy(&attribute).is_some() {
            return Ok(());
        }
        // SAFETY: by this function's contract, or nothing is done for NULL.
        return unsafe { hand_over(own, &attribute.values()?, to) };
    };
    if (memory == Atomic::Char) != (own.atomic() == Some(Atomic::Char)) {
        return Err(Status::ECHAR);
    }
    let from = own.atomic().filter(|&from| from.size() > 0 && memory.size() > 0);
    let from = from.ok_or(Status::EBADTYPE)?;
    let mut rules = holder.file.rules();
    // Floats of classic files that do not fit leave the caller's memory as it is.
    if !holder.file.is_hdf5() && matches!(from, Atomic::Float | Atomic::Double) {
        rules.misfit = Misfit::Keep;
    }
    // SAFETY: by this function's contract.
    unsafe { hand_over_as(memory, from, &attribute.values()?, to, rules) }
}

unsafe fn hand_over(data_type: &DataType, values: &Values, to: *mut u8) -> Outcome {
    if to.is_null() {
        return Ok(());
    }
    // SAFETY: the caller's room for all elements.
    unsafe { memory::pack(data_type, values, to) }
}

unsafe fn hand_over_as(
    memory: Atomic,
    from: Atomic,
    values: &Values,
    to: *mut u8,
    rules: Rules,
) -> Outcome {
    if to.is_null() {
        return Ok(());
    }
    let bytes = values.len().checked_mul(memory.size()).ok_or(Status::ENOMEM)?;
    // SAFETY: the caller's room for all elements.
    let to = unsafe { slice::from_raw_parts_mut(to, bytes) };
    let source = values.native_bytes().ok_or(Status::EINTERNAL)?;
    let report = convert(source, from, to, memory, rules).map_err(|_| Status::EBADTYPE)?;
    if report.is_in_range() { Ok(()) } else { Err(Status::ERANGE) }
}
