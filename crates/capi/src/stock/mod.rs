//! What `netcdf.h` does not declare, but programs that come with netCDF have from the library: lists,
//! addresses, buffers, paths, text, times, the text of filters, messages.

mod address;
mod buffer;
mod calendar;
mod filter_text;
mod list;
mod log;
mod path;
mod text;

use std::ffi::{CStr, c_char, c_void};

/// Memory of a C string, for the caller to free; NULL where there is none, or text has a zero in it.
pub(crate) fn allocate_text(text: &[u8]) -> *mut c_char {
    if text.contains(&0) {
        return std::ptr::null_mut();
    }
    // SAFETY: room for the text and its zero is asked for, and both are written where there is memory.
    unsafe {
        let memory = libc::malloc(text.len() + 1).cast::<u8>();
        if !memory.is_null() {
            memory.copy_from_nonoverlapping(text.as_ptr(), text.len());
            memory.add(text.len()).write(0);
        }
        memory.cast()
    }
}

/// The bytes of a C string; `None` for NULL.
///
/// # Safety
/// `text` is NULL or ends with a zero and stays as it is as long as it is looked at.
pub(crate) unsafe fn bytes<'a>(text: *const c_char) -> Option<&'a [u8]> {
    // SAFETY: by this function's contract.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_bytes())
}

/// Frees memory that came from `malloc`; NULL is none.
///
/// # Safety
/// `memory` is NULL or came from C's `malloc`, and nobody uses it afterwards.
pub(crate) unsafe fn free<T>(memory: *mut T) {
    // SAFETY: by this function's contract.
    unsafe { libc::free(memory.cast::<c_void>()) }
}
