//! NetCDF's view: groups, dimensions, types, attributes, variables.

use isotach::{Attribute, File, Group, Variable};

use super::Report;

/// Looks at everything but the elements. The arrays of files that are not HDF5 are put down to be
/// read; those of HDF5 files are found among its objects.
pub(super) fn walk(file: &File, report: &mut Report) {
    let mut waiting = vec![file.root()];
    while let Some(group) = waiting.pop() {
        report.groups += 1;
        check_group(&group, report);
        let path = group.path();
        for name in report.take(path, group.group_names()).iter().flat_map(|names| names.iter()) {
            if let Some(Some(child)) = report.take(path, group.group(name)) {
                waiting.push(child);
            }
        }
    }
}

fn check_group(group: &Group, report: &mut Report) {
    let path = group.path();
    report.take(path, group.dimensions());
    report.take(path, group.types());
    if let Some(attributes) = report.take(path, group.attributes()) {
        check_attributes(path, &attributes, report);
    }
    for left_out in report.take(path, group.left_out()).iter().flat_map(|all| all.iter()) {
        report.find(&left_out.path, format!("not shown: {}", left_out.reason.kind));
    }
    for name in report.take(path, group.variable_names()).iter().flat_map(|names| names.iter()) {
        if let Some(Some(variable)) = report.take(path, group.variable(name)) {
            report.variables += 1;
            check_variable(group, &variable, report);
        }
    }
}

fn check_variable(group: &Group, variable: &Variable, report: &mut Report) {
    let path = variable.path();
    report.take(&path, variable.dimensions());
    report.take(&path, variable.storage());
    report.take(&path, variable.fill_value());
    if let Some(attributes) = report.take(&path, variable.attributes()) {
        check_attributes(&path, &attributes, report);
    }
    if let Some(array) = report.take(&path, variable.array())
        && group.file().hdf5().is_none()
    {
        report.arrays.push((path, array));
    }
}

fn check_attributes(path: &str, attributes: &[Attribute], report: &mut Report) {
    for attribute in attributes {
        report.attributes += 1;
        if let Err(error) = attribute.values() {
            report.find(path, format!("attribute {}: {}", attribute.name(), error.kind));
        }
    }
}
