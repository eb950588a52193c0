//! Bits of a stream from each byte's least significant one up, as deflate packs them.

use super::entry::low_bits;
use crate::error::ErrorKind;

/// Reads bits. Behind the end of the input stand zeros, and [`Self::check_end`] says so.
#[derive(Clone, Copy)]
pub(super) struct Bits<'a> {
    input: &'a [u8],
    /// The byte that comes after those whose bits `count` counts.
    next: usize,
    /// The bits that come next, the first one lowest. Behind the first `count` of them stands nothing,
    /// or what the coming bytes will put there again.
    window: u64,
    /// Only the six lowest bits count.
    count: u32,
}

impl<'a> Bits<'a> {
    /// Bits that there are at least after each refill.
    pub(super) const REFILLED: u32 = 56;

    /// The bits of `input` from byte `start` on.
    pub(super) fn new(input: &'a [u8], start: usize) -> Self {
        Self { input, next: start, window: 0, count: 0 }
    }

    /// The next bits; see [`Self::REFILLED`].
    #[inline(always)]
    pub(super) fn window(&self) -> u64 {
        self.window
    }

    /// Passes bits, as many as the six lowest bits of `count` say.
    #[inline(always)]
    pub(super) fn pass(&mut self, count: u32) {
        self.window >>= count & 63;
        self.count = self.count.wrapping_sub(count);
    }

    /// The next `count` bits, of those that there are.
    pub(super) fn take(&mut self, count: u32) -> usize {
        let bits = self.window & low_bits(count);
        self.pass(count);
        bits as usize
    }

    /// Eight bytes more, for a refill without a look; nothing where there are fewer.
    #[inline(always)]
    pub(super) fn ahead(&self) -> Option<u64> {
        let rest = self.input.get(self.next..)?;
        rest.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
    }

    /// Takes as many of `bytes` as there is room for, which [`Self::ahead`] gave.
    #[inline(always)]
    pub(super) fn refill_with(&mut self, bytes: u64) {
        let count = self.count & 63;
        self.window |= bytes << count;
        self.next += ((63 - count) >> 3) as usize;
        self.count = count | Self::REFILLED;
    }

    /// Takes bytes until there are [`Self::REFILLED`] bits; zeros where there are no more.
    pub(super) fn refill(&mut self) {
        if let Some(bytes) = self.ahead() {
            return self.refill_with(bytes);
        }
        self.count &= 63;
        while self.count < Self::REFILLED {
            let byte = self.input.get(self.next).copied().unwrap_or(0);
            self.window |= u64::from(byte) << self.count;
            self.next += 1;
            self.count += 8;
        }
    }

    /// The byte that the next bit stands in.
    pub(super) fn at_byte(&self) -> usize {
        self.next - (self.count & 63) as usize / 8
    }

    fn overrun(&self) -> bool {
        self.at_byte() > self.input.len()
    }

    /// Passes the bits of a byte begun, and gives the next `len` whole bytes.
    pub(super) fn bytes(&mut self, len: usize) -> Result<&'a [u8], ErrorKind> {
        let at = self.at_byte();
        let rest = self.input.get(at..).unwrap_or_default();
        let bytes = rest.get(..len).ok_or_else(|| self.corrupt(CUT_SHORT))?;
        *self = Self::new(self.input, at + len);
        Ok(bytes)
    }

    /// An error where bits have been passed that there are not.
    pub(super) fn check_end(&self) -> Result<(), ErrorKind> {
        if self.overrun() { Err(self.corrupt(CUT_SHORT)) } else { Ok(()) }
    }

    /// The error of a stream that has something wrong before the next bit, if it does not end before.
    #[cold]
    pub(super) fn corrupt(&self, what: &'static str) -> ErrorKind {
        let what = if self.overrun() { CUT_SHORT } else { what };
        ErrorKind::Corrupt { what, at_byte: self.at_byte().min(self.input.len()) }
    }
}

const CUT_SHORT: &str = "a zlib stream cut short";
