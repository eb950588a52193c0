//! What opening and listing files ask of storage.
//!
//! Those of netCDF-C are written by `tests/make_data.py` with netCDF4; where there is no Python that has
//! it (`ISOTACH_PYTHON`, the checkout's `.venv`, `python3`), that is said aloud and left out.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use isotach::model::Atomic;
use isotach::model::selection::{Axis, Selection};
use isotach::{CreateOptions, FilterRequest, Format, OpenOptions, VariableOptions};
use isotach_testkit::{CountingStorage, Random};

const LOCAL: u64 = 16 << 10;
const REMOTE: u64 = 512 << 10;
/// What opening may read beside the superblock and the root group's header.
const OPENING_BYTES: u64 = 4 << 10;

fn checkout() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A file of this kind, made once, or a word that the test is left out.
fn made(kind: &'static str) -> Option<Vec<u8>> {
    static MADE: Mutex<BTreeMap<&str, Option<Vec<u8>>>> = Mutex::new(BTreeMap::new());
    let mut made = MADE.lock().unwrap();
    made.entry(kind).or_insert_with(|| make(kind)).clone()
}

fn make(kind: &str) -> Option<Vec<u8>> {
    let path = std::env::temp_dir().join(format!("isotach-{}-{kind}.nc", std::process::id()));
    let own = std::env::var_os("ISOTACH_PYTHON").map(PathBuf::from);
    let usual = [checkout().join(".venv/bin/python"), PathBuf::from("python3")];
    let is_made = own.into_iter().chain(usual).any(|python| {
        let script = checkout().join("tests/make_data.py");
        let output = Command::new(python).arg(script).arg(kind).arg(&path).output();
        output.is_ok_and(|output| output.status.success())
    });
    let bytes = std::fs::read(&path).ok();
    let _ = std::fs::remove_file(&path);
    if !is_made || bytes.is_none() {
        println!("left out: no Python with netCDF4");
        return None;
    }
    bytes
}

fn total(reads: &[(u64, u64)]) -> u64 {
    reads.iter().map(|(_, length)| length).sum()
}

#[test]
fn opening_reads_the_root_header_and_little_else() {
    let Some(bytes) = made("many-variables") else { return };
    let storage = Arc::new(CountingStorage::new(bytes, LOCAL));
    let file = OpenOptions::default().open_storage("many.nc", storage.clone()).unwrap();
    let reads = storage.take_reads();
    let root = file.hdf5().unwrap().root().node().header().byte_len();
    println!("opening: {reads:?}, the root header has {root} bytes");
    assert!(total(&reads) <= OPENING_BYTES + root, "{reads:?}");
    assert!(reads.len() <= 2, "{reads:?}");
}

#[test]
fn one_variable_of_many_is_found_by_its_name_alone() {
    let Some(bytes) = made("many-variables") else { return };
    let len = bytes.len() as u64;
    for (cost, most_bytes, most_reads) in [(LOCAL, 128 << 10, 1000), (REMOTE, 2 << 20, 16)] {
        let storage = Arc::new(CountingStorage::new(bytes.clone(), cost));
        let file = OpenOptions::default().open_storage("many.nc", storage.clone()).unwrap();
        storage.take_reads();
        let variable = file.variable("v07777").unwrap();
        let dimensions = variable.dimensions().unwrap();
        let names: Vec<_> = dimensions.iter().map(|dimension| dimension.name()).collect();
        assert_eq!((names, dimensions[1].len().unwrap()), (vec!["time", "x"], 8));
        assert_eq!(variable.attributes().unwrap().len(), 3);
        assert_eq!(variable.data_type().atomic(), Some(isotach::model::Atomic::Float));
        let reads = storage.take_reads();
        println!("one variable at {cost}: {} bytes in {reads:?}", total(&reads));
        assert!(total(&reads) <= most_bytes, "{} bytes in {reads:?}", total(&reads));
        assert!(cost == LOCAL || reads.len() <= 13, "{reads:?}");
        // How long an unlimited dimension is depends on all variables along it.
        assert_eq!(variable.shape().unwrap(), [0, 8]);
        let reads = storage.take_reads();
        println!("all lengths at {cost}: {} of {len} in {} reads", total(&reads), reads.len());
        assert!(total(&reads) <= len + len / 8, "{} bytes in {reads:?}", total(&reads));
        assert!(reads.len() <= most_reads, "{reads:?}");
    }
}

/// Opens and lists a file of `kind`: the reads, and the file's length.
fn listed(kind: &'static str, variable_count: usize) -> Option<(Vec<(u64, u64)>, u64)> {
    let bytes = made(kind)?;
    let len = bytes.len() as u64;
    let storage = Arc::new(CountingStorage::new(bytes, REMOTE));
    let file = OpenOptions::default().open_storage(kind, storage.clone()).unwrap();
    let variables = file.root().variables().unwrap();
    assert_eq!(variables.len(), variable_count);
    for variable in &variables {
        assert!(!variable.shape().unwrap().is_empty());
        assert!(variable.attributes().unwrap().iter().all(|found| found.values().is_ok()));
    }
    let reads = storage.take_reads();
    println!("{kind}: {} of {len} bytes in {} reads: {reads:?}", total(&reads), reads.len());
    Some((reads, len))
}

#[test]
fn listing_everything_over_a_costly_storage_takes_a_handful_of_reads() {
    for (kind, count, most) in
        [("some-variables", 200, 1), ("many-attributes", 2000, 2), ("many-variables", 10_000, 4)]
    {
        let Some((reads, len)) = listed(kind, count) else { return };
        assert!(reads.len() <= most, "{kind}: {reads:?}");
        assert!(total(&reads) <= len + len / 10, "{kind}: bytes were read twice: {reads:?}");
    }
}

#[test]
fn little_is_read_of_data_between_islands_of_structures() {
    let Some((reads, _)) = listed("islands", 12) else { return };
    assert!(reads.len() <= 12, "{reads:?}");
    assert!(total(&reads) <= 2 * REMOTE * 12, "{reads:?}");
}

/// 40 variables of 256 KiB each, with ten attributes, in two groups; each is defined and written before
/// the next, as by programs that have one at a time, and all are appended to.
fn written_one_after_the_other() -> Vec<u8> {
    let options = CreateOptions::new(Format::NetCdf4);
    let writer = options.create_in_memory("one after the other").unwrap();
    let x = writer.root().define_dimension("x", Some(64)).unwrap();
    let mut random = Random::new(7);
    let mut variables = Vec::new();
    for group in ["a", "b"] {
        let group = writer.root().define_group(group).unwrap();
        let time = group.define_dimension("time", None).unwrap();
        for number in 0..20 {
            let storage = VariableOptions {
                chunk_shape: Some(vec![128, 64]),
                filters: vec![FilterRequest::Deflate { level: 1 }],
                ..VariableOptions::default()
            };
            let name = format!("v{number}");
            let variable =
                group.define_variable(&name, Atomic::Float, &[time, x], storage).unwrap();
            for attribute in 0..10 {
                variable
                    .set_attribute(&format!("attribute{attribute}"), "a text of some words")
                    .unwrap();
            }
            let numbers: Vec<u32> = (0..1024 * 64).map(|_| random.number() as u32).collect();
            let axes = vec![Axis::range(0, 1024, 1), Axis::range(0, 64, 1)];
            variable.write_as(&Selection { axes }, &numbers).unwrap();
            variables.push(variable);
        }
    }
    for variable in variables {
        let axes = vec![Axis::range(1024, 1, 1), Axis::range(0, 64, 1)];
        variable.write_as(&Selection { axes }, &[1_u32; 64]).unwrap();
    }
    writer.into_bytes().unwrap().unwrap()
}

#[test]
fn structures_of_a_file_that_is_written_here_lie_together() {
    let bytes = written_one_after_the_other();
    let len = bytes.len() as u64;
    let storage = Arc::new(CountingStorage::new(bytes, REMOTE));
    let file = OpenOptions::default().open_storage("written", storage.clone()).unwrap();
    for group in file.root().groups().unwrap() {
        for variable in group.variables().unwrap() {
            assert_eq!(variable.shape().unwrap(), [1025, 64]);
            assert_eq!(variable.attributes().unwrap().len(), 10);
            assert!(variable.attributes().unwrap().iter().all(|found| found.values().is_ok()));
            assert!(variable.storage().unwrap().chunk_shape.is_some());
        }
    }
    let reads = storage.take_reads();
    println!("written: {} of {len} bytes in {} reads: {reads:?}", total(&reads), reads.len());
    // One for what stands at either end.
    assert!(reads.len() <= 2, "{reads:?}");
}
