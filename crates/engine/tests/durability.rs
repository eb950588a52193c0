//! What `Durability::Power` promises: a commit that returned survives a loss of power.

use std::sync::Arc;

use isotach::model::Atomic;
use isotach::model::selection::{Axis, Selection};
use isotach::storage::{Durability, Memory};
use isotach::{
    CreateOptions, EditOptions, Format, OpenOptions, StorageKind, VariableOptions, VariableWriter,
};
use isotach_testkit::RecordingStorage;
use isotach_testkit::writing::Event;

const FORMATS: [Format; 4] =
    [Format::Classic, Format::Offset64Bit, Format::Data64Bit, Format::NetCdf4];
/// More than is copied for a commit, and less.
const LENGTHS: [u64; 2] = [20_000, 100];

fn range(start: u64, count: u64) -> Selection {
    Selection { axes: vec![Axis::range(start, count, 1)] }
}

fn options(durability: Durability) -> EditOptions {
    EditOptions { durability, commit_interval: None, ..EditOptions::default() }
}

/// A file of one variable `v` of this length, all of it written.
fn sample(format: Format, len: u64, unlimited: bool) -> Vec<u8> {
    let writer = CreateOptions::new(format).create_in_memory("test").unwrap();
    let root = writer.root();
    let x = root.define_dimension("x", (!unlimited).then_some(len)).unwrap();
    let layout = (!unlimited).then_some(StorageKind::Contiguous);
    let options = VariableOptions { layout, ..VariableOptions::default() };
    let variable = root.define_variable("v", Atomic::Int, &[x], options).unwrap();
    variable.write_as(&range(0, len), &vec![1; len as usize]).unwrap();
    writer.into_bytes().unwrap().unwrap()
}

/// Overwrites some values in place, commits, and has power fail; `see` gets what is left of these values.
fn overwrite(
    bytes: Vec<u8>,
    durability: Durability,
    write: impl Fn(&VariableWriter),
    mut see: impl FnMut(Vec<i32>),
) -> Vec<Event> {
    let storage = Arc::new(RecordingStorage::new(bytes));
    let writer = options(durability).open_in("test", Arc::clone(&storage) as _).unwrap();
    let variable = writer.root().variable("v").unwrap().unwrap();
    // The first commit may change what only the opening left to be changed.
    variable.write_as(&range(0, 1), &[5]).unwrap();
    writer.commit().unwrap();
    write(&variable);
    writer.commit().unwrap();
    let committed = storage.event_count();
    let recording = storage.recording();
    recording.power_loss_images(1, 20, |image| {
        // Without its promise anything may be lost.
        if image.events == committed && durability == Durability::Power {
            let memory = Arc::new(Memory::new(image.bytes.clone()));
            let file = OpenOptions::default().open_storage("test", memory).unwrap();
            see(file.variable("v").unwrap().read_as::<i32>(&range(3, 4)).unwrap().0);
        }
    });
    recording.events().to_vec()
}

#[test]
fn values_that_are_overwritten_in_place_survive_a_loss_of_power() {
    for format in FORMATS {
        for (len, unlimited) in LENGTHS.into_iter().flat_map(|len| [(len, false), (len, true)]) {
            let bytes = sample(format, len, unlimited);
            let write = |variable: &VariableWriter| {
                variable.write_as(&range(3, 4), &[7, 8, 9, 10]).unwrap();
            };
            let what = format!("{format:?} {len} {unlimited}");
            let mut seen = 0;
            let events = overwrite(bytes.clone(), Durability::Power, write, |values| {
                assert_eq!(values, [7, 8, 9, 10], "{what}");
                seen += 1;
            });
            assert!(seen > 0 && events.contains(&Event::Sync), "{what}");
            // Nobody waits for the disk who did not ask for that.
            let events = overwrite(bytes, Durability::Process, write, drop);
            assert!(!events.contains(&Event::Sync), "{what}");
        }
    }
}

#[test]
fn a_commit_of_nothing_waits_for_nothing() {
    for format in FORMATS {
        let storage = Arc::new(RecordingStorage::new(sample(format, 20_000, false)));
        let writer = options(Durability::Power).open_in("test", Arc::clone(&storage) as _).unwrap();
        let variable = writer.root().variable("v").unwrap().unwrap();
        variable.write_as(&range(0, 1), &[5]).unwrap();
        writer.commit().unwrap();
        let before = storage.event_count();
        if format == Format::NetCdf4 {
            writer.commit().unwrap();
            assert_eq!(storage.event_count(), before, "{format:?}");
        }
        variable.write_as(&range(1, 1), &[6]).unwrap();
        writer.commit().unwrap();
        let events = storage.recording().events()[before..].to_vec();
        assert!(events.contains(&Event::Sync), "{format:?}");
    }
}
