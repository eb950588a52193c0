//! Filter 32008, bitshuffle: the bits of elements transposed, block by block, then compressed.
//!
//! ```text
//! parameters   major, minor version; element size; elements per block (0: by default);
//!              codec (0 none, 2 LZ4, 3 zstd); zstd's level
//! without codec    | block | block | .. | last block | rest |
//! with codec       0   8  decoded length in bytes, big-endian
//!                  8   4  bytes per decoded block, big-endian
//!                  12     blocks: 4 bytes encoded length, then the block; at the end the rest
//! a block of n elements of s bytes: 8 s rows of n bits
//!                  row 8 j + k is bit k of byte j of each element, lowest bit first
//! ```
//! Blocks hold a multiple of 8 elements, the last one the most that is left; the rest, less than
//! 8 elements, is stored as it is.

use crate::error::ErrorKind;
use crate::filter::lz4::{self, Blocks};
use crate::filter::{shuffle, simd, zstd};
use crate::uninit::{Output, fill_vec};

/// Elements in a block are a multiple of this.
const GROUP: usize = 8;
/// The default block is of about this many bytes, so that two of them fit the nearest cache.
const DEFAULT_BLOCK_BYTES: usize = 8192;
/// The fewest elements in a default block.
const DEFAULT_BLOCK_MIN: usize = 128;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Codec {
    None,
    Lz4,
    Zstd,
}

/// Decodes a chunk.
pub(crate) fn decode(
    parameters: &[u32],
    input: &[u8],
    output: &mut Output<'_>,
) -> Result<(), ErrorKind> {
    let size = match parameters.get(2) {
        None => return Err(ErrorKind::MissingParameter { index: 2 }),
        Some(0) => return Err(ErrorKind::Parameter { index: 2, value: 0 }),
        Some(&size) => size as usize,
    };
    let codec = match parameters.get(4) {
        None | Some(0) => Codec::None,
        Some(2) => Codec::Lz4,
        Some(3) => Codec::Zstd,
        Some(&value) => return Err(ErrorKind::Parameter { index: 4, value }),
    };
    if codec == Codec::None {
        let block_elements = parameters.get(3).copied().unwrap_or(0);
        let block_elements = block_elements_or_default(block_elements as usize, size)
            .ok_or(ErrorKind::Parameter { index: 3, value: block_elements })?;
        return decode_blocks(
            Blocks { input, at: 0 },
            codec,
            input.len(),
            block_elements,
            output,
            size,
        );
    }
    let mut blocks = Blocks { input, at: 0 };
    let total = u64::from_be_bytes(blocks.take()?);
    let block_bytes = u32::from_be_bytes(blocks.take()?) as usize;
    let total = match usize::try_from(total) {
        Ok(total) if total <= output.remaining() => total,
        _ => return Err(output.too_long(total)),
    };
    let block_elements = block_elements_or_default(block_bytes / size, size)
        .ok_or(ErrorKind::Corrupt { what: "bitshuffle block size", at_byte: 8 })?;
    decode_blocks(blocks, codec, total, block_elements, output, size)
}

/// The elements per block, or `None` where they make no whole groups.
fn block_elements_or_default(elements: usize, size: usize) -> Option<usize> {
    if elements == 0 {
        let default = DEFAULT_BLOCK_BYTES / size / GROUP * GROUP;
        return Some(default.max(DEFAULT_BLOCK_MIN));
    }
    elements.is_multiple_of(GROUP).then_some(elements)
}

/// Decodes blocks that give `total` bytes together.
fn decode_blocks(
    mut blocks: Blocks<'_>,
    codec: Codec,
    total: usize,
    block_elements: usize,
    output: &mut Output<'_>,
    size: usize,
) -> Result<(), ErrorKind> {
    let elements = total / size;
    if !total.is_multiple_of(size) {
        let what = "bitshuffle length is no multiple of the element size";
        return Err(ErrorKind::Corrupt { what, at_byte: 0 });
    }
    let mut left = elements / GROUP * GROUP;
    let rest_len = total - left * size;
    let (mut unpacked, mut rows) = (Vec::new(), Vec::new());
    while left > 0 {
        let count = left.min(block_elements);
        let len = count * size;
        let at_byte = blocks.at;
        let block = match codec {
            Codec::None => blocks.take_slice(len)?,
            Codec::Lz4 => {
                let block = blocks.next_block()?;
                fill_vec(&mut unpacked, len, |o| lz4::decode_block(block, len, at_byte, o))?;
                &unpacked
            }
            Codec::Zstd => {
                let block = blocks.next_block()?;
                fill_vec(&mut unpacked, len, |o| zstd::decode(&[], block, o))?;
                &unpacked
            }
        };
        if block.len() != len {
            return Err(ErrorKind::Corrupt { what: "bitshuffle block of another length", at_byte });
        }
        unshuffle_bits(block, count, size, &mut rows, output)?;
        left -= count;
    }
    output.extend(blocks.take_slice(rest_len)?)
}

/// Restores the `count` elements of `size` bytes in `block`; `rows` is scratch.
///
/// Eight rows of bits, interleaved byte by byte, are matrices of 8 by 8 bits. Transposed, these are
/// one byte of every element; and interleaving those bytes is the byte shuffle's work.
pub(super) fn unshuffle_bits(
    block: &[u8],
    count: usize,
    size: usize,
    rows: &mut Vec<u8>,
    output: &mut Output<'_>,
) -> Result<(), ErrorKind> {
    fill_vec(rows, block.len(), |bytes| {
        block.chunks_exact(count).try_for_each(|eight_rows| {
            bytes.extend_with(count, |place| {
                let groups = count / GROUP;
                shuffle::unshuffle_range(eight_rows, GROUP, groups, 0, groups, place)
            })
        })
    })?;
    simd::transpose_bits(rows);
    output.extend_with(rows.len(), |place| {
        shuffle::unshuffle_range(rows, size, count, 0, count, place)
    })
}
