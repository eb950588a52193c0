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
use crate::uninit::{Output, fill_vec, reserve};

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
    let (size, codec) = (element_size(parameters)?, codec(parameters)?);
    if codec == Codec::None {
        let block_elements = block_elements(parameters, size)?;
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

/// Encodes a chunk of whole elements.
pub(crate) fn encode(
    parameters: &[u32],
    input: &[u8],
    output: &mut Vec<u8>,
) -> Result<(), ErrorKind> {
    let (size, codec) = (element_size(parameters)?, codec(parameters)?);
    let block_len = block_elements(parameters, size)?
        .checked_mul(size)
        .ok_or(ErrorKind::Parameter { index: 2, value: size as u32 })?;
    if !input.len().is_multiple_of(size) {
        let what = "bitshuffle length is no multiple of the element size";
        return Err(ErrorKind::Corrupt { what, at_byte: input.len() });
    }
    reserve(output, 12 + input.len())?;
    if codec != Codec::None {
        let told = u32::try_from(block_len)
            .map_err(|_| ErrorKind::Parameter { index: 3, value: parameters[3] })?;
        output.extend((input.len() as u64).to_be_bytes());
        output.extend(told.to_be_bytes());
    }
    let level = parameters.get(5).map_or(zstd::DEFAULT_LEVEL, |level| level.cast_signed());
    let (bits, rest) = input.split_at(input.len() / (size * GROUP) * (size * GROUP));
    let (mut shuffled, mut packed, mut rows) = (Vec::new(), Vec::new(), Vec::new());
    for block in bits.chunks(block_len) {
        if codec == Codec::None {
            shuffle_bits(block, size, &mut rows, output)?;
            continue;
        }
        shuffled.clear();
        shuffle_bits(block, size, &mut rows, &mut shuffled)?;
        if codec == Codec::Lz4 {
            lz4::push_block(&shuffled, output)?;
        } else {
            zstd::encode_frame(level, &shuffled, &mut packed)?;
            output.extend((packed.len() as u32).to_be_bytes());
            output.extend_from_slice(&packed);
        }
    }
    output.extend_from_slice(rest);
    Ok(())
}

fn element_size(parameters: &[u32]) -> Result<usize, ErrorKind> {
    match parameters.get(2) {
        None => Err(ErrorKind::MissingParameter { index: 2 }),
        Some(0) => Err(ErrorKind::Parameter { index: 2, value: 0 }),
        Some(&size) => Ok(size as usize),
    }
}

fn codec(parameters: &[u32]) -> Result<Codec, ErrorKind> {
    match parameters.get(4) {
        None | Some(0) => Ok(Codec::None),
        Some(2) => Ok(Codec::Lz4),
        Some(3) => Ok(Codec::Zstd),
        Some(&value) => Err(ErrorKind::Parameter { index: 4, value }),
    }
}

fn block_elements(parameters: &[u32], size: usize) -> Result<usize, ErrorKind> {
    let asked = parameters.get(3).copied().unwrap_or(0);
    block_elements_or_default(asked as usize, size)
        .ok_or(ErrorKind::Parameter { index: 3, value: asked })
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

/// Appends the transposed bits of `block`, whole groups of elements of `size` bytes; `rows` is
/// scratch. The steps of [`unshuffle_bits`], backwards.
pub(super) fn shuffle_bits(
    block: &[u8],
    size: usize,
    rows: &mut Vec<u8>,
    output: &mut Vec<u8>,
) -> Result<(), ErrorKind> {
    fill_vec(rows, block.len(), |rows| {
        rows.extend_with(block.len(), |place| simd::shuffle(block, size, place))
    })?;
    simd::transpose_bits(rows);
    let mut eight_rows = Vec::new();
    for row in rows.chunks_exact((block.len() / size).max(1)) {
        fill_vec(&mut eight_rows, row.len(), |place| {
            place.extend_with(row.len(), |place| simd::shuffle(row, GROUP, place))
        })?;
        output.extend_from_slice(&eight_rows);
    }
    Ok(())
}
