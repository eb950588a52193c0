//! Where bytes come from: a local file, memory, or whatever a caller brings.

use std::io;
use std::mem::MaybeUninit;

/// Bytes that can be read at any place, by several threads at once.
pub trait Storage: Send + Sync {
    /// Length of the whole in bytes.
    fn len(&self) -> io::Result<u64>;

    /// Fills `into` with the bytes at `offset`; fewer bytes than that is an error of kind
    /// `UnexpectedEof`. On success every byte of `into` is initialised.
    fn read_at(&self, offset: u64, into: &mut [MaybeUninit<u8>]) -> io::Result<()>;

    /// The whole as a slice, where it lies in memory anyway.
    fn as_slice(&self) -> Option<&[u8]> {
        None
    }

    /// Bytes that may be read in vain if that saves a call: what one call costs, in bytes.
    fn call_cost_bytes(&self) -> u64 {
        16 * 1024
    }

    /// Whether calls from several threads at once are any faster than one after another.
    fn parallel(&self) -> bool {
        true
    }
}
