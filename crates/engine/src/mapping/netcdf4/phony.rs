//! Dimensions for data sets that have none, as in HDF5 files that netCDF did not write.
//!
//! As libnetcdf makes them up: groups below before those above, one dimension for each length in a
//! group (and for each axis of that length in one data set), called after its number. A real
//! dimension of the group that has the length will do as well. (But none for an axis that is empty
//! and cannot grow: the dimension made up for it is unlimited, as netCDF has it.) Variables that netCDF
//! does not show come behind all others, which so have netCDF's numbers.

use std::collections::HashMap;
use std::sync::Arc;

use isotach_format::hdf5::message::dataspace::Dimension as Axis;

use super::Contents;
use super::dimension::{self, Dim};
use super::group::GroupData;
use super::member::Member;
use crate::error::Result;
use crate::fault::Readable;

/// The path of a variable's group, and the name of its link.
type VariableKey = (Arc<str>, Arc<str>);

/// Dimensions that are made up, in the whole file.
pub(super) struct PhonyDimensions {
    next: i32,
    by_group: HashMap<Arc<str>, Vec<Arc<Dim>>>,
    by_variable: HashMap<VariableKey, Vec<Arc<Dim>>>,
}

impl PhonyDimensions {
    pub(super) fn find(contents: &Contents) -> Result<Self> {
        let next = contents.numbering()?.next;
        let mut phony = Self { next, by_group: HashMap::new(), by_variable: HashMap::new() };
        for foreign in [false, true] {
            phony.walk(contents, &contents.root, foreign)?;
        }
        Ok(phony)
    }

    /// As deep as groups are nested, which is bounded where they are opened.
    fn walk(&mut self, contents: &Contents, group: &Arc<GroupData>, foreign: bool) -> Result<()> {
        let Some(members) = group.members().readable()? else { return Ok(()) };
        for child in members.groups() {
            self.walk(contents, child, foreign)?;
        }
        for variable in members.variables() {
            // One whose dimensions are damaged has those of its shape.
            let named = dimension::named_dimensions(contents, group, variable).readable()?;
            let named = named.map_or_else(|| vec![None; variable.axes().len()], <[_]>::to_vec);
            if named.iter().any(Option::is_none)
                && variable.data_type(contents, group)?.is_foreign() == foreign
            {
                self.add_variable(group, members.scales(), variable, &named, foreign);
            }
        }
        Ok(())
    }

    fn add_variable<'a>(
        &mut self,
        group: &Arc<GroupData>,
        scales: impl Iterator<Item = &'a Arc<Dim>> + Clone,
        variable: &Member,
        named: &[Option<Arc<Dim>>],
        foreign: bool,
    ) {
        let made_up = self.by_group.entry(Arc::clone(&group.path)).or_default();
        let mut dims: Vec<Arc<Dim>> = Vec::with_capacity(named.len());
        for (named, axis) in named.iter().zip(variable.axes()) {
            let fits = |dim: &Arc<Dim>| {
                let is_free = !dims.iter().any(|used| Arc::ptr_eq(used, dim));
                dim.len == axis.size && dim.unlimited == axis.max.is_none() && is_free
            };
            let found = named.clone().or_else(|| scales.clone().find(|dim| fits(dim)).cloned());
            let found = found.or_else(|| made_up.iter().find(|dim| fits(dim)).cloned());
            dims.push(found.unwrap_or_else(|| {
                let dim = make_up(group, self.next, *axis, foreign);
                self.next = self.next.saturating_add(1);
                made_up.push(Arc::clone(&dim));
                dim
            }));
        }
        let key = (Arc::clone(&group.path), Arc::clone(&variable.link_name));
        self.by_variable.insert(key, dims);
    }

    /// Those of a group.
    pub(super) fn of_group(&self, group: &GroupData) -> &[Arc<Dim>] {
        self.by_group.get(&group.path).map_or(&[], Vec::as_slice)
    }

    /// The dimensions of a variable that has not all of its own.
    pub(super) fn of_variable(
        &self,
        group: &GroupData,
        variable: &Member,
    ) -> Option<Vec<Arc<Dim>>> {
        let key = (Arc::clone(&group.path), Arc::clone(&variable.link_name));
        self.by_variable.get(&key).cloned()
    }
}

fn make_up(group: &Arc<GroupData>, number: i32, axis: Axis, foreign: bool) -> Arc<Dim> {
    Arc::new(Dim {
        name: format!("phony_dim_{number}").into(),
        group: Arc::clone(&group.path),
        owner: Arc::downgrade(group),
        object: None,
        len: axis.size,
        unlimited: dimension::is_unlimited(axis),
        stated_id: Some(number),
        foreign,
    })
}
