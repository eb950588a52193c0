//! Several threads write to one open file: to variables of their own, and to chunks of their own of one variable.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use isotach::model::Atomic;
use isotach::model::selection::{Axis, Selection};
use isotach::storage::Memory;
use isotach::{
    CreateOptions, EditOptions, File, FilterRequest, OpenOptions, VariableOptions, Writer,
};

const THREADS: usize = 6;
const ROWS: usize = 40;
const COLUMNS: usize = 600;

fn row(at: usize) -> Selection {
    Selection { axes: vec![Axis::range(at as u64, 1, 1), Axis::range(0, COLUMNS as u64, 1)] }
}

fn number(thread: usize, row: usize, column: usize) -> i32 {
    (thread * 1_000_000 + row * COLUMNS + column) as i32
}

fn numbers(thread: usize, row: usize) -> Vec<i32> {
    (0..COLUMNS).map(|column| number(thread, row, column)).collect()
}

fn create() -> Writer {
    let edit = EditOptions { commit_interval: None, ..EditOptions::default() };
    let options = CreateOptions { edit, ..CreateOptions::default() };
    let writer = options.create_in_memory("test").unwrap();
    let root = writer.root();
    let time = root.define_dimension("time", None).unwrap();
    let x = root.define_dimension("x", Some(COLUMNS as u64)).unwrap();
    // Chunks of several rows, which wait; the shared one has those of a thread's rows alone.
    let options = |rows: u64| VariableOptions {
        chunk_shape: Some(vec![rows, 250]),
        filters: vec![FilterRequest::Shuffle, FilterRequest::Deflate { level: 1 }],
        ..VariableOptions::default()
    };
    for thread in 0..THREADS {
        let name = format!("own_{thread}");
        root.define_variable(&name, Atomic::Int, &[time, x], options(7)).unwrap();
    }
    root.define_variable("shared", Atomic::Int, &[time, x], options(ROWS as u64)).unwrap();
    writer
}

fn check(file: &File) {
    let values = |name: &str, rows: usize| {
        let variable = file.variable(name).unwrap();
        assert_eq!(variable.shape().unwrap(), [(THREADS * ROWS) as u64, COLUMNS as u64], "{name}");
        let all = Selection::all(&[rows as u64, COLUMNS as u64]);
        variable.read_as::<i32>(&all).unwrap().0
    };
    for thread in 0..THREADS {
        let expected: Vec<i32> = (0..ROWS).flat_map(|row| numbers(thread, row)).collect();
        assert!(values(&format!("own_{thread}"), ROWS) == expected, "own_{thread}");
    }
    let expected: Vec<i32> = (0..THREADS * ROWS).flat_map(|row| numbers(row / ROWS, row)).collect();
    assert!(values("shared", THREADS * ROWS) == expected, "shared");
}

#[test]
fn threads_write_to_one_file_while_it_is_committed() {
    for round in 0..3 {
        let writer = create();
        let at_work = AtomicUsize::new(THREADS);
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                let (writer, at_work) = (&writer, &at_work);
                scope.spawn(move || {
                    let root = writer.root();
                    let own = root.variable(&format!("own_{thread}")).unwrap().unwrap();
                    let shared = root.variable("shared").unwrap().unwrap();
                    // In another order in each thread, so that the dimension grows by leaps.
                    for step in 0..ROWS {
                        let at = (step * 7 + thread * 5 + round) % ROWS;
                        own.write_as(&row(at), &numbers(thread, at)).unwrap();
                        let at = thread * ROWS + at;
                        shared.write_as(&row(at), &numbers(thread, at)).unwrap();
                    }
                    at_work.fetch_sub(1, SeqCst);
                });
            }
            scope.spawn(|| {
                while at_work.load(SeqCst) > 0 {
                    writer.commit().unwrap();
                }
            });
        });
        check(&writer.file());
        let bytes = writer.into_bytes().unwrap().unwrap();
        let storage = Arc::new(Memory::new(bytes));
        check(&OpenOptions::default().open_storage("test", storage).unwrap());
    }
}
