//! What tests of reads share.

use std::mem::MaybeUninit;
use std::sync::{Mutex, MutexGuard, PoisonError};

use isotach::cache;
use isotach::model::selection::Selection;
use isotach::read::Array;

/// What a call to a local file costs, in bytes.
pub const LOCAL: u64 = 16 << 10;

/// Holds off other tests: they set the budget of the process's one cache, which is empty now.
pub fn alone(budget: u64) -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    let guard = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    cache::set_budget(0);
    cache::set_budget(budget);
    guard
}

/// The selected elements as they are stored.
pub fn try_read(array: &Array, selection: &Selection) -> isotach::Result<Vec<u8>> {
    let count = selection.element_count().unwrap() as usize * array.layout.element_size;
    let mut into = vec![MaybeUninit::uninit(); count];
    Ok(array.read_stored_into(selection, &mut into)?.to_vec())
}

/// The same where nothing can go wrong.
pub fn read(array: &Array, selection: &Selection) -> Vec<u8> {
    try_read(array, selection).unwrap()
}
