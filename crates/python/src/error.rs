//! Engine errors as the exceptions that netCDF4-python raises for them.

use std::io;

use isotach::{Error, ErrorKind};
use pyo3::PyErr;
use pyo3::exceptions::{
    PyFileNotFoundError, PyIndexError, PyIsADirectoryError, PyMemoryError, PyOSError,
    PyPermissionError, PyRuntimeError, PyTypeError,
};

/// The exception for an error of the engine. Files that cannot be opened give `OSError` and its
/// kinds, selections outside the shape `IndexError`, everything found later `RuntimeError`.
pub(crate) fn to_python(error: &Error) -> PyErr {
    match &error.kind {
        ErrorKind::Open(source) => open_error(error, source),
        ErrorKind::UnknownFormat { .. } | ErrorKind::OtherFormat { .. } => {
            PyOSError::new_err((-51, format!("NetCDF: Unknown file format: {error}")))
        }
        ErrorKind::Selection(_) => PyIndexError::new_err(error.to_string()),
        ErrorKind::WrongType { .. } => PyTypeError::new_err(error.to_string()),
        ErrorKind::Limit { .. } => PyMemoryError::new_err(error.to_string()),
        _ => PyRuntimeError::new_err(error.to_string()),
    }
}

/// Errors while a file is opened, all of which netCDF4-python raises as `OSError`.
pub(crate) fn opening(error: &Error) -> PyErr {
    match &error.kind {
        ErrorKind::Structure(_) | ErrorKind::Storage { .. } => {
            PyOSError::new_err((-101, format!("NetCDF: HDF error: {error}")))
        }
        _ => to_python(error),
    }
}

fn open_error(error: &Error, source: &io::Error) -> PyErr {
    let arguments = (source.raw_os_error().unwrap_or(-1), source.to_string(), error.file.to_string());
    match source.kind() {
        io::ErrorKind::NotFound => PyFileNotFoundError::new_err(arguments),
        io::ErrorKind::PermissionDenied => PyPermissionError::new_err(arguments),
        io::ErrorKind::IsADirectory => PyIsADirectoryError::new_err(arguments),
        _ => PyOSError::new_err(arguments),
    }
}
