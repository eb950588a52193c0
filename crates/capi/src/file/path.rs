//! Names of files as callers give them.

use std::ffi::{CStr, CString, OsStr, c_char};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::status::{Outcome, Status};

/// The path of a file, as netCDF takes it: what is white at its beginning does not count.
///
/// # Errors
/// `NC_EINVAL` for NULL, `NC_EDAPURL` for a path of nothing, `NC_ENOTBUILT` for what is not a local file.
///
/// # Safety
/// `path` is NULL or ends with a zero and stays as it is during the call.
pub(super) unsafe fn path(path: *const c_char) -> Outcome<CString> {
    if path.is_null() {
        return Err(Status::EINVAL);
    }
    // SAFETY: by this function's contract.
    let given = unsafe { CStr::from_ptr(path) }.to_bytes();
    let white = given.iter().take_while(|&&byte| byte <= b' ').count();
    let path = given.get(white..).unwrap_or_default();
    if path.is_empty() {
        return Err(Status::EDAPURL);
    }
    CString::new(path).map_err(|_| Status::EINVAL)
}

/// The same for the operating system.
pub(super) fn local(path: &CStr) -> &Path {
    Path::new(OsStr::from_bytes(path.to_bytes()))
}
