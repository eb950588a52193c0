//! `nclog.h`: what programs have to say goes to standard error.
//!
//! C's `nclog` takes values for its format as `printf` does. Rust has no way to receive them, so the
//! format is shown as it is; the arguments are left where the caller put them, which every calling
//! convention that netCDF runs under allows.

use std::ffi::{c_char, c_int};
use std::io::Write;
use std::sync::atomic::{AtomicI32, Ordering};

use super::bytes;

/// Whether messages are shown: they are until `ncsetlogging(0)`.
static IS_SHOWN: AtomicI32 = AtomicI32::new(1);

fn write(parts: &[&[u8]]) {
    if IS_SHOWN.load(Ordering::Relaxed) != 0 {
        // Nobody can be told that messages cannot be shown.
        let _ = std::io::stderr().write_all(&parts.concat());
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

/// Shows a message.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nclog(tag: c_int, format: *const c_char) {
    let kind = match tag {
        0 => "Note",
        1 => "Warning",
        2 => "Error",
        3 => "Debug",
        _ => "unknown",
    };
    // SAFETY: the caller's string.
    let format = unsafe { bytes(format) }.unwrap_or_default();
    write(&[kind.as_bytes(), b":", format, b"\n"]);
}

/// Shows text as it is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nclogtext(_tag: c_int, text: *const c_char) {
    // SAFETY: the caller's string.
    write(&[unsafe { bytes(text) }.unwrap_or_default()]);
}

/// Shows that many bytes of text as they are.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nclogtextn(_tag: c_int, text: *const c_char, count: usize) {
    if !text.is_null() {
        // SAFETY: the caller's bytes, `count` of them.
        write(&[unsafe { std::slice::from_raw_parts(text.cast(), count) }]);
    }
}
