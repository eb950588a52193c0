//! Renaming and deleting attributes.

use std::borrow::Cow;
use std::ffi::{c_char, c_int};
use std::sync::Arc;

use isotach::model::names::{MAX_NAME_BYTES, normalized};

use super::Holder;
use crate::boundary::{answer, checked, text};
use crate::handle;
use crate::model::OpenFile;
use crate::status::{Outcome, Status};

/// Renames an attribute; its number stays.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_rename_att(
    group: c_int,
    variable: c_int,
    name: *const c_char,
    new: *const c_char,
) -> c_int {
    answer(|| {
        let (file, group) = handle::group(group)?;
        if !file.is_hdf5() {
            file.writer()?;
        }
        // SAFETY: the caller's strings.
        let (name, new) = unsafe { (text(name), text(new)) };
        if name == Err(Status::EINVAL) {
            return Err(Status::EINVAL);
        }
        let (holder, new) = match file.is_hdf5() {
            true => {
                let new = new_hdf5_name(&file, new)?;
                (Holder::of(Arc::clone(&file), group, variable)?, new)
            }
            false => (Holder::of(Arc::clone(&file), group, variable)?, checked(new?)?),
        };
        let phase = file.phase_mut();
        // Which of two faults is told depends on the format.
        let is_taken = holder.attribute(&new)?.is_some();
        if is_taken && file.is_hdf5() {
            return Err(Status::ENAMEINUSE);
        }
        let name = file.sought_name(name, Status::ENOTATT)?;
        let found = holder.attribute(&name)?.filter(|_| !holder.is_special(&name));
        let found = found.ok_or(Status::ENOTATT)?;
        if is_taken {
            return Err(Status::ENAMEINUSE);
        }
        file.check_name_room(*phase, &new, found.name())?;
        holder.rename(found.name(), &new)
    })
}

/// The new name of an attribute of a netCDF-4 file.
fn new_hdf5_name<'a>(file: &OpenFile, new: Outcome<&'a str>) -> Outcome<Cow<'a, str>> {
    match new {
        Err(Status::EINVAL) => return Err(Status::EINVAL),
        Ok(new) if new.len() > MAX_NAME_BYTES => return Err(Status::EMAXNAME),
        _ => file.writer()?,
    };
    checked(new?)
}

/// Deletes an attribute; those behind it move up.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_del_att(group: c_int, variable: c_int, name: *const c_char) -> c_int {
    answer(|| {
        let (file, group) = handle::group(group)?;
        // SAFETY: the caller's string.
        let name = unsafe { text(name) };
        let is_missing = name == Err(Status::EINVAL);
        if is_missing && file.is_hdf5() {
            return Err(Status::EINVAL);
        }
        if file.is_hdf5() {
            file.writer()?;
        }
        file.check_define_mode()?;
        if is_missing {
            return Err(Status::EINVAL);
        }
        let _phase = file.defining()?;
        let holder = Holder::of(file.clone(), group, variable)?;
        // Only in classic files the name is looked for in composed form, which it must have.
        let name = match file.is_hdf5() {
            true => name.map_err(|_| Status::ENOTATT)?.into(),
            false => normalized(name?),
        };
        holder.delete(&name)
    })
}
