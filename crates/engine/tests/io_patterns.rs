//! What storage is asked for, and how often chunks are decoded.
//!
//! One test at a time: they set the budget of the process's one cache and look at its statistics.

mod support;

use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;

use isotach::ErrorKind;
use isotach::cache;
use isotach::model::selection::{Axis, Selection};
use isotach::plan::Plan;
use isotach::plan::layout::{
    BeyondEnd, Blocks, ExternalSegment, Placement, VirtualPiece, VirtualSources,
};
use isotach_testkit::{CountingStorage, StoredArray, naive_read};
use support::{LOCAL, alone, read, try_read};

const REMOTE: u64 = 1 << 20;

fn decoded_by(work: impl FnOnce()) -> u64 {
    let before = cache::statistics().decoded_bytes;
    work();
    cache::statistics().decoded_bytes - before
}

fn select(axes: impl IntoIterator<Item = (u64, u64)>) -> Selection {
    Selection {
        axes: axes.into_iter().map(|(start, count)| Axis::range(start, count, 1)).collect(),
    }
}

#[test]
fn a_time_series_reads_no_more_than_coalescing_allows() {
    let _alone = alone(0);
    // Maps of 100 x 200 floats: 80,000 bytes from one value of the series to the next.
    let stored = StoredArray::new(&[50, 100, 200], 4).strided(512, 0);
    let series = select([(0, 50), (7, 1), (13, 1)]);
    let expected = naive_read(&stored, &series);
    for (cost, most_reads, most_bytes) in [(LOCAL, 50, 200), (REMOTE, 1, 50 * 80_000)] {
        let storage = Arc::new(CountingStorage::new(stored.file.clone(), cost));
        assert_eq!(read(&stored.array(storage.clone(), &stored.shape), &series), expected);
        let reads = storage.take_reads();
        let bytes: u64 = reads.iter().map(|(_, length)| length).sum();
        assert!(reads.len() <= most_reads && bytes <= most_bytes, "{cost}: {reads:?}");
    }
}

#[test]
fn gaps_that_are_cheaper_than_a_call_are_read_over() {
    let _alone = alone(0);
    let stored = StoredArray::new(&[1000, 100], 8).strided(0, 0);
    let storage = Arc::new(CountingStorage::new(stored.file.clone(), LOCAL));
    let array = stored.array(storage.clone(), &stored.shape);
    let column = select([(10, 500), (3, 1)]);
    assert_eq!(read(&array, &column), naive_read(&stored, &column));
    assert_eq!(storage.take_reads(), [(10 * 800 + 24, 499 * 800 + 8)]);
    let rows = Selection { axes: vec![Axis::Indices(vec![1, 3, 4, 900, 2]), Axis::all(100)] };
    assert_eq!(read(&array, &rows), naive_read(&stored, &rows));
    assert_eq!(storage.take_reads(), [(800, 3200), (900 * 800, 800), (1600, 800)]);
}

#[test]
fn a_plan_tells_the_reads_that_are_made() {
    let _alone = alone(0);
    let stored = StoredArray::new(&[40, 60, 80], 4).strided(64, 8);
    for cost in [0, 300, LOCAL, REMOTE] {
        let storage = Arc::new(CountingStorage::new(stored.file.clone(), cost));
        let array = stored.array(storage.clone(), &stored.shape);
        for selection in [
            Selection::all(&stored.shape),
            select([(3, 9), (5, 20), (7, 70)]),
            select([(0, 40), (5, 1), (7, 1)]),
            Selection { axes: vec![Axis::range(39, 8, -5), Axis::all(60), Axis::range(0, 20, 4)] },
            Selection { axes: vec![Axis::Indices(vec![5, 1, 30]), Axis::all(60), Axis::all(80)] },
        ] {
            let summary = Plan::new(&array.layout, &selection).unwrap();
            let summary = summary.summary(&array.layout, &selection).unwrap();
            read(&array, &selection);
            let reads = storage.take_reads();
            let bytes: u64 = reads.iter().map(|(_, length)| length).sum();
            assert_eq!((summary.reads, summary.read_bytes), (reads.len() as u64, bytes));
        }
    }
}

#[test]
fn a_chunk_is_fetched_and_decoded_once_for_a_request() {
    let chunk_bytes = 7 * 8 * 9 * 4;
    for (budget, cost) in [(0, LOCAL), (1 << 30, LOCAL), (0, REMOTE), (3 * chunk_bytes, REMOTE)] {
        let _alone = alone(budget);
        let stored = StoredArray::new(&[30, 40, 50], 4).chunked(&[7, 8, 9], true, 0);
        let storage = Arc::new(CountingStorage::new(stored.file.clone(), cost));
        let array = stored.array(storage.clone(), &stored.shape);
        // Indices that come back to the same chunks over and over.
        let axes = vec![
            Axis::Indices(vec![0, 29, 1, 28, 2, 27]),
            Axis::range(39, 14, -3),
            Axis::Indices(vec![49, 0, 49, 1]),
        ];
        let selection = Selection { axes };
        let chunks = 3 * 5 * 2;
        let decoded = decoded_by(|| {
            assert_eq!(read(&array, &selection), naive_read(&stored, &selection));
        });
        assert_eq!(decoded, chunks * chunk_bytes);
        assert_eq!(stored.lookups.load(SeqCst), chunks);
        let reads = storage.take_reads();
        let expected = if cost == REMOTE { 1 } else { chunks as usize };
        assert_eq!(reads.len(), expected, "{reads:?}");
    }
}

#[test]
fn slices_across_chunks_decode_each_chunk_once_where_they_fit() {
    let _alone = alone(64 << 20);
    let stored = StoredArray::new(&[16, 4, 32, 32], 8).chunked(&[8, 2, 8, 16], true, 0);
    let storage = Arc::new(CountingStorage::new(stored.file.clone(), LOCAL));
    let array = stored.array(storage, &stored.shape);
    let decoded = decoded_by(|| {
        for level in 0..4 {
            for row in 0..32 {
                let slice = select([(0, 16), (level, 1), (row, 1), (0, 32)]);
                assert_eq!(read(&array, &slice), naive_read(&stored, &slice));
            }
        }
    });
    assert_eq!(decoded, stored.elements.len() as u64);
}

#[test]
fn more_cache_never_decodes_more() {
    let stored = StoredArray::new(&[16, 8, 64], 8).chunked(&[4, 8, 8], true, 0);
    let chunk_bytes = 4 * 8 * 8 * 8;
    let mut last = u64::MAX;
    for chunks in [0, 1, 4, 8, 16, 31, 32] {
        let _alone = alone(chunks * chunk_bytes);
        let storage = Arc::new(CountingStorage::new(stored.file.clone(), LOCAL));
        let array = stored.array(storage, &stored.shape);
        let decoded = decoded_by(|| {
            for row in 0..8 {
                let slice = select([(0, 16), (row, 1), (0, 64)]);
                assert_eq!(read(&array, &slice), naive_read(&stored, &slice));
                assert!(cache::statistics().kept_bytes <= chunks * chunk_bytes);
            }
        });
        assert!(decoded <= last, "{chunks} chunks: {decoded} bytes decoded");
        last = decoded;
    }
    assert_eq!(last, stored.elements.len() as u64);
}

#[test]
fn many_threads_read_one_array() {
    let _alone = alone(100_000);
    let stored = StoredArray::new(&[60, 50, 40], 8).chunked(&[16, 9, 11], true, 5);
    let storage = Arc::new(CountingStorage::new(stored.file.clone(), LOCAL));
    let array = stored.array(storage, &stored.shape);
    std::thread::scope(|scope| {
        for thread in 0..8u64 {
            let (array, stored) = (&array, &stored);
            scope.spawn(move || {
                for round in 0..40 {
                    let at = (thread * 7 + round * 3) % 30;
                    let selection = select([(at, 30), (at, 1 + round % 20), (at, 10)]);
                    assert_eq!(read(array, &selection), naive_read(stored, &selection));
                }
            });
        }
    });
}

#[test]
fn slab_after_slab_is_decoded_ahead() {
    let _alone = alone(64 << 20);
    let stored = StoredArray::new(&[80, 32, 32], 8).chunked(&[8, 32, 32], true, 0);
    let storage = Arc::new(CountingStorage::new(stored.file.clone(), LOCAL));
    let array = stored.array(storage, &stored.shape);
    for step in 0..4 {
        read(&array, &select([(step, 1), (0, 32), (0, 32)]));
    }
    // The first chunk was asked for, the second was not.
    let ahead = || cache::statistics().kept_bytes == 2 * 8 * 32 * 32 * 8;
    let has_threads = std::thread::available_parallelism().is_ok_and(|count| count.get() > 1);
    for _ in 0..1000 {
        if ahead() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let kept = cache::statistics().kept_bytes;
    let wanted = has_threads && std::env::var_os("ISOTACH_THREADS").is_none();
    assert_eq!(ahead(), wanted, "{kept} bytes are kept");
    // It is served from what is kept. (What is decoded meanwhile is the chunk after it.)
    let hits = cache::statistics().hits;
    let slab = select([(8, 1), (0, 32), (0, 32)]);
    assert_eq!(read(&array, &slab), naive_read(&stored, &slab));
    assert_eq!(cache::statistics().hits - hits, u64::from(wanted));
}

/// Rows, parts of a row, one element: each is a run; columns and steps are not, and come as well.
#[test]
fn a_run_is_one_read() {
    let _alone = alone(0);
    let stored = StoredArray::new(&[6, 5, 40], 8).strided(64, 0);
    let storage = Arc::new(CountingStorage::new(stored.file.clone(), LOCAL));
    let array = stored.array(storage.clone(), &stored.shape);
    let slabs = [
        [(2, 3), (0, 5), (0, 40)],
        [(5, 1), (1, 4), (0, 40)],
        [(0, 1), (4, 1), (7, 33)],
        [(3, 1), (2, 1), (39, 1)],
    ];
    for slab in slabs {
        storage.take_reads();
        assert!(read(&array, &select(slab)) == naive_read(&stored, &select(slab)), "{slab:?}");
        let bytes: u64 = slab.iter().map(|(_, count)| count).product::<u64>() * 8;
        let reads = storage.take_reads();
        assert!(reads.len() == 1 && reads[0].1 == bytes, "{slab:?}: {reads:?}");
    }
    for slab in [[(1, 4), (2, 1), (3, 1)], [(0, 2), (1, 4), (0, 40)], [(0, 1), (0, 5), (1, 39)]] {
        assert!(read(&array, &select(slab)) == naive_read(&stored, &select(slab)), "{slab:?}");
    }
}

/// One chunk more than there are threads: the last round would leave all threads but one idle.
#[test]
fn a_slab_of_a_scan_is_filled_up_with_chunks_of_the_next() {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    if threads < 2 || std::env::var_os("ISOTACH_THREADS").is_some() {
        return eprintln!("LEFT OUT: there are no threads to keep busy");
    }
    const CHUNK_BYTES: u64 = 8 * 32 * 32 * 8;
    let columns = threads as u64 + 1;
    // The next slab as a whole is too much to decode ahead.
    let _alone = alone(4 * threads as u64 * CHUNK_BYTES);
    let stored = StoredArray::new(&[24, 32, columns * 32], 8).chunked(&[8, 32, 32], true, 0);
    let array =
        stored.array(Arc::new(CountingStorage::new(stored.file.clone(), LOCAL)), &stored.shape);
    let kept = || cache::statistics().kept_bytes / CHUNK_BYTES;
    for row in 0..16 {
        let slab = select([(row, 1), (0, 32), (0, columns * 32)]);
        assert_eq!(read(&array, &slab), naive_read(&stored, &slab));
        // At the first slab there is no pattern yet. Chunks whose last row was read go: the array is too large to stay.
        let ahead = if row < 8 { 0 } else { threads as u64 - 1 };
        let being_read = if row % 8 < 7 { columns } else { 0 };
        assert_eq!(kept(), being_read + ahead, "after row {row}");
    }
}

#[test]
fn external_segments_are_one_array() {
    let _alone = alone(0);
    let mut stored = StoredArray::new(&[10, 10], 4);
    let raw = |range: std::ops::Range<usize>| {
        let bytes = [&[9; 5], &stored.elements[range]].concat();
        Some(Arc::new(CountingStorage::new(bytes, LOCAL)) as Arc<dyn isotach::storage::Storage>)
    };
    let segment = |name: &str, storage, length_bytes| ExternalSegment {
        name: name.into(),
        storage,
        offset: 5,
        length_bytes,
    };
    let segments = [
        // The third is shorter than it should be, and the last is missing.
        segment("first", raw(0..101), 101),
        segment("second", raw(101..200), 99),
        segment("third", raw(200..300), 160),
        segment("fourth", None, u64::MAX),
    ];
    let segments: Arc<[ExternalSegment]> = segments.into();
    let there = [
        select([(0, 7), (0, 10)]),
        select([(2, 5), (3, 4)]),
        Selection { axes: vec![Axis::range(6, 3, -3), Axis::range(0, 4, 3)] },
    ];
    let missing = [select([(0, 9), (0, 10)]), select([(7, 1), (4, 2)]), select([(8, 1), (0, 1)])];
    for beyond_end in [BeyondEnd::Missing, BeyondEnd::Zeros] {
        stored.placement = Placement::External { segments: Arc::clone(&segments), beyond_end };
        let array = stored.array(Arc::new(CountingStorage::new(Vec::new(), LOCAL)), &[10, 10]);
        for selection in &there {
            assert_eq!(read(&array, selection), naive_read(&stored, selection), "{selection}");
        }
        if beyond_end == BeyondEnd::Zeros {
            stored.elements[300..].fill(0);
        }
        for selection in &missing {
            match try_read(&array, selection) {
                Ok(found) => assert_eq!(found, naive_read(&stored, selection), "{selection}"),
                Err(error) => {
                    assert!(matches!(error.kind, ErrorKind::MissingBytes { .. }), "{error}");
                    assert!(error.to_string().contains("third"), "{error}");
                    assert_eq!(beyond_end, BeyondEnd::Missing);
                }
            }
        }
        let refused = try_read(&array, &select([(9, 1), (0, 10)]));
        assert!(matches!(
            refused.unwrap_err().kind,
            ErrorKind::OtherFile { path, .. } if path == "fourth"
        ));
    }
}

/// Pieces that are known from the start.
struct Pieces(Arc<[VirtualPiece]>);

impl VirtualSources for Pieces {
    fn pieces(&self) -> isotach::Result<Arc<[VirtualPiece]>> {
        Ok(Arc::clone(&self.0))
    }
}

fn blocks(start: u64, stride: u64, count: u64, block: u64) -> Blocks {
    Blocks { start, stride, count, block }
}

#[test]
fn virtual_arrays_show_their_pieces_later_ones_on_top() {
    let _alone = alone(1 << 20);
    let source = StoredArray::new(&[6, 10], 4).chunked(&[4, 3], true, 0);
    let storage = Arc::new(CountingStorage::new(source.file.clone(), LOCAL));
    let layout = Arc::new(source.array(storage, &source.shape).layout);
    let whole = vec![blocks(0, 1, 1, 6), blocks(0, 1, 1, 10)];
    let pieces = [
        // The whole source as the second of three maps.
        VirtualPiece {
            target: vec![blocks(1, 1, 1, 1), blocks(0, 1, 1, 6), blocks(0, 1, 1, 10)],
            source: Arc::clone(&layout),
            selection: whole.clone(),
            conversion: None,
        },
        // Every other row of the third, out of the first three rows.
        VirtualPiece {
            target: vec![blocks(2, 1, 1, 1), blocks(1, 2, 3, 1), blocks(0, 1, 1, 10)],
            source: Arc::clone(&layout),
            selection: vec![blocks(0, 1, 1, 3), blocks(0, 1, 1, 10)],
            conversion: None,
        },
        // On top of the second map: a 2 x 3 block out of a row of six.
        VirtualPiece {
            target: vec![blocks(1, 1, 1, 1), blocks(2, 1, 1, 2), blocks(4, 1, 1, 3)],
            source: layout,
            selection: vec![blocks(5, 1, 1, 1), blocks(2, 1, 1, 6)],
            conversion: None,
        },
    ];
    let mut expected = StoredArray::new(&[3, 6, 10], 4);
    expected.elements = expected.fill.repeat(180);
    let mut put = |to: [usize; 3], from: [usize; 2]| {
        let (to, from) = (to[0] * 60 + to[1] * 10 + to[2], from[0] * 10 + from[1]);
        expected.elements[to * 4..][..4].copy_from_slice(&source.elements[from * 4..][..4]);
    };
    for (row, column) in (0..6).flat_map(|row| (0..10).map(move |column| (row, column))) {
        put([1, row, column], [row, column]);
        if row < 3 {
            put([2, 1 + 2 * row, column], [row, column]);
        }
    }
    for index in 0..6 {
        put([1, 2 + index / 3, 4 + index % 3], [5, 2 + index]);
    }
    expected.placement = Placement::Virtual(Arc::new(Pieces(pieces.into())));
    let storage = Arc::new(CountingStorage::new(Vec::new(), LOCAL));
    let array = expected.array(storage, &[3, 6, 11]);
    for selection in [
        Selection::all(&[3, 6, 11]),
        select([(1, 1), (2, 3), (3, 4)]),
        select([(1, 2), (3, 1), (0, 11)]),
        Selection {
            axes: vec![
                Axis::Indices(vec![2, 1, 1, 0]),
                Axis::range(5, 6, -1),
                Axis::Indices(vec![9, 3, 5, 6, 10]),
            ],
        },
    ] {
        assert_eq!(read(&array, &selection), naive_read(&expected, &selection), "{selection}");
    }
}

/// Who reads whole chunks one after the other leaves nothing behind, whether he or the thread that decodes ahead comes
/// first.
#[test]
fn chunks_that_are_read_whole_do_not_stay() {
    const CHUNK_BYTES: u64 = 64 * 64 * 8;
    let _alone = alone(32 * CHUNK_BYTES);
    let stored = StoredArray::new(&[100, 64, 64], 8).chunked(&[1, 64, 64], true, 0);
    let array =
        stored.array(Arc::new(CountingStorage::new(stored.file.clone(), LOCAL)), &stored.shape);
    let before = cache::statistics().decoded_bytes;
    for row in 0..100 {
        let slab = select([(row, 1), (0, 64), (0, 64)]);
        assert_eq!(read(&array, &slab), naive_read(&stored, &slab));
        // Those of a sixteenth, the one that is read and the one that comes next.
        let kept = cache::statistics().kept_bytes / CHUNK_BYTES;
        assert!(kept <= 2 + 2, "{kept} after row {row}");
    }
    let decoded = (cache::statistics().decoded_bytes - before) / CHUNK_BYTES;
    assert!(decoded <= 2 * 100, "{decoded} of 100");
}
