//! Which process this is. A forked one has its parent's memory, but neither its threads nor its files.
//!
//! Unsafe room: `pthread_atfork` is told a function without arguments that adds to an atomic, which any
//! thread may do at any time, also between `fork` and whatever the child does first.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// How often this process's ancestors forked until it came about.
static FORKS: AtomicU32 = AtomicU32::new(0);

/// Another number in a forked process than in its parent. Costs no call to the system, so that every write
/// can ask.
pub(crate) fn generation() -> u32 {
    static IS_COUNTED: OnceLock<bool> = OnceLock::new();
    match IS_COUNTED.get_or_init(count_forks) {
        true => FORKS.load(Relaxed),
        false => std::process::id(),
    }
}

/// Has forks counted from now on; false where that cannot be.
#[cfg(unix)]
fn count_forks() -> bool {
    extern "C" fn forked() {
        FORKS.fetch_add(1, Relaxed);
    }
    // SAFETY: a function that may run in a child of whichever state, as it touches nothing but an atomic.
    unsafe { libc::pthread_atfork(None, None, Some(forked)) == 0 }
}

#[cfg(not(unix))]
fn count_forks() -> bool {
    // Nothing forks there.
    true
}
