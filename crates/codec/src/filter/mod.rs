//! One file per filter, and the table that leads from a filter's number to its code.

pub(crate) mod bitshuffle;
pub(crate) mod blosc;
pub(crate) mod blosc2;
mod blosc_chunk;
mod blosc_encode;
mod blosc_grid;
mod blosclz;
pub(crate) mod bzip2;
pub(crate) mod deflate;
pub(crate) mod fletcher32;
pub(crate) mod lz4;
pub(crate) mod lzf;
mod matches;
pub(crate) mod nbit;
pub(crate) mod scale_offset;
pub mod shuffle;
mod simd;
pub(crate) mod szip;
pub(crate) mod zstd;

use crate::error::ErrorKind;
use crate::foreign::{self, ForeignEncoder, ForeignFilter};
use crate::registry;
use crate::uninit::Output;

/// Arguments: the filter's parameters, the encoded bytes, the place.
type IntoPlace = fn(&[u32], &[u8], &mut Output<'_>) -> Result<(), ErrorKind>;

/// How a filter's code gives its bytes.
#[derive(Clone, Copy)]
pub(crate) enum Decoder {
    /// Writes to a bounded output, which may be the user's own array.
    IntoPlace(IntoPlace),
    /// Decodes to a prefix of the encoded bytes, whose length it returns.
    Prefix(fn(&[u8]) -> Result<usize, ErrorKind>),
    /// Gives a vector of its own.
    Foreign(&'static dyn ForeignFilter),
}

/// The code for filter `id`, or `None` where there is none here.
pub(crate) fn decoder(id: u16) -> Option<Decoder> {
    Some(match id {
        registry::DEFLATE => Decoder::IntoPlace(deflate::decode),
        registry::SHUFFLE => Decoder::IntoPlace(shuffle::decode),
        registry::FLETCHER32 => Decoder::Prefix(fletcher32::verify),
        registry::SZIP => Decoder::IntoPlace(szip::decode),
        registry::NBIT => Decoder::IntoPlace(nbit::decode),
        registry::SCALE_OFFSET => Decoder::IntoPlace(scale_offset::decode),
        registry::BZIP2 => Decoder::IntoPlace(bzip2::decode),
        registry::LZF => Decoder::IntoPlace(lzf::decode),
        registry::BLOSC => Decoder::IntoPlace(blosc::decode),
        registry::BLOSC2 => Decoder::IntoPlace(blosc2::decode),
        registry::LZ4 => Decoder::IntoPlace(lz4::decode),
        registry::BITSHUFFLE => Decoder::IntoPlace(bitshuffle::decode),
        registry::ZSTD => Decoder::IntoPlace(zstd::decode),
        _ => return foreign::find(id).map(Decoder::Foreign),
    })
}

/// Arguments: the filter's parameters, the bytes to encode, what they become (in place of what it
/// held).
type IntoVec = fn(&[u32], &[u8], &mut Vec<u8>) -> Result<(), ErrorKind>;

/// How a filter's code encodes.
#[derive(Clone, Copy)]
pub(crate) enum Encoder {
    /// Writes to another vector, which is kept whatever its length.
    Always(IntoVec),
    /// The same; where that gives no fewer bytes than it was given, libhdf5's filter fails, and an
    /// optional one is left out.
    IfSmaller(IntoVec),
    /// Appends to what it encodes.
    Append(fn(&mut Vec<u8>) -> Result<(), ErrorKind>),
    /// Gives a vector of its own.
    Foreign(&'static dyn ForeignEncoder),
}

/// The encoder for filter `id`, or `None` where there is none here.
pub(crate) fn encoder(id: u16) -> Option<Encoder> {
    Some(match id {
        registry::DEFLATE => Encoder::Always(deflate::encode),
        registry::SHUFFLE => Encoder::Always(shuffle::encode),
        registry::FLETCHER32 => Encoder::Append(fletcher32::append),
        registry::SZIP => Encoder::IfSmaller(szip::encode),
        registry::NBIT => Encoder::Always(nbit::encode),
        registry::SCALE_OFFSET => Encoder::Always(scale_offset::encode),
        registry::BZIP2 => Encoder::Always(bzip2::encode),
        registry::LZF => Encoder::IfSmaller(lzf::encode),
        registry::BLOSC => Encoder::IfSmaller(blosc::encode),
        registry::BLOSC2 => Encoder::IfSmaller(blosc2::encode),
        registry::LZ4 => Encoder::Always(lz4::encode),
        registry::BITSHUFFLE => Encoder::Always(bitshuffle::encode),
        registry::ZSTD => Encoder::Always(zstd::encode),
        _ => return foreign::find(id)?.encoder().map(Encoder::Foreign),
    })
}
