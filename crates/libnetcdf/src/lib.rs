//! The shared library `libnetcdf.so`: every function of `isotach-capi`, under the name that programs
//! are linked against.

pub use isotach_capi::*;
