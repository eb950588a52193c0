//! Defining what is in a group.

use isotach::model::Values;
use isotach::{
    Dimension, DimensionHandle, Endianness, Error, Fill, FilterRequest, GroupWriter, Quantization,
    StorageKind, VariableOptions, Writer,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::types::{data_type, user_type};
use super::values::values;
use super::variable::NativeVariableWriter;
use crate::error::{attribute_error, to_python};

/// A group of a file that is being written.
#[pyclass(frozen, name = "GroupWriter", module = "isotach._native")]
pub(crate) struct NativeGroupWriter {
    writer: Writer,
    pub(super) group: GroupWriter,
}

/// A dimension of a file that is being written.
#[pyclass(frozen, name = "Dimension", module = "isotach._native")]
pub(crate) struct NativeDimension {
    writer: Writer,
    handle: DimensionHandle,
    dimension: Dimension,
}

impl NativeGroupWriter {
    pub(super) fn new(writer: Writer, group: GroupWriter) -> Self {
        Self { writer, group }
    }

    fn dimension(&self, py: Python<'_>, handle: DimensionHandle) -> PyResult<NativeDimension> {
        let dimension = py.detach(|| self.writer.dimension(handle));
        let dimension = dimension.map_err(|error| to_python(&error))?;
        Ok(NativeDimension { writer: self.writer.clone(), handle, dimension })
    }
}

#[pymethods]
impl NativeDimension {
    /// Its number.
    #[getter]
    fn id(&self) -> PyResult<i32> {
        self.dimension.id().map_err(|error| to_python(&error))
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        let len = py.detach(|| self.dimension.len()).map_err(|error| to_python(&error))?;
        Ok(usize::try_from(len).unwrap_or(usize::MAX))
    }

    /// Gives it another name.
    fn rename(&self, py: Python<'_>, to: &str) -> PyResult<()> {
        py.detach(|| self.writer.rename_dimension(self.handle, to))
            .map_err(|error| to_python(&error))
    }
}

#[pymethods]
impl NativeGroupWriter {
    /// Defines a dimension; without a length an unlimited one.
    #[pyo3(signature = (name, len = None))]
    fn define_dimension(
        &self,
        py: Python<'_>,
        name: &str,
        len: Option<u64>,
    ) -> PyResult<NativeDimension> {
        let defined = py.detach(|| self.group.define_dimension(name, len));
        self.dimension(py, defined.map_err(|error| to_python(&error))?)
    }

    /// The dimension of that name here or above.
    fn find_dimension(&self, py: Python<'_>, name: &str) -> PyResult<Option<NativeDimension>> {
        let found = py.detach(|| self.group.find_dimension(name));
        let found = found.map_err(|error| to_python(&error))?;
        found.map(|handle| self.dimension(py, handle)).transpose()
    }

    /// Defines a group in this group.
    fn define_group(&self, py: Python<'_>, name: &str) -> PyResult<Self> {
        let defined = py.detach(|| self.group.define_group(name));
        Ok(Self::new(self.writer.clone(), defined.map_err(|error| to_python(&error))?))
    }

    /// A group of this group, or None.
    fn group(&self, py: Python<'_>, name: &str) -> PyResult<Option<Self>> {
        let found = py.detach(|| self.group.group(name)).map_err(|error| to_python(&error))?;
        Ok(found.map(|group| Self::new(self.writer.clone(), group)))
    }

    /// Which lists of its members are the present ones: of dimensions, types, variables and groups.
    fn member_revisions(&self, py: Python<'_>) -> PyResult<(u64, u64, u64, u64)> {
        let found = py.detach(|| self.group.member_revisions());
        let found = found.map_err(|error| to_python(&error))?;
        Ok((found.dimensions, found.types, found.variables, found.groups))
    }

    /// Whether there is a type of that name in this group.
    fn has_type(&self, py: Python<'_>, name: &str) -> PyResult<bool> {
        let found = py.detach(|| self.group.find_type(name)).map_err(|error| to_python(&error))?;
        Ok(found.is_some())
    }

    /// Defines a type in this group.
    fn define_type(
        &self,
        py: Python<'_>,
        name: &str,
        description: &Bound<'_, PyDict>,
    ) -> PyResult<()> {
        let user = user_type(name, description)?;
        let defined = py.detach(|| self.group.define_type(user));
        defined.map(drop).map_err(|error| to_python(&error))
    }

    /// Defines a variable; see `VariableOptions`. `filters` are `(registered number, parameters)`,
    /// `fill` is False for none, or the one element.
    #[pyo3(signature = (name, of, dimensions, *, layout = None, chunk_shape = None, filters = None,
        endian = None, fill = None, quantization = None))]
    #[allow(clippy::too_many_arguments)]
    fn define_variable(
        &self,
        py: Python<'_>,
        name: &str,
        of: &Bound<'_, PyAny>,
        dimensions: Vec<PyRef<'_, NativeDimension>>,
        layout: Option<&str>,
        chunk_shape: Option<Vec<u64>>,
        filters: Option<Vec<(u16, Vec<u32>)>>,
        endian: Option<&str>,
        fill: Option<&Bound<'_, PyAny>>,
        quantization: Option<(String, u32)>,
    ) -> PyResult<NativeVariableWriter> {
        let data_type = data_type(of)?;
        let fill = match fill {
            None => Fill::Default,
            Some(fill) if fill.extract::<bool>().is_ok_and(|fills| !fills) => Fill::None,
            Some(value) => Fill::Value(values(&data_type, value)?),
        };
        let options = VariableOptions {
            layout: layout.map(storage_kind).transpose()?,
            chunk_shape,
            filters: filters.unwrap_or_default().into_iter().map(filter).collect(),
            endianness: match endian {
                Some("little") => Some(Endianness::Little),
                Some("big") => Some(Endianness::Big),
                _ => None,
            },
            fill,
            quantization: quantization.map(quantization_named).transpose()?,
        };
        let has_value = matches!(options.fill, Fill::Value(_));
        let along: Vec<_> = dimensions.iter().map(|dimension| dimension.handle).collect();
        let defined = py.detach(|| {
            let defined = self.group.define_variable(name, data_type, &along, options)?;
            if has_value && !self.writer.fills()? {
                // To netCDF4-python the value is an attribute like others.
                defined.change_options(|options| options.fill = Fill::None)?;
            }
            Ok(defined)
        });
        Ok(NativeVariableWriter::new(defined.map_err(|error: Error| to_python(&error))?))
    }

    /// The variable of that name, or None.
    fn variable(&self, py: Python<'_>, name: &str) -> PyResult<Option<NativeVariableWriter>> {
        let found = py.detach(|| self.group.variable(name)).map_err(|error| to_python(&error))?;
        Ok(found.map(NativeVariableWriter::new))
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
        let values: Values = values(&data_type, given)?;
        py.detach(|| self.group.set_typed_attribute(name, data_type, values))
            .map_err(|error| attribute_error(&error))
    }

    /// Deletes an attribute.
    fn delete_attribute(&self, py: Python<'_>, name: &str) -> PyResult<()> {
        py.detach(|| self.group.delete_attribute(name)).map_err(|error| to_python(&error))
    }

    /// Renames an attribute.
    fn rename_attribute(&self, py: Python<'_>, from: &str, to: &str) -> PyResult<()> {
        py.detach(|| self.group.rename_attribute(from, to)).map_err(|error| to_python(&error))
    }

    /// Gives this group another name.
    fn rename(&self, py: Python<'_>, to: &str) -> PyResult<()> {
        py.detach(|| self.group.rename(to)).map_err(|error| to_python(&error))
    }

    /// Takes this group, with all that is in it, out of the file.
    fn delete(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.group.delete()).map_err(|error| to_python(&error))
    }
}

fn storage_kind(name: &str) -> PyResult<StorageKind> {
    match name {
        "contiguous" => Ok(StorageKind::Contiguous),
        "chunked" => Ok(StorageKind::Chunked),
        "compact" => Ok(StorageKind::Compact),
        _ => Err(PyTypeError::new_err(format!("no layout {name}"))),
    }
}

/// A filter by its registered number, with the parameters that netCDF's functions take.
fn filter((id, parameters): (u16, Vec<u32>)) -> FilterRequest {
    match (id, &parameters[..]) {
        (1, [level]) => FilterRequest::Deflate { level: *level },
        (2, []) => FilterRequest::Shuffle,
        (3, []) => FilterRequest::Fletcher32,
        (4, [option_mask, pixels_per_block]) => {
            FilterRequest::Szip { option_mask: *option_mask, pixels_per_block: *pixels_per_block }
        }
        _ => FilterRequest::Registered { id, parameters },
    }
}

fn quantization_named((mode, significant): (String, u32)) -> PyResult<Quantization> {
    match mode.as_str() {
        "BitGroom" => Ok(Quantization::BitGroom(significant)),
        "GranularBitRound" => Ok(Quantization::GranularBitRound(significant)),
        "BitRound" => Ok(Quantization::BitRound(significant)),
        _ => Err(PyTypeError::new_err(format!("no quantization {mode}"))),
    }
}
