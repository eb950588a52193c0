//! Whatever is encoded by the obvious encoders and the reference libraries is decoded again.

mod common;

use std::mem::MaybeUninit;

use common::{chunk, decode, pipeline};
use proptest::collection::vec;
use proptest::prelude::*;

proptest! {
    #[test]
    fn shuffle_any_size(bytes in chunk(), size in 1_usize..40) {
        let shuffled = common::shuffle(&bytes, size);
        let pipeline = pipeline(&[(2, &[size as u32])]);
        prop_assert_eq!(decode(&pipeline, &shuffled, 0, bytes.len()), Ok(bytes));
    }

    #[test]
    fn any_run_of_a_shuffled_chunk(
        bytes in vec(any::<u8>(), 0..3000),
        size in prop_oneof![Just(1_usize), Just(2), Just(4), Just(8), Just(16), 1_usize..40],
        from in 0.0..1.0,
        to in 0.0..1.0,
    ) {
        let total = bytes.len() / size;
        let at = |part: f64| (part * (total + 1) as f64) as usize;
        let (first, end) = (at(from).min(at(to)), at(from).max(at(to)));
        let shuffled = common::shuffle(&bytes, size);
        let mut out = vec![MaybeUninit::uninit(); (end - first) * size];
        let run = isotach_codec::shuffle::unshuffle_range(
            &shuffled, size, total, first, end - first, &mut out);
        prop_assert_eq!(run, &bytes[first * size..end * size]);
    }

    #[test]
    fn deflate_behind_shuffle(bytes in chunk(), size in 1_u32..20) {
        let stored = common::deflate(&common::shuffle(&bytes, size as usize));
        let pipeline = pipeline(&[(2, &[size]), (1, &[4])]);
        prop_assert_eq!(decode(&pipeline, &stored, 0, bytes.len()), Ok(bytes));
    }

    #[test]
    fn codecs(bytes in chunk(), block_len in 1_usize..2000) {
        let cases = [
            (1, common::deflate(&bytes)),
            (307, common::bzip2(&bytes)),
            (32004, common::lz4(&bytes, block_len)),
            (32015, common::zstd(&bytes)),
        ];
        for (id, stored) in cases {
            let decoded = decode(&pipeline(&[(id, &[])]), &stored, 0, bytes.len());
            prop_assert_eq!(decoded.as_ref(), Ok(&bytes));
        }
    }

    #[test]
    fn bitshuffle_any_size(
        elements in vec(any::<u8>(), 0..4000),
        size in prop_oneof![Just(1_usize), Just(2), Just(4), Just(8), 1_usize..20],
        groups in 1_usize..40,
    ) {
        let bytes = &elements[..elements.len() / size * size];
        let stored = common::bitshuffle(bytes, size, groups * 8);
        let parameters = [0, 4, size as u32, groups as u32 * 8, 0];
        let decoded = decode(&pipeline(&[(32008, &parameters)]), &stored, 0, bytes.len());
        prop_assert_eq!(decoded.as_deref(), Ok(bytes));
    }

    #[test]
    fn any_bytes_at_all(
        stored in vec(any::<u8>(), 0..300),
        id in prop_oneof![Just(1_u16), Just(2), Just(3), Just(307), Just(32000), Just(32004),
            Just(32008), Just(32015)],
        parameters in vec(prop_oneof![0_u32..10, any::<u32>()], 0..6),
        len in 0_usize..5000,
    ) {
        let pipeline = pipeline(&[(2, &[4]), (id, &parameters)]);
        if let Ok(decoded) = decode(&pipeline, &stored, 0, len) {
            prop_assert_eq!(decoded.len(), len);
        }
        if let Ok(decoded) = decode(&pipeline, &stored, 1, len) {
            prop_assert_eq!(decoded.len(), len);
        }
    }
}
