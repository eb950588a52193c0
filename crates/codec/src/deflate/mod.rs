//! Deflate (RFC 1951) for speed: level 1.
//!
//! ```text
//! input -> parts -> blocks -> search -> sequences -> Huffman codes -> bits
//! ```
//! Shuffled numbers make rows of bytes of very different kinds one after the other: all alike,
//! smooth, noise. Bytes are counted part by part, and a block ends where codes of its own are worth
//! their header: so a block is of one kind. What a byte costs in a block then tells which
//! repetitions are worth more than their bytes; where there are none, the search hurries on.

mod bits;
mod block;
mod code;
mod search;
mod statistics;

use std::cell::RefCell;

use bits::BitWriter;
use block::Block;
use search::{Search, Sequence};
use statistics::{Histogram, cost_bits, histogram};

/// Bytes that are counted together: a quarter of the input, within these.
const MIN_PART: usize = 1 << 10;
const MAX_PART: usize = 8 << 10;
/// The longest block.
const MAX_BLOCK: usize = 256 << 10;
const _: () = assert!(MAX_BLOCK + MAX_PART <= code::MAX_COUNT as usize);
/// What another header costs at least, in bits.
const HEADER_BITS: f32 = 400.0;
/// A block of more bits per byte than this is stored as it is.
const STORED_FROM: f32 = 7.97;

thread_local! {
    static ENCODER: RefCell<Option<Encoder>> = const { RefCell::new(None) };
}

/// The most bytes that `len` bytes can become, with what the writer wants behind them.
pub(crate) fn bound(len: usize) -> usize {
    // A block has at least a part, the last one excepted. Stored, it gets 6 bytes longer, and once
    // more by 5 for all 65,535 bytes.
    let blocks = len / MIN_PART + 2;
    len + blocks * 11 + BitWriter::SLACK
}

/// Deflates `input` to the front of `out`, which has at least [`bound`] bytes, and returns the
/// number of bytes.
///
/// # Panics
/// If `out` is shorter.
pub(crate) fn encode(input: &[u8], out: &mut [u8]) -> usize {
    assert!(out.len() >= bound(input.len()), "too little room");
    ENCODER.with_borrow_mut(|kept| kept.get_or_insert_default().encode(input, out))
}

/// Working memory of one thread.
#[derive(Default)]
struct Encoder {
    search: Search,
    sequences: Vec<Sequence>,
}

impl Encoder {
    fn encode(&mut self, input: &[u8], out: &mut [u8]) -> usize {
        self.search.forget();
        let mut to = BitWriter::new(out);
        let part = (input.len() / 4).clamp(MIN_PART, MAX_PART);
        let mut start = 0;
        loop {
            let (end, bits) = block_end(input, start, part);
            self.write_block(input, start, end, bits, &mut to);
            start = end;
            if start == input.len() {
                return to.finish();
            }
        }
    }

    /// Writes `input[start..end]`, whose literals would cost `bits`.
    fn write_block(
        &mut self,
        input: &[u8],
        start: usize,
        end: usize,
        bits: f32,
        to: &mut BitWriter<'_>,
    ) {
        let last = end == input.len();
        let bytes = &input[start..end];
        let per_byte = bits / bytes.len().max(1) as f32;
        self.search.run(&input[..end], start, per_byte, &mut self.sequences);
        if per_byte < STORED_FROM || !self.sequences.is_empty() {
            let block = Block::new(bytes, &self.sequences);
            if block.len_bits() < block::stored_bits(bytes.len()) {
                return block.write(last, to);
            }
        }
        block::write_stored(bytes, last, to);
    }
}

/// Where the block that begins at `start` ends, and what its literals cost, in bits.
fn block_end(input: &[u8], start: usize, part_len: usize) -> (usize, f32) {
    let mut block: Histogram = [0; 256];
    let mut block_bits = 0.0;
    let mut end = start;
    while end < input.len() && end - start < MAX_BLOCK {
        let part_end = input.len().min(end + part_len);
        let part = histogram(&input[end..part_end]);
        let joined: Histogram = std::array::from_fn(|byte| block[byte] + part[byte]);
        let joined_bits = cost_bits(&joined);
        if end > start && joined_bits > block_bits + cost_bits(&part) + HEADER_BITS {
            break;
        }
        (block, block_bits, end) = (joined, joined_bits, part_end);
    }
    (end, block_bits)
}
