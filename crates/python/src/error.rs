//! Engine errors as the exceptions that netCDF4-python raises for them.

use std::io;

use isotach::error::OtherFileReason;
use isotach::model::selection::SelectionError;
use isotach::{DefinitionFault, Error, ErrorKind, Fault, User};
use pyo3::exceptions::{
    PyAttributeError, PyFileNotFoundError, PyIndexError, PyMemoryError, PyOSError,
    PyPermissionError, PyRuntimeError, PyTypeError, PyValueError,
};
use pyo3::prelude::*;

pyo3::create_exception!(
    isotach,
    Changed,
    PyOSError,
    "The file has another state than the one that is shown, which cannot be had any more (`ESTALE`)."
);

/// A read or write that failed.
const EIO: i32 = 5;
/// `NC_EEXIST`.
const FILE_EXISTS: i32 = -35;
/// `NC_ENOTNC`.
const UNKNOWN_FORMAT: i32 = -51;
/// `NC_EHDFERR`.
const HDF_ERROR: i32 = -101;

/// The exception for an error of the engine. Files that cannot be opened give `OSError` and its
/// kinds, selections outside the shape `IndexError`, everything found later `RuntimeError`.
pub(crate) fn to_python(error: &Error) -> PyErr {
    if let Some(failed) = storage_error(error) {
        return failed;
    }
    match &error.kind {
        ErrorKind::Open(source) => open_error(error, source),
        ErrorKind::UnknownFormat { .. } | ErrorKind::OtherFormat { .. } => {
            os_error(UNKNOWN_FORMAT, "NetCDF: Unknown file format", error)
        }
        ErrorKind::Selection(selection) => selection_error(selection),
        ErrorKind::Definition(fault) => {
            PyRuntimeError::new_err(format!("{}: {error}", netcdf_words(fault)))
        }
        ErrorKind::Closed => PyRuntimeError::new_err("NetCDF: Not a valid ID"),
        ErrorKind::WrongType { .. } => PyTypeError::new_err(error.to_string()),
        ErrorKind::Limit { .. } => PyMemoryError::new_err(error.to_string()),
        _ => with_cause(PyRuntimeError::new_err(error.to_string()), error),
    }
}

/// Errors while a file is opened, all of which netCDF4-python raises as `OSError`.
pub(crate) fn opening(error: &Error) -> PyErr {
    if let Some(failed) = storage_error(error) {
        return failed;
    }
    match &error.kind {
        ErrorKind::Open(_) | ErrorKind::UnknownFormat { .. } | ErrorKind::OtherFormat { .. } => {
            to_python(error)
        }
        _ => with_cause(os_error(HDF_ERROR, "NetCDF: HDF error", error), error),
    }
}

/// Errors while a file is created: as netCDF4-python has it, one that somebody writes may not be replaced.
pub(crate) fn creating(error: &Error) -> PyErr {
    match &error.kind {
        ErrorKind::InUse { by } if !matches!(by, User::OwnReader) => {
            let number = rustix::io::Errno::ACCESS.raw_os_error();
            PyPermissionError::new_err((number, error.kind.to_string(), error.file.to_string()))
        }
        _ => opening(error),
    }
}

/// Errors while an attribute is set, all of which netCDF4-python raises as `AttributeError`.
pub(crate) fn attribute_error(error: &Error) -> PyErr {
    if let Some(failed) = storage_error(error) {
        return failed;
    }
    match &error.kind {
        ErrorKind::Definition(fault) => {
            PyAttributeError::new_err(format!("{}: {error}", netcdf_words(fault)))
        }
        _ => with_cause(PyAttributeError::new_err(error.to_string()), error),
    }
}

/// What libnetcdf says of the same fault.
fn netcdf_words(fault: &DefinitionFault) -> &'static str {
    match fault {
        DefinitionFault::Name(_) => "NetCDF: Name contains illegal characters",
        DefinitionFault::NameInUse { .. } | DefinitionFault::Reserved { .. } => {
            "NetCDF: String match to name in use"
        }
        DefinitionFault::NotFound { what: "attribute", .. } => "NetCDF: Attribute not found",
        DefinitionFault::NotFound { what: "variable", .. } => "NetCDF: Variable not found",
        DefinitionFault::NotFound { what: "type", .. } => "NetCDF: Bad type ID",
        DefinitionFault::NotFound { .. } | DefinitionFault::Deleted { .. } => {
            "NetCDF: Not a valid ID"
        }
        DefinitionFault::InUse { .. } => "NetCDF: Invalid dimension ID or name",
        DefinitionFault::NotInFormat { .. } | DefinitionFault::ForeignType { .. } => {
            "NetCDF: Attempting netcdf-4 operation on strict nc3 netcdf-4 file"
        }
        DefinitionFault::SecondUnlimited => {
            "NetCDF: Only one unlimited dimension allowed in this format"
        }
        DefinitionFault::UnlimitedNotFirst => "NetCDF: NC_UNLIMITED in the wrong index",
        DefinitionFault::DimensionLength { .. } => "NetCDF: Invalid dimension size",
        DefinitionFault::HasValues { .. } => {
            "NetCDF: Attempt to define fill value when data already exists"
        }
        _ => "NetCDF: Invalid argument",
    }
}

/// A request that does not fit the variable: as netCDF4-python, `IndexError` for what lies
/// outside, `ValueError` for what is no request at all.
pub(crate) fn selection_error(error: &SelectionError) -> PyErr {
    match error {
        SelectionError::TooManyIndices { .. } | SelectionError::Step { .. } => {
            PyValueError::new_err(error.to_string())
        }
        _ => PyIndexError::new_err(error.to_string()),
    }
}

fn os_error(number: i32, what: &str, error: &Error) -> PyErr {
    let why = format!("{what} ({})", error.kind);
    PyOSError::new_err((number, why, error.file.to_string()))
}

fn open_error(error: &Error, source: &io::Error) -> PyErr {
    let Some(number) = source.raw_os_error() else {
        return PyOSError::new_err(error.to_string());
    };
    // The operating system's words without Rust's "(os error 2)" behind them.
    let words = source.to_string();
    let words = words.split(" (os error").next().unwrap_or_default().to_owned();
    let arguments = (number, words, error.file.to_string());
    match source.kind() {
        io::ErrorKind::AlreadyExists => {
            let why = "NetCDF: File exists && NC_NOCLOBBER".to_owned();
            PyOSError::new_err((FILE_EXISTS, why, arguments.2))
        }
        io::ErrorKind::NotFound => PyFileNotFoundError::new_err(arguments),
        io::ErrorKind::PermissionDenied => PyPermissionError::new_err(arguments),
        io::ErrorKind::IsADirectory => {
            let why = format!("NetCDF: Unknown file format ({})", arguments.1);
            PyOSError::new_err((UNKNOWN_FORMAT, why, arguments.2))
        }
        _ => PyOSError::new_err(arguments),
    }
}

/// Where storage failed: `OSError` with the operating system's number, or that of the exception that a Python file
/// object raised, else `EIO`; and the file's name.
fn storage_error(error: &Error) -> Option<PyErr> {
    if error.kind.is_changed() {
        let number = rustix::io::Errno::STALE.raw_os_error();
        let arguments = (number, error.kind.to_string(), error.file.to_string());
        return Some(Changed::new_err(arguments));
    }
    let source = match &error.kind {
        _ if error.fault() != Fault::Storage => return None,
        ErrorKind::Storage { source, .. } | ErrorKind::Write { source, .. } => source,
        ErrorKind::OtherFile { reason: OtherFileReason::Failed(source), .. } => source,
        ErrorKind::NotCommitted { source, .. } => match &source.kind {
            ErrorKind::Storage { source, .. } | ErrorKind::Write { source, .. } => source,
            _ => return None,
        },
        _ => return None,
    };
    let of_system = source.raw_os_error();
    let number = of_system.or_else(|| raised_number(raised(source)?)).unwrap_or(EIO);
    let arguments = (number, error.kind.to_string(), error.file.to_string());
    Some(with_cause(PyOSError::new_err(arguments), error))
}

/// What a Python file object raised.
fn raised(source: &io::Error) -> Option<&PyErr> {
    source.get_ref().and_then(|inner| inner.downcast_ref::<PyErr>())
}

/// The number of an `OSError`.
fn raised_number(raised: &PyErr) -> Option<i32> {
    Python::attach(|py| raised.value(py).getattr("errno").ok()?.extract().ok())
}

/// What a Python file object raised stays visible as the cause.
fn with_cause(exception: PyErr, error: &Error) -> PyErr {
    if let ErrorKind::Storage { source, .. } = &error.kind
        && let Some(raised) = raised(source)
    {
        Python::attach(|py| exception.set_cause(py, Some(raised.clone_ref(py))));
    }
    exception
}
