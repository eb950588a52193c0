//! Numbers as C's `printf` writes them.

/// `%.{precision}g`, with every digit of the precision where `alternate` (`%#g`). For finite
/// numbers.
pub(super) fn general(value: f64, precision: usize, alternate: bool) -> String {
    let precision = precision.max(1);
    let scientific = format!("{value:.*e}", precision - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if exponent < -4 || exponent >= precision as i32 {
        let mantissa = if alternate { with_point(mantissa) } else { trimmed(mantissa) };
        return format!("{mantissa}{}", exponent_text(exponent, 'e'));
    }
    let decimals = (precision as i32 - 1 - exponent).max(0) as usize;
    let fixed = format!("{value:.decimals$}");
    if alternate { with_point(&fixed) } else { trimmed(&fixed) }
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

fn trimmed(digits: &str) -> String {
    if digits.contains('.') {
        digits.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        digits.to_owned()
    }
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
        ] {
            assert_eq!(general(value, precision, false), expected);
        }
        assert_eq!(general(1.0, 7, true), "1.000000");
        assert_eq!(general(1e10, 7, true), "1.000000e+10");
        assert_eq!(general(1234567.0, 7, true), "1234567.");
    }

    #[test]
    fn zeros_go_and_the_point_stays() {
        assert_eq!(without_zeros("1.000000f"), "1.f");
        assert_eq!(without_zeros("-1.500000e+10"), "-1.5e+10");
        assert_eq!(without_zeros("1234567."), "1234567.");
        assert_eq!(without_zeros("1230000.f"), "1230000.f");
    }
}
