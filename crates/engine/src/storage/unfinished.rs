//! The files beside others that are to take their names: `.NAME.unfinished`.
//!
//! Whoever writes one holds its lock. So a name has one such file at a time, a second writer of the
//! same name finds it locked, and what a killed writer has left is known by its free lock: the next
//! one takes it away. Where there are no locks, nobody can tell: each file gets a name of its own
//! then, and stays where its writer is killed.

use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use tempfile::{Builder, TempPath};

use super::flock::{Flock, lock_alone, unlock};
use super::identity::{Claimed, Identity, file_name, folder};
use crate::error::User;

/// Bytes of a file's name that the name beside it begins with; most file systems allow 255.
const KEPT_NAME_BYTES: usize = 200;
/// What the names of all such files end with.
const SUFFIX: &str = ".unfinished";
/// How often creating begins anew because somebody else created or removed the file meanwhile.
const MOST_ATTEMPTS: usize = 8;

/// Where the file beside `target` is, if there are locks.
pub(super) fn path_of(target: &Path) -> io::Result<PathBuf> {
    let (mut beside, name) = (beginning(target)?, file_name(target)?);
    if name.len() > KEPT_NAME_BYTES {
        // Names that begin alike stay different.
        let mut hasher = DefaultHasher::new();
        name.hash(&mut hasher);
        beside.push(format!(".{:016x}", hasher.finish()));
    }
    beside.push(SUFFIX);
    Ok(folder(target).join(beside))
}

/// A dot, and the target's name as far as it is kept.
fn beginning(target: &Path) -> io::Result<OsString> {
    let name = file_name(target)?.as_bytes();
    let mut beginning = b".".to_vec();
    beginning.extend(&name[..name.len().min(KEPT_NAME_BYTES)]);
    Ok(OsStr::from_bytes(&beginning).to_owned())
}

/// What there is in the way of a new file beside a target.
pub(super) enum Created {
    /// It is there, and locked where that was asked for.
    New(File, TempPath),
    /// Somebody writes one.
    InUse(User),
}

/// Creates the file beside `target` with these permissions; with `lock` under its one name.
pub(super) fn create(target: &Path, mode: u32, lock: bool) -> io::Result<Created> {
    // Opened here: an error of `tempfile` would tell the name that it made up, and no number.
    let open = |path: &Path| {
        OpenOptions::new().read(true).write(true).create_new(true).mode(mode).open(path)
    };
    let beside = path_of(target)?;
    for _ in 0..if lock { MOST_ATTEMPTS } else { 0 } {
        match open(&beside) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => match look(&beside)? {
                Found::InUse(user) => return Ok(Created::InUse(user)),
                Found::Nothing => {}
                Found::Unknown => break,
            },
            Err(error) => return Err(error),
            Ok(file) => {
                let path = TempPath::try_from_path(&beside)?;
                match lock_alone(&file)? {
                    // Before it was locked, somebody may have taken it for a dead one's.
                    Flock::Held if is_at(&file, &beside)? => return Ok(Created::New(file, path)),
                    Flock::Held | Flock::HeldBy(_) => drop(path.keep()),
                    Flock::NotOffered => break,
                }
            }
        }
    }
    let mut prefix = beginning(target)?;
    prefix.push(".");
    let made = Builder::new().prefix(&prefix).suffix(SUFFIX).make_in(folder(target), open)?;
    let (file, path) = made.into_parts();
    Ok(Created::New(file, path))
}

/// What is found beside a target.
enum Found {
    /// Nothing, or nothing any more.
    Nothing,
    InUse(User),
    /// Something of which nobody can tell whether it is in use.
    Unknown,
}

/// Looks at the file at `beside`, and takes it away where its writer is gone.
fn look(beside: &Path) -> io::Result<Found> {
    let file = match File::open(beside) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Nothing),
        Err(_) => return Ok(Found::Unknown),
    };
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Ok(Found::Unknown);
    }
    if Claimed::File(Identity::of(&metadata)).is_taken() {
        return Ok(Found::InUse(User::ThisProcess));
    }
    match lock_alone(&file)? {
        Flock::HeldBy(user) => Ok(Found::InUse(user)),
        Flock::NotOffered => Ok(Found::Unknown),
        Flock::Held => {
            // Only who holds its lock removes it: nobody takes away what another has put there since.
            let removed = !is_at(&file, beside)? || std::fs::remove_file(beside).is_ok();
            unlock(&file);
            // What may not be removed is in nobody's way but under its own name.
            Ok(if removed { Found::Nothing } else { Found::Unknown })
        }
    }
}

/// Who is putting a file at the name `target`, if anybody; what a killed writer left is taken away.
pub(super) fn writer_of(target: &Path, lock: bool) -> io::Result<Option<User>> {
    if Claimed::name(target)?.is_taken() {
        return Ok(Some(User::ThisProcess));
    }
    if !lock {
        return Ok(None);
    }
    match look(&path_of(target)?)? {
        Found::InUse(user) => Ok(Some(user)),
        Found::Nothing | Found::Unknown => Ok(None),
    }
}

/// Whether `path` leads to `file`.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    match std::fs::symlink_metadata(path) {
        Ok(there) => Ok(Identity::of(&there) == Identity::of(&file.metadata()?)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}
