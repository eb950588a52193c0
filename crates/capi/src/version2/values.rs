//! Values of variables. Positions are `long` here.

use std::ffi::{c_int, c_long, c_void};

use super::advise::advise;
use super::{nctypelen, version_2};
use crate::boundary::list;
use crate::data::{nc_get_var1, nc_get_vara, nc_get_varm, nc_get_vars};
use crate::data::{nc_put_var1, nc_put_vara, nc_put_varm, nc_put_vars};
use crate::status::{Outcome, Status};
use crate::variable::{nc_inq_varndims, nc_inq_vartype};

// Lists of `long` are handed on as lists of sizes, and as lists of distances.
const _: () = assert!(size_of::<c_long>() == size_of::<usize>());

version_2! {
    /// Writes one value.
    fn ncvarput1(id: c_int, variable: c_int, index: *const c_long, value: *const c_void) {
        nc_put_var1(id, variable, index.cast(), value) => 0
    }
    /// Reads one value.
    fn ncvarget1(id: c_int, variable: c_int, index: *const c_long, value: *mut c_void) {
        nc_get_var1(id, variable, index.cast(), value) => 0
    }
    /// Writes a hyperslab.
    fn ncvarput(
        id: c_int,
        variable: c_int,
        start: *const c_long,
        count: *const c_long,
        values: *const c_void
    ) {
        nc_put_vara(id, variable, start.cast(), count.cast(), values) => 0
    }
    /// Reads a hyperslab.
    fn ncvarget(
        id: c_int,
        variable: c_int,
        start: *const c_long,
        count: *const c_long,
        values: *mut c_void
    ) says(c"ncid %d; varid %d", id, variable) {
        nc_get_vara(id, variable, start.cast(), count.cast(), values) => 0
    }
}

/// Defines the strided and the mapped function of one direction: without strides, or without a map, they
/// are the simpler ones.
macro_rules! strided_and_mapped {
    (
        $values:ty, $slab:ident,
        $(#[$strided_doc:meta])* $strided:ident = $vars:ident,
        $(#[$mapped_doc:meta])* $mapped:ident = $varm:ident
    ) => {
        $(#[$strided_doc])*
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $strided(
            id: c_int,
            variable: c_int,
            start: *const c_long,
            count: *const c_long,
            stride: *const c_long,
            values: $values,
        ) -> c_int {
            if stride.is_null() {
                // SAFETY: the caller's pointers, handed on as they are.
                return unsafe { $slab(id, variable, start, count, values) };
            }
            let (start, count, stride) = (start.cast(), count.cast(), stride.cast());
            // SAFETY: as above.
            let status = unsafe { $vars(id, variable, start, count, stride, values) };
            told(concat!(stringify!($strided), "\0"), id, status)
        }

        $(#[$mapped_doc])*
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $mapped(
            id: c_int,
            variable: c_int,
            start: *const c_long,
            count: *const c_long,
            stride: *const c_long,
            map: *const c_long,
            values: $values,
        ) -> c_int {
            if map.is_null() {
                // SAFETY: the caller's pointers, handed on as they are.
                return unsafe { $strided(id, variable, start, count, stride, values) };
            }
            // SAFETY: the caller's map.
            let map = match unsafe { distances(id, variable, map) } {
                Ok(map) => map,
                // The original neither tells this error nor makes it -1.
                Err(Status(number)) => return number,
            };
            let (start, count, stride) = (start.cast(), count.cast(), stride.cast());
            // SAFETY: as above; the map has an element for each dimension.
            let status = unsafe { $varm(id, variable, start, count, stride, map.as_ptr(), values) };
            told(concat!(stringify!($mapped), "\0"), id, status)
        }
    };
}

strided_and_mapped! {
    *const c_void, ncvarput,
    /// Writes every so-manieth value.
    ncvarputs = nc_put_vars,
    /// Writes values from places in memory that a map says, in bytes.
    ncvarputg = nc_put_varm
}
strided_and_mapped! {
    *mut c_void, ncvarget,
    /// Reads every so-manieth value.
    ncvargets = nc_get_vars,
    /// Reads values to places in memory that a map says, in bytes.
    ncvargetg = nc_get_varm
}

/// What a function returns whose work ended so.
fn told(routine: &'static str, id: c_int, status: c_int) -> c_int {
    if status == 0 {
        return 0;
    }
    // SAFETY: the format asks for the one number.
    advise(routine, status, |to| unsafe { libc::fprintf(to, c"ncid %d".as_ptr(), id) });
    -1
}

/// A memory map in elements, where the caller's is in bytes.
///
/// # Errors
/// What asking for the variable gives.
///
/// # Safety
/// `map` has an element for each dimension.
unsafe fn distances(id: c_int, variable: c_int, map: *const c_long) -> Outcome<Vec<isize>> {
    let (mut rank, mut data_type) = (0, 0);
    // SAFETY: places of our own.
    let status = unsafe {
        match nc_inq_varndims(id, variable, &mut rank) {
            0 => nc_inq_vartype(id, variable, &mut data_type),
            status => status,
        }
    };
    if status != 0 {
        return Err(Status(status));
    }
    // Of types without mapped access the length is -1; who takes the map refuses them.
    let size = c_long::from(nctypelen(data_type));
    // SAFETY: by this function's contract.
    let map = unsafe { list(map, usize::try_from(rank).unwrap_or(0)) }?;
    Ok(map.iter().map(|distance| distance.wrapping_div(size) as isize).collect())
}
