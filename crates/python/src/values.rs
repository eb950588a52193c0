//! The engine's values as NumPy arrays: numbers as they are, strings and sequences as objects.

use isotach::model::{DataType, FloatFormat, UserClass, Values};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PySlice, PyString};

/// A one-dimensional array with all elements, which are of the type.
pub(crate) fn to_array<'py>(
    py: Python<'py>,
    values: Values,
    data_type: &DataType,
) -> PyResult<Bound<'py, PyAny>> {
    Ok(match values {
        Values::I8(numbers) => numbers.into_pyarray(py).into_any(),
        Values::U8(numbers) => numbers.into_pyarray(py).into_any(),
        Values::I16(numbers) => numbers.into_pyarray(py).into_any(),
        Values::U16(numbers) => numbers.into_pyarray(py).into_any(),
        Values::I32(numbers) => numbers.into_pyarray(py).into_any(),
        Values::U32(numbers) => numbers.into_pyarray(py).into_any(),
        Values::I64(numbers) => numbers.into_pyarray(py).into_any(),
        Values::U64(numbers) => numbers.into_pyarray(py).into_any(),
        Values::F32(numbers) if *data_type == DataType::SmallFloat(FloatFormat::HALF) => {
            numbers.into_pyarray(py).call_method1("astype", ("f2",))?
        }
        Values::F32(numbers) => numbers.into_pyarray(py).into_any(),
        Values::F64(numbers) => numbers.into_pyarray(py).into_any(),
        Values::Char(bytes) => viewed(bytes.into_pyarray(py), "S1")?,
        Values::Bytes { size, bytes } => viewed(bytes.into_pyarray(py), &format!("V{size}"))?,
        Values::String(strings) => {
            let objects = strings.iter().map(|text_bytes| {
                text(py, text_bytes.as_deref().unwrap_or_default()).into_any().unbind()
            });
            objects.collect::<Vec<Py<PyAny>>>().into_pyarray(py).into_any()
        }
        Values::Sequence(sequences) => {
            let base = match data_type {
                DataType::User(user) => match &user.class {
                    UserClass::Vlen(base) => base,
                    _ => data_type,
                },
                _ => data_type,
            };
            let array = |sequence| Ok(to_array(py, sequence, base)?.unbind());
            let arrays = sequences.into_iter().map(array);
            arrays.collect::<PyResult<Vec<Py<PyAny>>>>()?.into_pyarray(py).into_any()
        }
        Values::Array { len, count, elements } => {
            let elements = to_array(py, *elements, data_type)?;
            let shape = elements.getattr("shape")?;
            let within = shape.get_item(PySlice::new(py, 1, isize::MAX, 1))?;
            let whole = (count, len).into_pyobject(py)?.add(within)?;
            elements.call_method1("reshape", (whole,))?
        }
        Values::Compound { count, members } => structured(py, count, members, data_type)?,
    })
}

/// A string's text; bytes that are not UTF-8 become surrogate escapes, so that nothing is lost.
pub(crate) fn text<'py>(py: Python<'py>, bytes: &[u8]) -> Bound<'py, PyString> {
    match std::str::from_utf8(bytes) {
        Ok(text) => PyString::new(py, text),
        Err(_) => PyBytes::new(py, bytes)
            .call_method1("decode", ("utf-8", "surrogateescape"))
            .and_then(|decoded| Ok(decoded.cast_into::<PyString>()?))
            .unwrap_or_else(|_| PyString::new(py, &String::from_utf8_lossy(bytes))),
    }
}

fn viewed<'py>(bytes: Bound<'py, PyArray1<u8>>, code: &str) -> PyResult<Bound<'py, PyAny>> {
    if bytes.as_any().len()? == 0 {
        let numpy = bytes.py().import("numpy")?;
        return numpy.call_method1("empty", (0, code));
    }
    bytes.call_method1("view", (code,))
}

fn structured<'py>(
    py: Python<'py>,
    count: usize,
    members: Vec<(String, Values)>,
    data_type: &DataType,
) -> PyResult<Bound<'py, PyAny>> {
    let numpy = py.import("numpy")?;
    let fields = PyList::empty(py);
    let mut columns = Vec::with_capacity(members.len());
    let types = match data_type {
        DataType::User(user) => match &user.class {
            UserClass::Compound(fields) => &fields[..],
            _ => &[],
        },
        _ => &[],
    };
    for (index, (name, values)) in members.into_iter().enumerate() {
        let of_member = types.get(index).map_or(data_type, |field| &field.data_type);
        let column = to_array(py, values, of_member)?;
        let shape = column.getattr("shape")?.get_item(PySlice::new(py, 1, isize::MAX, 1))?;
        fields.append((&name, column.getattr("dtype")?, shape))?;
        columns.push((name, column));
    }
    // Members lie as a C compiler would lay them out, which is how netCDF4-python has them.
    let dtype = numpy.getattr("dtype")?.call1((fields, true))?;
    let array = numpy.call_method1("empty", (count, dtype))?;
    for (name, column) in columns {
        array.set_item(name, column)?;
    }
    Ok(array)
}
