//! Floats that do not use all bits of their bytes, or use them otherwise than IEEE 754's single and double do.
//!
//! ```text
//! sign, exponent and mantissa anywhere in 1, 2, 4 or 8 bytes; the mantissa's first one is not stored
//! ```

use super::partial_int::widened;
use super::{FloatFormat, PartialFloat, StoredType};

/// Bits before the mantissa of a double, and those of the mantissa.
const DOUBLE_BIAS: i64 = 1023;
const DOUBLE_MANTISSA_BITS: u32 = 52;

/// The mantissa and the exponents of an IEEE float.
struct Ieee {
    mantissa_bits: u32,
    least: i64,
    highest: i64,
}

impl FloatFormat {
    /// IEEE 754's half precision: NumPy's float16.
    pub const HALF: Self =
        Self { size: 2, sign: 15, exponent: (10, 5), bias: 15, mantissa: (0, 10) };
    /// The upper half of an IEEE single: bfloat16.
    pub const BFLOAT16: Self =
        Self { size: 2, sign: 15, exponent: (7, 8), bias: 127, mantissa: (0, 7) };

    /// The name by which programs know it: `float16`, `bfloat16`, else its count of bits as in `float8`.
    pub fn name(&self) -> &'static str {
        match self {
            &Self::HALF => "float16",
            &Self::BFLOAT16 => "bfloat16",
            Self { size: 1, .. } => "float8",
            Self { size: 2, .. } => "float of 16 bits",
            Self { size: 4, .. } => "float of 32 bits",
            _ => "float of 64 bits",
        }
    }

    /// True where it has fewer bytes than any of netCDF's floats.
    pub fn is_small(&self) -> bool {
        self.size < 4
    }

    /// True where every number of it is an IEEE float of as many bytes (4 where it has fewer), exactly.
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

    /// True where this very number is one of it.
    pub fn holds(&self, value: f64) -> bool {
        self.is_valid() && self.value(self.bits(value)) == value
    }

    fn ieee(&self) -> Option<Ieee> {
        match self.size {
            1 | 2 | 4 => Some(Ieee { mantissa_bits: 23, least: -149, highest: 127 }),
            8 => Some(Ieee { mantissa_bits: DOUBLE_MANTISSA_BITS, least: -1074, highest: 1023 }),
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
            (exponent, mantissa) => match self.power_of(exponent) + DOUBLE_BIAS {
                // A double with the same fields, which is what nearly all are.
                stored @ 1..=2046 => f64::from_bits(
                    stored.cast_unsigned() << DOUBLE_MANTISSA_BITS
                        | mantissa << (DOUBLE_MANTISSA_BITS - self.mantissa.1),
                ),
                _ => self.scaled(mantissa | 1 << self.mantissa.1, exponent),
            },
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

impl PartialFloat {
    /// See [`FloatFormat::is_valid`].
    pub fn is_valid(&self) -> bool {
        self.format.is_valid()
    }

    /// The type of what [`PartialFloat::unpacked`] makes of it.
    pub fn whole(&self) -> StoredType {
        StoredType::Float { size: self.format.size.max(4), big_endian: cfg!(target_endian = "big") }
    }

    /// The same numbers as IEEE 754's single or double has them, in the machine's order. Zeros where it is not valid.
    pub fn unpacked(&self, stored: &[u8]) -> Vec<u8> {
        let count = stored.len() / self.format.size.max(1);
        let mut whole = vec![0; count * self.whole().size()];
        self.unpack_into(stored, &mut whole);
        whole
    }

    /// The same into `whole`, which has room for as many.
    pub fn unpack_into(&self, stored: &[u8], whole: &mut [u8]) {
        if !self.is_valid() {
            return;
        }
        let numbers = stored.chunks_exact(self.format.size);
        match self.whole().size() {
            4 => {
                for (number, into) in numbers.zip(whole.as_chunks_mut::<4>().0) {
                    *into = (self.value(number) as f32).to_ne_bytes();
                }
            }
            _ => {
                for (number, into) in numbers.zip(whole.as_chunks_mut::<8>().0) {
                    *into = self.value(number).to_ne_bytes();
                }
            }
        }
    }

    /// The inverse of [`PartialFloat::unpacked`], appended to `into`: see [`PartialFloat::pack_into`].
    pub fn pack(&self, whole: &[u8], into: &mut Vec<u8>) -> u64 {
        let start = into.len();
        into.resize(start + whole.len() / self.whole().size() * self.format.size, 0);
        self.pack_into(whole, &mut into[start..])
    }

    /// The inverse of [`PartialFloat::unpack_into`], with zeros in the bits that do not count. Numbers are rounded
    /// to the nearest, halves away from zero, and to infinity where they are beyond the largest, as libhdf5 has it;
    /// returns how many became infinite of numbers that are shown as larger ones than they are stored as.
    pub fn pack_into(&self, whole: &[u8], stored: &mut [u8]) -> u64 {
        if !self.is_valid() {
            return 0;
        }
        let numbers = stored.chunks_exact_mut(self.format.size);
        match self.whole().size() {
            4 => numbers
                .zip(whole.as_chunks::<4>().0)
                .map(|(into, number)| self.put(f32::from_ne_bytes(*number).into(), into))
                .sum(),
            _ => numbers
                .zip(whole.as_chunks::<8>().0)
                .map(|(into, number)| self.put(f64::from_ne_bytes(*number), into))
                .sum(),
        }
    }

    /// Replaces each of the numbers in `bytes` by the same number in the machine's form. Nothing where that has
    /// another size.
    pub(super) fn unpack_in_place(&self, bytes: &mut [u8]) {
        if !self.is_valid() || self.format.is_small() {
            return;
        }
        for number in bytes.chunks_exact_mut(self.format.size) {
            let value = self.value(number);
            match number.len() {
                4 => number.copy_from_slice(&(value as f32).to_ne_bytes()),
                _ => number.copy_from_slice(&value.to_ne_bytes()),
            }
        }
    }

    /// The inverse of [`PartialFloat::unpack_in_place`]; see [`PartialFloat::pack_into`].
    pub(super) fn pack_in_place(&self, bytes: &mut [u8]) {
        if !self.is_valid() || self.format.is_small() {
            return;
        }
        for number in bytes.chunks_exact_mut(self.format.size) {
            let value = match *number {
                [a, b, c, d] => f32::from_ne_bytes([a, b, c, d]).into(),
                [a, b, c, d, e, f, g, h] => f64::from_ne_bytes([a, b, c, d, e, f, g, h]),
                _ => continue,
            };
            self.put(value, number);
        }
    }

    fn value(&self, number: &[u8]) -> f64 {
        self.format.value(widened(number, self.big_endian))
    }

    /// Stores a number; 1 where a finite one became infinite that nobody could tell from its type.
    fn put(&self, value: f64, into: &mut [u8]) -> u64 {
        let bits = self.format.bits(value);
        into.copy_from_slice(&bits.to_le_bytes()[..into.len()]);
        if self.big_endian {
            into.reverse();
        }
        let is_lost =
            self.format.is_small() && value.is_finite() && self.format.value(bits).is_infinite();
        u64::from(is_lost)
    }
}
