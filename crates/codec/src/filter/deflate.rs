//! Filter 1, deflate: one zlib stream (RFC 1950) per chunk.

use crate::error::ErrorKind;
use crate::libdeflate;
use crate::uninit::Output;

/// Inflates `input`. Bytes behind the end of the stream are ignored, as zlib ignores them.
pub(crate) fn decode(_: &[u32], input: &[u8], output: &mut Output<'_>) -> Result<(), ErrorKind> {
    libdeflate::inflate_zlib(input, output)
}

/// The level where the parameters name none, zlib's own.
const DEFAULT_LEVEL: u32 = 6;

/// Deflates `input` at the level that the first parameter gives, 0 to 9.
///
/// Incompressible chunks become longer by a few bytes in 65,535, as those of libhdf5 do: some
/// readers know nothing of filters that are left out.
pub(crate) fn encode(
    parameters: &[u32],
    input: &[u8],
    output: &mut Vec<u8>,
) -> Result<(), ErrorKind> {
    match parameters.first().copied().unwrap_or(DEFAULT_LEVEL) {
        level @ 0..=9 => libdeflate::deflate_zlib(level, input, output),
        value => Err(ErrorKind::Parameter { index: 0, value }),
    }
}
