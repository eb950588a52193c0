//! Values and attributes of a variable.

use std::sync::Arc;

use isotach_model::convert::{Number, RangeReport};
use isotach_model::selection::Selection;
use isotach_model::{Atomic, DataType, Values};

use super::VariableOptions;
use crate::draft::{AttributeOwner, VariableId};
use crate::error::Result;
use crate::variable::Variable;
use crate::write::session::Session;

/// A variable of a file that is being written. Cheap to clone; several threads may write to one.
#[derive(Clone)]
pub struct VariableWriter {
    session: Arc<Session>,
    id: VariableId,
}

/// Values of an attribute with their type.
#[derive(Debug, Clone, PartialEq)]
pub struct AttributeValue {
    /// The type of each value.
    pub data_type: DataType,
    /// The values.
    pub values: Values,
}

impl VariableWriter {
    pub(super) fn new(session: Arc<Session>, id: VariableId) -> Self {
        Self { session, id }
    }

    /// The variable as a reader has it.
    pub fn variable(&self) -> Result<Variable> {
        crate::draft::view::variable(&self.session, self.id)
    }

    /// Writes the selected elements, row-major. A selection that reaches beyond an unlimited
    /// dimension makes it longer. Numbers of another type are converted by netCDF's rules; the
    /// report says how many did not fit.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Selection`] where the selection does not lie within the shape,
    /// [`crate::ErrorKind::Source`] where there are not as many values as it selects,
    /// [`crate::ErrorKind::Encode`] where they are not of the variable's type.
    pub fn write(&self, selection: &Selection, values: &Values) -> Result<RangeReport> {
        self.session.write_values(self.id, selection, values)
    }

    /// Writes the selected elements from memory in this machine's byte order, as
    /// [`Variable::read_native_into`] gives them. Only for types without strings or sequences.
    pub fn write_native(&self, selection: &Selection, elements: &[u8]) -> Result<()> {
        self.session.write_native(self.id, selection, elements)
    }

    /// Writes the selected numbers, converted by netCDF's rules; the report says how many were out
    /// of the stored type's range.
    pub fn write_as<T: Number>(&self, selection: &Selection, numbers: &[T]) -> Result<RangeReport> {
        self.session.write_numbers(self.id, selection, numbers)
    }

    /// Makes its unlimited dimensions at least as long as `extent` says, as writing up to there would.
    ///
    /// # Errors
    /// [`DefinitionFault::FillValue`](crate::DefinitionFault::FillValue) where records of a classic file are to
    /// be filled with what is no fill value.
    pub fn grow(&self, extent: &[u64]) -> Result<()> {
        self.session.grow(self.id, extent)
    }

    /// Changes how the variable shall be stored, as long as it has no values.
    pub fn change_options(&self, change: impl FnOnce(&mut VariableOptions)) -> Result<()> {
        self.session.change_options(self.id, change)
    }

    /// Sets an attribute; its type is that of the values.
    pub fn set_attribute(&self, name: &str, value: impl Into<AttributeValue>) -> Result<()> {
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
        self.session.set_attribute(AttributeOwner::Variable(self.id), name, data_type, values)
    }

    /// Deletes an attribute.
    pub fn delete_attribute(&self, name: &str) -> Result<()> {
        let owner = AttributeOwner::Variable(self.id);
        self.session.change_attributes(owner, |draft| draft.delete_attribute(owner, name))
    }

    /// Renames an attribute; its place among the others stays as long as the file is open.
    pub fn rename_attribute(&self, from: &str, to: &str) -> Result<()> {
        let owner = AttributeOwner::Variable(self.id);
        self.session.change_attributes(owner, |draft| draft.rename_attribute(owner, from, to))
    }

    /// Renames this variable.
    pub fn rename(&self, to: &str) -> Result<()> {
        self.session.change(|draft| draft.rename_variable(self.id, to))
    }

    /// Deletes this variable.
    pub fn delete(&self) -> Result<()> {
        self.session.change(|draft| draft.delete_variable(self.id))
    }
}

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
