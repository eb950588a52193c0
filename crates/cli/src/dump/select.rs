//! What `-v` and `-g` name.

use std::collections::HashSet;

use isotach::{File, Format, Group};

use super::options::Names;
use crate::error::{CliError, Result};

/// Variables and groups whose values are wanted; `None` for all.
pub(super) struct Wanted {
    variables: Option<Vec<String>>,
    groups: Option<HashSet<String>>,
}

impl Wanted {
    /// Looks the names up.
    ///
    /// # Errors
    /// The first name for which there is nothing in the file.
    pub(super) fn find(
        file: &File,
        variables: Option<&Names>,
        groups: Option<&Names>,
    ) -> Result<Self> {
        let mut all = Vec::new();
        if variables.is_some() || groups.is_some() {
            collect(file.root(), &mut all)?;
        }
        if let Some(Names(names)) = variables {
            for name in names {
                let found = all.iter().map(|group| names_variable_of(name, group));
                if !found.collect::<Result<Vec<_>>>()?.iter().any(Option::is_some) {
                    return Err(CliError::NoVariable(name.clone()));
                }
            }
        }
        let groups = groups.map(|Names(names)| group_paths(file, names, &all)).transpose()?;
        Ok(Self { variables: variables.map(|Names(names)| names.clone()), groups })
    }

    /// Whether values of this group are wanted.
    pub(super) fn group(&self, group: &Group) -> bool {
        self.groups.as_ref().is_none_or(|paths| paths.contains(group.path()))
    }

    /// Whether the values of `variable` of this group are wanted.
    pub(super) fn variable(&self, group: &Group, variable: &str) -> Result<bool> {
        let Some(names) = &self.variables else { return Ok(true) };
        for name in names {
            if names_variable_of(name, group)?.as_deref() == Some(variable) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The paths of the groups that are named.
fn group_paths(file: &File, names: &[String], all: &[Group]) -> Result<HashSet<String>> {
    if file.format()? != Format::NetCdf4 {
        return Err(CliError::NoGroups);
    }
    let mut paths = HashSet::new();
    for name in names {
        let mut matching = all.iter().filter(|group| names_group(name, group)).peekable();
        if matching.peek().is_none() {
            return Err(CliError::NoGroup(name.clone()));
        }
        paths.extend(matching.map(|group| group.path().to_owned()));
    }
    Ok(paths)
}

/// All groups, parents first.
fn collect(root: Group, all: &mut Vec<Group>) -> Result<()> {
    let mut waiting = vec![root];
    while let Some(group) = waiting.pop() {
        waiting.extend(group.groups()?.into_iter().rev());
        all.push(group);
    }
    Ok(())
}

/// The name of the variable of this group that `name` means: `var` means one of any group,
/// `group/var` of those whose path ends so, `/group/var` of that very group.
fn names_variable_of(name: &str, group: &Group) -> Result<Option<String>> {
    let (path, variable) = match name.rsplit_once('/') {
        Some((path, variable)) => (Some(path), variable),
        None => (None, name),
    };
    let here = match path {
        None => true,
        Some("") => group.path() == "/",
        Some(path) if path.starts_with('/') => group.path() == path,
        Some(path) => group.path().ends_with(path),
    };
    if !here {
        return Ok(None);
    }
    Ok(group.variable(variable)?.map(|variable| variable.name().to_owned()))
}

/// Whether `name` means this group: one with a slash before it is a path, others are names of groups anywhere
/// below the root. Slashes at the end of a path, and several of them, mean nothing.
fn names_group(name: &str, group: &Group) -> bool {
    if !name.starts_with('/') {
        return group.parent().is_some() && group.name() == name;
    }
    let parts = |path: &str| -> Vec<String> {
        path.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect()
    };
    parts(name) == parts(group.path())
}
