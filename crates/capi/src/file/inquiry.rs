//! What a file is.

use std::ffi::{c_char, c_int};

use super::mode::format_number;
use crate::attribute::Holder;
use crate::boundary::{answer, counted, put, put_list};
use crate::handle;
use crate::variable::NC_GLOBAL;

/// The extended format of classic files.
const NC_FORMATX_NC3: c_int = 1;
/// The extended format of netCDF-4 and other HDF5 files.
const NC_FORMATX_NC_HDF5: c_int = 2;

/// Tells the numbers of a group's dimensions, variables and attributes, and its first unlimited dimension.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq(
    id: c_int,
    dimension_count: *mut c_int,
    variable_count: *mut c_int,
    attribute_count: *mut c_int,
    unlimited: *mut c_int,
) -> c_int {
    answer(|| {
        let (_, node) = handle::group(id)?;
        if !dimension_count.is_null() {
            // SAFETY: the caller's place.
            unsafe { put(dimension_count, counted(node.dimensions()?.len())?) };
        }
        if !unlimited.is_null() {
            let first = node.group().unlimited_ids()?.first().copied();
            // SAFETY: the caller's place.
            unsafe { put(unlimited, first.unwrap_or(-1)) };
        }
        if !variable_count.is_null() {
            // SAFETY: the caller's place.
            unsafe { put(variable_count, counted(node.variable_count()?)?) };
        }
        if !attribute_count.is_null() {
            // SAFETY: the caller's place.
            unsafe { put(attribute_count, counted(Holder::find(id, NC_GLOBAL)?.count()?)?) };
        }
        Ok(())
    })
}

/// Tells the path that a file was opened by.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_path(id: c_int, len: *mut usize, path: *mut c_char) -> c_int {
    answer(|| {
        let file = handle::any_file(id)?;
        let bytes = file.path.as_bytes_with_nul();
        // SAFETY: the caller's places; that for the path has the length that he was told.
        unsafe {
            put(len, bytes.len() - 1);
            put_list(path.cast(), bytes);
        }
        Ok(())
    })
}

/// Tells the format as programs see it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_format(id: c_int, format: *mut c_int) -> c_int {
    answer(|| {
        let file = handle::file(id)?;
        // SAFETY: the caller's place.
        unsafe { put(format, format_number(file.format)) };
        Ok(())
    })
}

/// Tells the format of the file itself, and the flags that hold for it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_format_extended(
    id: c_int,
    format: *mut c_int,
    mode: *mut c_int,
) -> c_int {
    answer(|| {
        let file = handle::file(id)?;
        let extended = if file.is_hdf5() { NC_FORMATX_NC_HDF5 } else { NC_FORMATX_NC3 };
        // SAFETY: the caller's places.
        unsafe {
            put(format, extended);
            put(mode, file.mode.0);
        }
        Ok(())
    })
}

/// Writes nothing: that takes a library that logs.
#[unsafe(no_mangle)]
pub extern "C" fn nc_show_metadata(id: c_int) -> c_int {
    answer(|| handle::any_file(id).map(drop))
}

/// Tells the processor of a Cray T3E that a file belongs to: the first one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_base_pe(id: c_int, processor: *mut c_int) -> c_int {
    answer(|| {
        handle::any_file(id)?;
        // SAFETY: the caller's place.
        unsafe { put(processor, 0) };
        Ok(())
    })
}

/// Takes any processor of a Cray T3E for a file, which stays with the first one.
#[unsafe(no_mangle)]
pub extern "C" fn nc_set_base_pe(id: c_int, _processor: c_int) -> c_int {
    answer(|| handle::any_file(id).map(drop))
}
