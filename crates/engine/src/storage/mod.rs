//! Where bytes come from and go to: a local file, memory, or whatever a caller brings.
//!
//! First station of the road: `mapping` reads structures through [`metadata::MetadataReader`],
//! `read` reads elements and chunks from the [`Storage`] itself.

use std::io;
use std::mem::MaybeUninit;
use std::sync::Arc;

mod blocks;
mod expected;
pub mod growing_memory;
pub mod local;
pub mod memory;
pub mod metadata;
pub(crate) mod overlay;
pub(crate) mod reopening;
pub mod replacement;
mod reservation;
pub(crate) mod shifted;
pub(crate) mod uninit;
pub mod writable_file;
mod write_behind;

pub use growing_memory::GrowingMemory;
pub use local::{LocalFile, Stamp};
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

    /// Whether its bytes are still those that it had when it was opened: true also where nobody can tell.
    /// What was read of it before is of one state then.
    fn is_unchanged(&self) -> bool {
        true
    }

    /// What tells a later state of its bytes from the present one; `None` where they do not change, or nobody
    /// can tell.
    fn present_stamp(&self) -> Option<Stamp> {
        None
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

    /// Says that all up to `end` is going to be written, a little at a time.
    fn expect(&self, _end: u64) {}

    /// The most bytes that it can have, where that is known: what would be longer is not begun.
    fn largest_len(&self) -> u64 {
        u64::MAX
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
    Error::new(file, ErrorKind::Storage { address, length_bytes, source: Arc::new(source) })
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

/// The error that storage ends inside the bytes that were asked for.
pub(crate) fn unexpected_end() -> io::Error {
    io::Error::from(io::ErrorKind::UnexpectedEof)
}
