//! A [`Datatype`] to bytes.
//!
//! Numbers, strings, opaque types and references have version 1 whoever is to read them. Types
//! that are made of others are packed in version 3, which HDF5 1.8 brought.

use super::decode::{enum_value, offset_width};
use super::{ByteOrder, Datatype, EnumMember, FixedPoint, Float, Normalization, ReferenceKind};
use crate::error::Result;
use crate::hdf5::OldestReader;
use crate::limits;
use crate::output::Output;

/// An opaque type's tag takes a multiple of 8 bytes, whose number has 8 bits.
const TAG_BYTES: u64 = 248;

/// A version-1 member's own dimensions, of which there are none where there is an array class:
/// rank, 3 reserved, permutation, reserved, 4 lengths.
const OLD_DIMENSIONS_BYTES: usize = 1 + 3 + 4 + 4 + 4 * 4;

/// Encodes `datatype` with the versions that `oldest_reader` knows, where they can say it.
pub(super) fn encode(
    output: &mut Output,
    datatype: &Datatype,
    oldest_reader: OldestReader,
) -> Result<()> {
    let lowest = if oldest_reader == OldestReader::V16 { 1 } else { 3 };
    Encoder { output, lowest, depth: 0 }.encode(datatype)
}

/// A type inside of others.
struct Encoder<'a> {
    output: &'a mut Output,
    /// Lowest version of a compound, an enumeration or an array.
    lowest: u8,
    /// How many others it is inside of.
    depth: u32,
}

impl Encoder<'_> {
    fn encode(&mut self, datatype: &Datatype) -> Result<()> {
        let (depth, limit) = (u64::from(self.depth), u64::from(limits::DATATYPE_DEPTH));
        self.output.limited("nesting depth", depth, limit)?;
        let version = version(datatype, self.lowest);
        self.output.u8(version << 4 | class(datatype));
        self.output.uint(u64::from(class_bits(self.output, datatype)?), 3);
        self.output.u32(datatype.size());
        match datatype {
            Datatype::FixedPoint(FixedPoint { bit_offset, precision, .. })
            | Datatype::BitField { bit_offset, precision, .. } => {
                self.output.u16(*bit_offset);
                self.output.u16(*precision);
            }
            Datatype::Float(float) => encode_float(self.output, float),
            Datatype::Time { precision, .. } => self.output.u16(*precision),
            Datatype::String { .. } | Datatype::Reference { .. } => {}
            Datatype::Opaque { tag, .. } => {
                self.output.put(tag);
                self.output.zeros(tag.len().next_multiple_of(8) - tag.len());
            }
            Datatype::Compound { size, members } => {
                for member in &**members {
                    self.encode_name(&member.name, version)?;
                    let width = if version < 3 { 4 } else { offset_width(*size) };
                    self.output.sized("member offset", u64::from(member.offset), width)?;
                    self.output.zeros(if version == 1 { OLD_DIMENSIONS_BYTES } else { 0 });
                    self.inner().encode(&member.datatype)?;
                }
            }
            Datatype::Enumeration { base, members } => self.encode_names(base, members, version)?,
            Datatype::Array { dimensions, base, .. } => {
                self.encode_dimensions(dimensions, version)?;
                self.inner().encode(base)?;
            }
            Datatype::Sequence { base, .. }
            | Datatype::VariableString { base, .. }
            | Datatype::Complex { base, .. } => self.inner().encode(base)?,
        }
        Ok(())
    }

    fn inner(&mut self) -> Encoder<'_> {
        Encoder { output: self.output, lowest: self.lowest, depth: self.depth + 1 }
    }

    fn encode_name(&mut self, name: &[u8], version: u8) -> Result<()> {
        if name.contains(&0) {
            return Err(self.output.bad_field("byte of a member's name", 0));
        }
        let len = name.len() + 1;
        let padded = if version < 3 { len.next_multiple_of(8) } else { len };
        self.output.put(name);
        self.output.zeros(padded - name.len());
        Ok(())
    }

    fn encode_names(&mut self, base: &Datatype, members: &[EnumMember], version: u8) -> Result<()> {
        let Datatype::FixedPoint(integer) = base else {
            let class = u64::from(class(base));
            return Err(self.output.bad_field("class of an enumeration's base", class));
        };
        self.output.limited("size", u64::from(integer.size), 16)?;
        self.inner().encode(base)?;
        for member in members {
            self.encode_name(&member.name, version)?;
        }
        for member in members {
            let mut bytes = member.value.to_le_bytes()[..integer.size as usize].to_vec();
            if integer.byte_order == ByteOrder::Big {
                bytes.reverse();
            }
            if enum_value(&bytes, *integer) != member.value {
                return Err(self.output.bad_field("value of a name", member.value as u64));
            }
            self.output.put(&bytes);
        }
        Ok(())
    }

    fn encode_dimensions(&mut self, dimensions: &[u32], version: u8) -> Result<()> {
        let rank = self.output.limited("array rank", dimensions.len() as u64, limits::RANK)?;
        self.output.u8(rank as u8);
        self.output.zeros(if version < 3 { 3 } else { 0 });
        for &dimension in dimensions {
            self.output.u32(dimension);
        }
        // Permutation indices, which were never anything but 0, 1, 2, ...
        for index in (0..rank).filter(|_| version < 3) {
            self.output.u32(index as u32);
        }
        Ok(())
    }
}

fn encode_float(output: &mut Output, float: &Float) {
    output.u16(float.bit_offset);
    output.u16(float.precision);
    output.put(&[float.exponent_location, float.exponent_size]);
    output.put(&[float.mantissa_location, float.mantissa_size]);
    output.u32(float.exponent_bias);
}

/// The version of `datatype` where those that are made of others have `lowest` at least.
///
/// A compound, an array and a sequence have at least the version of what is in them.
fn version(datatype: &Datatype, lowest: u8) -> u8 {
    match datatype {
        Datatype::Float(Float { byte_order: ByteOrder::Vax, .. }) => 3,
        Datatype::Reference { kind: ReferenceKind::Standard(_), .. } => 4,
        Datatype::Complex { .. } => 5,
        Datatype::Compound { members, .. } => {
            let versions = members.iter().map(|member| version(&member.datatype, lowest));
            versions.fold(lowest, u8::max)
        }
        Datatype::Enumeration { .. } => lowest,
        Datatype::Array { base, .. } => version(base, lowest).max(lowest).max(2),
        Datatype::Sequence { base, .. } => version(base, lowest),
        _ => 1,
    }
}

fn class(datatype: &Datatype) -> u8 {
    match datatype {
        Datatype::FixedPoint(_) => 0,
        Datatype::Float(_) => 1,
        Datatype::Time { .. } => 2,
        Datatype::String { .. } => 3,
        Datatype::BitField { .. } => 4,
        Datatype::Opaque { .. } => 5,
        Datatype::Compound { .. } => 6,
        Datatype::Reference { .. } => 7,
        Datatype::Enumeration { .. } => 8,
        Datatype::Sequence { .. } | Datatype::VariableString { .. } => 9,
        Datatype::Array { .. } => 10,
        Datatype::Complex { .. } => 11,
    }
}

/// The 24 bits whose meaning is the class's own.
fn class_bits(output: &Output, datatype: &Datatype) -> Result<u32> {
    let count = |field, count: usize, limit| {
        output.limited(field, count as u64, limit).map(|count| count as u32)
    };
    Ok(match datatype {
        Datatype::FixedPoint(FixedPoint { byte_order, signed, .. }) => {
            order_bit(output, *byte_order)? | u32::from(*signed) << 3
        }
        Datatype::Float(float) => float_bits(float),
        Datatype::Time { byte_order, .. } | Datatype::BitField { byte_order, .. } => {
            order_bit(output, *byte_order)?
        }
        Datatype::String { padding, charset, .. } => {
            u32::from(padding.number()) | u32::from(charset.number() & 0x0f) << 4
        }
        Datatype::Opaque { tag, .. } => {
            count("length of the tag", tag.len(), TAG_BYTES)?.next_multiple_of(8)
        }
        Datatype::Compound { members, .. } => {
            count("number of members", members.len(), u64::from(u16::MAX))?
        }
        Datatype::Enumeration { members, .. } => {
            count("number of names", members.len(), u64::from(u16::MAX))?
        }
        Datatype::Reference { kind, .. } => match kind {
            ReferenceKind::Object => 0,
            ReferenceKind::Region => 1,
            // The version of the encoding is beside the kind.
            ReferenceKind::Standard(kind) => 0x10 | u32::from(*kind & 0x0f),
        },
        Datatype::VariableString { padding, charset, .. } => {
            1 | u32::from(padding.number()) << 4 | u32::from(charset.number() & 0x0f) << 8
        }
        Datatype::Sequence { .. } | Datatype::Array { .. } => 0,
        // Both parts have one type.
        Datatype::Complex { .. } => 1,
    })
}

/// The order of an integer's bytes, of which there are two.
fn order_bit(output: &Output, byte_order: ByteOrder) -> Result<u32> {
    match byte_order {
        ByteOrder::Little => Ok(0),
        ByteOrder::Big => Ok(1),
        ByteOrder::Vax => Err(output.bad_field("byte order", 2)),
    }
}

fn float_bits(float: &Float) -> u32 {
    let byte_order = match float.byte_order {
        ByteOrder::Little => 0,
        ByteOrder::Big => 0x01,
        ByteOrder::Vax => 0x41,
    };
    let normalization = match float.normalization {
        Normalization::None => 0,
        Normalization::HighestBitSet => 0x10,
        Normalization::HighestBitImplied => 0x20,
    };
    let padding = float.bit_padding;
    let padding = [(padding.low, 2), (padding.high, 4), (padding.internal, 8)];
    let padding = padding.iter().filter(|(is_one, _)| *is_one).map(|(_, bit)| bit).sum::<u32>();
    byte_order | normalization | padding | u32::from(float.sign_location) << 8
}
