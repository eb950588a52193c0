//! The symbols of a block: literals and repetitions, one after the other.

use super::bits::Bits;
use super::code::MAX_BITS;
use super::entry::{Entry, MAX_DISTANCE_EXTRA, MAX_LENGTH_EXTRA};
use super::tables::{DISTANCE_BITS, JOINED_BITS, PLAIN_BITS, Tables};
use crate::error::ErrorKind;
use crate::uninit::Output;

/// Where a stream stands.
pub(super) struct Place<'a, 'o> {
    pub(super) bits: Bits<'a>,
    pub(super) out: Output<'o>,
}

impl Place<'_, '_> {
    fn repeat(&mut self, distance: usize, length: usize) -> Result<(), ErrorKind> {
        if !self.out.repeat(distance, length) {
            return Err(self.no_repetition(distance));
        }
        Ok(())
    }

    #[cold]
    fn no_repetition(&self, distance: usize) -> ErrorKind {
        if distance > self.out.len() {
            return self.bits.corrupt("a repetition of what stands before the first byte");
        }
        self.out.overflow()
    }
}

/// Entries of literals that are decoded between two refills, at most.
const LITERALS_AT_ONCE: u32 = 2;

// After a refill, what is decoded before the next one leaves enough bits to look up what follows.
const LONGEST: u32 = MAX_BITS as u32;
const _: () = assert!((LITERALS_AT_ONCE + 1) * PLAIN_BITS <= Bits::REFILLED);
const _: () = assert!(JOINED_BITS + MAX_DISTANCE_EXTRA + PLAIN_BITS <= Bits::REFILLED);
const _: () = assert!(
    LONGEST + MAX_LENGTH_EXTRA + DISTANCE_BITS + MAX_DISTANCE_EXTRA + PLAIN_BITS <= Bits::REFILLED
);
const _: () = assert!(
    PLAIN_BITS + MAX_LENGTH_EXTRA + LONGEST + MAX_DISTANCE_EXTRA + PLAIN_BITS <= Bits::REFILLED
);
const _: () = assert!(LONGEST + MAX_LENGTH_EXTRA + LONGEST + MAX_DISTANCE_EXTRA <= Bits::REFILLED);

impl Tables {
    /// Decodes the symbols of a block up to its end.
    #[inline(always)]
    pub(super) fn decode(&self, place: &mut Place<'_, '_>) -> Result<(), ErrorKind> {
        if self.joined() {
            self.decode_by::<JOINED_BITS>(place)
        } else {
            self.decode_by::<PLAIN_BITS>(place)
        }
    }

    #[inline(always)]
    fn decode_by<const BITS: u32>(&self, place: &mut Place<'_, '_>) -> Result<(), ErrorKind> {
        loop {
            // Of its own, so that it stands in registers.
            let mut local = Place { bits: place.bits, out: place.out.take() };
            let run = self.run::<BITS>(&mut local);
            *place = local;
            run.map_err(|distance| place.no_repetition(distance))?;
            let end = self.step::<BITS>(place);
            // Before anything is made of bits that there are not.
            place.bits.check_end()?;
            if end? {
                return Ok(());
            }
        }
    }

    /// Decodes symbols as long as there is input to refill from at once, and room; and no word of an
    /// unusual kind. The error is the distance of a repetition that cannot be.
    #[inline(always)]
    fn run<const BITS: u32>(&self, place: &mut Place<'_, '_>) -> Result<(), usize> {
        let Place { bits, out } = place;
        let Some(bytes) = bits.ahead() else { return Ok(()) };
        bits.refill_with(bytes);
        let mut entry = self.symbol::<BITS>(bits.window());
        while let Some(bytes) = bits.ahead() {
            if entry.is_literals() {
                for _ in 0..LITERALS_AT_ONCE {
                    if !put_literals::<BITS>(out, entry) {
                        return Ok(());
                    }
                    bits.pass(entry.bits_and_more());
                    entry = self.symbol::<BITS>(bits.window());
                    if !entry.is_literals() {
                        break;
                    }
                }
                bits.refill_with(bytes);
            } else if BITS == JOINED_BITS && entry.is_repetition() {
                let distance = entry.distance(bits.window());
                let length = entry.whole_length();
                bits.pass(entry.bits_and_more());
                entry = self.symbol::<BITS>(bits.window());
                bits.refill_with(bytes);
                if !out.repeat_short(distance, length) {
                    return Err(distance);
                }
            } else if entry.is_length() {
                let length = entry.length(bits.window());
                let after = bits.window() >> entry.bits();
                let mut second = self.distance(after);
                if !second.is_repetition() {
                    if !second.is_further() || entry.code_bits() > BITS {
                        return Ok(());
                    }
                    second = self.long_distance(second, after);
                    if !second.is_repetition() {
                        return Ok(());
                    }
                }
                let distance = second.distance(after);
                bits.pass(entry.bits_and_more());
                bits.pass(second.bits_and_more());
                entry = self.symbol::<BITS>(bits.window());
                bits.refill_with(bytes);
                if !out.repeat(distance, length) {
                    return Err(distance);
                }
            } else if entry.is_further() {
                entry = self.long_symbol::<BITS>(entry, bits.window());
                if entry.is_literals() {
                    if !put_literals::<BITS>(out, entry) {
                        return Ok(());
                    }
                    bits.pass(entry.bits_and_more());
                    entry = self.symbol::<BITS>(bits.window());
                    bits.refill_with(bytes);
                }
            } else {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Decodes whatever comes next, with a look at everything. True at the end of the block.
    #[inline(never)]
    fn step<const BITS: u32>(&self, place: &mut Place<'_, '_>) -> Result<bool, ErrorKind> {
        let Place { bits, out } = place;
        bits.refill();
        let window = bits.window();
        let mut entry = self.symbol::<BITS>(window);
        if entry.is_further() {
            entry = self.long_symbol::<BITS>(entry, window);
        }
        bits.pass(entry.bits());
        if entry.is_literals() {
            out.extend(&entry.literals()[..entry.count()])?;
        } else if entry.is_repetition() {
            place.repeat(entry.distance(window), entry.whole_length())?;
        } else if entry.is_length() {
            let after = bits.window();
            let mut second = self.distance(after);
            if second.is_further() {
                second = self.long_distance(second, after);
            }
            if !second.is_repetition() {
                return Err(bits.corrupt("no valid distance"));
            }
            bits.pass(second.bits());
            place.repeat(second.distance(after), entry.length(window))?;
        } else if !entry.is_end_of_block() {
            return Err(bits.corrupt("no valid literal or length"));
        }
        Ok(entry.is_end_of_block())
    }
}

/// Appends what `entry` tells: where each tells a single literal, without a look at how many they are.
#[inline(always)]
fn put_literals<const BITS: u32>(out: &mut Output<'_>, entry: Entry) -> bool {
    if BITS == JOINED_BITS {
        out.put_some(entry.literals(), entry.count())
    } else {
        out.put_one(entry.literals()[0])
    }
}
