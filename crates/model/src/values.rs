//! The values a read returns, column by column.

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
    /// `count` elements; each member has `count` times as many elements as one element holds.
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
