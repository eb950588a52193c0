//! A chunk as Blosc 1 and 2 write it: blocks of elements, filtered and compressed one by one.
//!
//! ```text
//! 0    1  version                1    1  version of the codec's format
//! 2    1  flags                  3    1  bytes of an element
//! 4    4  decoded length         8    4  decoded length of a block
//! 12   4  encoded length, with this header
//!         where flags say both shuffles, which no chunk has, the header goes on:
//! 16   6  filters, in order of encoding       22   2  the user's own codec
//! 24   6  the filters' settings               30   1  more flags
//! 31   1  Blosc2's flags
//!
//! then     where each block starts (4 bytes each), the blocks
//! or       the decoded bytes, where flags say so
//! or       one value, or nothing, where all elements are alike
//!
//! block    streams: 4 bytes encoded length, then so many bytes
//! ```
//! A block is one stream, or as many as an element has bytes. All numbers are little-endian.

use crate::error::ErrorKind;
use crate::filter::{bitshuffle, blosclz, lz4, shuffle, zstd};
use crate::inflate::inflate_zlib;
use crate::uninit::{Output, fill_vec};

/// The last version of the format that Blosc 1 writes.
pub(super) const VERSION_BLOSC1: u8 = 2;
/// The newest version known.
pub(super) const VERSION_NEWEST: u8 = 5;

pub(super) const HEADER_LEN: usize = 16;
pub(super) const EXTENDED_HEADER_LEN: usize = 32;

/// Flags.
pub(super) const SHUFFLED: u8 = 0x01;
pub(super) const STORED: u8 = 0x02;
pub(super) const BIT_SHUFFLED: u8 = 0x04;
pub(super) const DELTA_CODED: u8 = 0x08;
pub(super) const NOT_SPLIT: u8 = 0x10;

/// Blosc2's flags.
const DICTIONARY: u8 = 0x01;
const LAZY: u8 = 0x08;
const INSTRUMENTED: u8 = 0x80;

/// Kinds of chunks whose elements are all alike.
const SPECIAL_ZERO: u8 = 1;
const SPECIAL_NAN: u8 = 2;
const SPECIAL_VALUE: u8 = 3;
const SPECIAL_UNINITIALISED: u8 = 4;

/// Blosc 1 splits blocks of elements of at most so many bytes ...
const BLOSC1_MAX_SPLITS: usize = 16;
/// ... that have at least so many elements. Before version 1.11 no flag says so.
const BLOSC1_MIN_ELEMENTS: usize = 128;

/// A chunk, its blocks still encoded.
pub(super) struct Chunk<'a> {
    /// Decoded length in bytes.
    pub(super) len: usize,
    /// Decoded length of every block but the last, which may be shorter. Not 0, if `len` is not.
    pub(super) block_len: usize,
    element_size: usize,
    version: u8,
    content: Content<'a>,
    /// In the order in which they are undone.
    filters: Vec<Filter>,
}

enum Content<'a> {
    /// The whole chunk, and where the blocks' starts are in it.
    Blocks { chunk: &'a [u8], starts: &'a [u8], codec: Codec, may_split: bool },
    /// The decoded bytes.
    Stored(&'a [u8]),
    /// A value that fills the chunk.
    Repeated(&'a [u8]),
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Codec {
    BloscLz,
    Lz4,
    Snappy,
    Zlib,
    Zstd,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Filter {
    /// Of elements of so many bytes.
    Shuffle(u8),
    BitShuffle,
    Delta,
}

impl<'a> Chunk<'a> {
    /// Reads the header of the chunk at the front of `input`.
    pub(super) fn decode(input: &'a [u8]) -> Result<Self, ErrorKind> {
        let cut_off = ErrorKind::Corrupt { what: "the blosc chunk is cut off", at_byte: 0 };
        let header = input.first_chunk::<HEADER_LEN>().ok_or(cut_off.clone())?;
        let [version, _, flags, element_size, ..] = *header;
        if version > VERSION_NEWEST {
            let what = "blosc chunk version";
            return Err(ErrorKind::Unsupported { what, value: version.into() });
        }
        let (len, block_len) = (u32_at(header, 4), u32_at(header, 8));
        let chunk = input.get(..u32_at(header, 12)).ok_or(cut_off.clone())?;
        if element_size == 0 || (block_len == 0 && len > 0) {
            let what = "blosc elements or blocks of no bytes";
            return Err(ErrorKind::Corrupt { what, at_byte: 3 });
        }
        let mut decoded = Self {
            len,
            block_len,
            element_size: element_size.into(),
            version,
            content: Content::Repeated(&[0]),
            filters: Vec::new(),
        };
        let body = if flags & (SHUFFLED | BIT_SHUFFLED) == SHUFFLED | BIT_SHUFFLED {
            let (extended, body) =
                chunk.split_first_chunk::<EXTENDED_HEADER_LEN>().ok_or(cut_off.clone())?;
            if let Some(special) = special_value(extended, body)? {
                decoded.content = Content::Repeated(special);
                return Ok(decoded);
            }
            decoded.filters = filters_of_extended(extended)?;
            body
        } else {
            decoded.filters = filters_of_flags(flags, element_size);
            chunk.get(HEADER_LEN..).ok_or(cut_off.clone())?
        };
        decoded.content = if flags & STORED != 0 {
            Content::Stored(body.get(..len).ok_or(cut_off)?)
        } else {
            let starts_len = decoded.block_count().checked_mul(4).ok_or(cut_off.clone())?;
            let starts = body.get(..starts_len).ok_or(cut_off)?;
            let codec = Codec::of_flags(flags)?;
            Content::Blocks { chunk, starts, codec, may_split: flags & NOT_SPLIT == 0 }
        };
        Ok(decoded)
    }

    /// A chunk that is filled with `value`, which is not empty.
    pub(super) fn repeated(value: &'a [u8], len: usize, block_len: usize) -> Self {
        Self {
            len,
            block_len,
            element_size: 1,
            version: VERSION_NEWEST,
            content: Content::Repeated(value),
            filters: Vec::new(),
        }
    }

    pub(super) fn block_count(&self) -> usize {
        if self.len == 0 { 0 } else { self.len.div_ceil(self.block_len) }
    }

    /// The streams in a block of `len` bytes.
    fn stream_count(&self, len: usize, may_split: bool) -> usize {
        let whole = len == self.block_len;
        let like_blosc1 = self.element_size <= BLOSC1_MAX_SPLITS
            && self.block_len / self.element_size >= BLOSC1_MIN_ELEMENTS;
        if may_split && whole && (self.version > VERSION_BLOSC1 || like_blosc1) {
            self.element_size
        } else {
            1
        }
    }
}

/// The value that fills a chunk, if it has no blocks but that.
fn special_value<'a>(
    header: &[u8; EXTENDED_HEADER_LEN],
    body: &'a [u8],
) -> Result<Option<&'a [u8]>, ErrorKind> {
    let flags = header[31];
    if flags & (DICTIONARY | LAZY | INSTRUMENTED) != 0 || header[30] != 0 {
        let value = u64::from(header[30]) << 8 | u64::from(flags);
        return Err(ErrorKind::Unsupported { what: "blosc2 chunk with flags", value });
    }
    match flags >> 4 & 7 {
        0 => Ok(None),
        // What was never initialised may be anything; zeros are what everybody reads.
        SPECIAL_ZERO | SPECIAL_UNINITIALISED => Ok(Some(&[0])),
        SPECIAL_NAN => nan(header[3].into()).map(Some),
        SPECIAL_VALUE if !body.is_empty() => Ok(Some(body)),
        _ => Err(ErrorKind::Corrupt { what: "a chunk of no known value", at_byte: 31 }),
    }
}

/// A "not a number" of `size` bytes.
pub(super) fn nan(size: usize) -> Result<&'static [u8], ErrorKind> {
    match size {
        4 => Ok(&[0, 0, 0xC0, 0x7F]),
        8 => Ok(&[0, 0, 0, 0, 0, 0, 0xF8, 0x7F]),
        _ => Err(ErrorKind::Unsupported { what: "NaN with bytes", value: size as u64 }),
    }
}

fn filters_of_flags(flags: u8, element_size: u8) -> Vec<Filter> {
    let mut filters = Vec::new();
    if flags & SHUFFLED != 0 && element_size > 1 {
        filters.push(Filter::Shuffle(element_size));
    } else if flags & BIT_SHUFFLED != 0 {
        filters.push(Filter::BitShuffle);
    }
    if flags & DELTA_CODED != 0 {
        filters.push(Filter::Delta);
    }
    filters
}

fn filters_of_extended(header: &[u8; EXTENDED_HEADER_LEN]) -> Result<Vec<Filter>, ErrorKind> {
    let mut filters = Vec::new();
    let (codes, settings) = (&header[16..22], &header[24..30]);
    for (&code, &setting) in codes.iter().zip(settings).rev() {
        match code {
            0 => {}
            1 => filters.push(Filter::Shuffle(if setting == 0 { header[3] } else { setting })),
            2 => filters.push(Filter::BitShuffle),
            3 => filters.push(Filter::Delta),
            // Precision that was cut off stays cut off.
            4 => {}
            _ => return Err(ErrorKind::Unsupported { what: "blosc2 filter", value: code.into() }),
        }
    }
    // The reference of all differences is the chunk's first block as the user wrote it.
    match filters.iter().position(|&filter| filter == Filter::Delta) {
        Some(at) if at + 1 < filters.len() => {
            Err(ErrorKind::Unsupported { what: "blosc2 delta behind filters", value: at as u64 })
        }
        _ => Ok(filters),
    }
}

impl Codec {
    fn of_flags(flags: u8) -> Result<Self, ErrorKind> {
        Ok(match flags >> 5 {
            0 => Self::BloscLz,
            1 => Self::Lz4,
            2 => Self::Snappy,
            3 => Self::Zlib,
            4 => Self::Zstd,
            value => {
                return Err(ErrorKind::Unsupported { what: "blosc codec", value: value.into() });
            }
        })
    }

    /// Appends what `stream` decodes to, `len` bytes.
    fn decode(self, stream: &[u8], len: usize, output: &mut Output<'_>) -> Result<(), ErrorKind> {
        let not_valid = |what| ErrorKind::Corrupt { what, at_byte: 0 };
        match self {
            Self::BloscLz => blosclz::decode(stream, len, output)
                .ok_or(not_valid("no valid blosclz stream in a blosc block")),
            Self::Lz4 => lz4::decode_block(stream, len, 0, output),
            Self::Snappy => {
                let what = "no valid snappy stream in a blosc block";
                if snap::raw::decompress_len(stream).ok() != Some(len) {
                    return Err(not_valid(what));
                }
                let place = output.extend_zeroed(len)?;
                let decoded = snap::raw::Decoder::new().decompress(stream, place);
                decoded.map(|_| ()).map_err(|_| not_valid(what))
            }
            Self::Zlib => inflate_zlib(stream, output),
            // That decoder starts at the front of its output.
            Self::Zstd if output.len() == 0 => zstd::decode(&[], stream, output),
            Self::Zstd => {
                let mut decoded = Vec::new();
                fill_vec(&mut decoded, len, |decoded| zstd::decode(&[], stream, decoded))?;
                output.extend(&decoded)
            }
        }
    }
}

/// Decodes the blocks of one chunk, the first one first.
pub(super) struct BlockDecoder<'c, 'a> {
    chunk: &'c Chunk<'a>,
    /// What a filter reads, and what it writes, except the last one. At most a block each.
    front: Vec<u8>,
    back: Vec<u8>,
    /// The first block, decoded, where the others are differences from it.
    reference: Vec<u8>,
}

impl<'c, 'a> BlockDecoder<'c, 'a> {
    pub(super) fn new(chunk: &'c Chunk<'a>) -> Self {
        Self { chunk, front: Vec::new(), back: Vec::new(), reference: Vec::new() }
    }

    /// Appends block `index`. Where no limit of `output` says otherwise, a block of `chunk.len`
    /// bytes is the most that is allocated.
    pub(super) fn decode(
        &mut self,
        index: usize,
        output: &mut Output<'_>,
    ) -> Result<(), ErrorKind> {
        let chunk = self.chunk;
        let start = index * chunk.block_len;
        let len = chunk.block_len.min(chunk.len.saturating_sub(start));
        if len > output.remaining() {
            return Err(output.overflow());
        }
        match chunk.content {
            Content::Stored(bytes) => output.extend(&bytes[start..start + len]),
            Content::Repeated(value) => {
                for place in output.extend_zeroed(len)?.chunks_mut(value.len()) {
                    place.copy_from_slice(&value[..place.len()]);
                }
                Ok(())
            }
            Content::Blocks { chunk: bytes, starts, codec, may_split } => {
                let streams = Streams {
                    bytes,
                    at: u32_at(starts, index * 4),
                    codec,
                    count: chunk.stream_count(len, may_split),
                };
                self.decode_filtered(streams, len, output)
            }
        }
    }

    /// Undoes the filters on what `streams` hold.
    fn decode_filtered(
        &mut self,
        mut streams: Streams<'_>,
        len: usize,
        output: &mut Output<'_>,
    ) -> Result<(), ErrorKind> {
        let chunk = self.chunk;
        let Some((&last, inner)) = chunk.filters.split_last() else {
            return streams.decode(len, output);
        };
        fill_vec(&mut self.front, len, |output| streams.decode(len, output))?;
        for &filter in inner {
            fill_vec(&mut self.back, len, |output| filter.undo(chunk, &self.front, output))?;
            std::mem::swap(&mut self.front, &mut self.back);
        }
        if last == Filter::Delta {
            self.undo_delta();
            return output.extend(&self.front);
        }
        last.undo(chunk, &self.front, output)
    }

    /// Turns differences (exclusive ors) into elements: in the first block from the element
    /// before, in the others from the same element of the first block.
    fn undo_delta(&mut self) {
        let unit = delta_unit(self.chunk.element_size);
        let whole = self.front.len() / unit * unit;
        if self.reference.is_empty() {
            for at in unit..whole {
                self.front[at] ^= self.front[at - unit];
            }
            self.reference.clone_from(&self.front);
        } else {
            for (value, reference) in self.front[..whole].iter_mut().zip(&self.reference) {
                *value ^= reference;
            }
        }
    }
}

/// Bytes of what is subtracted from one another where elements have `element_size`.
pub(super) fn delta_unit(element_size: usize) -> usize {
    match element_size {
        size @ (1 | 2 | 4 | 8) => size,
        size if size % 8 == 0 => 8,
        _ => 1,
    }
}

impl Filter {
    /// Appends the block before this filter was applied. [`Filter::Delta`] is undone elsewhere.
    fn undo(
        self,
        chunk: &Chunk<'_>,
        block: &[u8],
        output: &mut Output<'_>,
    ) -> Result<(), ErrorKind> {
        match self {
            Self::Shuffle(size) => shuffle::decode(&[size.into()], block, output),
            Self::BitShuffle => {
                let size = chunk.element_size;
                let elements = block.len() / size;
                let whole = match elements % 8 {
                    // Up to version 2, blocks with other numbers of elements are left alone.
                    1.. if chunk.version <= VERSION_BLOSC1 => 0,
                    rest => elements - rest,
                };
                let (bits, rest) = block.split_at(whole * size);
                if whole > 0 {
                    bitshuffle::unshuffle_bits(bits, whole, size, &mut Vec::new(), output)?;
                }
                output.extend(rest)
            }
            Self::Delta => output.extend(block),
        }
    }
}

/// The streams of one block.
struct Streams<'a> {
    /// The whole chunk.
    bytes: &'a [u8],
    /// The byte of the chunk at which the next stream starts.
    at: usize,
    codec: Codec,
    count: usize,
}

impl Streams<'_> {
    /// Appends all streams, `len` bytes together.
    fn decode(&mut self, len: usize, output: &mut Output<'_>) -> Result<(), ErrorKind> {
        if !len.is_multiple_of(self.count) {
            return Err(self.corrupt("a block that cannot be split"));
        }
        let len = len / self.count;
        (0..self.count).try_for_each(|_| self.decode_next(len, output))
    }

    fn decode_next(&mut self, len: usize, output: &mut Output<'_>) -> Result<(), ErrorKind> {
        let cut_off = self.corrupt("a blosc block is cut off");
        let before = output.len();
        let rest = self.bytes.get(self.at..).ok_or(cut_off.clone())?;
        let (encoded_len, rest) = rest.split_first_chunk::<4>().ok_or(cut_off.clone())?;
        self.at += 4;
        match i32::from_le_bytes(*encoded_len) {
            0 => {
                output.extend_zeroed(len)?;
            }
            // One byte, repeated; the only meaning of a negative length so far.
            value @ -255..0 if rest.first().is_some_and(|token| token & 1 == 1) => {
                self.at += 1;
                output.extend_zeroed(len)?.fill(value.unsigned_abs() as u8);
            }
            encoded_len => {
                let encoded_len = usize::try_from(encoded_len).map_err(|_| cut_off.clone())?;
                let stream = rest.get(..encoded_len).ok_or(cut_off)?;
                if encoded_len == len {
                    output.extend(stream)?;
                } else {
                    self.codec.decode(stream, len, output).map_err(|error| match error {
                        ErrorKind::Corrupt { what, .. } => self.corrupt(what),
                        other => other,
                    })?;
                }
                self.at += encoded_len;
            }
        }
        if output.len() - before != len {
            return Err(self.corrupt("a blosc stream of another length"));
        }
        Ok(())
    }

    fn corrupt(&self, what: &'static str) -> ErrorKind {
        ErrorKind::Corrupt { what, at_byte: self.at }
    }
}

/// The number at `at`, which the caller has seen to be within `bytes`.
fn u32_at(bytes: &[u8], at: usize) -> usize {
    let mut number = [0; 4];
    number.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(number) as usize
}
