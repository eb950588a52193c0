//! How much memory parts of chunks may take while they wait: one budget for all files that are
//! open for writing.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, Weak};

use super::chunked::Shared;
use crate::cache::memory_setting;
use crate::parallel;
use crate::sync::PerProcess;

/// The most memory that is taken without being asked for.
const LARGEST_DEFAULT: u64 = 256 << 20;
/// As many chunks wait for each thread, or so many bytes: more of them do not make the threads any busier.
const CHUNKS_FOR_A_THREAD: u64 = 2;
const BYTES_FOR_THREADS: u64 = 16 << 20;

/// What waits in memory in all stores.
struct Buffers {
    budget: AtomicU64,
    /// Bytes of chunks that wait for the rest of their elements.
    waiting: AtomicU64,
    /// Bytes of chunks that wait for a thread.
    for_later: AtomicU64,
    clock: AtomicU64,
    stores: Mutex<Vec<Weak<Shared>>>,
    /// Held by who makes room.
    making_room: Mutex<()>,
    /// Jobs that write chunks later, which give memory back when they end.
    jobs: Mutex<u64>,
    job_ended: Condvar,
}

/// Memory that counts as used until this is dropped.
pub(super) struct Share {
    bytes: u64,
    counter: &'static AtomicU64,
}

/// A moment of the clock by which the least recently used chunk is found.
pub(super) type Moment = u64;

fn buffers() -> &'static Buffers {
    // What its parent's stores keep is nothing to a forked process.
    static BUFFERS: PerProcess<Buffers> = PerProcess::new();
    let default = || memory_setting("ISOTACH_WRITE_BUFFER", LARGEST_DEFAULT);
    BUFFERS.get(|parent| Buffers {
        budget: AtomicU64::new(parent.map_or_else(default, |parent| parent.budget.load(Relaxed))),
        waiting: AtomicU64::new(0),
        for_later: AtomicU64::new(0),
        clock: AtomicU64::new(0),
        stores: Mutex::default(),
        making_room: Mutex::default(),
        jobs: Mutex::default(),
        job_ended: Condvar::new(),
    })
}

/// The most bytes of chunks that wait in memory, because they were written only in part or because
/// they are being encoded: `ISOTACH_WRITE_BUFFER`, else an eighth of the machine's memory and at
/// most 256 MiB, unless [`set_buffer_budget`] has changed it.
pub fn buffer_budget() -> u64 {
    buffers().budget.load(Relaxed)
}

/// Sets the most bytes of chunks that wait in memory; from the next write on.
pub fn set_buffer_budget(bytes: u64) {
    buffers().budget.store(bytes, Relaxed);
}

/// The next moment.
pub(super) fn now() -> Moment {
    buffers().clock.fetch_add(1, Relaxed)
}

/// Takes `bytes` for a chunk that waits for the rest of its elements, where as many are left of
/// three quarters of the budget.
pub(super) fn take(bytes: usize) -> Option<Share> {
    Share::of(&buffers().waiting, bytes, waiting_budget())
}

/// Whether as many bytes are left for chunks that wait for the rest of their elements.
pub(super) fn has_room(bytes: usize) -> bool {
    buffers().waiting.load(Relaxed).saturating_add(bytes as u64) <= waiting_budget()
}

/// Takes `bytes` for a chunk that waits for a thread, of the other quarter or what threads need of it; waits where none are
/// left and there are jobs that give some back.
pub(super) fn take_for_later(bytes: usize) -> Option<Share> {
    let buffers = buffers();
    let enough = CHUNKS_FOR_A_THREAD * parallel::thread_count() as u64 * bytes as u64;
    let budget = (buffer_budget() - waiting_budget()).min(enough.max(BYTES_FOR_THREADS));
    let take = || Share::of(&buffers.for_later, bytes, budget);
    if let Some(share) = take() {
        return Some(share);
    }
    let mut jobs = buffers.jobs.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        // Looked at under the lock under which a job ends.
        let share = take();
        if share.is_some() || *jobs == 0 || bytes as u64 > budget {
            return share;
        }
        jobs = buffers.job_ended.wait(jobs).unwrap_or_else(PoisonError::into_inner);
    }
}

/// A job that writes chunks later, until it is dropped.
pub(super) struct Job(());

impl Job {
    pub(super) fn begin() -> Self {
        *buffers().jobs.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        Self(())
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        *buffers().jobs.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        buffers().job_ended.notify_all();
    }
}

fn waiting_budget() -> u64 {
    let budget = buffer_budget();
    budget - budget / 4
}

impl Share {
    fn of(counter: &'static AtomicU64, bytes: usize, budget: u64) -> Option<Self> {
        let bytes = bytes as u64;
        let more = |used: u64| used.checked_add(bytes).filter(|used| *used <= budget);
        counter.fetch_update(Relaxed, Relaxed, more).ok().map(|_| Self { bytes, counter })
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.counter.fetch_sub(self.bytes, Relaxed);
    }
}

fn stores() -> MutexGuard<'static, Vec<Weak<Shared>>> {
    buffers().stores.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Lets a store's chunks be written where others need the memory.
pub(super) fn register(store: Weak<Shared>) {
    let mut stores = stores();
    stores.retain(|store| store.strong_count() > 0);
    stores.push(store);
}

/// Where little is left, has the chunks that were not used for longest written to the file until a
/// quarter is free; those that were used since `since` stay. The caller holds no claim.
///
/// A store whose chunks are in use, or cannot be written, keeps them: it tells by itself.
pub(super) fn make_room(since: Moment) {
    let budget = waiting_budget();
    let used = || buffers().waiting.load(Relaxed);
    if used() <= budget - budget / 8 {
        return;
    }
    // Somebody else is at it already.
    let Ok(_alone) = buffers().making_room.try_lock() else { return };
    let stores: Vec<_> = stores().iter().filter_map(Weak::upgrade).collect();
    // A chunk that a job has would be passed over by chance.
    stores.iter().for_each(|store| store.target.space.settle());
    let mut waiting: Vec<(Moment, u64)> = Vec::new();
    stores.iter().for_each(|store| store.waiting(&mut waiting));
    waiting.retain(|(moment, _)| *moment < since);
    waiting.sort_unstable();
    let mut excess = used().saturating_sub(budget - budget / 4);
    let mut last = None;
    for (moment, bytes) in waiting {
        if excess == 0 {
            break;
        }
        (last, excess) = (Some(moment), excess.saturating_sub(bytes));
    }
    let Some(last) = last else { return };
    for store in stores {
        store.write_out(last);
    }
}
