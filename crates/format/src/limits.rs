//! Every bound on depth, count and size, with its reason.
//!
//! Bytes from a file never decide alone how much memory or time is spent: each count that is read
//! is held against what the structure can truly need, and against these.

/// Dimensions of a data space. The format has one byte for the rank; the libraries allow 32.
pub const RANK: u64 = 32;
/// Nesting of a data type (compounds in arrays in compounds). Real files stay below 10.
pub const DATATYPE_DEPTH: u32 = 64;
/// Continuation blocks of one object header. Real files with 10,000 attributes have some hundreds.
pub const HEADER_CONTINUATIONS: u64 = 65_536;
/// Levels of a B-tree. With two children to a node, 64 levels hold more than any file can.
pub const BTREE_DEPTH: u32 = 64;
