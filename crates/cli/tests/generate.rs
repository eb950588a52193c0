//! CDL texts: what they define, beside what ncgen makes of them (the corpus's golden JSON).
//!
//! Where the two differ for a reason, the reason stands in `generate_differs.txt`.

mod support;

use std::path::Path;

use isotach::model::{Atomic, DataType, UserClass, UserType, Values, fill};
use isotach_cli::generate::{self, Attribute, Definitions, Variable};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use support::differences::files;
use support::texts::{Judge, differs, texts};
use support::{corpus, isotach};

/// Variables without data are compared up to this many elements.
const MAX_FILLED: usize = 1 << 20;
/// Files larger than this are not dumped.
const MAX_FILE_BYTES: u64 = 1 << 20;

#[test]
fn texts_define_what_ncgen_makes_of_them() {
    let Some(root) = corpus().map(|root| root.join("cdl")) else { return };
    let mut judge = Judge::of("definitions", true);
    for name in texts(&root) {
        judge.hear(&name, difference(&root.join(&name)));
    }
    judge.say(270);
}

/// `isotach dump` with all digits, taken back: what the file has, but for what CDL cannot say.
#[test]
fn dumps_define_what_the_file_has() {
    let Some(root) = corpus() else { return };
    let mut judge = Judge::of("definitions", false);
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

fn group(all: &Definitions, index: usize) -> Value {
    let group = &all.groups[index];
    let dims = all
        .dimensions
        .iter()
        .filter(|dimension| dimension.group == index)
        .map(|one| json!({ "name": one.name, "len": one.len, "unlimited": one.is_unlimited }));
    let types = all.types.iter().filter(|defined| defined.group == index);
    let vars = all.variables.iter().filter(|variable| variable.group == index);
    let children = (0..all.groups.len()).filter(|&child| all.groups[child].parent == Some(index));
    json!({
        "name": group.name,
        "dims": dims.collect::<Value>(),
        "types": types.map(|defined| user_type(&defined.user)).collect::<Value>(),
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
    // What is rounded off says so by itself, before all else that is said of it.
    let rounded = variable.settings.quantization.map(|quantization| {
        let (mode, significant) = quantization.parts();
        let values = Values::from([significant as i32]);
        let (name, data_type) = (mode.attribute_name().to_owned(), DataType::Atomic(Atomic::Int));
        Attribute { at: variable.at, name, data_type, values }
    });
    let stated: Vec<_> = rounded.into_iter().chain(variable.attributes.iter().cloned()).collect();
    let mut shown = json!({
        "name": variable.name, "type": variable.data_type.path(), "shape": shape,
        "dims": variable.dimensions.iter().map(path).collect::<Value>(),
        "atts": attributes(&stated),
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
