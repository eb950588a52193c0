//! Comparing with another program on every file of the corpus: the files, and lists of differences.
//!
//! A list's lines are `HOW | OPTIONS | FILE | REASON`, one for each file. Between options stands `;`,
//! and `*` stands for all options. HOW is one of
//!
//! - `fails`: the other program fails or dies; ours goes on, from the same beginning.
//! - `hangs`: the other does not end, and ours does, from the same beginning.
//! - `errs`: the other shows what is not in the file or not all of it. It may fail over it, too.
//! - `lacks`: the other shows all of it. Ours does not, and says so with its exit code.
//!
//! A difference that is not listed, or not in the way that is listed, fails the test. So does a line
//! of which a file or an option no longer differs: the list can only shrink. `ISOTACH_DIFFERENCES=FILE`
//! writes there what differs, as lines of the list. Cases that were not tried in a run are not judged.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::plugins;

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

    /// Whether HDF5 itself has all filters of the file. For others the other program asks hdf5plugin.
    fn has_only_filters_of_hdf5(&self) -> bool {
        let is_of_hdf5 = |filter: &serde_json::Value| filter[0].as_u64().is_some_and(|id| id <= 6);
        let objects = self.golden["hdf5"]["objects"].as_object();
        let filters =
            objects.into_iter().flatten().filter_map(|(_, one)| one["filters"].as_array());
        filters.flatten().all(is_of_hdf5)
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
    Lacks,
}

impl How {
    const NAMES: [(&'static str, Self); 4] = [
        ("fails", Self::Fails),
        ("hangs", Self::Hangs),
        ("errs", Self::Errs),
        ("lacks", Self::Lacks),
    ];

    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, how)| *how == self).unwrap().0
    }
}

/// A line of a list.
#[derive(Debug, PartialEq, Eq)]
pub struct Entry {
    pub how: How,
    /// None stands for all options.
    options: Option<Vec<String>>,
    pub file: String,
}

impl Entry {
    fn of(line: &str) -> Self {
        let parts: Vec<&str> = line.splitn(4, '|').map(str::trim).collect();
        let [how, options, file, reason] = parts[..] else { panic!("not an entry: {line}") };
        assert!(!reason.is_empty(), "without a reason: {line}");
        let how = How::NAMES.iter().find(|(name, _)| *name == how).expect(line).1;
        let each = || options.split(';').map(|options| options.trim().to_owned()).collect();
        Self { how, options: (options != "*").then(each), file: file.to_owned() }
    }

    /// Whether the line is about these options, on whatever file.
    fn has(&self, options: &str) -> bool {
        self.options.as_ref().is_none_or(|listed| listed.iter().any(|listed| listed == options))
    }

    fn covers(&self, found: &Found) -> bool {
        let fails_too = self.how == How::Errs && found.how == How::Fails;
        self.file == found.file && self.has(&found.options) && (self.how == found.how || fails_too)
    }
}

/// The entries of a list: one for a file.
pub fn listed(list: &str) -> Vec<Entry> {
    let lines = list.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let entries: Vec<Entry> = lines.map(Entry::of).collect();
    let files: BTreeSet<&str> = entries.iter().map(|entry| entry.file.as_str()).collect();
    assert_eq!(files.len(), entries.len(), "a file stands on two lines");
    entries
}

/// A difference in a case.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Found {
    pub how: How,
    pub options: String,
    pub file: String,
    /// What the other program said.
    pub why: String,
}

/// How the two programs differ in a case, and what the other said; `None` where they do not, or
/// there is no such case.
pub type Difference = Option<(How, String)>;

fn differences(
    cases: &[Case<'_>],
    difference: impl Fn(Case<'_>) -> Difference + Sync,
) -> BTreeSet<Found> {
    let next = AtomicUsize::new(0);
    let found = Mutex::new(BTreeSet::new());
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(&case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Some((how, why)) = difference(case) {
                        let (options, file) = (case.0.to_owned(), case.1.path.clone());
                        found.lock().unwrap().insert(Found { how, options, file, why });
                    }
                }
            });
        }
    });
    found.into_inner().unwrap()
}

/// The differences that no entry covers.
fn unlisted<'f>(listed: &[Entry], found: &'f BTreeSet<Found>) -> Vec<&'f Found> {
    let is_listed = |found: &Found| listed.iter().any(|entry| entry.covers(found));
    found.iter().filter(|found| !is_listed(found)).collect()
}

/// The files on the list, with the options of their lines, that were tried and no longer differ.
fn gone<'l>(
    listed: &'l [Entry],
    tried: &[(&str, &str)],
    found: &BTreeSet<Found>,
) -> Vec<(&'l str, &'l str)> {
    let mut gone = Vec::new();
    for entry in listed {
        let is_tried = |options: &str| {
            tried.iter().any(|&(tried, file)| file == entry.file && tried == options)
        };
        let differs = |options: &str| {
            found.iter().any(|found| found.options == options && entry.covers(found))
        };
        match &entry.options {
            None => {
                let is_tried = tried.iter().any(|&(_, file)| file == entry.file);
                if is_tried && !found.iter().any(|found| entry.covers(found)) {
                    gone.push((entry.file.as_str(), "*"));
                }
            }
            Some(each) => gone.extend(
                each.iter()
                    .filter(|options| is_tried(options) && !differs(options))
                    .map(|options| (entry.file.as_str(), options.as_str())),
            ),
        }
    }
    gone
}

/// Compares the cases, and the differences with those entries of the list that the cases are of. Where
/// there is no hdf5plugin, files with its filters are left out.
pub fn compare(
    cases: &[Case<'_>],
    listed: &[Entry],
    difference: impl Fn(Case<'_>) -> Difference + Sync,
) {
    let mut cases = cases.to_vec();
    if plugins().is_none() {
        eprintln!("LEFT OUT: there is no hdf5plugin, and files with its filters are not tried");
        cases.retain(|case| case.1.has_only_filters_of_hdf5());
    }
    let found = differences(&cases, difference);
    if let Some(path) = std::env::var_os("ISOTACH_DIFFERENCES") {
        let mut lines = fs::read_to_string(&path).unwrap_or_default();
        for Found { how, options, file, why } in &found {
            writeln!(lines, "{} | {options} | {file} | {why}", how.name()).unwrap();
        }
        fs::write(path, lines).unwrap();
    }
    let new = unlisted(listed, &found);
    assert!(new.is_empty(), "these differ: {new:#?}");
    let tried: Vec<_> = cases.iter().map(|case| (case.0, case.1.path.as_str())).collect();
    let gone = gone(listed, &tried, &found);
    assert!(gone.is_empty(), "these no longer differ, take them off the list: {gone:#?}");
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "# of two files\nfails | -h; -s | a | so\nerrs | * | b | so\n";

    fn found(how: How, options: &str, file: &str) -> Found {
        Found { how, options: options.to_owned(), file: file.to_owned(), why: String::new() }
    }

    fn all() -> BTreeSet<Found> {
        [("-h", How::Fails, "a"), ("-s", How::Fails, "a"), ("-h", How::Fails, "b")]
            .map(|(options, how, file)| found(how, options, file))
            .into()
    }

    #[test]
    fn an_entry_that_no_longer_differs_is_told() {
        let (listed, mut found) = (listed(LIST), all());
        let tried = [("-h", "a"), ("-s", "a"), ("-h", "b"), ("-s", "b")];
        assert!(gone(&listed, &tried, &found).is_empty());
        found.retain(|found| found.options == "-h");
        assert_eq!(gone(&listed, &tried, &found), [("a", "-s")]);
        found.clear();
        assert_eq!(gone(&listed, &tried, &found), [("a", "-h"), ("a", "-s"), ("b", "*")]);
        assert_eq!(gone(&listed, &tried[..1], &found), [("a", "-h")]);
    }

    #[test]
    fn what_differs_in_another_way_is_told() {
        let (listed, mut all) = (listed(LIST), all());
        assert!(unlisted(&listed, &all).is_empty());
        let new = [(How::Errs, "-h", "a"), (How::Fails, "-c", "a"), (How::Lacks, "-h", "b")];
        let new = new.map(|(how, options, file)| found(how, options, file));
        all.extend(new.iter().map(|new| found(new.how, &new.options, &new.file)));
        assert_eq!(unlisted(&listed, &all).len(), new.len());
    }

    #[test]
    #[should_panic(expected = "a file stands on two lines")]
    fn a_file_has_one_line() {
        listed("fails | -h | a | so\nerrs | -s | a | so\n");
    }

    #[test]
    #[should_panic(expected = "without a reason")]
    fn a_line_has_a_reason() {
        listed("fails | -h | a |");
    }
}
