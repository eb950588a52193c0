//! What netCDF-C 4.9.1 to 4.10 has, and Debian's 4.9.0 has not: declared with its parameters, and exported.

mod support;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::process::Command;

use support::{HEADERS, has_original, include, is_there, library, prototypes, run, scratch};

/// Takes each function by its parameters.
const SOURCE: &str = include_str!("newer.c");

/// The functions that the source takes.
fn newer() -> BTreeSet<String> {
    let statements = SOURCE.split(';').filter(|statement| statement.contains("(*const "));
    let names = statements.filter_map(|statement| statement.rsplit("=").next());
    names.map(|name| name.trim().to_owned()).collect()
}

#[test]
fn newer_functions_have_their_parameters_and_are_exported() {
    if !is_there("cc") {
        return;
    }
    let folder = scratch("newer");
    std::fs::write(folder.join("mpi.h"), "typedef struct mpi_comm *MPI_Comm, *MPI_Info;\n")
        .expect("the scratch folder can be written");
    let (source, program, library) = (folder.join("newer.c"), folder.join("newer"), library());
    std::fs::write(&source, SOURCE).expect("as above");
    let strict = ["-std=c11", "-Wall", "-Wextra", "-Werror"];
    run(Command::new("cc")
        .args(strict)
        .args(["-I".as_ref(), include().as_os_str(), "-I".as_ref(), folder.as_os_str()])
        .args([&source, &library])
        .arg("-o")
        .arg(&program));
    // The library is named by its soname, which only an installed one is found by.
    std::os::unix::fs::symlink(&library, folder.join("libnetcdf.so.22")).expect("as above");
    let printed = run(Command::new(&program).env("LD_LIBRARY_PATH", &folder));
    assert_eq!(printed, format!("{}\n", newer().len()));
}

/// Nothing is declared that netCDF-C does not have, and what is newer is known here.
#[test]
fn functions_are_those_of_the_original_and_the_newer_ones() {
    if !has_original() {
        return;
    }
    let folder = scratch("newer_all");
    std::fs::write(folder.join("mpi.h"), "typedef void *MPI_Comm, *MPI_Info;\n")
        .expect("the scratch folder can be written");
    let headers =
        HEADERS.iter().fold(String::new(), |all, header| all + &format!("#include <{header}>\n"));
    let names = |flags: &[&OsStr], source: &str| -> BTreeSet<String> {
        prototypes(&folder, flags, source).into_keys().collect()
    };
    let include = include();
    let flags = ["-I".as_ref(), include.as_os_str(), "-I".as_ref(), folder.as_os_str()];
    let ours = names(&flags, &(headers.clone() + "#include <netcdf_par.h>\n"));
    let theirs = names(&[], &headers);
    assert_eq!(ours.difference(&theirs).cloned().collect::<BTreeSet<_>>(), newer());
}
