//! Chunks of szip, nbit, scale-offset, blosc and blosc2 as h5py and hdf5plugin stored them decode to
//! what libhdf5 reads; damaged ones to errors. `make_fixtures.py` makes the chunks.

mod common;

use std::path::Path;

use common::{decode, filter};
use isotach_codec::{Pipeline, Scratch, pipeline::intermediate_limit};

/// A stored chunk, its filters, and what it decodes to.
struct Case {
    name: String,
    pipeline: Pipeline,
    stored: Vec<u8>,
    decoded: Vec<u8>,
}

/// Reads numbers of 4 bytes, and byte strings behind their length.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn number(&mut self) -> u32 {
        let (number, rest) = self.0.split_first_chunk().expect("a whole case");
        self.0 = rest;
        u32::from_le_bytes(*number)
    }

    fn bytes(&mut self) -> Vec<u8> {
        let len = self.number() as usize;
        let (bytes, rest) = self.0.split_at(len);
        self.0 = rest;
        bytes.to_vec()
    }
}

fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let mut paths: Vec<_> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() > 50, "the cases are there");
    let read = |path: &std::path::PathBuf| {
        let bytes = std::fs::read(path).unwrap();
        let mut reader = Reader(&bytes);
        let count = reader.number();
        let mut filters = Vec::new();
        for _ in 0..count {
            let (id, parameter_count) = (reader.number() as u16, reader.number());
            let parameters: Vec<u32> = (0..parameter_count).map(|_| reader.number()).collect();
            filters.push(filter(id, &parameters));
        }
        Case {
            name: path.file_stem().unwrap().to_string_lossy().into_owned(),
            pipeline: Pipeline { filters },
            stored: reader.bytes(),
            decoded: reader.bytes(),
        }
    };
    paths.iter().map(read).collect()
}

/// A xorshift generator: the same damage in every run.
fn random(seed: &mut u64) -> usize {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    *seed as usize
}

#[test]
fn stored_chunks_decode_to_what_libhdf5_reads() {
    for case in cases() {
        let decoded = decode(&case.pipeline, &case.stored, 0, case.decoded.len());
        assert!(decoded.as_ref() == Ok(&case.decoded), "{}: {:?}", case.name, decoded.err());
    }
}

/// What libhdf5 read is lossless from then on: scaled numbers are on their grid.
#[test]
fn what_libhdf5_reads_is_the_same_once_it_was_encoded_here() {
    let mut scratch = Scratch::default();
    for case in cases().into_iter().filter(|case| case.pipeline.not_encodable().is_none()) {
        let mut stored = Vec::new();
        let mask = case.pipeline.encode(&case.decoded, &mut scratch, &mut stored).unwrap();
        let decoded = decode(&case.pipeline, &stored, mask, case.decoded.len());
        assert!(decoded.as_ref() == Ok(&case.decoded), "{}: {:?}", case.name, decoded.err());
        if case.name.starts_with("szip") {
            let (ours, theirs) = (stored.len(), case.stored.len());
            assert!(ours <= theirs, "{}: {ours} bytes, {theirs} of libaec", case.name);
        }
        if case.name.starts_with("nbit") {
            assert!(case.stored.starts_with(&stored), "{}", case.name);
        }
    }
}

#[test]
fn cut_off_chunks_are_errors_or_lack_only_padding() {
    for case in cases() {
        for cut in 0..case.stored.len() {
            let decoded = decode(&case.pipeline, &case.stored[..cut], 0, case.decoded.len());
            assert!(
                decoded.is_err() || decoded.as_ref() == Ok(&case.decoded),
                "{} cut at {cut}",
                case.name
            );
        }
    }
}

#[test]
fn damaged_chunks_and_parameters_never_panic_nor_take_memory() {
    let mut seed = 0x9E37_79B9_7F4A_7C15;
    for case in cases() {
        let len = case.decoded.len();
        let mut scratch = Scratch::default();
        for _ in 0..400 {
            let (mut stored, mut pipeline) = (case.stored.clone(), case.pipeline.clone());
            let at = random(&mut seed) % stored.len();
            stored[at] = [0, 0x7F, 0x80, 0xFF, stored[at] ^ 1 << (at % 8)][random(&mut seed) % 5];
            let filter = random(&mut seed) % pipeline.filters.len();
            let parameters = &mut pipeline.filters[filter].parameters;
            if random(&mut seed).is_multiple_of(4) && !parameters.is_empty() {
                let at = random(&mut seed) % parameters.len();
                parameters[at] =
                    [0, 1, u32::MAX, parameters[at].wrapping_add(1), random(&mut seed) as u32 % 70]
                        [random(&mut seed) % 5];
            }
            if let Ok(decoded) = pipeline.decode_vec(&stored, 0, len, &mut scratch) {
                assert_eq!(decoded.len(), len, "{}", case.name);
            }
            assert!(scratch.allocated_bytes() <= 2 * intermediate_limit(len), "{}", case.name);
        }
    }
}
