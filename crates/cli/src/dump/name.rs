//! Names as CDL writes them.

/// The name with a backslash before each character that means something in CDL, and before a
/// digit at its beginning.
pub(super) fn escaped(name: &str) -> Vec<u8> {
    let mut text = Vec::with_capacity(name.len() + 4);
    if name.starts_with(|first: char| first.is_ascii_digit()) {
        text.push(b'\\');
    }
    for byte in name.bytes() {
        match byte {
            _ if byte.is_ascii_control() => text.extend(format!("\\%{byte:02x}").bytes()),
            b' ' | b'!' | b'"' | b'#' | b'$' | b'&' | b'\'' | b'(' | b')' | b'*' | b',' | b':'
            | b';' | b'<' | b'=' | b'>' | b'?' | b'[' | b']' | b'\\' | b'^' | b'`' | b'{'
            | b'|' | b'}' | b'~' => text.extend([b'\\', byte]),
            _ => text.push(byte),
        }
    }
    text
}

/// The path with each of its names escaped. ncdump escapes it as one name, and leaves a digit at the
/// beginning of a group's name as it is, which nobody can read back.
pub(super) fn escaped_path(path: &str) -> Vec<u8> {
    path.split('/').map(escaped).collect::<Vec<_>>().join(&b'/')
}

/// The name of the data set: the last part of the path without what follows its last dot.
pub(super) fn of_file(path: &str) -> &str {
    let last = path.rsplit('/').next().unwrap_or(path);
    last.rsplit_once('.').map_or(last, |(stem, _)| stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes() {
        assert_eq!(escaped("0 a-b/c.d@e+f%"), b"\\0\\ a-b/c.d@e+f%");
        assert_eq!(escaped("a\tb"), b"a\\%09b");
        assert_eq!(escaped("caf\u{e9}"), "caf\u{e9}".as_bytes());
        assert_eq!(of_file("/a.b/c.d.nc"), "c.d");
        assert_eq!(of_file("c"), "c");
    }
}
