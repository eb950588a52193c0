//! Which process this is, and that its threads come to no end in the midst of something.
//!
//! A forked process has its parent's memory, but neither its threads nor its files. A thread that is cancelled
//! (`pthread_cancel`) ends at the next point of cancellation that it reaches, such as opening, closing or
//! writing a file: what it has locked or half done would stay so for all others.
//!
//! Unsafe room: `pthread_atfork` is told a function without arguments that adds to an atomic, which any
//! thread may do at any time, also between `fork` and whatever the child does first.
//! `pthread_setcancelstate` changes nothing but the thread that calls it.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// How often this process's ancestors forked until it came about, since forks are counted.
static FORKS: AtomicU32 = AtomicU32::new(0);
/// Whether forks are counted; see the constants.
static COUNTING: AtomicU32 = AtomicU32::new(NOT_YET);

const NOT_YET: u32 = 0;
const COUNTED: u32 = 1;
/// The system refuses: the process's own number has to do.
const REFUSED: u32 = 2;

/// Another number in a forked process than in its parent. Costs no call to the system, so that every write
/// can ask. Waits for nobody: a thread that is asking while another one forks keeps the child from nothing.
#[inline]
pub(crate) fn generation() -> u32 {
    match COUNTING.load(Relaxed) {
        COUNTED => FORKS.load(Relaxed),
        NOT_YET => begin_counting(),
        _ => std::process::id(),
    }
}

/// Has forks counted from now on. Two threads that do this at once count each fork twice, which is as good.
#[cold]
fn begin_counting() -> u32 {
    let is_counted = count_forks();
    COUNTING.store(if is_counted { COUNTED } else { REFUSED }, Relaxed);
    generation()
}

/// False where that cannot be.
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

/// Runs `work`, during which nobody can cancel the thread: who tries is heard afterwards.
pub fn uncancelled<T>(work: impl FnOnce() -> T) -> T {
    let _until_done = Uncancelled::new();
    work()
}

/// Keeps this thread from being cancelled while it lives.
struct Uncancelled {
    /// Whether it could be cancelled before.
    #[cfg(all(unix, not(target_os = "android")))]
    before: libc::c_int,
}

#[cfg(all(unix, not(target_os = "android")))]
impl Uncancelled {
    /// `PTHREAD_CANCEL_DISABLE` of the system's `pthread.h`.
    const DISABLE: libc::c_int = if cfg!(target_vendor = "apple") { 0 } else { 1 };

    fn new() -> Self {
        let mut before = 0;
        // SAFETY: a state there is, and a place for the one before.
        unsafe { pthread_setcancelstate(Self::DISABLE, &mut before) };
        Self { before }
    }
}

#[cfg(all(unix, not(target_os = "android")))]
impl Drop for Uncancelled {
    fn drop(&mut self) {
        let mut disabled = 0;
        // SAFETY: the state that the thread had, and a place for the one before.
        unsafe { pthread_setcancelstate(self.before, &mut disabled) };
    }
}

#[cfg(all(unix, not(target_os = "android")))]
unsafe extern "C" {
    /// POSIX, 2.9.5 "Thread Cancellation".
    fn pthread_setcancelstate(state: libc::c_int, before: *mut libc::c_int) -> libc::c_int;
}

#[cfg(not(all(unix, not(target_os = "android"))))]
impl Uncancelled {
    fn new() -> Self {
        // Nothing is cancelled there.
        Self {}
    }
}
