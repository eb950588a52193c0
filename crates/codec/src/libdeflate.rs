//! Room for unsafe code: calls into the C library libdeflate.
//!
//! libdeflate codes a whole stream at once, at about twice zlib's speed.
//!
//! The contract:
//! - A compressor is allocated once per thread and for each change of level; never null when kept,
//!   freed once.
//! - The library reads only `input` and writes only the place it is given.
//! - The count it returns is of bytes it has initialised from the front of the place.

use std::cell::RefCell;
use std::ptr::NonNull;

use libdeflate_sys as sys;

use crate::error::ErrorKind;
use crate::uninit::fill_vec;

thread_local! {
    /// Of the level used last: threads seldom change it.
    static COMPRESSOR: RefCell<Option<Compressor>> = const { RefCell::new(None) };
}

/// Deflates `input` to one zlib stream, in place of what `output` held. `level` is 0 to 12.
pub(crate) fn deflate_zlib(
    level: u32,
    input: &[u8],
    output: &mut Vec<u8>,
) -> Result<(), ErrorKind> {
    COMPRESSOR.with_borrow_mut(|kept| {
        let compressor = match kept.take() {
            Some(compressor) if compressor.level == level => compressor,
            _ => Compressor::new(level)?,
        };
        kept.insert(compressor).deflate_zlib(input, output)
    })
}

/// The checksum that stands at the end of a zlib stream.
pub(crate) fn adler32(bytes: &[u8]) -> u32 {
    // SAFETY: the library reads `bytes.len()` bytes; the checksum of nothing is 1.
    unsafe { sys::libdeflate_adler32(1, bytes.as_ptr().cast(), bytes.len()) }
}

/// The library's working memory for one level (up to some MiB), owned.
struct Compressor {
    level: u32,
    memory: NonNull<sys::libdeflate_compressor>,
}

impl Compressor {
    fn new(level: u32) -> Result<Self, ErrorKind> {
        // SAFETY: takes a number; gives memory that this value owns, or null.
        let pointer = unsafe { sys::libdeflate_alloc_compressor(level as i32) };
        let memory =
            NonNull::new(pointer).ok_or(ErrorKind::OutOfMemory { wanted_bytes: 1 << 20 })?;
        Ok(Self { level, memory })
    }

    fn deflate_zlib(&mut self, input: &[u8], output: &mut Vec<u8>) -> Result<(), ErrorKind> {
        // SAFETY: the compressor is live; the call only computes.
        let bound =
            unsafe { sys::libdeflate_zlib_compress_bound(self.memory.as_ptr(), input.len()) };
        let deflate = |place: &mut [std::mem::MaybeUninit<u8>]| {
            // SAFETY: pointers and lengths are those of live slices, `place` is not aliased, and the
            // compressor is this thread's own.
            let written = unsafe {
                sys::libdeflate_zlib_compress(
                    self.memory.as_ptr(),
                    input.as_ptr().cast(),
                    input.len(),
                    place.as_mut_ptr().cast(),
                    place.len(),
                )
            };
            // 0 where there is too little room, which the bound rules out.
            if written > 0 { Ok(written) } else { Err(()) }
        };
        fill_vec(output, bound, |output| {
            // SAFETY: the library has initialised the `written` first bytes.
            let outcome = unsafe { output.extend_up_to(deflate) };
            outcome.map(|_| ()).map_err(|()| output.overflow())
        })
    }
}

impl Drop for Compressor {
    fn drop(&mut self) {
        // SAFETY: allocated in `new`, owned by this value, not used again.
        unsafe { sys::libdeflate_free_compressor(self.memory.as_ptr()) };
    }
}
