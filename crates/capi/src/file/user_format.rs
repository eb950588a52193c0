//! Formats that programs bring along, which this library does not take: there are none.

use std::ffi::{c_char, c_int, c_void};

use crate::boundary::{answer, put};
use crate::status::{Outcome, Status};

/// `NC_UDF0` to `NC_UDF9`.
const NUMBERS: [c_int; 10] = [
    0x40, 0x80, 0x1_0000, 0x8_0000, 0x10_0000, 0x20_0000, 0x40_0000, 0x80_0000, 0x100_0000,
    0x200_0000,
];

/// Would take a table of functions that know a format.
#[unsafe(no_mangle)]
pub extern "C" fn nc_def_user_format(
    number: c_int,
    functions: *mut c_void,
    _magic: *mut c_char,
) -> c_int {
    answer(|| {
        checked(number)?;
        Err(if functions.is_null() { Status::EINVAL } else { Status::ENOTBUILT })
    })
}

/// Tells the functions that know a format: none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_user_format(
    number: c_int,
    functions: *mut *mut c_void,
    _magic: *mut c_char,
) -> c_int {
    answer(|| {
        checked(number)?;
        // SAFETY: the caller's place.
        unsafe { put(functions, std::ptr::null_mut()) };
        Ok(())
    })
}

fn checked(number: c_int) -> Outcome {
    if NUMBERS.contains(&number) { Ok(()) } else { Err(Status::EINVAL) }
}
