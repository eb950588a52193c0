//! Filters: any by its number, and deflate, shuffle, checksum and szip by functions of their own.

use std::ffi::{c_int, c_uint};

use isotach::{Dimension, Variable};
use isotach_codec::{Filter, registry};

use super::definition::{Storage, check_open, define, netcdf4};
use super::find;
use crate::boundary::{answer, list, put, put_list};
use crate::handle;
use crate::model::Phase;
use crate::status::{Outcome, Status};

const MAX_DEFLATE_LEVEL: u32 = 9;
const MAX_PIXELS_PER_BLOCK: u32 = 32;

/// Has a variable go through a filter.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_def_var_filter(
    group: c_int,
    id: c_int,
    filter: c_uint,
    count: usize,
    parameters: *const c_uint,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's list.
        add(group, id, filter, unsafe { list(parameters, count) })
    })
}

/// Has a variable shuffled and compressed with deflate. Level 0 does not compress.
#[unsafe(no_mangle)]
pub extern "C" fn nc_def_var_deflate(
    group: c_int,
    id: c_int,
    shuffle: c_int,
    deflate: c_int,
    level: c_int,
) -> c_int {
    answer(|| {
        define(group, id, |_| Ok(()))?;
        if shuffle != 0 {
            add_bare(group, id, registry::SHUFFLE)?;
        }
        if deflate != 0 && level != 0 {
            add(group, id, registry::DEFLATE.into(), Ok(&[level.cast_unsigned()]))?;
        }
        Ok(())
    })
}

/// Has the chunks of a variable end with a checksum.
#[unsafe(no_mangle)]
pub extern "C" fn nc_def_var_fletcher32(group: c_int, id: c_int, fletcher32: c_int) -> c_int {
    answer(|| {
        define(group, id, |node| match node.variable.dimensions()?.is_empty() {
            true => Err(Status::EINVAL),
            false => Ok(()),
        })?;
        if fletcher32 != 0 { add_bare(group, id, registry::FLETCHER32) } else { Ok(()) }
    })
}

/// Has a variable compressed with szip.
#[unsafe(no_mangle)]
pub extern "C" fn nc_def_var_szip(
    group: c_int,
    id: c_int,
    options_mask: c_int,
    pixels_per_block: c_int,
) -> c_int {
    answer(|| {
        let parameters = [options_mask.cast_unsigned(), pixels_per_block.cast_unsigned()];
        add(group, id, registry::SZIP.into(), Ok(&parameters))
    })
}

/// Adds a filter to a new variable.
///
/// # Errors
/// In this order: `NC_EBADID`, `NC_ENOTVAR`, `NC_ENOTNC4`, `NC_EINDEFINE` in data mode, `NC_EINVAL` for scalars, `NC_ELATEDEF`, then what is wrong with the parameters and
/// the filter.
pub(super) fn add(group: c_int, id: c_int, filter: u32, parameters: Outcome<&[u32]>) -> Outcome {
    let node = find(group, id)?;
    let file = netcdf4(group)?;
    let phase = file.phase_mut();
    if *phase == Phase::Data {
        return Err(Status::EINDEFINE);
    }
    if node.variable.dimensions()?.is_empty() {
        return Err(Status::EINVAL);
    }
    check_open(&node)?;
    let parameters = parameters?;
    node.change_storage(|storage| {
        let filter = checked(&node.variable, storage, filter, parameters)?;
        storage.set_filter(filter, parameters.to_vec());
        Ok(())
    })
}

/// Adds a filter without parameters, unless the variable has it.
fn add_bare(group: c_int, id: c_int, filter: u16) -> Outcome {
    if find(group, id)?.storage()?.filter(filter.into()).is_some() {
        return Ok(());
    }
    add(group, id, filter.into(), Ok(&[]))
}

/// The number of a filter that the variable can have with these parameters.
fn checked(
    variable: &Variable,
    storage: &Storage,
    filter: u32,
    parameters: &[u32],
) -> Outcome<u16> {
    let filter = u16::try_from(filter).map_err(|_| Status::EHDFERR)?;
    let other = match (filter, parameters) {
        (registry::DEFLATE, [0..=MAX_DEFLATE_LEVEL]) => registry::SZIP,
        (registry::DEFLATE, [_]) => return Err(Status::EINVAL),
        (registry::SZIP, &[_, pixels]) => {
            let fits = pixels <= MAX_PIXELS_PER_BLOCK
                && u64::from(pixels) <= elements(&variable.dimensions()?)?;
            if !fits || pixels % 2 == 1 {
                return Err(Status::EINVAL);
            }
            registry::DEFLATE
        }
        (registry::DEFLATE | registry::SZIP, _) => return Err(Status::EFILTER),
        _ if !is_available(filter.into()) => return Err(Status::ENOFILTER),
        _ => return Ok(filter),
    };
    if storage.filter(other.into()).is_some() { Err(Status::EINVAL) } else { Ok(filter) }
}

/// How many elements there are, what is empty as yet left aside.
fn elements(along: &[Dimension]) -> Outcome<u64> {
    let lens = along.iter().map(Dimension::len).collect::<Result<Vec<u64>, _>>()?;
    Ok(lens.into_iter().filter(|&len| len > 0).fold(1, u64::saturating_mul))
}

/// Whether there is code that applies a filter.
fn is_available(filter: u32) -> bool {
    let Ok(id) = u16::try_from(filter) else { return false };
    Filter { id, name: None, optional: true, parameters: Vec::new() }.can_encode()
}

/// Makes sure that a file's variables can have a filter.
///
/// # Errors
/// `NC_EBADID`; `NC_ENOFILTER`, also for classic files.
pub(super) fn check_available(group: c_int, filter: u32) -> Outcome {
    let file = handle::file(group)?;
    if file.is_hdf5() && is_available(filter) { Ok(()) } else { Err(Status::ENOFILTER) }
}

/// The parameters of a variable's filter.
///
/// # Errors
/// `NC_ENOFILTER` where it has not that one. Variables of classic files have none: nobody looks whether
/// there is such a variable.
pub(super) fn parameters(group: c_int, id: c_int, filter: u32) -> Outcome<Vec<u32>> {
    let storage = storage_of(group, id)?.ok_or(Status::ENOFILTER)?;
    let found = storage.filter(filter).ok_or(Status::ENOFILTER)?;
    Ok(found.parameters.clone())
}

/// How a variable of a netCDF-4 file is stored; `None` for any number in classic files.
fn storage_of(group: c_int, id: c_int) -> Outcome<Option<Storage>> {
    if handle::file(group)?.is_hdf5() { Ok(Some(find(group, id)?.storage()?)) } else { Ok(None) }
}

/// Whether there is code for a filter.
#[unsafe(no_mangle)]
pub extern "C" fn nc_inq_filter_avail(group: c_int, filter: c_uint) -> c_int {
    answer(|| check_available(group, filter))
}

/// The numbers of a variable's filters, in the order in which they are applied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_var_filter_ids(
    group: c_int,
    id: c_int,
    count: *mut usize,
    filters: *mut c_uint,
) -> c_int {
    answer(|| {
        let found = storage_of(group, id)?.map_or(Vec::new(), |storage| storage.filters);
        let ids: Vec<c_uint> = found.iter().map(|filter| filter.id.into()).collect();
        // SAFETY: the caller's places for a count and as many numbers.
        unsafe {
            put(count, ids.len());
            put_list(filters, &ids);
        }
        Ok(())
    })
}

/// The parameters of a variable's filter.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_var_filter_info(
    group: c_int,
    id: c_int,
    filter: c_uint,
    count: *mut usize,
    parameters_at: *mut c_uint,
) -> c_int {
    answer(|| {
        let found = parameters(group, id, filter)?;
        // SAFETY: the caller's places for a count and as many parameters.
        unsafe {
            put(count, found.len());
            put_list(parameters_at, &found);
        }
        Ok(())
    })
}

/// A variable's first filter with its parameters; 0 where it has none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_var_filter(
    group: c_int,
    id: c_int,
    filter: *mut c_uint,
    count: *mut usize,
    parameters_at: *mut c_uint,
) -> c_int {
    answer(|| {
        let storage = storage_of(group, id)?;
        let first = storage.as_ref().and_then(|storage| storage.filters.first());
        // SAFETY: the caller's place for a number.
        unsafe { put(filter, first.map_or(0, |first| first.id.into())) };
        if let Some(first) = first {
            // SAFETY: the caller's places for a count and as many parameters.
            unsafe {
                put(count, first.parameters.len());
                put_list(parameters_at, &first.parameters);
            }
        }
        Ok(())
    })
}

/// Whether a variable is shuffled and compressed with deflate, and at which level.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_var_deflate(
    group: c_int,
    id: c_int,
    shuffle: *mut c_int,
    deflate: *mut c_int,
    level: *mut c_int,
) -> c_int {
    answer(|| {
        let storage = storage_of(group, id)?;
        let find_filter = |filter: u16| storage.as_ref()?.filter(filter.into());
        let deflated = find_filter(registry::DEFLATE);
        let found_level = deflated.and_then(|filter| filter.parameters.first());
        // SAFETY: the caller's places for both.
        unsafe {
            put(deflate, deflated.is_some().into());
            put(level, found_level.map_or(0, |level| level.cast_signed()));
        }
        if !shuffle.is_null() {
            find(group, id)?;
            // SAFETY: the caller's place for a flag.
            unsafe { put(shuffle, find_filter(registry::SHUFFLE).is_some().into()) };
        }
        Ok(())
    })
}

/// Whether a variable's chunks end with checksums.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_var_fletcher32(
    group: c_int,
    id: c_int,
    fletcher32: *mut c_int,
) -> c_int {
    answer(|| {
        find(group, id)?;
        let storage = storage_of(group, id)?;
        let has_checksum =
            storage.is_some_and(|storage| storage.filter(registry::FLETCHER32.into()).is_some());
        // SAFETY: the caller's place for a flag.
        unsafe { put(fletcher32, has_checksum.into()) };
        Ok(())
    })
}

/// A variable's options and block of szip; both 0 where it is not compressed with it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_var_szip(
    group: c_int,
    id: c_int,
    options_mask: *mut c_int,
    pixels_per_block: *mut c_int,
) -> c_int {
    answer(|| {
        let (mask, pixels) = match parameters(group, id, registry::SZIP.into()).as_deref() {
            Ok(&[mask, pixels, ..]) => (mask.cast_signed(), pixels.cast_signed()),
            Ok(_) => return Err(Status::EFILTER),
            Err(&Status::ENOFILTER) => (0, 0),
            Err(&other) => return Err(other),
        };
        // SAFETY: the caller's places for both.
        unsafe {
            put(options_mask, mask);
            put(pixels_per_block, pixels);
        }
        Ok(())
    })
}
