//! Numbers as C's `printf` writes them.

use std::io::Write;

/// Integers below this are doubles, each of them, and need no rounding.
const EXACT_INTEGERS: f64 = 9_007_199_254_740_992.0;
/// Bytes of the longest number with the digits that `-p` allows, with room to spare.
const SCIENTIFIC_BYTES: usize = 48;

/// `%.{precision}g`, with every digit of the precision where `alternate` (`%#g`). For finite
/// numbers.
pub(super) fn general(value: f64, precision: usize, alternate: bool) -> String {
    let precision = precision.max(1);
    let scientific = format!("{value:.*e}", precision - 1);
    let mut text = Vec::with_capacity(scientific.len() + 4);
    push_placed(&mut text, scientific.as_bytes(), precision, alternate);
    String::from_utf8(text).unwrap_or(scientific)
}

/// Appends `%.{precision}g` of a finite number. Data sections consist of these, so nothing is
/// allocated here.
pub(super) fn push_general(text: &mut Vec<u8>, value: f64, precision: usize) {
    let precision = precision.max(1);
    let limit = 10f64.powi(precision.min(15) as i32);
    if value.abs() < limit.min(EXACT_INTEGERS) && value.trunc() == value && value != 0.0 {
        return push_integer(text, value as i64);
    }
    let mut scientific = [0; SCIENTIFIC_BYTES];
    let mut rest = &mut scientific[..];
    if write!(rest, "{value:.*e}", precision - 1).is_err() {
        return text.extend_from_slice(general(value, precision, false).as_bytes());
    }
    let len = SCIENTIFIC_BYTES - rest.len();
    push_placed(text, &scientific[..len], precision, false);
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

/// Appends a number that Rust wrote with an exponent (`-1.250e-7`) the way that `%g` writes it:
/// the same digits, but the point in its place unless that is far away.
fn push_placed(text: &mut Vec<u8>, scientific: &[u8], precision: usize, alternate: bool) {
    let at = scientific.iter().position(|&byte| byte == b'e').unwrap_or(scientific.len());
    let (mantissa, exponent) = scientific.split_at(at);
    let exponent = exponent.get(1..).and_then(|digits| std::str::from_utf8(digits).ok());
    let exponent: i32 = exponent.and_then(|digits| digits.parse().ok()).unwrap_or(0);
    let mantissa = match mantissa.strip_prefix(b"-") {
        Some(size) => {
            text.push(b'-');
            size
        }
        None => mantissa,
    };
    let mut digits = mantissa.iter().copied().filter(u8::is_ascii_digit);
    let begin = text.len();
    let is_scientific = exponent < -4 || exponent >= precision as i32;
    let whole = if is_scientific { 0 } else { exponent };
    if whole < 0 {
        text.extend_from_slice(b"0.");
        text.extend(std::iter::repeat_n(b'0', whole.unsigned_abs() as usize - 1));
    } else {
        text.extend(digits.by_ref().take(whole as usize + 1));
        text.push(b'.');
    }
    text.extend(digits);
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
