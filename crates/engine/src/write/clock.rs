//! Commits that nobody asked for: what was changed is in the file after the commit interval, also
//! where the writer does nothing more.
//!
//! ```text
//! change -> Clock::start -> thread waits until the interval is over -> commit -> Clock::stop
//! ```
//! Each file has a thread of its own, from its first change on: a storage that hangs keeps nobody
//! else's file waiting. The thread keeps neither the file open nor the process alive.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// When the changes of one file are due.
pub(super) struct Clock {
    interval: Duration,
    /// Whether something was changed since the last commit; looked at by every write.
    runs: AtomicBool,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    due: Option<Instant>,
    has_thread: bool,
    /// Whether the thread wakes by itself, which is before anything new is due: who commits all the
    /// time does not wake it each time.
    is_set: bool,
    is_over: bool,
}

impl Clock {
    pub(super) fn new(interval: Duration) -> Self {
        let (state, changed) = (Mutex::default(), Condvar::new());
        Self { interval, runs: AtomicBool::new(false), state, changed }
    }

    /// Something was changed. `commit` is called when that is due, and again and again until
    /// [`Clock::stop`]; it tells whether there is still a file.
    pub(super) fn start(self: &Arc<Self>, commit: impl FnOnce() -> Commit) {
        if self.runs.load(Relaxed) || self.runs.swap(true, Relaxed) {
            return;
        }
        let mut state = self.lock();
        state.due = self.next();
        if !state.has_thread {
            let (clock, commit) = (Arc::clone(self), commit());
            let thread = std::thread::Builder::new().name("isotach-commit".to_owned());
            // Where there is no thread to be had, the next change tries again.
            state.has_thread = thread.spawn(move || clock.work(&commit)).is_ok();
            self.runs.store(state.has_thread, Relaxed);
        }
        if !state.is_set {
            self.changed.notify_one();
        }
    }

    /// Everything is in the file.
    pub(super) fn stop(&self) {
        self.runs.store(false, Relaxed);
        self.lock().due = None;
    }

    /// The file is closed.
    pub(super) fn end(&self) {
        self.lock().is_over = true;
        self.changed.notify_one();
    }

    fn work(&self, commit: &Commit) {
        while self.wait() && commit() {}
    }

    /// Waits until a commit is due; false where there will be none.
    fn wait(&self) -> bool {
        let mut state = self.lock();
        while !state.is_over {
            let now = Instant::now();
            state = match state.due {
                Some(due) if due <= now => {
                    state.due = self.next();
                    return true;
                }
                Some(due) => {
                    state.is_set = true;
                    let waited = self.changed.wait_timeout(state, due - now);
                    let mut state = waited.unwrap_or_else(PoisonError::into_inner).0;
                    state.is_set = false;
                    state
                }
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
        false
    }

    /// When a change of now is due; `None` for an interval that never ends.
    fn next(&self) -> Option<Instant> {
        Instant::now().checked_add(self.interval)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Commits; false where there is no file any more.
pub(super) type Commit = Box<dyn Fn() -> bool + Send>;
