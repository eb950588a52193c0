//! What a thread uses again for the chunks that it writes.

use std::cell::RefCell;

use isotach_codec::Scratch as CodecScratch;

use super::batch::Batch;
use crate::reused::{self, Reused};

/// The buffers of one thread.
#[derive(Default)]
pub(super) struct Scratch {
    /// Chunks that go to the file together.
    pub(super) batch: Batch,
    /// What one chunk needs on its way.
    pub(super) chunk: ChunkScratch,
}

/// The buffers for one chunk.
#[derive(Default)]
pub(super) struct ChunkScratch {
    /// The chunk's elements.
    pub(super) elements: Vec<u8>,
    /// The same as they are stored.
    pub(super) stored: Vec<u8>,
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
        let ChunkScratch { elements, stored, codec } = &self.chunk;
        let chunk = elements.capacity() + stored.capacity() + codec.allocated_bytes();
        chunk + self.batch.allocated_bytes()
    }
}
