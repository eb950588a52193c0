//! How far the variables along each unlimited dimension reach.

use std::collections::HashMap;
use std::sync::Arc;

use super::group::GroupData;
use super::{Contents, ObjectId, dimension};

/// The largest extent along each unlimited dimension of any variable in `group` and below it, by
/// the dimensions' scales. A variable whose dimensions cannot be found counts for nothing.
pub(super) fn find(contents: &Contents, group: &Arc<GroupData>) -> HashMap<ObjectId, u64> {
    let mut extents = HashMap::new();
    for group in group.with_descendants() {
        let Ok(members) = group.members() else { continue };
        for variable in members.variables() {
            let named = dimension::named_dimensions(contents, &group, variable);
            for (dim, axis) in named.unwrap_or_default().iter().zip(variable.axes()) {
                if let Some(dim) = dim
                    && let (true, Some(object)) = (dim.unlimited, dim.object)
                {
                    let extent = extents.entry(object).or_insert(0);
                    *extent = axis.size.max(*extent);
                }
            }
        }
    }
    extents
}
