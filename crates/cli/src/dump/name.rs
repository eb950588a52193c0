//! Names as CDL writes them.

/// The name with a backslash before each character that means something in CDL, and before a
/// digit at its beginning.
pub(super) fn escaped(name: impl AsRef<[u8]>) -> Vec<u8> {
    let name = name.as_ref();
    let mut text = Vec::with_capacity(name.len() + 4);
    if name.first().is_some_and(u8::is_ascii_digit) {
        text.push(b'\\');
    }
    for &byte in name {
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

/// The name of the data set: the last part of the path without what follows its last dot. To `ncdump` a
/// backslash separates parts of a path, too.
pub(super) fn of_file(path: &[u8]) -> &[u8] {
    let last = path.rsplit(|byte| matches!(byte, b'/' | b'\\')).next().unwrap_or(path);
    let dot = last.iter().rposition(|&byte| byte == b'.');
    dot.map_or(last, |dot| &last[..dot])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes() {
        assert_eq!(escaped("0 a-b/c.d@e+f%"), b"\\0\\ a-b/c.d@e+f%");
        assert_eq!(escaped("a\tb"), b"a\\%09b");
        assert_eq!(escaped("caf\u{e9}"), "caf\u{e9}".as_bytes());
        assert_eq!(of_file(b"/a.b/c.d.nc"), b"c.d");
        assert_eq!(of_file(b"c"), b"c");
        assert_eq!(of_file(b"c\\d.nc"), b"d");
    }
}
