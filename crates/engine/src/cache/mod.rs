//! Decoded chunks within one budget for the whole process.
//!
//! ```text
//! read::chunked --get_or_decode--> hit | decode, keep | wait for who decodes it | decode, not kept
//! ```
//! - What is read only in part is kept; what was used up whole is not (its reader decides).
//! - What was kept and is used up by several requests goes first, and takes a share only: [`entries`] has the rule, and
//!   `docs/decisions/0033-chunks-that-were-used-up.md` what was measured.
//! - A request never pushes out what it has used itself: a working set beyond the budget keeps what
//!   fits and streams the rest, so the next request over the same chunks finds the part that fits.
//! - A chunk larger than the budget never enters.
//! - Two threads that want the same chunk decode it once.
//!
//! Tiles of arrays that are not chunked (see `plan::tiles`) are kept as chunks are.

mod budget;
mod entries;
mod ghosts;
mod machine;
mod order;
pub(crate) mod read_ahead;
mod remembered;
mod spares;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Condvar, MutexGuard, PoisonError};

use crate::plan::layout::ArrayId;
use crate::sync::{Mutex, PerProcess};
pub use budget::memory_setting;
use entries::{Entries, MostSpent, Place};
use ghosts::Ghosts;
pub use machine::physical_memory;
use spares::Spares;

/// The share of the budget that chunks may take of which all was read once.
const SHARE_OF_SPENT: u64 = 4;
/// The same for those of one array that is larger than that share: its first chunks have gone when its last ones are
/// read, so that who begins anew finds none of them.
const SHARE_OF_LARGE: u64 = 16;

/// What may be kept of the decoded chunks of one variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bound {
    /// Bytes of all its chunks.
    pub bytes: u64,
    /// How many chunks.
    pub chunks: u64,
    /// Bytes of chunks of which all was read.
    pub spent_bytes: u64,
}

impl Bound {
    fn admits(&self, bytes: u64) -> bool {
        bytes <= self.bytes && self.chunks > 0
    }
}

/// Tells chunks apart: the array and the chunk's number in row-major order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ChunkKey {
    pub(crate) array: ArrayId,
    pub(crate) number: u64,
}

/// A decoded chunk: the bytes of its elements.
pub(crate) type Decoded = Arc<Vec<u8>>;

/// What the cache did since the process began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Statistics {
    /// Chunks that were found decoded.
    pub hits: u64,
    /// Chunks that were not.
    pub misses: u64,
    /// Bytes that decoding gave, whether kept or not, and those of tiles that were read.
    pub decoded_bytes: u64,
    /// Bytes kept now.
    pub kept_bytes: u64,
    /// The most bytes that may be kept.
    pub budget_bytes: u64,
}

/// Decoded chunks of all open files; see the module.
pub(crate) struct ChunkCache {
    entries: Mutex<Entries>,
    /// Tiles that are not kept.
    ghosts: Mutex<Ghosts>,
    /// Memory of chunks that are gone; with those that are kept within the budget.
    spares: Mutex<Spares>,
    budget: AtomicU64,
    /// The budget without what bounds of arrays ask for.
    usual_budget: AtomicU64,
    hits: AtomicU64,
    misses: AtomicU64,
    decoded_bytes: AtomicU64,
}

/// A moment of the cache's clock: what was used since then is not pushed out by the request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Since(u64);

/// A chunk that one thread decodes and others wait for.
#[derive(Default)]
pub(super) struct Flight {
    outcome: Mutex<Option<Option<Decoded>>>,
    landed: Condvar,
}

/// The cache of this process. A forked one begins with nothing kept: what its parent's threads were decoding
/// would never land.
pub(crate) fn global() -> &'static ChunkCache {
    static CACHE: PerProcess<ChunkCache> = PerProcess::new();
    CACHE.get(|parent| {
        let usual = |parent: &ChunkCache| parent.usual_budget.load(Relaxed);
        ChunkCache::new(parent.map_or_else(budget::default_budget, usual))
    })
}

/// The most bytes of decoded chunks that are kept: `ISOTACH_CACHE`, else an eighth of the
/// machine's memory and at most 256 MiB, unless [`set_budget`] has changed it.
pub fn budget() -> u64 {
    global().budget.load(Relaxed)
}

/// Sets the most bytes of decoded chunks that are kept. What is too much goes at once.
pub fn set_budget(bytes: u64) {
    global().set_budget(bytes);
}

/// Bounds what is kept of the decoded chunks of one array, until its file is closed. Where the bound is larger than the
/// budget, the budget is that large meanwhile, up to half of the machine's memory, unless `ISOTACH_CACHE` is set.
pub fn bound(array: ArrayId, bound: Bound) {
    global().set_bound(array, bound);
}

/// What the cache did since the process began.
pub fn statistics() -> Statistics {
    global().statistics()
}

/// An open file's number in the cache, unique in this process. When it is dropped, so are the
/// file's chunks.
#[derive(Debug)]
pub struct FileNumber(u64);

impl FileNumber {
    /// A number that no other file has or had.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let number = NEXT.fetch_add(1, Relaxed);
        open_files().insert(number);
        Self(number)
    }

    /// The number, for [`ArrayId::file`].
    pub fn get(&self) -> u64 {
        self.0
    }
}

impl Drop for FileNumber {
    fn drop(&mut self) {
        open_files().remove(&self.0);
        global().drop_file(self.0);
    }
}

/// The numbers of all open files: nothing is decoded ahead for others.
fn open_files() -> MutexGuard<'static, BTreeSet<u64>> {
    static OPEN: Mutex<BTreeSet<u64>> = Mutex::fixed(BTreeSet::new());
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ChunkCache {
    /// A cache of `budget` bytes.
    pub(crate) fn new(budget: u64) -> Self {
        Self {
            entries: Mutex::new(Entries::default()),
            ghosts: Mutex::default(),
            spares: Mutex::default(),
            budget: AtomicU64::new(budget),
            usual_budget: AtomicU64::new(budget),
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
            decoded_bytes: AtomicU64::new(0),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set_budget(&self, bytes: u64) {
        self.usual_budget.store(bytes, Relaxed);
        self.ghosts().shrink(bytes);
        let (gone, kept_bytes) = {
            let mut entries = self.lock();
            self.settle_budget(&entries);
            (entries.shrink(self.budget()), entries.kept_bytes())
        };
        // Freed without the lock.
        drop(gone);
        self.shrink_spares(kept_bytes);
    }

    /// The budget is the usual one, or as large as the largest bound of an array.
    fn settle_budget(&self, entries: &Entries) {
        let asked = budget::granted(entries.largest_bound()).unwrap_or(0);
        self.budget.store(asked.max(self.usual_budget.load(Relaxed)), Relaxed);
    }

    fn set_bound(&self, array: ArrayId, bound: Bound) {
        let (gone, kept_bytes) = {
            let mut entries = self.lock();
            if entries.bound(array) == Some(bound) {
                return;
            }
            let gone = entries.set_bound(array, bound);
            self.settle_budget(&entries);
            (gone, entries.kept_bytes())
        };
        drop(gone);
        self.shrink_spares(kept_bytes);
    }

    /// So many elements of a chunk that is kept are read, of `whole` that there are; true where all of them are with
    /// these, which is to be told ([`Self::spend`]) when it is done.
    pub(crate) fn count_read(&self, key: &ChunkKey, elements: u64, whole: u64) -> bool {
        self.lock().count_read(key, elements, whole)
    }

    /// All of a chunk was read, or whoever wanted it has it already; its array has `array_bytes`.
    pub(crate) fn spend(&self, key: &ChunkKey, array_bytes: u64) {
        let budget = self.budget();
        let (gone, kept_bytes) = {
            let mut entries = self.lock();
            let of_all = budget / SHARE_OF_SPENT;
            let usual = if array_bytes <= of_all { of_all } else { budget / SHARE_OF_LARGE };
            let most = match entries.bound(key.array) {
                Some(bound) => MostSpent { of_all: budget, of_array: bound.spent_bytes },
                None => MostSpent { of_all, of_array: usual },
            };
            let gone = entries.spend(key, most);
            entries.remember(budget);
            (gone, entries.kept_bytes())
        };
        if !gone.is_empty() {
            self.spares().give(unshared(gone));
            self.shrink_spares(kept_bytes);
        }
    }

    fn spares(&self) -> MutexGuard<'_, Spares> {
        self.spares.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Frees the memory for which the budget has no room beside the chunks that are kept.
    fn shrink_spares(&self, kept_bytes: u64) {
        let gone = self.spares().shrink(self.budget().saturating_sub(kept_bytes));
        drop(gone);
    }

    pub(crate) fn budget(&self) -> u64 {
        self.budget.load(Relaxed)
    }

    pub(crate) fn statistics(&self) -> Statistics {
        Statistics {
            hits: self.hits.load(Relaxed),
            misses: self.misses.load(Relaxed),
            decoded_bytes: self.decoded_bytes.load(Relaxed),
            kept_bytes: self.lock().kept_bytes(),
            budget_bytes: self.budget(),
        }
    }

    /// Counts bytes that were decoded without being kept.
    pub(crate) fn count_decoded(&self, bytes: usize) {
        self.decoded_bytes.fetch_add(bytes as u64, Relaxed);
    }

    /// The moment at which a request begins, which wants `keys` of `array`, and how many of them
    /// are kept or will be: those count as used from now on. No number where nothing of the array
    /// is kept.
    pub(crate) fn begin(
        &self,
        array: ArrayId,
        keys: impl Iterator<Item = ChunkKey>,
    ) -> (Since, Option<usize>) {
        let mut entries = self.lock();
        let since = entries.now();
        let known = entries.has_array(array).then(|| keys.filter(|key| entries.touch(key)).count());
        (Since(since), known)
    }

    /// True where the chunk is kept or being decoded to be kept, without using it.
    pub(crate) fn knows(&self, key: &ChunkKey) -> bool {
        self.lock().find(key).is_some()
    }

    /// True where the chunk is kept, without using it.
    pub(crate) fn contains(&self, key: &ChunkKey) -> bool {
        matches!(self.lock().find(key), Some(Place::Ready(_)))
    }

    /// Those of `keys` that are neither kept nor being decoded to be kept.
    pub(crate) fn missing(&self, keys: &[ChunkKey]) -> Vec<ChunkKey> {
        let entries = self.lock();
        keys.iter().filter(|key| entries.find(key).is_none()).copied().collect()
    }

    /// Tiles that are not kept, and what was spent on reading past them.
    pub(crate) fn ghosts(&self) -> MutexGuard<'_, Ghosts> {
        self.ghosts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The chunk, where it is kept or being decoded to be kept; so many elements of it are going to be read, as
    /// [`Self::count_read`] counts them.
    pub(crate) fn get(&self, key: &ChunkKey, elements: u64, whole: u64) -> Option<(Decoded, bool)> {
        let (found, is_all) = {
            let mut entries = self.lock();
            entries.touch(key);
            (entries.find(key), entries.count_read(key, elements, whole))
        };
        let decoded = match found {
            Some(Place::Ready(decoded)) => Some(decoded),
            Some(Place::Flying(flight)) => flight.wait(),
            None => None,
        };
        let counter = if decoded.is_some() { &self.hits } else { &self.misses };
        counter.fetch_add(1, Relaxed);
        decoded.map(|decoded| (decoded, is_all))
    }

    /// The chunk, decoded now if it is not kept. `None` where there is no room to keep its `bytes`:
    /// the caller decodes it for itself then.
    ///
    /// `decode` is given memory that may be used for the chunk: that of a chunk which had to go.
    pub(crate) fn get_or_decode<E>(
        &self,
        key: ChunkKey,
        bytes: usize,
        since: Since,
        decode: impl FnOnce(Vec<u8>) -> Result<Vec<u8>, E>,
    ) -> Result<Option<Decoded>, E> {
        let ((flight, gone), kept_bytes) = {
            let mut entries = self.lock();
            entries.touch(&key);
            match entries.find(&key) {
                Some(Place::Ready(decoded)) => {
                    self.hits.fetch_add(1, Relaxed);
                    return Ok(Some(decoded));
                }
                Some(Place::Flying(flight)) => {
                    drop(entries);
                    let decoded = flight.wait();
                    let counter = if decoded.is_some() { &self.hits } else { &self.misses };
                    counter.fetch_add(1, Relaxed);
                    return Ok(decoded);
                }
                None => {}
            }
            self.misses.fetch_add(1, Relaxed);
            match entries.take_off(key, bytes as u64, self.budget(), since.0) {
                Some(taken) => (taken, entries.kept_bytes()),
                None => return Ok(None),
            }
        };
        let spare = self.memory_for(bytes, gone, kept_bytes);
        // Lands empty, so that nobody waits for ever, where decoding fails or panics.
        let mut landing = Landing { cache: self, key, flight, decoded: None };
        let decoded = Arc::new(decode(spare)?);
        self.count_decoded(decoded.len());
        landing.decoded = Some(Arc::clone(&decoded));
        drop(landing);
        Ok(Some(decoded))
    }

    /// Forgets all chunks of a file.
    pub(crate) fn drop_file(&self, file: u64) {
        let (gone, kept_bytes) = {
            let mut entries = self.lock();
            let mut gone = entries.drop_file(file);
            self.settle_budget(&entries);
            gone.extend(entries.shrink(self.budget()));
            (gone, entries.kept_bytes())
        };
        self.spares().give(unshared(gone));
        self.shrink_spares(kept_bytes);
        self.ghosts().drop_file(file);
    }

    /// Memory for `bytes` bytes: of what had to go, or of what went before.
    fn memory_for(&self, bytes: usize, gone: Vec<Place>, kept_bytes: u64) -> Vec<u8> {
        let mut gone = unshared(gone);
        let found = gone.find(|memory| spares::fits(memory, bytes));
        let memory = {
            let mut spares = self.spares();
            let memory = found.or_else(|| spares.take(bytes));
            spares.give(gone);
            memory
        };
        self.shrink_spares(kept_bytes);
        memory.unwrap_or_default()
    }
}

/// The memory of chunks that nobody reads any more.
fn unshared(gone: Vec<Place>) -> impl Iterator<Item = Vec<u8>> {
    gone.into_iter().filter_map(|place| match place {
        Place::Ready(decoded) => Arc::try_unwrap(decoded).ok(),
        Place::Flying(_) => None,
    })
}

impl Flight {
    fn wait(&self) -> Option<Decoded> {
        let mut outcome = self.outcome.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match &*outcome {
                Some(decoded) => return decoded.clone(),
                None => {
                    outcome = self.landed.wait(outcome).unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }

    fn land(&self, decoded: Option<Decoded>) {
        *self.outcome.lock().unwrap_or_else(PoisonError::into_inner) = Some(decoded);
        self.landed.notify_all();
    }
}

/// Ends a flight when it is dropped.
struct Landing<'c> {
    cache: &'c ChunkCache,
    key: ChunkKey,
    flight: Arc<Flight>,
    decoded: Option<Decoded>,
}

impl Drop for Landing<'_> {
    fn drop(&mut self) {
        let decoded = self.decoded.take();
        self.cache.lock().land(&self.key, &self.flight, decoded.clone());
        self.flight.land(decoded);
    }
}
