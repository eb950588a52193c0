//! New files.

use std::ffi::{c_char, c_int};

use isotach::{CreateOptions, Format, Overwrite};

use super::edited::Edited;
use super::library::{default_format, edit_options};
use super::memory::Memory;
use super::mode::{Mode, NC_DISKLESS, NC_INMEMORY, NC_MMAP, NC_NOCLOBBER, NC_PERSIST};
use super::opening::{PAGE_SIZE, check_base_pe, hand_out, tell_block_size, tell_memory_block};
use super::path;
use crate::boundary::answer;
use crate::model::{OpenFile, Phase};
use crate::status::{Outcome, Status};

/// Creates a file and goes to define mode.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_create(path: *const c_char, flags: c_int, id: *mut c_int) -> c_int {
    // SAFETY: the caller's string and place for an id.
    answer(|| unsafe { create(path, flags, (0, 0), id) }.map(drop))
}

/// Creates a file; a classic one has at least the initial size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc__create(
    path: *const c_char,
    flags: c_int,
    initial_size: usize,
    block_size: *mut usize,
    id: *mut c_int,
) -> c_int {
    // SAFETY: the caller's string and places.
    unsafe { nc__create_mp(path, flags, initial_size, 0, block_size, id) }
}

/// Creates a file as seen from a processor of a Cray T3E, where only the first one counts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc__create_mp(
    path: *const c_char,
    flags: c_int,
    initial_size: usize,
    base_pe: c_int,
    block_size: *mut usize,
    id: *mut c_int,
) -> c_int {
    // SAFETY: the caller's string and places.
    answer(|| unsafe {
        let format = create(path, flags, (initial_size, base_pe), id)?;
        match flags & (NC_DISKLESS | NC_MMAP) {
            0 => tell_block_size(format, block_size),
            _ => tell_memory_block(format, PAGE_SIZE, block_size),
        }
        Ok(())
    })
}

/// Does what `nc_create` does; the format of the file.
///
/// # Safety
/// `path` is NULL or ends with a zero, `id` is NULL or a place for an id.
pub(super) unsafe fn create(
    path: *const c_char,
    flags: c_int,
    (initial_size, base_pe): (usize, c_int),
    id: *mut c_int,
) -> Outcome<Format> {
    if path.is_null() {
        return Err(Status::EINVAL);
    }
    let mode = Mode::of_new(flags, default_format()?)?;
    // SAFETY: by this function's contract.
    let path = unsafe { path::path(path) }?;
    path::check_local(&path, true)?;
    check_base_pe(mode.format(), base_pe)?;
    let mut options = CreateOptions::new(mode.format());
    options.edit = edit_options();
    options.least_bytes = initial_size as u64;
    let is_memory =
        mode.has(NC_DISKLESS | NC_INMEMORY) || (mode.has(NC_MMAP) && !mode.has(NC_PERSIST));
    let file = if is_memory {
        let edited = Edited::in_memory(options.create_in_memory(&path.to_string_lossy())?);
        let memory = Memory::new(mode, &path);
        OpenFile::writing(path, mode, edited, Phase::Creating)?.in_memory(memory)
    } else {
        if mode.has(NC_NOCLOBBER) {
            options.overwrite = Overwrite::Never;
        }
        let edited = Edited::create(path::local(&path), &options)?;
        OpenFile::writing(path, mode, edited, Phase::Creating)?
    };
    // SAFETY: by this function's contract.
    unsafe { hand_out(file, id) }
}
