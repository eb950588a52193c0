//! A file of the local file system, read with `pread`.

use std::fs::{File, Metadata};
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::sync::{Arc, PoisonError};

use super::identity::FileToken;
use super::readers::Reading;
use super::state::CommittedState;
use super::{Storage, locks, uninit};
use crate::sync::Mutex;

/// A local file in one of its committed states, open for reading. No lock keeps anybody waiting and the
/// descriptor's position never moves, so any number of threads read at once.
#[derive(Debug)]
pub struct LocalFile {
    file: File,
    /// The state in which it was opened; `None` where it is written through this value.
    state: Option<CommittedState>,
    /// `None` where it is written through this value.
    reading: Option<Reading>,
    /// How many [`Turn`]s there are.
    turns: Mutex<u32>,
}

/// While there is one, writers of the file give its readers time: each waits before it commits until there is none, for up
/// to a fifth of its time, and never longer than a second.
#[derive(Debug)]
pub struct Turn(Arc<LocalFile>);

impl LocalFile {
    /// Opens the file at `path` in its present state; a directory is an error.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let (file, metadata) = open_file(path.as_ref())?;
        let state = CommittedState::find(&file, true)?;
        let reading = Some(Reading::of(&metadata));
        Ok(Self { file, state: Some(state), reading, turns: Mutex::default() })
    }

    /// The same file, whose state is held to the end: also beside our own writers that are killed, or overwrite values, and
    /// beside others that write.
    ///
    /// # Errors
    /// Those of storage, and that the state has changed meanwhile.
    pub(crate) fn held_to_the_end(mut self) -> io::Result<Self> {
        if let Some(state) = &mut self.state {
            state.hold_to_the_end(&self.file)?;
        }
        Ok(self)
    }

    /// By what the file is known again; `None` where it is written through this value.
    pub(crate) fn token(&self) -> Option<FileToken> {
        self.reading.as_ref().map(Reading::token)
    }

    /// Asks writers of the file for time.
    pub(crate) fn turn(self: Arc<Self>) -> Turn {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        // Without the lock nobody waits, and the reader goes on to try.
        if *turns == 0 {
            let _ = locks::begin_turn(&self.file);
        }
        *turns += 1;
        drop(turns);
        Turn(self)
    }

    /// The open file itself.
    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// Whether there is nothing newer at `path` than what this value reads.
    pub(crate) fn is_newest(&self, path: &Path) -> io::Result<bool> {
        self.state.as_ref().map_or(Ok(true), |state| state.is_newest(&self.file, path))
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut turns = self.0.turns.lock().unwrap_or_else(PoisonError::into_inner);
        // In a forked process there was none.
        *turns = turns.saturating_sub(1);
        if *turns == 0 {
            let _ = locks::end_turn(&self.0.file);
        }
    }
}

/// Opens what can be read at any place.
pub(super) fn open_file(path: &Path) -> io::Result<(File, Metadata)> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(io::Error::from(io::ErrorKind::IsADirectory));
    }
    // What a pipe has can be read once only, and in one order.
    if metadata.file_type().is_fifo() {
        return Err(rustix::io::Errno::SPIPE.into());
    }
    Ok((file, metadata))
}

impl From<File> for LocalFile {
    fn from(file: File) -> Self {
        Self { file, state: None, reading: None, turns: Mutex::default() }
    }
}

impl Storage for LocalFile {
    fn len(&self) -> io::Result<u64> {
        self.file.metadata().map(|metadata| metadata.len())
    }

    fn ensure_state(&self) -> io::Result<()> {
        self.state.as_ref().map_or(Ok(()), |state| state.ensure(&self.file))
    }

    fn ensure_values(&self) -> io::Result<()> {
        self.state.as_ref().map_or(Ok(()), |state| state.ensure_values(&self.file))
    }

    fn ensure_lately(&self) -> io::Result<()> {
        self.state.as_ref().map_or(Ok(()), |state| state.ensure_lately(&self.file))
    }

    fn present(&self) -> io::Result<Option<Arc<dyn Storage>>> {
        let Some(of_opening) = &self.state else { return Ok(None) };
        // Its locks are those of this value, which holds what there is to hold.
        let file = self.file.try_clone()?;
        let state = Some(of_opening.find_present(&file)?);
        of_opening.ensure_places(&file)?;
        Ok(Some(Arc::new(Self { file, state, reading: None, turns: Mutex::default() })))
    }

    fn has_writer(&self) -> bool {
        self.state.as_ref().is_some_and(|state| state.has_writer(&self.file))
    }

    fn read_at<'into>(
        &self,
        offset: u64,
        into: &'into mut [MaybeUninit<u8>],
    ) -> io::Result<&'into mut [u8]> {
        uninit::fill(into, |done, rest| {
            let at = offset.checked_add(done).ok_or_else(super::past_end)?;
            Ok(rustix::io::pread(&self.file, rest, at)?.0)
        })
    }
}
