//! HDF5's own view of every file of the corpus against what h5py found in it.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use isotach::OpenOptions;
use isotach::hdf5::{
    Attributes, Dataset, Dataspace, FillStatus, Group, LayoutKind, Link, LinkTarget, Object,
    Objects,
};
use isotach::model::Values;
use isotach::storage::LocalFile;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

/// Files that are not compared whole, or parts of them, and why. It can only shrink.
const EXCEPTIONS: &[(&str, &str, &str)] = &[];

#[test]
fn every_file_of_the_corpus_is_as_h5py_finds_it() {
    let Some(corpus) = corpus() else { return };
    let mut goldens = Vec::new();
    collect(&corpus, &mut goldens);
    goldens.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    goldens.sort();
    let mut differences = Vec::new();
    let mut compared = 0;
    for golden_path in goldens {
        let text = std::fs::read_to_string(&golden_path).unwrap();
        let golden: Value = serde_json::from_str(&text).unwrap();
        let Some(expected) = golden.get("hdf5") else { continue };
        compared += 1;
        let name = golden_path.strip_prefix(&corpus).unwrap().with_extension("");
        let found = summary(&golden_path.with_extension(""));
        let mut of_file = Vec::new();
        compare(expected, &found, String::new(), &mut of_file);
        for (path, expected, found) in of_file {
            let is_known = EXCEPTIONS
                .iter()
                .any(|(file, part, _)| Path::new(file) == name && path.starts_with(part));
            if !is_known {
                differences
                    .push(format!("{} {path}: expected {expected}, found {found}", name.display()));
            }
        }
    }
    println!("{compared} files compared");
    assert!(compared > 0, "a corpus without golden files");
    assert!(differences.is_empty(), "{}:\n{}", differences.len(), differences.join("\n"));
}

#[test]
fn malformed_files_are_walked_to_their_end() {
    let Some(corpus) = corpus() else { return };
    let mut files = Vec::new();
    collect(&corpus.join("malformed"), &mut files);
    collect(&corpus.join("drivers"), &mut files);
    let mut walked = 0;
    for file in files {
        let extension = file.extension().and_then(|extension| extension.to_str());
        if matches!(extension, Some("csv" | "json" | "md")) {
            continue;
        }
        let start = std::time::Instant::now();
        let _ = summary(&file);
        walked += 1;
        let seconds = start.elapsed().as_secs();
        assert!(seconds < 20, "{} took {seconds} s", file.display());
    }
    assert!(walked > 0);
}

/// The corpus, or a word that the test is left out.
fn corpus() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    let corpus = std::env::var_os("ISOTACH_CORPUS").map_or(beside, PathBuf::from);
    if corpus.join("GOLDEN.md").exists() {
        return Some(corpus);
    }
    eprintln!("LEFT OUT: there is no corpus (set ISOTACH_CORPUS)");
    None
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.push(path);
        }
    }
}

/// The `hdf5` section of the golden JSON as we find it.
fn summary(path: &Path) -> Value {
    let Ok(storage) = LocalFile::open(path) else { return json!({"open_error": true}) };
    let name: Arc<str> = path.to_string_lossy().into();
    let objects = match Objects::open(&name, Arc::new(storage), &OpenOptions::default()) {
        Ok(objects) => objects,
        Err(error) => return json!({"open_error": true, "_error": error.to_string()}),
    };
    let mut walk = Walk::default();
    walk.object(Object::Group(objects.root().clone()));
    // Depth first; a stack of our own, since groups of broken files lie as deep as they like.
    while let Some((group, links, next)) = walk.stack.pop() {
        let Some(link) = links.get(next).cloned() else { continue };
        walk.stack.push((group.clone(), links, next + 1));
        walk.link(&group, &link);
    }
    json!({"userblock": objects.user_block_bytes(), "objects": walk.found})
}

#[derive(Default)]
struct Walk {
    found: Map<String, Value>,
    first_paths: HashMap<u64, Arc<str>>,
    stack: Vec<(Group, Arc<[Link]>, usize)>,
}

impl Walk {
    fn link(&mut self, group: &Group, link: &Link) {
        let path = group.child_path(link.name());
        let shown = match &link.target {
            LinkTarget::Hard { .. } => match group.resolve(link) {
                Ok(object) => return self.object(object),
                Err(error) => failed(&error),
            },
            LinkTarget::Soft { path } => json!({"kind": "softlink", "target": &**path}),
            LinkTarget::External { file, path } => {
                json!({"kind": "externallink", "file": &**file, "target": &**path})
            }
            LinkTarget::User { class, .. } => json!({"kind": "userlink", "class": class}),
        };
        self.found.insert(path.to_string(), shown);
    }

    fn object(&mut self, object: Object) {
        let path = Arc::clone(object.path());
        if let Some(first) = self.first_paths.get(&object.address()) {
            let shown = json!({"kind": "hardlink", "target": &**first});
            self.found.insert(path.to_string(), shown);
            return;
        }
        self.first_paths.insert(object.address(), Arc::clone(&path));
        let mut shown = match &object {
            Object::Group(group) => {
                let shown = match group.links() {
                    Ok(links) => {
                        self.stack.push((group.clone(), links, 0));
                        json!({"kind": "group"})
                    }
                    Err(error) => failed(&error),
                };
                shown
            }
            Object::Dataset(dataset) => match show_dataset(dataset) {
                Ok(shown) => shown,
                Err(error) => failed(&error),
            },
            Object::Datatype(datatype) => {
                json!({"kind": "datatype", "type": datatype.datatype().describe()})
            }
            Object::Unknown(unknown) => failed(&unknown.error),
        };
        if let Some(node) = object.node() {
            shown["attrs"] = match node.attributes() {
                Ok(attributes) => show_attributes(attributes),
                Err(error) => failed(&error),
            };
        }
        self.found.insert(path.to_string(), shown);
    }
}

fn failed(error: &isotach::Error) -> Value {
    json!({"error": true, "_error": error.to_string()})
}

fn show_dataset(dataset: &Dataset) -> isotach::Result<Value> {
    let datatype = dataset.datatype()?;
    let dataspace = dataset.dataspace()?;
    let mut shown = json!({
        "kind": "dataset",
        "type": datatype.describe(),
        "shape": shape(dataspace),
        "layout": match dataset.layout_kind()? {
            LayoutKind::Compact => "compact",
            LayoutKind::Contiguous => "contiguous",
            LayoutKind::Chunked => "chunked",
            LayoutKind::Virtual => "virtual",
        },
        "fill": match dataset.fill()?.status {
            FillStatus::Undefined => "undefined",
            FillStatus::Default => "default",
            FillStatus::User => "user",
        },
        "_storage_size": dataset.storage_size()?,
    });
    if !dataspace.dimensions().is_empty() {
        let max: Vec<Option<u64>> = dataspace.dimensions().iter().map(|axis| axis.max).collect();
        shown["maxshape"] = json!(max);
    }
    if let Some(chunks) = dataset.chunk_shape()? {
        shown["chunks"] = json!(chunks);
    }
    let filters = &dataset.filters()?.filters;
    shown["filters"] = filters.iter().map(|filter| json!([filter.id, filter.values])).collect();
    let external = dataset.external_files()?;
    if !external.is_empty() {
        shown["external"] =
            external.iter().map(|file| json!([file.name, file.offset, file.size])).collect();
    }
    let sources = dataset.virtual_sources()?;
    if !sources.is_empty() {
        shown["virtual_sources"] =
            sources.iter().map(|source| json!([source.file, source.dataset])).collect();
    }
    // Also where nothing is compared: whatever is built must not fail by panic.
    if let Err(error) = dataset.array() {
        shown["_array_error"] = json!(error.to_string());
    }
    Ok(shown)
}

fn show_attributes(attributes: &Attributes) -> Value {
    let mut shown = BTreeMap::new();
    for attribute in attributes.attributes.iter() {
        let description = attribute.datatype().describe();
        let digest = match attribute.values() {
            Ok(values) if !description.contains("ref[std]") => json!(sha256(&values)),
            Ok(_) => Value::Null,
            Err(error) => json!(error.to_string()),
        };
        let value = json!({
            "type": description,
            "shape": shape(attribute.dataspace()),
            "sha256": digest,
        });
        shown.insert(attribute.name().to_owned(), value);
    }
    for (index, error) in attributes.errors.iter().enumerate() {
        shown.insert(format!("_error{index}"), json!(error.to_string()));
    }
    json!(shown)
}

fn sha256(values: &Values) -> String {
    let mut hash = Sha256::new();
    values.canonical_into(&mut |bytes| hash.update(bytes));
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn shape(dataspace: &Dataspace) -> Value {
    match dataspace {
        Dataspace::Null => Value::Null,
        _ => dataspace.dimensions().iter().map(|axis| axis.size).collect(),
    }
}

/// The corpus's own rules of comparison (`compare.py`).
fn compare(expected: &Value, found: &Value, path: String, out: &mut Vec<(String, String, String)>) {
    let (Value::Object(expected), Value::Object(found)) = (expected, found) else {
        if expected != found {
            out.push((path, expected.to_string(), found.to_string()));
        }
        return;
    };
    if expected.get("error").is_some() {
        return;
    }
    let skips_data = expected.contains_key("data_skipped") || expected.contains_key("data_error");
    let keys: std::collections::BTreeSet<&String> =
        expected.keys().chain(found.keys()).filter(|key| !key.starts_with('_')).collect();
    for key in keys {
        let is_data = ["data_skipped", "data_error", "data_sha256", "sha256"].contains(&&**key);
        if (is_data && skips_data) || key == "data_sha256" {
            continue;
        }
        let path = format!("{path}.{key}");
        match (expected.get(key), found.get(key)) {
            (Some(expected), Some(found)) => compare(expected, found, path, out),
            (expected, found) => out.push((path, text(expected), text(found))),
        }
    }
}

fn text(value: Option<&Value>) -> String {
    value.map_or("(absent)".to_owned(), Value::to_string)
}
