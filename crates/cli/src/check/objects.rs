//! HDF5's own view: every link, header and attribute, whether netCDF shows it or not.

use std::collections::HashSet;
use std::sync::Arc;

use isotach::hdf5::{Dataset, Group, LinkTarget, Node, Object, Objects};

use super::Report;

/// Looks at every object that hard links lead to, and puts down the data sets to be read.
pub(super) fn walk(objects: &Objects, report: &mut Report) {
    let mut seen = HashSet::new();
    let mut waiting = vec![objects.root().clone()];
    seen.insert(objects.root().node().address());
    while let Some(group) = waiting.pop() {
        let path = Arc::clone(group.node().path());
        check_attributes(group.node(), report);
        for error in report.take(&path, group.link_errors()).iter().flat_map(|all| all.iter()) {
            report.error(&path, error);
        }
        let Some(links) = report.take(&path, group.links()) else { continue };
        for link in links.iter() {
            let LinkTarget::Hard { address } = link.target else { continue };
            if !seen.insert(address) {
                continue;
            }
            let child = group.child_path(link.name());
            if let Some(object) = report.take(&child, objects.object_at(address, &child)) {
                check_object(object, &mut waiting, report);
            }
        }
    }
}

fn check_object(object: Object, waiting: &mut Vec<Group>, report: &mut Report) {
    match object {
        Object::Group(group) => waiting.push(group),
        Object::Dataset(dataset) => check_dataset(&dataset, report),
        Object::Datatype(datatype) => check_attributes(datatype.node(), report),
        Object::Unknown(unknown) => report.error(&unknown.path, &unknown.error),
    }
}

fn check_dataset(dataset: &Dataset, report: &mut Report) {
    let path = Arc::clone(dataset.node().path());
    check_attributes(dataset.node(), report);
    report.take(&path, dataset.datatype());
    report.take(&path, dataset.filters());
    report.take(&path, dataset.fill());
    // A null data space has no elements and no array.
    let has_elements = report.take(&path, dataset.dimensions()).is_some();
    if has_elements && let Some(array) = report.take(&path, dataset.array()) {
        report.arrays.push((path.to_string(), Arc::clone(array)));
    }
}

fn check_attributes(node: &Node, report: &mut Report) {
    let path = node.path();
    let Some(attributes) = report.take(path, node.attributes()) else { return };
    for error in attributes.errors.iter() {
        report.error(path, error);
    }
    for attribute in attributes.iter() {
        if let Err(error) = attribute.values() {
            report.find(path, format!("attribute {}: {}", attribute.name(), error.kind));
        }
    }
}
