//! What [`super::operations()`] does with what is there: attributes, other names, deletions.

use super::operations::{NAMES, Run, agree};
use super::plain_file::{Attributes, PlainVariable, join};
use super::script::Script;

impl Run {
    /// The attributes of a group, or of a variable where there is an index.
    fn pick_owner(&self, script: &mut Script<'_>) -> (String, Option<usize>) {
        match script.below(2) {
            0 => (self.pick_group(script), None),
            _ => match self.pick_variable(script) {
                Some(index) => (String::new(), Some(index)),
                None => ("/".into(), None),
            },
        }
    }

    fn attributes(&mut self, (group, variable): &(String, Option<usize>)) -> &mut Attributes {
        match variable {
            Some(index) => &mut self.plain.variables[*index].attributes,
            None => self.plain.groups.get_mut(group).unwrap(),
        }
    }

    pub(super) fn set_attribute(&mut self, script: &mut Script<'_>) {
        let (owner, name) = (self.pick_owner(script), *script.pick(&NAMES).unwrap());
        let count = [0, 1, 1, 2, 5, 40, 900, 17_000][script.below(8) as usize];
        let numbers = vec![script.below(256) as i32; count];
        let set = match owner.1 {
            Some(index) => self.variable(index).set_attribute(name, numbers.clone()),
            None => self.group(&owner.0).set_attribute(name, numbers.clone()),
        };
        agree(&format!("attribute {name:?} of {owner:?}"), set, true);
        self.attributes(&owner).insert(name.into(), numbers);
    }

    pub(super) fn delete_attribute(&mut self, script: &mut Script<'_>) {
        let (owner, name) = (self.pick_owner(script), *script.pick(&NAMES).unwrap());
        let deleted = match owner.1 {
            Some(index) => self.variable(index).delete_attribute(name),
            None => self.group(&owner.0).delete_attribute(name),
        };
        let is_there = self.attributes(&owner).remove(name).is_some();
        agree(&format!("deleting attribute {name:?} of {owner:?}"), deleted, is_there);
    }

    pub(super) fn rename_attribute(&mut self, script: &mut Script<'_>) {
        let owner = self.pick_owner(script);
        let (from, to) = (*script.pick(&NAMES).unwrap(), *script.pick(&NAMES).unwrap());
        if from == to {
            return;
        }
        let renamed = match owner.1 {
            Some(index) => self.variable(index).rename_attribute(from, to),
            None => self.group(&owner.0).rename_attribute(from, to),
        };
        let attributes = self.attributes(&owner);
        let is_allowed = attributes.contains_key(from) && !attributes.contains_key(to);
        if agree(&format!("attribute {from:?} of {owner:?} to {to:?}"), renamed, is_allowed) {
            let numbers = attributes.remove(from).unwrap();
            attributes.insert(to.into(), numbers);
        }
    }

    pub(super) fn rename_dimension(&mut self, script: &mut Script<'_>) {
        let count = self.plain.dimensions.len() as u64;
        let (index, to) = (script.below(count) as usize, *script.pick(&NAMES).unwrap());
        let found = self.plain.dimensions.get(index).and_then(|found| found.group.clone());
        let Some(group) = found else { return };
        if self.plain.dimensions[index].name == to {
            return;
        }
        let renamed = self.writer.rename_dimension(self.dimension(index), to);
        let is_allowed = !self.has_dimension(&group, to) && !self.has_group(&group, to);
        if agree(&format!("dimension {index} of {group} to {to:?}"), renamed, is_allowed) {
            self.plain.dimensions[index].name = to.into();
        }
    }

    pub(super) fn rename_variable(&mut self, script: &mut Script<'_>) {
        let Some(index) = self.pick_variable(script) else { return };
        let to = *script.pick(&NAMES).unwrap();
        let PlainVariable { group, name, .. } = &self.plain.variables[index];
        if name == to {
            return;
        }
        let is_allowed = !self.has_variable(group, to) && !self.has_group(group, to);
        let renamed = self.variable(index).rename(to);
        if agree(&format!("variable {name:?} of {group} to {to:?}"), renamed, is_allowed) {
            self.plain.variables[index].name = to.into();
        }
    }

    pub(super) fn rename_group(&mut self, script: &mut Script<'_>) {
        let (path, to) = (self.pick_group(script), *script.pick(&NAMES).unwrap());
        let Some((parent, name)) = path.rsplit_once('/').filter(|_| path != "/") else { return };
        let parent = if parent.is_empty() { "/" } else { parent };
        if name == to {
            return;
        }
        let is_allowed = !self.has_dimension(parent, to)
            && !self.has_group(parent, to)
            && !self.has_variable(parent, to);
        let renamed = self.group(&path).rename(to);
        if agree(&format!("group {path} to {to:?}"), renamed, is_allowed) {
            let new = join(parent, to);
            let moved = |group: &str| match group.strip_prefix(&path) {
                Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{new}{rest}"),
                _ => group.to_owned(),
            };
            let groups = std::mem::take(&mut self.plain.groups);
            self.plain.groups = groups.into_iter().map(|(path, all)| (moved(&path), all)).collect();
            for dimension in &mut self.plain.dimensions {
                dimension.group = dimension.group.as_deref().map(moved);
            }
            for variable in &mut self.plain.variables {
                variable.group = moved(&variable.group);
            }
        }
    }

    pub(super) fn delete_variable(&mut self, script: &mut Script<'_>) {
        let Some(index) = self.pick_variable(script) else { return };
        // The length of an unlimited dimension is that of the longest variable along it.
        if self.is_longest(|other| other == index) {
            return;
        }
        agree(&format!("deleting variable {index}"), self.variable(index).delete(), true);
        self.plain.variables.remove(index);
    }

    /// Whether an unlimited dimension would be shorter without some of the variables.
    fn is_longest(&self, is_left_out: impl Fn(usize) -> bool) -> bool {
        self.plain.dimensions.iter().enumerate().any(|(at, dimension)| {
            let others = self.plain.variables.iter().enumerate();
            let others = others.filter(|(index, _)| !is_left_out(*index));
            let lens = others.flat_map(|(_, variable)| {
                let axes = variable.dimensions.iter().zip(&variable.extent);
                axes.filter(|(index, _)| **index == at).map(|(_, &extent)| extent)
            });
            dimension.is_unlimited && dimension.len > lens.max().unwrap_or(0)
        })
    }

    pub(super) fn delete_group(&mut self, script: &mut Script<'_>) {
        let path = self.pick_group(script);
        let is_below = |group: &str| {
            group.strip_prefix(&path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let variables = &self.plain.variables;
        if path == "/" || self.is_longest(|index| is_below(&variables[index].group)) {
            return;
        }
        agree(&format!("deleting group {path}"), self.group(&path).delete(), true);
        self.plain.groups.retain(|group, _| !is_below(group));
        self.plain.variables.retain(|variable| !is_below(&variable.group));
        for dimension in &mut self.plain.dimensions {
            dimension.group = dimension.group.take().filter(|group| !is_below(group));
        }
    }
}
