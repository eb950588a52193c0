//! Creating, committing and closing files.

use std::path::PathBuf;

use isotach::{Alignment, CreateOptions, EditOptions, Format, Overwrite, Writer};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::group::NativeGroupWriter;
use crate::error::{opening, to_python};
use crate::file::NativeFile;

/// A file that is open for writing.
#[pyclass(frozen, name = "Writer", module = "isotach._native")]
pub(crate) struct NativeWriter {
    writer: Writer,
}

/// Creates a file of netCDF4-python's `format`, at a path or in memory under that name. Without
/// `clobber`, a file that is there stays, and creating fails.
#[pyfunction]
#[pyo3(signature = (path, *, format, in_memory = false, clobber = true, alignment = (0, 0)))]
pub(crate) fn create(
    py: Python<'_>,
    path: PathBuf,
    format: &str,
    in_memory: bool,
    clobber: bool,
    alignment: (u64, u64),
) -> PyResult<NativeWriter> {
    let mut options = CreateOptions::new(format_named(format)?);
    options.edit.alignment = aligned(alignment);
    options.overwrite = if clobber { Overwrite::Truncate } else { Overwrite::Never };
    let created = py.detach(|| {
        if in_memory {
            options.create_in_memory(&path.to_string_lossy())
        } else {
            options.create(&path)
        }
    });
    Ok(NativeWriter { writer: created.map_err(|error| opening(&error))? })
}

/// Opens a local file for changing it, or a copy in memory of a file's bytes under that name.
#[pyfunction]
#[pyo3(signature = (path, *, content = None, alignment = (0, 0)))]
pub(crate) fn edit(
    py: Python<'_>,
    path: PathBuf,
    content: Option<Vec<u8>>,
    alignment: (u64, u64),
) -> PyResult<NativeWriter> {
    let options = EditOptions { alignment: aligned(alignment), ..EditOptions::default() };
    let opened = py.detach(|| match content {
        Some(content) => options.open_bytes(&path.to_string_lossy(), content),
        None => options.open(&path),
    });
    Ok(NativeWriter { writer: opened.map_err(|error| opening(&error))? })
}

/// The threshold and the multiple as netCDF4-python has them.
fn aligned((threshold, multiple): (u64, u64)) -> Alignment {
    Alignment { threshold, multiple }
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

    /// Commits and closes; a second time is no error. Gives the bytes of a file in memory.
    fn close<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let writer = self.writer.clone();
        let bytes = py.detach(|| writer.into_bytes()).map_err(|error| to_python(&error))?;
        Ok(bytes.map(|bytes| PyBytes::new(py, &bytes)))
    }
}
