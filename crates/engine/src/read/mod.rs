//! Fetch, decode, scatter: the wanted elements into the caller's memory.
//!
//! ```text
//! Array::read* -> reading (inside | fill) -> tiled | chunked | inline | external | virtual
//!                                             |  \-> scatter -> the caller's memory
//!                                             \-> strided -> the caller's memory
//! ```
//! `destination`, `scatter` and `memory` are the rooms for unsafe code.

mod array;
pub(crate) mod calls;
mod chunked;
mod destination;
mod external;
pub(crate) mod live;
pub mod memory;
mod reading;
mod scatter;
mod scratch;
mod stored_elements;
mod strided;
mod tiled;
mod virtual_array;

use std::sync::Arc;

pub(crate) use chunked::keep as keep_chunks;
pub use live::Live;
pub(crate) use reading::target_strides;
pub(crate) use stored_elements::for_each_piece;

use isotach_model::StoredType;
use isotach_model::convert::Rules;

use crate::error::Error;
use crate::plan::layout::ArrayLayout;

/// Looks up variable-length data of one file.
pub type DynHeap = dyn isotach_model::Heap<Error = Error> + Send + Sync;

/// An array that can be read: where it lies, how an element is stored, where its strings are.
#[derive(Clone)]
pub struct Array {
    /// Where the elements lie.
    pub layout: ArrayLayout,
    /// The shape its reader sees: at least the stored shape; what is beyond that is fill.
    pub shape: Vec<u64>,
    /// How one element is stored.
    pub stored: StoredType,
    /// The heap of variable-length data; `None` in files that have none.
    pub heap: Option<Arc<DynHeap>>,
    /// By which of netCDF's rules numbers convert; the file's format decides.
    pub rules: Rules,
    /// Whether it is still where this says, of a file that is being written.
    pub live: Live,
}

impl std::fmt::Debug for Array {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Array")
            .field("path", &self.layout.path)
            .field("shape", &self.shape)
            .field("stored", &self.stored)
            .finish_non_exhaustive()
    }
}
