//! Filter 32004, lz4: a header, then LZ4 blocks, all numbers big-endian.
//!
//! ```text
//! 0   8  decoded length in bytes
//! 8   4  decoded length of every block but the last
//! 12     blocks: 4 bytes encoded length, then the block
//! ```
//! A block whose encoded length is its decoded length is stored as it is.

use crate::error::ErrorKind;
use crate::uninit::{Output, reserve};

/// Bytes in a block where the parameters name none.
const DEFAULT_BLOCK_LEN: u32 = 1 << 30;
/// The most that LZ4 can take.
const MAX_BLOCK_LEN: u32 = 0x7E00_0000;

/// Encodes `input` in blocks of as many bytes as the first parameter says.
pub(crate) fn encode(
    parameters: &[u32],
    input: &[u8],
    output: &mut Vec<u8>,
) -> Result<(), ErrorKind> {
    let block_len = match parameters.first() {
        None | Some(0) => DEFAULT_BLOCK_LEN,
        Some(&len) => len.min(MAX_BLOCK_LEN),
    };
    let block_len = (block_len as usize).min(input.len());
    let blocks = input.len().div_ceil(block_len.max(1));
    reserve(output, 12 + 4 * blocks + input.len())?;
    output.extend((input.len() as u64).to_be_bytes());
    output.extend((block_len as u32).to_be_bytes());
    for block in input.chunks(block_len.max(1)) {
        let start = output.len() + 4;
        push_block(block, output)?;
        if output.len() - start >= block.len() {
            output.truncate(start - 4);
            output.extend((block.len() as u32).to_be_bytes());
            output.extend_from_slice(block);
        }
    }
    Ok(())
}

/// Appends `bytes` as one LZ4 block behind its encoded length, big-endian.
pub(super) fn push_block(bytes: &[u8], output: &mut Vec<u8>) -> Result<(), ErrorKind> {
    let start = output.len() + 4;
    output.extend([0; 4]);
    encode_block(bytes, output)?;
    let len = (output.len() - start) as u32;
    output[start - 4..start].copy_from_slice(&len.to_be_bytes());
    Ok(())
}

/// Appends `bytes` as one LZ4 block.
pub(super) fn encode_block(bytes: &[u8], output: &mut Vec<u8>) -> Result<(), ErrorKind> {
    let bound = lz4_flex::block::get_maximum_output_size(bytes.len());
    let start = output.len();
    let out_of_memory = ErrorKind::OutOfMemory { wanted_bytes: start.saturating_add(bound) };
    output.try_reserve(bound).map_err(|_| out_of_memory.clone())?;
    output.resize(start + bound, 0);
    // With as much room as the bound there is nothing that can fail.
    let len = lz4_flex::block::compress_into(bytes, &mut output[start..]);
    output.truncate(start + len.map_err(|_| out_of_memory)?);
    Ok(())
}

/// Decodes all blocks.
pub(crate) fn decode(_: &[u32], input: &[u8], output: &mut Output<'_>) -> Result<(), ErrorKind> {
    let mut blocks = Blocks { input, at: 0 };
    let total = u64::from_be_bytes(blocks.take()?);
    let block_len = u32::from_be_bytes(blocks.take()?) as usize;
    let mut left = match usize::try_from(total) {
        Ok(total) if total <= output.remaining() => total,
        _ => return Err(output.too_long(total)),
    };
    if block_len == 0 && left > 0 {
        return Err(ErrorKind::Corrupt { what: "lz4 blocks of no bytes", at_byte: 8 });
    }
    while left > 0 {
        let count = left.min(block_len);
        let at_byte = blocks.at;
        let block = blocks.next_block()?;
        if block.len() == count {
            output.extend(block)?;
        } else {
            decode_block(block, count, at_byte, output)?;
        }
        left -= count;
    }
    Ok(())
}

/// Decodes one LZ4 block, which must give `count` bytes; it stands at `at_byte` of the chunk.
pub(crate) fn decode_block(
    block: &[u8],
    count: usize,
    at_byte: usize,
    output: &mut Output<'_>,
) -> Result<(), ErrorKind> {
    match lz4_flex::block::decompress_into(block, output.extend_zeroed(count)?) {
        Ok(decoded) if decoded == count => Ok(()),
        _ => Err(ErrorKind::Corrupt { what: "no valid lz4 block", at_byte }),
    }
}

/// Reads numbers and blocks that begin with their length.
pub(crate) struct Blocks<'a> {
    pub(crate) input: &'a [u8],
    /// The next byte.
    pub(crate) at: usize,
}

impl<'a> Blocks<'a> {
    /// The next `N` bytes.
    pub(crate) fn take<const N: usize>(&mut self) -> Result<[u8; N], ErrorKind> {
        let bytes = self.input[self.at..].first_chunk().ok_or_else(|| self.cut_off())?;
        self.at += N;
        Ok(*bytes)
    }

    /// The next block, which a 4-byte big-endian length precedes.
    pub(crate) fn next_block(&mut self) -> Result<&'a [u8], ErrorKind> {
        let len = u32::from_be_bytes(self.take()?) as usize;
        self.take_slice(len)
    }

    /// The next `len` bytes.
    pub(crate) fn take_slice(&mut self, len: usize) -> Result<&'a [u8], ErrorKind> {
        let block = self.input[self.at..].get(..len).ok_or_else(|| self.cut_off())?;
        self.at += len;
        Ok(block)
    }

    fn cut_off(&self) -> ErrorKind {
        ErrorKind::Corrupt { what: "blocks are cut off", at_byte: self.at }
    }
}
