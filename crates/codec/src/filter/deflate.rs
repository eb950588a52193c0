//! Filter 1, deflate: one zlib stream (RFC 1950) per chunk.

use crate::error::ErrorKind;
use crate::libdeflate;
use crate::uninit::Output;

/// Inflates `input`. Bytes behind the end of the stream are ignored, as zlib ignores them.
pub(crate) fn decode(_: &[u32], input: &[u8], output: &mut Output<'_>) -> Result<(), ErrorKind> {
    libdeflate::inflate_zlib(input, output)
}
