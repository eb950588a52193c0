//! Which data set stands for a dimension, and who refers to it.
//!
//! A dimension is an HDF5 dimension scale: the variable of its name in its group whose first dimension
//! it is (a coordinate variable), else a data set of its own without values. Variables that are not scales
//! themselves refer to their scales (`DIMENSION_LIST`), and the scales back (`REFERENCE_LIST`): HDF5
//! allows no scale of a scale, so netCDF-4 keeps the dimensions of those as numbers.

use std::collections::HashMap;

use crate::draft::{DimensionId, Draft, GroupId, TypeId, VariableDraft, VariableId};

/// An object of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Node {
    Group(GroupId),
    Type(TypeId),
    /// The data set of a dimension that is not a variable.
    Dimension(DimensionId),
    Variable(VariableId),
}

/// The dimension scales of a draft.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Scales {
    scales: HashMap<DimensionId, Node>,
    /// The dimensions that variables stand for.
    coordinates: HashMap<VariableId, DimensionId>,
    /// The variables along each dimension that refer to it, and by which axis.
    users: HashMap<DimensionId, Vec<(VariableId, u32)>>,
}

impl Scales {
    /// Those of the draft as it is.
    pub(super) fn find(draft: &Draft) -> Self {
        let mut found = Self::default();
        for (id, dimension) in draft.dimensions().filter(|(_, found)| !found.is_made_up) {
            let variable = draft
                .group(dimension.group)
                .ok()
                .and_then(|group| group.variables.get(&dimension.name).copied());
            let coordinate = variable.filter(|&variable| {
                draft.variable(variable).is_ok_and(|variable| {
                    variable.is_own() && variable.dimensions.first() == Some(&id)
                })
            });
            if let Some(variable) = coordinate {
                found.coordinates.insert(variable, id);
            }
            found.scales.insert(id, coordinate.map_or(Node::Dimension(id), Node::Variable));
        }
        for (id, variable) in draft.variables().filter(|(_, variable)| variable.is_own()) {
            if found.coordinates.contains_key(&id) {
                continue;
            }
            for (axis, &dimension) in variable.dimensions.iter().enumerate() {
                found.users.entry(dimension).or_default().push((id, axis as u32));
            }
        }
        found
    }

    /// The data set that stands for the dimension; `None` for one that is made up.
    pub(super) fn scale(&self, dimension: DimensionId) -> Option<Node> {
        self.scales.get(&dimension).copied()
    }

    /// The dimension that the data set stands for.
    pub(super) fn dimension_of(&self, node: Node) -> Option<DimensionId> {
        match node {
            Node::Dimension(id) => Some(id),
            Node::Variable(id) => self.coordinates.get(&id).copied(),
            Node::Group(_) | Node::Type(_) => None,
        }
    }

    /// The variables that refer to the dimension's scale, and by which axis.
    pub(super) fn users(&self, dimension: DimensionId) -> &[(VariableId, u32)] {
        self.users.get(&dimension).map_or(&[], Vec::as_slice)
    }

    /// The name of the link that leads to a variable: another than its own where a dimension has
    /// that name and is not its first.
    pub(super) fn link_name(
        &self,
        draft: &Draft,
        id: VariableId,
        variable: &VariableDraft,
    ) -> String {
        let dimension = draft
            .group(variable.group)
            .ok()
            .and_then(|group| group.dimensions.get(&variable.name).copied());
        let is_taken = dimension.is_some_and(|dimension| self.scale(dimension).is_some());
        if is_taken && !self.coordinates.contains_key(&id) {
            format!("{}{}", crate::mapping::netcdf4::NOT_A_COORDINATE, variable.name)
        } else {
            variable.name.to_string()
        }
    }
}
