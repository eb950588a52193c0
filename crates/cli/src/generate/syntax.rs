//! CDL as it is written: statements in their order, nothing looked up yet.

use isotach::model::Atomic;

/// Where something stands in the text; both from 1. Columns count bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Position {
    pub line: u32,
    pub column: u32,
}

/// A group: what it declares and defines, and the groups in it.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Body {
    pub(super) statements: Vec<Statement>,
    pub(super) groups: Vec<(Name, Body)>,
}

/// A name without escapes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Name {
    pub(super) at: Position,
    pub(super) text: String,
}

/// A name of something that is declared elsewhere.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reference {
    pub(super) at: Position,
    /// The names of the groups from the root, where the reference begins with a slash.
    pub(super) groups: Option<Vec<String>>,
    pub(super) name: String,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Statement {
    Dimension { name: Name, len: Len },
    Type { name: Name, class: TypeClass },
    Variable { name: Name, data_type: Reference, dimensions: Vec<Reference> },
    Attribute(Attribute),
    Data { variable: Reference, items: Vec<Item> },
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Len {
    Fixed(u64),
    Unlimited,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum TypeClass {
    Enum { base: Reference, members: Vec<(Name, Item)> },
    Opaque { size: u64 },
    Vlen { base: Reference },
    Compound { fields: Vec<Field> },
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Field {
    pub(super) name: Name,
    pub(super) data_type: Reference,
    pub(super) shape: Vec<u64>,
}

/// `data_type owner:name = items`; both before the colon may be left out, and one alone may be
/// either.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Attribute {
    pub(super) data_type: Option<Reference>,
    pub(super) owner: Option<Reference>,
    pub(super) name: Name,
    pub(super) items: Vec<Item>,
}

/// A constant, or several in braces.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Item {
    pub(super) at: Position,
    pub(super) constant: Constant,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Constant {
    Number(Scalar),
    /// Between single quotes.
    Char(u8),
    /// Between double quotes.
    Text(Box<[u8]>),
    /// The hexadecimal digits behind `0x`.
    Hex(Box<str>),
    /// The name of a member of an enumeration.
    Name(Box<Reference>),
    /// `_`
    Fill,
    /// `NIL`, a string's null pointer.
    Nil,
    List(Box<[Item]>),
}

/// A number and its type.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Scalar {
    I8(i8),
    U8(u8),
    I16(i16),
    U16(u16),
    I32(i32),
    U32(u32),
    I64(i64),
    U64(u64),
    F32(f32),
    F64(f64),
    /// `-0`: an integer, but as a float it has a sign.
    NegativeZero,
}

impl Scalar {
    pub(super) fn atomic(self) -> Atomic {
        match self {
            Self::I8(_) => Atomic::Byte,
            Self::U8(_) => Atomic::UByte,
            Self::I16(_) => Atomic::Short,
            Self::U16(_) => Atomic::UShort,
            Self::I32(_) | Self::NegativeZero => Atomic::Int,
            Self::U32(_) => Atomic::UInt,
            Self::I64(_) => Atomic::Int64,
            Self::U64(_) => Atomic::UInt64,
            Self::F32(_) => Atomic::Float,
            Self::F64(_) => Atomic::Double,
        }
    }

    /// The integer; `None` for floats.
    pub(super) fn integer(self) -> Option<i128> {
        Some(match self {
            Self::I8(value) => value.into(),
            Self::U8(value) => value.into(),
            Self::I16(value) => value.into(),
            Self::U16(value) => value.into(),
            Self::I32(value) => value.into(),
            Self::U32(value) => value.into(),
            Self::I64(value) => value.into(),
            Self::U64(value) => value.into(),
            Self::NegativeZero => 0,
            Self::F32(_) | Self::F64(_) => return None,
        })
    }
}
