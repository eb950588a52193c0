//! A storage without its first bytes, which are somebody else's (HDF5's user block).

use std::io;
use std::mem::MaybeUninit;
use std::sync::Arc;

use super::{Storage, WritableStorage, past_end};

/// The bytes of a storage from `start` on.
pub(crate) struct Shifted {
    whole: Arc<dyn WritableStorage>,
    start: u64,
}

impl Shifted {
    pub(crate) fn new(whole: Arc<dyn WritableStorage>, start: u64) -> Self {
        Self { whole, start }
    }

    fn offset(&self, offset: u64) -> io::Result<u64> {
        self.start.checked_add(offset).ok_or_else(past_end)
    }
}

impl Storage for Shifted {
    fn len(&self) -> io::Result<u64> {
        Ok(self.whole.len()?.saturating_sub(self.start))
    }

    fn read_at<'into>(
        &self,
        offset: u64,
        into: &'into mut [MaybeUninit<u8>],
    ) -> io::Result<&'into mut [u8]> {
        self.whole.read_at(self.offset(offset)?, into)
    }

    fn call_cost_bytes(&self) -> u64 {
        self.whole.call_cost_bytes()
    }

    fn parallel(&self) -> bool {
        self.whole.parallel()
    }
}

impl WritableStorage for Shifted {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.whole.write_at(self.offset(offset)?, bytes)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.whole.set_len(self.offset(len)?)
    }

    fn sync(&self) -> io::Result<()> {
        self.whole.sync()
    }

    fn beneath(&self) -> Option<&dyn WritableStorage> {
        Some(&*self.whole)
    }

    fn expect(&self, end: u64) {
        self.whole.expect(self.start.saturating_add(end));
    }

    fn largest_len(&self) -> u64 {
        self.whole.largest_len().saturating_sub(self.start)
    }
}
