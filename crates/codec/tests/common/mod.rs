//! Encoders: slow and obvious, or the reference libraries'.
#![allow(dead_code, reason = "each test program uses some of these")]

use std::io::Write;
use std::mem::MaybeUninit;

use isotach_codec::{Filter, Pipeline, Result, Scratch};
use proptest::collection::vec;
use proptest::prelude::*;

/// Bytes that compress somewhat, and some that do not.
pub fn chunk() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        vec(any::<u8>(), 0..3000),
        vec(0_u8..3, 0..3000),
        vec(vec(0_u8..9, 1..40), 0..60)
            .prop_map(|runs| runs.into_iter().flat_map(|run| run.repeat(3)).collect())
    ]
}

pub fn filter(id: u16, parameters: &[u32]) -> Filter {
    Filter { id, name: None, optional: false, parameters: parameters.to_vec() }
}

pub fn pipeline(filters: &[(u16, &[u32])]) -> Pipeline {
    Pipeline { filters: filters.iter().map(|&(id, parameters)| filter(id, parameters)).collect() }
}

/// Decodes in both ways, which must agree.
pub fn decode(pipeline: &Pipeline, stored: &[u8], mask: u32, len: usize) -> Result<Vec<u8>> {
    let mut scratch = Scratch::default();
    let mut out = vec![MaybeUninit::new(0xA5); len];
    let placed = pipeline.decode(stored, mask, &mut scratch, &mut out).map(|bytes| bytes.to_vec());
    let vector = pipeline.decode_vec(stored, mask, len, &mut scratch);
    assert_eq!(placed, vector);
    placed
}

pub fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::new(4));
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::new(1));
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub fn zstd(bytes: &[u8]) -> Vec<u8> {
    let mut encoded = Vec::with_capacity(zstd_safe::compress_bound(bytes.len()));
    zstd_safe::compress(&mut encoded, bytes, 3).unwrap();
    encoded
}

/// The form of filter 32004.
pub fn lz4(bytes: &[u8], block_len: usize) -> Vec<u8> {
    let mut encoded = (bytes.len() as u64).to_be_bytes().to_vec();
    encoded.extend((block_len as u32).to_be_bytes());
    for block in bytes.chunks(block_len) {
        let packed = lz4_flex::block::compress(block);
        let packed = if packed.len() < block.len() { &packed[..] } else { block };
        encoded.extend((packed.len() as u32).to_be_bytes());
        encoded.extend(packed);
    }
    encoded
}

pub fn shuffle(bytes: &[u8], size: usize) -> Vec<u8> {
    let count = bytes.len() / size;
    let mut shuffled = bytes.to_vec();
    for element in 0..count {
        for byte in 0..size {
            shuffled[byte * count + element] = bytes[element * size + byte];
        }
    }
    shuffled
}

/// Bit by bit, in blocks of `block_elements`, without compression.
pub fn bitshuffle(bytes: &[u8], size: usize, block_elements: usize) -> Vec<u8> {
    let mut shuffled = vec![];
    for block in bytes.chunks(block_elements * size) {
        let count = block.len() / size / 8 * 8;
        let mut rows = vec![0; count * size];
        for bit in 0..count * size * 8 {
            let (element, bit_of_element) = (bit / (8 * size), bit % (8 * size));
            let value = block[bit / 8] >> (bit % 8) & 1;
            let to = bit_of_element * count + element;
            rows[to / 8] |= value << (to % 8);
        }
        shuffled.extend(rows);
        shuffled.extend(&block[count * size..]);
    }
    shuffled
}

/// `element` with nothing but its lowest `bits` bits.
pub fn low_bits(element: &[u8], bits: u32, big_endian: bool) -> Vec<u8> {
    bits_at(element, bits, 0, big_endian)
}

/// `element` with nothing but the `precision` bits from `offset` on.
pub fn bits_at(element: &[u8], precision: u32, offset: u32, big_endian: bool) -> Vec<u8> {
    let len = element.len() as u32;
    let mask = (u64::MAX >> (64 - precision)) << offset;
    let masked = |(index, byte): (usize, &u8)| {
        let index = index as u32;
        let byte_index = if big_endian { len - 1 - index } else { index };
        byte & (mask >> (8 * byte_index)) as u8
    };
    element.iter().enumerate().map(masked).collect()
}
