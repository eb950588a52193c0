//! Text as programs take it from their command line, and UTF-8.

use std::ffi::{c_char, c_int};

use isotach::model::names;

use super::{allocate_text, bytes};
use crate::boundary::{answer, put};
use crate::status::{Outcome, Status};

/// A copy of a string without the backslash before each `#`, which shells need; NULL for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn NC_shellUnescape(text: *const c_char) -> *mut c_char {
    // SAFETY: the caller's string.
    let Some(text) = (unsafe { bytes(text) }) else { return std::ptr::null_mut() };
    let is_shown = |&(index, _): &(usize, &u8)| !text[index..].starts_with(b"\\#");
    let kept: Vec<u8> = text.iter().enumerate().filter(is_shown).map(|(_, &byte)| byte).collect();
    allocate_text(&kept)
}

/// Appends `from` to the string in `to`, which has room for `size` bytes, as far as it fits. Gives the
/// length that both have together.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn strlcat(to: *mut c_char, from: *const c_char, size: usize) -> usize {
    // SAFETY: the caller's string, and the caller's room of `size` bytes.
    unsafe {
        let from = bytes(from).unwrap_or_default();
        if to.is_null() {
            return from.len();
        }
        let begun = libc::strnlen(to, size);
        if begun < size {
            let copied = from.len().min(size - begun - 1);
            to.add(begun).copy_from(from.as_ptr().cast(), copied);
            to.add(begun + copied).write(0);
        }
        begun.saturating_add(from.len())
    }
}

/// `strlcat` by the name that netCDF gives it where C has none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_strlcat(to: *mut c_char, from: *const c_char, size: usize) -> usize {
    // SAFETY: the same contract.
    unsafe { strlcat(to, from, size) }
}

/// Whether numbers have their lowest byte first here.
#[unsafe(no_mangle)]
pub extern "C" fn NC_isLittleEndian() -> c_int {
    c_int::from(cfg!(target_endian = "little"))
}

/// The text of a C string.
///
/// # Safety
/// As for [`crate::boundary::text`].
unsafe fn utf8<'a>(text: *const u8) -> Outcome<&'a str> {
    // SAFETY: by this function's contract.
    unsafe { crate::boundary::text(text.cast()) }
}

/// `NC_EBADNAME` where text is not UTF-8.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_utf8_validate(text: *const u8) -> c_int {
    // SAFETY: the caller's string.
    answer(|| unsafe { utf8(text) }.map(|_| ()))
}

/// The text in composed form, for the caller to free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_utf8_normalize(text: *const u8, composed: *mut *mut u8) -> c_int {
    answer(|| {
        // SAFETY: the caller's string.
        let normal = names::normalized(unsafe { utf8(text) }?);
        let memory = allocate_text(normal.as_bytes());
        if memory.is_null() {
            return Err(Status::ENOMEM);
        }
        // SAFETY: the caller's place for a pointer.
        unsafe { put(composed, memory.cast()) };
        Ok(())
    })
}

/// The text in UTF-16, for the caller to free; `NC_EBADNAME` where a character needs two units.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_utf8_to_utf16(
    text: *const u8,
    units: *mut *mut u16,
    len: *mut usize,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's string.
        let text = unsafe { utf8(text) }?;
        let unit = |character: char| u16::try_from(u32::from(character));
        let wide: Vec<u16> =
            text.chars().map(unit).collect::<Result<_, _>>().map_err(|_| Status::EBADNAME)?;
        // SAFETY: room for all units and a zero is asked for, and both are written.
        unsafe {
            let memory = libc::calloc(wide.len() + 1, size_of::<u16>()).cast::<u16>();
            if memory.is_null() {
                return Err(Status::ENOMEM);
            }
            memory.copy_from_nonoverlapping(wide.as_ptr(), wide.len());
            put(len, wide.len());
            match units.is_null() {
                true => super::free(memory),
                false => units.write(memory),
            }
        }
        Ok(())
    })
}
