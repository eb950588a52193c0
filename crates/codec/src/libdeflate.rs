//! Room for unsafe code: calls into the C library libdeflate.
//!
//! libdeflate decodes a whole stream at once, at about twice zlib's speed.
//!
//! The contract:
//! - A decompressor is allocated once per thread, never null when kept, freed once.
//! - The library reads only `input` and writes only the place it is given; it does so for any
//!   input bytes (its documented promise: the output is never overrun, the input never overread).
//! - The count it returns is of bytes it has initialised from the front of the place.

use std::cell::OnceCell;
use std::ptr::NonNull;

use libdeflate_sys as sys;

use crate::error::ErrorKind;
use crate::uninit::Output;

thread_local! {
    static DECOMPRESSOR: OnceCell<Decompressor> = const { OnceCell::new() };
}

/// Inflates one zlib stream to `output`, ignoring what follows it.
pub(crate) fn inflate_zlib(input: &[u8], output: &mut Output<'_>) -> Result<(), ErrorKind> {
    DECOMPRESSOR.with(|cell| cell.get_or_init(Decompressor::new).inflate_zlib(input, output))
}

/// The library's working memory (some 11 KiB), owned.
struct Decompressor(NonNull<sys::libdeflate_decompressor>);

impl Decompressor {
    fn new() -> Self {
        // SAFETY: takes nothing; gives memory that this value owns, or null.
        let pointer = unsafe { sys::libdeflate_alloc_decompressor() };
        let Some(pointer) = NonNull::new(pointer) else {
            std::alloc::handle_alloc_error(std::alloc::Layout::new::<[u8; 16 << 10]>());
        };
        Self(pointer)
    }

    fn inflate_zlib(&self, input: &[u8], output: &mut Output<'_>) -> Result<(), ErrorKind> {
        let mut status = 0;
        let inflate = |place: &mut [std::mem::MaybeUninit<u8>]| {
            let mut written = 0;
            // SAFETY: pointers and lengths are those of live slices, `place` is not aliased, and the
            // decompressor is this thread's own.
            status = unsafe {
                sys::libdeflate_zlib_decompress(
                    self.0.as_ptr(),
                    input.as_ptr().cast(),
                    input.len(),
                    place.as_mut_ptr().cast(),
                    place.len(),
                    &mut written,
                )
            };
            if status == sys::libdeflate_result_LIBDEFLATE_SUCCESS { Ok(written) } else { Err(()) }
        };
        // SAFETY: on success the library has initialised the `written` first bytes.
        let outcome = unsafe { output.extend_up_to(inflate) };
        outcome.map(|_| ()).map_err(|()| {
            if status == sys::libdeflate_result_LIBDEFLATE_INSUFFICIENT_SPACE {
                output.overflow()
            } else {
                ErrorKind::Corrupt { what: "no valid zlib stream", at_byte: 0 }
            }
        })
    }
}

impl Drop for Decompressor {
    fn drop(&mut self) {
        // SAFETY: allocated in `new`, owned by this value, not used again.
        unsafe { sys::libdeflate_free_decompressor(self.0.as_ptr()) };
    }
}
