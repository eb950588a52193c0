//! A [`Layout`] to bytes.

use super::decode::{
    CHUNKED, COMPACT, CONTIGUOUS, FLAG_EDGE_CHUNKS_UNFILTERED, FLAG_SINGLE_CHUNK_FILTERED, VIRTUAL,
};
use super::{ChunkIndex, ChunkedLayout, ExtensibleArrayParameters, Layout};
use crate::error::{ErrorKind, Result};
use crate::hdf5::{Encoding, OldestReader, Sizes};
use crate::limits;
use crate::output::Output;

pub(super) fn encode(output: &mut Output, layout: &Layout, encoding: Encoding) -> Result<()> {
    let version = if encoding.oldest_reader >= OldestReader::V110 { 4 } else { 3 };
    let sizes = encoding.sizes;
    match layout {
        Layout::Compact(data) => {
            output.put(&[version, COMPACT]);
            output.counted("bytes", data)
        }
        Layout::Contiguous { address, len_bytes } => {
            let Some(len_bytes) = *len_bytes else {
                let feature = "contiguous layout without its size, in version";
                let value = u64::from(version);
                return Err(output.error(ErrorKind::Unsupported { feature, value }));
            };
            output.put(&[version, CONTIGUOUS]);
            output.sized_address("address", *address, sizes.offset)?;
            output.sized("bytes", len_bytes, sizes.length)
        }
        Layout::Chunked(chunked) => encode_chunked(output, chunked, sizes),
        Layout::Virtual { heap_address, heap_index } => {
            output.put(&[4, VIRTUAL]);
            output.sized_address("global heap address", *heap_address, sizes.offset)?;
            output.u32(*heap_index);
            Ok(())
        }
    }
}

fn encode_chunked(output: &mut Output, layout: &ChunkedLayout, sizes: Sizes) -> Result<()> {
    let is_tree = layout.index == ChunkIndex::BtreeV1;
    if is_tree != (layout.version == 3) || !(3..=5).contains(&layout.version) {
        return Err(output.bad_field("version for this chunk index", u64::from(layout.version)));
    }
    if is_tree && layout.edge_chunks_unfiltered {
        return Err(output.bad_field("chunk flags", u64::from(FLAG_EDGE_CHUNKS_UNFILTERED)));
    }
    let rank = output.limited("rank", layout.chunk_shape.len() as u64, limits::RANK)?;
    let rank = rank as u8 + 1;
    let axes = layout.chunk_shape.iter().copied().chain([layout.element_bytes]);
    output.put(&[layout.version, CHUNKED]);
    let width = if is_tree {
        output.u8(rank);
        output.sized_address("address", layout.address, sizes.offset)?;
        4
    } else {
        let width = axes.clone().map(bytes_of).max().unwrap_or(1);
        output.put(&[flags(layout), rank, width]);
        usize::from(width)
    };
    for axis in axes {
        if axis == 0 {
            return Err(output.bad_field("chunk dimension", 0));
        }
        output.sized("chunk dimension", axis, width)?;
    }
    if is_tree {
        return Ok(());
    }
    encode_index(output, layout.index, sizes)?;
    output.sized_address("address", layout.address, sizes.offset)
}

fn flags(layout: &ChunkedLayout) -> u8 {
    let is_filtered = matches!(layout.index, ChunkIndex::Single { filtered: Some(_) });
    let edge = if layout.edge_chunks_unfiltered { FLAG_EDGE_CHUNKS_UNFILTERED } else { 0 };
    edge | if is_filtered { FLAG_SINGLE_CHUNK_FILTERED } else { 0 }
}

/// The bytes that `value` needs.
fn bytes_of(value: u64) -> u8 {
    (8 - value.leading_zeros() / 8).max(1) as u8
}

/// Type and parameters of an index of version 4.
fn encode_index(output: &mut Output, index: ChunkIndex, sizes: Sizes) -> Result<()> {
    match index {
        // The older tree is what version 3 is for.
        ChunkIndex::BtreeV1 => {}
        ChunkIndex::Single { filtered } => {
            output.u8(1);
            if let Some(chunk) = filtered {
                output.sized("bytes of the chunk", chunk.len_bytes, sizes.length)?;
                output.u32(chunk.filter_mask);
            }
        }
        ChunkIndex::Implicit => output.u8(2),
        ChunkIndex::FixedArray { page_bits } => output.put(&[3, page_bits]),
        ChunkIndex::ExtensibleArray(ExtensibleArrayParameters {
            max_entries_bits,
            index_block_entries,
            super_block_min_data_blocks,
            data_block_min_entries,
            page_bits,
        }) => {
            output.put(&[4, max_entries_bits, index_block_entries, super_block_min_data_blocks]);
            output.put(&[data_block_min_entries, page_bits]);
        }
        ChunkIndex::BtreeV2 { node_bytes, split_percent, merge_percent } => {
            output.u8(5);
            output.u32(node_bytes);
            output.put(&[split_percent, merge_percent]);
        }
    }
    Ok(())
}
