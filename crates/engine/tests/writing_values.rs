//! What is written to a variable, piece by piece, is what is read from it; and how it was written.

mod support {
    pub mod disk;
}

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use isotach::cache::FileNumber;
use isotach::model::convert::Rules;
use isotach::model::selection::{Axis, Selection};
use isotach::model::{StoredType, shape};
use isotach::plan::layout::{ArrayId, ArrayLayout, ChunkIndex, Placement};
use isotach::read::{Array, Live};
use isotach::write::data::{
    ChunkParts, ChunkStore, InlineStore, Store, StridedStore, Target, set_buffer_budget,
};
use isotach_codec::{Filter, Pipeline};
use proptest::prelude::*;
use support::disk::{Disk, Space};

/// The budget is the process's: tests that set it do not run beside others.
fn with_budget(bytes: u64) -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    set_buffer_budget(bytes);
    alone
}

/// A file with one variable.
struct Written {
    disk: Arc<Disk>,
    space: Arc<Space>,
    store: Store,
    element_size: usize,
    fill: Arc<[u8]>,
}

fn filter(id: u16, parameters: &[u32]) -> Filter {
    Filter { id, name: None, optional: false, parameters: parameters.to_vec() }
}

/// 0 none, 1 deflate, 2 shuffle and deflate, 3 fletcher32.
fn pipeline(kind: u8, element_size: usize) -> Pipeline {
    let filters = match kind {
        1 => vec![filter(1, &[1])],
        2 => vec![filter(2, &[element_size as u32]), filter(1, &[1])],
        3 => vec![filter(3, &[])],
        _ => Vec::new(),
    };
    Pipeline { filters }
}

fn fill_of(element_size: usize) -> Arc<[u8]> {
    (1..=element_size as u8).map(|byte| byte | 0x80).collect()
}

impl Written {
    fn new(element_size: usize, store: impl FnOnce(Target) -> Store) -> Self {
        let (disk, space) = (Arc::new(Disk::default()), Arc::new(Space::default()));
        let target = Target {
            storage: disk.clone(),
            space: space.clone(),
            file: "made up".into(),
            path: "/x".into(),
        };
        let store = store(target);
        Self { disk, space, store, element_size, fill: fill_of(element_size) }
    }

    fn chunked(
        chunk_shape: &[u64],
        shape: &[u64],
        max_shape: &[u64],
        element_size: usize,
        filters: u8,
        edge_chunks_unfiltered: bool,
    ) -> Self {
        Self::new(element_size, |target| {
            let parts = ChunkParts {
                chunk_shape: chunk_shape.to_vec(),
                max_shape: max_shape.to_vec(),
                element_size,
                fill: fill_of(element_size),
                shape: shape.to_vec(),
                pipeline: Arc::new(pipeline(filters, element_size)),
                edge_chunks_unfiltered,
                existing: None,
            };
            Store::Chunked(ChunkStore::new(target, parts).unwrap())
        })
    }

    /// The same variable after its file was closed and opened again.
    fn reopened(self, shape: &[u64], max_shape: &[u64], filters: u8) -> Self {
        let target = Target {
            storage: self.disk.clone(),
            space: self.space.clone(),
            file: "made up".into(),
            path: "/x".into(),
        };
        let existing = self.chunks().table();
        let Placement::Chunked(chunked) = self.store.placement() else { panic!("not chunked") };
        let parts = ChunkParts {
            chunk_shape: chunked.chunk_shape,
            max_shape: max_shape.to_vec(),
            element_size: self.element_size,
            fill: self.fill.clone(),
            shape: shape.to_vec(),
            pipeline: Arc::new(pipeline(filters, self.element_size)),
            edge_chunks_unfiltered: chunked.edge_chunks_unfiltered,
            existing: Some(existing),
        };
        Self { store: Store::Chunked(ChunkStore::new(target, parts).unwrap()), ..self }
    }

    fn strided(shape: &[u64], element_size: usize) -> Self {
        Self::new(element_size, |target| {
            let fill = Some(fill_of(element_size));
            let store = StridedStore::new(target, shape.to_vec(), element_size, fill, None);
            Store::Strided(store.unwrap())
        })
    }

    fn inline(shape: &[u64], element_size: usize) -> Self {
        Self::new(element_size, |target| {
            let fill = fill_of(element_size);
            let store = InlineStore::new(target, shape.to_vec(), element_size, &fill, None);
            Store::Inline(store.unwrap())
        })
    }

    /// All elements as a reader finds them, who opens the file now.
    fn read(&self, shape: &[u64]) -> Vec<u8> {
        let number = FileNumber::new();
        let layout = ArrayLayout {
            id: ArrayId { file: number.get(), address: 0 },
            file: "made up".into(),
            path: "/x".into(),
            storage: self.disk.clone(),
            shape: shape.to_vec(),
            element_size: self.element_size,
            fill: self.fill.clone(),
            fill_beyond: None,
            placement: self.store.placement(),
        };
        let stored = StoredType::Bytes { size: self.element_size, reversed: false };
        let shape = shape.to_vec();
        let array = Array {
            layout,
            shape,
            stored,
            heap: None,
            rules: Rules::NETCDF4,
            live: Live::default(),
        };
        let count = shape::byte_count(&array.shape, self.element_size).unwrap();
        let mut bytes = vec![std::mem::MaybeUninit::uninit(); count];
        array.read_stored_into(&Selection::all(&array.shape), &mut bytes).unwrap().to_vec()
    }

    fn chunks(&self) -> &ChunkStore {
        match &self.store {
            Store::Chunked(store) => store,
            _ => panic!("not chunked"),
        }
    }
}

/// An array in memory that does the same, element by element.
#[derive(Clone)]
struct Model {
    shape: Vec<u64>,
    element_size: usize,
    elements: Vec<u8>,
}

impl Model {
    fn new(shape: &[u64], element_size: usize) -> Self {
        let mut model = Self { shape: vec![0; shape.len()], element_size, elements: Vec::new() };
        if shape.is_empty() {
            model.elements = fill_of(element_size).to_vec();
        }
        model.grow(shape);
        model
    }

    fn grow(&mut self, shape: &[u64]) {
        let count = shape::element_count(shape).unwrap() as usize;
        let mut grown = fill_of(self.element_size).repeat(count);
        for index in 0..shape::element_count(&self.shape).unwrap() {
            let at = position(index, &self.shape);
            let (from, to) = (index as usize * self.element_size, number(&at, shape));
            grown[to * self.element_size..][..self.element_size]
                .copy_from_slice(&self.elements[from..from + self.element_size]);
        }
        (self.shape, self.elements) = (shape.to_vec(), grown);
    }

    fn write(&mut self, selection: &Selection, elements: &[u8]) {
        let selected = selection.shape();
        for (index, element) in elements.chunks(self.element_size).enumerate() {
            let result = position(index as u64, &selected);
            let axes = selection.axes.iter().zip(&result);
            let at: Vec<u64> = axes.map(|(axis, index)| axis.get(*index).unwrap()).collect();
            let to = number(&at, &self.shape) * self.element_size;
            self.elements[to..to + self.element_size].copy_from_slice(element);
        }
    }
}

fn position(mut index: u64, shape: &[u64]) -> Vec<u64> {
    let mut position = vec![0; shape.len()];
    for (at, len) in position.iter_mut().zip(shape).rev() {
        (*at, index) = (index % len, index / len);
    }
    position
}

fn number(position: &[u64], shape: &[u64]) -> usize {
    position.iter().zip(shape).fold(0, |number, (at, len)| number * len + at) as usize
}

/// Numbers that look random.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed ^ mixed >> 27
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn bytes(&mut self, len: usize) -> Vec<u8> {
        // Few different ones, so that there is something to compress.
        (0..len).map(|_| self.below(7) as u8).collect()
    }

    fn axis(&mut self, len: u64) -> Axis {
        let start = self.below(len);
        match self.below(6) {
            0 | 1 => Axis::all(len),
            2 => Axis::range(start, 1 + self.below(len - start), 1),
            3 => {
                let step = 1 + self.below(3);
                Axis::range(start, 1 + self.below((len - 1 - start) / step + 1), step as i64)
            }
            4 => {
                let step = 1 + self.below(2);
                Axis::range(start, 1 + self.below(start / step + 1), -(step as i64))
            }
            _ => {
                let count = self.below(2 * len);
                Axis::Indices((0..count).map(|_| self.below(len)).collect())
            }
        }
    }

    fn selection(&mut self, shape: &[u64]) -> Selection {
        Selection { axes: shape.iter().map(|&len| self.axis(len)).collect() }
    }
}

fn elements_of(numbers: &mut Numbers, selection: &Selection, element_size: usize) -> Vec<u8> {
    numbers.bytes(selection.element_count().unwrap() as usize * element_size)
}

/// What the last commit has must stay as it is until the next one.
fn committed_bytes(written: &Written) -> Vec<u8> {
    let bytes = written.disk.bytes();
    let ranges = written.space.committed();
    ranges.iter().flat_map(|&(at, len)| bytes[at as usize..][..len as usize].to_vec()).collect()
}

proptest! {
    #[test]
    fn chunks_hold_what_was_written(
        axes in prop::collection::vec((1u64..5, 1u64..10, any::<bool>()), 1..4),
        element_size in prop::sample::select(vec![1usize, 2, 3, 4, 8]),
        filters in 0u8..4,
        edge_chunks_unfiltered in any::<bool>(),
        budget in prop::sample::select(vec![0u64, 500, 2000, 1 << 20]),
        operations in prop::collection::vec((0u8..9, any::<u64>()), 1..14),
    ) {
        let _alone = with_budget(budget);
        let chunk_shape: Vec<u64> = axes.iter().map(|axis| axis.0).collect();
        let mut shape: Vec<u64> = axes.iter().map(|axis| axis.1).collect();
        let max_of = |axis: &(u64, u64, bool)| if axis.2 { u64::MAX } else { axis.1 };
        let max_shape: Vec<u64> = axes.iter().map(max_of).collect();
        let mut written = Written::chunked(
            &chunk_shape, &shape, &max_shape, element_size, filters, edge_chunks_unfiltered,
        );
        let mut model = Model::new(&shape, element_size);
        let mut committed = Vec::new();
        for (operation, seed) in operations {
            let mut numbers = Numbers(seed);
            match operation {
                0 => {
                    written.store.flush(&shape).unwrap();
                    prop_assert_eq!(written.read(&shape), model.elements.clone());
                }
                1 | 3 => {
                    written.store.flush(&shape).unwrap();
                    written.chunks().mark_committed();
                    written.space.commit();
                    committed = committed_bytes(&written);
                    prop_assert_eq!(written.chunks().table().changed_count(), 0);
                    if operation == 3 {
                        written = written.reopened(&shape, &max_shape, filters);
                    }
                }
                2 => {
                    let more = shape.iter().zip(&max_shape).map(|(len, max)| {
                        if len < max { len + numbers.below(6) } else { *len }
                    });
                    shape = more.collect();
                    model.grow(&shape);
                }
                _ => {
                    let selection = numbers.selection(&shape);
                    let elements = elements_of(&mut numbers, &selection, element_size);
                    written.store.write(&selection, &elements, &shape).unwrap();
                    model.write(&selection, &elements);
                }
            }
            prop_assert_eq!(&committed_bytes(&written), &committed);
        }
        written.store.flush(&shape).unwrap();
        prop_assert_eq!(written.read(&shape), model.elements);
        // No space is lost.
        let mut used = 0;
        let table = written.chunks().table();
        table.for_each(&mut |_, place| { used += place.stored_bytes; Ok(()) }).unwrap();
        prop_assert_eq!(written.space.used_bytes(), used);
    }

    #[test]
    fn rows_hold_what_was_written(
        shape in prop::collection::vec(1u64..10, 0..4),
        element_size in prop::sample::select(vec![1usize, 3, 4, 8]),
        inline in any::<bool>(),
        operations in prop::collection::vec((0u8..5, any::<u64>()), 1..10),
    ) {
        let written = match inline {
            true => Written::inline(&shape, element_size),
            false => Written::strided(&shape, element_size),
        };
        let mut model = Model::new(&shape, element_size);
        for (operation, seed) in operations {
            let mut numbers = Numbers(seed);
            if operation > 0 {
                let selection = numbers.selection(&shape);
                let elements = elements_of(&mut numbers, &selection, element_size);
                written.store.write(&selection, &elements, &shape).unwrap();
                model.write(&selection, &elements);
            } else {
                written.store.flush(&shape).unwrap();
                prop_assert_eq!(written.read(&shape), model.elements.clone());
            }
        }
        written.store.flush(&shape).unwrap();
        prop_assert_eq!(written.read(&shape), model.elements);
    }
}

/// One chunk a call, large enough to be encoded by other threads while the caller goes on.
#[test]
fn the_caller_goes_on_while_chunks_are_encoded() {
    let _alone = with_budget(8 << 20);
    let (shape, row_bytes) = ([24u64, 64, 1024], 64 * 1024 * 4);
    let written = Written::chunked(&[1, 64, 1024], &shape, &[u64::MAX, 64, 1024], 4, 2, false);
    let elements = Numbers(1).bytes(24 * row_bytes);
    let step = |first: u64| Selection {
        axes: vec![Axis::range(first, 1, 1), Axis::all(64), Axis::all(1024)],
    };
    for _ in 0..2 {
        for (index, bytes) in elements.chunks(row_bytes).enumerate() {
            written.store.write(&step(index as u64), bytes, &shape).unwrap();
            // Again at once: after what is being written.
            written.store.write(&step(index as u64), bytes, &shape).unwrap();
        }
        written.store.flush(&shape).unwrap();
        assert_eq!(written.disk.take_reads(), []);
        assert_eq!(written.read(&shape), elements);
        written.disk.take_reads();
    }
    // What fails meanwhile is told by the next call, and not lost.
    written.chunks().mark_committed();
    written.space.commit();
    let turned: Vec<u8> = elements.iter().map(|byte| byte ^ 1).collect();
    written.disk.fail_after(Some(0));
    let outcomes: Vec<bool> = (0..3)
        .map(|_| {
            let outcome = written.store.write(&step(0), &turned[..row_bytes], &shape);
            // The next one waits until the chunk is free.
            outcome.is_ok() && written.store.flush(&shape).is_err()
        })
        .collect();
    assert_eq!(outcomes, [true; 3]);
    written.disk.fail_after(None);
    written.store.flush(&shape).unwrap();
    assert_eq!(written.read(&shape)[..row_bytes], turned[..row_bytes]);
    assert_eq!(written.read(&shape)[row_bytes..], elements[row_bytes..]);
}

#[test]
fn rows_of_a_large_chunk_go_to_their_place() {
    let _alone = with_budget(1 << 20);
    let (shape, max_shape) = ([64, 1024], [u64::MAX, 1024]);
    let written = Written::chunked(&[64, 1024], &shape, &max_shape, 4, 0, false);
    let mut model = Model::new(&shape, 4);
    for row in 0..64 {
        let bytes = Numbers(row).bytes(4096);
        written.store.write(&rows(row, 1, 1024), &bytes, &shape).unwrap();
        model.write(&rows(row, 1, 1024), &bytes);
    }
    let each: Vec<_> = (0..64).map(|row| (row * 4096, 4096)).collect();
    assert_eq!(written.disk.take_writes(), each);
    written.store.flush(&shape).unwrap();
    assert_eq!(written.disk.take_writes(), []);
    assert_eq!(written.disk.take_reads(), []);
    assert_eq!(written.read(&shape), model.elements);

    let written = Written::chunked(&[64, 1024], &shape, &max_shape, 4, 0, false);
    written.store.write(&rows(60, 4, 1024), &[7; 4 * 4096], &shape).unwrap();
    written.store.write(&rows(20, 10, 1024), &[7; 10 * 4096], &shape).unwrap();
    written.disk.take_writes();
    written.disk.fail_after(Some(1));
    written.store.flush(&shape).unwrap_err();
    written.disk.fail_after(None);
    written.disk.take_writes();
    written.store.flush(&shape).unwrap();
    assert_eq!(written.disk.take_writes(), [(0, 20 * 4096), (30 * 4096, 30 * 4096)]);
}

#[test]
fn large_chunks_hold_what_was_written() {
    for seed in 0..24 {
        let mut numbers = Numbers(seed);
        let _alone = with_budget([0, 4 << 20][numbers.below(2) as usize]);
        let chunk_shape = [[64, 1024], [16, 4096]][numbers.below(2) as usize];
        let max_shape = [u64::MAX, 2000];
        let mut shape = [50, 2000];
        let written = Written::chunked(&chunk_shape, &shape, &max_shape, 4, 0, false);
        let mut model = Model::new(&shape, 4);
        let mut committed = Vec::new();
        for _ in 0..8 {
            match numbers.below(6) {
                0 => {
                    written.store.flush(&shape).unwrap();
                    written.chunks().mark_committed();
                    written.space.commit();
                    committed = committed_bytes(&written);
                }
                1 => {
                    shape[0] += numbers.below(40);
                    model.grow(&shape);
                }
                kind => {
                    let mut selection = numbers.selection(&shape);
                    if kind > 3 {
                        selection.axes[1] = Axis::all(2000);
                    }
                    let elements = elements_of(&mut numbers, &selection, 4);
                    written.store.write(&selection, &elements, &shape).unwrap();
                    model.write(&selection, &elements);
                }
            }
            assert!(committed_bytes(&written) == committed);
        }
        written.store.flush(&shape).unwrap();
        assert!(written.read(&shape) == model.elements, "{seed}");
    }
}

fn rows(first: u64, count: u64, len: u64) -> Selection {
    Selection { axes: vec![Axis::range(first, count, 1), Axis::all(len)] }
}

#[test]
fn whole_chunks_are_written_once_together_and_never_read() {
    let _alone = with_budget(0);
    let shape = [64, 60];
    let written = Written::chunked(&[8, 20], &shape, &shape, 4, 0, false);
    let elements = Numbers(1).bytes(64 * 60 * 4);
    for _ in 0..2 {
        written.store.write(&Selection::all(&shape), &elements, &shape).unwrap();
        assert_eq!(written.disk.take_reads(), []);
        // One after the other in the file: one call for all.
        assert_eq!(written.disk.take_writes(), [(0, 64 * 60 * 4)]);
    }
    written.chunks().mark_committed();
    written.space.commit();
    written.store.write(&rows(8, 16, 60), &elements[..16 * 60 * 4], &shape).unwrap();
    assert_eq!(written.disk.take_reads(), []);
    assert_eq!(written.disk.take_writes(), [(64 * 60 * 4, 16 * 60 * 4)]);
    assert_eq!(written.chunks().table().changed_count(), 6);
}

#[test]
fn rows_of_a_chunk_are_gathered_and_the_chunk_written_once() {
    let _alone = with_budget(1 << 20);
    for filters in [0, 2] {
        let (shape, max_shape) = ([16, 60], [u64::MAX, 60]);
        let written = Written::chunked(&[8, 60], &shape, &max_shape, 4, filters, false);
        let elements = Numbers(1).bytes(16 * 60 * 4);
        for (row, bytes) in elements.chunks(60 * 4).enumerate() {
            written.store.write(&rows(row as u64, 1, 60), bytes, &shape).unwrap();
        }
        written.store.flush(&shape).unwrap();
        assert_eq!(written.disk.take_reads(), []);
        assert_eq!(written.disk.take_writes().len(), 2);
        assert_eq!(written.read(&shape), elements);
    }
}

#[test]
fn growing_edge_chunks_wait_and_fixed_ones_do_not() {
    let _alone = with_budget(1 << 20);
    let shape = [5, 5];
    for (max_shape, writes) in [([5, 5], 1), ([u64::MAX, 5], 0)] {
        let written = Written::chunked(&[8, 8], &shape, &max_shape, 4, 0, false);
        let elements = Numbers(1).bytes(5 * 5 * 4);
        written.store.write(&Selection::all(&shape), &elements, &shape).unwrap();
        assert_eq!(written.disk.take_writes().len(), writes);
        written.store.flush(&shape).unwrap();
        assert_eq!(written.read(&shape), elements);
        // What is beyond the edge is fill, for when the array grows.
        let chunk = written.disk.bytes();
        assert!(chunk[5 * 4..8 * 4].chunks(4).all(|element| element == &*written.fill));
        assert!(chunk[5 * 8 * 4..].chunks(4).all(|element| element == &*written.fill));
    }
}

#[test]
fn a_flushed_chunk_stays_and_is_not_read_back() {
    let _alone = with_budget(1 << 20);
    let written = Written::chunked(&[8, 8], &[8, 8], &[u64::MAX, 8], 4, 1, false);
    let mut model = Model::new(&[8, 8], 4);
    for row in 0..8 {
        let bytes = Numbers(row).bytes(8 * 4);
        written.store.write(&rows(row, 1, 8), &bytes, &[8, 8]).unwrap();
        model.write(&rows(row, 1, 8), &bytes);
        written.store.flush(&[8, 8]).unwrap();
        written.chunks().mark_committed();
        written.space.commit();
    }
    assert_eq!(written.disk.take_reads(), []);
    assert_eq!(written.disk.take_writes().len(), 8);
    assert_eq!(written.read(&[8, 8]), model.elements);
    // Nothing has changed: nothing is written.
    written.store.flush(&[8, 8]).unwrap();
    assert_eq!(written.disk.take_writes(), []);
}

#[test]
fn the_least_recently_used_part_goes_when_memory_is_short() {
    // Room for some of the chunks of 4 KiB.
    let _alone = with_budget(40 << 10);
    let shape = [20 * 1024];
    let written = Written::chunked(&[1024], &shape, &shape, 4, 0, false);
    let elements = Numbers(1).bytes(20 * 4096);
    let half = |chunk: u64, half: u64| {
        let axes = vec![Axis::range(chunk * 1024 + half * 512, 512, 1)];
        let from = (chunk * 4096 + half * 2048) as usize;
        written.store.write(&Selection { axes }, &elements[from..from + 2048], &shape).unwrap();
    };
    (0..20).for_each(|chunk| half(chunk, 0));
    let gone = written.disk.take_writes().iter().map(|(_, len)| len).sum::<u64>() / 4096;
    assert!((12..18).contains(&gone), "{gone}");
    // The youngest is there still, and whole now.
    half(19, 1);
    assert_eq!(written.disk.take_writes().len(), 1);
    // The oldest is read back, when it goes again.
    half(0, 1);
    assert_eq!(written.disk.take_reads(), []);
    (1..19).for_each(|chunk| half(chunk, 1));
    written.store.flush(&shape).unwrap();
    assert!((gone..20).contains(&(written.disk.take_reads().len() as u64)));
    assert_eq!(written.read(&shape), elements);
}

#[test]
fn what_cannot_be_written_waits_and_is_not_lost() {
    let _alone = with_budget(1 << 20);
    for filters in [0, 2] {
        let shape = [8, 8];
        let written = Written::chunked(&[4, 8], &shape, &shape, 4, filters, false);
        let elements = Numbers(3).bytes(8 * 8 * 4);
        let row = |row: usize| &elements[row * 32..(row + 1) * 32];
        for at in [0, 1, 2, 4] {
            written.store.write(&rows(at as u64, 1, 8), row(at), &shape).unwrap();
        }
        written.disk.fail_after(Some(0));
        // The chunk is whole now, and cannot be written.
        let error = written.store.write(&rows(3, 1, 8), row(3), &shape).unwrap_err();
        assert!(matches!(error.kind, isotach::ErrorKind::Write { .. }), "{error}");
        written.store.flush(&shape).unwrap_err();
        assert_eq!(written.space.used_bytes(), 0);
        written.disk.fail_after(None);
        for at in 5..8 {
            written.store.write(&rows(at as u64, 1, 8), row(at), &shape).unwrap();
        }
        written.store.flush(&shape).unwrap();
        assert_eq!(written.read(&shape), elements);
    }
}

#[test]
fn rows_are_written_with_one_call_and_filled_only_where_nothing_was() {
    let shape = [100, 50];
    let written = Written::strided(&shape, 4);
    let elements = Numbers(1).bytes(100 * 50 * 4);
    written.store.write(&Selection::all(&shape), &elements, &shape).unwrap();
    written.store.flush(&shape).unwrap();
    assert_eq!(written.disk.take_writes(), [(0, 20_000)]);

    let written = Written::strided(&shape, 4);
    written.store.flush(&shape).unwrap();
    assert_eq!(written.disk.take_writes(), []);
    written.store.write(&rows(10, 30, 50), &elements[..30 * 200], &shape).unwrap();
    written.store.write(&rows(60, 30, 50), &elements[..30 * 200], &shape).unwrap();
    assert_eq!(written.disk.take_writes(), [(2000, 6000), (12_000, 6000)]);
    written.store.flush(&shape).unwrap();
    assert_eq!(written.disk.take_writes(), [(0, 2000), (8000, 4000), (18_000, 2000)]);
    assert_eq!(written.disk.take_reads(), []);
    // Backwards along the inner axis: gathered, and written together.
    let axes = vec![Axis::range(0, 50, 1), Axis::range(49, 50, -1)];
    written.store.write(&Selection { axes }, &elements[..50 * 200], &shape).unwrap();
    assert_eq!(written.disk.take_writes(), [(0, 10_000)]);
}

#[test]
fn errors_are_told() {
    let _alone = with_budget(0);
    let shape = [4, 4];
    let stores = [
        Written::chunked(&[2, 2], &shape, &shape, 4, 0, false),
        Written::strided(&shape, 4),
        Written::inline(&shape, 4),
    ];
    for written in stores {
        let outside = written.store.write(&rows(2, 3, 4), &[0; 48], &shape).unwrap_err();
        assert!(matches!(outside.kind, isotach::ErrorKind::Selection(_)), "{outside}");
        let short = written.store.write(&rows(2, 2, 4), &[0; 31], &shape).unwrap_err();
        assert!(
            matches!(short.kind, isotach::ErrorKind::Source { needed_bytes: 32, .. }),
            "{short}"
        );
        let rank = written.store.write(&Selection::all(&[4]), &[0; 16], &shape).unwrap_err();
        assert!(matches!(rank.kind, isotach::ErrorKind::Selection(_)), "{rank}");
    }
}

#[test]
fn threads_write_to_one_variable() {
    let _alone = with_budget(20_000);
    for filters in [0, 2] {
        let shape = [64, 50];
        // Chunks of several threads, parts of which wait.
        let written = Written::chunked(&[5, 16], &shape, &[u64::MAX, 50], 4, filters, false);
        let elements = Numbers(5).bytes(64 * 50 * 4);
        std::thread::scope(|scope| {
            for thread in 0..8u64 {
                let (written, elements) = (&written, &elements);
                scope.spawn(move || {
                    for row in (thread..64).step_by(8) {
                        let bytes = &elements[row as usize * 200..][..200];
                        written.store.write(&rows(row, 1, 50), bytes, &shape).unwrap();
                        if row % 16 == thread {
                            written.store.flush(&shape).unwrap();
                        }
                    }
                });
            }
        });
        written.store.flush(&shape).unwrap();
        assert_eq!(written.read(&shape), elements);
    }
}
