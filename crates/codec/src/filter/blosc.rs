//! Filter 32001, blosc: one Blosc chunk per HDF5 chunk. See [`super::blosc_chunk`] for the bytes.

use crate::error::ErrorKind;
use crate::filter::blosc_chunk::{BlockDecoder, Chunk, Codec};
use crate::filter::blosc_encode::{self, Settings, Shuffle};
use crate::uninit::Output;

/// The level where the parameters name none.
const DEFAULT_LEVEL: u32 = 5;

/// Decodes the chunk. The parameters tell what the writer was asked for; the chunk says it too.
pub(crate) fn decode(_: &[u32], input: &[u8], output: &mut Output<'_>) -> Result<(), ErrorKind> {
    decode_chunk(&Chunk::decode(input)?, output)
}

/// Encodes `input` as the parameters ask for.
///
/// ```text
/// parameters   revision of the filter, of Blosc's format; element size; bytes of the HDF5 chunk;
///              level (0 to 9); shuffle (0 none, 1 bytes, 2 bits);
///              codec (0 BloscLZ, 1 LZ4, 2 LZ4 "high compression", 3 snappy, 4 zlib, 5 zstd)
/// ```
pub(crate) fn encode(
    parameters: &[u32],
    input: &[u8],
    output: &mut Vec<u8>,
) -> Result<(), ErrorKind> {
    let get = |index, default| parameters.get(index).copied().unwrap_or(default);
    let element_size = parameters.get(2).ok_or(ErrorKind::MissingParameter { index: 2 })?;
    let wrong = |index, value| Err(ErrorKind::Parameter { index, value });
    let level = match get(4, DEFAULT_LEVEL) {
        level @ 0..=9 => level,
        level => return wrong(4, level),
    };
    let shuffle = match get(5, 1) {
        0 => Shuffle::None,
        1 => Shuffle::Bytes,
        2 => Shuffle::Bits,
        shuffle => return wrong(5, shuffle),
    };
    let codec = match get(6, 0) {
        0 => Codec::BloscLz,
        // The same format; its slower search is not among our codecs.
        1 | 2 => Codec::Lz4,
        3 => Codec::Snappy,
        4 => Codec::Zlib,
        5 => Codec::Zstd,
        codec => return wrong(6, codec),
    };
    // Larger elements are bytes to Blosc.
    let element_size = match *element_size {
        0 => return wrong(2, 0),
        size => u8::try_from(size).unwrap_or(1),
    };
    blosc_encode::encode(input, &Settings { element_size, level, shuffle, codec }, output)
}

/// Appends all blocks of `chunk`.
pub(super) fn decode_chunk(chunk: &Chunk<'_>, output: &mut Output<'_>) -> Result<(), ErrorKind> {
    if chunk.len > output.remaining() {
        return Err(output.too_long(chunk.len as u64));
    }
    let mut blocks = BlockDecoder::new(chunk);
    (0..chunk.block_count()).try_for_each(|index| blocks.decode(index, output))
}
