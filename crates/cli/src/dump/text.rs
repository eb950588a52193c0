//! Text between quotes.

/// Where text stands decides what is done with some of its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// An attribute's value. `breaks_lines` in files of the classic model, where a new line in
    /// the text begins a new piece of it.
    Attribute { breaks_lines: bool },
    /// A row of chars of a variable.
    Row,
    /// An element of a variable of strings, or of a part of a user-defined type.
    Element,
    /// Chars in a compound.
    Member,
}

/// The text in quotes, with escapes. Zero bytes at the end are left out.
pub(super) fn quoted(text: &[u8], place: Place) -> Vec<u8> {
    let end = text.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    let mut quoted = Vec::with_capacity(end + 8);
    quoted.push(b'"');
    for &byte in &text[..end] {
        push_escaped(&mut quoted, byte, place);
    }
    quoted.push(b'"');
    quoted
}

/// A string of C: it ends at its first zero byte.
pub(super) fn until_zero(text: &[u8]) -> &[u8] {
    text.split(|&byte| byte == 0).next().unwrap_or_default()
}

/// A row of chars that comes one by one.
#[derive(Default)]
pub(super) struct Row {
    begun: bool,
    /// Zero bytes at the end so far: shown when something follows.
    zeros: usize,
}

impl Row {
    /// Appends what is to be shown after the next char.
    pub(super) fn push_next(&mut self, text: &mut Vec<u8>, byte: u8) {
        if !self.begun {
            self.begun = true;
            text.push(b'"');
        }
        if byte == 0 {
            self.zeros += 1;
            return;
        }
        for _ in 0..std::mem::take(&mut self.zeros) {
            push_escaped(text, 0, Place::Row);
        }
        push_escaped(text, byte, Place::Row);
    }

    /// What ends the row; the next one can begin.
    pub(super) fn end(&mut self) -> &'static [u8] {
        *self = Self::default();
        b"\""
    }
}

fn push_escaped(text: &mut Vec<u8>, byte: u8, place: Place) {
    let letter = match byte {
        0x08 => b'b',
        0x0c => b'f',
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        // ncdump shows vertical tabs in strings as new lines.
        0x0b if place == Place::Element => b'n',
        0x0b => b'v',
        b'\\' | b'\'' | b'"' => byte,
        _ => {
            let bytes_over_127_are_text = !matches!(place, Place::Row | Place::Member);
            if byte.is_ascii_control() || (byte >= 0x80 && !bytes_over_127_are_text) {
                text.extend(format!("\\{byte:03o}").bytes());
            } else {
                text.push(byte);
            }
            return;
        }
    };
    // In compounds ncdump puts the byte itself behind the backslash.
    text.extend([b'\\', if place == Place::Member { byte } else { letter }]);
    if byte == b'\n' {
        match place {
            Place::Attribute { breaks_lines: true } => text.extend(b"\",\n\t\t\t\""),
            Place::Row => text.extend(b"\",\n    \""),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(text: &str) -> Vec<u8> {
        let mut row = Row::default();
        let mut shown = Vec::new();
        text.bytes().for_each(|byte| row.push_next(&mut shown, byte));
        shown.extend(row.end());
        shown
    }

    #[test]
    fn quotes() {
        let attribute = Place::Attribute { breaks_lines: true };
        assert_eq!(quoted(b"a\nb\0\0", attribute), b"\"a\\n\",\n\t\t\t\"b\"");
        assert_eq!(row("a\0b\"\0"), b"\"a\\000b\\\"\"");
        assert_eq!(row("é"), b"\"\\303\\251\"");
        assert_eq!(row("\0"), b"\"\"");
        assert_eq!(quoted("é".as_bytes(), Place::Element), "\"é\"".as_bytes());
        assert_eq!(quoted(b"\x0b", Place::Element), b"\"\\n\"");
        assert_eq!(quoted(b"\x0b\n", Place::Member), b"\"\\\x0b\\\n\"");
        assert_eq!(until_zero(b"ab\0c"), b"ab");
    }
}
