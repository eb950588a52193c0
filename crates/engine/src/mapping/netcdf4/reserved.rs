//! Names that HDF5's dimension scales and netCDF-4 keep for themselves.

/// Says that an object is a dimension scale, in its value.
pub(crate) const CLASS: &str = "CLASS";
/// The value of [`CLASS`] on a dimension scale.
pub(crate) const DIMENSION_SCALE: &[u8] = b"DIMENSION_SCALE";
/// The scales of each axis of a data set, as object references.
pub(crate) const DIMENSION_LIST: &str = "DIMENSION_LIST";
/// A scale's own name, or [`DIMENSION_WITHOUT_VARIABLE`].
pub(crate) const NAME: &str = "NAME";
/// The begin of [`NAME`] where a scale is a dimension and not also a variable.
pub(crate) const DIMENSION_WITHOUT_VARIABLE: &[u8] =
    b"This is a netCDF dimension but not a netCDF variable";
/// A scale's dimension id.
pub(crate) const DIMENSION_ID: &str = "_Netcdf4Dimid";
/// The dimension ids of a variable.
pub(crate) const COORDINATES: &str = "_Netcdf4Coordinates";
/// On the root group: the file keeps to the classic model.
pub(crate) const CLASSIC_MODEL: &str = "_nc3_strict";
/// On the root group: the libraries that wrote the file.
pub(crate) const PROPERTIES: &str = "_NCProperties";
/// Not in the file: 1 where netCDF wrote it, 0 for other HDF5 files.
pub(crate) const IS_NETCDF4: &str = "_IsNetcdf4";
/// Not in the file: the version of the superblock.
pub(crate) const SUPERBLOCK_VERSION: &str = "_SuperblockVersion";
/// Stands before the name of a variable that is called as a dimension that is not along it.
pub(crate) const NOT_A_COORDINATE: &str = "_nc4_non_coord_";

/// The data sets that refer to a scale.
pub(crate) const REFERENCE_LIST: &str = "REFERENCE_LIST";

/// True for attributes that libnetcdf hides, on every object alike.
pub(crate) fn is_hidden(attribute: &str) -> bool {
    is_mark_of_netcdf4(attribute)
        || matches!(attribute, "_Format" | CLASSIC_MODEL | PROPERTIES | IS_NETCDF4)
        || attribute == SUPERBLOCK_VERSION
}

/// True for attributes by which libnetcdf knows a file that netCDF-4 wrote, wherever they stand.
pub(super) fn is_mark_of_netcdf4(attribute: &str) -> bool {
    matches!(attribute, CLASS | DIMENSION_LIST | NAME | REFERENCE_LIST | DIMENSION_ID | COORDINATES)
}
