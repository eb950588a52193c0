//! Elements as they lie in the file, into columns of values.
//!
//! The type comes from the file too, and may lie: it is checked as a whole before an element is
//! touched, so that every value that is made is paid for by bytes that are there.

use std::cell::Cell;
use std::fmt;

use super::{Found, Heap, StoredMember, StoredType};
use crate::byte_order;
use crate::number::Number;
use crate::values::Values;

/// Types nested deeper than this are refused: no program writes them, and decoding recurses.
const MAX_TYPE_DEPTH: usize = 64;

/// A decode may take this many times the bytes it was given out of a heap, beyond the size of the
/// heap itself: unwritten elements all share the string that is their fill value.
const HEAP_BYTES_PER_BYTE: u64 = 64;

/// Why elements could not be decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum DecodeError<E> {
    /// A look-up in the heap failed.
    Heap(E),
    /// There are fewer bytes than the elements take.
    TooShort { needed_bytes: usize, available_bytes: usize },
    /// No element can be of this type.
    Type(TypeFault),
    /// The heap's bytes are fewer than a sequence's elements take.
    Sequence { count: u64, element_size: usize, available_bytes: usize },
    /// More came out of the heap than its size justifies: its references lead to the same bytes
    /// over and over.
    HeapLimit { limit_bytes: u64 },
}

/// What is wrong with a stored type.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum TypeFault {
    /// Nested deeper than any program writes.
    TooDeep { limit: usize },
    /// A number of a size for which there is no Rust type.
    NumberSize { size: usize },
    /// A member reaches beyond its compound.
    MemberOutside { offset: usize, size: usize, compound_size: usize },
    /// Members take more bytes than their compound has: they overlap.
    MembersOverlap { compound_size: usize },
    /// Elements without bytes, of which there could be any number.
    NoSize,
    /// An element larger than memory can be.
    TooLarge,
}

impl StoredType {
    /// Decodes the first `count` elements of `bytes`.
    ///
    /// # Errors
    /// [`DecodeError`]: nothing is returned of elements one of which is bad.
    pub fn decode<H: Heap + ?Sized>(
        &self,
        bytes: &[u8],
        count: usize,
        heap: &H,
    ) -> Result<Values, DecodeError<H::Error>> {
        let size = self.checked_size().map_err(DecodeError::Type)?;
        if size == 0 && count > 1 {
            return Err(DecodeError::Type(TypeFault::NoSize));
        }
        let needed_bytes = size.saturating_mul(count);
        let Some(bytes) = bytes.get(..needed_bytes) else {
            return Err(DecodeError::TooShort { needed_bytes, available_bytes: bytes.len() });
        };
        let allowance = (bytes.len() as u64).saturating_mul(HEAP_BYTES_PER_BYTE);
        let limit = heap.size_bytes().saturating_add(allowance);
        let decoder = Decoder { heap, limit, left: Cell::new(limit) };
        decoder.decode(self, Rows { bytes, size, stride: size, count })
    }

    /// Bytes of one element, when there can be elements of this type.
    pub(super) fn checked_size(&self) -> Result<usize, TypeFault> {
        self.checked_size_at(0)
    }

    fn checked_size_at(&self, depth: usize) -> Result<usize, TypeFault> {
        if depth > MAX_TYPE_DEPTH {
            return Err(TypeFault::TooDeep { limit: MAX_TYPE_DEPTH });
        }
        match self {
            Self::Int { size, .. } | Self::UInt { size, .. } => match size {
                1 | 2 | 4 | 8 => Ok(*size),
                _ => Err(TypeFault::NumberSize { size: *size }),
            },
            Self::PartialInt(integer) if integer.is_valid() => Ok(integer.size),
            Self::PartialInt(integer) => Err(TypeFault::NumberSize { size: integer.size }),
            Self::PartialFloat(float) if float.is_valid() => Ok(float.format.size),
            Self::PartialFloat(float) => Err(TypeFault::NumberSize { size: float.format.size }),
            Self::Float { size, .. } => match size {
                4 | 8 => Ok(*size),
                _ => Err(TypeFault::NumberSize { size: *size }),
            },
            Self::Char => Ok(1),
            Self::Bytes { size, .. }
            | Self::FixedString { size, .. }
            | Self::VarString { size } => Ok(*size),
            Self::Sequence { size, base } => {
                some_size(base.checked_size_at(depth + 1)?).and(Ok(*size))
            }
            Self::Array { len, base } => some_size(base.checked_size_at(depth + 1)?)?
                .checked_mul(*len)
                .filter(|&size| isize::try_from(size).is_ok())
                .ok_or(TypeFault::TooLarge),
            Self::Compound { size, members } => {
                let mut room = *size;
                for StoredMember { offset, stored, .. } in members {
                    let member_size = some_size(stored.checked_size_at(depth + 1)?)?;
                    if offset.checked_add(member_size).is_none_or(|end| end > *size) {
                        let (offset, compound_size) = (*offset, *size);
                        let size = member_size;
                        return Err(TypeFault::MemberOutside { offset, size, compound_size });
                    }
                    room = room
                        .checked_sub(member_size)
                        .ok_or(TypeFault::MembersOverlap { compound_size: *size })?;
                }
                Ok(*size)
            }
        }
    }
}

fn some_size(size: usize) -> Result<usize, TypeFault> {
    if size == 0 { Err(TypeFault::NoSize) } else { Ok(size) }
}

/// `count` pieces of `size` bytes, `stride` bytes from the start of one to the start of the next.
#[derive(Clone, Copy)]
struct Rows<'a> {
    bytes: &'a [u8],
    size: usize,
    stride: usize,
    count: usize,
}

impl<'a> Rows<'a> {
    fn iter(self) -> impl Iterator<Item = &'a [u8]> {
        (0..self.count).map(move |row| &self.bytes[row * self.stride..][..self.size])
    }

    fn is_dense(self) -> bool {
        self.stride == self.size || self.count < 2
    }

    /// The part of each row at `offset`.
    fn part(self, offset: usize, size: usize) -> Self {
        let bytes = self.bytes.get(offset..).unwrap_or_default();
        Self { bytes, size, ..self }
    }

    fn to_vec(self) -> Vec<u8> {
        if self.is_dense() {
            return self.bytes[..self.size * self.count].to_vec();
        }
        let mut bytes = Vec::with_capacity(self.size * self.count);
        self.iter().for_each(|row| bytes.extend_from_slice(row));
        bytes
    }

    fn numbers<T: Number>(self, big_endian: bool) -> Values {
        let swaps = big_endian != cfg!(target_endian = "big");
        let number = |row: &[u8]| {
            let number: T = bytemuck::pod_read_unaligned(row);
            if swaps { number.swap_bytes() } else { number }
        };
        if self.is_dense() {
            let mut numbers = vec![T::zeroed(); self.count];
            let target: &mut [u8] = bytemuck::cast_slice_mut(&mut numbers);
            let source = &self.bytes[..target.len()];
            if swaps {
                byte_order::swap_copy(source, target, size_of::<T>());
            } else {
                target.copy_from_slice(source);
            }
            T::into_values(numbers)
        } else {
            T::into_values(self.iter().map(number).collect())
        }
    }
}

struct Decoder<'a, H: ?Sized> {
    heap: &'a H,
    limit: u64,
    left: Cell<u64>,
}

impl<H: Heap + ?Sized> Decoder<'_, H> {
    fn decode(&self, stored: &StoredType, rows: Rows<'_>) -> Result<Values, DecodeError<H::Error>> {
        Ok(match stored {
            StoredType::Int { size: 1, .. } => rows.numbers::<i8>(false),
            StoredType::Int { size: 2, big_endian } => rows.numbers::<i16>(*big_endian),
            StoredType::Int { size: 4, big_endian } => rows.numbers::<i32>(*big_endian),
            StoredType::Int { big_endian, .. } => rows.numbers::<i64>(*big_endian),
            StoredType::UInt { size: 1, .. } => rows.numbers::<u8>(false),
            StoredType::UInt { size: 2, big_endian } => rows.numbers::<u16>(*big_endian),
            StoredType::UInt { size: 4, big_endian } => rows.numbers::<u32>(*big_endian),
            StoredType::UInt { big_endian, .. } => rows.numbers::<u64>(*big_endian),
            StoredType::Float { size: 4, big_endian } => rows.numbers::<f32>(*big_endian),
            StoredType::Float { big_endian, .. } => rows.numbers::<f64>(*big_endian),
            StoredType::PartialInt(integer) => {
                let mut bytes = rows.to_vec();
                integer.unpack(&mut bytes);
                let rows = Rows { bytes: &bytes, stride: rows.size, ..rows };
                self.decode(&integer.whole(), rows)?
            }
            StoredType::PartialFloat(float) => {
                let whole = float.whole();
                let (bytes, size) = (float.unpacked(&rows.to_vec()), whole.size());
                self.decode(&whole, Rows { bytes: &bytes, size, stride: size, ..rows })?
            }
            StoredType::Char => Values::Char(rows.to_vec()),
            StoredType::Bytes { size, reversed } => {
                let mut bytes = rows.to_vec();
                if *reversed {
                    byte_order::swap_in_place(&mut bytes, *size);
                }
                Values::Bytes { size: *size, bytes }
            }
            StoredType::FixedString { space_padded, .. } => {
                let text = |row| Some(fixed_text(row, *space_padded).into());
                Values::String(rows.iter().map(text).collect())
            }
            StoredType::VarString { .. } => {
                Values::String(rows.iter().map(|row| self.string(row)).collect::<Result<_, _>>()?)
            }
            StoredType::Sequence { base, .. } => {
                let sequence = |row| self.sequence(row, base);
                Values::Sequence(rows.iter().map(sequence).collect::<Result<_, _>>()?)
            }
            StoredType::Compound { members, .. } => {
                let column = |member: &StoredMember| {
                    let part = rows.part(member.offset, member.stored.size());
                    Ok((member.name.clone(), self.decode(&member.stored, part)?))
                };
                let members = members.iter().map(column).collect::<Result<_, _>>()?;
                Values::Compound { count: rows.count, members }
            }
            StoredType::Array { len, base } => self.array(*len, base, rows)?,
        })
    }

    fn array(
        &self,
        len: usize,
        base: &StoredType,
        rows: Rows<'_>,
    ) -> Result<Values, DecodeError<H::Error>> {
        let gathered;
        let bytes = if rows.is_dense() {
            rows.bytes
        } else {
            gathered = rows.to_vec();
            &gathered
        };
        let size = base.size();
        let elements = Rows { bytes, size, stride: size, count: rows.count * len };
        let elements = Box::new(self.decode(base, elements)?);
        Ok(Values::Array { len, count: rows.count, elements })
    }

    fn string(&self, reference: &[u8]) -> Result<Option<Box<[u8]>>, DecodeError<H::Error>> {
        let Some((count, mut bytes)) = self.look_up(reference, 1)? else { return Ok(None) };
        bytes.truncate(used_bytes(count, 1, bytes.len())?);
        bytes.truncate(fixed_text(&bytes, false).len());
        Ok(Some(bytes.into()))
    }

    fn sequence(
        &self,
        reference: &[u8],
        base: &StoredType,
    ) -> Result<Values, DecodeError<H::Error>> {
        let size = base.size();
        let (count, bytes) = self.look_up(reference, size)?.unwrap_or_default();
        let used = used_bytes(count, size, bytes.len())?;
        // The type was checked: its elements have a size.
        let count = used / size.max(1);
        self.decode(base, Rows { bytes: &bytes[..used], size, stride: size, count })
    }

    fn look_up(
        &self,
        reference: &[u8],
        element_size: usize,
    ) -> Result<Option<Found>, DecodeError<H::Error>> {
        let found = self.heap.look_up(reference, element_size).map_err(DecodeError::Heap)?;
        let bytes = found.as_ref().map_or(0, |(_, bytes)| bytes.len() as u64);
        match self.left.get().checked_sub(bytes) {
            Some(left) => self.left.set(left),
            None => return Err(DecodeError::HeapLimit { limit_bytes: self.limit }),
        }
        Ok(found)
    }
}

/// The bytes that `count` elements take out of those that the heap gave.
fn used_bytes<E>(
    count: u64,
    element_size: usize,
    available: usize,
) -> Result<usize, DecodeError<E>> {
    usize::try_from(count)
        .ok()
        .and_then(|count| count.checked_mul(element_size))
        .filter(|&used| used <= available)
        .ok_or(DecodeError::Sequence { count, element_size, available_bytes: available })
}

/// What a string of fixed length says.
fn fixed_text(bytes: &[u8], space_padded: bool) -> &[u8] {
    let len = if space_padded {
        bytes.iter().rposition(|&byte| byte != b' ').map_or(0, |last| last + 1)
    } else {
        bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len())
    };
    &bytes[..len]
}

impl<E: fmt::Display> fmt::Display for DecodeError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Heap(error) => error.fmt(f),
            Self::TooShort { needed_bytes, available_bytes } => {
                write!(f, "the elements take {needed_bytes} bytes, {available_bytes} are there")
            }
            Self::Type(fault) => fault.fmt(f),
            Self::Sequence { count, element_size, available_bytes } => write!(
                f,
                "a sequence of {count} elements of {element_size} bytes has only \
                 {available_bytes} bytes in its heap"
            ),
            Self::HeapLimit { limit_bytes } => write!(
                f,
                "more than {limit_bytes} bytes came out of the heap: its references lead to the \
                 same bytes over and over"
            ),
        }
    }
}

impl<E: fmt::Debug + fmt::Display> std::error::Error for DecodeError<E> {}

impl fmt::Display for TypeFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooDeep { limit } => write!(f, "the type is nested deeper than {limit}"),
            Self::NumberSize { size } => write!(f, "no number has {size} bytes"),
            Self::MemberOutside { offset, size, compound_size } => write!(
                f,
                "a member of {size} bytes at {offset} reaches beyond its compound of \
                 {compound_size} bytes"
            ),
            Self::MembersOverlap { compound_size } => {
                write!(f, "the members of a compound of {compound_size} bytes overlap")
            }
            Self::NoSize => f.write_str("an element has no bytes"),
            Self::TooLarge => f.write_str("an element is larger than memory can be"),
        }
    }
}

impl std::error::Error for TypeFault {}
