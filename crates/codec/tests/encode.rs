//! What the encoders give is decoded to what they were given; and what is left out, is said.

mod common;

use common::{chunk, decode, filter, pipeline};
use isotach_codec::{ErrorKind, Pipeline, Scratch};
use proptest::prelude::*;

/// Encodes, decodes, and gives the filter mask and what was stored.
fn round_trip(pipeline: &Pipeline, bytes: &[u8]) -> (u32, Vec<u8>) {
    let (mut scratch, mut stored) = (Scratch::default(), b"of before".to_vec());
    let mask = pipeline.encode(bytes, &mut scratch, &mut stored).unwrap();
    let decoded = decode(pipeline, &stored, mask, bytes.len());
    assert!(decoded.as_deref() == Ok(bytes), "{pipeline:?}: {:?}", decoded.err());
    (mask, stored)
}

fn optional(mut pipeline: Pipeline) -> Pipeline {
    pipeline.filters.iter_mut().for_each(|filter| filter.optional = true);
    pipeline
}

proptest! {
    #[test]
    fn shuffle_of_any_size(bytes in chunk(), size in 1_usize..40) {
        let (mask, stored) = round_trip(&pipeline(&[(2, &[size as u32])]), &bytes);
        prop_assert_eq!((mask, stored), (0, common::shuffle(&bytes, size)));
    }

    #[test]
    fn codecs_behind_shuffle_before_a_checksum(bytes in chunk(), size in 1_u32..20) {
        let codecs: &[(u16, &[u32])] = &[
            (1, &[0]), (1, &[1]), (1, &[4]), (1, &[5]), (1, &[9]), (1, &[]),
            (32000, &[]),
            (32015, &[]), (32015, &[19]), (32015, &[-5_i32 as u32]),
        ];
        for &codec in codecs {
            let pipeline = pipeline(&[(2, &[size]), codec, (3, &[])]);
            prop_assert_eq!(round_trip(&pipeline, &bytes).0, 0);
            round_trip(&optional(pipeline), &bytes);
        }
    }
}

/// Rows of bytes of different kinds, as a shuffle makes them: alike, a few values, smooth, noise.
fn rows(len: usize) -> Vec<u8> {
    let mut noise = noise();
    let row = len / 5;
    let mut bytes = vec![67; row];
    bytes.extend((0..row).map(|i| (i / 900 % 3) as u8));
    bytes.extend((0..row).map(|i| (i % 360 / 3) as u8 ^ (i / 7000) as u8));
    bytes.extend((0..row).map(|i| (128.0 + 90.0 * (i as f32 / 50.0).sin()) as u8));
    bytes.extend((&mut noise).take(row));
    bytes.resize(len, 1);
    bytes
}

fn noise() -> impl Iterator<Item = u8> {
    let mut state = 1_u32;
    std::iter::repeat_with(move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    })
}

#[test]
fn long_chunks_of_many_kinds_survive_every_level_of_deflate() {
    let noise: Vec<u8> = noise().take(700_001).collect();
    for level in 0..=9 {
        let deflate = pipeline(&[(1, &[level])]);
        for len in [0, 1, 2, 7, 8, 9, 1023, 1025, 65_535, 65_536, 300_000, 2_000_003] {
            round_trip(&deflate, &rows(len));
        }
        for bytes in [vec![0; 1_000_000], noise.clone(), [&noise[..70_000], &noise].concat()] {
            let stored = round_trip(&deflate, &bytes).1;
            assert!(
                stored.len() < bytes.len() + bytes.len() / 1000 + 12,
                "{level}: {}",
                stored.len()
            );
        }
    }
}

#[test]
fn what_deflate_gives_depends_on_nothing_but_the_chunk() {
    let deflate = pipeline(&[(1, &[1])]);
    let (first, other) = (rows(100_000), rows(90_000));
    let stored = round_trip(&deflate, &first).1;
    round_trip(&deflate, &other);
    assert_eq!(round_trip(&deflate, &first).1, stored);
}

#[test]
fn optional_filters_that_gain_nothing_are_left_out() {
    let noise: Vec<u8> = noise().take(1000).collect();
    let lzf = pipeline(&[(2, &[4]), (32000, &[]), (3, &[])]);
    let (mask, stored) = round_trip(&lzf, &noise);
    assert!(mask == 0 && stored.len() > 1004);
    let (mask, stored) = round_trip(&optional(lzf), &noise);
    assert_eq!((mask, stored.len()), (0b10, 1004));
    // Those of libhdf5 that never give up are applied.
    assert_eq!(round_trip(&optional(pipeline(&[(1, &[1])])), &noise).0, 0);
}

#[test]
fn a_filter_that_cannot_be_applied_is_an_error_or_left_out() {
    let zfp = pipeline(&[(32013, &[])]);
    let wrong_level = pipeline(&[(1, &[10])]);
    let (mut scratch, mut stored) = (Scratch::default(), vec![]);
    for (pipeline, kind, may_encode) in [
        (zfp, ErrorKind::UnknownFilter, false),
        (wrong_level, ErrorKind::Parameter { index: 0, value: 10 }, true),
    ] {
        assert_eq!(pipeline.not_encodable().is_none(), may_encode);
        let error = pipeline.encode(&[7; 100], &mut scratch, &mut stored).unwrap_err();
        assert_eq!((error.filter_id, &error.kind), (pipeline.filters[0].id, &kind));
        assert_eq!(optional(pipeline).encode(&[7; 100], &mut scratch, &mut stored), Ok(1));
        assert_eq!(stored, [7; 100]);
    }
    // A mask has 32 bits.
    let mut many = Pipeline { filters: vec![filter(2, &[1]); 32] };
    many.filters.push(filter(32013, &[]));
    let error = optional(many).encode(&[7; 100], &mut scratch, &mut stored).unwrap_err();
    assert_eq!(error.kind, ErrorKind::UnknownFilter);
}

#[test]
fn no_filters_store_the_chunk() {
    assert_eq!(round_trip(&pipeline(&[]), &[1, 2, 3]), (0, vec![1, 2, 3]));
    assert_eq!(round_trip(&pipeline(&[(2, &[1])]), &[1, 2, 3]), (0, vec![1, 2, 3]));
    assert_eq!(round_trip(&pipeline(&[(3, &[])]), &[]), (0, vec![0; 4]));
}
