//! Expected bits are those that libnetcdf 4.10.1 writes by way of netCDF4-python 1.7.5.

use super::*;

#[test]
fn floats_become_what_libnetcdf_makes_of_them() {
    let bits = [
        0x3f9e0651, 0xbf9e0651, 0x43889333, 0x43889333, 0x00000001, 0x000116c2, 0x7f7fc99e,
        0xff7fc99e, 0x3a83126f, 0x3a83126f, 0x47c34fc0, 0x47c35000, 0x411fffff, 0x411fffff,
        0x80000000, 0x3f000000,
    ];
    let check = |mode, significant, expected: [u32; 16]| {
        let mut numbers = bits.map(f32::from_bits);
        let quantization = Quantization::new(mode, significant, Atomic::Float).unwrap();
        quantization.apply(&mut numbers, f32::DEFAULT_FILL);
        assert_eq!(numbers.map(f32::to_bits), expected, "{quantization:?}");
    };
    check(
        Mode::BitGroom,
        3,
        [
            0x3f9e0000, 0xbf9e0fff, 0x43889000, 0x43889fff, 0x00000000, 0x00011fff, 0x7f7fc000,
            0xff7fcfff, 0x3a831000, 0x3a831fff, 0x47c34000, 0x47c35fff, 0x411ff000, 0x411fffff,
            0x80000000, 0x3f000fff,
        ],
    );
    check(
        Mode::GranularBitRound,
        3,
        [
            0x3f9e0000, 0xbf9e0000, 0x43888000, 0x43888000, 0x00000000, 0x00012000, 0x7f800000,
            0xff800000, 0x3a830000, 0x3a830000, 0x47c34000, 0x47c36000, 0x41200000, 0x41200000,
            0x80000000, 0x3f000000,
        ],
    );
    check(
        Mode::GranularBitRound,
        6,
        [
            0x3f9e0640, 0xbf9e0640, 0x43889340, 0x43889340, 0x00000000, 0x000116c0, 0x7f7fc9a0,
            0xff7fc9a0, 0x3a831280, 0x3a831280, 0x47c34fc0, 0x47c35000, 0x41200000, 0x41200000,
            0x80000000, 0x3f000000,
        ],
    );
    check(
        Mode::BitRound,
        9,
        [
            0x3f9e0000, 0xbf9e0000, 0x43888000, 0x43888000, 0x00000000, 0x00010000, 0x7f7fc000,
            0xff7fc000, 0x3a830000, 0x3a830000, 0x47c34000, 0x47c34000, 0x41200000, 0x41200000,
            0x80000000, 0x3f000000,
        ],
    );
}

#[test]
fn doubles_become_what_libnetcdf_makes_of_them() {
    let bits = [
        0x400921fb54442d18,
        0xc00921fb54442d18,
        0x40f8bcd000000000,
        0x40f8bcd000000000,
        0x0000000000000001,
        0x000012688b70e62b,
        0x7fee42d130773b76,
        0xffee42d130773b76,
        0x3fb999999999999a,
        0x3fb999999999999a,
        0x40f869f800000000,
        0x40f86a0000000000,
        0x4023ffffde7210bf,
        0x4023ffffde7210bf,
        0x8000000000000000,
        0x3fe0000000000000,
    ];
    let check = |mode, significant, expected: [u64; 16]| {
        let mut numbers = bits.map(f64::from_bits);
        let quantization = Quantization::new(mode, significant, Atomic::Double).unwrap();
        quantization.apply(&mut numbers, f64::DEFAULT_FILL);
        assert_eq!(numbers.map(f64::to_bits), expected, "{quantization:?}");
    };
    check(
        Mode::BitGroom,
        9,
        [
            0x400921fb54400000,
            0xc00921fb545fffff,
            0x40f8bcd000000000,
            0x40f8bcd0001fffff,
            0x0000000000000000,
            0x000012688b7fffff,
            0x7fee42d130600000,
            0xffee42d1307fffff,
            0x3fb9999999800000,
            0x3fb99999999fffff,
            0x40f869f800000000,
            0x40f86a00001fffff,
            0x4023ffffde600000,
            0x4023ffffde7fffff,
            0x8000000000000000,
            0x3fe00000001fffff,
        ],
    );
    check(
        Mode::GranularBitRound,
        2,
        [
            0x4009000000000000,
            0xc009000000000000,
            0x40f8000000000000,
            0x40f8000000000000,
            0x0000000000000000,
            0x0000000000000000,
            0x7fee000000000000,
            0xffee000000000000,
            0x3fba000000000000,
            0x3fba000000000000,
            0x40f8600000000000,
            0x40f8600000000000,
            0x4024000000000000,
            0x4024000000000000,
            0x8000000000000000,
            0x3fe0000000000000,
        ],
    );
    check(
        Mode::GranularBitRound,
        15,
        [
            0x400921fb54442d20,
            0xc00921fb54442d20,
            0x40f8bcd000000000,
            0x40f8bcd000000000,
            0x0000000000000000,
            0x000012688b70e620,
            0x7fee42d130773b80,
            0xffee42d130773b80,
            0x3fb9999999999980,
            0x3fb9999999999980,
            0x40f869f800000000,
            0x40f86a0000000000,
            0x4023ffffde7210c0,
            0x4023ffffde7210c0,
            0x8000000000000000,
            0x3fe0000000000000,
        ],
    );
    check(
        Mode::BitRound,
        30,
        [
            0x400921fb54400000,
            0xc00921fb54400000,
            0x40f8bcd000000000,
            0x40f8bcd000000000,
            0x0000000000000000,
            0x000012688b800000,
            0x7fee42d130800000,
            0xffee42d130800000,
            0x3fb9999999800000,
            0x3fb9999999800000,
            0x40f869f800000000,
            0x40f86a0000000000,
            0x4023ffffde800000,
            0x4023ffffde800000,
            0x8000000000000000,
            0x3fe0000000000000,
        ],
    );
}

#[test]
fn what_says_nothing_stays() {
    for mode in Mode::ALL {
        let quantization = Quantization::new(mode, 2, Atomic::Double).unwrap();
        let same = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, 1.2345, 1.2345];
        let mut numbers = same;
        quantization.apply(&mut numbers, 1.2345);
        assert_eq!(numbers.map(f64::to_bits), same.map(f64::to_bits));
        let mut numbers = [f64::NAN, f64::NAN, 1.2345];
        quantization.apply(&mut numbers, f64::NAN);
        assert!(numbers[0].is_nan() && numbers[1].is_nan() && numbers[2] != 1.2345);
    }
}

#[test]
fn all_bits_stay_where_all_are_asked_for() {
    let mut numbers = [0.1_f32, -1e-45, f32::MAX];
    let before = numbers;
    Quantization::new(Mode::BitRound, 23, Atomic::Float).unwrap().apply(&mut numbers, 0.0);
    assert_eq!(numbers, before);
}

#[test]
fn what_cannot_be_asked_for() {
    let fault = |mode, asked, data_type| Quantization::new(mode, asked, data_type).unwrap_err();
    let data_type = Atomic::Int;
    assert_eq!(fault(Mode::BitGroom, 3, data_type), QuantizeFault::NotAFloat { data_type });
    let limits = [
        (Mode::BitGroom, Atomic::Float, 7),
        (Mode::GranularBitRound, Atomic::Float, 7),
        (Mode::BitRound, Atomic::Float, 23),
        (Mode::BitGroom, Atomic::Double, 15),
        (Mode::GranularBitRound, Atomic::Double, 15),
        (Mode::BitRound, Atomic::Double, 52),
    ];
    for (mode, data_type, highest) in limits {
        let accepted = Quantization::new(mode, highest.into(), data_type).unwrap();
        assert_eq!((accepted.mode(), accepted.significant()), (mode, highest));
        for asked in [0, -1, i64::from(highest) + 1, 1 << 32 | 1] {
            let expected = QuantizeFault::Significant { mode, asked, highest };
            assert_eq!(fault(mode, asked, data_type), expected);
        }
    }
}
