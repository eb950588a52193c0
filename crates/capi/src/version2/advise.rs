//! What happens on an error: `ncerr` is set, a message printed, the program ended.

use std::ffi::{c_char, c_double, c_int};
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

use libc::FILE;

use crate::file::library::nc_strerror;

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

unsafe extern "C" {
    static stderr: *mut FILE;
}

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

/// Tells an error in the words of a format of `printf`.
///
/// In C it takes whatever arguments the format asks for, which stable Rust has no way to say. The calling
/// conventions of Linux pass integers and pointers apart from real numbers, each in order, so that
/// so many of each are found where they are looked for: six and eight. What the caller did not pass
/// is handed on and not looked at.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments)]
pub unsafe extern "C" fn nc_advise(
    routine: *const c_char,
    status: c_int,
    format: *const c_char,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
    s: c_double,
    t: c_double,
    u: c_double,
    v: c_double,
    w: c_double,
    x: c_double,
    y: c_double,
    z: c_double,
) {
    let print =
        // SAFETY: the caller's format asks for what the caller passed.
        |to| unsafe { libc::fprintf(to, format, a, b, c, d, e, f, s, t, u, v, w, x, y, z) };
    // SAFETY: the caller's name.
    unsafe { tell(routine, status, print) }
}
