//! The threads: decoding and large copies run here, beside the caller's own thread.
//!
//! `ISOTACH_THREADS` says how many threads; the default is what the machine has. With 1, all work
//! stays on the caller's thread. A forked child has none of its parent's threads: a pool is built
//! anew when the process is another one.

use std::sync::{Arc, PoisonError};

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::process::{self, uncancelled};
use crate::sync::{Mutex, OnceLock};

/// Threads, once they are wanted, and the process that they are in.
struct Pool {
    name: &'static str,
    built: Mutex<Option<(u32, Arc<ThreadPool>)>>,
}

/// For what somebody waits for.
static POOL: Pool = Pool { name: "isotach", built: Mutex::fixed(None) };
/// For what nobody waits for yet. A thread that waits for its part of a request takes whatever else
/// there is to do in its pool: that must not be something long that the request does not need.
static LATER: Pool = Pool { name: "isotach-later", built: Mutex::fixed(None) };

/// How many threads work at once.
pub fn thread_count() -> usize {
    static COUNT: OnceLock<usize> = OnceLock::new();
    *COUNT.get_or_init(|| {
        let asked = std::env::var("ISOTACH_THREADS").ok().and_then(|text| text.trim().parse().ok());
        let machine = || std::thread::available_parallelism().map_or(1, usize::from);
        asked.filter(|&count| count > 0).unwrap_or_else(machine).min(MOST_THREADS)
    })
}

/// More threads than this only cost memory.
const MOST_THREADS: usize = 256;
/// The same for looking at structures: each thread's small pieces of memory lie for themselves.
const MOST_BESIDE: usize = 4;

impl Pool {
    /// Its threads in this process; `None` where one thread is all there is, or no thread can be
    /// started.
    fn threads(&self) -> Option<Arc<ThreadPool>> {
        if thread_count() < 2 {
            return None;
        }
        let process = process::generation();
        let mut built = self.built.lock().unwrap_or_else(PoisonError::into_inner);
        match &*built {
            Some((owner, pool)) if *owner == process => Some(Arc::clone(pool)),
            _ => {
                let name = self.name;
                let builder = ThreadPoolBuilder::new()
                    .num_threads(thread_count())
                    .thread_name(move |index| format!("{name}-{index}"));
                let pool = Arc::new(builder.build().ok()?);
                // The parent's: dropping it would wait for threads that are not in this process.
                if let Some((_, parent)) = built.replace((process, Arc::clone(&pool))) {
                    std::mem::forget(parent);
                }
                Some(pool)
            }
        }
    }
}

/// Calls `work` with every number below `count`, on several threads where there are. An error ends it: of
/// several, that of the lowest number is told.
pub(crate) fn for_each<E: Send>(
    count: usize,
    work: impl Fn(usize) -> Result<(), E> + Sync + Send,
) -> Result<(), E> {
    match (count > 1).then(|| POOL.threads()).flatten() {
        Some(pool) => {
            let failed = |number| work(number).err();
            let first = pool.install(|| (0..count).into_par_iter().find_map_first(failed));
            first.map_or(Ok(()), Err)
        }
        None => (0..count).try_for_each(work),
    }
}

/// What `work` makes of each item, in order; the first error ends it.
pub(crate) fn map<T: Sync, R: Send, E: Send>(
    items: &[T],
    work: impl Fn(&T) -> Result<R, E> + Sync + Send,
) -> Result<Vec<R>, E> {
    match (items.len() > 1).then(|| POOL.threads()).flatten() {
        Some(pool) => pool.install(|| items.par_iter().map(&work).collect()),
        None => items.iter().map(work).collect(),
    }
}

/// What `work` makes of each item, in order: by the caller and a few threads that live as long as this. For work
/// during which others may wait for the caller: threads of the pool could be among them.
pub(crate) fn map_beside<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    // To wait for a thread is a point of cancellation.
    uncancelled(|| beside(items, work))
}

fn beside<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = thread_count().min(MOST_BESIDE);
    let (own, rest) = items.split_at(items.len().div_ceil(threads.max(1)));
    let work = &work;
    let of = |part: &[T]| part.iter().map(work).collect::<Vec<R>>();
    std::thread::scope(|scope| {
        let parts = rest.chunks(own.len().max(1));
        let beside: Vec<_> = parts
            .map(|part| {
                let thread = std::thread::Builder::new().name("isotach-beside".to_owned());
                (part, thread.spawn_scoped(scope, move || of(part)))
            })
            .collect();
        let mut made = Vec::with_capacity(items.len());
        made.extend(own.iter().map(work));
        for (part, thread) in beside {
            match thread.map(|thread| thread.join()) {
                Ok(Ok(results)) => made.extend(results),
                Ok(Err(panic)) => std::panic::resume_unwind(panic),
                // There is no thread to be had.
                Err(_) => made.extend(part.iter().map(work)),
            }
        }
        made
    })
}

/// Runs `work` some time later. Not at all where there is one thread only.
pub(crate) fn later(work: impl FnOnce() + Send + 'static) {
    if let Some(pool) = LATER.threads() {
        pool.spawn(work);
    }
}

/// Runs `work` on another thread, or at once where there is no other.
pub(crate) fn soon(work: impl FnOnce() + Send + 'static) {
    match LATER.threads() {
        Some(pool) => pool.spawn(work),
        None => work(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use super::*;

    #[test]
    fn every_number_comes_once_and_errors_come_back() {
        let sum = AtomicUsize::new(0);
        let all: Result<(), ()> = for_each(1000, |index| {
            sum.fetch_add(index, Relaxed);
            Ok(())
        });
        assert_eq!((all, sum.into_inner()), (Ok(()), 499_500));
        for _ in 0..100 {
            assert_eq!(
                for_each(100, |index| if index >= 17 { Err(index) } else { Ok(()) }),
                Err(17)
            );
        }
    }

    #[test]
    fn what_is_made_beside_one_another_comes_in_order() {
        for count in [0, 1, 2, 3, 5, 1000] {
            let items: Vec<usize> = (0..count).collect();
            let doubled: Vec<usize> = items.iter().map(|item| item * 2).collect();
            assert_eq!(map_beside(&items, |item| item * 2), doubled);
        }
    }
}
