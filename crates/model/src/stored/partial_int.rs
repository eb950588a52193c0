//! Integers that do not use all bits of their bytes.
//!
//! ```text
//! bits   size * 8 ...  bit_offset + precision  ...  bit_offset ...  0
//!        padding     |  the number             |  padding
//! ```

use super::{PartialInt, StoredType};

impl PartialInt {
    /// True where the bits lie within 1, 2, 4 or 8 bytes.
    pub fn is_valid(&self) -> bool {
        matches!(self.size, 1 | 2 | 4 | 8)
            && self.precision > 0
            && self
                .bit_offset
                .checked_add(self.precision)
                .is_some_and(|end| end as usize <= self.size * 8)
    }

    /// The same without unused bits named, where there are none.
    pub fn simplified(self) -> StoredType {
        let Self { size, big_endian, signed, bit_offset, precision } = self;
        match (bit_offset == 0 && precision as usize == size * 8, signed) {
            (true, true) => StoredType::Int { size, big_endian },
            (true, false) => StoredType::UInt { size, big_endian },
            (false, _) => StoredType::PartialInt(self),
        }
    }

    /// The type of what [`PartialInt::unpack`] makes of it.
    pub fn whole(&self) -> StoredType {
        let (size, big_endian) = (self.size, cfg!(target_endian = "big"));
        match self.signed {
            true => StoredType::Int { size, big_endian },
            false => StoredType::UInt { size, big_endian },
        }
    }

    /// Replaces each of the numbers in `bytes` by the same number in the machine's order, with all
    /// bits of its bytes in use. Does nothing where the bits do not lie within the bytes.
    pub fn unpack(&self, bytes: &mut [u8]) {
        if !self.is_valid() {
            return;
        }
        for number in bytes.chunks_exact_mut(self.size) {
            let unpacked = self.bits(widened(number, self.big_endian)).to_le_bytes();
            number.copy_from_slice(&unpacked[..self.size]);
            if cfg!(target_endian = "big") {
                number.reverse();
            }
        }
    }

    /// The inverse of [`PartialInt::unpack`], with zeros in the bits that do not count. What has more
    /// bits becomes the nearest number that has not, as libhdf5 has it; returns how many those
    /// were.
    pub fn pack(&self, bytes: &mut [u8]) -> u64 {
        if !self.is_valid() {
            return 0;
        }
        let mut misfit_count = 0;
        for number in bytes.chunks_exact_mut(self.size) {
            let wide = widened(number, cfg!(target_endian = "big"));
            let (bits, fits) = self.nearest_bits(wide);
            misfit_count += u64::from(!fits);
            let packed = (bits << self.bit_offset).to_le_bytes();
            number.copy_from_slice(&packed[..self.size]);
            if self.big_endian {
                number.reverse();
            }
        }
        misfit_count
    }

    /// The lowest bits of the nearest number that has no more than count, and whether it is the
    /// same; `number` is as wide as its bytes.
    fn nearest_bits(&self, number: u64) -> (u64, bool) {
        let mask = u64::MAX >> (64 - self.precision);
        if !self.signed {
            return (number.min(mask), number <= mask);
        }
        let unused = 64 - 8 * self.size as u32;
        let number = (number << unused).cast_signed() >> unused;
        let highest = (mask >> 1).cast_signed();
        let nearest = number.clamp(-highest - 1, highest);
        (nearest.cast_unsigned() & mask, nearest == number)
    }

    /// The number in `stored`, sign extended to 64 bits where it is signed.
    fn bits(&self, stored: u64) -> u64 {
        // What is above the number goes out to the left, then the number comes down.
        let above = 64 - self.precision;
        let left = (stored >> self.bit_offset) << above;
        if self.signed { (left.cast_signed() >> above).cast_unsigned() } else { left >> above }
    }
}

/// The bytes of a number, of which there are at most eight, as the low ones of an integer.
pub(super) fn widened(number: &[u8], big_endian: bool) -> u64 {
    let mut wide = [0u8; 8];
    let low = &mut wide[..number.len()];
    low.copy_from_slice(number);
    if big_endian {
        low.reverse();
    }
    u64::from_le_bytes(wide)
}
