//! A file of the local file system, read with `pread`.

use std::fs::{File, Metadata};
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::{Storage, uninit};

/// A local file, open for reading. No lock is taken and the descriptor's position never moves, so
/// any number of threads read at once.
#[derive(Debug)]
pub struct LocalFile {
    file: File,
    /// What it was when it was opened; `None` where it is written through this value.
    opened: Option<Stamp>,
}

impl LocalFile {
    /// Opens the file at `path`; a directory is an error.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        if metadata.is_dir() {
            return Err(io::Error::from(io::ErrorKind::IsADirectory));
        }
        // What a pipe has can be read once only, and in one order.
        if metadata.file_type().is_fifo() {
            return Err(rustix::io::Errno::SPIPE.into());
        }
        Ok(Self { file, opened: Some(Stamp::new(&metadata)) })
    }

    /// What the file was when it was opened.
    pub(crate) fn stamp(&self) -> Option<&Stamp> {
        self.opened.as_ref()
    }

    /// The open file itself.
    pub(super) fn file(&self) -> &File {
        &self.file
    }
}

/// After so long, another change gives a file another time: the kernel's clock for that goes by a few
/// milliseconds.
const FINE_TIMES: Duration = Duration::from_millis(100);
/// The same for file systems that know seconds only, or every other one.
const COARSE_TIMES: Duration = Duration::from_secs(3);

/// By what a file is known to be the same, and unchanged.
#[derive(Debug, Clone)]
pub struct Stamp {
    device_and_inode: (u64, u64),
    len: u64,
    /// When its bytes, and anything about it, were changed last: seconds and nanoseconds.
    modified: (i64, i64),
    changed: (i64, i64),
    /// Whether a change after this would have shown.
    is_old: bool,
}

impl Stamp {
    /// What the file at `path` is now.
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        std::fs::metadata(path).map(|metadata| Self::new(&metadata))
    }

    fn new(metadata: &Metadata) -> Self {
        let has_fine_times = metadata.mtime_nsec() != 0;
        let needed = if has_fine_times { FINE_TIMES } else { COARSE_TIMES };
        let since = |time: SystemTime| SystemTime::now().duration_since(time).ok();
        let modified = metadata.modified().ok().and_then(since);
        Self {
            device_and_inode: (metadata.dev(), metadata.ino()),
            len: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
            is_old: modified.is_some_and(|since| since > needed),
        }
    }

    /// Whether what had this stamp is what has the `later` one.
    pub fn is_still(&self, later: &Self) -> bool {
        let identity =
            |stamp: &Self| (stamp.device_and_inode, stamp.len, stamp.modified, stamp.changed);
        self.is_old && identity(self) == identity(later)
    }
}

impl From<File> for LocalFile {
    fn from(file: File) -> Self {
        Self { file, opened: None }
    }
}

impl Storage for LocalFile {
    fn len(&self) -> io::Result<u64> {
        self.file.metadata().map(|metadata| metadata.len())
    }

    fn is_unchanged(&self) -> bool {
        let Some(opened) = &self.opened else { return true };
        self.file.metadata().is_ok_and(|now| opened.is_still(&Stamp::new(&now)))
    }

    fn present_stamp(&self) -> Option<Stamp> {
        let metadata = self.opened.as_ref().and_then(|_| self.file.metadata().ok());
        metadata.map(|metadata| Stamp::new(&metadata))
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
