//! Scattered requests of arrays that are not chunked: when tiles are read, kept, and of use.
//!
//! One test at a time: they set the budget of the process's one cache.

mod support;

use std::mem::MaybeUninit;
use std::sync::Arc;

use isotach::cache;
use isotach::model::StoredType;
use isotach::model::selection::{Axis, Selection};
use isotach::plan::Plan;
use isotach::plan::layout::{BeyondEnd, Placement};
use isotach_testkit::{CountingStorage, FailingStorage, StoredArray, naive_read};
use support::{LOCAL, alone, read, try_read};

/// Maps of 32 KiB; a tile has two of their rows, at all steps.
const MAPS: [u64; 3] = [400, 16, 512];
const TILE_BYTES: u64 = 400 * 4096;

fn series(y: u64, x: u64) -> Selection {
    Selection { axes: vec![Axis::all(MAPS[0]), Axis::range(y, 1, 1), Axis::range(x, 1, 1)] }
}

/// How many reads of which length, where all are as long.
fn reads_of(storage: &CountingStorage) -> (usize, u64) {
    let reads = storage.take_reads();
    let length = reads.first().map_or(0, |read| read.1);
    assert!(reads.iter().all(|read| read.1 == length), "{reads:?}");
    (reads.len(), length)
}

/// Numbers that look random.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, count: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % count.max(1)
    }
}

#[test]
fn a_tile_is_read_the_second_time_it_is_wanted() {
    let _alone = alone(16 * TILE_BYTES);
    let stored = StoredArray::new(&MAPS, 4).strided(512, 100);
    let storage = Arc::new(CountingStorage::new(stored.file.clone(), LOCAL));
    let mut array = stored.array(storage.clone(), &MAPS);
    let check = |y, x, expected| {
        assert_eq!(read(&array, &series(y, x)), naive_read(&stored, &series(y, x)));
        assert_eq!(reads_of(&storage), expected, "series at {y}, {x}");
    };
    check(6, 7, (400, 4));
    check(7, 500, (400, 4096));
    check(6, 7, (0, 0));
    check(7, 3, (0, 0));
    // Another tile.
    check(8, 7, (400, 4));
    assert_eq!(cache::statistics().kept_bytes, TILE_BYTES);
    // Kept as it is stored, shown in the machine's order.
    array.stored = StoredType::Int { size: 4, big_endian: true };
    let mut into = vec![MaybeUninit::uninit(); 1600];
    let found = array.read_native_into(&series(7, 9), &mut into).unwrap().to_vec();
    let expected = naive_read(&stored, &series(7, 9));
    let turned = |value: &[u8]| u32::from_be_bytes(value.try_into().unwrap()).to_ne_bytes();
    assert_eq!(found, expected.chunks(4).flat_map(turned).collect::<Vec<u8>>());
    assert_eq!(reads_of(&storage), (0, 0));
    // Maps and single elements go their own way.
    let map = Selection { axes: vec![Axis::range(3, 1, 1), Axis::all(16), Axis::all(512)] };
    assert_eq!(read(&array, &map), naive_read(&stored, &map));
    assert_eq!(reads_of(&storage), (1, 32 << 10));
}

#[test]
fn without_room_all_is_as_without_tiles() {
    let stored = StoredArray::new(&MAPS, 4).strided(0, 0);
    for budget in [0, 16 * TILE_BYTES - 1] {
        let _alone = alone(budget);
        let storage = Arc::new(CountingStorage::new(stored.file.clone(), LOCAL));
        let array = stored.array(storage.clone(), &MAPS);
        for _ in 0..4 {
            read(&array, &series(1, 2));
            assert_eq!(reads_of(&storage), (400, 4));
        }
        assert_eq!(cache::statistics().kept_bytes, 0);
    }
    // Seventeen tiles of 100 KiB, of which no more than sixteen fit.
    let _alone = alone(16 * 400 * 256);
    let stored = StoredArray::new(&[400, 17, 512], 4).strided(0, 0);
    let storage = Arc::new(CountingStorage::new(stored.file.clone(), 1024));
    let array = stored.array(storage.clone(), &stored.shape);
    let columns = |rows| Selection {
        axes: vec![Axis::all(400), Axis::range(0, rows, 1), Axis::range(5, 1, 1)],
    };
    for _ in 0..4 {
        assert_eq!(read(&array, &columns(17)), naive_read(&stored, &columns(17)));
        assert_eq!(reads_of(&storage), (400 * 17, 4));
    }
    for expected in [(400 * 16, 4), (400 * 16, 256), (0, 0)] {
        assert_eq!(read(&array, &columns(16)), naive_read(&stored, &columns(16)));
        assert_eq!(reads_of(&storage), expected);
    }
}

#[test]
fn requests_of_few_steps_read_a_tile_when_they_have_cost_half_of_it() {
    let _alone = alone(16 * TILE_BYTES);
    let stored = StoredArray::new(&MAPS, 4).strided(0, 0);
    let storage = Arc::new(CountingStorage::new(stored.file.clone(), LOCAL));
    let array = stored.array(storage.clone(), &MAPS);
    let short = |start: u64| {
        let axes = vec![Axis::range(start, 50, 1), Axis::range(3, 1, 1), Axis::range(9, 1, 1)];
        Selection { axes }
    };
    // 50 x (16 Ki + 4) of 400 x (16 Ki + 4 Ki) bytes each.
    let reads: Vec<usize> = (0..7)
        .map(|round| {
            let selection = short(round * 50);
            assert_eq!(read(&array, &selection), naive_read(&stored, &selection));
            storage.take_reads().len()
        })
        .collect();
    assert_eq!(reads, [50, 50, 50, 50, 50, 400, 0]);
}

#[test]
fn a_plan_tells_the_reads_of_tiles_too() {
    let _alone = alone(1 << 30);
    let stored = StoredArray::new(&MAPS, 4).strided(64, 8);
    for cost in [LOCAL, 64 << 10] {
        let storage = Arc::new(CountingStorage::new(stored.file.clone(), cost));
        let array = stored.array(storage.clone(), &MAPS);
        let mut totals = Vec::new();
        for selection in [series(3, 3), series(3, 4), series(2, 3), series(3, 400)] {
            let plan = Plan::new(&array.layout, &selection).unwrap();
            let summary = plan.summary(&array.layout, &selection).unwrap();
            assert!(summary.tiles > 0 && summary.cached_tiles <= summary.tiles);
            assert_eq!(read(&array, &selection), naive_read(&stored, &selection));
            let reads = storage.take_reads();
            let bytes: u64 = reads.iter().map(|(_, length)| length).sum();
            assert_eq!((summary.reads, summary.read_bytes), (reads.len() as u64, bytes));
            assert_eq!(summary.cached_tiles == summary.tiles, reads.is_empty());
            totals.push(reads.len());
        }
        assert!(totals[0] > 0 && totals[1] > 0 && totals[2..] == [0, 0], "{totals:?}");
        cache::set_budget(0);
        cache::set_budget(1 << 30);
    }
}

/// A range or some indices of an axis.
fn axis(numbers: &mut Numbers, len: u64) -> Axis {
    match numbers.below(5) {
        0 => Axis::all(len),
        1 => Axis::Indices((0..numbers.below(6) + 1).map(|_| numbers.below(len)).collect()),
        2 => {
            let step = numbers.below(3) + 1;
            let start = numbers.below(len);
            Axis::range(start, numbers.below(start / step + 1) + 1, -(step as i64))
        }
        _ => Axis::range(numbers.below(len), 1, 1),
    }
}

#[test]
fn whatever_is_selected_is_what_direct_reads_give() {
    let mut numbers = Numbers(7);
    // Calls are cheap, so pages and tiles are small and there are many of them.
    for (shape, size, gap, cost, budget) in [
        (vec![60, 7, 11], 4, 0, 64, 1 << 20),
        (vec![60, 7, 11], 8, 33, 100, 1 << 20),
        (vec![60, 7, 11], 8, 33, 100, 200_000),
        (vec![300, 30], 3, 5, 40, 1 << 20),
        (vec![9, 8, 7, 6], 2, 0, 16, 1 << 20),
        (vec![200, 5, 9], 1, 0, 16, 1 << 20),
    ] {
        let _alone = alone(budget);
        let mut stored = StoredArray::new(&shape, size).strided(17, gap);
        let hits = cache::statistics().hits;
        for round in 0..1000 {
            if round == 500 {
                // From now on as in classic files, the last records of which are not there.
                cut_file(&mut stored, 3);
            }
            // Each of them several times, in turns.
            let axes = shape.iter().map(|&len| axis(&mut numbers, len)).collect();
            let selection = Selection { axes };
            let storage = Arc::new(CountingStorage::new(stored.file.clone(), cost));
            let array = stored.array(storage, &stored.shape);
            let expected = naive_read(&stored, &selection);
            for _ in 0..numbers.below(4) {
                assert_eq!(read(&array, &selection), expected, "{selection} of {shape:?}");
            }
            assert!(cache::statistics().kept_bytes <= budget);
        }
        assert!(cache::statistics().hits > hits, "no tile of {shape:?} was of use");
    }
}

/// Takes the last records off the file, whose elements are zeros then.
fn cut_file(stored: &mut StoredArray, records: u64) {
    let Placement::Strided { address, strides_bytes, beyond_end } = &mut stored.placement else {
        return;
    };
    *beyond_end = BeyondEnd::Zeros;
    let first = stored.shape[0] - records;
    stored.file.truncate((*address + first * strides_bytes[0]) as usize);
    let record = stored.elements.len() / stored.shape[0] as usize;
    stored.elements[first as usize * record..].fill(0);
    // What is kept of the file as it was.
    let budget = cache::budget();
    cache::set_budget(0);
    cache::set_budget(budget);
}

#[test]
fn what_is_wrong_around_the_wanted_elements_does_not_matter() {
    let _alone = alone(16 * TILE_BYTES);
    let stored = StoredArray::new(&MAPS, 4).strided(0, 0);
    // The file ends in the middle of the last map's second row.
    let end = stored.file.len() - 15 * 2048 + 1024 - 2048;
    let storage = Arc::new(CountingStorage::new(stored.file[..end].to_vec(), LOCAL));
    let array = stored.array(storage, &MAPS);
    for _ in 0..4 {
        assert_eq!(read(&array, &series(0, 7)), naive_read(&stored, &series(0, 7)));
        assert!(try_read(&array, &series(1, 500)).is_err());
    }
    // Storage that fails: while a tile is read, and then directly.
    for successes in [400, 500, 799] {
        let array =
            stored.array(Arc::new(FailingStorage::new(stored.file.clone(), successes)), &MAPS);
        cache::set_budget(0);
        cache::set_budget(16 * TILE_BYTES);
        let outcomes: Vec<bool> = (0..3).map(|x| try_read(&array, &series(4, x)).is_ok()).collect();
        assert_eq!(outcomes, [true, false, false], "{successes}");
    }
}

#[test]
fn more_cache_never_costs_more() {
    let stored = StoredArray::new(&[500, 32, 32], 4).strided(0, 0);
    let mut costs = Vec::new();
    // Calls that cost 256 bytes make tiles of 32 KiB, of which there are 63.
    for tiles in [0, 16, 32, 48, 64, 80] {
        let _alone = alone(tiles * (32 << 10));
        let storage = Arc::new(CountingStorage::new(stored.file.clone(), 256));
        let array = stored.array(storage.clone(), &stored.shape);
        let mut numbers = Numbers(3);
        for _ in 0..600 {
            let (y, x) = (numbers.below(32), numbers.below(32));
            let axes = vec![Axis::all(500), Axis::range(y, 1, 1), Axis::range(x, 1, 1)];
            read(&array, &Selection { axes });
        }
        costs.push(storage.take_reads().iter().map(|(_, length)| 256 + length).sum::<u64>());
    }
    assert!(costs.windows(2).all(|pair| pair[1] <= pair[0] + pair[0] / 20), "{costs:?}");
    assert!(costs[5] < costs[0] / 2, "{costs:?}");
}

#[test]
fn threads_share_tiles() {
    let _alone = alone(20 * TILE_BYTES);
    let stored = StoredArray::new(&MAPS, 4).strided(512, 0);
    let storage = Arc::new(CountingStorage::new(stored.file.clone(), LOCAL));
    let array = stored.array(storage.clone(), &MAPS);
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (array, stored) = (&array, &stored);
            scope.spawn(move || {
                let mut numbers = Numbers(thread);
                for _ in 0..100 {
                    let selection = series(numbers.below(16), numbers.below(512));
                    assert_eq!(read(array, &selection), naive_read(stored, &selection));
                }
            });
        }
    });
    assert_eq!(cache::statistics().kept_bytes, 8 * TILE_BYTES);
    // Each tile once, and few series before it.
    let pages = storage.take_reads().iter().filter(|(_, length)| *length == 4096).count();
    assert_eq!(pages, 8 * 400);
}
