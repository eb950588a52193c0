//! Every netCDF file of the corpus: `isotach dump --json` beside `ncks --json` (NCO), as parsed.
//!
//! `ncks` leaves out control characters, so that texts are compared without them.
//!
//! Where the two differ for another reason, the reason stands in `ncks_differs.txt`; see
//! `support/differences.rs`.

mod support;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use support::differences::{Case, Difference, How, compare, files, listed};
use support::{Ended, corpus, ended, rival};

/// Options of ours, and what `ncks` calls the same.
const OPTIONS: [(&str, &[&str]); 2] = [("", &[]), ("-h", &["-m", "-M"])];
/// For both programs on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

fn has_ncks() -> bool {
    let version = Command::new("ncks").arg("--version").stdin(Stdio::null()).output();
    let has = version.is_ok_and(|output| output.status.success());
    if !has {
        eprintln!("LEFT OUT: there is no ncks (Debian's nco)");
    }
    has
}

/// The JSON of a program that went well; bytes that are no UTF-8 are taken for Latin-1.
fn parsed(ended: &Ended) -> Option<Value> {
    let mut text = String::new();
    for chunk in ended.stdout.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|&byte| char::from(byte)));
    }
    // Where there are no elements it writes nothing.
    let text = text.replace("\"data\": \n", "\"data\": []\n");
    serde_json::from_str(&text).ok().filter(|_| ended.code == Some(0))
}

fn difference(root: &Path, (options, file): Case<'_>) -> Difference {
    let path = root.join(&file.path);
    let run = |mut program: Command, options: &[&str]| {
        ended(program.args(options).arg("--json").arg(&path), PATIENCE)
    };
    let (_, their_options) = OPTIONS.iter().find(|(ours, _)| *ours == options).unwrap();
    let theirs = run(rival("ncks"), their_options);
    let our_options: Vec<&str> = ["dump"].into_iter().chain(options.split_whitespace()).collect();
    let ours = run(Command::new(env!("CARGO_BIN_EXE_isotach")), &our_options);
    let our_json = serde_json::from_slice(&ours.stdout);
    let mut our_json: Value = our_json.unwrap_or_else(|error| panic!("{}: {error}", file.path));
    remove_unused_dimensions(&mut our_json);
    let mut theirs_json = parsed(&theirs);
    for json in theirs_json.iter_mut().chain([&mut our_json]) {
        remove_control_characters(json);
    }
    let how = match (&theirs_json, ours.code == Some(0)) {
        (Some(theirs), true) if *theirs == our_json => return None,
        (_, false) => How::Lacks,
        (Some(_), true) => How::Errs,
        (None, true) => How::Fails,
    };
    let why = match theirs_json.and_then(|theirs| first_difference("", &theirs, &our_json)) {
        Some(difference) => difference,
        None if theirs.code == Some(0) => "its output is no JSON".to_owned(),
        None => theirs.why(),
    };
    Some((how, why))
}

/// Removes what `ncks` leaves out, dimensions that no variable has, and gives back the names
/// that variables use, in this group or in those below, of dimensions above it.
fn remove_unused_dimensions(group: &mut Value) -> BTreeSet<String> {
    let mut used = BTreeSet::new();
    if let Some(variables) = group["variables"].as_object() {
        let shapes = variables.values().filter_map(|variable| variable["shape"].as_array());
        let names = shapes.flatten().filter_map(Value::as_str);
        used.extend(names.map(str::to_owned));
    }
    if let Some(groups) = group.get_mut("groups").and_then(Value::as_object_mut) {
        used.extend(groups.values_mut().flat_map(remove_unused_dimensions));
    }
    let Some(group) = group.as_object_mut() else { return used };
    if let Some(dimensions) = group.get_mut("dimensions").and_then(Value::as_object_mut) {
        dimensions.retain(|name, _| used.contains(name));
        used.retain(|name| !dimensions.contains_key(name));
        if dimensions.is_empty() {
            group.remove("dimensions");
        }
    }
    used
}

fn remove_control_characters(value: &mut Value) {
    match value {
        Value::String(text) => text.retain(|found| !found.is_control()),
        Value::Array(all) => all.iter_mut().for_each(remove_control_characters),
        Value::Object(all) => all.values_mut().for_each(remove_control_characters),
        _ => {}
    }
}

/// Where two values differ first, with both.
fn first_difference(path: &str, theirs: &Value, ours: &Value) -> Option<String> {
    match (theirs, ours) {
        _ if theirs == ours => None,
        (Value::Object(theirs), Value::Object(ours)) => {
            let keys = theirs.keys().chain(ours.keys());
            let mut differences = keys.filter_map(|key| {
                let [theirs, ours] = [theirs, ours].map(|map| map.get(key).unwrap_or(&Value::Null));
                first_difference(&format!("{path}/{key}"), theirs, ours)
            });
            differences.next()
        }
        (Value::Array(theirs), Value::Array(ours)) if theirs.len() == ours.len() => {
            let mut pairs = theirs.iter().zip(ours);
            pairs.find_map(|(theirs, ours)| first_difference(path, theirs, ours))
        }
        _ => Some(format!("{path}: {:.60} for {:.60}", theirs.to_string(), ours.to_string())),
    }
}

#[test]
fn netcdf_files_become_the_json_that_ncks_makes_of_them() {
    let Some(root) = corpus().filter(|_| has_ncks()) else { return };
    let files = files(&root);
    let netcdf = files.iter().filter(|file| file.is(&["classic", "netcdf4"]));
    let cases: Vec<Case<'_>> =
        netcdf.flat_map(|file| OPTIONS.map(|(options, _)| (options, file))).collect();
    assert!(cases.len() > 400, "only {} cases in the corpus", cases.len());
    let listed = listed(include_str!("ncks_differs.txt"));
    compare(&cases, &listed, |case| difference(&root, case));
}
