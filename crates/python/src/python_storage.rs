//! Storage behind any Python file object: `io.BytesIO`, fsspec and S3 files, zip members.

use std::io;
use std::mem::MaybeUninit;
use std::sync::PoisonError;

use isotach::storage::Storage;
use isotach::sync::Mutex;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// A Python object with `seek` and `read`.
pub(crate) struct PythonStorage {
    object: Py<PyAny>,
    length_bytes: u64,
    /// `seek` and `read` belong together.
    turn: Mutex<()>,
}

impl PythonStorage {
    /// Asks the object for its length.
    pub(crate) fn new(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        object.call_method1("seek", (0, 2))?;
        let length_bytes = object.call_method0("tell")?.extract::<u64>()?;
        Ok(Self { object: object.clone().unbind(), length_bytes, turn: Mutex::new(()) })
    }

    fn read<'into>(
        &self,
        py: Python<'_>,
        offset: u64,
        into: &'into mut [MaybeUninit<u8>],
    ) -> PyResult<Option<&'into mut [u8]>> {
        let object = self.object.bind(py);
        object.call_method1("seek", (offset,))?;
        let mut gathered = Vec::new();
        while gathered.len() < into.len() {
            let read = object.call_method1("read", (into.len() - gathered.len(),))?;
            let bytes = read.cast::<PyBytes>()?.as_bytes();
            if bytes.len() == into.len() {
                return Ok(Some(into.write_copy_of_slice(bytes)));
            }
            if bytes.is_empty() || bytes.len() > into.len() - gathered.len() {
                return Ok(None);
            }
            gathered.extend_from_slice(bytes);
        }
        Ok(Some(into.write_copy_of_slice(&gathered)))
    }
}

impl Storage for PythonStorage {
    fn len(&self) -> io::Result<u64> {
        Ok(self.length_bytes)
    }

    fn read_at<'into>(
        &self,
        offset: u64,
        into: &'into mut [MaybeUninit<u8>],
    ) -> io::Result<&'into mut [u8]> {
        // Our turn first, then the interpreter: whoever holds the interpreter never waits here.
        let turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let read = Python::attach(|py| self.read(py, offset, into));
        drop(turn);
        match read {
            Ok(Some(bytes)) => Ok(bytes),
            Ok(None) => Err(io::ErrorKind::UnexpectedEof.into()),
            Err(error) => Err(io::Error::other(error)),
        }
    }

    fn call_cost_bytes(&self) -> u64 {
        512 * 1024
    }

    fn parallel(&self) -> bool {
        false
    }
}
