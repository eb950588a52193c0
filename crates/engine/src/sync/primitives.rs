//! Locks, counts and threads: those of `std`, or those whose orders the models try (`models.rs`).

#[cfg(not(all(test, feature = "model")))]
pub(crate) use std::{
    hint::spin_loop,
    sync::atomic::{AtomicBool, AtomicU32, AtomicU64},
    sync::{Condvar, Mutex, MutexGuard},
    thread::{ThreadId, current, sleep, yield_now},
};

#[cfg(all(test, feature = "model"))]
pub(crate) use shuttle::{
    hint::spin_loop,
    sync::atomic::{AtomicBool, AtomicU32, AtomicU64},
    sync::{Condvar, Mutex, MutexGuard},
    thread::{ThreadId, current, sleep, yield_now},
};
