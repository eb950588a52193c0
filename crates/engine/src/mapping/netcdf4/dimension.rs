//! Dimensions: data sets that are dimension scales, and which of them are along a variable.
//!
//! ```text
//! variable: _Netcdf4Coordinates = ids of dimensions
//!           DIMENSION_LIST      = for each axis, references to scales
//! scale:    CLASS = DIMENSION_SCALE, NAME, _Netcdf4Dimid; its name is that of its link
//! ```

use std::sync::{Arc, Weak};

use isotach_format::hdf5::message::dataspace::Dimension as Axis;
use isotach_model::Values;

use super::group::GroupData;
use super::member::Member;
use super::{Contents, ObjectId, reserved};
use crate::dimension::Dimension;
use crate::error::Result;
use crate::mapping::DimensionMapping;

/// A dimension as the file tells it; that of a scale, or one made up.
pub(super) struct Dim {
    pub(super) name: Arc<str>,
    /// Path of its group, and the group.
    pub(super) group: Arc<str>,
    pub(super) owner: Weak<GroupData>,
    /// The scale; `None` for a dimension that is made up.
    pub(super) object: Option<ObjectId>,
    /// The extent of the scale's first axis.
    pub(super) len: u64,
    /// To netCDF also a dimension of length 0 is unlimited.
    pub(super) unlimited: bool,
    /// The id that the file gives it, which may be that of others too, or that it was made up with.
    pub(super) stated_id: Option<i32>,
    /// Made up for variables that netCDF does not show.
    pub(super) foreign: bool,
}

impl Dim {
    /// Its number, unique in the file: a scale's depends on all others.
    fn id(&self, contents: &Contents) -> Result<i32> {
        let numbered = match self.object {
            Some(object) => contents.numbering()?.id(object),
            None => None,
        };
        Ok(numbered.or(self.stated_id).unwrap_or(-1))
    }

    /// The number by which the file means it: its own only where the file gives it none.
    pub(super) fn stated_id(&self, contents: &Contents) -> Result<i32> {
        self.stated_id.map_or_else(|| self.id(contents), Ok)
    }

    /// Present length: that of an unlimited one is the largest extent of the variables along it.
    fn present_len(&self, contents: &Contents) -> Result<u64> {
        Ok(match (self.unlimited, self.object, self.owner.upgrade()) {
            (true, Some(object), Some(owner)) => {
                owner.extents(contents)?.get(&object).copied().unwrap_or(0)
            }
            _ => self.len,
        })
    }

    /// The dimension as users see it.
    pub(super) fn dimension(self: &Arc<Self>, contents: &Arc<Contents>) -> Dimension {
        let (contents, dim) = (Arc::clone(contents), Arc::clone(self));
        Dimension { mapping: Arc::new(NetCdf4Dimension { contents, dim }) }
    }
}

/// A dimension of an open file.
struct NetCdf4Dimension {
    contents: Arc<Contents>,
    dim: Arc<Dim>,
}

impl DimensionMapping for NetCdf4Dimension {
    fn name(&self) -> &str {
        &self.dim.name
    }

    fn group(&self) -> &str {
        &self.dim.group
    }

    fn len(&self) -> Result<u64> {
        self.dim.present_len(&self.contents)
    }

    fn is_unlimited(&self) -> bool {
        self.dim.unlimited
    }

    fn id(&self) -> Result<i32> {
        self.dim.id(&self.contents)
    }

    fn is_foreign(&self) -> bool {
        self.dim.foreign
    }
}

/// The dimensions of `variable` in `group`, outermost first.
pub(super) fn of_variable(
    contents: &Contents,
    group: &Arc<GroupData>,
    variable: &Member,
) -> Result<Vec<Arc<Dim>>> {
    let named = named_dimensions(contents, group, variable)?;
    if named.iter().all(Option::is_some) {
        return Ok(named.iter().flatten().map(Arc::clone).collect());
    }
    Ok(contents.phony()?.of_variable(group, variable).unwrap_or_default())
}

/// For each axis of `variable`, the dimension that the file says is along it; found once.
pub(super) fn named_dimensions<'a>(
    contents: &Contents,
    group: &Arc<GroupData>,
    variable: &'a Member,
) -> Result<&'a [Option<Arc<Dim>>]> {
    variable.named.get_or_find(|| find_named(contents, group, variable)).map(Vec::as_slice)
}

fn find_named(
    contents: &Contents,
    group: &Arc<GroupData>,
    variable: &Member,
) -> Result<Vec<Option<Arc<Dim>>>> {
    let axes = variable.axes();
    if let (Some(scale), [_]) = (&variable.scale, axes) {
        return Ok(vec![Some(Arc::clone(scale))]);
    }
    if axes.is_empty() {
        return Ok(Vec::new());
    }
    let scales = attached_scales(variable)?;
    let scale_at = |axis: usize| scales.as_ref().and_then(|scales| *scales.get(axis)?);
    let ids = coordinate_ids(variable)?;
    let mut found = Vec::with_capacity(axes.len());
    for axis in 0..axes.len() {
        let id = ids.as_ref().and_then(|ids| ids.get(axis).copied());
        let attached = match scale_at(axis) {
            Some(address) => find_scale(contents, group, (variable.file_id(), address))?,
            None => None,
        };
        found.push(match (id, attached) {
            (Some(id), Some(dim)) if dim.stated_id(contents)? == id => Some(dim),
            (Some(id), attached) => find_by_id(contents, group, id)?.or(attached),
            (None, attached) => attached,
        });
    }
    Ok(found)
}

/// For each axis, the address of the scale that is attached to it (the last, where there are
/// several, as libnetcdf has it); `None` where nothing is attached to any.
fn attached_scales(variable: &Member) -> Result<Option<Vec<Option<u64>>>> {
    let list = variable.attribute_values(reserved::DIMENSION_LIST)?;
    let Some(Values::Sequence(axes)) = list else { return Ok(None) };
    let last = |axis: &Values| match axis {
        Values::Bytes { size, bytes } if (1..=8).contains(size) => {
            let reference = bytes.chunks_exact(*size).next_back()?;
            let mut address = [0; 8];
            address[..*size].copy_from_slice(reference);
            Some(u64::from_le_bytes(address))
        }
        _ => None,
    };
    Ok(Some(axes.iter().map(last).collect()))
}

/// The ids of its dimensions where the file has them.
fn coordinate_ids(variable: &Member) -> Result<Option<Vec<i32>>> {
    Ok(match variable.attribute_values(reserved::COORDINATES)? {
        Some(Values::I32(ids)) if ids.len() == variable.axes().len() => Some(ids),
        _ => None,
    })
}

/// The dimension of a scale: in the group, in one above it, or, as no library writes it, anywhere.
fn find_scale(
    contents: &Contents,
    group: &Arc<GroupData>,
    object: ObjectId,
) -> Result<Option<Arc<Dim>>> {
    for group in group.with_ancestors() {
        if let Some(dim) = group.scale(object)? {
            return Ok(Some(dim));
        }
    }
    Ok(contents.numbering()?.scale(object))
}

fn find_by_id(contents: &Contents, group: &Arc<GroupData>, id: i32) -> Result<Option<Arc<Dim>>> {
    for group in group.with_ancestors() {
        for dim in group.members()?.scales() {
            if dim.stated_id(contents)? == id {
                return Ok(Some(Arc::clone(dim)));
            }
        }
    }
    Ok(contents.numbering()?.by_id(id))
}

/// netCDF says "unlimited" with the length 0, so that no other dimension can have it.
pub(super) fn is_unlimited(axis: Axis) -> bool {
    axis.max.is_none() || axis.size == 0
}

/// The dimension that a scale of those axes is.
pub(super) fn of_scale(
    owner: &Arc<GroupData>,
    name: &Arc<str>,
    object: ObjectId,
    axis: Axis,
    id: Option<i32>,
) -> Arc<Dim> {
    Arc::new(Dim {
        name: Arc::clone(name),
        group: Arc::clone(&owner.path),
        owner: Arc::downgrade(owner),
        object: Some(object),
        len: axis.size,
        unlimited: is_unlimited(axis),
        stated_id: id,
        foreign: false,
    })
}
