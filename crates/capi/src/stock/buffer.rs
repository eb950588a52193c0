//! `ncbytes.h`: bytes that grow, and files that are read into them.
//!
//! Where there is no memory, no buffer, or no such byte, a call says so and changes nothing: the original ends the program.

use std::ffi::{c_char, c_int, c_longlong, c_ulong, c_void};
use std::fs::File;
use std::io::Read;
use std::ptr::null_mut;

use libc::FILE;

use super::{bytes, free};
use crate::boundary::{answer, text};
use crate::status::{Outcome, Status};

/// As programs see it: they read its fields themselves, which have this order since netCDF-C 4.10.1.
#[repr(C)]
pub struct Buffer {
    content: *mut c_char,
    alloc: c_ulong,
    length: c_ulong,
    /// 0 where the content is the caller's, which does not grow.
    extendible: c_int,
}

/// The room that the first byte makes.
const FIRST_ROOM: usize = 1024;
/// Bytes that are read at a time.
const READ_BYTES: usize = 1 << 20;

const TRUE: c_int = 1;
const FALSE: c_int = 0;

impl Buffer {
    fn bytes(&mut self) -> &mut [u8] {
        if self.content.is_null() {
            return &mut [];
        }
        // SAFETY: the content has room for `alloc` bytes, of which `length` were written, here or by the program.
        unsafe { std::slice::from_raw_parts_mut(self.content.cast(), self.length as usize) }
    }

    /// Makes room for `wanted` bytes, new ones zero; false where it cannot grow.
    fn reserve(&mut self, wanted: usize) -> bool {
        let room = self.alloc as usize;
        if wanted <= room {
            return true;
        }
        if self.extendible == 0 {
            return false;
        }
        // SAFETY: `content` is NULL or from `malloc`; what is new is written below.
        let content = unsafe { libc::realloc(self.content.cast(), wanted) }.cast::<u8>();
        if content.is_null() {
            return false;
        }
        // SAFETY: so many bytes are there.
        unsafe { content.add(room).write_bytes(0, wanted - room) };
        (self.content, self.alloc) = (content.cast(), wanted as c_ulong);
        true
    }

    /// Appends bytes, which are not those of the buffer itself.
    fn append(&mut self, more: &[u8]) -> bool {
        let (length, room) = (self.length as usize, self.alloc as usize);
        let Some(wanted) = length.checked_add(more.len()) else { return false };
        let grown = wanted.max(FIRST_ROOM).max(room.saturating_mul(2));
        if wanted > room && !self.reserve(grown) {
            return false;
        }
        if !more.is_empty() {
            // SAFETY: there is room for all of it, and the two do not overlap.
            unsafe {
                let end = self.content.cast::<u8>().add(length);
                end.copy_from_nonoverlapping(more.as_ptr(), more.len());
            }
        }
        self.length = wanted as c_ulong;
        true
    }

    /// Puts a zero behind the content, which does not count.
    fn end_with_zero(&mut self) -> bool {
        let is_there = self.append(&[0]);
        self.length -= c_ulong::from(is_there);
        is_there
    }
}

/// The buffer, where there is one.
///
/// # Safety
/// `buffer` is NULL or from [`ncbytesnew`], and no other call uses it at the time.
unsafe fn known<'a>(buffer: *mut Buffer) -> Option<&'a mut Buffer> {
    // SAFETY: by this function's contract.
    unsafe { buffer.as_mut() }
}

/// What `work` says of a buffer, as C has it; `FALSE` where there is none.
///
/// # Safety
/// As for [`known`].
unsafe fn told(buffer: *mut Buffer, work: impl FnOnce(&mut Buffer) -> bool) -> c_int {
    // SAFETY: by this function's contract.
    unsafe { known(buffer) }.map_or(FALSE, |buffer| c_int::from(work(buffer)))
}

/// An empty buffer.
#[unsafe(no_mangle)]
pub extern "C" fn ncbytesnew() -> *mut Buffer {
    // SAFETY: memory for one buffer; zeros are an empty one of the caller's.
    let buffer: *mut Buffer = unsafe { libc::calloc(1, size_of::<Buffer>()) }.cast();
    // SAFETY: NULL, or that memory.
    if let Some(buffer) = unsafe { buffer.as_mut() } {
        buffer.extendible = 1;
    }
    buffer
}

/// Frees a buffer with its content, unless that is the caller's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncbytesfree(buffer: *mut Buffer) {
    // SAFETY: the caller's buffer, which nobody uses afterwards.
    unsafe {
        if let Some(buffer) = known(buffer).filter(|buffer| buffer.extendible != 0) {
            free(buffer.content);
        }
        free(buffer);
    }
}

/// Makes room for that many bytes; for 0, for twice as many as there are.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncbytessetalloc(buffer: *mut Buffer, wanted: c_ulong) -> c_int {
    // SAFETY: the caller's buffer.
    unsafe {
        told(buffer, |buffer| {
            let doubled = (buffer.alloc as usize).saturating_mul(2).max(FIRST_ROOM);
            buffer.reserve(if wanted == 0 { doubled } else { wanted as usize })
        })
    }
}

/// Cuts or extends the content.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncbytessetlength(buffer: *mut Buffer, length: c_ulong) -> c_int {
    // SAFETY: the caller's buffer.
    unsafe {
        told(buffer, |buffer| {
            let has_room = buffer.reserve(length as usize);
            if has_room {
                buffer.length = length;
            }
            has_room
        })
    }
}

/// Sets all bytes to one value.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncbytesfill(buffer: *mut Buffer, value: c_char) -> c_int {
    // SAFETY: the caller's buffer.
    unsafe {
        told(buffer, |buffer| {
            buffer.bytes().fill(value as u8);
            true
        })
    }
}

/// The byte at that place, with its sign; -1 where there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncbytesget(buffer: *mut Buffer, index: c_ulong) -> c_int {
    // SAFETY: the caller's buffer.
    let byte = unsafe { known(buffer) }.and_then(|buffer| buffer.bytes().get(index as usize));
    byte.map_or(-1, |&byte| c_int::from(byte as c_char))
}

/// Puts another byte at that place.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncbytesset(buffer: *mut Buffer, index: c_ulong, value: c_char) -> c_int {
    // SAFETY: the caller's buffer.
    unsafe {
        told(buffer, |buffer| {
            let place = buffer.bytes().get_mut(index as usize);
            place.map(|byte| *byte = value as u8).is_some()
        })
    }
}

/// Appends a byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncbytesappend(buffer: *mut Buffer, value: c_char) -> c_int {
    // SAFETY: the caller's buffer.
    unsafe { told(buffer, |buffer| buffer.append(&[value as u8])) }
}

/// Puts a byte before all others.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncbytesprepend(buffer: *mut Buffer, value: c_char) -> c_int {
    // SAFETY: the caller's buffer.
    unsafe {
        told(buffer, |buffer| {
            let has_room = buffer.append(&[value as u8]);
            if has_room {
                buffer.bytes().rotate_right(1);
            }
            has_room
        })
    }
}

/// Appends bytes: `count` of them, or for 0 those of a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncbytesappendn(
    buffer: *mut Buffer,
    from: *const c_void,
    count: c_ulong,
) -> c_int {
    let more = match count {
        // SAFETY: the caller's string.
        0 => unsafe { bytes(from.cast()) },
        _ if from.is_null() => None,
        // SAFETY: so many bytes of the caller's.
        count => Some(unsafe { std::slice::from_raw_parts(from.cast(), count as usize) }),
    };
    // SAFETY: the caller's buffer.
    more.map_or(FALSE, |more| unsafe { told(buffer, |buffer| buffer.append(more)) })
}

/// Appends a string; NULL is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncbytescat(buffer: *mut Buffer, from: *const c_char) -> c_int {
    // SAFETY: the caller's string and buffer.
    unsafe { bytes(from).map_or(TRUE, |more| told(buffer, |buffer| buffer.append(more))) }
}

/// Puts a zero behind the content, which does not count.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncbytesnull(buffer: *mut Buffer) -> c_int {
    // SAFETY: the caller's buffer.
    unsafe { told(buffer, Buffer::end_with_zero) }
}

/// Takes out the byte at that place.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncbytesremove(buffer: *mut Buffer, index: c_ulong) -> c_int {
    // SAFETY: the caller's buffer.
    unsafe {
        told(buffer, |buffer| {
            let rest = buffer.bytes().get_mut(index as usize..).filter(|rest| !rest.is_empty());
            let is_there = rest.map(|rest| rest.rotate_left(1)).is_some();
            buffer.length -= c_ulong::from(is_there);
            is_there
        })
    }
}

/// A copy of the content with a zero behind it, for the caller to free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncbytesdup(buffer: *mut Buffer) -> *mut c_char {
    // SAFETY: the caller's buffer.
    let Some(buffer) = (unsafe { known(buffer) }) else { return null_mut() };
    let content = buffer.bytes();
    // SAFETY: room for the content and a zero is asked for, and both are written where there is memory.
    unsafe {
        let copy = libc::malloc(content.len() + 1).cast::<u8>();
        if !copy.is_null() {
            copy.copy_from_nonoverlapping(content.as_ptr(), content.len());
            copy.add(content.len()).write(0);
        }
        copy.cast()
    }
}

/// The content, for the caller to free; the buffer is empty then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncbytesextract(buffer: *mut Buffer) -> *mut c_char {
    // SAFETY: the caller's buffer.
    let Some(buffer) = (unsafe { known(buffer) }) else { return null_mut() };
    (buffer.alloc, buffer.length) = (0, 0);
    std::mem::replace(&mut buffer.content, null_mut())
}

/// Has a buffer use `room` bytes of the caller's, beyond which it does not grow, and of which it has the first `length`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncbytessetcontents(
    buffer: *mut Buffer,
    content: *mut c_char,
    room: c_ulong,
    length: c_ulong,
) -> c_int {
    // SAFETY: the caller's buffer, whose own content nobody uses afterwards.
    unsafe {
        told(buffer, |buffer| {
            if buffer.extendible != 0 {
                free(buffer.content);
            }
            *buffer = Buffer { content, alloc: room, length: length.min(room), extendible: 0 };
            true
        })
    }
}

/// Appends what `read` gives, up to `amount` bytes where that is not negative.
fn append_all(
    buffer: &mut Buffer,
    amount: c_longlong,
    mut read: impl FnMut(&mut [u8]) -> Outcome<usize>,
) -> Outcome {
    let mut wanted = usize::try_from(amount).unwrap_or(usize::MAX);
    let mut part = vec![0; READ_BYTES.min(wanted)];
    while wanted > 0 {
        let count = part.len().min(wanted);
        let there = read(&mut part[..count])?;
        if there == 0 {
            break;
        }
        if !buffer.append(&part[..there]) {
            return Err(Status::ENOMEM);
        }
        wanted -= there;
    }
    if !buffer.end_with_zero() {
        return Err(Status::ENOMEM);
    }
    if amount >= 0 && wanted > 0 { Err(Status::ETRUNC) } else { Ok(()) }
}

/// Appends a file's content to a buffer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn NC_readfile(path: *const c_char, buffer: *mut Buffer) -> c_int {
    // SAFETY: the same contract.
    unsafe { NC_readfilen(path, buffer, -1) }
}

/// Appends the first `amount` bytes of a file to a buffer, all of them where that is negative. `NC_ETRUNC` where
/// there are fewer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn NC_readfilen(
    path: *const c_char,
    buffer: *mut Buffer,
    amount: c_longlong,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's buffer and string.
        let (buffer, path) = unsafe { (known(buffer).ok_or(Status::EINVAL)?, text(path)?) };
        let status = |error: std::io::Error| error.raw_os_error().map_or(Status::EIO, Status);
        let mut file = File::open(path).map_err(status)?;
        append_all(buffer, amount, |part| file.read(part).map_err(|_| Status::EIO))
    })
}

/// The same of what C reads from a stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn NC_readfileF(
    stream: *mut FILE,
    buffer: *mut Buffer,
    amount: c_longlong,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's buffer.
        let buffer =
            unsafe { known(buffer) }.filter(|_| !stream.is_null()).ok_or(Status::EINVAL)?;
        append_all(buffer, amount, |part| {
            // SAFETY: the caller's stream, and our own memory.
            let count = unsafe { libc::fread(part.as_mut_ptr().cast(), 1, part.len(), stream) };
            // SAFETY: the caller's stream.
            if count == 0 && unsafe { libc::ferror(stream) } != 0 {
                return Err(Status::EIO);
            }
            Ok(count)
        })
    })
}
