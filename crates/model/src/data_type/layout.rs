//! Where a C compiler puts the members of a structure.

use super::{Atomic, DataType, Field, UserClass};

/// Bytes of a sequence in a C program's memory: a length and a pointer.
pub const SEQUENCE_BYTES: usize = 16;

/// Bytes of a string in a C program's memory: a pointer.
const POINTER_BYTES: usize = 8;

/// Bytes of an element in a C program's memory, and of what its address is a multiple.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Layout {
    pub size: usize,
    pub alignment: usize,
}

impl DataType {
    /// How an element lies in a C program's memory.
    pub fn layout(&self) -> Layout {
        let same = |bytes| Layout { size: bytes, alignment: bytes };
        match self {
            Self::Atomic(Atomic::String) => same(POINTER_BYTES),
            Self::Atomic(atomic) => same(atomic.size()),
            Self::SmallFloat(_) => same(Atomic::Float.size()),
            Self::Foreign(foreign) => Layout { size: foreign.size, alignment: 1 },
            Self::User(user) => match &user.class {
                UserClass::Opaque => Layout { size: user.size, alignment: 1 },
                UserClass::Vlen(_) => Layout { size: user.size, alignment: POINTER_BYTES },
                UserClass::Enum { base, .. } => same(base.size()),
                UserClass::Compound(fields) => {
                    let alignments = fields.iter().map(|field| field.data_type.layout().alignment);
                    Layout { size: user.size, alignment: alignments.max().unwrap_or(1) }
                }
            },
        }
    }
}

/// Gives the members of a structure their offsets; returns the size of the whole. What is beyond
/// all memory is `usize::MAX`.
pub fn place(fields: &mut [Field]) -> usize {
    let (mut end, mut alignment) = (0_usize, 1);
    for field in fields {
        let layout = field.data_type.layout();
        field.offset = end.checked_next_multiple_of(layout.alignment).unwrap_or(usize::MAX);
        let size = field.shape.iter().fold(layout.size, |size, &len| size.saturating_mul(len));
        end = field.offset.saturating_add(size);
        alignment = alignment.max(layout.alignment);
    }
    end.checked_next_multiple_of(alignment).unwrap_or(usize::MAX)
}

impl Field {
    /// A member with one element, to be [placed](place).
    pub fn new(name: impl Into<String>, data_type: impl Into<DataType>) -> Self {
        Self { name: name.into(), offset: 0, data_type: data_type.into(), shape: Vec::new() }
    }

    /// The same with elements of that shape.
    #[must_use]
    pub fn with_shape(self, shape: impl Into<Vec<usize>>) -> Self {
        Self { shape: shape.into(), ..self }
    }
}
