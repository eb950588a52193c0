//! Blocks of new bytes on their way to fresh space.

use super::ALIGNMENT;
use crate::error::Result;
use crate::write::target::Target;

/// Structures that lie one behind the other are written together up to about this.
const MOST_BYTES_TOGETHER: usize = 4 << 20;

/// From here on a call of its own costs less than putting a block into one piece with its neighbours.
const LARGE_BYTES: usize = 64 << 10;

/// A block of new bytes for the file.
pub(super) struct Block {
    pub(super) address: u64,
    pub(super) bytes: Vec<u8>,
}

/// Writes blocks of fresh space, those that lie one behind the other in one call. Between two that
/// are aligned may be a few bytes that are free, or somebody's.
pub(super) fn write_together(target: &Target, mut blocks: Vec<&Block>) -> Result<()> {
    blocks.sort_by_key(|block| block.address);
    let mut bytes_together = 0;
    let are_together = |one: &&Block, next: &&Block| {
        bytes_together += one.bytes.len();
        let end = one.address + one.bytes.len() as u64;
        let are = one.bytes.len().max(next.bytes.len()) < LARGE_BYTES
            && bytes_together < MOST_BYTES_TOGETHER
            && is_small_gap(target, end, next.address);
        if !are {
            bytes_together = 0;
        }
        are
    };
    for blocks in blocks.chunk_by(are_together) {
        let [first, others @ ..] = blocks else { continue };
        if others.is_empty() {
            target.write(first.address, &first.bytes)?;
            continue;
        }
        let mut bytes = first.bytes.clone();
        for block in others {
            bytes.resize((block.address - first.address) as usize, 0);
            bytes.extend_from_slice(&block.bytes);
        }
        target.write(first.address, &bytes)?;
    }
    Ok(())
}

/// Whether less than the alignment lies between, and nobody uses it.
fn is_small_gap(target: &Target, end: u64, next: u64) -> bool {
    next >= end && next - end < ALIGNMENT && target.space.is_free(&(end..next))
}
