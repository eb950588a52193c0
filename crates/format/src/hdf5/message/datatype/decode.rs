//! Bytes to a [`Datatype`].

use std::sync::Arc;

use super::{
    BitPadding, ByteOrder, CharacterSet, Datatype, EnumMember, FixedPoint, Float, Member,
    Normalization, ReferenceKind, StringPadding,
};
use crate::cursor::Cursor;
use crate::error::{ErrorKind, Result};
use crate::limits;

/// The first eight bytes, which all classes have.
struct Prefix {
    version: u8,
    class: u8,
    bits: u32,
    size: u32,
}

/// Decodes the type at the cursor's place, which is nested in `depth` others.
pub(super) fn decode(cursor: &mut Cursor<'_>, depth: u32) -> Result<Datatype> {
    cursor.limited("nesting depth", u64::from(depth), u64::from(limits::DATATYPE_DEPTH))?;
    let first = cursor.u8()?;
    let [low, middle, high] = cursor.array::<3>()?;
    let prefix = Prefix {
        version: first >> 4,
        class: first & 0x0f,
        bits: u32::from_le_bytes([low, middle, high, 0]),
        size: cursor.u32()?,
    };
    if !(1..=5).contains(&prefix.version) {
        return Err(cursor.error(ErrorKind::Version { found: u64::from(prefix.version) }));
    }
    if prefix.size == 0 && !matches!(prefix.class, 3 | 5) {
        return Err(cursor.bad_field("size", 0));
    }
    match prefix.class {
        0 => decode_fixed_point(cursor, &prefix),
        1 => decode_float(cursor, &prefix),
        2 => decode_time(cursor, &prefix),
        3 => Ok(decode_string(&prefix)),
        4 => decode_bit_field(cursor, &prefix),
        5 => decode_opaque(cursor, &prefix),
        6 => decode_compound(cursor, &prefix, depth),
        7 => Ok(decode_reference(&prefix)),
        8 => decode_enumeration(cursor, &prefix, depth),
        9 => decode_variable_length(cursor, &prefix, depth),
        10 => decode_array(cursor, &prefix, depth),
        11 => decode_complex(cursor, &prefix, depth),
        class => {
            let value = u64::from(class);
            Err(cursor.error(ErrorKind::Unsupported { feature: "datatype class", value }))
        }
    }
}

fn little_or_big(bits: u32) -> ByteOrder {
    if bits & 1 == 0 { ByteOrder::Little } else { ByteOrder::Big }
}

/// Bit offset and precision, which must lie inside the element.
fn decode_significant_bits(cursor: &mut Cursor<'_>, prefix: &Prefix) -> Result<(u16, u16)> {
    let (bit_offset, precision) = (cursor.u16()?, cursor.u16()?);
    let end = u64::from(bit_offset) + u64::from(precision);
    if precision == 0 || end > u64::from(prefix.size) * 8 {
        return Err(cursor.bad_field("precision", u64::from(precision)));
    }
    Ok((bit_offset, precision))
}

fn decode_fixed_point(cursor: &mut Cursor<'_>, prefix: &Prefix) -> Result<Datatype> {
    let (bit_offset, precision) = decode_significant_bits(cursor, prefix)?;
    Ok(Datatype::FixedPoint(FixedPoint {
        size: prefix.size,
        byte_order: little_or_big(prefix.bits),
        signed: prefix.bits & 0x08 != 0,
        bit_offset,
        precision,
    }))
}

fn decode_float(cursor: &mut Cursor<'_>, prefix: &Prefix) -> Result<Datatype> {
    // Bit 6 came with version 3; before that it had no meaning.
    let byte_order = match (prefix.version >= 3 && prefix.bits & 0x40 != 0, prefix.bits & 1) {
        (true, 0) => return Err(cursor.bad_field("byte order", 2)),
        (true, _) => ByteOrder::Vax,
        (false, _) => little_or_big(prefix.bits),
    };
    let normalization = match prefix.bits >> 4 & 3 {
        0 => Normalization::None,
        1 => Normalization::HighestBitSet,
        2 => Normalization::HighestBitImplied,
        other => return Err(cursor.bad_field("mantissa normalization", u64::from(other))),
    };
    let (bit_offset, precision) = decode_significant_bits(cursor, prefix)?;
    let [exponent_location, exponent_size, mantissa_location, mantissa_size] = cursor.array()?;
    let float = Float {
        size: prefix.size,
        byte_order,
        bit_offset,
        precision,
        sign_location: (prefix.bits >> 8 & 0xff) as u8,
        exponent_location,
        exponent_size,
        exponent_bias: cursor.u32()?,
        mantissa_location,
        mantissa_size,
        normalization,
        bit_padding: BitPadding {
            low: prefix.bits & 2 != 0,
            high: prefix.bits & 4 != 0,
            internal: prefix.bits & 8 != 0,
        },
    };
    check_float(cursor, &float)?;
    Ok(Datatype::Float(float))
}

/// Sign, exponent and mantissa must lie inside the element.
fn check_float(cursor: &Cursor<'_>, float: &Float) -> Result<()> {
    let bits = u64::from(float.size) * 8;
    let parts = [
        ("sign location", float.sign_location, 1),
        ("exponent location", float.exponent_location, float.exponent_size),
        ("mantissa location", float.mantissa_location, float.mantissa_size),
    ];
    for (field, location, size) in parts {
        if size == 0 || u64::from(location) + u64::from(size) > bits {
            return Err(cursor.bad_field(field, u64::from(location)));
        }
    }
    Ok(())
}

fn decode_time(cursor: &mut Cursor<'_>, prefix: &Prefix) -> Result<Datatype> {
    let byte_order = little_or_big(prefix.bits);
    Ok(Datatype::Time { size: prefix.size, byte_order, precision: cursor.u16()? })
}

fn decode_string(prefix: &Prefix) -> Datatype {
    Datatype::String {
        size: prefix.size,
        padding: StringPadding::from_number((prefix.bits & 0x0f) as u8),
        charset: CharacterSet::from_number((prefix.bits >> 4 & 0x0f) as u8),
    }
}

fn decode_bit_field(cursor: &mut Cursor<'_>, prefix: &Prefix) -> Result<Datatype> {
    let (bit_offset, precision) = decode_significant_bits(cursor, prefix)?;
    let byte_order = little_or_big(prefix.bits);
    Ok(Datatype::BitField { size: prefix.size, byte_order, bit_offset, precision })
}

fn decode_opaque(cursor: &mut Cursor<'_>, prefix: &Prefix) -> Result<Datatype> {
    let padded = cursor.take((prefix.bits & 0xff) as usize)?;
    let len = padded.iter().position(|&byte| byte == 0).unwrap_or(padded.len());
    Ok(Datatype::Opaque { size: prefix.size, tag: padded[..len].into() })
}

fn decode_reference(prefix: &Prefix) -> Datatype {
    let kind = match (prefix.bits & 0x0f) as u8 {
        0 => ReferenceKind::Object,
        1 => ReferenceKind::Region,
        other => ReferenceKind::Standard(other),
    };
    Datatype::Reference { size: prefix.size, kind }
}

/// A member's name: padded with zeros to a multiple of 8 bytes before version 3.
fn decode_name(cursor: &mut Cursor<'_>, version: u8) -> Result<Arc<[u8]>> {
    let start = cursor.position();
    let name = cursor.nul_terminated()?.into();
    if version < 3 {
        let len = cursor.position() - start;
        cursor.skip(len.next_multiple_of(8) - len)?;
    }
    Ok(name)
}

fn decode_compound(cursor: &mut Cursor<'_>, prefix: &Prefix, depth: u32) -> Result<Datatype> {
    let count = prefix.bits & 0xffff;
    if count == 0 {
        return Err(cursor.bad_field("number of members", 0));
    }
    // Each member needs bytes of its own, so these bound what `count` can make us keep.
    let mut members = Vec::new();
    for _ in 0..count {
        let name = decode_name(cursor, prefix.version)?;
        let offset = if prefix.version < 3 {
            cursor.u32()?
        } else {
            cursor.uint(offset_width(prefix.size))? as u32
        };
        let dimensions = if prefix.version == 1 { decode_old_dimensions(cursor)? } else { vec![] };
        let mut datatype = decode(cursor, depth + 1)?;
        if !dimensions.is_empty() {
            datatype = array_of(cursor, dimensions, datatype)?;
        }
        if u64::from(offset) + u64::from(datatype.size()) > u64::from(prefix.size) {
            return Err(cursor.bad_field("member offset", u64::from(offset)));
        }
        members.push(Member { name, offset, datatype });
    }
    Ok(Datatype::Compound { size: prefix.size, members: members.into() })
}

/// Bytes of a member's offset from version 3 on: as many as the `size` of the element needs.
pub(super) fn offset_width(size: u32) -> usize {
    (4 - size.leading_zeros() as usize / 8).max(1)
}

/// The dimensions that a version-1 member carries, before there was an array class.
fn decode_old_dimensions(cursor: &mut Cursor<'_>) -> Result<Vec<u32>> {
    let rank = cursor.u8()?;
    // Reserved, permutation, reserved.
    cursor.skip(3 + 4 + 4)?;
    let mut dimensions = Vec::from(read_dimensions::<4>(cursor)?);
    if usize::from(rank) > dimensions.len() {
        return Err(cursor.bad_field("member rank", u64::from(rank)));
    }
    dimensions.truncate(usize::from(rank));
    Ok(dimensions)
}

fn read_dimensions<const N: usize>(cursor: &mut Cursor<'_>) -> Result<[u32; N]> {
    let mut dimensions = [0; N];
    for dimension in &mut dimensions {
        *dimension = cursor.u32()?;
    }
    Ok(dimensions)
}

/// An array whose size follows from its elements.
fn array_of(cursor: &Cursor<'_>, dimensions: Vec<u32>, base: Datatype) -> Result<Datatype> {
    let size = dimensions
        .iter()
        .try_fold(base.size(), |size, &dimension| size.checked_mul(dimension))
        .ok_or_else(|| cursor.bad_field("array size", u64::MAX))?;
    if size == 0 {
        return Err(cursor.bad_field("array size", 0));
    }
    Ok(Datatype::Array { size, dimensions: dimensions.into(), base: Arc::new(base) })
}

fn decode_array(cursor: &mut Cursor<'_>, prefix: &Prefix, depth: u32) -> Result<Datatype> {
    let rank = cursor.u8()?;
    cursor.limited("array rank", u64::from(rank), limits::RANK)?;
    if prefix.version < 3 {
        cursor.skip(3)?;
    }
    let mut dimensions = Vec::with_capacity(usize::from(rank));
    for _ in 0..rank {
        dimensions.push(cursor.u32()?);
    }
    if prefix.version < 3 {
        // Permutation indices, which were never anything but 0, 1, 2, ...
        cursor.skip(4 * usize::from(rank))?;
    }
    let base = decode(cursor, depth + 1)?;
    let array = array_of(cursor, dimensions, base)?;
    if array.size() != prefix.size {
        return Err(cursor.bad_field("array size", u64::from(prefix.size)));
    }
    Ok(array)
}

fn decode_enumeration(cursor: &mut Cursor<'_>, prefix: &Prefix, depth: u32) -> Result<Datatype> {
    let count = prefix.bits & 0xffff;
    let base = decode(cursor, depth + 1)?;
    let Datatype::FixedPoint(integer) = base else {
        return Err(cursor.bad_field("class of an enumeration's base", u64::from(prefix.class)));
    };
    if integer.size != prefix.size || integer.size > 16 {
        return Err(cursor.bad_field("size", u64::from(prefix.size)));
    }
    let mut names = Vec::new();
    for _ in 0..count {
        names.push(decode_name(cursor, prefix.version)?);
    }
    let mut members = Vec::with_capacity(names.len());
    for name in names {
        let value = enum_value(cursor.take(integer.size as usize)?, integer);
        members.push(EnumMember { name, value });
    }
    Ok(Datatype::Enumeration { base: Arc::new(base), members: members.into() })
}

/// At most 16 `bytes` as an integer of the type's sign and byte order.
pub(super) fn enum_value(bytes: &[u8], integer: FixedPoint) -> i128 {
    let highest = match integer.byte_order {
        ByteOrder::Big => bytes.first(),
        _ => bytes.last(),
    };
    let negative = integer.signed && highest.is_some_and(|&byte| byte >= 0x80);
    let start = if negative { -1_i128 } else { 0 };
    let push = |value: i128, &byte: &u8| value << 8 | i128::from(byte);
    match integer.byte_order {
        ByteOrder::Big => bytes.iter().fold(start, push),
        _ => bytes.iter().rev().fold(start, push),
    }
}

fn decode_variable_length(
    cursor: &mut Cursor<'_>,
    prefix: &Prefix,
    depth: u32,
) -> Result<Datatype> {
    let kind = prefix.bits & 0x0f;
    let base = Arc::new(decode(cursor, depth + 1)?);
    match kind {
        0 => Ok(Datatype::Sequence { size: prefix.size, base }),
        1 => Ok(Datatype::VariableString {
            size: prefix.size,
            padding: StringPadding::from_number((prefix.bits >> 4 & 0x0f) as u8),
            charset: CharacterSet::from_number((prefix.bits >> 8 & 0x0f) as u8),
            base,
        }),
        _ => Err(cursor.bad_field("variable-length type", u64::from(kind))),
    }
}

fn decode_complex(cursor: &mut Cursor<'_>, prefix: &Prefix, depth: u32) -> Result<Datatype> {
    let base = decode(cursor, depth + 1)?;
    if !matches!(base, Datatype::Float(_)) || u64::from(base.size()) * 2 != u64::from(prefix.size) {
        return Err(cursor.bad_field("size", u64::from(prefix.size)));
    }
    Ok(Datatype::Complex { size: prefix.size, base: Arc::new(base) })
}
