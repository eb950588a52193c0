//! netCDF's types as HDF5 has them in the file.

use std::sync::Arc;

use isotach_format::hdf5::Sizes;
use isotach_format::hdf5::message::datatype::{
    BitPadding, ByteOrder, CharacterSet, Datatype, EnumMember, FixedPoint, Float, Member,
    Normalization, ReferenceKind, StringPadding,
};
use isotach_model::{Atomic, DataType, Field, FloatFormat, UserClass, UserType};

use crate::variable::Endianness;

/// Bytes of what refers to a heap: count (4), address, index (4).
pub(super) fn heap_reference_bytes(sizes: Sizes) -> u32 {
    8 + sizes.offset as u32
}

/// Bytes of a reference to an object: its address, whatever width addresses have elsewhere.
pub(super) const OBJECT_REFERENCE_BYTES: u32 = 8;

/// The type of a variable's or attribute's elements; `None` for one that netCDF cannot say, and for
/// one whose elements are larger than HDF5 can say.
pub(super) fn datatype(
    data_type: &DataType,
    endianness: Endianness,
    sizes: Sizes,
) -> Option<Datatype> {
    match data_type {
        DataType::Atomic(atomic) => Some(atomic_type(*atomic, endianness, sizes)),
        DataType::SmallFloat(format) => small_float(format, byte_order(endianness)),
        DataType::User(user) => user_type(user, endianness, sizes),
        DataType::Foreign(_) => None,
    }
}

/// The type that a user-defined type is.
pub(super) fn user_type(user: &UserType, endianness: Endianness, sizes: Sizes) -> Option<Datatype> {
    Some(match &user.class {
        UserClass::Opaque => {
            Datatype::Opaque { size: u32::try_from(user.size).ok()?, tag: Arc::default() }
        }
        UserClass::Enum { base, members } => {
            let member = |(name, value): &(String, i128)| EnumMember {
                name: name.as_bytes().into(),
                value: *value,
            };
            Datatype::Enumeration {
                base: Arc::new(atomic_type(*base, endianness, sizes)),
                members: members.iter().map(member).collect(),
            }
        }
        UserClass::Vlen(base) => sequence(datatype(base, endianness, sizes)?, sizes),
        UserClass::Compound(fields) => compound(user.size, fields, endianness, sizes)?,
    })
}

/// Members lie in the file as in memory, but for those whose sizes differ there: what follows these
/// moves with them.
fn compound(
    size: usize,
    fields: &[Field],
    endianness: Endianness,
    sizes: Sizes,
) -> Option<Datatype> {
    let mut members = Vec::with_capacity(fields.len());
    let mut moved: i64 = 0;
    for field in fields {
        let element = datatype(&field.data_type, endianness, sizes)?;
        let count = field.shape.iter().try_fold(1_usize, |count, &len| count.checked_mul(len))?;
        let in_memory = memory_bytes(&field.data_type).checked_mul(count)?;
        let in_file = usize::try_from(element.size()).ok()?.checked_mul(count)?;
        let offset = u32::try_from(i64::try_from(field.offset).ok()?.checked_add(moved)?).ok()?;
        moved = moved.checked_add(i64::try_from(in_file).ok()? - i64::try_from(in_memory).ok()?)?;
        let datatype = if field.shape.is_empty() { element } else { array(element, &field.shape)? };
        members.push(Member { name: field.name.as_bytes().into(), offset, datatype });
    }
    let size = u32::try_from(i64::try_from(size).ok()?.checked_add(moved)?).ok()?;
    Some(Datatype::Compound { size, members: members.into() })
}

fn array(element: Datatype, shape: &[usize]) -> Option<Datatype> {
    let lens = shape.iter().map(|&len| u32::try_from(len).ok());
    let dimensions = lens.collect::<Option<Arc<[u32]>>>()?;
    let size = dimensions.iter().try_fold(element.size(), |size, &len| size.checked_mul(len))?;
    Some(Datatype::Array { size, dimensions, base: Arc::new(element) })
}

/// Bytes of an element in a C program's memory.
fn memory_bytes(data_type: &DataType) -> usize {
    match data_type {
        DataType::Atomic(Atomic::String) => size_of::<u64>(),
        DataType::Atomic(atomic) => atomic.size(),
        DataType::SmallFloat(_) => Atomic::Float.size(),
        DataType::User(user) => user.size,
        DataType::Foreign(foreign) => foreign.size,
    }
}

/// The type of a number, a char or a string.
pub(super) fn atomic_type(atomic: Atomic, endianness: Endianness, sizes: Sizes) -> Datatype {
    let byte_order = byte_order(endianness);
    let integer = |signed| integer(atomic.size() as u32, signed, byte_order);
    match atomic {
        Atomic::Char => text(1),
        Atomic::String => string(sizes),
        Atomic::Byte | Atomic::Short | Atomic::Int | Atomic::Int64 => integer(true),
        Atomic::UByte | Atomic::UShort | Atomic::UInt | Atomic::UInt64 => integer(false),
        Atomic::Float => float(4, 23, 8, 127, byte_order),
        Atomic::Double => float(8, 52, 11, 1023, byte_order),
    }
}

fn byte_order(endianness: Endianness) -> ByteOrder {
    match endianness {
        Endianness::Big => ByteOrder::Big,
        Endianness::Little => ByteOrder::Little,
        Endianness::Native if cfg!(target_endian = "big") => ByteOrder::Big,
        Endianness::Native => ByteOrder::Little,
    }
}

/// Chars: a string of fixed length.
pub(super) fn text(size: u32) -> Datatype {
    let (padding, charset) = (StringPadding::NullTerminated, CharacterSet::Ascii);
    Datatype::String { size, padding, charset }
}

/// A string of any length.
fn string(sizes: Sizes) -> Datatype {
    Datatype::VariableString {
        size: heap_reference_bytes(sizes),
        padding: StringPadding::NullTerminated,
        charset: CharacterSet::Utf8,
        base: Arc::new(integer(1, false, ByteOrder::Little)),
    }
}

/// A sequence of elements.
pub(super) fn sequence(base: Datatype, sizes: Sizes) -> Datatype {
    Datatype::Sequence { size: heap_reference_bytes(sizes), base: Arc::new(base) }
}

/// A reference to an object, by the address of its header.
pub(super) fn object_reference() -> Datatype {
    Datatype::Reference { size: OBJECT_REFERENCE_BYTES, kind: ReferenceKind::Object }
}

/// An integer that uses all its bits.
pub(super) fn integer(size: u32, signed: bool, byte_order: ByteOrder) -> Datatype {
    let precision = size as u16 * 8;
    Datatype::FixedPoint(FixedPoint { size, byte_order, signed, bit_offset: 0, precision })
}

fn float(
    size: u32,
    mantissa_size: u8,
    exponent_size: u8,
    exponent_bias: u32,
    byte_order: ByteOrder,
) -> Datatype {
    let precision = size as u16 * 8;
    Datatype::Float(Float {
        size,
        byte_order,
        bit_offset: 0,
        precision,
        sign_location: precision as u8 - 1,
        exponent_location: mantissa_size,
        exponent_size,
        exponent_bias,
        mantissa_location: 0,
        mantissa_size,
        normalization: Normalization::HighestBitImplied,
        bit_padding: BitPadding { low: false, high: false, internal: false },
    })
}

/// A float of one or two bytes, which has the bits of a format.
fn small_float(format: &FloatFormat, byte_order: ByteOrder) -> Option<Datatype> {
    let byte = |number: u32| u8::try_from(number).ok();
    let size = u32::try_from(format.size).ok()?;
    let whole =
        float(size, byte(format.mantissa.1)?, byte(format.exponent.1)?, format.bias, byte_order);
    let Datatype::Float(whole) = whole else { return None };
    Some(Datatype::Float(Float {
        sign_location: byte(format.sign)?,
        exponent_location: byte(format.exponent.0)?,
        mantissa_location: byte(format.mantissa.0)?,
        ..whole
    }))
}
