//! Values and attributes of a variable.

use std::sync::Arc;

use isotach_model::Values;
use isotach_model::convert::{Number, RangeReport};
use isotach_model::selection::Selection;

use super::VariableOptions;
use crate::draft::VariableId;
use crate::error::Result;
use crate::variable::Variable;
use crate::write::session::Session;

/// A variable of a file that is being written. Cheap to clone; several threads may write to one.
#[derive(Clone)]
pub struct VariableWriter {
    pub(super) session: Arc<Session>,
    pub(super) id: VariableId,
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

    /// Renames this variable.
    pub fn rename(&self, to: &str) -> Result<()> {
        self.session.change(|draft| draft.rename_variable(self.id, to))
    }

    /// Deletes this variable.
    pub fn delete(&self) -> Result<()> {
        self.session.change(|draft| draft.delete_variable(self.id))
    }
}
