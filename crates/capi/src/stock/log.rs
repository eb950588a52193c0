//! `nclog.h`: what programs have to say goes to standard error.
//!
//! C's `nclog` takes values for its format as `printf` does; how many arrive here: `nc_advise`.

use std::ffi::{CStr, c_char, c_double, c_int};
use std::io::Write;
use std::sync::atomic::{AtomicI32, Ordering};

use super::bytes;

/// Of a message at most, its closing zero included.
const MESSAGE_BYTES: usize = 4096;

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

/// Shows a message in the words of a format of `printf`, with up to four integers or pointers and eight real
/// numbers.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments)]
pub unsafe extern "C" fn nclog(
    tag: c_int,
    format: *const c_char,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    s: c_double,
    t: c_double,
    u: c_double,
    v: c_double,
    w: c_double,
    x: c_double,
    y: c_double,
    z: c_double,
) {
    let kind = match tag {
        0 => "Note",
        1 => "Warning",
        2 => "Error",
        3 => "Debug",
        _ => "unknown",
    };
    let mut message = [0_u8; MESSAGE_BYTES];
    if !format.is_null() {
        let (to, len) = (message.as_mut_ptr().cast(), message.len());
        // SAFETY: the caller's format asks for what the caller passed; `snprintf` ends with a zero.
        unsafe { libc::snprintf(to, len, format, a, b, c, d, s, t, u, v, w, x, y, z) };
    }
    let message = CStr::from_bytes_until_nul(&message).unwrap_or_default();
    write(&[kind.as_bytes(), b":", message.to_bytes(), b"\n"]);
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
