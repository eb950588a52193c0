//! CDL texts: what they define, beside what ncgen makes of them (the corpus's golden JSON).
//!
//! Where the two differ for a reason, the reason stands in `generate_differs.txt`.

mod support;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use isotach::model::{DataType, UserClass, UserType, Values, fill};
use isotach_cli::generate::{self, Attribute, Definitions, Variable};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use support::differences::files;
use support::{corpus, isotach};

/// Variables without data are compared up to this many elements.
const MAX_FILLED: usize = 1 << 20;
/// Files larger than this are not dumped.
const MAX_FILE_BYTES: u64 = 1 << 20;

fn texts(root: &Path) -> Vec<PathBuf> {
    let mut texts = Vec::new();
    for folder in std::fs::read_dir(root).unwrap() {
        for text in std::fs::read_dir(folder.unwrap().path()).unwrap() {
            texts.push(text.unwrap().path());
        }
    }
    texts.retain(|path| path.extension().is_some_and(|extension| extension == "cdl"));
    texts.sort();
    texts
}

/// Lines of `text: reason`.
fn listed() -> HashMap<&'static str, &'static str> {
    let lines = include_str!("generate_differs.txt").lines();
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| line.split_once(": ").unwrap()).collect()
}

/// Holds what differs against the list.
#[derive(Default)]
struct Judge {
    alike: usize,
    wrong: Vec<String>,
}

impl Judge {
    fn hear(&mut self, name: &str, difference: Option<String>) {
        match (difference, listed().contains_key(name)) {
            (None, false) => self.alike += 1,
            (Some(_), true) => {}
            (Some(difference), false) => self.wrong.push(format!("{name}: {difference}")),
            (None, true) => self.wrong.push(format!("{name}: is listed and does not differ")),
        }
    }

    fn say(self, least_alike: usize) {
        let Self { alike, wrong } = self;
        assert!(wrong.is_empty(), "{alike} are alike, {} not:\n{}", wrong.len(), wrong.join("\n"));
        assert!(alike >= least_alike, "{alike}");
    }
}

#[test]
fn texts_define_what_ncgen_makes_of_them() {
    let Some(root) = corpus().map(|root| root.join("cdl")) else { return };
    let mut judge = Judge::default();
    for path in texts(&root) {
        let name = path.strip_prefix(&root).unwrap().to_str().unwrap();
        judge.hear(name, difference(&path));
    }
    judge.say(270);
}

/// `isotach dump` with all digits, taken back: what the file has, but for what CDL cannot say.
#[test]
fn dumps_define_what_the_file_has() {
    let Some(root) = corpus() else { return };
    let mut judge = Judge::default();
    for file in files(&root) {
        let path = root.join(&file.path);
        let is_small = std::fs::metadata(&path).unwrap().len() < MAX_FILE_BYTES;
        if !is_small || !file.is(&["classic", "netcdf4"]) {
            continue;
        }
        let dumped = isotach(&["dump", "-p", "9,17", path.to_str().unwrap()]);
        if dumped.code == Some(0) {
            let golden = &file.golden["netcdf"]["root"];
            let difference = match generate::definitions(&dumped.stdout) {
                Ok(made) => differs(golden, &group(&made, 0), ""),
                Err(error) => Some(error.to_string()),
            };
            judge.hear(&file.path, difference);
        }
    }
    judge.say(200);
}

/// What differs between the text's definitions and its golden, where it has one.
fn difference(path: &Path) -> Option<String> {
    let made = generate::definitions(&std::fs::read(path).unwrap());
    let golden = std::fs::read(path.with_extension("cdl.json")).ok()?;
    let golden: Value = serde_json::from_slice(&golden).unwrap();
    match made {
        Ok(made) => differs(&golden["netcdf"]["root"], &group(&made, 0), ""),
        Err(error) => Some(error.to_string()),
    }
}

/// The first difference of two values; `made` may have less.
fn differs(golden: &Value, made: &Value, at: &str) -> Option<String> {
    match (golden, made) {
        _ if loses_zeros(golden, made) => None,
        (Value::Object(golden), Value::Object(made)) => made.iter().find_map(|(key, value)| {
            differs(golden.get(key).unwrap_or(&Value::Null), value, &format!("{at}/{key}"))
        }),
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

fn group(all: &Definitions, index: usize) -> Value {
    let group = &all.groups[index];
    let is_here = |path: &str| path == group.path;
    let dims = all
        .dimensions
        .iter()
        .filter(|dimension| dimension.group == index)
        .map(|one| json!({ "name": one.name, "len": one.len, "unlimited": one.is_unlimited }));
    let types = all.types.iter().filter(|user| is_here(&user.group)).map(|user| user_type(user));
    let vars = all.variables.iter().filter(|variable| variable.group == index);
    let children = (0..all.groups.len()).filter(|&child| all.groups[child].parent == Some(index));
    json!({
        "name": group.name,
        "dims": dims.collect::<Value>(),
        "types": types.collect::<Value>(),
        "atts": attributes(&group.attributes),
        "vars": vars.map(|variable| self::variable(all, variable)).collect::<Value>(),
        "groups": children.map(|child| self::group(all, child)).collect::<Value>(),
    })
}

fn user_type(user: &UserType) -> Value {
    match &user.class {
        UserClass::Compound(fields) => {
            let fields = fields.iter().map(|field| {
                json!({ "name": field.name, "type": field.data_type.path(), "shape": field.shape })
            });
            json!({ "name": user.name, "class": "compound", "fields": fields.collect::<Value>() })
        }
        UserClass::Enum { base, members } => {
            let members = members.iter().map(|(name, value)| json!([name, *value as i64]));
            json!({
                "name": user.name, "class": "enum", "base": base.name(),
                "members": members.collect::<Value>(),
            })
        }
        UserClass::Opaque => json!({ "name": user.name, "class": "opaque", "size": user.size }),
        UserClass::Vlen(base) => {
            json!({ "name": user.name, "class": "vlen", "base": base.path() })
        }
    }
}

fn attributes(attributes: &[Attribute]) -> Value {
    let one = |attribute: &Attribute| {
        json!({
            "name": attribute.name, "type": attribute.data_type.path(),
            "len": attribute.values.len(), "sha256": digest(&attribute.values.canonical_bytes()),
        })
    };
    attributes.iter().map(one).collect()
}

fn variable(all: &Definitions, variable: &Variable) -> Value {
    let path = |&index: &usize| {
        let dimension = &all.dimensions[index];
        let group = all.groups[dimension.group].path.trim_end_matches('/');
        format!("{group}/{}", dimension.name)
    };
    let shape = all.shape(variable);
    let mut shown = json!({
        "name": variable.name, "type": variable.data_type.path(), "shape": shape,
        "dims": variable.dimensions.iter().map(path).collect::<Value>(),
        "atts": attributes(&variable.attributes),
    });
    let count = shape.iter().product::<u64>() as usize;
    if count > MAX_FILLED || (variable.data.is_none() && variable.settings.no_fill == Some(true)) {
        return shown;
    }
    let given = variable.data.clone().unwrap_or_else(|| Values::empty(&variable.data_type));
    if let Some(filled) = filled(variable, &given, count) {
        shown["data_sha256"] = digest(&filled).into();
    }
    shown
}

/// The values followed by the variable's fill value; `None` where netCDF has none of the type.
fn filled(variable: &Variable, given: &Values, count: usize) -> Option<Vec<u8>> {
    let mut bytes = given.canonical_bytes();
    if given.len() < count {
        let fill = variable.attributes.iter().find(|attribute| attribute.name == "_FillValue");
        let fill = match (fill, &variable.data_type) {
            (Some(fill), _) => fill.values.clone(),
            (None, DataType::Atomic(atomic)) => fill::default_fill(*atomic),
            (None, _) => return None,
        };
        bytes.extend(fill.repeat(count - given.len()).canonical_bytes());
    }
    Some(bytes)
}

fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
