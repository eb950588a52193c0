//! Filter 1, deflate: one zlib stream (RFC 1950) per chunk.

use crate::deflate;
use crate::error::ErrorKind;
use crate::inflate::inflate_zlib;
use crate::libdeflate;
use crate::uninit::{Output, fill_vec};

/// Inflates `input`. Bytes behind the end of the stream are ignored, as zlib ignores them.
pub(crate) fn decode(_: &[u32], input: &[u8], output: &mut Output<'_>) -> Result<(), ErrorKind> {
    inflate_zlib(input, output)
}

/// Deflate with a window of 32 KiB, at the fastest level.
const HEADER: [u8; 2] = [0x78, 0x01];
const CHECKSUM_LEN: usize = 4;
const _: () = assert!((HEADER[0] as u32 * 256 + HEADER[1] as u32).is_multiple_of(31));

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
        1 => encode_fast(input, output),
        // The library's level 5 loses to zlib's where long stretches are alike.
        5 => libdeflate::deflate_zlib(6, input, output),
        level @ 0..=9 => libdeflate::deflate_zlib(level, input, output),
        value => Err(ErrorKind::Parameter { index: 0, value }),
    }
}

/// Wraps what our own encoder gives: the compression method with its window, the level, then the
/// checksum, big-endian.
fn encode_fast(input: &[u8], output: &mut Vec<u8>) -> Result<(), ErrorKind> {
    let bound = HEADER.len() + deflate::bound(input.len()) + CHECKSUM_LEN;
    fill_vec(output, bound, |output| {
        output.extend(&HEADER)?;
        deflate::encode(input, output);
        output.extend(&libdeflate::adler32(input).to_be_bytes())
    })
}
