//! One block: stored as it is, or in symbols with codes of its own (RFC 1951, 3.2).
//!
//! ```text
//! 1 last block?   2 kind
//! kind 0   zeros up to the next byte, length (2 bytes), its complement (2), the bytes
//! kind 2   5 literal and length codes - 257, 5 distance codes - 1, 4 lengths of lengths - 4
//!          3 bits for each length of the codes of lengths, in a peculiar order
//!          the lengths of all codes, run-length encoded, in those codes
//!          symbols: a literal; or a length with extra bits, then a distance with extra bits
//!          symbol 256
//! ```

use super::bits::BitWriter;
use super::code::{Code, assign};
use super::search::Sequence;
use super::statistics::{Counter, Histogram};

const STORED: u64 = 0;
const DYNAMIC: u64 = 2;
/// A stored block's length has 16 bits.
const MAX_STORED: usize = 0xFFFF;

const END_OF_BLOCK: usize = 256;
const LITERALS_AND_LENGTHS: usize = 286;
const DISTANCES: usize = 30;
/// Longest codes: four literals, or one match with its extra bits, fit between two flushes.
const MAX_SYMBOL_BITS: u8 = 14;
const MAX_DISTANCE_BITS: u8 = 15;
const _: () = assert!(4 * MAX_SYMBOL_BITS as u32 <= BitWriter::BETWEEN_FLUSHES);
const MATCH_BITS: u32 = MAX_SYMBOL_BITS as u32 + 5 + MAX_DISTANCE_BITS as u32 + 13;
const _: () = assert!(MATCH_BITS <= BitWriter::BETWEEN_FLUSHES);

/// The order in which lengths of codes of lengths are told.
pub(crate) const LENGTH_ORDER: [usize; 19] =
    [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
const MAX_LENGTH_BITS: u8 = 7;

/// A block in symbols, ready to be written.
pub(super) struct Block<'a> {
    input: &'a [u8],
    sequences: &'a [Sequence],
    symbols: [Code; LITERALS_AND_LENGTHS],
    distances: [Code; DISTANCES],
    /// The bits of the longest code of a literal.
    longest_literal: u32,
    header: Header,
    /// The bits of all symbols with their extra bits.
    body_bits: u64,
}

impl<'a> Block<'a> {
    /// Finds codes for `input`, in which each byte occurs as often as `bytes` says, and which
    /// `sequences` describe up to some literals at the end.
    pub(super) fn new(input: &'a [u8], bytes: &Histogram, sequences: &'a [Sequence]) -> Self {
        let mut symbol_counts = [0; LITERALS_AND_LENGTHS];
        let mut distance_counts = [0; DISTANCES];
        let mut extra_bits = 0;
        let mut matched = 0;
        for sequence in sequences {
            matched += usize::from(sequence.len);
            let (length, distance) =
                (length_symbol(sequence.len), distance_symbol(sequence.distance));
            symbol_counts[length.symbol] += 1;
            distance_counts[distance.symbol] += 1;
            extra_bits += u64::from(length.extra_bits + distance.extra_bits);
        }
        let literals = literals(input, bytes, sequences, matched);
        symbol_counts[..256].copy_from_slice(&literals);
        symbol_counts[END_OF_BLOCK] = 1;
        let symbols = assign(&symbol_counts, MAX_SYMBOL_BITS);
        let distances = assign(&distance_counts, MAX_DISTANCE_BITS);
        let body_bits =
            extra_bits + bits(&symbol_counts, &symbols) + bits(&distance_counts, &distances);
        let longest_literal = symbols[..256].iter().fold(1, |longest, code| longest.max(code.len));
        let longest_literal = u32::from(longest_literal);
        let header = Header::new(&symbols, &distances);
        Self { input, sequences, symbols, distances, longest_literal, header, body_bits }
    }

    pub(super) fn len_bits(&self) -> u64 {
        3 + self.header.len_bits() + self.body_bits
    }

    pub(super) fn write(&self, last: bool, to: &mut BitWriter<'_, '_>) {
        to.put(u64::from(last) | DYNAMIC << 1, 3);
        self.header.write(to);
        let mut at = 0;
        for sequence in self.sequences {
            let run = sequence.literals as usize;
            if run > 0 {
                self.write_literals(&self.input[at..at + run], to);
            }
            at += run + usize::from(sequence.len);
            let (length, distance) =
                (length_symbol(sequence.len), distance_symbol(sequence.distance));
            length.put(self.symbols[length.symbol], to);
            distance.put(self.distances[distance.symbol], to);
            to.flush();
        }
        self.write_literals(&self.input[at..], to);
        put(self.symbols[END_OF_BLOCK], to);
        to.flush();
    }

    fn write_literals(&self, literals: &[u8], to: &mut BitWriter<'_, '_>) {
        match BitWriter::BETWEEN_FLUSHES / self.longest_literal {
            6.. => self.write_groups::<6>(literals, to),
            5 => self.write_groups::<5>(literals, to),
            _ => self.write_groups::<4>(literals, to),
        }
    }

    /// Writes `N` literals at a time, which fit between two flushes.
    fn write_groups<const N: usize>(&self, literals: &[u8], to: &mut BitWriter<'_, '_>) {
        let (groups, rest) = literals.as_chunks::<N>();
        for group in groups {
            let (mut bits, mut len) = (0, 0);
            for &byte in group {
                let code = self.symbols[usize::from(byte)];
                bits |= u64::from(code.bits) << len;
                len += u32::from(code.len);
            }
            to.put(bits, len);
            to.flush();
        }
        for &literal in rest {
            put(self.symbols[usize::from(literal)], to);
        }
        to.flush();
    }
}

/// Counts the literals: those bytes, or all the others, of which `matched` are in matches, whichever
/// are fewer.
fn literals(input: &[u8], bytes: &Histogram, sequences: &[Sequence], matched: usize) -> Histogram {
    let by_matches = matched < input.len() - matched;
    let mut counter = Counter::new();
    let mut rest = input;
    for sequence in sequences {
        let (literals, behind) = rest.split_at(sequence.literals as usize);
        let (repeated, behind) = behind.split_at(usize::from(sequence.len));
        counter.add(if by_matches { repeated } else { literals });
        rest = behind;
    }
    if by_matches {
        let repeated = counter.total();
        return std::array::from_fn(|byte| bytes[byte] - repeated[byte]);
    }
    counter.add(rest);
    counter.total()
}

/// Stored blocks for `input`, which may be longer than one of them can be, or empty.
pub(super) fn write_stored(input: &[u8], last: bool, to: &mut BitWriter<'_, '_>) {
    let mut rest = input;
    loop {
        let (bytes, behind) = rest.split_at(rest.len().min(MAX_STORED));
        rest = behind;
        to.put(u64::from(last && rest.is_empty()) | STORED << 1, 3);
        let len = bytes.len() as u16;
        to.align();
        to.put_bytes(&len.to_le_bytes());
        to.put_bytes(&(!len).to_le_bytes());
        to.put_bytes(bytes);
        if rest.is_empty() {
            return;
        }
    }
}

/// The bits that [`write_stored`] needs at most.
pub(super) fn stored_bits(len: usize) -> u64 {
    let blocks = len.div_ceil(MAX_STORED).max(1) as u64;
    len as u64 * 8 + blocks * (3 + 7 + 32)
}

#[inline(always)]
fn put(code: Code, to: &mut BitWriter<'_, '_>) {
    to.put(u64::from(code.bits), u32::from(code.len));
}

/// The bits of all symbols counted.
fn bits(counts: &[u32], codes: &[Code]) -> u64 {
    counts.iter().zip(codes).map(|(&count, code)| u64::from(count) * u64::from(code.len)).sum()
}

/// A symbol and the bits that tell the number within its range.
struct Ranged {
    symbol: usize,
    extra: u64,
    extra_bits: u32,
}

impl Ranged {
    #[inline(always)]
    fn put(&self, code: Code, to: &mut BitWriter<'_, '_>) {
        put(code, to);
        to.put(self.extra, self.extra_bits);
    }
}

/// The symbol of a length from 3 on: after the first eight, four to each number of extra bits.
#[inline(always)]
fn length_symbol(len: u16) -> Ranged {
    let number = u32::from(len) - 3;
    if number == 255 {
        return Ranged { symbol: 285, extra: 0, extra_bits: 0 };
    }
    let extra_bits = number.max(4).ilog2() - 2;
    let symbol = 257 + (number >> extra_bits) + 4 * extra_bits;
    Ranged { symbol: symbol as usize, extra: low_bits(number, extra_bits), extra_bits }
}

/// The symbol of a distance: after the first four, two to each number of extra bits.
#[inline(always)]
fn distance_symbol(distance: u16) -> Ranged {
    let number = u32::from(distance).wrapping_sub(1);
    let extra_bits = number.max(2).ilog2() - 1;
    let symbol = (number >> extra_bits) + 2 * extra_bits;
    Ranged { symbol: symbol as usize, extra: low_bits(number, extra_bits), extra_bits }
}

#[inline(always)]
fn low_bits(number: u32, count: u32) -> u64 {
    u64::from(number & ((1 << count) - 1))
}

/// The lengths of a block's codes, as they are told.
struct Header {
    symbol_count: usize,
    distance_count: usize,
    /// Symbols of the alphabet of lengths with their extra bits.
    lengths: Vec<Ranged>,
    codes: [Code; LENGTH_ORDER.len()],
    /// How many of `codes` are told.
    code_count: usize,
}

impl Header {
    fn new(symbols: &[Code], distances: &[Code]) -> Self {
        let told = |codes: &[Code], least: usize| {
            codes.iter().rposition(|code| code.len > 0).map_or(least, |last| least.max(last + 1))
        };
        let (symbol_count, distance_count) = (told(symbols, 257), told(distances, 1));
        let all = symbols[..symbol_count].iter().chain(&distances[..distance_count]);
        let lengths = run_lengths(all.map(|code| code.len));
        let mut counts = [0; LENGTH_ORDER.len()];
        for length in &lengths {
            counts[length.symbol] += 1;
        }
        let codes = assign(&counts, MAX_LENGTH_BITS);
        let told = LENGTH_ORDER.iter().rposition(|&symbol| codes[symbol].len > 0);
        let code_count = told.map_or(4, |last| 4.max(last + 1));
        Self { symbol_count, distance_count, lengths, codes, code_count }
    }

    fn len_bits(&self) -> u64 {
        let bits = |length: &Ranged| {
            u64::from(self.codes[length.symbol].len) + u64::from(length.extra_bits)
        };
        14 + 3 * self.code_count as u64 + self.lengths.iter().map(bits).sum::<u64>()
    }

    fn write(&self, to: &mut BitWriter<'_, '_>) {
        to.put(self.symbol_count as u64 - 257, 5);
        to.put(self.distance_count as u64 - 1, 5);
        to.put(self.code_count as u64 - 4, 4);
        to.flush();
        for &symbol in &LENGTH_ORDER[..self.code_count] {
            to.put(u64::from(self.codes[symbol].len), 3);
            to.flush();
        }
        for length in &self.lengths {
            length.put(self.codes[length.symbol], to);
            to.flush();
        }
    }
}

/// Runs of lengths: 16 repeats the last one 3 to 6 times; 17 and 18 are 3 to 10 and 11 to 138 zeros.
fn run_lengths(lengths: impl Iterator<Item = u8>) -> Vec<Ranged> {
    let mut told = Vec::new();
    let mut lengths = lengths.peekable();
    let mut tell = |symbol: u8, extra: usize, extra_bits| {
        told.push(Ranged { symbol: symbol.into(), extra: extra as u64, extra_bits });
    };
    while let Some(length) = lengths.next() {
        let mut run = 1;
        while lengths.next_if_eq(&length).is_some() {
            run += 1;
        }
        if length != 0 {
            tell(length, 0, 0);
            run -= 1;
        }
        while run >= 3 {
            let (symbol, least, most, bits) = match (length, run) {
                (0, 11..) => (18, 11, 138, 7),
                (0, _) => (17, 3, 10, 3),
                _ => (16, 3, 6, 2),
            };
            let part = run.min(most);
            tell(symbol, part - least, bits);
            run -= part;
        }
        for _ in 0..run {
            tell(length, 0, 0);
        }
    }
    told
}
