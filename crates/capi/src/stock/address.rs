//! `ncuri.h`: addresses, `protocol://user:password@host:port/path?query#fragment`.
//!
//! What this library opens are files; addresses are taken apart because programs do so before they
//! open anything.

use std::ffi::{c_char, c_int, c_void};
use std::ptr::null_mut;

use super::{allocate_text, bytes, free};
use crate::boundary::{answer, put};
use crate::status::Status;

/// An address as programs see it.
#[repr(C)]
pub struct Uri {
    uri: *mut c_char,
    protocol: *mut c_char,
    user: *mut c_char,
    password: *mut c_char,
    host: *mut c_char,
    port: *mut c_char,
    path: *mut c_char,
    query: *mut c_char,
    fragment: *mut c_char,
    /// The original keeps the parts of the fragment and the query here; they are taken from the text where they
    /// are asked for.
    _fragments: *mut c_void,
    _queries: *mut c_void,
}

/// What `ncuribuild` puts in.
mod part {
    pub(super) const PATH: i32 = 1;
    pub(super) const PASSWORD: i32 = 2;
    pub(super) const QUERY: i32 = 4;
    pub(super) const FRAGMENT: i32 = 8;
    pub(super) const ENCODED: i32 = 16;
}

/// The parts of an address.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Address {
    pub(crate) protocol: Vec<u8>,
    pub(crate) user: Option<(Vec<u8>, Vec<u8>)>,
    pub(crate) host: Option<Vec<u8>>,
    pub(crate) port: Option<Vec<u8>>,
    pub(crate) path: Option<Vec<u8>>,
    pub(crate) query: Option<Vec<u8>>,
    pub(crate) fragment: Option<Vec<u8>>,
}

/// What is before and behind the first of these bytes.
fn split(text: &[u8], at: u8) -> Option<(&[u8], &[u8])> {
    let index = text.iter().position(|&byte| byte == at)?;
    Some((&text[..index], &text[index + 1..]))
}

fn filled(text: &[u8]) -> Option<Vec<u8>> {
    (!text.is_empty()).then(|| text.to_vec())
}

/// The keys and values of a fragment; of a key that comes again only the first.
fn pairs(text: &[u8]) -> Vec<(&[u8], Option<&[u8]>)> {
    let mut pairs: Vec<(&[u8], Option<&[u8]>)> = Vec::new();
    for pair in text.split(|&byte| byte == b'&') {
        let (key, value) =
            split(pair, b'=').map_or((pair, None), |(key, value)| (key, Some(value)));
        if !pairs.iter().any(|(known, _)| known.eq_ignore_ascii_case(key)) {
            pairs.push((key, value));
        }
    }
    pairs
}

fn joined(pairs: &[(&[u8], Option<&[u8]>)]) -> Vec<u8> {
    let texts = pairs.iter().map(|(key, value)| match value {
        Some(value) => [key, b"=".as_slice(), value].concat(),
        None => key.to_vec(),
    });
    texts.collect::<Vec<_>>().join(&b'&')
}

impl Address {
    /// Takes an address apart; `None` for what is none, such as a path.
    pub(crate) fn parse(text: &[u8]) -> Option<Self> {
        let text = text.trim_ascii();
        let (prefix, text) = prefixed(text)?;
        let end = text.iter().position(|byte| b"?#".contains(byte)).unwrap_or(text.len());
        let (core, rest) = text.split_at(end);
        let (before, fragment) = split(rest, b'#').unwrap_or((rest, b""));
        let query = before.get(1..).unwrap_or_default();
        let (protocol, location) = split(core, b':').filter(|(name, _)| !name.is_empty())?;
        let mut address = Self {
            protocol: protocol.to_vec(),
            query: filled(query),
            fragment: None,
            ..Self::default()
        };
        let keys = [prefix.as_slice(), fragment].into_iter().filter(|keys| !keys.is_empty());
        let keys = keys.collect::<Vec<_>>().join(&b'&');
        address.fragment = filled(&joined(&pairs(&keys)));
        if protocol == b"file" {
            address.path = Some(path_of_file(location)?.to_vec());
            return Some(address);
        }
        let location = location.strip_prefix(b"//")?;
        let end = location.iter().position(|&byte| byte == b'/').unwrap_or(location.len());
        address.path = filled(&location[end..]);
        address.set_host(&location[..end])?;
        Some(address)
    }

    /// Takes `user:password@host:port` apart.
    fn set_host(&mut self, text: &[u8]) -> Option<()> {
        let host = match split(text, b'@') {
            Some((login, host)) => {
                let (user, password) = split(login, b':')?;
                if user.is_empty() || password.is_empty() {
                    return None;
                }
                self.user = Some((decoded(user), decoded(password)));
                host
            }
            None => text,
        };
        let host = match split(host, b':') {
            Some((host, port)) => {
                let is_number = port.iter().all(|byte| byte.is_ascii_digit() || *byte == b'-');
                if host.is_empty() || port.is_empty() || !is_number {
                    return None;
                }
                self.port = Some(port.to_vec());
                host
            }
            None => host,
        };
        self.host = filled(host);
        Some(())
    }
}

/// Parameters in brackets before an address, as keys of a fragment, and what is behind them.
fn prefixed(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let (mut keys, mut rest): (Vec<&[u8]>, _) = (Vec::new(), text);
    while let Some(begun) = rest.strip_prefix(b"[") {
        let (key, behind) = split(begun, b']')?;
        keys.push(key);
        rest = behind;
    }
    Some((keys.join(&b'&'), rest))
}

/// The path of `file:/x`, `file:///x`, `file://x` and the same with a drive.
fn path_of_file(location: &[u8]) -> Option<&[u8]> {
    let has_drive = |path: &[u8]| matches!(path, [drive, b':', ..] if drive.is_ascii_alphabetic());
    match location.strip_prefix(b"//") {
        Some(path) => (path.len() >= 2 && !path.starts_with(b"//")).then_some(path),
        None => (location.len() >= 2 && (location[0] == b'/' || has_drive(location)))
            .then_some(location),
    }
}

/// Text without its escapes, `%` and two digits.
fn decoded(text: &[u8]) -> Vec<u8> {
    let digit = |byte: Option<&u8>| char::from(*byte?).to_digit(16);
    let (mut plain, mut index) = (Vec::with_capacity(text.len()), 0);
    while let Some(&byte) = text.get(index) {
        match (digit(text.get(index + 1)), digit(text.get(index + 2))) {
            (Some(high), Some(low)) if byte == b'%' => {
                plain.push((high << 4 | low) as u8);
                index += 3;
            }
            _ => {
                plain.push(byte);
                index += 1;
            }
        }
    }
    plain
}

/// Text with escapes for all but letters, digits and these.
fn encoded(text: &[u8], allowed: &[u8]) -> Vec<u8> {
    let escape = |&byte: &u8| match byte.is_ascii_alphanumeric() || allowed.contains(&byte) {
        true => vec![byte],
        false => format!("%{byte:02x}").into_bytes(),
    };
    text.iter().flat_map(escape).collect()
}

const IN_PATHS: &[u8] = b"!#$&'()*+,-./:;=?@_~";
const IN_LOGINS: &[u8] = b"!$&'()*+,-.;=_~?#/";

/// Takes an address apart; `NC_EURL` for what is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncuriparse(text: *const c_char, address: *mut *mut Uri) -> c_int {
    answer(|| {
        // SAFETY: the caller's string.
        let text = unsafe { bytes(text) }.ok_or(Status::EDAPURL)?;
        let found = Address::parse(text).ok_or(Status::EDAPURL)?;
        if address.is_null() {
            return Ok(());
        }
        // SAFETY: memory for one address; zeros are one without parts.
        let parts = unsafe { libc::calloc(1, size_of::<Uri>()) }.cast::<Uri>();
        let given = |part: &Option<Vec<u8>>| part.as_deref().map_or(null_mut(), allocate_text);
        let (user, password) = found.user.unzip();
        if parts.is_null() {
            return Err(Status::ENOMEM);
        }
        // SAFETY: memory that nobody else has yet; the caller's place for a pointer.
        unsafe {
            parts.write(Uri {
                uri: allocate_text(text),
                protocol: allocate_text(&found.protocol),
                user: given(&user),
                password: given(&password),
                host: given(&found.host),
                port: given(&found.port),
                path: given(&found.path),
                query: given(&found.query),
                fragment: given(&found.fragment),
                _fragments: null_mut(),
                _queries: null_mut(),
            });
            put(address, parts);
        }
        Ok(())
    })
}

/// Frees an address.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncurifree(address: *mut Uri) {
    // SAFETY: NULL or an address from `ncuriparse`, which nobody uses afterwards.
    unsafe {
        if let Some(parts) = address.as_ref() {
            let Uri { uri, protocol, user, password, host, port, path, query, fragment, .. } =
                *parts;
            [uri, protocol, user, password, host, port, path, query, fragment]
                .into_iter()
                .for_each(|part| free(part));
        }
        free(address);
    }
}

/// Puts an address together, for the caller to free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncuribuild(
    address: *const Uri,
    prefix: *const c_char,
    suffix: *const c_char,
    flags: c_int,
) -> *mut c_char {
    // SAFETY: NULL or the caller's address.
    let Some(parts) = (unsafe { address.as_ref() }) else { return null_mut() };
    // SAFETY: strings of the caller or of the address.
    let text = |part: *const c_char| unsafe { bytes(part) };
    let has = |flag| flags & flag != 0;
    let mut built = text(prefix).unwrap_or_default().to_vec();
    let mut add = |text: &[u8]| built.extend_from_slice(text);
    add(text(parts.protocol).unwrap_or_default());
    add(b"://");
    if let (true, Some(user), Some(password)) =
        (has(part::PASSWORD), text(parts.user), text(parts.password))
    {
        let login = [encoded(user, IN_LOGINS), encoded(password, IN_LOGINS)];
        add(&login.join(&b':'));
        add(b"@");
    }
    add(text(parts.host).unwrap_or_default());
    if let Some(port) = text(parts.port) {
        add(b":");
        add(port);
    }
    if has(part::PATH) {
        let path = text(parts.path).unwrap_or(b"/");
        match has(part::ENCODED) {
            true => add(&encoded(path, IN_PATHS)),
            false => add(path),
        }
    }
    add(text(suffix).unwrap_or_default());
    for (flag, mark, part) in
        [(part::QUERY, b"?", parts.query), (part::FRAGMENT, b"#", parts.fragment)]
    {
        if let (true, Some(part)) = (has(flag), text(part)) {
            add(mark);
            add(part);
        }
    }
    allocate_text(&built)
}

/// Adds a value to a key of the fragment, behind a comma where it has one; a key that is not there is added.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncuriappendfragmentkey(
    address: *mut Uri,
    key: *const c_char,
    value: *const c_char,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's address and strings.
        let (parts, key, value) = unsafe { (address.as_mut(), bytes(key), bytes(value)) };
        let (Some(parts), Some(key)) = (parts, key) else { return Err(Status::EINVAL) };
        // SAFETY: a string of the address.
        let fragment = unsafe { bytes(parts.fragment) }.unwrap_or_default();
        let mut known = if fragment.is_empty() { Vec::new() } else { pairs(fragment) };
        let place = known.iter().position(|(other, _)| other.eq_ignore_ascii_case(key));
        let before = place.and_then(|index| known[index].1).filter(|before| !before.is_empty());
        let both = before.zip(value).map(|(before, value)| [before, value].join(&b','));
        let value = both.as_deref().or(value);
        match place {
            Some(index) => known[index].1 = value,
            None => known.push((key, value)),
        }
        let changed = allocate_text(&joined(&known));
        // SAFETY: the address's own string, which nothing looks at any more.
        unsafe { free(std::mem::replace(&mut parts.fragment, changed)) };
        Ok(())
    })
}

/// Whether text is an address with a path; then `name` gets the path's last part without its
/// ending, for the caller to free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc__testurl(text: *const c_char, name: *mut *mut c_char) -> c_int {
    // SAFETY: the caller's string.
    let Some(address) = (unsafe { bytes(text) }).and_then(Address::parse) else { return 0 };
    let path = address.path.unwrap_or_default();
    let last = path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    let end = last.iter().rposition(|&byte| byte == b'.').unwrap_or(last.len());
    if !last[..end].is_empty() && !name.is_null() {
        // SAFETY: the caller's place for a pointer.
        unsafe { put(name, allocate_text(&last[..end])) };
    }
    1
}

/// The same by the name and with the argument that netCDF-C 4.10 gives it: `is_file` gets whether the address is that of
/// a file, and the path's last part keeps an ending that is all of it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn NC__testurl(
    text: *const c_char,
    name: *mut *mut c_char,
    is_file: *mut c_int,
) -> c_int {
    // SAFETY: the caller's string.
    let address = (unsafe { bytes(text) }).and_then(Address::parse);
    let of_file = address.as_ref().is_some_and(|address| address.protocol == b"file");
    // SAFETY: the caller's place.
    unsafe { put(is_file, c_int::from(of_file)) };
    let Some(address) = address else { return 0 };
    let path = address.path.unwrap_or_default();
    let last = path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    let end = last.iter().rposition(|&byte| byte == b'.').filter(|&end| end > 0);
    if !name.is_null() {
        // SAFETY: the caller's place for a pointer.
        unsafe { put(name, allocate_text(&last[..end.unwrap_or(last.len())])) };
    }
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_parts() {
        let text = |part: &Option<Vec<u8>>| {
            part.as_deref().map_or_else(String::new, |part| String::from_utf8_lossy(part).into())
        };
        for (address, parts) in [
            ("http://h/p", ["h", "", "/p", "", ""]),
            (" http://h ", ["h", "", "", "", ""]),
            ("http:///p", ["", "", "/p", "", ""]),
            (
                "http://u:p%20w@h:80/p?x=1&y#mode=nczarr,s3&z",
                ["h", "80", "/p", "x=1&y", "mode=nczarr,s3&z"],
            ),
            ("[a=b][c]http://h/p#d=e", ["h", "", "/p", "", "a=b&c&d=e"]),
            ("https://h/p#mode=a&MODE=b", ["h", "", "/p", "", "mode=a"]),
            ("http://h?q#f", ["h", "", "", "q", "f"]),
            ("file:///x/y.nc#mode=bytes", ["", "", "/x/y.nc", "", "mode=bytes"]),
            ("file:/x", ["", "", "/x", "", ""]),
            ("file://x/y", ["", "", "x/y", "", ""]),
            ("file:c:/x", ["", "", "c:/x", "", ""]),
        ] {
            let found = Address::parse(address.as_bytes()).unwrap();
            let Address { host, port, path, query, fragment, .. } = &found;
            assert_eq!([host, port, path, query, fragment].map(text), parts, "{address}");
        }
        let login = Address::parse(b"http://u:p%20w@h").unwrap().user;
        assert_eq!(login, Some((b"u".to_vec(), b"p w".to_vec())));
    }

    #[test]
    fn paths_are_no_addresses() {
        for text in [
            "",
            "x.nc",
            "/x/y.nc",
            "c:\\x",
            "c:/x",
            "x:y",
            "http:/x",
            "://h",
            "file:x/y",
            "file:////x",
            "http://@h/p",
            "http://u@h/p",
            "http://u:@h",
            "http://:p@h",
            "http://h:/p",
            "http://:8/p",
            "http://h:x/p",
            "[a",
            "[a]",
            "[a=b]x",
        ] {
            assert_eq!(Address::parse(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn addresses_are_put_together() {
        let build = |address: *mut Uri, flags| {
            // SAFETY: an address from `ncuriparse`; its text is freed here.
            unsafe {
                let built = ncuribuild(address, c"<".as_ptr(), c">".as_ptr(), flags);
                let text = String::from_utf8_lossy(bytes(built).unwrap()).into_owned();
                free(built);
                text
            }
        };
        let mut address = null_mut();
        // SAFETY: strings and a place of this test, and an address that only it has.
        unsafe {
            let text = c"http://u:p%20w@h:80/a b?q#mode=x";
            assert_eq!(ncuriparse(text.as_ptr(), &mut address), 0);
            assert_eq!(build(address, 0), "<http://h:80>");
            assert_eq!(build(address, part::PATH | part::QUERY), "<http://h:80/a b>?q");
            for (key, value) in [(c"mode", c"y"), (c"other", c"z")] {
                assert_eq!(ncuriappendfragmentkey(address, key.as_ptr(), value.as_ptr()), 0);
            }
            assert_eq!(build(address, 31), "<http://u:p%20w@h:80/a%20b>?q#mode=x,y&other=z");
            ncurifree(address);
            assert_eq!(ncuriparse(c"x.nc".as_ptr(), &mut address), Status::EDAPURL.0);
        }
    }
}
