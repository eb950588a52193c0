//! Floats that do not use all bits of their bytes, or use them otherwise than IEEE 754 does.
//!
//! ```text
//! sign, exponent and mantissa anywhere in 4 or 8 bytes; the mantissa's first one is not stored
//! ```

use super::partial_int::widened;
use super::{PartialFloat, StoredType};

/// The mantissa and the exponents of a float of 4 or 8 bytes.
struct Ieee {
    mantissa_bits: u32,
    least: i64,
    highest: i64,
}

impl PartialFloat {
    /// True where every number of it is a float or double of as many bytes, exactly.
    pub fn is_valid(&self) -> bool {
        let Some(whole) = self.ieee() else { return false };
        let bits = 8 * self.size as u32;
        let fits = |from: u32, count: u32| {
            count > 0 && from.checked_add(count).is_some_and(|end| end <= bits)
        };
        fits(self.sign, 1)
            && fits(self.exponent.0, self.exponent.1)
            && fits(self.mantissa.0, self.mantissa.1)
            && self.mantissa.1 <= whole.mantissa_bits
            && self.exponent.1 <= 11
            && self.power_of(1) - i64::from(self.mantissa.1) >= whole.least
            && self.power_of(self.highest_exponent() - 1) <= whole.highest
    }

    /// The type of what [`PartialFloat::unpack`] makes of it.
    pub fn whole(&self) -> StoredType {
        StoredType::Float { size: self.size, big_endian: cfg!(target_endian = "big") }
    }

    /// Replaces each of the numbers in `bytes` by the same number as IEEE 754 has it in the machine's order.
    /// Does nothing where it is not valid.
    pub fn unpack(&self, bytes: &mut [u8]) {
        if !self.is_valid() {
            return;
        }
        for number in bytes.chunks_exact_mut(self.size) {
            let value = self.value(widened(number, self.big_endian));
            match self.size {
                4 => number.copy_from_slice(&(value as f32).to_ne_bytes()),
                _ => number.copy_from_slice(&value.to_ne_bytes()),
            }
        }
    }

    /// The inverse of [`PartialFloat::unpack`], with zeros in the bits that do not count. Numbers are rounded to
    /// the nearest, halves away from zero, and to infinity where they are beyond the largest, as libhdf5 has it.
    pub fn pack(&self, bytes: &mut [u8]) {
        if !self.is_valid() {
            return;
        }
        for number in bytes.chunks_exact_mut(self.size) {
            let value = match *number {
                [a, b, c, d] => f64::from(f32::from_ne_bytes([a, b, c, d])),
                [a, b, c, d, e, f, g, h] => f64::from_ne_bytes([a, b, c, d, e, f, g, h]),
                _ => continue,
            };
            let packed = self.bits(value).to_le_bytes();
            number.copy_from_slice(&packed[..self.size]);
            if self.big_endian {
                number.reverse();
            }
        }
    }

    fn ieee(&self) -> Option<Ieee> {
        match self.size {
            4 => Some(Ieee { mantissa_bits: 23, least: -149, highest: 127 }),
            8 => Some(Ieee { mantissa_bits: 52, least: -1074, highest: 1023 }),
            _ => None,
        }
    }

    fn highest_exponent(&self) -> u64 {
        (1 << self.exponent.1) - 1
    }

    /// The power of two of the one before the mantissa.
    fn power_of(&self, exponent: u64) -> i64 {
        exponent as i64 - i64::from(self.bias)
    }

    fn value(&self, bits: u64) -> f64 {
        let field = |(from, count): (u32, u32)| bits >> from & ((1 << count) - 1);
        let (exponent, mantissa) = (field(self.exponent), field(self.mantissa));
        let magnitude = match (exponent, mantissa) {
            (exponent, 0) if exponent == self.highest_exponent() => f64::INFINITY,
            (exponent, _) if exponent == self.highest_exponent() => f64::NAN,
            (0, mantissa) => self.scaled(mantissa, 1),
            (exponent, mantissa) => self.scaled(mantissa | 1 << self.mantissa.1, exponent),
        };
        if field((self.sign, 1)) == 1 { -magnitude } else { magnitude }
    }

    fn scaled(&self, mantissa: u64, exponent: u64) -> f64 {
        let power = self.power_of(exponent) - i64::from(self.mantissa.1);
        // In two steps, as neither 2^-1074 times a mantissa nor its inverse is a double alone.
        let half = power / 2;
        let two_to = |power: i64| 2f64.powi(power as i32);
        mantissa as f64 * two_to(half) * two_to(power - half)
    }

    fn bits(&self, value: f64) -> u64 {
        let sign = u64::from(value.is_sign_negative()) << self.sign;
        let infinite = self.highest_exponent();
        let (exponent, mantissa) = match value.abs() {
            value if value.is_nan() => (infinite, (1 << self.mantissa.1) - 1),
            value if value.is_infinite() => (infinite, 0),
            value => self.nearest(value),
        };
        sign | exponent << self.exponent.0 | mantissa << self.mantissa.0
    }

    /// Exponent and mantissa of the nearest number to a finite one that is not negative.
    fn nearest(&self, value: f64) -> (u64, u64) {
        if value == 0.0 {
            return (0, 0);
        }
        let implied = 1u64 << self.mantissa.1;
        // The lowest power of two that the value is not below; a subnormal double has fewer bits.
        let bits = value.to_bits();
        let (stored, fraction) = (bits >> 52, bits & ((1 << 52) - 1));
        let significand = if stored == 0 { fraction } else { fraction | 1 << 52 };
        let lowest = (stored.max(1) as i64) - 1023 - 52;
        let power = lowest + 63 - i64::from(significand.leading_zeros());
        let exponent = (power + i64::from(self.bias)).max(1);
        // The last bit of the mantissa at that exponent.
        let last = exponent - i64::from(self.bias) - i64::from(self.mantissa.1);
        let rounded = match last - lowest {
            shift if shift > 63 => 0,
            shift if shift > 0 => ((significand >> (shift - 1)) + 1) >> 1,
            shift => significand << -shift,
        };
        let highest = self.highest_exponent();
        let (exponent, rounded) = match rounded {
            // Not to infinity by rounding alone.
            rounded if rounded == implied << 1 && exponent as u64 + 1 == highest => {
                (exponent as u64, rounded - 1)
            }
            rounded if rounded == implied << 1 => (exponent as u64 + 1, implied),
            rounded => (exponent as u64, rounded),
        };
        match rounded {
            _ if exponent >= highest => (highest, 0),
            rounded if rounded < implied => (0, rounded),
            rounded => (exponent, rounded & (implied - 1)),
        }
    }
}
