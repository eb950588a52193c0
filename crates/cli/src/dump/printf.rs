//! The attribute `C_format`: a `printf` format with one conversion in it.

use super::number;

/// A format such as `"%8.3f K"`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Format {
    before: String,
    after: String,
    left: bool,
    zeros: bool,
    plus: bool,
    blank: bool,
    alternate: bool,
    width: usize,
    precision: Option<usize>,
    /// Bytes of the integer that the conversion takes.
    integer_bytes: u32,
    conversion: char,
}

/// Wider than this no number is shown (`ncdump` gives up at 100 characters).
const MAX_WIDTH: usize = 1000;

impl Format {
    /// Reads a format; `None` where it has no conversion, or several, or one that is not C's.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (before, rest) = literal(text)?;
        let mut format = Self {
            before,
            after: String::new(),
            left: false,
            zeros: false,
            plus: false,
            blank: false,
            alternate: false,
            width: 0,
            precision: None,
            integer_bytes: 4,
            conversion: 'g',
        };
        let rest = format.flags(rest);
        let (width, rest) = leading_number(rest);
        format.width = width.unwrap_or(0);
        let rest = match rest.strip_prefix('.') {
            Some(rest) => {
                let (precision, rest) = leading_number(rest);
                format.precision = Some(precision.unwrap_or(0));
                rest
            }
            None => rest,
        };
        if format.width > MAX_WIDTH || format.precision.is_some_and(|digits| digits > MAX_WIDTH) {
            return None;
        }
        let rest = format.length(rest);
        format.conversion = rest.chars().next()?;
        if !"diouxXeEfFgGcs".contains(format.conversion) {
            return None;
        }
        format.after = literal_end(&rest[1..])?;
        Some(format)
    }

    fn flags<'t>(&mut self, text: &'t str) -> &'t str {
        let mut rest = text;
        while let Some(flag) = rest.chars().next() {
            match flag {
                '-' => self.left = true,
                '0' => self.zeros = true,
                '+' => self.plus = true,
                ' ' => self.blank = true,
                '#' => self.alternate = true,
                _ => break,
            }
            rest = &rest[1..];
        }
        rest
    }

    fn length<'t>(&mut self, text: &'t str) -> &'t str {
        for (prefix, bytes) in [("hh", 1), ("h", 2), ("ll", 8), ("l", 8), ("L", 8), ("z", 8)] {
            if let Some(rest) = text.strip_prefix(prefix) {
                self.integer_bytes = bytes;
                return rest;
            }
        }
        text
    }

    /// True where it asks for text.
    pub(super) fn is_string(&self) -> bool {
        self.conversion == 's'
    }

    /// An integer; `None` where the conversion is none of integers (in C that shows garbage).
    pub(super) fn integer(&self, value: i128) -> Option<String> {
        let bits = 8 * self.integer_bytes;
        let low = value.cast_unsigned() & ((1u128 << bits) - 1);
        let signed = (low << (128 - bits)).cast_signed() >> (128 - bits);
        let (negative, digits, prefix) = match self.conversion {
            'd' | 'i' => (signed < 0, signed.unsigned_abs().to_string(), ""),
            'u' => (false, low.to_string(), ""),
            'o' => (false, format!("{low:o}"), if self.alternate { "0" } else { "" }),
            'x' => (false, format!("{low:x}"), if self.alternate { "0x" } else { "" }),
            'X' => (false, format!("{low:X}"), if self.alternate { "0X" } else { "" }),
            'c' => return Some(self.padded("", &char::from(low as u8).to_string(), false)),
            _ => return None,
        };
        let digits = match self.precision {
            Some(least) => format!("{digits:0>least$}"),
            None => digits,
        };
        let sign = if matches!(self.conversion, 'd' | 'i') { self.sign(negative) } else { "" };
        Some(self.padded(&format!("{sign}{prefix}"), &digits, self.precision.is_none()))
    }

    /// A finite float; `None` where the conversion is none of floats.
    pub(super) fn float(&self, value: f64) -> Option<String> {
        let precision = self.precision.unwrap_or(6);
        let size = value.abs();
        let text = match self.conversion {
            'e' | 'E' => number::scientific(size, precision, self.alternate),
            'f' | 'F' => number::fixed(size, precision, self.alternate),
            'g' | 'G' => number::general(size, precision, self.alternate),
            _ => return None,
        };
        let text = if self.conversion.is_uppercase() { text.to_uppercase() } else { text };
        Some(self.padded(self.sign(value.is_sign_negative()), &text, true))
    }

    fn sign(&self, negative: bool) -> &'static str {
        match () {
            () if negative => "-",
            () if self.plus => "+",
            () if self.blank => " ",
            () => "",
        }
    }

    fn padded(&self, sign: &str, digits: &str, zeros_allowed: bool) -> String {
        let missing = self.width.saturating_sub(sign.len() + digits.len());
        let (before, after) = (&self.before, &self.after);
        if self.left {
            format!("{before}{sign}{digits}{:missing$}{after}", "")
        } else if self.zeros && zeros_allowed {
            format!("{before}{sign}{:0>missing$}{digits}{after}", "")
        } else {
            format!("{before}{:missing$}{sign}{digits}{after}", "")
        }
    }
}

/// The text up to the conversion (`%%` is a percent sign), and what follows its percent sign.
fn literal(text: &str) -> Option<(String, &str)> {
    let mut before = String::new();
    let mut rest = text;
    loop {
        let at = rest.find('%')?;
        before.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        match rest.strip_prefix('%') {
            Some(behind) => {
                before.push('%');
                rest = behind;
            }
            None => return Some((before, rest)),
        }
    }
}

/// The text behind the conversion; `None` where there is another conversion in it.
fn literal_end(text: &str) -> Option<String> {
    let plain = text.replace("%%", "");
    (!plain.contains('%')).then(|| text.replace("%%", "%"))
}

fn leading_number(text: &str) -> (Option<usize>, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    let number = if digits.is_empty() { None } else { Some(digits.parse().unwrap_or(usize::MAX)) };
    (number, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats() {
        let shown = |format: &str, value| Format::parse(format).unwrap().float(value);
        assert_eq!(shown("%8.2f K", 2.34567).unwrap(), "    2.35 K");
        assert_eq!(shown("%-8.2f|", -2.34567).unwrap(), "-2.35   |");
        assert_eq!(shown("%08.2f", -2.34567).unwrap(), "-0002.35");
        assert_eq!(shown("%+.3e", 12345.0).unwrap(), "+1.234e+04");
        assert_eq!(shown("100%% %G", 1e-10).unwrap(), "100% 1E-10");
        assert_eq!(shown("%d", 1.0), None);
    }

    #[test]
    fn integers() {
        let shown = |format: &str, value| Format::parse(format).unwrap().integer(value);
        assert_eq!(shown("%5d", -42).unwrap(), "  -42");
        assert_eq!(shown("%05d", -42).unwrap(), "-0042");
        assert_eq!(shown("%.4d", 42).unwrap(), "0042");
        assert_eq!(shown("%u", -1).unwrap(), "4294967295");
        assert_eq!(shown("%#x", 255).unwrap(), "0xff");
        assert_eq!(shown("%d", 1 << 32).unwrap(), "0");
        assert_eq!(shown("%lld", 1 << 32).unwrap(), "4294967296");
        assert_eq!(shown("%f", 1), None);
    }

    #[test]
    fn what_is_no_format() {
        for text in ["", "abc", "%", "%d %d", "%n", "%9999999f"] {
            assert_eq!(Format::parse(text), None, "{text}");
        }
    }
}
