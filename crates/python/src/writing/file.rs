//! Creating, committing and closing files.

use std::path::PathBuf;
use std::time::Duration;

use isotach::storage::Durability;
use isotach::{Alignment, CreateOptions, EditOptions, Format, Layout, Overwrite, Writer};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::group::NativeGroupWriter;
use crate::error::{creating, opening, to_python};
use crate::file::{Folders, NativeFile, read_options};

/// A file that is open for writing.
#[pyclass(frozen, name = "Writer", module = "isotach._native")]
pub(crate) struct NativeWriter {
    writer: Writer,
}

/// Creates a file of netCDF4-python's `format`, at a path or in memory under that name. Without
/// `clobber`, a file that is there stays, and creating fails; with `atomic` it stays until the new one
/// is closed. The rest as for `edit`.
#[pyfunction]
#[pyo3(signature = (path, *, format, in_memory = false, clobber = true, atomic = false,
    commit_interval = None, lock = true, durability = "process", alignment = (0, 0),
    track_times = false))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn create(
    py: Python<'_>,
    path: PathBuf,
    format: &str,
    in_memory: bool,
    clobber: bool,
    atomic: bool,
    commit_interval: Option<f64>,
    lock: bool,
    durability: &str,
    alignment: (u64, u64),
    track_times: bool,
) -> PyResult<NativeWriter> {
    let mut options = match format {
        "latest" => CreateOptions { layout: Layout::Latest, ..CreateOptions::default() },
        _ => CreateOptions::new(format_named(format)?),
    };
    options.overwrite = match (clobber, atomic) {
        (false, _) => Overwrite::Never,
        (true, false) => Overwrite::Truncate,
        (true, true) => Overwrite::Replace,
    };
    options.edit = edit_options(commit_interval, lock, durability, alignment, track_times)?;
    let created = py.detach(|| {
        if in_memory {
            options.create_in_memory(&path.to_string_lossy())
        } else {
            options.create(&path)
        }
    });
    Ok(NativeWriter { writer: created.map_err(|error| creating(&error))? })
}

/// Opens a local file for changing it, or a copy in memory of a file's bytes under that name. Changes
/// are committed after `commit_interval` seconds, where it is not None.
#[pyfunction]
#[pyo3(signature = (path, *, content = None, commit_interval = None, lock = true,
    durability = "process", alignment = (0, 0), track_times = false,
    allow_external = None, missing_bytes = None))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn edit(
    py: Python<'_>,
    path: PathBuf,
    content: Option<Vec<u8>>,
    commit_interval: Option<f64>,
    lock: bool,
    durability: &str,
    alignment: (u64, u64),
    track_times: bool,
    allow_external: Option<Folders>,
    missing_bytes: Option<&str>,
) -> PyResult<NativeWriter> {
    let read = read_options(allow_external, missing_bytes)?;
    let options = EditOptions {
        read,
        ..edit_options(commit_interval, lock, durability, alignment, track_times)?
    };
    let opened = py.detach(|| match content {
        Some(content) => options.open_bytes(&path.to_string_lossy(), content),
        None => options.open(&path),
    });
    Ok(NativeWriter { writer: opened.map_err(|error| opening(&error))? })
}

/// Has a file of these bytes at `path`: all of them, or what was there.
#[pyfunction]
pub(crate) fn replace(py: Python<'_>, path: PathBuf, content: Vec<u8>) -> PyResult<()> {
    let replaced = py.detach(|| isotach::storage::replacement::write(path, &content));
    replaced.map_err(|error| opening(&error))
}

/// Whether this process has the file at `path` open for reading.
#[pyfunction]
pub(crate) fn is_read(path: PathBuf) -> bool {
    isotach::storage::readers::is_read(&path)
}

/// `alignment` is the threshold and the multiple as netCDF4-python has them.
fn edit_options(
    commit_interval: Option<f64>,
    lock: bool,
    durability: &str,
    (threshold, multiple): (u64, u64),
    track_times: bool,
) -> PyResult<EditOptions> {
    let seconds = commit_interval.map(Duration::try_from_secs_f64).transpose();
    let not_seconds = |error| PyValueError::new_err(format!("commit_interval: {error}"));
    let durability = match durability {
        "process" => Durability::Process,
        "power" => Durability::Power,
        _ => return Err(PyValueError::new_err("durability must be 'process' or 'power'")),
    };
    let commit_interval = seconds.map_err(not_seconds)?;
    let alignment = Alignment { threshold, multiple };
    let options =
        EditOptions { durability, commit_interval, lock, alignment, ..EditOptions::default() };
    Ok(EditOptions { track_times, ..options })
}

/// netCDF4-python's name of a format.
pub(crate) fn format_named(name: &str) -> PyResult<Format> {
    Ok(match name {
        "NETCDF4" => Format::NetCdf4,
        "NETCDF4_CLASSIC" => Format::NetCdf4Classic,
        "NETCDF3_CLASSIC" | "NETCDF3" => Format::Classic,
        "NETCDF3_64BIT" | "NETCDF3_64BIT_OFFSET" => Format::Offset64Bit,
        "NETCDF3_64BIT_DATA" => Format::Data64Bit,
        _ => return Err(PyValueError::new_err("unrecognized format requested")),
    })
}

#[pymethods]
impl NativeWriter {
    /// The file as it is now, for reading.
    fn file(&self) -> NativeFile {
        NativeFile::live(self.writer.file())
    }

    /// The root group.
    fn root(&self) -> NativeGroupWriter {
        NativeGroupWriter::new(self.writer.clone(), self.writer.root())
    }

    /// Whether variables that are defined from now on have fill values where they do not say.
    fn set_fill(&self, py: Python<'_>, fills: bool) -> PyResult<()> {
        py.detach(|| self.writer.set_fill(fills)).map(drop).map_err(|error| to_python(&error))
    }

    /// Makes everything so far a part of the file.
    fn commit(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.writer.commit()).map_err(|error| to_python(&error))
    }

    /// Closes without a commit; a second time is no error.
    fn discard(&self, py: Python<'_>) -> PyResult<()> {
        let writer = self.writer.clone();
        py.detach(|| writer.discard()).map_err(|error| to_python(&error))
    }

    /// Commits and closes; a second time is no error. Gives the bytes of a file in memory.
    fn close<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let writer = self.writer.clone();
        let bytes = py.detach(|| writer.into_bytes()).map_err(|error| to_python(&error))?;
        Ok(bytes.map(|bytes| PyBytes::new(py, &bytes)))
    }
}
