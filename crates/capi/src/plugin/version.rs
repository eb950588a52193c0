//! `H5get_libversion`, the one function of libhdf5 that extensions take from libnetcdf.
//!
//! netCDF4-python's extension is linked to libnetcdf alone, and finds this function in the libhdf5 that the original
//! brings along. Here it comes from this library, which must not stand before a libhdf5 of the program's own: each
//! caller gets the answer of the libhdf5 that it is linked to. A caller without one gets that of a libhdf5 which is
//! loaded, and else the release whose files this library reads and writes.

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};

use crate::boundary::put;

const NAME: &CStr = c"H5get_libversion";
/// How the file names of libhdf5 begin, and of what comes with it and is linked to it.
const LIBRARY: &[u8] = b"libhdf5";
/// The release of HDF5 whose file format this is.
const RELEASE: [c_uint; 3] = [1, 14, 6];

type Inquire = unsafe extern "C" fn(*mut c_uint, *mut c_uint, *mut c_uint) -> c_int;

/// The version of HDF5; negative where it cannot be told, which does not happen here.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn H5get_libversion(
    major: *mut c_uint,
    minor: *mut c_uint,
    release: *mut c_uint,
) -> c_int {
    // The address to return to becomes the fourth argument.
    core::arch::naked_asm!("mov rcx, [rsp]", "jmp {answer}", answer = sym answer)
}

/// The version of HDF5; negative where it cannot be told, which does not happen here.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn H5get_libversion(
    major: *mut c_uint,
    minor: *mut c_uint,
    release: *mut c_uint,
) -> c_int {
    // The address to return to becomes the fourth argument.
    core::arch::naked_asm!("mov x3, x30", "b {answer}", answer = sym answer)
}

/// The version of HDF5; negative where it cannot be told, which does not happen here.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn H5get_libversion(
    major: *mut c_uint,
    minor: *mut c_uint,
    release: *mut c_uint,
) -> c_int {
    // SAFETY: the caller's places.
    unsafe { answer(major, minor, release, std::ptr::null()) }
}

/// What the libhdf5 of whoever called from that address answers, or this library.
unsafe extern "C" fn answer(
    major: *mut c_uint,
    minor: *mut c_uint,
    release: *mut c_uint,
    caller: *const c_void,
) -> c_int {
    // SAFETY: the caller's places.
    unsafe {
        if let Some(inquire) = of_caller(caller).or_else(next).or_else(loaded) {
            return inquire(major, minor, release);
        }
        for (place, number) in [major, minor, release].into_iter().zip(RELEASE) {
            put(place, number);
        }
    }
    0
}

/// The function of that name in a library or in those that it is linked to, where it is not the one above.
fn other_in(library: *mut c_void) -> Option<Inquire> {
    // SAFETY: a handle of the dynamic linker, and a name that ends with a zero.
    let found = unsafe { libc::dlsym(library, NAME.as_ptr()) };
    let is_other = !found.is_null() && found != H5get_libversion as *mut c_void;
    // SAFETY: what has the name is HDF5's function, which takes these arguments in every release.
    is_other.then(|| unsafe { std::mem::transmute::<*mut c_void, Inquire>(found) })
}

/// That of the libhdf5 to which the library with this address is linked.
fn of_caller(address: *const c_void) -> Option<Inquire> {
    // SAFETY: memory for what the dynamic linker tells of the address, whose file name stays while it is loaded.
    let name = unsafe {
        let mut found: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(address, &mut found) == 0 || found.dli_fname.is_null() {
            return None;
        }
        CStr::from_ptr(found.dli_fname).to_owned()
    };
    in_loaded(&name)
}

/// The next one in the order in which the dynamic linker looks.
fn next() -> Option<Inquire> {
    other_in(libc::RTLD_NEXT)
}

/// That of the libhdf5 that was loaded first, by whomever.
fn loaded() -> Option<Inquire> {
    let mut names: Vec<CString> = Vec::new();
    // SAFETY: the list stays for as long as the linker calls `collect` with it.
    unsafe { libc::dl_iterate_phdr(Some(collect), (&raw mut names).cast()) };
    names.iter().find_map(|name| in_loaded(name))
}

/// Adds a library to the list where it has the name of a libhdf5.
unsafe extern "C" fn collect(
    library: *mut libc::dl_phdr_info,
    _size: usize,
    names: *mut c_void,
) -> c_int {
    // SAFETY: what the linker tells of a library, and the list of `loaded`.
    unsafe {
        let path: *const c_char = (*library).dlpi_name;
        if let (false, Some(names)) = (path.is_null(), names.cast::<Vec<CString>>().as_mut()) {
            let path = CStr::from_ptr(path);
            let file = path.to_bytes().rsplit(|&byte| byte == b'/').next();
            if file.is_some_and(|file| file.starts_with(LIBRARY)) {
                names.push(path.to_owned());
            }
        }
    }
    0
}

/// The function in what is loaded from a file. The handle is given back: whoever loaded it keeps it.
fn in_loaded(file: &CStr) -> Option<Inquire> {
    // SAFETY: a name that ends with a zero, and nothing is loaded that is not there.
    unsafe {
        let handle = libc::dlopen(file.as_ptr(), libc::RTLD_NOLOAD | libc::RTLD_LAZY);
        if handle.is_null() {
            return None;
        }
        let found = other_in(handle);
        libc::dlclose(handle);
        found
    }
}
