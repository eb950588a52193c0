//! Files in memory: those that never were on disk, those that go there in the end, and those in blocks
//! that callers give and get.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use isotach::OpenOptions;
use isotach::storage;

use super::creating::Asked;
use super::edited::Edited;
use super::library::edit_options;
use super::mode::{Mode, NC_INMEMORY, NC_MMAP, NC_NETCDF4, NC_PERSIST, NC_WRITE};
use super::{closing, creating, opening, path};
use crate::boundary::{answer, put};
use crate::model::{OpenFile, Phase};
use crate::status::{Outcome, Status};

/// The fewest bytes that can be a file.
const LEAST_BYTES: usize = 8;
/// The block stays the caller's: it is neither freed nor made larger.
const NC_MEMIO_LOCKED: c_int = 1;

/// A block of memory that holds a file, as callers give and get it.
#[repr(C)]
pub struct NC_memio {
    /// Its length in bytes.
    pub size: usize,
    /// Where it begins.
    pub memory: *mut c_void,
    /// `NC_MEMIO_LOCKED` or nothing.
    pub flags: c_int,
}

/// Where the bytes of a file come from that is in memory, and where they go.
#[derive(Default)]
pub(crate) struct Memory {
    /// The file that they go to.
    persists: Option<PathBuf>,
    /// The block that the caller gave.
    block: Option<Arc<Block>>,
}

/// A block that a caller gave; freed with this value where it is ours.
struct Block {
    start: *mut u8,
    len: usize,
    flags: c_int,
    is_ours: AtomicBool,
}

// SAFETY: nobody but the holders of this value uses the block until the file is closed, which is what
// callers agree to; it is read only, but for `Block::replace`.
unsafe impl Send for Block {}
// SAFETY: as above.
unsafe impl Sync for Block {}

impl AsRef<[u8]> for Block {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: the caller said that so many bytes are there until the file is closed.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if *self.is_ours.get_mut() {
            // SAFETY: the caller gave it to us, and it is from his `malloc`.
            unsafe { libc::free(self.start.cast()) };
        }
    }
}

impl Block {
    /// Brings a file that was changed back to a block that stays the caller's.
    ///
    /// # Errors
    /// `NC_EINMEMORY` where it has grown beyond it.
    fn replace(&self, bytes: &[u8]) -> Outcome {
        if bytes.len() > self.len {
            return Err(Status::EINMEMORY);
        }
        // SAFETY: the block has so many bytes; the file was a copy, so that nobody reads the block.
        unsafe { self.start.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        Ok(())
    }
}

impl Memory {
    /// What is to become of the bytes of a file.
    pub(super) fn new(mode: Mode, path: &CStr) -> Self {
        // netCDF-4 has the flag in mind for `NC_DISKLESS` only.
        let is_kept = mode.has(NC_PERSIST) && !(mode.has(NC_NETCDF4) && mode.has(NC_INMEMORY));
        let persists = is_kept.then(|| path::local(path).to_owned());
        Self { persists, block: None }
    }

    /// Brings the bytes of a file that was changed to where they belong.
    pub(super) fn keep(&self, bytes: &[u8]) -> Outcome {
        match &self.block {
            Some(block) if block.flags & NC_MEMIO_LOCKED != 0 => block.replace(bytes)?,
            _ => {}
        }
        match &self.persists {
            Some(path) => Ok(storage::replacement::write(path, bytes)?),
            None => Ok(()),
        }
    }

    /// The memory that the caller gets: the block that he gave, where the file is still in it.
    fn give(&self, changed: Option<&[u8]>) -> Outcome<NC_memio> {
        let Some(bytes) = changed else {
            let Some(block) = &self.block else {
                return Ok(NC_memio { size: 0, memory: std::ptr::null_mut(), flags: 0 });
            };
            block.is_ours.store(false, Relaxed);
            return Ok(NC_memio {
                size: block.len,
                memory: block.start.cast(),
                flags: block.flags,
            });
        };
        if let Some(block) = self.block.as_ref().filter(|block| block.flags & NC_MEMIO_LOCKED != 0)
        {
            return Ok(NC_memio {
                size: bytes.len(),
                memory: block.start.cast(),
                flags: block.flags,
            });
        }
        // SAFETY: asks for that many bytes and for one where there are none.
        let memory = unsafe { libc::malloc(bytes.len().max(1)) };
        if memory.is_null() {
            return Err(Status::ENOMEM);
        }
        // SAFETY: there are as many bytes, and they are new.
        unsafe { memory.cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        Ok(NC_memio { size: bytes.len(), memory, flags: 0 })
    }
}

/// Opens the file that is in `bytes`.
pub(super) fn open(path: CString, mode: Mode, bytes: Vec<u8>) -> Outcome<OpenFile> {
    let memory = Memory::new(mode, &path);
    open_bytes(path, mode, bytes, memory)
}

fn open_bytes(path: CString, mode: Mode, bytes: Vec<u8>, memory: Memory) -> Outcome<OpenFile> {
    let name = path.to_string_lossy();
    if mode.has(NC_WRITE) {
        let writer = edit_options()?.open_bytes(&name, bytes)?;
        let edited = Edited::in_memory(writer);
        return Ok(OpenFile::writing(path, mode, edited, Phase::Data)?.in_memory(memory));
    }
    let storage = Arc::new(storage::Memory::new(bytes));
    let file = OpenOptions::default().open_storage(&name, storage)?;
    Ok(OpenFile::reading(path, mode, &file, None)?.in_memory(memory))
}

/// Opens the file in a block that the caller gave.
///
/// # Safety
/// `info` is as `nc_open_memio` wants it.
unsafe fn open_block(path: *const c_char, flags: c_int, info: &NC_memio) -> Outcome<OpenFile> {
    if flags & NC_MMAP != 0 {
        return Err(Status::EINVAL);
    }
    let mode = Mode::of_existing(flags | NC_INMEMORY)?;
    // SAFETY: the caller's string.
    let path = unsafe { path::path(path) }?;
    let block = Arc::new(Block {
        start: info.memory.cast(),
        len: info.size,
        flags: info.flags,
        is_ours: AtomicBool::new(false),
    });
    let memory = Memory { block: Some(Arc::clone(&block)), ..Memory::new(mode, &path) };
    let opened = if mode.has(NC_WRITE) {
        open_bytes(path, mode, (*block).as_ref().to_vec(), memory)?
    } else {
        let storage = Arc::new(storage::Memory::new(Shared(Arc::clone(&block))));
        let file = OpenOptions::default().open_storage(&path.to_string_lossy(), storage)?;
        OpenFile::reading(path, mode, &file, None)?.in_memory(memory)
    };
    // What fails leaves the block with the caller.
    block.is_ours.store(info.flags & NC_MEMIO_LOCKED == 0, Relaxed);
    Ok(opened)
}

/// The block as a storage has it.
struct Shared(Arc<Block>);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        (*self.0).as_ref()
    }
}

/// Opens a file in memory for reading; the memory stays the caller's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_open_mem(
    path: *const c_char,
    flags: c_int,
    size: usize,
    memory: *mut c_void,
    id: *mut c_int,
) -> c_int {
    answer(|| {
        if memory.is_null() || size < LEAST_BYTES || flags & (NC_WRITE | NC_MMAP) != 0 {
            return Err(Status::EINVAL);
        }
        let info = NC_memio { size, memory, flags: NC_MEMIO_LOCKED };
        // SAFETY: the caller's memory and string.
        let file = unsafe { open_block(path, flags, &info) }?;
        // SAFETY: the caller's place for an id.
        unsafe { opening::hand_out(file, id) }.map(drop)
    })
}

/// Opens a file in memory, which is ours from now on, but where it is locked.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_open_memio(
    path: *const c_char,
    flags: c_int,
    info: *mut NC_memio,
    id: *mut c_int,
) -> c_int {
    answer(|| {
        // SAFETY: NULL or the caller's description of his memory.
        let info = unsafe { info.as_ref() }.ok_or(Status::EINVAL)?;
        if info.memory.is_null() || info.size < LEAST_BYTES {
            return Err(Status::EINVAL);
        }
        // SAFETY: the caller's memory and string.
        let file = unsafe { open_block(path, flags, info) }?;
        // SAFETY: the caller's place for an id.
        unsafe { opening::hand_out(file, id) }.map(drop)
    })
}

/// Creates a file in memory, which takes the initial size at once and grows beyond it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_create_mem(
    path: *const c_char,
    flags: c_int,
    initial_size: usize,
    id: *mut c_int,
) -> c_int {
    if flags & NC_MMAP != 0 {
        return Status::EINVAL.0;
    }
    let reserved_bytes = initial_size as u64;
    answer(|| {
        let asked = Asked { reserved_bytes, ..Asked::default() };
        // SAFETY: the caller's string and place for an id.
        unsafe { creating::create(path, flags | NC_INMEMORY, asked, id) }.map(drop)
    })
}

/// Closes a file in memory and hands out its bytes, which the caller frees.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_close_memio(id: c_int, info: *mut NC_memio) -> c_int {
    answer(|| {
        let file = closing::take(id)?;
        let bytes = closing::close(&file)?;
        if let Some(memory) = file.memory.as_ref().filter(|_| !info.is_null()) {
            // SAFETY: the caller's place for the memory.
            unsafe { put(info, memory.give(bytes.as_deref())?) };
        }
        Ok(())
    })
}
