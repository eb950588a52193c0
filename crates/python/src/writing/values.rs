//! Python's objects as the engine's values: the inverse of `crate::values`.

use isotach::model::convert::Number;
use isotach::model::{Atomic, DataType, Field, UserClass, Values};
use numpy::{Element, PyArrayMethods, PyReadonlyArray1, PyReadonlyArrayDyn};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use super::types::number_of;

/// The values of a flat array, or another sequence, of elements of the type. Chars may also be
/// bytes; strings are `str` (UTF-8) or bytes.
pub(super) fn values(data_type: &DataType, given: &Bound<'_, PyAny>) -> PyResult<Values> {
    if let Some(number) = number_of(data_type) {
        return numbers(number, given);
    }
    match data_type {
        DataType::Atomic(Atomic::Char) => Ok(Values::Char(bytes(given)?)),
        DataType::Atomic(_) | DataType::SmallFloat(_) => given
            .try_iter()?
            .map(|item| string(&item?).map(Some))
            .collect::<PyResult<_>>()
            .map(Values::String),
        DataType::User(user) => match &user.class {
            UserClass::Compound(fields) => compound(fields, given),
            UserClass::Vlen(base) => {
                let is_flat = number_of(base).is_some();
                let each = |item: PyResult<Bound<'_, PyAny>>| match is_flat {
                    true => values(base, &item?),
                    false => values(base, &flat(&item?)?),
                };
                given.try_iter()?.map(each).collect::<PyResult<_>>().map(Values::Sequence)
            }
            UserClass::Enum { base, .. } => numbers(*base, given),
            UserClass::Opaque => Ok(Values::Bytes { size: user.size, bytes: bytes(given)? }),
        },
        DataType::Foreign(foreign) => Err(PyTypeError::new_err(foreign.description.clone())),
    }
}

fn numbers(atomic: Atomic, given: &Bound<'_, PyAny>) -> PyResult<Values> {
    match atomic {
        Atomic::Byte => numbers_as::<i8>(given, "i1"),
        Atomic::UByte => numbers_as::<u8>(given, "u1"),
        Atomic::Short => numbers_as::<i16>(given, "i2"),
        Atomic::UShort => numbers_as::<u16>(given, "u2"),
        Atomic::Int => numbers_as::<i32>(given, "i4"),
        Atomic::UInt => numbers_as::<u32>(given, "u4"),
        Atomic::Int64 => numbers_as::<i64>(given, "i8"),
        Atomic::UInt64 => numbers_as::<u64>(given, "u8"),
        Atomic::Float => numbers_as::<f32>(given, "f4"),
        Atomic::Double => numbers_as::<f64>(given, "f8"),
        Atomic::Char | Atomic::String => Err(PyTypeError::new_err("texts are no numbers")),
    }
}

/// Numbers of an array of any shape, or of what NumPy makes one of.
fn numbers_as<T: Number + Element>(given: &Bound<'_, PyAny>, code: &str) -> PyResult<Values> {
    // Most are what they should be; a sequence of them would wait for NumPy at each.
    if let Ok(array) = given.extract::<PyReadonlyArrayDyn<'_, T>>()
        && array.data().is_aligned()
        && let Ok(numbers) = array.as_slice()
    {
        return Ok(T::into_values(numbers.to_vec()));
    }
    let numpy = given.py().import("numpy")?;
    // C's order, aligned.
    let array = flat(&numpy.call_method1("require", (given, code, "CA"))?)?;
    let array = array.extract::<PyReadonlyArray1<'_, T>>()?;
    Ok(T::into_values(array.as_slice()?.to_vec()))
}

/// Each member's column.
fn compound(fields: &[Field], given: &Bound<'_, PyAny>) -> PyResult<Values> {
    let count = given.len()?;
    let column = |field: &Field| {
        let elements = values(&field.data_type, &flat(&given.get_item(&field.name)?)?)?;
        let column = if field.shape.is_empty() {
            elements
        } else {
            let len = field.shape.iter().product();
            Values::Array { len, count, elements: Box::new(elements) }
        };
        Ok((field.name.clone(), column))
    };
    let members = fields.iter().map(column).collect::<PyResult<_>>()?;
    Ok(Values::Compound { count, members })
}

fn flat<'py>(array: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let numpy = array.py().import("numpy")?;
    numpy.call_method1("ravel", (array,))
}

fn bytes(given: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    if let Ok(bytes) = given.cast::<PyBytes>() {
        return Ok(bytes.as_bytes().to_vec());
    }
    given.call_method0("tobytes")?.extract()
}

/// A string's bytes up to its first zero, as C's are.
fn string(item: &Bound<'_, PyAny>) -> PyResult<Box<[u8]>> {
    let bytes = if let Ok(text) = item.cast::<PyString>() {
        text.to_str()?.as_bytes()
    } else if let Ok(bytes) = item.cast::<PyBytes>() {
        bytes.as_bytes()
    } else {
        let kind = item.get_type().name()?.to_string();
        return Err(PyTypeError::new_err(format!("expected str or bytes, {kind} found")));
    };
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    Ok(bytes[..end].into())
}
