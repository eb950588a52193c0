//! New files.

use std::ffi::{c_char, c_int};

use isotach::{CreateOptions, Format, Overwrite};

use super::edited::Edited;
use super::library::{default_format, edit_options};
use super::memory::Memory;
use super::mode::{Mode, NC_DISKLESS, NC_INMEMORY, NC_MMAP, NC_NOCLOBBER, NC_PERSIST};
use super::opening::{
    PAGE_SIZE, check_base_pe, gather, hand_out, tell_block_size, tell_memory_block,
};
use super::path;
use crate::boundary::answer;
use crate::model::{OpenFile, Phase};
use crate::status::{Outcome, Status};

/// Creates a file and goes to define mode.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_create(path: *const c_char, flags: c_int, id: *mut c_int) -> c_int {
    // SAFETY: the caller's string and place for an id.
    answer(|| unsafe { create(path, flags, Asked::default(), id) }.map(drop))
}

/// Creates a file; a classic one has at least the initial size, and is written in pieces of at most the size of blocks.
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
        let block_bytes = block_size.as_ref().copied().unwrap_or(0);
        let asked =
            Asked { least_bytes: initial_size as u64, block_bytes, base_pe, ..Asked::default() };
        let format = create(path, flags, asked, id)?;
        match flags & (NC_DISKLESS | NC_MMAP) {
            0 => tell_block_size(format, block_size),
            _ => tell_memory_block(format, PAGE_SIZE, block_size),
        }
        Ok(())
    })
}

/// What programs ask for of a new file.
#[derive(Default)]
pub(super) struct Asked {
    /// How long a classic file is at least.
    pub(super) least_bytes: u64,
    /// Memory that a file in memory takes at once.
    pub(super) reserved_bytes: u64,
    /// The size of blocks of a classic file, or 0.
    pub(super) block_bytes: usize,
    /// The processor of a Cray T3E.
    pub(super) base_pe: c_int,
}

/// Does what `nc_create` does; the format of the file.
///
/// # Safety
/// `path` is NULL or ends with a zero, `id` is NULL or a place for an id.
pub(super) unsafe fn create(
    path: *const c_char,
    flags: c_int,
    asked: Asked,
    id: *mut c_int,
) -> Outcome<Format> {
    if path.is_null() {
        return Err(Status::EINVAL);
    }
    let mode = Mode::of_new(flags, default_format()?)?;
    // SAFETY: by this function's contract.
    let path = unsafe { path::path(path) }?;
    path::check_local(&path, true)?;
    check_base_pe(mode.format(), asked.base_pe)?;
    let mut options = CreateOptions::new(mode.format());
    options.edit = edit_options()?;
    gather(asked.block_bytes, &mut options.edit);
    options.least_bytes = asked.least_bytes;
    options.reserved_bytes = asked.reserved_bytes;
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
