//! A file that appears under its name only when it is whole.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::{Builder, TempPath};

use super::writable_file::{Creation, WritableFile};
use super::{Durability, WritableStorage};
use crate::error::{Error, ErrorKind, Result};

/// Symbolic links that are followed one after another, as many as Linux follows.
const MOST_LINKS: usize = 40;
/// Bytes of a file's name that the name beside it begins with; most file systems allow 255.
const KEPT_NAME_BYTES: usize = 200;

/// A new file that is written beside its name and takes it when it is published; until then what
/// was there stays as it is. Dropped without that, it is gone.
///
/// A symbolic link stays, the file it leads to is replaced. The new file gets the permissions and,
/// as far as this process may give them, the owner and group of the one it replaces; other hard
/// links keep the old bytes.
#[derive(Debug)]
pub struct Replacement {
    name: Arc<str>,
    storage: Arc<WritableFile>,
    beside: TempPath,
    target: PathBuf,
    /// What is to be replaced: nobody else writes it meanwhile.
    _replaced: Option<WritableFile>,
}

impl Replacement {
    /// Creates the file that will be at `path`; `lock` as for [`WritableFile::open`].
    ///
    /// # Errors
    /// [`ErrorKind::InUse`] where somebody writes the file that is there, [`ErrorKind::Open`] for
    /// the rest, such as a file that may not be written, or a device.
    pub fn create(path: impl AsRef<Path>, lock: bool) -> Result<Self> {
        let path = path.as_ref();
        let name: Arc<str> = path.to_string_lossy().into();
        let fail = |source| Error::new(&name, ErrorKind::Open(Arc::new(source)));
        let target = std::path::absolute(path).and_then(follow_links).map_err(fail)?;
        refuse_device(&target).map_err(fail)?;
        let replaced = match WritableFile::open(&target, Creation::Open, lock) {
            Ok(file) => Some(file),
            Err(error) if is_not_found(&error) => None,
            Err(error) => return Err(error),
        };
        let (file, beside) = create_beside(&target, replaced.is_some()).map_err(fail)?;
        let storage = Arc::new(WritableFile::of(&name, file, lock)?);
        Ok(Self { name, storage, beside, target, _replaced: replaced })
    }

    /// The new file; it goes on to be usable when it has been published.
    pub fn storage(&self) -> &Arc<WritableFile> {
        &self.storage
    }

    /// Gives the file its name, in place of the one that is there. With [`Durability::Power`] it
    /// and its name survive a loss of power from then on.
    ///
    /// # Errors
    /// [`ErrorKind::Publish`]; the new file is gone then, and what was there is there.
    pub fn publish(self, durability: Durability) -> Result<()> {
        let Self { name, storage, beside, target, _replaced } = self;
        let fail = |source| Error::new(&name, ErrorKind::Publish(Arc::new(source)));
        if durability == Durability::Power {
            storage.sync().map_err(fail)?;
        }
        beside.persist(&target).map_err(|error| fail(error.error))?;
        if durability == Durability::Power {
            File::open(folder(&target)).and_then(|folder| folder.sync_all()).map_err(fail)?;
        }
        Ok(())
    }
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

/// Where `path` leads to; what is there at the end need not exist.
fn follow_links(mut path: PathBuf) -> io::Result<PathBuf> {
    for _ in 0..MOST_LINKS {
        match std::fs::read_link(&path) {
            Ok(to) => path = folder(&path).join(to),
            // Not a link, or nothing at all.
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::from(rustix::io::Errno::LOOP))
}

fn folder(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("/"))
}

/// A new file in `target`'s folder with `target`'s permissions, where it `replaces` it.
fn create_beside(target: &Path, replaces: bool) -> io::Result<(File, TempPath)> {
    let name = target.file_name().ok_or(io::ErrorKind::IsADirectory)?.as_bytes();
    let mut prefix = b".".to_vec();
    prefix.extend(&name[..name.len().min(KEPT_NAME_BYTES)]);
    prefix.push(b'.');
    // What nobody else could read must not be readable for a moment.
    let mode = if replaces { 0o600 } else { 0o666 };
    // Opened here: an error of `tempfile` would tell the name that it made up, and no number.
    let open = |path: &Path| {
        OpenOptions::new().read(true).write(true).create_new(true).mode(mode).open(path)
    };
    let (file, beside) = Builder::new()
        .prefix(std::ffi::OsStr::from_bytes(&prefix))
        .suffix(".unfinished")
        .make_in(folder(target), open)?
        .into_parts();
    if replaces {
        let replaced = std::fs::metadata(target)?;
        // Giving files away is for the administrator alone, and not every file system can.
        for (owner, group) in [(None, Some(replaced.gid())), (Some(replaced.uid()), None)] {
            let _not_allowed = std::os::unix::fs::fchown(&file, owner, group);
        }
        file.set_permissions(replaced.permissions())?;
    }
    Ok((file, beside))
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::error::User;

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
