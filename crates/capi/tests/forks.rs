//! Forks beside threads that use the interface all the time: the child uses ids that it inherits, and opens files.

mod support;

use std::ffi::c_int;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use isotach::model::Atomic;
use isotach::model::selection::Selection;
use isotach::{CreateOptions, FilterRequest, Format, VariableOptions};
use support::*;

const COUNT: usize = 4000;
const THREADS: usize = 3;
/// How often is forked where `ISOTACH_FORKS` does not say.
const FORKS: usize = 40;
/// A child that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(60);

fn make(path: &Path, format: Format) {
    let writer = CreateOptions::new(format).create(path).unwrap();
    let x = writer.root().define_dimension("x", Some(COUNT as u64)).unwrap();
    for number in 0..8 {
        let mut options = VariableOptions::default();
        if format == Format::NetCdf4 && number % 2 == 0 {
            options.chunk_shape = Some(vec![500]);
            options.filters = vec![FilterRequest::Deflate { level: 1 }];
        }
        let name = format!("v{number}");
        let variable = writer.root().define_variable(&name, Atomic::Int, &[x], options).unwrap();
        variable.set_attribute("units", "m").unwrap();
        let numbers: Vec<i32> = (0..COUNT as i32).map(|at| at + number * 10_000).collect();
        variable.write_as(&Selection::all(&[COUNT as u64]), &numbers).unwrap();
    }
    writer.close().unwrap();
}

fn open(path: &Path) -> c_int {
    let path = c_path(path);
    let mut id = 0;
    // SAFETY: a string, and a place for an id.
    assert_eq!(unsafe { nc_open(path.as_ptr(), 0, &mut id) }, 0);
    id
}

/// Asks what there is, and reads a value, some, and all of two variables.
fn look(id: c_int) {
    for number in [0, 1] {
        let name = c(&format!("v{number}"));
        let (mut variable, mut attributes) = (0, 0);
        let mut values = vec![0; COUNT];
        let mut one = 0;
        // SAFETY: strings, and places for what is asked for: as many numbers as are read.
        unsafe {
            assert_eq!(nc_inq_varid(id, name.as_ptr(), &mut variable), 0);
            assert_eq!(nc_inq_varnatts(id, variable, &mut attributes), 0);
            assert_eq!(nc_get_var1_int(id, variable, [17usize].as_ptr(), &mut one), 0);
            assert_eq!(nc_get_var_int(id, variable, values.as_mut_ptr()), 0);
        }
        assert_eq!((attributes, one), (1, 17 + number * 10_000));
        assert!(values.iter().enumerate().all(|(at, &value)| value == at as i32 + number * 10_000));
    }
}

fn open_and_look(path: &Path) {
    let id = open(path);
    look(id);
    assert_eq!(nc_close(id), 0);
}

/// Whether a child that does `work` came to an end, and that all was well.
fn is_well(work: impl FnOnce()) -> bool {
    // SAFETY: the child ends without touching the harness of the tests.
    let child = unsafe { libc::fork() };
    assert!(child >= 0);
    if child == 0 {
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
        // SAFETY: ends the child.
        unsafe { libc::_exit(done.is_err().into()) };
    }
    let (begun, mut status) = (Instant::now(), 0);
    loop {
        // SAFETY: a child that nobody else waits for, and a place for its status.
        match unsafe { libc::waitpid(child, &mut status, libc::WNOHANG) } {
            0 if begun.elapsed() > PATIENCE => {
                // SAFETY: the same child.
                unsafe { libc::kill(child, libc::SIGKILL) };
            }
            0 => std::thread::sleep(Duration::from_millis(1)),
            _ => return status == 0,
        }
    }
}

#[test]
fn children_use_ids_that_they_inherit_and_open_files() {
    let folder = tempfile::tempdir().unwrap();
    let forks = std::env::var("ISOTACH_FORKS").ok().and_then(|text| text.parse().ok());
    for format in [Format::NetCdf4, Format::Classic] {
        let path = folder.path().join(format!("{format:?}.nc"));
        make(&path, format);
        let inherited = open(&path);
        let (is_over, rounds) = (AtomicBool::new(false), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    while !is_over.load(Relaxed) {
                        open_and_look(&path);
                        look(inherited);
                        rounds.fetch_add(1, Relaxed);
                    }
                });
            }
            let outcomes: Vec<bool> = (0..forks.unwrap_or(FORKS))
                .map(|_| {
                    is_well(|| {
                        look(inherited);
                        open_and_look(&path);
                        assert!(is_well(|| open_and_look(&path)));
                    })
                })
                .collect();
            is_over.store(true, Relaxed);
            let failed = outcomes.iter().filter(|is_well| !**is_well).count();
            assert_eq!(failed, 0, "{format:?}: of {} children", outcomes.len());
        });
        assert!(rounds.into_inner() > 0);
        assert_eq!(nc_close(inherited), 0);
    }
}

#[test]
fn children_have_what_the_program_has_set() {
    let is_over = AtomicBool::new(false);
    // SAFETY: strings that end with zeros, and places for what is asked for.
    unsafe {
        assert_eq!(nc_rc_set(c"first".as_ptr(), c"1".as_ptr()), 0);
        assert_eq!(nc_set_chunk_cache(1 << 20, 11, 0.5), 0);
    }
    let is_set = || {
        let (mut bytes, mut slot_count, mut preemption) = (0, 0, 0.0);
        // SAFETY: as above; the value is this function's to free.
        unsafe {
            let value = nc_rc_get(c"first".as_ptr());
            assert!(!value.is_null());
            libc::free(value.cast());
            assert_eq!(nc_get_chunk_cache(&mut bytes, &mut slot_count, &mut preemption), 0);
        }
        assert!(bytes >= 1 << 20 && slot_count == 11);
    };
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for bytes in (1usize << 20..).take_while(|_| !is_over.load(Relaxed)) {
                    // SAFETY: strings.
                    unsafe { nc_rc_set(c"second".as_ptr(), c"2".as_ptr()) };
                    nc_set_chunk_cache(bytes, 11, 0.5);
                }
            });
        }
        let failed = (0..5 * FORKS).filter(|_| !is_well(is_set)).count();
        is_over.store(true, Relaxed);
        assert_eq!(failed, 0, "of {} children", 5 * FORKS);
    });
}

/// The same while all that the parent and its children do is traced: no line is told by two processes.
#[test]
fn children_of_a_program_that_is_traced_tell_what_they_do() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace");
    let test = "children_use_ids_that_they_inherit_and_open_files";
    let status = std::process::Command::new(std::env::current_exe().unwrap())
        .args([test, "--exact"])
        .env("ISOTACH_TRACE", &trace)
        .status();
    assert!(status.unwrap().success());
    let told = std::fs::read_to_string(&trace).unwrap();
    let mut lines = std::collections::HashSet::new();
    let mut processes = std::collections::HashSet::new();
    for line in told.lines() {
        assert!(lines.insert(line), "twice: {line}");
        let event: serde_json::Value = serde_json::from_str(line).unwrap();
        processes.insert(event["process"].as_u64().unwrap());
    }
    assert!(processes.len() > FORKS, "{} processes", processes.len());
}
