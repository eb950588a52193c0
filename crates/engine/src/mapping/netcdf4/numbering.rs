//! The numbers of dimensions: those that the file gives, and for the others those that libnetcdf
//! gives when it meets them. Writers that number the dimensions of each group for itself give one
//! number to several: all but the first get another.

use std::collections::HashMap;
use std::sync::Arc;

use super::dimension::Dim;
use super::{Contents, ObjectId};
use crate::error::Result;
use crate::fault::Readable;

/// All scales of the file.
pub(super) struct Numbering {
    scales: HashMap<ObjectId, (Arc<Dim>, i32)>,
    by_id: HashMap<i32, Arc<Dim>>,
    /// The number of the first dimension that is made up.
    pub(super) next: i32,
}

impl Numbering {
    pub(super) fn find(contents: &Contents) -> Result<Self> {
        let mut numbering = Self { scales: HashMap::new(), by_id: HashMap::new(), next: 0 };
        let mut taken = Vec::new();
        for group in contents.groups()? {
            // A damaged group has no dimensions, and the others keep theirs.
            for dim in group.members().readable()?.iter().flat_map(|members| members.scales()) {
                let id = dim.stated_id.unwrap_or(numbering.next);
                match numbering.by_id.get(&id) {
                    Some(other) if other.object != dim.object => taken.push(Arc::clone(dim)),
                    _ => numbering.add(dim, id),
                }
            }
        }
        for dim in taken {
            numbering.add(&dim, numbering.next);
        }
        Ok(numbering)
    }

    fn add(&mut self, dim: &Arc<Dim>, id: i32) {
        self.next = self.next.max(id.saturating_add(1));
        if let Some(object) = dim.object {
            self.scales.entry(object).or_insert_with(|| (Arc::clone(dim), id));
        }
        self.by_id.entry(id).or_insert_with(|| Arc::clone(dim));
    }

    /// The number of a scale's dimension.
    pub(super) fn id(&self, object: ObjectId) -> Option<i32> {
        self.scales.get(&object).map(|(_, id)| *id)
    }

    /// A scale's dimension.
    pub(super) fn scale(&self, object: ObjectId) -> Option<Arc<Dim>> {
        self.scales.get(&object).map(|(dim, _)| Arc::clone(dim))
    }

    /// The dimension of that number.
    pub(super) fn by_id(&self, id: i32) -> Option<Arc<Dim>> {
        self.by_id.get(&id).cloned()
    }
}
