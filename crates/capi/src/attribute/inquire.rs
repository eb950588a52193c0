//! Asking for attributes.

use std::ffi::{c_char, c_int};
use std::ptr::null_mut;

use super::Holder;
use super::get::name_of;
use crate::boundary::{answer_at_once, counted, put, put_text};
use crate::status::Status;
use crate::variable::NC_GLOBAL;

/// Type and length of an attribute; each result may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_att(
    group: c_int,
    variable: c_int,
    name: *const c_char,
    type_id: *mut c_int,
    len: *mut usize,
) -> c_int {
    answer_at_once(|| {
        let holder = Holder::find(group, variable)?;
        // SAFETY: the caller's string.
        let name = unsafe { name_of(&holder, name) }?;
        let attribute = holder.attribute(name)?.ok_or(Status::ENOTATT)?;
        // SAFETY: the caller's place for a type.
        unsafe { put(type_id, holder.file.type_id(attribute.data_type())?) };
        let count = usize::try_from(attribute.len()).map_err(|_| Status::ENOMEM)?;
        // SAFETY: the caller's place for a length.
        unsafe { put(len, count) };
        Ok(())
    })
}

/// The type of an attribute.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_atttype(
    group: c_int,
    variable: c_int,
    name: *const c_char,
    type_id: *mut c_int,
) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { nc_inq_att(group, variable, name, type_id, null_mut()) }
}

/// The length of an attribute.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_attlen(
    group: c_int,
    variable: c_int,
    name: *const c_char,
    len: *mut usize,
) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { nc_inq_att(group, variable, name, null_mut(), len) }
}

/// The number of an attribute.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_attid(
    group: c_int,
    variable: c_int,
    name: *const c_char,
    number: *mut c_int,
) -> c_int {
    answer_at_once(|| {
        let holder = Holder::find(group, variable)?;
        // SAFETY: the caller's string.
        let name = unsafe { name_of(&holder, name) }?;
        if holder.is_special(name) {
            return Err(Status::EATTMETA);
        }
        let found = counted(holder.number(name)?.ok_or(Status::ENOTATT)?)?;
        // SAFETY: the caller's place for a number.
        unsafe { put(number, found) };
        Ok(())
    })
}

/// The name of the attribute of that number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_attname(
    group: c_int,
    variable: c_int,
    number: c_int,
    name: *mut c_char,
) -> c_int {
    answer_at_once(|| {
        let holder = Holder::find(group, variable)?;
        let attributes = holder.attributes()?;
        let number = usize::try_from(number).map_err(|_| Status::ENOTATT)?;
        let found = attributes.at(number).ok_or(Status::ENOTATT)?;
        // SAFETY: the caller's room for a name.
        unsafe { put_text(name, found.name()) };
        Ok(())
    })
}

/// How many attributes a variable, or with `NC_GLOBAL` a group, has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_varnatts(
    group: c_int,
    variable: c_int,
    count: *mut c_int,
) -> c_int {
    answer_at_once(|| {
        let found = Holder::find(group, variable)?.count()?;
        // SAFETY: the caller's place for a count.
        unsafe { put(count, counted(found)?) };
        Ok(())
    })
}

/// How many attributes a group has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_natts(group: c_int, count: *mut c_int) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { nc_inq_varnatts(group, NC_GLOBAL, count) }
}
