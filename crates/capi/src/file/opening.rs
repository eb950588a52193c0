//! Files that are there.

use std::ffi::{CString, c_char, c_int};
use std::io;

use isotach::{EditOptions, Format, OpenOptions};

use super::edited::Edited;
use super::library::edit_options;
use super::mode::{Mode, NC_DISKLESS, NC_INMEMORY, NC_MMAP, NC_SHARE, NC_WRITE};
use super::{memory, path};
use crate::boundary::{answer, put};
use crate::handle;
use crate::model::{OpenFile, Phase};
use crate::moving::is_snapshot;
use crate::status::{Outcome, Status};

/// What netCDF-C tells as the size of its buffers where it is not asked for one,
const BLOCK_SIZE: usize = 8192;
/// the smallest it takes
const LEAST_BLOCK: usize = 256;
/// and the largest.
const LARGEST_BLOCK: usize = 1 << 28;

/// What netCDF-C tells for a file that it creates in memory.
pub(super) const PAGE_SIZE: usize = 4096;

/// Opens a file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_open(path: *const c_char, flags: c_int, id: *mut c_int) -> c_int {
    // SAFETY: the caller's string and place for an id.
    answer(|| unsafe { open(path, flags, (0, 0), id) }.map(drop))
}

/// Opens a file; a classic one is written in pieces of at most the size of blocks, which is told.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc__open(
    path: *const c_char,
    flags: c_int,
    block_size: *mut usize,
    id: *mut c_int,
) -> c_int {
    // SAFETY: the caller's string and places.
    unsafe { nc__open_mp(path, flags, 0, block_size, id) }
}

/// Opens a file as seen from a processor of a Cray T3E, where only the first one counts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc__open_mp(
    path: *const c_char,
    flags: c_int,
    base_pe: c_int,
    block_size: *mut usize,
    id: *mut c_int,
) -> c_int {
    // SAFETY: the caller's string and places.
    answer(|| unsafe {
        let asked = block_size.as_ref().copied().unwrap_or(0);
        let format = open(path, flags, (asked, base_pe), id)?;
        match flags & (NC_DISKLESS | NC_MMAP) {
            0 => tell_block_size(format, block_size),
            NC_MMAP => {
                // Half of what is mapped: the file, or what was asked for.
                let mapped = file_len(path)?.max(block_size.as_ref().copied().unwrap_or(0));
                tell_memory_block(format, mapped / 2 / 8 * 8, block_size);
            }
            // Half of the pages that the file takes.
            _ => {
                let pages = file_len(path)?.next_multiple_of(PAGE_SIZE);
                tell_memory_block(format, pages / 2, block_size);
            }
        }
        Ok(())
    })
}

/// # Safety
/// `path` ends with a zero.
unsafe fn file_len(path: *const c_char) -> Outcome<usize> {
    // SAFETY: by this function's contract.
    let path = unsafe { path::path(path) }?;
    let len = std::fs::metadata(path::local(&path)).map_or(0, |of| of.len());
    Ok(usize::try_from(len).unwrap_or(0))
}

/// # Safety
/// `path` is NULL or ends with a zero, `id` is NULL or a place for an id.
unsafe fn open(
    path: *const c_char,
    flags: c_int,
    (block_size, base_pe): (usize, c_int),
    id: *mut c_int,
) -> Outcome<Format> {
    if path.is_null() {
        return Err(Status::EINVAL);
    }
    let mode = Mode::of_existing(flags)?;
    if mode.has(NC_INMEMORY) {
        // Which memory?
        return Err(Status::EINVAL);
    }
    // SAFETY: by this function's contract.
    let path = unsafe { path::path(path) }?;
    path::check_local(&path, false)?;
    let file = open_local(path, mode, block_size)?;
    if mode.has(NC_MMAP) && file.is_hdf5() {
        return Err(Status::EINVAL);
    }
    check_base_pe(file.format, base_pe)?;
    // SAFETY: by this function's contract.
    unsafe { hand_out(file, id) }
}

fn open_local(path: CString, mode: Mode, block_size: usize) -> Outcome<OpenFile> {
    let local = path::local(&path);
    if mode.has(NC_DISKLESS) {
        let bytes = std::fs::read(local).map_err(|error| match error.kind() {
            io::ErrorKind::IsADirectory => Status::ENOTNC,
            _ => error.raw_os_error().map_or(Status::EIO, Status),
        })?;
        return memory::open(path, mode, bytes);
    }
    if mode.has(NC_WRITE) {
        let mut options = edit_options()?;
        gather(block_size, &mut options);
        let edited = Edited::open(local, options, mode.has(NC_SHARE))?;
        return OpenFile::writing(path, mode, edited, Phase::Data);
    }
    match Edited::find(local) {
        Some(edited) => {
            let file = edited.writer.file();
            OpenFile::reading(path, mode, &file, Some(edited))
        }
        None => {
            let options = OpenOptions { snapshot: is_snapshot(), ..OpenOptions::default() };
            let file = options.open(local)?;
            OpenFile::reading(path, mode, &file, None)
        }
    }
}

/// Takes an open file in and tells its id; its format.
///
/// # Safety
/// `id` is NULL or a place for an id.
pub(super) unsafe fn hand_out(file: OpenFile, id: *mut c_int) -> Outcome<Format> {
    let format = file.format;
    let opened = handle::insert(file)?;
    // SAFETY: by this function's contract.
    unsafe { put(id, opened) };
    Ok(format)
}

/// The size of blocks of a classic file for one that is asked for; `None` where that is none.
fn block_of(asked: usize) -> Option<usize> {
    (LEAST_BLOCK..=LARGEST_BLOCK).contains(&asked).then(|| asked.next_multiple_of(8))
}

/// Has classic files be written in blocks of the size that was asked for.
pub(super) fn gather(asked: usize, options: &mut EditOptions) {
    if let Some(block) = block_of(asked) {
        options.gathered_bytes = block as u64;
    }
}

/// Tells the size of blocks that netCDF-C would take for a classic file, where it was asked for
/// `block_size`.
///
/// # Safety
/// `block_size` is NULL or a size.
pub(super) unsafe fn tell_block_size(format: Format, block_size: *mut usize) {
    if matches!(format, Format::NetCdf4 | Format::NetCdf4Classic) {
        return;
    }
    // SAFETY: by this function's contract.
    if let Some(size) = unsafe { block_size.as_mut() } {
        *size = block_of(*size).unwrap_or(BLOCK_SIZE);
    }
}

/// Tells the size of blocks of a classic file in memory, whatever was asked for.
///
/// # Safety
/// `block_size` is NULL or a size.
pub(super) unsafe fn tell_memory_block(format: Format, size: usize, block_size: *mut usize) {
    if !matches!(format, Format::NetCdf4 | Format::NetCdf4Classic) {
        // SAFETY: by this function's contract.
        unsafe { put(block_size, size) };
    }
}

/// Classic files have one processor of a Cray T3E, netCDF-4 files do not ask.
///
/// # Errors
/// `NC_EINVAL`.
pub(super) fn check_base_pe(format: Format, base_pe: c_int) -> Outcome {
    let is_any = matches!(format, Format::NetCdf4 | Format::NetCdf4Classic);
    if is_any || base_pe == 0 { Ok(()) } else { Err(Status::EINVAL) }
}
