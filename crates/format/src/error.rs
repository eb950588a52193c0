//! What can be wrong with the bytes of a structure, or with a structure that is to become bytes.

use std::fmt;

/// The outcome of decoding and encoding.
pub type Result<T> = std::result::Result<T, Error>;

/// What a decoder says instead of a structure, and an encoder instead of bytes: which structure,
/// where it stands, what is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// The structure's name as the specification has it, such as `"object header"`.
    pub structure: &'static str,
    /// Address of the structure's first byte in the file's own address space; [`Self::UNPLACED`]
    /// where it is being encoded.
    pub address: u64,
    /// What is wrong.
    pub kind: ErrorKind,
}

/// The kinds of fault; see [`Error`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Not a fault: the decoder needs this many bytes, counted from the structure's address.
    NeedMore { bytes: u64 },
    /// The bytes end inside the structure and there are no more.
    Truncated { needed_bytes: u64, available_bytes: u64 },
    /// The structure does not begin with its signature.
    Signature { expected: [u8; 4], found: [u8; 4] },
    /// A version that no specification describes.
    Version { found: u64 },
    /// The bytes are not those whose checksum is stored with them.
    Checksum { stored: u32, computed: u32 },
    /// A field has a value that cannot stand there.
    Field { field: &'static str, value: u64 },
    /// A count, size or depth beyond its bound in [`crate::limits`].
    Limit { field: &'static str, value: u64, limit: u64 },
    /// Valid, and not supported.
    Unsupported { feature: &'static str, value: u64 },
    /// Following references came back to where they had been.
    Cycle,
}

impl Error {
    /// The address of a structure that is being encoded and has no place yet.
    pub const UNPLACED: u64 = u64::MAX;

    /// True where more bytes would help.
    pub fn is_need_more(&self) -> bool {
        matches!(self.kind, ErrorKind::NeedMore { .. })
    }

    /// The same error where there are only `available_bytes`: needing more becomes a fault.
    #[must_use]
    pub fn at_end(mut self, available_bytes: u64) -> Self {
        if let ErrorKind::NeedMore { bytes } = self.kind {
            self.kind = ErrorKind::Truncated { needed_bytes: bytes, available_bytes };
        }
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.address {
            Self::UNPLACED => write!(f, "{} to be written: {}", self.structure, self.kind),
            address => write!(f, "{} at address {address}: {}", self.structure, self.kind),
        }
    }
}

impl std::error::Error for Error {}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NeedMore { bytes } => write!(f, "{bytes} bytes are needed"),
            Self::Truncated { needed_bytes, available_bytes } => {
                write!(f, "truncated: {needed_bytes} bytes needed, {available_bytes} there")
            }
            Self::Signature { expected, found } => write!(
                f,
                "signature \"{}\" expected, \"{}\" found",
                expected.escape_ascii(),
                found.escape_ascii()
            ),
            Self::Version { found } => write!(f, "unknown version {found}"),
            Self::Checksum { stored, computed } => {
                write!(f, "checksum {computed:#010x} computed, {stored:#010x} stored")
            }
            Self::Field { field, value } => write!(f, "{field} cannot be {value}"),
            Self::Limit { field, value, limit } => {
                write!(f, "{field} is {value}, the limit is {limit}")
            }
            Self::Unsupported { feature, value } => {
                write!(f, "{feature} {value} is not supported")
            }
            Self::Cycle => f.write_str("refers back to itself"),
        }
    }
}
