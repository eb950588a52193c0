//! Asking for attributes.

use std::ffi::{c_char, c_int};
use std::ptr::null_mut;

use isotach::Attribute;

use super::get::name_of;
use super::{Holder, glance};
use crate::boundary::{answer_at_once, counted, put, put_text};
use crate::model::AttributeList;
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
        let look = |known: &Attribute| Some((known.data_type().atomic()? as c_int, known.len()));
        // SAFETY: the caller's string.
        let found = match unsafe { glance::at_one(group, variable, name, look) } {
            Some(found) => found,
            None => {
                let holder = Holder::find(group, variable)?;
                // SAFETY: the caller's string.
                let name = unsafe { name_of(&holder, name) }?;
                let attribute = holder.attribute(name)?.ok_or(Status::ENOTATT)?;
                (holder.file.type_id(attribute.data_type())?, attribute.len())
            }
        };
        // SAFETY: the caller's place for a type.
        unsafe { put(type_id, found.0) };
        let count = usize::try_from(found.1).map_err(|_| Status::ENOMEM)?;
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
    let tell = |attributes: &AttributeList| {
        let found = attributes.at(usize::try_from(number).ok()?)?;
        // SAFETY: the caller's room for a name.
        unsafe { put_text(name, found.name()) };
        Some(())
    };
    answer_at_once(|| match glance::at_all(group, variable, tell) {
        Some(()) => Ok(()),
        None => tell(&*Holder::find(group, variable)?.attributes()?).ok_or(Status::ENOTATT),
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
