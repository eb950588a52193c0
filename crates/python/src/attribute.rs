//! Attributes as the Python objects that netCDF4-python gives for them.

use isotach::Attribute;
use isotach::model::Values;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::error::to_python;
use crate::values::{text, to_array};

/// A char attribute is a `str` without zero bytes, strings are a `str` or a list of them, a single
/// number a NumPy scalar, several an array.
pub(crate) fn value<'py>(py: Python<'py>, attribute: &Attribute) -> PyResult<Bound<'py, PyAny>> {
    let values = attribute.values.as_ref().map_err(to_python)?;
    match values {
        Values::Char(bytes) => {
            let bytes: Vec<u8> = bytes.iter().copied().filter(|&byte| byte != 0).collect();
            Ok(match String::from_utf8(bytes) {
                Ok(string) => string.into_pyobject(py)?.into_any(),
                Err(error) => String::from_utf8_lossy(error.as_bytes()).into_pyobject(py)?.into_any(),
            })
        }
        Values::String(strings) if strings.len() == 1 => {
            Ok(text(py, strings[0].as_deref()).into_any())
        }
        Values::String(strings) => {
            let texts = strings.iter().map(|string| text(py, string.as_deref()));
            Ok(PyList::new(py, texts.collect::<Vec<_>>())?.into_any())
        }
        _ => {
            let array = to_array(py, values.clone())?;
            if attribute.len == 1 { array.get_item(0) } else { Ok(array) }
        }
    }
}

/// All attributes by name; one that cannot be read is the exception that says why.
pub(crate) fn dict<'py>(py: Python<'py>, attributes: &[Attribute]) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    for attribute in attributes {
        match value(py, attribute) {
            Ok(value) => out.set_item(&attribute.name, value)?,
            Err(error) => out.set_item(&attribute.name, error.into_value(py))?,
        }
    }
    Ok(out)
}
