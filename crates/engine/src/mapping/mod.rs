//! Structures of the file <-> the netCDF data model.
//!
//! `hdf5` walks HDF5's objects, `netcdf4` makes netCDF's groups, dimensions and variables of
//! them, `classic` does so for CDF-1, CDF-2 and CDF-5. What both have to answer is here.

use std::path::PathBuf;
use std::sync::Arc;

use isotach_model::{DataType, UserType};

use crate::attribute::Attribute;
use crate::dimension::Dimension;
use crate::error::{ErrorKind, Result};
use crate::file::{Format, LeftOut, OpenOptions};
use crate::read::Array;
use crate::storage::{MetadataReader, Storage};
use crate::variable::{FillValue, StorageInfo};

pub mod classic;
pub mod hdf5;
pub mod netcdf4;
mod once;

/// A group as either kind of file tells it. Everything is found on first use and then kept.
pub(crate) trait GroupMapping: Send + Sync {
    /// Path from the root group, `/` for the root itself.
    fn path(&self) -> &str;
    /// The group's own dimensions by ascending id.
    fn dimensions(&self) -> Result<Arc<[Dimension]>>;
    /// The same in the order of their objects, those that are made up last.
    fn listed_dimensions(&self) -> Result<Arc<[Dimension]>> {
        self.dimensions()
    }
    /// The group's own user-defined types in the order of their definition.
    fn types(&self) -> Result<Arc<[Arc<UserType>]>>;
    /// The group's attributes, reserved ones left out, in netCDF's order.
    fn attributes(&self) -> Result<Arc<[Attribute]>>;
    /// How many those are; told without reading them where the file can.
    fn attribute_count(&self) -> Result<usize> {
        Ok(self.attributes()?.len())
    }
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
    /// The same, after what is still open of it is settled.
    fn settled_storage(&self) -> Result<Arc<StorageInfo>> {
        self.storage()
    }
    /// What elements that were never written read as.
    fn fill_value(&self) -> Result<FillValue>;
    /// Where its elements lie and how one element is stored.
    fn array(&self) -> Result<Arc<Array>>;
    /// Bytes that a classic header keeps for its name, where they are more than its own; else 0.
    fn name_room(&self) -> u64 {
        0
    }
    /// True where that is another after every write.
    fn is_being_written(&self) -> bool {
        false
    }
}

/// A dimension as either kind of file tells it.
pub(crate) trait DimensionMapping: Send + Sync {
    /// Its name.
    fn name(&self) -> &str;
    /// Path of its group.
    fn group(&self) -> &str;
    /// Present length.
    fn len(&self) -> Result<u64>;
    /// True where it can grow.
    fn is_unlimited(&self) -> bool;
    /// Its number, unique in the file.
    fn id(&self) -> Result<i32>;
    /// Bytes that a classic header keeps for its name, where they are more than its own; else 0.
    fn name_room(&self) -> u64 {
        0
    }
    /// True where netCDF does not show it.
    fn is_foreign(&self) -> bool {
        false
    }
}

/// An open file as either kind tells it.
pub(crate) trait FileMapping: Send + Sync {
    /// The root group.
    fn root(&self) -> Arc<dyn GroupMapping>;
    /// Which of netCDF's formats it is.
    fn format(&self) -> Result<Format>;
    /// Has all structures that are read from now on be kept.
    fn keep_all(&self) {}
    /// HDF5's own view of it, for HDF5 files.
    fn hdf5(&self) -> Option<&hdf5::Objects> {
        None
    }
}

/// Opens what `storage` delivers, by what its first bytes say it is; `path` is the absolute one of a file that the
/// caller opened by it.
pub(crate) fn open(
    name: &Arc<str>,
    storage: Arc<dyn Storage>,
    options: &OpenOptions,
    path: Option<Arc<PathBuf>>,
) -> Result<Arc<dyn FileMapping>> {
    // Whoever the file belongs to goes on with what is read here.
    let reader = MetadataReader::new(Arc::clone(name), storage)?;
    let first_bytes = reader.fetch(0, reader.file_len().min(8))?;
    if first_bytes.starts_with(b"CDF") {
        return classic::open(reader, options);
    }
    // HDF5's signature may stand at 0, 512, 1024 and so on, so it is searched for there.
    netcdf4::open(reader, options, path).map_err(|mut error| {
        if let ErrorKind::UnknownFormat { .. } = error.kind
            && let Some(format) = other_format(&first_bytes)
        {
            error.kind = ErrorKind::OtherFormat { format };
        }
        error
    })
}

/// The name of an array format that is not read here, by its first bytes.
fn other_format(first_bytes: &[u8]) -> Option<&'static str> {
    let formats: [(&[u8], &str); 8] = [
        (b"\x0e\x03\x13\x01", "HDF4"),
        (b"\xcd\xf3\x00\x01", "NASA CDF"),
        (b"\xcd\xf2\x60\x02", "NASA CDF"),
        (b"GRIB", "GRIB"),
        (b"BUFR", "BUFR"),
        (b"\x93NUMPY", "a NumPy array"),
        (b"\x1f\x8b", "a gzip-compressed file"),
        (b"PK\x03\x04", "a zip archive"),
    ];
    formats.iter().find(|(magic, _)| first_bytes.starts_with(magic)).map(|&(_, name)| name)
}
