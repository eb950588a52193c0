//! Handles on variables: what they are, and reading them into NumPy arrays.

use std::sync::Arc;

use isotach::model::selection::{Index, Indexed, Selection};
use isotach::model::{Atomic, DataType, Values};
use isotach::plan::layout::Placement;
use isotach::read::Array;
use isotach::sync::OnceLock;
use isotach::{Endianness, Error, StorageInfo, StorageKind, Variable};
use numpy::{PyArrayDescr, PyArrayDescrMethods};
use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::attribute;
use crate::error::{selection_error, to_python};
use crate::file::{DimensionTuple, dimension_tuples};
use crate::index::indices;
use crate::mask::MaskRule;
use crate::numpy_memory::{Detach, filled};
use crate::types::{describe, dtype};
use crate::values::to_array;
use crate::writing::Place;

/// A variable of an open file.
#[pyclass(frozen, name = "Variable", module = "isotach._native")]
pub(crate) struct NativeVariable {
    variable: Variable,
    /// What every read needs, found at the first one; not kept of a file that is being written.
    reading: OnceLock<Arc<Reading>>,
    is_live: bool,
}

struct Reading {
    array: Arc<Array>,
    /// `None` where elements become Python objects.
    dtype: Option<Py<PyArrayDescr>>,
    detach: Detach,
}

impl NativeVariable {
    pub(crate) fn new(variable: Variable) -> Self {
        Self { variable, reading: OnceLock::new(), is_live: false }
    }

    /// A variable of a file that is being written.
    pub(crate) fn live(variable: Variable) -> Self {
        Self { variable, reading: OnceLock::new(), is_live: true }
    }

    fn reading(&self, py: Python<'_>) -> PyResult<Arc<Reading>> {
        if let Some(reading) = self.reading.get() {
            return Ok(Arc::clone(reading));
        }
        let array = py.detach(|| self.variable.array()).map_err(|error| to_python(&error))?;
        let dtype = dtype(py, &array.stored)?.map(Bound::unbind);
        // Chunks take long to decode, and a Python file object needs the interpreter itself.
        let detach = match array.layout.placement {
            Placement::Strided { .. } | Placement::Inline(_) | Placement::Unallocated
                if array.layout.storage.parallel() =>
            {
                Detach::Long
            }
            _ => Detach::Always,
        };
        let reading = Arc::new(Reading { array, dtype, detach });
        if self.is_live {
            return Ok(reading);
        }
        Ok(Arc::clone(self.reading.get_or_init(|| reading)))
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

    /// The dtype of what `read` returns; None where that is Python objects.
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArrayDescr>>> {
        Ok(self.reading(py)?.dtype.as_ref().map(|dtype| dtype.bind(py).clone()))
    }

    /// Its dimensions, outermost first.
    fn dimensions(&self, py: Python<'_>) -> PyResult<Vec<DimensionTuple>> {
        py.detach(|| dimension_tuples(&self.variable.dimensions()?))
            .map_err(|error| to_python(&error))
    }

    /// Names of its dimensions, outermost first.
    fn dimension_names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let found = py.detach(|| self.variable.dimensions()).map_err(|error| to_python(&error))?;
        PyTuple::new(py, found.iter().map(isotach::Dimension::name))
    }

    /// Present length along each dimension.
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let shape = py.detach(|| self.variable.shape()).map_err(|error| to_python(&error))?;
        PyTuple::new(py, shape)
    }

    /// Names of its attributes in order.
    fn attribute_names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let found = py.detach(|| self.variable.attributes()).map_err(|error| to_python(&error))?;
        Ok(found.iter().map(|attribute| attribute.name().to_owned()).collect())
    }

    /// Its attributes by name; one that cannot be read is the exception that says why.
    fn attributes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let found = py.detach(|| self.variable.attributes()).map_err(|error| to_python(&error))?;
        attribute::dict(py, &found)
    }

    /// One attribute's value, or None.
    fn attribute<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        let found =
            py.detach(|| self.variable.attribute(name)).map_err(|error| to_python(&error))?;
        found.map(|found| attribute::value(py, &found)).transpose()
    }

    /// The bytes of a text attribute as the file has them, or None.
    fn attribute_bytes<'py>(
        &self,
        py: Python<'py>,
        name: &str,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let found =
            py.detach(|| self.variable.attribute(name)).map_err(|error| to_python(&error))?;
        found.map_or(Ok(None), |found| attribute::raw_text(py, &found))
    }

    /// Storage as `(kind, chunk shape or None, byte order, filters)`, a filter being
    /// `(id, name, parameters)`.
    fn storage<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let storage = py.detach(|| self.variable.storage()).map_err(|error| to_python(&error))?;
        storage_tuple(py, &storage)
    }

    /// The same, after it is settled how the chunks are cut.
    fn settled_storage<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let storage = py.detach(|| self.variable.settled_storage());
        storage_tuple(py, &*storage.map_err(|error| to_python(&error))?)
    }

    /// `(fills, value)`: whether never-written elements are filled, and with what (an array of
    /// one element).
    fn fill_value<'py>(&self, py: Python<'py>) -> PyResult<(bool, Bound<'py, PyAny>)> {
        let fill = py.detach(|| self.variable.fill_value()).map_err(|error| to_python(&error))?;
        let data_type = match self.variable.data_type() {
            // netCDF's default, which a small float need not hold.
            DataType::SmallFloat(_) if !fill.fill => &DataType::Atomic(Atomic::Float),
            data_type => data_type,
        };
        Ok((fill.fill, to_array(py, fill.value, data_type)?))
    }

    /// Where data of that shape go that are assigned to `key`.
    fn place(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        data_shape: Vec<u64>,
    ) -> PyResult<Place> {
        let lengths = || {
            let found = self.variable.dimensions()?;
            let shape =
                found.iter().map(isotach::Dimension::len).collect::<Result<Vec<u64>, _>>()?;
            Ok((found, shape))
        };
        let (found, shape) = py.detach(lengths).map_err(|error: Error| to_python(&error))?;
        let grows: Vec<bool> = found.iter().map(isotach::Dimension::is_unlimited).collect();
        Place::new(indices(key)?, &shape, &grows, &data_shape)
    }

    /// The elements that `key` selects, by netCDF4-python's rules of indexing, unmasked and
    /// unscaled, in this machine's byte order.
    fn read<'py>(&self, py: Python<'py>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let reading = self.reading(py)?;
        let array = &reading.array;
        let Indexed { selection, result_shape, .. } = select(key, &array.shape)?;
        let Some(dtype) = &reading.dtype else {
            let values = py.detach(|| array.read(&selection)).map_err(|error| to_python(&error))?;
            return objects(py, values, self.variable.data_type(), &result_shape);
        };
        let to_python = |error: Error| to_python(&error);
        let (out, ()) = filled(
            py,
            &result_shape,
            dtype.bind(py),
            reading.detach,
            to_python,
            |memory| array.read_native_into(&selection, memory),
            |_| (),
        )?;
        Ok(out)
    }

    /// What `read` returns; where `rule` finds missing elements, a tuple of that, a mask of the
    /// same shape, and whether any of them was one of the rule's `missing`.
    fn read_masked<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PyAny>,
        rule: &MaskRule,
    ) -> PyResult<Bound<'py, PyAny>> {
        let reading = self.reading(py)?;
        let array = &reading.array;
        let Indexed { selection, result_shape, .. } = select(key, &array.shape)?;
        let dtype = reading.dtype.as_ref().map(|dtype| dtype.bind(py));
        let dtype = dtype.filter(|dtype| dtype.itemsize() == rule.element_size());
        let dtype = dtype.ok_or_else(|| PyTypeError::new_err("a rule for another type"))?;
        let to_python = |error: Error| to_python(&error);
        let (out, found) = filled(
            py,
            &result_shape,
            dtype,
            reading.detach,
            to_python,
            |memory| array.read_native_into(&selection, memory),
            |bytes| rule.find(bytes).map(|found| (found.missing, found.mask(bytes))),
        )?;
        let Some((missing, mask)) = found else { return Ok(out) };
        let bools = numpy::dtype::<bool>(py);
        let (mask, ()) = filled(
            py,
            &result_shape,
            &bools,
            Detach::Long,
            |error: PyErr| error,
            |memory| Ok(memory.write_copy_of_slice(&mask)),
            |_| (),
        )?;
        Ok((out, mask, missing).into_pyobject(py)?.into_any())
    }
}

/// The selection that `key` stands for. A scalar is indexed as if it had one axis of length 1, and
/// has no axis in the result.
fn select(key: &Bound<'_, PyAny>, shape: &[u64]) -> PyResult<Indexed> {
    let indices = indices(key)?;
    if !shape.is_empty() {
        return indexed(&indices, shape);
    }
    if indexed(&indices, &[1])?.selection.is_empty() {
        return Err(PyIndexError::new_err("an empty selection of a scalar"));
    }
    indexed(&[], &[])
}

fn indexed(indices: &[Index], shape: &[u64]) -> PyResult<Indexed> {
    Selection::from_indices(indices, shape).map_err(|error| selection_error(&error))
}

fn storage_tuple<'py>(py: Python<'py>, storage: &StorageInfo) -> PyResult<Bound<'py, PyTuple>> {
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
    let filters = storage.filters.iter().map(|used| (used.id, &used.name, &used.parameters));
    let filters = filters.collect::<Vec<_>>();
    (kind, &storage.chunk_shape, endian, filters).into_pyobject(py)
}

fn objects<'py>(
    py: Python<'py>,
    values: Values,
    data_type: &DataType,
    shape: &[u64],
) -> PyResult<Bound<'py, PyAny>> {
    let array = to_array(py, values, data_type)?;
    let element_shape = array.getattr("shape")?;
    let element_shape = element_shape.cast::<PyTuple>()?;
    let mut whole: Vec<u64> = shape.to_vec();
    for extent in element_shape.iter().skip(1) {
        whole.push(extent.extract()?);
    }
    array.call_method1("reshape", (PyTuple::new(py, whole)?,))
}
