//! A file in memory that is written.

use std::io;
use std::mem::MaybeUninit;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::{Storage, WritableStorage, past_end};
use crate::cache::physical_memory;

/// Bytes in memory that grow as they are written.
#[derive(Debug)]
pub struct GrowingMemory {
    bytes: RwLock<Vec<u8>>,
    largest_len: u64,
}

impl Default for GrowingMemory {
    fn default() -> Self {
        Self::new(Vec::new())
    }
}

impl GrowingMemory {
    /// A storage that begins as `bytes`, and grows as long as the machine has memory.
    pub fn new(bytes: Vec<u8>) -> Self {
        Self::with_limit(bytes, physical_memory())
    }

    /// The same that never has more than `largest_len` bytes.
    pub fn with_limit(bytes: Vec<u8>, largest_len: u64) -> Self {
        Self { bytes: RwLock::new(bytes), largest_len }
    }

    /// Takes memory for `bytes` bytes in all.
    ///
    /// # Errors
    /// There is not as much, or it may not have as many.
    pub fn reserve(&self, bytes: u64) -> io::Result<()> {
        let len = usize::try_from(bytes).ok().filter(|_| bytes <= self.largest_len);
        let len = len.ok_or(io::ErrorKind::OutOfMemory)?;
        let mut memory = self.write();
        let more = len.saturating_sub(memory.len());
        memory.try_reserve(more).map_err(|_| io::ErrorKind::OutOfMemory.into())
    }

    /// What is in it; it is empty from now on.
    pub fn take_bytes(&self) -> Vec<u8> {
        std::mem::take(&mut self.write())
    }

    fn read(&self) -> RwLockReadGuard<'_, Vec<u8>> {
        self.bytes.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Vec<u8>> {
        self.bytes.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes `bytes` so long, with zeros, or so short.
    fn resize(&self, bytes: &mut Vec<u8>, len: usize) -> io::Result<()> {
        let more = len.saturating_sub(bytes.len());
        if more > 0 && len as u64 > self.largest_len {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        bytes.try_reserve(more).map_err(|_| io::ErrorKind::OutOfMemory)?;
        bytes.resize(len, 0);
        Ok(())
    }
}

impl Storage for GrowingMemory {
    fn len(&self) -> io::Result<u64> {
        Ok(self.read().len() as u64)
    }

    fn read_at<'into>(
        &self,
        offset: u64,
        into: &'into mut [MaybeUninit<u8>],
    ) -> io::Result<&'into mut [u8]> {
        let bytes = self.read();
        let from = usize::try_from(offset)
            .ok()
            .and_then(|offset| bytes.get(offset..)?.get(..into.len()))
            .ok_or_else(past_end)?;
        Ok(into.write_copy_of_slice(from))
    }

    fn call_cost_bytes(&self) -> u64 {
        64
    }
}

impl WritableStorage for GrowingMemory {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let start = usize::try_from(offset).ok();
        let range = start.and_then(|start| Some(start..start.checked_add(bytes.len())?));
        let range = range.ok_or(io::ErrorKind::FileTooLarge)?;
        let mut into = self.write();
        if into.len() < range.end {
            self.resize(&mut into, range.end)?;
        }
        into[range].copy_from_slice(bytes);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let len = usize::try_from(len).map_err(|_| io::ErrorKind::FileTooLarge)?;
        self.resize(&mut self.write(), len)
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn largest_len(&self) -> u64 {
        self.largest_len
    }

    fn room(&self) -> u64 {
        self.largest_len.saturating_sub(self.read().len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_grows_with_zeros_and_is_cut() {
        let memory = GrowingMemory::new(vec![1, 2, 3]);
        memory.write_at(1, &[7]).unwrap();
        memory.write_at(5, &[8, 9]).unwrap();
        assert_eq!(memory.len().unwrap(), 7);
        memory.set_len(6).unwrap();
        let mut into = [MaybeUninit::uninit(); 3];
        assert_eq!(memory.read_at(3, &mut into).unwrap(), [0, 0, 8]);
        assert_eq!(memory.read_at(4, &mut into).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        assert!(memory.write_at(u64::MAX, &[1]).is_err());
        assert_eq!(memory.set_len(u64::MAX).unwrap_err().kind(), io::ErrorKind::OutOfMemory);
        assert_eq!(memory.take_bytes(), [1, 7, 3, 0, 0, 8]);
    }

    #[test]
    fn it_takes_memory_before_it_is_written() {
        let memory = GrowingMemory::with_limit(vec![1], 1 << 20);
        memory.reserve(100_000).unwrap();
        let start = memory.read().as_ptr();
        for at in 0..1000 {
            memory.write_at(at * 100, &[7; 100]).unwrap();
        }
        assert_eq!(memory.read().as_ptr(), start, "it moved");
        for too_much in [(1 << 20) + 1, u64::MAX] {
            let refused = memory.reserve(too_much).unwrap_err();
            assert_eq!(refused.kind(), io::ErrorKind::OutOfMemory);
        }
        assert_eq!(memory.take_bytes().len(), 100_000);
    }

    #[test]
    fn it_grows_to_its_limit() {
        let memory = GrowingMemory::with_limit(vec![1, 2, 3], 5);
        memory.write_at(3, &[4, 5]).unwrap();
        assert_eq!(memory.write_at(5, &[6]).unwrap_err().kind(), io::ErrorKind::OutOfMemory);
        assert_eq!(memory.write_at(1 << 40, &[6]).unwrap_err().kind(), io::ErrorKind::OutOfMemory);
        assert_eq!(memory.set_len(6).unwrap_err().kind(), io::ErrorKind::OutOfMemory);
        assert_eq!(memory.take_bytes(), [1, 2, 3, 4, 5]);
        assert!(GrowingMemory::default().largest_len() >= 1 << 20);
    }

    #[test]
    fn threads_write_at_disjoint_places() {
        let memory = GrowingMemory::default();
        std::thread::scope(|scope| {
            for thread in 0..4_u8 {
                let memory = &memory;
                scope.spawn(move || {
                    for place in 0..250 {
                        memory.write_at(place * 4 + u64::from(thread), &[thread]).unwrap();
                    }
                });
            }
        });
        assert_eq!(memory.take_bytes(), [0, 1, 2, 3].repeat(250));
    }
}
