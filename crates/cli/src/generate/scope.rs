//! Names and what they stand for at a place in the text.

use std::collections::HashMap;
use std::sync::Arc;

use isotach::model::names::{self, normalized};
use isotach::model::{Atomic, DataType, UserType};

use super::definitions::{Definitions, Dimension, Group, Type, Variable};
use super::error::{CdlError, CdlFault};
use super::syntax::{Name, Position, Reference};

type ByName = HashMap<(usize, String), usize>;

/// What has been declared so far.
pub(super) struct Scope {
    pub(super) definitions: Definitions,
    groups: ByName,
    dimensions: ByName,
    types: ByName,
    variables: ByName,
}

impl Scope {
    /// The root group, with nothing in it.
    pub(super) fn new(name: &str) -> Self {
        let at = Position { line: 1, column: 1 };
        let (path, attributes) = ("/".to_owned(), Vec::new());
        let root = Group { at, name: path.clone(), path, parent: None, attributes };
        let name = name.to_owned();
        let definitions = Definitions { name, groups: vec![root], ..Definitions::default() };
        Self {
            definitions,
            groups: ByName::new(),
            dimensions: ByName::new(),
            types: ByName::new(),
            variables: ByName::new(),
        }
    }

    pub(super) fn add_group(&mut self, parent: usize, name: &Name) -> Result<usize, CdlError> {
        let index = self.definitions.groups.len();
        let text = declare(&mut self.groups, "group", parent, name, index)?;
        let above = self.definitions.groups[parent].path.trim_end_matches('/');
        let path = format!("{above}/{text}");
        let (at, parent, attributes) = (name.at, Some(parent), Vec::new());
        self.definitions.groups.push(Group { at, path, name: text, parent, attributes });
        Ok(index)
    }

    pub(super) fn add_dimension(
        &mut self,
        group: usize,
        name: &Name,
        len: Option<u64>,
    ) -> Result<(), CdlError> {
        let index = self.definitions.dimensions.len();
        let at = name.at;
        let name = declare(&mut self.dimensions, "dimension", group, name, index)?;
        let (len, is_unlimited) = (len.unwrap_or(0), len.is_none());
        self.definitions.dimensions.push(Dimension { at, group, name, len, is_unlimited });
        Ok(())
    }

    pub(super) fn add_type(
        &mut self,
        group: usize,
        name: &Name,
        user: UserType,
    ) -> Result<(), CdlError> {
        let index = self.definitions.types.len();
        declare(&mut self.types, "type", group, name, index)?;
        let user = Arc::new(user.in_group(&self.definitions.groups[group].path));
        self.definitions.types.push(Type { at: name.at, group, user });
        Ok(())
    }

    pub(super) fn add_variable(&mut self, name: &Name, variable: Variable) -> Result<(), CdlError> {
        let index = self.definitions.variables.len();
        let name = declare(&mut self.variables, "variable", variable.group, name, index)?;
        self.definitions.variables.push(Variable { name, ..variable });
        Ok(())
    }

    /// The group of a path from the root.
    fn group(&self, at: Position, path: &[String]) -> Result<usize, CdlError> {
        path.iter().try_fold(0, |group, name| {
            let key = (group, normalized(name).into_owned());
            let unknown = || CdlFault::Unknown { what: "group", name: name.clone() }.at(at);
            self.groups.get(&key).copied().ok_or_else(unknown)
        })
    }

    /// The group and those above it, up to the root.
    fn with_ancestors(&self, group: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(group), |&group| self.definitions.groups[group].parent)
    }

    fn find(&self, among: &ByName, group: usize, name: &str) -> Option<usize> {
        among.get(&(group, normalized(name).into_owned())).copied()
    }

    /// A dimension of the group or of one above it, or of the path that is given.
    pub(super) fn dimension(&self, group: usize, sought: &Reference) -> Result<usize, CdlError> {
        let found = match &sought.groups {
            Some(path) => self.find(&self.dimensions, self.group(sought.at, path)?, &sought.name),
            None => self
                .with_ancestors(group)
                .find_map(|group| self.find(&self.dimensions, group, &sought.name)),
        };
        found.ok_or_else(|| unknown("dimension", sought))
    }

    /// A variable of the group, or of the path that is given; `None` where there is none.
    pub(super) fn find_variable(
        &self,
        group: usize,
        sought: &Reference,
    ) -> Result<Option<usize>, CdlError> {
        let group = match &sought.groups {
            Some(path) => self.group(sought.at, path)?,
            None => group,
        };
        Ok(self.find(&self.variables, group, &sought.name))
    }

    /// The same, which must be there.
    pub(super) fn variable(&self, group: usize, sought: &Reference) -> Result<usize, CdlError> {
        self.find_variable(group, sought)?.ok_or_else(|| unknown("variable", sought))
    }

    /// One of netCDF's own types; or a type of the group or of one above it, or else the only one
    /// of that name in the file; or the one of the path that is given.
    pub(super) fn data_type(&self, group: usize, sought: &Reference) -> Result<DataType, CdlError> {
        let name = sought.name.as_str();
        let user = |index: usize| DataType::User(Arc::clone(&self.definitions.types[index].user));
        if let Some(path) = &sought.groups {
            let found = self.find(&self.types, self.group(sought.at, path)?, name);
            return found.map(user).ok_or_else(|| unknown("type", sought));
        }
        if let Some(atomic) = atomic(name) {
            return Ok(atomic.into());
        }
        let near = self.with_ancestors(group).find_map(|group| self.find(&self.types, group, name));
        if let Some(index) = near {
            return Ok(user(index));
        }
        let name = normalized(name);
        let types = self.definitions.types.iter().map(|defined| &defined.user);
        let mut far = types.filter(|user| user.name == *name);
        match (far.next(), far.next()) {
            (Some(user), None) => Ok(DataType::User(Arc::clone(user))),
            (Some(_), Some(_)) => {
                Err(CdlFault::Ambiguous { name: name.into_owned() }.at(sought.at))
            }
            // Also in capitals.
            (None, _) => atomic(&name.to_ascii_lowercase())
                .map(DataType::Atomic)
                .ok_or_else(|| unknown("type", sought)),
        }
    }
}

fn unknown(what: &'static str, sought: &Reference) -> CdlError {
    CdlFault::Unknown { what, name: sought.name.clone() }.at(sought.at)
}

/// Notes a name for what comes to stand at `index`; gives it back as it is written to a file.
fn declare(
    among: &mut ByName,
    what: &'static str,
    group: usize,
    name: &Name,
    index: usize,
) -> Result<String, CdlError> {
    let text = checked(name)?;
    match among.insert((group, text.clone()), index) {
        None => Ok(text),
        Some(_) => Err(CdlFault::Duplicate { what, name: text }.at(name.at)),
    }
}

/// The name as it is written to a file.
pub(super) fn checked(name: &Name) -> Result<String, CdlError> {
    match names::check(&name.text) {
        Ok(text) => Ok(text.into_owned()),
        Err(fault) => Err(CdlFault::Name { name: name.text.clone(), fault }.at(name.at)),
    }
}

fn atomic(word: &str) -> Option<Atomic> {
    Some(match word {
        "char" => Atomic::Char,
        "byte" => Atomic::Byte,
        "ubyte" => Atomic::UByte,
        "short" => Atomic::Short,
        "ushort" => Atomic::UShort,
        "int" | "long" | "integer" => Atomic::Int,
        "uint" | "ulong" | "uinteger" => Atomic::UInt,
        "int64" => Atomic::Int64,
        "uint64" => Atomic::UInt64,
        "float" | "real" => Atomic::Float,
        "double" => Atomic::Double,
        "string" => Atomic::String,
        _ => return None,
    })
}
