//! A storage whose last commit was interrupted: it reads as committed, and the first write finishes that commit.
//!
//! Opening a file for writing changes nothing in it, so who only looks leaves every byte as it was.

use std::io;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use super::{Durability, Storage, WritableStorage, past_end, uninit};

/// Bytes that are copied at a time.
const COPY_BYTES: u64 = 4 << 20;

/// What a commit puts at an offset.
pub(crate) enum Change {
    /// These bytes.
    Bytes(u64, Vec<u8>),
    /// As many bytes as stand at another offset, where no change lies.
    Copy { from: u64, to: u64, length_bytes: u64 },
}

impl Change {
    fn range(&self) -> (u64, u64) {
        let (start, len) = match self {
            Self::Bytes(offset, bytes) => (*offset, bytes.len() as u64),
            Self::Copy { to, length_bytes, .. } => (*to, *length_bytes),
        };
        (start, start.saturating_add(len))
    }
}

/// See the module.
pub(crate) struct Interrupted {
    storage: Arc<dyn WritableStorage>,
    /// In the order in which they are made; they do not overlap, and lie before `len`.
    changes: Vec<Change>,
    /// Where the file ends as it was committed. What lies behind it says so, and goes last.
    len: u64,
    durability: Durability,
    /// Writers make the changes alone.
    is_finished: RwLock<bool>,
    /// The same, for those who read all the time.
    was_finished: AtomicBool,
}

impl Interrupted {
    /// `storage` as a commit leaves it that makes `changes` and ends the file at `len`.
    pub(crate) fn new(
        storage: Arc<dyn WritableStorage>,
        changes: Vec<Change>,
        len: u64,
        durability: Durability,
    ) -> Self {
        let (is_finished, was_finished) = (RwLock::new(false), AtomicBool::new(false));
        Self { storage, changes, len, durability, is_finished, was_finished }
    }

    /// Makes the changes, unless that was done.
    fn finish(&self) -> io::Result<()> {
        if self.was_finished.load(Ordering::Acquire) {
            return Ok(());
        }
        let mut is_finished = self.is_finished.write().unwrap_or_else(PoisonError::into_inner);
        if *is_finished {
            return Ok(());
        }
        // Readers of what was there before the one who was interrupted.
        self.storage.outwait_readers();
        for change in &self.changes {
            match change {
                Change::Bytes(offset, bytes) => self.storage.write_at(*offset, bytes)?,
                Change::Copy { from, to, length_bytes } => self.copy(*from, *to, *length_bytes)?,
            }
        }
        self.step()?;
        // Who has read something while it was changed, and finds no record later, is told that he has.
        self.storage.publish();
        self.erase_record()?;
        self.storage.set_len(self.len)?;
        *is_finished = true;
        self.was_finished.store(true, Ordering::Release);
        Ok(())
    }

    /// Where bytes were copied, readers have found the record and read what it was copied from: it goes before that.
    fn erase_record(&self) -> io::Result<()> {
        const ENOUGH: u64 = 8;
        if !self.changes.iter().any(|change| matches!(change, Change::Copy { .. })) {
            return Ok(());
        }
        let last = self.storage.len()?.saturating_sub(ENOUGH).max(self.len);
        self.storage.write_at(last, &[0; ENOUGH as usize])?;
        self.step()?;
        self.storage.publish_changes();
        Ok(())
    }

    fn copy(&self, from: u64, to: u64, length_bytes: u64) -> io::Result<()> {
        let mut window = Vec::new();
        for done in (0..length_bytes).step_by(COPY_BYTES as usize) {
            let part = (length_bytes - done).min(COPY_BYTES) as usize;
            uninit::read_vec(&*self.storage, from + done, part, &mut window)?;
            self.storage.write_at(to + done, &window)?;
        }
        self.step()
    }

    fn step(&self) -> io::Result<()> {
        match self.durability {
            Durability::Process => Ok(()),
            Durability::Power => self.storage.sync(),
        }
    }

    /// Puts what `change` has for `into`, the bytes at `offset`, there.
    fn lay(&self, change: &Change, offset: u64, into: &mut [u8]) -> io::Result<()> {
        let (start, end) = change.range();
        let (first, last) = (offset.max(start), end.min(offset + into.len() as u64));
        if first >= last {
            return Ok(());
        }
        let into = &mut into[(first - offset) as usize..(last - offset) as usize];
        match change {
            Change::Bytes(_, bytes) => {
                into.copy_from_slice(&bytes[(first - start) as usize..(last - start) as usize]);
            }
            Change::Copy { from, .. } => {
                let mut bytes = Vec::new();
                uninit::read_vec(&*self.storage, from + (first - start), into.len(), &mut bytes)?;
                into.copy_from_slice(&bytes);
            }
        }
        Ok(())
    }
}

impl Storage for Interrupted {
    fn len(&self) -> io::Result<u64> {
        let is_finished = self.is_finished.read().unwrap_or_else(PoisonError::into_inner);
        if *is_finished { self.storage.len() } else { Ok(self.len) }
    }

    fn read_at<'into>(
        &self,
        offset: u64,
        into: &'into mut [MaybeUninit<u8>],
    ) -> io::Result<&'into mut [u8]> {
        if self.was_finished.load(Ordering::Acquire) {
            return self.storage.read_at(offset, into);
        }
        let is_finished = self.is_finished.read().unwrap_or_else(PoisonError::into_inner);
        if *is_finished {
            return self.storage.read_at(offset, into);
        }
        let end = offset.checked_add(into.len() as u64).filter(|end| *end <= self.len);
        end.ok_or_else(past_end)?;
        let into = uninit::read_at(&*self.storage, offset, into)?;
        self.changes.iter().try_for_each(|change| self.lay(change, offset, into))?;
        Ok(into)
    }

    fn call_cost_bytes(&self) -> u64 {
        self.storage.call_cost_bytes()
    }

    fn parallel(&self) -> bool {
        self.storage.parallel()
    }
}

impl WritableStorage for Interrupted {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.finish()?;
        self.storage.write_at(offset, bytes)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.finish()?;
        self.storage.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        self.storage.sync()
    }

    fn beneath(&self) -> Option<&dyn WritableStorage> {
        Some(&*self.storage)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::GrowingMemory;

    fn interrupted() -> (Arc<GrowingMemory>, Interrupted) {
        let memory = Arc::new(GrowingMemory::new((0..60).collect()));
        let changes = vec![
            Change::Copy { from: 40, to: 20, length_bytes: 10 },
            Change::Bytes(2, vec![100, 101, 102]),
        ];
        let storage = Interrupted::new(Arc::clone(&memory) as _, changes, 35, Durability::Power);
        (memory, storage)
    }

    #[test]
    fn it_reads_as_committed_and_the_first_write_makes_it_so() {
        let mut expected: Vec<u8> = (0..35).collect();
        expected[20..30].copy_from_slice(&(40..50).collect::<Vec<u8>>());
        expected[2..5].copy_from_slice(&[100, 101, 102]);
        let (memory, storage) = interrupted();
        let mut bytes = Vec::new();
        let mut all_reads = |storage: &Interrupted| {
            assert_eq!(storage.len().unwrap(), 35);
            for start in 0..=35 {
                for end in start..=35 {
                    uninit::read_vec(storage, start as u64, end - start, &mut bytes).unwrap();
                    assert_eq!(bytes, expected[start..end]);
                }
            }
            assert!(uninit::read_vec(storage, 30, 6, &mut bytes).is_err());
        };
        all_reads(&storage);
        storage.sync().unwrap();
        assert_eq!(memory.len().unwrap(), 60);
        storage.write_at(7, &[7]).unwrap();
        all_reads(&storage);
        assert_eq!(memory.take_bytes(), expected);
    }
}
