//! Structures without a checksum, read while somebody may be changing them.
//!
//! ```text
//! read -> has a checksum, or nobody has written since the file was opened -> it is sure
//!      -> else: what the newest commit made of the file, with nothing that is kept of it before
//!               again, until two readings in a row find the same
//! ```
//! A writer of this library lays down a record of all that it changes in place before it does so. A
//! reading that begins and ends with the same record, or none, and is the same again, was not half of one
//! commit and half of another: a commit that came between would have changed it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::context::{Context, open_superblock};
use super::other_files::OtherFiles;
use crate::error::{Error, Result};
use crate::process::uncancelled;
use crate::storage::{Storage, storage_error};
use crate::write::recovery::{self, Mark};

/// How often is read until nothing differs, and the pause from the third time on.
const MOST_READINGS: u32 = 20;
const PAUSE: Duration = Duration::from_micros(200);

/// What is needed for that of an open file.
pub(super) struct BesideWriter {
    /// The file's bytes as they stand there; `None` where they are those of one reading.
    bytes: Option<Arc<dyn Storage>>,
    /// The record that was found last, and the file with its changes.
    found: Mutex<Option<(Mark, Arc<dyn Storage>)>>,
}

/// What one reading found, and the record of that time; `None` where not even that could be told.
type Reading<T> = (Option<Mark>, Result<T>);

fn are_same<T: PartialEq>(one: &Reading<T>, other: &Reading<T>) -> bool {
    let is_same = match (&one.1, &other.1) {
        (Ok(one), Ok(other)) => one == other,
        (Err(one), Err(other)) => one.to_string() == other.to_string(),
        _ => false,
    };
    is_same && one.0 == other.0
}

impl BesideWriter {
    /// That of a file of these bytes.
    pub(super) fn new(bytes: Arc<dyn Storage>) -> Self {
        Self { bytes: Some(bytes), found: Mutex::default() }
    }

    fn is_unchanged(&self) -> bool {
        self.bytes.as_ref().is_none_or(|bytes| bytes.is_unchanged())
    }
}

impl Context {
    /// Whether all that was read of the file until now is of one state of it.
    pub(super) fn is_unchanged(&self) -> bool {
        self.beside.is_unchanged()
    }

    /// What `read` finds in this file, if that `has_checksum` or nobody has written meanwhile; else what it
    /// finds in the file as its newest commit has it.
    ///
    /// # Errors
    /// Those of `read`; [`ErrorKind::Storage`](crate::ErrorKind::Storage) where it found something else every time.
    pub(super) fn sure<T: PartialEq>(
        &self,
        has_checksum: impl Fn(&T) -> bool,
        read: impl Fn(&Context) -> Result<T>,
    ) -> Result<T> {
        let found = read(self);
        if found.as_ref().is_ok_and(has_checksum) || self.is_unchanged() {
            return found;
        }
        let mut before = None;
        for reading in 0..MOST_READINGS {
            if reading > 1 {
                uncancelled(|| std::thread::sleep(PAUSE));
            }
            let now = match self.anew() {
                Ok((mark, context)) => (Some(mark), read(&context)),
                Err(error) => (None, Err(error)),
            };
            if before.is_some_and(|before| are_same(&before, &now)) {
                return now.1;
            }
            before = Some(now);
        }
        Err(self.never_still())
    }

    fn never_still(&self) -> Error {
        let source = std::io::Error::other("it is changed again and again while it is read");
        storage_error(&self.name, 0, 0, source)
    }

    /// The file as its newest commit has it, with nothing kept of it, and by what that is known.
    fn anew(&self) -> Result<(Mark, Context)> {
        let Some(bytes) = &self.beside.bytes else { return Err(self.never_still()) };
        let opened = open_superblock(&self.name, Arc::clone(bytes))?;
        let base = opened.1.base_address;
        let end = opened.1.end_of_file_address.saturating_sub(base);
        let mark = recovery::mark(&self.name, bytes.as_ref(), base, end)?;
        let (storage, opened) = match &mark {
            None => (Arc::clone(bytes), opened),
            Some(_) => {
                let storage = self.with_record(bytes, &mark, base, end)?;
                (Arc::clone(&storage), open_superblock(&self.name, storage)?)
            }
        };
        let beside = BesideWriter { bytes: None, found: Mutex::default() };
        let others = OtherFiles::default();
        Ok((mark, Context::of(&self.name, storage, opened, &self.options, others, beside)))
    }

    /// The file with the changes of the record that has this mark.
    fn with_record(
        &self,
        bytes: &Arc<dyn Storage>,
        mark: &Mark,
        base: u64,
        end: u64,
    ) -> Result<Arc<dyn Storage>> {
        let mut found = self.beside.found.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, storage)) = &*found
            && known == mark
        {
            return Ok(Arc::clone(storage));
        }
        let committed = recovery::lay_over(&self.name, bytes, base, end)?;
        let storage = committed.unwrap_or_else(|| Arc::clone(bytes));
        // What was read may be another one that took its place.
        if recovery::mark(&self.name, bytes.as_ref(), base, end)? == *mark {
            *found = Some((mark.clone(), Arc::clone(&storage)));
        }
        Ok(storage)
    }
}
