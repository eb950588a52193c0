//! Writes chunks as Blosc 1 does; see [`super::blosc_chunk`] for the bytes.
//!
//! Every block is one stream: readers since Blosc 1.11 (2016) go by the flag that says so.

use crate::error::ErrorKind;
use crate::filter::blosc_chunk::{
    BIT_SHUFFLED, Codec, HEADER_LEN, NOT_SPLIT, SHUFFLED, STORED, VERSION_BLOSC1,
};
use crate::filter::{bitshuffle, blosclz, deflate, lz4, shuffle, zstd};
use crate::uninit::reserve;

/// All codecs have this version of their format.
const CODEC_VERSION: u8 = 1;
/// Blosc's lengths have a sign, and the chunk may become longer by its header.
const MAX_LEN: usize = i32::MAX as usize - HEADER_LEN;
/// Blocks of about this length stay in a core's cache between shuffle and codec ...
const BLOCK_LEN: usize = 128 << 10;
/// ... but codecs with large windows want more.
const LARGE_BLOCK_LEN: usize = 1 << 20;

/// How a block's bytes are put in order before they are compressed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shuffle {
    None,
    Bytes,
    Bits,
}

/// What a chunk is asked to be.
pub(super) struct Settings {
    /// In bytes, not 0.
    pub(super) element_size: u8,
    /// 0 to 9; 0 only stores.
    pub(super) level: u32,
    pub(super) shuffle: Shuffle,
    pub(super) codec: Codec,
}

/// Encodes `input` to one chunk, in place of what `output` held: in blocks, or as it is where those
/// are no shorter.
pub(super) fn encode(
    input: &[u8],
    settings: &Settings,
    output: &mut Vec<u8>,
) -> Result<(), ErrorKind> {
    if input.len() > MAX_LEN {
        return Err(ErrorKind::Length { expected_bytes: MAX_LEN, decoded_bytes: input.len() });
    }
    let block_len = settings.block_len(input.len());
    let starts_len = 4 * input.len().div_ceil(block_len.max(1));
    reserve(output, HEADER_LEN + starts_len + input.len())?;
    if settings.level > 0 {
        output.resize(HEADER_LEN + starts_len, 0);
        let mut encoder = BlockEncoder { settings, shuffled: Vec::new(), packed: Vec::new() };
        for (index, block) in input.chunks(block_len.max(1)).enumerate() {
            let start = output.len() as u32;
            output[HEADER_LEN + 4 * index..][..4].copy_from_slice(&start.to_le_bytes());
            encoder.encode(block, output)?;
        }
        if output.len() < HEADER_LEN + input.len() {
            settings.write_header(0, input.len(), block_len, output);
            return Ok(());
        }
    }
    output.clear();
    output.resize(HEADER_LEN, 0);
    output.extend_from_slice(input);
    settings.write_header(STORED, input.len(), block_len, output);
    Ok(())
}

impl Settings {
    /// Whole groups of eight elements, but no more than there are bytes.
    fn block_len(&self, len: usize) -> usize {
        let wanted = match self.codec {
            Codec::Zlib | Codec::Zstd => LARGE_BLOCK_LEN,
            _ => BLOCK_LEN,
        };
        let group = usize::from(self.element_size) * 8;
        (wanted / group * group).min(len)
    }

    /// Writes to the front of `output`, which is the whole chunk.
    fn write_header(&self, more_flags: u8, len: usize, block_len: usize, output: &mut [u8]) {
        let shuffle = match self.shuffle {
            Shuffle::Bytes if self.element_size > 1 => SHUFFLED,
            Shuffle::None | Shuffle::Bytes => 0,
            Shuffle::Bits => BIT_SHUFFLED,
        };
        let codec = match self.codec {
            Codec::BloscLz => 0,
            Codec::Lz4 => 1,
            Codec::Snappy => 2,
            Codec::Zlib => 3,
            Codec::Zstd => 4,
        };
        let flags = codec << 5 | NOT_SPLIT | shuffle | more_flags;
        output[..4].copy_from_slice(&[VERSION_BLOSC1, CODEC_VERSION, flags, self.element_size]);
        let lengths = [len, block_len, output.len()];
        for (place, len) in output[4..HEADER_LEN].chunks_exact_mut(4).zip(lengths) {
            place.copy_from_slice(&(len as u32).to_le_bytes());
        }
    }
}

/// Encodes the blocks of one chunk.
struct BlockEncoder<'s> {
    settings: &'s Settings,
    shuffled: Vec<u8>,
    packed: Vec<u8>,
}

impl BlockEncoder<'_> {
    /// Appends `block` as one stream behind its length.
    fn encode(&mut self, block: &[u8], output: &mut Vec<u8>) -> Result<(), ErrorKind> {
        let Settings { element_size, shuffle, .. } = *self.settings;
        let bytes = match shuffle {
            Shuffle::Bytes if element_size > 1 => {
                shuffle::encode(&[element_size.into()], block, &mut self.shuffled)?;
                &self.shuffled
            }
            Shuffle::Bits => {
                self.shuffle_bits(block)?;
                &self.shuffled
            }
            Shuffle::None | Shuffle::Bytes => block,
        };
        self.packed.clear();
        self.settings.compress(bytes, &mut self.packed)?;
        let stored = if self.packed.len() < bytes.len() { &self.packed } else { bytes };
        output.extend((stored.len() as u32).to_le_bytes());
        output.extend_from_slice(stored);
        Ok(())
    }

    /// Blosc 1 leaves blocks alone that are no whole groups of eight elements, and a rest always.
    fn shuffle_bits(&mut self, block: &[u8]) -> Result<(), ErrorKind> {
        let size = usize::from(self.settings.element_size);
        let elements = block.len() / size;
        let whole = if elements.is_multiple_of(8) { elements * size } else { 0 };
        self.shuffled.clear();
        bitshuffle::shuffle_bits(&block[..whole], size, &mut self.packed, &mut self.shuffled)?;
        self.shuffled.extend_from_slice(&block[whole..]);
        Ok(())
    }
}

impl Settings {
    /// Puts `bytes` in place of what `packed` held.
    fn compress(&self, bytes: &[u8], packed: &mut Vec<u8>) -> Result<(), ErrorKind> {
        match self.codec {
            Codec::BloscLz => blosclz::encode(bytes, packed),
            Codec::Lz4 => lz4::encode_block(bytes, packed)?,
            Codec::Snappy => {
                let bound = snap::raw::max_compress_len(bytes.len());
                packed.resize(bound, 0);
                let len = snap::raw::Encoder::new().compress(bytes, packed);
                // With as much room as the bound there is nothing that can fail.
                packed.truncate(len.map_err(|_| ErrorKind::OutOfMemory { wanted_bytes: bound })?);
            }
            Codec::Zlib => deflate::encode(&[self.level], bytes, packed)?,
            Codec::Zstd => zstd::encode_frame(self.zstd_level(), bytes, packed)?,
        }
        Ok(())
    }

    /// Spreads Blosc's levels over those of zstd, as Blosc does.
    fn zstd_level(&self) -> i32 {
        match self.level as i32 {
            level @ ..=7 => 2 * level - 1,
            8 => zstd_safe::max_c_level() - 2,
            _ => zstd_safe::max_c_level(),
        }
    }
}
