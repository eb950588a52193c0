//! Bits from the least significant up, as deflate packs them.

use crate::uninit::Output;

/// Writes bits behind what an output has.
pub(super) struct BitWriter<'a, 'o> {
    out: &'a mut Output<'o>,
    /// Bits not written yet, the oldest one lowest; no others are set.
    window: u64,
    count: u32,
}

impl<'a, 'o> BitWriter<'a, 'o> {
    /// What is written must leave [`Self::SLACK`] bytes of `out` behind it.
    pub(super) fn new(out: &'a mut Output<'o>) -> Self {
        Self { out, window: 0, count: 0 }
    }

    /// Bytes behind the last bit that are overwritten.
    pub(super) const SLACK: usize = 8;

    /// Bits that can be put between two flushes.
    pub(super) const BETWEEN_FLUSHES: u32 = 56;

    /// Takes the `count` lowest bits of `bits`, which has no others.
    #[inline(always)]
    pub(super) fn put(&mut self, bits: u64, count: u32) {
        debug_assert!(self.count + count < 64 && bits >> count == 0);
        self.window |= bits << self.count;
        self.count += count;
    }

    /// Writes all whole bytes: fewer than eight bits stay.
    #[inline(always)]
    pub(super) fn flush(&mut self) {
        let bytes = self.count / 8;
        self.out.put_first(self.window.to_le_bytes(), bytes as usize);
        self.window >>= bytes * 8;
        self.count -= bytes * 8;
    }

    /// Whole bytes, where no bits are left to flush.
    pub(super) fn put_bytes(&mut self, bytes: &[u8]) {
        debug_assert_eq!(self.count, 0);
        self.out.put(bytes);
    }

    /// Zeros up to the next whole byte.
    pub(super) fn align(&mut self) {
        self.count = self.count.next_multiple_of(8);
        self.flush();
    }

    /// Fills the last byte up with zeros.
    pub(super) fn finish(mut self) {
        self.align();
    }
}
