//! Where CDL goes: indents groups, and breaks lines at the places where `ncdump` breaks them.

use std::io::{self, Write};

/// What continued lines begin with.
const CONTINUED: &[u8] = b"    ";

/// The text that is being written.
pub(super) struct Out<'w> {
    sink: &'w mut dyn Write,
    /// Blanks before each line, for the nesting of groups.
    indent: usize,
    /// Where in the line the next item of a list stands. Like `ncdump` this is kept from one list
    /// to the next, and only lists know of it.
    position: usize,
    /// Items that would pass this position go to the next line.
    longest: usize,
}

impl<'w> Out<'w> {
    /// Writes to `sink`, breaking lists so that lines have at most `line_length` characters.
    pub(super) fn new(sink: &'w mut dyn Write, line_length: usize) -> Self {
        Self { sink, indent: 0, position: 0, longest: line_length.saturating_sub(2) }
    }

    pub(super) fn put(&mut self, text: impl AsRef<[u8]>) -> io::Result<()> {
        self.sink.write_all(text.as_ref())
    }

    /// The blanks that begin a line.
    pub(super) fn begin_line(&mut self) -> io::Result<()> {
        for _ in 0..self.indent {
            self.sink.write_all(b" ")?;
        }
        Ok(())
    }

    /// An item of a list, on the next line where this one has no room for it.
    pub(super) fn item(&mut self, text: impl AsRef<[u8]>) -> io::Result<()> {
        let text = text.as_ref();
        if text.len() + self.position > self.longest && text.len() > 2 {
            self.put(b"\n")?;
            self.begin_line()?;
            self.put(CONTINUED)?;
            self.position = CONTINUED.len() + self.indent;
        }
        self.put(text)?;
        if text.ends_with(b"\n") {
            self.position = self.indent;
        } else {
            self.position += text.len();
        }
        Ok(())
    }

    /// Says that a list begins at this position, not counting the indent.
    pub(super) fn list_at(&mut self, position: usize) {
        self.position = position + self.indent;
    }

    pub(super) fn indent_more(&mut self) {
        self.indent += 2;
    }

    pub(super) fn indent_less(&mut self) {
        self.indent = self.indent.saturating_sub(2);
    }

    pub(super) fn line_length(&self) -> usize {
        self.longest + 2
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_go_on_in_the_next_line() {
        let mut text = Vec::new();
        let mut out = Out::new(&mut text, 20);
        out.indent_more();
        out.list_at(4);
        for item in ["12345, ", "12345, ", "12345, ", "1"] {
            out.item(item).unwrap();
        }
        assert_eq!(text, b"12345, \n      12345, \n      12345, 1");
    }
}
