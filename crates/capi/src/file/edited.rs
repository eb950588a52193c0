//! Files that this process changes. Opened again, a file has one more id and the same writer: what one
//! of them defines or writes, the others see, as HDF5 has it.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{MutexGuard, PoisonError};

use isotach::sync::Mutex;
use isotach::{CreateOptions, EditOptions, ErrorKind, File, Format, Overwrite, User, Writer};

use super::closing::store_at_exit;
use crate::status::{Outcome, Status, status_of};

/// An id's share in a file that may be changed; it ends with [`Edited::release`] or with this value.
pub(crate) struct Edited {
    pub(crate) writer: Writer,
    /// `None` in memory, where nobody else can open it.
    key: Option<Key>,
    is_released: AtomicBool,
}

/// The process, and device and number of a file: what a process edits, those that it forks do not.
type Identity = (u32, u64, u64);

/// Which file, and which of its entries in the course of time.
type Key = (Identity, u64);

struct Entry {
    number: u64,
    writer: Writer,
    user_count: usize,
}

static EDITED: Mutex<BTreeMap<Identity, Entry>> = Mutex::fixed(BTreeMap::new());
/// Held while a file is being opened for changing or created, so that nobody does the same with it.
static OPENING: Mutex<()> = Mutex::fixed(());
static NEXT_NUMBER: AtomicU64 = AtomicU64::new(0);

impl Edited {
    /// A file in memory.
    pub(super) fn in_memory(writer: Writer) -> Self {
        Self::new(writer, None)
    }

    /// The file at a path, where this process changes it already.
    pub(super) fn find(path: &Path) -> Option<Self> {
        let mut all = all();
        if all.is_empty() {
            return None;
        }
        let identity = identity(&std::fs::metadata(path).ok()?);
        let entry = all.get_mut(&identity)?;
        entry.user_count += 1;
        Some(Self::new(entry.writer.clone(), Some((identity, entry.number))))
    }

    /// Opens a file for changing it. A classic one that is shared (`NC_SHARE`) may be written by programs that
    /// have agreed on who writes which part of it.
    ///
    /// # Errors
    /// The operating system's own, `NC_ENOTNC` and what a broken file gives, `NC_EHDFERR` where another
    /// process has the file, and `EAGAIN` where that is a classic one.
    pub(super) fn open(path: &Path, mut options: EditOptions, is_shared: bool) -> Outcome<Self> {
        let _only = lock(&OPENING);
        if let Some(found) = Self::find(path) {
            return Ok(found);
        }
        let writer = match options.open(path) {
            Err(error)
                if is_shared
                    && is_elsewhere(&error.kind)
                    && !format_at(path).is_none_or(is_hdf5) =>
            {
                options.lock = false;
                options.open(path)
            }
            other => other,
        };
        let writer = writer.map_err(|error| match &error.kind {
            ErrorKind::InUse { .. } if format_at(path).is_none_or(is_hdf5) => Status::EHDFERR,
            // Who may read it could not be told by the operating system alone.
            ErrorKind::Open(_) if format_at(path).is_some_and(is_hdf5) => Status::EHDFERR,
            _ => status_of(&error),
        })?;
        Self::register(path, writer)
    }

    /// Creates a file. It takes the place even of one that this process is writing, whose ids lead to nothing
    /// from then on, but where both are netCDF-4. Ids that only read such a file go on to read it.
    ///
    /// # Errors
    /// The operating system's own, `NC_EEXIST`; `EACCES` where another process writes the file, or where both
    /// are netCDF-4 and this process has it open, and `EAGAIN` for classic files that another process writes.
    pub(super) fn create(path: &Path, options: &CreateOptions) -> Outcome<Self> {
        let _only = lock(&OPENING);
        let is_hdf5 = is_hdf5(options.format);
        let mut options = options.clone();
        if options.overwrite != Overwrite::Never {
            Self::abandon(path, options.format)?;
            // As HDF5 has it, which knows of its own files only.
            let keeps_readers = is_hdf5 && format_at(path).is_some_and(self::is_hdf5);
            options.overwrite =
                if keeps_readers { Overwrite::Truncate } else { Overwrite::Displace };
        }
        let writer = options.create(path).map_err(|error| match &error.kind {
            ErrorKind::Open(source) if source.kind() == io::ErrorKind::AlreadyExists => {
                Status::EEXIST
            }
            // Whatever HDF5's reason is, netCDF-4 says this.
            ErrorKind::Open(_) | ErrorKind::InUse { .. } if is_hdf5 => Status(libc::EACCES),
            ErrorKind::Open(source) => source.raw_os_error().map_or(Status::EIO, Status),
            _ => status_of(&error),
        })?;
        Self::register(path, writer)
    }

    /// Ends this share. True where it was the last one: then nobody finds the file any more.
    pub(super) fn release(&self) -> bool {
        if self.is_released.swap(true, Relaxed) {
            return false;
        }
        let Some((identity, number)) = self.key else { return true };
        let mut all = all();
        let Some(entry) = all.get_mut(&identity).filter(|entry| entry.number == number) else {
            // Another file took the place of this one.
            return true;
        };
        entry.user_count -= 1;
        let is_last = entry.user_count == 0;
        if is_last {
            all.remove(&identity);
        }
        is_last
    }

    fn new(writer: Writer, key: Option<Key>) -> Self {
        store_at_exit();
        Self { writer, key, is_released: AtomicBool::new(false) }
    }

    fn register(path: &Path, writer: Writer) -> Outcome<Self> {
        let identity = identity(&std::fs::metadata(path).map_err(|_| Status::EIO)?);
        let number = NEXT_NUMBER.fetch_add(1, Relaxed);
        all().insert(identity, Entry { number, writer: writer.clone(), user_count: 1 });
        Ok(Self::new(writer, Some((identity, number))))
    }

    /// Leaves the file at a path to who creates one of a format there.
    fn abandon(path: &Path, format: Format) -> Outcome {
        let Ok(found) = std::fs::metadata(path) else { return Ok(()) };
        let identity = identity(&found);
        let mut all = all();
        let Some(entry) = all.get(&identity) else { return Ok(()) };
        if is_hdf5(format) && is_hdf5(entry.writer.file().format()?) {
            return Ok(());
        }
        let entry = all.remove(&identity);
        drop(all);
        entry.map_or(Ok(()), |entry| Ok(entry.writer.discard()?))
    }
}

impl Drop for Edited {
    fn drop(&mut self) {
        self.release();
    }
}

fn is_elsewhere(kind: &ErrorKind) -> bool {
    matches!(kind, ErrorKind::InUse { by: User::OtherWriter | User::OtherReader })
}

fn is_hdf5(format: Format) -> bool {
    matches!(format, Format::NetCdf4 | Format::NetCdf4Classic)
}

/// The format of a file, where it can be read.
fn format_at(path: &Path) -> Option<Format> {
    File::open(path).and_then(|file| file.format()).ok()
}

fn identity(metadata: &Metadata) -> Identity {
    (std::process::id(), metadata.dev(), metadata.ino())
}

fn all() -> MutexGuard<'static, BTreeMap<Identity, Entry>> {
    lock(&EDITED)
}

fn lock<T: Default>(mutex: &'static Mutex<T>) -> MutexGuard<'static, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
