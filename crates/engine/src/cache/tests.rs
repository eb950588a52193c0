//! What is kept, what goes, and who decodes.

use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use super::*;

fn key(file: u64, number: u64) -> ChunkKey {
    ChunkKey { array: ArrayId { file, address: 7 }, number }
}

fn begin(cache: &ChunkCache, keys: &[ChunkKey]) -> Since {
    cache.begin(keys[0].array, keys.iter().copied()).0
}

/// Wants `keys` of 100 bytes each in one request; the numbers that had to be decoded.
fn request(cache: &ChunkCache, keys: &[ChunkKey]) -> Vec<u64> {
    let since = begin(cache, keys);
    let mut decoded = Vec::new();
    for key in keys {
        let kept = cache.get_or_decode(*key, 100, since, |_| {
            decoded.push(key.number);
            Ok::<_, Infallible>(vec![key.number as u8; 100])
        });
        match kept.unwrap() {
            Some(bytes) => assert_eq!(bytes[..], [key.number as u8; 100]),
            None => decoded.push(key.number),
        }
        assert!(cache.statistics().kept_bytes <= cache.budget());
    }
    decoded
}

#[test]
fn the_longest_unused_goes_first() {
    let cache = ChunkCache::new(300);
    let keys: Vec<ChunkKey> = (0..4).map(|number| key(1, number)).collect();
    assert_eq!(request(&cache, &keys[..3]), [0, 1, 2]);
    assert!(request(&cache, &keys[..1]).is_empty());
    assert_eq!(request(&cache, &keys[3..]), [3]);
    assert!(request(&cache, &[keys[0], keys[2], keys[3]]).is_empty());
    assert_eq!(request(&cache, &keys[1..2]), [1]);
}

#[test]
fn a_working_set_beyond_the_budget_keeps_what_fits() {
    let cache = ChunkCache::new(350);
    let keys: Vec<ChunkKey> = (0..10).map(|number| key(1, number)).collect();
    assert_eq!(request(&cache, &keys).len(), 10);
    for _ in 0..3 {
        // A cache that throws out the oldest would find nothing in any round.
        assert_eq!(request(&cache, &keys), [3, 4, 5, 6, 7, 8, 9]);
    }
}

#[test]
fn what_is_larger_than_the_budget_never_enters() {
    let cache = ChunkCache::new(99);
    let since = begin(&cache, &[key(1, 0)]);
    let kept = cache.get_or_decode(key(1, 0), 100, since, |_| -> Result<_, Infallible> {
        unreachable!("it is not decoded to be kept")
    });
    assert_eq!(kept, Ok(None));
}

#[test]
fn a_failed_decode_leaves_nothing_behind() {
    let cache = ChunkCache::new(1000);
    let since = begin(&cache, &[key(1, 0)]);
    let failed = cache.get_or_decode(key(1, 0), 100, since, |_| Err("bad chunk"));
    assert_eq!(failed, Err("bad chunk"));
    assert_eq!(cache.statistics().kept_bytes, 0);
    assert_eq!(request(&cache, &[key(1, 0)]), [0]);
}

#[test]
fn a_closed_file_takes_its_chunks_along() {
    let cache = ChunkCache::new(1000);
    request(&cache, &[key(1, 0), key(2, 0), key(2, 1)]);
    cache.drop_file(2);
    assert_eq!(cache.statistics().kept_bytes, 100);
    assert!(cache.contains(&key(1, 0)) && !cache.contains(&key(2, 1)));
    cache.set_budget(0);
    assert_eq!(cache.statistics().kept_bytes, 0);
}

#[test]
fn threads_that_want_the_same_chunk_decode_it_once() {
    let cache = ChunkCache::new(1000);
    let decodes = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let since = begin(&cache, &[key(1, 5)]);
                let kept = cache.get_or_decode(key(1, 5), 100, since, |_| {
                    decodes.fetch_add(1, SeqCst);
                    std::thread::sleep(Duration::from_millis(20));
                    Ok::<_, Infallible>(vec![9; 100])
                });
                assert_eq!(kept.unwrap().unwrap()[..], [9; 100]);
            });
        }
    });
    assert_eq!(decodes.into_inner(), 1);
}

#[test]
fn a_chunk_that_goes_leaves_its_memory_unless_somebody_reads_it() {
    let cache = ChunkCache::new(100);
    let keep = |number: u64| {
        let since = begin(&cache, &[key(1, number)]);
        let mut given = 0;
        let kept = cache.get_or_decode(key(1, number), 100, since, |memory| {
            given = memory.capacity();
            Ok::<_, Infallible>(vec![0; 100])
        });
        (given, kept.unwrap().unwrap())
    };
    assert_eq!(keep(0).0, 0);
    let (given, read_on) = keep(1);
    assert_eq!(given, 100);
    assert_eq!(keep(2).0, 0);
    assert_eq!(read_on.len(), 100);
}

#[test]
fn memory_of_a_closed_file_serves_the_next_within_the_budget() {
    const CHUNK: usize = 1 << 20;
    let cache = ChunkCache::new(3 * CHUNK as u64);
    let spare_of = |file, number| {
        let key = key(file, number);
        let mut spare = 0;
        let since = begin(&cache, &[key]);
        let kept = cache.get_or_decode(key, CHUNK, since, |memory| {
            spare = memory.capacity();
            let mut memory = memory;
            memory.resize(CHUNK, 1);
            Ok::<_, Infallible>(memory)
        });
        assert!(kept.unwrap().is_some());
        spare
    };
    assert_eq!([0, 1].map(|number| spare_of(1, number)), [0, 0]);
    cache.drop_file(1);
    assert_eq!(cache.statistics().kept_bytes, 0);
    assert_eq!([0, 1, 2].map(|number| spare_of(2, number)), [CHUNK, CHUNK, 0]);
    cache.drop_file(2);
    cache.set_budget(CHUNK as u64);
    assert_eq!(spare_of(3, 0), CHUNK);
    cache.drop_file(3);
    cache.set_budget(0);
    cache.set_budget(CHUNK as u64);
    assert_eq!(spare_of(4, 0), 0);
}

/// Reads so many of a chunk's ten elements.
fn read_part(cache: &ChunkCache, key: &ChunkKey, elements: u64, array_bytes: u64) {
    if cache.count_read(key, elements, 10) {
        cache.spend(key, array_bytes);
    }
}

/// Reads chunks of an array of so many bytes one after the other, each in two parts; the numbers that had to be decoded.
fn stream(cache: &ChunkCache, numbers: std::ops::Range<u64>, array_bytes: u64) -> Vec<u64> {
    let mut decoded = Vec::new();
    for key in numbers.map(|number| key(1, number)) {
        for _ in 0..2 {
            decoded.extend(request(cache, &[key]));
            read_part(cache, &key, 5, array_bytes);
        }
    }
    decoded
}

#[test]
fn what_is_read_on_from_chunk_to_chunk_is_not_kept() {
    let cache = ChunkCache::new(3200);
    assert_eq!(stream(&cache, 0..50, 5000), (0..50).collect::<Vec<_>>());
    // A sixteenth of the budget, as the array is larger than a quarter of it.
    assert_eq!(cache.statistics().kept_bytes, 200);
    assert!(stream(&cache, 48..50, 5000).is_empty());
}

#[test]
fn arrays_that_fit_are_kept_when_all_was_read() {
    let cache = ChunkCache::new(3200);
    assert_eq!(stream(&cache, 0..8, 800).len(), 8);
    assert_eq!(cache.statistics().kept_bytes, 800);
    assert!(stream(&cache, 0..8, 800).is_empty());
}

#[test]
fn who_begins_anew_is_noticed() {
    let cache = ChunkCache::new(3200);
    stream(&cache, 0..30, 3000);
    // The first ones have gone; they are kept as they are read again.
    assert_eq!(stream(&cache, 0..20, 3000).len(), 20);
    assert!(stream(&cache, 0..20, 3000).is_empty());
    // What was never wanted again goes before them.
    stream(&cache, 100..150, 5000);
    assert!(stream(&cache, 0..20, 3000).is_empty());
}

#[test]
fn chunks_of_which_a_part_was_read_stay() {
    let cache = ChunkCache::new(1600);
    let keys: Vec<ChunkKey> = (0..10).map(|number| key(2, number)).collect();
    request(&cache, &keys);
    keys.iter().for_each(|key| read_part(&cache, key, 9, 5000));
    stream(&cache, 0..50, 5000);
    assert!(request(&cache, &keys).is_empty());
}

#[test]
fn an_array_keeps_no_more_than_its_bound() {
    let cache = ChunkCache::new(3200);
    let keys: Vec<ChunkKey> = (0..20).map(|number| key(1, number)).collect();
    let others: Vec<ChunkKey> = (0..5).map(|number| key(2, number)).collect();
    request(&cache, &others);
    request(&cache, &keys);
    let bound = |bytes, chunks, spent_bytes| {
        cache.set_bound(keys[0].array, Bound { bytes, chunks, spent_bytes });
        cache.statistics().kept_bytes - 500
    };
    assert_eq!(bound(1000, 100, 0), 1000, "what is too much goes at once");
    keys.iter().for_each(|key| drop(request(&cache, &[*key])));
    assert_eq!(cache.statistics().kept_bytes, 1500);
    assert!(request(&cache, &keys[15..]).is_empty());
    assert_eq!(bound(1000, 3, 0), 300);
    assert_eq!(request(&cache, &keys[..3]).len(), 3);
    assert_eq!(request(&cache, &keys[4..9]).len(), 5);
    assert_eq!(cache.statistics().kept_bytes, 800);
    assert_eq!(bound(99, 100, 0), 0);
    assert_eq!([request(&cache, &keys[..1]), request(&cache, &keys[..1])].concat(), [0, 0]);
    assert!(request(&cache, &others).is_empty(), "others are not touched");
    cache.drop_file(1);
    request(&cache, &keys);
    assert_eq!(cache.statistics().kept_bytes, 2500);
}

#[test]
fn the_bound_says_how_many_chunks_stay_of_which_all_was_read() {
    for (spent_bytes, kept_bytes) in [(0, 0), (300, 300), (5000, 1000)] {
        let cache = ChunkCache::new(3200);
        cache.set_bound(key(1, 0).array, Bound { bytes: 1000, chunks: 100, spent_bytes });
        stream(&cache, 0..20, 2000);
        assert_eq!(cache.statistics().kept_bytes, kept_bytes);
    }
}

#[test]
fn a_bound_beyond_the_budget_makes_it_larger_until_the_file_is_closed() {
    let cache = ChunkCache::new(3200);
    let bound = Bound { bytes: 5000, chunks: 100, spent_bytes: 0 };
    cache.set_bound(key(1, 0).array, bound);
    let keys: Vec<ChunkKey> = (0..60).map(|number| key(1, number)).collect();
    request(&cache, &keys);
    // Where the environment says how large the cache is, it stays so.
    let budget = if std::env::var_os("ISOTACH_CACHE").is_some() { 3200 } else { 5000 };
    assert_eq!((cache.budget(), cache.statistics().kept_bytes), (budget, budget));
    request(&cache, &[key(2, 0)]);
    cache.drop_file(1);
    assert_eq!(cache.budget(), 3200);
}
