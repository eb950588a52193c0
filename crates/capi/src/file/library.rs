//! The library as a whole: its version, its errors in words, and what holds for files that are opened
//! from now on.

use std::ffi::{CString, c_char, c_int};
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering::Relaxed};

use isotach::sync::{Kept, OnceLock};
use isotach::{Alignment, EditOptions};

use super::mode::format_flags;
use crate::boundary::{answer, put};
use crate::status::{Outcome, Status, text};

/// The version of netCDF whose interface this is.
const VERSION: [u32; 3] = [4, 10, 0];
/// Says an earlier one, for programs that compare versions as text, by which 4.10 is older than 4.4.
const VERSION_SETTING: &str = "ISOTACH_NETCDF_VERSION";

/// The format of new files whose flags do not say one.
static DEFAULT_FORMAT: AtomicI32 = AtomicI32::new(1);
/// `nc_set_alignment`.
static ALIGNMENT: Kept<Option<(c_int, c_int)>> = Kept::fixed(None, None);

/// `nc_set_meta_block_size`.
static META_BLOCK_BYTES: AtomicUsize = AtomicUsize::new(0);

/// The version of netCDF whose interface the library has, or the earlier one that `ISOTACH_NETCDF_VERSION` says; then
/// whose library this is, in the form that programs look for.
#[unsafe(no_mangle)]
pub extern "C" fn nc_inq_libvers() -> *const c_char {
    static TOLD: OnceLock<CString> = OnceLock::new();
    TOLD.get_or_init(|| told_version(std::env::var(VERSION_SETTING).ok())).as_ptr()
}

fn told_version(said: Option<String>) -> CString {
    let earlier = said.as_deref().and_then(|text| version(text).filter(|said| *said <= VERSION));
    if let (Some(said), None) = (&said, earlier) {
        eprintln!("{VERSION_SETTING}: {said:?} is no version of netCDF up to {}", dotted(VERSION));
    }
    let netcdf = dotted(earlier.unwrap_or(VERSION));
    let text = format!("{netcdf} of isotach {} $", env!("CARGO_PKG_VERSION"));
    CString::new(text).unwrap_or_default()
}

/// The three numbers of a version such as 4.9.3.
fn version(text: &str) -> Option<[u32; 3]> {
    let numbers = text.split('.').map(|number| number.parse().ok());
    numbers.collect::<Option<Vec<u32>>>()?.try_into().ok()
}

fn dotted([major, minor, patch]: [u32; 3]) -> String {
    format!("{major}.{minor}.{patch}")
}

/// An error in words: netCDF's, or the operating system's where the number is positive.
#[unsafe(no_mangle)]
pub extern "C" fn nc_strerror(status: c_int) -> *const c_char {
    let text = match status {
        0 => Some("No error\0"),
        1.. => {
            // SAFETY: takes any number; the text stays until this thread asks again.
            return unsafe { libc::strerror(status) };
        }
        _ => text(status),
    };
    text.unwrap_or("Unknown Error\0").as_ptr().cast()
}

/// Gets the library ready: it always is.
#[unsafe(no_mangle)]
pub extern "C" fn nc_initialize() -> c_int {
    0
}

/// Nothing is held for the library as a whole that could be given back.
#[unsafe(no_mangle)]
pub extern "C" fn nc_finalize() -> c_int {
    0
}

/// Says the format of new files whose flags do not, and tells what it was.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_set_default_format(format: c_int, old: *mut c_int) -> c_int {
    answer(|| {
        // SAFETY: the caller's place.
        unsafe { put(old, DEFAULT_FORMAT.load(Relaxed)) };
        format_flags(format).ok_or(Status::EINVAL)?;
        DEFAULT_FORMAT.store(format, Relaxed);
        Ok(())
    })
}

/// Tells the format of new files whose flags do not say one.
#[unsafe(no_mangle)]
pub extern "C" fn nc_get_default_format() -> c_int {
    DEFAULT_FORMAT.load(Relaxed)
}

/// Takes any level: this library logs nothing.
#[unsafe(no_mangle)]
pub extern "C" fn nc_set_log_level(_level: c_int) -> c_int {
    0
}

/// Says where larger pieces of HDF5 files begin that are opened from now on.
#[unsafe(no_mangle)]
pub extern "C" fn nc_set_alignment(threshold: c_int, alignment: c_int) -> c_int {
    ALIGNMENT.change(|set| *set = Some((threshold, alignment)));
    0
}

/// Tells what `nc_set_alignment` said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_get_alignment(threshold: *mut c_int, alignment: *mut c_int) -> c_int {
    let (bytes, multiple) = alignment_set().unwrap_or_default();
    // SAFETY: the caller's places.
    unsafe {
        put(threshold, bytes);
        put(alignment, multiple);
    }
    0
}

/// Says how many bytes structures of HDF5 files take of the file at once that are opened from now on: they lie together.
/// With 0 each takes its own.
#[unsafe(no_mangle)]
pub extern "C" fn nc_set_meta_block_size(bytes: usize) -> c_int {
    META_BLOCK_BYTES.store(bytes, Relaxed);
    0
}

/// Tells what `nc_set_meta_block_size` said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_get_meta_block_size(bytes: *mut usize) -> c_int {
    // SAFETY: the caller's place.
    unsafe { put(bytes, META_BLOCK_BYTES.load(Relaxed)) };
    0
}

/// The same as `nc_set_meta_block_size` for Fortran.
#[unsafe(no_mangle)]
pub extern "C" fn nc_set_meta_block_size_ints(bytes: c_int) -> c_int {
    nc_set_meta_block_size(bytes as usize)
}

/// The same as `nc_get_meta_block_size` for Fortran, of which an `int` has the low bits.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_get_meta_block_size_ints(bytes: *mut c_int) -> c_int {
    // SAFETY: the caller's place.
    unsafe { put(bytes, META_BLOCK_BYTES.load(Relaxed) as c_int) };
    0
}

fn alignment_set() -> Option<(c_int, c_int)> {
    *ALIGNMENT.read()
}

/// The flags of the format that new files have where nothing else is said.
pub(super) fn default_format() -> Outcome<c_int> {
    format_flags(DEFAULT_FORMAT.load(Relaxed)).ok_or(Status::EINTERNAL)
}

/// How files are written that are opened now.
///
/// # Errors
/// `NC_EINVAL` where the environment says what is no setting.
pub(super) fn edit_options() -> Outcome<EditOptions> {
    let mut options = EditOptions { lock: locks(), ..EditOptions::of_environment()? };
    options.structure_block_bytes = META_BLOCK_BYTES.load(Relaxed) as u64;
    if let Some((threshold, multiple)) = alignment_set() {
        // HDF5 takes a negative threshold for one that nothing reaches.
        options.alignment = Alignment {
            threshold: u64::try_from(threshold).unwrap_or(u64::MAX),
            multiple: u64::try_from(multiple).unwrap_or(1),
        };
    }
    Ok(options)
}

/// Whether other processes are kept from writing, by the variable that HDF5 looks at.
fn locks() -> bool {
    let setting = std::env::var_os("HDF5_USE_FILE_LOCKING");
    setting.is_none_or(|setting| setting != "FALSE" && setting != "0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_up_to_the_own_are_told() {
        let own = told_version(None);
        let told = |said: &str| told_version(Some(said.to_owned()));
        assert!(own.to_bytes().starts_with(b"4.10.0 of isotach "));
        assert!(told("4.9.3").to_bytes().starts_with(b"4.9.3 of isotach "));
        for no_version in ["", "4.11.0", "4.9", "4.9.x", "5.0.0"] {
            assert_eq!(told(no_version), own, "{no_version}");
        }
    }
}
