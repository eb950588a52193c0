//! What happens on an error: `ncerr` is set, a message printed, the program ended.

use std::ffi::{c_char, c_int};
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

use libc::FILE;

use crate::file::library::nc_strerror;
use crate::printf::{printf_like, stderr};

const NC_FATAL: c_int = 1;
const NC_VERBOSE: c_int = 2;
const NC_SYSERR: c_int = -31;

/// What is done on an error; programs set it.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals)]
pub static ncopts: AtomicI32 = AtomicI32::new(NC_FATAL | NC_VERBOSE);

/// The last error; programs look at it.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals)]
pub static ncerr: AtomicI32 = AtomicI32::new(0);

/// Tells an error; `routine` ends with a zero, `print` writes what it was about.
pub(super) fn advise(routine: &'static str, status: c_int, print: impl FnOnce(*mut FILE) -> c_int) {
    // SAFETY: the name ends with a zero.
    unsafe { tell(routine.as_ptr().cast(), status, print) }
}

/// Tells an error.
///
/// # Safety
/// `routine` ends with a zero, or is NULL.
unsafe fn tell(routine: *const c_char, status: c_int, print: impl FnOnce(*mut FILE) -> c_int) {
    ncerr.store(if status > 0 { NC_SYSERR } else { status }, Relaxed);
    let options = ncopts.load(Relaxed);
    if options & NC_VERBOSE != 0 {
        // SAFETY: C's own stream, and strings that end with a zero.
        unsafe {
            libc::fprintf(stderr, c"%s: ".as_ptr(), routine);
            print(stderr);
            if status != 0 {
                libc::fprintf(stderr, c": %s".as_ptr(), nc_strerror(status));
            }
            libc::fputc(c_int::from(b'\n'), stderr);
            libc::fflush(stderr);
        }
    }
    if options & NC_FATAL != 0 && status != 0 {
        // SAFETY: no lock of ours is held here.
        unsafe { libc::exit(options) }
    }
}

printf_like! {
    /// Tells an error in the words of a format of `printf`.
    fn nc_advise(routine: *const c_char, status: c_int; format) |print| {
        // SAFETY: the caller's name.
        unsafe { tell(routine, status, print) }
    }
}
