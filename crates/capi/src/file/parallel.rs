//! Parallel access, which this library is without: what netCDF-C says that was built so.

use std::ffi::{c_char, c_int, c_void};

use crate::status::Status;

/// Defines functions that give `NC_ENOPAR` for whatever they are given.
macro_rules! not_parallel {
    ($($name:ident($($argument:ty),*): $doc:literal;)*) => {
        $(
            #[doc = $doc]
            #[unsafe(no_mangle)]
            pub extern "C" fn $name($(_: $argument),*) -> c_int {
                Status::ENOPAR.0
            }
        )*
    };
}

// An `MPI_Comm` or `MPI_Info` is an `int` or a pointer, as the MPI has it; neither is looked at.
not_parallel! {
    nc_create_par(*const c_char, c_int, *mut c_void, *mut c_void, *mut c_int):
        "Would create a file for parallel access.";
    nc_open_par(*const c_char, c_int, *mut c_void, *mut c_void, *mut c_int):
        "Would open a file for parallel access.";
    nc_create_par_fortran(*const c_char, c_int, c_int, c_int, *mut c_int):
        "Would create a file for parallel access from Fortran.";
    nc_open_par_fortran(*const c_char, c_int, c_int, c_int, *mut c_int):
        "Would open a file for parallel access from Fortran.";
    nc_var_par_access(c_int, c_int, c_int):
        "Would say whether processes write a variable together.";
}
