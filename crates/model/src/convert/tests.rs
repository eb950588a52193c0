use std::ops::RangeInclusive;

use proptest::prelude::*;

use super::*;

const NUMBERS: [Atomic; 10] = [
    Atomic::Byte,
    Atomic::UByte,
    Atomic::Short,
    Atomic::UShort,
    Atomic::Int,
    Atomic::UInt,
    Atomic::Int64,
    Atomic::UInt64,
    Atomic::Float,
    Atomic::Double,
];

fn one<S: Number, D: Number>(value: S, rules: Rules) -> (D, u64) {
    let values = S::into_values(vec![value]);
    let (numbers, report) = values.to_numbers::<D>(rules).unwrap();
    assert_eq!(report.element_count, 1);
    (numbers[0], report.out_of_range_count)
}

/// What libnetcdf 4.10.1 reports and returns.
#[test]
fn converts_as_libnetcdf() {
    let netcdf4 = Rules::NETCDF4;
    assert_eq!(one::<i8, u8>(-1, netcdf4), (255, 1));
    assert_eq!(one::<i8, u8>(-1, Rules::NETCDF4_CLASSIC), (255, 0));
    assert_eq!(one::<i8, u8>(-1, Rules::CLASSIC), (255, 0));
    assert_eq!(one::<i8, u8>(-128, Rules::CLASSIC_64BIT_DATA), (255, 1));
    assert_eq!(one::<u8, i8>(128, netcdf4), (-128, 1));
    assert_eq!(one::<u8, i8>(128, Rules::CLASSIC_64BIT_DATA), (-127, 1));
    assert_eq!(one::<u64, u32>(1 << 32, netcdf4), (0, 1));
    assert_eq!(one::<u64, i64>(u64::MAX, netcdf4), (-1, 1));
    assert_eq!(one::<u64, f32>(u64::MAX, netcdf4), (1.844_674_4e19, 0));
    assert_eq!(one::<f64, i8>(126.9, netcdf4), (126, 0));
    assert_eq!(one::<f64, i8>(127.5, netcdf4), (127, 1));
    assert_eq!(one::<f64, u8>(-0.5, netcdf4), (0, 1));
    assert_eq!(one::<f64, u8>(-0.5, Rules::CLASSIC), (255, 1));
    assert_eq!(one::<f32, i32>(2_147_483_520.0, netcdf4), (2_147_483_520, 0));
    assert_eq!(one::<f32, i32>(2_147_483_648.0, netcdf4).1, 1);
    assert_eq!(one::<f32, i32>(-2_147_483_648.0, netcdf4), (i32::MIN, 0));
    assert_eq!(one::<f64, f32>(1e39, netcdf4), (f32::INFINITY, 1));
    assert_eq!(one::<f64, f32>(f64::INFINITY, netcdf4), (f32::INFINITY, 1));
    assert_eq!(one::<f64, f32>(1e39, Rules::CLASSIC), (9.969_21e36, 1));
    assert_eq!(one::<f64, f32>(f64::from(f32::MAX), netcdf4), (f32::MAX, 0));
    assert_eq!(one::<f64, i32>(f64::NAN, netcdf4), (0, 0));
    assert!(one::<f64, f32>(f64::NAN, netcdf4).0.is_nan());
}

#[test]
fn differs_from_libnetcdf_as_described() {
    assert_eq!(one::<f64, i8>(1e30, Rules::NETCDF4), (127, 1));
    assert_eq!(one::<f64, u32>(-7.0, Rules::NETCDF4), (0, 1));
    assert_eq!(one::<f64, i64>(2f64.powi(63), Rules::NETCDF4), (i64::MAX, 1));
    assert_eq!(one::<f32, u64>(2f32.powi(64), Rules::NETCDF4), (u64::MAX, 1));
}

#[test]
fn text_does_not_convert() {
    let (from, to) = (Atomic::Char, Atomic::Int);
    assert_eq!(
        convert(b"abcd", from, &mut [0; 16], to, Rules::NETCDF4),
        Err(ConvertError::CharAndNumber { from, to })
    );
    assert_eq!(
        convert(&[0; 4], to, &mut [0], from, Rules::NETCDF4),
        Err(ConvertError::CharAndNumber { from: to, to: from })
    );
    assert_eq!(
        convert(&[], Atomic::String, &mut [], Atomic::Int, Rules::NETCDF4),
        Err(ConvertError::NotANumber)
    );
    let mut chars = [0; 2];
    assert!(convert(b"ab", from, &mut chars, from, Rules::NETCDF4).is_ok());
    assert_eq!(&chars, b"ab");
    let text = Values::from(vec!["1".to_owned()]);
    assert_eq!(text.to_numbers::<i32>(Rules::NETCDF4), Err(ConvertError::NotANumber));
}

#[test]
fn lengths_are_checked() {
    for (source_bytes, target_bytes) in [(8, 4), (7, 2), (8, 3), (0, 2)] {
        let (source, mut target) = (vec![0; source_bytes], vec![0; target_bytes]);
        assert_eq!(
            convert(&source, Atomic::Int, &mut target, Atomic::Short, Rules::NETCDF4).err(),
            (source_bytes / 4 != target_bytes / 2 || source_bytes % 4 + target_bytes % 2 > 0)
                .then_some(ConvertError::Length { source_bytes, target_bytes })
        );
    }
}

/// A number in a form that holds all of them.
#[derive(Clone, Copy, Debug)]
enum Wide {
    Integer(i128),
    Float(f64),
}

fn widen(bytes: &[u8], atomic: Atomic) -> Wide {
    macro_rules! read {
        ($type:ty) => {
            bytemuck::pod_read_unaligned::<$type>(bytes)
        };
    }
    match atomic {
        Atomic::Byte => Wide::Integer(read!(i8).into()),
        Atomic::UByte => Wide::Integer(read!(u8).into()),
        Atomic::Short => Wide::Integer(read!(i16).into()),
        Atomic::UShort => Wide::Integer(read!(u16).into()),
        Atomic::Int => Wide::Integer(read!(i32).into()),
        Atomic::UInt => Wide::Integer(read!(u32).into()),
        Atomic::Int64 => Wide::Integer(read!(i64).into()),
        Atomic::UInt64 => Wide::Integer(read!(u64).into()),
        Atomic::Float => Wide::Float(read!(f32).into()),
        Atomic::Double => Wide::Float(read!(f64)),
        Atomic::Char | Atomic::String => unreachable!("not a number"),
    }
}

/// One element by way of 128 bits: its bytes, and whether it fits.
fn oracle(source: &[u8], from: Atomic, to: Atomic) -> (Vec<u8>, bool) {
    let wide = widen(source, from);
    let Some((low, high)) = to.integer_range().map(RangeInclusive::into_inner) else {
        let value = match wide {
            // Rounded once, from the integer: by way of a double it would be twice.
            Wide::Integer(value) if to == Atomic::Float => {
                return ((value as f32).to_ne_bytes().to_vec(), true);
            }
            Wide::Integer(value) => value as f64,
            Wide::Float(value) => value,
        };
        return match to {
            Atomic::Float => {
                let fits = value.is_nan() || value.abs() <= f64::from(f32::MAX);
                let fits = fits || from == Atomic::Float;
                ((value as f32).to_ne_bytes().to_vec(), fits)
            }
            _ => (value.to_ne_bytes().to_vec(), true),
        };
    };
    let (value, fits) = match wide {
        Wide::Integer(value) => (value, (low..=high).contains(&value)),
        Wide::Float(value) => {
            // Rounding away from zero tells whether any of it lies outside.
            let outward = if value < 0.0 { value.floor() } else { value.ceil() } as i128;
            ((value as i128).clamp(low, high), (low..=high).contains(&outward))
        }
    };
    let low_bytes = value.to_le_bytes()[..to.size()].to_vec();
    let native = if cfg!(target_endian = "little") {
        low_bytes
    } else {
        low_bytes.into_iter().rev().collect()
    };
    (native, fits)
}

fn interesting() -> impl Strategy<Value = f64> {
    let powers = (0i32..66, any::<bool>(), -1.5f64..1.5).prop_map(|(power, negative, more)| {
        2f64.powi(power) * if negative { -1.0 } else { 1.0 } + more
    });
    prop_oneof![powers, any::<f64>(), Just(f64::NAN), Just(f64::INFINITY), -300.0..300.0f64]
}

proptest! {
    #[test]
    fn converts_as_one_by_one(
        words in prop::collection::vec(prop_oneof![
            any::<u64>(),
            interesting().prop_map(f64::to_bits),
            interesting().prop_map(|value| u64::from((value as f32).to_bits())),
            interesting().prop_map(|value| (value as i128) as u64),
        ], 0..20),
        from in prop::sample::select(&NUMBERS[..]),
        to in prop::sample::select(&NUMBERS[..]),
    ) {
        let size = from.size();
        let source: Vec<u8> =
            words.iter().flat_map(|word| word.to_le_bytes()[..size].to_vec()).collect();
        let mut target = vec![0xaa; words.len() * to.size()];
        let report = convert(&source, from, &mut target, to, Rules::NETCDF4).unwrap();
        let mut out_of_range_count = 0;
        for (source, target) in source.chunks(size).zip(target.chunks(to.size())) {
            let (expected, fits) = oracle(source, from, to);
            let both_nan = matches!(
                (widen(source, from), to.integer_range()),
                (Wide::Float(value), None) if value.is_nan()
            );
            if !both_nan {
                prop_assert_eq!(target, &expected[..], "{:?} {:?} {:?}", from, to, source);
            }
            out_of_range_count += u64::from(!fits);
        }
        prop_assert_eq!(report.out_of_range_count, out_of_range_count);
        prop_assert_eq!(report.element_count, words.len() as u64);
    }
}

#[test]
fn counts_across_blocks() {
    let numbers = vec![300i16; 3 * BLOCK_ELEMENTS + 7];
    let (bytes, report) =
        Values::from(numbers).to_numbers::<u8>(Rules::CLASSIC_64BIT_DATA).unwrap();
    assert_eq!(report.out_of_range_count, 3 * BLOCK_ELEMENTS as u64 + 7);
    assert!(bytes.iter().all(|&byte| byte == 255));
}
