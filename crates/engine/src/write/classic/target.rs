//! The storage that is written, with the errors that name it.

use std::mem::MaybeUninit;
use std::sync::Arc;

use isotach_format::classic::{Moved, Redo};

use crate::error::{Error, ErrorKind, Result};
use crate::storage::{Durability, WritableStorage, storage_error, uninit};

/// Bytes that are copied at a time.
const COPY_BYTES: u64 = 4 << 20;

/// See the module.
pub(super) struct Target {
    pub(super) file: Arc<str>,
    pub(super) storage: Arc<dyn WritableStorage>,
    pub(super) durability: Durability,
}

impl Target {
    pub(super) fn write(&self, address: u64, bytes: &[u8]) -> Result<()> {
        let written = self.storage.write_at(address, bytes);
        written.map_err(|source| self.write_error(address, bytes.len() as u64, source))
    }

    pub(super) fn len(&self) -> Result<u64> {
        self.storage.len().map_err(|source| storage_error(&self.file, 0, 0, source))
    }

    pub(super) fn set_len(&self, len: u64) -> Result<()> {
        self.storage.set_len(len).map_err(|source| self.write_error(len, 0, source))
    }

    /// The end of a step of a commit: where the durability asks for it, everything written before
    /// is on the medium.
    pub(super) fn step(&self) -> Result<()> {
        match self.durability {
            Durability::Process => Ok(()),
            Durability::Power => {
                self.storage.sync().map_err(|source| self.write_error(0, 0, source))
            }
        }
    }

    /// The bytes at `address`; zeros where the storage has ended.
    pub(super) fn read_with_zeros<'into>(
        &self,
        address: u64,
        into: &'into mut [MaybeUninit<u8>],
    ) -> Result<&'into mut [u8]> {
        let length = into.len() as u64;
        uninit::read_with_zeros(&*self.storage, address, into)
            .map_err(|source| storage_error(&self.file, address, length, source))
    }

    /// Puts a header in the place of the one that is there: see [`Redo`]. Whenever this is
    /// interrupted, [`Self::recover`] finishes it or finds the old state.
    pub(super) fn switch(&self, redo: &Redo) -> Result<()> {
        self.step()?;
        // Behind everything that is, or will be: the header can be longer than the file was.
        let address = self.len()?.max(redo.file_len).max(redo.header.len() as u64);
        self.write(address, &redo.encode())?;
        self.step()?;
        self.redo(redo)
    }

    /// Finishes what was interrupted, if anything was.
    pub(super) fn recover(&self) -> Result<()> {
        match pending(self)? {
            Some(redo) => self.redo(&redo),
            None => Ok(()),
        }
    }

    fn redo(&self, redo: &Redo) -> Result<()> {
        let Moved { from, to, length_bytes } = redo.moved;
        let mut window = Vec::new();
        window.resize_with(length_bytes.min(COPY_BYTES) as usize, MaybeUninit::uninit);
        for done in (0..length_bytes).step_by(COPY_BYTES as usize) {
            let part = (length_bytes - done).min(COPY_BYTES) as usize;
            let bytes = self.read_with_zeros(from + done, &mut window[..part])?;
            self.write(to + done, bytes)?;
        }
        self.step()?;
        self.write(0, &redo.header)?;
        self.step()?;
        self.set_len(redo.file_len)?;
        self.step()
    }

    fn write_error(&self, address: u64, length_bytes: u64, source: std::io::Error) -> Error {
        let source = Arc::new(source);
        Error::new(&self.file, ErrorKind::Write { address, length_bytes, source })
    }
}

/// The record at the end of the file.
fn pending(target: &Target) -> Result<Option<Redo>> {
    crate::mapping::classic::pending_redo(&target.file, &*target.storage)
}
