//! Who takes space in a file, one after the other: in the order of the calls, however long each takes to have its
//! bytes ready, so that the same calls make the same file on any number of threads.
//!
//! ```text
//! call -> join -> thread: encode -> come -> its turn: space, bytes, table
//!      -> whatever takes space at once: settle -> space
//! ```
//! Who comes before his turn does not wait for it: whoever is before him does his work.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// What somebody does when it is his turn.
type Work = Box<dyn FnOnce() + Send>;

/// The line of one file.
#[derive(Default)]
pub struct Line {
    /// Those who joined and whose work is not over; looked at by everyone who takes space.
    count: AtomicUsize,
    state: Mutex<State>,
    moved: Condvar,
}

#[derive(Default)]
struct State {
    /// The place of who joins next.
    end: u64,
    /// Whose turn it is.
    turn: u64,
    /// Whether somebody is at work.
    is_busy: bool,
    /// Those who came before their turn.
    ready: BTreeMap<u64, Work>,
}

impl Line {
    /// A place at the end. Who has one has to [`come`](Self::come), or nobody behind him has his turn.
    pub(crate) fn join(&self) -> u64 {
        self.count.fetch_add(1, SeqCst);
        let mut state = self.lock();
        state.end += 1;
        state.end - 1
    }

    /// Has `work` done when all before this place have done theirs: at once, or by who comes as the last of them.
    pub(crate) fn come(&self, place: u64, work: impl FnOnce() + Send + 'static) {
        self.lock().ready.insert(place, Box::new(work));
        self.go_on();
    }

    /// Comes back when all who joined have done their work.
    pub(crate) fn settle(&self) {
        if self.count.load(SeqCst) == 0 {
            return;
        }
        let mut state = self.lock();
        let end = state.end;
        while state.turn < end {
            state = self.moved.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Does all the work whose turn it is, unless somebody is at it.
    fn go_on(&self) {
        /// Also where the work panics.
        struct End<'l>(&'l Line);
        impl Drop for End<'_> {
            fn drop(&mut self) {
                let mut state = self.0.lock();
                (state.is_busy, state.turn) = (false, state.turn + 1);
                self.0.count.fetch_sub(1, SeqCst);
                self.0.moved.notify_all();
            }
        }
        loop {
            let mut state = self.lock();
            let turn = state.turn;
            if state.is_busy {
                return;
            }
            let Some(work) = state.ready.remove(&turn) else { return };
            state.is_busy = true;
            drop(state);
            let end = End(self);
            work();
            drop(end);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Line").field("count", &self.count).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn work_is_done_in_the_order_of_joining() {
        let (line, done) = (Arc::new(Line::default()), Arc::new(Mutex::new(Vec::new())));
        let places: Vec<u64> = (0..40).map(|_| line.join()).collect();
        std::thread::scope(|scope| {
            for part in [3, 1, 0, 2] {
                let (line, done, places) = (&line, &done, &places);
                scope.spawn(move || {
                    for &place in places.iter().filter(|place| *place % 4 == part).rev() {
                        let done = Arc::clone(done);
                        line.come(place, move || done.lock().unwrap().push(place));
                    }
                });
            }
            line.settle();
            assert_eq!(*done.lock().unwrap(), places);
        });
    }

    #[test]
    fn a_panic_ends_nobody_elses_turn() {
        let line = Arc::new(Line::default());
        let (first, second) = (line.join(), line.join());
        let panicking = Arc::clone(&line);
        let thread = std::thread::spawn(move || panicking.come(first, || panic!("as it is meant")));
        assert!(thread.join().is_err());
        line.come(second, || ());
        line.settle();
    }
}
