//! Numbers as CDL writes them.
//!
//! ```text
//! 1 -2 +3 0123 (octal)     with nothing behind: the first of int, uint, int64, uint64 that has it
//! 1b 1s 1l 1ll             byte, short, int, int64
//! 1ub 1us 1u 1ul 1ull      their unsigned counterparts; 1su and so on too
//! 1. .5 1e5 1.d            double
//! 1.f 1e5f                 float
//! 0x7fs 0x7fl              as integers; without a suffix the digits of an opaque value
//! ```

use isotach::model::Atomic;

use super::error::CdlFault;
use super::syntax::{Constant, Scalar};

/// What the text of a number says; it begins with a digit, a sign or a dot.
pub(super) fn constant(text: &str) -> Result<Constant, CdlFault> {
    let malformed = || CdlFault::Number { text: text.to_owned() };
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        let suffix_at = digits.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(digits.len());
        let (digits, suffix) = digits.split_at(suffix_at);
        if digits.is_empty() {
            return Err(malformed());
        }
        if suffix.is_empty() {
            return Ok(Constant::Hex(digits.into()));
        }
        let magnitude = u64::from_str_radix(digits, 16).map_err(|_| range(text))?;
        return integer(text, i128::from(magnitude), suffix).map(Constant::Number);
    }
    let suffix_at = text.trim_end_matches(|c: char| c.is_ascii_alphabetic()).len();
    let (digits, suffix) = text.split_at(suffix_at);
    if digits.contains(['.', 'e', 'E']) {
        return float(digits, suffix).map(Constant::Number).ok_or_else(malformed);
    }
    let (negative, magnitude) = match digits.strip_prefix('-') {
        Some(magnitude) => (true, magnitude),
        None => (false, digits.strip_prefix('+').unwrap_or(digits)),
    };
    if magnitude.is_empty() || !magnitude.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(malformed());
    }
    let radix = if magnitude.len() > 1 && magnitude.starts_with('0') { 8 } else { 10 };
    if radix == 8 && magnitude.contains(['8', '9']) {
        return Err(malformed());
    }
    if digits == "-0" && suffix.is_empty() {
        return Ok(Constant::Number(Scalar::NegativeZero));
    }
    let magnitude = u64::from_str_radix(magnitude, radix).map_err(|_| range(text))?;
    let value = i128::from(magnitude) * if negative { -1 } else { 1 };
    integer(text, value, suffix).map(Constant::Number)
}

fn range(text: &str) -> CdlFault {
    CdlFault::NumberRange { text: text.to_owned() }
}

fn float(digits: &str, suffix: &str) -> Option<Scalar> {
    match suffix {
        "f" | "F" => digits.parse().ok().map(Scalar::F32),
        "" | "d" | "D" | "l" | "L" => digits.parse().ok().map(Scalar::F64),
        _ => None,
    }
}

fn integer(text: &str, value: i128, suffix: &str) -> Result<Scalar, CdlFault> {
    let suffix = suffix.to_ascii_lowercase();
    let is_unsigned = suffix.contains('u');
    let size = suffix.replacen('u', "", 1);
    let fitting = match (size.as_str(), is_unsigned) {
        ("b", true) => u8::try_from(value).map(Scalar::U8).ok(),
        ("s", true) => u16::try_from(value).map(Scalar::U16).ok(),
        ("" | "l", true) => u32::try_from(value).map(Scalar::U32).ok(),
        ("ll", true) => u64::try_from(value).map(Scalar::U64).ok(),
        // 255b is the byte of these bits.
        ("b", false) => {
            let unsigned = || u8::try_from(value).map(u8::cast_signed);
            i8::try_from(value).or_else(|_| unsigned()).map(Scalar::I8).ok()
        }
        ("s", false) => {
            let unsigned = || u16::try_from(value).map(u16::cast_signed);
            i16::try_from(value).or_else(|_| unsigned()).map(Scalar::I16).ok()
        }
        ("ll", false) => {
            let unsigned = || u64::try_from(value).map(u64::cast_signed);
            i64::try_from(value).or_else(|_| unsigned()).map(Scalar::I64).ok()
        }
        ("" | "l", false) => i32::try_from(value)
            .map(Scalar::I32)
            .or_else(|_| u32::try_from(value).map(Scalar::U32))
            .or_else(|_| i64::try_from(value).map(Scalar::I64))
            .or_else(|_| u64::try_from(value).map(Scalar::U64))
            .ok(),
        _ => return Err(CdlFault::Number { text: text.to_owned() }),
    };
    fitting.ok_or_else(|| range(text))
}

/// The number of that type that a text is, blanks around it aside. Unlike ncgen this reads all of the text, and
/// nothing that the type does not have: `2001-01-01` is none.
pub(super) fn in_text(text: &str, atomic: Atomic) -> Option<Scalar> {
    let text = text.trim();
    match atomic {
        Atomic::Float => text.parse().ok().map(Scalar::F32),
        Atomic::Double => text.parse().ok().map(Scalar::F64),
        _ => {
            let number: i128 = text.parse().ok()?;
            atomic.integer_range()?.contains(&number).then_some(())?;
            let signed = i64::try_from(number).map(Scalar::I64);
            signed.or_else(|_| u64::try_from(number).map(Scalar::U64)).ok()
        }
    }
}

/// The words that are numbers.
pub(super) fn special(word: &str) -> Option<Scalar> {
    let (negative, magnitude) = match word.strip_prefix('-') {
        Some(magnitude) => (true, magnitude),
        None => (false, word.strip_prefix('+').unwrap_or(word)),
    };
    let number = match magnitude {
        "NaN" | "nan" => Scalar::F64(f64::NAN),
        "NaNf" | "nanf" => Scalar::F32(f32::NAN),
        "Infinity" | "inf" | "DoubleInf" => Scalar::F64(f64::INFINITY),
        "Infinityf" | "inff" | "FloatInf" => Scalar::F32(f32::INFINITY),
        _ => return None,
    };
    Some(match number {
        Scalar::F64(number) if negative => Scalar::F64(-number),
        Scalar::F32(number) if negative => Scalar::F32(-number),
        number => number,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Scalar {
        match constant(text) {
            Ok(Constant::Number(number)) => number,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn suffixes_are_types() {
        use Scalar::*;
        let cases = [
            ("12", I32(12)),
            ("+5", I32(5)),
            ("0123", I32(83)),
            ("010b", I8(8)),
            ("-3b", I8(-3)),
            ("-0", NegativeZero),
            ("-0b", I8(0)),
            ("255b", I8(-1)),
            ("65535s", I16(-1)),
            ("12L", I32(12)),
            ("12ll", I64(12)),
            ("10U", U32(10)),
            ("200ub", U8(200)),
            ("100su", U16(100)),
            ("100ull", U64(100)),
            ("3000000000", U32(3_000_000_000)),
            ("-3000000000", I64(-3_000_000_000)),
            ("-200000000000L", I64(-200_000_000_000)),
            ("18446744073709551615", U64(u64::MAX)),
            ("0xabcds", I16(0xabcd_u16.cast_signed())),
            ("0x7ffLL", I64(0x7ff)),
            ("1.", F64(1.0)),
            (".5f", F32(0.5)),
            ("-1e5d", F64(-1e5)),
            ("1.5L", F64(1.5)),
        ];
        for (text, expected) in cases {
            assert_eq!(number(text), expected, "{text}");
        }
        assert_eq!(constant("0XaF"), Ok(Constant::Hex("aF".into())));
        assert_eq!(special("-Infinityf"), Some(F32(f32::NEG_INFINITY)));
        assert!(matches!(special("nan"), Some(F64(nan)) if nan.is_nan()));
        assert_eq!(special("nano"), None);
    }

    #[test]
    fn texts_may_hold_numbers() {
        assert_eq!(in_text(" 12 ", Atomic::Byte), Some(Scalar::I64(12)));
        assert_eq!(in_text("1e3", Atomic::Float), Some(Scalar::F32(1000.0)));
        assert_eq!(in_text("18446744073709551615", Atomic::UInt64), Some(Scalar::U64(u64::MAX)));
        for text in ["", "b", "128", "1.5", "2001-01-01", "1 2"] {
            assert_eq!(in_text(text, Atomic::Byte), None, "{text}");
        }
    }

    #[test]
    fn what_is_no_number_is_told() {
        for text in [".", "-", "5f", "1ubb", "1.e", "0x", "089", "1uu", "1.ff", "--1", "1e", "0xfg"]
        {
            assert!(matches!(constant(text), Err(CdlFault::Number { .. })), "{text}");
        }
        for text in
            ["256b", "-129b", "70000s", "-1u", "18446744073709551616", "0x1ffffffffffffffffl"]
        {
            assert_eq!(constant(text), Err(range(text)));
        }
    }
}
