//! A file of the local file system that one process at a time writes.

use std::fs::{File, OpenOptions};
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use super::flock::{Flock, lock_alone, lock_shared, unlock};
use super::identity::{Claim, Claimed, Identity, follow_links};
use super::published::Published;
use super::readers::is_read;
use super::reservation::Reservation;
use super::{LocalFile, Storage, WritableStorage, locks, unfinished};
use crate::error::{Error, ErrorKind, Result, User};

/// How often opening begins anew because the file was replaced meanwhile.
const MOST_ATTEMPTS: usize = 8;

/// A local file, open for reading and writing.
///
/// An advisory lock (`flock`, the one libhdf5 takes) keeps other processes from writing it; the
/// locks that tell readers of commits ([`Published`]) keep nobody from anything. It ends with [`WritableFile::release`] or with this value,
/// also where the process is killed.
#[derive(Debug)]
pub struct WritableFile {
    file: LocalFile,
    /// Shared by those who write, so that nobody does when others may; `None` from then on.
    claim: RwLock<Option<Claim>>,
    published: Published,
    reservation: Reservation,
    /// Its path, where opening it created it.
    new: Option<PathBuf>,
}

/// What is to become of a file that is there, or is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Creation {
    /// It must be there, and keeps its bytes.
    Open,
    /// It must not be there.
    New,
    /// It keeps its bytes, or is created.
    Either,
    /// It must be there, and is emptied, where nobody is known to read it.
    Emptied,
}

/// Whom a lock keeps out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lock {
    /// Nobody of another process.
    None,
    /// Whoever writes.
    Writers,
    /// Whoever takes a lock, libhdf5's readers among them.
    Everybody,
}

impl Lock {
    pub(super) fn alone(lock: bool) -> Self {
        if lock { Self::Everybody } else { Self::None }
    }
}

impl WritableFile {
    /// Opens the file at `path` for writing. With `lock`, other processes are kept from writing
    /// it; file systems that know no locks are taken as they are. Within one process a file is
    /// never open for writing twice, nor is a name that another file is about to take.
    ///
    /// # Errors
    /// [`ErrorKind::InUse`] where somebody else has it open, [`ErrorKind::Open`] for the rest.
    pub fn open(path: impl AsRef<Path>, creation: Creation, lock: bool) -> Result<Self> {
        let path = path.as_ref();
        let name: Arc<str> = path.to_string_lossy().into();
        let fail = |source| Error::new(&name, ErrorKind::Open(Arc::new(source)));
        let in_use = |by| Error::new(&name, ErrorKind::InUse { by });
        for _ in 0..MOST_ATTEMPTS {
            let target = follow_links(path).map_err(fail)?;
            let refuse_other = || match unfinished::writer_of(&target, lock) {
                Ok(None) => Ok(()),
                Ok(Some(user)) => Err(in_use(user)),
                Err(error) => Err(fail(error)),
            };
            refuse_other()?;
            let (file, new) = open_or_create(path, &target, creation).map_err(fail)?;
            let mut opened = Self::of(&name, file, Lock::alone(lock))?;
            // Between opening and locking, a writer may have put another file in its place.
            if !opened.is_at(path).map_err(fail)? {
                continue;
            }
            opened.new = new;
            opened = opened.publishing();
            // Who came in between finds this file locked, or is found by it now.
            refuse_other().inspect_err(|_| opened.remove_new())?;
            if creation == Creation::Emptied {
                opened.empty(path, &name)?;
            }
            return Ok(opened);
        }
        Err(in_use(User::OtherWriter))
    }

    /// Keeps others from writing the file at `path`, which must be there and writable; readers go on.
    pub(super) fn hold(path: &Path, name: &Arc<str>, lock: bool) -> Result<Self> {
        let fail = |source| Error::new(name, ErrorKind::Open(Arc::new(source)));
        for _ in 0..MOST_ATTEMPTS {
            let file = OpenOptions::new().read(true).write(true).open(path).map_err(fail)?;
            let held = Self::of(name, file, if lock { Lock::Writers } else { Lock::None })?;
            if held.is_at(path).map_err(fail)? {
                return Ok(held);
            }
        }
        Err(Error::new(name, ErrorKind::InUse { by: User::OtherWriter }))
    }

    /// Takes `file`, which is open for reading and writing; `name` stands in errors.
    pub(super) fn of(name: &Arc<str>, file: File, lock: Lock) -> Result<Self> {
        let fail = |source| Error::new(name, ErrorKind::Open(Arc::new(source)));
        let in_use = |by| Error::new(name, ErrorKind::InUse { by });
        let identity = Identity::of(&file.metadata().map_err(fail)?);
        let claim = Claim::take(Claimed::File(identity));
        let claim = claim.ok_or_else(|| in_use(User::ThisProcess))?;
        let locked = match lock {
            Lock::None => Flock::NotOffered,
            Lock::Writers => lock_shared(&file).map_err(fail)?,
            Lock::Everybody => lock_alone(&file).map_err(fail)?,
        };
        if let Flock::HeldBy(user) = locked {
            return Err(in_use(user));
        }
        // Where `flock` is off, or is not passed on by a file system.
        if locks::reach_everybody(&file) && matches!(locks::published(&file), Ok(Some(_))) {
            return Err(in_use(User::OtherWriter));
        }
        let published = Published::none();
        let reservation = Reservation::new(&file);
        let claim = RwLock::new(Some(claim));
        Ok(Self { file: file.into(), claim, published, reservation, new: None })
    }

    /// The same, telling readers of its states from now on.
    pub(super) fn publishing(mut self) -> Self {
        self.published = Published::begin(self.file.file());
        self
    }

    /// Cuts off all bytes, but for those that somebody reads.
    fn empty(&self, path: &Path, name: &Arc<str>) -> Result<()> {
        let fail = |source| Error::new(name, ErrorKind::Open(Arc::new(source)));
        if is_read(path) {
            return Err(Error::new(name, ErrorKind::InUse { by: User::OwnReader }));
        }
        // Where locks do not tell of readers, there may be some.
        let is_read_elsewhere = match locks::reach_everybody(self.file.file()) {
            true => locks::last_held(self.file.file()).map(|held| held.is_some()),
            false => Ok(true),
        };
        if is_read_elsewhere.map_err(fail)? {
            return Err(Error::new(name, ErrorKind::InUse { by: User::OtherReader }));
        }
        self.published.note_written(self.file.file());
        let emptied = self.file.file().set_len(0);
        emptied.map_err(fail)
    }

    /// Where it was created, if that was by opening it here.
    pub(crate) fn new_path(&self) -> Option<&Path> {
        self.new.as_deref()
    }

    fn remove_new(&self) {
        // What cannot be removed is an empty file, and the error that is told is another one.
        let _ = self.new.as_ref().map(std::fs::remove_file);
    }

    /// Whether `path` leads to this file.
    pub(super) fn is_at(&self, path: &Path) -> io::Result<bool> {
        let own = Identity::of(&self.file.file().metadata()?);
        match std::fs::metadata(path) {
            Ok(there) => Ok(Identity::of(&there) == own),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Lets others write the file, though somebody may still read through this value.
    pub fn release(&self) {
        if let Some(claim) = self.claim.write().unwrap_or_else(PoisonError::into_inner).take() {
            self.reservation.give_back(self.file.file());
            self.published.end(self.file.file());
            unlock(self.file.file());
            drop(claim);
        }
    }
}

/// The file, and its path where it was created.
fn open_or_create(
    path: &Path,
    target: &Path,
    creation: Creation,
) -> io::Result<(File, Option<PathBuf>)> {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    if matches!(creation, Creation::New | Creation::Either) {
        // A link that leads to nothing is something.
        let path = if creation == Creation::New { path } else { target };
        match options.clone().create_new(true).open(path) {
            Ok(file) => return Ok((file, Some(path.to_owned()))),
            Err(error) if creation == Creation::Either && is_there(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok((options.open(target)?, None))
}

fn is_there(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::AlreadyExists
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
            self.published.note_written(file);
            self.reservation.reach(file, offset, bytes.len() as u64);
            file.write_all_at(bytes, offset)
        })
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.alone(|file| {
            self.published.note_written(file);
            file.set_len(len)
        })
    }

    fn sync(&self) -> io::Result<()> {
        self.alone(File::sync_data)
    }

    fn expect(&self, end: u64) {
        self.reservation.expect(end);
    }

    fn room(&self) -> u64 {
        let system = rustix::fs::fstatvfs(self.file.file());
        system.map_or(u64::MAX, |system| system.f_bavail.saturating_mul(system.f_frsize))
    }

    fn publish(&self) {
        self.published.next(self.file.file());
    }

    fn outwait_readers(&self) {
        self.published.outwait_readers(self.file.file());
    }

    fn give_time(&self) {
        self.published.give_time(self.file.file());
    }

    fn note_overwriting(&self) -> io::Result<()> {
        self.alone(|file| self.published.note_overwriting(file))
    }

    fn generation(&self) -> u64 {
        self.published.generation()
    }

    fn held_between(&self, from: u64, to: u64) -> Option<u64> {
        self.published.held_between(self.file.file(), from, to)
    }
}

#[cfg(test)]
mod tests {
    use rustix::fs::FlockOperation;
    use rustix::io::Errno;

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
        let reader = LocalFile::open(&path).unwrap();
        assert_eq!(
            used_by(WritableFile::open(&path, Creation::Emptied, true)),
            Some(User::OwnReader)
        );
        drop(reader);
        assert_eq!(WritableFile::open(&path, Creation::Either, true).unwrap().len().unwrap(), 10);
        assert_eq!(WritableFile::open(&path, Creation::Emptied, true).unwrap().len().unwrap(), 0);
    }

    #[test]
    fn a_second_writer_is_refused_and_harms_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("file"), folder.path().join("link"));
        std::fs::write(&path, b"data").unwrap();
        std::fs::hard_link(&path, &link).unwrap();
        let file = WritableFile::open(&path, Creation::Open, false).unwrap();
        for lock in [true, false] {
            for creation in [Creation::Open, Creation::Either, Creation::Emptied] {
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
        let identity = Identity::of(&std::fs::metadata(&path).unwrap());
        let _of_parent = Claim::take_for(u32::MAX, Claimed::File(identity)).unwrap();
        drop(WritableFile::open(&path, Creation::Open, true).unwrap());
        assert!(Claim::take_for(u32::MAX, Claimed::File(identity)).is_none());
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
            for creation in [Creation::Open, Creation::Either, Creation::Emptied] {
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
