//! Bytes to a [`Layout`].

use super::{ChunkIndex, ChunkedLayout, ExtensibleArrayParameters, FilteredChunk, Layout};
use crate::cursor::Cursor;
use crate::error::{ErrorKind, Result};
use crate::hdf5::Sizes;
use crate::limits;

pub(super) const COMPACT: u8 = 0;
pub(super) const CONTIGUOUS: u8 = 1;
pub(super) const CHUNKED: u8 = 2;
pub(super) const VIRTUAL: u8 = 3;

pub(super) const FLAG_EDGE_CHUNKS_UNFILTERED: u8 = 1;
pub(super) const FLAG_SINGLE_CHUNK_FILTERED: u8 = 2;

pub(super) fn decode(cursor: &mut Cursor<'_>, sizes: Sizes) -> Result<Layout> {
    match cursor.u8()? {
        1 | 2 => decode_old(cursor, sizes),
        version @ 3..=5 => decode_new(cursor, version, sizes),
        version => Err(cursor.error(ErrorKind::Version { found: u64::from(version) })),
    }
}

/// Version 1 and 2, behind the version.
fn decode_old(cursor: &mut Cursor<'_>, sizes: Sizes) -> Result<Layout> {
    let rank = decode_rank(cursor)?;
    let class = cursor.u8()?;
    cursor.skip(5)?;
    let address = if class == COMPACT { None } else { cursor.address_field(sizes.offset)? };
    let axes = decode_axes(cursor, rank, 4)?;
    match class {
        COMPACT => {
            let len = cursor.u32()?;
            Ok(Layout::Compact(cursor.take(len as usize)?.into()))
        }
        CONTIGUOUS => Ok(Layout::Contiguous { address, len_bytes: None }),
        CHUNKED => chunked(cursor, axes, address),
        _ => Err(cursor.bad_field("layout class", u64::from(class))),
    }
}

/// Version 3, 4 and 5, behind the version.
fn decode_new(cursor: &mut Cursor<'_>, version: u8, sizes: Sizes) -> Result<Layout> {
    let class = cursor.u8()?;
    match (class, version) {
        (COMPACT, _) => {
            let len = usize::from(cursor.u16()?);
            Ok(Layout::Compact(cursor.take(len)?.into()))
        }
        (CONTIGUOUS, _) => Ok(Layout::Contiguous {
            address: cursor.address_field(sizes.offset)?,
            len_bytes: Some(cursor.uint(sizes.length)?),
        }),
        (CHUNKED, 3) => {
            let rank = decode_rank(cursor)?;
            let address = cursor.address_field(sizes.offset)?;
            let axes = decode_axes(cursor, rank, 4)?;
            chunked(cursor, axes, address)
        }
        (CHUNKED, _) => decode_indexed(cursor, version, sizes),
        (VIRTUAL, 4..) => Ok(Layout::Virtual {
            heap_address: cursor.address_field(sizes.offset)?,
            heap_index: cursor.u32()?,
        }),
        _ => Err(cursor.bad_field("layout class", u64::from(class))),
    }
}

/// Chunks of version 4 and 5, behind the class.
fn decode_indexed(cursor: &mut Cursor<'_>, version: u8, sizes: Sizes) -> Result<Layout> {
    let flags = cursor.u8()?;
    if flags & !(FLAG_EDGE_CHUNKS_UNFILTERED | FLAG_SINGLE_CHUNK_FILTERED) != 0 {
        return Err(cursor.bad_field("chunk flags", u64::from(flags)));
    }
    let rank = decode_rank(cursor)?;
    let width = cursor.u8()?;
    if !(1..=8).contains(&width) {
        return Err(cursor.bad_field("width of chunk dimensions", u64::from(width)));
    }
    let axes = decode_axes(cursor, rank, usize::from(width))?;
    let index = decode_index(cursor, flags, sizes)?;
    let address = cursor.address_field(sizes.offset)?;
    let mut layout = chunked(cursor, axes, address)?;
    if let Layout::Chunked(layout) = &mut layout {
        layout.version = version;
        layout.edge_chunks_unfiltered = flags & FLAG_EDGE_CHUNKS_UNFILTERED != 0;
        layout.index = index;
    }
    Ok(layout)
}

fn decode_index(cursor: &mut Cursor<'_>, flags: u8, sizes: Sizes) -> Result<ChunkIndex> {
    let index_type = cursor.u8()?;
    Ok(match index_type {
        1 if flags & FLAG_SINGLE_CHUNK_FILTERED != 0 => {
            let len_bytes = cursor.uint(sizes.length)?;
            let filter_mask = cursor.u32()?;
            ChunkIndex::Single { filtered: Some(FilteredChunk { len_bytes, filter_mask }) }
        }
        1 => ChunkIndex::Single { filtered: None },
        2 => ChunkIndex::Implicit,
        3 => ChunkIndex::FixedArray { page_bits: nonzero(cursor, "page bits")? },
        4 => ChunkIndex::ExtensibleArray(ExtensibleArrayParameters {
            max_entries_bits: nonzero(cursor, "bits of the greatest number of entries")?,
            index_block_entries: nonzero(cursor, "entries of the index block")?,
            super_block_min_data_blocks: nonzero(cursor, "data blocks of a super block")?,
            data_block_min_entries: nonzero(cursor, "entries of a data block")?,
            page_bits: nonzero(cursor, "page bits")?,
        }),
        5 => ChunkIndex::BtreeV2 {
            node_bytes: cursor.u32()?,
            split_percent: nonzero(cursor, "split percentage")?,
            merge_percent: nonzero(cursor, "merge percentage")?,
        },
        _ => return Err(cursor.bad_field("chunk index type", u64::from(index_type))),
    })
}

fn nonzero(cursor: &mut Cursor<'_>, field: &'static str) -> Result<u8> {
    match cursor.u8()? {
        0 => Err(cursor.bad_field(field, 0)),
        value => Ok(value),
    }
}

/// The rank, with the axis that an element's bytes are.
fn decode_rank(cursor: &mut Cursor<'_>) -> Result<usize> {
    let rank = u64::from(cursor.u8()?);
    cursor.limited("rank", rank, limits::RANK + 1).map(|rank| rank as usize)
}

fn decode_axes(cursor: &mut Cursor<'_>, rank: usize, width: usize) -> Result<Vec<u64>> {
    (0..rank).map(|_| cursor.uint(width)).collect()
}

/// A layout of chunks whose last axis is the bytes of an element, found by a version-1 B-tree.
fn chunked(cursor: &Cursor<'_>, mut axes: Vec<u64>, address: Option<u64>) -> Result<Layout> {
    if axes.len() < 2 {
        return Err(cursor.bad_field("rank", axes.len() as u64));
    }
    if axes.contains(&0) {
        return Err(cursor.bad_field("chunk dimension", 0));
    }
    let product = axes.iter().try_fold(1_u64, |product, &axis| product.checked_mul(axis));
    if product.is_none() {
        return Err(cursor.bad_field("chunk bytes", u64::MAX));
    }
    let element_bytes = axes.pop().unwrap_or_default();
    Ok(Layout::Chunked(ChunkedLayout {
        version: 3,
        chunk_shape: axes,
        element_bytes,
        edge_chunks_unfiltered: false,
        index: ChunkIndex::BtreeV1,
        address,
    }))
}
