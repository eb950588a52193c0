//! Buffers that each thread uses again: memory that was touched once is fast memory.

use std::cell::RefCell;

use isotach_codec::Scratch as CodecScratch;

/// What a thread holds on to between requests. Chunks of 16 MiB, decoded in two steps, stay below.
const KEPT_BYTES: usize = 64 << 20;

/// The buffers of one thread.
#[derive(Default)]
pub(super) struct Scratch {
    /// Bytes as storage has them.
    pub(super) stored: Vec<u8>,
    /// A decoded chunk.
    pub(super) decoded: Vec<u8>,
    /// What the codec needs between its steps.
    pub(super) codec: CodecScratch,
}

/// Calls `work` with the thread's buffers, or with new ones where they are in use.
pub(super) fn with<R>(work: impl FnOnce(&mut Scratch) -> R) -> R {
    thread_local! {
        static SCRATCH: RefCell<Scratch> = RefCell::default();
    }
    SCRATCH.with(|scratch| match scratch.try_borrow_mut() {
        Ok(mut scratch) => {
            let result = work(&mut scratch);
            scratch.release_excess();
            result
        }
        Err(_) => work(&mut Scratch::default()),
    })
}

impl Scratch {
    fn release_excess(&mut self) {
        let held = self.stored.capacity() + self.decoded.capacity();
        if held + self.codec.allocated_bytes() > KEPT_BYTES {
            *self = Self::default();
        }
    }
}
