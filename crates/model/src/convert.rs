//! Numbers of one type into numbers of another, by netCDF's rules.
//!
//! netCDF converts every element, also those that do not fit, and reports that some did not
//! (`NC_ERANGE`). What does not fit is told by comparing before the fraction is cut off: 127.5 is
//! out of range for a byte and -0.5 for every unsigned type. NaN is never reported. What an element
//! that does not fit becomes depends on the format ([`Rules`]).
//!
//! Deliberately different: where C leaves a cast of a float undefined, the result here is the
//! nearest value of the integer type, and 0 for NaN, on every machine. And a float of exactly
//! 2^32 for `uint`, 2^63 for `int64` or 2^64 for `uint64`, which netCDF-C takes to be in range
//! because it compares with a rounded bound, is reported.

mod elements;

use std::fmt;

use bytemuck::Pod;

use crate::data_type::Atomic;
pub use crate::number::Number;
use crate::values::Values;
pub use elements::ElementConversion;

/// How many elements are converted before the count of the misfits is carried to 64 bits.
const BLOCK_ELEMENTS: usize = 4096;

/// Where formats convert differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// What an element that does not fit becomes.
    pub misfit: Misfit,
    /// True where bytes are signed or unsigned as the reader has it, so that `byte` to `ubyte`
    /// keeps the bits and is always in range.
    pub byte_is_either: bool,
}

/// What an element that does not fit its new type becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Misfit {
    /// What a cast makes of it: integers keep their low bits, floats become the nearest integer
    /// value, doubles become an infinite float.
    Cast,
    /// The default fill value of the new type.
    Fill,
    /// The nearest value of the new type; a double becomes an infinite float.
    Nearest,
    /// What gcc makes of a cast for x86-64: integers keep their low bits, also those that floats become on
    /// the way; a double becomes an infinite float.
    C,
    /// The same where floats become unsigned numbers of 64 bits by way of signed ones, as in netCDF-C 4.9's
    /// netCDF-4 files, but for those that fit.
    SignedC,
    /// What stood at its place: for [`convert`] alone, into memory that holds something. Of integers the
    /// low bits, of doubles the largest float, as netCDF-C leaves them for readers of classic files.
    Keep,
}

impl Rules {
    /// Files in the netCDF-4 format.
    pub const NETCDF4: Self = Self { misfit: Misfit::Cast, byte_is_either: false };
    /// Files in the netCDF-4 format with the classic model.
    pub const NETCDF4_CLASSIC: Self = Self { misfit: Misfit::Cast, byte_is_either: true };
    /// CDF-1 and CDF-2. netCDF-C puts fill values where it was built so, as in PyPI's netCDF4.
    pub const CLASSIC: Self = Self { misfit: Misfit::Fill, byte_is_either: true };
    /// CDF-5, which has an unsigned byte of its own.
    pub const CLASSIC_64BIT_DATA: Self = Self { misfit: Misfit::Fill, byte_is_either: false };
    /// HDF5's own rules, where the caller of libhdf5 handles no exceptions: between the source of
    /// a virtual data set and that itself.
    pub const HDF5: Self = Self { misfit: Misfit::Nearest, byte_is_either: false };
}

/// How a conversion went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RangeReport {
    /// Elements converted.
    pub element_count: u64,
    /// Those of them that did not fit; netCDF's `NC_ERANGE` when there is one.
    pub out_of_range_count: u64,
}

impl RangeReport {
    /// True where every element fitted.
    pub fn is_in_range(&self) -> bool {
        self.out_of_range_count == 0
    }

    /// Counts those of another conversion too.
    pub fn add(&mut self, other: Self) {
        self.element_count += other.element_count;
        self.out_of_range_count += other.out_of_range_count;
    }
}

/// Why there is no conversion at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ConvertError {
    /// Between text and numbers; netCDF's `NC_ECHAR`.
    CharAndNumber { from: Atomic, to: Atomic },
    /// From or to something that is neither number nor char; netCDF's `NC_EBADTYPE`.
    NotANumber,
    /// The source and the target hold different counts of elements, or part of one.
    Length { source_bytes: usize, target_bytes: usize },
}

impl fmt::Display for ConvertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CharAndNumber { from, to } => {
                write!(f, "{} does not convert to {}", from.name(), to.name())
            }
            Self::NotANumber => f.write_str("only numbers convert to numbers"),
            Self::Length { source_bytes, target_bytes } => write!(
                f,
                "{source_bytes} bytes do not convert to {target_bytes}: the counts of elements \
                 differ"
            ),
        }
    }
}

impl std::error::Error for ConvertError {}

/// Converts all of `source`, elements of type `from`, into `target`, elements of type `to`; both in
/// the machine's byte order, aligned or not.
///
/// # Errors
/// [`ConvertError`], and then nothing is written.
pub fn convert(
    source: &[u8],
    from: Atomic,
    target: &mut [u8],
    to: Atomic,
    rules: Rules,
) -> Result<RangeReport, ConvertError> {
    let is_char = |atomic| atomic == Atomic::Char;
    if from == Atomic::String || to == Atomic::String {
        return Err(ConvertError::NotANumber);
    }
    if is_char(from) != is_char(to) {
        return Err(ConvertError::CharAndNumber { from, to });
    }
    let element_count = source.len() / from.size();
    if !source.len().is_multiple_of(from.size())
        || !target.len().is_multiple_of(to.size())
        || target.len() / to.size() != element_count
    {
        let (source_bytes, target_bytes) = (source.len(), target.len());
        return Err(ConvertError::Length { source_bytes, target_bytes });
    }
    let one_byte = |atomic| matches!(atomic, Atomic::Byte | Atomic::UByte);
    let out_of_range_count =
        if from == to || (rules.byte_is_either && one_byte(from) && one_byte(to)) {
            target.copy_from_slice(source);
            0
        } else {
            convert_from(source, from, target, to, rules.misfit)
        };
    Ok(RangeReport { element_count: element_count as u64, out_of_range_count })
}

macro_rules! for_number {
    ($atomic:expr, $call:ident [$($first:ty)?] $arguments:tt) => {
        match $atomic {
            Atomic::Byte => $call::<$($first,)? i8> $arguments,
            Atomic::UByte => $call::<$($first,)? u8> $arguments,
            Atomic::Short => $call::<$($first,)? i16> $arguments,
            Atomic::UShort => $call::<$($first,)? u16> $arguments,
            Atomic::Int => $call::<$($first,)? i32> $arguments,
            Atomic::UInt => $call::<$($first,)? u32> $arguments,
            Atomic::Int64 => $call::<$($first,)? i64> $arguments,
            Atomic::UInt64 => $call::<$($first,)? u64> $arguments,
            Atomic::Float => $call::<$($first,)? f32> $arguments,
            Atomic::Double => $call::<$($first,)? f64> $arguments,
            // `convert` lets neither of them come here.
            Atomic::Char | Atomic::String => 0,
        }
    };
}

fn convert_from(source: &[u8], from: Atomic, target: &mut [u8], to: Atomic, misfit: Misfit) -> u64 {
    for_number!(from, convert_to[](source, target, to, misfit))
}

fn convert_to<S: CastAll>(source: &[u8], target: &mut [u8], to: Atomic, misfit: Misfit) -> u64 {
    for_number!(to, convert_elements[S](source, target, misfit))
}

fn convert_elements<S: Cast<D>, D: Number>(
    source: &[u8],
    target: &mut [u8],
    misfit: Misfit,
) -> u64 {
    match misfit {
        Misfit::Cast => kernel::<S, D>(source, target, S::cast),
        Misfit::Fill => kernel::<S, D>(source, target, |number| {
            let (value, fits) = number.cast();
            (if fits { value } else { D::DEFAULT_FILL }, fits)
        }),
        Misfit::Nearest => kernel::<S, D>(source, target, |number| {
            let (_, fits) = number.cast();
            (number.nearest(), fits)
        }),
        Misfit::C => kernel::<S, D>(source, target, |number| {
            let (_, fits) = number.cast();
            (number.c_cast(), fits)
        }),
        Misfit::SignedC => kernel::<S, D>(source, target, |number| {
            let (_, fits) = number.cast();
            (number.signed_c_cast(), fits)
        }),
        Misfit::Keep => keeping_kernel::<S, D>(source, target),
    }
}

/// The loop itself, without a branch in it: the compiler makes it one of vector instructions.
fn kernel<S: Cast<D>, D: Number>(
    source: &[u8],
    target: &mut [u8],
    cast: impl Fn(S) -> (D, bool),
) -> u64 {
    let source_blocks = source.chunks(BLOCK_ELEMENTS * size_of::<S>());
    let target_blocks = target.chunks_mut(BLOCK_ELEMENTS * size_of::<D>());
    let mut misfit_count = 0u64;
    for (from, to) in source_blocks.zip(target_blocks) {
        let mut block_misfits = 0u32;
        let elements = from.chunks_exact(size_of::<S>()).zip(to.chunks_exact_mut(size_of::<D>()));
        for (from, to) in elements {
            let (value, fits) = cast(bytemuck::pod_read_unaligned::<S>(from));
            to.copy_from_slice(bytemuck::bytes_of(&value));
            block_misfits += u32::from(!fits);
        }
        misfit_count += u64::from(block_misfits);
    }
    misfit_count
}

/// The loop for elements that stay where no number comes for them.
fn keeping_kernel<S: Cast<D>, D: Number>(source: &[u8], target: &mut [u8]) -> u64 {
    let elements = source.chunks_exact(size_of::<S>()).zip(target.chunks_exact_mut(size_of::<D>()));
    let mut misfit_count = 0;
    for (from, to) in elements {
        let (value, fits) = bytemuck::pod_read_unaligned::<S>(from).kept();
        misfit_count += u64::from(!fits);
        if let Some(value) = value {
            to.copy_from_slice(bytemuck::bytes_of(&value));
        }
    }
    misfit_count
}

impl Values {
    /// The numbers as numbers of type `T`.
    ///
    /// # Errors
    /// [`ConvertError`] where the values are text or of a user-defined type.
    pub fn to_numbers<T: Number>(
        &self,
        rules: Rules,
    ) -> Result<(Vec<T>, RangeReport), ConvertError> {
        let from = self.atomic().ok_or(ConvertError::NotANumber)?;
        let source = self.native_bytes().ok_or(ConvertError::NotANumber)?;
        let mut numbers = vec![T::zeroed(); self.len()];
        let report =
            convert(source, from, bytemuck::cast_slice_mut(&mut numbers), T::ATOMIC, rules)?;
        Ok((numbers, report))
    }

    /// The numbers as doubles, to the precision that doubles have; `None` for anything else.
    pub fn to_f64(&self) -> Option<Vec<f64>> {
        self.to_numbers(Rules::NETCDF4).ok().map(|(numbers, _)| numbers)
    }
}

/// A number that converts to numbers of type `D`.
pub trait Cast<D>: Pod {
    /// The number as a `D`, and whether it fits there.
    fn cast(self) -> (D, bool);

    /// The nearest `D`: what a cast makes of floats, and of integers the highest or lowest `D`
    /// where they are beyond that.
    fn nearest(self) -> D {
        self.cast().0
    }

    /// What C makes of it; see [`Misfit::C`].
    fn c_cast(self) -> D {
        self.cast().0
    }

    /// See [`Misfit::SignedC`].
    fn signed_c_cast(self) -> D {
        self.c_cast()
    }

    /// What is written in its place, and whether it fits; see [`Misfit::Keep`].
    fn kept(self) -> (Option<D>, bool) {
        let (value, fits) = self.cast();
        (Some(value), fits)
    }
}

/// A number that converts to every number.
trait CastAll:
    Cast<i8>
    + Cast<u8>
    + Cast<i16>
    + Cast<u16>
    + Cast<i32>
    + Cast<u32>
    + Cast<i64>
    + Cast<u64>
    + Cast<f32>
    + Cast<f64>
{
}

macro_rules! from_integers {
    ($($source:ident)*) => {$(
        from_integers!(@to $source: i8 u8 i16 u16 i32 u32 i64 u64);
        impl Cast<f32> for $source {
            fn cast(self) -> (f32, bool) {
                (self as f32, true)
            }
        }
        impl Cast<f64> for $source {
            fn cast(self) -> (f64, bool) {
                (self as f64, true)
            }
        }
        impl CastAll for $source {}
    )*};
    (@to $source:ident: $($target:ident)*) => {$(
        impl Cast<$target> for $source {
            #[allow(unused_comparisons, clippy::unnecessary_cast)]
            fn cast(self) -> ($target, bool) {
                // It fits when it survives the way there and back, and keeps its sign there.
                let value = self as $target;
                (value, (value as $source == self) & ((value < 0) == (self < 0)))
            }

            #[allow(unused_comparisons)]
            fn nearest(self) -> $target {
                match self.cast() {
                    (value, true) => value,
                    _ if self < 0 => <$target>::MIN,
                    _ => <$target>::MAX,
                }
            }
        }
    )*};
}

macro_rules! from_floats {
    ($($source:ident)*) => {$(
        from_floats!(@to $source: i8 u8 i16 u16 i32 u32 i64 u64);
        impl CastAll for $source {}
    )*};
    (@to $source:ident: $($target:ident)*) => {$(
        impl Cast<$target> for $source {
            fn cast(self) -> ($target, bool) {
                const LOW: $source = <$target>::MIN as $source;
                const HIGH: $source = <$target>::MAX as $source;
                // The highest integer, or the power of two above it where it has more bits than
                // the float; that itself does not fit.
                const HIGH_FITS: bool = HIGH as i128 == <$target>::MAX as i128;
                let above = if HIGH_FITS { self > HIGH } else { self >= HIGH };
                (self as $target, !((self < LOW) | above))
            }

            fn c_cast(self) -> $target {
                // The registers that a float can be turned into, which hold the lowest value where it is
                // beyond both ends.
                match size_of::<$target>() {
                    8 if <$target>::MIN == 0 && self >= TOP as $source => {
                        (to_i64((self - TOP as $source) as f64) ^ i64::MIN) as $target
                    }
                    8 => to_i64(self as f64) as $target,
                    4 if <$target>::MIN == 0 => to_i64(self as f64) as $target,
                    _ => to_i32(self as f64) as $target,
                }
            }

            fn signed_c_cast(self) -> $target {
                let (_, fits): ($target, bool) = self.cast();
                let is_long = size_of::<$target>() == 8;
                if fits || !is_long { self.c_cast() } else { to_i64(self as f64) as $target }
            }

            fn kept(self) -> (Option<$target>, bool) {
                // Compared as floats, the highest of 64 bits and the power of two above it are one.
                if size_of::<$target>() == 8 && self == <$target>::MAX as $source {
                    return (Some(<$target>::MAX), true);
                }
                let (_, fits): ($target, bool) = self.cast();
                (fits.then(|| self.c_cast()), fits)
            }
        }
    )*};
}

from_integers!(i8 u8 i16 u16 i32 u32 i64 u64);
from_floats!(f32 f64);

/// The lowest value that a signed register of 64 bits does not hold.
const TOP: u64 = 1 << 63;

fn to_i64(number: f64) -> i64 {
    let fits = (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&number);
    if fits { number as i64 } else { i64::MIN }
}

fn to_i32(number: f64) -> i32 {
    // What is cut off may lie beyond the ends.
    let fits = number > -2_147_483_649.0 && number < 2_147_483_648.0;
    if fits { number as i32 } else { i32::MIN }
}

impl Cast<f32> for f32 {
    fn cast(self) -> (f32, bool) {
        (self, true)
    }
}

impl Cast<f64> for f32 {
    fn cast(self) -> (f64, bool) {
        (f64::from(self), true)
    }
}

impl Cast<f32> for f64 {
    fn cast(self) -> (f32, bool) {
        // An infinite double is out of range too: so netCDF-C has it.
        let outside = (self > f64::from(f32::MAX)) | (self < f64::from(f32::MIN));
        (self as f32, !outside)
    }

    fn nearest(self) -> f32 {
        // Also what rounding would bring back to the largest float.
        match self.cast() {
            (_, false) if self > 0.0 => f32::INFINITY,
            (_, false) => f32::NEG_INFINITY,
            (value, true) => value,
        }
    }

    fn kept(self) -> (Option<f32>, bool) {
        match self.cast() {
            (_, false) => (Some(f32::MAX.copysign(self as f32)), false),
            (value, true) => (Some(value), true),
        }
    }
}

impl Cast<f64> for f64 {
    fn cast(self) -> (f64, bool) {
        (self, true)
    }
}

#[cfg(test)]
mod tests;
