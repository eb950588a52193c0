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
/// Bytes of one direct block of a fractal heap. The libraries write 64 KiB and allow 2 GiB.
pub const HEAP_BLOCK_BYTES: u64 = 1 << 31;
/// Columns of a fractal heap's doubling table. The field has 16 bits; the libraries write 4 or 8,
/// and a block row of more would only make every indirect block larger.
pub const HEAP_TABLE_WIDTH: u64 = 1 << 15;
/// Bytes of one version-2 B-tree node. The libraries write 512 to 4,096.
pub const BTREE_NODE_BYTES: u64 = 1 << 26;
/// Indexes of shared object header messages in one file: the libraries allow 8.
pub const SHARED_MESSAGE_INDEXES: u64 = 8;
/// Dimensions of a classic variable. The format has no bound; netCDF's API has this one
/// (`NC_MAX_VAR_DIMS`), so nothing writes more.
pub const CLASSIC_RANK: u64 = 1024;
/// Bytes of a file, and so an address in it: operating systems count them in signed 64 bits.
pub const FILE_BYTES: u64 = i64::MAX as u64;
/// Messages of one object header. Real headers with 10,000 compact attributes have as many.
pub const HEADER_MESSAGES: u64 = 1 << 20;
/// Filters of one pipeline: the libraries allow 32.
pub const FILTERS: u64 = 32;
/// Coordinates of a serialized selection, over all blocks and axes. Each stands in the bytes, so
/// only memory for eight bytes from one must be bounded: 512 MiB.
pub const SELECTION_COORDINATES: u64 = 1 << 26;
/// Bytes of one index or heap that is built whole in memory: a chunk index of 4 GiB has some 200
/// million chunks.
pub const BUILT_BYTES: u64 = 1 << 32;
/// Bytes of a chunk before any filter: the format has 32 bits for them.
pub const CHUNK_BYTES: u64 = u32::MAX as u64;
/// Bytes of a redo record, which has twice the bytes that a commit changes in place: object headers
/// and nodes of chunk indexes, some megabytes for thousands of variables.
pub const REDO_RECORD_BYTES: u64 = 1 << 30;
/// Changes in a redo record: a few for each object. Each is held against the file before it is
/// believed.
pub const REDO_RECORD_CHANGES: u64 = 1 << 22;
