//! Storages that tell what they were asked, and that fail when told to.

use std::io;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Mutex, PoisonError};

use isotach::storage::{GrowingMemory, Storage, WritableStorage};

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

/// How reads fail; see [`FailingReads`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadFault {
    /// One fails with `EIO`.
    Once,
    /// All fail with `EIO` from one on.
    ForEver,
    /// One gives fewer bytes than are there.
    Short,
}

impl ReadFault {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Once, Self::ForEver, Self::Short];
}

/// Bytes of which any read fails when it is told to. They may be written, which never fails.
pub struct FailingReads {
    memory: GrowingMemory,
    call_cost_bytes: u64,
    state: Mutex<FailingState>,
}

#[derive(Default)]
struct FailingState {
    reads: u64,
    failed: u64,
    fault: Option<(u64, ReadFault)>,
}

impl FailingReads {
    /// A storage of `bytes` whose calls cost as much as reading `call_cost_bytes`; it works.
    pub fn new(bytes: Vec<u8>, call_cost_bytes: u64) -> Self {
        Self { memory: GrowingMemory::new(bytes), call_cost_bytes, state: Mutex::default() }
    }

    /// Has the read after the next `successes` fail in that way.
    pub fn fail_after(&self, successes: u64, fault: ReadFault) {
        let mut state = self.state();
        state.fault = Some((state.reads + successes, fault));
    }

    /// Has all further reads succeed.
    pub fn works(&self) {
        self.state().fault = None;
    }

    /// What is in it at present.
    pub fn bytes(&self) -> Vec<u8> {
        let len = self.memory.len().expect("memory has a length");
        let mut memory = vec![MaybeUninit::uninit(); len as usize];
        self.memory.read_at(0, &mut memory).expect("memory can be read").to_vec()
    }

    /// How many reads there were.
    pub fn reads(&self) -> u64 {
        self.state().reads
    }

    /// How many of them failed.
    pub fn failed(&self) -> u64 {
        self.state().failed
    }

    fn state(&self) -> std::sync::MutexGuard<'_, FailingState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the next read fails, and how.
    fn next(&self) -> Option<ReadFault> {
        let mut state = self.state();
        let number = state.reads;
        state.reads += 1;
        let (_, fault) = state.fault.filter(|&(first, fault)| match fault {
            ReadFault::ForEver => number >= first,
            ReadFault::Once | ReadFault::Short => number == first,
        })?;
        state.failed += 1;
        Some(fault)
    }
}

impl Storage for FailingReads {
    fn len(&self) -> io::Result<u64> {
        self.memory.len()
    }

    fn read_at<'into>(
        &self,
        offset: u64,
        into: &'into mut [MaybeUninit<u8>],
    ) -> io::Result<&'into mut [u8]> {
        const EIO: i32 = 5;
        match self.next() {
            None => self.memory.read_at(offset, into),
            Some(ReadFault::Short) => Err(io::ErrorKind::UnexpectedEof.into()),
            Some(ReadFault::Once | ReadFault::ForEver) => Err(io::Error::from_raw_os_error(EIO)),
        }
    }

    fn call_cost_bytes(&self) -> u64 {
        self.call_cost_bytes
    }
}

impl WritableStorage for FailingReads {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.memory.write_at(offset, bytes)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.memory.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
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
