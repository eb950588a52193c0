//! The draft of a file that was opened.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use isotach_model::quantize::{Mode, Quantization};
use isotach_model::{Atomic, DataType, UserType};

use super::{
    AttributeList, DimensionDraft, DimensionId, Draft, FILL_VALUE, GroupDraft, GroupId, Place,
    ROOT, TypeDraft, TypeId, VariableDraft, VariableId,
};
use crate::attribute::Attribute;
use crate::dimension::Dimension;
use crate::error::{Error, ErrorKind, Result};
use crate::file::{File, Group, LeftOut};
use crate::mapping::netcdf4;
use crate::variable::Variable;
use crate::writer::VariableOptions;

impl VariableDraft {
    /// Whether it is an object of its own.
    pub(crate) fn is_own(&self) -> bool {
        self.place == Place::Own
    }

    /// Whether its attribute `_FillValue`, where it has one, is one element of its type. That of a classic file
    /// may be anything.
    pub(crate) fn has_fitting_fill(&self) -> bool {
        let fits = |fill: &Attribute| fill.len() == 1 && *fill.data_type() == self.data_type;
        self.attributes.get(FILL_VALUE).is_none_or(fits)
    }

    /// How its values are rounded before they are stored.
    pub(crate) fn quantization(&self) -> Option<Quantization> {
        if let Some(quantization) = self.options.quantization {
            return quantization.of(&self.data_type).ok();
        }
        self.origin.as_ref()?;
        let &DataType::Atomic(atomic @ (Atomic::Float | Atomic::Double)) = &self.data_type else {
            return None;
        };
        Mode::ALL.into_iter().find_map(|mode| {
            let significant = self.attributes.get(mode.attribute_name())?;
            // A number's values are at hand: finding them cannot fail.
            let is_number = *significant.data_type() == Atomic::Int.into();
            let significant = is_number.then(|| significant.values().ok())??;
            let significant = i64::from(*significant.as_slice::<i32>()?.first()?);
            Quantization::new(mode, significant, atomic).ok()
        })
    }
}

impl Draft {
    /// What is in `file`, in its order, unchanged.
    pub(crate) fn of(file: &File, file_name: &Arc<str>) -> Result<Self> {
        let mut draft = Self::new(file.format()?);
        draft.properties = file.root().attribute(netcdf4::PROPERTIES)?;
        let mut groups = vec![(file.root(), ROOT)];
        let mut dimensions = HashMap::new();
        let mut index = 0;
        while let Some((group, id)) = groups.get(index).cloned() {
            draft.set_attributes(id, AttributeList::existing(&group.attributes()?));
            draft.set_left_out(id, group.left_out()?);
            for dimension in group.listed_dimensions()?.iter() {
                dimensions.insert(dimension.path(), draft.add_dimension(id, dimension)?);
            }
            for user in group.types()?.iter() {
                draft.add_type(id, user);
            }
            for below in group.groups()? {
                let below_id = draft.add_group(id, &below);
                groups.push((below, below_id));
            }
            index += 1;
        }
        for (group, id) in groups {
            for variable in group.variables()? {
                draft.add_variable(id, variable, &dimensions, file_name)?;
            }
        }
        draft.opened_groups = draft.groups.len();
        draft.mark_committed();
        Ok(draft)
    }

    fn set_attributes(&mut self, group: GroupId, attributes: AttributeList) {
        if let Some(Some(group)) = self.groups.get_mut(group.0) {
            group.attributes = attributes;
        }
    }

    fn set_left_out(&mut self, group: GroupId, left_out: Arc<[LeftOut]>) {
        if let Some(Some(group)) = self.groups.get_mut(group.0) {
            group.left_out = left_out;
        }
    }

    fn add_group(&mut self, parent: GroupId, group: &Group) -> GroupId {
        let (creation, id) = (self.next_creation(), GroupId(self.groups.len()));
        let name: Arc<str> = group.name().into();
        let path = group.path().into();
        let added = GroupDraft::new(Arc::clone(&name), path, Some(parent), creation);
        self.groups.push(Some(added));
        if let Some(Some(parent)) = self.groups.get_mut(parent.0) {
            parent.groups.insert(name, id);
        }
        id
    }

    fn add_dimension(&mut self, group: GroupId, dimension: &Dimension) -> Result<DimensionId> {
        let (number, len) = (dimension.id()?, dimension.len()?);
        let (creation, id) = (self.next_creation(), DimensionId(self.dimensions.len()));
        let name: Arc<str> = dimension.name().into();
        self.next_dimension_number = self.next_dimension_number.max(number.saturating_add(1));
        self.dimensions.push(Some(DimensionDraft {
            name: Arc::clone(&name),
            name_room: dimension.mapping.name_room(),
            group,
            creation,
            len,
            is_unlimited: dimension.is_unlimited(),
            number,
            is_numbered: true,
            is_made_up: false,
            is_foreign: dimension.is_foreign(),
            is_elsewhere: false,
        }));
        if let Some(Some(group)) = self.groups.get_mut(group.0) {
            group.dimensions.insert(name, id);
        }
        Ok(id)
    }

    /// Says that the file has no name for a type.
    pub(crate) fn set_type_made_up(&mut self, id: TypeId) {
        if let Some(Some(user)) = self.types.get_mut(id.0) {
            user.is_made_up = true;
        }
    }

    /// Says that the file has no object for a dimension, or that it is elsewhere.
    pub(crate) fn set_made_up(&mut self, id: DimensionId, is_elsewhere: bool) {
        if let Some(Some(dimension)) = self.dimensions.get_mut(id.0) {
            dimension.is_made_up = true;
            dimension.is_elsewhere = is_elsewhere;
        }
    }

    /// Says which dimensions have their numbers in the file.
    pub(crate) fn set_numbered(&mut self, numbered: &[DimensionId]) {
        self.dimensions.iter_mut().flatten().for_each(|dimension| dimension.is_numbered = false);
        for id in numbered {
            if let Some(Some(dimension)) = self.dimensions.get_mut(id.0) {
                dimension.is_numbered = true;
            }
        }
    }

    /// Has new dimensions have numbers behind `last`: something refers to a dimension by that, be it there or not.
    pub(crate) fn number_dimensions_behind(&mut self, last: Option<i32>) {
        let next = last.map_or(0, |last| last.saturating_add(1));
        self.next_dimension_number = self.next_dimension_number.max(next);
    }

    /// Says that a group is an object elsewhere, perhaps that of another group.
    pub(crate) fn set_elsewhere(&mut self, id: GroupId, twin: Option<GroupId>) {
        if let Some(Some(group)) = self.groups.get_mut(id.0) {
            (group.is_elsewhere, group.twin) = (true, twin);
        }
    }

    /// Says which names in a group are taken by what is not shown.
    pub(crate) fn set_hidden_names(&mut self, id: GroupId, names: HashSet<Arc<str>>) {
        if let Some(Some(group)) = self.groups.get_mut(id.0) {
            group.hidden_names = names;
        }
    }

    /// Says how far a variable's elements can reach.
    pub(crate) fn set_limits(&mut self, id: VariableId, limits: Vec<u64>) {
        if let Some(Some(variable)) = self.variables.get_mut(id.0) {
            variable.limits = Some(limits);
        }
    }

    /// Says which object a variable is.
    pub(crate) fn set_place(&mut self, id: VariableId, place: Place) {
        if let Some(Some(variable)) = self.variables.get_mut(id.0) {
            variable.place = place;
        }
    }

    fn add_type(&mut self, group: GroupId, user: &Arc<UserType>) {
        let (creation, id) = (self.next_creation(), TypeId(self.types.len()));
        self.types.push(Some(TypeDraft { is_made_up: false, creation, user: Arc::clone(user) }));
        if let Some(Some(group)) = self.groups.get_mut(group.0) {
            group.types.insert(user.name.as_str().into(), id);
        }
    }

    fn add_variable(
        &mut self,
        group: GroupId,
        variable: Variable,
        dimensions: &HashMap<String, DimensionId>,
        file_name: &Arc<str>,
    ) -> Result<()> {
        let (creation, id) = (self.next_creation(), VariableId(self.variables.len()));
        let name: Arc<str> = variable.name().into();
        let along = variable.dimensions()?;
        let attributes = AttributeList::existing(&variable.attributes()?);
        // Its own extent may be less than that of unlimited dimensions; elsewhere it is the same.
        let extent = match along.iter().any(Dimension::is_unlimited) {
            true => variable.array()?.layout.shape.clone(),
            false => along.iter().map(Dimension::len).collect::<Result<_>>()?,
        };
        let draft_dimension = |found: &Dimension| {
            let (what, name) = ("dimension", found.path());
            let id = dimensions.get(&name).copied();
            id.ok_or_else(|| Error::new(file_name, ErrorKind::NotFound { what, name }))
        };
        self.variables.push(Some(VariableDraft {
            name: Arc::clone(&name),
            name_room: variable.mapping.name_room(),
            group,
            creation,
            data_type: variable.data_type().clone(),
            dimensions: along.iter().map(draft_dimension).collect::<Result<_>>()?,
            attributes,
            options: VariableOptions::default(),
            extent,
            limits: None,
            origin: Some(variable),
            place: Place::Own,
        }));
        if let Some(Some(group)) = self.groups.get_mut(group.0) {
            group.variables.insert(name, id);
        }
        Ok(())
    }
}
