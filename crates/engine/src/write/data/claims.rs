//! Who works on which chunks: two never work on the same one at once.
//!
//! A call that writes claims the box of all its chunks, a job that writes chunks later the box of
//! those, a flush everything. Who holds a claim never waits for another one, so all waiting ends.

use std::ops::Deref;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// The lowest and the highest coordinates along each axis, both inside.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
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
    /// The memory of a box that was given back: who writes row by row claims a chunk for each.
    spare: Option<ChunkBox>,
    /// How many wait: waking nobody is a call to the system too.
    waiting: usize,
}

/// A claim, until it is dropped. Who keeps it in his hands borrows the list, and who hands it to a thread has
/// a share in it.
pub(super) struct Claim<C: Deref<Target = Claims> = Arc<Claims>> {
    claims: C,
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
        let mut held = self.settled(self.lock(), &wanted);
        Claim { claims: Arc::clone(self), number: held.put(wanted) }
    }

    /// The same for one chunk.
    pub(super) fn wait_for_chunk(&self, coordinates: &[u64]) -> Claim<&Self> {
        let mut held = self.lock();
        let mut chunk = held.spare.take().unwrap_or_default();
        for bound in [&mut chunk.low, &mut chunk.high] {
            bound.clear();
            bound.extend_from_slice(coordinates);
        }
        let mut held = self.settled(held, &chunk);
        Claim { claims: self, number: held.put(chunk) }
    }

    /// Claims `wanted` if nobody works on a chunk in it.
    pub(super) fn try_for(self: &Arc<Self>, wanted: ChunkBox) -> Option<Claim> {
        let mut held = self.lock();
        let is_free = !held.meets(&wanted);
        is_free.then(|| Claim { claims: Arc::clone(self), number: held.put(wanted) })
    }

    /// Comes back when nobody works on a chunk in `wanted`.
    fn settled<'c>(
        &'c self,
        mut held: MutexGuard<'c, Held>,
        wanted: &ChunkBox,
    ) -> MutexGuard<'c, Held> {
        while held.meets(wanted) {
            held.waiting += 1;
            held = self.given_back.wait(held).unwrap_or_else(PoisonError::into_inner);
            held.waiting -= 1;
        }
        held
    }
}

impl Held {
    fn meets(&self, wanted: &ChunkBox) -> bool {
        self.boxes.iter().any(|(_, other)| other.meets(wanted))
    }

    fn put(&mut self, wanted: ChunkBox) -> u64 {
        let number = self.next;
        self.next += 1;
        self.boxes.push((number, wanted));
        number
    }
}

impl Claim {
    /// A claim of its own on some of the chunks that this one has.
    pub(super) fn share(&self, part: ChunkBox) -> Self {
        let number = self.claims.lock().put(part);
        Self { claims: Arc::clone(&self.claims), number }
    }
}

impl<C: Deref<Target = Claims>> Drop for Claim<C> {
    fn drop(&mut self) {
        let mut held = self.claims.lock();
        let place = held.boxes.iter().position(|(number, _)| *number == self.number);
        held.spare = place.map(|place| held.boxes.swap_remove(place).1);
        if held.waiting > 0 {
            self.claims.given_back.notify_all();
        }
    }
}
