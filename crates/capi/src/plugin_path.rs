//! Lists of folders as text, for programs that set or show where plugins are looked for.

use std::ffi::{c_char, c_int};
use std::ptr::null_mut;

use crate::boundary::{answer, list, put};
use crate::plugin::{PluginList, nc_plugin_path_get, nc_plugin_path_set};
use crate::status::{Outcome, Status};
use crate::stock::{allocate_text, bytes, free};

/// What separates folders where nothing is said.
const SEPARATOR: u8 = b':';
/// What separates them for Fortran.
const FORTRAN_SEPARATOR: u8 = b';';

fn separator(given: c_char) -> u8 {
    match given as u8 {
        0 => SEPARATOR,
        given => given,
    }
}

/// The names of a list.
///
/// # Errors
/// `NC_EINVAL` where there is no list, or it has no vector.
///
/// # Safety
/// NULL, or a list whose vector has as many names as it says.
unsafe fn names<'a>(folders: *const PluginList) -> Outcome<&'a [*mut c_char]> {
    // SAFETY: by this function's contract.
    unsafe {
        let folders = folders.as_ref().ok_or(Status::EINVAL)?;
        list(folders.folders.cast_const(), folders.count)
    }
}

/// The names of a list in one text.
///
/// # Errors
/// As `names`.
///
/// # Safety
/// As `names`; names are NULL or end with a zero.
unsafe fn joined(folders: *const PluginList, separator: u8) -> Outcome<Vec<u8>> {
    // SAFETY: by this function's contract.
    let names = unsafe { names(folders) }?;
    // SAFETY: as above.
    let texts = names.iter().map(|name| unsafe { bytes(*name) }.unwrap_or_default());
    Ok(texts.collect::<Vec<_>>().join(&separator))
}

/// Fills a list with the folders of a text; its vector is allocated where there is none.
///
/// # Errors
/// `NC_ENOMEM`.
///
/// # Safety
/// Where the list has a vector, it has room for them.
unsafe fn split(text: &[u8], separator: u8, folders: &mut PluginList) -> Outcome {
    if text.is_empty() {
        folders.count = 0;
        return Ok(());
    }
    let names: Vec<&[u8]> = text.split(|byte| *byte == separator).collect();
    folders.count = names.len();
    if folders.folders.is_null() {
        folders.folders = allocate_names(names.len())?;
    }
    for (index, name) in names.into_iter().enumerate() {
        // SAFETY: by this function's contract.
        unsafe { folders.folders.add(index).write(allocate_text(name)) };
    }
    Ok(())
}

/// Memory for so many names, which are NULL at first.
fn allocate_names(count: usize) -> Outcome<*mut *mut c_char> {
    // SAFETY: asks for memory, and looks whether there is some.
    let memory = unsafe { libc::calloc(count, size_of::<*mut c_char>()) };
    if memory.is_null() { Err(Status::ENOMEM) } else { Ok(memory.cast()) }
}

/// Puts a folder into a list, so that it has that place.
///
/// # Safety
/// As `names`; the vector is from `malloc`.
unsafe fn insert(
    folders: *mut PluginList,
    name: *const c_char,
    place: impl Fn(&[*mut c_char]) -> usize,
) -> Outcome {
    // SAFETY: by this function's contract.
    unsafe {
        let old = names(folders)?;
        let new = bytes(name).ok_or(Status::EINVAL)?;
        let mut all = old.to_vec();
        all.insert(place(old), allocate_text(new));
        let vector = allocate_names(all.len())?;
        vector.copy_from_nonoverlapping(all.as_ptr(), all.len());
        free((*folders).folders);
        *folders = PluginList { count: all.len(), folders: vector };
        Ok(())
    }
}

/// The text of the folders where plugins are looked for.
fn current() -> Outcome<Vec<u8>> {
    let mut folders = PluginList { count: 0, folders: null_mut() };
    // SAFETY: a list of our own, which is freed with its names.
    unsafe {
        match nc_plugin_path_get(&mut folders) {
            0 => {}
            status => return Err(Status(status)),
        }
        let text = joined(&folders, FORTRAN_SEPARATOR);
        ncaux_plugin_path_clear(&mut folders);
        text
    }
}

/// Splits a text of folders.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_plugin_path_parse(
    text: *const c_char,
    by: c_char,
    folders: *mut PluginList,
) -> c_int {
    // SAFETY: the caller's text and list.
    answer(|| unsafe {
        let folders = folders.as_mut().ok_or(Status::EINVAL)?;
        split(bytes(text).unwrap_or_default(), separator(by), folders)
    })
}

/// Splits a text of folders whose length is said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_plugin_path_parsen(
    len: usize,
    text: *const c_char,
    by: c_char,
    folders: *mut PluginList,
) -> c_int {
    // SAFETY: the caller's text and list.
    answer(|| unsafe {
        let folders = folders.as_mut().ok_or(Status::EINVAL)?;
        let text = if text.is_null() { &[] } else { list(text.cast(), len)? };
        split(text, separator(by), folders)
    })
}

/// Gives a list as text, for the caller to free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_plugin_path_tostring(
    folders: *const PluginList,
    by: c_char,
    text: *mut *mut c_char,
) -> c_int {
    // SAFETY: the caller's list, and place for a text.
    answer(|| unsafe {
        let joined = joined(folders, separator(by))?;
        if !text.is_null() {
            put(text, allocate_text(&joined));
        }
        Ok(())
    })
}

/// Frees what a list holds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_plugin_path_clear(folders: *mut PluginList) -> c_int {
    // SAFETY: the caller's list, whose names and vector are from `malloc`.
    answer(|| unsafe {
        for name in names(folders).unwrap_or_default() {
            free(*name);
        }
        if let Some(folders) = folders.as_mut() {
            free(folders.folders);
            *folders = PluginList { count: 0, folders: null_mut() };
        }
        Ok(())
    })
}

/// Frees a list and what it holds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_plugin_path_reclaim(folders: *mut PluginList) -> c_int {
    // SAFETY: the caller's list, which is from `malloc`, too.
    unsafe {
        let status = ncaux_plugin_path_clear(folders);
        free(folders);
        status
    }
}

/// Puts a folder behind those of a list.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_plugin_path_append(
    folders: *mut PluginList,
    name: *const c_char,
) -> c_int {
    // SAFETY: the caller's list and name.
    answer(|| unsafe { insert(folders, name, <[_]>::len) })
}

/// Puts a folder before those of a list.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_plugin_path_prepend(
    folders: *mut PluginList,
    name: *const c_char,
) -> c_int {
    // SAFETY: the caller's list and name.
    answer(|| unsafe { insert(folders, name, |_| 0) })
}

/// How long the text is that `ncaux_plugin_path_stringget` gives; -1 where there is no memory for it.
#[unsafe(no_mangle)]
pub extern "C" fn ncaux_plugin_path_stringlen() -> c_int {
    current().ok().and_then(|text| c_int::try_from(text.len()).ok()).unwrap_or(-1)
}

/// Gives the folders where plugins are looked for as one text; what does not fit is left out.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_plugin_path_stringget(len: c_int, text: *mut c_char) -> c_int {
    answer(|| {
        let len = usize::try_from(len).unwrap_or(0);
        if len == 0 || text.is_null() {
            return Err(Status::EINVAL);
        }
        let mut found = current()?;
        found.resize(len, 0);
        // SAFETY: the caller's text has room for as much as it says.
        unsafe { text.cast::<u8>().copy_from_nonoverlapping(found.as_ptr(), len) };
        Ok(())
    })
}

/// Sets the folders where plugins are looked for.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_plugin_path_stringset(len: c_int, text: *const c_char) -> c_int {
    answer(|| {
        let len = usize::try_from(len).unwrap_or(0);
        if len == 0 || text.is_null() {
            return Err(Status::EINVAL);
        }
        let mut folders = PluginList { count: 0, folders: null_mut() };
        // SAFETY: the caller's text is as long as it says; the list is our own.
        let status = unsafe {
            split(list(text.cast(), len)?, FORTRAN_SEPARATOR, &mut folders)?;
            let status = nc_plugin_path_set(&folders);
            ncaux_plugin_path_clear(&mut folders);
            status
        };
        if status == 0 { Ok(()) } else { Err(Status(status)) }
    })
}

/// Gives the pairs of `_NCProperties`: a vector of keys and values in turn with two NULL at its end, all of
/// it for the caller to free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_parse_provenance(
    properties: *const c_char,
    pairs: *mut *mut *mut c_char,
) -> c_int {
    answer(|| {
        if pairs.is_null() {
            return Ok(());
        }
        // SAFETY: the caller's place for a vector, and text.
        let text = unsafe {
            put(pairs, null_mut());
            bytes(properties).unwrap_or_default()
        };
        if text.is_empty() {
            return Ok(());
        }
        let parts = split_unescaped(text, b",|");
        if parts.iter().any(|part| part.is_empty()) {
            return Err(Status::EINVAL);
        }
        let vector = allocate_names(2 * parts.len() + 2)?;
        for (index, part) in parts.iter().enumerate() {
            let key = split_unescaped(part, b"=").first().map_or(0, |key| key.len());
            let value = part.get(key + 1..).unwrap_or_default();
            // SAFETY: room for both of every pair, and the end.
            unsafe {
                vector.add(2 * index).write(allocate_text(&unescaped(&part[..key])));
                vector.add(2 * index + 1).write(allocate_text(&unescaped(value)));
            }
        }
        // SAFETY: as above.
        unsafe { put(pairs, vector) };
        Ok(())
    })
}

/// The parts between separators that no backslash goes before.
fn split_unescaped<'a>(text: &'a [u8], separators: &[u8]) -> Vec<&'a [u8]> {
    let mut is_escaped = false;
    text.split(|byte| {
        let separates = !is_escaped && separators.contains(byte);
        is_escaped = !is_escaped && *byte == b'\\';
        separates
    })
    .collect()
}

/// Without the backslashes that say that what follows is meant as it is.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut is_escaped = false;
    let is_meant = |byte: &&u8| {
        is_escaped = !is_escaped && **byte == b'\\';
        !is_escaped
    };
    text.iter().filter(is_meant).copied().collect()
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;

    use super::*;

    /// What a function stored as text, which is freed.
    fn taken(text: *mut c_char) -> String {
        // SAFETY: from `allocate_text`.
        unsafe {
            let taken = CStr::from_ptr(text).to_string_lossy().into_owned();
            free(text);
            taken
        }
    }

    #[test]
    fn lists_are_split_and_joined() {
        let mut folders = PluginList { count: 0, folders: null_mut() };
        let mut text = null_mut();
        // SAFETY: a list and strings of our own.
        unsafe {
            assert_eq!(ncaux_plugin_path_parse(c"/a:/b/c".as_ptr(), 0, &mut folders), 0);
            assert_eq!(folders.count, 2);
            assert_eq!(ncaux_plugin_path_append(&mut folders, c"last".as_ptr()), 0);
            assert_eq!(ncaux_plugin_path_prepend(&mut folders, c"first".as_ptr()), 0);
            assert_eq!(ncaux_plugin_path_tostring(&folders, b';' as c_char, &mut text), 0);
            assert_eq!(taken(text), "first;/a;/b/c;last");
            assert_eq!(ncaux_plugin_path_clear(&mut folders), 0);
            assert_eq!((folders.count, folders.folders.is_null()), (0, true));
            let none = null_mut();
            assert_eq!(ncaux_plugin_path_parse(c"/a".as_ptr(), 0, none), Status::EINVAL.0);
        }
    }

    #[test]
    fn properties_are_taken_apart() {
        let mut pairs = null_mut();
        let text = c"version=2,netcdf=4.10.0,hdf5=\\,\\=,bare";
        // SAFETY: a vector that ends with two NULL, whose strings and self are freed.
        let found: Vec<_> = unsafe {
            assert_eq!(ncaux_parse_provenance(text.as_ptr(), &mut pairs), 0);
            let found = (0..8).map(|index| taken(*pairs.add(index))).collect();
            assert!((*pairs.add(8)).is_null() && (*pairs.add(9)).is_null());
            free(pairs);
            found
        };
        assert_eq!(found, ["version", "2", "netcdf", "4.10.0", "hdf5", ",=", "bare", ""]);
        // SAFETY: as above.
        let status = unsafe { ncaux_parse_provenance(c"a=1,,b=2".as_ptr(), &mut pairs) };
        assert_eq!(status, Status::EINVAL.0);
    }
}
