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
