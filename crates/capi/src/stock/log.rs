//! `nclog.h`: what programs have to say goes to standard error.

use std::ffi::{CStr, c_char, c_int};
use std::io::Write;
use std::sync::atomic::{AtomicI32, Ordering};

use super::bytes;
use crate::printf::{printf_like, stderr};

/// Whether messages are shown: they are until `ncsetlogging(0)`.
static IS_SHOWN: AtomicI32 = AtomicI32::new(1);

/// The last kind of message that is shown, in the order of netCDF-C 4.9.3: off, errors, warnings, notes, all.
static LEVEL: AtomicI32 = AtomicI32::new(UNSET);
/// Nobody has said a level: messages are shown or not, and their kinds are those of before.
const UNSET: c_int = -1;
/// The level of errors, which are shown whatever the level is.
const ERRORS: c_int = 1;
/// The level of all messages.
const ALL: c_int = 4;

fn is_shown(tag: c_int) -> bool {
    match LEVEL.load(Ordering::Relaxed) {
        UNSET => IS_SHOWN.load(Ordering::Relaxed) != 0,
        level => tag <= level.max(ERRORS),
    }
}

/// How a message of a kind begins.
fn beginning(tag: c_int) -> &'static CStr {
    let is_by_level = LEVEL.load(Ordering::Relaxed) != UNSET;
    match (is_by_level, tag) {
        (false, 0) => c"Note:",
        (false, 1) => c"Warning:",
        (false, 2) => c"Error:",
        (false, 3) => c"Debug:",
        (false, _) => c"unknown:",
        (true, 0) => c"OFF: ",
        (true, 1) => c"ERR: ",
        (true, 2) => c"WARN: ",
        (true, 3) => c"NOTE: ",
        (true, _) => c"DEBUG: ",
    }
}

fn write(tag: c_int, text: &[u8]) {
    if is_shown(tag) {
        // Nobody can be told that messages cannot be shown.
        let _ = std::io::stderr().write_all(text);
    }
}

/// Gets messages ready to be shown, which they are.
#[unsafe(no_mangle)]
pub extern "C" fn ncloginit() {}

/// Shows messages or not, and says what was so before.
#[unsafe(no_mangle)]
pub extern "C" fn ncsetlogging(shown: c_int) -> c_int {
    LEVEL.store(UNSET, Ordering::Relaxed);
    IS_SHOWN.swap(shown, Ordering::Relaxed)
}

/// Shows messages up to a level, and says which it was: 0 and 1 errors, 2 warnings, 3 notes, 4 all.
#[unsafe(no_mangle)]
pub extern "C" fn ncsetloglevel(level: c_int) -> c_int {
    LEVEL.swap(level.clamp(0, ALL), Ordering::Relaxed).max(0)
}

printf_like! {
    /// Shows a message in the words of a format of `printf`.
    fn nclog(tag: c_int; format) |print| {
        if is_shown(tag) {
            // SAFETY: C's own stream, and a text that ends with a zero.
            unsafe {
                libc::fputs(beginning(tag).as_ptr(), stderr);
                if !format.is_null() {
                    print(stderr);
                }
                libc::fputc(c_int::from(b'\n'), stderr);
            }
        }
    }
}

/// Shows text of a kind as it is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nclogtext(tag: c_int, text: *const c_char) {
    // SAFETY: the caller's string.
    write(tag, unsafe { bytes(text) }.unwrap_or_default());
}

/// Shows that many bytes of text of a kind as they are.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nclogtextn(tag: c_int, text: *const c_char, count: usize) {
    if !text.is_null() {
        // SAFETY: the caller's bytes, `count` of them.
        write(tag, unsafe { std::slice::from_raw_parts(text.cast(), count) });
    }
}
