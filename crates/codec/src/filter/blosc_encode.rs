//! Writes chunks as Blosc 1 and 2 do; see [`super::blosc_chunk`] for the bytes.
//!
//! Every block is one stream: readers since Blosc 1.11 (2016) go by the flag that says so.

use crate::error::ErrorKind;
use crate::filter::blosc_chunk::{
    BIT_SHUFFLED, Codec, DELTA_CODED, EXTENDED_HEADER_LEN, HEADER_LEN, NOT_SPLIT, SHUFFLED, STORED,
    VERSION_BLOSC1, VERSION_NEWEST, delta_unit,
};
use crate::filter::{bitshuffle, blosclz, deflate, lz4, shuffle, zstd};
use crate::uninit::reserve;

/// All codecs have this version of their format.
const CODEC_VERSION: u8 = 1;
/// Blosc's lengths have a sign, and the chunk may become longer by its header.
const MAX_LEN: usize = i32::MAX as usize - EXTENDED_HEADER_LEN;
/// Blocks of about this length stay in a core's cache between shuffle and codec ...
const BLOCK_LEN: usize = 128 << 10;
/// ... but codecs with large windows want more.
const LARGE_BLOCK_LEN: usize = 1 << 20;
/// Where the header of Blosc 2 has the filter that was applied last, and the codec's number.
const LAST_FILTER: usize = 21;
const COMPRESSOR: usize = 22;

/// The level where the parameters name none.
const DEFAULT_LEVEL: u32 = 5;

/// Which of the two writes such chunks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Blosc1,
    Blosc2,
}

/// What is done to a block's bytes before they are compressed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Filter {
    None,
    Shuffle,
    BitShuffle,
    /// Differences from the chunk's first block. Blosc 2 alone has a number for it.
    Delta,
}

/// What a chunk is asked to be.
pub(super) struct Settings {
    pub(super) format: Format,
    /// In bytes, not 0.
    pub(super) element_size: u8,
    /// 0 to 9; 0 only stores.
    pub(super) level: u32,
    pub(super) filter: Filter,
    /// As parameters number it.
    pub(super) compressor: u8,
    pub(super) codec: Codec,
}

impl Settings {
    /// What the parameters of both HDF5 filters say.
    ///
    /// ```text
    /// parameters   two versions; element size; bytes of the HDF5 chunk; level (0 to 9);
    ///              filter (0 none, 1 shuffle, 2 of bits, 3 delta: Blosc 2);
    ///              codec (0 BloscLZ, 1 LZ4, 2 LZ4 "high compression", 3 snappy: Blosc 1, 4 zlib,
    ///              5 zstd)
    /// ```
    pub(super) fn new(format: Format, parameters: &[u32]) -> Result<Self, ErrorKind> {
        let get = |index, default| parameters.get(index).copied().unwrap_or(default);
        let wrong = |index, value| Err(ErrorKind::Parameter { index, value });
        let element_size =
            match *parameters.get(2).ok_or(ErrorKind::MissingParameter { index: 2 })? {
                0 => return wrong(2, 0),
                // Larger elements are bytes to Blosc.
                size => u8::try_from(size).unwrap_or(1),
            };
        let level = match get(4, DEFAULT_LEVEL) {
            level @ 0..=9 => level,
            level => return wrong(4, level),
        };
        let filter = match (get(5, 1), format) {
            (0, _) => Filter::None,
            (1, _) => Filter::Shuffle,
            (2, _) => Filter::BitShuffle,
            (3, Format::Blosc2) => Filter::Delta,
            (filter, _) => return wrong(5, filter),
        };
        let (compressor, codec) = match (get(6, 0), format) {
            (0, _) => (0, Codec::BloscLz),
            // The same format; its slower search is not among our codecs.
            (1, _) => (1, Codec::Lz4),
            (2, _) => (2, Codec::Lz4),
            (3, Format::Blosc1) => (3, Codec::Snappy),
            (4, _) => (4, Codec::Zlib),
            (5, _) => (5, Codec::Zstd),
            (codec, _) => return wrong(6, codec),
        };
        Ok(Self { format, element_size, level, filter, compressor, codec })
    }
}

/// Appends `input` to `output` as one chunk: in blocks, or as it is where those are no shorter.
pub(super) fn encode(
    input: &[u8],
    settings: &Settings,
    output: &mut Vec<u8>,
) -> Result<(), ErrorKind> {
    if input.len() > MAX_LEN {
        return Err(ErrorKind::Length { expected_bytes: MAX_LEN, decoded_bytes: input.len() });
    }
    let begin = output.len();
    let header_len = settings.header_len();
    let block_len = settings.block_len(input.len());
    let starts_len = 4 * input.len().div_ceil(block_len.max(1));
    let bound = header_len + starts_len + input.len();
    output.try_reserve(bound).map_err(|_| ErrorKind::OutOfMemory { wanted_bytes: bound })?;
    if settings.level > 0 {
        output.resize(begin + header_len + starts_len, 0);
        let mut encoder = BlockEncoder::new(settings);
        for (index, block) in input.chunks(block_len.max(1)).enumerate() {
            let start = (output.len() - begin) as u32;
            output[begin + header_len + 4 * index..][..4].copy_from_slice(&start.to_le_bytes());
            encoder.encode(block, output)?;
        }
        if output.len() - begin < header_len + input.len() {
            settings.write_header(0, input.len(), block_len, &mut output[begin..]);
            return Ok(());
        }
    }
    output.truncate(begin);
    output.resize(begin + header_len, 0);
    output.extend_from_slice(input);
    settings.write_header(STORED, input.len(), block_len, &mut output[begin..]);
    Ok(())
}

impl Settings {
    fn header_len(&self) -> usize {
        match self.format {
            Format::Blosc1 => HEADER_LEN,
            Format::Blosc2 => EXTENDED_HEADER_LEN,
        }
    }

    /// The filter's number.
    pub(super) fn filter_code(&self) -> u8 {
        match self.filter {
            Filter::None => 0,
            Filter::Shuffle => 1,
            Filter::BitShuffle => 2,
            Filter::Delta => 3,
        }
    }

    /// Decoded length of a block of a chunk of `len` bytes: whole groups of eight elements, but no more
    /// than there are bytes.
    pub(super) fn block_len(&self, len: usize) -> usize {
        let wanted = match self.codec {
            Codec::Zlib | Codec::Zstd => LARGE_BLOCK_LEN,
            _ => BLOCK_LEN,
        };
        let group = usize::from(self.element_size) * 8;
        (wanted / group * group).min(len)
    }

    /// Writes to the front of `output`, which is the whole chunk.
    fn write_header(&self, more_flags: u8, len: usize, block_len: usize, output: &mut [u8]) {
        let (version, filter) = match (self.format, self.filter) {
            // Both at once, which no chunk has: the header goes on.
            (Format::Blosc2, Filter::Delta) => {
                (VERSION_NEWEST, SHUFFLED | BIT_SHUFFLED | DELTA_CODED)
            }
            (Format::Blosc2, _) => (VERSION_NEWEST, SHUFFLED | BIT_SHUFFLED),
            (Format::Blosc1, Filter::Shuffle) if self.element_size > 1 => {
                (VERSION_BLOSC1, SHUFFLED)
            }
            (Format::Blosc1, Filter::BitShuffle) => (VERSION_BLOSC1, BIT_SHUFFLED),
            (Format::Blosc1, _) => (VERSION_BLOSC1, 0),
        };
        let codec = match self.codec {
            Codec::BloscLz => 0,
            Codec::Lz4 => 1,
            Codec::Snappy => 2,
            Codec::Zlib => 3,
            Codec::Zstd => 4,
        };
        let flags = codec << 5 | NOT_SPLIT | filter | more_flags;
        output[..4].copy_from_slice(&[version, CODEC_VERSION, flags, self.element_size]);
        if self.format == Format::Blosc2 {
            output[LAST_FILTER] = self.filter_code();
            output[COMPRESSOR] = self.compressor;
        }
        let lengths = [len, block_len, output.len()];
        for (place, len) in output[4..HEADER_LEN].chunks_exact_mut(4).zip(lengths) {
            place.copy_from_slice(&(len as u32).to_le_bytes());
        }
    }
}

/// Encodes the blocks of one chunk.
struct BlockEncoder<'a> {
    settings: &'a Settings,
    /// The first block; `None` before it is encoded.
    reference: Option<&'a [u8]>,
    filtered: Vec<u8>,
    packed: Vec<u8>,
}

impl<'a> BlockEncoder<'a> {
    fn new(settings: &'a Settings) -> Self {
        Self { settings, reference: None, filtered: Vec::new(), packed: Vec::new() }
    }

    /// Appends `block` as one stream behind its length.
    fn encode(&mut self, block: &'a [u8], output: &mut Vec<u8>) -> Result<(), ErrorKind> {
        let Settings { element_size, filter, .. } = *self.settings;
        let bytes = match filter {
            Filter::Shuffle if element_size > 1 => {
                shuffle::encode(&[element_size.into()], block, &mut self.filtered)?;
                &self.filtered
            }
            Filter::BitShuffle => {
                self.shuffle_bits(block)?;
                &self.filtered
            }
            Filter::Delta => {
                self.subtract(block)?;
                &self.filtered
            }
            Filter::None | Filter::Shuffle => block,
        };
        self.packed.clear();
        self.settings.compress(bytes, &mut self.packed)?;
        let stored = if self.packed.len() < bytes.len() { &self.packed } else { bytes };
        output.extend((stored.len() as u32).to_le_bytes());
        output.extend_from_slice(stored);
        Ok(())
    }

    /// What is no whole group of eight elements stays; Blosc 1 leaves a whole block alone for it.
    fn shuffle_bits(&mut self, block: &[u8]) -> Result<(), ErrorKind> {
        let size = usize::from(self.settings.element_size);
        let elements = block.len() / size;
        let whole = match (self.settings.format, elements % 8) {
            (Format::Blosc1, 1..) => 0,
            (_, rest) => (elements - rest) * size,
        };
        self.filtered.clear();
        bitshuffle::shuffle_bits(&block[..whole], size, &mut self.packed, &mut self.filtered)?;
        self.filtered.extend_from_slice(&block[whole..]);
        Ok(())
    }

    /// In the first block exclusive ors with the element before, in others with the same element of the
    /// first.
    fn subtract(&mut self, block: &'a [u8]) -> Result<(), ErrorKind> {
        let unit = delta_unit(self.settings.element_size.into());
        let whole = block.len() / unit * unit;
        reserve(&mut self.filtered, block.len())?;
        self.filtered.extend_from_slice(block);
        let (from, reference) = match self.reference {
            Some(reference) => (0, reference),
            None => (unit.min(whole), block),
        };
        for (value, reference) in self.filtered[from..whole].iter_mut().zip(reference) {
            *value ^= reference;
        }
        self.reference.get_or_insert(block);
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
