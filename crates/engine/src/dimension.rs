//! Dimensions.

use std::fmt;
use std::sync::Arc;

use crate::error::Result;
use crate::mapping::DimensionMapping;

/// A dimension: a name and a length that variables share. Cheap to clone.
///
/// Its name is known; its length and its number are found when they are asked for, as both may
/// depend on all variables of the file.
#[derive(Clone)]
pub struct Dimension {
    pub(crate) mapping: Arc<dyn DimensionMapping>,
}

impl Dimension {
    /// Its name.
    pub fn name(&self) -> &str {
        self.mapping.name()
    }

    /// Path of the group that defines it; `/` for the root group.
    pub fn group(&self) -> &str {
        self.mapping.group()
    }

    /// Path, as `/group/name`.
    pub fn path(&self) -> String {
        format!("{}/{}", self.group().trim_end_matches('/'), self.name())
    }

    /// Present length: for an unlimited dimension the largest extent of any variable along it, for
    /// which the first question looks at all variables of its group and below.
    ///
    /// # Errors
    /// Storage failed.
    pub fn len(&self) -> Result<u64> {
        self.mapping.len()
    }

    /// True where no element is along it.
    ///
    /// # Errors
    /// As [`Dimension::len`].
    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }

    /// True where it can grow.
    pub fn is_unlimited(&self) -> bool {
        self.mapping.is_unlimited()
    }

    /// True where it is made up, and only variables are along it whose types netCDF has no name for:
    /// to netCDF it is not there.
    pub fn is_foreign(&self) -> bool {
        self.mapping.is_foreign()
    }

    /// Its number, unique in the file (netCDF's dimid), for which the first question may look at all groups.
    ///
    /// # Errors
    /// Storage failed.
    pub fn id(&self) -> Result<i32> {
        self.mapping.id()
    }
}

impl fmt::Debug for Dimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dimension")
            .field("name", &self.name())
            .field("group", &self.group())
            .field("unlimited", &self.is_unlimited())
            .finish_non_exhaustive()
    }
}
