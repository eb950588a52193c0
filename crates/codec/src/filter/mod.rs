//! One file per filter, and the table that leads from a filter's number to its code.

pub(crate) mod deflate;
pub(crate) mod fletcher32;
pub mod shuffle;

use crate::error::ErrorKind;
use crate::registry;
use crate::uninit::Output;

/// How a filter's code gives its bytes.
#[derive(Clone, Copy)]
pub(crate) enum Decoder {
    /// Writes to a bounded output, which may be the user's own array.
    ///
    /// Arguments: the filter's parameters, the encoded bytes, the place.
    IntoPlace(fn(&[u32], &[u8], &mut Output<'_>) -> Result<(), ErrorKind>),
    /// Appends to an empty vector. For codecs that must look back on what they wrote.
    ///
    /// Arguments: the filter's parameters, the encoded bytes, the most bytes that may be decoded
    /// (exactly the chunk's length where this filter was applied first), the vector.
    IntoVec(fn(&[u32], &[u8], usize, &mut Vec<u8>) -> Result<(), ErrorKind>),
    /// Decodes to a prefix of the encoded bytes, whose length it returns.
    Prefix(fn(&[u8]) -> Result<usize, ErrorKind>),
}

/// The code for filter `id`, or `None` where there is none here.
pub(crate) fn decoder(id: u16) -> Option<Decoder> {
    Some(match id {
        registry::DEFLATE => Decoder::IntoPlace(deflate::decode),
        registry::SHUFFLE => Decoder::IntoPlace(shuffle::decode),
        registry::FLETCHER32 => Decoder::Prefix(fletcher32::verify),
        _ => return None,
    })
}
