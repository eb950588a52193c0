//! Filter 32015, zstd: one or more Zstandard frames (RFC 8878) per chunk.

use std::cell::RefCell;

use zstd_safe::{CCtx, DCtx, max_c_level, min_c_level};

use crate::error::ErrorKind;
use crate::uninit::{Output, reserve};

/// The level where the parameters name none.
pub(super) const DEFAULT_LEVEL: i32 = 3;

/// zstd's code for "destination is too small", negated in what its functions return.
const DESTINATION_TOO_SMALL: usize = 70;

thread_local! {
    /// Some 100 KiB of working memory, set up once per thread.
    static CONTEXT: RefCell<Option<DCtx<'static>>> = const { RefCell::new(None) };
    /// The same for encoding; its memory grows with the level.
    static ENCODER: RefCell<Option<CCtx<'static>>> = const { RefCell::new(None) };
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

/// Encodes `input` as one frame, at the level that the first parameter gives; levels beyond the
/// library's own count as its nearest.
pub(crate) fn encode(
    parameters: &[u32],
    input: &[u8],
    output: &mut Vec<u8>,
) -> Result<(), ErrorKind> {
    let level = parameters.first().map_or(DEFAULT_LEVEL, |level| level.cast_signed());
    encode_frame(level.clamp(min_c_level(), max_c_level()), input, output)
}

/// Encodes `input` as one frame, in place of what `output` held.
pub(super) fn encode_frame(
    level: i32,
    input: &[u8],
    output: &mut Vec<u8>,
) -> Result<(), ErrorKind> {
    let bound = zstd_safe::compress_bound(input.len());
    reserve(output, bound)?;
    // With as much room as the bound, nothing but memory can be missing.
    let out_of_memory = ErrorKind::OutOfMemory { wanted_bytes: bound };
    ENCODER.with_borrow_mut(|kept| {
        let context = match kept {
            Some(context) => context,
            None => kept.insert(CCtx::try_create().ok_or(out_of_memory.clone())?),
        };
        context.compress(output, input, level).map(|_| ()).map_err(|_| out_of_memory)
    })
}
