//! How elements of an HDF5 type lie in the file, for those who read values.

use isotach_format::hdf5::message::datatype::{
    ByteOrder, Datatype, FixedPoint, Float, Member, Normalization,
};
use isotach_format::hdf5::text::text;
use isotach_model::convert::ElementConversion;
use isotach_model::stored::StoredMember;
use isotach_model::{FloatFormat, PartialFloat, PartialInt, StoredType};

/// The stored form of an element of `datatype`, as HDF5's own view shows it.
///
/// Integers of 1, 2, 4, 8 bytes and IEEE floats of 4 and 8 bytes are numbers. Everything that is
/// not shown as the number it is (floats of other layouts, integers that do not use all their
/// bits, bit fields, times) is bytes, lowest first; those in VAX order, fixed-length strings,
/// opaque values and references are bytes as they stand. An enumeration is its numbers, a complex
/// number an array of two.
pub fn stored_type(datatype: &Datatype) -> StoredType {
    let size = datatype.size() as usize;
    match datatype {
        Datatype::FixedPoint(integer) => integer_type(integer),
        Datatype::Float(float) if float.is_ieee() && matches!(size, 4 | 8) => {
            StoredType::Float { size, big_endian: float.byte_order == ByteOrder::Big }
        }
        Datatype::Float(float) => bytes(size, float.byte_order),
        Datatype::Time { byte_order, .. } | Datatype::BitField { byte_order, .. } => {
            bytes(size, *byte_order)
        }
        Datatype::String { .. } | Datatype::Opaque { .. } | Datatype::Reference { .. } => {
            StoredType::Bytes { size, reversed: false }
        }
        Datatype::Compound { members, .. } => {
            let members = members
                .iter()
                .map(|member| StoredMember {
                    name: text(&member.name),
                    offset: member.offset as usize,
                    stored: stored_type(&member.datatype),
                })
                .collect();
            StoredType::Compound { size, members }
        }
        Datatype::Enumeration { base, .. } => stored_type(base),
        Datatype::Sequence { base, .. } => {
            StoredType::Sequence { size, base: Box::new(stored_type(base)) }
        }
        Datatype::VariableString { .. } => StoredType::VarString { size },
        Datatype::Array { dimensions, base, .. } => {
            // The decoder has held the product against the type's size.
            let len = dimensions.iter().map(|&len| len as usize).product();
            StoredType::Array { len, base: Box::new(stored_type(base)) }
        }
        Datatype::Complex { base, .. } => {
            StoredType::Array { len: 2, base: Box::new(stored_type(base)) }
        }
    }
}

fn integer_type(integer: &FixedPoint) -> StoredType {
    match stored_integer(integer) {
        Some(whole @ (StoredType::Int { .. } | StoredType::UInt { .. })) => whole,
        _ => bytes(integer.size as usize, integer.byte_order),
    }
}

/// How an integer of 1, 2, 4 or 8 bytes lies in the file, whether or not it uses all their bits;
/// `None` for others and those in VAX order.
pub(in crate::mapping) fn stored_integer(integer: &FixedPoint) -> Option<StoredType> {
    if integer.byte_order == ByteOrder::Vax {
        return None;
    }
    let stored = PartialInt {
        size: integer.size as usize,
        big_endian: integer.byte_order == ByteOrder::Big,
        signed: integer.signed,
        bit_offset: u32::from(integer.bit_offset),
        precision: u32::from(integer.precision),
    };
    stored.is_valid().then(|| stored.simplified())
}

/// How a float of 1, 2, 4 or 8 bytes lies in the file, whichever bits it uses; `None` for others, those in VAX order,
/// those that store the first bit of their mantissa, and those with numbers that no IEEE float of that size is.
pub(in crate::mapping) fn stored_float(float: &Float) -> Option<StoredType> {
    let (size, big_endian) = (float.size as usize, float.byte_order == ByteOrder::Big);
    if float.is_ieee() && matches!(size, 4 | 8) {
        return Some(StoredType::Float { size, big_endian });
    }
    let has_one = float.normalization == Normalization::HighestBitImplied;
    let format = FloatFormat {
        size,
        sign: float.sign_location.into(),
        exponent: (float.exponent_location.into(), float.exponent_size.into()),
        bias: float.exponent_bias,
        mantissa: (float.mantissa_location.into(), float.mantissa_size.into()),
    };
    let is_known = has_one && float.byte_order != ByteOrder::Vax && format.is_valid();
    is_known.then_some(StoredType::PartialFloat(PartialFloat { format, big_endian }))
}

fn bytes(size: usize, byte_order: ByteOrder) -> StoredType {
    StoredType::Bytes { size, reversed: byte_order == ByteOrder::Big }
}

/// The stored form of what is converted: small floats are numbers there.
fn converted_type(datatype: &Datatype) -> StoredType {
    match datatype {
        Datatype::Float(float) if float.size < 4 => {
            stored_float(float).unwrap_or_else(|| stored_type(datatype))
        }
        _ => stored_type(datatype),
    }
}

/// Elements of one type cannot be had as elements of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NoConversion;

/// How elements of the type `from` become elements of the type `to`; `None` where they are stored
/// alike. Numbers that [`stored_type`] shows as numbers convert to one another, an enumeration to
/// numbers and to one of the same members, and every type without heap data to the same with its
/// bytes in another order.
pub(super) fn element_conversion(
    from: &Datatype,
    to: &Datatype,
) -> Result<Option<ElementConversion>, NoConversion> {
    if from == to {
        return Ok(None);
    }
    let (source, target) = (converted_type(from), converted_type(to));
    let is_number = source.number().is_some() && target.number().is_some();
    match (from, to) {
        (Datatype::Enumeration { members: ours, .. }, Datatype::Enumeration { members, .. })
            if ours != members =>
        {
            Err(NoConversion)
        }
        (_, Datatype::Enumeration { .. }) if !matches!(from, Datatype::Enumeration { .. }) => {
            Err(NoConversion)
        }
        _ if is_number && source == target => Ok(None),
        _ if is_number => {
            ElementConversion::of_numbers(&source, &target).map(Some).ok_or(NoConversion)
        }
        _ if !from.has_heap_data() && little_endian(from) == little_endian(to) => {
            ElementConversion::of_byte_order(&source, &target).map(Some).ok_or(NoConversion)
        }
        // Their bytes may be as many and mean something else.
        (Datatype::FixedPoint(_) | Datatype::Float(_) | Datatype::BitField { .. }, _)
        | (_, Datatype::FixedPoint(_) | Datatype::Float(_) | Datatype::BitField { .. }) => {
            Err(NoConversion)
        }
        _ if source == target => Ok(None),
        _ => Err(NoConversion),
    }
}

/// The type with all that is big-endian in it little-endian. Types are nested only as deep as the
/// decoder allows.
fn little_endian(datatype: &Datatype) -> Datatype {
    let little = |order: ByteOrder| match order {
        ByteOrder::Big | ByteOrder::Little => ByteOrder::Little,
        ByteOrder::Vax => ByteOrder::Vax,
    };
    let mut datatype = datatype.clone();
    match &mut datatype {
        Datatype::FixedPoint(FixedPoint { byte_order, .. })
        | Datatype::Float(Float { byte_order, .. })
        | Datatype::Time { byte_order, .. }
        | Datatype::BitField { byte_order, .. } => *byte_order = little(*byte_order),
        Datatype::Enumeration { base, .. }
        | Datatype::Sequence { base, .. }
        | Datatype::Array { base, .. }
        | Datatype::Complex { base, .. } => *base = little_endian(base).into(),
        Datatype::Compound { members, .. } => {
            let of_member = |member: &Member| Member {
                datatype: little_endian(&member.datatype),
                ..member.clone()
            };
            *members = members.iter().map(of_member).collect();
        }
        Datatype::String { .. }
        | Datatype::Opaque { .. }
        | Datatype::Reference { .. }
        | Datatype::VariableString { .. } => {}
    }
    datatype
}
