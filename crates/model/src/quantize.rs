//! Giving up bits that say nothing, so that compression finds more to leave out.
//!
//! The three ways of `nc_def_var_quantize`, bit for bit as libnetcdf 4.10 has them, before any filter.
//! Fill values, zeros and NaN stay as they are. Deliberately different: infinite values do too,
//! which libnetcdf turns into NaN or zero.

use std::f64::consts::{LN_2, LN_10};
use std::fmt;

use crate::data_type::Atomic;
use crate::number::Number;

const BITS_PER_DIGIT: f64 = LN_10 / LN_2;
const DIGITS_PER_BIT: f64 = LN_2 / LN_10;

/// How bits are given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Keeps the bits of decimal digits, and clears and sets the rest in turns, from one element to
    /// the next.
    BitGroom,
    /// Rounds each number to decimal digits, with as few bits as its value allows.
    GranularBitRound,
    /// Rounds to bits.
    BitRound,
}

/// A quantization of floats: how, and how many significant digits or bits are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quantization {
    mode: Mode,
    significant: u32,
}

/// Why there can be no such quantization; netCDF's `NC_EINVAL`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum QuantizeFault {
    /// Only floats are quantized.
    NotAFloat { data_type: Atomic },
    /// More digits or bits than the type has, or none.
    Significant { mode: Mode, asked: i64, highest: u32 },
}

impl Mode {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::BitGroom, Self::GranularBitRound, Self::BitRound];

    /// The attribute of a quantized variable that tells the significant digits or bits.
    pub fn attribute_name(self) -> &'static str {
        match self {
            Self::BitGroom => "_QuantizeBitGroomNumberOfSignificantDigits",
            Self::GranularBitRound => "_QuantizeGranularBitRoundNumberOfSignificantDigits",
            Self::BitRound => "_QuantizeBitRoundNumberOfSignificantBits",
        }
    }

    fn highest<T: Float>(self) -> u32 {
        match self {
            Self::BitGroom | Self::GranularBitRound => T::DIGITS,
            Self::BitRound => T::EXPLICIT_BITS,
        }
    }
}

impl Quantization {
    /// Keeps `significant` digits or, with [`Mode::BitRound`], bits of numbers of that type: 1 to 7
    /// digits or 23 bits of floats, 1 to 15 digits or 52 bits of doubles.
    ///
    /// # Errors
    /// [`QuantizeFault`].
    pub fn new(mode: Mode, significant: i64, data_type: Atomic) -> Result<Self, QuantizeFault> {
        let highest = match data_type {
            Atomic::Float => mode.highest::<f32>(),
            Atomic::Double => mode.highest::<f64>(),
            _ => return Err(QuantizeFault::NotAFloat { data_type }),
        };
        match u32::try_from(significant) {
            Ok(kept @ 1..) if kept <= highest => Ok(Self { mode, significant: kept }),
            _ => Err(QuantizeFault::Significant { mode, asked: significant, highest }),
        }
    }

    /// How bits are given up.
    pub fn mode(self) -> Mode {
        self.mode
    }

    /// The significant digits or bits, as the attribute tells them.
    pub fn significant(self) -> u32 {
        self.significant
    }

    /// Quantizes numbers where they stand, except those that equal `fill`. With [`Mode::BitGroom`]
    /// the result depends on where in `numbers` a number stands: libnetcdf counts from the first of
    /// each write.
    pub fn apply<T: Float>(self, numbers: &mut [T], fill: T) {
        let kept_bits = match self.mode {
            Mode::BitGroom => (f64::from(self.significant) * BITS_PER_DIGIT).ceil() as u32 + 1,
            Mode::BitRound => self.significant,
            Mode::GranularBitRound => {
                return for_each_finite(numbers, fill, |number: T| {
                    round(number, T::EXPLICIT_BITS as i32 - self.granular_bits(number.into()))
                });
            }
        };
        let free_bits = T::EXPLICIT_BITS as i32 - kept_bits as i32;
        if self.mode == Mode::BitRound {
            return for_each_finite(numbers, fill, |number| round(number, free_bits));
        }
        let mask = low_bits(free_bits);
        let mut pairs = numbers.chunks_exact_mut(2);
        for pair in &mut pairs {
            for_each_finite(&mut pair[..1], fill, |number| T::of_bits(number.bits() & !mask));
            for_each_finite(&mut pair[1..], fill, |number| T::of_bits(number.bits() | mask));
        }
        let last = pairs.into_remainder();
        for_each_finite(last, fill, |number| T::of_bits(number.bits() & !mask));
    }

    /// How many explicit bits this number needs for its digits (Delaunay et al. 2019, equations 7 and
    /// 8), less the one that rounding makes up for. -1 keeps the power of two only.
    fn granular_bits(self, number: f64) -> i32 {
        let (fraction, exponent) = split(number);
        let log10 = fraction.abs().log10();
        let exponent = f64::from(exponent);
        let digits_before_point = (exponent * DIGITS_PER_BIT + log10).floor() + 1.0;
        let digits = digits_before_point - f64::from(self.significant);
        let lowest_power = (BITS_PER_DIGIT * digits).floor();
        let highest_power = (exponent - BITS_PER_DIGIT * log10).floor();
        (highest_power - lowest_power).abs() as i32 - 1
    }
}

/// Replaces what is neither zero nor the fill value nor NaN nor infinite.
fn for_each_finite<T: Float>(numbers: &mut [T], fill: T, quantize: impl Fn(T) -> T) {
    for number in numbers {
        let old: T = *number;
        if old != fill && old.into() != 0.0 && old.into().is_finite() {
            *number = quantize(old);
        }
    }
}

/// Rounds to a multiple of the lowest bit that is not free, half away from zero.
fn round<T: Float>(number: T, free_bits: i32) -> T {
    let mask = low_bits(free_bits);
    // A carry goes on into the exponent, as it should.
    T::of_bits((number.bits() + (mask ^ (mask >> 1))) & !mask)
}

fn low_bits(count: i32) -> u64 {
    u32::try_from(count).ok().and_then(|count| 1_u64.checked_shl(count)).map_or(0, |end| end - 1)
}

/// The number as a fraction of 0.5 to 1 (with its sign) times a power of two; for finite
/// numbers other than 0.
fn split(number: f64) -> (f64, i32) {
    const EXPONENT: u64 = 0x7ff << 52;
    let (normal, shift) = match number.is_subnormal() {
        true => (number * 2_f64.powi(54), -54),
        false => (number, 0),
    };
    let bits = normal.to_bits();
    let exponent = ((bits & EXPONENT) >> 52) as i32;
    (f64::from_bits(bits & !EXPONENT | 1022 << 52), exponent - 1022 + shift)
}

/// A float that can be quantized: `f32` and `f64`, as [`Number`] is sealed.
pub trait Float: Number + Into<f64> {
    /// Bits of the significand that are stored.
    const EXPLICIT_BITS: u32;
    /// The most decimal digits that netCDF lets a user ask for.
    const DIGITS: u32;

    /// The bits, as the lowest of 64.
    fn bits(self) -> u64;

    /// The number of the lowest of 64 bits.
    fn of_bits(bits: u64) -> Self;
}

impl Float for f32 {
    const EXPLICIT_BITS: u32 = Self::MANTISSA_DIGITS - 1;
    const DIGITS: u32 = 7;

    fn bits(self) -> u64 {
        self.to_bits().into()
    }

    fn of_bits(bits: u64) -> Self {
        Self::from_bits(bits as u32)
    }
}

impl Float for f64 {
    const EXPLICIT_BITS: u32 = Self::MANTISSA_DIGITS - 1;
    const DIGITS: u32 = Self::DIGITS;

    fn bits(self) -> u64 {
        self.to_bits()
    }

    fn of_bits(bits: u64) -> Self {
        Self::from_bits(bits)
    }
}

impl fmt::Display for QuantizeFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAFloat { data_type } => {
                write!(f, "only float and double are quantized, not {}", data_type.name())
            }
            Self::Significant { mode, asked, highest } => {
                let unit = if *mode == Mode::BitRound { "bits" } else { "digits" };
                write!(f, "{asked} significant {unit} are not 1 to {highest}")
            }
        }
    }
}

impl std::error::Error for QuantizeFault {}

#[cfg(test)]
mod tests;
