//! Filter 5, nbit: only the significant bits of each number.
//!
//! The parameters describe the element's type:
//! ```text
//! 0  their count
//! 1  1 where the filter does nothing
//! 2  elements in the chunk
//! 3  class of the type, then the type:
//!      atomic (1)    size in bytes, byte order, significant bits, their offset in bits
//!      array (2)     size in bytes, class of the base type, base type
//!      compound (3)  size in bytes, count of members; for each its offset, class, type
//!      other (4)     size in bytes
//! ```
//! The chunk is the significant bits of all numbers, the most significant of each first, one after
//! the other; what is of another class is stored whole. The bits left out are zero.

use crate::bits::{BitReader, BitWriter};
use crate::error::ErrorKind;
use crate::uninit::{Output, reserve};

const ATOMIC: u32 = 1;
const ARRAY: u32 = 2;
const COMPOUND: u32 = 3;
const OTHER: u32 = 4;

const BIG_ENDIAN: u32 = 1;

/// Types within types. Real ones have a handful; the bound keeps damaged ones off the stack's end.
const MAX_DEPTH: u32 = 32;

/// Where the description of the element's type begins, with its class.
const TYPE: usize = 3;

/// Restores the elements of a chunk.
pub(crate) fn decode(
    parameters: &[u32],
    input: &[u8],
    output: &mut Output<'_>,
) -> Result<(), ErrorKind> {
    let Some((elements, element)) = described(parameters)? else {
        return output.extend(input);
    };
    let Some(len) = elements.checked_mul(element.size) else {
        return Err(output.overflow());
    };
    let decoded = output.extend_zeroed(len)?;
    let mut bits = BitReader::new(input);
    for place in decoded.chunks_exact_mut(element.size) {
        element.unpack(&mut bits, place).ok_or(ErrorKind::Corrupt {
            what: "the elements are cut off",
            at_byte: bits.at_byte(),
        })?;
    }
    Ok(())
}

/// Packs the elements of a chunk.
pub(crate) fn encode(
    parameters: &[u32],
    input: &[u8],
    output: &mut Vec<u8>,
) -> Result<(), ErrorKind> {
    reserve(output, input.len())?;
    let Some((elements, element)) = described(parameters)? else {
        output.extend_from_slice(input);
        return Ok(());
    };
    if elements.checked_mul(element.size) != Some(input.len()) {
        let expected_bytes = elements.saturating_mul(element.size);
        return Err(ErrorKind::Length { expected_bytes, decoded_bytes: input.len() });
    }
    let mut bits = BitWriter::new(output);
    for place in input.chunks_exact(element.size) {
        element.pack(place, &mut bits);
    }
    bits.finish();
    Ok(())
}

/// The number of elements and their type; `None` where the filter does nothing.
fn described(parameters: &[u32]) -> Result<Option<(usize, Type)>, ErrorKind> {
    let mut cursor = Parameters { all: parameters, next: 1 };
    if cursor.take()? != 0 {
        return Ok(None);
    }
    let elements = cursor.take()? as usize;
    debug_assert_eq!(cursor.next, TYPE);
    let class = cursor.take()?;
    let element = Type::decode(class, &mut cursor, MAX_DEPTH)?;
    Ok(Some((elements, element)))
}

/// Reads parameters in order.
struct Parameters<'a> {
    all: &'a [u32],
    next: usize,
}

impl Parameters<'_> {
    fn take(&mut self) -> Result<u32, ErrorKind> {
        let index = self.next;
        let value = self.all.get(index).ok_or(ErrorKind::MissingParameter { index })?;
        self.next += 1;
        Ok(*value)
    }

    /// The error of the parameter taken last.
    fn wrong(&self) -> ErrorKind {
        let index = self.next.saturating_sub(1);
        ErrorKind::Parameter { index, value: self.all.get(index).copied().unwrap_or(0) }
    }
}

/// A type of `size` bytes, never 0.
struct Type {
    size: usize,
    class: Class,
}

enum Class {
    /// The bits from `low_bit` up to, not with, `high_bit`.
    Atomic {
        big_endian: bool,
        low_bit: usize,
        high_bit: usize,
    },
    Array {
        base: Box<Type>,
    },
    /// Members with their offsets in bytes; they lie within the compound.
    Compound {
        members: Vec<(usize, Type)>,
    },
    Other,
}

impl Type {
    fn decode(class: u32, from: &mut Parameters<'_>, depth: u32) -> Result<Self, ErrorKind> {
        if !(ATOMIC..=OTHER).contains(&class) || depth == 0 {
            return Err(from.wrong());
        }
        let size = from.take()? as usize;
        if size == 0 {
            return Err(from.wrong());
        }
        let class = match class {
            ATOMIC => Self::decode_atomic(size, from)?,
            ARRAY => {
                let base_class = from.take()?;
                let base = Self::decode(base_class, from, depth - 1)?;
                // Arrays of other things are stored whole, whatever their base type's size says.
                if matches!(base.class, Class::Other) {
                    Class::Other
                } else {
                    Class::Array { base: Box::new(base) }
                }
            }
            COMPOUND => Self::decode_compound(size, from, depth - 1)?,
            _ => Class::Other,
        };
        Ok(Self { size, class })
    }

    fn decode_atomic(size: usize, from: &mut Parameters<'_>) -> Result<Class, ErrorKind> {
        let big_endian = from.take()? == BIG_ENDIAN;
        let precision = from.take()? as usize;
        if precision == 0 {
            return Err(from.wrong());
        }
        let low_bit = from.take()? as usize;
        match low_bit.checked_add(precision) {
            Some(high_bit) if high_bit <= size.saturating_mul(8) => {
                Ok(Class::Atomic { big_endian, low_bit, high_bit })
            }
            _ => Err(from.wrong()),
        }
    }

    fn decode_compound(
        size: usize,
        from: &mut Parameters<'_>,
        depth: u32,
    ) -> Result<Class, ErrorKind> {
        let count = from.take()?;
        let mut members = Vec::new();
        // Members may not overlap, so that work is bounded by the size; checked by their sum.
        let mut left = size;
        for _ in 0..count {
            let offset = from.take()? as usize;
            let class = from.take()?;
            let member = Self::decode(class, from, depth)?;
            left = left.checked_sub(member.size).ok_or_else(|| from.wrong())?;
            if offset.checked_add(member.size).is_none_or(|end| end > size) {
                return Err(from.wrong());
            }
            members.push((offset, member));
        }
        Ok(Class::Compound { members })
    }

    /// Fills `place`, which has `self.size` zeros. `None` where the bits run out.
    fn unpack(&self, bits: &mut BitReader<'_>, place: &mut [u8]) -> Option<()> {
        match &self.class {
            Class::Atomic { big_endian, low_bit, high_bit } => {
                unpack_atomic(bits, place, *big_endian, *low_bit, *high_bit)
            }
            Class::Array { base } => {
                place.chunks_exact_mut(base.size).try_for_each(|item| base.unpack(bits, item))
            }
            Class::Compound { members } => members.iter().try_for_each(|(offset, member)| {
                member.unpack(bits, place.get_mut(*offset..)?.get_mut(..member.size)?)
            }),
            Class::Other => place.iter_mut().try_for_each(|byte| {
                *byte = bits.take(8)? as u8;
                Some(())
            }),
        }
    }

    /// Puts the bits of `element`, which has `self.size` bytes.
    fn pack(&self, element: &[u8], bits: &mut BitWriter<'_>) {
        match &self.class {
            Class::Atomic { big_endian, low_bit, high_bit } => {
                for (byte, low, high) in bytes_of_bits(*low_bit, *high_bit) {
                    let at = if *big_endian { element.len() - 1 - byte } else { byte };
                    bits.put(u64::from(element[at]) >> low, high - low);
                }
            }
            Class::Array { base } => {
                element.chunks_exact(base.size).for_each(|item| base.pack(item, bits));
            }
            Class::Compound { members } => {
                for (offset, member) in members {
                    member.pack(&element[*offset..offset + member.size], bits);
                }
            }
            Class::Other => element.iter().for_each(|&byte| bits.put(byte.into(), 8)),
        }
    }
}

/// Fills one number, byte by byte from the most significant one.
fn unpack_atomic(
    bits: &mut BitReader<'_>,
    place: &mut [u8],
    big_endian: bool,
    low_bit: usize,
    high_bit: usize,
) -> Option<()> {
    for (byte, low, high) in bytes_of_bits(low_bit, high_bit) {
        let value = bits.take(high - low)? << low;
        let at = if big_endian { place.len() - 1 - byte } else { byte };
        *place.get_mut(at)? = value as u8;
    }
    Some(())
}

/// The bytes of a number that hold its bits from `low_bit` to `high_bit`, the most significant byte
/// first, and which of their bits these are.
fn bytes_of_bits(low_bit: usize, high_bit: usize) -> impl Iterator<Item = (usize, u32, u32)> {
    (low_bit / 8..high_bit.div_ceil(8)).rev().map(move |byte| {
        let low = low_bit.saturating_sub(byte * 8);
        let high = (high_bit - byte * 8).min(8);
        (byte, low as u32, high as u32)
    })
}
