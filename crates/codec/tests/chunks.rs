//! Chunks as h5py and hdf5plugin stored them decode to the values that were written; damaged ones
//! to errors. `chunks/make.py` makes the chunks.

mod common;

use common::{decode, filter, pipeline};
use isotach_codec::{ErrorKind, Pipeline, Scratch};

/// A stored chunk, its filters, and what it decodes to.
struct Golden {
    name: &'static str,
    stored: &'static [u8],
    pipeline: Pipeline,
    decoded: Vec<u8>,
}

/// Element `i` is `i * i / 7`.
fn values(count: u64, kind: &str) -> Vec<u8> {
    let values = (0..count).map(|i| i * i / 7);
    match kind {
        "u1" => values.map(|v| v as u8).collect(),
        "u2" => values.flat_map(|v| (v as u16).to_le_bytes()).collect(),
        "u4" => values.flat_map(|v| (v as u32).to_le_bytes()).collect(),
        "f4" => values.flat_map(|v| (v as f32).to_le_bytes()).collect(),
        "u8" => values.flat_map(u64::to_le_bytes).collect(),
        "f8" => values.flat_map(|v| (v as f64).to_le_bytes()).collect(),
        _ => panic!("no type {kind}"),
    }
}

fn golden() -> Vec<Golden> {
    macro_rules! chunk {
        ($name:literal, $count:literal, $kind:literal, $filters:expr) => {
            Golden {
                name: $name,
                stored: include_bytes!(concat!("chunks/", $name, ".chunk")),
                pipeline: pipeline($filters),
                decoded: values($count, $kind),
            }
        };
    }
    vec![
        chunk!("deflate_u4", 500, "u4", &[(1, &[4])]),
        chunk!("shuffle_deflate_f8", 501, "f8", &[(2, &[8]), (1, &[4])]),
        chunk!("fletcher32_u2", 1003, "u2", &[(3, &[])]),
        chunk!("fletcher32_u1", 301, "u1", &[(3, &[])]),
        chunk!("shuffle_deflate_fletcher32_u4", 203, "u4", &[(2, &[4]), (1, &[4]), (3, &[])]),
        chunk!("lzf_u4", 1003, "u4", &[(2, &[4]), (32000, &[4, 261, 4012])]),
        chunk!("lz4_blocks_u8", 1003, "u8", &[(32004, &[1024])]),
        chunk!("lz4_u8", 203, "u8", &[(32004, &[0])]),
        chunk!("bzip2_u4", 203, "u4", &[(307, &[9])]),
        chunk!("zstd_u4", 1003, "u4", &[(32015, &[3])]),
        chunk!("bitshuffle_u4", 203, "u4", &[(32008, &[0, 4, 4, 0, 0])]),
        chunk!("bitshuffle_blocks_u2", 203, "u2", &[(32008, &[0, 4, 2, 64, 0])]),
        chunk!("bitshuffle_lz4_u8", 1003, "u8", &[(32008, &[0, 4, 8, 256, 2])]),
        chunk!("bitshuffle_lz4_u1", 1003, "u1", &[(32008, &[0, 4, 1, 0, 2])]),
        chunk!("bitshuffle_zstd_f4", 4099, "f4", &[(32008, &[0, 4, 4, 0, 3, 3])]),
    ]
}

#[test]
fn stored_chunks_decode_to_what_was_written() {
    for chunk in golden() {
        let decoded = decode(&chunk.pipeline, chunk.stored, 0, chunk.decoded.len());
        assert!(decoded.as_ref() == Ok(&chunk.decoded), "{}: {:?}", chunk.name, decoded.err());
    }
}

#[test]
fn a_chunk_of_another_length_is_an_error_that_names_the_filter() {
    for chunk in golden() {
        let first = chunk.pipeline.filters[0].id;
        for wrong in [0, 1, chunk.decoded.len() - 1, chunk.decoded.len() + 1] {
            let error = decode(&chunk.pipeline, chunk.stored, 0, wrong).unwrap_err();
            let ErrorKind::Length { expected_bytes, decoded_bytes } = error.kind else {
                panic!("{}: {error}", chunk.name);
            };
            assert!(expected_bytes != decoded_bytes, "{}: {error}", chunk.name);
            if wrong > chunk.decoded.len() {
                assert_eq!((error.filter_id, expected_bytes), (first, wrong), "{}", chunk.name);
            }
        }
    }
}

/// Every way to cut a chunk off, and single bits flipped all over it.
#[test]
fn damaged_chunks_never_panic_and_cut_off_ones_are_errors() {
    for chunk in golden() {
        let len = chunk.decoded.len();
        for cut in 0..chunk.stored.len() {
            let decoded = decode(&chunk.pipeline, &chunk.stored[..cut], 0, len);
            // Behind the last bit of data zstd and others may have nothing that is missed.
            assert!(decoded.is_err() || decoded == Ok(chunk.decoded.clone()), "{}", chunk.name);
        }
        let mut damaged = chunk.stored.to_vec();
        for at in 0..damaged.len() {
            for mask in [1 << (at % 8), 0xFF] {
                damaged[at] ^= mask;
                if let Ok(decoded) = decode(&chunk.pipeline, &damaged, 0, len) {
                    assert_eq!(decoded.len(), len);
                }
                damaged[at] ^= mask;
            }
        }
    }
}

#[test]
fn fletcher32_notices_a_flipped_bit_and_accepts_the_old_byte_order() {
    let pipeline = pipeline(&[(3, &[])]);
    let stored = include_bytes!("chunks/fletcher32_u2.chunk");
    let len = stored.len() - 4;
    let mut damaged = stored.to_vec();
    damaged[17] ^= 4;
    let error = decode(&pipeline, &damaged, 0, len).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Checksum { .. }), "{error}");

    let mut old = stored.to_vec();
    old[len..].copy_from_slice(&[stored[len + 1], stored[len], stored[len + 3], stored[len + 2]]);
    assert_ne!(old, stored);
    assert_eq!(decode(&pipeline, &old, 0, len).unwrap(), stored[..len]);
}

#[test]
fn the_mask_leaves_filters_out() {
    let decoded = values(500, "u4");
    let both = pipeline(&[(2, &[4]), (1, &[4])]);
    let deflated = include_bytes!("chunks/deflate_u4.chunk");
    assert_eq!(decode(&both, deflated, 0b01, decoded.len()).unwrap(), decoded);
    assert_eq!(decode(&both, &decoded, 0b11, decoded.len()).unwrap(), decoded);
    let error = decode(&both, &decoded, 0b11, decoded.len() + 1).unwrap_err();
    assert_eq!(error.filter_name, "none");
}

#[test]
fn an_unknown_filter_is_named_and_only_an_error_where_it_was_applied() {
    let mut unknown = pipeline(&[(1, &[4]), (32013, &[])]);
    unknown.filters[1].name = Some("H5Z-ZFP".to_owned());
    assert_eq!(unknown.unsupported(), Some(&unknown.filters[1]));
    let stored = include_bytes!("chunks/deflate_u4.chunk");
    let error = decode(&unknown, stored, 0, 2000).unwrap_err();
    assert_eq!(error.to_string(), "filter 32013 (zfp): not supported");
    assert_eq!(decode(&unknown, stored, 0b10, 2000).unwrap(), values(500, "u4"));

    let mut private = filter(40_000, &[]);
    assert_eq!(private.display_name(), "unregistered");
    private.name = Some("ours".to_owned());
    assert_eq!(private.display_name(), "ours");
}

#[test]
fn parameters_that_cannot_be_are_errors() {
    let cases: &[(u16, &[u32])] = &[
        (2, &[]),
        (2, &[0]),
        (32008, &[0, 4]),
        (32008, &[0, 4, 0]),
        (32008, &[0, 4, 4, 7]),
        (32008, &[0, 4, 4, 0, 1]),
    ];
    for &(id, parameters) in cases {
        let error = decode(&pipeline(&[(id, parameters)]), &[0; 64], 0, 64).unwrap_err();
        let parameter =
            matches!(error.kind, ErrorKind::Parameter { .. } | ErrorKind::MissingParameter { .. });
        assert!(parameter, "{id} {parameters:?}: {error}");
    }
    // Elements larger than the chunk, and than memory: nothing is shuffled, all is rest.
    let huge = pipeline(&[(2, &[u32::MAX])]);
    assert_eq!(decode(&huge, &[1, 2, 3], 0, 3).unwrap(), [1, 2, 3]);
}

#[test]
fn trailing_bytes_behind_a_zlib_stream_are_ignored() {
    let mut stored = include_bytes!("chunks/deflate_u4.chunk").to_vec();
    stored.extend_from_slice(b"padding of an allocation that was larger");
    assert_eq!(decode(&pipeline(&[(1, &[4])]), &stored, 0, 2000).unwrap(), values(500, "u4"));
}

#[test]
fn a_decompression_bomb_ends_in_an_error_within_the_bound() {
    let zeros = vec![0; 64 << 20];
    let bombs = [
        (pipeline(&[(1, &[9])]), common::deflate(&zeros)),
        (pipeline(&[(2, &[4]), (1, &[9])]), common::deflate(&zeros)),
        (pipeline(&[(1, &[9]), (1, &[9])]), common::deflate(&zeros)),
        (pipeline(&[(2, &[4]), (32015, &[3])]), common::zstd(&zeros)),
        (pipeline(&[(2, &[4]), (307, &[9])]), common::bzip2(&zeros)),
        (pipeline(&[(2, &[4]), (32004, &[0])]), common::lz4(&zeros, 1 << 30)),
    ];
    for (pipeline, stored) in bombs {
        assert!(stored.len() < 1 << 20);
        let mut scratch = Scratch::default();
        let error = pipeline.decode_vec(&stored, 0, 1000, &mut scratch).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Length { .. }), "{error}");
        let bound = 2 * isotach_codec::pipeline::intermediate_limit(1000);
        assert!(scratch.allocated_bytes() <= bound, "{}", scratch.allocated_bytes());
        scratch.release();
        assert_eq!(scratch.allocated_bytes(), 0);
    }
}

#[test]
fn a_chunk_can_be_decoded_up_to_its_shuffle() {
    let decoded = values(501, "f8");
    let pipeline = pipeline(&[(2, &[8]), (1, &[4])]);
    let stored = include_bytes!("chunks/shuffle_deflate_f8.chunk");
    let mut scratch = Scratch::default();
    let shuffled = pipeline.decode_to_shuffled(stored, 0, decoded.len(), &mut scratch).unwrap();
    assert_eq!(shuffled.element_size, 8);
    let mut out = [const { std::mem::MaybeUninit::uninit() }; 8 * 100];
    let run = isotach_codec::shuffle::unshuffle_range(shuffled.bytes, 8, 501, 77, 100, &mut out);
    assert_eq!(run, &decoded[8 * 77..8 * 177]);

    let raw = pipeline.decode_to_shuffled(&decoded, 0b11, decoded.len(), &mut scratch).unwrap();
    assert_eq!((raw.element_size, raw.bytes), (1, &decoded[..]));
    let short = pipeline.decode_to_shuffled(stored, 0, decoded.len() + 8, &mut scratch);
    assert!(matches!(short.unwrap_err().kind, ErrorKind::Length { .. }));
}

#[test]
fn a_length_beyond_all_memory_is_an_error() {
    for pipeline in [pipeline(&[]), pipeline(&[(1, &[4])]), pipeline(&[(2, &[4]), (1, &[4])])] {
        let mut scratch = Scratch::default();
        let error = pipeline.decode_vec(&[0; 8], 0, usize::MAX, &mut scratch).unwrap_err();
        assert_eq!(error.kind, ErrorKind::OutOfMemory { wanted_bytes: usize::MAX });
    }
}
