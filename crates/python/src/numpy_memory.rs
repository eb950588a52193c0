//! Unsafe room: NumPy arrays whose memory the engine fills before Python sees them.
//!
//! Contract:
//! - an array comes from `PyArray_Empty`, is C-contiguous, owned by nobody else, and has exactly
//!   `element count * item size` bytes;
//! - no object types: their memory holds references, not bytes;
//! - the memory is handed to Rust as `MaybeUninit`, and the array to Python only after all of it
//!   has been written;
//! - `fill` gives the memory back as written bytes, all of it; only then is it looked at.

use std::mem::MaybeUninit;
use std::os::raw::c_int;

use numpy::npyffi::{NPY_ORDER, PY_ARRAY_API, PyArrayObject, npy_intp};
use numpy::{PyArrayDescr, PyArrayDescrMethods};
use pyo3::exceptions::{PyMemoryError, PyTypeError};
use pyo3::prelude::*;

use crate::numpy_handler::with_result_memory;

/// Results from this size on have memory that is used again.
const LARGE_BYTES: usize = 4 << 20;
/// Reads below this many bytes that need no decoding are over before another thread could do
/// anything with the interpreter.
const BRIEF_BYTES: usize = 64 * 1024;

/// When the interpreter lock is given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detach {
    /// For every read: storage may need the interpreter itself, or decoding may take long.
    Always,
    /// For all but small reads.
    Long,
}

/// A new array of `shape` and `dtype`, filled by `fill`, and what `inspect` says of its bytes.
pub(crate) fn filled<'py, R: Send, E: Send>(
    py: Python<'py>,
    shape: &[u64],
    dtype: &Bound<'py, PyArrayDescr>,
    detach: Detach,
    to_python: impl FnOnce(E) -> PyErr,
    fill: impl FnOnce(&mut [MaybeUninit<u8>]) -> Result<&mut [u8], E> + Send,
    inspect: impl FnOnce(&[u8]) -> R + Send,
) -> PyResult<(Bound<'py, PyAny>, R)> {
    if dtype.has_object() {
        return Err(PyTypeError::new_err("objects have no bytes to read into"));
    }
    let mut dims = Vec::with_capacity(shape.len());
    let mut bytes = dtype.itemsize();
    for &extent in shape {
        let extent = usize::try_from(extent).ok().filter(|&extent| isize::try_from(extent).is_ok());
        let extent = extent.ok_or_else(|| too_large(shape))?;
        bytes = bytes.checked_mul(extent).ok_or_else(|| too_large(shape))?;
        dims.push(extent as npy_intp);
    }
    let array = if bytes >= LARGE_BYTES {
        with_result_memory(py, || empty(dtype, &mut dims))?
    } else {
        empty(dtype, &mut dims)?
    };
    // SAFETY: the array is new, so this is its only user, and it has `bytes` bytes (contract,
    // first clause); where it has none the pointer may be anything, and the slice is empty.
    let memory = unsafe {
        let data = (*array.as_ptr().cast::<PyArrayObject>()).fields.data.cast::<MaybeUninit<u8>>();
        if bytes == 0 { &mut [] } else { std::slice::from_raw_parts_mut(data, bytes) }
    };
    let work = || {
        let start = memory.as_ptr().cast::<u8>();
        let written = fill(memory)?;
        assert!(written.as_ptr() == start && written.len() == bytes, "other memory came back");
        Ok(inspect(written))
    };
    let brief = detach == Detach::Long && bytes <= BRIEF_BYTES;
    let result = if brief { work() } else { py.detach(work) };
    Ok((array, result.map_err(to_python)?))
}

/// A new array whose elements are whatever its memory holds.
fn empty<'py>(
    dtype: &Bound<'py, PyArrayDescr>,
    dims: &mut [npy_intp],
) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: `PyArray_Empty` gives a new C-contiguous array and takes over one reference to the
    // dtype, which `clone().into_dtype_ptr()` made for it; a null result is a Python exception.
    unsafe {
        let pointer = PY_ARRAY_API.PyArray_Empty(
            dtype.py(),
            dims.len() as c_int,
            dims.as_mut_ptr(),
            dtype.clone().into_dtype_ptr(),
            NPY_ORDER::NPY_CORDER as c_int,
        );
        Bound::from_owned_ptr_or_err(dtype.py(), pointer)
    }
}

fn too_large(shape: &[u64]) -> PyErr {
    PyMemoryError::new_err(format!("an array of shape {shape:?} does not fit into memory"))
}
