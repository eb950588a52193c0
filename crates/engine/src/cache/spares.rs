//! Memory of chunks that are gone, for the next ones.
//!
//! To touch memory for the first time costs about as much as to decode into it, and on a virtual
//! machine, which gives free memory back to its host, several times that. So what a file leaves behind
//! when it is closed stays with the process, within the same budget and marked as free to take: the
//! kernel takes it when anybody needs memory.

use std::collections::VecDeque;

use crate::read::memory::offer_to_kernel;

/// Smaller memory costs nothing to find again.
const SMALLEST_BYTES: usize = 256 << 10;

/// Memory that nobody uses, oldest first.
#[derive(Default)]
pub(super) struct Spares {
    blocks: VecDeque<Vec<u8>>,
    bytes: u64,
}

impl Spares {
    /// Memory for `bytes` bytes that is not much larger.
    pub(super) fn take(&mut self, bytes: usize) -> Option<Vec<u8>> {
        let place = self.blocks.iter().rposition(|memory| fits(memory, bytes))?;
        let memory = self.blocks.remove(place)?;
        self.bytes -= memory.capacity() as u64;
        Some(memory)
    }

    /// Takes memory that is not used any more, but for what is too small.
    pub(super) fn give(&mut self, memory: impl Iterator<Item = Vec<u8>>) {
        for mut memory in memory.filter(|memory| memory.capacity() >= SMALLEST_BYTES) {
            memory.clear();
            offer_to_kernel(memory.spare_capacity_mut());
            self.bytes += memory.capacity() as u64;
            self.blocks.push_back(memory);
        }
    }

    /// What is more than `most` bytes, to be freed.
    pub(super) fn shrink(&mut self, most: u64) -> Vec<Vec<u8>> {
        let mut gone = Vec::new();
        while self.bytes > most {
            let Some(memory) = self.blocks.pop_front() else { break };
            self.bytes -= memory.capacity() as u64;
            gone.push(memory);
        }
        gone
    }
}

/// Whether a chunk of `bytes` can be in this memory without wasting more than it takes.
pub(super) fn fits(memory: &Vec<u8>, bytes: usize) -> bool {
    (bytes..=bytes.saturating_mul(2)).contains(&memory.capacity())
}
