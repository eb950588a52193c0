//! How one element lies in the file.
//!
//! Flat elements (no references to heaps) can be brought to the machine's byte order where they
//! stand, by a [`NativeOrder`]; all elements can be decoded into [`Values`](crate::Values) and
//! encoded from them.

mod decode;
mod encode;
#[cfg(test)]
mod encode_tests;
mod native_form;
mod native_order;
mod partial_float;
mod partial_int;
#[cfg(test)]
pub(crate) mod tests;

use crate::Atomic;

pub use decode::{DecodeError, TypeFault};
pub use encode::{EncodeError, HeapWriter};
pub use native_order::NativeOrder;

/// The layout of one element as the file (or a decoded chunk) holds it.
#[derive(Debug, Clone, PartialEq)]
pub enum StoredType {
    /// A signed integer of 1, 2, 4 or 8 bytes.
    Int { size: usize, big_endian: bool },
    /// An unsigned integer of 1, 2, 4 or 8 bytes.
    UInt { size: usize, big_endian: bool },
    /// An integer that does not use all bits of its bytes.
    PartialInt(PartialInt),
    /// A float whose bits are not those of an IEEE float of 4 or 8 bytes.
    PartialFloat(PartialFloat),
    /// An IEEE float of 4 or 8 bytes.
    Float { size: usize, big_endian: bool },
    /// netCDF's char: one byte.
    Char,
    /// Bytes of one element as they stand; `reversed` where the last byte is the lowest.
    Bytes { size: usize, reversed: bool },
    /// A fixed-length string that is shown as a string: cut at the first zero byte for
    /// null-terminated and null-padded ones, trailing blanks removed for space-padded ones.
    FixedString { size: usize, space_padded: bool },
    /// A reference to a variable-length string in a heap; `size` bytes of reference.
    VarString { size: usize },
    /// A reference to a variable-length sequence in a heap; `size` bytes of reference.
    Sequence { size: usize, base: Box<StoredType> },
    /// Members at their offsets in an element of `size` bytes.
    Compound { size: usize, members: Vec<StoredMember> },
    /// `len` elements after one another.
    Array { len: usize, base: Box<StoredType> },
}

/// An integer of 1, 2, 4 or 8 bytes of which only some bits count: `precision` of them, the lowest
/// at `bit_offset`. It is shown as a number of as many bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct PartialInt {
    pub size: usize,
    pub big_endian: bool,
    pub signed: bool,
    pub bit_offset: u32,
    pub precision: u32,
}

/// A float of 1, 2, 4 or 8 bytes as [`FloatFormat`] says, in a byte order. It is shown as an IEEE float of as
/// many bytes, of 4 where it has fewer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct PartialFloat {
    pub format: FloatFormat,
    pub big_endian: bool,
}

/// Where sign, exponent and mantissa of a float are among the bits of its bytes. The mantissa has a one before it
/// that is not stored, but for the lowest exponent; the highest exponent is that of infinity and of what is no
/// number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct FloatFormat {
    pub size: usize,
    /// Bit of the sign.
    pub sign: u32,
    /// Lowest bit and count of bits.
    pub exponent: (u32, u32),
    pub bias: u32,
    /// Lowest bit and count of bits.
    pub mantissa: (u32, u32),
}

/// A member of a stored compound.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredMember {
    /// The member's name.
    pub name: String,
    /// Bytes from the start of the element in the file.
    pub offset: usize,
    /// How the member lies there.
    pub stored: StoredType,
}

/// What a heap has for a reference: an element count, and the bytes of the elements.
pub type Found = (u64, Vec<u8>);

/// Where references to variable-length data are looked up (HDF5's global heaps).
pub trait Heap {
    /// Why a look-up failed.
    type Error;
    /// The element count and the bytes that `reference` (as it lies in the file) refers to;
    /// `None` is a null reference. `element_size` is that of the stored base type, 1 for strings.
    fn look_up(&self, reference: &[u8], element_size: usize) -> Result<Option<Found>, Self::Error>;

    /// The bytes of the file that the heap lies in, or as much as may be taken out of it in one
    /// go. Sequences of sequences can refer to the same few bytes over and over: a decode ends
    /// with an error when it has taken this much and 64 times the bytes it was given.
    fn size_bytes(&self) -> u64 {
        1 << 30
    }
}

/// The heap of values that refer to none: whatever is looked up is a null reference.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoHeap;

impl Heap for NoHeap {
    type Error = std::convert::Infallible;

    fn look_up(
        &self,
        _reference: &[u8],
        _element_size: usize,
    ) -> Result<Option<Found>, Self::Error> {
        Ok(None)
    }
}

impl StoredType {
    /// Bytes of one element in the file.
    pub fn size(&self) -> usize {
        match self {
            Self::Char => 1,
            Self::PartialInt(integer) => integer.size,
            Self::PartialFloat(float) => float.format.size,
            Self::Int { size, .. }
            | Self::UInt { size, .. }
            | Self::Float { size, .. }
            | Self::Bytes { size, .. }
            | Self::FixedString { size, .. }
            | Self::VarString { size }
            | Self::Sequence { size, .. }
            | Self::Compound { size, .. } => *size,
            // A type that claims more bytes than there are addresses fails every test for room.
            Self::Array { len, base } => base.size().saturating_mul(*len),
        }
    }

    /// netCDF's type of the number that an element is; `None` where it is none.
    pub fn number(&self) -> Option<Atomic> {
        let (size, signed) = match self {
            Self::Int { size, .. } => (*size, true),
            Self::UInt { size, .. } => (*size, false),
            Self::PartialInt(integer) => (integer.size, integer.signed),
            Self::PartialFloat(float) => return float.whole().number(),
            Self::Float { size: 4, .. } => return Some(Atomic::Float),
            Self::Float { size: 8, .. } => return Some(Atomic::Double),
            _ => return None,
        };
        Some(match (size, signed) {
            (1, true) => Atomic::Byte,
            (2, true) => Atomic::Short,
            (4, true) => Atomic::Int,
            (8, true) => Atomic::Int64,
            (1, false) => Atomic::UByte,
            (2, false) => Atomic::UShort,
            (4, false) => Atomic::UInt,
            (8, false) => Atomic::UInt64,
            _ => return None,
        })
    }

    /// True where an element is whole in itself, without a reference into a heap.
    pub fn is_flat(&self) -> bool {
        match self {
            Self::VarString { .. } | Self::Sequence { .. } => false,
            Self::Compound { members, .. } => members.iter().all(|member| member.stored.is_flat()),
            Self::Array { base, .. } => base.is_flat(),
            Self::Int { .. }
            | Self::UInt { .. }
            | Self::PartialInt(_)
            | Self::PartialFloat(_)
            | Self::Float { .. }
            | Self::Char
            | Self::Bytes { .. }
            | Self::FixedString { .. } => true,
        }
    }
}
