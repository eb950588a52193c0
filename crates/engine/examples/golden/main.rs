//! Prints what is found in a file as JSON, by the rules of the corpus (its `GOLDEN.md`), so that
//! the corpus's `compare.py` can hold it against what the reference libraries found.
//!
//! `golden FILE` prints one object: section `netcdf` through the netCDF model, and for HDF5 files
//! section `hdf5` through HDF5's own view.

mod digest;
mod hdf5;
mod netcdf;

use std::process::ExitCode;

use isotach::File;
use serde_json::{Value, json};

/// The walks recurse, and files of the corpus are nested as deep as the engine allows.
const STACK_BYTES: usize = 256 << 20;

fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("usage: golden FILE");
        return ExitCode::from(2);
    };
    let work = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || summary(&path));
    match work.map(std::thread::JoinHandle::join) {
        Ok(Ok(Ok(summary))) => {
            println!("{summary}");
            ExitCode::SUCCESS
        }
        Ok(Ok(Err(error))) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
        Ok(Err(_)) | Err(_) => ExitCode::FAILURE,
    }
}

fn summary(path: &str) -> std::io::Result<Value> {
    let bytes = std::fs::read(path)?;
    let kind = kind(&bytes);
    let mut summary =
        json!({ "size": bytes.len(), "sha256": digest::of_bytes(&bytes), "kind": kind });
    drop(bytes);
    let file = File::open(path);
    let open_error =
        |error: &isotach::Error| json!({ "open_error": true, "_msg": error.to_string() });
    summary["netcdf"] = match &file {
        Ok(file) => netcdf::section(file).unwrap_or_else(|error| open_error(&error)),
        Err(error) => open_error(error),
    };
    if kind == "hdf5" {
        summary["hdf5"] = match &file {
            Ok(file) => file.hdf5().map_or(Value::Null, hdf5::section),
            Err(error) => open_error(error),
        };
    }
    Ok(summary)
}

fn kind(bytes: &[u8]) -> &'static str {
    match bytes {
        [b'C', b'D', b'F', 1, ..] => return "classic",
        [b'C', b'D', b'F', 2, ..] => return "64-bit offset",
        [b'C', b'D', b'F', 5, ..] => return "64-bit data",
        _ => {}
    }
    let mut offset = 0;
    while let Some(at) = bytes.get(offset..) {
        if at.starts_with(b"\x89HDF\r\n\x1a\n") {
            return "hdf5";
        }
        offset = if offset == 0 { 512 } else { offset * 2 };
    }
    "unknown"
}
