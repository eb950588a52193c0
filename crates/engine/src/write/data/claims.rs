//! Who works on which chunks: two never work on the same one at once.
//!
//! A call that writes claims the box of all its chunks, a job that writes chunks later the box of
//! those, a flush everything. Who holds a claim never waits for another one, so all waiting ends.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// The lowest and the highest coordinates along each axis, both inside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ChunkBox {
    pub(super) low: Vec<u64>,
    pub(super) high: Vec<u64>,
}

/// The claims on the chunks of one variable.
#[derive(Default)]
pub(super) struct Claims {
    held: Mutex<Held>,
    given_back: Condvar,
}

#[derive(Default)]
struct Held {
    boxes: Vec<(u64, ChunkBox)>,
    next: u64,
    /// How many wait: waking nobody is a call to the system too.
    waiting: usize,
}

/// A claim, until it is dropped.
pub(super) struct Claim {
    claims: Arc<Claims>,
    number: u64,
}

impl ChunkBox {
    /// All chunks that there can be.
    pub(super) fn everything(rank: usize) -> Self {
        Self { low: vec![0; rank], high: vec![u64::MAX; rank] }
    }

    /// The smallest box with all of these chunks; `None` for none.
    pub(super) fn around<'c>(chunks: impl IntoIterator<Item = &'c [u64]>) -> Option<Self> {
        let mut chunks = chunks.into_iter();
        let first = chunks.next()?;
        let mut around = Self { low: first.to_vec(), high: first.to_vec() };
        for chunk in chunks {
            for (axis, &at) in chunk.iter().enumerate() {
                around.low[axis] = around.low[axis].min(at);
                around.high[axis] = around.high[axis].max(at);
            }
        }
        Some(around)
    }

    fn meets(&self, other: &Self) -> bool {
        let low = self.low.iter().zip(&other.high).all(|(low, high)| low <= high);
        low && other.low.iter().zip(&self.high).all(|(low, high)| low <= high)
    }
}

impl Claims {
    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until nobody works on a chunk in `wanted`, and claims it.
    pub(super) fn wait_for(self: &Arc<Self>, wanted: ChunkBox) -> Claim {
        let mut held = self.lock();
        while held.boxes.iter().any(|(_, other)| other.meets(&wanted)) {
            held.waiting += 1;
            held = self.given_back.wait(held).unwrap_or_else(PoisonError::into_inner);
            held.waiting -= 1;
        }
        self.put(held, wanted)
    }

    /// Claims `wanted` if nobody works on a chunk in it.
    pub(super) fn try_for(self: &Arc<Self>, wanted: ChunkBox) -> Option<Claim> {
        let held = self.lock();
        let is_free = !held.boxes.iter().any(|(_, other)| other.meets(&wanted));
        is_free.then(|| self.put(held, wanted))
    }

    fn put(self: &Arc<Self>, mut held: MutexGuard<'_, Held>, wanted: ChunkBox) -> Claim {
        let number = held.next;
        held.next += 1;
        held.boxes.push((number, wanted));
        Claim { claims: Arc::clone(self), number }
    }
}

impl Claim {
    /// A claim of its own on some of the chunks that this one has.
    pub(super) fn share(&self, part: ChunkBox) -> Self {
        self.claims.put(self.claims.lock(), part)
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let mut held = self.claims.lock();
        held.boxes.retain(|(number, _)| *number != self.number);
        if held.waiting > 0 {
            self.claims.given_back.notify_all();
        }
    }
}
