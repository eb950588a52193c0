//! An error that nobody was there for when it happened: told to whoever comes next, once.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::Error;

/// See the module. Every write asks for it, and finds nothing without taking a lock.
#[derive(Default)]
pub(super) struct ToTell {
    /// Says what the lock says; who comes while that changes has come before or after.
    is_some: AtomicBool,
    error: Mutex<Option<Error>>,
}

impl ToTell {
    /// The error, if there is one: from now on there is none.
    pub(super) fn take(&self) -> Option<Error> {
        if !self.is_some.load(Relaxed) {
            return None;
        }
        let mut error = self.lock();
        self.is_some.store(false, Relaxed);
        error.take()
    }

    /// Keeps `error`, in place of an earlier one.
    pub(super) fn put(&self, error: Error) {
        let mut kept = self.lock();
        *kept = Some(error);
        self.is_some.store(true, Relaxed);
    }

    /// Keeps `error` where there is no earlier one.
    pub(super) fn put_first(&self, error: Error) {
        let mut kept = self.lock();
        kept.get_or_insert(error);
        self.is_some.store(true, Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, Option<Error>> {
        self.error.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
