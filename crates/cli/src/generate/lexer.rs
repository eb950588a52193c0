//! The words of CDL.

use super::error::{CdlError, CdlFault};
use super::number;
use super::syntax::{Constant, Position};

/// One word, with what it says.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    /// A name, or a word that the parser takes for more.
    Word(String),
    /// Names that begin at the root group.
    Path(Vec<String>),
    /// `types:` and its like, with the colon right behind.
    Section(Section),
    /// A number, a char, or text.
    Constant(Constant),
    /// One of `{ } ( ) , ; : = *`
    Mark(u8),
    End,
}

/// What begins a part of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    Types,
    Dimensions,
    Variables,
    Data,
    Group,
}

impl Section {
    const ALL: [(&'static str, Self); 5] = [
        ("types", Self::Types),
        ("dimensions", Self::Dimensions),
        ("variables", Self::Variables),
        ("data", Self::Data),
        ("group", Self::Group),
    ];

    /// The word before the colon.
    pub(super) fn word(self) -> &'static str {
        Self::ALL.iter().find(|(_, section)| *section == self).map_or("", |(word, _)| word)
    }
}

pub(super) struct Lexer<'a> {
    text: &'a [u8],
    at: usize,
    line: u32,
    line_start: usize,
}

impl<'a> Lexer<'a> {
    /// The words of the text, before which a mark of UTF-8 may stand.
    pub(super) fn new(text: &'a [u8]) -> Self {
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        Self { text, at: 0, line: 1, line_start: 0 }
    }

    pub(super) fn position(&self) -> Position {
        let column = u32::try_from(self.at - self.line_start + 1).unwrap_or(u32::MAX);
        Position { line: self.line, column }
    }

    /// The next word and where it begins.
    pub(super) fn next(&mut self) -> Result<(Position, Token), CdlError> {
        self.skip_blanks()?;
        let at = self.position();
        let token = self.token().map_err(|fault| fault.at(at))?;
        Ok((at, token))
    }

    /// What stands before the next opening brace: the name of the data set.
    pub(super) fn skip_to_brace(&mut self) -> &[u8] {
        let begin = self.at;
        while self.peek(0).is_some_and(|byte| byte != b'{') {
            self.advance();
        }
        &self.text[begin..self.at]
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.get(self.at + ahead).copied()
    }

    fn advance(&mut self) {
        if self.peek(0) == Some(b'\n') {
            self.line = self.line.saturating_add(1);
            self.line_start = self.at + 1;
        }
        self.at += 1;
    }

    fn skip_blanks(&mut self) -> Result<(), CdlError> {
        loop {
            match (self.peek(0), self.peek(1)) {
                (Some(b' ' | b'\t' | b'\r' | b'\n' | b'\x0c'), _) => self.advance(),
                (Some(b'/'), Some(b'/')) => {
                    while self.peek(0).is_some_and(|byte| byte != b'\n') {
                        self.advance();
                    }
                }
                (Some(b'/'), Some(b'*')) => self.skip_comment()?,
                _ => return Ok(()),
            }
        }
    }

    fn skip_comment(&mut self) -> Result<(), CdlError> {
        let begin = self.position();
        self.at += 2;
        while (self.peek(0), self.peek(1)) != (Some(b'*'), Some(b'/')) {
            if self.peek(0).is_none() {
                return Err(CdlFault::Unterminated { what: "comment" }.at(begin));
            }
            self.advance();
        }
        self.at += 2;
        Ok(())
    }

    fn token(&mut self) -> Result<Token, CdlFault> {
        let Some(byte) = self.peek(0) else { return Ok(Token::End) };
        match byte {
            b'{' | b'}' | b'(' | b')' | b',' | b';' | b':' | b'=' | b'*' => {
                self.at += 1;
                Ok(Token::Mark(byte))
            }
            b'"' => self.text_constant(),
            b'\'' => self.char_constant(),
            b'0'..=b'9' | b'+' | b'-' | b'.' => self.number(),
            b'/' => self.path(),
            _ if self.begins_name() => self.word(),
            _ => Err(CdlFault::Byte { byte }),
        }
    }

    fn number(&mut self) -> Result<Token, CdlFault> {
        let begin = self.at;
        let is_signed = matches!(self.peek(0), Some(b'+' | b'-'));
        self.at += 1;
        let is_word = is_signed && self.peek(0).is_some_and(|byte| byte.is_ascii_alphabetic());
        while let Some(byte) = self.peek(0) {
            let after_exponent = !is_word && matches!(self.text[self.at - 1], b'e' | b'E');
            match byte {
                b'+' | b'-' if after_exponent && !self.is_hex(begin) => {}
                b'.' | b'_' => {}
                _ if byte.is_ascii_alphanumeric() => {}
                _ => break,
            }
            self.at += 1;
        }
        let text = String::from_utf8_lossy(&self.text[begin..self.at]);
        if is_word {
            let special = number::special(&text).map(Constant::Number);
            let malformed = || CdlFault::Number { text: text.clone().into_owned() };
            return special.map(Token::Constant).ok_or_else(malformed);
        }
        number::constant(&text).map(Token::Constant)
    }

    fn is_hex(&self, begin: usize) -> bool {
        matches!(self.text.get(begin..begin + 2), Some(b"0x" | b"0X"))
    }

    /// Whether a name comes next, without a blank before it.
    pub(super) fn begins_name(&self) -> bool {
        match self.peek(0) {
            Some(b'\\') => self.peek(1).is_some_and(|byte| byte > b' '),
            Some(byte) => byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80,
            None => false,
        }
    }

    fn word(&mut self) -> Result<Token, CdlFault> {
        let begin = self.at;
        let name = self.name()?;
        let is_escaped = self.at - begin != name.len();
        if is_escaped || self.peek(0) != Some(b':') {
            return Ok(Token::Word(name));
        }
        match Section::ALL.iter().find(|(word, _)| *word == name) {
            Some((_, section)) => {
                self.at += 1;
                Ok(Token::Section(*section))
            }
            None => Ok(Token::Word(name)),
        }
    }

    fn path(&mut self) -> Result<Token, CdlFault> {
        let mut names = Vec::new();
        while self.peek(0) == Some(b'/') {
            self.at += 1;
            if !self.begins_name() {
                return Err(CdlFault::Byte { byte: b'/' });
            }
            names.push(self.name()?);
        }
        Ok(Token::Path(names))
    }

    /// A name without its escapes. Every byte can be escaped but those of control characters.
    fn name(&mut self) -> Result<String, CdlFault> {
        let mut name = Vec::new();
        while let Some(byte) = self.peek(0) {
            match byte {
                b'\\' => {
                    let escaped = self.peek(1).filter(|byte| !byte.is_ascii_control());
                    name.push(escaped.ok_or(CdlFault::Byte { byte })?);
                    self.at += 2;
                }
                b'_' | b'.' | b'@' | b'+' | b'-' | b'%' | 0x80.. => {
                    name.push(byte);
                    self.at += 1;
                }
                _ if byte.is_ascii_alphanumeric() => {
                    name.push(byte);
                    self.at += 1;
                }
                _ => break,
            }
        }
        String::from_utf8(name).map_err(|_| CdlFault::NotUtf8)
    }

    fn text_constant(&mut self) -> Result<Token, CdlFault> {
        self.at += 1;
        let mut text = Vec::new();
        loop {
            match self.peek(0) {
                None => return Err(CdlFault::Unterminated { what: "text" }),
                Some(b'"') => break,
                Some(b'\\') => {
                    let escaped = self.escape().ok_or(CdlFault::Unterminated { what: "text" })?;
                    text.push(escaped);
                }
                Some(byte) => {
                    text.push(byte);
                    self.advance();
                }
            }
        }
        self.at += 1;
        Ok(Token::Constant(Constant::Text(text.into())))
    }

    fn char_constant(&mut self) -> Result<Token, CdlFault> {
        self.at += 1;
        let byte = match self.peek(0) {
            Some(b'\\') => self.escape().ok_or(CdlFault::Char)?,
            Some(byte) => {
                self.advance();
                byte
            }
            None => return Err(CdlFault::Char),
        };
        if self.peek(0) != Some(b'\'') {
            return Err(CdlFault::Char);
        }
        self.at += 1;
        Ok(Token::Constant(Constant::Char(byte)))
    }

    /// The byte that a backslash and what follows it stand for. As in C, but `\?` is the byte 127,
    /// as ncgen has it.
    fn escape(&mut self) -> Option<u8> {
        self.at += 1;
        let letter = self.peek(0)?;
        let digits = |radix: u32, from: usize, longest: usize| {
            let rest = self.text.get(self.at + from..).unwrap_or_default().iter().take(longest);
            let digits = rest.map_while(|byte| char::from(*byte).to_digit(radix));
            digits.fold((0_u32, 0), |(value, count), digit| (value * radix + digit, count + 1))
        };
        let (value, count) = match letter {
            b'0'..=b'7' => digits(8, 0, 3),
            b'x' | b'X' => match digits(16, 1, 2) {
                (_, 0) => (u32::from(letter), 1),
                (value, count) => (value, count + 1),
            },
            _ => {
                self.advance();
                return Some(match letter {
                    b'a' => 0x07,
                    b'b' => 0x08,
                    b'f' => 0x0c,
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    b'v' => 0x0b,
                    b'?' => 0x7f,
                    _ => letter,
                });
            }
        };
        self.at += count;
        Some(value.to_le_bytes()[0])
    }
}
