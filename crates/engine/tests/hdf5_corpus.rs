//! HDF5's own view of every file of the corpus against what h5py found in it.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use isotach::error::OtherFileReason;
use isotach::hdf5::{
    Attributes, Dataset, Dataspace, FillStatus, Group, LayoutKind, Link, LinkTarget, Object,
    Objects,
};
use isotach::model::Values;
use isotach::model::selection::Selection;
use isotach::storage::{LocalFile, MetadataReader};
use isotach::{AllowExternal, ErrorKind, OpenOptions};
use isotach_testkit::{Work, corpus};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

/// Data of more bytes is not read (GOLDEN.md).
const DATA_LIMIT_BYTES: u64 = 256 << 20;

/// Parts of files that are not compared, and why. It can only shrink.
const EXCEPTIONS: &[(&str, &str, &str)] = &[(
    "hdf5-1.14.5/vds-eiger.bundle/vds-eiger.h5",
    ".objects./VDS-Eiger.data",
    "the sources have the other byte order, and virtual data is not converted",
)];

/// Lossy and image codecs that h5py had as plugins and that are not among the filters read here:
/// zfp, sz, fcidecomp, sz3, sperr, htj2k. The list can only shrink.
const FILTERS_LEFT_OUT: &[u16] = &[32_013, 32_017, 32_018, 32_024, 32_028, 32_033];

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
        let work = Work::begin();
        let _ = summary(&file);
        walked += 1;
        let seconds = work.done().as_secs();
        assert!(seconds < 20, "{} took {seconds} s", file.display());
    }
    assert!(walked > 0);
}

#[test]
fn what_is_listed_is_found_by_name_and_nothing_else() {
    let Some(corpus) = corpus() else { return };
    let mut files = Vec::new();
    collect(&corpus, &mut files);
    files.retain(|file| !file.starts_with(corpus.join("malformed")));
    let mut found = 0;
    for file in files {
        let Ok(objects) = open(&file) else { continue };
        let mut paths = vec!["/".to_owned()];
        // Each object once: groups may be their own members.
        let mut seen = std::collections::HashSet::new();
        while let Some(path) = paths.pop() {
            // Handles that have listed nothing look names up in the file's own indexes.
            let (Ok(Some(listing)), Ok(Some(looking))) =
                (objects.object(&path), objects.object(&path))
            else {
                panic!("{}: {path} is gone", file.display());
            };
            if !seen.insert(listing.address()) {
                continue;
            }
            if let (Some(listing), Some(looking)) = (listing.node(), looking.node()) {
                for attribute in listing.attributes().unwrap().iter() {
                    let name = attribute.name();
                    let again = looking.attribute(name).unwrap();
                    let again =
                        again.unwrap_or_else(|| panic!("{}: {path}@{name}", file.display()));
                    assert_eq!(attribute.data(), again.data());
                    found += 1;
                }
                assert!(looking.attribute("no such name").unwrap().is_none());
            }
            if let (Object::Group(listing), Object::Group(looking)) = (&listing, &looking) {
                for link in listing.links().unwrap().iter() {
                    let again = looking.link_by_bytes(link.name_bytes()).unwrap();
                    let again = again.unwrap_or_else(|| panic!("{}: {path}", file.display()));
                    assert_eq!(link.target, again.target);
                    found += 1;
                    // A name that has `/` or is `.` cannot stand in a path.
                    let is_plain = !link.name().contains('/') && &**link.name() != ".";
                    if is_plain
                        && let Ok(Object::Group(_) | Object::Dataset(_)) = listing.resolve(link)
                        && std::str::from_utf8(link.name_bytes()).is_ok()
                    {
                        paths.push(listing.child_path(link.name()).to_string());
                    }
                }
                assert!(looking.link("no such name").unwrap().is_none());
            }
        }
    }
    assert!(found > 10_000, "only {found} links and attributes");
}

#[test]
fn links_lead_where_they_say() {
    let Some(corpus) = corpus() else { return };
    for file in ["derived/groups_earliest.h5", "derived/groups_latest.h5"] {
        let objects = open(&corpus.join(file)).unwrap();
        let address = |path: &str| objects.object(path).unwrap().unwrap().address();
        assert_eq!(address("/ordered/soft"), address("/ordered/alpha"));
        assert_eq!(address("/ordered/loop/./loop//loop/soft"), address("ordered/alpha"));
        assert!(objects.object("/ordered/absent").unwrap().is_none());
        let loops = format!("/ordered{}", "/loop".repeat(40));
        let error = objects.object(&loops).err().unwrap();
        assert!(matches!(error.kind, ErrorKind::Limit { limit: 32, .. }), "{error}");
        let error = objects.object("/ordered/dangling").err().unwrap();
        assert!(matches!(error.kind, ErrorKind::NotFound { .. }), "{error}");
        let there = objects.object("/ordered/ext").unwrap().unwrap();
        assert_eq!(&**there.path(), "/ordered/ext");
        assert_ne!(there.node().unwrap().file_id(), objects.root().node().file_id());
        let error = objects.object("/ordered/ext_missing").err().unwrap();
        let ErrorKind::OtherFile { path, reason: OtherFileReason::Failed(_) } = error.kind else {
            panic!("{error}");
        };
        assert_eq!(path, "absent.h5");
    }
    let bundle = open(&corpus.join("jhdf/external_link.bundle/external_link.hdf5")).unwrap();
    let far = bundle.object("/root_slash/links_group/external_link").unwrap().unwrap();
    assert!(matches!(far, Object::Dataset(_)), "over two files");
}

#[test]
fn other_files_stay_closed_where_they_are_not_allowed() {
    let Some(corpus) = corpus() else { return };
    let path = corpus.join("derived/groups_latest.h5");
    let options = OpenOptions { allow_external: Some(AllowExternal::No), ..OpenOptions::default() };
    let name: Arc<str> = path.to_string_lossy().into();
    let storage = Arc::new(LocalFile::open(&path).unwrap());
    let objects = Objects::open(MetadataReader::new(name, storage).unwrap(), &options).unwrap();
    let error = objects.object("/ordered/ext").err().unwrap();
    let is_refused = matches!(
        &error.kind,
        ErrorKind::OtherFile { reason: OtherFileReason::NotAllowed { real_path: None }, .. }
    );
    assert!(is_refused, "{error}");
}

/// Files that refer to others are read by their paths, wherever the other files really lie.
#[test]
fn other_files_are_opened_in_the_folder_of_the_file_only() {
    let Some(corpus) = corpus() else { return };
    let top = tempfile::tempdir().unwrap();
    let [own, outside] = ["own", "outside"].map(|name| top.path().join(name));
    for folder in [&own, &outside] {
        std::fs::create_dir(folder).unwrap();
    }
    let copied = |name: &str, folder: &Path| {
        std::fs::copy(corpus.join("derived").join(name), folder.join(name)).unwrap();
    };
    copied("groups_latest.h5", &own);
    copied("links_target.h5", &outside);
    let found = |allow_external: Option<AllowExternal>| {
        let options = OpenOptions { allow_external, ..OpenOptions::default() };
        let file = options.open(own.join("groups_latest.h5")).unwrap();
        file.hdf5().unwrap().object("/ordered/ext").map(|found| found.is_some())
    };
    // There is none.
    let error = found(None).unwrap_err();
    assert!(
        matches!(error.kind, ErrorKind::OtherFile { reason: OtherFileReason::Failed(_), .. }),
        "{error}"
    );
    std::os::unix::fs::symlink("../outside/links_target.h5", own.join("links_target.h5")).unwrap();
    for refused in [None, Some(AllowExternal::OwnFolder), Some(AllowExternal::No)] {
        let error = found(refused.clone()).unwrap_err();
        let is_refused = matches!(
            &error.kind,
            ErrorKind::OtherFile { reason: OtherFileReason::NotAllowed { .. }, .. }
        );
        assert!(is_refused, "{refused:?}: {error}");
        let text = error.to_string();
        assert!(text.contains("allow_external") && text.contains("links_target.h5"), "{text}");
    }
    for allowed in [AllowExternal::Anywhere, AllowExternal::Folders(vec![outside.clone()])] {
        assert!(found(Some(allowed)).unwrap());
    }
    std::fs::remove_file(own.join("links_target.h5")).unwrap();
    copied("links_target.h5", &own);
    assert!(found(None).unwrap());
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

fn open(path: &Path) -> isotach::Result<Objects> {
    let name: Arc<str> = path.to_string_lossy().into();
    let storage = LocalFile::open(path)
        .map_err(|error| isotach::Error::new(&name, ErrorKind::Open(error.into())))?;
    let folders = path.parent().map(Path::to_path_buf).into_iter().collect();
    let options = OpenOptions {
        allow_external: Some(AllowExternal::Folders(folders)),
        ..OpenOptions::default()
    };
    Objects::open(MetadataReader::new(name, Arc::new(storage))?, &options)
}

/// The `hdf5` section of the golden JSON as we find it.
fn summary(path: &Path) -> Value {
    let objects = match open(path) {
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
            Object::Group(group) => match group.links() {
                Ok(links) => {
                    self.stack.push((group.clone(), links, 0));
                    json!({"kind": "group"})
                }
                Err(error) => failed(&error),
            },
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
    show_data(dataset, &mut shown);
    Ok(shown)
}

/// The elements' digest; more than the corpus's bound is not read.
fn show_data(dataset: &Dataset, shown: &mut Value) {
    let elements = dataset.dataspace().ok().and_then(Dataspace::element_count);
    let element_size = dataset.datatype().map_or(0, |datatype| datatype.size());
    let byte_len = elements.and_then(|elements| elements.checked_mul(u64::from(element_size)));
    if byte_len.is_none_or(|byte_len| byte_len > DATA_LIMIT_BYTES) {
        shown["data_sha256"] = Value::Null;
        shown["data_skipped"] = json!("size");
        return;
    }
    let values = dataset.array().and_then(|array| array.read(&Selection::all(&array.shape)));
    match values {
        Ok(values) => shown["data_sha256"] = json!(sha256(&values)),
        Err(error) => {
            shown["data_sha256"] = Value::Null;
            if let ErrorKind::Chunk { source, .. } = &error.kind
                && FILTERS_LEFT_OUT.contains(&source.filter_id)
            {
                shown["data_skipped"] = json!("filter");
                return;
            }
            shown["data_error"] = json!(true);
            shown["_data_error"] = json!(error.to_string());
        }
    }
}

fn show_attributes(attributes: &Attributes) -> Value {
    let mut shown = BTreeMap::new();
    for attribute in attributes.iter() {
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
    let skips_data = expected.contains_key("data_skipped")
        || expected.contains_key("data_error")
        || found.get("data_skipped") == Some(&json!("filter"));
    let keys: std::collections::BTreeSet<&String> =
        expected.keys().chain(found.keys()).filter(|key| !key.starts_with('_')).collect();
    for key in keys {
        let is_data = ["data_skipped", "data_error", "data_sha256", "sha256"].contains(&&**key);
        if is_data && skips_data {
            continue;
        }
        let path = format!("{path}.{key}");
        match (expected.get(key), found.get(key)) {
            (Some(expected), Some(found)) => compare(expected, found, path, out),
            (None, Some(_)) if key == "data_error" => {
                let why = found.get("_data_error");
                out.push((path, "data".to_owned(), text(why)));
            }
            (expected, found) => out.push((path, text(expected), text(found))),
        }
    }
}

fn text(value: Option<&Value>) -> String {
    value.map_or("(absent)".to_owned(), Value::to_string)
}
