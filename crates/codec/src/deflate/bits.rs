//! Bits from the least significant up, as deflate packs them.

/// Writes bits to a slice, from its front.
pub(super) struct BitWriter<'a> {
    out: &'a mut [u8],
    /// Whole bytes written.
    at: usize,
    /// Bits not written yet, the oldest one lowest; no others are set.
    window: u64,
    count: u32,
}

impl<'a> BitWriter<'a> {
    /// What is written must leave [`Self::SLACK`] bytes of `out` behind it.
    pub(super) fn new(out: &'a mut [u8]) -> Self {
        Self { out, at: 0, window: 0, count: 0 }
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
        self.out[self.at..][..8].copy_from_slice(&self.window.to_le_bytes());
        let bytes = self.count / 8;
        self.at += bytes as usize;
        self.window >>= bytes * 8;
        self.count -= bytes * 8;
    }

    /// Whole bytes, where no bits are left to flush.
    pub(super) fn put_bytes(&mut self, bytes: &[u8]) {
        debug_assert_eq!(self.count, 0);
        self.out[self.at..][..bytes.len()].copy_from_slice(bytes);
        self.at += bytes.len();
    }

    /// Zeros up to the next whole byte.
    pub(super) fn align(&mut self) {
        self.count = self.count.next_multiple_of(8);
        self.flush();
    }

    /// The number of bytes written, the last one filled up with zeros.
    pub(super) fn finish(mut self) -> usize {
        self.align();
        self.at
    }
}
