//! Locks, counts and threads: those of `std`. In tests they are also those whose orders the models try (`models.rs`).

#[cfg(not(test))]
pub(crate) use std::{
    hint::spin_loop,
    sync::atomic::{AtomicBool, AtomicU32, AtomicU64},
    sync::{Condvar, Mutex, MutexGuard},
    thread::{ThreadId, sleep, yield_now},
};

#[cfg(test)]
pub(crate) use super::modelled::{
    AtomicBool, AtomicU32, AtomicU64, Condvar, Mutex, MutexGuard, ThreadId, sleep, spin_loop,
    this_thread, yield_now,
};

/// The thread that asks.
#[cfg(not(test))]
pub(crate) fn this_thread() -> ThreadId {
    std::thread::current().id()
}
