//! Space against a model that knows the state of every byte.

use isotach_testkit::Random;

use super::*;

fn commit(space: &Space) -> u64 {
    let end = space.begin_commit(0);
    space.finish_commit();
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
    // Half of it is of the last commit.
    space.free(50, 114);
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
    space.free_waiting();
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
    space.finish_commit();
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
        space.free_waiting();
        assert_eq!(space.end(), 0, "everything was given back");
    }
}
