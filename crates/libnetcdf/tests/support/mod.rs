//! What the tests of the installed library have in common: a C compiler, and places to work in.

#![allow(dead_code)]

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// All that the original installs but `netcdf_filter_build.h`, which includes a header that is not there.
pub const HEADERS: [&str; 6] = [
    "netcdf.h",
    "netcdf_mem.h",
    "netcdf_filter.h",
    "netcdf_aux.h",
    "netcdf_dispatch.h",
    "netcdf_meta.h",
];

/// The headers of this library.
pub fn include() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("include")
}

/// An empty folder for one test.
pub fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("the folder of the build can be written");
    folder
}

/// Whether a program is there; says so aloud where it is not.
pub fn is_there(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok();
    if !found {
        eprintln!("LEFT OUT: {program} is not installed");
    }
    found
}

/// Whether the original's headers are there, and a C compiler; says so aloud where they are not.
pub fn has_original() -> bool {
    let found = Path::new("/usr/include/netcdf.h").exists();
    if !found {
        eprintln!("LEFT OUT: libnetcdf-dev is not installed");
    }
    found && is_there("cc")
}

/// Runs a command that must end well, and gives what it printed.
pub fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{complaints}", output.status);
    String::from_utf8(output.stdout).expect("what it prints is text")
}

/// Runs a program with arguments, as `run`.
pub fn run_program<A: AsRef<OsStr>>(program: impl AsRef<OsStr>, arguments: &[A]) -> String {
    run(Command::new(program).args(arguments))
}

/// Every function that C source declares, with its prototype as the compiler understands it.
pub fn prototypes(
    folder: &Path,
    flags: &[&OsStr],
    source: &str,
) -> std::collections::BTreeMap<String, String> {
    let (file, listing) = (folder.join("prototypes.c"), folder.join("prototypes.txt"));
    std::fs::write(&file, source).expect("the scratch folder can be written");
    run(Command::new("cc")
        .args(flags)
        .arg("-fsyntax-only")
        .arg("-aux-info")
        .args([&listing, &file]));
    let listing = std::fs::read_to_string(listing).expect("the compiler wrote its list");
    // `/* netcdf.h:391:NC */ extern int nc_open (const char *, int, int *);`
    let declarations = listing.lines().filter_map(|line| line.split_once("*/ extern "));
    let ours = declarations.filter(|(place, _)| place.contains("netcdf") || place.contains(".c:"));
    ours.filter_map(|(_, prototype)| {
        let name = prototype.split_once(" (")?.0.rsplit([' ', '*']).next()?;
        Some((name.to_owned(), prototype.to_owned()))
    })
    .collect()
}

/// The shared library, built as the tests are: with all packages, and with an example, dependencies have the
/// features that tests give them, and nothing is compiled once more.
pub fn library() -> PathBuf {
    let test = std::env::current_exe().expect("a test has a path");
    let folder = test.ancestors().nth(2).expect("tests lie in `deps` of the build").to_owned();
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--locked", "--quiet", "--workspace", "--lib", "--example", "golden"]);
    if folder.ends_with("release") {
        cargo.arg("--release");
    }
    run(cargo.current_dir(env!("CARGO_MANIFEST_DIR")));
    folder.join("libnetcdf.so")
}
