//! The commit that a writer of a classic file has begun, and was interrupted in or is at work on.

use std::io;
use std::mem::MaybeUninit;
use std::sync::Arc;
use std::time::Duration;

use isotach_format::classic::{Overwrite, Redo};

use super::length;
use crate::error::{Error, ErrorKind, Result};
use crate::storage::{Storage, storage_error, uninit};

/// How often a record is looked at whose values are being written, and the pause before that.
const MOST_ATTEMPTS: usize = 4;
const PAUSE: Duration = Duration::from_millis(1);

/// The record of the last commit, where that is not over. It is not believed where values that it overwrites are
/// neither what they were before nor what they are to be: then somebody else has written since.
///
/// # Errors
/// The storage cannot be read; [`ErrorKind::Changed`] where a writer who is there has not made up those values.
pub(crate) fn pending_redo(name: &Arc<str>, storage: &dyn Storage) -> Result<Option<Redo>> {
    for attempt in 0..MOST_ATTEMPTS {
        if attempt > 0 {
            std::thread::sleep(PAUSE);
        }
        let Some(redo) = find(name, storage)? else { return Ok(None) };
        let mut applies = true;
        for change in &redo.changes {
            applies &= applies_to(name, storage, change)?;
        }
        if applies {
            return Ok(Some(redo));
        }
    }
    if storage.has_writer() { Err(Error::new(name, ErrorKind::Changed)) } else { Ok(None) }
}

/// The record at the end of the file.
fn find(name: &Arc<str>, storage: &dyn Storage) -> Result<Option<Redo>> {
    let file_len = length(name, storage)?;
    let Some(end) = read(name, storage, file_len.saturating_sub(Redo::TRAILER_BYTES), file_len)?
    else {
        return Ok(None);
    };
    let Some(length) = Redo::length_bytes(&end).filter(|length| *length <= file_len) else {
        return Ok(None);
    };
    let record = read(name, storage, file_len - length, file_len)?;
    let record = record.and_then(|record| Redo::decode(&record));
    Ok(record.filter(|redo| redo.fits(file_len - length)))
}

fn applies_to(name: &Arc<str>, storage: &dyn Storage, change: &Overwrite) -> Result<bool> {
    let end = change.address().saturating_add(change.after().len() as u64);
    let present = read(name, storage, change.address(), end)?;
    Ok(present.is_some_and(|present| change.applies_to(&present)))
}

/// The bytes `start .. end`; none where the file is shorter by now, because its writer cut it.
fn read(name: &Arc<str>, storage: &dyn Storage, start: u64, end: u64) -> Result<Option<Vec<u8>>> {
    let length = end - start;
    let mut memory = vec![MaybeUninit::uninit(); length as usize];
    match uninit::read_at(storage, start, &mut memory) {
        Ok(bytes) => Ok(Some(bytes.to_vec())),
        Err(source) if source.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(source) => Err(storage_error(name, start, length, source)),
    }
}
