//! Where new objects stand among the links of their group, which is the order in which libnetcdf lists them.
//!
//! libnetcdf makes objects only when definitions end: types, then groups, then dimensions and variables in
//! turn. A dimension that is not a variable comes before all variables behind the coordinate variable of the
//! dimension before it; a coordinate variable keeps its place among the variables.
//!
//! ```text
//! dimensions a, t, b and variables x, t, y: a x t b y
//! ```

use std::collections::{BTreeMap, HashSet};

use super::{Draft, GroupDraft, GroupId, Item};

impl Draft {
    /// Gives what was defined since the last time its place, behind all that is there.
    pub(crate) fn give_places(&mut self) {
        let mut by_group: BTreeMap<GroupId, HashSet<Item>> = BTreeMap::new();
        for item in std::mem::take(&mut self.placeless) {
            if let Some(group) = self.group_of(item) {
                by_group.entry(group).or_default().insert(item);
            }
        }
        for (group, new) in by_group {
            let order = self.group(group).map(|group| self.order(group)).unwrap_or_default();
            for item in order.into_iter().filter(|item| new.contains(item)) {
                let creation = self.next_creation();
                self.set_creation(item, creation);
            }
        }
    }

    /// The group that an item lies in; `None` for one that was deleted.
    fn group_of(&self, item: Item) -> Option<GroupId> {
        match item {
            Item::Group(id) => self.group(id).ok()?.parent,
            Item::Dimension(id) => Some(self.dimension(id).ok()?.group),
            Item::Type(id) => self.find_group(&self.user_type(id).ok()?.user.group),
            Item::Variable(id) => Some(self.variable(id).ok()?.group),
        }
    }

    /// What a group holds, in the order in which libnetcdf would make it.
    fn order(&self, group: &GroupDraft) -> Vec<Item> {
        let mut order: Vec<Item> = group.types.values().map(|&id| Item::Type(id)).collect();
        order.extend(group.groups.values().map(|&id| Item::Group(id)));
        let mut variables = group.variables.values().copied();
        for (name, &dimension) in &group.dimensions {
            let namesake = group.variables.get(name).copied();
            let coordinate = namesake.filter(|&id| {
                self.variable(id).is_ok_and(|found| found.dimensions.first() == Some(&dimension))
            });
            let Some(coordinate) = coordinate else {
                order.push(Item::Dimension(dimension));
                continue;
            };
            for variable in variables.by_ref() {
                order.push(Item::Variable(variable));
                if variable == coordinate {
                    break;
                }
            }
        }
        order.extend(variables.map(Item::Variable));
        order
    }

    fn set_creation(&mut self, item: Item, creation: u64) {
        let place = match item {
            Item::Group(id) => self.groups[id.0].as_mut().map(|group| &mut group.creation),
            Item::Dimension(id) => self.dimensions[id.0].as_mut().map(|found| &mut found.creation),
            Item::Type(id) => self.types[id.0].as_mut().map(|user| &mut user.creation),
            Item::Variable(id) => self.variables[id.0].as_mut().map(|found| &mut found.creation),
        };
        place.into_iter().for_each(|place| *place = creation);
    }
}
