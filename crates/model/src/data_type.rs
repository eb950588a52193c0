//! Data types as the netCDF data model tells them.

mod complex;
mod define;
pub mod layout;

use std::ops::RangeInclusive;
use std::sync::Arc;

pub use complex::{COMPLEX_DIMENSIONS, Complex};
pub use define::DefinitionFault;

use crate::stored::FloatFormat;

/// The type of a variable, an attribute, or a part of a user-defined type.
#[derive(Debug, Clone, PartialEq)]
pub enum DataType {
    /// One of netCDF's own types.
    Atomic(Atomic),
    /// A float of one or two bytes, such as float16 and bfloat16. netCDF has none: it is shown as a float.
    SmallFloat(FloatFormat),
    /// A type that the file defines.
    User(Arc<UserType>),
    /// What netCDF cannot say (references, bit fields, odd floats): readable as raw bytes.
    Foreign(Arc<ForeignType>),
}

/// NetCDF's own types, with the numbers the C API gives them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Atomic {
    Byte = 1,
    Char = 2,
    Short = 3,
    Int = 4,
    Float = 5,
    Double = 6,
    UByte = 7,
    UShort = 8,
    UInt = 9,
    Int64 = 10,
    UInt64 = 11,
    String = 12,
}

impl Atomic {
    /// CDL's word for the type.
    pub fn name(self) -> &'static str {
        match self {
            Self::Byte => "byte",
            Self::Char => "char",
            Self::Short => "short",
            Self::Int => "int",
            Self::Float => "float",
            Self::Double => "double",
            Self::UByte => "ubyte",
            Self::UShort => "ushort",
            Self::UInt => "uint",
            Self::Int64 => "int64",
            Self::UInt64 => "uint64",
            Self::String => "string",
        }
    }

    /// Bytes of one element in the file; 0 for strings, which have no fixed size.
    pub fn size(self) -> usize {
        match self {
            Self::Byte | Self::Char | Self::UByte => 1,
            Self::Short | Self::UShort => 2,
            Self::Int | Self::UInt | Self::Float => 4,
            Self::Int64 | Self::UInt64 | Self::Double => 8,
            Self::String => 0,
        }
    }

    /// The values that an integer of this type can have; `None` where it is none.
    pub fn integer_range(self) -> Option<RangeInclusive<i128>> {
        Some(match self {
            Self::Byte => i8::MIN.into()..=i8::MAX.into(),
            Self::UByte => 0..=u8::MAX.into(),
            Self::Short => i16::MIN.into()..=i16::MAX.into(),
            Self::UShort => 0..=u16::MAX.into(),
            Self::Int => i32::MIN.into()..=i32::MAX.into(),
            Self::UInt => 0..=u32::MAX.into(),
            Self::Int64 => i64::MIN.into()..=i64::MAX.into(),
            Self::UInt64 => 0..=u64::MAX.into(),
            Self::Char | Self::Float | Self::Double | Self::String => return None,
        })
    }
}

/// A type that a file defines.
#[derive(Debug, Clone, PartialEq)]
pub struct UserType {
    /// Name without its group.
    pub name: String,
    /// Path of the group that defines it, `/` for the root group.
    pub group: String,
    /// Bytes of one element in a C program's memory; 16 for a variable-length sequence.
    pub size: usize,
    /// What kind of type it is, and of what it is made.
    pub class: UserClass,
}

/// The four kinds of user-defined type.
#[derive(Debug, Clone, PartialEq)]
pub enum UserClass {
    /// Named members, each at its own offset.
    Compound(Vec<Field>),
    /// Names for integers of a base type.
    Enum {
        /// The integer type.
        base: Atomic,
        /// Names and values in the type's order.
        members: Vec<(String, i128)>,
    },
    /// Bytes without a meaning; `UserType::size` of them.
    Opaque,
    /// Sequences of any length of another type.
    Vlen(DataType),
}

/// A member of a compound type.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// The member's name.
    pub name: String,
    /// Bytes from the start of the element in a C program's memory.
    pub offset: usize,
    /// The type of each of its elements.
    pub data_type: DataType,
    /// Its shape; empty for a single element.
    pub shape: Vec<usize>,
}

/// A type of HDF5 for which netCDF has no name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignType {
    /// The HDF5 type in words, such as `ref[object]`.
    pub description: String,
    /// Bytes of one element in the file.
    pub size: usize,
}

impl DataType {
    /// The name as it stands in CDL: a word, or the name of the user-defined type.
    pub fn name(&self) -> &str {
        match self {
            Self::Atomic(atomic) => atomic.name(),
            Self::SmallFloat(_) => Atomic::Float.name(),
            Self::User(user) => &user.name,
            Self::Foreign(foreign) => &foreign.description,
        }
    }

    /// The name with the path of its group, as `/group/name`, for a user-defined type.
    pub fn path(&self) -> String {
        match self {
            Self::User(user) => format!("{}/{}", user.group.trim_end_matches('/'), user.name),
            _ => self.name().to_owned(),
        }
    }

    /// True where netCDF has no name for the type, or for a part of it.
    pub fn is_foreign(&self) -> bool {
        match self {
            Self::Atomic(_) | Self::SmallFloat(_) => false,
            Self::User(user) => user.is_foreign(),
            Self::Foreign(_) => true,
        }
    }

    /// The atomic type where it is one; that of a small float is [`Atomic::Float`].
    pub fn atomic(&self) -> Option<Atomic> {
        match self {
            Self::Atomic(atomic) => Some(*atomic),
            Self::SmallFloat(_) => Some(Atomic::Float),
            _ => None,
        }
    }
}

impl UserType {
    /// True where netCDF has no name for what the type is made of.
    pub fn is_foreign(&self) -> bool {
        match &self.class {
            UserClass::Compound(fields) => fields.iter().any(|field| field.data_type.is_foreign()),
            UserClass::Vlen(base) => base.is_foreign(),
            UserClass::Enum { .. } | UserClass::Opaque => false,
        }
    }
}

impl From<Atomic> for DataType {
    fn from(atomic: Atomic) -> Self {
        Self::Atomic(atomic)
    }
}
