//! Fetch, decode, scatter: the wanted elements into the caller's memory.

use std::sync::Arc;

use isotach_model::StoredType;

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
}
