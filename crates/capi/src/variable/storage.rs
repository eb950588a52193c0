//! Chunks and byte order.

use std::ffi::c_int;
use std::ptr::null;

use isotach::model::{Atomic, DataType};
use isotach::{Dimension, StorageKind, Variable};

use super::chunk_shape::default_shape;
use super::definition::{Storage, chunk_bytes, define, netcdf4};
use super::find;
use crate::boundary::{answer, list, put, put_list};
use crate::handle;
use crate::model::OpenFile;
use crate::status::{Outcome, Status};

const NC_CHUNKED: c_int = 0;
const NC_CONTIGUOUS: c_int = 1;
const NC_COMPACT: c_int = 2;
const NC_UNKNOWN_STORAGE: c_int = 3;

/// The most bytes that fit into an object header.
const MAX_COMPACT_BYTES: u64 = 1 << 16;

/// Says whether a variable has chunks, and of which shape.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_def_var_chunking(
    group: c_int,
    id: c_int,
    kind: c_int,
    chunk_shape: *const usize,
) -> c_int {
    answer(|| {
        define(group, id, |node| {
            let along = node.variable.dimensions()?;
            // SAFETY: the caller's list of as many lengths as there are dimensions.
            let shape = unsafe { lens(chunk_shape, along.len()) }?;
            node.change_storage(|storage| match kind {
                NC_CHUNKED => {
                    set_chunked(storage, &*handle::file(group)?, &node.variable, &along, shape)
                }
                _ => set_unchunked(storage, kind, &node.variable, &along),
            })
        })
    })
}

/// The caller's lengths; `None` for NULL.
///
/// # Safety
/// `lens` is NULL or valid for `count` elements.
unsafe fn lens(lens: *const usize, count: usize) -> Outcome<Option<Vec<u64>>> {
    if lens.is_null() {
        return Ok(None);
    }
    // SAFETY: by this function's contract.
    let lens = unsafe { list(lens, count) }?;
    Ok(Some(lens.iter().map(|&len| len as u64).collect()))
}

fn set_chunked(
    storage: &mut Storage,
    file: &OpenFile,
    variable: &Variable,
    along: &[Dimension],
    shape: Option<Vec<u64>>,
) -> Outcome {
    if along.is_empty() {
        return Err(Status::EINVAL);
    }
    storage.kind = StorageKind::Chunked;
    let Some(mut shape) = shape else { return Ok(()) };
    if shape.iter().all(|&len| len == 0) {
        let along: Vec<_> = along.iter().collect();
        storage.chunk_shape = default_shape(file, &along, chunk_bytes(variable, &[]))?;
        return Ok(());
    }
    // A shape that begins with 0 leaves it to the library, where it is 0.
    if shape.first() == Some(&0) {
        for (len, dimension) in shape.iter_mut().zip(along).filter(|(len, _)| **len == 0) {
            *len = if dimension.is_unlimited() { 1 } else { dimension.len()? };
        }
    }
    let mut fits = true;
    for (&len, dimension) in shape.iter().zip(along) {
        fits &= len > 0 && (dimension.is_unlimited() || len <= dimension.len()?);
    }
    let is_small = chunk_bytes(variable, &shape) <= u32::MAX.into();
    if !is_small || !fits {
        return Err(Status::EBADCHUNK);
    }
    storage.chunk_shape = Some(shape);
    Ok(())
}

fn set_unchunked(
    storage: &mut Storage,
    kind: c_int,
    variable: &Variable,
    along: &[Dimension],
) -> Outcome {
    if !storage.filters.is_empty() || along.iter().any(Dimension::is_unlimited) {
        return Err(Status::EINVAL);
    }
    match kind {
        NC_CONTIGUOUS => storage.kind = StorageKind::Contiguous,
        NC_COMPACT => {
            let shape = along.iter().map(Dimension::len).collect::<Result<Vec<u64>, _>>()?;
            if chunk_bytes(variable, &shape) > MAX_COMPACT_BYTES {
                return Err(Status::EVARSIZE);
            }
            storage.kind = StorageKind::Compact;
        }
        _ => {}
    }
    Ok(())
}

/// Whether a variable has chunks, and of which shape.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_var_chunking(
    group: c_int,
    id: c_int,
    kind: *mut c_int,
    chunk_shape: *mut usize,
) -> c_int {
    answer(|| {
        let (found, shape) = chunking(group, id)?;
        // SAFETY: the caller's place for a number.
        unsafe { put(kind, found) };
        let to_c = |&len: &u64| usize::try_from(len).map_err(|_| Status::ERANGE);
        let shape: Vec<usize> = shape.iter().map(to_c).collect::<Outcome<_>>()?;
        // SAFETY: the caller's places for a length for each dimension.
        unsafe { put_list(chunk_shape, &shape) };
        Ok(())
    })
}

/// The number of a variable's kind of storage, and the shape of its chunks where it has some.
fn chunking(group: c_int, id: c_int) -> Outcome<(c_int, Vec<u64>)> {
    let (file, node) = (handle::file(group)?, find(group, id)?);
    if !file.is_hdf5() {
        return Ok((NC_CONTIGUOUS, Vec::new()));
    }
    let storage = node.storage()?;
    Ok(match storage.kind {
        StorageKind::Contiguous => (NC_CONTIGUOUS, Vec::new()),
        StorageKind::Compact => (NC_COMPACT, Vec::new()),
        // netCDF-C has a number for virtual storage, `NC_VIRTUAL`, and never tells it: it leaves that to the
        // preprocessor, which does not know that HDF5 has such storage.
        StorageKind::Virtual | StorageKind::Unknown => (NC_UNKNOWN_STORAGE, Vec::new()),
        StorageKind::Chunked => {
            let shape = match storage.chunk_shape {
                Some(said) => said,
                None => node.variable.settled_storage()?.chunk_shape.clone().unwrap_or_default(),
            };
            (NC_CHUNKED, shape)
        }
    })
}

/// The same as `nc_def_var_chunking` for Fortran.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_def_var_chunking_ints(
    group: c_int,
    id: c_int,
    kind: c_int,
    chunk_shape: *const c_int,
) -> c_int {
    answer(|| {
        netcdf4(group).map_err(|_| Status::EBADID)?;
        let rank = find(group, id)?.variable.dimensions()?.len();
        let shape = match chunk_shape.is_null() {
            true => None,
            // SAFETY: the caller's list of as many lengths as there are dimensions.
            false => Some(unsafe { list(chunk_shape, rank) }?),
        };
        // What is negative is too large.
        let to_size = |&len: &c_int| usize::try_from(len).unwrap_or(usize::MAX);
        let shape: Option<Vec<usize>> = shape.map(|shape| shape.iter().map(to_size).collect());
        let shape = shape.as_ref().map_or(null(), |shape| shape.as_ptr());
        // SAFETY: NULL, or as many lengths as there are dimensions.
        match unsafe { nc_def_var_chunking(group, id, kind, shape) } {
            0 => Ok(()),
            status => Err(Status(status)),
        }
    })
}

/// The same as `nc_inq_var_chunking` for Fortran.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_var_chunking_ints(
    group: c_int,
    id: c_int,
    kind: *mut c_int,
    chunk_shape: *mut c_int,
) -> c_int {
    answer(|| {
        netcdf4(group).map_err(|_| Status::EBADID)?;
        let (found, shape) = chunking(group, id)?;
        // SAFETY: the caller's place for a number.
        unsafe { put(kind, found) };
        let ints: Vec<c_int> = shape.iter().map(|&len| len as c_int).collect();
        // SAFETY: the caller's places for a length for each dimension.
        unsafe { put_list(chunk_shape, &ints) };
        let is_exact = shape.iter().all(|&len| c_int::try_from(len).is_ok());
        if is_exact { Ok(()) } else { Err(Status::ERANGE) }
    })
}

/// Says in which byte order a variable's numbers are stored.
#[unsafe(no_mangle)]
pub extern "C" fn nc_def_var_endian(group: c_int, id: c_int, endianness: c_int) -> c_int {
    answer(|| {
        define(group, id, |node| {
            match node.variable.data_type() {
                DataType::Atomic(Atomic::Char | Atomic::String)
                | DataType::User(_)
                | DataType::Foreign(_) => return Err(Status::EINVAL),
                DataType::Atomic(_) | DataType::SmallFloat(_) => {}
            }
            node.change_storage(|storage| {
                storage.endianness = endianness;
                Ok(())
            })
        })
    })
}

/// In which byte order a variable's numbers are stored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_var_endian(
    group: c_int,
    id: c_int,
    endianness: *mut c_int,
) -> c_int {
    answer(|| {
        let node = find(group, id)?;
        if endianness.is_null() {
            return Ok(());
        }
        netcdf4(group)?;
        let found = node.storage()?.endianness;
        // SAFETY: the caller's place for a number.
        unsafe { put(endianness, found) };
        Ok(())
    })
}
