//! Models: what threads do with one structure, in very many of the orders in which they can come.
//!
//! `cargo test --package isotach --lib models` tries some of them, and so many times more as `ISOTACH_ORDERS` says. Each access
//! counts as done before the next one begins: what processors put off is not tried.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};

use isotach_model::selection::{Axis, Selection};
use shuttle::thread;

use super::OnceLock;
use super::primitives::AtomicU64;
use crate::draft::{DimensionId, VariableId};
use crate::read::calls::Calls;
use crate::write::Space;
use crate::write::reading_number::ReadingNumber;

/// Orders that are tried of each model by each way to choose them.
const ORDERS: usize = 15_000;

/// Tries orders: any, and such with few changes from one thread to another, which random ones seldom are.
fn explore(model: impl Fn() + Send + Sync + 'static) {
    let times = std::env::var("ISOTACH_ORDERS").ok().and_then(|text| text.parse().ok());
    let (orders, model) = (ORDERS * times.unwrap_or(1), Arc::new(model));
    let again = Arc::clone(&model);
    shuttle::check_random(move || again(), orders);
    shuttle::check_pct(move || model(), orders, 3);
}

fn counts<const N: usize>() -> Arc<[AtomicU64; N]> {
    Arc::new(std::array::from_fn(|_| AtomicU64::new(0)))
}

fn all(threads: Vec<thread::JoinHandle<()>>) {
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

fn row(at: u64) -> Selection {
    Selection { axes: vec![Axis::range(at, 1, 1), Axis::range(0, 2, 1)] }
}

/// Two elements of one variable, which one thread writes together again and again, and two read.
#[test]
fn a_read_sees_each_write_whole_or_not_at_all() {
    explore(|| {
        let (calls, values) = (Calls::default(), counts::<2>());
        let reader = || {
            let (calls, values) = (calls.clone(), Arc::clone(&values));
            thread::spawn(move || {
                for tries in 0.. {
                    assert!(tries < 4, "disturbed in turn");
                    let reading = calls.read(VariableId(0), &row(1), tries);
                    let found = (values[0].load(Relaxed), values[1].load(Relaxed));
                    if reading.is_whole() {
                        assert_eq!(found.0, found.1);
                        return;
                    }
                }
            })
        };
        let mut threads = vec![reader(), reader()];
        threads.push(thread::spawn(move || {
            for value in 1..7 {
                let _writing = calls.write(VariableId(0), &row(1));
                values[0].store(value, Relaxed);
                values[1].store(value, Relaxed);
            }
        }));
        all(threads);
    });
}

/// Two threads append a row each: nobody finds a row without its value, and who has written a row finds it.
#[test]
fn a_row_is_seen_when_its_value_is_there() {
    explore(|| {
        let (calls, values, len) = (Calls::default(), counts::<2>(), counts::<1>());
        let (t, draft) = (DimensionId(0), Arc::new(shuttle::sync::Mutex::new(0u64)));
        let mut threads = Vec::new();
        for _ in 0..2 {
            let (calls, values, len) = (calls.clone(), Arc::clone(&values), Arc::clone(&len));
            let draft = Arc::clone(&draft);
            threads.push(thread::spawn(move || {
                let mut writing = calls.write(VariableId(0), &row(7));
                let at = {
                    let mut rows = draft.lock().unwrap();
                    writing.grows(t, *rows);
                    writing.reaches(vec![(t, *rows + 1)]);
                    *rows += 1;
                    len[0].store(*rows, SeqCst);
                    *rows - 1
                };
                values[at as usize].store(1, SeqCst);
                drop(writing);
                assert!(calls.visible(t, len[0].load(SeqCst)) > at);
            }));
        }
        threads.push(thread::spawn(move || {
            let seen = calls.visible(t, len[0].load(SeqCst));
            (0..seen).for_each(|at| assert_eq!(values[at as usize].load(SeqCst), 1));
        }));
        all(threads);
    });
}

/// Writers put the values of two chunks to fresh space, and free what they had; readers find the places, then the values.
#[test]
fn space_is_not_given_out_while_somebody_may_read_it() {
    explore(|| {
        let (space, bytes, places) = (Arc::new(Space::new(0)), counts::<8>(), counts::<2>());
        for chunk in 0..2 {
            let address = space.allocate(1, 1);
            places[chunk].store(address, SeqCst);
            bytes[address as usize].store(chunk as u64, SeqCst);
        }
        let mut threads = Vec::new();
        for chunk in 0..2 {
            let all = (Arc::clone(&space), Arc::clone(&bytes), Arc::clone(&places));
            threads.push(thread::spawn(move || {
                let (space, bytes, places) = all;
                for _ in 0..2 {
                    let address = space.allocate(1, 1);
                    bytes[address as usize].store(chunk as u64, SeqCst);
                    space.free(places[chunk].swap(address, SeqCst), 1);
                }
            }));
            let all = (Arc::clone(&space), Arc::clone(&bytes), Arc::clone(&places));
            threads.push(thread::spawn(move || {
                let (space, bytes, places) = all;
                for _ in 0..2 {
                    let _pin = space.pin();
                    let address = places[chunk].load(SeqCst);
                    assert_eq!(bytes[address as usize].load(SeqCst), chunk as u64);
                }
            }));
        }
        all(threads);
    });
}

/// Two threads write a row each of what the cache keeps as one piece, and two read: nobody finds less there than had
/// been written before he asked.
#[test]
fn what_is_kept_is_never_older_than_what_was_written() {
    explore(|| {
        let (stored, written) = (counts::<2>(), counts::<2>());
        let number = Arc::new(ReadingNumber::new());
        let kept = Arc::new(std::sync::Mutex::new(HashMap::new()));
        let mut threads = Vec::new();
        for row in 0..2 {
            let (number, stored) = (Arc::clone(&number), Arc::clone(&stored));
            let written = Arc::clone(&written);
            threads.push(thread::spawn(move || {
                for value in 1..3 {
                    stored[row].store(value, SeqCst);
                    number.outdate();
                    written[row].store(value, SeqCst);
                }
            }));
        }
        for _ in 0..2 {
            let (number, stored) = (Arc::clone(&number), Arc::clone(&stored));
            let (written, kept) = (Arc::clone(&written), Arc::clone(&kept));
            threads.push(thread::spawn(move || {
                for _ in 0..2 {
                    let least = [0, 1].map(|row| written[row].load(SeqCst));
                    let told = number.tell();
                    let found = kept.lock().unwrap().get(&told).copied();
                    let found = found.unwrap_or_else(|| {
                        let read = [0, 1].map(|row| stored[row].load(SeqCst));
                        *kept.lock().unwrap().entry(told).or_insert(read)
                    });
                    assert!(found[0] >= least[0] && found[1] >= least[1], "{found:?} of {least:?}");
                }
            }));
        }
        all(threads);
    });
}

/// Of several threads that ask for a value one makes it, another where that fails, and all find the same.
#[test]
fn a_value_is_made_once() {
    explore(|| {
        let (value, made) = (Arc::new(OnceLock::of_model()), counts::<1>());
        let mut threads = Vec::new();
        for number in 0..3 {
            let (value, made) = (Arc::clone(&value), Arc::clone(&made));
            threads.push(thread::spawn(move || {
                let found = value.get_or_try_init(|| {
                    if number == 0 {
                        return Err(());
                    }
                    Ok(made[0].fetch_add(1, SeqCst) + 7)
                });
                match found {
                    Ok(&found) => assert_eq!(found, 7),
                    Err(()) => assert_eq!(number, 0),
                }
            }));
        }
        all(threads);
        assert_eq!(made[0].load(SeqCst), 1);
    });
}
