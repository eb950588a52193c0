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
pub(crate) use block::LENGTH_ORDER;
use search::{Search, Sequence};
use statistics::{Histogram, cost_bits, histogram};

use crate::uninit::Output;

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

/// Deflates `input` to behind what `out` has, where there is room for [`bound`] bytes.
///
/// # Panics
/// If there is less room.
pub(crate) fn encode(input: &[u8], out: &mut Output<'_>) {
    assert!(out.remaining() >= bound(input.len()), "too little room");
    ENCODER.with_borrow_mut(|kept| kept.get_or_insert_default().encode(input, out))
}

/// Working memory of one thread.
#[derive(Default)]
struct Encoder {
    search: Search,
    sequences: Vec<Sequence>,
}

impl Encoder {
    fn encode(&mut self, input: &[u8], out: &mut Output<'_>) {
        self.search.forget();
        let mut to = BitWriter::new(out);
        let part = (input.len() / 4).clamp(MIN_PART, MAX_PART);
        let mut start = 0;
        loop {
            let stretch = Stretch::at(input, start, part);
            let last = stretch.end == input.len();
            self.write_block(&input[..stretch.end], start, &stretch, last, &mut to);
            start = stretch.end;
            if start == input.len() {
                return to.finish();
            }
        }
    }

    /// Writes `input[start..]`, which is `stretch`.
    fn write_block(
        &mut self,
        input: &[u8],
        start: usize,
        stretch: &Stretch,
        last: bool,
        to: &mut BitWriter<'_, '_>,
    ) {
        let bytes = &input[start..];
        let per_byte = stretch.bits / bytes.len().max(1) as f32;
        self.search.run(input, start, per_byte, &mut self.sequences);
        if per_byte < STORED_FROM || !self.sequences.is_empty() {
            let block = Block::new(bytes, &stretch.bytes, &self.sequences);
            if block.len_bits() < block::stored_bits(bytes.len()) {
                return block.write(last, to);
            }
        }
        block::write_stored(bytes, last, to);
    }
}

/// What is to be a block of its own.
struct Stretch {
    end: usize,
    /// How often each byte occurs in it.
    bytes: Histogram,
    /// What its bytes cost as literals.
    bits: f32,
}

impl Stretch {
    /// The one that begins at `start` and consists of parts of `part_len` bytes.
    fn at(input: &[u8], start: usize, part_len: usize) -> Self {
        let mut stretch = Self { end: start, bytes: [0; 256], bits: 0.0 };
        while stretch.end < input.len() && stretch.end - start < MAX_BLOCK {
            let end = input.len().min(stretch.end + part_len);
            let part = histogram(&input[stretch.end..end]);
            let bytes = std::array::from_fn(|byte| stretch.bytes[byte] + part[byte]);
            let bits = cost_bits(&bytes);
            let apart = stretch.bits + cost_bits(&part) + HEADER_BITS;
            if stretch.end > start && bits > apart {
                break;
            }
            stretch = Self { end, bytes, bits };
        }
        stretch
    }
}
