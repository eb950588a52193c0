//! Filter 4, szip: the extended-Rice coding of CCSDS 121.0-B, with HDF5's length in front.
//!
//! ```text
//! | decoded length, u32 little-endian | scan line | scan line | ..
//! scan line | block | block | ..      its last block padded to the block size
//! block     | id | (reference sample) | samples in the coding that the id names |
//! ```
//! A sample is stored as it is, or (with nearest-neighbour preprocessing) as its difference from
//! the one before it, folded to an unsigned number; a line's first sample is then a reference
//! sample. Pixels of 32 and 64 bits are coded as bytes: all first bytes, then all second ones, ...
//! That is what the szip interface of libaec does, which HDF5 is built with nowadays.

use crate::bits::{BitReader, BitWriter};
use crate::error::ErrorKind;
use crate::filter::{shuffle, simd};
use crate::uninit::{Output, fill_vec, reserve};

/// Options mask: samples are stored most significant byte first.
const MSB: u32 = 16;
/// Options mask: differences from the preceding sample are coded.
const NEAREST_NEIGHBOUR: u32 = 32;
/// The coding's largest block; HDF5 itself writes at most 32.
const MAX_BLOCK: u32 = 256;
/// The decoded length stands in front.
const LENGTH_LEN: usize = 4;
/// The unary number that stands for "zeros up to the end of the segment".
const REMAINDER_OF_SEGMENT: u32 = 5;
/// Blocks in a segment.
const SEGMENT_BLOCKS: u32 = 64;
/// Largest number of the second extension's table: pairs of samples with a sum up to 12.
const MAX_PAIR: u32 = 90;
/// The largest sum of a pair.
const MAX_PAIR_SUM: u32 = 12;

/// Decodes `input` to the length that stands in front of it.
pub(crate) fn decode(
    parameters: &[u32],
    input: &[u8],
    output: &mut Output<'_>,
) -> Result<(), ErrorKind> {
    let layout = Layout::new(parameters)?;
    let Some((length, coded)) = input.split_first_chunk::<LENGTH_LEN>() else {
        return Err(ErrorKind::Corrupt { what: "the decoded length is cut off", at_byte: 0 });
    };
    let len = u32::from_le_bytes(*length) as usize;
    let mut decoder = LineDecoder::new(&layout, coded);
    if layout.word_bytes == 1 {
        return decoder.decode_into(output.extend_zeroed(len)?);
    }
    if len > output.remaining() {
        return Err(output.too_long(len as u64));
    }
    let mut rows = vec![0; len];
    decoder.decode_into(&mut rows)?;
    let words = len / layout.word_bytes;
    output.extend_with(words * layout.word_bytes, |place| {
        shuffle::unshuffle_range(&rows, layout.word_bytes, words, 0, words, place)
    })?;
    output.extend_zeroed(len % layout.word_bytes).map(|_| ())
}

/// Encodes `input` behind its length.
pub(crate) fn encode(
    parameters: &[u32],
    input: &[u8],
    output: &mut Vec<u8>,
) -> Result<(), ErrorKind> {
    let layout = Layout::new(parameters)?;
    let too_long =
        ErrorKind::Length { expected_bytes: u32::MAX as usize, decoded_bytes: input.len() };
    let len = u32::try_from(input.len()).map_err(|_| too_long)?;
    let pixel_bytes = layout.word_bytes.max(layout.sample_bytes);
    if !input.len().is_multiple_of(pixel_bytes) {
        let what = "szip length is no multiple of the pixel size";
        return Err(ErrorKind::Corrupt { what, at_byte: input.len() });
    }
    reserve(output, LENGTH_LEN + input.len() + input.len() / 8)?;
    output.extend(len.to_le_bytes());
    let mut rows = Vec::new();
    let samples = if layout.word_bytes == 1 {
        input
    } else {
        fill_vec(&mut rows, input.len(), |rows| {
            rows.extend_with(input.len(), |place| simd::shuffle(input, layout.word_bytes, place))
        })?;
        &rows
    };
    let mut encoder = LineEncoder::new(&layout, output);
    let line_bytes = (layout.line as usize).saturating_mul(layout.sample_bytes);
    for line in samples.chunks(line_bytes) {
        encoder.encode_line(line);
    }
    encoder.bits.finish();
    Ok(())
}

/// What the parameters say.
struct Layout {
    preprocessed: bool,
    most_significant_first: bool,
    block: u32,
    /// Samples of a scan line, without the padding of its last block.
    line: u32,
    blocks_per_line: u32,
    sample_bits: u32,
    sample_bytes: usize,
    id_bits: u32,
    /// Bytes of the pixels that are coded byte by byte; 1 where they are coded as they are.
    word_bytes: usize,
}

impl Layout {
    fn new(parameters: &[u32]) -> Result<Self, ErrorKind> {
        let get =
            |index| parameters.get(index).copied().ok_or(ErrorKind::MissingParameter { index });
        let wrong = |index, value| Err(ErrorKind::Parameter { index, value });
        let (mask, block, bits, line) = (get(0)?, get(1)?, get(2)?, get(3)?);
        if block == 0 || block > MAX_BLOCK {
            return wrong(1, block);
        }
        if line == 0 {
            return wrong(3, line);
        }
        let (sample_bits, word_bytes) = match bits {
            1..=31 => (bits, 1),
            32 => (8, 4),
            64 => (8, 8),
            _ => return wrong(2, bits),
        };
        let (sample_bytes, id_bits) = match sample_bits {
            0..=8 => (1, 3),
            9..=16 => (2, 4),
            _ => (4, 5),
        };
        Ok(Self {
            preprocessed: mask & NEAREST_NEIGHBOUR != 0,
            most_significant_first: mask & MSB != 0,
            block,
            line,
            blocks_per_line: line.div_ceil(block),
            sample_bits,
            sample_bytes,
            id_bits,
            word_bytes,
        })
    }
}

/// Reads blocks and writes their samples, line after line.
struct LineDecoder<'a> {
    layout: &'a Layout,
    bits: BitReader<'a>,
    /// The samples of one block, before preprocessing is undone.
    block: Vec<u32>,
    /// The blocks of zeros that a zero block still announces.
    zero_blocks: u32,
}

impl<'a> LineDecoder<'a> {
    fn new(layout: &'a Layout, coded: &'a [u8]) -> Self {
        let block = Vec::with_capacity(layout.block as usize);
        Self { layout, bits: BitReader::new(coded), block, zero_blocks: 0 }
    }

    /// Fills `decoded`; bytes at its end that make no whole sample stay as they are.
    fn decode_into(&mut self, decoded: &mut [u8]) -> Result<(), ErrorKind> {
        let whole = decoded.len() / self.layout.sample_bytes * self.layout.sample_bytes;
        let line_bytes = (self.layout.line as usize).saturating_mul(self.layout.sample_bytes);
        for line in decoded[..whole].chunks_mut(line_bytes) {
            self.decode_line(line)?;
        }
        Ok(())
    }

    fn decode_line(&mut self, mut line: &mut [u8]) -> Result<(), ErrorKind> {
        let mut previous = 0;
        self.zero_blocks = 0;
        for index in 0..self.layout.blocks_per_line {
            if line.is_empty() {
                break;
            }
            let has_reference = self.layout.preprocessed && index == 0;
            self.read_block(index, has_reference).ok_or(ErrorKind::Corrupt {
                what: "no valid szip block",
                at_byte: LENGTH_LEN + self.bits.at_byte(),
            })?;
            if self.layout.preprocessed {
                let differences = if has_reference {
                    previous = self.block.first().copied().unwrap_or(0);
                    self.block.get_mut(1..).unwrap_or_default()
                } else {
                    &mut self.block[..]
                };
                undo_differences(differences, &mut previous, self.layout.sample_bits);
            }
            let len = line.len().min(self.block.len() * self.layout.sample_bytes);
            let (place, rest) = line.split_at_mut(len);
            self.write_block(place);
            line = rest;
        }
        Ok(())
    }

    /// Reads block `index` of its line to `self.block`. `None` where it is cut off or not valid.
    fn read_block(&mut self, index: u32, has_reference: bool) -> Option<()> {
        let size = self.layout.block as usize;
        self.block.clear();
        if self.zero_blocks > 0 {
            self.zero_blocks -= 1;
            self.block.resize(size, 0);
            return Some(());
        }
        let id = self.bits.take(self.layout.id_bits)? as u32;
        let uncompressed = (1 << self.layout.id_bits) - 1;
        if id == uncompressed {
            return self.read_samples(size);
        }
        let pairs = id == 0 && self.bits.take(1)? == 1;
        if has_reference {
            self.read_samples(1)?;
        }
        match id {
            0 if pairs => self.read_pairs(),
            0 => {
                self.zero_blocks = self.read_zero_run(index)? - 1;
                self.block.resize(size, 0);
                Some(())
            }
            _ => self.read_split(id - 1),
        }
    }

    /// `count` samples as they are.
    fn read_samples(&mut self, count: usize) -> Option<()> {
        for _ in 0..count {
            self.block.push(self.bits.take(self.layout.sample_bits)? as u32);
        }
        Some(())
    }

    /// Samples in two parts: first the high bits of all, unary, then the `low_bits` of all.
    fn read_split(&mut self, low_bits: u32) -> Option<()> {
        let first = self.block.len();
        for _ in first..self.layout.block as usize {
            self.block.push(self.bits.take_unary()?.checked_shl(low_bits)?);
        }
        if low_bits == 0 {
            return Some(());
        }
        // As many at once as surely come with one call.
        let at_once = (BitReader::AT_ONCE / low_bits) as usize;
        for samples in self.block[first..].chunks_mut(at_once) {
            let mut all = self.bits.take(low_bits * samples.len() as u32)?;
            for sample in samples.iter_mut().rev() {
                *sample = sample.wrapping_add(all as u32 & ((1 << low_bits) - 1));
                all >>= low_bits;
            }
        }
        Some(())
    }

    /// The second extension: each unary number stands for a pair of samples, numbered along the
    /// diagonals of equal sum. The reference sample takes the place of the first pair's first.
    fn read_pairs(&mut self) -> Option<()> {
        let mut pair_index = 0;
        while self.block.len() < self.layout.block as usize {
            let number = self.bits.take_unary()?;
            if number > MAX_PAIR {
                return None;
            }
            let mut sum = 0;
            let mut diagonal = 0;
            while diagonal + sum < number {
                diagonal += sum + 1;
                sum += 1;
            }
            let second = number - diagonal;
            if pair_index > 0 || self.block.is_empty() {
                self.block.push(sum - second);
            }
            self.block.push(second);
            pair_index += 1;
        }
        self.block.truncate(self.layout.block as usize);
        Some(())
    }

    /// The count of blocks of zeros that begin with block `index`, at least 1.
    fn read_zero_run(&mut self, index: u32) -> Option<u32> {
        let number = self.bits.take_unary()?.checked_add(1)?;
        let left = self.layout.blocks_per_line - index;
        let count = match number {
            REMAINDER_OF_SEGMENT => left.min(SEGMENT_BLOCKS - index % SEGMENT_BLOCKS),
            1..REMAINDER_OF_SEGMENT => number,
            _ => number - 1,
        };
        (count <= left).then_some(count)
    }

    /// Writes as many of the block's samples as `place` holds.
    fn write_block(&self, place: &mut [u8]) {
        let size = self.layout.sample_bytes;
        if size == 1 {
            place.iter_mut().zip(&self.block).for_each(|(byte, &value)| *byte = value as u8);
            return;
        }
        for (sample, value) in place.chunks_exact_mut(size).zip(&self.block) {
            if self.layout.most_significant_first {
                sample.copy_from_slice(&value.to_be_bytes()[4 - size..]);
            } else {
                sample.copy_from_slice(&value.to_le_bytes()[..size]);
            }
        }
    }
}

/// Turns folded differences into samples of `bits` bits, in place.
///
/// Small numbers alternate between above and below; once one side has reached the end of the
/// range, all further numbers belong to the other side.
fn undo_differences(samples: &mut [u32], previous: &mut u32, bits: u32) {
    let max = (1_u32 << bits) - 1;
    let middle = 1 << (bits - 1);
    for sample in samples {
        let number = *sample;
        let mask = if *previous & middle != 0 { max } else { 0 };
        let half = (number >> 1) + (number & 1);
        // All three are made, and one is chosen: nobody can guess which it will be.
        let sign = (number & 1).wrapping_neg();
        let beside = previous.wrapping_add((half ^ sign).wrapping_sub(sign));
        *previous = if half > mask ^ *previous { mask ^ number } else { beside };
        *sample = *previous;
    }
}

/// Folds the differences between neighbours, the reverse of [`undo_differences`].
fn fold_differences(samples: &mut [u32], previous: &mut u32, bits: u32) {
    let max = (1_u32 << bits) - 1;
    for sample in samples {
        let value = *sample;
        let difference = value.abs_diff(*previous);
        // How far both sides reach.
        let both = (*previous).min(max - *previous);
        let folded = (2 * difference).wrapping_sub(u32::from(value < *previous));
        *sample = if difference > both { both + difference } else { folded };
        *previous = value;
    }
}

/// Writes the samples of lines, block after block, each in the coding that takes the fewest bits.
struct LineEncoder<'a> {
    layout: &'a Layout,
    bits: BitWriter<'a>,
    /// The samples of one block, preprocessed.
    block: Vec<u32>,
    /// Blocks of zeros that were not written yet, and the reference sample of the first of them.
    zero_blocks: u32,
    zero_reference: Option<u32>,
}

/// A way to code a block.
enum Coding {
    /// Pairs of samples.
    Pairs,
    /// High bits unary, so many low bits.
    Split(u32),
    Uncompressed,
}

impl<'a> LineEncoder<'a> {
    fn new(layout: &'a Layout, output: &'a mut Vec<u8>) -> Self {
        let block = Vec::with_capacity(layout.block as usize);
        let bits = BitWriter::new(output);
        Self { layout, bits, block, zero_blocks: 0, zero_reference: None }
    }

    fn encode_line(&mut self, line: &[u8]) {
        let mut previous = 0;
        let block_bytes = self.layout.block as usize * self.layout.sample_bytes;
        for (index, samples) in line.chunks(block_bytes).enumerate() {
            let reference = self.load(samples, &mut previous, index == 0);
            let index = index as u32;
            if index.is_multiple_of(SEGMENT_BLOCKS) {
                self.write_zero_blocks(index);
            }
            if self.block.iter().all(|&sample| sample == 0) {
                if self.zero_blocks == 0 {
                    self.zero_reference = reference;
                }
                self.zero_blocks += 1;
            } else {
                self.write_zero_blocks(index);
                self.write_block(reference);
            }
        }
        self.write_zero_blocks(line.len().div_ceil(block_bytes) as u32);
    }

    /// Reads a block, preprocessed; its reference sample, which it returns, has become a 0. What
    /// costs least fills up a block that is too short: no differences, or zeros.
    fn load(&mut self, samples: &[u8], previous: &mut u32, first_of_line: bool) -> Option<u32> {
        let layout = self.layout;
        let mask = u32::MAX >> (32 - layout.sample_bits);
        self.block.clear();
        if layout.sample_bytes == 1 {
            self.block.extend(samples.iter().map(|&byte| u32::from(byte) & mask));
        }
        let wider = if layout.sample_bytes == 1 { &[] } else { samples };
        for bytes in wider.chunks_exact(layout.sample_bytes) {
            let mut sample = [0; 4];
            if layout.most_significant_first {
                sample[4 - bytes.len()..].copy_from_slice(bytes);
                self.block.push(u32::from_be_bytes(sample) & mask);
            } else {
                sample[..bytes.len()].copy_from_slice(bytes);
                self.block.push(u32::from_le_bytes(sample) & mask);
            }
        }
        let filler = self.block.last().copied().filter(|_| layout.preprocessed).unwrap_or(0);
        self.block.resize(layout.block as usize, filler);
        if !layout.preprocessed {
            return None;
        }
        let reference = first_of_line.then(|| self.block[0]);
        *previous = reference.unwrap_or(*previous);
        fold_differences(&mut self.block, previous, layout.sample_bits);
        reference
    }

    /// Writes the run of blocks of zeros that ends before block `end` of its line.
    fn write_zero_blocks(&mut self, end: u32) {
        let count = std::mem::take(&mut self.zero_blocks);
        if count == 0 {
            return;
        }
        let at_end = end.is_multiple_of(SEGMENT_BLOCKS) || end == self.layout.blocks_per_line;
        let number = match count {
            REMAINDER_OF_SEGMENT.. if at_end => REMAINDER_OF_SEGMENT,
            REMAINDER_OF_SEGMENT.. => count + 1,
            _ => count,
        };
        self.bits.put(0, self.layout.id_bits + 1);
        self.write_reference(self.zero_reference);
        self.bits.put_unary(number - 1);
    }

    fn write_reference(&mut self, reference: Option<u32>) {
        if let Some(sample) = reference {
            self.bits.put(sample.into(), self.layout.sample_bits);
        }
    }

    fn write_block(&mut self, reference: Option<u32>) {
        let coded_from = usize::from(reference.is_some());
        let id_bits = self.layout.id_bits;
        let coding = self.cheapest(&self.block[coded_from..]);
        match coding {
            Coding::Uncompressed => self.bits.put((1 << id_bits) - 1, id_bits),
            Coding::Pairs => self.bits.put(1, id_bits + 1),
            Coding::Split(low_bits) => self.bits.put(u64::from(low_bits) + 1, id_bits),
        }
        self.write_reference(reference);
        let (bits, coded) = (&mut self.bits, &self.block[coded_from..]);
        match coding {
            Coding::Uncompressed => bits.put_all(coded, self.layout.sample_bits),
            Coding::Pairs => bits.put_all_unary(pairs(&self.block).map(|(_, number)| number)),
            Coding::Split(low_bits) => {
                bits.put_all_unary(coded.iter().map(|sample| sample >> low_bits));
                bits.put_all(coded, low_bits);
            }
        }
    }

    /// The coding that takes the fewest bits for `coded`, the block without its reference sample.
    fn cheapest(&self, coded: &[u32]) -> Coding {
        let count = coded.len() as u64;
        let mut best = Coding::Uncompressed;
        let mut best_bits = count * u64::from(self.layout.sample_bits);
        for low_bits in 0..(1 << self.layout.id_bits) - 2 {
            let zeros = sum_above(coded, low_bits, self.layout.sample_bits);
            let bits = zeros + count * u64::from(low_bits + 1);
            if bits < best_bits {
                (best, best_bits) = (Coding::Split(low_bits), bits);
            }
            // One more low bit costs `count` and saves at most these.
            if zeros <= count {
                break;
            }
        }
        if pairs(&self.block).all(|(sum, _)| sum <= MAX_PAIR_SUM.into()) {
            let bits: u64 = pairs(&self.block).map(|(_, number)| u64::from(number) + 1).sum();
            if bits + 1 < best_bits {
                best = Coding::Pairs;
            }
        }
        best
    }
}

/// The sum of the high bits of `samples`, of `sample_bits` bits each, above their `low_bits`.
fn sum_above(samples: &[u32], low_bits: u32, sample_bits: u32) -> u64 {
    // A block has at most 256 samples.
    match sample_bits + MAX_BLOCK.ilog2() {
        ..=32 => samples.iter().map(|sample| sample >> low_bits).sum::<u32>().into(),
        _ => samples.iter().map(|sample| u64::from(sample >> low_bits)).sum(),
    }
}

/// The pairs of a block: their sum, and where that is small enough their number.
fn pairs(block: &[u32]) -> impl Iterator<Item = (u64, u32)> {
    block.chunks(2).map(|pair| {
        let second = pair.get(1).copied().unwrap_or(0);
        let sum = u64::from(pair[0]) + u64::from(second);
        let diagonal = sum.min(MAX_PAIR_SUM.into()) as u32;
        (sum, diagonal * (diagonal + 1) / 2 + second)
    })
}
