//! The values a read returns, column by column.

mod construct;
mod kind;

use std::ops::Range;

use crate::byte_order;
use crate::data_type::Atomic;
use crate::number::Number;

pub use kind::Kind;

/// Elements in row-major order. Members of compounds stand in columns of their own, so numbers
/// are always slices of numbers.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum Values {
    I8(Vec<i8>),
    U8(Vec<u8>),
    I16(Vec<i16>),
    U16(Vec<u16>),
    I32(Vec<i32>),
    U32(Vec<u32>),
    I64(Vec<i64>),
    U64(Vec<u64>),
    F32(Vec<f32>),
    F64(Vec<f64>),
    /// netCDF's char: one byte each.
    Char(Vec<u8>),
    /// Strings without their terminating zero; `None` is a null pointer. Not always UTF-8.
    String(Vec<Option<Box<[u8]>>>),
    /// Elements of `size` bytes each: opaque, HDF5 fixed strings, and numbers for which there is
    /// no Rust type (little-endian then).
    Bytes {
        size: usize,
        bytes: Vec<u8>,
    },
    /// `count` elements; each member is a column of `count` elements, of [`Values::Array`] where
    /// one element holds several.
    Compound {
        count: usize,
        members: Vec<(String, Values)>,
    },
    /// `count` arrays of `len` elements each, one after the other.
    Array {
        len: usize,
        count: usize,
        elements: Box<Values>,
    },
    /// One sequence for each element.
    Sequence(Vec<Values>),
}

/// Applies one expression to the vector of any variant that holds plain numbers or chars.
macro_rules! for_plain {
    ($values:expr, $numbers:ident => $plain:expr, $($rest:tt)*) => {
        match $values {
            Values::I8($numbers) => $plain,
            Values::U8($numbers) | Values::Char($numbers) => $plain,
            Values::I16($numbers) => $plain,
            Values::U16($numbers) => $plain,
            Values::I32($numbers) => $plain,
            Values::U32($numbers) => $plain,
            Values::I64($numbers) => $plain,
            Values::U64($numbers) => $plain,
            Values::F32($numbers) => $plain,
            Values::F64($numbers) => $plain,
            $($rest)*
        }
    };
}

impl Values {
    /// How many elements.
    pub fn len(&self) -> usize {
        for_plain!(self, numbers => numbers.len(),
            Self::String(strings) => strings.len(),
            Self::Bytes { size, bytes } => bytes.len().checked_div(*size).unwrap_or(0),
            Self::Compound { count, .. } | Self::Array { count, .. } => *count,
            Self::Sequence(sequences) => sequences.len(),
        )
    }

    /// True where there is no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// netCDF's own type of these values; `None` for those of user-defined and foreign types.
    pub fn atomic(&self) -> Option<Atomic> {
        match self.kind() {
            Kind::Number(atomic) => Some(atomic),
            Kind::Char => Some(Atomic::Char),
            Kind::String => Some(Atomic::String),
            Kind::Bytes { .. } | Kind::Compound | Kind::Array { .. } | Kind::Sequence => None,
        }
    }

    /// The numbers, if they are of type `T`.
    pub fn as_slice<T: Number>(&self) -> Option<&[T]> {
        T::slice_of(self)
    }

    /// The text of one string, or of all chars together; `None` for anything else, for a null
    /// pointer, and where the bytes are not UTF-8.
    pub fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(self.as_text()?).ok()
    }

    /// The bytes of one string, or of all chars together; `None` for anything else and for a null
    /// pointer.
    pub fn as_text(&self) -> Option<&[u8]> {
        match self {
            Self::Char(chars) => Some(chars),
            Self::String(strings) => match &strings[..] {
                [Some(string)] => Some(string),
                _ => None,
            },
            _ => None,
        }
    }

    /// The memory of numbers, chars and bytes as it stands, in the machine's byte order; `None` for
    /// strings and for user-defined types with members or lengths.
    pub fn native_bytes(&self) -> Option<&[u8]> {
        for_plain!(self, numbers => Some(bytemuck::cast_slice(numbers)),
            Self::Bytes { bytes, .. } => Some(bytes),
            Self::String(_) | Self::Compound { .. } | Self::Array { .. } | Self::Sequence(_) => None,
        )
    }

    /// The same memory, to be written to.
    pub fn native_bytes_mut(&mut self) -> Option<&mut [u8]> {
        for_plain!(self, numbers => Some(bytemuck::cast_slice_mut(numbers)),
            Self::Bytes { bytes, .. } => Some(bytes),
            Self::String(_) | Self::Compound { .. } | Self::Array { .. } | Self::Sequence(_) => None,
        )
    }

    /// The elements of a range, cut to those that there are.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Self {
        let end = range.end.min(self.len());
        let range = range.start.min(end)..end;
        self.rebuild(&mut Slice(range))
    }

    /// All elements `times` times over, one round after the other: with one element, a fill. The
    /// caller has made sure that so many fit into memory.
    #[must_use]
    pub fn repeat(&self, times: usize) -> Self {
        self.rebuild(&mut Repeat(times))
    }

    fn rebuild(&self, rule: &mut impl Rebuild) -> Self {
        match self {
            Self::I8(numbers) => Self::I8(rule.column(numbers)),
            Self::U8(numbers) => Self::U8(rule.column(numbers)),
            Self::I16(numbers) => Self::I16(rule.column(numbers)),
            Self::U16(numbers) => Self::U16(rule.column(numbers)),
            Self::I32(numbers) => Self::I32(rule.column(numbers)),
            Self::U32(numbers) => Self::U32(rule.column(numbers)),
            Self::I64(numbers) => Self::I64(rule.column(numbers)),
            Self::U64(numbers) => Self::U64(rule.column(numbers)),
            Self::F32(numbers) => Self::F32(rule.column(numbers)),
            Self::F64(numbers) => Self::F64(rule.column(numbers)),
            Self::Char(chars) => Self::Char(rule.column(chars)),
            Self::String(strings) => Self::String(rule.column(strings)),
            Self::Sequence(sequences) => Self::Sequence(rule.column(sequences)),
            Self::Bytes { size, bytes } => {
                Self::Bytes { size: *size, bytes: rule.widened(*size).column(bytes) }
            }
            Self::Compound { count, members } => Self::Compound {
                count: rule.count(*count),
                members: members
                    .iter()
                    .map(|(name, column)| (name.clone(), column.rebuild(rule)))
                    .collect(),
            },
            Self::Array { len, count, elements } => Self::Array {
                len: *len,
                count: rule.count(*count),
                elements: Box::new(elements.rebuild(&mut rule.widened(*len))),
            },
        }
    }

    /// Hands the canonical bytes of all elements, row by row, to `sink` in as few pieces as it
    /// takes: numbers with the least significant byte first, a string as its byte count in 32 bits
    /// and its bytes, a compound as its members with nothing between them, a sequence as its
    /// element count in 32 bits and its elements. The digests of the corpus are made of these.
    pub fn canonical_into(&self, sink: &mut impl FnMut(&[u8])) {
        self.canonical_range_into(0..self.len(), sink);
    }

    /// The same for the elements of a range, cut to those that there are.
    pub fn canonical_range_into(&self, range: Range<usize>, sink: &mut impl FnMut(&[u8])) {
        let end = range.end.min(self.len());
        let mut gathered = Gathered { pending: Vec::new(), sink };
        self.canonical(range.start.min(end)..end, &mut gathered);
        gathered.flush();
    }

    /// The canonical bytes of all elements.
    pub fn canonical_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.canonical_into(&mut |piece| bytes.extend_from_slice(piece));
        bytes
    }

    fn canonical(&self, range: Range<usize>, to: &mut Gathered<'_>) {
        for_plain!(self, numbers => to.put_numbers(numbers.get(range).unwrap_or_default()),
            Self::Bytes { size, bytes } => {
                to.put(bytes.get(range.start * size..range.end * size).unwrap_or_default());
            }
            Self::String(strings) => {
                for string in strings.get(range).unwrap_or_default() {
                    let bytes = string.as_deref().unwrap_or_default();
                    to.put_count(bytes.len());
                    to.put(bytes);
                }
            }
            Self::Sequence(sequences) => {
                for sequence in sequences.get(range).unwrap_or_default() {
                    to.put_count(sequence.len());
                    sequence.canonical(0..sequence.len(), to);
                }
            }
            Self::Array { len, elements, .. } => {
                elements.canonical(range.start * len..range.end * len, to);
            }
            Self::Compound { members, .. } => {
                for row in range {
                    for (_, column) in members {
                        column.canonical(row..row + 1, to);
                    }
                }
            }
        );
    }
}

/// How a column becomes another; the columns inside an element of it by the widened rule.
trait Rebuild: Sized {
    fn column<T: Clone>(&mut self, column: &[T]) -> Vec<T>;
    fn count(&self, count: usize) -> usize;
    fn widened(&self, len: usize) -> Self;
}

struct Slice(Range<usize>);

impl Rebuild for Slice {
    fn column<T: Clone>(&mut self, column: &[T]) -> Vec<T> {
        column.get(self.0.clone()).unwrap_or_default().to_vec()
    }

    fn count(&self, _count: usize) -> usize {
        self.0.len()
    }

    fn widened(&self, len: usize) -> Self {
        Self(self.0.start * len..self.0.end * len)
    }
}

struct Repeat(usize);

impl Rebuild for Repeat {
    fn column<T: Clone>(&mut self, column: &[T]) -> Vec<T> {
        match column {
            [only] => vec![only.clone(); self.0],
            _ => std::iter::repeat_n(column, self.0).flatten().cloned().collect(),
        }
    }

    fn count(&self, count: usize) -> usize {
        count * self.0
    }

    fn widened(&self, _len: usize) -> Self {
        Self(self.0)
    }
}

/// Collects small pieces, so that the sink is not called for every member of every row.
struct Gathered<'a> {
    pending: Vec<u8>,
    sink: &'a mut dyn FnMut(&[u8]),
}

impl Gathered<'_> {
    const PIECE_BYTES: usize = 16 << 10;

    fn put(&mut self, bytes: &[u8]) {
        if self.pending.len() + bytes.len() > Self::PIECE_BYTES {
            self.flush();
        }
        if bytes.len() >= Self::PIECE_BYTES {
            (self.sink)(bytes);
        } else {
            self.pending.extend_from_slice(bytes);
        }
    }

    fn put_count(&mut self, count: usize) {
        // The form has 32 bits for it; netCDF's own limit is lower.
        self.put(&(count as u32).to_le_bytes());
    }

    fn put_numbers<T: bytemuck::Pod>(&mut self, numbers: &[T]) {
        let bytes: &[u8] = bytemuck::cast_slice(numbers);
        if cfg!(target_endian = "little") {
            return self.put(bytes);
        }
        let mut swapped = vec![0; bytes.len()];
        byte_order::swap_copy(bytes, &mut swapped, size_of::<T>());
        self.put(&swapped);
    }

    fn flush(&mut self) {
        if !self.pending.is_empty() {
            (self.sink)(&self.pending);
            self.pending.clear();
        }
    }
}

#[cfg(test)]
mod tests;
