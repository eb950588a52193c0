//! A small classic file, written byte by byte: no other program is needed to make it.

use std::fs;
use std::path::{Path, PathBuf};

/// Where the values begin.
pub const DATA_BEGIN: usize = 128;

/// `dimensions: time = 2, lon = 3; variables: float temp(time, lon), temp:units = "K"`, with the
/// values 0.5, 1.5, ..., 5.5.
pub fn bytes() -> Vec<u8> {
    let mut bytes = b"CDF\x01".to_vec();
    let number = |bytes: &mut Vec<u8>, value: u32| bytes.extend(value.to_be_bytes());
    let text = |bytes: &mut Vec<u8>, text: &str| {
        bytes.extend((text.len() as u32).to_be_bytes());
        bytes.extend(text.bytes());
        bytes.resize(bytes.len().next_multiple_of(4), 0);
    };
    // No records; the list of two dimensions.
    for value in [0, 10, 2] {
        number(&mut bytes, value);
    }
    text(&mut bytes, "time");
    number(&mut bytes, 2);
    text(&mut bytes, "lon");
    number(&mut bytes, 3);
    // No global attributes; the list of one variable.
    for value in [0, 0, 11, 1] {
        number(&mut bytes, value);
    }
    text(&mut bytes, "temp");
    // Its dimensions; the list of one attribute, of chars.
    for value in [2, 0, 1, 12, 1] {
        number(&mut bytes, value);
    }
    text(&mut bytes, "units");
    number(&mut bytes, 2);
    text(&mut bytes, "K");
    // Float, its bytes, its begin.
    for value in [5, 24, DATA_BEGIN as u32] {
        number(&mut bytes, value);
    }
    assert!(bytes.len() <= DATA_BEGIN);
    bytes.resize(DATA_BEGIN, 0);
    bytes.extend((0..6).flat_map(|at| (at as f32 + 0.5).to_be_bytes()));
    bytes
}

/// Writes `bytes` to a file of its own, of that name.
pub fn written(name: &str, bytes: &[u8]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let path = folder.join(name);
    fs::write(&path, bytes).unwrap();
    path
}
