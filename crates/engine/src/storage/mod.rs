//! Where bytes come from and go to: a local file, memory, or whatever a caller brings.
//!
//! First station of the road: `mapping` reads structures through [`metadata::MetadataReader`],
//! `read` reads elements and chunks from the [`Storage`] itself.

use std::fmt;
use std::io;
use std::mem::MaybeUninit;
use std::sync::Arc;

mod blocks;
mod expected;
mod flock;
pub mod growing_memory;
mod identity;
pub(crate) mod interrupted;
pub mod local;
mod locks;
mod logbook;
pub mod memory;
pub mod metadata;
pub(crate) mod overlay;
pub(crate) mod pinned;
mod published;
pub mod readers;
mod regular;
pub(crate) mod reopening;
pub mod replacement;
mod reservation;
pub(crate) mod shifted;
pub(crate) mod state;
mod unfinished;
pub(crate) mod uninit;
pub mod writable_file;
mod write_behind;

pub use growing_memory::GrowingMemory;
pub use identity::{FileToken, TokenNumbers};
pub use local::{LocalFile, Turn};
pub use memory::Memory;
pub use metadata::{MetadataBytes, MetadataReader};
pub use replacement::Replacement;
pub use writable_file::{Creation, WritableFile};
pub(crate) use write_behind::WriteBehind;

use crate::error::{Error, ErrorKind};

/// Bytes that can be read at any place, by several threads at once.
pub trait Storage: Send + Sync {
    /// Length of the whole in bytes.
    fn len(&self) -> io::Result<u64>;

    /// Fills `into` with the bytes at `offset` and gives it back, every byte written; fewer bytes
    /// than that is an error of kind `UnexpectedEof`.
    ///
    /// That the same memory comes back initialised is what proves to the caller that it is; giving
    /// other memory back is an error for the caller, never undefined behaviour.
    fn read_at<'into>(
        &self,
        offset: u64,
        into: &'into mut [MaybeUninit<u8>],
    ) -> io::Result<&'into mut [u8]>;

    /// True where there is not one byte.
    fn is_empty(&self) -> io::Result<bool> {
        self.len().map(|len| len == 0)
    }

    /// The whole as a slice, where it lies in memory anyway.
    fn as_slice(&self) -> Option<&[u8]> {
        None
    }

    /// Bytes that may be read in vain if that saves a call: what one call costs, in bytes.
    fn call_cost_bytes(&self) -> u64 {
        16 * 1024
    }

    /// That all that was read of it until now is of the committed state in which it was opened, for who looks for
    /// structures. Nothing is said where nobody can tell.
    ///
    /// # Errors
    /// [`ErrorKind::Changed`], as an `io::Error`, where it is not, and where it cannot be told for once.
    fn ensure_state(&self) -> io::Result<()> {
        Ok(())
    }

    /// The same for who has read values that a structure of that state leads to: none are asked for where their
    /// place stays theirs as long as this is open.
    fn ensure_values(&self) -> io::Result<()> {
        Ok(())
    }

    /// The same for who has read values that have one place only, in whichever state.
    fn ensure_lately(&self) -> io::Result<()> {
        self.ensure_state()
    }

    /// The number by which its values are known in the cache, where it has gone on to a later state by itself: who
    /// finds another one after reading than before reads again.
    fn moved_to(&self) -> Option<u64> {
        None
    }

    /// The same bytes in the state in which they are now; `None` where nobody can tell states apart.
    fn present(&self) -> io::Result<Option<Arc<dyn Storage>>> {
        Ok(None)
    }

    /// Whether a writer that tells of its commits is at work on it.
    fn has_writer(&self) -> bool {
        false
    }

    /// Whether calls from several threads at once are any faster than one after another.
    fn parallel(&self) -> bool {
        true
    }
}

/// Bytes that can be written as well, at any place, by several threads at once as long as their
/// places are disjoint.
pub trait WritableStorage: Storage {
    /// Writes all of `bytes` at `offset`. Writing behind the end makes the storage longer; what lies
    /// between reads as zeros.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Cuts it to `len` bytes, or makes it so long with zeros.
    fn set_len(&self, len: u64) -> io::Result<()>;

    /// Comes back when everything written before survives a loss of power.
    fn sync(&self) -> io::Result<()>;

    /// The storage that this one hands on to: it answers what is asked below, where this one does not.
    fn beneath(&self) -> Option<&dyn WritableStorage> {
        None
    }

    /// Says that all up to `end` is going to be written, a little at a time.
    fn expect(&self, end: u64) {
        if let Some(beneath) = self.beneath() {
            beneath.expect(end);
        }
    }

    /// The most bytes that it can have, where that is known: what would be longer is not begun.
    fn largest_len(&self) -> u64 {
        self.beneath().map_or(u64::MAX, |beneath| beneath.largest_len())
    }

    /// How many bytes more it has room for, where that is known: more are not begun to be written.
    fn room(&self) -> u64 {
        self.beneath().map_or(u64::MAX, |beneath| beneath.room())
    }

    /// Tells readers that what they find is, from now on, of another generation: before and after each step of a
    /// commit that changes it.
    fn publish(&self) {
        if let Some(beneath) = self.beneath() {
            beneath.publish();
        }
    }

    /// The same where values that have one place only change next: comes back when no reader takes them for those of an
    /// earlier generation without having asked.
    fn publish_changes(&self) {
        self.publish();
        self.outwait_readers();
    }

    /// Waits until all who read have to ask for the present generation.
    fn outwait_readers(&self) {
        if let Some(beneath) = self.beneath() {
            beneath.outwait_readers();
        }
    }

    /// Waits a while for readers that ask for time; before a commit, while what they find is the last one.
    fn give_time(&self) {
        if let Some(beneath) = self.beneath() {
            beneath.give_time();
        }
    }

    /// Notes that values which have one place only become others with the generation that is published next.
    ///
    /// # Errors
    /// Readers that hold an earlier state could not be told: then the values are to stay.
    fn note_overwriting(&self) -> io::Result<()> {
        self.beneath().map_or(Ok(()), |beneath| beneath.note_overwriting())
    }

    /// The generation that readers find at present; 0 where they are told of none.
    fn generation(&self) -> u64 {
        self.beneath().map_or(0, |beneath| beneath.generation())
    }

    /// The generation of a state in `from..to` that some reader holds, any one of them: space that this state
    /// uses has to stay as it is. `None` where nobody does, 0 where that cannot be told.
    fn held_between(&self, from: u64, to: u64) -> Option<u64> {
        self.beneath()?.held_between(from, to)
    }
}

/// What a commit survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// The end of the process, whatever ended it. Nothing waits for the disk.
    #[default]
    Process,
    /// A loss of power, too.
    Power,
}

/// The error that `file` did not deliver `length_bytes` bytes at `address`.
pub(crate) fn storage_error(
    file: &Arc<str>,
    address: u64,
    length_bytes: u64,
    source: io::Error,
) -> Error {
    let kind = match state::is_changed(&source) {
        true => ErrorKind::Changed,
        false => ErrorKind::Storage { address, length_bytes, source: Arc::new(source) },
    };
    Error::new(file, kind)
}

/// The error that `file` did not take `length_bytes` bytes at `address`.
pub(crate) fn write_error(
    file: &Arc<str>,
    address: u64,
    length_bytes: u64,
    source: io::Error,
) -> Error {
    Error::new(file, ErrorKind::Write { address, length_bytes, source: Arc::new(source) })
}

/// The error that storage has not the bytes that were asked for: its length says so.
pub(crate) fn past_end() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, PastEnd)
}

/// Whether it is known that storage has not the bytes, which is no failure of it.
pub(crate) fn is_past_end(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<PastEnd>())
}

/// The error that storage did not give bytes that it has, by its length.
pub(crate) fn short_read() -> io::Error {
    io::Error::other("fewer bytes came than the storage has there")
}

/// The error that storage has not any more what it had when the file was opened.
pub(crate) fn became_shorter() -> io::Error {
    io::Error::other("the file is shorter than when it was opened")
}

#[derive(Debug)]
struct PastEnd;

impl fmt::Display for PastEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the file ends before that")
    }
}

impl std::error::Error for PastEnd {}
