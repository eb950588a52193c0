//! Structures of the file <-> the netCDF data model.
//!
//! `hdf5` walks HDF5's objects, `netcdf4` makes netCDF's groups, dimensions and variables of
//! them, `classic` does so for CDF-1, CDF-2 and CDF-5. What both have to answer is here.

use std::sync::Arc;

use isotach_model::{DataType, UserType};

use crate::attribute::Attribute;
use crate::dimension::Dimension;
use crate::error::Result;
use crate::file::{Format, LeftOut};
use crate::read::Array;
use crate::variable::{FillValue, StorageInfo};

pub mod classic;
pub mod hdf5;
pub mod netcdf4;

/// A group as either kind of file tells it. Everything is found on first use and then kept.
pub(crate) trait GroupMapping: Send + Sync {
    /// Path from the root group, `/` for the root itself.
    fn path(&self) -> &str;
    /// The group's own dimensions by ascending id.
    fn dimensions(&self) -> Result<Arc<[Dimension]>>;
    /// The group's own user-defined types in the order of their definition.
    fn types(&self) -> Result<Arc<[Arc<UserType>]>>;
    /// The group's attributes, reserved ones left out, in netCDF's order.
    fn attributes(&self) -> Result<Arc<[Attribute]>>;
    /// An attribute of the group; also the special ones (`_NCProperties`, `_IsNetcdf4`,
    /// `_SuperblockVersion`) that `attributes` does not list. Finding it reads no other values.
    fn attribute(&self, name: &str) -> Result<Option<Attribute>>;
    /// Names of its variables in netCDF's order.
    fn variable_names(&self) -> Result<Arc<[Arc<str>]>>;
    /// A variable; finding it by name reads no other variable.
    fn variable(&self, name: &str) -> Result<Option<Arc<dyn VariableMapping>>>;
    /// Names of its groups in netCDF's order.
    fn group_names(&self) -> Result<Arc<[Arc<str>]>>;
    /// A group of this group.
    fn group(&self, name: &str) -> Result<Option<Arc<dyn GroupMapping>>>;
    /// Objects in this group that could not be shown, and why.
    fn left_out(&self) -> Result<Arc<[LeftOut]>>;
}

/// A variable as either kind of file tells it.
pub(crate) trait VariableMapping: Send + Sync {
    /// Its name.
    fn name(&self) -> &str;
    /// Path of its group.
    fn group(&self) -> &str;
    /// Its type.
    fn data_type(&self) -> &DataType;
    /// Its dimensions, outermost first.
    fn dimensions(&self) -> Result<Arc<[Dimension]>>;
    /// Its attributes, reserved ones left out, in netCDF's order.
    fn attributes(&self) -> Result<Arc<[Attribute]>>;
    /// One attribute by name.
    fn attribute(&self, name: &str) -> Result<Option<Attribute>>;
    /// Chunks, filters, byte order.
    fn storage(&self) -> Result<Arc<StorageInfo>>;
    /// What elements that were never written read as.
    fn fill_value(&self) -> Result<FillValue>;
    /// Where its elements lie and how one element is stored.
    fn array(&self) -> Result<Arc<Array>>;
}

/// An open file as either kind tells it.
pub(crate) trait FileMapping: Send + Sync {
    /// The root group.
    fn root(&self) -> Arc<dyn GroupMapping>;
    /// Which of netCDF's formats it is.
    fn format(&self) -> Result<Format>;
    /// HDF5's own view of it, for HDF5 files.
    fn hdf5(&self) -> Option<&hdf5::Objects> {
        None
    }
}
