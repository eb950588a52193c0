//! Numbers as C's `printf` writes them.

use std::io::Write;

/// Integers below this are doubles, each of them, and need no rounding.
const EXACT_INTEGERS: f64 = 9_007_199_254_740_992.0;
/// Bytes of the longest number with the digits that `-p` allows, with room to spare.
const SCIENTIFIC_BYTES: usize = 48;
/// Digits that are computed without the standard library: as many as a double is sure to have.
const EXACT_DIGITS: usize = 15;

/// `%.{precision}g`, with every digit of the precision where `alternate` (`%#g`). For finite
/// numbers.
pub(super) fn general(value: f64, precision: usize, alternate: bool) -> String {
    let precision = precision.max(1);
    let scientific = format!("{value:.*e}", precision - 1);
    let mut text = Vec::with_capacity(scientific.len() + 4);
    push_scientific(&mut text, scientific.as_bytes(), precision, alternate);
    String::from_utf8(text).unwrap_or(scientific)
}

/// Appends `%.{precision}g` of a finite number. Data sections consist of these, so
/// nothing is allocated for most of them.
pub(super) fn push_general(text: &mut Vec<u8>, value: f64, precision: usize) {
    let precision = precision.max(1);
    let limit = 10f64.powi(precision.min(15) as i32);
    if value.abs() < limit.min(EXACT_INTEGERS) && value.trunc() == value && value != 0.0 {
        return push_integer(text, value as i64);
    }
    if let Some((mut rest, exponent)) = exact_digits(value.abs(), precision) {
        if value < 0.0 {
            text.push(b'-');
        }
        let mut digits = [0; EXACT_DIGITS];
        for digit in digits[..precision].iter_mut().rev() {
            *digit = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        return push_placed(text, &digits[..precision], exponent, precision, false);
    }
    let mut scientific = [0; SCIENTIFIC_BYTES];
    let mut rest = &mut scientific[..];
    if write!(rest, "{value:.*e}", precision - 1).is_err() {
        return text.extend_from_slice(general(value, precision, false).as_bytes());
    }
    let len = SCIENTIFIC_BYTES - rest.len();
    push_scientific(text, &scientific[..len], precision, false);
}

/// The first digits of a positive number, rounded (halves to even), and the exponent of the first
/// of them; `None` where 128 bits do not hold what they are computed from. The standard library
/// is slow where a number has few digits behind its point, as most that are measured have.
fn exact_digits(value: f64, precision: usize) -> Option<(u64, i32)> {
    const FRACTION_BITS: u32 = 52;
    let (bits, precision) = (value.to_bits(), precision as u32);
    let biased_exponent = (bits >> FRACTION_BITS) as i32;
    // The value is mantissa / 2^shift; subnormal numbers have other mantissas.
    let mantissa = (bits & ((1 << FRACTION_BITS) - 1)) | (1 << FRACTION_BITS);
    let shift = 1075 - biased_exponent;
    if biased_exponent == 0 || !(1..=120).contains(&shift) || precision as usize > EXACT_DIGITS {
        return None;
    }
    let (least, limit) = (10u128.pow(precision - 1), 10u128.pow(precision));
    let mut exponent = value.log10().floor() as i32;
    for _ in 0..2 {
        // 2^53 * 10^22 is less than 2^127.
        let decimals = u32::try_from(precision as i32 - 1 - exponent).ok().filter(|&n| n <= 22)?;
        let scaled = u128::from(mantissa) * 10u128.pow(decimals);
        let (digits, rest) = (scaled >> shift, scaled & ((1 << shift) - 1));
        let half = 1 << (shift - 1);
        let digits = digits + u128::from(rest > half || (rest == half && digits % 2 == 1));
        match () {
            () if digits >= limit => exponent += 1,
            () if digits < least => exponent -= 1,
            () => return Some((digits as u64, exponent)),
        }
    }
    None
}

/// Appends an integer.
pub(super) fn push_integer(text: &mut Vec<u8>, value: i64) {
    let mut digits = [0; 20];
    let mut begin = digits.len();
    let mut rest = value.unsigned_abs();
    loop {
        begin -= 1;
        digits[begin] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if value < 0 {
        text.push(b'-');
    }
    text.extend_from_slice(&digits[begin..]);
}

/// Appends a number that Rust wrote with an exponent (`-1.250e-7`) the way that `%g` writes it.
fn push_scientific(text: &mut Vec<u8>, scientific: &[u8], precision: usize, alternate: bool) {
    let at = scientific.iter().position(|&byte| byte == b'e').unwrap_or(scientific.len());
    let (mantissa, exponent) = scientific.split_at(at);
    let exponent = exponent.get(1..).and_then(|digits| std::str::from_utf8(digits).ok());
    let exponent: i32 = exponent.and_then(|digits| digits.parse().ok()).unwrap_or(0);
    if mantissa.starts_with(b"-") {
        text.push(b'-');
    }
    let digits: Vec<u8> = mantissa.iter().copied().filter(u8::is_ascii_digit).collect();
    push_placed(text, &digits, exponent, precision, alternate);
}

/// Appends digits with the point in its place, or with an exponent where that is far away.
fn push_placed(
    text: &mut Vec<u8>,
    digits: &[u8],
    exponent: i32,
    precision: usize,
    alternate: bool,
) {
    let begin = text.len();
    let is_scientific = exponent < -4 || exponent >= precision as i32;
    let whole = if is_scientific { 0 } else { exponent };
    if whole < 0 {
        text.extend_from_slice(b"0.");
        text.extend(std::iter::repeat_n(b'0', whole.unsigned_abs() as usize - 1));
        text.extend_from_slice(digits);
    } else {
        let (before, behind) = digits.split_at(digits.len().min(whole as usize + 1));
        text.extend_from_slice(before);
        text.push(b'.');
        text.extend_from_slice(behind);
    }
    if !alternate {
        let zeros = text[begin..].iter().rev().take_while(|&&byte| byte == b'0').count();
        text.truncate(text.len() - zeros);
        if text.ends_with(b".") {
            text.pop();
        }
    }
    if is_scientific {
        text.extend_from_slice(exponent_text(exponent, 'e').as_bytes());
    }
}

/// `%.{precision}e`, for finite numbers.
pub(super) fn scientific(value: f64, precision: usize, alternate: bool) -> String {
    let text = format!("{value:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let mantissa = if alternate { with_point(mantissa) } else { mantissa.to_owned() };
    format!("{mantissa}{}", exponent_text(exponent.parse().unwrap_or(0), 'e'))
}

/// `%.{precision}f`, for finite numbers.
pub(super) fn fixed(value: f64, precision: usize, alternate: bool) -> String {
    let text = format!("{value:.precision$}");
    if alternate { with_point(&text) } else { text }
}

/// Without the zeros that end the digits, but with the point: `1.50e+10f` becomes `1.5e+10f`.
pub(super) fn without_zeros(text: &str) -> String {
    let digits_end =
        text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '-').unwrap_or(text.len());
    let (digits, rest) = text.split_at(digits_end);
    if !digits.contains('.') {
        return text.to_owned();
    }
    format!("{}{rest}", digits.trim_end_matches('0'))
}

fn exponent_text(exponent: i32, letter: char) -> String {
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{letter}{sign}{:02}", exponent.unsigned_abs())
}

fn with_point(digits: &str) -> String {
    if digits.contains('.') { digits.to_owned() } else { format!("{digits}.") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn general_is_printfs() {
        for (value, precision, expected) in [
            (0.0, 7, "0"),
            (-0.0, 7, "-0"),
            (1.0, 7, "1"),
            (100_000.0, 7, "100000"),
            (12_345_678.0, 7, "1.234568e+07"),
            (9_999_999.5, 7, "1e+07"),
            (0.0001, 7, "0.0001"),
            (0.000_012_3, 7, "1.23e-05"),
            (1e100, 15, "1e+100"),
            (0.1, 17, "0.10000000000000001"),
            (2.5, 1, "2"),
            (10.0, 1, "1e+01"),
            (-250_000.0, 7, "-250000"),
            (-0.012_5, 7, "-0.0125"),
            (1.797_693_134_862_315_7e308, 20, "1.7976931348623157081e+308"),
            (-5e-324, 20, "-4.9406564584124654418e-324"),
            (123_456_789_012_345_678.0, 20, "123456789012345680"),
            (9_007_199_254_740_993.0, 17, "9007199254740992"),
        ] {
            assert_eq!(general(value, precision, false), expected);
            let mut text = b"x".to_vec();
            push_general(&mut text, value, precision);
            assert_eq!(text, format!("x{expected}").into_bytes());
        }
        assert_eq!(general(1.0, 7, true), "1.000000");
        assert_eq!(general(1e10, 7, true), "1.000000e+10");
        assert_eq!(general(1234567.0, 7, true), "1234567.");
        assert_eq!(general(0.0, 3, true), "0.00");
    }

    #[test]
    fn the_fast_way_finds_the_same_digits() {
        let mut state = 1u64;
        let mut text = Vec::new();
        for index in 0..200_000u32 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(99);
            let spread = (state >> 40) as f64 * 10f64.powi(index as i32 % 40 - 25);
            let halves = ((state >> 44) as f64 - 500_000.0) / f64::from(1u32 << (index % 24));
            let nearly = 10f64.powi(index as i32 % 12 - 6).next_down();
            for value in [spread, f64::from(spread as f32), -halves, nearly] {
                let precision = index as usize % 15 + 1;
                text.clear();
                push_general(&mut text, value, precision);
                assert_eq!(text, general(value, precision, false).into_bytes(), "{value:e}");
            }
        }
    }

    #[test]
    fn integers() {
        let mut text = Vec::new();
        for value in [0, -1, 10, i64::MIN, i64::MAX] {
            text.clear();
            push_integer(&mut text, value);
            assert_eq!(text, value.to_string().into_bytes());
        }
    }

    #[test]
    fn zeros_go_and_the_point_stays() {
        assert_eq!(without_zeros("1.000000f"), "1.f");
        assert_eq!(without_zeros("-1.500000e+10"), "-1.5e+10");
        assert_eq!(without_zeros("1234567."), "1234567.");
        assert_eq!(without_zeros("1230000.f"), "1230000.f");
    }
}
