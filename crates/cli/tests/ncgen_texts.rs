//! Odd texts: `isotach generate` beside Debian's `ncgen`. What both take has to be the same file as `isotach
//! dump` shows it; where both refuse, ours tells line and column.
//!
//! `ncgen_texts/differs.txt` has the constants and texts for which they differ, and why. `theirs`: only ncgen takes
//! it; `ours`: only ours does; `values`: the files differ. Each entry has to be met in a full run
//! (`ISOTACH_MORE_CASES=1`); others try a part.

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use support::{ended, has_ncdump, isotach, tries_more};

const PATIENCE: Duration = Duration::from_secs(60);
const TYPES: [&str; 12] = [
    "byte", "char", "short", "int", "float", "double", "ubyte", "ushort", "uint", "int64",
    "uint64", "string",
];
/// Where a constant of a type stands.
const PLACES: [&str; 3] = [
    "variables: TYPE v; data: v = CONSTANT;",
    "variables: int v; TYPE v:a = CONSTANT;",
    "variables: TYPE v; v:_FillValue = CONSTANT;",
];
const CONSTANTS: &str = include_str!("ncgen_texts/constants.txt");
const TEXTS: &str = include_str!("ncgen_texts/texts.txt");
const DIFFERS: &str = include_str!("ncgen_texts/differs.txt");

/// How the two differ; `None` where they do not.
fn difference(folder: &Path, body: &str) -> Option<&'static str> {
    let cdl = folder.join("x.cdl");
    fs::write(&cdl, format!("netcdf x {{\n{body}\n}}\n")).unwrap();
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let (theirs, ours) = (path("theirs.nc"), path("ours.nc"));
    for file in [&theirs, &ours] {
        let _was_there = fs::remove_file(file);
    }
    let mut ncgen = Command::new("ncgen");
    let made = ended(ncgen.args(["-k", "nc4", "-b", "-o", &theirs]).arg(&cdl), PATIENCE);
    let told = isotach(&["generate", "-k", "nc4", "-o", &ours, cdl.to_str().unwrap()]);
    let dump = |file: &str| isotach(&["dump", "-n", "x", "-p", "9,17", file]).text();
    match (made.code == Some(0) && Path::new(&theirs).exists(), told.code) {
        (true, Some(0)) => (dump(&theirs) != dump(&ours)).then_some("values"),
        (true, Some(1)) => Some("theirs"),
        (false, Some(0)) => Some("ours"),
        (false, Some(1)) => {
            let has_place = told.stderr.contains(": line ") && told.stderr.contains(", column ");
            assert!(has_place, "{body}: {}", told.stderr);
            None
        }
        (_, code) => panic!("{code:?}: {body}"),
    }
}

#[test]
fn odd_texts_are_what_ncgen_takes_them_for() {
    if !has_ncdump() {
        return;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ncgen_texts");
    fs::create_dir_all(&folder).unwrap();
    let lines = |text: &'static str| text.lines().filter(|line| !line.starts_with('#'));
    let mut cases: Vec<(&str, String)> = lines(TEXTS).map(|text| (text, text.to_owned())).collect();
    for constant in lines(CONSTANTS) {
        for (place, kind) in PLACES.iter().flat_map(|place| TYPES.map(|kind| (place, kind))) {
            let body = place.replace("TYPE", kind).replace("CONSTANT", constant);
            cases.push((constant, body));
        }
    }
    let listed: BTreeSet<(&str, &str)> = lines(DIFFERS)
        .map(|line| {
            let parts: Vec<_> = line.splitn(3, " | ").collect();
            let [how, reason, text] = parts[..] else { panic!("not an entry: {line}") };
            assert!(!reason.is_empty(), "without a reason: {line}");
            (how, text)
        })
        .collect();
    let every = if tries_more() { 1 } else { 19 };
    // Of a constant there are many cases, of a text one: that is tried where it is to differ.
    let is_text = |text: &str| !lines(CONSTANTS).any(|constant| constant == text);
    let has_to_differ =
        |text: &str| is_text(text) && listed.iter().any(|(_, other)| *other == text);
    let tried = cases
        .iter()
        .enumerate()
        .filter(|(at, (text, _))| at.is_multiple_of(every) || has_to_differ(text));
    let mut met = BTreeSet::new();
    for (_, (text, body)) in tried {
        if let Some(how) = difference(&folder, body) {
            assert!(listed.contains(&(how, *text)), "{how} | | {text}\nof {body}");
            met.insert((how, *text));
        }
    }
    let is_judged = |text: &str| tries_more() || is_text(text);
    let gone: Vec<_> = listed.difference(&met).filter(|(_, text)| is_judged(text)).collect();
    assert!(gone.is_empty(), "these no longer differ: {gone:#?}");
}
