//! Buffers that each thread uses again: memory that was touched once is fast memory.

use std::cell::RefCell;
use std::thread::LocalKey;

/// What a thread holds on to between calls, of each kind of buffers. Chunks of 16 MiB, decoded in two steps,
/// stay below.
const KEPT_BYTES: usize = 64 << 20;

/// Buffers of one thread.
pub(crate) trait Reused: Default + 'static {
    /// The memory that they hold.
    fn allocated_bytes(&self) -> usize;
}

/// Calls `work` with the thread's buffers, or with new ones where they are in use.
pub(crate) fn with<B: Reused, R>(
    buffers: &'static LocalKey<RefCell<B>>,
    work: impl FnOnce(&mut B) -> R,
) -> R {
    buffers.with(|buffers| match buffers.try_borrow_mut() {
        Ok(mut buffers) => {
            let result = work(&mut buffers);
            if buffers.allocated_bytes() > KEPT_BYTES {
                *buffers = B::default();
            }
            result
        }
        Err(_) => work(&mut B::default()),
    })
}
