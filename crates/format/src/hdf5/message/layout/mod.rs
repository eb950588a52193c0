//! The data layout message: where the elements of a data set are.
//!
//! ```text
//! version 1, 2
//!   0 version | rank | class | - (5) | [not compact: address (O)]
//!     length of each axis (4 each) | [compact: bytes (4) | data]
//! version 3 to 5
//!   0 version | class
//!   2 compact:    bytes (2) | data
//!     contiguous: address (O) | bytes (L)
//!     chunked 3:  rank | address (O) | length of each axis (4 each)
//!     chunked 4+: flags | rank | width W | length of each axis (W each)
//!                 index type | index parameters | address (O)
//!     virtual 4+: global heap address (O) | index (4)
//! ```
//! For chunks, the rank is one more than the data set's: the last axis is the element's bytes.
//! Specification: IV.A.2.i "The Data Layout Message".

mod decode;
mod encode;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use super::{Message, MessageType};
use crate::cursor::Cursor;
use crate::error::Result;
use crate::hdf5::{Encoding, Sizes};
use crate::output::Output;

pub(super) const NAME: &str = "data layout message";

/// Where a data set's elements are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Layout {
    /// In this message.
    Compact(Arc<[u8]>),
    /// One after another, in one place.
    Contiguous {
        /// The place; `None` while nothing was written, and for external files.
        address: Option<u64>,
        /// Bytes; `None` in versions 1 and 2, where type and shape tell.
        len_bytes: Option<u64>,
    },
    /// In chunks.
    Chunked(ChunkedLayout),
    /// In other data sets.
    Virtual {
        /// The global heap collection that holds the mappings; `None` where there are none.
        heap_address: Option<u64>,
        /// The mappings' object in the collection.
        heap_index: u32,
    },
}

/// How chunks are cut and found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkedLayout {
    /// The message's version. From version 5 on, sizes of filtered chunks in the index take the
    /// file's size of lengths; in version 4, as many bytes as the chunk's own size suggests.
    pub version: u8,
    /// Elements of a chunk along each axis of the data set; none of them is 0.
    pub chunk_shape: Vec<u64>,
    /// Bytes of an element as the message has them. Some writers err here: the datatype tells.
    pub element_bytes: u64,
    /// True where chunks that reach over the end of the data set are not filtered.
    pub edge_chunks_unfiltered: bool,
    /// What leads to the chunks.
    pub index: ChunkIndex,
    /// Where it is (for a single chunk and the implicit index: the chunks themselves); `None`
    /// while no chunk was written.
    pub address: Option<u64>,
}

/// The kinds of chunk index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChunkIndex {
    /// Version-1 B-tree.
    BtreeV1,
    /// There is only one chunk.
    Single {
        /// Bytes of the filtered chunk and the mask of filters left out; `None` for unfiltered.
        filtered: Option<FilteredChunk>,
    },
    /// All chunks stand one after another, unfiltered.
    Implicit,
    /// Fixed array.
    FixedArray {
        /// A page has two to the power of this entries.
        page_bits: u8,
    },
    /// Extensible array.
    ExtensibleArray(ExtensibleArrayParameters),
    /// Version-2 B-tree.
    BtreeV2 {
        /// Bytes of a node.
        node_bytes: u32,
        /// Full percentage at which a node is split.
        split_percent: u8,
        /// Full percentage at which nodes are merged.
        merge_percent: u8,
    },
}

/// The one chunk of a data set, filtered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FilteredChunk {
    /// Its bytes in the file.
    pub len_bytes: u64,
    /// A set bit says that the filter of that place was left out.
    pub filter_mask: u32,
}

/// The shape of an extensible array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExtensibleArrayParameters {
    /// Bits that count the greatest number of entries.
    pub max_entries_bits: u8,
    /// Entries in the index block.
    pub index_block_entries: u8,
    /// Fewest data blocks that a super block points to.
    pub super_block_min_data_blocks: u8,
    /// Fewest entries of a data block.
    pub data_block_min_entries: u8,
    /// Bits that count the entries of a data block's page.
    pub page_bits: u8,
}

impl Message for Layout {
    const TYPE: MessageType = MessageType::LAYOUT;
    const NAME: &'static str = NAME;

    fn decode_fields(cursor: &mut Cursor<'_>, sizes: Sizes) -> Result<Self> {
        decode::decode(cursor, sizes)
    }

    /// Version 3; version 4 for the newer chunk indexes, virtual data sets, and readers from 1.10
    /// on.
    fn encode_fields(&self, output: &mut Output, encoding: Encoding) -> Result<()> {
        encode::encode(output, self, encoding)
    }
}
