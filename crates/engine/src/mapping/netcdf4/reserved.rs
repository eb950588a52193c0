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
/// The value of [`PROPERTIES`] in files that are written here; version 2 is that of the attribute's own format.
pub(crate) const OWN_PROPERTIES: &str = concat!("version=2,isotach=", env!("CARGO_PKG_VERSION"));
/// Not in the file: 1 where netCDF wrote it, 0 for other HDF5 files.
pub(crate) const IS_NETCDF4: &str = "_IsNetcdf4";
/// Not in the file: the version of the superblock.
pub(crate) const SUPERBLOCK_VERSION: &str = "_SuperblockVersion";
/// Stands before the name of a variable that is called as a dimension that is not along it.
pub(crate) const NOT_A_COORDINATE: &str = "_nc4_non_coord_";

/// The data sets that refer to a scale.
pub(crate) const REFERENCE_LIST: &str = "REFERENCE_LIST";

/// Attributes by which libnetcdf knows a file that netCDF-4 wrote, wherever they stand.
const MARKS: [&str; 6] = [CLASS, DIMENSION_LIST, NAME, REFERENCE_LIST, DIMENSION_ID, COORDINATES];
/// The other attributes that libnetcdf hides.
const OTHERS: [&str; 5] = ["_Format", CLASSIC_MODEL, PROPERTIES, IS_NETCDF4, SUPERBLOCK_VERSION];

/// The attributes that libnetcdf hides, on every object alike.
pub(super) fn hidden() -> impl Iterator<Item = &'static str> {
    MARKS.into_iter().chain(OTHERS)
}

/// True for those.
pub(crate) fn is_hidden(attribute: &str) -> bool {
    is_mark_of_netcdf4(attribute) || OTHERS.contains(&attribute)
}

/// True for the marks of netCDF-4.
pub(super) fn is_mark_of_netcdf4(attribute: &str) -> bool {
    MARKS.contains(&attribute)
}
