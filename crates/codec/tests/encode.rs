//! What the encoders give is decoded to what they were given; and what is left out, is said.

mod common;

use common::{chunk, decode, filter, pipeline};
use isotach_codec::{ErrorKind, Pipeline, Scratch};
use proptest::collection::vec;
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
            (307, &[]), (307, &[1]),
            (32000, &[]),
            (32004, &[]), (32004, &[0]), (32004, &[100]),
            (32015, &[]), (32015, &[19]), (32015, &[-5_i32 as u32]),
        ];
        for &codec in codecs {
            let pipeline = pipeline(&[(2, &[size]), codec, (3, &[])]);
            prop_assert_eq!(round_trip(&pipeline, &bytes).0, 0);
            round_trip(&optional(pipeline), &bytes);
        }
    }
}

proptest! {
    #[test]
    fn bitshuffle_of_any_size(bytes in chunk(), size in 1_usize..20, groups in 0_u32..40) {
        let bytes = &bytes[..bytes.len() / size * size];
        let plain = pipeline(&[(32008, &[0, 4, size as u32, 8 * groups, 0])]);
        let stored = round_trip(&plain, bytes).1;
        if groups > 0 {
            prop_assert_eq!(stored, common::bitshuffle(bytes, size, 8 * groups as usize));
        }
        for codec in [&[2][..], &[3], &[3, 9]] {
            let parameters = [&[0, 4, size as u32, 8 * groups], codec].concat();
            round_trip(&pipeline(&[(32008, &parameters)]), bytes);
        }
    }

    #[test]
    fn blosc_of_any_size(bytes in chunk(), size in 1_u32..300, level in 0_u32..10) {
        for (shuffle, codec) in (0..3).flat_map(|shuffle| (0..6).map(move |codec| (shuffle, codec))) {
            let parameters = [2, 2, size, bytes.len() as u32, level, shuffle, codec];
            let blosc = pipeline(&[(32001, &parameters)]);
            let (mask, stored) = round_trip(&blosc, &bytes);
            prop_assert!(mask == 0 && stored.len() <= bytes.len() + 16);
            round_trip(&optional(blosc), &bytes);
        }
    }

    #[test]
    fn blosc2_of_any_size(bytes in chunk(), size in 1_u32..300, level in 0_u32..10) {
        for (filter, codec) in (0..4).flat_map(|filter| [0, 1, 2, 4, 5].map(|codec| (filter, codec))) {
            let parameters = [1, 0, size, bytes.len() as u32, level, filter, codec];
            let blosc2 = pipeline(&[(32026, &parameters)]);
            let (mask, stored) = round_trip(&blosc2, &bytes);
            prop_assert!(mask == 0 && stored.len() <= bytes.len() + 204);
            round_trip(&optional(blosc2), &bytes);
        }
    }

    #[test]
    fn szip_of_any_size(
        bytes in chunk(),
        bits in prop_oneof![1_u32..=24, Just(32), Just(64)],
        mask in prop_oneof![Just(4_u32), Just(32), Just(20), Just(48)],
        half_block in 1_u32..=16,
        line in 1_u32..=700,
    ) {
        let size = match bits { 0..=8 => 1, 9..=16 => 2, 17..=24 => 4, _ => bits / 8 };
        let elements: Vec<u8> = bytes
            .chunks_exact(size as usize)
            .flat_map(|element| common::low_bits(element, bits, mask & 16 != 0))
            .collect();
        let szip = pipeline(&[(4, &[mask, 2 * half_block, bits, line])]);
        prop_assert_eq!(round_trip(&szip, &elements).0, 0);
        round_trip(&optional(szip), &elements);
    }

    #[test]
    fn nbit_of_any_place(bytes in chunk(), size in 1_u32..=8, big in 0_u32..2, a in 0.0..1.0, b in 0.0..1.0) {
        let precision = 1 + (a * f64::from(size * 8 - 1)) as u32;
        let offset = (b * f64::from(size * 8 - precision + 1)) as u32;
        let elements: Vec<u8> = bytes
            .chunks_exact(size as usize)
            .flat_map(|element| common::bits_at(element, precision, offset, big == 1))
            .collect();
        let count = elements.len() as u32 / size;
        let nbit = pipeline(&[(5, &[8, 0, count, 1, size, big, precision, offset])]);
        let stored = round_trip(&nbit, &elements).1;
        prop_assert_eq!(stored.len(), (count * precision).div_ceil(8) as usize);
    }

    #[test]
    fn scale_offset_of_whole_numbers(
        bytes in chunk(),
        log_size in 0_u32..4,
        signed in 0_u32..2,
        big in 0_u32..2,
        fill in proptest::option::of(any::<u64>()),
    ) {
        let size = 1 << log_size;
        let elements = &bytes[..bytes.len() / size * size];
        let fill = fill.map(|fill| fill & (u64::MAX >> (64 - 8 * size)));
        let count = (elements.len() / size) as u32;
        let mut parameters = vec![2, 0, count, 0, size as u32, signed, big, fill.is_some().into()];
        parameters.extend(fill.iter().flat_map(|fill| [*fill as u32, (fill >> 32) as u32]));
        round_trip(&pipeline(&[(6, &parameters)]), elements);
    }

    /// Noise takes more space packed than it does plain, and so what comes next is longer than the chunk.
    #[test]
    fn scale_offset_that_gains_nothing_before_other_filters(bytes in vec(any::<u8>(), 16..400)) {
        let count = bytes.len() as u32;
        let scale_offset: (u16, &[u32]) = (6, &[2, 0, count, 0, 1, 0, 0, 0]);
        for behind in [&[(1, &[4][..])][..], &[(2, &[1]), (1, &[4])], &[(2, &[3])], &[(32000, &[])]] {
            round_trip(&pipeline(&[&[scale_offset], behind].concat()), &bytes);
        }
    }

    #[test]
    fn scale_offset_of_real_numbers(
        values in prop_oneof![vec(-1e4..1e4, 0..300), vec(any::<f64>(), 0..50)],
        decimals in -2..5_i32,
        fill in proptest::option::of(-1e4..1e4),
        double in any::<bool>(),
    ) {
        let mut values = values;
        if let Some(fill) = fill {
            values.iter_mut().step_by(7).for_each(|value| *value = fill);
        }
        let fill_bits = |fill: f64| if double { fill.to_bits() } else { u64::from((fill as f32).to_bits()) };
        let size = if double { 8 } else { 4 };
        let count = values.len() as u32;
        let mut parameters = vec![0, decimals as u32, count, 1, size, 1, 0, fill.is_some().into()];
        parameters.extend(fill.iter().flat_map(|&fill| [fill_bits(fill) as u32, (fill_bits(fill) >> 32) as u32]));
        let bytes = |values: &[f64]| -> Vec<u8> { match double {
            true => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
            false => values.iter().flat_map(|value| (*value as f32).to_le_bytes()).collect(),
        }};
        let (pipeline, chunk) = (pipeline(&[(6, &parameters)]), bytes(&values));
        let mut stored = Vec::new();
        prop_assert_eq!(pipeline.encode(&chunk, &mut Scratch::default(), &mut stored), Ok(0));
        let decoded = decode(&pipeline, &stored, 0, chunk.len()).unwrap();
        for (new, old) in decoded.chunks(size as usize).zip(chunk.chunks(size as usize)) {
            let value = |bytes: &[u8]| match double {
                true => f64::from_le_bytes(bytes.try_into().unwrap()),
                false => f32::from_le_bytes(bytes.try_into().unwrap()).into(),
            };
            let (new_value, old_value) = (value(new), value(old));
            // Half a unit, and what arithmetic in the elements' own precision loses.
            let precision = if double { 1e-15 } else { 1e-6 };
            let bound = 0.501 * 10_f64.powi(-decimals) + precision * 2e4;
            prop_assert!(new == old || (new_value - old_value).abs() <= bound, "{old_value}: {new_value}");
            if Some(old_value) == fill.map(|fill| if double { fill } else { f64::from(fill as f32) }) {
                prop_assert_eq!(new, old);
            }
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
    // Parts of elements can be neither szipped nor bit-shuffled.
    for codec in [pipeline(&[(4, &[169, 8, 32, 16])]), pipeline(&[(32008, &[0, 4, 4, 0, 2])])] {
        let error = codec.encode(&[7; 101], &mut scratch, &mut stored).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Corrupt { at_byte: 101, .. }), "{error}");
        assert_eq!(optional(codec).encode(&[7; 101], &mut scratch, &mut stored), Ok(1));
    }
    // A mask has 32 bits.
    let mut many = Pipeline { filters: vec![filter(2, &[1]); 32] };
    many.filters.push(filter(32013, &[]));
    let error = optional(many).encode(&[7; 100], &mut scratch, &mut stored).unwrap_err();
    assert_eq!(error.kind, ErrorKind::UnknownFilter);
}

proptest! {
    #[test]
    fn pieces_make_the_chunk_that_they_are_parts_of(
        bytes in chunk(),
        size in 1_usize..20,
        lens in vec(0_usize..300, 1..20),
    ) {
        let chunk = &bytes[..bytes.len() / size * size];
        let each_piece = |chunk: &[u8], take: &mut dyn FnMut(&[u8])| {
            let mut rest = chunk;
            for len in lens.iter().cycle().take(lens.len() * 3).chain([&bytes.len()]) {
                let (piece, behind) = rest.split_at(rest.len().min(len * size));
                take(piece);
                rest = behind;
            }
        };
        let own = [size as u32];
        let pipelines: &[&[(u16, &[u32])]] = &[
            &[], &[(2, &own)], &[(2, &own), (1, &[1]), (3, &[])], &[(2, &[3]), (1, &[4])],
            &[(1, &[1]), (2, &own)], &[(32000, &[])], &[(3, &[])],
        ];
        for filters in pipelines {
            for pipeline in [pipeline(filters), optional(pipeline(filters))] {
                let (mut scratch, mut stored, mut whole) = Default::default();
                let mask = pipeline.encode(chunk, &mut scratch, &mut whole).unwrap();
                let from_pieces =
                    pipeline.encode_pieces(chunk.len(), size, &mut scratch, &mut stored, |take| {
                        each_piece(chunk, take);
                    });
                prop_assert_eq!((from_pieces, &stored), (Ok(mask), &whole));
                // An element is missing.
                let missing =
                    pipeline.encode_pieces(chunk.len() + size, size, &mut scratch, &mut stored, |take| {
                        each_piece(chunk, take);
                    });
                let kind = missing.map_err(|error| error.kind);
                let is_told = matches!(kind, Err(ErrorKind::Length { expected_bytes, .. }) if expected_bytes == chunk.len() + size);
                prop_assert!(is_told, "{kind:?}");
            }
        }
    }
}

#[test]
fn no_filters_store_the_chunk() {
    assert_eq!(round_trip(&pipeline(&[]), &[1, 2, 3]), (0, vec![1, 2, 3]));
    assert_eq!(round_trip(&pipeline(&[(2, &[1])]), &[1, 2, 3]), (0, vec![1, 2, 3]));
    assert_eq!(round_trip(&pipeline(&[(3, &[])]), &[]), (0, vec![0; 4]));
}
