//! Dimensions.

use std::sync::Arc;

/// A dimension: a name and a length that variables share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dimension(pub(crate) Arc<DimensionParts>);

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct DimensionParts {
    pub(crate) name: String,
    pub(crate) group: String,
    pub(crate) len: u64,
    pub(crate) unlimited: bool,
    pub(crate) id: i32,
}

impl Dimension {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Path of the group that defines it; `/` for the root group.
    pub fn group(&self) -> &str {
        &self.0.group
    }

    /// Path, as `/group/name`.
    pub fn path(&self) -> String {
        format!("{}/{}", self.0.group.trim_end_matches('/'), self.0.name)
    }

    /// Present length: for an unlimited dimension the largest extent of any variable along it.
    pub fn len(&self) -> u64 {
        self.0.len
    }

    /// True where no element is along it.
    pub fn is_empty(&self) -> bool {
        self.0.len == 0
    }

    /// True where it can grow.
    pub fn is_unlimited(&self) -> bool {
        self.0.unlimited
    }

    /// Its number, unique in the file (netCDF's dimid).
    pub fn id(&self) -> i32 {
        self.0.id
    }
}
