//! Files that are opened for writing: nothing in them changes before something is committed, and what they say
//! decides nothing about how much is written.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use isotach::model::Atomic;
use isotach::model::selection::{Axis, Selection};
use isotach::storage::{Durability, GrowingMemory, Memory, Storage};
use isotach::{
    CreateOptions, EditOptions, ErrorKind, Fill, Format, MissingBytes, OpenOptions,
    VariableOptions, Writer,
};
use isotach_format::hdf5::superblock::Superblock;
use isotach_testkit::writing::Event;
use isotach_testkit::{RecordingStorage, corpus};

fn options() -> EditOptions {
    EditOptions { commit_interval: None, ..EditOptions::default() }
}

fn files(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files(&path, into),
            false => into.push(path),
        }
    }
}

/// Files are opened, read a little and closed, and not one call changes anything.
#[test]
fn nothing_changes_in_files_that_are_opened_and_closed() {
    let Some(corpus) = corpus() else { return };
    let mut paths = Vec::new();
    files(&corpus, &mut paths);
    let (mut opened, mut refused) = (0, Vec::new());
    for path in paths {
        if path.metadata().unwrap().len() > 4 << 20 {
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        let storage = Arc::new(RecordingStorage::new(bytes));
        let name = path.display().to_string();
        match options().open_in(&name, Arc::clone(&storage) as _) {
            Ok(writer) => {
                opened += 1;
                for variable in writer.file().root().variables().unwrap_or_default() {
                    let _ = variable.shape();
                }
                writer.close().unwrap_or_else(|error| panic!("{name}: {error}"));
            }
            Err(error) => {
                let reads = OpenOptions::default().open(&path).is_ok();
                refused.extend(reads.then(|| format!("{name}: {error}")));
            }
        }
        assert_eq!(storage.event_count(), 0, "{name} was changed");
    }
    println!("{opened} files; {} that can only be read:\n{}", refused.len(), refused.join("\n"));
    assert!(opened > 500, "{opened} files");
}

fn selection(start: u64, count: u64) -> Selection {
    Selection { axes: vec![Axis::range(start, count, 1)] }
}

/// A file of `x` (10) and `time`, with a variable along each.
fn small(format: Format) -> Vec<u8> {
    let create = CreateOptions { edit: options(), ..CreateOptions::new(format) };
    let writer = create.create_in_memory("small").unwrap();
    let root = writer.root();
    let x = root.define_dimension("x", Some(10)).unwrap();
    let time = root.define_dimension("time", None).unwrap();
    for (name, along) in [("fixed", x), ("records", time)] {
        let variable =
            root.define_variable(name, Atomic::Int, &[along], VariableOptions::default()).unwrap();
        variable.write_as(&selection(0, 10), &(0..10).collect::<Vec<i32>>()).unwrap();
    }
    root.set_attribute("title", "small").unwrap();
    writer.into_bytes().unwrap().unwrap()
}

#[test]
fn times_of_a_file_that_is_opened_and_closed_stay() {
    let folder = tempfile::tempdir().unwrap();
    for format in [Format::NetCdf4, Format::Classic, Format::Data64Bit] {
        let path = folder.path().join("file");
        std::fs::write(&path, small(format)).unwrap();
        let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        std::fs::File::options().write(true).open(&path).unwrap().set_modified(long_ago).unwrap();
        for durability in [Durability::Process, Durability::Power] {
            EditOptions { durability, ..options() }.open(&path).unwrap().close().unwrap();
            EditOptions { durability, ..options() }.open(&path).unwrap().discard().unwrap();
            drop(EditOptions { durability, ..options() }.open(&path).unwrap());
        }
        assert_eq!(path.metadata().unwrap().modified().unwrap(), long_ago, "{format:?}");
    }
}

/// What a writer leaves that opens these bytes, if it can, and does `work`.
fn left_by(bytes: &[u8], work: impl FnOnce(Writer)) -> (bool, Vec<u8>) {
    left_by_with(&options(), bytes, work)
}

fn left_by_with(options: &EditOptions, bytes: &[u8], work: impl FnOnce(Writer)) -> (bool, Vec<u8>) {
    let storage = Arc::new(GrowingMemory::new(bytes.to_vec()));
    let opened = options.open_in("file", Arc::clone(&storage) as _);
    let is_open = opened.map(work).is_ok();
    (is_open, storage.take_bytes())
}

fn numbers(bytes: &[u8], name: &str) -> Vec<i32> {
    let storage: Arc<dyn Storage> = Arc::new(Memory::new(bytes.to_vec()));
    let file = OpenOptions::default().open_storage("file", storage).unwrap();
    let variable = file.variable(name).unwrap();
    let all = Selection::all(&variable.shape().unwrap());
    variable.read_as(&all).unwrap().0
}

/// A superblock that ends the file too early: at every byte of it.
#[test]
fn a_file_is_not_cut_to_what_it_says() {
    let bytes = small(Format::NetCdf4);
    let superblock = Superblock::decode(&bytes, 0).unwrap();
    assert_eq!(superblock.end_of_file_address, bytes.len() as u64);
    let expected: Vec<i32> = (0..10).collect();
    let mut opened = 0;
    for end in (0..bytes.len() as u64).step_by(7) {
        let mut damaged = bytes.clone();
        let superblock = Superblock { end_of_file_address: end, ..superblock.clone() };
        let superblock = superblock.encode().unwrap();
        damaged[..superblock.len()].copy_from_slice(&superblock);
        let (is_open, left) = left_by(&damaged, |writer| writer.close().unwrap());
        assert!(left == damaged, "opened and closed, end {end}");
        let (_, left) = left_by(&damaged, |writer| writer.discard().unwrap());
        assert!(left == damaged, "opened and given up, end {end}");
        if !is_open {
            continue;
        }
        opened += 1;
        let (_, left) = left_by(&damaged, |writer| {
            let added = writer.root().set_attribute("more", "x".repeat(5000).as_str());
            let _ = added.and_then(|()| writer.close());
        });
        for name in ["fixed", "records"] {
            assert_eq!(numbers(&left, name), expected, "{name}, end {end}");
        }
    }
    assert!(opened > 10, "{opened} opened");
}

/// What stands behind the end of a sound file may be written over after the first commit, and not before.
#[test]
fn bytes_behind_the_end_stay_until_something_is_committed() {
    let bytes = small(Format::NetCdf4);
    let longer = [&bytes[..], &[7; 3000]].concat();
    let (_, left) = left_by(&longer, |writer| {
        let fixed = writer.root().variable("fixed").unwrap().unwrap();
        fixed.write_as(&selection(0, 1), &[0]).unwrap();
        writer.discard().unwrap();
    });
    assert!(left == longer);
    let (_, left) = left_by(&longer, |writer| {
        let fixed = writer.root().variable("fixed").unwrap().unwrap();
        fixed.set_attribute("units", "m").unwrap();
        writer.close().unwrap();
    });
    assert!(left.len() < longer.len() + 1000, "{} bytes", left.len());
    assert_eq!(numbers(&left, "records").len(), 10);
}

/// A classic header of a fixed variable along a dimension of 2^44, and no values.
fn claiming() -> Vec<u8> {
    let create = CreateOptions { edit: options(), ..CreateOptions::new(Format::Data64Bit) };
    let writer = create.create_in_memory("claiming").unwrap();
    let root = writer.root();
    let far = root.define_dimension("far", Some(12345)).unwrap();
    let none = VariableOptions { fill: Fill::None, ..VariableOptions::default() };
    root.define_variable("huge", Atomic::Double, &[far], none).unwrap();
    let mut bytes = writer.into_bytes().unwrap().unwrap();
    let place = bytes.windows(8).position(|at| at == 12345u64.to_be_bytes()).unwrap();
    bytes[place..place + 8].copy_from_slice(&(1u64 << 44).to_be_bytes());
    bytes.truncate(252);
    bytes
}

#[test]
fn what_a_header_claims_is_neither_moved_nor_written() {
    let bytes = claiming();
    let storage = Arc::new(RecordingStorage::new(bytes.clone()));
    // Values that are not there would be zeros from the next commit on, and nobody could tell.
    let refused = options().open_in("file", Arc::clone(&storage) as _).map(drop).unwrap_err();
    assert!(matches!(refused.kind, ErrorKind::MissingBytes { .. }), "{refused}");
    let read = OpenOptions { missing_bytes: Some(MissingBytes::Zeros), ..OpenOptions::default() };
    let options = EditOptions { read, ..options() };
    let writer = options.open_in("file", Arc::clone(&storage) as _).unwrap();
    writer.root().define_dimension("another of a long name", Some(3)).unwrap();
    writer.root().set_attribute("history", "x".repeat(3000).as_str()).unwrap();
    let error = writer.close().unwrap_err().to_string();
    assert!(error.contains("truncated: 140737488"), "{error}");
    assert_eq!(storage.event_count(), 0);
    // What needs nothing that is not there is done.
    let (_, left) = left_by_with(&options, &bytes, |writer| {
        let huge = writer.root().variable("huge").unwrap().unwrap();
        huge.rename("tiny").unwrap();
        writer.close().unwrap();
    });
    assert_eq!(left.len(), bytes.len());
    assert!(left.windows(4).any(|at| at == b"tiny"));
}

/// Values that stand where others do, as damage has it: whoever wrote the ones would change the others.
#[test]
fn a_file_whose_values_lie_over_each_other_can_only_be_read() {
    let sound = small(Format::Classic);
    let numbers_0_to_2: Vec<u8> = (0..3_i32).flat_map(i32::to_be_bytes).collect();
    let fixed = sound.windows(12).position(|at| at == numbers_0_to_2).unwrap() as u32;
    let records = (fixed + 40).to_be_bytes();
    let begin = sound.windows(4).position(|at| at == records).unwrap();
    for over in [0, fixed - 4, fixed, fixed + 36] {
        let mut damaged = sound.clone();
        damaged[begin..begin + 4].copy_from_slice(&over.to_be_bytes());
        let storage = Arc::new(RecordingStorage::new(damaged.clone()));
        let refused = options().open_in("file", Arc::clone(&storage) as _).map(drop).unwrap_err();
        assert!(refused.to_string().contains("within other values"), "{refused}");
        assert_eq!(storage.event_count(), 0);
        assert_eq!(numbers(&damaged, "fixed"), (0..10).collect::<Vec<i32>>());
    }
}

/// Programs make large variables without fill values, and go on to define and write: the file has holes.
#[test]
fn large_variables_without_fill_values_are_defined_and_extended() {
    let folder = tempfile::tempdir().unwrap();
    for format in [Format::Offset64Bit, Format::Data64Bit, Format::NetCdf4] {
        let path = folder.path().join(format!("{format:?}"));
        let create = CreateOptions { edit: options(), ..CreateOptions::new(format) };
        let writer = create.create(&path).unwrap();
        let root = writer.root();
        let far = root.define_dimension("far", Some(200 << 20)).unwrap();
        let none = VariableOptions { fill: Fill::None, ..VariableOptions::default() };
        let huge = root.define_variable("huge", Atomic::Byte, &[far], none).unwrap();
        huge.write_as(&selection((200 << 20) - 1, 1), &[7_i8]).unwrap();
        writer.close().unwrap();
        let writer = options().open(&path).unwrap();
        let x = writer.root().define_dimension("x", Some(3)).unwrap();
        let more =
            writer.root().define_variable("more", Atomic::Int, &[x], VariableOptions::default());
        more.unwrap().write_as(&selection(0, 3), &[1, 2, 3]).unwrap();
        writer.close().unwrap();
        let file = OpenOptions::default().open(&path).unwrap();
        let at = selection((200 << 20) - 1, 1);
        let (last, _) = file.variable("huge").unwrap().read_as::<i8>(&at).unwrap();
        assert_eq!(last, [7], "{format:?}");
    }
}

/// Bytes that were written so far.
fn written(storage: &RecordingStorage) -> usize {
    let recording = storage.recording();
    let bytes =
        |event: &Event| if let Event::Write { bytes, .. } = event { bytes.len() } else { 0 };
    recording.events().iter().map(bytes).sum()
}

/// A commit after each record costs about as much as the record.
#[test]
fn a_commit_after_each_record_does_not_write_its_chunk() {
    let storage = Arc::new(RecordingStorage::new(Vec::new()));
    let create = CreateOptions { edit: options(), ..CreateOptions::default() };
    let writer = create.create_in("file", Arc::clone(&storage) as _).unwrap();
    let root = writer.root();
    let time = root.define_dimension("time", None).unwrap();
    let x = root.define_dimension("x", Some(1000)).unwrap();
    let v =
        root.define_variable("v", Atomic::Float, &[time, x], VariableOptions::default()).unwrap();
    let row =
        |record: u64| Selection { axes: vec![Axis::range(record, 1, 1), Axis::range(0, 1000, 1)] };
    let values = |record: u64| (0..1000).map(|at| (record * 1000 + at) as f32).collect::<Vec<_>>();
    v.write_as(&row(0), &values(0)).unwrap();
    writer.commit().unwrap();
    let (len, before) = (storage.len().unwrap(), written(&storage));
    let records = 60;
    for record in 1..records {
        v.write_as(&row(record), &values(record)).unwrap();
        writer.commit().unwrap();
    }
    let each = (written(&storage) - before) / (records as usize - 1);
    // Two of it are in the record of the commit, one in the chunk, and one was there when the chunk came about.
    assert!(each < 4 * 4000 + 4096, "{each} bytes for a record of 4000");
    let grown = storage.len().unwrap() - len;
    assert!(grown < (records + 8) * 4000 + 16 * 1024, "{grown} bytes");
    writer.close().unwrap();
    let file = OpenOptions::default().open_storage("file", storage).unwrap();
    let v = file.variable("v").unwrap();
    for record in 0..records {
        assert_eq!(v.read_as::<f32>(&row(record)).unwrap().0, values(record), "{record}");
    }
}
