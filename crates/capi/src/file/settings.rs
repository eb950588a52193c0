//! The rc files: settings that users write in `.ncrc` and programs ask for.
//!
//! They are read when somebody asks first: the file that `NCRCENV_RC` names, or those in the home
//! directory (`NCRCENV_HOME`, else `HOME`) and then in the working one; a later setting of a key takes the
//! place of an earlier one. Variables that are empty count as not set, but for `NCRCENV_IGNORE`, with which there are no
//! settings at all. Settings for single hosts (`[https://host]key=value`) are for remote files and not taken.

use std::collections::BTreeMap;
use std::env;
use std::ffi::{CStr, CString, c_char, c_int};
use std::path::{Path, PathBuf};

use isotach::sync::{Kept, OnceLock};

use crate::boundary::answer;
use crate::status::Status;

/// The names of rc files, in the order in which they are read.
const NAMES: [&str; 3] = [".ncrc", ".daprc", ".dodsrc"];

type Settings = BTreeMap<Vec<u8>, CString>;

/// `None` where the environment says that there are none.
static SETTINGS: OnceLock<Option<Kept<Settings>>> = OnceLock::new();

/// Those of the files.
fn first_settings() -> Option<Kept<Settings>> {
    if env::var_os("NCRCENV_IGNORE").is_some() {
        return None;
    }
    let mut settings = Settings::new();
    for path in paths() {
        // Files that are not there say nothing.
        read(&std::fs::read(path).unwrap_or_default(), &mut settings);
    }
    Some(Kept::new(settings))
}

/// The value of a key, which the caller frees; NULL where it has none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_rc_get(key: *const c_char) -> *mut c_char {
    if key.is_null() {
        return std::ptr::null_mut();
    }
    // SAFETY: the caller's string.
    let key = unsafe { CStr::from_ptr(key) }.to_bytes();
    let Some(settings) = settings() else { return std::ptr::null_mut() };
    match settings.read().get(key) {
        // SAFETY: copies a string that ends with a zero; NULL where there is no memory.
        Some(value) => unsafe { libc::strdup(value.as_ptr()) },
        None => std::ptr::null_mut(),
    }
}

/// Gives a key a value, both without the blanks around them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_rc_set(key: *const c_char, value: *const c_char) -> c_int {
    answer(|| {
        if key.is_null() || value.is_null() {
            return Err(Status::EINVAL);
        }
        // SAFETY: the caller's strings.
        let (key, value) = unsafe { (CStr::from_ptr(key), CStr::from_ptr(value)) };
        if let Some(settings) = settings() {
            settings.change(|settings| put(key.to_bytes(), value.to_bytes(), settings));
        }
        Ok(())
    })
}

/// The key under which a setting for a host, or for a part of what it has, is kept. No line of a file has such a one.
///
/// # Safety
/// Each of the three is NULL or ends with a zero.
unsafe fn key_of(key: *const c_char, host: *const c_char, path: *const c_char) -> Option<Vec<u8>> {
    // SAFETY: by this function's contract.
    let part = |text: *const c_char| (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) });
    let mut whole = part(key)?.to_bytes().trim_ascii().to_vec();
    for part in [part(host), part(path)].into_iter().flatten() {
        whole.push(b'\n');
        whole.extend_from_slice(part.to_bytes());
    }
    Some(whole)
}

/// Gives a key a value, for all or for a host (`host:port`) and a path there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn NC_rcfile_insert(
    key: *const c_char,
    host: *const c_char,
    path: *const c_char,
    value: *const c_char,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's strings.
        let key = unsafe { key_of(key, host, path) }.filter(|_| !value.is_null());
        let key = key.ok_or(Status::EINVAL)?;
        // SAFETY: the caller's string.
        let value = unsafe { CStr::from_ptr(value) }.to_bytes();
        if let Some(settings) = settings() {
            settings.change(|settings| put(&key, value, settings));
        }
        Ok(())
    })
}

/// The value of a key for all, or for a host and a path there; NULL where it has none. It stays as long as the process.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn NC_rclookup(
    key: *const c_char,
    host: *const c_char,
    path: *const c_char,
) -> *const c_char {
    // SAFETY: the caller's strings.
    let (Some(settings), Some(key)) = (settings(), unsafe { key_of(key, host, path) }) else {
        return std::ptr::null();
    };
    // Who asks keeps no count of what he has: texts that were told are kept, each once.
    static TOLD: Kept<BTreeMap<Vec<u8>, &'static CStr>> =
        Kept::fixed(BTreeMap::new(), BTreeMap::new());
    let Some(value) = settings.read().get(&key).cloned() else { return std::ptr::null() };
    if let Some(told) = TOLD.read().get(value.to_bytes()) {
        return told.as_ptr();
    }
    let told: &CStr = Box::leak(value.into_boxed_c_str());
    TOLD.change(|all| {
        all.insert(told.to_bytes().to_vec(), told);
    });
    told.as_ptr()
}

fn settings() -> Option<&'static Kept<Settings>> {
    SETTINGS.get_or_init(first_settings).as_ref()
}

fn paths() -> Vec<PathBuf> {
    let path = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(file) = path("NCRCENV_RC") {
        return vec![file];
    }
    let home = path("NCRCENV_HOME").or_else(|| path("HOME"));
    let folders = home.into_iter().chain([Path::new(".").to_owned()]);
    folders.flat_map(|folder| NAMES.map(|name| folder.join(name))).collect()
}

fn read(bytes: &[u8], settings: &mut Settings) {
    for line in bytes.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii) {
        if line.is_empty() || line.starts_with(b"#") || line.starts_with(b"[") {
            continue;
        }
        let mut parts = line.splitn(2, |&byte| byte == b'=');
        let key = parts.next().unwrap_or_default();
        // A key that stands alone has an empty value.
        put(key, parts.next().unwrap_or_default(), settings);
    }
}

/// Values with a zero in them, which no program could be told, are not taken.
fn put(key: &[u8], value: &[u8], settings: &mut Settings) {
    if let Ok(value) = CString::new(value.trim_ascii()) {
        settings.insert(key.trim_ascii().to_vec(), value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_lines_count_and_hosts_do_not() {
        let mut settings = Settings::new();
        let text = b"# note\n A.B = c d \nHTTP.VERBOSE\n[http://host]X=y\nA.B=second\nEMPTY=\n";
        read(text, &mut settings);
        let found: Vec<_> =
            settings.iter().map(|(key, value)| (&key[..], value.to_bytes())).collect();
        assert_eq!(found, [(&b"A.B"[..], &b"second"[..]), (b"EMPTY", b""), (b"HTTP.VERBOSE", b"")]);
    }
}
