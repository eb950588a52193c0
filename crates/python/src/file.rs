//! Handles on files and groups.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError};

use isotach::storage::memory::Memory;
use isotach::storage::{FileToken, TokenNumbers, Turn};
use isotach::sync::Mutex;
use isotach::{AllowExternal, Dimension, File, Format, Group, MissingBytes, OpenOptions};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyDict, PyList};

use isotach_cli::Shown;

use crate::attribute;
use crate::command::cdl_error;
use crate::error::{opening, to_python};
use crate::python_storage::PythonStorage;
use crate::types::describe_user;
use crate::variable::NativeVariable;

/// A dimension as `(name, length, unlimited, path of its group)`.
pub(crate) type DimensionTuple = (String, u64, bool, String);

pub(crate) fn dimension_tuples(dimensions: &[Dimension]) -> isotach::Result<Vec<DimensionTuple>> {
    let tuple = |dimension: &Dimension| {
        let name = dimension.name().to_owned();
        let group = dimension.group().to_owned();
        Ok((name, dimension.len()?, dimension.is_unlimited(), group))
    };
    dimensions.iter().map(tuple).collect()
}

/// An open file.
#[pyclass(frozen, name = "File", module = "isotach._native")]
pub(crate) struct NativeFile {
    file: File,
    /// It is being written, so that nothing about it can be kept.
    is_live: bool,
}

impl NativeFile {
    /// A file that is being written.
    pub(crate) fn live(file: File) -> Self {
        Self { file, is_live: true }
    }
}

/// What Python says of [`AllowExternal`]: a word of the environment's setting, or folders.
#[derive(FromPyObject)]
pub(crate) enum Folders {
    Word(String),
    These(Vec<PathBuf>),
}

/// How a file is read.
///
/// # Errors
/// `ValueError` for a word that is none.
pub(crate) fn read_options(
    allow_external: Option<Folders>,
    missing_bytes: Option<&str>,
) -> PyResult<OpenOptions> {
    let missing = |word: &str| {
        MissingBytes::parse(word).ok_or_else(|| {
            let why = format!("missing_bytes is {word:?}, and not {}", MissingBytes::WORDS);
            PyValueError::new_err(why)
        })
    };
    let missing_bytes = missing_bytes.map(missing).transpose()?;
    let allow_external = allowed(allow_external)?;
    Ok(OpenOptions { allow_external, missing_bytes, ..OpenOptions::default() })
}

fn allowed(asked: Option<Folders>) -> PyResult<Option<AllowExternal>> {
    match asked {
        None => Ok(None),
        Some(Folders::These(folders)) => Ok(Some(AllowExternal::Folders(folders))),
        Some(Folders::Word(word)) => match AllowExternal::parse(&word) {
            Some(asked) => Ok(Some(asked)),
            None => {
                let why = format!("allow_external is {word:?}, and not {}", AllowExternal::WORDS);
                Err(PyValueError::new_err(why))
            }
        },
    }
}

/// Opens a path, a bytes-like object, or an object with `seek` and `read`.
///
/// `name` is what errors call a file that has no path. `allow_external` are the other files that external links,
/// virtual data sets and external raw data may open, `missing_bytes` what values are that a classic file, or one of
/// external raw data, was cut short of. `snapshot` keeps a local file as it is.
#[pyfunction]
#[pyo3(signature = (source, *, name = None, allow_external = None, missing_bytes = None,
    snapshot = false))]
pub(crate) fn open(
    source: &Bound<'_, PyAny>,
    name: Option<String>,
    allow_external: Option<Folders>,
    missing_bytes: Option<&str>,
    snapshot: bool,
) -> PyResult<NativeFile> {
    let py = source.py();
    let options = OpenOptions { snapshot, ..read_options(allow_external, missing_bytes)? };
    let opened = if source.hasattr("seek")? && source.hasattr("read")? {
        let storage = Arc::new(PythonStorage::new(source)?);
        let name = name.unwrap_or_else(|| "<file object>".to_owned());
        py.detach(|| options.open_storage(&name, storage))
    } else if let Ok(bytes) = source.extract::<PyBackedBytes>() {
        let storage = Arc::new(Memory::new(bytes));
        let name = name.unwrap_or_else(|| "<memory>".to_owned());
        py.detach(|| options.open_storage(&name, storage))
    } else if let Ok(buffer) = PyBuffer::<u8>::get(source) {
        let storage = Arc::new(Memory::new(buffer.to_vec(py)?));
        let name = name.unwrap_or_else(|| "<memory>".to_owned());
        py.detach(|| options.open_storage(&name, storage))
    } else {
        let path: PathBuf = source.extract()?;
        py.detach(|| options.open(&path))
    };
    Ok(NativeFile { file: opened.map_err(|error| opening(&error))?, is_live: false })
}

/// Hits, misses, decoded and present bytes of the chunk cache, and its budget.
#[pyfunction]
pub(crate) fn cache_statistics(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let statistics = isotach::cache::statistics();
    let out = PyDict::new(py);
    out.set_item("hits", statistics.hits)?;
    out.set_item("misses", statistics.misses)?;
    out.set_item("decoded_bytes", statistics.decoded_bytes)?;
    out.set_item("kept_bytes", statistics.kept_bytes)?;
    out.set_item("budget_bytes", statistics.budget_bytes)?;
    Ok(out)
}

/// Sets the budget of the chunk cache, which all open files share.
#[pyfunction]
pub(crate) fn set_cache_budget(bytes: u64) {
    isotach::cache::set_budget(bytes);
}

#[pymethods]
impl NativeFile {
    /// The name it was opened by.
    #[getter]
    fn name(&self) -> &str {
        self.file.name()
    }

    /// By what the file is known in any process; None for what is no local file, or is written.
    fn identity(&self) -> Option<TokenNumbers> {
        self.file.token().map(FileToken::to_numbers)
    }

    /// Whether this is the file that had that identity, whatever its bytes are now.
    fn is_file_of(&self, identity: TokenNumbers) -> bool {
        self.file.token().is_some_and(|now| FileToken::from_numbers(identity).is_same_file(&now))
    }

    /// netCDF4-python's `data_model`: NETCDF4, NETCDF4_CLASSIC, NETCDF3_CLASSIC, ...
    #[getter]
    fn data_model(&self, py: Python<'_>) -> PyResult<&'static str> {
        Ok(match py.detach(|| self.file.format()).map_err(|error| opening(&error))? {
            Format::Classic => "NETCDF3_CLASSIC",
            Format::Offset64Bit => "NETCDF3_64BIT_OFFSET",
            Format::Data64Bit => "NETCDF3_64BIT_DATA",
            Format::NetCdf4 => "NETCDF4",
            Format::NetCdf4Classic => "NETCDF4_CLASSIC",
        })
    }

    /// True for HDF5 files.
    #[getter]
    fn is_hdf5(&self, py: Python<'_>) -> PyResult<bool> {
        let format = py.detach(|| self.file.format()).map_err(|error| opening(&error))?;
        Ok(matches!(format, Format::NetCdf4 | Format::NetCdf4Classic))
    }

    /// The file as CDL; with `data` also values, if `coordinates` those of coordinate variables only.
    fn cdl(&self, py: Python<'_>, coordinates: bool, data: bool) -> PyResult<String> {
        let shown = match (data, coordinates) {
            (false, _) => Shown::Header,
            (true, true) => Shown::Coordinates,
            (true, false) => Shown::Everything,
        };
        py.detach(|| isotach_cli::cdl(&self.file, shown)).map_err(|error| cdl_error(&error))
    }

    /// The file as its newest commit has it; None where that is what this shows.
    fn refresh(&self, py: Python<'_>) -> PyResult<Option<Self>> {
        let mut file = self.file.clone();
        let is_new = py.detach(|| file.refresh()).map_err(|error| opening(&error))?;
        Ok(is_new.then_some(Self { file, is_live: self.is_live }))
    }

    /// Asks those who write the file for time, until `end` is called.
    fn turn(&self) -> NativeTurn {
        NativeTurn(Mutex::new(self.file.turn()))
    }

    /// The root group.
    fn root(&self) -> NativeGroup {
        NativeGroup { group: self.file.root(), is_live: self.is_live }
    }
}

/// While it lasts, writers of a file give its readers time.
#[pyclass(frozen, name = "Turn", module = "isotach._native")]
pub(crate) struct NativeTurn(Mutex<Option<Turn>>);

#[pymethods]
impl NativeTurn {
    fn end(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// A group of an open file.
#[pyclass(frozen, name = "Group", module = "isotach._native")]
pub(crate) struct NativeGroup {
    group: Group,
    is_live: bool,
}

#[pymethods]
impl NativeGroup {
    /// Path from the root group.
    #[getter]
    fn path(&self) -> &str {
        self.group.path()
    }

    /// Last part of the path.
    #[getter]
    fn name(&self) -> &str {
        self.group.name()
    }

    /// Its own dimensions by ascending id.
    fn dimensions(&self, py: Python<'_>) -> PyResult<Vec<DimensionTuple>> {
        // Lengths of a file that is being written wait for its commits.
        py.detach(|| dimension_tuples(&self.group.dimensions()?)).map_err(|error| to_python(&error))
    }

    /// The id of the dimension of that name, here or in a group above; that looks at all of the file.
    fn dimension_id(&self, py: Python<'_>, name: &str) -> PyResult<Option<i32>> {
        let found =
            py.detach(|| self.group.find_dimension(name)?.map(|found| found.id()).transpose());
        found.map_err(|error| to_python(&error))
    }

    /// Its own user-defined types.
    fn types<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let types = py.detach(|| self.group.types()).map_err(|error| to_python(&error))?;
        let out = PyList::empty(py);
        for user in types.iter() {
            out.append(describe_user(py, user)?)?;
        }
        Ok(out)
    }

    /// Names of its attributes in order.
    fn attribute_names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let attributes =
            py.detach(|| self.group.attributes()).map_err(|error| to_python(&error))?;
        Ok(attributes.iter().map(|attribute| attribute.name().to_owned()).collect())
    }

    /// Its attributes by name.
    fn attributes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let attributes =
            py.detach(|| self.group.attributes()).map_err(|error| to_python(&error))?;
        attribute::dict(py, &attributes)
    }

    /// One attribute's value, or None; the special ones too.
    fn attribute<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        let found = py.detach(|| self.group.attribute(name)).map_err(|error| to_python(&error))?;
        found.map(|found| attribute::value(py, &found)).transpose()
    }

    /// The bytes of a text attribute as the file has them, or None.
    fn attribute_bytes<'py>(
        &self,
        py: Python<'py>,
        name: &str,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let found = py.detach(|| self.group.attribute(name)).map_err(|error| to_python(&error))?;
        found.map_or(Ok(None), |found| attribute::raw_text(py, &found))
    }

    /// Names of its variables in order.
    fn variable_names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let names = py.detach(|| self.group.variable_names()).map_err(|error| to_python(&error))?;
        Ok(names.iter().map(|name| name.to_string()).collect())
    }

    /// A variable, or None.
    fn variable(&self, py: Python<'_>, name: &str) -> PyResult<Option<NativeVariable>> {
        let found = py.detach(|| self.group.variable(name)).map_err(|error| to_python(&error))?;
        let made = if self.is_live { NativeVariable::live } else { NativeVariable::new };
        Ok(found.map(made))
    }

    /// Names of its groups in order.
    fn group_names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let names = py.detach(|| self.group.group_names()).map_err(|error| to_python(&error))?;
        Ok(names.iter().map(|name| name.to_string()).collect())
    }

    /// A group of this group, or None.
    fn group(&self, py: Python<'_>, name: &str) -> PyResult<Option<NativeGroup>> {
        let found = py.detach(|| self.group.group(name)).map_err(|error| to_python(&error))?;
        Ok(found.map(|group| NativeGroup { group, is_live: self.is_live }))
    }

    /// What could not be shown, as `(path, reason)`.
    fn left_out(&self, py: Python<'_>) -> PyResult<Vec<(String, String)>> {
        let left_out = py.detach(|| self.group.left_out()).map_err(|error| to_python(&error))?;
        Ok(left_out.iter().map(|left| (left.path.clone(), left.reason.to_string())).collect())
    }
}
