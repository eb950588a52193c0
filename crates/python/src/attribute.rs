//! Attributes as the Python objects that netCDF4-python gives for them.

use isotach::model::Values;
use isotach::{Attribute, Readable};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};

use crate::error::to_python;
use crate::values::to_array;

/// A char attribute is a `str` without zero bytes (`_FillValue` is `bytes`), strings are a `str`
/// or a list of them, a single number is a NumPy scalar, several are an array.
pub(crate) fn value<'py>(py: Python<'py>, attribute: &Attribute) -> PyResult<Bound<'py, PyAny>> {
    shown(py, attribute, values(py, attribute)?)
}

/// Its values. Python's lock is let go: they may be read from a file object of Python's, and
/// whoever reads from that holds locks of ours while waiting for Python's.
fn values(py: Python<'_>, attribute: &Attribute) -> PyResult<Values> {
    py.detach(|| attribute.values()).map_err(|error| to_python(&error))
}

fn shown<'py>(
    py: Python<'py>,
    attribute: &Attribute,
    values: Values,
) -> PyResult<Bound<'py, PyAny>> {
    match values {
        Values::Char(bytes) if attribute.name() == "_FillValue" => {
            Ok(PyBytes::new(py, &bytes).into_any())
        }
        Values::Char(bytes) => Ok(readable(py, &bytes).into_any()),
        Values::String(strings) => {
            let text = |string: &Option<Box<[u8]>>| {
                readable(py, string.as_deref().unwrap_or_default()).into_any()
            };
            match &strings[..] {
                [string] => Ok(text(string)),
                strings => Ok(PyList::new(py, strings.iter().map(text))?.into_any()),
            }
        }
        values => {
            let array = to_array(py, values, attribute.data_type())?;
            if attribute.len() == 1 { array.get_item(0) } else { Ok(array) }
        }
    }
}

/// The bytes of a text attribute as the file has them (several for several strings); `None` for
/// attributes of other types.
pub(crate) fn raw_text<'py>(
    py: Python<'py>,
    attribute: &Attribute,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    Ok(match values(py, attribute)? {
        Values::Char(bytes) => Some(PyBytes::new(py, &bytes).into_any()),
        Values::String(strings) => {
            let bytes = |string: &Option<Box<[u8]>>| {
                PyBytes::new(py, string.as_deref().unwrap_or_default()).into_any()
            };
            match &strings[..] {
                [string] => Some(bytes(string)),
                strings => Some(PyList::new(py, strings.iter().map(bytes))?.into_any()),
            }
        }
        _ => None,
    })
}

/// All attributes by name; one that is damaged or not supported is the exception that says why.
///
/// # Errors
/// Storage failed.
pub(crate) fn dict<'py>(py: Python<'py>, attributes: &[Attribute]) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    let values: Vec<_> = py.detach(|| attributes.iter().map(Attribute::values).collect());
    for (attribute, values) in attributes.iter().zip(values) {
        let values = values.or_fault().map_err(|failure| to_python(&failure))?;
        let values = values.map_err(|error| to_python(&error));
        match values.and_then(|values| shown(py, attribute, values)) {
            Ok(value) => out.set_item(attribute.name(), value)?,
            Err(error) => out.set_item(attribute.name(), error.into_value(py))?,
        }
    }
    Ok(out)
}

/// UTF-8 with a replacement for every byte that is none, without zeros.
fn readable<'py>(py: Python<'py>, bytes: &[u8]) -> Bound<'py, PyString> {
    let text = String::from_utf8_lossy(bytes);
    if text.contains('\0') {
        PyString::new(py, &text.replace('\0', ""))
    } else {
        PyString::new(py, &text)
    }
}
