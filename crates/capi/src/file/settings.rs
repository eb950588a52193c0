//! The rc files: settings that users write in `.ncrc` and programs ask for.
//!
//! They are read when somebody asks first: the file that `NCRCENV_RC` names, or those in the home
//! directory and then in the working one; a later setting of a key takes the place of an earlier one.
//! Settings for single hosts (`[https://host]key=value`) are for remote files and not taken.

use std::collections::BTreeMap;
use std::env;
use std::ffi::{CStr, CString, c_char, c_int};
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use crate::boundary::answer;
use crate::status::Status;

/// The names of rc files, in the order in which they are read.
const NAMES: [&str; 3] = [".ncrc", ".daprc", ".dodsrc"];
/// The value of a key that stands alone.
const ALONE: &[u8] = b"1";

type Settings = BTreeMap<Vec<u8>, CString>;

static SETTINGS: LazyLock<Mutex<Settings>> = LazyLock::new(|| {
    let mut settings = Settings::new();
    for path in paths() {
        // Files that are not there say nothing.
        read(&std::fs::read(path).unwrap_or_default(), &mut settings);
    }
    Mutex::new(settings)
});

/// The value of a key, which the caller frees; NULL where it has none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_rc_get(key: *const c_char) -> *mut c_char {
    if key.is_null() {
        return std::ptr::null_mut();
    }
    // SAFETY: the caller's string.
    let key = unsafe { CStr::from_ptr(key) }.to_bytes();
    match settings().get(key) {
        // SAFETY: copies a string that ends with a zero; NULL where there is no memory.
        Some(value) => unsafe { libc::strdup(value.as_ptr()) },
        None => std::ptr::null_mut(),
    }
}

/// Gives a key a value.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_rc_set(key: *const c_char, value: *const c_char) -> c_int {
    answer(|| {
        if key.is_null() || value.is_null() {
            return Err(Status::EINVAL);
        }
        // SAFETY: the caller's strings.
        let (key, value) = unsafe { (CStr::from_ptr(key), CStr::from_ptr(value)) };
        settings().insert(key.to_bytes().to_vec(), value.to_owned());
        Ok(())
    })
}

fn settings() -> MutexGuard<'static, Settings> {
    SETTINGS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn paths() -> Vec<PathBuf> {
    if env::var_os("NCRCENV_IGNORE").is_some() {
        return Vec::new();
    }
    if let Some(path) = env::var_os("NCRCENV_RC") {
        return vec![path.into()];
    }
    let home = env::var_os("NCRCENV_HOME").or_else(|| env::var_os("HOME"));
    let folders = home.map(PathBuf::from).into_iter().chain([Path::new(".").to_owned()]);
    folders.flat_map(|folder| NAMES.map(|name| folder.join(name))).collect()
}

fn read(bytes: &[u8], settings: &mut Settings) {
    for line in bytes.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii) {
        if line.is_empty() || line.starts_with(b"#") || line.starts_with(b"[") {
            continue;
        }
        let mut parts = line.splitn(2, |&byte| byte == b'=').map(<[u8]>::trim_ascii);
        let key = parts.next().unwrap_or_default();
        let value = parts.next().filter(|value| !value.is_empty()).unwrap_or(ALONE);
        if let Ok(value) = CString::new(value) {
            settings.insert(key.to_vec(), value);
        }
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
        assert_eq!(
            found,
            [(&b"A.B"[..], &b"second"[..]), (b"EMPTY", b"1"), (b"HTTP.VERBOSE", b"1")]
        );
    }
}
