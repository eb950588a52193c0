//! What stands between a variable's brackets in Python, as the model's indices.

use isotach::model::selection::Index;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyEllipsis, PyInt, PySlice, PyTuple};

/// The indices in `key`: one of them, or a tuple.
pub(crate) fn indices(key: &Bound<'_, PyAny>) -> PyResult<Vec<Index>> {
    match key.cast::<PyTuple>() {
        Ok(tuple) => tuple.iter().map(|item| index(&item)).collect(),
        Err(_) => Ok(vec![index(key)?]),
    }
}

fn index(item: &Bound<'_, PyAny>) -> PyResult<Index> {
    if item.is_exact_instance_of::<PyInt>() {
        return Ok(Index::Integer(item.extract()?));
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
        return Ok(Index::NewAxis);
    }
    if item.is_instance_of::<PyBool>() {
        return Ok(Index::Mask(vec![item.extract()?]));
    }
    match item.extract::<i64>() {
        Ok(integer) => Ok(Index::Integer(integer)),
        Err(_) => sequence(item),
    }
}

/// A bound of a slice; integers too large for any array are as good as the largest.
fn bound(value: &Bound<'_, PyAny>) -> PyResult<Option<i64>> {
    if value.is_none() {
        return Ok(None);
    }
    let integer = value.call_method0("__index__").map_err(|_| {
        PyIndexError::new_err("slice bounds must be integers, None or have an __index__ method")
    })?;
    match integer.extract::<i64>() {
        Ok(bound) => Ok(Some(bound)),
        Err(_) => Ok(Some(if integer.lt(0)? { i64::MIN } else { i64::MAX })),
    }
}

/// A list or array of integers or booleans, for one axis.
fn sequence(item: &Bound<'_, PyAny>) -> PyResult<Index> {
    let numpy = item.py().import("numpy")?;
    let array = numpy.call_method1("asarray", (item,))?;
    let kind = array.getattr("dtype")?.getattr("kind")?.extract::<char>()?;
    let rank = array.getattr("ndim")?.extract::<usize>()?;
    let empty = array.getattr("size")?.extract::<usize>()? == 0;
    match (kind, rank) {
        ('b', 1) => Ok(Index::Mask(array.call_method0("tolist")?.extract()?)),
        ('i' | 'u', 1) => Ok(Index::Integers(array.call_method0("tolist")?.extract()?)),
        (_, 1) if empty => Ok(Index::Integers(Vec::new())),
        _ => Err(PyIndexError::new_err(
            "only integers, slices, ellipsis, None, and one-dimensional arrays of integers or \
             booleans are indices",
        )),
    }
}
