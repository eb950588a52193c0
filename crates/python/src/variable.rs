//! Handles on variables: what they are, and reading them into NumPy arrays.

use std::sync::{Arc, OnceLock};

use isotach::model::selection::{Indexed, Selection};
use isotach::model::{DataType, Values};
use isotach::read::Array;
use isotach::{Endianness, Error, ErrorKind, StorageKind, Variable};
use numpy::PyArrayDescr;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::attribute;
use crate::error::to_python;
use crate::file::{DimensionTuple, dimension_tuples, type_path};
use crate::index::indices;
use crate::numpy_memory::filled;
use crate::types::{describe, dtype};
use crate::values::to_array;

/// A variable of an open file.
#[pyclass(frozen, name = "Variable", module = "isotach._native")]
pub(crate) struct NativeVariable {
    variable: Variable,
    /// What every read needs, found at the first one.
    reading: OnceLock<Reading>,
}

struct Reading {
    array: Arc<Array>,
    /// `None` where elements become Python objects.
    dtype: Option<Py<PyArrayDescr>>,
}

impl NativeVariable {
    pub(crate) fn new(variable: Variable) -> Self {
        Self { variable, reading: OnceLock::new() }
    }

    fn reading(&self, py: Python<'_>) -> PyResult<&Reading> {
        if let Some(reading) = self.reading.get() {
            return Ok(reading);
        }
        let array = py.detach(|| self.variable.array()).map_err(|error| to_python(&error))?;
        let dtype = dtype(py, &array.stored)?.map(Bound::unbind);
        Ok(self.reading.get_or_init(|| Reading { array, dtype }))
    }

    fn select(&self, key: &Bound<'_, PyAny>, array: &Array) -> PyResult<Indexed> {
        Selection::from_indices(&indices(key)?, &array.shape).map_err(|error| {
            let error = Error::new(&array.layout.file, ErrorKind::Selection(error));
            to_python(&error.at(&array.layout.path))
        })
    }
}

#[pymethods]
impl NativeVariable {
    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        self.variable.name()
    }

    /// Path of its group.
    #[getter]
    fn group_path(&self) -> &str {
        self.variable.group_path()
    }

    /// Its type: CDL's word, or a dict that describes a user-defined type.
    fn data_type<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        describe(py, self.variable.data_type())
    }

    /// The type's path, such as `float` or `/group/name`.
    fn type_path(&self) -> String {
        type_path(self.variable.data_type())
    }

    /// The dtype of what `read` returns; None where that is Python objects.
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArrayDescr>>> {
        Ok(self.reading(py)?.dtype.as_ref().map(|dtype| dtype.bind(py).clone()))
    }

    /// Its dimensions, outermost first.
    fn dimensions(&self, py: Python<'_>) -> PyResult<Vec<DimensionTuple>> {
        let found = py.detach(|| self.variable.dimensions()).map_err(|error| to_python(&error))?;
        Ok(dimension_tuples(&found))
    }

    /// Present length along each dimension.
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let shape = py.detach(|| self.variable.shape()).map_err(|error| to_python(&error))?;
        PyTuple::new(py, shape)
    }

    /// Names of its attributes in order.
    fn attribute_names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let found = py.detach(|| self.variable.attributes()).map_err(|error| to_python(&error))?;
        Ok(found.iter().map(|attribute| attribute.name.clone()).collect())
    }

    /// Its attributes by name.
    fn attributes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let found = py.detach(|| self.variable.attributes()).map_err(|error| to_python(&error))?;
        attribute::dict(py, &found)
    }

    /// One attribute's value, or None.
    fn attribute<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        let found = py.detach(|| self.variable.attribute(name)).map_err(|error| to_python(&error))?;
        found.map(|found| attribute::value(py, &found)).transpose()
    }

    /// Storage as a dict: `kind`, `chunks` (or None), `endian`, and `filters` as a list of
    /// `(id, name, parameters)`.
    fn storage<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let storage = py.detach(|| self.variable.storage()).map_err(|error| to_python(&error))?;
        let out = PyDict::new(py);
        let kind = match storage.kind {
            StorageKind::Contiguous => "contiguous",
            StorageKind::Chunked => "chunked",
            StorageKind::Compact => "compact",
            StorageKind::Virtual => "virtual",
            StorageKind::Unknown => "unknown",
        };
        let endian = match storage.endianness {
            Endianness::Native => "native",
            Endianness::Little => "little",
            Endianness::Big => "big",
        };
        let filters = storage.filters.iter();
        let filters = filters.map(|used| (used.id, used.name.clone(), used.parameters.clone()));
        out.set_item("kind", kind)?;
        out.set_item("chunks", storage.chunk_shape.clone())?;
        out.set_item("endian", endian)?;
        out.set_item("filters", filters.collect::<Vec<_>>())?;
        Ok(out)
    }

    /// `(fills, value)`: whether never-written elements are filled, and with what (an array of
    /// one element).
    fn fill_value<'py>(&self, py: Python<'py>) -> PyResult<(bool, Bound<'py, PyAny>)> {
        let fill = py.detach(|| self.variable.fill_value()).map_err(|error| to_python(&error))?;
        Ok((fill.fill, to_array(py, fill.value)?))
    }

    /// The elements that `key` selects, as NumPy has indexing but orthogonal in lists, unmasked
    /// and unscaled.
    fn read<'py>(&self, py: Python<'py>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let reading = self.reading(py)?;
        let array = &reading.array;
        let Indexed { selection, result_shape, .. } = self.select(key, array)?;
        let Some(dtype) = &reading.dtype else {
            let values = py.detach(|| array.read(&selection)).map_err(|error| to_python(&error))?;
            return objects(py, values, &result_shape);
        };
        let dtype = dtype.bind(py);
        let fill = |memory: &mut [_]| array.read_native_into(&selection, memory);
        // A dtype of arrays adds their shape to the array's own: NumPy splits it off by itself.
        let out = filled(py, &result_shape, dtype, |error: Error| to_python(&error), fill)?;
        Ok(out.into_any())
    }

    /// What reading `key` would take, as text.
    fn explain(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<String> {
        let reading = self.reading(py)?;
        let selection = self.select(key, &reading.array)?.selection;
        let plan = py.detach(|| reading.array.explain(&selection)).map_err(|error| to_python(&error))?;
        Ok(plan.to_string())
    }

    /// True where elements are whole bytes strings of netCDF's char type.
    #[getter]
    fn is_char(&self) -> bool {
        matches!(self.variable.data_type(), DataType::Atomic(isotach::model::Atomic::Char))
    }
}

fn objects<'py>(py: Python<'py>, values: Values, shape: &[u64]) -> PyResult<Bound<'py, PyAny>> {
    let array = to_array(py, values)?;
    let element_shape = array.getattr("shape")?;
    let element_shape = element_shape.cast::<PyTuple>()?;
    let mut whole: Vec<u64> = shape.to_vec();
    for extent in element_shape.iter().skip(1) {
        whole.push(extent.extract()?);
    }
    array.call_method1("reshape", (PyTuple::new(py, whole)?,))
}

