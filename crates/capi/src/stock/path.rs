//! `ncpathmgr.h`: paths in the forms of several systems as paths of this one.

use std::ffi::{c_char, c_int};

use super::{allocate_text, bytes};
use crate::boundary::{answer, put};
use crate::status::Status;

/// The path with slashes; a drive, as in `c:\x`, becomes the first folder below `root`.
fn with_slashes(path: &[u8], root: &str) -> Vec<u8> {
    let slash = |&byte: &u8| if byte == b'\\' { b'/' } else { byte };
    match path {
        [drive, b':', rest @ ..]
            if drive.is_ascii_alphabetic() && matches!(rest.first(), None | Some(b'/' | b'\\')) =>
        {
            [root.as_bytes(), &[*drive]]
                .concat()
                .into_iter()
                .chain(rest.iter().map(slash))
                .collect()
        }
        _ => path.iter().map(slash).collect(),
    }
}

/// The path in the form that is the same on every system, for the caller to free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn NCpathcanonical(
    path: *const c_char,
    canonical: *mut *mut c_char,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's string.
        let Some(path) = (unsafe { bytes(path) }) else { return Ok(()) };
        let text = allocate_text(&with_slashes(path, "/cygdrive/"));
        if text.is_null() {
            return Err(Status::ENOMEM);
        }
        match canonical.is_null() {
            // SAFETY: nobody else has it.
            true => unsafe { super::free(text) },
            // SAFETY: the caller's place for a pointer.
            false => unsafe { put(canonical, text) },
        }
        Ok(())
    })
}

/// The path as this system has it, for the caller to free; addresses stay as they are.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn NCpathcvt(path: *const c_char) -> *mut c_char {
    // SAFETY: the caller's string.
    let Some(path) = (unsafe { bytes(path) }) else { return std::ptr::null_mut() };
    match super::address::Address::parse(path) {
        Some(_) => allocate_text(path),
        None => allocate_text(&with_slashes(path, "/")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drives_are_folders() {
        for (path, canonical) in [
            ("c:\\x\\y", "/cygdrive/c/x/y"),
            ("C:/x", "/cygdrive/C/x"),
            ("c:", "/cygdrive/c"),
            ("c:x", "c:x"),
            ("x\\y", "x/y"),
            ("/x//y/", "/x//y/"),
            ("", ""),
        ] {
            assert_eq!(with_slashes(path.as_bytes(), "/cygdrive/"), canonical.as_bytes(), "{path}");
        }
    }
}
