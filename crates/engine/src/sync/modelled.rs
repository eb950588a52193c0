//! Primitives for tests: within a model those whose orders shuttle tries, and everywhere else those of `std`.
//!
//! Each has both, so that one build serves the models and every other test. A structure belongs to one model or to none:
//! which of the two counts is then the same at each use.

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
        #[derive(Default)]
        pub(crate) struct $name {
            model: shuttle::sync::atomic::$name,
            real: std::sync::atomic::$name,
        }

        impl $name {
            pub(crate) const fn new(value: $of) -> Self {
                let model = shuttle::sync::atomic::$name::new(value);
                Self { model, real: std::sync::atomic::$name::new(value) }
            }

            $(pub(crate) fn $call(&self, $($argument: $kind),*) -> $result {
                either!(self.model.$call($($argument),*), self.real.$call($($argument),*))
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

/// A lock; in a model, whose turn it is comes first.
#[derive(Default)]
pub(crate) struct Mutex<T> {
    turn: shuttle::sync::Mutex<()>,
    value: std::sync::Mutex<T>,
}

/// The value is given back before the turn is.
pub(crate) struct MutexGuard<'m, T> {
    value: std::sync::MutexGuard<'m, T>,
    turn: Option<shuttle::sync::MutexGuard<'m, ()>>,
    mutex: &'m Mutex<T>,
}

impl<T> Mutex<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self { turn: shuttle::sync::Mutex::new(()), value: std::sync::Mutex::new(value) }
    }

    pub(crate) fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        let turn = is_modelled().then(|| self.turn.lock().unwrap_or_else(PoisonError::into_inner));
        self.held(self.value.lock(), turn)
    }

    fn held<'m>(
        &'m self,
        value: LockResult<std::sync::MutexGuard<'m, T>>,
        turn: Option<shuttle::sync::MutexGuard<'m, ()>>,
    ) -> LockResult<MutexGuard<'m, T>> {
        match value {
            Ok(value) => Ok(MutexGuard { value, turn, mutex: self }),
            Err(poisoned) => {
                let value = poisoned.into_inner();
                Err(PoisonError::new(MutexGuard { value, turn, mutex: self }))
            }
        }
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

#[derive(Default)]
pub(crate) struct Condvar {
    model: shuttle::sync::Condvar,
    real: std::sync::Condvar,
}

impl Condvar {
    pub(crate) fn wait<'m, T>(&self, guard: MutexGuard<'m, T>) -> LockResult<MutexGuard<'m, T>> {
        let MutexGuard { value, turn, mutex } = guard;
        let Some(turn) = turn else { return mutex.held(self.real.wait(value), None) };
        drop(value);
        let turn = self.model.wait(turn).unwrap_or_else(PoisonError::into_inner);
        mutex.held(mutex.value.lock(), Some(turn))
    }

    pub(crate) fn notify_all(&self) {
        either!(self.model.notify_all(), self.real.notify_all());
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
