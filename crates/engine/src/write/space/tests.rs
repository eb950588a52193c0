//! Space against a model that knows the state of every byte.

use std::sync::Arc;

use isotach_testkit::Random;

use super::*;

fn commit(space: &Space) -> u64 {
    let end = space.begin_commit(0);
    space.finish_commit(0);
    end
}

#[test]
fn freed_space_waits_for_two_commits() {
    let space = Space::new(100);
    assert_eq!(space.allocate(50, 1), 100);
    assert_eq!(commit(&space), 150);
    space.free(0, 40);
    for _ in 0..2 {
        assert!(space.allocate(40, 1) >= 150);
        commit(&space);
    }
    assert_eq!(space.allocate(30, 1), 0);
    assert_eq!(space.allocate(10, 1), 30);
}

#[test]
fn freed_space_waits_for_those_who_read_an_earlier_state() {
    let readers = Arc::new(Mutex::new(BTreeSet::new()));
    let held = Arc::clone(&readers);
    let holders = move |from, to| lock(&held).range(from..to).next_back().copied();
    let space = Space::new(1000).with_holders(10, Box::new(holders));
    // Each commit frees a piece that the state before it refers to.
    let mut generation = 10;
    let mut commit = |freed: Option<u64>| {
        freed.into_iter().for_each(|address| space.free(address, 10));
        space.begin_commit(0);
        generation += 3;
        space.finish_commit(generation);
        generation
    };
    lock(&readers).insert(10);
    let second = commit(Some(0));
    lock(&readers).insert(second);
    commit(Some(20));
    commit(None);
    commit(None);
    assert_eq!(space.allocate(10, 1), 1000, "both are read");
    lock(&readers).remove(&10);
    commit(None);
    assert_eq!(space.allocate(10, 1), 0, "what the second commit freed is still read");
    assert_eq!(space.allocate(10, 1), 1010);
    lock(&readers).clear();
    commit(None);
    assert_eq!(space.allocate(10, 1), 20);
}

#[test]
fn nothing_is_used_again_where_nobody_knows_who_reads() {
    let space = Space::new(1000).with_holders(0, Box::new(|_, _| Some(0)));
    space.set_survey(Box::new(|| Some(vec![(100, 900)])));
    space.free(900, 100);
    for _ in 0..4 {
        commit(&space);
    }
    assert_eq!(space.allocate(5000, 1), 1000);
    space.free_waiting(0);
    assert_eq!(space.end(), 6000);
}

fn lock(readers: &Mutex<BTreeSet<u64>>) -> MutexGuard<'_, BTreeSet<u64>> {
    readers.lock().unwrap()
}

#[test]
fn the_file_is_looked_at_where_its_end_would_come_to_another_step() {
    let space = Space::new(10_000);
    // Neither what waits (0..100) nor what was allocated since (from 10,000 on) is named.
    space.set_survey(Box::new(|| Some(vec![(100, 3900), (6000, 4000)])));
    space.free(0, 100);
    assert_eq!(space.allocate(2200, 1), 10_000);
    assert_eq!(commit(&space), 12_200);
    assert_eq!(space.allocate(2000, 1), 4000);
    assert_eq!(space.allocate(50, 1), 12_200);
}

#[test]
fn what_nobody_knows_of_is_free_at_once() {
    let space = Space::new(100);
    let address = space.allocate(64, 8);
    assert_eq!((address, space.end()), (104, 168));
    space.free(address, 64);
    assert_eq!(space.end(), 100);
    assert_eq!(space.allocate(64, 1), 100);
    // What seems to reach from the file into what was given since is nobody's.
    space.free(50, 114);
    assert_eq!(space.end(), 164);
    space.free(100, 64);
    space.free(50, 50);
    assert_eq!(space.end(), 100);
    assert_eq!(space.allocate(1, 1), 100);
}

#[test]
fn what_fits_no_gap_fills_the_largest_and_goes_on() {
    let space = Space::new(1000);
    for (start, bytes) in [(100, 40), (300, 100), (600, 9)] {
        space.free(start, bytes);
    }
    commit(&space);
    commit(&space);
    let place = |ends: &[u64]| space.allocate_aligned(ends, 1);
    assert_eq!(place(&[10, 30]), (100, 2), "the smallest that has room for all");
    assert_eq!(place(&[50, 90, 130]), (300, 2));
    assert_eq!(place(&[50, 130]), (1000, 2), "no gap has room for one");
    assert_eq!(place(&[5, 41]), (1130, 2), "a small part would be for itself");
    assert_eq!(place(&[10, 40]), (130, 1));
}

#[test]
fn the_tail_is_cut_off_at_the_end() {
    let space = Space::new(100);
    space.free(60, 40);
    assert_eq!(commit(&space), 100);
    space.free(50, 10);
    assert_eq!(space.end(), 100);
    space.free_waiting(0);
    assert_eq!(space.end(), 50);
}

#[test]
fn a_commit_under_way_keeps_its_record_and_can_be_abandoned() {
    let space = Space::new(100);
    let fresh = space.allocate(10, 1);
    space.free(0, 10);
    assert_eq!(space.begin_commit(30), 110);
    assert_eq!(space.allocate(5, 1), 140);
    // It belongs to the commit that is under way.
    space.free(fresh, 10);
    space.abandon_commit();
    assert_eq!(space.allocate(30, 1), 110);
    assert_eq!(space.begin_commit(30), 145);
    space.finish_commit(0);
    assert_eq!(space.allocate(10, 1), 145);
    commit(&space);
    assert_eq!(space.allocate(20, 1), 155, "what was freed still waits");
    commit(&space);
    assert_eq!([space.allocate(10, 1), space.allocate(10, 1)], [0, 100]);
}

#[test]
fn beyond_every_file_there_is_an_address_too() {
    let space = Space::new(u64::MAX - 10);
    assert_eq!(space.allocate(100, 4096), u64::MAX);
    assert_eq!(space.allocate(100, 1), u64::MAX);
    space.free(u64::MAX, u64::MAX);
    assert_eq!(Space::new(7).allocate(0, 8), 7);
}

#[test]
fn random_calls_never_give_out_what_is_in_use() {
    for seed in 0..30 {
        let mut random = Random::new(seed);
        let space = Space::new(1000);
        // Extents in use, and those that were freed at most two commits ago.
        let mut used = vec![(0, 1000, 0)];
        let mut waiting: Vec<(u64, u64, u64)> = Vec::new();
        let mut commits = 1;
        for _ in 0..2000 {
            match random.below(20) {
                0 => {
                    commit(&space);
                    commits += 1;
                    waiting.retain(|&(_, _, freed)| freed + 2 > commits);
                }
                1..12 => {
                    let alignment = 1 << random.below(7);
                    let mut end = 0;
                    let ends: Vec<u64> = std::iter::repeat_with(|| {
                        end += 1 + random.below(100);
                        end
                    })
                    .take(3)
                    .collect();
                    let (address, count) = space.allocate_aligned(&ends, alignment);
                    let bytes = ends[count - 1];
                    assert_eq!(address % alignment, 0);
                    assert!(address + bytes <= space.end());
                    for &(start, len, _) in used.iter().chain(&waiting) {
                        assert!(address + bytes <= start || start + len <= address, "{seed}");
                    }
                    used.push((address, bytes, commits));
                }
                _ if used.is_empty() => {}
                _ => {
                    let (start, len, made) =
                        used.swap_remove(random.below(used.len() as u64) as usize);
                    let freed = 1 + random.below(len);
                    space.free(start, freed);
                    if freed < len {
                        used.push((start + freed, len - freed, made));
                    }
                    if made < commits {
                        waiting.push((start, freed, commits));
                    }
                }
            }
        }
        for (start, len, _) in used {
            space.free(start, len);
        }
        space.free_waiting(0);
        assert_eq!(space.end(), 0, "everything was given back");
    }
}

#[test]
fn what_readers_may_have_is_not_given_out_while_they_read() {
    let space = Space::new(0);
    let first = space.allocate(100, 1);
    let early = space.pin();
    space.free(first, 100);
    // Fresh, and given back at once where nobody reads.
    assert_eq!(space.allocate(100, 1), 100);
    let late = space.pin();
    space.free(100, 100);
    assert_eq!(space.allocate(100, 1), 200);
    drop(late);
    // Who came first may have found what was there before.
    assert_eq!(space.allocate(100, 1), 300);
    drop(early);
    assert_eq!(space.allocate(200, 1), 0);
    space.free(0, 200);
    assert_eq!(space.allocate(50, 1), 0);
}

#[test]
fn a_reader_that_comes_later_does_not_keep_what_was_freed_before() {
    let space = Space::new(0);
    let first = space.allocate(100, 1);
    space.allocate(10, 1);
    let early = space.pin();
    space.free(first, 100);
    assert_eq!(space.allocate(100, 1), 110);
    let _late = space.pin();
    drop(early);
    assert_eq!(space.allocate(100, 1), 0);
}

#[test]
fn two_commits_and_the_last_reader_free_what_was_committed() {
    let space = Space::new(0);
    let at = space.allocate(100, 1);
    space.allocate(10, 1);
    commit(&space);
    let reader = space.pin();
    space.free(at, 100);
    for _ in 0..3 {
        commit(&space);
        assert_ne!(space.allocate(100, 1), at);
    }
    assert!(space.is_free(&(at..at + 100)), "nothing that waits to be written has to go there");
    drop(reader);
    assert_eq!(space.allocate(100, 1), at);
}

#[test]
fn closing_frees_what_readers_still_have() {
    let space = Space::new(0);
    let at = space.allocate(100, 1);
    commit(&space);
    let _reader = space.pin();
    space.free(at, 100);
    commit(&space);
    space.free_waiting(0);
    assert_eq!(space.end(), 0);
}

#[test]
fn structures_that_take_space_together_lie_apart_from_values() {
    let space = Space::new(100).with_blocks(1000);
    assert_eq!(space.allocate(50, 8), 104);
    assert_eq!(super::super::data::Allocate::allocate(&space, 300), 1104, "values take their own");
    assert_eq!(space.allocate(500, 8), 160);
    commit(&space);
    assert_eq!(space.allocate(100, 8), 664);
    assert_eq!(space.allocate(2000, 8), 1408, "it is larger than a block");
    // What is left has no room for it: another block.
    assert_eq!(space.allocate(400, 8), 3408);
    assert_eq!(space.allocate(300, 8), 768);
    assert!(space.is_free(&(1068..1104)) && !space.is_free(&(700..701)));
    // Freed space is everybody's.
    space.free(3408, 400);
    assert_eq!(super::super::data::Allocate::allocate(&space, 400), 3408);
}

#[test]
fn what_structures_have_left_is_given_back_in_the_end() {
    let space = Space::new(100).with_blocks(1000);
    space.set_survey(Box::new(|| Some(vec![(0, 100)])));
    space.allocate(28, 1);
    assert_eq!(space.end(), 1100);
    // What is looked for in the file does not find it.
    assert_eq!(super::super::data::Allocate::allocate(&space, 5000), 1100);
    space.free(1100, 5000);
    assert_eq!(space.end(), 1100);
    space.free_waiting(0);
    assert_eq!(space.end(), 128);
}
