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
            let mut wide = [0u8; 8];
            wide[..self.size].copy_from_slice(number);
            if self.big_endian {
                wide[..self.size].reverse();
            }
            let unpacked = self.bits(u64::from_le_bytes(wide)).to_le_bytes();
            number.copy_from_slice(&unpacked[..self.size]);
            if cfg!(target_endian = "big") {
                number.reverse();
            }
        }
    }

    /// The number in `stored`, sign extended to 64 bits where it is signed.
    fn bits(&self, stored: u64) -> u64 {
        // What is above the number goes out to the left, then the number comes down.
        let above = 64 - self.precision;
        let left = (stored >> self.bit_offset) << above;
        if self.signed { (left.cast_signed() >> above).cast_unsigned() } else { left >> above }
    }
}
