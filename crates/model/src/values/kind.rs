//! What kind of values those are, in words and for comparison.

use std::fmt;

use super::Values;
use crate::data_type::Atomic;

/// The kind of values, whatever they are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Kind {
    /// One of netCDF's types of numbers.
    Number(Atomic),
    Char,
    String,
    /// Elements of so many bytes.
    Bytes {
        size: usize,
    },
    Compound,
    /// Arrays of so many elements.
    Array {
        len: usize,
    },
    /// Sequences of any length.
    Sequence,
}

impl Values {
    /// What kind of values these are.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Char(_) => Kind::Char,
            Self::String(_) => Kind::String,
            Self::Bytes { size, .. } => Kind::Bytes { size: *size },
            Self::Compound { .. } => Kind::Compound,
            Self::Array { len, .. } => Kind::Array { len: *len },
            Self::Sequence(_) => Kind::Sequence,
            Self::I8(_) => Kind::Number(Atomic::Byte),
            Self::U8(_) => Kind::Number(Atomic::UByte),
            Self::I16(_) => Kind::Number(Atomic::Short),
            Self::U16(_) => Kind::Number(Atomic::UShort),
            Self::I32(_) => Kind::Number(Atomic::Int),
            Self::U32(_) => Kind::Number(Atomic::UInt),
            Self::I64(_) => Kind::Number(Atomic::Int64),
            Self::U64(_) => Kind::Number(Atomic::UInt64),
            Self::F32(_) => Kind::Number(Atomic::Float),
            Self::F64(_) => Kind::Number(Atomic::Double),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(atomic) => f.write_str(atomic.name()),
            Self::Char => f.write_str("char"),
            Self::String => f.write_str("string"),
            Self::Bytes { size } => write!(f, "opaque({size})"),
            Self::Compound => f.write_str("a compound"),
            Self::Array { len } => write!(f, "an array of {len}"),
            Self::Sequence => f.write_str("a variable-length sequence"),
        }
    }
}
