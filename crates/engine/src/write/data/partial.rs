//! Chunks that were written only in part, and wait for the rest.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::buffers::{Moment, Share};
use super::written::Written;

/// A chunk of which some elements were written.
pub(super) struct Partial {
    /// All elements of the chunk; only those that were written hold what they should, unless
    /// [`Self::is_settled`]. Empty where they are in the file already.
    pub(super) bytes: Vec<u8>,
    /// The address of those that are in the file already, with gaps, see `in_place`.
    pub(super) in_file: Option<u64>,
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
type Chunks = HashMap<Box<[u64]>, Partial, BuildHasherDefault<CoordinateHasher>>;

/// Chunks are looked for once for each row that is written to them; who writes them is no stranger
/// from whom a table must be defended.
#[derive(Default)]
pub(super) struct CoordinateHasher(u64);

impl Hasher for CoordinateHasher {
    fn write(&mut self, bytes: &[u8]) {
        for word in bytes.chunks(8) {
            let mut padded = [0; 8];
            padded[..word.len()].copy_from_slice(word);
            self.write_u64(u64::from_ne_bytes(padded));
        }
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }

    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }
}

/// All chunks of one variable that wait.
#[derive(Default)]
pub(super) struct Partials {
    chunks: Mutex<Chunks>,
    /// Memory of chunks that wait no more, for the next ones.
    spare: Mutex<Vec<(Vec<u8>, Written)>>,
}

/// Memory that is kept for the next chunks.
const SPARE_BYTES: usize = 4 << 20;

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

    /// Keeps the memory of a chunk that waits no more.
    pub(super) fn recycle(&self, partial: Partial) {
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        if (spare.len() + 1).saturating_mul(partial.bytes.len()) <= SPARE_BYTES {
            spare.push((partial.bytes, partial.written));
        }
    }

    /// The memory of a chunk that waits no more.
    pub(super) fn spare(&self) -> Option<(Vec<u8>, Written)> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop()
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
