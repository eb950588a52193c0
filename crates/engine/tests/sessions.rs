//! Writers over time: what is in the file when, and what stays of one that gives up.

use std::path::Path;
use std::time::{Duration, Instant};

use isotach::model::Atomic;
use isotach::model::selection::{Axis, Selection};
use isotach::{
    CreateOptions, EditOptions, ErrorKind, File, Format, HeaderRoom, Overwrite, VariableOptions,
    Writer,
};

/// How many records the writer writes that a reader follows.
const RECORDS: i32 = 400;

const FORMATS: [Format; 2] = [Format::NetCdf4, Format::Classic];

/// Options without commits that nobody asks for.
fn quiet(format: Format) -> CreateOptions {
    let mut options = CreateOptions::new(format);
    options.edit.commit_interval = None;
    options
}

/// Defines the variable `v` along an unlimited dimension.
fn define(writer: &Writer) {
    let t = writer.root().define_dimension("t", None).unwrap();
    let options = VariableOptions::default();
    writer.root().define_variable("v", Atomic::Int, &[t], options).unwrap();
}

/// Writes the elements `first..last`, whose values are their indices.
fn append(writer: &Writer, first: i32, last: i32) -> isotach::Result<()> {
    let variable = writer.root().variable("v")?.unwrap();
    let axes = vec![Axis::range(first as u64, (last - first) as u64, 1)];
    let numbers: Vec<i32> = (first..last).collect();
    variable.write_as(&Selection { axes }, &numbers).map(drop)
}

/// The values of `v`, or none where there is no such variable.
fn values(file: &File) -> Vec<i32> {
    let Ok(variable) = file.variable("v") else { return Vec::new() };
    let selection = Selection::all(&variable.shape().unwrap());
    variable.read_as::<i32>(&selection).unwrap().0
}

fn count(path: &Path) -> usize {
    values(&File::open(path).unwrap()).len()
}

/// Waits for at most a minute, and then says `what` there is.
fn wait_until(mut is_so: impl FnMut() -> bool, what: impl Fn() -> String) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{}", what());
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until the file has `expected` values.
fn wait_for(path: &Path, expected: usize) {
    wait_until(|| count(path) == expected, || format!("{} of {expected}", count(path)));
}

#[test]
fn an_idle_writer_commits_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    for format in FORMATS {
        let path = folder.path().join(format!("{format:?}.nc"));
        let mut options = CreateOptions::new(format);
        options.edit.commit_interval = Some(Duration::from_millis(30));
        let writer = options.create(&path).unwrap();
        define(&writer);
        for last in [3, 7] {
            append(&writer, 0, last).unwrap();
            wait_for(&path, last as usize);
        }
        // What comes after the last of these commits is lost; no thread comes back to it.
        writer.discard().unwrap();
        assert_eq!(count(&path), 7);
        drop(EditOptions::default().open(&path).unwrap());
    }
}

#[test]
fn commits_wait_while_they_are_held() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("held.nc");
    let mut options = CreateOptions::new(Format::Classic);
    options.edit.commit_interval = Some(Duration::from_millis(5));
    let writer = options.create(&path).unwrap();
    writer.hold_commits(true);
    define(&writer);
    append(&writer, 0, 3).unwrap();
    std::thread::sleep(Duration::from_millis(60));
    assert_eq!(count(&path), 0);
    writer.hold_commits(false);
    wait_for(&path, 3);
}

#[test]
fn the_end_of_definitions_makes_room_in_classic_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("room.nc");
    let room = HeaderRoom { header_free: 1000, record_alignment: 512, ..HeaderRoom::default() };
    let writer = quiet(Format::Classic).create(&path).unwrap();
    define(&writer);
    append(&writer, 0, 3).unwrap();
    // What was put by then moves behind the room.
    writer.end_definitions(room).unwrap();
    append(&writer, 3, 4).unwrap();
    writer.commit().unwrap();
    assert_eq!(values(&File::open(&path).unwrap()), [0, 1, 2, 3]);
    assert_eq!(std::fs::metadata(&path).unwrap().len(), 1536 + 4 * 4);
    // The room is as large as it was said last, and not made anew for each definition.
    writer.root().set_attribute("a", "b").unwrap();
    writer.end_definitions(HeaderRoom::default()).unwrap();
    writer.close().unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().len(), 1536 + 4 * 4);
}

#[test]
fn the_end_of_definitions_tells_what_the_format_cannot_hold() {
    let writer = quiet(Format::Classic).create_in_memory("large").unwrap();
    let root = writer.root();
    let x = root.define_dimension("x", Some(1 << 30)).unwrap();
    for name in ["v", "w"] {
        let options = VariableOptions::default();
        root.define_variable(name, Atomic::Int, &[x], options).unwrap();
    }
    let ended = writer.end_definitions(HeaderRoom::default());
    assert!(matches!(ended.unwrap_err().kind, ErrorKind::Format(_)));
    writer.discard().unwrap();
}

#[test]
fn dropping_a_writer_ends_its_commits() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dropped.nc");
    let mut options = CreateOptions::default();
    options.edit.commit_interval = Some(Duration::ZERO);
    for last in 1..50 {
        let writer = options.create(&path).unwrap();
        define(&writer);
        append(&writer, 0, last).unwrap();
        drop(writer);
        // The lock is free at once, whatever the other thread was doing.
        let writer = Writer::open(&path).unwrap();
        assert_eq!(values(&writer.file()).len(), last as usize);
    }
}

#[test]
fn without_an_interval_nothing_is_committed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("quiet.nc");
    let writer = quiet(Format::NetCdf4).create(&path).unwrap();
    define(&writer);
    append(&writer, 0, 3).unwrap();
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(count(&path), 0);
    writer.close().unwrap();
    assert_eq!(count(&path), 3);
}

#[test]
fn what_is_discarded_is_not_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    for format in FORMATS {
        let path = folder.path().join(format!("{format:?}.nc"));
        let writer = quiet(format).create(&path).unwrap();
        define(&writer);
        append(&writer, 0, 3).unwrap();
        writer.commit().unwrap();
        let committed_bytes = std::fs::metadata(&path).unwrap().len();
        append(&writer, 3, 500_000).unwrap();
        writer.root().set_attribute("title", "never").unwrap();
        writer.root().variable("v").unwrap().unwrap().rename("w").unwrap();
        let file = writer.file();
        writer.clone().discard().unwrap();
        assert!(std::fs::metadata(&path).unwrap().len() <= committed_bytes, "{format:?}");
        assert_eq!(values(&File::open(&path).unwrap()), [0, 1, 2]);
        let left = File::open(&path).unwrap().root().attribute("title").unwrap();
        assert!(left.is_none());
        assert!(matches!(file.format().unwrap_err().kind, ErrorKind::Closed));
        // A second time, and closing, is no error.
        writer.clone().discard().unwrap();
        writer.close().unwrap();

        let writer = quiet(format).edit.open(&path).unwrap();
        append(&writer, 3, 9).unwrap();
        writer.discard().unwrap();
        assert_eq!(count(&path), 3);
    }
}

#[test]
fn a_new_file_that_is_discarded_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new.nc");
    let writer = quiet(Format::NetCdf4).create(&path).unwrap();
    define(&writer);
    writer.discard().unwrap();
    assert!(!path.exists());
    // One that was emptied stays, empty.
    std::fs::write(&path, b"something else").unwrap();
    let writer = quiet(Format::NetCdf4).create(&path).unwrap();
    define(&writer);
    writer.discard().unwrap();
    assert_eq!(count(&path), 0);
}

#[test]
fn only_closing_puts_a_file_in_the_place_of_another() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("replaced.nc");
    let create = |last| {
        let options = CreateOptions { overwrite: Overwrite::Replace, ..quiet(Format::NetCdf4) };
        let writer = options.create(&path).unwrap();
        define(&writer);
        append(&writer, 0, last).unwrap();
        writer
    };
    create(5).close().unwrap();
    drop(create(8));
    create(9).discard().unwrap();
    let writer = create(7);
    writer.commit().unwrap();
    assert_eq!(count(&path), 5);
    writer.close().unwrap();
    assert_eq!(count(&path), 7);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn refreshing_shows_the_newest_commit() {
    let folder = tempfile::tempdir().unwrap();
    for format in FORMATS {
        let path = folder.path().join(format!("{format:?}.nc"));
        let writer = quiet(format).create(&path).unwrap();
        define(&writer);
        append(&writer, 0, 3).unwrap();
        writer.commit().unwrap();
        let mut file = File::open(&path).unwrap();
        let before = file.variable("v").unwrap();
        assert_eq!(values(&file), [0, 1, 2]);
        for last in 4..30 {
            if last == 6 && format == Format::NetCdf4 {
                // Handles from before are those of the state that they were found in, and its values
                // stay for two commits.
                assert_eq!(before.shape().unwrap(), [3]);
                assert_eq!(before.read_as::<i32>(&Selection::all(&[3])).unwrap().0, [0, 1, 2]);
            }
            append(&writer, last - 1, last).unwrap();
            writer.root().set_attribute("last", last).unwrap();
            // What is not committed is nothing new.
            assert!(file.refresh().is_ok());
            assert_eq!(values(&file).len(), last as usize - 1, "{format:?}");
            writer.commit().unwrap();
            assert!(file.refresh().unwrap());
            assert_eq!(values(&file), (0..last).collect::<Vec<_>>(), "{format:?}");
            assert!(file.root().attribute("last").unwrap().is_some());
        }
        assert!(!writer.file().refresh().unwrap());
        writer.close().unwrap();
        wait_until_still(&mut file);
        assert!(!file.refresh().unwrap());

        // Another file in its place, of the same length and with the same times.
        let other = folder.path().join("other.nc");
        std::fs::copy(&path, &other).unwrap();
        std::fs::rename(&other, &path).unwrap();
        assert!(file.refresh().unwrap());
        std::fs::remove_file(&path).unwrap();
        assert!(matches!(file.refresh().unwrap_err().kind, ErrorKind::Open(_)));
        assert_eq!(values(&file).len(), 29);
    }
}

/// Waits until nothing is read anew any more.
fn wait_until_still(file: &mut File) {
    wait_until(|| !file.refresh().unwrap(), || "it is read anew again and again".to_owned());
}

#[test]
fn a_reader_follows_a_writer() {
    let folder = tempfile::tempdir().unwrap();
    for format in FORMATS {
        let path = folder.path().join(format!("{format:?}.nc"));
        let writer = quiet(format).create(&path).unwrap();
        define(&writer);
        writer.commit().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for last in 1..=RECORDS {
                    append(&writer, last - 1, last).unwrap();
                    // Some of what is there is written again, with the same values.
                    append(&writer, last / 2, last).unwrap();
                    writer.commit().unwrap();
                }
                writer.clone().close().unwrap();
            });
            follow(&path);
        });
    }
}

/// Reads the file again and again while it is written, until it is whole.
fn follow(path: &Path) {
    let mut file = File::open(path).unwrap();
    let mut last = 0;
    while last < RECORDS as usize {
        let seen = file.refresh().and_then(|_| {
            let variable = file.variable("v")?;
            let selection = Selection::all(&variable.shape()?);
            Ok(variable.read_as::<i32>(&selection)?.0)
        });
        match seen {
            Ok(seen) => {
                assert!(seen.iter().copied().eq(0..seen.len() as i32), "{seen:?}");
                assert!(seen.len() >= last, "{} after {last}", seen.len());
                last = seen.len();
            }
            // What a commit has changed since then is found by the next refresh.
            Err(error) => assert!(matches!(error.kind, ErrorKind::Changed), "{error}"),
        }
    }
}
