//! The bytes of all elements of an array as they are stored, for those who look at what they refer to.

use isotach_codec::Scratch;

use crate::error::{Error, ErrorKind, Result};
use crate::plan::layout::{ArrayLayout, ChunkPlace, Chunked, Placement};
use crate::storage::{storage_error, uninit};

/// Elements that are not in chunks are read in pieces of about this size.
const PIECE_BYTES: u64 = 1 << 20;

/// Calls `visit` with whole elements, in pieces, until all that are in the file were visited, those
/// of chunks that reach beyond the array too. Of arrays that stand in other files, there are none.
pub(crate) fn for_each_piece(layout: &ArrayLayout, visit: &mut dyn FnMut(&[u8])) -> Result<()> {
    match &layout.placement {
        Placement::Inline(bytes) => visit(bytes),
        // One behind the other, as HDF5 has them.
        Placement::Strided { address, .. } => {
            let size = layout.element_size.max(1) as u64;
            let count = layout.shape.iter().fold(1, |count: u64, &len| count.saturating_mul(len));
            let piece = (PIECE_BYTES / size).max(1);
            for first in (0..count).step_by(piece as usize) {
                let len = piece.min(count - first).saturating_mul(size);
                visit(&stored(layout, address.saturating_add(first * size), len)?);
            }
        }
        Placement::Chunked(chunked) => {
            let mut scratch = Scratch::default();
            chunked.index.for_each(&mut |coordinates, place| {
                visit(&chunk(layout, chunked, coordinates, place, &mut scratch)?);
                Ok(())
            })?;
        }
        Placement::Unallocated | Placement::External { .. } | Placement::Virtual(_) => {}
    }
    Ok(())
}

/// The elements of one chunk.
fn chunk(
    layout: &ArrayLayout,
    chunked: &Chunked,
    coordinates: &[u64],
    place: ChunkPlace,
    scratch: &mut Scratch,
) -> Result<Vec<u8>> {
    let stored = stored(layout, place.address, place.stored_bytes)?;
    let ends = coordinates.iter().zip(&chunked.chunk_shape);
    let mut ends = ends.map(|(&at, &len)| at.saturating_add(1).saturating_mul(len));
    let reaches_beyond = layout.shape.iter().any(|&len| ends.next().is_some_and(|end| end > len));
    if chunked.edge_chunks_unfiltered && reaches_beyond {
        return Ok(stored);
    }
    let size = layout.element_size as u64;
    let len = chunked.chunk_shape.iter().fold(size, |len, &axis| len.saturating_mul(axis));
    let len = usize::try_from(len).unwrap_or(usize::MAX);
    chunked.pipeline.decode_vec(&stored, place.filter_mask, len, scratch).map_err(|source| {
        let (coordinates, source) = (coordinates.to_vec(), Box::new(source));
        let kind = ErrorKind::Chunk { address: place.address, coordinates, source };
        Error::new(&layout.file, kind).at(&layout.path)
    })
}

/// Exactly `len` bytes at `address`.
fn stored(layout: &ArrayLayout, address: u64, len: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let count = usize::try_from(len).unwrap_or(usize::MAX);
    let storage = layout.storage.as_ref();
    uninit::read_vec(storage, address, count, &mut bytes)
        .and_then(|()| storage.ensure_values())
        .map_err(|source| storage_error(&layout.file, address, len, source).at(&layout.path))?;
    Ok(bytes)
}
