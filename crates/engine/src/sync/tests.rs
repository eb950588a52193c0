//! Whether what guards stays whole: by threads here, by processes in `tests/forks.rs`.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier};

use super::*;

#[test]
fn a_value_is_made_once_and_everybody_finds_it() {
    for _ in 0..200 {
        let (made, begun) = (AtomicUsize::new(0), Barrier::new(4));
        let value: OnceLock<Arc<u64>> = OnceLock::new();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    begun.wait();
                    let found = value.get_or_init(|| Arc::new(made.fetch_add(1, SeqCst) as u64));
                    assert_eq!(**found, 0);
                });
            }
        });
        assert_eq!(made.into_inner(), 1);
        let copy = value.clone();
        drop(value);
        assert_eq!(Arc::strong_count(copy.get().unwrap()), 1, "dropped with its lock");
    }
}

#[test]
fn a_panic_or_an_error_lets_the_next_one_try() {
    let value: OnceLock<u8> = OnceLock::new();
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        value.get_or_init(|| std::panic::resume_unwind(Box::new("made nothing")));
    }));
    assert!(panicked.is_err() && value.get().is_none());
    assert_eq!(value.get_or_try_init(|| Err(5)), Err(5));
    assert_eq!(*value.get_or_init(|| 7), 7);
}

/// The number of the process that this one could have been forked from.
fn parent() -> u32 {
    generation().wrapping_sub(1) & (u32::MAX >> stage::BITS)
}

/// A lock of an earlier process.
pub(super) fn of_parent<L: Lock>(lock: L) -> Renewing<L> {
    Renewing::new(parent(), lock)
}

#[test]
fn what_was_free_at_the_fork_is_kept_and_what_was_held_is_not() {
    let free = Mutex(of_parent(std::sync::Mutex::new(vec![1, 2])));
    assert_eq!(*free.lock().unwrap(), [1, 2]);
    free.lock().unwrap().push(3);
    assert_eq!(*free.lock().unwrap(), [1, 2, 3], "one lock from then on");

    let held = Mutex(of_parent(std::sync::Mutex::new(vec![1, 2])));
    let by_parent = held.0.first.lock.lock().unwrap();
    assert!(held.lock().unwrap().is_empty());
    drop(by_parent);
    assert!(held.lock().unwrap().is_empty(), "the one that was made stays");

    for is_written in [false, true] {
        let held = RwLock(of_parent(std::sync::RwLock::new(vec![1])));
        let kept: &[i32] = if is_written { &[] } else { &[1] };
        let reader = (!is_written).then(|| held.0.first.lock.read().unwrap());
        let writer = is_written.then(|| held.0.first.lock.write().unwrap());
        assert_eq!(*held.read().unwrap(), kept);
        held.write().unwrap().push(5);
        assert_eq!(held.read().unwrap().len(), kept.len() + 1);
        drop((reader, writer));
    }
}

#[test]
fn threads_agree_on_the_lock_that_takes_over() {
    for _ in 0..200 {
        let (lock, begun) = (Mutex(of_parent(std::sync::Mutex::new(10))), Barrier::new(4));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    begun.wait();
                    *lock.lock().unwrap() += 1;
                });
            }
        });
        assert_eq!(*lock.lock().unwrap(), 14);
    }
}

#[test]
fn what_the_parent_was_changing_is_neither_touched_nor_dropped() {
    let value = Arc::new(());
    let lock = Mutex(of_parent(std::sync::Mutex::new(Some(Arc::clone(&value)))));
    std::mem::forget(lock.0.first.lock.lock().unwrap());
    assert!(lock.lock().unwrap().is_none());
    drop(lock);
    assert_eq!(Arc::strong_count(&value), 2, "leaked, as it may be half changed");

    for stage in [stage::MAKING, stage::PUTTING] {
        let half: OnceLock<Arc<()>> = OnceLock::new();
        half.stage.store(stage::of(parent(), stage), Release);
        assert!(half.get().is_none());
        assert!(Arc::ptr_eq(half.get_or_init(|| Arc::clone(&value)), &value));
    }
}

#[test]
fn each_process_has_its_own() {
    static OWN: PerProcess<u32> = PerProcess::new();
    assert_eq!(*OWN.get(|parent| parent.map_or(1, |parent| parent + 1)), 1);
    assert_eq!(*OWN.get(|_| 9), 1);
    OWN.0.store(Box::into_raw(Box::new((parent(), 5))), Release);
    assert_eq!(*OWN.get(|parent| parent.map_or(1, |parent| parent + 1)), 6);
    assert_eq!(*OWN.get(|_| 9), 6);
}
