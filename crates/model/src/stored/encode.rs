//! Columns of values into elements as they lie in the file: the inverse of decoding.

use std::fmt;

use super::{NoHeap, StoredMember, StoredType, TypeFault};
use crate::byte_order;
use crate::convert::{RangeReport, Rules, convert};
use crate::values::{Kind, Values};

/// Where variable-length data goes: the counterpart of [`Heap`](super::Heap).
pub trait HeapWriter {
    /// Why data could not be kept.
    type Error;

    /// Keeps `bytes`, which are `element_count` elements, and appends to `into` the
    /// `reference_size` bytes that refer to them. No elements are not a null reference: an empty
    /// string is one.
    fn put(
        &mut self,
        element_count: u64,
        bytes: &[u8],
        reference_size: usize,
        into: &mut Vec<u8>,
    ) -> Result<(), Self::Error>;

    /// Appends a null reference of `reference_size` bytes; HDF5's are zeros.
    fn put_null(&mut self, reference_size: usize, into: &mut Vec<u8>) {
        into.resize(into.len() + reference_size, 0);
    }
}

/// Whatever is kept here is lost: for values that refer to nothing.
impl HeapWriter for NoHeap {
    type Error = std::convert::Infallible;

    fn put(
        &mut self,
        _element_count: u64,
        _bytes: &[u8],
        reference_size: usize,
        into: &mut Vec<u8>,
    ) -> Result<(), Self::Error> {
        self.put_null(reference_size, into);
        Ok(())
    }
}

/// Why values could not be encoded.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum EncodeError<E> {
    /// The heap did not take something.
    Heap(E),
    /// No element can be of the stored type.
    Type(TypeFault),
    /// Values of one kind for elements of another.
    Kind { given: Kind, stored: Kind },
    /// A text is longer than the room for it, which does not grow.
    TextTooLong { text_bytes: usize, room_bytes: usize },
    /// The values have no column for a member of the stored compound.
    MissingMember { name: String },
    /// The stored compound has no member for a column of the values.
    UnknownMember { name: String },
    /// Part of the values (a compound's column, arrays' elements) does not have the elements that
    /// the whole says it has.
    Ragged { expected_count: usize, found_count: usize },
}

impl StoredType {
    /// Appends `values` to `into` as elements of this type. Numbers of another type are converted by
    /// `rules`; the report counts those that did not fit.
    ///
    /// A compound's columns are found by name, what lies between its members is zeros. Texts are
    /// cut at their first zero byte, as C's are, and filled up where the room is fixed: with
    /// blanks or zeros for [`StoredType::FixedString`], with zeros for arrays of chars. Sequences
    /// without elements are null references.
    ///
    /// # Errors
    /// [`EncodeError`]; `into` is then as it was. What was put into the heap is still there.
    pub fn encode<H: HeapWriter + ?Sized>(
        &self,
        values: &Values,
        rules: Rules,
        heap: &mut H,
        into: &mut Vec<u8>,
    ) -> Result<RangeReport, EncodeError<H::Error>> {
        let size = self.checked_size().map_err(EncodeError::Type)?;
        if size == 0 && values.len() > 1 {
            return Err(EncodeError::Type(TypeFault::NoSize));
        }
        let start = into.len();
        let mut encoder = Encoder { heap, rules, report: RangeReport::default() };
        match encoder.encode(self, values, into) {
            Ok(()) => Ok(encoder.report),
            Err(error) => {
                into.truncate(start);
                Err(error)
            }
        }
    }

    /// What kind of values its elements are.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Char => Kind::Char,
            Self::Bytes { size, .. } => Kind::Bytes { size: *size },
            Self::FixedString { .. } | Self::VarString { .. } => Kind::String,
            Self::Sequence { .. } => Kind::Sequence,
            Self::Compound { .. } => Kind::Compound,
            Self::Array { len, .. } => Kind::Array { len: *len },
            Self::Int { .. }
            | Self::UInt { .. }
            | Self::PartialInt(_)
            | Self::PartialFloat(_)
            | Self::Float { .. } => {
                // Numbers of other sizes are none that could be encoded.
                self.number().map_or(Kind::Bytes { size: self.size() }, Kind::Number)
            }
        }
    }
}

struct Encoder<'a, H: ?Sized> {
    heap: &'a mut H,
    rules: Rules,
    report: RangeReport,
}

type Encoded<E> = Result<(), EncodeError<E>>;

impl<H: HeapWriter + ?Sized> Encoder<'_, H> {
    fn encode(
        &mut self,
        stored: &StoredType,
        values: &Values,
        into: &mut Vec<u8>,
    ) -> Encoded<H::Error> {
        match (stored, values) {
            (StoredType::Char, Values::Char(chars)) => into.extend_from_slice(chars),
            (StoredType::Bytes { size, reversed }, Values::Bytes { size: given, bytes })
                if size == given =>
            {
                let start = into.len();
                into.extend_from_slice(&bytes[..values.len() * size]);
                if *reversed {
                    byte_order::swap_in_place(&mut into[start..], *size);
                }
            }
            (StoredType::FixedString { size, space_padded }, Values::String(strings)) => {
                let padding = if *space_padded { b' ' } else { 0 };
                put_texts(strings, *size, padding, into)?;
            }
            (StoredType::VarString { size }, Values::String(strings)) => {
                self.strings(strings, *size, into)?;
            }
            (StoredType::Sequence { size, base }, Values::Sequence(sequences)) => {
                for sequence in sequences {
                    self.sequence(base, sequence, *size, into)?;
                }
            }
            (
                StoredType::Compound { size, members },
                Values::Compound { count, members: columns },
            ) => {
                self.compound(*size, members, *count, columns, into)?;
            }
            (StoredType::Array { len, base }, Values::Array { len: given, count, elements })
                if len == given =>
            {
                same_count(count.saturating_mul(*len), elements.len())?;
                self.encode(base, elements, into)?;
            }
            (StoredType::Array { len, base }, Values::String(strings))
                if **base == StoredType::Char =>
            {
                put_texts(strings, *len, 0, into)?;
            }
            _ => return self.numbers(stored, values, into),
        }
        Ok(())
    }

    /// Numbers for numbers; there is nothing else left that could be encoded.
    fn numbers(
        &mut self,
        stored: &StoredType,
        values: &Values,
        into: &mut Vec<u8>,
    ) -> Encoded<H::Error> {
        let kinds = EncodeError::Kind { given: values.kind(), stored: stored.kind() };
        let (Kind::Number(from), Kind::Number(to)) = (values.kind(), stored.kind()) else {
            return Err(kinds);
        };
        let source = values.native_bytes().unwrap_or_default();
        if let StoredType::PartialFloat(float) = stored {
            let mut whole = vec![0; values.len() * to.size()];
            let report = convert(source, from, &mut whole, to, self.rules).map_err(|_| kinds)?;
            self.report.add(report);
            self.report.out_of_range_count += float.pack(&whole, into);
            return Ok(());
        }
        let start = into.len();
        into.resize(start + values.len() * to.size(), 0);
        let target = &mut into[start..];
        let report = convert(source, from, target, to, self.rules).map_err(|_| kinds)?;
        self.report.add(report);
        self.report.out_of_range_count += stored.native_order().undo(target);
        Ok(())
    }

    fn strings(
        &mut self,
        strings: &[Option<Box<[u8]>>],
        reference_size: usize,
        into: &mut Vec<u8>,
    ) -> Encoded<H::Error> {
        for string in strings {
            let Some(string) = string else {
                self.heap.put_null(reference_size, into);
                continue;
            };
            let text = c_text(string);
            self.put(text.len() as u64, text, reference_size, into)?;
        }
        Ok(())
    }

    fn sequence(
        &mut self,
        base: &StoredType,
        sequence: &Values,
        reference_size: usize,
        into: &mut Vec<u8>,
    ) -> Encoded<H::Error> {
        if sequence.is_empty() {
            self.heap.put_null(reference_size, into);
            return Ok(());
        }
        let mut bytes = Vec::new();
        self.encode(base, sequence, &mut bytes)?;
        self.put(sequence.len() as u64, &bytes, reference_size, into)
    }

    fn put(
        &mut self,
        count: u64,
        bytes: &[u8],
        reference_size: usize,
        into: &mut Vec<u8>,
    ) -> Encoded<H::Error> {
        self.heap.put(count, bytes, reference_size, into).map_err(EncodeError::Heap)
    }

    fn compound(
        &mut self,
        size: usize,
        members: &[StoredMember],
        count: usize,
        columns: &[(String, Values)],
        into: &mut Vec<u8>,
    ) -> Encoded<H::Error> {
        // The columns first: they prove the count, by which memory is taken.
        let mut parts = Vec::with_capacity(members.len());
        for (place, member) in members.iter().enumerate() {
            let column = find_column(columns, place, &member.name)
                .ok_or_else(|| EncodeError::MissingMember { name: member.name.clone() })?;
            same_count(count, column.len())?;
            let mut bytes = Vec::new();
            self.encode(&member.stored, column, &mut bytes)?;
            parts.push((member, bytes));
        }
        let start = into.len();
        let total = size.checked_mul(count).and_then(|total| total.checked_add(start));
        into.resize(total.ok_or(EncodeError::Type(TypeFault::TooLarge))?, 0);
        for (member, bytes) in parts {
            let rows = into[start..].chunks_exact_mut(size);
            for (row, part) in rows.zip(bytes.chunks_exact(member.stored.size())) {
                row[member.offset..][..part.len()].copy_from_slice(part);
            }
        }
        let is_unknown = |name: &String| !members.iter().any(|member| member.name == *name);
        match columns.iter().map(|(name, _)| name).find(|name| is_unknown(name)) {
            Some(name) => Err(EncodeError::UnknownMember { name: name.clone() }),
            None => Ok(()),
        }
    }
}

/// The column of that name, which is most often the one at that place.
fn find_column<'a>(
    columns: &'a [(String, Values)],
    place: usize,
    name: &str,
) -> Option<&'a Values> {
    let here = columns.get(place).filter(|column| column.0 == name);
    here.or_else(|| columns.iter().find(|column| column.0 == name)).map(|(_, column)| column)
}

fn same_count<E>(expected_count: usize, found_count: usize) -> Encoded<E> {
    if expected_count == found_count {
        return Ok(());
    }
    Err(EncodeError::Ragged { expected_count, found_count })
}

/// Texts in rooms of the same size; a null pointer is an empty text.
fn put_texts<E>(
    texts: &[Option<Box<[u8]>>],
    room_bytes: usize,
    padding: u8,
    into: &mut Vec<u8>,
) -> Encoded<E> {
    for text in texts {
        let text = c_text(text.as_deref().unwrap_or_default());
        let Some(free_bytes) = room_bytes.checked_sub(text.len()) else {
            return Err(EncodeError::TextTooLong { text_bytes: text.len(), room_bytes });
        };
        into.extend_from_slice(text);
        into.resize(into.len() + free_bytes, padding);
    }
    Ok(())
}

fn c_text(bytes: &[u8]) -> &[u8] {
    bytes.split(|&byte| byte == 0).next().unwrap_or_default()
}

impl<E: fmt::Display> fmt::Display for EncodeError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Heap(error) => error.fmt(f),
            Self::Type(fault) => fault.fmt(f),
            Self::Kind { given, stored } => {
                write!(f, "{given} cannot be written as {stored}")
            }
            Self::TextTooLong { text_bytes, room_bytes } => {
                write!(f, "a text of {text_bytes} bytes does not fit {room_bytes} bytes")
            }
            Self::MissingMember { name } => write!(f, "there are no values for the member {name}"),
            Self::UnknownMember { name } => write!(f, "the type has no member {name}"),
            Self::Ragged { expected_count, found_count } => write!(
                f,
                "part of the values has {found_count} elements where the whole has {expected_count}"
            ),
        }
    }
}

impl<E: fmt::Debug + fmt::Display> std::error::Error for EncodeError<E> {}
