//! Room for unsafe code: fresh memory for results.
//!
//! The contract:
//! - A vector's length is set only after a read has counted every one of its bytes as written.
//! - Numbers are plain bytes: any bytes are a value of theirs.
//! - Memory that is offered to the kernel holds nothing any more; other advice changes no contents.

use std::mem::MaybeUninit;

use isotach_model::Number;

use crate::storage::uninit;

/// From this size on, huge pages are asked for: first touches of small pages cost more than the
/// bytes that are put there.
const HUGE_PAGES_FROM: usize = 4 << 20;

/// Asks the kernel to back memory that is going to be filled with huge pages. Does nothing for small memory, and where
/// the kernel does not know how.
pub fn advise_huge_pages(memory: &mut [MaybeUninit<u8>]) {
    if memory.len() >= HUGE_PAGES_FROM {
        #[cfg(target_os = "linux")]
        advise(memory, rustix::mm::Advice::LinuxHugepage);
    }
}

/// Lets the kernel take memory that nobody uses where it needs some; what it holds is lost then.
pub(crate) fn offer_to_kernel(memory: &mut [MaybeUninit<u8>]) {
    #[cfg(target_os = "linux")]
    advise(memory, rustix::mm::Advice::LinuxFree);
    #[cfg(not(target_os = "linux"))]
    let _ = memory;
}

/// Gives advice on the whole pages of memory.
#[cfg(target_os = "linux")]
fn advise(memory: &mut [MaybeUninit<u8>], advice: rustix::mm::Advice) {
    const PAGE: usize = 4096;
    let start = memory.as_mut_ptr();
    let skipped = start.align_offset(PAGE);
    if skipped >= memory.len() {
        return;
    }
    let len = (memory.len() - skipped) / PAGE * PAGE;
    // SAFETY: whole pages within the caller's memory, whose contents stay or do not count.
    unsafe {
        // Without the advice it is only slower.
        let _ = rustix::mm::madvise(start.add(skipped).cast(), len, advice);
    }
}

/// A vector of `count` elements of which `read` fills the bytes and gives them back. `None` where
/// there is no such memory.
pub(super) fn filled_vec<T: Number, E>(
    count: usize,
    read: impl FnOnce(&mut [MaybeUninit<u8>]) -> Result<&mut [u8], E>,
) -> Option<Result<Vec<T>, E>> {
    filled_numbers(count, |elements| read(as_bytes_mut(elements)))
}

/// As [`filled_vec`], for a `read` that wants to know the elements' type.
pub(super) fn filled_numbers<T: Number, E>(
    count: usize,
    read: impl FnOnce(&mut [MaybeUninit<T>]) -> Result<&mut [u8], E>,
) -> Option<Result<Vec<T>, E>> {
    let mut elements: Vec<T> = Vec::new();
    elements.try_reserve_exact(count).ok()?;
    let memory = &mut elements.spare_capacity_mut()[..count];
    advise_huge_pages(as_bytes_mut(memory));
    let (start, len) = (memory.as_ptr().cast::<u8>(), size_of_val(memory));
    let whole = read(memory).map(|written| written.as_ptr() == start && written.len() == len);
    Some(whole.map(|whole| {
        assert!(whole, "other memory came back");
        // SAFETY: every byte of the first `count` elements came back written.
        unsafe { elements.set_len(count) };
        elements
    }))
}

/// Lets `read` fill what is behind the first `start` bytes; those become zeros.
pub(super) fn fill_tail<E>(
    into: &mut [MaybeUninit<u8>],
    start: usize,
    read: impl FnOnce(&mut [MaybeUninit<u8>]) -> Result<&mut [u8], E>,
) -> Result<&mut [u8], E> {
    let (front, tail) = into.split_at_mut(start);
    uninit::zeroed(front);
    let (place, len) = (tail.as_ptr().cast::<u8>(), tail.len());
    let written = read(tail)?;
    assert!(written.as_ptr() == place && written.len() == len, "other memory came back");
    // SAFETY: the front was written with zeros, the tail came back written.
    Ok(unsafe { into.assume_init_mut() })
}

/// The bytes of numbers.
pub(super) fn as_bytes_mut<T: Number>(elements: &mut [MaybeUninit<T>]) -> &mut [MaybeUninit<u8>] {
    let len = size_of_val(elements);
    // SAFETY: the same memory; bytes have no alignment, and nothing can be wrong about
    // uninitialised ones. Whatever is written is a value of the plain number `T`.
    unsafe { std::slice::from_raw_parts_mut(elements.as_mut_ptr().cast(), len) }
}
