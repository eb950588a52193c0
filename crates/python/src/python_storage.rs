//! Storage behind any Python file object: `io.BytesIO`, fsspec and S3 files, zip members.

use std::io;
use std::mem::MaybeUninit;
use std::sync::Mutex;

use isotach::storage::Storage;
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
        let length_bytes = object.call_method1("seek", (0, 2))?.extract::<u64>()?;
        Ok(Self { object: object.clone().unbind(), length_bytes, turn: Mutex::new(()) })
    }

    fn read(&self, py: Python<'_>, offset: u64, into: &mut [MaybeUninit<u8>]) -> PyResult<usize> {
        let object = self.object.bind(py);
        object.call_method1("seek", (offset,))?;
        let mut done = 0;
        while done < into.len() {
            let read = object.call_method1("read", (into.len() - done,))?;
            let bytes = read.cast::<PyBytes>()?.as_bytes();
            if bytes.is_empty() || bytes.len() > into.len() - done {
                break;
            }
            for (slot, byte) in into[done..].iter_mut().zip(bytes) {
                slot.write(*byte);
            }
            done += bytes.len();
        }
        Ok(done)
    }
}

impl Storage for PythonStorage {
    fn len(&self) -> io::Result<u64> {
        Ok(self.length_bytes)
    }

    fn read_at(&self, offset: u64, into: &mut [MaybeUninit<u8>]) -> io::Result<()> {
        let wanted = into.len();
        // Our turn first, then the interpreter: whoever holds the interpreter never waits here.
        let turn = self.turn.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let read = Python::attach(|py| self.read(py, offset, into));
        drop(turn);
        match read {
            Ok(count) if count == wanted => Ok(()),
            Ok(_) => Err(io::ErrorKind::UnexpectedEof.into()),
            Err(error) => Err(io::Error::other(error.to_string())),
        }
    }

    fn call_cost_bytes(&self) -> u64 {
        512 * 1024
    }

    fn parallel(&self) -> bool {
        false
    }
}
