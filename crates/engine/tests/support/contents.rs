//! All that a reader sees of a file, to be compared.

use isotach::model::selection::Selection;
use isotach::{Attribute, Dimension, File, Group, Result};

/// Everything that a reader sees, as text.
pub fn contents(file: &File) -> String {
    try_contents(file).unwrap()
}

/// The same where something may be wrong.
pub fn try_contents(file: &File) -> Result<String> {
    let mut lines = Vec::new();
    walk(&file.root(), &mut lines)?;
    Ok(lines.join("\n"))
}

fn walk(group: &Group, into: &mut Vec<String>) -> Result<()> {
    for dimension in group.dimensions()?.iter() {
        let (path, len, id) = (dimension.path(), dimension.len()?, dimension.id()?);
        into.push(format!("{path} {len} {} {id}", dimension.is_unlimited()));
    }
    for user in group.types()?.iter() {
        into.push(format!("{user:?}"));
    }
    for found in group.attributes()?.iter() {
        into.push(attribute(found)?);
    }
    for variable in group.variables()? {
        let dimensions = variable.dimensions()?;
        let along: Vec<String> = dimensions.iter().map(Dimension::path).collect();
        into.push(format!("{} {:?} {along:?}", variable.path(), variable.data_type()));
        for found in variable.attributes()?.iter() {
            into.push(format!("  {}", attribute(found)?));
        }
        let all = Selection::all(&variable.shape()?);
        into.push(format!("  {:?}", variable.read(&all)?));
    }
    for below in group.groups()? {
        into.push(below.path().to_owned());
        walk(&below, into)?;
    }
    Ok(())
}

fn attribute(attribute: &Attribute) -> Result<String> {
    Ok(format!("{} {:?}", attribute.name(), attribute.values()?))
}
