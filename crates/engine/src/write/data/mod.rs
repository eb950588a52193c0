//! The values of one variable on their way into the file.
//!
//! ```text
//! Store::write -> chunked: one run of a chunk that waits -> storage | memory
//!              |           cover -> gather -> whole chunk    -> codec -> batch -> storage, table
//!              |                           \-> part of a chunk waits in memory, within one budget
//!              |-> strided: runs straight from the caller's memory -> storage
//!              \-> inline:  bytes that go into the object header
//! ```
//! A store knows nothing of objects: it is told the shape, and tells where the elements are. What
//! was written is in the file after [`Store::flush`].

mod batch;
mod beyond;
mod buffers;
mod chunked;
mod claims;
mod cover;
mod edges;
mod filterable;
mod gather;
mod in_place;
mod inline;
mod line;
mod one_run;
mod partial;
mod refit;
mod scratch;
mod strided;
mod table;
mod waiting;
mod written;

use std::sync::Arc;

use isotach_model::selection::Selection;
use isotach_model::shape;

pub use buffers::{buffer_budget, set_buffer_budget};
pub use chunked::{ChunkParts, ChunkStore};
pub use inline::InlineStore;
pub use line::Line;
pub use strided::StridedStore;
pub use table::ChunkTable;

use crate::error::{Error, ErrorKind, Result};
use crate::plan::layout::{Chunked, Placement};
use crate::read::target_strides;
use crate::storage::WritableStorage;

/// Gives out space in the file.
pub trait Allocate: Send + Sync {
    /// The address of `bytes` bytes that nobody else has.
    fn allocate(&self, bytes: u64) -> u64;

    /// Space for parts that are to lie one after the other and end at `ends`, counted from the first:
    /// its address, and how many of them it has room for; one of them at least.
    fn allocate_first(&self, ends: &[u64]) -> (u64, usize) {
        (self.allocate(ends.last().copied().unwrap_or_default()), ends.len())
    }

    /// What an address of so many bytes is a multiple of.
    fn alignment(&self, _bytes: u64) -> u64 {
        1
    }

    /// Takes bytes back that nobody needs after the next commit.
    fn free(&self, address: u64, bytes: u64);

    /// Those who take space later, in the order of the calls that they work for; `None` where all take it at once.
    fn line(&self) -> Option<&Arc<Line>> {
        None
    }

    /// Comes back when all who are in line have their space: before any other takes some or gives it back.
    fn settle(&self) {
        if let Some(line) = self.line() {
            line.settle();
        }
    }
}

/// Where values go.
#[derive(Clone)]
pub struct Target {
    /// The file's bytes. Addresses are offsets into it.
    pub storage: Arc<dyn WritableStorage>,
    /// Gives out its space.
    pub space: Arc<dyn Allocate>,
    /// The file's name, for errors.
    pub file: Arc<str>,
    /// Path of the variable, for errors.
    pub path: Arc<str>,
}

/// The values of one variable, however they are stored.
pub enum Store {
    /// In chunks.
    Chunked(ChunkStore),
    /// In rows, one after the other.
    Strided(StridedStore),
    /// In the object header.
    Inline(InlineStore),
}

impl Store {
    /// Writes `elements`, row-major over the selection's shape and each of them as it is stored, to
    /// the selected places of an array of `shape` (its extent after this write). Of several elements
    /// for one place the last one stays.
    ///
    /// # Errors
    /// [`ErrorKind::Selection`] where the selection is not inside the shape, [`ErrorKind::Source`]
    /// where it needs another number of bytes, and what storage and codec say. What an earlier
    /// write could not bring to the file may be told here too.
    pub fn write(&self, selection: &Selection, elements: &[u8], shape: &[u64]) -> Result<()> {
        match self {
            Self::Chunked(store) => store.write(selection, elements, shape),
            Self::Strided(store) => store.write(selection, elements),
            Self::Inline(store) => store.write(selection, elements, shape),
        }
    }

    /// That [`Self::write`] of the selected places of an array of `shape` could be brought to the file.
    ///
    /// # Errors
    /// [`ErrorKind::Encode`] where chunks cannot be filtered here, [`ErrorKind::Chunk`] where the rest of a
    /// chunk that is in the file cannot be read back, [`ErrorKind::Limit`] where an array is larger than its
    /// storage can be.
    pub fn check(&self, selection: &Selection, shape: &[u64]) -> Result<()> {
        match self {
            Self::Chunked(store) => store.check(selection, shape),
            Self::Strided(store) => store.check(selection),
            Self::Inline(_) => Ok(()),
        }
    }

    /// Brings everything that was written to the file, and the fill value to what never was where
    /// it must stand in the file.
    pub fn flush(&self, shape: &[u64]) -> Result<()> {
        match self {
            Self::Chunked(store) => store.flush(shape),
            Self::Strided(store) => store.flush(),
            Self::Inline(_) => Ok(()),
        }
    }

    /// Bytes of the whole array, where it lies in one piece.
    pub fn byte_len(&self) -> Option<u64> {
        match self {
            Self::Strided(store) => Some(store.byte_len()),
            Self::Chunked(_) | Self::Inline(_) => None,
        }
    }

    /// Where the elements are, for reading them: right after a flush.
    pub fn placement(&self) -> Placement {
        match self {
            Self::Chunked(store) => Placement::Chunked(Chunked {
                chunk_shape: store.chunk_shape().to_vec(),
                index: store.table(),
                pipeline: store.pipeline(),
                edge_chunks_unfiltered: store.edge_chunks_unfiltered(),
                decoded: store.decoded(),
            }),
            Self::Strided(store) => store.placement(),
            Self::Inline(store) => Placement::Inline(store.bytes()),
        }
    }
}

impl Target {
    /// An error about the variable.
    fn error(&self, kind: ErrorKind) -> Error {
        Error::new(&self.file, kind).at(&self.path)
    }

    fn limit(&self, what: &'static str, value: u64, limit: u64) -> Error {
        self.error(ErrorKind::Limit { what, value, limit })
    }

    fn write_at(&self, address: u64, bytes: &[u8]) -> Result<()> {
        self.storage.write_at(address, bytes).map_err(|source| {
            let length_bytes = bytes.len() as u64;
            self.error(ErrorKind::Write { address, length_bytes, source: Arc::new(source) })
        })
    }

    /// Checks that `selection` is inside `shape` and that `elements` are as many as it has; gives
    /// the bytes from one result to the next along each axis.
    fn check(
        &self,
        selection: &Selection,
        elements: &[u8],
        shape: &[u64],
        element_size: usize,
    ) -> Result<Vec<usize>> {
        selection.check(shape).map_err(|error| self.error(ErrorKind::Selection(error)))?;
        let selected = selection.shape();
        let needed = shape::byte_count(&selected, element_size);
        if needed != Some(elements.len()) {
            let needed_bytes = needed.map_or(u64::MAX, |needed| needed as u64);
            let given_bytes = elements.len() as u64;
            return Err(self.error(ErrorKind::Source { needed_bytes, given_bytes }));
        }
        Ok(target_strides(&selected, element_size))
    }
}

/// Writes `fill`, which is one element, to all of `bytes`, which are whole elements.
fn fill_with(bytes: &mut [u8], fill: &[u8]) {
    match fill {
        [] => {}
        [first, rest @ ..] if rest.iter().all(|byte| byte == first) => bytes.fill(*first),
        _ => {
            let len = fill.len().min(bytes.len());
            bytes[..len].copy_from_slice(&fill[..len]);
            let mut done = len;
            while done < bytes.len() {
                let more = done.min(bytes.len() - done);
                let (front, rest) = bytes.split_at_mut(done);
                rest[..more].copy_from_slice(&front[..more]);
                done += more;
            }
        }
    }
}
