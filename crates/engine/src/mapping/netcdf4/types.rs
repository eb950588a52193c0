//! HDF5's types in netCDF's words, and how their elements lie in the file.

use isotach_format::hdf5::message::datatype::{Datatype, EnumMember, FixedPoint, Member};
use isotach_format::hdf5::text::text;
use isotach_model::convert::Rules;
use isotach_model::data_type::layout::{self, SEQUENCE_BYTES};
use isotach_model::stored::StoredMember;
use isotach_model::{
    Atomic, DataType, Field, ForeignType, NoHeap, StoredType, UserClass, UserType, fill,
};

use std::sync::Arc;

use crate::error::Result;
use crate::mapping::hdf5;

/// Finds the user-defined type that stands for a type of HDF5.
pub(super) type Find<'a> = dyn FnMut(&Datatype) -> Result<Option<Arc<UserType>>> + 'a;

/// The type as netCDF tells it. `find` is asked for every type that needs a name; where it knows
/// none, the type is made up without being a type of any group.
///
/// # Errors
/// Those of `find`.
pub(super) fn data_type(datatype: &Datatype, find: &mut Find<'_>) -> Result<DataType> {
    Ok(match datatype {
        Datatype::FixedPoint(integer) => {
            integer_type(integer).map_or_else(|| foreign(datatype), DataType::Atomic)
        }
        Datatype::Float(float) => match hdf5::stored_float(float) {
            Some(StoredType::PartialFloat(small)) if small.format.is_small() => {
                DataType::SmallFloat(small.format)
            }
            Some(stored) => stored.number().map_or_else(|| foreign(datatype), DataType::Atomic),
            None => foreign(datatype),
        },
        Datatype::String { size: 1, .. } => Atomic::Char.into(),
        Datatype::String { .. } | Datatype::VariableString { .. } => Atomic::String.into(),
        _ if needs_name(datatype) => {
            let named = match find(datatype)? {
                None => {
                    let name = format!("_Anonymous{}", class_name(datatype));
                    user_type(datatype, name, "/", find)?.map(Arc::new)
                }
                named => named,
            };
            named.map_or_else(|| foreign(datatype), DataType::User)
        }
        _ => foreign(datatype),
    })
}

/// One element, as it is stored, of netCDF's own fill value for numbers of a type; `None` for what are none, and for
/// floats that cannot be that.
pub(crate) fn default_fill(datatype: &Datatype) -> Option<Arc<[u8]>> {
    if !matches!(datatype, Datatype::FixedPoint(_) | Datatype::Float(_)) {
        return None;
    }
    let (stored, mut bytes) = (stored_type(datatype), Vec::new());
    let value = match &stored {
        StoredType::PartialFloat(float) => {
            float.format.holds(fill::FLOAT.into()).then(|| fill::default_fill(Atomic::Float))?
        }
        stored => fill::default_fill(stored.number()?),
    };
    stored.encode(&value, Rules::NETCDF4, &mut NoHeap, &mut bytes).ok()?;
    Some(bytes.into())
}

/// True for types that are user-defined ones in netCDF.
pub(super) fn needs_name(datatype: &Datatype) -> bool {
    match datatype {
        Datatype::Compound { .. }
        | Datatype::Opaque { .. }
        | Datatype::Sequence { .. }
        | Datatype::Complex { .. } => true,
        Datatype::Enumeration { base, .. } => enum_base(base).is_some(),
        _ => false,
    }
}

/// The word for the type's class in the names that libnetcdf makes up.
pub(super) fn class_name(datatype: &Datatype) -> &'static str {
    match datatype {
        Datatype::Compound { .. } | Datatype::Complex { .. } => "Compound",
        Datatype::Opaque { .. } => "Opaque",
        Datatype::Sequence { .. } => "Vlen",
        Datatype::Enumeration { .. } => "Enum",
        _ => "Unknown",
    }
}

/// The user-defined type of that name; `None` for types that are none.
///
/// # Errors
/// Those of `find`.
pub(super) fn user_type(
    datatype: &Datatype,
    name: String,
    group: &str,
    find: &mut Find<'_>,
) -> Result<Option<UserType>> {
    let group = group.to_owned();
    let (size, class) = match datatype {
        Datatype::Compound { members, .. } => compound(members, find)?,
        Datatype::Complex { base, .. } => compound(&complex_members(base), find)?,
        Datatype::Opaque { size, .. } => (*size as usize, UserClass::Opaque),
        Datatype::Sequence { base, .. } => {
            (SEQUENCE_BYTES, UserClass::Vlen(data_type(base, find)?))
        }
        Datatype::Enumeration { base, members } => {
            let Some(base) = enum_base(base) else { return Ok(None) };
            let members = members.iter().map(enum_member).collect();
            (base.size(), UserClass::Enum { base, members })
        }
        _ => return Ok(None),
    };
    Ok(Some(UserType { name, group, size, class }))
}

/// The parts of a complex number, under the names that it has where it is a compound.
fn complex_members(base: &Arc<Datatype>) -> [Member; 2] {
    ["r", "i"].map(|name| Member {
        name: name.as_bytes().into(),
        offset: if name == "r" { 0 } else { base.size() },
        datatype: Datatype::clone(base),
    })
}

/// Members at the offsets at which a C compiler puts them.
fn compound(members: &[Member], find: &mut Find<'_>) -> Result<(usize, UserClass)> {
    let mut field = |member: &Member| {
        let (shape, element) = array_parts(&member.datatype);
        let data_type = match element {
            // A string of fixed length inside an element is its chars.
            Datatype::String { .. } => Atomic::Char.into(),
            _ => data_type(element, find)?,
        };
        Ok(Field::new(text(&member.name), data_type).with_shape(shape))
    };
    let mut fields = members.iter().map(&mut field).collect::<Result<Vec<Field>>>()?;
    let size = layout::place(&mut fields);
    Ok((size, UserClass::Compound(fields)))
}

/// The shape of a member and the type of each of its elements. Arrays of arrays are one array;
/// chars of a string are the last axis.
fn array_parts(datatype: &Datatype) -> (Vec<usize>, &Datatype) {
    let (mut shape, mut element) = (Vec::new(), datatype);
    while let Datatype::Array { dimensions, base, .. } = element {
        shape.extend(dimensions.iter().map(|&len| len as usize));
        element = base;
    }
    if let Datatype::String { size, .. } = element
        && *size > 1
    {
        shape.push(*size as usize);
    }
    (shape, element)
}

fn integer_type(integer: &FixedPoint) -> Option<Atomic> {
    hdf5::stored_integer(integer)?.number()
}

fn enum_base(base: &Datatype) -> Option<Atomic> {
    match base {
        Datatype::FixedPoint(integer) => integer_type(integer),
        _ => None,
    }
}

fn enum_member(member: &EnumMember) -> (String, i128) {
    (text(&member.name), member.value)
}

fn foreign(datatype: &Datatype) -> DataType {
    let (description, size) = (datatype.describe(), datatype.size() as usize);
    DataType::Foreign(Arc::new(ForeignType { description, size }))
}

/// How elements lie in the file that netCDF shows as [`data_type`] says.
pub(crate) fn stored_type(datatype: &Datatype) -> StoredType {
    let size = datatype.size() as usize;
    match datatype {
        Datatype::FixedPoint(integer) => {
            hdf5::stored_integer(integer).unwrap_or_else(|| hdf5::stored_type(datatype))
        }
        Datatype::Float(float) => {
            hdf5::stored_float(float).unwrap_or_else(|| hdf5::stored_type(datatype))
        }
        Datatype::Enumeration { base, .. } => stored_type(base),
        Datatype::String { size: 1, .. } => StoredType::Char,
        // As libnetcdf has them: up to the first zero byte, blanks are the writer's own.
        Datatype::String { .. } => StoredType::FixedString { size, space_padded: false },
        Datatype::VariableString { .. } => StoredType::VarString { size },
        Datatype::Sequence { base, .. } => {
            StoredType::Sequence { size, base: Box::new(stored_type(base)) }
        }
        Datatype::Compound { members, .. } => {
            let members = members.iter().map(stored_member).collect();
            StoredType::Compound { size, members }
        }
        Datatype::Complex { base, .. } => {
            let members = complex_members(base).iter().map(stored_member).collect();
            StoredType::Compound { size, members }
        }
        // Nobody says what an element of these is, so it is the bytes it has.
        Datatype::Array { .. } => StoredType::Bytes { size, reversed: false },
        _ => hdf5::stored_type(datatype),
    }
}

fn stored_member(member: &Member) -> StoredMember {
    let (shape, element) = array_parts(&member.datatype);
    let element = match element {
        Datatype::String { .. } => StoredType::Char,
        _ => stored_type(element),
    };
    // The decoder has held the product against the member's size.
    let len = shape.iter().fold(1_usize, |count, &len| count.saturating_mul(len));
    let stored = match shape.is_empty() {
        true => element,
        false => StoredType::Array { len, base: Box::new(element) },
    };
    StoredMember { name: text(&member.name), offset: member.offset as usize, stored }
}

/// True where the two are the same type in a program's memory, whatever their byte order and
/// their offsets in the file: libnetcdf compares types so to find the one that has a name.
pub(super) fn are_same(a: &Datatype, b: &Datatype) -> bool {
    match (a, b) {
        (Datatype::FixedPoint(a), Datatype::FixedPoint(b)) => {
            (a.size, a.signed, a.precision, a.bit_offset)
                == (b.size, b.signed, b.precision, b.bit_offset)
        }
        (Datatype::Float(a), Datatype::Float(b)) if a.is_ieee() && b.is_ieee() => a.size == b.size,
        (Datatype::Compound { members: a, .. }, Datatype::Compound { members: b, .. }) => {
            let same =
                |(a, b): (&Member, &Member)| a.name == b.name && are_same(&a.datatype, &b.datatype);
            a.len() == b.len() && a.iter().zip(b.iter()).all(same)
        }
        (
            Datatype::Enumeration { base: base_a, members: a },
            Datatype::Enumeration { base: base_b, members: b },
        ) => are_same(base_a, base_b) && same_members(a, b),
        (Datatype::Sequence { base: a, .. }, Datatype::Sequence { base: b, .. })
        | (Datatype::Complex { base: a, .. }, Datatype::Complex { base: b, .. }) => are_same(a, b),
        (
            Datatype::Array { dimensions: dimensions_a, base: a, .. },
            Datatype::Array { dimensions: dimensions_b, base: b, .. },
        ) => dimensions_a == dimensions_b && are_same(a, b),
        (a, b) => a == b,
    }
}

/// Enumerations are the same whatever the order of their members.
fn same_members(a: &[EnumMember], b: &[EnumMember]) -> bool {
    let sorted = |members: &[EnumMember]| {
        let mut pairs: Vec<_> = members.iter().map(|m| (m.name.clone(), m.value)).collect();
        pairs.sort();
        pairs
    };
    a.len() == b.len() && sorted(a) == sorted(b)
}
