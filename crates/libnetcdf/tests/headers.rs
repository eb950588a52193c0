//! The headers beside the original's: every function, constant and structure is there and the same.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use support::{HEADERS, has_original, include, prototypes, run, scratch};

/// Constants that are not what version 4.9.0 has.
const NEWER: [&str; 14] = [
    // Version 4.10 has more errors and more formats of programs.
    "NC4_LAST_ERROR",
    "NC_FORMAT_ALL",
    "NC_VERSION",
    "NC_VERSION_MINOR",
    "NC_VERSION_PATCH",
    // What is not built here.
    "NC_HAS_DAP2",
    "NC_HAS_DAP4",
    "NC_HAS_NCZARR",
    "NC_HAS_PAR_FILTERS",
    // What is.
    "NC_HAS_ZSTD",
    // No expressions.
    "EXTERNL",
    "MSC_EXTRA",
    "NC_HAVE_META_H",
    "NC_HAVE_INQ_FORMAT_EXTENDED",
];

const STRUCTURES: [(&str, &[&str]); 4] = [
    ("nc_vlen_t", &["len", "p"]),
    ("NC_memio", &["size", "memory", "flags"]),
    ("NC_H5_Filterspec", &["filterid", "nparams", "params"]),
    ("NC_Dispatch", &["model", "dispatch_version", "create", "inq_filter_avail"]),
];

const ENUMERATORS: [&str; 9] = [
    "BLOSC_NOSHUFFLE",
    "BLOSC_SHUFFLE",
    "BLOSC_BITSHUFFLE",
    "BLOSC_LZ",
    "BLOSC_LZ4",
    "BLOSC_LZ4HC",
    "BLOSC_SNAPPY",
    "BLOSC_ZLIB",
    "BLOSC_ZSTD",
];

fn all_headers() -> String {
    HEADERS.iter().fold(String::new(), |source, header| source + &format!("#include <{header}>\n"))
}

/// The flags with which the compiler takes our headers.
fn ours(include: &Path) -> [&OsStr; 2] {
    [OsStr::new("-I"), include.as_os_str()]
}

/// The macros that take no arguments, with what stands for them.
fn macros(flags: &[&OsStr], source: &Path) -> BTreeMap<String, String> {
    let listing = run(Command::new("cc").args(flags).args(["-E", "-dM"]).arg(source));
    let definitions = listing.lines().filter_map(|line| line.strip_prefix("#define "));
    let named = definitions.filter_map(|line| line.split_once(' ').or(Some((line, ""))));
    named
        .filter(|(name, _)| !name.contains('(') && !name.starts_with("__"))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// What a program prints of constants and structures where it is compiled with these headers.
fn printed(folder: &Path, flags: &[&OsStr], names: &BTreeSet<String>) -> BTreeMap<String, String> {
    let mut source = String::from("#include <stdio.h>\n") + &all_headers() + PRINT;
    for name in names {
        let _ = writeln!(source, "SHOW({name});");
    }
    for (structure, fields) in STRUCTURES {
        let kind = if structure == "NC_Dispatch" { "struct NC_Dispatch" } else { structure };
        let _ = writeln!(source, "SHOW(sizeof({kind}));");
        for field in fields {
            let _ = writeln!(source, "SHOW(offsetof({kind}, {field}));");
        }
    }
    source.push_str("return 0; }\n");
    let (file, program) = (folder.join("print.c"), folder.join("print"));
    std::fs::write(&file, source).expect("the scratch folder can be written");
    run(Command::new("cc").args(flags).arg(&file).arg("-o").arg(&program));
    let lines = run(&mut Command::new(&program));
    let pairs = lines.lines().filter_map(|line| line.split_once(" = "));
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// Shows an expression with its type and its value.
const PRINT: &str = r#"
static void show_text(const char *name, const char *type, const char *value)
{ printf("%s = %s \"%s\"\n", name, type, value); }
static void show_real(const char *name, const char *type, double value)
{ printf("%s = %s %.20g\n", name, type, value); }
static void show_integer(const char *name, const char *type, unsigned long long value)
{ printf("%s = %s %llx\n", name, type, value); }
#define TYPE(x) _Generic((x), char: "char", signed char: "schar", short: "short", int: "int", \
    unsigned: "unsigned", long: "long", unsigned long: "ulong", long long: "longlong", \
    unsigned long long: "ulonglong", float: "float", double: "double", char *: "text")
#define SHOW(x) _Generic((x), char *: show_text, float: show_real, double: show_real, \
    default: show_integer)(#x, TYPE(x), x)
int main(void) {
"#;

#[test]
fn functions_have_the_original_prototypes() {
    if !has_original() {
        return;
    }
    let folder = scratch("headers_functions");
    let theirs = prototypes(&folder, &[], &all_headers());
    let ours = prototypes(&folder, &ours(&include()), &all_headers());
    assert!(theirs.len() > 400, "the original declares {} functions", theirs.len());
    let others: Vec<_> =
        theirs.iter().filter(|(name, _)| ours.get(*name) != theirs.get(*name)).collect();
    assert!(others.is_empty(), "missing or declared otherwise: {others:#?}");
}

#[test]
fn formats_of_programs_have_the_original_entries() {
    if !has_original() {
        return;
    }
    let folder = scratch("headers_dispatch");
    let text = std::fs::read_to_string("/usr/include/netcdf_dispatch.h").expect("it is installed");
    let table =
        text.split_once("int dispatch_version;").and_then(|(_, rest)| rest.split_once("};"));
    let table = table.map_or("", |(table, _)| table);
    let entries = table.split("(*").skip(1).filter_map(|entry| entry.split(')').next());
    let mut source = all_headers();
    for entry in entries {
        let _ =
            writeln!(source, "extern __typeof__(*((struct NC_Dispatch *)0)->{entry}) the_{entry};");
    }
    let entries = |flags: &[&OsStr]| -> BTreeMap<_, _> {
        let all = prototypes(&folder, flags, &source);
        all.into_iter().filter(|(name, _)| name.starts_with("the_")).collect()
    };
    let theirs = entries(&[]);
    assert!(theirs.len() > 70, "the original has {} entries", theirs.len());
    // One names the table by its structure, the other by its type.
    let plain = |prototypes: BTreeMap<String, String>| -> Vec<String> {
        prototypes
            .values()
            .map(|prototype| prototype.replace("struct NC_Dispatch", "NC_Dispatch"))
            .collect()
    };
    assert_eq!(plain(theirs), plain(entries(&ours(&include()))));
}

#[test]
fn constants_and_structures_are_the_original() {
    if !has_original() {
        return;
    }
    let folder = scratch("headers_constants");
    let (every, none) = (folder.join("every.c"), folder.join("none.c"));
    std::fs::write(&every, all_headers()).expect("the scratch folder can be written");
    std::fs::write(&none, "#include <errno.h>\n#include <stddef.h>\n").expect("as above");
    let elsewhere = macros(&[], &none);
    let mut names: BTreeSet<String> = macros(&[], &every)
        .into_iter()
        .filter(|(name, value)| !value.is_empty() && !elsewhere.contains_key(name))
        .map(|(name, _)| name)
        .filter(|name| !NEWER.contains(&name.as_str()))
        .collect();
    assert!(names.len() > 300, "the original has {} constants", names.len());
    names.extend(ENUMERATORS.map(str::to_owned));
    let theirs = printed(&folder, &[], &names);
    assert_eq!(theirs, printed(&folder, &ours(&include()), &names));
    assert!(theirs.len() > names.len());
}

#[test]
fn names_of_the_original_that_have_no_value_are_defined() {
    if !has_original() {
        return;
    }
    let folder = scratch("headers_names");
    let every = folder.join("every.c");
    std::fs::write(&every, all_headers()).expect("the scratch folder can be written");
    // Guards against reading a header twice are of no interest.
    let names = |flags: &[&OsStr]| -> BTreeSet<String> {
        let all = macros(flags, &every);
        all.into_keys().filter(|name| !name.ends_with("_H")).collect()
    };
    let (theirs, ours) = (names(&[]), names(&ours(&include())));
    assert_eq!(theirs.difference(&ours).collect::<Vec<_>>(), Vec::<&String>::new());
}

/// netCDF4-python's build, and others after it, read the header as lines.
#[test]
fn build_scripts_find_the_functions_they_look_for() {
    let text = std::fs::read_to_string(include().join("netcdf.h")).expect("it is there");
    for start in [
        "nc_inq_compound",
        "nc_inq_format_extended",
        "nc_inq_path",
        "nc_rename_grp",
        "#define NC_FORMAT_64BIT_DATA",
    ] {
        assert!(text.lines().any(|line| line.starts_with(start)), "{start}");
    }
}

#[test]
fn headers_are_accepted_as_strict_c_and_as_cpp() {
    let folder = scratch("headers_strict");
    for (compiler, standard, suffix) in [("cc", "-std=c99", "c"), ("c++", "-std=c++11", "cpp")] {
        if !support::is_there(compiler) {
            continue;
        }
        let file = folder.join(format!("every.{suffix}"));
        std::fs::write(&file, all_headers()).expect("the scratch folder can be written");
        let strict = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only", standard];
        run(Command::new(compiler).args(strict).args(ours(&include())).arg(&file));
    }
}
