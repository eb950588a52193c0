//! A file that appears under its name only when it is whole.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::io::Errno;
use tempfile::TempPath;

use super::identity::{Claim, Claimed, folder, follow_links};
use super::unfinished::{self, Created};
use super::writable_file::{Lock, WritableFile};
use super::{Creation, Durability, WritableStorage, write_error};
use crate::error::{Error, ErrorKind, Result, User};

/// A new file that is written beside its name and takes it when it is published; until then what
/// was there stays as it is. Dropped without that, it is gone.
///
/// A symbolic link stays, the file it leads to is replaced. The new file gets the permissions and,
/// as far as this process may give them, the owner and group of the one it replaces; other hard
/// links keep the old bytes.
///
/// From the beginning nobody else can write what is there, nor create another file for the name;
/// who reads what is there goes on to read it, also after it was replaced.
#[derive(Debug)]
pub struct Replacement {
    name: Arc<str>,
    /// Before its storage, whose lock says that it is somebody's.
    beside: TempPath,
    storage: Arc<WritableFile>,
    target: PathBuf,
    lock: bool,
    /// What is to be replaced: nobody else writes it meanwhile.
    replaced: Option<WritableFile>,
    /// Nobody else in this process writes to the name.
    _claim: Claim,
}

impl Replacement {
    /// Creates the file that will be at `path`; `lock` as for [`WritableFile::open`].
    ///
    /// # Errors
    /// [`ErrorKind::InUse`] where somebody writes the file that is there, or another one for its name;
    /// [`ErrorKind::Open`] for the rest, such as a file that may not be written, or a device.
    pub fn create(path: impl AsRef<Path>, lock: bool) -> Result<Self> {
        let path = path.as_ref();
        let name: Arc<str> = path.to_string_lossy().into();
        let fail = |source| Error::new(&name, ErrorKind::Open(Arc::new(source)));
        let in_use = |by| Error::new(&name, ErrorKind::InUse { by });
        let target = follow_links(path).map_err(fail)?;
        refuse_device(&target).map_err(fail)?;
        let claim = Claim::take(Claimed::name(&target).map_err(fail)?);
        let claim = claim.ok_or_else(|| in_use(User::ThisProcess))?;
        // What nobody else could read must not be readable for a moment.
        let mode = if target.exists() { 0o600 } else { 0o666 };
        let (file, beside) = match unfinished::create(&target, mode, lock).map_err(fail)? {
            Created::New(file, beside) => (file, beside),
            Created::InUse(user) => return Err(in_use(user)),
        };
        // Looked for only now: who creates it meanwhile finds the name in use.
        let replaced = match WritableFile::hold(&target, &name, lock) {
            Ok(file) => Some(file),
            Err(error) if is_not_found(&error) => None,
            Err(error) => return Err(error),
        };
        if replaced.is_some() {
            take_permissions(&file, &target).map_err(fail)?;
        }
        let storage = Arc::new(WritableFile::of(&name, file, Lock::alone(lock))?.publishing());
        Ok(Self { name, storage, beside, target, lock, replaced, _claim: claim })
    }

    /// The new file; it goes on to be usable when it has been published.
    pub fn storage(&self) -> &Arc<WritableFile> {
        &self.storage
    }

    /// Gives the file its name, in place of the one that is there. With [`Durability::Power`] it
    /// and its name survive a loss of power from then on.
    ///
    /// # Errors
    /// [`ErrorKind::Publish`], or [`ErrorKind::InUse`] where somebody writes a file that has come to the
    /// name meanwhile; the new file is gone then, and what was there is there.
    pub fn publish(self, durability: Durability) -> Result<()> {
        let fail = |source| Error::new(&self.name, ErrorKind::Publish(Arc::new(source)));
        if durability == Durability::Power {
            self.storage.sync().map_err(fail)?;
        }
        let _held = self.hold_newcomer()?;
        self.beside.persist(&self.target).map_err(|error| fail(error.error))?;
        if durability == Durability::Power {
            File::open(folder(&self.target)).and_then(|folder| folder.sync_all()).map_err(fail)?;
        }
        Ok(())
    }

    /// Keeps others from writing what is at the name now, if that is not what was there before.
    fn hold_newcomer(&self) -> Result<Option<WritableFile>> {
        if self.replaced.as_ref().is_some_and(|file| file.is_at(&self.target).unwrap_or(false)) {
            return Ok(None);
        }
        match WritableFile::hold(&self.target, &self.name, self.lock) {
            Ok(file) => Ok(Some(file)),
            Err(error) if matches!(error.kind, ErrorKind::InUse { .. }) => Err(error),
            // Renaming tells what else is in the way.
            Err(_) => Ok(None),
        }
    }
}

/// Has a file of these bytes at `path`, in place of the one that is there: all of them, or what was there.
/// Where no file can take its place, it is emptied, if nobody has it open.
///
/// # Errors
/// Those of [`Replacement::create`] and [`Replacement::publish`]; [`ErrorKind::Write`] where the bytes have
/// no room.
pub fn write(path: impl AsRef<Path>, bytes: &[u8]) -> Result<()> {
    let path = path.as_ref();
    let name: Arc<str> = path.to_string_lossy().into();
    let fill = |file: &WritableFile| {
        let written = file.write_at(0, bytes);
        written.map_err(|source| write_error(&name, 0, bytes.len() as u64, source))
    };
    let is_device = std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir());
    let replaced = match is_device {
        true => return fill(&WritableFile::open(path, Creation::Open, false)?),
        false => Replacement::create(path, true),
    };
    let replaced = replaced.and_then(|new| {
        fill(new.storage())?;
        new.publish(Durability::Process)
    });
    match replaced {
        Err(error) if is_no_place(&error.kind) => {
            fill(&WritableFile::open(path, Creation::Emptied, true)?)
        }
        replaced => replaced,
    }
}

/// Whether files cannot take each other's place there: the folder may not be written, its files are
/// those of their owners, or the file itself is mounted.
pub(crate) fn is_no_place(kind: &ErrorKind) -> bool {
    let (ErrorKind::Open(source) | ErrorKind::Publish(source)) = kind else { return false };
    let no_place = [Errno::ACCESS, Errno::PERM, Errno::ROFS, Errno::BUSY, Errno::XDEV];
    Errno::from_io_error(source).is_some_and(|found| no_place.contains(&found))
}

fn is_not_found(error: &Error) -> bool {
    matches!(&error.kind, ErrorKind::Open(source) if source.kind() == io::ErrorKind::NotFound)
}

/// A file must not take the name of a device, pipe or socket: `/dev/null` is for everybody.
fn refuse_device(target: &Path) -> io::Result<()> {
    match std::fs::metadata(target) {
        Ok(found) if !found.is_file() && !found.is_dir() => {
            Err(io::Error::new(io::ErrorKind::InvalidInput, "is no regular file"))
        }
        _ => Ok(()),
    }
}

/// Gives `file` the permissions and, where that is allowed, the owner and group of `target`.
fn take_permissions(file: &File, target: &Path) -> io::Result<()> {
    let replaced = std::fs::metadata(target)?;
    // Giving files away is for the administrator alone, and not every file system can.
    for (owner, group) in [(None, Some(replaced.gid())), (Some(replaced.uid()), None)] {
        let _not_allowed = std::os::unix::fs::fchown(file, owner, group);
    }
    file.set_permissions(replaced.permissions())
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn entries(folder: &Path) -> usize {
        std::fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn what_is_there_stays_until_the_new_file_is_published() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, b"old").unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        for durability in [Durability::Process, Durability::Power] {
            let new = Replacement::create(&path, true).unwrap();
            new.storage().write_at(0, b"new").unwrap();
            assert_eq!((std::fs::read(&path).unwrap(), entries(folder.path())), (b"old".into(), 2));
            drop(new);
            assert_eq!((std::fs::read(&path).unwrap(), entries(folder.path())), (b"old".into(), 1));
            let new = Replacement::create(&path, true).unwrap();
            new.storage().write_at(0, b"new").unwrap();
            let storage = Arc::clone(new.storage());
            new.publish(durability).unwrap();
            storage.write_at(3, b"er").unwrap();
            assert_eq!(std::fs::read(&path).unwrap(), b"newer");
            assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o640);
            drop(storage);
            std::fs::write(&path, b"old").unwrap();
        }
    }

    #[test]
    fn links_are_followed_and_stay() {
        let folder = tempfile::tempdir().unwrap();
        let other = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        let target = other.path().join("not there yet");
        std::os::unix::fs::symlink(&target, folder.path().join("second")).unwrap();
        std::os::unix::fs::symlink("second", &link).unwrap();
        let new = Replacement::create(&link, true).unwrap();
        new.storage().write_at(0, b"new").unwrap();
        new.publish(Durability::Process).unwrap();
        assert_eq!(std::fs::read(&target).unwrap(), b"new");
        assert_eq!((entries(folder.path()), entries(other.path())), (2, 1));
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        std::os::unix::fs::symlink("circle", folder.path().join("circle")).unwrap();
        assert!(Replacement::create(folder.path().join("circle"), true).is_err());
    }

    #[test]
    fn what_somebody_writes_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x".repeat(255));
        let _writer = WritableFile::open(&path, Creation::New, true).unwrap();
        let error = Replacement::create(&path, true).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::InUse { by: User::ThisProcess }));
        assert!(Replacement::create(folder.path(), true).is_err());
        assert_eq!(entries(folder.path()), 1);
    }

    #[test]
    fn the_error_is_that_of_the_system() {
        let folder = tempfile::tempdir().unwrap();
        let error = Replacement::create(folder.path().join("absent/file"), true).unwrap_err();
        let ErrorKind::Open(source) = &error.kind else { panic!("{error}") };
        assert_eq!(source.kind(), io::ErrorKind::NotFound);
        assert_eq!(source.raw_os_error(), Some(rustix::io::Errno::NOENT.raw_os_error()));
        assert!(!error.to_string().contains("unfinished"), "{error}");
    }

    #[test]
    fn what_is_no_regular_file_keeps_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let _socket = std::os::unix::net::UnixListener::bind(&path).unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        for path in [&path, &link] {
            let refused = Replacement::create(path, true).unwrap_err();
            assert!(refused.to_string().ends_with("is no regular file"), "{refused}");
        }
        assert_eq!(entries(folder.path()), 2);
        assert!(!std::fs::metadata(&path).unwrap().is_file());
    }
}
