//! What the tests of the interface have in common: its functions, netCDF's numbers, and strings as C has them.

#![allow(dead_code, unused_imports, reason = "each test uses a part of it")]

use std::ffi::{CString, c_int};
use std::path::Path;

pub use isotach_capi::attribute::*;
pub use isotach_capi::auxiliary::*;
pub use isotach_capi::data::*;
pub use isotach_capi::dimension::*;
pub use isotach_capi::file::closing::*;
pub use isotach_capi::file::creating::*;
pub use isotach_capi::file::definitions::*;
pub use isotach_capi::file::inquiry::*;
pub use isotach_capi::file::library::*;
pub use isotach_capi::file::memory::*;
pub use isotach_capi::file::mode::*;
pub use isotach_capi::file::opening::*;
pub use isotach_capi::file::settings::*;
pub use isotach_capi::group::*;
pub use isotach_capi::plugin::*;
pub use isotach_capi::reclaim::*;
pub use isotach_capi::status::Status;
pub use isotach_capi::user_type::inquire::*;
pub use isotach_capi::user_type::*;
pub use isotach_capi::variable::chunk_cache::*;
pub use isotach_capi::variable::compressor::*;
pub use isotach_capi::variable::fill::*;
pub use isotach_capi::variable::filter::*;
pub use isotach_capi::variable::quantize::*;
pub use isotach_capi::variable::storage::*;
pub use isotach_capi::variable::*;

pub const NC_CLASSIC: c_int = 0;
pub const NC_NETCDF4_CLASSIC: c_int = NC_NETCDF4 | NC_CLASSIC_MODEL;
/// One of each kind of file.
pub const FORMATS: [c_int; 4] = [NC_CLASSIC, NC_64BIT_DATA, NC_NETCDF4, NC_NETCDF4_CLASSIC];

pub const NC_UNLIMITED: usize = 0;
pub const NC_NOFILL: c_int = 0x100;
pub const NC_BYTE: c_int = 1;
pub const NC_CHAR: c_int = 2;
pub const NC_SHORT: c_int = 3;
pub const NC_INT: c_int = 4;
pub const NC_FLOAT: c_int = 5;
pub const NC_DOUBLE: c_int = 6;
pub const NC_UINT: c_int = 9;
pub const NC_STRING: c_int = 12;

macro_rules! errors {
    ($($name:ident)*) => {
        $(pub const $name: c_int = Status::$name.0;)*
    };
}

errors! {
    EBADID EINVAL EPERM ENOTINDEFINE ENAMEINUSE ENOTATT EBADTYPE ENOTVAR EMAXNAME ECHAR EBADNAME ERANGE
    EHDFERR EATTMETA ENOTNC4 ESTRICTNC3 EBADGRPID EBADTYPID ETYPDEFINED EBADFIELD ELATEFILL ENOGRP
    ENOFILTER
}

/// A string as C has it.
pub fn c(text: &str) -> CString {
    CString::new(text).unwrap()
}

/// A path as C has it.
pub fn c_path(path: &Path) -> CString {
    CString::new(path.as_os_str().as_encoded_bytes()).unwrap()
}
