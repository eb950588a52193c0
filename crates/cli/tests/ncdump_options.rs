//! Options of `isotach dump` in all combinations, given once and again, right and wrong, drawn at random on
//! netCDF files of the corpus: the same bytes as Debian's `ncdump`, and success where it succeeds.
//!
//! Left aside is what `ncdump_differs.txt` lists, and by design
//! - `-v /var` for a variable of the root group, which `ncdump` does not find: it wants `//var`;
//! - paths in `-v` together with `-x`, where `ncdump` gives up;
//! - no argument at all: `ncdump` prints how it is called, and calls that a success;
//! - `-X m` of files that are too short, which `ncdump` then cannot read.

mod support;

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use isotach_testkit::random::Random;
use serde_json::Value;
use support::differences::{Tried, files, listed};
use support::{corpus, ended, has_ncdump, rival, tries_more};

const PATIENCE: Duration = Duration::from_secs(60);
const LARGEST_FILE: u64 = 120_000;
/// Options without values.
const FLAGS: [&str; 10] = ["-h", "-c", "-t", "-i", "-k", "-K", "-s", "-x", "-F", "-w"];
/// Options with values that are not names, and what is tried of them.
const VALUES: [(&str, &[&str]); 8] = [
    ("-b", &["c", "C", "c++", "x", ""]),
    ("-f", &["c", "C", "c++", "x", ""]),
    ("-l", &["10", "11", "20", "79", "1000", "9", "-5", "abc", "0x30", "050", "50x", "4294967376"]),
    ("-n", &["name", "", "a b", "1x", "-h", "a/b", "x\"y"]),
    ("-p", &["1", "3", "9,17", "20,20", ",4", "", "0", "21", "4,", "7.5", "+3", " 3", "3x,4", "x"]),
    ("-d", &["1", "3", "9,17", "20,20", ",4", "", "0", "21", "4,", "7.5", "+3", " 3", "3x,4", "x"]),
    ("-X", &["p", "Pm", "z", ""]),
    ("-L", &["0", "1", "x"]),
];
/// As above; scalars have chance in the place of Fortran's index.
const FORTRAN: [&str; 3] = ["f", "F", "fortran"];

/// A file and the paths in it.
struct Subject {
    path: String,
    variables: Vec<String>,
    groups: Vec<String>,
    has_scalars: bool,
}

impl Subject {
    fn new(root: &Path, file: &Tried) -> Self {
        let mut subject = Self {
            path: root.join(&file.path).to_string_lossy().into_owned(),
            variables: Vec::new(),
            groups: vec!["/".to_owned()],
            has_scalars: false,
        };
        subject.collect(&file.golden["netcdf"]["root"], "");
        subject
    }

    fn collect(&mut self, group: &Value, path: &str) {
        let members = |kind: &str| group[kind].as_array().cloned().unwrap_or_default();
        for variable in members("vars") {
            self.variables.push(format!("{path}/{}", variable["name"].as_str().unwrap()));
            self.has_scalars |= variable["shape"] == Value::Array(Vec::new());
        }
        for child in members("groups") {
            let path = format!("{path}/{}", child["name"].as_str().unwrap());
            self.groups.push(path.clone());
            self.collect(&child, &path);
        }
    }

    /// Some of the names, whole or their ends, and sometimes one that is not there.
    fn names(&self, random: &mut Random, paths: &[String]) -> String {
        let name = |random: &mut Random| {
            if paths.is_empty() || random.below(20) == 0 {
                return "nope".to_owned();
            }
            let path = drawn(random, paths);
            let last = path.rsplit('/').next().unwrap().to_owned();
            match random.below(3) {
                0 => format!("/{path}"),
                // An empty name has ncdump look at memory that it has not written.
                _ if last.is_empty() => path.clone(),
                1 => path.trim_start_matches('/').to_owned(),
                _ => last,
            }
        };
        let count = 1 + random.below(3);
        (0..count).map(|_| name(random)).collect::<Vec<_>>().join(",")
    }

    fn option(&self, random: &mut Random) -> Vec<String> {
        let (letter, value) = match random.below(8) {
            0..=2 => return vec![(*drawn(random, &FLAGS)).to_owned()],
            3 => ("-v", self.names(random, &self.variables)),
            4 => ("-g", self.names(random, &self.groups)),
            _ => {
                let &(letter, values) = drawn(random, &VALUES);
                let annotates = letter == "-b" || letter == "-f";
                let fortran = annotates && !self.has_scalars && random.below(2) == 0;
                (letter, (*drawn(random, if fortran { &FORTRAN } else { values })).to_owned())
            }
        };
        if random.below(2) == 0 && !value.is_empty() {
            vec![format!("{letter}{value}")]
        } else {
            vec![letter.to_owned(), value]
        }
    }

    /// All arguments: options before and behind the file.
    fn arguments(&self, random: &mut Random) -> Vec<String> {
        let count = 1 + random.below(5);
        let mut arguments: Vec<String> = (0..count).flat_map(|_| self.option(random)).collect();
        match random.below(40) {
            0 => {}
            1 => arguments.extend([self.path.clone(), self.path.clone()]),
            2 => arguments.push(format!("{}.missing", self.path)),
            3 => arguments.extend(["-Z".to_owned(), self.path.clone()]),
            4 => arguments.extend(["--".to_owned(), self.path.clone()]),
            5 => arguments.extend(["--".to_owned(), "-k".to_owned(), self.path.clone()]),
            6..=9 => arguments.insert(0, self.path.clone()),
            _ => arguments.push(self.path.clone()),
        }
        arguments
    }
}

fn drawn<'t, T>(random: &mut Random, all: &'t [T]) -> &'t T {
    &all[random.below(all.len() as u64) as usize]
}

/// Whether both do something that ncdump cannot do.
fn is_left_aside(arguments: &[String]) -> bool {
    arguments.iter().any(|argument| argument == "-x")
        && arguments.iter().any(|argument| argument.contains("//") || argument.contains(",/"))
}

#[test]
fn options_combine_as_those_of_ncdump() {
    let Some(root) = corpus().filter(|_| has_ncdump()) else { return };
    let listed = listed(include_str!("ncdump_differs.txt"));
    let is_tried = |file: &&Tried| {
        file.is(&["classic", "netcdf4"])
            && root.join(&file.path).metadata().unwrap().len() <= LARGEST_FILE
            && !listed.iter().any(|entry| entry.file == file.path)
    };
    let all = files(&root);
    let subjects: Vec<_> =
        all.iter().filter(is_tried).map(|file| Subject::new(&root, file)).collect();
    assert!(subjects.len() > 100, "only {} files", subjects.len());
    let mut random = Random::new(0x0d07);
    let (mut shown, mut wrong) = (0, Vec::new());
    for _ in 0..if tries_more() { 5000 } else { 400 } {
        let arguments = drawn(&mut random, &subjects).arguments(&mut random);
        if is_left_aside(&arguments) {
            continue;
        }
        let theirs = ended(rival("ncdump").args(&arguments), PATIENCE);
        let mut ours = Command::new(env!("CARGO_BIN_EXE_isotach"));
        let ours = ended(ours.arg("dump").args(&arguments), PATIENCE);
        let succeed = (theirs.code == Some(0), ours.code == Some(0));
        shown += usize::from(succeed.0);
        if succeed.0 != succeed.1 || ours.code.is_none() || theirs.stdout != ours.stdout {
            wrong.push((arguments, theirs.why(), ours.why()));
        }
    }
    assert!(shown > 150, "only {shown} cases that ncdump shows");
    assert!(wrong.is_empty(), "these differ: {wrong:#?}");
}
