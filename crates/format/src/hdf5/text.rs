//! Names as text.
//!
//! HDF5 names are bytes, mostly UTF-8. They are kept as bytes and become text where they are shown.

use std::fmt::Write;

/// `bytes` as text: UTF-8, with each byte that is not part of it written as `\xNN`.
///
/// ```
/// assert_eq!(isotach_format::hdf5::text::text(b"a\xffb"), r"a\xffb");
/// ```
pub fn text(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        for byte in chunk.invalid() {
            push_format(&mut out, format_args!("\\x{byte:02x}"));
        }
    }
    out
}

/// The bytes that [`text`] shows as `text`. (A name that has such signs in it is taken for one with bytes
/// that are no text: it is the rarer one.)
///
/// ```
/// assert_eq!(isotach_format::hdf5::text::bytes(r"a\xffb\x41"), b"a\xffb\\x41");
/// ```
pub fn bytes(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("\\x") {
        out.extend_from_slice(before.as_bytes());
        let byte = behind.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match byte.filter(|byte| !byte.is_ascii()) {
            Some(byte) => {
                out.push(byte);
                rest = behind.get(2..).unwrap_or_default();
            }
            None => {
                out.extend_from_slice(b"\\x");
                rest = behind;
            }
        }
    }
    out.extend_from_slice(rest.as_bytes());
    out
}

/// `text` as a JSON string of printable ASCII, quotes included.
///
/// ```
/// assert_eq!(isotach_format::hdf5::text::json_string("é\n"), r#""\u00e9\n""#);
/// ```
pub fn json_string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            ' '..='~' => out.push(character),
            _ => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    push_format(&mut out, format_args!("\\u{unit:04x}"));
                }
            }
        }
    }
    out.push('"');
    out
}

/// Appends to a string, which cannot fail.
pub(crate) fn push_format(out: &mut String, arguments: std::fmt::Arguments<'_>) {
    let written = out.write_fmt(arguments);
    debug_assert!(written.is_ok());
}

#[cfg(test)]
mod tests {
    use super::{bytes, json_string, text};

    #[test]
    fn bad_bytes_are_shown_one_by_one() {
        assert_eq!(text("gr\u{fc}n".as_bytes()), "gr\u{fc}n");
        assert_eq!(text(b"\xe2\x82 \xed\xa0\x80"), r"\xe2\x82 \xed\xa0\x80");
        let names: [&[u8]; 5] =
            [b"\xe2\x82 \xed\xa0\x80", b"", b"\\", b"a\\x", b"\\x7f\\x\xff\\xg"];
        for name in names {
            assert_eq!(bytes(&text(name)), name);
        }
    }

    #[test]
    fn json_is_ascii() {
        assert_eq!(json_string("a\"\\\u{7f}\u{1F600}"), r#""a\"\\\u007f\ud83d\ude00""#);
    }
}
