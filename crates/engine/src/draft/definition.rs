//! Defining, renaming, deleting.

use std::collections::HashSet;
use std::sync::Arc;

use isotach_model::{Atomic, DataType, UserType, Values};

use super::rules;
use super::{
    AttributeList, Defined, DimensionDraft, DimensionId, Draft, GroupDraft, GroupId, Item, Place,
    TypeDraft, TypeId, VariableDraft, VariableId,
};
use crate::error::DefinitionFault;
use crate::file::Format;
use crate::writer::{Fill, Quantization, VariableOptions};

/// The attribute that says what a variable's fill value is.
pub(crate) const FILL_VALUE: &str = "_FillValue";

/// What has attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum AttributeOwner {
    Group(GroupId),
    Variable(VariableId),
}

impl Draft {
    /// Defines a dimension of `len` elements, or an unlimited one.
    pub(crate) fn define_dimension(
        &mut self,
        group: GroupId,
        name: &str,
        len: Option<u64>,
    ) -> Defined<DimensionId> {
        let name = rules::name(name)?;
        let has_unlimited = self.dimensions().any(|(_, dimension)| dimension.is_unlimited);
        rules::dimension(self.format, len, has_unlimited)?;
        let (is_numbered, id) = (self.numbers_dimensions(), DimensionId(self.dimensions.len()));
        self.free_dimension_name(group, &name)?.dimensions.insert(Arc::clone(&name), id);
        let creation = self.create(Item::Dimension(id));
        let number = self.next_dimension_number;
        self.next_dimension_number = self.next_dimension_number.saturating_add(1);
        self.dimensions.push(Some(DimensionDraft {
            name,
            name_room: 0,
            group,
            creation,
            len: len.unwrap_or(0),
            is_unlimited: len.is_none(),
            number,
            is_numbered,
            is_made_up: false,
            is_foreign: false,
            is_elsewhere: false,
        }));
        Ok(id)
    }

    /// Defines a group within a group.
    pub(crate) fn define_group(&mut self, parent: GroupId, name: &str) -> Defined<GroupId> {
        let name = rules::name(name)?;
        rules::enhanced(self.format, "groups")?;
        let id = GroupId(self.groups.len());
        let owner = self.unshared_name(parent, &name)?;
        let path = owner.path_of(&name).into();
        owner.groups.insert(Arc::clone(&name), id);
        let creation = self.create(Item::Group(id));
        self.groups.push(Some(GroupDraft::new(name, path, Some(parent), creation)));
        Ok(id)
    }

    /// Defines a user-defined type; its group is set to where it is defined.
    pub(crate) fn define_type(&mut self, group: GroupId, user: UserType) -> Defined<TypeId> {
        let name = rules::name(&user.name)?;
        rules::enhanced(self.format, "user-defined types")?;
        for part in rules::parts_of(&user) {
            self.check_type(part)?;
        }
        let id = TypeId(self.types.len());
        let owner = self.unshared_name(group, &name)?;
        let user = UserType { name: name.to_string(), group: owner.path.to_string(), ..user };
        owner.types.insert(name, id);
        let creation = self.create(Item::Type(id));
        self.types.push(Some(TypeDraft { is_made_up: false, creation, user: Arc::new(user) }));
        Ok(id)
    }

    /// Defines a variable along dimensions of any group.
    pub(crate) fn define_variable(
        &mut self,
        group: GroupId,
        name: &str,
        data_type: DataType,
        dimensions: &[DimensionId],
        mut options: VariableOptions,
    ) -> Defined<VariableId> {
        // What points to other memory is always filled, and so are user-defined types.
        let can_be_unfilled = data_type.atomic().is_some_and(|atomic| atomic != Atomic::String);
        if !self.fills && options.fill == Fill::Default && can_be_unfilled {
            options.fill = Fill::None;
        }
        let name = rules::name(name)?;
        self.check_type(&data_type)?;
        let along = self.dimensions_of(dimensions)?;
        if let Some(elsewhere) = along.iter().find(|dimension| dimension.is_elsewhere) {
            return Err(DefinitionFault::NotWritable { name: elsewhere.name.to_string() });
        }
        rules::variable(self.format, &data_type, &along, &options)?;
        let mut attributes = AttributeList::default();
        if let Some(quantization) = options.quantization {
            set_quantization(&mut attributes, quantization, &data_type)?;
        }
        if let Fill::Value(value) | Fill::Unstated(value) = &options.fill {
            rules::fill_value(&data_type, value)?;
        }
        if let Fill::Value(value) = &options.fill {
            attributes.set(FILL_VALUE.into(), data_type.clone(), Arc::new(value.clone()), false);
        }
        let extent =
            along.iter().map(|dimension| if dimension.is_unlimited { 0 } else { dimension.len });
        let extent = extent.collect();
        let id = VariableId(self.variables.len());
        self.free_name(group, &name)?.variables.insert(Arc::clone(&name), id);
        dimensions.iter().for_each(|&id| self.make_real(id));
        let creation = self.create(Item::Variable(id));
        self.variables.push(Some(VariableDraft {
            name,
            name_room: 0,
            group,
            creation,
            data_type,
            dimensions: dimensions.to_vec(),
            attributes,
            options,
            extent,
            limits: None,
            origin: None,
            place: Place::Own,
        }));
        Ok(id)
    }

    /// Sets an attribute.
    pub(crate) fn set_attribute(
        &mut self,
        owner: AttributeOwner,
        name: &str,
        data_type: DataType,
        values: Values,
    ) -> Defined<()> {
        let name = rules::attribute_name(self.format, name)?;
        self.check_type(&data_type)?;
        rules::attribute(self.format, &data_type)?;
        let is_in_place = self.holds_header;
        self.attributes_mut(owner)?.set(name, data_type, Arc::new(values), is_in_place);
        Ok(())
    }

    /// Deletes an attribute.
    pub(crate) fn delete_attribute(&mut self, owner: AttributeOwner, name: &str) -> Defined<()> {
        self.attributes_mut(owner)?.delete(name)?;
        self.forget_fill(owner, name);
        Ok(())
    }

    /// In a classic file nothing but the attribute of that name says what the fill value is.
    fn forget_fill(&mut self, owner: AttributeOwner, name: &str) {
        let (AttributeOwner::Variable(id), FILL_VALUE) = (owner, name) else { return };
        if let Some(Some(variable)) = self.variables.get_mut(id.0)
            && matches!(variable.options.fill, Fill::Value(_))
            && !matches!(self.format, Format::NetCdf4 | Format::NetCdf4Classic)
        {
            variable.options.fill = Fill::Default;
        }
    }

    /// Gives an attribute another name.
    pub(crate) fn rename_attribute(
        &mut self,
        owner: AttributeOwner,
        from: &str,
        to: &str,
    ) -> Defined<()> {
        let to = rules::attribute_name(self.format, to)?;
        let holds = self.holds_header;
        let new = Arc::clone(&to);
        let room_of = |from: &str, room| rules::name_room(holds, (from, room), &new);
        self.attributes_mut(owner)?.rename(from, to, room_of)?;
        self.forget_fill(owner, from);
        Ok(())
    }

    /// Gives a dimension another name.
    pub(crate) fn rename_dimension(&mut self, id: DimensionId, to: &str) -> Defined<()> {
        let to = rules::name(to)?;
        let (group, from, name_room) = {
            let dimension = self.dimension(id)?;
            (dimension.group, Arc::clone(&dimension.name), dimension.name_room)
        };
        let name_room = rules::name_room(self.holds_header, (&from, name_room), &to)?;
        if self.dimension(id)?.is_elsewhere {
            return Err(DefinitionFault::NotWritable { name: from.to_string() });
        }
        self.free_dimension_name(group, &to)?.dimensions.rename(&from, &to);
        self.touch(Item::Dimension(id));
        if let Some(Some(dimension)) = self.dimensions.get_mut(id.0) {
            (dimension.name, dimension.name_room) = (to, name_room);
        }
        self.make_real(id);
        Ok(())
    }

    /// Gives a dimension that was made up an object at the next commit.
    fn make_real(&mut self, id: DimensionId) {
        let is_numbered = self.numbers_dimensions();
        if let Some(Some(dimension)) = self.dimensions.get_mut(id.0)
            && dimension.is_made_up
        {
            dimension.is_numbered = is_numbered;
            (dimension.is_made_up, dimension.is_foreign) = (false, false);
        }
    }

    /// Gives a variable another name.
    pub(crate) fn rename_variable(&mut self, id: VariableId, to: &str) -> Defined<()> {
        let to = rules::name(to)?;
        let (group, from, name_room) = {
            let variable = self.variable(id)?;
            (variable.group, Arc::clone(&variable.name), variable.name_room)
        };
        let name_room = rules::name_room(self.holds_header, (&from, name_room), &to)?;
        self.free_name(group, &to)?.variables.rename(&from, &to);
        self.touch(Item::Variable(id));
        if let Some(Some(variable)) = self.variables.get_mut(id.0) {
            (variable.name, variable.name_room) = (to, name_room);
        }
        Ok(())
    }

    /// Gives a group other than the root another name.
    pub(crate) fn rename_group(&mut self, id: GroupId, to: &str) -> Defined<()> {
        let to = rules::name(to)?;
        let (parent, from) = {
            let group = self.group(id)?;
            let parent = group.parent.ok_or(DefinitionFault::RootGroup)?;
            (parent, Arc::clone(&group.name))
        };
        self.unshared_name(parent, &to)?.groups.rename(&from, &to);
        let creation = self.next_creation();
        let is_stored = !self.placeless.contains(&Item::Group(id));
        let group = self.group_mut(id)?;
        group.name = to;
        if is_stored {
            // As libhdf5 leaves it: a link that is moved is the last one.
            group.creation = creation;
        }
        self.renew_paths(id)
    }

    /// Deletes a variable: its name, and the object where no other name leads to it.
    pub(crate) fn delete_variable(&mut self, id: VariableId) -> Defined<()> {
        let (group, name) = {
            let variable = self.variable(id)?;
            (variable.group, Arc::clone(&variable.name))
        };
        self.members_mut(group)?.variables.remove(&name);
        self.remove_variables(&[id]);
        Ok(())
    }

    /// Takes variables away that have no name any more. One that is the object of others stays as
    /// long as these do.
    fn remove_variables(&mut self, ids: &[VariableId]) {
        let owners: HashSet<VariableId> = ids.iter().map(|&id| self.owner(id)).collect();
        let mut shorter = HashSet::new();
        ids.iter().filter(|id| !owners.contains(id)).for_each(|id| self.variables[id.0] = None);
        for owner in owners {
            let has_name = self.variable(owner).is_ok_and(|variable| {
                let names = self.group(variable.group).map(|group| &group.variables);
                names.is_ok_and(|names| names.get(&variable.name) == Some(&owner))
            });
            let has_twin = self.variables().any(|(_, other)| other.place == Place::Twin(owner));
            if !has_name && !has_twin {
                let gone = self.variables[owner.0].take();
                shorter.extend(gone.into_iter().flat_map(|variable| variable.dimensions));
            }
        }
        shorter.into_iter().for_each(|dimension| self.shorten(dimension));
    }

    /// An unlimited dimension is as long as the longest variable along it, also when that is gone. The
    /// records of a classic file stay as many as they are: each variable has all of them.
    fn shorten(&mut self, id: DimensionId) {
        let has_records = !matches!(self.format, Format::NetCdf4 | Format::NetCdf4Classic);
        let Some(Some(dimension)) = self.dimensions.get_mut(id.0) else { return };
        if !dimension.is_unlimited || has_records {
            return;
        }
        let extents = self
            .variables
            .iter()
            .flatten()
            .flat_map(|variable| variable.dimensions.iter().zip(&variable.extent));
        let len =
            extents.filter(|(along, _)| **along == id).map(|(_, &len)| len).max().unwrap_or(0);
        if len < dimension.len {
            dimension.len = len;
            self.touched.insert(Item::Dimension(id));
        }
    }

    /// Deletes a group other than the root with all that is in it.
    pub(crate) fn delete_group(&mut self, id: GroupId) -> Defined<()> {
        self.check_dimensions_unused(id)?;
        let group = self.group(id)?;
        let (parent, name) =
            (group.parent.ok_or(DefinitionFault::RootGroup)?, Arc::clone(&group.name));
        self.members_mut(parent)?.groups.remove(&name);
        self.remove_group(id);
        Ok(())
    }

    /// Dimensions of a group and those below may be along variables of other groups.
    fn check_dimensions_unused(&self, id: GroupId) -> Defined<()> {
        let is_below = |group: GroupId| self.with_ancestors(group).any(|above| above == id);
        for (_, variable) in self.variables().filter(|(_, variable)| !is_below(variable.group)) {
            for &dimension in &variable.dimensions {
                let dimension = self.dimension(dimension)?;
                if is_below(dimension.group) {
                    return Err(DefinitionFault::InUse { name: dimension.name.to_string() });
                }
            }
        }
        Ok(())
    }

    /// Takes a group away that has no name any more, and all that is in it.
    fn remove_group(&mut self, id: GroupId) {
        let Some(group) = self.groups.get_mut(id.0).and_then(Option::take) else { return };
        group.groups.values().for_each(|&below| self.remove_group(below));
        group.dimensions.values().for_each(|dimension| self.dimensions[dimension.0] = None);
        group.types.values().for_each(|user| self.types[user.0] = None);
        let variables: Vec<VariableId> = group.variables.values().copied().collect();
        self.remove_variables(&variables);
    }

    /// Changes how a variable that has no values yet shall be stored.
    pub(crate) fn change_options(
        &mut self,
        id: VariableId,
        change: impl FnOnce(&mut VariableOptions),
    ) -> Defined<()> {
        let variable = self.variable(id)?;
        if variable.place == Place::Elsewhere {
            return Err(DefinitionFault::NotWritable { name: variable.name.to_string() });
        }
        let mut options = variable.options.clone();
        change(&mut options);
        let along = self.dimensions_of(&variable.dimensions)?;
        rules::variable(self.format, &variable.data_type, &along, &options)?;
        self.touch(Item::Variable(id));
        if let Some(Some(variable)) = self.variables.get_mut(id.0) {
            if let Fill::Unstated(value) = &options.fill {
                rules::fill_value(&variable.data_type, value)?;
            }
            if let Fill::Value(value) = &options.fill {
                let (data_type, value) = (variable.data_type.clone(), Arc::new(value.clone()));
                variable.attributes.set(FILL_VALUE.into(), data_type, value, false);
            }
            if let Some(quantization) = options.quantization {
                set_quantization(&mut variable.attributes, quantization, &variable.data_type)?;
            }
            variable.options = options;
        }
        Ok(())
    }

    /// Says whether the header of a classic file stays as large as it is.
    pub(crate) fn hold_header(&mut self, holds: bool) {
        self.holds_header = holds;
    }

    /// Says whether variables and records are filled from now on; tells what it was.
    pub(crate) fn set_fill(&mut self, fills: bool) -> bool {
        if self.fills != fills {
            self.revision += 1;
        }
        std::mem::replace(&mut self.fills, fills)
    }

    /// That records of a classic file are filled with fill values, if at all.
    pub(crate) fn check_record_fill(&self) -> Defined<()> {
        let is_fault = |(_, variable): (VariableId, &VariableDraft)| {
            !variable.has_fitting_fill() && self.is_record(variable)
        };
        let is_classic = !matches!(self.format, Format::NetCdf4 | Format::NetCdf4Classic);
        match self.fills && is_classic && self.variables().any(is_fault) {
            true => Err(DefinitionFault::FillValue),
            false => Ok(()),
        }
    }

    /// Makes a variable's extent, and its unlimited dimensions, reach at least as far as `extent`.
    pub(crate) fn grow(&mut self, id: VariableId, extent: &[u64]) -> Defined<()> {
        let id = self.owner(id);
        let Some(Some(variable)) = self.variables.get_mut(id.0) else {
            return Err(DefinitionFault::Deleted { what: "variable" });
        };
        for (axis, &len) in extent.iter().enumerate() {
            let Some(Some(dimension)) = self.dimensions.get_mut(variable.dimensions[axis].0) else {
                return Err(DefinitionFault::Deleted { what: "dimension" });
            };
            if dimension.is_unlimited {
                if len > dimension.len {
                    self.touched.insert(Item::Dimension(variable.dimensions[axis]));
                }
                variable.extent[axis] = variable.extent[axis].max(len);
                dimension.len = dimension.len.max(len);
            }
        }
        self.touched.insert(Item::Variable(id));
        Ok(())
    }

    /// The attributes of a group or variable.
    pub(crate) fn attributes(&self, owner: AttributeOwner) -> Defined<&AttributeList> {
        match owner {
            AttributeOwner::Group(id) => Ok(&self.with_members_of(id)?.attributes),
            AttributeOwner::Variable(id) => {
                self.variable(self.owner(id)).map(|variable| &variable.attributes)
            }
        }
    }

    fn attributes_mut(&mut self, owner: AttributeOwner) -> Defined<&mut AttributeList> {
        match owner {
            AttributeOwner::Group(id) => {
                let group = self.group_mut(id)?;
                check_here(group)?;
                Ok(&mut group.attributes)
            }
            AttributeOwner::Variable(id) => {
                let id = self.owner(id);
                self.touch(Item::Variable(id));
                match self.variables.get_mut(id.0) {
                    Some(Some(VariableDraft { place: Place::Elsewhere, name, .. })) => {
                        Err(DefinitionFault::NotWritable { name: name.to_string() })
                    }
                    Some(Some(variable)) => Ok(&mut variable.attributes),
                    _ => Err(DefinitionFault::Deleted { what: "variable" }),
                }
            }
        }
    }

    fn group_mut(&mut self, id: GroupId) -> Defined<&mut GroupDraft> {
        self.touch(Item::Group(id));
        let found = self.groups.get_mut(id.0).and_then(Option::as_mut);
        found.ok_or(DefinitionFault::Deleted { what: "group" })
    }

    /// The group, of which something is to be defined, renamed or deleted.
    fn members_mut(&mut self, id: GroupId) -> Defined<&mut GroupDraft> {
        let group = self.group_mut(id)?;
        check_here(group)?;
        group.members_changed = true;
        Ok(group)
    }

    /// The group, in which no variable, group or type has `name` yet.
    fn free_name(&mut self, group: GroupId, name: &str) -> Defined<&mut GroupDraft> {
        let owner = self.members_mut(group)?;
        match owner.kind_of(name) {
            Some(what) => Err(in_use(what, name)),
            None => Ok(owner),
        }
    }

    /// The same for groups and types: HDF5 has one name for them and for dimensions, whereas a variable
    /// can step aside.
    fn unshared_name(&mut self, group: GroupId, name: &str) -> Defined<&mut GroupDraft> {
        let owner = self.free_name(group, name)?;
        if owner.dimensions.contains_key(name) {
            return Err(in_use("dimension", name));
        }
        Ok(owner)
    }

    /// The group, in which no dimension, group or type has `name` yet.
    fn free_dimension_name(&mut self, group: GroupId, name: &str) -> Defined<&mut GroupDraft> {
        let owner = self.members_mut(group)?;
        if owner.dimensions.contains_key(name) {
            return Err(in_use("dimension", name));
        }
        match owner.kind_of(name) {
            Some(what) if !owner.variables.contains_key(name) => Err(in_use(what, name)),
            _ => Ok(owner),
        }
    }

    /// The dimensions, which netCDF allows to be of any group.
    fn dimensions_of(&self, dimensions: &[DimensionId]) -> Defined<Vec<&DimensionDraft>> {
        dimensions.iter().map(|&id| self.dimension(id)).collect()
    }

    /// A user-defined type must be one of this file's.
    fn check_type(&self, data_type: &DataType) -> Defined<()> {
        match data_type {
            DataType::Atomic(_) | DataType::SmallFloat(_) => Ok(()),
            DataType::User(user) => match self.find_type(user) {
                Some(_) => Ok(()),
                None => Err(DefinitionFault::NotFound { what: "type", name: data_type.path() }),
            },
            DataType::Foreign(foreign) => {
                Err(DefinitionFault::ForeignType { description: foreign.description.clone() })
            }
        }
    }

    /// Paths of a group that was renamed, and of all below it. Types know their group's path too.
    fn renew_paths(&mut self, id: GroupId) -> Defined<()> {
        let group = self.group(id)?;
        let parent = group.parent.ok_or(DefinitionFault::RootGroup)?;
        let path: Arc<str> = self.group(parent)?.path_of(&group.name).into();
        let types: Vec<TypeId> = group.types.values().copied().collect();
        let below: Vec<GroupId> = group.groups.values().copied().collect();
        for id in types {
            if let Some(Some(user_type)) = self.types.get_mut(id.0) {
                let user = UserType { group: path.to_string(), ..(*user_type.user).clone() };
                user_type.user = Arc::new(user);
            }
        }
        self.group_mut(id)?.path = path;
        below.into_iter().try_for_each(|below| self.renew_paths(below))
    }
}

/// Says in the attribute that netCDF has for it how values are rounded.
fn set_quantization(
    attributes: &mut AttributeList,
    quantization: Quantization,
    data_type: &DataType,
) -> Defined<()> {
    let quantization = quantization.of(data_type).map_err(DefinitionFault::Quantization)?;
    let significant = Values::I32(vec![quantization.significant().cast_signed()]);
    let name = quantization.mode().attribute_name().into();
    attributes.set(name, Atomic::Int.into(), Arc::new(significant), false);
    Ok(())
}

/// Nothing can be changed in a group that is an object elsewhere.
fn check_here(group: &GroupDraft) -> Defined<()> {
    match group.is_elsewhere {
        true => Err(DefinitionFault::NotWritable { name: group.path.to_string() }),
        false => Ok(()),
    }
}

fn in_use(what: &'static str, name: &str) -> DefinitionFault {
    DefinitionFault::NameInUse { what, name: name.to_owned() }
}
