//! Chunks that were written only in part, and wait for the rest.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::buffers::{Moment, Share};
use super::written::Written;

/// A chunk of which some elements were written.
pub(super) struct Partial {
    /// All elements of the chunk; only those that were written hold what they should, unless
    /// [`Self::is_settled`].
    pub(super) bytes: Vec<u8>,
    /// Which were written since the chunk was last whole.
    pub(super) written: Written,
    /// True where the elements that were not written hold what they should, too.
    pub(super) is_settled: bool,
    /// True where the file does not have all of this yet.
    pub(super) is_dirty: bool,
    /// When it was last written to.
    pub(super) used: Moment,
    /// The memory; `None` where there was none left, and it must not wait.
    pub(super) share: Option<Share>,
}

/// A chunk with its coordinates.
pub(super) type Waiting = (Box<[u64]>, Partial);

/// Chunks by their coordinates.
type Chunks = HashMap<Box<[u64]>, Partial>;

/// All chunks of one variable that wait.
#[derive(Default)]
pub(super) struct Partials {
    chunks: Mutex<Chunks>,
}

impl Partials {
    pub(super) fn lock(&self) -> MutexGuard<'_, Chunks> {
        self.chunks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// Takes the chunk out, with its coordinates.
    pub(super) fn take(&self, coordinates: &[u64]) -> Option<Waiting> {
        self.lock().remove_entry(coordinates)
    }

    pub(super) fn put(&self, coordinates: Box<[u64]>, partial: Partial) {
        self.lock().insert(coordinates, partial);
    }

    /// Coordinates of the chunks that are `wanted`, in row-major order.
    pub(super) fn select(&self, wanted: impl Fn(&Partial) -> bool) -> Vec<Box<[u64]>> {
        let chunks = self.lock();
        let found = chunks.iter().filter(|(_, partial)| wanted(partial));
        let mut found: Vec<Box<[u64]>> = found.map(|(at, _)| at.clone()).collect();
        found.sort_unstable();
        found
    }
}
