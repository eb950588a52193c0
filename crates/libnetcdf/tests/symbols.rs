//! What the library exports: all that its headers declare, what stock programs import besides, no more.

mod support;

use std::collections::BTreeSet;
use std::ffi::OsStr;

use support::{include, is_there, library, prototypes, run_program, scratch};

/// Exported by the original, too, and declared in none of its headers.
const UNDECLARED: &str = include_str!("undeclared.txt");

fn undeclared() -> BTreeSet<String> {
    let lines = UNDECLARED.lines().filter(|line| !line.starts_with('#'));
    lines.flat_map(str::split_whitespace).map(str::to_owned).collect()
}

/// Functions and variables that a shared library exports.
fn exported(library: &OsStr) -> BTreeSet<String> {
    let options = ["-D", "--defined-only", "--format=posix"].map(OsStr::new);
    let listing = run_program("nm", &[&options[..], &[library]].concat());
    listing.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

/// Functions and variables of our headers.
fn declared() -> BTreeSet<String> {
    let folder = scratch("symbols_headers");
    std::fs::write(folder.join("mpi.h"), "typedef void *MPI_Comm, *MPI_Info;\n")
        .expect("the scratch folder can be written");
    let mut source = String::from("#include <netcdf.h>\n");
    let headers = std::fs::read_dir(include()).expect("the headers are there");
    for header in headers.flatten() {
        source += &format!("#include <{}>\n", header.file_name().display());
    }
    let (include, mpi) = (include(), folder.clone());
    let flags = ["-I".as_ref(), include.as_os_str(), "-I".as_ref(), mpi.as_os_str()];
    let mut names: BTreeSet<_> = prototypes(&folder, &flags, &source).into_keys().collect();
    names.extend(["ncopts", "ncerr"].map(str::to_owned));
    names
}

#[test]
fn every_name_is_exported_and_no_other() {
    if !is_there("nm") || !is_there("cc") {
        return;
    }
    let exported = exported(library().as_os_str());
    let wanted: BTreeSet<_> = declared().union(&undeclared()).cloned().collect();
    assert!(wanted.len() > 450, "{} names", wanted.len());
    let missing: Vec<_> = wanted.difference(&exported).collect();
    assert!(missing.is_empty(), "declared and not exported: {missing:#?}");
    let leaked: Vec<_> = exported.difference(&wanted).collect();
    assert!(leaked.is_empty(), "exported and not declared: {leaked:#?}");
}

#[test]
fn undeclared_names_are_those_of_the_original() {
    let original = OsStr::new("/usr/lib/x86_64-linux-gnu/libnetcdf.so.19");
    if !std::path::Path::new(original).exists() || !is_there("nm") {
        eprintln!("LEFT OUT: libnetcdf19 is not installed");
        return;
    }
    let mut theirs = exported(original);
    // netCDF-C has the first since 4.9.3, the others since 4.10 and 4.10.1.
    let newer = [
        "ncsetloglevel",
        "NC__testurl",
        "nc_strlcat",
        "nc_set_meta_block_size_ints",
        "nc_get_meta_block_size_ints",
    ];
    theirs.extend(newer.map(str::to_owned));
    // This one comes by way of its dependencies.
    theirs.insert("H5get_libversion".to_owned());
    let ours = undeclared();
    assert_eq!(ours.difference(&theirs).collect::<Vec<_>>(), Vec::<&String>::new());
}
