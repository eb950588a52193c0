//! Filter 32015, zstd: one or more Zstandard frames (RFC 8878) per chunk.

use std::cell::RefCell;

use zstd_safe::DCtx;

use crate::error::ErrorKind;
use crate::uninit::Output;

/// zstd's code for "destination is too small", negated in what its functions return.
const DESTINATION_TOO_SMALL: usize = 70;

thread_local! {
    /// Some 100 KiB of working memory, set up once per thread.
    static CONTEXT: RefCell<Option<DCtx<'static>>> = const { RefCell::new(None) };
}

/// Decodes all frames in `input` to `output`, which is empty.
pub(crate) fn decode(_: &[u32], input: &[u8], output: &mut Output<'_>) -> Result<(), ErrorKind> {
    let outcome = CONTEXT.with(|context| {
        let mut context = context.borrow_mut();
        context.get_or_insert_with(DCtx::create).decompress(output, input)
    });
    match outcome {
        Ok(_) => Ok(()),
        Err(code) if code.wrapping_neg() == DESTINATION_TOO_SMALL => Err(output.overflow()),
        Err(_) => Err(ErrorKind::Corrupt { what: "no valid zstd frame", at_byte: 0 }),
    }
}
