//! What a thread uses again for the chunks that it reads.

use std::cell::RefCell;

use isotach_codec::Scratch as CodecScratch;

use crate::reused::{self, Reused};

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

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// Calls `work` with the thread's buffers, or with new ones where they are in use.
pub(super) fn with<R>(work: impl FnOnce(&mut Scratch) -> R) -> R {
    reused::with(&SCRATCH, work)
}

impl Reused for Scratch {
    fn allocated_bytes(&self) -> usize {
        self.stored.capacity() + self.decoded.capacity() + self.codec.allocated_bytes()
    }
}
