//! Locks that a forked process can use, whatever its parent's threads were doing.
//!
//! A child has its parent's memory, but only the thread that forked: a lock that another thread held stays
//! locked in it for ever, and what was being changed under it stays half changed. No lock can be taken
//! ahead of a fork either: some are held while storage is read, and a storage may be a Python object whose
//! interpreter the forking thread holds. So each lock knows for which process it is:
//!
//! ```text
//! lock -> of this process -> std's lock
//!      -> of the parent   -> free when it forked: what is in it moves to a new lock, of this process
//!                         -> read by others:      the new lock has a copy
//!                         -> held:                the new lock has the default; the old one is never touched again
//! ```
//! What stands in such a lock can therefore always be found again: it is a cache, or the word that somebody is at work.
//! What cannot be found again stands in a [`Kept`].
//! Of a process that does not fork, each use costs the comparison of two numbers.
//!
//! Unsafe room: a chain of boxes that is only ever added to.
//! - `later` is null or came from `Box::into_raw`, and is freed by `drop` alone, which has the lock for itself;
//!   so references to what it points to live as long as those to the lock;
//! - a lock of an earlier process is looked at only by the one thread that claimed `renewing`, and only by
//!   trying it: what it guards is touched where that succeeds, so that no thread of this process has it;
//! - what could not be had is never touched and never dropped: it may be half changed;
//! - the value of a [`OnceLock`] is written by the thread alone that brought its word to `PUTTING`, once, and is only read
//!   from `THERE` on;
//! - what a [`PerProcess`] points to is never freed.

use std::cell::UnsafeCell;
use std::convert::Infallible;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::ptr::null_mut;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicPtr, AtomicU32};
use std::sync::{LockResult, MutexGuard, RwLockReadGuard, RwLockWriteGuard, TryLockError};
use std::time::Duration;

use crate::process::{generation, uncancelled};

mod kept;
#[cfg(test)]
mod modelled;
pub(crate) mod primitives;
pub use kept::Kept;

/// [`std::sync::Mutex`] for many processes; see the module.
pub struct Mutex<T: Default>(Renewing<std::sync::Mutex<T>>);

/// [`std::sync::RwLock`] for many processes; see the module.
pub struct RwLock<T: Default + Clone>(Renewing<std::sync::RwLock<T>>);

/// [`std::sync::OnceLock`] for many processes: a thread that is making the value keeps those of its own process
/// waiting, and nobody else.
pub struct OnceLock<T> {
    /// A stage, and the process in which that was reached.
    stage: primitives::AtomicU32,
    value: UnsafeCell<MaybeUninit<T>>,
}

/// One value for each process: a forked one begins anew, and leaves its parent's alone.
pub struct PerProcess<T: 'static>(AtomicPtr<(u32, T)>);

impl<T: Default> Mutex<T> {
    /// An open lock.
    pub fn new(value: T) -> Self {
        Self(Renewing::new(generation(), std::sync::Mutex::new(value)))
    }

    /// One that is there before the process is.
    pub const fn fixed(value: T) -> Self {
        Self(Renewing::new(0, std::sync::Mutex::new(value)))
    }

    /// As [`std::sync::Mutex::lock`].
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        self.0.present().lock()
    }

    /// As [`std::sync::Mutex::try_lock`].
    pub fn try_lock(&self) -> std::sync::TryLockResult<MutexGuard<'_, T>> {
        self.0.present().try_lock()
    }
}

impl<T: Default + Clone> RwLock<T> {
    /// An open lock.
    pub fn new(value: T) -> Self {
        Self(Renewing::new(generation(), std::sync::RwLock::new(value)))
    }

    /// One that is there before the process is.
    pub const fn fixed(value: T) -> Self {
        Self(Renewing::new(0, std::sync::RwLock::new(value)))
    }

    /// As [`std::sync::RwLock::read`].
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        self.0.present().read()
    }

    /// As [`std::sync::RwLock::write`].
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        self.0.present().write()
    }
}

impl<T: Default> std::fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Mutex")
    }
}

impl<T: Default> Default for Mutex<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T: Default + Clone> Default for RwLock<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

/// A lock that can be taken over from an earlier process.
trait Lock: Sized {
    /// A new lock with what is in this one; `None` where somebody held it.
    fn taken_over(&self) -> Option<Self>;

    /// A new lock with nothing in it.
    fn empty() -> Self;

    /// Whether nobody holds it.
    fn is_free(&self) -> bool;
}

impl<T: Default> Lock for std::sync::Mutex<T> {
    fn taken_over(&self) -> Option<Self> {
        match self.try_lock() {
            Ok(mut value) => Some(Self::new(std::mem::take(&mut value))),
            Err(TryLockError::Poisoned(value)) => {
                Some(Self::new(std::mem::take(&mut value.into_inner())))
            }
            Err(TryLockError::WouldBlock) => None,
        }
    }

    fn empty() -> Self {
        Self::new(T::default())
    }

    fn is_free(&self) -> bool {
        !matches!(self.try_lock(), Err(TryLockError::WouldBlock))
    }
}

impl<T: Default + Clone> Lock for std::sync::RwLock<T> {
    fn taken_over(&self) -> Option<Self> {
        match self.try_write() {
            Ok(mut value) => Some(Self::new(std::mem::take(&mut value))),
            Err(TryLockError::Poisoned(value)) => {
                Some(Self::new(std::mem::take(&mut value.into_inner())))
            }
            // Nobody changes what is only read.
            Err(TryLockError::WouldBlock) => {
                self.try_read().ok().map(|value| Self::new(value.clone()))
            }
        }
    }

    fn empty() -> Self {
        Self::new(T::default())
    }

    fn is_free(&self) -> bool {
        !matches!(self.try_write(), Err(TryLockError::WouldBlock))
    }
}

/// A lock, and those that took its place in forked processes.
struct Renewing<L: Lock> {
    first: Of<L>,
    /// The lock of a later process.
    later: AtomicPtr<Of<L>>,
    /// The process in which a thread makes, or made, the newest lock.
    renewing: AtomicU32,
}

/// The lock of one process.
struct Of<L> {
    process: u32,
    lock: ManuallyDrop<L>,
    before: *mut Of<L>,
}

// SAFETY: boxes of locks, which may be sent and shared as the locks themselves may.
unsafe impl<L: Lock + Send> Send for Renewing<L> {}
// SAFETY: as above; what is done with a shared one is in the module's contract.
unsafe impl<L: Lock + Send + Sync> Sync for Renewing<L> {}

impl<L: Lock> Renewing<L> {
    const fn new(process: u32, lock: L) -> Self {
        let first = Of { process, lock: ManuallyDrop::new(lock), before: null_mut() };
        Self { first, later: AtomicPtr::new(null_mut()), renewing: AtomicU32::new(process) }
    }

    /// The newest lock there is.
    #[inline]
    fn newest(&self) -> &Of<L> {
        // SAFETY: null, or a box that lives as long as this.
        unsafe { self.later.load(Acquire).as_ref() }.unwrap_or(&self.first)
    }

    /// The lock of this process.
    #[inline]
    fn present(&self) -> &L {
        let newest = self.newest();
        if newest.process == generation() { &newest.lock } else { self.renewed() }
    }

    #[cold]
    fn renewed(&self) -> &L {
        let process = generation();
        loop {
            let newest = self.newest();
            if newest.process == process {
                return &newest.lock;
            }
            let by = self.renewing.load(Acquire);
            let is_mine = by != process
                && self.renewing.compare_exchange(by, process, AcqRel, Relaxed).is_ok();
            if is_mine {
                let lock = ManuallyDrop::new(newest.lock.taken_over().unwrap_or_else(L::empty));
                let before = self.later.load(Acquire);
                self.later.store(Box::into_raw(Box::new(Of { process, lock, before })), Release);
            } else {
                // Another thread of this process is at the lines above.
                std::thread::yield_now();
            }
        }
    }
}

impl<L: Lock> Drop for Renewing<L> {
    fn drop(&mut self) {
        let process = generation();
        let mut next = *self.later.get_mut();
        while !next.is_null() {
            // SAFETY: a box that nobody else knows any more.
            let of = unsafe { Box::from_raw(next) };
            next = of.before;
            if of.process == process || of.lock.is_free() {
                drop(ManuallyDrop::into_inner(of.lock));
            }
        }
        if self.first.process == process || self.first.lock.is_free() {
            // SAFETY: it is not used again.
            unsafe { ManuallyDrop::drop(&mut self.first.lock) };
        }
    }
}

/// How far a [`OnceLock`] is: in the lowest bits of its word, below the process.
mod stage {
    pub(super) const NOTHING: u32 = 0;
    /// A thread makes the value.
    pub(super) const MAKING: u32 = 1;
    /// It puts the value into its place, which takes no time.
    pub(super) const PUTTING: u32 = 2;
    /// For good, in whatever process.
    pub(super) const THERE: u32 = 3;
    pub(super) const BITS: u32 = 2;

    /// The word of a thread of this process.
    pub(super) fn of(process: u32, stage: u32) -> u32 {
        process << BITS | stage
    }
}

// SAFETY: a value that one thread puts there and any may read, or take out with the whole.
unsafe impl<T: Send> Send for OnceLock<T> {}
// SAFETY: as above; whoever comes first sends it to the others.
unsafe impl<T: Send + Sync> Sync for OnceLock<T> {}

impl<T> OnceLock<T> {
    /// Without a value.
    #[must_use]
    pub const fn new() -> Self {
        let value = UnsafeCell::new(MaybeUninit::uninit());
        Self { stage: primitives::AtomicU32::new(stage::NOTHING), value }
    }

    /// The same in a model.
    #[cfg(test)]
    fn of_model() -> Self {
        let value = UnsafeCell::new(MaybeUninit::uninit());
        Self { stage: primitives::AtomicU32::of_model(stage::NOTHING), value }
    }

    /// The value, where it was made.
    #[inline]
    pub fn get(&self) -> Option<&T> {
        // SAFETY: it is there, and nobody writes to it any more.
        (self.stage.load(Acquire) & stage::THERE == stage::THERE)
            .then(|| unsafe { (*self.value.get()).assume_init_ref() })
    }

    /// The value; where there is none, `make` makes it, and who asks meanwhile waits. One that the parent
    /// process was making is made anew.
    #[inline]
    pub fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
        match self.get_or_try_init(|| Ok::<T, Infallible>(make())) {
            Ok(value) => value,
        }
    }

    /// The same; where `make` fails, the next who asks tries again.
    ///
    /// # Errors
    /// Those of `make`.
    #[inline]
    pub fn get_or_try_init<E>(&self, make: impl FnOnce() -> Result<T, E>) -> Result<&T, E> {
        let mut make = Some(make);
        loop {
            match (self.get(), &make) {
                (Some(value), _) => return Ok(value),
                (None, Some(_)) => self.init(&mut make)?,
                // Of a process that is not this one any more: `make` forked.
                (None, None) => pause(u32::MAX),
            }
        }
    }

    /// Makes the value, or waits until somebody of this process has.
    #[cold]
    fn init<E>(&self, make: &mut Option<impl FnOnce() -> Result<T, E>>) -> Result<(), E> {
        let making = stage::of(generation(), stage::MAKING);
        for round in 0.. {
            let now = self.stage.load(Acquire);
            let is_there = now & stage::THERE == stage::THERE;
            let is_made = now != stage::NOTHING && now >> stage::BITS == making >> stage::BITS;
            if is_there {
                return Ok(());
            }
            if is_made {
                pause(round);
            } else if self.stage.compare_exchange(now, making, AcqRel, Relaxed).is_ok() {
                break;
            }
        }
        let Some(make) = make.take() else { return Ok(()) };
        let unmade = Unmade { stage: &self.stage, making };
        let value = make()?;
        std::mem::forget(unmade);
        let putting = making - stage::MAKING + stage::PUTTING;
        // In a child that was forked meanwhile another thread may have begun.
        if self.stage.compare_exchange(making, putting, AcqRel, Relaxed).is_ok() {
            // SAFETY: the word says that this thread alone is here.
            unsafe { (*self.value.get()).write(value) };
            self.stage.store(stage::THERE, Release);
        }
        Ok(())
    }
}

/// Lets others make a value where that fails, or ends by a panic.
struct Unmade<'o> {
    stage: &'o primitives::AtomicU32,
    making: u32,
}

impl Drop for Unmade<'_> {
    fn drop(&mut self) {
        let _ = self.stage.compare_exchange(self.making, stage::NOTHING, AcqRel, Relaxed);
    }
}

/// Waits for a moment, longer with each round.
fn pause(round: u32) {
    match round {
        0..16 => primitives::spin_loop(),
        16..32 => primitives::yield_now(),
        _ => {
            let micros = (u64::from(round) * 4).min(1000);
            uncancelled(|| primitives::sleep(Duration::from_micros(micros)));
        }
    }
}

impl<T> Drop for OnceLock<T> {
    fn drop(&mut self) {
        if self.get().is_some() {
            // SAFETY: it is there, and nobody else knows this any more.
            unsafe { self.value.get_mut().assume_init_drop() };
        }
    }
}

impl<T> Default for OnceLock<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> From<T> for OnceLock<T> {
    fn from(value: T) -> Self {
        let value = UnsafeCell::new(MaybeUninit::new(value));
        Self { stage: primitives::AtomicU32::new(stage::THERE), value }
    }
}

impl<T: Clone> Clone for OnceLock<T> {
    fn clone(&self) -> Self {
        self.get().cloned().map_or_else(Self::new, Self::from)
    }
}

impl<T: Send + Sync> PerProcess<T> {
    /// Without a value.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Self {
        Self(AtomicPtr::new(null_mut()))
    }

    /// This process's value, made now where there is none, from the parent's where that has one. Two threads may
    /// make one at once: one of them stays.
    #[inline]
    pub fn get(&'static self, make: impl FnOnce(Option<&T>) -> T) -> &'static T {
        let present = self.0.load(Acquire);
        // SAFETY: null, or a box that is never freed.
        match unsafe { present.as_ref() } {
            Some((process, value)) if *process == generation() => value,
            before => self.begin(present, make(before.map(|(_, value)| value))),
        }
    }

    #[cold]
    fn begin(&'static self, present: *mut (u32, T), value: T) -> &'static T {
        let made = Box::into_raw(Box::new((generation(), value)));
        // SAFETY: boxes that are never freed, but for one that nobody knows.
        unsafe {
            match self.0.compare_exchange(present, made, AcqRel, Acquire) {
                Ok(_) => &(*made).1,
                Err(other) => {
                    drop(Box::from_raw(made));
                    &(*other).1
                }
            }
        }
    }
}

#[cfg(test)]
mod models;
#[cfg(test)]
mod tests;
