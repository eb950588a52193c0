//! By what files, and names of files, are known within a process.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{MutexGuard, PoisonError};
use std::time::SystemTime;

use crate::sync::Mutex;

/// Symbolic links that are followed one after another, as many as Linux follows.
const MOST_LINKS: usize = 40;

/// Device and number of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Identity {
    device: u64,
    number: u64,
}

impl Identity {
    pub(super) fn of(metadata: &Metadata) -> Self {
        Self { device: metadata.dev(), number: metadata.ino() }
    }
}

/// By what a file is known again where it is opened again by its path, also in another process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileToken {
    device: u64,
    number: u64,
    /// When it came to be, in nanoseconds since 1970, where the file system knows.
    created: Option<u128>,
    len: u64,
    /// When it was changed last: seconds and nanoseconds.
    modified: (i64, i64),
}

/// Device, number, when it came to be, length, when it was changed.
pub type TokenNumbers = (u64, u64, Option<u128>, u64, (i64, i64));

impl FileToken {
    pub(super) fn of(metadata: &Metadata) -> Self {
        let created = metadata.created().ok();
        let since = created.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
        Self {
            device: metadata.dev(),
            number: metadata.ino(),
            created: since.map(|since| since.as_nanos()),
            len: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
        }
    }

    /// Whether `later` is the same file, whatever its bytes are by then. A file that took another's place is
    /// another one, also where it got its number. Over another mount, or on another machine, where numbers
    /// may differ, a file of the same length and time is the same, too.
    pub fn is_same_file(&self, later: &Self) -> bool {
        let created = self.created.zip(later.created);
        if self.number == later.number {
            return created.is_none_or(|(before, now)| before == now);
        }
        let same = |token: &Self| (token.len, token.modified);
        self.device != later.device && same(self) == same(later)
    }

    /// What [`FileToken::from_numbers`] makes it from again.
    pub fn to_numbers(self) -> TokenNumbers {
        (self.device, self.number, self.created, self.len, self.modified)
    }

    /// The token of these numbers.
    pub fn from_numbers(numbers: TokenNumbers) -> Self {
        let (device, number, created, len, modified) = numbers;
        Self { device, number, created, len, modified }
    }
}

pub(super) type ProcessId = u32;

/// What one writer of a process has for itself.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Claimed {
    /// A file, by whichever name.
    File(Identity),
    /// A name in a folder, for a file that is going to take it.
    Name(Identity, OsString),
}

impl Claimed {
    /// The name at the end of `target`, which is no symbolic link.
    pub(super) fn name(target: &Path) -> io::Result<Self> {
        let name = file_name(target)?.to_owned();
        let folder = std::fs::metadata(folder(target))?;
        Ok(Self::Name(Identity::of(&folder), name))
    }

    /// Whether this process has it.
    pub(super) fn is_taken(&self) -> bool {
        claimed().contains(&(std::process::id(), self.clone()))
    }
}

/// The word that this process has a file open for writing, or puts one at a name: locks may be off,
/// and those of network file systems do not tell two openings of one process apart. What a process
/// claims, those it forks do not.
#[derive(Debug)]
pub(super) struct Claim(ProcessId, Claimed);

static CLAIMED: Mutex<BTreeSet<(ProcessId, Claimed)>> = Mutex::fixed(BTreeSet::new());

impl Claim {
    /// `None` where it is claimed already.
    pub(super) fn take(what: Claimed) -> Option<Self> {
        Self::take_for(std::process::id(), what)
    }

    /// The same for any process.
    pub(super) fn take_for(process: ProcessId, what: Claimed) -> Option<Self> {
        let is_new = claimed().insert((process, what.clone()));
        // Not `then_some`: dropping the value would give back what somebody else claimed.
        if is_new { Some(Self(process, what)) } else { None }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        claimed().remove(&(self.0, self.1.clone()));
    }
}

fn claimed() -> MutexGuard<'static, BTreeSet<(ProcessId, Claimed)>> {
    CLAIMED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where `path` leads to, as an absolute path; what is there at the end need not exist.
pub(super) fn follow_links(path: &Path) -> io::Result<PathBuf> {
    if path.as_os_str().is_empty() {
        return Err(io::Error::from(rustix::io::Errno::NOENT));
    }
    let mut path = std::path::absolute(path)?;
    for _ in 0..MOST_LINKS {
        match std::fs::read_link(&path) {
            Ok(to) => path = folder(&path).join(to),
            // Not a link, or nothing at all.
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::from(rustix::io::Errno::LOOP))
}

pub(super) fn folder(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("/"))
}

pub(super) fn file_name(path: &Path) -> io::Result<&OsStr> {
    path.file_name().ok_or_else(|| io::Error::from(io::ErrorKind::IsADirectory))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_known_again() {
        let first = (1, 7, Some(5), 100, (10, 0));
        for (later, same) in [
            ((1, 7, Some(5), 200, (11, 0)), true),
            ((1, 7, None, 200, (11, 0)), true),
            // Its number was given out again.
            ((1, 7, Some(6), 100, (10, 0)), false),
            ((1, 8, Some(5), 100, (10, 0)), false),
            // Another mount, with numbers of its own.
            ((2, 8, None, 100, (10, 0)), true),
            ((2, 8, None, 100, (10, 1)), false),
            ((2, 8, None, 101, (10, 0)), false),
        ] {
            let [first, later] = [first, later].map(FileToken::from_numbers);
            assert_eq!(first.is_same_file(&later), same, "{later:?}");
        }
    }
}
