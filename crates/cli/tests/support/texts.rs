//! The corpus's texts in CDL, and holding what comes of them against golden JSON.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

/// All texts below the folder, in order.
pub fn texts(root: &Path) -> Vec<String> {
    let mut texts = Vec::new();
    for folder in std::fs::read_dir(root).unwrap() {
        for text in std::fs::read_dir(folder.unwrap().path()).unwrap() {
            texts.push(text.unwrap().path());
        }
    }
    texts.retain(|path| path.extension().is_some_and(|extension| extension == "cdl"));
    let name = |path: &Path| path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
    let mut names: Vec<String> = texts.iter().map(|path| name(path)).collect();
    names.sort();
    names
}

/// `TESTS | TEXT OR FILE | REASON`, one line for each. TESTS are `definitions` (`generate.rs`), `files`
/// (`generate_files.rs`) or `both`.
const LIST: &str = include_str!("../generate_differs.txt");

/// Holds what differs against the list. What is listed and does not differ is wrong, too.
pub struct Judge {
    listed: BTreeSet<&'static str>,
    alike: usize,
    wrong: Vec<String>,
}

impl Judge {
    /// Of texts, or of files.
    pub fn of(test: &str, texts: bool) -> Self {
        Self::with_list(LIST, test, texts)
    }

    fn with_list(list: &'static str, test: &str, texts: bool) -> Self {
        let lines = list.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let (mut names, mut listed) = (BTreeSet::new(), BTreeSet::new());
        for line in lines {
            let parts: Vec<&str> = line.splitn(3, '|').map(str::trim).collect();
            let [tests, name, reason] = parts[..] else { panic!("not an entry: {line}") };
            assert!(["definitions", "files", "both"].contains(&tests), "no such test: {line}");
            assert!(!reason.is_empty(), "without a reason: {line}");
            assert!(names.insert(name), "on two lines: {name}");
            if (tests == test || tests == "both") && name.ends_with(".cdl") == texts {
                listed.insert(name);
            }
        }
        Self { listed, alike: 0, wrong: Vec::new() }
    }

    pub fn hear(&mut self, name: &str, difference: Option<String>) {
        match (difference, self.listed.remove(name)) {
            (None, false) => self.alike += 1,
            (Some(_), true) => {}
            (Some(difference), false) => self.wrong.push(format!("{name}: {difference}")),
            (None, true) => self.wrong.push(format!("{name}: is listed and does not differ")),
        }
    }

    pub fn say(mut self, least_alike: usize) {
        let absent = self.listed.iter().map(|name| format!("{name}: is listed and not there"));
        self.wrong.extend(absent);
        let Self { alike, wrong, .. } = self;
        assert!(wrong.is_empty(), "{alike} are alike, {} not:\n{}", wrong.len(), wrong.join("\n"));
        assert!(alike >= least_alike, "{alike}");
    }
}

/// The first difference of two values; `made` may have less, and what begins with `_` is not
/// compared.
pub fn differs(golden: &Value, made: &Value, at: &str) -> Option<String> {
    match (golden, made) {
        _ if loses_zeros(golden, made) => None,
        // The oracle did not read them.
        (Value::Null, _) if at.ends_with("/data_sha256") => None,
        (Value::Object(golden), Value::Object(made)) => {
            made.iter().filter(|(key, _)| !key.starts_with('_')).find_map(|(key, value)| {
                differs(golden.get(key).unwrap_or(&Value::Null), value, &format!("{at}/{key}"))
            })
        }
        (Value::Array(golden), Value::Array(made)) if golden.len() == made.len() => golden
            .iter()
            .zip(made)
            .enumerate()
            .find_map(|(index, (golden, made))| differs(golden, made, &format!("{at}/{index}"))),
        _ if golden == made => None,
        _ => Some(format!("{at}: {golden} is {made} here")),
    }
}

/// CDL does not say how many zero bytes end an attribute's text, and that one has no byte at all.
fn loses_zeros(golden: &Value, made: &Value) -> bool {
    let (golden_len, made_len) = (golden["len"].as_u64(), made["len"].as_u64());
    made["type"] == "char"
        && golden["type"] == "char"
        && (golden_len > made_len || golden_len == Some(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str =
        "files | a.cdl | so\nboth | b.cdl | so\ndefinitions | c.cdl | so\nfiles | d | so";

    fn judge(heard: &[(&str, bool)]) {
        let mut judge = Judge::with_list(LIST, "files", true);
        for (name, differs) in heard {
            judge.hear(name, differs.then(|| "differs".to_owned()));
        }
        judge.say(1);
    }

    #[test]
    fn what_is_listed_may_differ() {
        judge(&[("a.cdl", true), ("b.cdl", true), ("e.cdl", false)]);
    }

    #[test]
    #[should_panic(expected = "b.cdl: is listed and does not differ")]
    fn what_is_listed_has_to_differ() {
        judge(&[("a.cdl", true), ("b.cdl", false), ("e.cdl", false)]);
    }

    #[test]
    #[should_panic(expected = "b.cdl: is listed and not there")]
    fn what_is_listed_has_to_be_there() {
        judge(&[("a.cdl", true), ("e.cdl", false)]);
    }

    #[test]
    #[should_panic(expected = "c.cdl: differs")]
    fn what_is_not_listed_for_the_test_may_not_differ() {
        judge(&[("a.cdl", true), ("b.cdl", true), ("c.cdl", true)]);
    }
}
