//! The number under which the cache keeps elements of a file that is being written.

use std::sync::PoisonError;
use std::sync::atomic::Ordering::{Acquire, Release};

use crate::cache::FileNumber;
use crate::sync::primitives::{AtomicBool, Mutex};

/// A number that is another one whenever elements changed after somebody was told it.
///
/// Who reads asks for the number first, then looks where the elements are; who writes changes the elements first, then
/// says so here. What is kept under the number that is told is then never older than what was written before.
pub(crate) struct ReadingNumber {
    /// Whether somebody was told the number. Whoever finds that nobody was comes before those who will be.
    is_told: AtomicBool,
    number: Mutex<FileNumber>,
}

impl ReadingNumber {
    pub(crate) fn new() -> Self {
        Self { is_told: AtomicBool::new(false), number: Mutex::new(FileNumber::new()) }
    }

    /// The number, for somebody who looks for the elements after this.
    pub(crate) fn tell(&self) -> u64 {
        let number = self.number.lock().unwrap_or_else(PoisonError::into_inner);
        self.is_told.store(true, Release);
        number.get()
    }

    /// Some elements have changed.
    pub(crate) fn outdate(&self) {
        // Only who has read has anything that is kept.
        if !self.is_told.load(Acquire) {
            return;
        }
        let mut number = self.number.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.is_told.load(Acquire) {
            return;
        }
        let before = std::mem::replace(&mut *number, FileNumber::new());
        // Not before there is another number: a second writer, who finds that nobody was told, goes on at once.
        self.is_told.store(false, Release);
        drop(number);
        // With it goes what was kept.
        drop(before);
    }
}
