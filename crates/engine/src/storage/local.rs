//! A file of the local file system, read with `pread`.

use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::path::Path;

use super::{Storage, uninit};

/// A local file, open for reading. No lock is taken and the descriptor's position never moves, so
/// any number of threads read at once.
#[derive(Debug)]
pub struct LocalFile {
    file: File,
}

impl LocalFile {
    /// Opens the file at `path`; a directory is an error.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let file = File::open(path)?;
        if file.metadata()?.is_dir() {
            return Err(io::Error::from(io::ErrorKind::IsADirectory));
        }
        Ok(Self { file })
    }

    /// The open file itself.
    pub(super) fn file(&self) -> &File {
        &self.file
    }
}

impl From<File> for LocalFile {
    fn from(file: File) -> Self {
        Self { file }
    }
}

impl Storage for LocalFile {
    fn len(&self) -> io::Result<u64> {
        self.file.metadata().map(|metadata| metadata.len())
    }

    fn read_at<'into>(
        &self,
        offset: u64,
        into: &'into mut [MaybeUninit<u8>],
    ) -> io::Result<&'into mut [u8]> {
        uninit::fill(into, |done, rest| {
            let at = offset.checked_add(done).ok_or_else(super::unexpected_end)?;
            Ok(rustix::io::pread(&self.file, rest, at)?.0)
        })
    }
}
