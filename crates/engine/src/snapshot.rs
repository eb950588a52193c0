//! A snapshot: all structures of a file, read at opening and kept, so that none is read again.
//!
//! What is walked through here is what the reading face may ask for later, asked in the same way: the bytes it needs
//! are kept by then. Values stay in the file, where the state that is open holds them.

use crate::error::Result;
use crate::fault::Readable;
use crate::file::{File, Group};
use crate::plan::layout::Placement;
use crate::variable::Variable;

/// Reads and keeps the structures of all groups. Links that lead to nothing readable stay left out.
///
/// # Errors
/// [`ErrorKind::Changed`](crate::ErrorKind::Changed) where a writer commits meanwhile, and those of storage.
pub(crate) fn keep_structures(file: &File) -> Result<()> {
    file.format()?;
    group(&file.root())
}

fn group(of: &Group) -> Result<()> {
    of.left_out().readable()?;
    of.types().readable()?;
    of.unlimited_ids().readable()?;
    for dimension in of.dimensions().readable()?.iter().flat_map(|found| found.iter()) {
        dimension.id().readable()?;
        dimension.len().readable()?;
    }
    for attribute in of.attributes().readable()?.iter().flat_map(|found| found.iter()) {
        attribute.values().readable()?;
        of.attribute(attribute.name()).readable()?;
    }
    for name in of.variable_names().readable()?.iter().flat_map(|names| names.iter()) {
        if let Some(Some(found)) = of.variable(name).readable()? {
            variable(&found)?;
        }
    }
    for name in of.group_names().readable()?.iter().flat_map(|names| names.iter()) {
        if let Some(Some(found)) = of.group(name).readable()? {
            group(&found)?;
        }
    }
    Ok(())
}

fn variable(of: &Variable) -> Result<()> {
    of.dimensions().readable()?;
    of.storage().readable()?;
    of.fill_value().readable()?;
    for attribute in of.attributes().readable()?.iter().flat_map(|found| found.iter()) {
        attribute.values().readable()?;
        of.attribute(attribute.name()).readable()?;
    }
    let Some(array) = of.array().readable()? else { return Ok(()) };
    if let Placement::Chunked(chunked) = &array.layout.placement {
        chunked.index.for_each(&mut |_, _| Ok(())).readable()?;
    }
    Ok(())
}
