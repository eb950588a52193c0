//! A snapshot shows one state from opening to closing, or says that it is gone: whoever writes the file, and however.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use isotach::model::selection::Selection;
use isotach::model::{Atomic, Values};
use isotach::{
    CreateOptions, EditOptions, ErrorKind, File, Format, OpenOptions, Result, VariableOptions,
};

const FORMATS: [Format; 4] =
    [Format::Classic, Format::Offset64Bit, Format::Data64Bit, Format::NetCdf4];
const COLUMNS: u64 = 30_000;
/// Says which file a process of this test appends to until it ends itself.
const PATH: &str = "ISOTACH_TEST_PATH";

fn by_hand() -> EditOptions {
    EditOptions { commit_interval: None, ..EditOptions::default() }
}

/// A file with a fixed array and records, all of them `number`.
fn create(path: &Path, format: Format, number: i32) {
    let options = CreateOptions { edit: by_hand(), ..CreateOptions::new(format) };
    let writer = options.create(path).unwrap();
    let root = writer.root();
    let x = root.define_dimension("x", Some(COLUMNS)).unwrap();
    let time = root.define_dimension("time", None).unwrap();
    for (name, dimensions) in [("fixed", &[x][..]), ("records", &[time, x])] {
        root.define_variable(name, Atomic::Int, dimensions, VariableOptions::default()).unwrap();
    }
    let values = || Values::I32(vec![number; COLUMNS as usize]);
    root.variable("fixed").unwrap().unwrap().write(&Selection::all(&[COLUMNS]), &values()).unwrap();
    let first = Selection::all(&[1, COLUMNS]);
    root.variable("records").unwrap().unwrap().write(&first, &values()).unwrap();
    root.set_attribute("number", number).unwrap();
    writer.close().unwrap();
}

/// What one session does to the file.
#[derive(Clone, Copy)]
enum Session {
    Append(i32),
    Overwrite(i32),
}

fn run(path: &Path, session: Session) {
    let writer = by_hand().open(path).unwrap();
    let (Session::Append(number) | Session::Overwrite(number)) = session;
    let values = Values::I32(vec![number; COLUMNS as usize]);
    match session {
        Session::Append(_) => {
            let records = writer.root().variable("records").unwrap().unwrap();
            let count = records.variable().unwrap().shape().unwrap()[0];
            let mut next = Selection::all(&[1, COLUMNS]);
            next.axes[0] = isotach::model::selection::Axis::range(count, 1, 1);
            records.write(&next, &values).unwrap();
        }
        Session::Overwrite(_) => {
            let fixed = writer.root().variable("fixed").unwrap().unwrap();
            fixed.write(&Selection::all(&[COLUMNS]), &values).unwrap();
        }
    }
    writer.root().set_attribute("number", number).unwrap();
    writer.close().unwrap();
}

fn snapshot(path: &Path) -> File {
    OpenOptions { snapshot: true, ..OpenOptions::default() }.open(path).unwrap()
}

/// The number of the commit that is shown, which all of it is of.
fn look(file: &File) -> Result<i32> {
    let Values::I32(number) = file.root().attribute("number")?.unwrap().values()? else { panic!() };
    for name in ["fixed", "records"] {
        let variable = file.variable(name)?;
        let found = variable.read(&Selection::all(&variable.shape()?))?;
        assert_eq!(found, Values::I32(vec![number[0]; COLUMNS as usize]), "{name}");
    }
    Ok(number[0])
}

/// That it is gone, and not another one's values.
fn assert_gone(file: &File, what: &str) {
    // Others are looked for every millisecond.
    sleep(Duration::from_millis(3));
    let error = look(file).expect_err(what);
    assert!(matches!(error.kind, ErrorKind::Changed), "{what}: {error}");
}

/// Whether the file system of the temporary folder keeps notes beside files. Without them, more snapshots are told that
/// they are gone.
fn keeps_notes(folder: &tempfile::TempDir) -> bool {
    let path = folder.path().join("noted");
    let file = fs::File::create(&path).unwrap();
    let outcome = rustix::fs::fsetxattr(&file, "user.a", b"b", rustix::fs::XattrFlags::empty());
    if outcome.is_err() {
        println!("left out: the file system keeps no extended attributes: {outcome:?}");
    }
    outcome.is_ok()
}

fn in_each_format(test: impl Fn(&Path, Format)) {
    let folder = tempfile::tempdir().unwrap();
    for format in FORMATS {
        let path = folder.path().join("file.nc");
        create(&path, format, 7);
        test(&path, format);
        fs::remove_file(&path).unwrap();
    }
}

#[test]
fn records_that_sessions_append_leave_it_alone() {
    if !keeps_notes(&tempfile::tempdir().unwrap()) {
        return;
    }
    in_each_format(|path, format| {
        let file = snapshot(path);
        for number in 8..12 {
            run(path, Session::Append(number));
            assert_eq!(look(&file).unwrap(), 7, "{format}");
        }
    });
}

#[test]
fn a_session_that_overwrites_is_told_or_not_seen() {
    in_each_format(|path, format| {
        let (early, again) = (snapshot(path), snapshot(path));
        assert_eq!(look(&early).unwrap(), 7);
        run(path, Session::Overwrite(8));
        match format {
            Format::NetCdf4 => assert_eq!(look(&early).unwrap(), 7),
            _ => assert_gone(&early, "overwritten by a session"),
        }
        run(path, Session::Overwrite(7));
        match format {
            Format::NetCdf4 => assert_eq!(look(&again).unwrap(), 7),
            _ => assert_gone(&again, "overwritten twice"),
        }
        let late = snapshot(path);
        assert_eq!(look(&late).unwrap(), 7, "{format}");
    });
}

/// Writes all of `bytes` over the file, as programs do that lock nothing.
fn overwrite_by_another_program(path: &Path, bytes: &[u8]) {
    // The file's time goes by the kernel's clock, which stands still for some milliseconds.
    sleep(Duration::from_millis(20));
    let file = fs::File::options().write(true).open(path).unwrap();
    file.write_all_at(bytes, 0).unwrap();
    sleep(Duration::from_millis(20));
}

#[test]
fn what_another_program_overwrites_is_told() {
    in_each_format(|path, format| {
        let other = path.with_extension("other");
        create(&other, format, 9);
        let bytes = fs::read(&other).unwrap();
        let (first, second) = (snapshot(path), snapshot(path));
        assert_eq!(look(&first).unwrap(), 7);
        overwrite_by_another_program(path, &bytes);
        assert_gone(&first, "written by another program");
        run(path, Session::Append(9));
        assert_gone(&second, "written by another program, then by ours");
        // Whoever opens it now is told of the next one, too.
        let third = snapshot(path);
        overwrite_by_another_program(path, &bytes);
        assert_gone(&third, "written by another program again");
    });
}

/// The part of a process that is killed at work; as a test, nothing.
#[test]
fn part() {
    let Some(path) = std::env::var_os(PATH).map(PathBuf::from) else { return };
    let writer = by_hand().open(&path).unwrap();
    let records = writer.root().variable("records").unwrap().unwrap();
    for count in 1..4 {
        let mut next = Selection::all(&[1, COLUMNS]);
        next.axes[0] = isotach::model::selection::Axis::range(count, 1, 1);
        records.write(&next, &Values::I32(vec![5; COLUMNS as usize])).unwrap();
        if count < 3 {
            writer.commit().unwrap();
        }
    }
    std::process::abort();
}

#[test]
fn a_writer_that_is_killed_leaves_it_alone() {
    if !keeps_notes(&tempfile::tempdir().unwrap()) {
        return;
    }
    in_each_format(|path, format| {
        let (file, later) = (snapshot(path), snapshot(path));
        let mut part = Command::new(std::env::current_exe().unwrap());
        part.args(["--exact", "part"]).env(PATH, path).stdout(Stdio::null()).stderr(Stdio::null());
        assert!(!part.status().unwrap().success());
        sleep(Duration::from_millis(3));
        assert_eq!(look(&file).unwrap(), 7, "{format}");
        run(path, Session::Append(6));
        sleep(Duration::from_millis(3));
        assert_eq!(look(&later).unwrap(), 7, "{format}");
    });
}

#[test]
fn nothing_is_noted_of_files_that_only_ours_have_written() {
    let folder = tempfile::tempdir().unwrap();
    if !keeps_notes(&folder) {
        return;
    }
    let noted = |path: &Path| {
        let mut memory = [0; 200];
        rustix::fs::getxattr(path, "user.isotach", &mut memory[..]).is_ok()
    };
    in_each_format(|path, format| {
        run(path, Session::Append(8));
        assert!(!noted(path), "{format}");
        run(path, Session::Overwrite(8));
        assert_eq!(noted(path), format != Format::NetCdf4, "{format}");
    });
}
