//! Which of netCDF's formats a text becomes.

use clap::ValueEnum;
use isotach::Format;
use isotach::model::{Atomic, DataType};

use super::definitions::Definitions;

/// Longest dimensions of CDF-1 and CDF-2.
const MAX_CLASSIC_LEN: u64 = i32::MAX as u64 - 3;
const MAX_OFFSET_64BIT_LEN: u64 = u32::MAX as u64 - 3;

/// The formats under the names that `dump -k` tells, and all others that ncgen takes. Its bare
/// numbers are not the digits of `-3` to `-7`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// CDF-1
    #[value(name = "classic", aliases = ["nc3", "1"])]
    Classic,
    /// CDF-2
    #[value(name = "64-bit offset", aliases = ["64-bit-offset", "nc6", "2"])]
    Offset64Bit,
    /// CDF-5
    #[value(name = "cdf5", aliases = ["cdf-5", "64-bit data", "64-bit-data", "nc5", "5"])]
    Data64Bit,
    /// HDF5
    #[value(name = "netCDF-4", aliases = ["netcdf-4", "netCDF4", "netcdf4", "nc4", "hdf5", "enhanced", "3"])]
    NetCdf4,
    /// HDF5 with no more than CDF-1 can say
    #[value(
        name = "netCDF-4 classic model",
        aliases = [
            "netCDF-4-classic", "netCDF-4_classic", "netCDF4_classic", "nc7", "hdf5-nc3", "enhanced-nc3", "4",
        ]
    )]
    NetCdf4Classic,
}

impl From<Kind> for Format {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Classic => Self::Classic,
            Kind::Offset64Bit => Self::Offset64Bit,
            Kind::Data64Bit => Self::Data64Bit,
            Kind::NetCdf4 => Self::NetCdf4,
            Kind::NetCdf4Classic => Self::NetCdf4Classic,
        }
    }
}

/// What the text asks for with `_Format`, or else the lowest format that can hold it.
pub(super) fn chosen(all: &Definitions) -> Format {
    let longest = all.dimensions.iter().map(|dimension| dimension.len).max();
    match all.format {
        Some(format) => format,
        None if all.has_specials || is_enhanced(all) => Format::NetCdf4,
        None if types(all).any(is_extended) => Format::Data64Bit,
        None if longest > Some(MAX_OFFSET_64BIT_LEN) => Format::Data64Bit,
        None if longest > Some(MAX_CLASSIC_LEN) => Format::Offset64Bit,
        None => Format::Classic,
    }
}

/// Whether the text has what only netCDF-4's full model can say.
fn is_enhanced(all: &Definitions) -> bool {
    let is_unlimited = |&index: &usize| all.dimensions[index].is_unlimited;
    let unlimited_count = all.dimensions.iter().filter(|dimension| dimension.is_unlimited).count();
    all.groups.len() > 1
        || !all.types.is_empty()
        || unlimited_count > 1
        || all.dimensions.iter().any(|dimension| !dimension.is_unlimited && dimension.len == 0)
        || all.variables.iter().any(|variable| variable.dimensions.iter().skip(1).any(is_unlimited))
        || types(all).any(|data_type| data_type.atomic() == Some(Atomic::String))
}

/// The types of all variables and attributes.
fn types(all: &Definitions) -> impl Iterator<Item = &DataType> {
    let of_groups = all.groups.iter().flat_map(|group| &group.attributes);
    let of_variables = all.variables.iter().flat_map(|variable| &variable.attributes);
    let of_attributes = of_groups.chain(of_variables).map(|attribute| &attribute.data_type);
    all.variables.iter().map(|variable| &variable.data_type).chain(of_attributes)
}

/// The numbers that came with CDF-5.
fn is_extended(data_type: &DataType) -> bool {
    use Atomic::{Int64, UByte, UInt, UInt64, UShort};
    matches!(data_type.atomic(), Some(UByte | UShort | UInt | Int64 | UInt64))
}
