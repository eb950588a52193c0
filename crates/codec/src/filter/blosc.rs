//! Filter 32001, blosc: one Blosc chunk per HDF5 chunk. See [`super::blosc_chunk`] for the bytes.

use crate::error::ErrorKind;
use crate::filter::blosc_chunk::{BlockDecoder, Chunk};
use crate::filter::blosc_encode::{self, Format, Settings};
use crate::uninit::Output;

/// Decodes the chunk. The parameters tell what the writer was asked for; the chunk says it too.
pub(crate) fn decode(_: &[u32], input: &[u8], output: &mut Output<'_>) -> Result<(), ErrorKind> {
    decode_chunk(&Chunk::decode(input)?, output)
}

/// Encodes `input` as the parameters ask for; see [`Settings::new`].
pub(crate) fn encode(
    parameters: &[u32],
    input: &[u8],
    output: &mut Vec<u8>,
) -> Result<(), ErrorKind> {
    output.clear();
    blosc_encode::encode(input, &Settings::new(Format::Blosc1, parameters)?, output)
}

/// Appends all blocks of `chunk`.
pub(super) fn decode_chunk(chunk: &Chunk<'_>, output: &mut Output<'_>) -> Result<(), ErrorKind> {
    if chunk.len > output.remaining() {
        return Err(output.too_long(chunk.len as u64));
    }
    let mut blocks = BlockDecoder::new(chunk);
    (0..chunk.block_count()).try_for_each(|index| blocks.decode(index, output))
}
