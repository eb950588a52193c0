//! Inflate beside zlib-rs: streams of every kind of block, made bit by bit, and what is no stream.

mod common;

use std::io::Read;

use common::{decode, pipeline};
use isotach_codec::ErrorKind;
use proptest::prelude::*;

/// Writes bits from each byte's least significant one up.
#[derive(Default)]
struct BitWriter {
    bytes: Vec<u8>,
    count: usize,
}

impl BitWriter {
    fn put(&mut self, bits: u64, count: u32) {
        for bit in 0..count {
            if self.count.is_multiple_of(8) {
                self.bytes.push(0);
            }
            *self.bytes.last_mut().unwrap() |= ((bits >> bit & 1) as u8) << (self.count % 8);
            self.count += 1;
        }
    }

    /// A word: its first bit is the most significant one.
    fn put_word(&mut self, (bits, len): (u64, u32)) {
        for bit in (0..len).rev() {
            self.put(bits >> bit & 1, 1);
        }
    }

    fn align(&mut self) {
        self.count = self.bytes.len() * 8;
    }
}

/// Numbers without end from one number (Knuth's constants).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % limit
    }
}

/// The lengths of a complete code for `count` of `symbols` symbols, up to 15 bits: the more `skew`, the
/// more of them are long.
fn code_lengths(random: &mut Random, symbols: usize, used: &[usize], skew: usize) -> Vec<u8> {
    let mut lengths = vec![0; symbols];
    if let [only] = used {
        lengths[*only] = 1;
        return lengths;
    }
    let mut leaves = vec![0_u8];
    while leaves.len() < used.len() {
        let picks = (0..=skew).map(|_| random.below(leaves.len()));
        let pick = picks.filter(|pick| leaves[*pick] < 15).max_by_key(|pick| leaves[*pick]);
        let Some(pick) = pick else { continue };
        leaves[pick] += 1;
        leaves.push(leaves[pick]);
    }
    for symbol in used {
        lengths[*symbol] = leaves.swap_remove(random.below(leaves.len()));
    }
    lengths
}

/// The words of a code (RFC 1951, 3.2.2).
fn words(lengths: &[u8]) -> Vec<(u64, u32)> {
    let mut words = vec![(0, 0); lengths.len()];
    let mut next = 0;
    for len in 1..=15 {
        next <<= 1;
        for (word, _) in words.iter_mut().zip(lengths).filter(|(_, own)| **own == len) {
            *word = (next, u32::from(len));
            next += 1;
        }
    }
    words
}

/// The base and the extra bits of each symbol from 257 on (RFC 1951, 3.2.5), and of each distance.
fn lengths() -> Vec<(usize, u32)> {
    let groups = (0..7_u32).flat_map(|group| [group.saturating_sub(1); 4]);
    let mut next = 3;
    let mut lengths: Vec<_> = groups
        .map(|extra| {
            next += 1 << extra;
            (next - (1 << extra), extra)
        })
        .collect();
    lengths.push((258, 0));
    lengths
}

fn distances() -> Vec<(usize, u32)> {
    let groups = (0..15_u32).flat_map(|group| [group.saturating_sub(1); 2]);
    let mut next = 1;
    groups
        .map(|extra| {
            next += 1 << extra;
            (next - (1 << extra), extra)
        })
        .collect()
}

/// How a block of made streams is.
struct Shape {
    literals: usize,
    lengths: usize,
    distances: usize,
    skew: usize,
    /// One symbol in so many is a repetition.
    repetitions: usize,
    symbols: usize,
}

fn some(random: &mut Random, first: usize, limit: usize, count: usize) -> Vec<usize> {
    let mut all: Vec<usize> = (first..limit).collect();
    (0..count.min(all.len())).map(|_| all.swap_remove(random.below(all.len()))).collect()
}

/// A block of symbols in codes of its own; what it gives comes behind `out`.
fn dynamic_block(bits: &mut BitWriter, out: &mut Vec<u8>, random: &mut Random, shape: &Shape) {
    let literals = some(random, 0, 256, shape.literals);
    let length_symbols = some(random, 257, 286, shape.lengths);
    let distance_symbols = some(random, 0, 30, shape.distances);
    let used = [&literals[..], &[256], &length_symbols].concat();
    let symbol_lengths = code_lengths(random, 286, &used, shape.skew);
    let distance_lengths = code_lengths(random, 30, &distance_symbols, shape.skew);
    // All sixteen lengths have codes of four bits, and runs have none.
    bits.put(2, 2);
    bits.put(286 - 257, 5);
    bits.put(30 - 1, 5);
    bits.put(15, 4);
    for symbol in [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15] {
        bits.put(if symbol < 16 { 4 } else { 0 }, 3);
    }
    for length in symbol_lengths.iter().chain(&distance_lengths) {
        bits.put_word((u64::from(*length), 4));
    }
    let (symbol_words, distance_words) = (words(&symbol_lengths), words(&distance_lengths));
    for _ in 0..shape.symbols {
        let length_symbol = length_symbols[random.below(length_symbols.len())];
        let distance_symbol = distance_symbols[random.below(distance_symbols.len())];
        let (length, length_extra) = lengths()[length_symbol - 257];
        let (distance, distance_extra) = distances()[distance_symbol];
        let extra = random.below(1 << distance_extra);
        if random.below(shape.repetitions) > 0 || distance + extra > out.len() {
            let literal = literals[random.below(literals.len())];
            bits.put_word(symbol_words[literal]);
            out.push(literal as u8);
            continue;
        }
        // 258 has a symbol of its own; others write the longest of the group before, too.
        let more = random.below(1 << length_extra);
        bits.put_word(symbol_words[length_symbol]);
        bits.put(more as u64, length_extra);
        bits.put_word(distance_words[distance_symbol]);
        bits.put(extra as u64, distance_extra);
        for _ in 0..length + more {
            out.push(out[out.len() - distance - extra]);
        }
    }
    bits.put_word(symbol_words[256]);
}

fn stored_block(bits: &mut BitWriter, out: &mut Vec<u8>, random: &mut Random, len: usize) {
    bits.put(0, 2);
    bits.align();
    bits.put(len as u64, 16);
    bits.put(!(len as u64) & 0xFFFF, 16);
    for _ in 0..len {
        let byte = random.below(256);
        bits.put(byte as u64, 8);
        out.push(byte as u8);
    }
}

/// Literals and repetitions of the last byte, in the codes that need no header.
fn fixed_block(bits: &mut BitWriter, out: &mut Vec<u8>, random: &mut Random, symbols: usize) {
    let lengths: Vec<u8> = (0..288)
        .map(|symbol| match symbol {
            144..256 => 9,
            256..280 => 7,
            _ => 8,
        })
        .collect();
    let words = words(&lengths);
    bits.put(1, 2);
    for _ in 0..symbols {
        if random.below(9) > 0 || out.is_empty() {
            let literal = random.below(256);
            bits.put_word(words[literal]);
            out.push(literal as u8);
        } else {
            bits.put_word(words[285]);
            bits.put_word((0, 5));
            out.extend([*out.last().unwrap(); 258]);
        }
    }
    bits.put_word(words[256]);
}

fn adler32(bytes: &[u8]) -> u32 {
    let (low, high) = bytes.iter().fold((1, 0), |(low, high), byte| {
        let low = (low + u32::from(*byte)) % 65_521;
        (low, (high + low) % 65_521)
    });
    high << 16 | low
}

/// The frame of RFC 1950 around a deflate stream of `bytes`.
fn framed(deflated: &[u8], bytes: &[u8]) -> Vec<u8> {
    [&[0x78, 0x01], deflated, &adler32(bytes).to_be_bytes()].concat()
}

fn inflate(stored: &[u8], len: usize) -> Result<Vec<u8>, ErrorKind> {
    decode(&pipeline(&[(1, &[])]), stored, 0, len).map_err(|error| error.kind)
}

fn what(stored: &[u8], len: usize) -> &'static str {
    match inflate(stored, len) {
        Err(ErrorKind::Corrupt { what, at_byte }) => {
            assert!(at_byte <= stored.len());
            what
        }
        other => panic!("{other:?}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_blocks(
        seed in any::<u64>(),
        blocks in proptest::collection::vec((0_u8..10, 1_usize..256, 1_usize..29, 1_usize..30, 0_usize..12, 1_usize..40, 0_usize..9000), 1..6),
    ) {
        let random = &mut Random(seed);
        let (mut bits, mut out) = (BitWriter::default(), Vec::new());
        let last = blocks.len() - 1;
        for (number, &(kind, literals, lengths, distances, skew, repetitions, symbols)) in blocks.iter().enumerate() {
            bits.put(u64::from(number == last), 1);
            let shape = Shape { literals, lengths, distances, skew, repetitions, symbols };
            match kind {
                0 => stored_block(&mut bits, &mut out, random, symbols),
                1 => fixed_block(&mut bits, &mut out, random, symbols),
                _ => dynamic_block(&mut bits, &mut out, random, &shape),
            }
        }
        let stored = framed(&bits.bytes, &out);
        let mut oracle = Vec::new();
        flate2::read::ZlibDecoder::new(&stored[..]).read_to_end(&mut oracle).unwrap();
        prop_assert!(oracle == out, "this test makes streams that zlib reads otherwise");
        prop_assert!(inflate(&stored, out.len()).as_ref() == Ok(&out));
        // What stands behind the stream is not looked at.
        let behind = [&stored[..], &[0xFF; 40]].concat();
        prop_assert!(inflate(&behind, out.len()).as_ref() == Ok(&out));
        let cut = random.below(stored.len());
        prop_assert!(inflate(&stored[..cut], out.len()).is_err());
        if !out.is_empty() {
            let room = random.below(out.len());
            let is_length = matches!(inflate(&stored, room), Err(ErrorKind::Length { .. }));
            prop_assert!(is_length, "{} bytes into {room}", out.len());
        }
        let mut wrong = stored;
        *wrong.last_mut().unwrap() ^= 1;
        let is_checksum = matches!(inflate(&wrong, out.len()), Err(ErrorKind::Checksum { .. }));
        prop_assert!(is_checksum);
    }

    #[test]
    fn every_distance_and_length(distance in 1_usize..70, length in 3_usize..259, before in 0_usize..40, behind in 0_usize..70) {
        // The bytes before, one repetition, and literals behind it: near the end of the room, and not.
        let bytes: Vec<u8> = (0..before + distance).map(|at| (at * 7) as u8).collect();
        let mut out = bytes.clone();
        for _ in 0..length {
            out.push(out[out.len() - distance]);
        }
        out.extend(vec![0xEE; behind]);
        let mut encoder = flate2::Compress::new(flate2::Compression::best(), true);
        let mut stored = vec![0; 2000];
        encoder.compress(&out, &mut stored, flate2::FlushCompress::Finish).unwrap();
        stored.truncate(encoder.total_out() as usize);
        prop_assert!(inflate(&stored, out.len()).as_ref() == Ok(&out));
    }
}

#[test]
fn a_stream_cut_short_anywhere_is_an_error() {
    let bytes: Vec<u8> = (0..20_000_u32).map(|at| ((at.wrapping_mul(at) / 7) >> 3) as u8).collect();
    let stored = common::deflate(&bytes);
    assert!(inflate(&stored, bytes.len()) == Ok(bytes.clone()));
    for len in 0..stored.len() {
        let cut = what(&stored[..len], bytes.len());
        assert!(cut.contains("cut short") || cut.contains("no valid"), "{len}: {cut}");
    }
}

#[test]
fn what_is_no_frame_is_told() {
    for header in [[0, 0], [0x78, 0x02], [0x77, 0x85], [0x88, 0x1C], [0x78, 0x20]] {
        let stored = [&header[..], &[3, 0], &1_u32.to_be_bytes()].concat();
        assert_eq!(what(&stored, 10), "no valid zlib stream", "{header:x?}");
    }
    let empty = framed(&[3, 0], &[]);
    assert_eq!(inflate(&empty, 0), Ok(vec![]));
}

#[test]
fn what_is_no_block_is_told() {
    let block = |bits: &[(u64, u32)]| {
        let mut writer = BitWriter::default();
        writer.put(1, 1);
        bits.iter().for_each(|(bits, count)| writer.put(*bits, *count));
        // Enough of zeros that nothing ends early.
        writer.put(0, 64);
        (0..8).for_each(|_| writer.put(0, 64));
        framed(&writer.bytes, &[])
    };
    assert_eq!(what(&block(&[(3, 2)]), 10), "a block of a kind that does not exist");
    assert_eq!(
        what(&block(&[(0, 2), (0, 5), (5, 16), (5, 16)]), 10),
        "the length of a stored block"
    );
    // Fixed codes: length symbol 286 has the word 11000110, distance 30 the word 11110.
    assert_eq!(what(&block(&[(1, 2), (0b0110_0011, 8)]), 10), "no valid literal or length");
    let literal = (0b0000_1100, 8);
    assert_eq!(
        what(&block(&[(1, 2), literal, (0b100_0000, 7), (0b01111, 5)]), 10),
        "no valid distance"
    );
    let before = "a repetition of what stands before the first byte";
    assert_eq!(what(&block(&[(1, 2), literal, (0b100_0000, 7), (0b10000, 5)]), 10), before);
    let counts = |symbols: u64, distances: u64| [(2, 2), (symbols - 257, 5), (distances - 1, 5)];
    let many = "more codes than there are symbols";
    assert_eq!(what(&block(&counts(287, 1)), 10), many);
    assert_eq!(what(&block(&counts(257, 31)), 10), many);
    let header = |rest: &[(u64, u32)]| block(&[&counts(257, 1), rest].concat());
    let incomplete = "no complete code of code lengths";
    assert_eq!(what(&header(&[(0, 4), (3, 3)]), 10), incomplete);
    assert_eq!(what(&header(&[(0, 4), (1, 3), (1, 3), (1, 3)]), 10), incomplete);
    // Words of one bit for a run of the length before, and for 11 to 138 zeros.
    let runs = |first: u64| header(&[(0, 4), (1, 3), (0, 3), (1, 3), (0, 3), (first, 8)]);
    assert_eq!(what(&runs(0), 10), "no valid code length");
    let zeros: Vec<_> =
        [(0, 4), (1, 3), (0, 3), (1, 3), (0, 3)].into_iter().chain([(0xFF, 8); 3]).collect();
    assert_eq!(what(&header(&zeros), 10), "more code lengths than codes");
    // 138 and 120 zeros are all 258 code lengths: no words at all, so the first bits are none.
    let none = [&zeros[..5], &[(0xFF, 8), (1, 1), (120 - 11, 7)]].concat();
    assert_eq!(what(&header(&none), 10), "no valid literal or length");
}
