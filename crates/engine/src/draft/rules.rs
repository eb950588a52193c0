//! What each of netCDF's formats allows.

use std::sync::Arc;

use isotach_format::limits;
use isotach_model::{Atomic, DataType, UserClass, UserType, Values, names};

use super::{Defined, DimensionDraft};
use crate::error::DefinitionFault;
use crate::file::Format;
use crate::variable::StorageKind;
use crate::writer::VariableOptions;

/// A name as it is kept, in Unicode's composed form.
pub(super) fn name(name: &str) -> Defined<Arc<str>> {
    names::check(name).map(Arc::from).map_err(DefinitionFault::Name)
}

/// Bytes that a classic header keeps for the name `new` of what was called `old`, where they are more than its own.
/// A header that stays as large as it is has those that it had.
pub(super) fn name_room(holds: bool, old: (&str, u64), new: &str) -> Defined<u64> {
    let (old, room) = (old.0.len() as u64, old.1);
    match holds {
        false => Ok(0),
        true if new.len() as u64 > room.max(old) => {
            Err(DefinitionFault::NoRoom { name: new.to_owned() })
        }
        true => Ok(room.max(old)),
    }
}

/// The name of an attribute; some are kept for the file's own use.
pub(super) fn attribute_name(format: Format, attribute: &str) -> Defined<Arc<str>> {
    let attribute = name(attribute)?;
    let is_hdf5 = matches!(format, Format::NetCdf4 | Format::NetCdf4Classic);
    if is_hdf5 && crate::mapping::netcdf4::is_reserved(&attribute) {
        return Err(DefinitionFault::Reserved { name: attribute.to_string() });
    }
    Ok(attribute)
}

/// Only netCDF-4's full model has `what`.
pub(super) fn enhanced(format: Format, what: &'static str) -> Defined<()> {
    match format {
        Format::NetCdf4 => Ok(()),
        _ => Err(DefinitionFault::NotInFormat { what, format }),
    }
}

/// Lengths, and how many may be unlimited.
pub(super) fn dimension(format: Format, len: Option<u64>, has_unlimited: bool) -> Defined<()> {
    let largest = match format {
        Format::Classic => i32::MAX as u64 - 3,
        Format::Offset64Bit => u64::from(u32::MAX) - 3,
        Format::Data64Bit => u64::MAX - 3,
        Format::NetCdf4Classic => u64::from(u32::MAX),
        Format::NetCdf4 => u64::MAX,
    };
    match len {
        None if has_unlimited && format != Format::NetCdf4 => Err(DefinitionFault::SecondUnlimited),
        Some(len) if len > largest => Err(DefinitionFault::DimensionLength { len, largest }),
        // A length of 0 is what says, in every format, that a dimension is unlimited.
        Some(0) => Err(DefinitionFault::DimensionLength { len: 0, largest }),
        _ => Ok(()),
    }
}

/// Types, the place of the unlimited dimension, and how elements may be stored.
pub(super) fn variable(
    format: Format,
    data_type: &DataType,
    dimensions: &[&DimensionDraft],
    options: &VariableOptions,
) -> Defined<()> {
    attribute(format, data_type)?;
    let is_hdf5 = matches!(format, Format::NetCdf4 | Format::NetCdf4Classic);
    if !is_hdf5 && dimensions.iter().skip(1).any(|along| along.is_unlimited) {
        return Err(DefinitionFault::UnlimitedNotFirst);
    }
    let has_unlimited = dimensions.iter().any(|along| along.is_unlimited);
    let is_filtered = !options.filters.is_empty();
    let wants_contiguous =
        matches!(options.layout, Some(StorageKind::Contiguous | StorageKind::Compact));
    if wants_contiguous && (has_unlimited || is_filtered) {
        return Err(DefinitionFault::NeedsChunks);
    }
    if is_hdf5 {
        let mut filters = options.filters.iter();
        filters.try_for_each(|asked| asked.filter().check()).map_err(DefinitionFault::Filter)?;
    }
    let Some(chunk_shape) = &options.chunk_shape else { return Ok(()) };
    let fits = |(&chunk, along): (&u64, &&DimensionDraft)| {
        chunk > 0 && (along.is_unlimited || chunk <= along.len.max(1))
    };
    let is_valid = chunk_shape.len() == dimensions.len()
        && !chunk_shape.is_empty()
        && chunk_shape.iter().zip(dimensions).all(fits);
    if !is_valid || wants_contiguous {
        let lens = dimensions.iter().map(|along| along.len).collect();
        return Err(DefinitionFault::ChunkShape { chunk_shape: chunk_shape.clone(), shape: lens });
    }
    chunk_bytes(data_type, chunk_shape)
}

/// All of a chunk is in memory when it is written, and HDF5 has 32 bits for its size.
fn chunk_bytes(data_type: &DataType, chunk_shape: &[u64]) -> Defined<()> {
    let element = data_type.layout().size as u64;
    // A reference to the heap takes 16 bytes, twice what a pointer does.
    let is_number = data_type.atomic().is_some_and(|atomic| atomic != Atomic::String);
    let element = if is_number { element } else { element.saturating_mul(2) };
    let bytes = chunk_shape.iter().fold(element, |bytes, &len| bytes.saturating_mul(len));
    let limit = limits::CHUNK_BYTES;
    if bytes <= limit {
        return Ok(());
    }
    Err(DefinitionFault::ChunkBytes { chunk_shape: chunk_shape.to_vec(), bytes, limit })
}

/// A fill value is one element of the variable's type.
pub(super) fn fill_value(data_type: &DataType, value: &Values) -> Defined<()> {
    let is_of_type = match data_type {
        DataType::Atomic(_) | DataType::SmallFloat(_) => value.atomic() == data_type.atomic(),
        DataType::User(_) | DataType::Foreign(_) => true,
    };
    if value.len() == 1 && is_of_type { Ok(()) } else { Err(DefinitionFault::FillValue) }
}

/// Types of values that the format has.
pub(super) fn attribute(format: Format, data_type: &DataType) -> Defined<()> {
    let is_there = match (format, data_type) {
        (Format::NetCdf4, _) => true,
        (
            _,
            DataType::SmallFloat(_)
            | DataType::User(_)
            | DataType::Foreign(_)
            | DataType::Atomic(Atomic::String),
        ) => false,
        (Format::Data64Bit, DataType::Atomic(_)) => true,
        (_, DataType::Atomic(atomic)) => (*atomic as u8) <= Atomic::Double as u8,
    };
    if is_there { Ok(()) } else { Err(DefinitionFault::NotInFormat { what: "this type", format }) }
}

/// The types that a user-defined type is made of.
pub(super) fn parts_of(user: &UserType) -> Vec<&DataType> {
    match &user.class {
        UserClass::Compound(fields) => fields.iter().map(|field| &field.data_type).collect(),
        UserClass::Vlen(base) => vec![base],
        UserClass::Enum { .. } | UserClass::Opaque => Vec::new(),
    }
}
