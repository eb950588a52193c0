//! Dimensions: defining, asking, renaming.

use std::ffi::{c_char, c_int};
use std::ptr::null_mut;

use isotach::Format;

use crate::boundary::{answer, counted, put, put_list, put_text, text};
use crate::group::at_path;
use crate::handle;
use crate::model::DimensionNode;
use crate::status::Status;

/// The length that makes a dimension unlimited.
const NC_UNLIMITED: usize = 0;

/// Defines a dimension.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_def_dim(
    group: c_int,
    name: *const c_char,
    len: usize,
    id: *mut c_int,
) -> c_int {
    answer(|| {
        let (file, group) = handle::group(group)?;
        let is_unlimited = len == NC_UNLIMITED;
        if file.is_hdf5() {
            file.writer()?;
        }
        if file.format == Format::NetCdf4Classic
            && is_unlimited
            && !group.group().unlimited_ids()?.is_empty()
        {
            return Err(Status::EUNLIMIT);
        }
        file.check_define_mode()?;
        let defined = file.define(|| {
            // SAFETY: the caller's string.
            let name = unsafe { text(name) }?;
            let len = (!is_unlimited).then_some(len as u64);
            Ok(group.writing()?.define_dimension(name, len)?)
        })?;
        let dimension = file.writer()?.dimension(defined)?;
        let new = dimension.id()?;
        let group = group.number;
        file.add_dimension(new, DimensionNode { group, dimension, handle: Some(defined) });
        // SAFETY: the caller's place for an id.
        unsafe { put(id, new) };
        Ok(())
    })
}

/// Renames a dimension.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_rename_dim(group: c_int, id: c_int, name: *const c_char) -> c_int {
    answer(|| {
        let (file, group) = handle::group(group)?;
        // SAFETY: the caller's string.
        let name = file.new_name(unsafe { text(name) })?;
        let writer = file.writer()?;
        let _phase = file.phase_mut();
        let is_taken = group.dimensions()?.iter().any(|other| other.name() == name);
        // Which of two faults is told depends on the format.
        let node = match file.dimension(id) {
            _ if is_taken && !file.is_hdf5() => return Err(Status::ENAMEINUSE),
            Ok(_) if is_taken => return Err(Status::ENAMEINUSE),
            found => found?,
        };
        writer.rename_dimension(node.handle.ok_or(Status::EPERM)?, &name)?;
        file.learn_dimensions(&*file.group(node.group)?)
    })
}

/// The id of the dimension of that name in the group or the nearest above it, or at that path.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_dimid(group: c_int, name: *const c_char, id: *mut c_int) -> c_int {
    answer(|| {
        let (file, group) = handle::group(group)?;
        // SAFETY: the caller's string.
        let name = file.sought_name(unsafe { text(name) }, Status::EBADDIM)?;
        let path = if file.is_hdf5() { at_path(&file, &name)? } else { None };
        let found = match path {
            // So netCDF-C has it.
            Some((group, name)) => group.dimension_id(name)?.ok_or(Status::EBADTYPE)?,
            None => {
                let mut groups = file.with_ancestors(group);
                let found = groups.find_map(|group| {
                    group.and_then(|group| group.dimension_id(&name)).transpose()
                });
                found.transpose()?.ok_or(Status::EBADDIM)?
            }
        };
        // SAFETY: the caller's place for an id.
        unsafe { put(id, found) };
        Ok(())
    })
}

/// Name and length of a dimension.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_dim(
    group: c_int,
    id: c_int,
    name: *mut c_char,
    len: *mut usize,
) -> c_int {
    answer(|| {
        let (file, _) = handle::group(group)?;
        let DimensionNode { dimension, .. } = file.dimension(id)?;
        // SAFETY: the caller's room for a name.
        unsafe { put_text(name, dimension.name()) };
        if !len.is_null() {
            file.hear(&dimension)?;
            let found = usize::try_from(dimension.len()?).map_err(|_| Status::EDIMSIZE)?;
            // SAFETY: the caller's place for a length.
            unsafe { put(len, found) };
        }
        Ok(())
    })
}

/// Name of a dimension.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_dimname(group: c_int, id: c_int, name: *mut c_char) -> c_int {
    if name.is_null() {
        return answer(|| handle::file(group).map(drop));
    }
    // SAFETY: as the caller promises.
    unsafe { nc_inq_dim(group, id, name, null_mut()) }
}

/// Length of a dimension.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_dimlen(group: c_int, id: c_int, len: *mut usize) -> c_int {
    if len.is_null() {
        return answer(|| handle::file(group).map(drop));
    }
    // SAFETY: as the caller promises.
    unsafe { nc_inq_dim(group, id, null_mut(), len) }
}

/// How many dimensions a group has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_ndims(group: c_int, count: *mut c_int) -> c_int {
    answer(|| {
        let (_, group) = handle::group(group)?;
        let found = counted(group.dimensions()?.len())?;
        // SAFETY: the caller's place for a count.
        unsafe { put(count, found) };
        Ok(())
    })
}

/// The ids of a group's dimensions in ascending order, on demand with those of the groups above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_dimids(
    group: c_int,
    count: *mut c_int,
    ids: *mut c_int,
    include_parents: c_int,
) -> c_int {
    answer(|| {
        let (file, group) = handle::group(group)?;
        let mut found = Vec::new();
        let group_count = if include_parents == 0 { 1 } else { usize::MAX };
        for group in file.with_ancestors(group).take(group_count) {
            for dimension in group?.dimensions()? {
                found.push(dimension.id()?);
            }
        }
        found.sort_unstable();
        // SAFETY: the caller's places for a count and as many ids.
        unsafe { put(count, counted(found.len())?) };
        // SAFETY: as above.
        unsafe { put_list(ids, &found) };
        Ok(())
    })
}

/// The id of a group's first unlimited dimension; -1 where it has none of its own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_unlimdim(group: c_int, id: *mut c_int) -> c_int {
    answer(|| {
        let (_, group) = handle::group(group)?;
        let found = group.group().unlimited_ids()?.first().copied();
        // SAFETY: the caller's place for an id.
        unsafe { put(id, found.unwrap_or(-1)) };
        Ok(())
    })
}

/// The ids of a group's unlimited dimensions, in the order of their objects.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_unlimdims(
    group: c_int,
    count: *mut c_int,
    ids: *mut c_int,
) -> c_int {
    answer(|| {
        let (_, group) = handle::group(group)?;
        let found = group.group().unlimited_ids()?;
        // SAFETY: the caller's places for a count and as many ids.
        unsafe { put(count, counted(found.len())?) };
        // SAFETY: as above.
        unsafe { put_list(ids, &found) };
        Ok(())
    })
}
