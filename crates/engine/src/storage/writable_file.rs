//! A file of the local file system that one process at a time writes.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use rustix::fs::FlockOperation;
use rustix::io::Errno;

use super::reservation::Reservation;
use super::{LocalFile, Storage, WritableStorage};
use crate::error::{Error, ErrorKind, Result, User};

/// How often opening begins anew because the file was replaced meanwhile.
const MOST_ATTEMPTS: usize = 8;

/// A local file, open for reading and writing.
///
/// An advisory lock (`flock`, the one libhdf5 takes) keeps other processes from writing it; the
/// readers of this library take no lock. It ends with [`WritableFile::release`] or with this value,
/// also where the process is killed.
#[derive(Debug)]
pub struct WritableFile {
    file: LocalFile,
    /// Shared by those who write, so that nobody does when others may; `None` from then on.
    claim: RwLock<Option<Claim>>,
    reservation: Reservation,
}

/// What is to become of a file that is there, or is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Creation {
    /// It must be there, and keeps its bytes.
    Open,
    /// It must not be there.
    New,
    /// It is emptied, or created.
    Truncate,
}

impl WritableFile {
    /// Opens the file at `path` for writing. With `lock`, other processes are kept from writing
    /// it; file systems that know no locks are taken as they are. Within one process a file is
    /// never open for writing twice.
    ///
    /// # Errors
    /// [`ErrorKind::InUse`] where somebody else has it open, [`ErrorKind::Open`] for the rest.
    pub fn open(path: impl AsRef<Path>, creation: Creation, lock: bool) -> Result<Self> {
        let path = path.as_ref();
        let name: Arc<str> = path.to_string_lossy().into();
        let fail = |source| Error::new(&name, ErrorKind::Open(Arc::new(source)));
        let mut options = OpenOptions::new();
        options.read(true).write(true);
        match creation {
            Creation::Open => &mut options,
            Creation::New => options.create_new(true),
            // Emptied only when it is known that nobody else writes it.
            Creation::Truncate => options.create(true).truncate(false),
        };
        for _ in 0..MOST_ATTEMPTS {
            let file = options.open(path).map_err(fail)?;
            let opened = identity(&file.metadata().map_err(fail)?);
            let file = Self::of(&name, file, lock)?;
            // Between opening and locking, a writer may have put another file in its place.
            if opened != identity(&std::fs::metadata(path).map_err(fail)?) {
                continue;
            }
            // A new file is not emptied: ext4 takes that for a file being replaced, and writes all of
            // it to the disk when it is closed.
            if creation == Creation::Truncate && file.len().map_err(fail)? > 0 {
                file.set_len(0).map_err(fail)?;
            }
            return Ok(file);
        }
        Err(Error::new(&name, ErrorKind::InUse { by: User::OtherWriter }))
    }

    /// Takes `file`, which is open for reading and writing; `name` stands in errors.
    pub(super) fn of(name: &Arc<str>, file: File, lock: bool) -> Result<Self> {
        let fail = |source| Error::new(name, ErrorKind::Open(Arc::new(source)));
        let in_use = |by| Error::new(name, ErrorKind::InUse { by });
        let identity = identity(&file.metadata().map_err(fail)?);
        let claim = Claim::take(identity).ok_or_else(|| in_use(User::ThisProcess))?;
        if lock && let Some(user) = other_user(&file).map_err(fail)? {
            return Err(in_use(user));
        }
        let reservation = Reservation::new(&file);
        Ok(Self { file: file.into(), claim: RwLock::new(Some(claim)), reservation })
    }

    /// Lets others write the file, though somebody may still read through this value.
    pub fn release(&self) {
        if let Some(claim) = self.claim.write().unwrap_or_else(PoisonError::into_inner).take() {
            self.reservation.give_back(self.file.file());
            // Where there are no locks there is none to give back.
            let _ = rustix::fs::flock(self.file.file(), FlockOperation::Unlock);
            drop(claim);
        }
    }
}

impl Drop for WritableFile {
    fn drop(&mut self) {
        self.release();
    }
}

impl WritableFile {
    /// Does `work` as long as nobody else may write.
    fn alone(&self, work: impl FnOnce(&File) -> io::Result<()>) -> io::Result<()> {
        let claim = self.claim.read().unwrap_or_else(PoisonError::into_inner);
        match &*claim {
            Some(_) => work(self.file.file()),
            None => Err(io::Error::other("the file was closed")),
        }
    }
}

/// Locks `file` for this process, or tells who has locked it.
fn other_user(file: &File) -> io::Result<Option<User>> {
    // What the file system does not offer cannot be asked of it.
    let no_locks = [Errno::NOLCK, Errno::NOTSUP, Errno::OPNOTSUPP, Errno::NOSYS];
    match rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(None),
        Err(Errno::WOULDBLOCK) => {
            // libhdf5's readers share a lock, its writers do not.
            let shared = rustix::fs::flock(file, FlockOperation::NonBlockingLockShared);
            Ok(Some(if shared.is_ok() { User::OtherReader } else { User::OtherWriter }))
        }
        Err(error) if no_locks.contains(&error) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Device and number of a file.
type Identity = (u64, u64);

fn identity(metadata: &std::fs::Metadata) -> Identity {
    (metadata.dev(), metadata.ino())
}

/// The word that this process has a file open for writing: locks may be off, and those of network
/// file systems do not tell two openings of one process apart. What a process claims, those it forks
/// do not.
#[derive(Debug)]
struct Claim(ProcessId, Identity);

type ProcessId = u32;

static CLAIMED: Mutex<BTreeSet<(ProcessId, Identity)>> = Mutex::new(BTreeSet::new());

impl Claim {
    /// `None` where the file is claimed already.
    fn take(identity: Identity) -> Option<Self> {
        let process = std::process::id();
        let is_new = claimed().insert((process, identity));
        // Not `then_some`: dropping the value would give back what somebody else claimed.
        if is_new { Some(Self(process, identity)) } else { None }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        claimed().remove(&(self.0, self.1));
    }
}

fn claimed() -> MutexGuard<'static, BTreeSet<(ProcessId, Identity)>> {
    CLAIMED.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Storage for WritableFile {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn read_at<'into>(
        &self,
        offset: u64,
        into: &'into mut [MaybeUninit<u8>],
    ) -> io::Result<&'into mut [u8]> {
        self.file.read_at(offset, into)
    }
}

impl WritableStorage for WritableFile {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.alone(|file| {
            self.reservation.reach(file, offset, bytes.len() as u64);
            file.write_all_at(bytes, offset)
        })
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.alone(|file| file.set_len(len))
    }

    fn sync(&self) -> io::Result<()> {
        self.alone(File::sync_data)
    }

    fn expect(&self, end: u64) {
        self.reservation.expect(end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::uninit;

    fn used_by(result: Result<WritableFile>) -> Option<User> {
        match result.unwrap_err().kind {
            ErrorKind::InUse { by } => Some(by),
            _ => None,
        }
    }

    #[test]
    fn bytes_come_back_from_where_they_were_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        assert!(WritableFile::open(&path, Creation::Open, true).is_err());
        let file = WritableFile::open(&path, Creation::New, true).unwrap();
        file.write_at(4, b"data").unwrap();
        file.set_len(10).unwrap();
        file.sync().unwrap();
        let mut bytes = Vec::new();
        uninit::read_vec(&file, 0, 10, &mut bytes).unwrap();
        assert_eq!(bytes, b"\0\0\0\0data\0\0");
        drop(file);
        assert!(WritableFile::open(&path, Creation::New, true).is_err());
        assert_eq!(WritableFile::open(&path, Creation::Open, true).unwrap().len().unwrap(), 10);
        assert_eq!(WritableFile::open(&path, Creation::Truncate, true).unwrap().len().unwrap(), 0);
    }

    #[test]
    fn a_second_writer_is_refused_and_harms_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("file"), folder.path().join("link"));
        std::fs::write(&path, b"data").unwrap();
        std::fs::hard_link(&path, &link).unwrap();
        let file = WritableFile::open(&path, Creation::Open, false).unwrap();
        for lock in [true, false] {
            for creation in [Creation::Open, Creation::Truncate] {
                let second = WritableFile::open(&link, creation, lock);
                assert_eq!(used_by(second), Some(User::ThisProcess));
            }
        }
        assert_eq!(file.len().unwrap(), 4);
        drop(file);
        WritableFile::open(&link, Creation::Open, true).unwrap();
    }

    #[test]
    fn what_another_process_claims_is_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, b"data").unwrap();
        let of_parent = (u32::MAX, identity(&std::fs::metadata(&path).unwrap()));
        claimed().insert(of_parent);
        drop(WritableFile::open(&path, Creation::Open, true).unwrap());
        assert!(claimed().remove(&of_parent));
    }

    #[test]
    fn locks_of_other_processes_are_respected() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, b"data").unwrap();
        // A lock belongs to the opening, not to the process: this one stands for another process.
        let other = File::open(&path).unwrap();
        for (operation, user) in [
            (FlockOperation::LockExclusive, User::OtherWriter),
            (FlockOperation::LockShared, User::OtherReader),
        ] {
            rustix::fs::flock(&other, operation).unwrap();
            for creation in [Creation::Open, Creation::Truncate] {
                assert_eq!(used_by(WritableFile::open(&path, creation, true)), Some(user));
            }
            WritableFile::open(&path, Creation::Open, false).unwrap();
        }
        rustix::fs::flock(&other, FlockOperation::Unlock).unwrap();
        let file = WritableFile::open(&path, Creation::Open, true).unwrap();
        assert_eq!(file.len().unwrap(), 4);
        let locked = rustix::fs::flock(&other, FlockOperation::NonBlockingLockShared);
        assert_eq!(locked, Err(Errno::WOULDBLOCK));
    }
}
