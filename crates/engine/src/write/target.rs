//! Where a file's bytes go: its storage, the space in it, and its name for errors.

use std::io;
use std::sync::Arc;

use super::space::Space;
use crate::error::{Error, ErrorKind, Result};
use crate::storage::{Storage, WritableStorage, WriteBehind, storage_error, write_error};

/// See the module. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Target {
    pub(crate) name: Arc<str>,
    pub(crate) storage: Arc<dyn WritableStorage>,
    pub(crate) space: Arc<Space>,
}

impl Target {
    /// Writes `bytes` at an address that nothing committed refers to.
    pub(crate) fn write(&self, address: u64, bytes: &[u8]) -> Result<()> {
        let write = self.storage.write_at(address, bytes);
        write.map_err(|source| self.write_error(address, bytes.len() as u64, source))
    }

    /// The same target, small writes to which gather before they go to its storage.
    pub(crate) fn gathering(self) -> (Self, Arc<WriteBehind>) {
        let behind = Arc::new(WriteBehind::new(self.storage));
        (Self { storage: Arc::clone(&behind) as _, ..self }, behind)
    }

    /// The same bytes for those who read.
    pub(crate) fn readable(&self) -> Arc<dyn Storage> {
        Arc::clone(&self.storage) as _
    }

    /// Bytes of the storage.
    pub(crate) fn len(&self) -> Result<u64> {
        self.storage.len().map_err(|source| self.read_error(0, 0, source))
    }

    /// The error that storage did not take bytes.
    pub(crate) fn write_error(&self, address: u64, length_bytes: u64, source: io::Error) -> Error {
        write_error(&self.name, address, length_bytes, source)
    }

    /// The error that storage did not deliver bytes.
    pub(crate) fn read_error(&self, address: u64, length_bytes: u64, source: io::Error) -> Error {
        storage_error(&self.name, address, length_bytes, source)
    }

    /// An error of `kind` in this file.
    pub(crate) fn error(&self, kind: ErrorKind) -> Error {
        Error::new(&self.name, kind)
    }
}
