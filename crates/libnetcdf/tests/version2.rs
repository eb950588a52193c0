//! Version 2 of the interface: one program on the original and on this library says the same.

mod support;

use std::path::Path;
use std::process::Command;

use support::{has_original, library, run, scratch};

/// What the program printed, its messages among it, and how it ended.
fn outcome(folder: &Path, program: &Path, libraries: Option<&Path>) -> (String, Option<i32>) {
    let mut shell = Command::new("sh");
    shell.args(["-c", "exec \"$0\" \"$1\" 2>&1"]).arg(program).arg(folder.join("file.nc"));
    if let Some(libraries) = libraries {
        shell.env("LD_LIBRARY_PATH", libraries);
    }
    let output = shell.current_dir(folder).output().expect("there is a shell");
    (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code())
}

#[test]
fn version_2_is_as_the_original() {
    if !has_original() {
        return;
    }
    let folder = scratch("version2");
    let libraries = folder.join("lib");
    std::fs::create_dir(&libraries).expect("the scratch folder can be written");
    for name in ["libnetcdf.so.19", "libnetcdf.so.22"] {
        std::os::unix::fs::symlink(library(), libraries.join(name)).expect("as above");
    }
    // A program that is not position-independent has `ncopts` and `ncerr` in its own memory.
    for kind in ["-pie", "-no-pie"] {
        compare(&folder, &libraries, kind);
    }
}

fn compare(folder: &Path, libraries: &Path, kind: &str) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/version2.c");
    let program = folder.join("program");
    let mut compiler = Command::new("cc");
    run(compiler.arg(kind).arg(source).arg("-o").arg(&program).arg("-lnetcdf"));
    let (theirs, their_end) = outcome(folder, &program, None);
    let (ours, our_end) = outcome(folder, &program, Some(libraries));
    assert!(theirs.lines().count() > 150, "{theirs}");
    for (number, (their, our)) in theirs.lines().zip(ours.lines()).enumerate() {
        assert_eq!(our, their, "line {number} of {ours}");
    }
    assert_eq!((ours.lines().count(), our_end), (theirs.lines().count(), their_end));
    assert_eq!(their_end, Some(3), "the last error is fatal");
}
