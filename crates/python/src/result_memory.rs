//! Unsafe room: memory of large results, used again by the next ones.
//!
//! Memory that a process touches for the first time must be found and zeroed by the kernel, and on
//! a virtual machine perhaps first be got from its host: that may take longer than decoding what
//! is put there. So the memory of results that are gone stays mapped, marked as free to take
//! (`MADV_FREE`): the kernel takes it when anybody needs memory, else the next result has it.
//!
//! Contract:
//! - a block is a whole private anonymous mapping or a part of one, begins at a multiple of
//!   [`ALIGNMENT`] and is a multiple of it long; it is either in use or kept, never both;
//! - `release` and `resize` are given only what `allocate` or `resize` gave, each once;
//! - what a new block holds is anything: zeros, or bytes of an older result.

use std::collections::HashMap;
use std::ffi::c_void;
use std::ptr::{self, null_mut};
use std::sync::PoisonError;

use isotach::cache::memory_setting;
use isotach::sync::{Mutex, OnceLock};
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
use rustix::process::{Resource, getrlimit};

/// Blocks begin and end at huge pages.
const ALIGNMENT: usize = 2 << 20;
/// The most bytes kept where `ISOTACH_RESULT_MEMORY` does not say.
const LARGEST_DEFAULT: u64 = 1 << 30;

/// Memory by its address and length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Block {
    address: usize,
    len: usize,
}

#[derive(Default)]
struct Blocks {
    /// Lengths of the blocks in use, by address.
    in_use: HashMap<usize, usize>,
    /// Blocks that wait to be used again, oldest first.
    kept: Vec<Block>,
}

/// A process that is forked while somebody changes them knows none of its parent's blocks.
static BLOCKS: Mutex<Option<Blocks>> = Mutex::fixed(None);

/// Memory for `bytes` bytes; null where there is none.
pub(crate) fn allocate(bytes: usize) -> *mut c_void {
    let Some(len) = bytes.max(1).checked_next_multiple_of(ALIGNMENT) else { return null_mut() };
    let Some(block) = blocks(|blocks| blocks.take(len)).or_else(|| map(len)) else {
        return null_mut();
    };
    blocks(|blocks| blocks.in_use.insert(block.address, block.len));
    block.address as *mut c_void
}

/// Takes back what [`allocate`] gave, for the next that wants it.
///
/// # Safety
/// `memory` comes from this module and is not used any more.
pub(crate) unsafe fn release(memory: *mut c_void) {
    let address = memory as usize;
    let Some(len) = blocks(|blocks| blocks.in_use.remove(&address)) else { return };
    let block = Block { address, len };
    // SAFETY: the block's own pages, which nobody uses any more: what they hold may be lost.
    let marked = unsafe { madvise(memory, len, Advice::LinuxFree) };
    let surplus = match marked {
        Ok(()) => blocks(|blocks| blocks.keep(block, most_kept())),
        Err(_) => vec![block],
    };
    surplus.into_iter().for_each(unmap);
}

/// Memory of `bytes` bytes with the same contents; null where there is none, or it is not known how many there are.
///
/// # Safety
/// As for [`release`], unless the result is null.
pub(crate) unsafe fn resize(memory: *mut c_void, bytes: usize) -> *mut c_void {
    let len = blocks(|blocks| blocks.in_use.get(&(memory as usize)).copied());
    let Some(len) = len else { return if memory.is_null() { allocate(bytes) } else { null_mut() } };
    let moved = allocate(bytes);
    if !moved.is_null() {
        // SAFETY: two blocks, the one of at least `len`, the other of at least `bytes` bytes; the
        // caller gives the old one up.
        unsafe {
            ptr::copy_nonoverlapping(memory.cast::<u8>(), moved.cast::<u8>(), len.min(bytes));
            release(memory);
        }
    }
    moved
}

fn blocks<R>(work: impl FnOnce(&mut Blocks) -> R) -> R {
    work(BLOCKS.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default())
}

impl Blocks {
    /// The shortest kept block of at least `len` bytes, cut to `len`; the rest stays kept.
    fn take(&mut self, len: usize) -> Option<Block> {
        let fits = self.kept.iter().enumerate().filter(|(_, block)| block.len >= len);
        let (place, &found) = fits.min_by_key(|(_, block)| block.len)?;
        if found.len == len {
            self.kept.remove(place);
        } else {
            self.kept[place] = Block { address: found.address + len, len: found.len - len };
        }
        Some(Block { address: found.address, len })
    }

    /// Keeps `block`; gives back what is too much then, the oldest first.
    fn keep(&mut self, block: Block, most: usize) -> Vec<Block> {
        self.kept.push(block);
        let mut total: usize = self.kept.iter().map(|block| block.len).sum();
        let mut surplus = Vec::new();
        while total > most {
            let oldest = self.kept.remove(0);
            total -= oldest.len;
            surplus.push(oldest);
        }
        surplus
    }
}

/// The most bytes kept: `ISOTACH_RESULT_MEMORY`, else an eighth of the machine's memory and at most
/// 1 GiB; nothing where the process may have only so many addresses.
fn most_kept() -> usize {
    static MOST: OnceLock<usize> = OnceLock::new();
    *MOST.get_or_init(|| {
        let unlimited = getrlimit(Resource::As).current.is_none();
        let most = memory_setting("ISOTACH_RESULT_MEMORY", LARGEST_DEFAULT);
        if unlimited { usize::try_from(most).unwrap_or(usize::MAX) } else { 0 }
    })
}

/// A new mapping of `len` bytes at a multiple of [`ALIGNMENT`], of huge pages where there are any.
fn map(len: usize) -> Option<Block> {
    let longer = len.checked_add(ALIGNMENT)?;
    // SAFETY: a new mapping, at an address of the kernel's choice.
    let start = unsafe {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        mmap_anonymous(null_mut(), longer, access, MapFlags::PRIVATE).ok()?
    };
    let address = (start as usize).next_multiple_of(ALIGNMENT);
    let before = address - start as usize;
    unmap(Block { address: start as usize, len: before });
    unmap(Block { address: address + len, len: ALIGNMENT - before });
    // SAFETY: the mapping's own pages; this advice does not touch what they hold.
    let _ = unsafe { madvise(address as *mut c_void, len, Advice::LinuxHugepage) };
    Some(Block { address, len })
}

/// Gives memory of ours that nobody uses back to the system.
fn unmap(block: Block) {
    if block.len > 0 {
        // SAFETY: pages of a mapping made here, in use nowhere and kept no longer. Should the
        // kernel refuse, they stay mapped and nobody knows them.
        let _ = unsafe { munmap(block.address as *mut c_void, block.len) };
    }
}
