//! The command line, for the package's `isotach` script.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the command with these arguments (without its name) and gives its exit code.
#[pyfunction]
pub(crate) fn command(py: Python<'_>, arguments: Vec<OsString>) -> i32 {
    let arguments = std::iter::once(OsString::from("isotach")).chain(arguments);
    py.detach(|| isotach_cli::main_with(arguments))
}
