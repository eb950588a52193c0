//! Any selection of any array, stored in any way, against a reader that takes one element at a time.

use std::mem::MaybeUninit;
use std::sync::Arc;

use isotach::model::StoredType;
use isotach::model::selection::{Axis, Selection};
use isotach::read::Array;
use isotach::storage::{Memory, Storage};
use isotach::{Result, cache};
use isotach_testkit::{CountingStorage, FailingStorage, StoredArray, naive_read};
use proptest::prelude::*;

fn read(array: &Array, selection: &Selection) -> Result<Vec<u8>> {
    let count = selection.element_count().unwrap() as usize * array.layout.element_size;
    let mut into = vec![MaybeUninit::new(0x55); count];
    Ok(array.read_stored_into(selection, &mut into)?.to_vec())
}

fn axis(len: u64) -> BoxedStrategy<Axis> {
    if len == 0 {
        return Just(Axis::all(0)).boxed();
    }
    let range = (0..len, 1..5i64, any::<bool>(), 0..=len).prop_map(
        move |(start, step, backwards, count)| {
            let room = if backwards { start } else { len - 1 - start };
            let count = count.min(room / step as u64 + 1);
            Axis::range(start, count, if backwards { -step } else { step })
        },
    );
    let indices = prop::collection::vec(0..len, 0..12).prop_map(Axis::Indices);
    prop_oneof![2 => Just(Axis::all(len)), 4 => range, 2 => indices].boxed()
}

#[derive(Debug, Clone)]
struct Case {
    shape: Vec<u64>,
    chunk_shape: Vec<u64>,
    element_size: usize,
    selection: Selection,
    seen: Vec<u64>,
    way: usize,
    call_cost: u64,
    budget: u64,
}

fn case() -> impl Strategy<Value = Case> {
    let axes = prop::collection::vec(
        (0u64..14, 1u64..9, prop_oneof![3 => Just(0u64), 1 => 0u64..5]),
        0..4,
    );
    axes.prop_flat_map(|axes| {
        let seen: Vec<u64> = axes.iter().map(|(len, _, more)| len + more).collect();
        let selection: Vec<BoxedStrategy<Axis>> = seen.iter().map(|&len| axis(len)).collect();
        let sizes = prop::sample::select(vec![1usize, 2, 3, 4, 8, 16, 24]);
        let costs = prop::sample::select(vec![0u64, 10, 16 << 10, 1 << 20]);
        let budgets = prop::sample::select(vec![0u64, 700, 1 << 30]);
        (selection, sizes, 0usize..7, costs, budgets).prop_map(
            move |(selection, element_size, way, call_cost, budget)| Case {
                shape: axes.iter().map(|axis| axis.0).collect(),
                chunk_shape: axes.iter().map(|axis| axis.1).collect(),
                element_size,
                selection: Selection { axes: selection },
                seen: seen.clone(),
                way,
                call_cost,
                budget,
            },
        )
    })
}

fn stored(case: &Case) -> StoredArray {
    let array = StoredArray::new(&case.shape, case.element_size);
    match case.way {
        0 => array.inline(),
        1 => array.strided(100, 0),
        2 => array.strided(3, 37),
        3 => array.chunked(&case.chunk_shape, false, 3),
        4 => array.chunked(&case.chunk_shape, true, 0),
        5 => array.chunked(&case.chunk_shape, true, 2),
        _ => {
            let mut array = array;
            array.elements = array.fill.repeat(array.elements.len() / array.element_size);
            array
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]
    #[test]
    fn every_selection_is_read_as_element_by_element(case in case()) {
        let stored = stored(&case);
        let expected = naive_read(&stored, &case.selection);
        cache::set_budget(case.budget);
        let storages: [Arc<dyn Storage>; 2] = [
            Arc::new(Memory::new(stored.file.clone())),
            Arc::new(CountingStorage::new(stored.file.clone(), case.call_cost)),
        ];
        for storage in storages {
            let array = stored.array(storage, &case.seen);
            // Twice: the second time some of it is in the cache.
            for _ in 0..2 {
                prop_assert_eq!(&read(&array, &case.selection).unwrap(), &expected);
            }
        }
    }

    #[test]
    fn numbers_arrive_in_this_machines_byte_order(case in case()) {
        let size = [2, 4, 8][case.way % 3];
        let case = Case { element_size: size, ..case };
        let stored = stored(&case);
        let mut expected = naive_read(&stored, &case.selection);
        expected.chunks_mut(size).for_each(<[u8]>::reverse);
        let storage = Arc::new(CountingStorage::new(stored.file.clone(), case.call_cost));
        let mut array = stored.array(storage, &case.seen);
        array.stored = StoredType::UInt { size, big_endian: cfg!(target_endian = "little") };
        let values = array.read(&case.selection).unwrap();
        prop_assert_eq!(values.native_bytes().unwrap(), &expected[..]);
        // And the same numbers as doubles, widened in place or not.
        let (doubles, report) = array.read_as::<f64>(&case.selection).unwrap();
        prop_assert_eq!(Some(doubles), values.to_f64());
        prop_assert!(report.is_in_range());
    }

    #[test]
    fn failing_storage_is_an_error(case in case(), successes in 0u64..4) {
        let stored = stored(&case);
        let expected = naive_read(&stored, &case.selection);
        let storage = Arc::new(FailingStorage::new(stored.file.clone(), successes));
        if let Ok(bytes) = read(&stored.array(storage, &case.seen), &case.selection) {
            prop_assert_eq!(bytes, expected);
        }
    }

    #[test]
    fn truncated_files_are_an_error(case in case(), kept in 0usize..2000) {
        let stored = stored(&case);
        let expected = naive_read(&stored, &case.selection);
        let file = stored.file[..kept.min(stored.file.len())].to_vec();
        let storages: [Arc<dyn Storage>; 2] =
            [Arc::new(Memory::new(file.clone())), Arc::new(CountingStorage::new(file, 1 << 20))];
        for storage in storages {
            // What is behind the end of the file may be a gap that nobody needs.
            if let Ok(bytes) = read(&stored.array(storage, &case.seen), &case.selection) {
                prop_assert_eq!(bytes, expected.clone());
            }
        }
    }
}

#[test]
fn selections_beyond_the_shape_are_refused() {
    let stored = StoredArray::new(&[4, 5], 4).inline();
    let array = stored.array(Arc::new(Memory::new(Vec::<u8>::new())), &[4, 5]);
    let bad = [
        vec![Axis::all(4)],
        vec![Axis::all(4), Axis::all(6)],
        vec![Axis::range(3, 2, 1), Axis::all(5)],
        vec![Axis::Indices(vec![0, 4]), Axis::all(5)],
        vec![Axis::range(0, 2, -1), Axis::all(5)],
    ];
    for axes in bad {
        assert!(array.read(&Selection { axes: axes.clone() }).is_err(), "{axes:?}");
    }
    let mut small = [MaybeUninit::uninit(); 79];
    assert!(array.read_stored_into(&Selection::all(&[4, 5]), &mut small).is_err());
}
