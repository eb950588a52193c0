//! Storages that tell what they were asked, and that fail when told to.

use std::io;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Mutex, PoisonError};

use isotach::storage::Storage;

/// Bytes that record every read: address and length.
pub struct CountingStorage {
    bytes: Vec<u8>,
    call_cost_bytes: u64,
    reads: Mutex<Vec<(u64, u64)>>,
}

impl CountingStorage {
    /// A storage of `bytes` whose calls cost as much as reading `call_cost_bytes`.
    pub fn new(bytes: Vec<u8>, call_cost_bytes: u64) -> Self {
        Self { bytes, call_cost_bytes, reads: Mutex::default() }
    }

    /// The reads so far, in the order in which they came; they are forgotten.
    pub fn take_reads(&self) -> Vec<(u64, u64)> {
        std::mem::take(&mut self.reads.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Storage for CountingStorage {
    fn len(&self) -> io::Result<u64> {
        Ok(self.bytes.len() as u64)
    }

    fn read_at<'into>(
        &self,
        offset: u64,
        into: &'into mut [MaybeUninit<u8>],
    ) -> io::Result<&'into mut [u8]> {
        let mut reads = self.reads.lock().unwrap_or_else(PoisonError::into_inner);
        reads.push((offset, into.len() as u64));
        drop(reads);
        copy(&self.bytes, offset, into)
    }

    fn call_cost_bytes(&self) -> u64 {
        self.call_cost_bytes
    }
}

/// Bytes of which only a number of reads succeeds.
pub struct FailingStorage {
    bytes: Vec<u8>,
    left: AtomicU64,
}

impl FailingStorage {
    /// A storage of `bytes` whose reads fail after the first `successes`.
    pub fn new(bytes: Vec<u8>, successes: u64) -> Self {
        Self { bytes, left: AtomicU64::new(successes) }
    }
}

impl Storage for FailingStorage {
    fn len(&self) -> io::Result<u64> {
        Ok(self.bytes.len() as u64)
    }

    fn read_at<'into>(
        &self,
        offset: u64,
        into: &'into mut [MaybeUninit<u8>],
    ) -> io::Result<&'into mut [u8]> {
        let left = self.left.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1));
        left.map_err(|_| io::Error::other("told to fail"))?;
        copy(&self.bytes, offset, into)
    }
}

fn copy<'into>(
    bytes: &[u8],
    offset: u64,
    into: &'into mut [MaybeUninit<u8>],
) -> io::Result<&'into mut [u8]> {
    let from =
        usize::try_from(offset).ok().and_then(|offset| bytes.get(offset..)?.get(..into.len()));
    let from = from.ok_or(io::ErrorKind::UnexpectedEof)?;
    Ok(into.write_copy_of_slice(from))
}
