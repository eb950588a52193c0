//! Section `hdf5`: the file as HDF5's own view shows it.

use std::collections::HashMap;

use isotach::Result;
use isotach::hdf5::{
    Attribute, Dataset, FillStatus, Group, LayoutKind, Link, LinkTarget, Node, Object, Objects,
};
use isotach::model::selection::Selection;
use isotach_format::hdf5::message::Dataspace;
use isotach_format::hdf5::message::datatype::{Datatype, ReferenceKind};
use serde_json::{Map, Value, json};

use crate::digest;

pub fn section(objects: &Objects) -> Value {
    let mut walk = Walk { objects: Map::new(), seen: HashMap::new() };
    walk.object(&Object::Group(objects.root().clone()), "/");
    json!({ "userblock": objects.user_block_bytes(), "objects": walk.objects })
}

struct Walk {
    objects: Map<String, Value>,
    /// By address, the path by which an object was met first.
    seen: HashMap<u64, String>,
}

impl Walk {
    fn object(&mut self, object: &Object, path: &str) {
        if let Some(first) = self.seen.get(&object.address()) {
            let shown = json!({ "kind": "hardlink", "target": first });
            self.objects.insert(path.to_owned(), shown);
            return;
        }
        self.seen.insert(object.address(), path.to_owned());
        let shown = match object {
            Object::Group(group) => json!({ "kind": "group", "attrs": attributes(group.node()) }),
            Object::Datatype(datatype) => json!({
                "kind": "datatype", "type": datatype.datatype().describe(),
                "attrs": attributes(datatype.node()),
            }),
            Object::Dataset(dataset) => data_set(dataset).unwrap_or_else(|error| failed(&error)),
            Object::Unknown(unknown) => failed(&unknown.error),
        };
        self.objects.insert(path.to_owned(), shown);
        if let Object::Group(group) = object {
            self.links(group, path);
        }
    }

    fn links(&mut self, group: &Group, path: &str) {
        let links = match group.links() {
            Ok(links) => links,
            Err(error) => {
                self.objects[path]["error"] = true.into();
                self.objects[path]["_msg"] = error.to_string().into();
                return;
            }
        };
        for link in links.iter() {
            self.link(group, link, &format!("{}/{}", path.trim_end_matches('/'), link.name()));
        }
    }

    fn link(&mut self, group: &Group, link: &Link, path: &str) {
        let shown = match &link.target {
            LinkTarget::Hard { .. } => match group.resolve(link) {
                Ok(object) => return self.object(&object, path),
                Err(error) => failed(&error),
            },
            LinkTarget::Soft { path } => json!({ "kind": "softlink", "target": **path }),
            LinkTarget::External { file, path } => {
                json!({ "kind": "externallink", "file": **file, "target": **path })
            }
            LinkTarget::User { class, .. } => json!({ "kind": "userlink", "class": class }),
        };
        self.objects.insert(path.to_owned(), shown);
    }
}

fn failed(error: &isotach::Error) -> Value {
    json!({ "error": true, "_msg": error.to_string() })
}

fn attributes(node: &Node) -> Value {
    let attributes = match node.attributes() {
        Ok(attributes) => attributes,
        Err(error) => return json!({ "_msg": error.to_string() }),
    };
    let shown = attributes.iter();
    let shown: Map<String, Value> =
        shown.map(|one| (one.name().to_owned(), attribute(&one))).collect();
    Value::Object(shown)
}

fn attribute(attribute: &Attribute) -> Value {
    let (datatype, shape) = (attribute.datatype(), shape(attribute.dataspace()));
    let mut shown = json!({ "type": datatype.describe(), "shape": shape, "sha256": null });
    if !has_new_references(datatype) {
        match attribute.values() {
            Ok(values) => shown["sha256"] = digest::of_values(&values).into(),
            Err(error) => {
                shown["error"] = true.into();
                shown["_msg"] = error.to_string().into();
            }
        }
    }
    shown
}

fn shape(dataspace: &Dataspace) -> Option<Vec<u64>> {
    match dataspace {
        Dataspace::Null => None,
        _ => Some(dataspace.dimensions().iter().map(|axis| axis.size).collect()),
    }
}

/// References of HDF5 1.12 have no canonical form.
fn has_new_references(datatype: &Datatype) -> bool {
    match datatype {
        Datatype::Reference { kind, .. } => matches!(kind, ReferenceKind::Standard(_)),
        Datatype::Sequence { base, .. } | Datatype::Array { base, .. } => has_new_references(base),
        Datatype::Compound { members, .. } => {
            members.iter().any(|member| has_new_references(&member.datatype))
        }
        _ => false,
    }
}

fn data_set(dataset: &Dataset) -> Result<Value> {
    let (datatype, dataspace) = (dataset.datatype()?, dataset.dataspace()?);
    let shape = shape(dataspace);
    let layout = match dataset.layout_kind()? {
        LayoutKind::Compact => "compact",
        LayoutKind::Contiguous => "contiguous",
        LayoutKind::Chunked => "chunked",
        LayoutKind::Virtual => "virtual",
    };
    let filters = dataset.filters()?.filters.iter();
    let filters: Vec<_> = filters.map(|filter| (filter.id, filter.values.as_slice())).collect();
    let fill = match dataset.fill()?.status {
        FillStatus::Undefined => "undefined",
        FillStatus::Default => "default",
        FillStatus::User => "user",
    };
    let mut shown = json!({
        "kind": "dataset", "type": datatype.describe(), "shape": shape, "layout": layout,
        "filters": filters, "fill": fill, "attrs": attributes(dataset.node()),
    });
    if !dataspace.dimensions().is_empty() {
        let max: Vec<_> = dataspace.dimensions().iter().map(|axis| axis.max).collect();
        shown["maxshape"] = json!(max);
    }
    if let Some(chunks) = dataset.chunk_shape()? {
        shown["chunks"] = chunks.into();
    }
    if layout == "virtual" {
        let sources = dataset.virtual_sources()?;
        let sources: Vec<_> = sources.iter().map(|one| (&one.file, &one.dataset)).collect();
        shown["virtual_sources"] = json!(sources);
    }
    let external = dataset.external_files()?;
    if !external.is_empty() {
        let external: Vec<_> =
            external.iter().map(|one| (&one.name, one.offset, one.size)).collect();
        shown["external"] = json!(external);
    }
    add_data(&mut shown, dataset, datatype, dataspace);
    Ok(shown)
}

fn add_data(shown: &mut Value, dataset: &Dataset, datatype: &Datatype, dataspace: &Dataspace) {
    shown["data_sha256"] = Value::Null;
    if has_new_references(datatype) {
        shown["data_skipped"] = "type".into();
        return;
    }
    let bytes = dataspace.element_count().and_then(|n| n.checked_mul(u64::from(datatype.size())));
    if bytes.is_none_or(|bytes| bytes > digest::MAX_DATA_BYTES) {
        shown["data_skipped"] = "size".into();
        return;
    }
    let read = dataset.array().and_then(|array| array.read(&Selection::all(&array.shape)));
    match read {
        Ok(values) => shown["data_sha256"] = digest::of_values(&values).into(),
        Err(error) => {
            shown["data_error"] = true.into();
            shown["_msg"] = error.to_string().into();
        }
    }
}
