//! A local file that gives its descriptor back when many other files are read.
//!
//! A virtual data set may have thousands of sources, a process often no more than 1,024
//! descriptors. Files that another file refers to share a few dozen: the one that was opened
//! longest ago is closed, and opened again when it is read again. So none of them can hold a state of its file:
//! it is looked at after values were read, too, whether it is still the one that was opened.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::{Arc, MutexGuard, PoisonError, Weak};

use super::state::CommittedState;
use super::{LocalFile, Storage, regular};
use crate::process::uncancelled;
use crate::sync::Mutex;

/// Descriptors that all files of this kind have at a time, and those that are being read.
const MOST_OPEN: usize = 32;

/// Where an open file is kept until others need its descriptor.
type Slot = Mutex<Option<Arc<LocalFile>>>;

/// The files that are open, those that were opened longest ago first.
static OPEN: Mutex<VecDeque<Weak<Slot>>> = Mutex::fixed(VecDeque::new());

/// See the module.
#[derive(Debug)]
pub(crate) struct ReopeningFile {
    path: PathBuf,
    /// Device and number of the file, by which it is known again.
    identity: (u64, u64),
    /// The state in which it was opened first; `None` for bytes that nobody commits.
    state: Option<CommittedState>,
    slot: Arc<Slot>,
}

impl ReopeningFile {
    /// Opens the regular file at `path`, which is one without symbolic links; see [`regular::open`].
    pub(crate) fn open(path: PathBuf) -> io::Result<Self> {
        let mut file = Self::open_raw(path)?;
        let opened = file.file()?;
        let state = CommittedState::find(opened.file(), false)?;
        if state.device_and_inode() != file.identity {
            return Err(replaced());
        }
        file.state = Some(state);
        Ok(file)
    }

    /// The same for a file of nothing but values, whose present ones are read.
    pub(crate) fn open_raw(path: PathBuf) -> io::Result<Self> {
        let first = uncancelled(|| regular::open(&path))?;
        let file = Self { path, identity: identity(&first)?, state: None, slot: Arc::default() };
        uncancelled(|| file.keep_open(lock(&file.slot), first));
        Ok(file)
    }

    /// The open file, opened again if it had to go.
    fn file(&self) -> io::Result<Arc<LocalFile>> {
        let slot = lock(&self.slot);
        if let Some(file) = &*slot {
            return Ok(Arc::clone(file));
        }
        uncancelled(|| {
            let file = regular::open(&self.path)?;
            // What was opened counts, not what the path leads to.
            if identity(&file)? != self.identity {
                return Err(replaced());
            }
            Ok(self.keep_open(slot, file))
        })
    }

    fn keep_open(
        &self,
        mut slot: MutexGuard<'_, Option<Arc<LocalFile>>>,
        file: File,
    ) -> Arc<LocalFile> {
        let oldest = make_room(&self.slot);
        let file = Arc::new(LocalFile::from(file));
        *slot = Some(Arc::clone(&file));
        drop(slot);
        // Closed without any other lock held: two files never wait for each other.
        if let Some(oldest) = oldest {
            lock(&oldest).take();
        }
        file
    }
}

fn replaced() -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, "the file was replaced")
}

/// Enters `slot` as open; the slot whose file has to be closed for that.
fn make_room(slot: &Arc<Slot>) -> Option<Arc<Slot>> {
    let mut open = lock(&OPEN);
    open.retain(|other| other.strong_count() > 0);
    open.push_back(Arc::downgrade(slot));
    (open.len() > MOST_OPEN).then(|| open.pop_front()?.upgrade()).flatten()
}

fn identity(file: &File) -> io::Result<(u64, u64)> {
    file.metadata().map(|metadata| (metadata.dev(), metadata.ino()))
}

fn lock<T: Default>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Storage for ReopeningFile {
    fn len(&self) -> io::Result<u64> {
        self.file()?.len()
    }

    fn ensure_state(&self) -> io::Result<()> {
        match &self.state {
            Some(state) => state.ensure(self.file()?.file()),
            None => Ok(()),
        }
    }

    fn ensure_values(&self) -> io::Result<()> {
        self.ensure_state()
    }

    fn has_writer(&self) -> bool {
        let file = self.state.as_ref().and_then(|state| Some((state, self.file().ok()?)));
        file.is_some_and(|(state, file)| state.has_writer(file.file()))
    }

    fn read_at<'into>(
        &self,
        offset: u64,
        into: &'into mut [MaybeUninit<u8>],
    ) -> io::Result<&'into mut [u8]> {
        self.file()?.read_at(offset, into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::uninit;

    fn byte_at(file: &ReopeningFile, offset: u64) -> io::Result<u8> {
        let mut bytes = Vec::new();
        uninit::read_vec(file, offset, 1, &mut bytes)?;
        Ok(bytes[0])
    }

    #[test]
    fn many_files_share_few_descriptors() {
        let folder = std::env::temp_dir().join(format!("isotach-reopening-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let folder = folder.canonicalize().unwrap();
        let count = MOST_OPEN * 4;
        let path = |number: usize| folder.join(number.to_string());
        let files: Vec<ReopeningFile> = (0..count)
            .map(|number| {
                std::fs::write(path(number), [number as u8]).unwrap();
                ReopeningFile::open(path(number)).unwrap()
            })
            .collect();
        for _ in 0..2 {
            for (number, file) in files.iter().enumerate() {
                assert_eq!(byte_at(file, 0).unwrap(), number as u8);
                let open = files.iter().filter(|file| lock(&file.slot).is_some()).count();
                assert!(open <= MOST_OPEN, "{open} are open");
            }
        }
        // The first was closed meanwhile, and is not the same file any more.
        std::fs::write(folder.join("other"), [77]).unwrap();
        std::fs::rename(folder.join("other"), path(0)).unwrap();
        assert_eq!(byte_at(&files[0], 0).unwrap_err().kind(), io::ErrorKind::NotFound);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
