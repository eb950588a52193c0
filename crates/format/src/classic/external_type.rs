//! The type of a classic variable's or attribute's values in the file (`nc_type` in the grammar).
//!
//! ```text
//! 0       4
//! | code  |   big-endian: 1 to 6 in CDF-1 and CDF-2, 1 to 11 in CDF-5
//! ```

/// How values are stored; the numbers are the file's and the C API's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum ExternalType {
    /// 8-bit signed integer.
    Byte = 1,
    /// 8-bit character, without a stated encoding.
    Char = 2,
    /// 16-bit signed integer.
    Short = 3,
    /// 32-bit signed integer.
    Int = 4,
    /// IEEE single precision.
    Float = 5,
    /// IEEE double precision.
    Double = 6,
    /// 8-bit unsigned integer.
    UByte = 7,
    /// 16-bit unsigned integer.
    UShort = 8,
    /// 32-bit unsigned integer.
    UInt = 9,
    /// 64-bit signed integer.
    Int64 = 10,
    /// 64-bit unsigned integer.
    UInt64 = 11,
}

impl ExternalType {
    /// The type with this code. `None` for a code that no version of the format has.
    pub fn from_code(code: u32) -> Option<Self> {
        Some(match code {
            1 => Self::Byte,
            2 => Self::Char,
            3 => Self::Short,
            4 => Self::Int,
            5 => Self::Float,
            6 => Self::Double,
            7 => Self::UByte,
            8 => Self::UShort,
            9 => Self::UInt,
            10 => Self::Int64,
            11 => Self::UInt64,
            _ => return None,
        })
    }

    /// Bytes of one value: 1, 2, 4 or 8.
    pub fn size_bytes(self) -> u64 {
        match self {
            Self::Byte | Self::Char | Self::UByte => 1,
            Self::Short | Self::UShort => 2,
            Self::Int | Self::Float | Self::UInt => 4,
            Self::Double | Self::Int64 | Self::UInt64 => 8,
        }
    }
}
