//! Why a chunk cannot be decoded or encoded.

use std::fmt;

/// The outcome of decoding and encoding.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A filter and what was wrong with the bytes it was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// The filter's registered identifier.
    pub filter_id: u16,
    /// The filter's registered name.
    pub filter_name: String,
    /// What is wrong.
    pub kind: ErrorKind,
}

/// The kinds of fault; see [`Error`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ErrorKind {
    /// No code for this filter is in the program.
    UnknownFilter,
    /// There is code here that decodes what this filter gives, but none that encodes.
    DecodesOnly,
    /// A filter from elsewhere failed; it does not say why.
    Foreign,
    /// The parameters stored with the filter cannot be.
    Parameter { index: usize, value: u32 },
    /// A parameter is missing.
    MissingParameter { index: usize },
    /// The bytes are not what the filter writes.
    Corrupt { what: &'static str, at_byte: usize },
    /// The checksum over the bytes is not the stored one.
    Checksum { stored: u32, computed: u32 },
    /// The filter gave another number of bytes than the chunk has, or than the bound on what stands
    /// between two filters. Decoding stops at the first byte too many.
    Length { expected_bytes: usize, decoded_bytes: usize },
    /// There is no memory for what the chunk should become.
    OutOfMemory { wanted_bytes: usize },
    /// A way of coding that exists and is not supported.
    Unsupported { what: &'static str, value: u64 },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "filter {} ({}): ", self.filter_id, self.filter_name)?;
        match &self.kind {
            ErrorKind::UnknownFilter => f.write_str("not supported"),
            ErrorKind::DecodesOnly => f.write_str("can be read, but not be written"),
            ErrorKind::Foreign => f.write_str("its plugin failed"),
            ErrorKind::Parameter { index, value } => {
                write!(f, "parameter {index} cannot be {value}")
            }
            ErrorKind::MissingParameter { index } => write!(f, "parameter {index} is missing"),
            ErrorKind::Corrupt { what, at_byte } => write!(f, "{what} at byte {at_byte}"),
            ErrorKind::Checksum { stored, computed } => {
                write!(f, "checksum {computed:#010x} computed, {stored:#010x} stored")
            }
            ErrorKind::Length { expected_bytes, decoded_bytes } => {
                write!(f, "{decoded_bytes} bytes decoded, the chunk has {expected_bytes}")
            }
            ErrorKind::OutOfMemory { wanted_bytes } => {
                write!(f, "no memory for {wanted_bytes} bytes")
            }
            ErrorKind::Unsupported { what, value } => write!(f, "{what} {value} is not supported"),
        }
    }
}

impl std::error::Error for Error {}
