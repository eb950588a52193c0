//! Ids of files that others write meanwhile: every call is of one committed state, and never of an older one than
//! the call before.

mod support;

use std::ffi::c_int;
use std::ptr::null_mut;

use isotach::model::Atomic;
use isotach::model::selection::{Axis, Selection};
use isotach::{CreateOptions, EditOptions, Format, GroupWriter, VariableOptions, Writer};
use support::*;

const COMMITS: u64 = 60;

fn create(path: &std::path::Path, format: Format) -> Writer {
    let edit = EditOptions { commit_interval: None, ..EditOptions::default() };
    let writer = CreateOptions { edit, ..CreateOptions::new(format) }.create(path).unwrap();
    let root = writer.root();
    let time = root.define_dimension("time", None).unwrap();
    for name in ["first", "second"] {
        root.define_variable(name, Atomic::Int, &[time], VariableOptions::default()).unwrap();
    }
    append(&root, 0);
    writer.commit().unwrap();
    writer
}

/// Record `number` of both variables, and the same as an attribute.
fn append(root: &GroupWriter, number: u64) {
    for (name, offset) in [("first", 0), ("second", 1000)] {
        let at = Selection { axes: vec![Axis::range(number, 1, 1)] };
        let value = i32::try_from(number + offset).unwrap();
        root.variable(name).unwrap().unwrap().write_as(&at, &[value]).unwrap();
    }
    root.set_attribute("number", i32::try_from(number).unwrap()).unwrap();
}

fn open(path: &std::path::Path) -> c_int {
    let mut id = 0;
    // SAFETY: a string and a place for an id.
    assert_eq!(unsafe { nc_open(c_path(path).as_ptr(), 0, &mut id) }, 0);
    id
}

/// The length, the values, and the attribute; each of them by a call of its own.
fn look(id: c_int) -> [usize; 3] {
    let (mut len, mut number) = (0, 0);
    // SAFETY: places for what is asked for, of which there are as many as the length before says.
    unsafe {
        assert_eq!(nc_inq_dimlen(id, 0, &mut len), 0);
        for (variable, offset) in [(0, 0), (1, 1000)] {
            let mut values = vec![-1_i32; len];
            assert_eq!(nc_get_vara_int(id, variable, &0, &len, values.as_mut_ptr()), 0);
            let expected: Vec<i32> = (0..).map(|value| value + offset).take(len).collect();
            assert_eq!(values, expected);
        }
        assert_eq!(nc_get_att_int(id, -1, c"number".as_ptr(), &mut number), 0);
        let mut later = 0;
        assert_eq!(nc_inq_dimlen(id, 0, &mut later), 0);
        [len, usize::try_from(number).unwrap() + 1, later]
    }
}

#[test]
fn a_reader_moves_on_and_never_back() {
    for format in [Format::NetCdf4, Format::Data64Bit] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file.nc");
        let writer = create(&path, format);
        // The first is looked at all the time, the others are opened and looked at many commits later.
        let held = open(&path);
        let mut waiting = Vec::new();
        let mut latest = 1;
        for number in 1..COMMITS {
            if number % 10 == 1 {
                waiting.push(open(&path));
            }
            append(&writer.root(), number);
            writer.commit().unwrap();
            for seen in look(held) {
                assert!(seen >= latest, "{seen} after {latest}");
                latest = seen;
            }
        }
        writer.close().unwrap();
        for id in waiting.into_iter().chain([held]) {
            let [len, ..] = look(id);
            assert!(len >= 1);
            assert_eq!(nc_sync(id), 0);
            assert_eq!(look(id), [COMMITS as usize; 3]);
            assert_eq!(nc_close(id), 0);
        }
    }
}

#[test]
fn a_file_whose_ids_are_stale_holds_no_other_up() {
    let folder = tempfile::tempdir().unwrap();
    let stale = folder.path().join("stale.nc");
    let writer = create(&stale, Format::NetCdf4);
    let id = open(&stale);
    let (mut count, mut value) = (0, -1);
    // SAFETY: a place for a number.
    assert_eq!(unsafe { nc_inq_nvars(id, &mut count) }, 0);
    writer.root().variable("first").unwrap().unwrap().delete().unwrap();
    for number in 1..5 {
        writer.root().set_attribute("number", number).unwrap();
        writer.commit().unwrap();
    }
    let path = folder.path().join("file.nc");
    let other = create(&path, Format::NetCdf4);
    let held = open(&path);
    for number in 1..COMMITS {
        append(&other.root(), number);
        other.commit().unwrap();
        look(held);
        // SAFETY: an index along one dimension, and a place for a value.
        let status = unsafe { nc_get_var1_int(id, 1, &0, &mut value) };
        assert!(status == libc::ESTALE || (status, value) == (0, 1000), "{status}: {value}");
    }
    assert_eq!(nc_close(held), 0);
    assert_eq!(nc_close(id), 0);
}

#[test]
fn ids_that_would_mean_something_else_are_stale_until_the_program_syncs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file.nc");
    let writer = create(&path, Format::NetCdf4);
    let id = open(&path);
    let mut count = 0;
    // SAFETY: a place for a number.
    assert_eq!(unsafe { nc_inq_nvars(id, &mut count) }, 0);
    // The id 1 is that of the second variable, which the first gives up its place to.
    writer.root().variable("first").unwrap().unwrap().delete().unwrap();
    writer.commit().unwrap();
    for number in 1..5 {
        let at = Selection { axes: vec![Axis::range(number, 1, 1)] };
        let second = writer.root().variable("second").unwrap().unwrap();
        second.write_as(&at, &[i32::try_from(number + 1000).unwrap()]).unwrap();
        writer.commit().unwrap();
    }
    let first = |id| {
        let mut value = -1;
        // SAFETY: an index along one dimension, and a place for a value.
        (unsafe { nc_get_var1_int(id, 1, &0, &mut value) }, value)
    };
    // Its value, or nothing: never that of another variable.
    assert!([(0, 1000), (libc::ESTALE, -1)].contains(&first(id)), "{:?}", first(id));
    let mut name = [0; 300];
    // SAFETY: room for a name.
    let status = unsafe { nc_inq_varname(id, 0, name.as_mut_ptr()) };
    assert!([0, libc::ESTALE].contains(&status));
    assert_eq!(nc_sync(id), 0);
    // SAFETY: room for a name; places that are not wanted.
    unsafe {
        assert_eq!(nc_inq_varname(id, 0, name.as_mut_ptr()), 0);
        assert_eq!(std::ffi::CStr::from_ptr(name.as_ptr()), c"second");
        assert_eq!(nc_inq(id, null_mut(), &mut count, null_mut(), null_mut()), 0);
    }
    assert_eq!((count, first(id).0), (1, ENOTVAR));
    assert_eq!(nc_close(id), 0);
}

/// Elements of a row.
const WIDTH: usize = 700;

/// Appends rows, each with one call, and writes rows that are there again; all elements of a row are the same.
fn write_rows(id: c_int) {
    for round in 1..300_usize {
        for row in [round, round / 2] {
            let values = vec![(round % 100) as i32; WIDTH];
            // SAFETY: start and count of two axes, and as many numbers.
            let status = unsafe {
                nc_put_vara_int(id, 0, [row, 0].as_ptr(), [1, WIDTH].as_ptr(), values.as_ptr())
            };
            assert_eq!(status, 0);
        }
    }
}

/// Reads the last rows that there are: each is there, and of one call.
fn read_last_rows(id: c_int, name: &str) {
    let mut len = 0;
    // SAFETY: a place for the length.
    assert_eq!(unsafe { nc_inq_dimlen(id, 0, &mut len) }, 0);
    let count = len.min(3);
    let mut values = vec![-1; count * WIDTH];
    // SAFETY: start and count of two axes, and a place for as many numbers.
    let status = unsafe {
        let (start, count) = ([len - count, 0], [count, WIDTH]);
        nc_get_vara_int(id, 0, start.as_ptr(), count.as_ptr(), values.as_mut_ptr())
    };
    assert_eq!(status, 0);
    for row in values.chunks(WIDTH) {
        let others = row.iter().filter(|value| **value != row[0]).count();
        assert!(others == 0 && (0..100).contains(&row[0]), "{name}: {others} beside {}", row[0]);
    }
}

/// Two threads of one program with one id, one of which writes.
#[test]
fn rows_are_seen_whole_by_other_threads() {
    let folder = tempfile::tempdir().unwrap();
    let formats = [("4", 0x1000, false), ("d", 0x1000, true), ("1", 0, false), ("5", 0x20, false)];
    for (name, mode, is_deflated) in formats {
        let path = c_path(&folder.path().join(name));
        let (mut id, mut t, mut x, mut variable) = (0, 0, 0, 0);
        // SAFETY: strings, and places for ids.
        unsafe {
            assert_eq!(nc_create(path.as_ptr(), mode, &mut id), 0);
            assert_eq!(nc_def_dim(id, c"t".as_ptr(), 0, &mut t), 0);
            assert_eq!(nc_def_dim(id, c"x".as_ptr(), WIDTH, &mut x), 0);
            assert_eq!(nc_def_var(id, c"v".as_ptr(), 4, 2, [t, x].as_ptr(), &mut variable), 0);
            if is_deflated {
                assert_eq!(nc_def_var_deflate(id, variable, 1, 1, 1), 0);
            }
            assert_eq!(nc_enddef(id), 0);
            let row = vec![0; WIDTH];
            let status = nc_put_vara_int(id, 0, [0, 0].as_ptr(), [1, WIDTH].as_ptr(), row.as_ptr());
            assert_eq!(status, 0);
        }
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| write_rows(id));
            while !writer.is_finished() {
                read_last_rows(id, name);
            }
            read_last_rows(id, name);
        });
        assert_eq!(nc_close(id), 0);
    }
}
