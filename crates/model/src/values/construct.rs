//! Values out of what a program has.

use super::Values;
use crate::data_type::{Atomic, DataType, UserClass};

impl Values {
    /// `count` elements of zeros, null pointers and empty sequences: what elements read as that
    /// were never written, where there is no fill value. The caller has made sure that so many fit
    /// into memory.
    pub fn zeros(data_type: &DataType, count: usize) -> Self {
        let user = match data_type {
            DataType::Atomic(atomic) => return Self::atomic_zeros(*atomic, count),
            DataType::SmallFloat(_) => return Self::atomic_zeros(Atomic::Float, count),
            DataType::Foreign(foreign) => {
                return Self::Bytes { size: foreign.size, bytes: vec![0; foreign.size * count] };
            }
            DataType::User(user) => user,
        };
        match &user.class {
            UserClass::Enum { base, .. } => Self::atomic_zeros(*base, count),
            UserClass::Opaque => Self::Bytes { size: user.size, bytes: vec![0; user.size * count] },
            UserClass::Vlen(base) => Self::Sequence(vec![Self::empty(base); count]),
            UserClass::Compound(fields) => {
                let column = |shape: &[usize], data_type| match shape {
                    [] => Self::zeros(data_type, count),
                    _ => {
                        let len = shape.iter().product();
                        let elements = Box::new(Self::zeros(data_type, len * count));
                        Self::Array { len, count, elements }
                    }
                };
                let members = fields
                    .iter()
                    .map(|field| (field.name.clone(), column(&field.shape, &field.data_type)))
                    .collect();
                Self::Compound { count, members }
            }
        }
    }

    /// No elements of a type.
    pub fn empty(data_type: &DataType) -> Self {
        Self::zeros(data_type, 0)
    }

    fn atomic_zeros(atomic: Atomic, count: usize) -> Self {
        match atomic {
            Atomic::Byte => Self::I8(vec![0; count]),
            Atomic::UByte => Self::U8(vec![0; count]),
            Atomic::Short => Self::I16(vec![0; count]),
            Atomic::UShort => Self::U16(vec![0; count]),
            Atomic::Int => Self::I32(vec![0; count]),
            Atomic::UInt => Self::U32(vec![0; count]),
            Atomic::Int64 => Self::I64(vec![0; count]),
            Atomic::UInt64 => Self::U64(vec![0; count]),
            Atomic::Float => Self::F32(vec![0.0; count]),
            Atomic::Double => Self::F64(vec![0.0; count]),
            Atomic::Char => Self::Char(vec![0; count]),
            Atomic::String => Self::String(vec![None; count]),
        }
    }
}

/// Chars, which is what netCDF's attributes of text are.
impl From<&str> for Values {
    fn from(text: &str) -> Self {
        Self::Char(text.into())
    }
}

/// Chars, which is what netCDF's attributes of text are.
impl From<String> for Values {
    fn from(text: String) -> Self {
        Self::Char(text.into_bytes())
    }
}

/// Strings.
impl From<Vec<String>> for Values {
    fn from(strings: Vec<String>) -> Self {
        Self::String(strings.into_iter().map(|string| Some(string.into_bytes().into())).collect())
    }
}

/// Strings.
impl From<&[&str]> for Values {
    fn from(strings: &[&str]) -> Self {
        Self::String(strings.iter().map(|string| Some(string.as_bytes().into())).collect())
    }
}

/// Strings.
impl<const N: usize> From<[&str; N]> for Values {
    fn from(strings: [&str; N]) -> Self {
        Self::from(&strings[..])
    }
}
