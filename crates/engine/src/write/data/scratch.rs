//! Buffers that each thread uses again: memory that was touched once is fast memory.

use std::cell::RefCell;

use isotach_codec::Scratch as CodecScratch;

use super::batch::Batch;

/// What a thread holds on to between calls.
const KEPT_BYTES: usize = 64 << 20;

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
        let ChunkScratch { elements, stored, codec } = &self.chunk;
        let chunk = elements.capacity() + stored.capacity() + codec.allocated_bytes();
        let held = chunk + self.batch.allocated_bytes();
        if held > KEPT_BYTES {
            *self = Self::default();
        }
    }
}
