//! Values and attributes of a variable.

use isotach::VariableWriter;
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

use super::place::Place;
use super::types::data_type;
use super::values::values;
use crate::error::{attribute_error, to_python};
use crate::variable::NativeVariable;

/// A variable of a file that is being written.
#[pyclass(frozen, name = "VariableWriter", module = "isotach._native")]
pub(crate) struct NativeVariableWriter {
    variable: VariableWriter,
}

impl NativeVariableWriter {
    pub(super) fn new(variable: VariableWriter) -> Self {
        Self { variable }
    }
}

#[pymethods]
impl NativeVariableWriter {
    /// The variable, for reading.
    fn variable(&self, py: Python<'_>) -> PyResult<NativeVariable> {
        let found = py.detach(|| self.variable.variable()).map_err(|error| to_python(&error))?;
        Ok(NativeVariable::live(found))
    }

    /// Writes elements out of their memory, in this machine's byte order and laid out as
    /// `Variable.dtype` says.
    fn write(
        &self,
        py: Python<'_>,
        place: &Place,
        memory: PyReadonlyArray1<'_, u8>,
    ) -> PyResult<()> {
        let Some(selection) = place.elements()? else { return Ok(()) };
        let elements = memory.as_slice()?;
        py.detach(|| self.variable.write_native(selection, elements))
            .map_err(|error| to_python(&error))
    }

    /// Writes elements of a flat array, or another sequence, that are Python's objects.
    fn write_objects(
        &self,
        py: Python<'_>,
        place: &Place,
        objects: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let Some(selection) = place.elements()? else { return Ok(()) };
        let found = py.detach(|| self.variable.variable()).map_err(|error| to_python(&error))?;
        let values = values(found.data_type(), objects)?;
        let written = py.detach(|| self.variable.write(selection, &values));
        written.map(drop).map_err(|error| to_python(&error))
    }

    /// Sets an attribute.
    fn set_attribute(
        &self,
        py: Python<'_>,
        name: &str,
        of: &Bound<'_, PyAny>,
        given: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let data_type = data_type(of)?;
        let values = values(&data_type, given)?;
        py.detach(|| self.variable.set_typed_attribute(name, data_type, values))
            .map_err(|error| attribute_error(&error))
    }

    /// Deletes an attribute.
    fn delete_attribute(&self, py: Python<'_>, name: &str) -> PyResult<()> {
        py.detach(|| self.variable.delete_attribute(name)).map_err(|error| to_python(&error))
    }

    /// Renames an attribute.
    fn rename_attribute(&self, py: Python<'_>, from: &str, to: &str) -> PyResult<()> {
        py.detach(|| self.variable.rename_attribute(from, to)).map_err(|error| to_python(&error))
    }

    /// Gives this variable another name.
    fn rename(&self, py: Python<'_>, to: &str) -> PyResult<()> {
        py.detach(|| self.variable.rename(to)).map_err(|error| to_python(&error))
    }

    /// Takes this variable out of the file.
    fn delete(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.variable.delete()).map_err(|error| to_python(&error))
    }
}
