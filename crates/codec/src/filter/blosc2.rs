//! Filter 32026, blosc2: one contiguous frame of Blosc2 chunks per HDF5 chunk.
//!
//! ```text
//! 0    2  msgpack: array of 14 or so, string of 8     2    8  "b2frame\0"
//! 11   4  length of this header                       16   8  length of the frame
//! 25   1  version and width of offsets                26   1  kind of frame, 0 contiguous
//! 27   1  codec, 4 bits; level, 4 bits                28   1  how blocks are split
//! 30   8  decoded length of all chunks                39   8  their encoded length
//! 48   4  bytes of an element                         53   4  decoded length of a block
//! 58   4  decoded length of a chunk                   63   2  threads; 66  2  the same
//! 68   1  msgpack: whether the trailer has metalayers
//! 71   6  filters, in order of encoding               77   1  codec
//! 91      msgpack: map of names to places in this header ("metalayers"), 16-bit count, for each
//!           name (length + 0xA0 in 1 byte), 0xD2, place in 4 bytes
//! then    chunks; a chunk of their offsets, 8 bytes each, behind the header; trailer
//! ```
//! All of the header's numbers are big-endian; between them stand msgpack's marks. The metalayer
//! "b2nd" (once "caterva") says that the chunks hold an array in blocks of several dimensions:
//! ```text
//! 5 or more: version, rank, [shape], [chunk shape], [block shape], ..
//! ```
//! Chunks are in row-major order, so are blocks in a chunk and elements in a block. Chunks are
//! padded to whole blocks.
//!
//! What is written here is a frame of one chunk and no array, which every reader takes: there is nothing
//! to pad, and an HDF5 chunk is decoded as a whole.

use crate::error::ErrorKind;
use crate::filter::blosc::decode_chunk;
use crate::filter::blosc_chunk::{BlockDecoder, Chunk, nan};
use crate::filter::blosc_encode::{self, Filter, Format, Settings};
use crate::filter::blosc_grid::{Grid, copy_block};
use crate::uninit::{Output, fill_vec};

const MAGIC: &[u8] = b"b2frame\0";
/// Where the metalayers' map has its count, behind its mark.
const METALAYERS: usize = 92;
/// Frames hold one chunk; so many offsets are accepted whatever the decoded length.
const MIN_OFFSETS_LEN: usize = 4096;
/// Where the filter's parameters give the rank of the HDF5 chunk; its shape follows.
const RANK: usize = 7;

/// Msgpack's marks.
const FIXED_ARRAY: u8 = 0x90;
const FIXED_STRING: u8 = 0xA0;
const FALSE: u8 = 0xC2;
const UINT16: u8 = 0xCD;
const UINT32: u8 = 0xCE;
const UINT64: u8 = 0xCF;
const INT16: u8 = 0xD1;
const INT32: u8 = 0xD2;
const INT64: u8 = 0xD3;
const BINARY32: u8 = 0xC6;
const EXTENSION16: u8 = 0xD8;
const ARRAY16: u8 = 0xDC;
const MAP16: u8 = 0xDE;

/// Of the frames that are written: no metalayers, and nothing but its own length in the trailer.
const HEADER_LEN: usize = 97;
const TRAILER_LEN: u32 = 35;
/// Version 2, offsets of 8 bytes.
const FLAGS: u8 = 0x12;
/// Blocks are one stream.
const NEVER_SPLIT: u8 = 1;

/// Decodes the frame's array, or its first chunk where it has none, as libhdf5's filter does.
pub(crate) fn decode(
    parameters: &[u32],
    input: &[u8],
    output: &mut Output<'_>,
) -> Result<(), ErrorKind> {
    let frame = Frame::decode(input)?;
    match frame.array()? {
        None => {
            let offsets = frame.offsets(1, output.limit())?;
            decode_chunk(&frame.chunk(&offsets, 0)?, output)
        }
        Some(grid) => {
            if let Some(&rank) = parameters.get(RANK) {
                let shape = parameters[RANK + 1..].iter().map(|&len| len as usize);
                if rank as usize != grid.shape.len() || !grid.shape.iter().copied().eq(shape) {
                    return Err(corrupt("an array of another shape than the chunk", METALAYERS));
                }
            }
            decode_array(&frame, &grid, output)
        }
    }
}

/// Encodes `input` as the parameters ask for: those that [`Settings::new`] knows, then the rank and the
/// shape of chunks of several dimensions, which those who write arrays go by.
pub(crate) fn encode(
    parameters: &[u32],
    input: &[u8],
    output: &mut Vec<u8>,
) -> Result<(), ErrorKind> {
    let settings = Settings::new(Format::Blosc2, parameters)?;
    output.clear();
    output.resize(HEADER_LEN, 0);
    blosc_encode::encode(input, &settings, output)?;
    let chunks_len = output.len() - HEADER_LEN;
    // The only chunk begins where chunks begin.
    let offsets = Settings { level: 0, element_size: 8, filter: Filter::None, ..settings };
    blosc_encode::encode(&0_u64.to_le_bytes(), &offsets, output)?;
    push_trailer(output);
    let header = header(&settings, input.len(), chunks_len, output.len());
    output[..HEADER_LEN].copy_from_slice(&header);
    Ok(())
}

/// The header of a frame with one chunk of `len` bytes, which takes `chunks_len`.
fn header(settings: &Settings, len: usize, chunks_len: usize, frame_len: usize) -> Vec<u8> {
    let int32 = |value: usize| [&[INT32][..], &(value as u32).to_be_bytes()].concat();
    let int64 = |mark: u8, value: usize| [&[mark][..], &(value as u64).to_be_bytes()].concat();
    let Settings { level, compressor, .. } = *settings;
    let mut filters = [0; 16];
    filters[5] = settings.filter_code();
    filters[6] = compressor;
    [
        &[FIXED_ARRAY | 14, FIXED_STRING | MAGIC.len() as u8],
        MAGIC,
        &int32(HEADER_LEN),
        &int64(UINT64, frame_len),
        &[FIXED_STRING | 4, FLAGS, 0, compressor | (level as u8) << 4, NEVER_SPLIT],
        &int64(INT64, len),
        &int64(INT64, chunks_len),
        &int32(settings.element_size.into()),
        &int32(settings.block_len(len)),
        &int32(len),
        &[INT16, 0, 1, INT16, 0, 1, FALSE, EXTENSION16, 6],
        &filters,
        // The map of metalayers: its length with these marks, no names, no places.
        &[FIXED_ARRAY | 3, UINT16, 0, 7, MAP16, 0, 0, ARRAY16, 0, 0],
    ]
    .concat()
}

/// The trailer: version, no metalayers, its length, no fingerprint.
fn push_trailer(output: &mut Vec<u8>) {
    let metalayers = [FIXED_ARRAY | 3, UINT16, 0, 6, MAP16, 0, 0, ARRAY16, 0, 0];
    output.extend([FIXED_ARRAY | 4, 1]);
    output.extend(metalayers);
    output.push(UINT32);
    output.extend(TRAILER_LEN.to_be_bytes());
    output.extend([EXTENSION16, 0]);
    output.extend([0; 16]);
}

/// Decodes block by block and copies each to its place.
fn decode_array(frame: &Frame<'_>, grid: &Grid, output: &mut Output<'_>) -> Result<(), ErrorKind> {
    let size = frame.element_size;
    let lengths = (grid.len_bytes(size), grid.block_bytes(size), grid.chunk_bytes(size));
    let (Some(len), Some(block_len), Some(chunk_len)) = lengths else {
        return Err(output.overflow());
    };
    let limit = output.limit();
    let decoded = output.extend_zeroed(len)?;
    let chunk_counts = grid.chunk_counts();
    let offsets = frame.offsets(chunk_counts.iter().product(), limit)?;
    let mut block = Vec::new();
    let mut chunk_index = 0;
    Grid::for_each_cell(&chunk_counts, |chunk_at| {
        let chunk = frame.chunk(&offsets, chunk_index)?;
        chunk_index += 1;
        if chunk.len != chunk_len || chunk.block_len != block_len {
            return Err(corrupt("a chunk that does not fit its array", frame.header_len));
        }
        let mut blocks = BlockDecoder::new(&chunk);
        Grid::for_each_cell(&grid.block_counts(chunk_at), |block_at| {
            let index = grid.block_index(block_at);
            fill_vec(&mut block, block_len, |output| blocks.decode(index, output))?;
            copy_block(grid, size, chunk_at, block_at, &block, decoded);
            Ok(())
        })
    })
}

/// What the header of a frame says.
struct Frame<'a> {
    bytes: &'a [u8],
    header_len: usize,
    /// Encoded length of all chunks; behind them comes the chunk of offsets.
    chunks_len: usize,
    element_size: usize,
    block_len: usize,
    chunk_len: usize,
    /// Decoded length of all chunks.
    len: usize,
}

impl<'a> Frame<'a> {
    fn decode(bytes: &'a [u8]) -> Result<Self, ErrorKind> {
        if bytes.get(2..10) != Some(MAGIC) {
            return Err(corrupt("no blosc2 frame", 2));
        }
        let kind = bytes.get(26).ok_or(corrupt("the frame's header is cut off", bytes.len()))?;
        if *kind != 0 {
            let what = "blosc2 frame of the kind";
            return Err(ErrorKind::Unsupported { what, value: u64::from(*kind) });
        }
        let frame = Self {
            bytes,
            header_len: number::<4>(bytes, 11)?,
            len: number::<8>(bytes, 30)?,
            chunks_len: number::<8>(bytes, 39)?,
            element_size: number::<4>(bytes, 48)?,
            block_len: number::<4>(bytes, 53)?,
            chunk_len: number::<4>(bytes, 58)?,
        };
        if frame.element_size == 0 {
            return Err(corrupt("elements of no bytes", 48));
        }
        Ok(frame)
    }

    /// The array's shapes, where the frame holds one.
    fn array(&self) -> Result<Option<Grid>, ErrorKind> {
        let count = number::<2>(self.bytes, METALAYERS)?;
        let mut at = METALAYERS + 2;
        for _ in 0..count {
            let mark = self.byte(at)?;
            let name_len = usize::from(mark & !FIXED_STRING);
            let name = self.bytes.get(at + 1..at + 1 + name_len);
            at += 1 + name_len;
            if mark & 0xE0 != FIXED_STRING || self.byte(at)? != INT32 {
                return Err(corrupt("no valid name of a metalayer", at));
            }
            if matches!(name, Some(b"b2nd" | b"caterva")) {
                return self.grid(number::<4>(self.bytes, at + 1)?).map(Some);
            }
            at += 5;
        }
        Ok(None)
    }

    /// The metalayer at `at`.
    fn grid(&self, at: usize) -> Result<Grid, ErrorKind> {
        let not_valid = corrupt("no valid array metalayer", at);
        if self.byte(at)? != BINARY32 {
            return Err(not_valid);
        }
        // Behind the mark, 4 bytes of length, the array's mark and the version.
        let rank = usize::from(self.byte(at.saturating_add(7))?);
        let mut at = at + 8;
        let mut lengths = |mark: u8| {
            if self.byte(at)? != FIXED_ARRAY | (rank & 0x0F) as u8 {
                return Err(corrupt("no valid shape of an array", at));
            }
            at += 1;
            let mut lengths = Vec::with_capacity(rank);
            for _ in 0..rank {
                if self.byte(at)? != mark {
                    return Err(corrupt("no valid shape of an array", at));
                }
                let (len, width) = match mark {
                    INT64 => (number::<8>(self.bytes, at + 1)?, 8),
                    _ => (number::<4>(self.bytes, at + 1)?, 4),
                };
                lengths.push(len);
                at += 1 + width;
            }
            Ok(lengths)
        };
        if rank == 0 || rank > 15 {
            return Err(not_valid);
        }
        let (shape, chunk, block) = (lengths(INT64)?, lengths(INT32)?, lengths(INT32)?);
        Grid::new(shape, chunk, block).ok_or(not_valid)
    }

    /// The chunks' offsets, at least `needed` of them, 8 bytes each.
    fn offsets(&self, needed: usize, limit: usize) -> Result<Vec<u8>, ErrorKind> {
        let at = self.header_len.saturating_add(self.chunks_len);
        let cut_off = corrupt("the chunks' offsets are cut off", at);
        let chunk = Chunk::decode(self.bytes.get(at..).ok_or(cut_off.clone())?)?;
        let limit = limit.max(MIN_OFFSETS_LEN);
        if chunk.len > limit || chunk.len / 8 < needed {
            return Err(cut_off);
        }
        let mut offsets = Vec::new();
        fill_vec(&mut offsets, chunk.len, |output| decode_chunk(&chunk, output))?;
        Ok(offsets)
    }

    /// Chunk `index`, which has an offset.
    fn chunk(&self, offsets: &[u8], index: usize) -> Result<Chunk<'a>, ErrorKind> {
        let offset = offsets.get(index * 8..).and_then(|rest| rest.first_chunk::<8>());
        let offset = offset.ok_or(corrupt("a chunk without an offset", self.header_len))?;
        let offset = i64::from_le_bytes(*offset);
        let Ok(offset) = usize::try_from(offset) else {
            return self.special_chunk(offset);
        };
        let at = self.header_len.saturating_add(offset);
        Chunk::decode(self.bytes.get(at..).ok_or(corrupt("a chunk is cut off", at))?)
    }

    /// A chunk without bytes: its offset is negative and says in its upper byte what fills it.
    fn special_chunk(&self, offset: i64) -> Result<Chunk<'a>, ErrorKind> {
        const ZERO: i64 = 1 << 56;
        const NAN: i64 = 2 << 56;
        const UNINITIALISED: i64 = 4 << 56;
        let value: &[u8] = if offset & (ZERO | UNINITIALISED) != 0 {
            &[0]
        } else if offset & NAN != 0 {
            nan(self.element_size)?
        } else {
            return Err(corrupt("a chunk of no known value", self.header_len));
        };
        // The only chunk of a frame may be shorter than chunks would be.
        let len =
            if self.array()?.is_some() { self.chunk_len } else { self.chunk_len.min(self.len) };
        if self.block_len == 0 {
            return Err(corrupt("blocks of no bytes", 53));
        }
        Ok(Chunk::repeated(value, len, self.block_len))
    }

    fn byte(&self, at: usize) -> Result<u8, ErrorKind> {
        self.bytes.get(at).copied().ok_or(corrupt("the frame's header is cut off", at))
    }
}

fn corrupt(what: &'static str, at_byte: usize) -> ErrorKind {
    ErrorKind::Corrupt { what, at_byte }
}

/// The big-endian number of `N` bytes, at most 8, at `at`. A negative one does not fit.
fn number<const N: usize>(bytes: &[u8], at: usize) -> Result<usize, ErrorKind> {
    let digits = bytes.get(at..).and_then(|rest| rest.first_chunk::<N>());
    let digits = digits.ok_or(corrupt("the frame's header is cut off", at))?;
    let value = digits.iter().fold(0_u64, |value, &digit| value << 8 | u64::from(digit));
    usize::try_from(value).map_err(|_| corrupt("a length out of range", at))
}
