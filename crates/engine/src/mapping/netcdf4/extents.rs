//! How far the variables along each unlimited dimension reach.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use isotach_model::Values;

use super::dimension::Dim;
use super::group::GroupData;
use super::member::{Member, object_id};
use super::{Contents, ObjectId, dimension, reserved};
use crate::error::Result;
use crate::fault::Readable;
use crate::mapping::hdf5::Object;

/// The largest extent along each unlimited dimension of any variable in `group` and below it, by
/// the dimensions' scales, and for its own dimensions of any other. A variable whose dimensions
/// are damaged counts for nothing.
pub(super) fn find(contents: &Contents, group: &Arc<GroupData>) -> Result<HashMap<ObjectId, u64>> {
    let mut extents = HashMap::new();
    let mut counted = HashSet::new();
    let mut count = |dim: &Dim, len: u64| {
        if let (true, Some(object)) = (dim.unlimited, dim.object) {
            let extent = extents.entry(object).or_insert(0);
            *extent = len.max(*extent);
        }
    };
    for group in group.with_descendants()? {
        let Some(members) = group.members().readable()? else { continue };
        for variable in members.variables() {
            let named = dimension::named_dimensions(contents, &group, variable).readable()?;
            for (dim, axis) in named.unwrap_or_default().iter().zip(variable.axes()) {
                dim.iter().for_each(|dim| count(dim, axis.size));
            }
            counted.insert(object_id(variable.dataset.node()));
        }
    }
    if Arc::ptr_eq(group, &contents.root) {
        return Ok(extents);
    }
    let members = group.members().readable()?;
    for scale in members.iter().flat_map(|members| members.datasets()) {
        let Some(dim) = scale.scale.as_ref().filter(|dim| dim.unlimited) else { continue };
        for (address, along) in users(scale)? {
            if !counted.contains(&(scale.file_id(), address))
                && let Object::Dataset(user) = group.group.object_at(address)?
                && let Some(dataspace) = user.dataspace().readable()?
            {
                let axes = along.iter().filter_map(|&axis| dataspace.dimensions().get(axis));
                axes.for_each(|axis| count(dim, axis.size));
            }
        }
    }
    Ok(extents)
}

/// The data sets that a scale is attached to, and to which of their axes, as the scale has it:
/// netCDF lets variables have dimensions of groups that are not above them.
fn users(scale: &Member) -> Result<HashMap<u64, Vec<usize>>> {
    let list = scale.attribute_values(reserved::REFERENCE_LIST)?;
    let Some(Values::Compound { members, .. }) = list else { return Ok(HashMap::new()) };
    let [(_, Values::Bytes { size: 8, bytes }), (_, axes)] = members.as_slice() else {
        return Ok(HashMap::new());
    };
    let addresses = bytes.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes));
    let axes: Vec<usize> = match axes {
        Values::I32(axes) => {
            axes.iter().map(|&axis| axis.try_into().unwrap_or(usize::MAX)).collect()
        }
        Values::U32(axes) => axes.iter().map(|&axis| axis as usize).collect(),
        _ => Vec::new(),
    };
    let mut users: HashMap<u64, Vec<usize>> = HashMap::new();
    addresses.zip(axes).for_each(|(address, axis)| users.entry(address).or_default().push(axis));
    Ok(users)
}
