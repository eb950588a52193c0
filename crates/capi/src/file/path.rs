//! Names of files as callers give them.

use std::ffi::{CStr, CString, OsStr, c_char};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::status::{Outcome, Status};

/// Beginnings of URLs that netCDF-C knows, beside `file`.
const REMOTE: [&[u8]; 8] = [b"http", b"https", b"dods", b"dodss", b"dap4", b"s3", b"gs3", b"zoh"];

/// The path of a file, as netCDF takes it: what is white at its beginning does not count.
///
/// # Errors
/// `NC_EINVAL` for NULL, `NC_EDAPURL` for a path of nothing.
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

/// Lets paths of local files through, as which netCDF-C takes `file` URLs that there are not.
///
/// # Errors
/// `NC_ENOTBUILT` for files elsewhere and for NCZarr, `NC_ENOTNC` where those were to be created,
/// `NC_EINVAL` for URLs of other kinds.
pub(super) fn check_local(path: &CStr, is_new: bool) -> Outcome {
    let Some((scheme, rest)) = url(path.to_bytes()) else { return Ok(()) };
    let fragment = rest.iter().position(|&byte| byte == b'#').and_then(|at| rest.get(at..));
    let is_zarr = fragment.is_some_and(|text| text.windows(4).any(|word| word == b"zarr"));
    match scheme {
        b"file" if !is_zarr => {
            if is_new {
                Err(Status::ENOTNC)
            } else {
                Ok(())
            }
        }
        b"file" => Err(Status::ENOTBUILT),
        remote if REMOTE.contains(&remote) => {
            Err(if is_new && !is_zarr { Status::ENOTNC } else { Status::ENOTBUILT })
        }
        _ => Err(Status::EINVAL),
    }
}

/// What stands before and behind the `://` of a URL, without the parameters of older ones: `[log][show=fetch]http://`.
fn url(mut path: &[u8]) -> Option<(&[u8], &[u8])> {
    while let Some(parameter) = path.strip_prefix(b"[") {
        let end = parameter.iter().position(|&byte| byte == b']')?;
        path = parameter.get(end + 1..)?;
    }
    let at = path.windows(3).position(|part| part == b"://")?;
    let (scheme, rest) = path.split_at(at);
    let is_scheme = !scheme.is_empty() && scheme.iter().all(u8::is_ascii_alphanumeric);
    is_scheme.then_some((scheme, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_not_local_files() {
        for (path, opening, creating) in [
            (c"a.nc", Ok(()), Ok(())),
            (c"./dir://a.nc", Ok(()), Ok(())),
            (c"file:///a.nc", Ok(()), Err(Status::ENOTNC)),
            (c"file:///a#mode=nczarr,file", Err(Status::ENOTBUILT), Err(Status::ENOTBUILT)),
            (c"https://host/a.nc", Err(Status::ENOTBUILT), Err(Status::ENOTNC)),
            (c"[log][show=fetch]dods://host/a", Err(Status::ENOTBUILT), Err(Status::ENOTNC)),
            (c"[log]a.nc", Ok(()), Ok(())),
            (c"[log", Ok(()), Ok(())),
            (c"s3://host/a#mode=zarr", Err(Status::ENOTBUILT), Err(Status::ENOTBUILT)),
            (c"foo://host/a.nc", Err(Status::EINVAL), Err(Status::EINVAL)),
        ] {
            assert_eq!(check_local(path, false), opening, "{path:?}");
            assert_eq!(check_local(path, true), creating, "{path:?}");
        }
    }
}
