//! Which files this process reads: what it reads it does not empty.
//!
//! A process that was forked has its parent's handles, but counts as reading nothing.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::path::Path;
use std::sync::{MutexGuard, PoisonError};

use super::identity::{FileToken, Identity, ProcessId};
use crate::sync::Mutex;

static READ: Mutex<BTreeMap<(ProcessId, Identity), usize>> = Mutex::fixed(BTreeMap::new());

/// The word that this process has a file open for reading, as long as this value lives.
#[derive(Debug)]
pub(super) struct Reading {
    key: (ProcessId, Identity),
    token: FileToken,
}

impl Reading {
    pub(super) fn of(file: &Metadata) -> Self {
        let key = (std::process::id(), Identity::of(file));
        *read().entry(key).or_insert(0) += 1;
        Self { key, token: FileToken::of(file) }
    }

    /// By what the file is known again.
    pub(super) fn token(&self) -> FileToken {
        self.token
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        let mut read = read();
        if let Some(count) = read.get_mut(&self.key) {
            *count -= 1;
            if *count == 0 {
                read.remove(&self.key);
            }
        }
    }
}

/// Whether this process has the file at `path` open for reading; symbolic links are followed.
pub fn is_read(path: &Path) -> bool {
    let found = std::fs::metadata(path).map(|metadata| Identity::of(&metadata));
    found.is_ok_and(|file| read().contains_key(&(std::process::id(), file)))
}

fn read() -> MutexGuard<'static, BTreeMap<(ProcessId, Identity), usize>> {
    READ.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::LocalFile;

    #[test]
    fn a_file_is_read_until_its_last_handle_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("file"), folder.path().join("link"));
        std::fs::write(&path, b"data").unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(!is_read(&path));
        let handles = [LocalFile::open(&path).unwrap(), LocalFile::open(&link).unwrap()];
        assert!(is_read(&path) && is_read(&link));
        for handle in handles {
            assert!(is_read(&path));
            drop(handle);
        }
        assert!(!is_read(&path) && !is_read(&folder.path().join("absent")));
    }
}
