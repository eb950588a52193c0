//! What `-v` and `-g` name.

use std::collections::HashSet;

use isotach::{File, Group};

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
    pub(super) fn find(file: &File, variables: &[String], groups: &[String]) -> Result<Self> {
        let all = if variables.is_empty() && groups.is_empty() {
            Vec::new()
        } else {
            let mut all = Vec::new();
            collect(file.root(), &mut all)?;
            all
        };
        let variables: Vec<String> =
            variables.iter().filter(|name| !name.is_empty()).cloned().collect();
        for name in &variables {
            let found = all.iter().map(|group| names_variable_of(name, group));
            if !found.collect::<Result<Vec<_>>>()?.iter().any(Option::is_some) {
                return Err(CliError::NoVariable(name.clone()));
            }
        }
        let mut group_paths = HashSet::new();
        for name in groups {
            let before = group_paths.len();
            let matching = all.iter().filter(|group| names_group(name, group));
            group_paths.extend(matching.map(|group| group.path().to_owned()));
            if group_paths.len() == before && !all.iter().any(|group| names_group(name, group)) {
                return Err(CliError::NoGroup(name.clone()));
            }
        }
        Ok(Self {
            variables: (!variables.is_empty()).then_some(variables),
            groups: (!groups.is_empty()).then_some(group_paths),
        })
    }

    /// Whether values of this group are wanted.
    pub(super) fn group(&self, group: &Group) -> bool {
        self.groups.as_ref().is_none_or(|paths| paths.contains(group.path()))
    }

    /// Whether a variable of this name is wanted, in whatever group.
    pub(super) fn named(&self, variable: &str) -> bool {
        self.variables.as_ref().is_none_or(|names| names.iter().any(|name| name == variable))
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

fn names_group(name: &str, group: &Group) -> bool {
    match name {
        "" | "/" => group.path() == "/",
        _ if name.starts_with('/') => group.path() == name.trim_end_matches('/'),
        _ => group.parent().is_some() && group.name() == name,
    }
}
