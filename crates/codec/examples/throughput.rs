//! How fast chunks decode and encode on one core: `cargo run --release -p isotach-codec --example throughput`.
//!
//! Data: float32 like a climate model's surface pressure (smooth in space, noise in the low bits),
//! 1 MiB chunks, 64 of them, decoded in turn into one touched array, and encoded each to the same
//! buffer. Prints decoded GB/s, best of 5, and for encoders how much shorter chunks become.

use std::hint::black_box;
use std::io::Write;
use std::mem::MaybeUninit;
use std::time::Instant;

use isotach_codec::{Filter, Pipeline, Scratch, shuffle};

const CHUNK_ELEMENTS: usize = 256 << 10;
const CHUNKS: usize = 64;
const REPEATS: usize = 5;

fn main() {
    let values: Vec<f32> = (0..CHUNK_ELEMENTS * CHUNKS).map(pressure).collect();
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let chunks: Vec<&[u8]> = bytes.chunks(CHUNK_ELEMENTS * 4).collect();

    let shuffled: Vec<Vec<u8>> = chunks.iter().map(|chunk| shuffled(chunk, 4)).collect();
    let deflated: Vec<Vec<u8>> = shuffled.iter().map(|chunk| deflate(chunk)).collect();
    let zstd: Vec<Vec<u8>> = shuffled.iter().map(|chunk| zstd(chunk)).collect();

    println!("ratio: deflate {:.2}, zstd {:.2}", ratio(&chunks, &deflated), ratio(&chunks, &zstd));
    measure("shuffle", &chunks, &shuffled, vec![described(2, &[4])]);
    measure("deflate", &chunks, &deflated, vec![described(1, &[4])]);
    measure("shuffle + deflate", &chunks, &deflated, vec![described(2, &[4]), described(1, &[4])]);
    measure("zstd", &chunks, &zstd, vec![described(32015, &[3])]);
    measure("shuffle + zstd", &chunks, &zstd, vec![described(2, &[4]), described(32015, &[3])]);
    measure("bitshuffle of 4", &chunks, &shuffled, vec![described(32008, &[0, 4, 4, 0, 0])]);
    measure("bitshuffle of 8", &chunks, &shuffled, vec![described(32008, &[0, 4, 8, 0, 0])]);

    measure_encoders(&chunks);

    let with_checksum: Vec<Vec<u8>> = chunks.iter().map(|c| [c, &[0; 4][..]].concat()).collect();
    report("fletcher32, verified only", bytes.len(), || {
        let pipeline = Pipeline { filters: vec![described(3, &[])] };
        for chunk in &with_checksum {
            let mut scratch = Scratch::default();
            let _ = black_box(pipeline.decode_to_shuffled(chunk, 0, chunk.len(), &mut scratch));
        }
    });
    for size in [2, 3, 4, 8, 12, 16] {
        let total = CHUNK_ELEMENTS * 4 / size;
        let mut out = vec![MaybeUninit::new(0); total * size];
        report(&format!("unshuffle of {size}"), bytes.len(), || {
            for chunk in &chunks {
                black_box(shuffle::unshuffle_range(chunk, size, total, 0, total, &mut out));
            }
        });
    }
}

fn measure_encoders(chunks: &[&[u8]]) {
    let encoders: &[(&str, u16, &[u32])] = &[
        ("encode shuffle + deflate 1", 1, &[1]),
        ("encode shuffle + deflate 4", 1, &[4]),
        ("encode shuffle + deflate 6", 1, &[6]),
        ("encode shuffle + zstd 3", 32015, &[3]),
        ("encode shuffle + lz4", 32004, &[]),
        ("encode shuffle + lzf", 32000, &[]),
        ("encode shuffle + bzip2", 307, &[9]),
        ("encode shuffle + fletcher32", 3, &[]),
    ];
    measure_encoding("encode shuffle", chunks, vec![described(2, &[4])]);
    for &(name, id, parameters) in encoders {
        measure_encoding(name, chunks, vec![described(2, &[4]), described(id, parameters)]);
    }
    let others: &[(&str, u16, &[u32])] = &[
        ("szip", 4, &[169, 32, 32, 1024]),
        ("szip, blocks of 8", 4, &[169, 8, 32, 1024]),
        ("bitshuffle + lz4", 32008, &[0, 4, 4, 0, 2]),
        ("blosc blosclz", 32001, &[2, 2, 4, 0, 5, 1, 0]),
        ("blosc lz4", 32001, &[2, 2, 4, 0, 5, 1, 1]),
        ("blosc zstd", 32001, &[2, 2, 4, 0, 5, 1, 5]),
        ("scale-offset", 6, &[0, 1, CHUNK_ELEMENTS as u32, 1, 4, 0, 0, 0]),
    ];
    for &(name, id, parameters) in others {
        let filters = vec![described(id, parameters)];
        measure_encoding(&format!("encode {name}"), chunks, filters.clone());
        let pipeline = Pipeline { filters: filters.clone() };
        let mut scratch = Scratch::default();
        let encode = |chunk: &&[u8]| {
            let mut stored = Vec::new();
            pipeline.encode(chunk, &mut scratch, &mut stored).expect("encodes");
            stored
        };
        let stored: Vec<Vec<u8>> = chunks.iter().map(encode).collect();
        measure(&format!("decode {name}"), chunks, &stored, filters);
    }
}

/// Encodes every chunk.
fn measure_encoding(name: &str, chunks: &[&[u8]], filters: Vec<Filter>) {
    let pipeline = Pipeline { filters };
    let (mut scratch, mut stored, mut stored_bytes) = (Scratch::default(), Vec::new(), 0);
    let bytes = chunks.iter().map(|chunk| chunk.len()).sum();
    report(name, bytes, || {
        stored_bytes = 0;
        for chunk in chunks {
            pipeline.encode(chunk, &mut scratch, &mut stored).expect("encodes");
            stored_bytes += black_box(&stored).len();
        }
    });
    println!("{:28} {:7.3}", "", bytes as f64 / stored_bytes as f64);
}

/// Decodes every stored chunk to its place.
fn measure(name: &str, chunks: &[&[u8]], stored: &[Vec<u8>], filters: Vec<Filter>) {
    let pipeline = Pipeline { filters };
    let len = chunks[0].len();
    let mut out = vec![MaybeUninit::new(0); len * chunks.len()];
    let mut scratch = Scratch::default();
    report(name, out.len(), || {
        for (stored, place) in stored.iter().zip(out.chunks_exact_mut(len)) {
            black_box(pipeline.decode(stored, 0, &mut scratch, place).expect("decodes"));
        }
    });
}

/// The filter `id`, which is not optional.
fn described(id: u16, parameters: &[u32]) -> Filter {
    Filter { id, name: None, optional: false, parameters: parameters.to_vec() }
}

fn report(name: &str, decoded_bytes: usize, mut run: impl FnMut()) {
    let seconds = (0..REPEATS).map(|_| {
        let start = Instant::now();
        run();
        start.elapsed().as_secs_f64()
    });
    let best = seconds.fold(f64::INFINITY, f64::min);
    println!("{name:28} {:7.2} GB/s", decoded_bytes as f64 / best / 1e9);
}

fn pressure(index: usize) -> f32 {
    let (x, y) = ((index % 1024) as f32, (index / 1024) as f32);
    let noise = (index as u32).wrapping_mul(2_654_435_761) >> 24;
    101_325.0 + 900.0 * (x / 90.0).sin() * (y / 70.0).cos() + noise as f32 / 32.0
}

fn ratio(chunks: &[&[u8]], stored: &[Vec<u8>]) -> f64 {
    let stored: usize = stored.iter().map(Vec::len).sum();
    (chunks.len() * chunks[0].len()) as f64 / stored as f64
}

fn shuffled(bytes: &[u8], size: usize) -> Vec<u8> {
    (0..size).flat_map(|byte| bytes[byte..].iter().step_by(size).copied()).collect()
}

fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::new(4));
    encoder.write_all(bytes).expect("memory does not fail");
    encoder.finish().expect("memory does not fail")
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    let mut encoded = Vec::with_capacity(zstd_safe::compress_bound(bytes.len()));
    zstd_safe::compress(&mut encoded, bytes, 3).expect("there is room");
    encoded
}
