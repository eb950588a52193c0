//! Chunks of another shape, as long as no chunk is in the file.
//!
//! Where nobody says a shape, how much there is at the first commit does: see
//! `docs/decisions/0018-chunk-shapes.md`.

use isotach_model::selection::{Axis, Selection};

use super::chunked::ChunkStore;
use super::claims::ChunkBox;
use super::scratch;
use crate::error::Result;
use crate::plan::layout::ChunkIndex;

impl ChunkStore {
    /// Moves all that was written to `into`, the same variable in other chunks; false where some of it is in the
    /// file. It stays here, too.
    pub(in crate::write) fn copy_into(&self, into: &Self, shape: &[u64]) -> Result<bool> {
        let shared = &self.shared;
        let chunk_shape = &shared.parts.chunk_shape;
        let _claim = shared.claims.wait_for(ChunkBox::everything(chunk_shape.len()));
        if self.has_places()? {
            return Ok(false);
        }
        for coordinates in shared.partials.select(|partial| partial.is_dirty) {
            let Some((coordinates, mut partial)) = shared.partials.take(&coordinates) else {
                continue;
            };
            let settled = scratch::with(|scratch| {
                shared.settle(&coordinates, &mut partial, shape, &mut scratch.chunk)
            });
            let copied = settled.and_then(|()| {
                let lens = |(axis, &at): (usize, &u64)| {
                    let start = at.saturating_mul(chunk_shape[axis]);
                    (start, shape[axis].saturating_sub(start).min(chunk_shape[axis]))
                };
                let inside: Vec<(u64, u64)> = coordinates.iter().enumerate().map(lens).collect();
                let axes = inside.iter().map(|&(start, len)| Axis::range(start, len, 1)).collect();
                let elements =
                    first_of(&partial.bytes, chunk_shape, &inside, shared.parts.element_size);
                into.write(&Selection { axes }, &elements, shape)
            });
            shared.partials.put(coordinates, partial);
            copied?;
        }
        Ok(true)
    }

    /// Whether some chunk is in the file.
    fn has_places(&self) -> Result<bool> {
        let mut found = false;
        self.shared.table.for_each(&mut |_, _| {
            found = true;
            Ok(())
        })?;
        Ok(found)
    }
}

/// Of a chunk the elements from its beginning that lie within the variable, along each axis as many as `inside` says.
fn first_of(chunk: &[u8], chunk_shape: &[u64], inside: &[(u64, u64)], size: usize) -> Vec<u8> {
    let Some(((&len, rest_shape), (&(_, count), rest))) =
        chunk_shape.split_first().zip(inside.split_first())
    else {
        return chunk[..size].to_vec();
    };
    let step = chunk.len() / (len as usize).max(1);
    if rest.is_empty() {
        return chunk[..step * count as usize].to_vec();
    }
    let parts = chunk.chunks_exact(step.max(1)).take(count as usize);
    parts.flat_map(|part| first_of(part, rest_shape, rest, size)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_elements_along_each_axis() {
        let chunk: Vec<u8> = (0..24).collect();
        let inside = [(0, 1), (0, 2), (0, 3)];
        assert_eq!(first_of(&chunk, &[2, 3, 4], &inside, 1), [0, 1, 2, 4, 5, 6]);
        assert_eq!(first_of(&chunk, &[2, 3, 2], &[(0, 2), (0, 1), (0, 2)], 2).len(), 8);
    }
}
