//! The command line, for the package's `isotach` script, and CDL.

use std::ffi::OsString;
use std::path::PathBuf;

use isotach_cli::CliError;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;

use crate::error::to_python;
use crate::writing::format_named;

/// Runs the command with these arguments (without its name) and gives its exit code.
#[pyfunction]
pub(crate) fn command(py: Python<'_>, arguments: Vec<OsString>) -> i32 {
    let arguments = std::iter::once(OsString::from("isotach")).chain(arguments);
    py.detach(|| isotach_cli::main_with(arguments))
}

/// Writes the file of netCDF4-python's `format` that a text in CDL describes.
#[pyfunction]
pub(crate) fn generate(py: Python<'_>, path: PathBuf, text: &[u8], format: &str) -> PyResult<()> {
    let format = Some(format_named(format)?);
    py.detach(|| isotach_cli::generate::create(&path, text, format))
        .map_err(|error| cdl_error(&error))
}

/// What is wrong with CDL is a `ValueError`.
pub(crate) fn cdl_error(error: &CliError) -> PyErr {
    match error {
        CliError::File(error) => to_python(error),
        CliError::Output(_) | CliError::Input(_) | CliError::Incomplete => {
            PyOSError::new_err(error.to_string())
        }
        _ => PyValueError::new_err(error.to_string()),
    }
}
