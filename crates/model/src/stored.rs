//! How one element lies in the file.

/// The layout of one element as the file (or a decoded chunk) holds it.
#[derive(Debug, Clone, PartialEq)]
pub enum StoredType {
    /// A signed integer of 1, 2, 4 or 8 bytes.
    Int { size: usize, big_endian: bool },
    /// An unsigned integer of 1, 2, 4 or 8 bytes.
    UInt { size: usize, big_endian: bool },
    /// An IEEE float of 4 or 8 bytes.
    Float { size: usize, big_endian: bool },
    /// netCDF's char: one byte.
    Char,
    /// Bytes of one element as they stand; `reversed` where the last byte is the lowest.
    Bytes { size: usize, reversed: bool },
    /// A fixed-length string that is shown as a string: cut at the first zero byte for
    /// null-terminated and null-padded ones, trailing blanks removed for space-padded ones.
    FixedString { size: usize, space_padded: bool },
    /// A reference to a variable-length string in a heap; `size` bytes of reference.
    VarString { size: usize },
    /// A reference to a variable-length sequence in a heap; `size` bytes of reference.
    Sequence { size: usize, base: Box<StoredType> },
    /// Members at their offsets in an element of `size` bytes.
    Compound { size: usize, members: Vec<StoredMember> },
    /// `len` elements after one another.
    Array { len: usize, base: Box<StoredType> },
}

/// A member of a stored compound.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredMember {
    /// The member's name.
    pub name: String,
    /// Bytes from the start of the element in the file.
    pub offset: usize,
    /// How the member lies there.
    pub stored: StoredType,
}

/// Where references to variable-length data are looked up (HDF5's global heaps).
pub trait Heap {
    /// Why a look-up failed.
    type Error;
    /// The element count and the bytes that `reference` (as it lies in the file) refers to;
    /// `None` is a null reference. `element_size` is that of the stored base type, 1 for strings.
    fn look_up(
        &self,
        reference: &[u8],
        element_size: usize,
    ) -> Result<Option<(u64, Vec<u8>)>, Self::Error>;
}
