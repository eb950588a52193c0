//! Comparing with another program on every file of the corpus: the files, and lists of differences.
//!
//! A list's lines are `HOW | OPTIONS | FILE | REASON`; `*` stands for all options. HOW is one of
//!
//! - `fails`: the other program fails or dies; ours goes on, from the same beginning.
//! - `hangs`: the other does not end, and ours does, from the same beginning.
//! - `errs`: the other shows, or showed before it failed, what is not in the file or not all of it.
//! - `chance`: the other shows what was in memory: it errs, fails, or happens to be right.
//! - `both`: neither can show all of it, and ours says so with its exit code.
//!
//! A difference that is not listed, or not in the way that is listed, fails the test, and so does
//! an entry that no longer differs: the list can only shrink. `ISOTACH_DIFFERENCES=FILE` writes
//! there what differs, as lines of the list. Cases that were not tried in a run are not judged.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A file of the corpus, its path below the corpus.
pub struct Tried {
    pub path: String,
    pub golden: serde_json::Value,
}

impl Tried {
    pub fn is(&self, flavours: &[&str]) -> bool {
        self.golden["_flavour"].as_str().is_some_and(|flavour| flavours.contains(&flavour))
    }

    /// The names of the members of a kind (`vars`, `groups`) in the root group.
    pub fn names(&self, kind: &str) -> Vec<&str> {
        let members = self.golden["netcdf"]["root"][kind].as_array();
        members.into_iter().flatten().filter_map(|member| member["name"].as_str()).collect()
    }

    /// The options with this file's own names in them; `None` where it has none.
    pub fn options(&self, template: &str) -> Option<Vec<String>> {
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
pub fn files(root: &Path) -> Vec<Tried> {
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
pub type Case<'f> = (&'static str, &'f Tried);

/// How the two differ; see above.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum How {
    Fails,
    Hangs,
    Errs,
    Chance,
    Both,
}

impl How {
    const NAMES: [(&'static str, Self); 5] = [
        ("fails", Self::Fails),
        ("hangs", Self::Hangs),
        ("errs", Self::Errs),
        ("chance", Self::Chance),
        ("both", Self::Both),
    ];

    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, how)| *how == self).unwrap().0
    }
}

/// `HOW | OPTIONS | FILE`.
pub type Entry = (How, String, String);

/// The entries of a list.
pub fn listed(list: &str) -> Vec<Entry> {
    let lines = list.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let entry = |line: &str| {
        let parts: Vec<&str> = line.splitn(4, '|').map(str::trim).collect();
        let [how, options, file, reason] = parts[..] else { panic!("not an entry: {line}") };
        assert!(!reason.is_empty(), "without a reason: {line}");
        let how = How::NAMES.iter().find(|(name, _)| *name == how).expect(line).1;
        (how, options.to_owned(), file.to_owned())
    };
    lines.map(entry).collect()
}

/// How the two programs differ in a case, and what the other said; `None` where they do not, or
/// there is no such case.
pub type Difference = Option<(How, String)>;

fn differences(
    cases: &[Case<'_>],
    difference: impl Fn(Case<'_>) -> Difference + Sync,
) -> BTreeSet<(Entry, String)> {
    let next = AtomicUsize::new(0);
    let found = Mutex::new(BTreeSet::new());
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(&case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Some((how, why)) = difference(case) {
                        let (options, file) = (case.0.to_owned(), case.1.path.clone());
                        found.lock().unwrap().insert(((how, options, file), why));
                    }
                }
            });
        }
    });
    found.into_inner().unwrap()
}

/// Compares the cases, and the differences with those entries of the list that the cases are of.
pub fn compare(
    cases: &[Case<'_>],
    listed: &[Entry],
    difference: impl Fn(Case<'_>) -> Difference + Sync,
) {
    let found = differences(cases, difference);
    if let Some(path) = std::env::var_os("ISOTACH_DIFFERENCES") {
        let mut lines = fs::read_to_string(&path).unwrap_or_default();
        for ((how, options, file), why) in &found {
            writeln!(lines, "{} | {options} | {file} | {why}", how.name()).unwrap();
        }
        fs::write(path, lines).unwrap();
    }
    let is_of = |(_, listed_options, listed_file): &Entry, options: &str, file: &str| {
        (listed_options == "*" || listed_options == options) && listed_file == file
    };
    let covers = |entry: &Entry, (how, options, file): &Entry| {
        let by_chance = entry.0 == How::Chance && matches!(how, How::Errs | How::Fails);
        (entry.0 == *how || by_chance) && is_of(entry, options, file)
    };
    let is_listed = |difference: &Entry| listed.iter().any(|entry| covers(entry, difference));
    let new: Vec<_> = found.iter().filter(|(difference, _)| !is_listed(difference)).collect();
    assert!(new.is_empty(), "these differ: {new:#?}");
    let is_tried = |entry: &&Entry| cases.iter().any(|case| is_of(entry, case.0, &case.1.path));
    let is_found = |entry: &&Entry| found.iter().any(|(difference, _)| covers(entry, difference));
    let tried = listed.iter().filter(|entry| entry.0 != How::Chance).filter(is_tried);
    let gone: Vec<_> = tried.filter(|entry| !is_found(entry)).collect();
    assert!(gone.is_empty(), "these no longer differ, take them off the list: {gone:#?}");
}
