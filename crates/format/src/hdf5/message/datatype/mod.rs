//! The datatype message: what one element is and how it lies in the file.
//!
//! ```text
//!   0 version (high 4 bits) and class (low 4) | class bit field (3 bytes)
//!   4 size of an element (4)
//!   8 properties, as the class has them: bit ranges, members, a base type, ...
//! ```
//! `decode.rs` reads it, `encode.rs` writes it, `describe.rs` says a type in one line of text.
//! Specification: IV.A.2.d "The Datatype Message".

mod decode;
mod describe;
mod encode;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use super::{Message, MessageType};
use crate::cursor::Cursor;
use crate::error::Result;
use crate::hdf5::{Encoding, Sizes};
use crate::output::Output;

pub(super) const NAME: &str = "datatype message";

/// The type of an element, or of a part of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Datatype {
    /// An integer.
    FixedPoint(FixedPoint),
    /// A floating-point number of any layout.
    Float(Float),
    /// A time; only its bits are specified, and no library gives them a meaning.
    Time {
        /// Bytes.
        size: u32,
        /// Order of the bytes.
        byte_order: ByteOrder,
        /// Significant bits.
        precision: u16,
    },
    /// A string of a fixed number of bytes.
    String {
        /// Bytes, padding included.
        size: u32,
        /// How shorter strings are filled up.
        padding: StringPadding,
        /// What the bytes are.
        charset: CharacterSet,
    },
    /// Bits without a number's meaning.
    BitField {
        /// Bytes.
        size: u32,
        /// Order of the bytes.
        byte_order: ByteOrder,
        /// The lowest significant bit.
        bit_offset: u16,
        /// Significant bits.
        precision: u16,
    },
    /// Bytes without a meaning.
    Opaque {
        /// Bytes.
        size: u32,
        /// What the writer says they are.
        tag: Arc<[u8]>,
    },
    /// Named members at their own offsets.
    Compound {
        /// Bytes, gaps included.
        size: u32,
        /// In the type's order, which need not be that of their offsets.
        members: Arc<[Member]>,
    },
    /// Where something else in the file is.
    Reference {
        /// Bytes.
        size: u32,
        /// To what it leads and how it is written.
        kind: ReferenceKind,
    },
    /// Names for values of an integer type.
    Enumeration {
        /// The integer type.
        base: Arc<Datatype>,
        /// In the type's order.
        members: Arc<[EnumMember]>,
    },
    /// A sequence of any length; the element holds its length and where it is.
    Sequence {
        /// Bytes of the element: count (4), global heap address, index (4).
        size: u32,
        /// Type of the sequence's elements.
        base: Arc<Datatype>,
    },
    /// A string of any length; the element holds its length and where it is.
    VariableString {
        /// Bytes of the element: count (4), global heap address, index (4).
        size: u32,
        /// How the string ends.
        padding: StringPadding,
        /// What the bytes are.
        charset: CharacterSet,
        /// Type of the string's elements; one byte in all files known.
        base: Arc<Datatype>,
    },
    /// Elements of another type in an array.
    Array {
        /// Bytes of the whole array.
        size: u32,
        /// Lengths of the axes, slowest first.
        dimensions: Arc<[u32]>,
        /// Type of its elements.
        base: Arc<Datatype>,
    },
    /// A complex number: real part, imaginary part (HDF5 2.0).
    Complex {
        /// Bytes of both parts.
        size: u32,
        /// Type of each part.
        base: Arc<Datatype>,
    },
}

/// The layout of an integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FixedPoint {
    /// Bytes.
    pub size: u32,
    /// Order of the bytes.
    pub byte_order: ByteOrder,
    /// Two's complement.
    pub signed: bool,
    /// The lowest significant bit.
    pub bit_offset: u16,
    /// Significant bits.
    pub precision: u16,
}

/// The layout of a floating-point number. Bit 0 is the lowest of the number, in any byte order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Float {
    /// Bytes.
    pub size: u32,
    /// Order of the bytes.
    pub byte_order: ByteOrder,
    /// The lowest significant bit.
    pub bit_offset: u16,
    /// Significant bits.
    pub precision: u16,
    /// Bit of the sign.
    pub sign_location: u8,
    /// Lowest bit of the exponent.
    pub exponent_location: u8,
    /// Bits of the exponent.
    pub exponent_size: u8,
    /// What is added to the exponent.
    pub exponent_bias: u32,
    /// Lowest bit of the mantissa.
    pub mantissa_location: u8,
    /// Bits of the mantissa.
    pub mantissa_size: u8,
    /// What stands before the mantissa's highest bit.
    pub normalization: Normalization,
    /// What unused bits are.
    pub bit_padding: BitPadding,
}

/// What unused bits of a floating-point number are: one or zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BitPadding {
    /// Below the significant bits.
    pub low: bool,
    /// Above the significant bits.
    pub high: bool,
    /// Between sign, exponent and mantissa.
    pub internal: bool,
}

/// How a mantissa is normalized.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Normalization {
    /// Not at all.
    None,
    /// Its highest bit is always one.
    HighestBitSet,
    /// A one that is not stored stands before it.
    HighestBitImplied,
}

/// The order of a number's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByteOrder {
    /// Lowest byte first.
    Little,
    /// Highest byte first.
    Big,
    /// Pairs of bytes, each lowest first, the highest pair first.
    Vax,
}

/// How a string shorter than its place is filled up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StringPadding {
    /// A zero byte ends it.
    NullTerminated,
    /// Zero bytes follow it.
    NullPadded,
    /// Blanks follow it.
    SpacePadded,
    /// A number that no specification explains.
    Reserved(u8),
}

/// What the bytes of a string are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CharacterSet {
    /// ASCII.
    Ascii,
    /// UTF-8.
    Utf8,
    /// A number that no specification explains.
    Reserved(u8),
}

/// To what a reference leads and how it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReferenceKind {
    /// The address of an object's header.
    Object,
    /// Where in the global heap an object's address and a selection stand.
    Region,
    /// The encoding of HDF5 1.12 for objects, regions and attributes, with its type's number.
    Standard(u8),
}

/// A member of a compound type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Its name.
    pub name: Arc<[u8]>,
    /// Bytes from the start of the element.
    pub offset: u32,
    /// Its type; an array where a version-1 message gives the member dimensions.
    pub datatype: Datatype,
}

/// A name for a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnumMember {
    /// The name.
    pub name: Arc<[u8]>,
    /// The value, by the whole size of the base type.
    pub value: i128,
}

impl Message for Datatype {
    const TYPE: MessageType = MessageType::DATATYPE;
    const NAME: &'static str = NAME;

    fn decode_fields(cursor: &mut Cursor<'_>, _sizes: Sizes) -> Result<Self> {
        decode::decode(cursor, 0)
    }

    fn encode_fields(&self, output: &mut Output, encoding: Encoding) -> Result<()> {
        encode::encode(output, self, encoding.oldest_reader)
    }
}

impl Datatype {
    /// Bytes of one element in the file.
    pub fn size(&self) -> u32 {
        match self {
            Self::FixedPoint(FixedPoint { size, .. })
            | Self::Float(Float { size, .. })
            | Self::Time { size, .. }
            | Self::String { size, .. }
            | Self::BitField { size, .. }
            | Self::Opaque { size, .. }
            | Self::Compound { size, .. }
            | Self::Reference { size, .. }
            | Self::Sequence { size, .. }
            | Self::VariableString { size, .. }
            | Self::Array { size, .. }
            | Self::Complex { size, .. } => *size,
            Self::Enumeration { base, .. } => base.size(),
        }
    }

    /// True where an element refers to the global heap, itself or in a part of it: sequences,
    /// strings of variable length, region references and the references of HDF5 1.12.
    pub fn has_heap_data(&self) -> bool {
        match self {
            Self::Sequence { .. } | Self::VariableString { .. } => true,
            Self::Reference { kind, .. } => *kind != ReferenceKind::Object,
            Self::Compound { members, .. } => {
                members.iter().any(|member| member.datatype.has_heap_data())
            }
            Self::Array { base, .. } => base.has_heap_data(),
            _ => false,
        }
    }
}

impl StringPadding {
    fn from_number(number: u8) -> Self {
        match number {
            0 => Self::NullTerminated,
            1 => Self::NullPadded,
            2 => Self::SpacePadded,
            other => Self::Reserved(other),
        }
    }

    /// Its number, which takes 4 bits.
    fn number(self) -> u8 {
        match self {
            Self::NullTerminated => 0,
            Self::NullPadded => 1,
            Self::SpacePadded => 2,
            Self::Reserved(number) => number & 0x0f,
        }
    }
}

impl CharacterSet {
    pub(in crate::hdf5) fn from_number(number: u8) -> Self {
        match number {
            0 => Self::Ascii,
            1 => Self::Utf8,
            other => Self::Reserved(other),
        }
    }

    /// Its number, which takes a byte or 4 bits.
    pub(in crate::hdf5) fn number(self) -> u8 {
        match self {
            Self::Ascii => 0,
            Self::Utf8 => 1,
            Self::Reserved(number) => number,
        }
    }
}
