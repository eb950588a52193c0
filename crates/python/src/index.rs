//! What stands between a variable's brackets in Python, as the model's indices.
//!
//! netCDF4-python's rules: lists select orthogonally, a list that is not of integers only is as
//! good as a tuple, whole floats and digits count as integers, and there are no new axes.

use isotach::model::selection::Index;
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyBytes, PyEllipsis, PyFloat, PyInt, PyList, PySlice, PyString, PyTuple,
};

/// What is said of an index that is none.
const NO_INDEX: &str = "only integers, slices (`:`), ellipsis (`...`), and one-dimensional arrays \
                        of integers or booleans are valid indices";

/// The indices in `key`: one of them, or several.
pub(crate) fn indices(key: &Bound<'_, PyAny>) -> PyResult<Vec<Index>> {
    if let Ok(tuple) = key.cast::<PyTuple>() {
        return tuple.iter().map(|item| index(&item)).collect();
    }
    match key.cast::<PyList>() {
        Ok(list) if !list.iter().all(|item| is_integer(&item)) => {
            list.iter().map(|item| index(&item)).collect()
        }
        _ => Ok(vec![index(key)?]),
    }
}

fn index(item: &Bound<'_, PyAny>) -> PyResult<Index> {
    if item.is_exact_instance_of::<PyInt>() {
        let integer = item.extract().map_err(|_| PyIndexError::new_err("index out of range"))?;
        return Ok(Index::Integer(integer));
    }
    if let Ok(slice) = item.cast::<PySlice>() {
        return Ok(Index::Slice {
            start: bound(&slice.getattr("start")?)?,
            stop: bound(&slice.getattr("stop")?)?,
            step: bound(&slice.getattr("step")?)?,
        });
    }
    if item.is_instance_of::<PyEllipsis>() {
        return Ok(Index::Ellipsis);
    }
    if item.is_none() {
        return Err(PyIndexError::new_err(NO_INDEX));
    }
    match item.extract::<i64>() {
        Ok(integer) => Ok(Index::Integer(integer)),
        Err(_) if item.is_instance_of::<PyString>() || item.is_instance_of::<PyBytes>() => {
            let digits = item.py().get_type::<PyInt>().call1((item,));
            let digits = digits.map_err(|_| PyIndexError::new_err(NO_INDEX))?;
            Ok(Index::Integer(digits.extract()?))
        }
        Err(_) => sequence(item),
    }
}

/// True for what stands for one position: integers, booleans, whole floats.
fn is_integer(item: &Bound<'_, PyAny>) -> bool {
    if item.is_instance_of::<PyInt>() || item.is_instance_of::<PyBool>() {
        return true;
    }
    if let Ok(float) = item.cast::<PyFloat>() {
        return float.value().fract() == 0.0;
    }
    item.extract::<i64>().is_ok() || is_scalar_of_numpy(item)
}

/// NumPy's booleans are no integers to `__index__`.
fn is_scalar_of_numpy(item: &Bound<'_, PyAny>) -> bool {
    item.get_type().name().is_ok_and(|name| name == "bool" || name == "bool_")
}

/// A bound of a slice; integers too large for any array are as good as the largest.
fn bound(value: &Bound<'_, PyAny>) -> PyResult<Option<i64>> {
    if value.is_none() {
        return Ok(None);
    }
    if let Ok(bound) = value.extract::<i64>() {
        return Ok(Some(bound));
    }
    let integer = value.call_method0("__index__").map_err(|_| {
        pyo3::exceptions::PyTypeError::new_err(
            "slice indices must be integers or None or have an __index__ method",
        )
    })?;
    match integer.extract::<i64>() {
        Ok(bound) => Ok(Some(bound)),
        Err(_) => Ok(Some(if integer.lt(0)? { i64::MIN } else { i64::MAX })),
    }
}

/// A list or array of integers or booleans, for one axis; or a number that is not an `int`.
fn sequence(item: &Bound<'_, PyAny>) -> PyResult<Index> {
    let numpy = item.py().import("numpy")?;
    let array = numpy.call_method1("asarray", (item,))?;
    let kind = array.getattr("dtype")?.getattr("kind")?.extract::<char>()?;
    let rank = array.getattr("ndim")?.extract::<usize>()?;
    match (kind, rank) {
        ('b' | 'i' | 'u', 0) => Ok(Index::Integer(array.call_method0("__int__")?.extract()?)),
        ('f', 0) if array.call_method0("__float__")?.extract::<f64>()?.fract() == 0.0 => {
            Ok(Index::Integer(array.call_method0("__int__")?.extract()?))
        }
        ('b', 1) => {
            let array = array.extract::<PyReadonlyArray1<'_, bool>>()?;
            Ok(Index::Mask(array.as_array().to_vec()))
        }
        ('i' | 'u', 1) => {
            let array = array.call_method1("astype", ("i8",))?;
            let array = array.extract::<PyReadonlyArray1<'_, i64>>()?;
            Ok(Index::Integers(array.as_array().to_vec()))
        }
        (_, 1) if array.len()? == 0 => Ok(Index::Integers(Vec::new())),
        ('b' | 'i' | 'u', _) => Err(PyIndexError::new_err("Index cannot be multidimensional")),
        _ => Err(PyIndexError::new_err(NO_INDEX)),
    }
}
