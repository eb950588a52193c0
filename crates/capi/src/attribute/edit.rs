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
        let (holder, name, new) = match file.is_hdf5() {
            true => {
                let (name, new) = (name?, new_hdf5_name(&file, new)?);
                (Holder::of(Arc::clone(&file), group, variable)?, name, new)
            }
            false => {
                let holder = Holder::of(Arc::clone(&file), group, variable)?;
                let new = checked(new?)?;
                // There is no attribute of a name that cannot be.
                let missing =
                    |status| if status == Status::EBADNAME { Status::ENOTATT } else { status };
                (holder, name.map_err(missing)?, new)
            }
        };
        let phase = file.phase_mut();
        let found = holder.attribute(name)?;
        // Which of two faults is told depends on the format.
        let is_taken = holder.attribute(&new)?.is_some();
        if is_taken && (file.is_hdf5() || found.is_some()) {
            return Err(Status::ENAMEINUSE);
        }
        let found = found.filter(|_| !holder.is_special(name)).ok_or(Status::ENOTATT)?;
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
        if file.is_hdf5() {
            name?;
            file.writer()?;
        }
        file.check_define_mode()?;
        let _phase = file.defining()?;
        let holder = Holder::of(file.clone(), group, variable)?;
        // Only in classic files the name is looked for in composed form.
        let name = match file.is_hdf5() {
            true => name?.into(),
            false => normalized(name?),
        };
        holder.delete(&name)
    })
}
