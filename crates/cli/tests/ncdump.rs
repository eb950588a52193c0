//! Every netCDF file of the corpus: `isotach dump` beside Debian's `ncdump`, byte for byte.
//!
//! Where they differ for a reason, the reason stands in `ncdump_differs.txt`; an entry that no
//! longer differs fails the test, so the list can only shrink.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Options for every file.
const FOR_ALL: [&str; 5] = ["-h", "", "-s -h", "-c", "-k"];
/// Options for every seventh file, each for others.
const SAMPLES: [&str; 14] = [
    "-f c",
    "-b c",
    "-b f",
    "-p 3",
    "-p 9,17",
    "-l 40",
    "-n other-name",
    "-x",
    "-t",
    "-i -c",
    "-F -s",
    "-v time,lat",
    "-t -h",
    "-g /",
];
const SAMPLED: usize = 7;

fn corpus() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    let root = std::env::var_os("ISOTACH_CORPUS").map_or(beside, PathBuf::from);
    if !root.is_dir() {
        eprintln!("LEFT OUT: there is no corpus (set ISOTACH_CORPUS)");
        return None;
    }
    let version = Command::new("ncdump").stderr(Stdio::piped()).output();
    let told = version.map(|output| String::from_utf8_lossy(&output.stderr).into_owned());
    if !told.is_ok_and(|told| told.contains("netcdf library version 4.9.0")) {
        eprintln!("LEFT OUT: there is no ncdump 4.9.0 (Debian's netcdf-bin)");
        return None;
    }
    root.canonicalize().ok()
}

/// Paths, below the corpus, of files whose golden answers say that they are netCDF.
fn netcdf_files(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut waiting = vec![root.to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path);
                continue;
            }
            let text = path.to_string_lossy().into_owned();
            let Some(file) = text.strip_suffix(".json") else { continue };
            if file.ends_with(".cdl") || !Path::new(file).is_file() {
                continue;
            }
            let golden: serde_json::Value =
                serde_json::from_slice(&fs::read(&path).unwrap()).unwrap_or_default();
            if matches!(golden["_flavour"].as_str(), Some("classic" | "netcdf4")) {
                let below = Path::new(file).strip_prefix(root).unwrap();
                found.push(below.to_string_lossy().into_owned());
            }
        }
    }
    found.sort();
    found
}

/// What is compared: options and file.
fn cases(files: &[String]) -> Vec<(String, String)> {
    let mut cases = Vec::new();
    for (index, file) in files.iter().enumerate() {
        cases.extend(FOR_ALL.map(|options| (options.to_owned(), file.clone())));
        let sampled = SAMPLES.iter().enumerate().filter(|(at, _)| (at + index) % SAMPLED == 0);
        cases.extend(sampled.map(|(_, options)| ((*options).to_owned(), file.clone())));
    }
    cases
}

fn output(program: &str, arguments: &[&str], file: &Path) -> Vec<u8> {
    let mut command = Command::new(program);
    command.args(arguments).arg(file).stderr(Stdio::null());
    command.output().unwrap().stdout
}

fn differs(root: &Path, options: &str, file: &str) -> bool {
    let path = root.join(file);
    let options: Vec<&str> = options.split_whitespace().collect();
    let theirs = output("ncdump", &options, &path);
    let ours = output(env!("CARGO_BIN_EXE_isotach"), &[&["dump"], &options[..]].concat(), &path);
    ours != theirs
}

/// Entries `options | file` of the list; `*` stands for all options.
fn listed() -> BTreeSet<(String, String)> {
    let text = include_str!("ncdump_differs.txt");
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let entry = |line: &str| {
        let (options, file) = line.split_once('|').unwrap();
        (options.trim().to_owned(), file.trim().to_owned())
    };
    lines.map(entry).collect()
}

#[test]
fn dump_equals_ncdump() {
    let Some(root) = corpus() else { return };
    let files = netcdf_files(&root);
    assert!(files.len() > 200, "only {} netCDF files in the corpus", files.len());
    let cases = cases(&files);
    let next = AtomicUsize::new(0);
    let found = Mutex::new(BTreeSet::new());
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((options, file)) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if differs(&root, options, file) {
                        found.lock().unwrap().insert((options.clone(), file.clone()));
                    }
                }
            });
        }
    });
    let found = found.into_inner().unwrap();
    let listed = listed();
    let is_listed = |(options, file): &(String, String)| {
        let all = ("*".to_owned(), file.clone());
        listed.contains(&all) || listed.contains(&(options.clone(), file.clone()))
    };
    let new: Vec<_> = found.iter().filter(|case| !is_listed(case)).collect();
    assert!(new.is_empty(), "these differ: {new:#?}");
    let is_found = |(options, file): &(String, String)| {
        found.iter().any(|(with, of)| of == file && (options == "*" || options == with))
    };
    let gone: Vec<_> = listed.iter().filter(|entry| !is_found(entry)).collect();
    assert!(gone.is_empty(), "these no longer differ, take them off the list: {gone:#?}");
}
