//! Blocks of new bytes on their way to fresh space.

use std::ops::Range;

use super::ALIGNMENT;
use crate::error::Result;
use crate::write::target::Target;

/// Structures that lie one behind the other are written together up to about this.
const MOST_BYTES_TOGETHER: usize = 4 << 20;

/// From here on a call of its own costs less than putting a block into one piece with its neighbours.
const LARGE_BYTES: usize = 64 << 10;

/// What processors move at once.
const WORD_BYTES: u64 = 8;

/// A block of new bytes for the file.
pub(super) struct Block {
    pub(super) address: u64,
    pub(super) bytes: Vec<u8>,
}

impl Block {
    /// What is to be written of a structure that stands at `structure` where its bytes shall be `bytes`
    /// and a `range` of them differs: the aligned words of the file that the range touches. A program that
    /// reads meanwhile finds each of them as it was or as it is, never an address of which some bytes are
    /// old and some new. No word reaches into the structure's neighbours, which others may be writing.
    pub(super) fn of_words(structure: u64, bytes: &[u8], range: Range<usize>) -> Self {
        let range = whole_words(structure, range, bytes.len());
        Self { address: structure + range.start as u64, bytes: bytes[range].to_vec() }
    }
}

/// The aligned words of the file that a range of a structure's bytes touches.
fn whole_words(structure: u64, range: Range<usize>, structure_bytes: usize) -> Range<usize> {
    let skewed = (structure % WORD_BYTES) as usize;
    let word = WORD_BYTES as usize;
    let start = (range.start + skewed) / word * word;
    let end = (range.end + skewed).next_multiple_of(word);
    start.saturating_sub(skewed)..(end - skewed).min(structure_bytes)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_change_by_whole_words() {
        let cases = [
            // The structure's address, the bytes that changed, what is written of its 2,000.
            (4096, 50..53, 48..56),
            (4096, 48..56, 48..56),
            (4096, 55..57, 48..64),
            (4100, 50..53, 44..60),
            (4100, 1..2, 0..4),
            (4096, 1999..2000, 1992..2000),
            (4099, 1999..2000, 1997..2000),
        ];
        let bytes: Vec<u8> = (0..2000).map(|at| at as u8).collect();
        for (structure, changed, written) in cases {
            let block = Block::of_words(structure, &bytes, changed.clone());
            assert_eq!(block.address, structure + written.start as u64, "{changed:?}");
            assert_eq!(block.bytes, bytes[written], "{changed:?}");
        }
    }
}
