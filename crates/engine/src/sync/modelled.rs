//! Primitives for tests: those that a model makes are shuttle's, which tries their orders, and all others those of `std`.
//!
//! So one build serves the models and every other test, and what lives longer than a model, as the cache does, is never one's.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::Ordering;
use std::sync::{LockResult, PoisonError};
use std::time::Duration;

use shuttle::current::try_get_current_task;

/// Whether this is a thread of a model.
fn is_modelled() -> bool {
    try_get_current_task().is_some()
}

/// One of two calls, of the same meaning.
macro_rules! either {
    ($model:expr, $real:expr) => {
        if is_modelled() { $model } else { $real }
    };
}

macro_rules! atomic {
    ($name:ident, $of:ty, $($call:ident($($argument:ident: $kind:ty),*) -> $result:ty;)*) => {
        pub(crate) enum $name {
            Model(shuttle::sync::atomic::$name),
            Real(std::sync::atomic::$name),
        }

        impl $name {
            $(pub(crate) fn $call(&self, $($argument: $kind),*) -> $result {
                match self {
                    Self::Model(model) => model.$call($($argument),*),
                    Self::Real(real) => real.$call($($argument),*),
                }
            })*
        }
    };
}

atomic!(AtomicBool, bool,
    load(order: Ordering) -> bool;
    store(value: bool, order: Ordering) -> ();
);
atomic!(AtomicU32, u32,
    load(order: Ordering) -> u32;
    store(value: u32, order: Ordering) -> ();
    compare_exchange(old: u32, new: u32, found: Ordering, other: Ordering) -> Result<u32, u32>;
);
atomic!(AtomicU64, u64,
    load(order: Ordering) -> u64;
    store(value: u64, order: Ordering) -> ();
    fetch_add(value: u64, order: Ordering) -> u64;
    swap(value: u64, order: Ordering) -> u64;
);

impl AtomicBool {
    pub(crate) fn new(value: bool) -> Self {
        either!(
            Self::Model(shuttle::sync::atomic::AtomicBool::new(value)),
            Self::Real(std::sync::atomic::AtomicBool::new(value))
        )
    }
}

impl AtomicU64 {
    pub(crate) fn new(value: u64) -> Self {
        either!(
            Self::Model(shuttle::sync::atomic::AtomicU64::new(value)),
            Self::Real(std::sync::atomic::AtomicU64::new(value))
        )
    }
}

impl Default for AtomicU64 {
    fn default() -> Self {
        Self::new(0)
    }
}

impl AtomicU32 {
    /// One of no model: it may be there before the process is.
    pub(crate) const fn new(value: u32) -> Self {
        Self::Real(std::sync::atomic::AtomicU32::new(value))
    }

    pub(crate) fn of_model(value: u32) -> Self {
        Self::Model(shuttle::sync::atomic::AtomicU32::new(value))
    }
}

pub(crate) enum Mutex<T> {
    Model(shuttle::sync::Mutex<T>),
    Real(std::sync::Mutex<T>),
}

pub(crate) enum MutexGuard<'m, T> {
    Model(shuttle::sync::MutexGuard<'m, T>),
    Real(std::sync::MutexGuard<'m, T>),
}

/// The same in one of two kinds, poisoned or not.
fn kind<A, B>(result: LockResult<A>, of: impl FnOnce(A) -> B) -> LockResult<B> {
    match result {
        Ok(guard) => Ok(of(guard)),
        Err(poisoned) => Err(PoisonError::new(of(poisoned.into_inner()))),
    }
}

impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Self {
        either!(
            Self::Model(shuttle::sync::Mutex::new(value)),
            Self::Real(std::sync::Mutex::new(value))
        )
    }

    pub(crate) fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        match self {
            Self::Model(model) => kind(model.lock(), MutexGuard::Model),
            Self::Real(real) => kind(real.lock(), MutexGuard::Real),
        }
    }
}

impl<T: Default> Default for Mutex<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        match self {
            Self::Model(model) => model,
            Self::Real(real) => real,
        }
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        match self {
            Self::Model(model) => model,
            Self::Real(real) => real,
        }
    }
}

pub(crate) enum Condvar {
    Model(shuttle::sync::Condvar),
    Real(std::sync::Condvar),
}

impl Default for Condvar {
    fn default() -> Self {
        either!(Self::Model(Default::default()), Self::Real(Default::default()))
    }
}

impl Condvar {
    pub(crate) fn wait<'m, T>(&self, guard: MutexGuard<'m, T>) -> LockResult<MutexGuard<'m, T>> {
        match (self, guard) {
            (Self::Model(model), MutexGuard::Model(guard)) => {
                kind(model.wait(guard), MutexGuard::Model)
            }
            (Self::Real(real), MutexGuard::Real(guard)) => kind(real.wait(guard), MutexGuard::Real),
            _ => unreachable!("a structure belongs to one model or to none"),
        }
    }

    pub(crate) fn notify_all(&self) {
        match self {
            Self::Model(model) => model.notify_all(),
            Self::Real(real) => real.notify_all(),
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum ThreadId {
    Model(shuttle::thread::ThreadId),
    Real(std::thread::ThreadId),
}

pub(crate) fn this_thread() -> ThreadId {
    either!(
        ThreadId::Model(shuttle::thread::current().id()),
        ThreadId::Real(std::thread::current().id())
    )
}

pub(crate) fn spin_loop() {
    either!(shuttle::hint::spin_loop(), std::hint::spin_loop());
}

pub(crate) fn yield_now() {
    either!(shuttle::thread::yield_now(), std::thread::yield_now());
}

pub(crate) fn sleep(time: Duration) {
    either!(shuttle::thread::sleep(time), std::thread::sleep(time));
}
