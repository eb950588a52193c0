//! `isotach generate`: files made of texts, read back. Where they are not what they should be for a
//! reason, the reason stands in `generate_differs.txt`.

#[path = "../../engine/examples/golden/digest.rs"]
#[allow(dead_code, reason = "HDF5's own view needs the rest")]
mod digest;
#[path = "../../engine/examples/golden/netcdf.rs"]
mod netcdf;
mod support;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use isotach::File;
use isotach_cli::generate::{Definitions, definitions};
use serde_json::Value;
use support::corpus;
use support::differences::files;
use support::isotach;
use support::texts::{Judge, differs, texts};

/// Files larger than this are not dumped.
const MAX_FILE_BYTES: u64 = 1 << 20;
/// Texts that ask for longer variables make files of gigabytes.
const MAX_ELEMENTS: u64 = 1 << 24;

/// An empty folder for the files of one test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _is_new = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Runs `isotach generate` on a text; its words where it fails.
fn generate(folder: &Path, options: &[&str], cdl: &[u8]) -> Result<(), String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_isotach"));
    command.arg("generate").args(options).arg("-").current_dir(folder);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // It may have failed, and closed the pipe, before it has read all.
    let _written = child.stdin.take().unwrap().write_all(cdl);
    let ended = child.wait_with_output().unwrap();
    assert!(ended.stdout.is_empty());
    match ended.status.code() {
        Some(0) => Ok(()),
        Some(1) => Err(String::from_utf8(ended.stderr).unwrap()),
        code => panic!("{code:?}: {}", String::from_utf8_lossy(&ended.stderr)),
    }
}

/// The dump with special attributes and all digits, without those that tell who wrote the file.
fn dump(path: &Path) -> Option<String> {
    let dumped = isotach(&["dump", "-s", "-n", "x", "-p", "9,17", text(path)]);
    let is_of_writer =
        |line: &str| line.contains(":_NCProperties") || line.contains(":_SuperblockVersion");
    let shown = dumped.text();
    let lines = shown.lines().filter(|line| !is_of_writer(line));
    (dumped.code == Some(0)).then(|| lines.collect::<Vec<_>>().join("\n"))
}

#[test]
fn dump_generate_dump_is_the_identity() {
    let Some(root) = corpus() else { return };
    let (made, mut judge) = (folder("identity").join("x.nc"), Judge::of("files", false));
    for file in files(&root) {
        let path = root.join(&file.path);
        let is_small = fs::metadata(&path).unwrap().len() < MAX_FILE_BYTES;
        if !is_small || !file.is(&["classic", "netcdf4"]) {
            continue;
        }
        if let Some(before) = dump(&path) {
            let made = generate(made.parent().unwrap(), &[], before.as_bytes())
                .map(|()| dump(&made).unwrap_or_default());
            judge.hear(
                &file.path,
                match made {
                    Ok(after) => first_difference(&before, &after),
                    Err(error) => Some(error),
                },
            );
        }
    }
    judge.say(200);
}

fn first_difference(before: &str, after: &str) -> Option<String> {
    let mut pairs = before.lines().zip(after.lines());
    let found = pairs.find(|(before, after)| before != after);
    match found {
        Some((before, after)) => Some(format!("{before:?} becomes {after:?}")),
        None => (before.len() != after.len()).then(|| "one has more lines".to_owned()),
    }
}

#[test]
fn files_are_those_of_ncgen() {
    let Some(root) = corpus().map(|root| root.join("cdl")) else { return };
    let (folder, mut judge) = (folder("texts"), Judge::of("files", true));
    for name in texts(&root) {
        let path = root.join(&name);
        let mut golden: Value = match fs::read(path.with_extension("cdl.json")) {
            Ok(golden) => serde_json::from_slice(&golden).unwrap(),
            Err(_) => continue,
        };
        let kind = match golden["_ncgen_k"].as_str() {
            Some("default") | None => &[][..],
            Some(kind) => &["-k", kind],
        };
        let cdl = fs::read(&path).unwrap();
        if definitions(&cdl).is_ok_and(|all| longest(&all) > MAX_ELEMENTS) {
            continue;
        }
        let output = folder.join("text.nc");
        let options = [kind, &["-o", text(&output)]].concat();
        let difference = match generate(&folder, &options, &cdl) {
            Ok(()) => {
                let mut made = netcdf::section(&File::open(&output).unwrap()).unwrap();
                let all = definitions(&cdl).unwrap();
                for section in [&mut golden["netcdf"], &mut made] {
                    leave_out_chosen_chunks(&mut section["root"], "/", &all);
                }
                differs(&golden["netcdf"], &made, "")
            }
            Err(error) => Some(error),
        };
        judge.hear(&name, difference);
    }
    judge.say(250);
}

/// The elements of the longest variable.
fn longest(all: &Definitions) -> u64 {
    let count = |shape: Vec<u64>| shape.iter().fold(1_u64, |count, &len| count.saturating_mul(len));
    all.variables.iter().map(|variable| count(all.shape(variable))).max().unwrap_or(0)
}

/// Where the text does not say them, the shapes of chunks are chosen by rules of our own.
fn leave_out_chosen_chunks(group: &mut Value, path: &str, all: &Definitions) {
    let is_stated = |name: &Value| {
        let mut here = all.variables.iter().filter(|one| all.groups[one.group].path == path);
        here.any(|one| *name == *one.name && one.settings.chunk_shape.is_some())
    };
    for variable in group["vars"].as_array_mut().into_iter().flatten() {
        if !is_stated(&variable["name"]) {
            variable["chunks"] = Value::Null;
        }
    }
    for child in group["groups"].as_array_mut().into_iter().flatten() {
        let path = format!("{}/{}", path.trim_end_matches('/'), child["name"].as_str().unwrap());
        leave_out_chosen_chunks(child, &path, all);
    }
}

/// The kind of file that the text becomes.
fn kind_of(folder: &Path, cdl: &str, options: &[&str]) -> String {
    let options = [options, &["-o", "kind.nc"]].concat();
    generate(folder, &options, cdl.as_bytes()).unwrap();
    let told = isotach(&["dump", "-k", text(&folder.join("kind.nc"))]).text();
    told.trim_end().to_owned()
}

#[test]
fn kinds_are_the_lowest_that_can_hold_the_text() {
    let folder = folder("chosen");
    let chosen = |declarations: &str| {
        let cdl = format!(
            "netcdf a {{ dimensions: n = 2; u = UNLIMITED; variables: int x(n); {declarations} }}"
        );
        kind_of(&folder, &cdl, &[])
    };
    assert_eq!(chosen("string :s = \"a\";"), "netCDF-4");
    for declarations in ["", "char y(u, n); y:a = \"a\", \"b\"; :b = 1.5; x:_FillValue = 3;"] {
        assert_eq!(chosen(declarations), "classic");
    }
    for declarations in ["ubyte y;", ":a = 1ull;", "x:a = 3000000000;", "int64 x:a = 1;"] {
        assert_eq!(chosen(declarations), "cdf5");
    }
    for declarations in [
        "string y;",
        "x:_Shuffle = \"true\";",
        ":_NCProperties = \"version=2\";",
        "int y(n, u);",
        "dimensions: v = UNLIMITED;",
        "types: int(*) t;",
        "group: g { }",
    ] {
        assert_eq!(chosen(declarations), "netCDF-4", "{declarations}");
    }
    assert_eq!(chosen("dimensions: m = 3000000000;"), "64-bit offset");
    assert_eq!(chosen(":_Format = \"netCDF-4 classic model\";"), "netCDF-4 classic model");
}

#[test]
fn kinds_can_be_asked_for() {
    let folder = folder("asked");
    let cdl = "netcdf a { variables: int x; :_Format = \"cdf5\"; }";
    let names = [
        ("classic", &["-kclassic", "-knc3", "-k1", "-3"][..]),
        ("64-bit offset", &["-k64-bit offset", "-k64-bit-offset", "-knc6", "-k2", "-6"]),
        ("cdf5", &["-kcdf5", "-k64-bit data", "-k64-bit-data", "-knc5", "-k5", "-5"]),
        ("netCDF-4", &["-knetCDF-4", "-knc4", "-khdf5", "-kenhanced", "-k3", "-4"]),
        ("netCDF-4 classic model", &["-knetCDF-4 classic model", "-knc7", "-k4", "-7"]),
    ];
    for (kind, names) in names {
        for name in names {
            assert_eq!(kind_of(&folder, cdl, &[name]), kind, "{name}");
        }
    }
    assert_eq!(isotach(&["generate", "-k", "netcdf5", "-"]).code, Some(2));
    assert_eq!(isotach(&["generate", "-3", "-k", "nc4", "-"]).code, Some(2));
}

#[test]
fn files_are_named_after_their_text() {
    let folder = folder("names");
    let names = || {
        let entries = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = entries.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    };
    generate(&folder, &[], b"netcdf name\\ of.it { }").unwrap();
    generate(&folder, &[], b"netcdf ../up { }").unwrap();
    assert_eq!(names(), ["name of.it.nc", "up.nc"]);
    fs::write(folder.join("text.1.cdl"), "netcdf other { }").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_isotach"));
    command.args(["generate", "./text.1.cdl"]).current_dir(&folder);
    assert!(command.status().unwrap().success());
    assert_eq!(names(), ["name of.it.nc", "text.1.cdl", "text.1.nc", "up.nc"]);
    assert!(generate(&folder, &[], b"netcdf { }").unwrap_err().contains("--output"));
}

#[test]
fn failing_leaves_what_was_there() {
    let folder = folder("failing");
    fs::write(folder.join("a.nc"), "as it was").unwrap();
    let cases = [
        ("netcdf a { variables:\n int x(n); }", "line 2, column 8: no dimension \"n\""),
        ("netcdf a {\n\n  :_Format = \"classic\";\n group: g { } }", "line 4, column 9: "),
        (
            "netcdf a { variables: int x;\n  string x:a = \"b\";\n:_Format = \"cdf5\"; }",
            "line 2, column 12: ",
        ),
        (
            "netcdf a { dimensions: n = 2; variables:\n int x(n); x:_ChunkSizes = 3; }",
            "line 2, column 6: ",
        ),
    ];
    for (cdl, expected) in cases {
        let error = generate(&folder, &[], cdl.as_bytes()).unwrap_err();
        assert!(error.starts_with("isotach: -: ") && error.contains(expected), "{error}");
        assert_eq!(fs::read_to_string(folder.join("a.nc")).unwrap(), "as it was");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    }
    let nowhere = generate(&folder, &["-o", "no/a.nc"], b"netcdf a { }").unwrap_err();
    assert!(nowhere.contains("no/a.nc"), "{nowhere}");
    let missing = isotach(&["generate", "no.cdl"]);
    assert_eq!(missing.code, Some(1));
    assert!(missing.stderr.starts_with("isotach: no.cdl: cannot read: "), "{}", missing.stderr);
}
