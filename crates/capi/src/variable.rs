//! Variables: defining, asking, renaming; how they are stored is in the files beside this one.

pub mod chunk_cache;
mod chunk_shape;
pub mod compressor;
mod definition;
pub mod fill;
pub mod filter;
pub mod quantize;
pub mod storage;

use std::ffi::{c_char, c_int};
use std::ptr::null_mut;
use std::sync::Arc;

use isotach::model::names::MAX_NAME_BYTES;
use isotach::{Dimension, DimensionHandle, Format};

use crate::attribute::Holder;
use crate::boundary::{answer, checked, counted, list, put, put_list, put_text, text};
use crate::handle;
use crate::model::{DimensionNode, VariableNode};
use crate::status::{Outcome, Status};
use crate::stock::bytes;

pub(crate) use definition::{Said, hand_over};

/// The varid that means the group itself.
pub const NC_GLOBAL: c_int = -1;

/// Numbers of netCDF's types that matter to rules.
const NC_NAT: c_int = 0;
const NC_DOUBLE: c_int = 6;
const NC_STRING: c_int = 12;

/// Dimensions that a variable of a netCDF-4 file can have: HDF5's limit.
const MAX_RANK: usize = 32;
/// Dimensions that a variable of a classic file can have.
const MAX_CLASSIC_RANK: usize = 1024;

/// The variable that two ids mean.
///
/// # Errors
/// `NC_EBADID`, `NC_EBADGRPID`, `NC_ENOTVAR`.
pub(crate) fn find(group: c_int, id: c_int) -> Outcome<Arc<VariableNode>> {
    let (_, group) = handle::group(group)?;
    group.variable(id)
}

/// Defines a variable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_def_var(
    group: c_int,
    name: *const c_char,
    type_id: c_int,
    dimension_count: c_int,
    dimensions: *const c_int,
    id: *mut c_int,
) -> c_int {
    answer(|| {
        let (file, group) = handle::group(group)?;
        let count = usize::try_from(dimension_count);
        if file.is_hdf5() && count.is_ok_and(|count| count > MAX_RANK) {
            return Err(Status::EMAXDIMS);
        }
        file.check_define_mode()?;
        let _phase = file.defining()?;
        // SAFETY: the caller's string.
        let name = checked(unsafe { text(name) }?)?;
        check_type(file.format, type_id)?;
        let count = count.map_err(|_| Status::EINVAL)?;
        if count > MAX_CLASSIC_RANK {
            return Err(Status::EMAXDIMS);
        }
        if file.is_taken(&group, &name)? {
            return Err(Status::ENAMEINUSE);
        }
        // SAFETY: the caller's list.
        let along = unsafe { list(dimensions, count) }?;
        let along = along.iter().map(|&id| file.dimension(id));
        let along: Vec<DimensionNode> = along.collect::<Outcome<_>>()?;
        if type_id < NC_NAT {
            return Err(Status::EINVAL);
        }
        let data_type = file.data_type(type_id)?;
        let said = Said::of_new(&file, &along, &data_type)?;
        let handles = along.iter().map(|node| node.handle.ok_or(Status::EPERM));
        let handles: Vec<DimensionHandle> = handles.collect::<Outcome<_>>()?;
        let options = said.options();
        let writer = group.writing()?.define_variable(&name, data_type, &handles, options)?;
        let new = group.add_variable(writer, said)?;
        // SAFETY: the caller's place for an id.
        unsafe { put(id, new.id) };
        file.open_variables().push(new);
        Ok(())
    })
}

/// Types that the format has.
fn check_type(format: Format, id: c_int) -> Outcome {
    match format {
        _ if id == NC_NAT => Err(Status::EBADTYPE),
        // Of negative numbers others look after all else.
        Format::NetCdf4 => Ok(()),
        Format::NetCdf4Classic if id > NC_DOUBLE => Err(Status::ESTRICTNC3),
        Format::NetCdf4Classic => Ok(()),
        Format::Data64Bit if (1..NC_STRING).contains(&id) => Ok(()),
        _ if (1..=NC_DOUBLE).contains(&id) => Ok(()),
        _ => Err(Status::EBADTYPE),
    }
}

/// Renames a variable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_rename_var(group: c_int, id: c_int, name: *const c_char) -> c_int {
    answer(|| {
        let (file, group) = handle::group(group)?;
        // SAFETY: the caller's string.
        let is_long = unsafe { bytes(name) }.is_some_and(|name| name.len() > MAX_NAME_BYTES);
        if file.is_hdf5() && is_long {
            return Err(Status::EMAXNAME);
        }
        // SAFETY: as above.
        let name = file.new_name(unsafe { text(name) })?;
        let phase = file.phase_mut();
        let is_taken = group.variable_id(&name)?.is_some();
        // Which of two faults is told depends on the format.
        let node = match group.variable(id) {
            _ if is_taken && !file.is_hdf5() => return Err(Status::ENAMEINUSE),
            Err(_) if id == NC_GLOBAL && !file.is_hdf5() => return Err(Status::EGLOBAL),
            Ok(_) if is_taken => return Err(Status::ENAMEINUSE),
            found => found?,
        };
        file.check_name_room(*phase, &name, node.variable.name())?;
        node.writer()?.rename(&name)?;
        group.renew_variables()
    })
}

/// The id of the variable of that name in the group.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_varid(group: c_int, name: *const c_char, id: *mut c_int) -> c_int {
    answer(|| {
        let (file, group) = handle::group(group)?;
        // SAFETY: the caller's string.
        let name = file.sought_name(unsafe { text(name) }, Status::ENOTVAR)?;
        let found = group.variable_id(&name)?.ok_or(Status::ENOTVAR)?;
        // SAFETY: the caller's place for an id.
        unsafe { put(id, found) };
        Ok(())
    })
}

/// What a variable is; each result may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_var(
    group_id: c_int,
    id: c_int,
    name: *mut c_char,
    type_id: *mut c_int,
    dimension_count: *mut c_int,
    dimensions: *mut c_int,
    attribute_count: *mut c_int,
) -> c_int {
    answer(|| {
        let (file, group) = handle::group(group_id)?;
        if id == NC_GLOBAL && file.is_hdf5() && !attribute_count.is_null() {
            let found = counted(Holder::find(group_id, id)?.count()?)?;
            // SAFETY: the caller's place for a count.
            unsafe { put(attribute_count, found) };
            return Ok(());
        }
        let node = group.variable(id)?;
        // SAFETY: the caller's room for a name.
        unsafe { put_text(name, node.variable.name()) };
        if !type_id.is_null() {
            let found = file.type_id(node.variable.data_type())?;
            // SAFETY: the caller's place for a type.
            unsafe { put(type_id, found) };
        }
        if !(dimension_count.is_null() && dimensions.is_null()) {
            let along = node.variable.dimensions()?;
            // SAFETY: the caller's place for a count.
            unsafe { put(dimension_count, counted(along.len())?) };
            if !dimensions.is_null() {
                let ids = along.iter().map(Dimension::id).collect::<Result<Vec<c_int>, _>>()?;
                // SAFETY: the caller's places for as many ids as there are.
                unsafe { put_list(dimensions, &ids) };
            }
        }
        if !attribute_count.is_null() {
            let found = counted(Holder::find(group_id, id)?.count()?)?;
            // SAFETY: the caller's place for a count.
            unsafe { put(attribute_count, found) };
        }
        Ok(())
    })
}

/// A variable's name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_varname(group: c_int, id: c_int, result: *mut c_char) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { nc_inq_var(group, id, result, null_mut(), null_mut(), null_mut(), null_mut()) }
}

/// A variable's type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_vartype(group: c_int, id: c_int, result: *mut c_int) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { nc_inq_var(group, id, null_mut(), result, null_mut(), null_mut(), null_mut()) }
}

/// How many dimensions a variable has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_varndims(group: c_int, id: c_int, result: *mut c_int) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { nc_inq_var(group, id, null_mut(), null_mut(), result, null_mut(), null_mut()) }
}

/// The ids of a variable's dimensions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_vardimid(group: c_int, id: c_int, result: *mut c_int) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { nc_inq_var(group, id, null_mut(), null_mut(), null_mut(), result, null_mut()) }
}

/// How many variables a group has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_nvars(group: c_int, count: *mut c_int) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { nc_inq_varids(group, count, null_mut()) }
}

/// The ids of a group's variables.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_varids(group: c_int, count: *mut c_int, ids: *mut c_int) -> c_int {
    answer(|| {
        let (_, group) = handle::group(group)?;
        let found = counted(group.variable_count()?)?;
        // SAFETY: the caller's places for a count and as many ids.
        unsafe { put(count, found) };
        if !ids.is_null() {
            let list: Vec<c_int> = (0..found).collect();
            // SAFETY: as above.
            unsafe { put_list(ids, &list) };
        }
        Ok(())
    })
}
