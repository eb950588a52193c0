//! The corpus's texts in CDL, and holding what comes of them against golden JSON.

use std::collections::HashMap;
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

/// Holds what differs against a list of `name: reason`.
pub struct Judge {
    listed: HashMap<&'static str, &'static str>,
    alike: usize,
    wrong: Vec<String>,
}

impl Judge {
    pub fn of(list: &'static str) -> Self {
        let lines = list.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let listed = lines.map(|line| line.split_once(": ").unwrap()).collect();
        Self { listed, alike: 0, wrong: Vec::new() }
    }

    pub fn hear(&mut self, name: &str, difference: Option<String>) {
        match (difference, self.listed.contains_key(name)) {
            (None, false) => self.alike += 1,
            (Some(_), true) => {}
            (Some(difference), false) => self.wrong.push(format!("{name}: {difference}")),
            (None, true) => self.wrong.push(format!("{name}: is listed and does not differ")),
        }
    }

    pub fn say(self, least_alike: usize) {
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
