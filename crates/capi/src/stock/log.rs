//! `nclog.h`: what programs have to say goes to standard error.

use std::ffi::{c_char, c_int};
use std::io::Write;
use std::sync::atomic::{AtomicI32, Ordering};

use super::bytes;
use crate::printf::{printf_like, stderr};

/// Whether messages are shown: they are until `ncsetlogging(0)`.
static IS_SHOWN: AtomicI32 = AtomicI32::new(1);

fn is_shown() -> bool {
    IS_SHOWN.load(Ordering::Relaxed) != 0
}

fn write(text: &[u8]) {
    if is_shown() {
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
    IS_SHOWN.swap(shown, Ordering::Relaxed)
}

/// The same under the name that netCDF-C 4.9.3 gives it: 0 is off.
#[unsafe(no_mangle)]
pub extern "C" fn ncsetloglevel(level: c_int) -> c_int {
    ncsetlogging(level)
}

printf_like! {
    /// Shows a message in the words of a format of `printf`.
    fn nclog(tag: c_int; format) |print| {
        let kind = match tag {
            0 => c"Note:",
            1 => c"Warning:",
            2 => c"Error:",
            3 => c"Debug:",
            _ => c"unknown:",
        };
        if is_shown() {
            // SAFETY: C's own stream, and a text that ends with a zero.
            unsafe {
                libc::fputs(kind.as_ptr(), stderr);
                if !format.is_null() {
                    print(stderr);
                }
                libc::fputc(c_int::from(b'\n'), stderr);
            }
        }
    }
}

/// Shows text as it is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nclogtext(_tag: c_int, text: *const c_char) {
    // SAFETY: the caller's string.
    write(unsafe { bytes(text) }.unwrap_or_default());
}

/// Shows that many bytes of text as they are.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nclogtextn(_tag: c_int, text: *const c_char, count: usize) {
    if !text.is_null() {
        // SAFETY: the caller's bytes, `count` of them.
        write(unsafe { std::slice::from_raw_parts(text.cast(), count) });
    }
}
