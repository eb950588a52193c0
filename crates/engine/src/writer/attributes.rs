//! Attributes of groups and variables, which are set and changed alike.

use isotach_model::convert::Number;
use isotach_model::{Atomic, DataType, Values};

use super::{GroupWriter, VariableWriter};
use crate::draft::AttributeOwner;
use crate::error::Result;

/// Values of an attribute with their type.
#[derive(Debug, Clone, PartialEq)]
pub struct AttributeValue {
    /// The type of each value.
    pub data_type: DataType,
    /// The values.
    pub values: Values,
}

macro_rules! attribute_methods {
    ($writer:ty, $owner:path) => {
        impl $writer {
            /// Sets an attribute; its type is that of the values.
            pub fn set_attribute(
                &self,
                name: &str,
                value: impl Into<AttributeValue>,
            ) -> Result<()> {
                let AttributeValue { data_type, values } = value.into();
                self.set_typed_attribute(name, data_type, values)
            }

            /// Sets an attribute of any type.
            pub fn set_typed_attribute(
                &self,
                name: &str,
                data_type: DataType,
                values: Values,
            ) -> Result<()> {
                self.session.set_attribute($owner(self.id), name, data_type, values)
            }

            /// Deletes an attribute.
            pub fn delete_attribute(&self, name: &str) -> Result<()> {
                let owner = $owner(self.id);
                self.session.change_attributes(owner, |draft| draft.delete_attribute(owner, name))
            }

            /// Renames an attribute; its place among the others stays as long as the file is open.
            pub fn rename_attribute(&self, from: &str, to: &str) -> Result<()> {
                let owner = $owner(self.id);
                self.session
                    .change_attributes(owner, |draft| draft.rename_attribute(owner, from, to))
            }
        }
    };
}
attribute_methods!(GroupWriter, AttributeOwner::Group);
attribute_methods!(VariableWriter, AttributeOwner::Variable);

/// Text is netCDF's char.
impl From<&str> for AttributeValue {
    fn from(text: &str) -> Self {
        let values = Values::Char(text.as_bytes().to_vec());
        Self { data_type: Atomic::Char.into(), values }
    }
}

/// Strings are netCDF's string.
impl From<Vec<String>> for AttributeValue {
    fn from(strings: Vec<String>) -> Self {
        Self { data_type: Atomic::String.into(), values: strings.into() }
    }
}

macro_rules! from_numbers {
    ($($number:ty),*) => {$(
        impl From<Vec<$number>> for AttributeValue {
            fn from(numbers: Vec<$number>) -> Self {
                let data_type = <$number as Number>::ATOMIC.into();
                Self { data_type, values: <$number as Number>::into_values(numbers) }
            }
        }

        impl From<$number> for AttributeValue {
            fn from(number: $number) -> Self {
                vec![number].into()
            }
        }
    )*};
}
from_numbers!(i8, u8, i16, u16, i32, u32, i64, u64, f32, f64);
