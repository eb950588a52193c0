//! Every file of the corpus: `isotach dump` beside Debian's `ncdump`, byte for byte.
//!
//! Where the two differ for a reason, the reason stands in `ncdump_differs.txt`, whose lines are
//! `HOW | OPTIONS | FILE | REASON`; `*` stands for all options. HOW is one of
//!
//! - `fails`: ncdump fails or dies; ours goes on, from the same beginning.
//! - `hangs`: ncdump does not end, and ours does, from the same beginning.
//! - `errs`: ncdump shows, or showed before it failed, what is not in the file or not all of it.
//! - `both`: neither can show all of it, and ours says so with its exit code.
//!
//! A difference that is not listed, or not in the way that is listed, fails the test, and so does
//! an entry that no longer differs: the list can only shrink. `ISOTACH_DIFFERENCES=FILE` writes
//! there what differs, as lines of the list.

mod support;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use support::{Ended, corpus, ended};

/// Options for every netCDF file.
const FOR_ALL: [&str; 6] = ["-h", "", "-s -h", "-c", "-k", "-t -h"];
/// Options for every seventh netCDF file, each for others. `VARS` and `GROUP` stand for the first
/// variables and the first group of the file; where it has none the case is left out.
const SAMPLES: [&str; 21] = [
    "-f c",
    "-f f",
    "-b c",
    "-b f -l 60",
    "-p 3",
    "-p 9,17",
    "-l 40",
    "-n other-name",
    "-x",
    "-x -h",
    "-t",
    "-i",
    "-i -t -c",
    "-t -i -p 4,8",
    "-F -s",
    "-v VARS",
    "-v VARS -b c -t",
    "-v VARS -g GROUP",
    "-g GROUP",
    "-g GROUP -s -f c",
    "-w",
];
const SAMPLED: usize = 7;
/// Options for every other HDF5 file.
const FOR_HDF5: [&str; 3] = ["-h", "-s -h", ""];
/// Their shapes alone make the dump endless.
const ENDLESS: [&str; 2] = ["hdf5-1.10.8/bounds_sel_latest_latest.h5", "hdf5-1.14.5/tbigdims.h5"];
/// For both programs on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// For ncdump where it is known to hang: it follows some cycles of links for ever.
const SHORT_PATIENCE: Duration = Duration::from_secs(3);

fn has_ncdump() -> bool {
    let version = Command::new("ncdump").stderr(Stdio::piped()).output();
    let told = version.map(|output| String::from_utf8_lossy(&output.stderr).into_owned());
    let has = told.is_ok_and(|told| told.contains("netcdf library version 4.9.0"));
    if !has {
        eprintln!("LEFT OUT: there is no ncdump 4.9.0 (Debian's netcdf-bin)");
    }
    has
}

/// A file of the corpus, its path below the corpus.
struct Tried {
    path: String,
    golden: serde_json::Value,
}

impl Tried {
    fn is(&self, flavours: &[&str]) -> bool {
        self.golden["_flavour"].as_str().is_some_and(|flavour| flavours.contains(&flavour))
    }

    /// The names of the members of a kind (`vars`, `groups`) in the root group.
    fn names(&self, kind: &str) -> Vec<&str> {
        let members = self.golden["netcdf"]["root"][kind].as_array();
        members.into_iter().flatten().filter_map(|member| member["name"].as_str()).collect()
    }

    /// The options with this file's own names in them; `None` where it has none.
    fn options(&self, template: &str) -> Option<Vec<String>> {
        let is_plain = |name: &&str| !name.contains([' ', ',', '\\', '/']);
        let first = |kind, count| -> Option<String> {
            let names: Vec<&str> =
                self.names(kind).into_iter().filter(is_plain).take(count).collect();
            (!names.is_empty()).then(|| names.join(","))
        };
        let options = template.split_whitespace().map(|option| match option {
            "VARS" => first("vars", 2),
            "GROUP" => first("groups", 1),
            _ => Some(option.to_owned()),
        });
        options.collect()
    }
}

/// All files with golden answers, in order.
fn files(root: &Path) -> Vec<Tried> {
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
            let golden = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap_or_default();
            let below = Path::new(file).strip_prefix(root).unwrap();
            found.push(Tried { path: below.to_string_lossy().into_owned(), golden });
        }
    }
    found.sort_by(|left, right| left.path.cmp(&right.path));
    found
}

/// What is compared: options and file.
type Case<'f> = (&'static str, &'f Tried);

fn netcdf_cases(files: &[Tried]) -> Vec<Case<'_>> {
    let netcdf = files.iter().filter(|file| file.is(&["classic", "netcdf4"]));
    let mut cases = Vec::new();
    for (index, file) in netcdf.enumerate() {
        cases.extend(FOR_ALL.map(|options| (options, file)));
        let sampled = SAMPLES.iter().enumerate().filter(|(at, options)| {
            // Few files have groups: all of them are tried.
            (at + index) % SAMPLED == 0 || options.contains("GROUP")
        });
        cases.extend(sampled.map(|(_, options)| (*options, file)));
    }
    cases
}

fn hdf5_cases(files: &[Tried]) -> Vec<Case<'_>> {
    let hdf5 = files.iter().filter(|file| file.is(&["hdf5"]));
    let cases = hdf5.flat_map(|file| FOR_HDF5.map(|options| (options, file)));
    let is_endless =
        |case: &Case<'_>| ENDLESS.contains(&case.1.path.as_str()) && !case.0.contains("-h");
    cases.filter(|case| !is_endless(case)).collect()
}

/// How the two differ; see the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum How {
    Fails,
    Hangs,
    Errs,
    Both,
}

impl How {
    const NAMES: [(&'static str, Self); 4] = [
        ("fails", Self::Fails),
        ("hangs", Self::Hangs),
        ("errs", Self::Errs),
        ("both", Self::Both),
    ];

    fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, how)| *how == self).unwrap().0
    }
}

/// How they differ, and what ncdump said; `None` where they do not, or there is no such case.
fn difference(
    root: &Path,
    (template, file): Case<'_>,
    patience: Duration,
) -> Option<(How, String)> {
    let options = file.options(template)?;
    let path = root.join(&file.path);
    let run = |program: &str, first: &[&str], patience: Duration| -> Ended {
        let mut command = Command::new(program);
        command.args(first).args(&options).arg(&path);
        ended(&mut command, patience)
    };
    let theirs = run("ncdump", &[], patience);
    let ours = run(env!("CARGO_BIN_EXE_isotach"), &["dump"], PATIENCE);
    assert!(ours.code.is_some(), "{options:?} {}: ours dies or does not end", file.path);
    let how = match (theirs.code == Some(0), ours.code == Some(0)) {
        (true, true) if theirs.stdout == ours.stdout => return None,
        // Neither writes as NcML what it cannot say.
        (false, false) if theirs.stdout == ours.stdout => return None,
        (_, false) => How::Both,
        (false, true) if ours.stdout.starts_with(&theirs.stdout) => match theirs.in_time {
            true => How::Fails,
            false => How::Hangs,
        },
        _ => How::Errs,
    };
    Some((how, theirs.why()))
}

/// `HOW | OPTIONS | FILE`.
type Entry = (How, String, String);

fn listed() -> BTreeSet<Entry> {
    let text = include_str!("ncdump_differs.txt");
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let entry = |line: &str| {
        let parts: Vec<&str> = line.splitn(4, '|').map(str::trim).collect();
        let [how, options, file, reason] = parts[..] else { panic!("not an entry: {line}") };
        assert!(!reason.is_empty(), "without a reason: {line}");
        let how = How::NAMES.iter().find(|(name, _)| *name == how).expect(line).1;
        (how, options.to_owned(), file.to_owned())
    };
    lines.map(entry).collect()
}

/// All differences, and what ncdump said.
fn differences(
    root: &Path,
    cases: &[Case<'_>],
    patience: impl Fn(Case<'_>) -> Duration + Sync,
) -> BTreeSet<(Entry, String)> {
    let next = AtomicUsize::new(0);
    let found = Mutex::new(BTreeSet::new());
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(&case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Some((how, why)) = difference(root, case, patience(case)) {
                        let (options, file) = (case.0.to_owned(), case.1.path.clone());
                        found.lock().unwrap().insert(((how, options, file), why));
                    }
                }
            });
        }
    });
    found.into_inner().unwrap()
}

/// Compares the cases, and the differences with those entries of the list that are about
/// `files`.
fn compare(root: &Path, cases: &[Case<'_>], is_about: impl Fn(&str) -> bool) {
    let listed: Vec<Entry> = listed().into_iter().filter(|entry| is_about(&entry.2)).collect();
    let patience = |case: Case<'_>| {
        let hangs = |entry: &Entry| entry.0 == How::Hangs && entry.2 == case.1.path;
        if listed.iter().any(hangs) { SHORT_PATIENCE } else { PATIENCE }
    };
    let found = differences(root, cases, patience);
    if let Some(path) = std::env::var_os("ISOTACH_DIFFERENCES") {
        let mut lines = fs::read_to_string(&path).unwrap_or_default();
        for ((how, options, file), why) in &found {
            writeln!(lines, "{} | {options} | {file} | {why}", how.name()).unwrap();
        }
        fs::write(path, lines).unwrap();
    }
    let covers = |entry: &Entry, (how, options, file): &Entry| {
        entry.0 == *how && (entry.1 == "*" || entry.1 == *options) && entry.2 == *file
    };
    let is_listed = |difference: &Entry| listed.iter().any(|entry| covers(entry, difference));
    let new: Vec<_> = found.iter().filter(|(difference, _)| !is_listed(difference)).collect();
    assert!(new.is_empty(), "these differ: {new:#?}");
    let is_found = |entry: &&Entry| found.iter().any(|(difference, _)| covers(entry, difference));
    let gone: Vec<_> = listed.iter().filter(|entry| !is_found(entry)).collect();
    assert!(gone.is_empty(), "these no longer differ, take them off the list: {gone:#?}");
}

#[test]
fn netcdf_files_dump_as_ncdump_dumps_them() {
    let Some(root) = corpus().filter(|_| has_ncdump()) else { return };
    let files = files(&root);
    let cases = netcdf_cases(&files);
    assert!(cases.len() > 2000, "only {} cases in the corpus", cases.len());
    compare(&root, &cases, |path| cases.iter().any(|case| case.1.path == path));
}

#[test]
fn hdf5_files_dump_as_ncdump_dumps_them() {
    let Some(root) = corpus().filter(|_| has_ncdump()) else { return };
    let files = files(&root);
    let cases = hdf5_cases(&files);
    assert!(cases.len() > 1000, "only {} cases in the corpus", cases.len());
    compare(&root, &cases, |path| cases.iter().any(|case| case.1.path == path));
}
