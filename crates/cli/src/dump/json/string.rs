//! Strings of JSON.

/// Appends the text in quotes. Zero bytes at its end are left out.
pub(super) fn push_string(json: &mut Vec<u8>, text: &[u8]) {
    let mut string = Growing::default();
    string.push(json, text);
    string.end(json);
}

/// A string whose bytes come piece by piece; what is held back is a character at most.
///
/// Bytes that are no UTF-8 are taken for Latin-1, each for itself.
#[derive(Default)]
pub(super) struct Growing {
    begun: bool,
    /// Zero bytes at the end so far: shown when something follows.
    zeros: u64,
    /// The beginning of a character.
    partial: Vec<u8>,
}

impl Growing {
    pub(super) fn push(&mut self, json: &mut Vec<u8>, text: &[u8]) {
        if !std::mem::replace(&mut self.begun, true) {
            json.push(b'"');
        }
        for &byte in text {
            if byte == 0 {
                self.push_partial(json);
                self.zeros += 1;
                continue;
            }
            for _ in 0..std::mem::take(&mut self.zeros) {
                push_char(json, '\0');
            }
            if byte.is_ascii() {
                self.push_partial(json);
                push_char(json, char::from(byte));
            } else {
                self.partial.push(byte);
                self.push_whole(json);
            }
        }
    }

    /// The string's end; the next one can begin.
    pub(super) fn end(&mut self, json: &mut Vec<u8>) {
        self.push(json, b"");
        self.push_partial(json);
        json.push(b'"');
        (self.begun, self.zeros) = (false, 0);
    }

    /// Appends the character that is whole, and what cannot become one.
    fn push_whole(&mut self, json: &mut Vec<u8>) {
        while !self.partial.is_empty() {
            match std::str::from_utf8(&self.partial) {
                Ok(whole) => {
                    json.extend_from_slice(whole.as_bytes());
                    self.partial.clear();
                }
                Err(error) if error.error_len().is_none() => return,
                Err(_) => push_char(json, char::from(self.partial.remove(0))),
            }
        }
    }

    fn push_partial(&mut self, json: &mut Vec<u8>) {
        for byte in self.partial.drain(..) {
            push_char(json, char::from(byte));
        }
    }
}

fn push_char(json: &mut Vec<u8>, char: char) {
    let letter = match char {
        '"' | '\\' => char,
        '\n' => 'n',
        '\t' => 't',
        '\r' => 'r',
        '\u{8}' => 'b',
        '\u{c}' => 'f',
        _ if u32::from(char) < 0x20 => {
            return json.extend(format!("\\u{:04x}", u32::from(char)).bytes());
        }
        _ => return json.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes()),
    };
    json.push(b'\\');
    json.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_bytes_become_a_string() {
        for (text, expected) in [
            (&b""[..], ""),
            (b"ab\0\0", "ab"),
            (b"a\0b\0", "a\0b"),
            (b"\"\\/\n\r\t\x08\x0c\x01\x7f", "\"\\/\n\r\t\u{8}\u{c}\u{1}\u{7f}"),
            ("h\u{e9}\u{20ac}\u{1f600}".as_bytes(), "h\u{e9}\u{20ac}\u{1f600}"),
            (b"20\xb0C", "20\u{b0}C"),
            (b"\xe2\x82A\xe2\x82", "\u{e2}\u{82}A\u{e2}\u{82}"),
            (b"\xff\xc3\xa9\xc3\0x", "\u{ff}\u{e9}\u{c3}\0x"),
        ] {
            let mut json = Vec::new();
            push_string(&mut json, text);
            let parsed: String = serde_json::from_slice(&json).unwrap();
            assert_eq!(parsed, expected);
            let mut piecewise = Vec::new();
            let mut string = Growing::default();
            text.iter().for_each(|&byte| string.push(&mut piecewise, &[byte]));
            string.end(&mut piecewise);
            assert_eq!(piecewise, json);
        }
    }
}
