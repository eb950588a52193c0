//! What a writer that was killed, or is at work, has committed and not yet changed in place.
//!
//! Behind the end of the file as its superblock has it, there may be a redo record. It is found
//! without a search, and where the file ends there is nothing to look for. Readers lay its changes over
//! what they read, a writer makes them.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use isotach_format::redo::{self, Record};

use crate::error::{Error, ErrorKind, Result};
use crate::storage::overlay::Overlay;
use crate::storage::{Storage, storage_error, uninit};

/// How often a record is looked at whose bytes are being changed, and the pause before that.
const MOST_ATTEMPTS: usize = 4;
const PAUSE: Duration = Duration::from_millis(1);

/// The redo record of the file that begins at `base` of `storage` and whose end-of-file address,
/// counted from there, is `end`; `None` where there is none that applies.
///
/// A record is not believed where it is not whole, belongs to another end of the file, or where
/// bytes that it changes are neither what they were before nor what they are to be: then somebody
/// else has written since.
///
/// # Errors
/// The storage cannot be read, or a record has a version that is not known: without it, what the
/// file says is half one commit and half another.
pub fn find(file: &Arc<str>, storage: &dyn Storage, base: u64, end: u64) -> Result<Option<Record>> {
    Ok(match look_often(file, storage, base, end)? {
        Found::Record(record) => Some(record),
        Found::Nothing | Found::OtherBytes => None,
    })
}

/// Looks until it is something that holds still.
fn look_often(file: &Arc<str>, storage: &dyn Storage, base: u64, end: u64) -> Result<Found> {
    for attempt in 0..MOST_ATTEMPTS {
        if attempt > 0 {
            std::thread::sleep(PAUSE);
        }
        match look(file, storage, base, end)? {
            Found::OtherBytes => {}
            found => return Ok(found),
        }
    }
    Ok(Found::OtherBytes)
}

/// What stands behind the end of the file.
enum Found {
    Nothing,
    Record(Record),
    /// A record, but what it changes is neither one nor the other. Its writer may be at it at this
    /// moment: then it is so for as long as one write takes.
    OtherBytes,
}

fn look(file: &Arc<str>, storage: &dyn Storage, base: u64, end: u64) -> Result<Found> {
    let len = storage.len().map_err(|source| storage_error(file, 0, 0, source))?;
    let Some(address) = base.checked_add(end) else { return Ok(Found::Nothing) };
    let available = len.saturating_sub(address);
    if available < redo::PREFIX_BYTES as u64 {
        return Ok(Found::Nothing);
    }
    let read = |at, count| read(file, storage, at, count);
    let prefix = read(address, redo::PREFIX_BYTES)?;
    let record_len = prefix.first_chunk().and_then(redo::byte_len);
    let Some(record_len) = record_len.filter(|&len| len <= available) else {
        return Ok(Found::Nothing);
    };
    let record = match Record::decode(&read(address, record_len as usize)?, address) {
        Ok(record) if record.end == end => record,
        Err(error) if matches!(error.kind, isotach_format::ErrorKind::Version { .. }) => {
            return Err(Error::new(file, ErrorKind::Structure(error)));
        }
        // Overwritten, cut off, or of another place.
        Ok(_) | Err(_) => return Ok(Found::Nothing),
    };
    for change in &record.changes {
        // They lie before the end of the file, so this is an offset.
        if !change.applies_to(&read(base + change.address, change.after.len())?) {
            return Ok(Found::OtherBytes);
        }
    }
    Ok(Found::Record(record))
}

/// `count` bytes at `at`; none where the storage is shorter by now, because its writer closed it.
fn read(file: &Arc<str>, storage: &dyn Storage, at: u64, count: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    match uninit::read_vec(storage, at, count, &mut bytes) {
        Err(source) if source.kind() != io::ErrorKind::UnexpectedEof => {
            Err(storage_error(file, at, count as u64, source))
        }
        _ => Ok(bytes),
    }
}

/// `storage` as the last commit left it, where that is not yet what stands in it; see [`find`].
///
/// # Errors
/// Those of [`find`]; [`ErrorKind::Changed`] where a writer who is there has not made up the bytes that it changes.
pub fn lay_over(
    file: &Arc<str>,
    storage: &Arc<dyn Storage>,
    base: u64,
    end: u64,
) -> Result<Option<Arc<dyn Storage>>> {
    let record = match look_often(file, storage.as_ref(), base, end)? {
        Found::Nothing => return Ok(None),
        // Nobody else has written while one of ours is there: it stopped in the midst of a write.
        Found::OtherBytes if storage.has_writer() => {
            return Err(Error::new(file, ErrorKind::Changed));
        }
        Found::OtherBytes => return Ok(None),
        Found::Record(record) => record,
    };
    let extents = record.changes.into_iter().map(|change| (base + change.address, change.after));
    Ok(Some(Arc::new(Overlay::new(Arc::clone(storage), extents.collect()))))
}
