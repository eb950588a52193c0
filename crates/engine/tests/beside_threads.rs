//! Threads that read through a writer's handles while other threads define, set attributes, write and commit.
//!
//! Every element says which variable it is of, and where it belongs: whatever a reader meets is held against
//! that. What one call wrote again may be the earlier or the later, but all of it.
//!
//! `ISOTACH_HAMMER` is how many times as long each test is to take.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use isotach::model::Values;
use isotach::model::selection::{Axis, Selection};
use isotach::model::{Atomic, DataType};
use isotach::{
    CreateOptions, ErrorKind, File, FilterRequest, Format, VariableOptions, VariableWriter, Writer,
};

/// Elements along the second axis.
const WIDTH: u64 = 100;
/// Readers beside each writer.
const READERS: u64 = 3;

fn times() -> u64 {
    std::env::var("ISOTACH_HAMMER").ok().and_then(|text| text.parse().ok()).unwrap_or(1)
}

/// What stands at an element: variable, place, and how often it was written.
fn element(variable: u64, row: u64, column: u64, version: u64) -> i64 {
    (variable << 48 | row << 24 | column << 12 | version & 0xfff) as i64
}

fn row(variable: u64, row: u64, version: u64) -> Vec<i64> {
    (0..WIDTH).map(|column| element(variable, row, column, version)).collect()
}

fn rows(first: u64, count: u64) -> Selection {
    Selection { axes: vec![Axis::range(first, count, 1), Axis::range(0, WIDTH, 1)] }
}

fn put(variable: &VariableWriter, number: u64, at: u64, version: u64) {
    variable.write_as(&rows(at, 1), &row(number, at, version)).unwrap();
}

/// What is wrong with the rows that were read.
fn fault(number: u64, first: u64, found: &[i64]) -> Option<String> {
    let wrong = |(index, &value): (usize, &i64)| {
        let (at, column) = (first + index as u64 / WIDTH, index as u64 % WIDTH);
        let expected = element(number, at, column, 0) >> 12;
        (value >> 12 != expected).then(|| format!("v{number}[{at}, {column}] is {value:#x}"))
    };
    let mut wrong: Vec<String> = found.iter().enumerate().filter_map(wrong).collect();
    for (row, values) in found.chunks(WIDTH as usize).enumerate() {
        if let Some(parts) = parts(values) {
            wrong.push(format!("v{number}[{}] is of several calls: {parts}", first + row as u64));
        }
    }
    wrong.first().map(|first| format!("{} of {} wrong: {first}", wrong.len(), found.len()))
}

/// How many elements are of which version, where one call wrote all of them and there are several.
fn parts(values: &[i64]) -> Option<String> {
    let mut count = std::collections::BTreeMap::new();
    values.iter().for_each(|value| *count.entry(value & 0xfff).or_insert(0) += 1);
    (count.len() > 1).then(|| format!("{count:?}"))
}

/// What readers found: how many reads there were, and everything that was wrong.
#[derive(Default)]
struct Found {
    reads: AtomicU64,
    faults: std::sync::Mutex<Vec<String>>,
}

impl Found {
    fn add(&self, fault: Option<String>) {
        self.reads.fetch_add(1, Relaxed);
        self.faults.lock().unwrap().extend(fault);
    }

    /// Nothing was wrong, and somebody has looked.
    fn check(self) {
        let (reads, faults) = (self.reads.into_inner(), self.faults.into_inner().unwrap());
        assert!(reads > 0);
        assert!(
            faults.is_empty(),
            "{} of {reads} reads: {:#?}",
            faults.len(),
            &faults[..faults.len().min(5)]
        );
        eprintln!("{reads} reads");
    }
}

/// A cheap sequence of numbers, another one for each seed.
struct Sequence(u64);

impl Sequence {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit.max(1)
    }
}

/// Reads some rows of a variable that are there, and checks them.
fn read_some(file: &File, number: u64, there: u64, seed: &mut Sequence, found: &Found) {
    let first = seed.below(there);
    let count = 1 + seed.below((there - first).min(8));
    let variable = file.variable(&format!("v{number}")).unwrap();
    let fault = match variable.read_as::<i64>(&rows(first, count)) {
        Ok((values, _)) => fault(number, first, &values),
        Err(error) => Some(format!("v{number}[{first}, +{count}]: {error}")),
    };
    found.add(fault);
}

/// Reads the text of an attribute that only becomes longer.
fn read_text(file: &File, found: &Found) {
    let attribute = file.root().attribute("text").unwrap().unwrap();
    let fault = match attribute.values() {
        Ok(Values::Char(text)) if text.iter().all(|byte| *byte == b'x') => None,
        other => Some(format!("{other:?}")),
    };
    found.add(fault);
}

/// Runs `change` so many times while readers read.
fn beside(
    writer: &Writer,
    rounds: u64,
    found: &Found,
    look: impl Fn(&File, &mut Sequence) + Sync,
    mut change: impl FnMut(u64),
) {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for reader in 0..READERS {
            let (file, is_over, look) = (writer.file(), &is_over, &look);
            scope.spawn(move || {
                let mut seed = Sequence(reader * 7919 + 1);
                while !is_over.load(Relaxed) {
                    look(&file, &mut seed);
                }
            });
        }
        // At least so many reads, however busy the machine is.
        for round in 0..rounds {
            change(round);
            while found.reads.load(Relaxed) < round * 5 {
                std::thread::yield_now();
            }
        }
        is_over.store(true, Relaxed);
    });
}

/// Two record variables and one of a fixed length, 300 rows each.
fn classic(format: Format) -> (tempfile::TempDir, Writer, Vec<VariableWriter>) {
    let folder = tempfile::tempdir().unwrap();
    let mut options = CreateOptions::new(format);
    options.edit.commit_interval = Some(Duration::from_millis(20));
    let writer = options.create(folder.path().join("file.nc")).unwrap();
    let root = writer.root();
    let t = root.define_dimension("t", None).unwrap();
    let y = root.define_dimension("y", Some(300)).unwrap();
    let x = root.define_dimension("x", Some(WIDTH)).unwrap();
    root.set_attribute("text", "x").unwrap();
    let axes = [[t, x], [t, x], [y, x]];
    let variables = axes.iter().enumerate().map(|(number, along)| {
        let options = VariableOptions::default();
        root.define_variable(&format!("v{number}"), Atomic::Double, along, options).unwrap()
    });
    let variables: Vec<VariableWriter> = variables.collect();
    (folder, writer, variables)
}

#[test]
fn values_of_classic_files_move_under_readers() {
    for format in [Format::Classic, Format::Offset64Bit] {
        let (_folder, writer, variables) = classic(format);
        for at in 0..300 {
            for (number, variable) in variables.iter().enumerate() {
                put(variable, number as u64, at, 0);
            }
        }
        writer.commit().unwrap();
        let found = Found::default();
        let root = writer.root();
        let mut text = String::from("x");
        let x = root.find_dimension("x").unwrap().unwrap();
        let look = |file: &File, seed: &mut Sequence| {
            let number = seed.below(3);
            read_some(file, number, 300, seed, &found);
            read_text(file, &found);
        };
        beside(&writer, 60 * times(), &found, look, |round| {
            match round % 3 {
                0 => drop(
                    root.define_variable(
                        &format!("new{round}"),
                        Atomic::Int,
                        &[x],
                        VariableOptions::default(),
                    )
                    .unwrap(),
                ),
                1 => {
                    text.push_str(&"x".repeat(300));
                    root.set_attribute("text", text.as_str()).unwrap();
                    text.truncate(20_000);
                }
                _ => {
                    if let Some(old) = root.variable(&format!("new{}", round - 2)).unwrap() {
                        old.delete().unwrap();
                    }
                    put(&variables[round as usize % 3], round % 3, round % 300, round);
                }
            }
            writer.commit().unwrap();
        });
        found.check();
        writer.close().unwrap();
    }
}

/// Five variables: deflated, chunked, whole, and of one row a chunk.
fn netcdf4(writer: &Writer) -> Vec<VariableWriter> {
    let root = writer.root();
    let t = root.define_dimension("t", None).unwrap();
    let y = root.define_dimension("y", Some(300)).unwrap();
    let x = root.define_dimension("x", Some(WIDTH)).unwrap();
    root.set_attribute("text", "x").unwrap();
    let chunked = |rows: u64, level: Option<u32>| VariableOptions {
        chunk_shape: Some(vec![rows, 30]),
        filters: level.map(|level| vec![FilterRequest::Deflate { level }]).unwrap_or_default(),
        ..VariableOptions::default()
    };
    let cases = [
        (t, chunked(7, Some(1))),
        (t, chunked(1, Some(1))),
        (t, chunked(5, None)),
        (y, VariableOptions::default()),
        (y, chunked(10, Some(1))),
    ];
    let variables = cases.into_iter().enumerate().map(|(number, (along, options))| {
        let name = format!("v{number}");
        root.define_variable(&name, DataType::from(Atomic::Int64), &[along, x], options).unwrap()
    });
    variables.collect()
}

#[test]
fn netcdf4_files_are_committed_under_readers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file.nc");
    let mut options = CreateOptions::default();
    options.edit.commit_interval = Some(Duration::from_millis(1));
    let writer = options.create(&path).unwrap();
    let variables = netcdf4(&writer);
    for at in 0..100 {
        for (number, variable) in variables.iter().enumerate() {
            put(variable, number as u64, at, 0);
        }
    }
    // Once a file that was made by these handles, once one that was there before.
    hammer_netcdf4(&writer, &variables, 100, 400 * times());
    writer.close().unwrap();
    options.edit.commit_interval = Some(Duration::from_millis(1));
    let writer = options.edit.open(&path).unwrap();
    let opened =
        (0..5).map(|number| writer.root().variable(&format!("v{number}")).unwrap().unwrap());
    let opened: Vec<VariableWriter> = opened.collect();
    hammer_netcdf4(&writer, &opened, 100, 400 * times());
    writer.close().unwrap();
}

fn hammer_netcdf4(writer: &Writer, variables: &[VariableWriter], rows: u64, rounds: u64) {
    let found = Found::default();
    let there = AtomicU64::new(rows);
    let look = |file: &File, seed: &mut Sequence| {
        let number = seed.below(5);
        let there = if number < 3 { there.load(Relaxed) } else { rows };
        read_some(file, number, there, seed, &found);
        if seed.below(4) == 0 {
            read_text(file, &found);
        }
    };
    let root = writer.root();
    let (mut seed, mut text) = (Sequence(77), String::from("x"));
    let x = root.find_dimension("x").unwrap().unwrap();
    beside(writer, rounds, &found, look, |round| {
        let number = seed.below(5);
        put(&variables[number as usize], number, seed.below(rows), round);
        match round % 8 {
            0 => drop(
                root.define_variable(
                    &format!("new{round}"),
                    Atomic::Int,
                    &[x],
                    VariableOptions::default(),
                )
                .unwrap(),
            ),
            1 => {
                text.push_str(&"x".repeat(300));
                root.set_attribute("text", text.as_str()).unwrap();
                text.truncate(20_000);
            }
            2 => root.variable(&format!("new{}", round - 2)).unwrap().unwrap().delete().unwrap(),
            3 => {
                let at = there.load(Relaxed);
                for (number, variable) in variables.iter().enumerate().take(3) {
                    put(variable, number as u64, at, round);
                }
                there.store(at + 1, Relaxed);
            }
            _ => {}
        }
        if seed.below(2) == 0 {
            writer.commit().unwrap();
        }
    });
    found.check();
}

/// Rows that one call writes.
const BLOCK: u64 = 5;
/// The blocks that are there before anybody reads.
const BLOCKS: u64 = 8;

/// The ways in which a variable's rows are stored: format, chunks, deflated, appended.
fn storages() -> Vec<(Format, Option<[u64; 2]>, bool, bool)> {
    let netcdf4 = Format::NetCdf4;
    vec![
        (netcdf4, Some([7, 30]), true, true),
        (netcdf4, Some([1, 100]), true, true),
        (netcdf4, Some([3, 30]), false, true),
        (netcdf4, Some([400, 100]), false, true),
        (netcdf4, None, false, false),
        (Format::Classic, None, false, true),
        (Format::Data64Bit, None, false, false),
    ]
}

/// Writes a block of rows with one call.
fn put_block(variable: &VariableWriter, block: u64, version: u64) {
    let rows_of_it = block * BLOCK..(block + 1) * BLOCK;
    let values: Vec<i64> = rows_of_it.flat_map(|at| row(0, at, version)).collect();
    variable.write_as(&rows(block * BLOCK, BLOCK), &values).unwrap();
}

/// Reads some of the rows that the shape has: all are there, and those of a block are of one call.
fn read_blocks(file: &File, seed: &mut Sequence, found: &Found) {
    let variable = file.variable("v").unwrap();
    let there = variable.shape().unwrap()[0];
    if !there.is_multiple_of(BLOCK) {
        found.add(Some(format!("{there} rows are a part of a call")));
    }
    // The last ones often: these are the new ones.
    let last = there - BLOCK - seed.below(BLOCK);
    let first = if seed.below(2) == 0 { last } else { seed.below(last) };
    let count = 1 + seed.below((there - first).min(12));
    let (values, _) = variable.read_as::<i64>(&rows(first, count)).unwrap();
    let mut wrong = fault(0, first, &values);
    for block in first / BLOCK..=(first + count - 1) / BLOCK {
        let from = (block * BLOCK).max(first) - first;
        let end = ((block + 1) * BLOCK).min(first + count) - first;
        let of_it = &values[(from * WIDTH) as usize..(end * WIDTH) as usize];
        wrong = wrong.or(parts(of_it).map(|parts| format!("block {block} is {parts}")));
    }
    found.add(wrong);
}

/// Two threads write blocks of rows again, each with one call, and one of them appends some, while others read.
#[test]
fn write_calls_are_seen_whole_or_not_at_all() {
    for (format, chunk_shape, is_deflated, is_appended) in storages() {
        let folder = tempfile::tempdir().unwrap();
        let mut options = CreateOptions::new(format);
        options.edit.commit_interval = Some(Duration::from_millis(5));
        let writer = options.create(folder.path().join("file.nc")).unwrap();
        let root = writer.root();
        let len = (!is_appended).then_some(BLOCKS * BLOCK);
        let t = root.define_dimension("t", len).unwrap();
        let x = root.define_dimension("x", Some(WIDTH)).unwrap();
        let options = VariableOptions {
            chunk_shape: chunk_shape.map(Vec::from),
            filters: if is_deflated { vec![FilterRequest::Deflate { level: 1 }] } else { vec![] },
            ..VariableOptions::default()
        };
        let variable = root.define_variable("v", Atomic::Double, &[t, x], options).unwrap();
        (0..BLOCKS).for_each(|block| put_block(&variable, block, 0));
        let (found, is_over) = (Found::default(), AtomicBool::new(false));
        std::thread::scope(|scope| {
            for reader in 0..READERS {
                let (file, found, is_over) = (writer.file(), &found, &is_over);
                scope.spawn(move || {
                    let mut seed = Sequence(reader * 7919 + 5);
                    while !is_over.load(Relaxed) {
                        read_blocks(&file, &mut seed, found);
                    }
                });
            }
            let threads = [1, 2].map(|number| {
                let (file, variable, found) = (writer.file(), &variable, &found);
                let appends = is_appended && number == 1;
                scope.spawn(move || write_blocks(number, &file, variable, appends, found))
            });
            for thread in threads {
                thread.join().unwrap();
            }
            is_over.store(true, Relaxed);
        });
        found.check();
        writer.close().unwrap();
    }
}

fn write_blocks(number: u64, file: &File, variable: &VariableWriter, appends: bool, found: &Found) {
    let (mut seed, mut next) = (Sequence(number), BLOCKS);
    for round in 0..150 * times() {
        put_block(variable, seed.below(BLOCKS), round * 2 + number);
        if appends && round % 3 == 0 {
            put_block(variable, next, round * 2 + number);
            next += 1;
            // Who has written a row finds it.
            let there = file.variable("v").unwrap().shape().unwrap()[0];
            assert_eq!(there, next * BLOCK);
        }
        while found.reads.load(Relaxed) < round * 4 {
            std::thread::yield_now();
        }
    }
}

/// A handle whose writer has closed the file says so, whatever it was about to read.
#[test]
fn closing_under_readers_is_an_error_and_no_other_value() {
    for format in [Format::Classic, Format::NetCdf4] {
        for _ in 0..10 * times() {
            let (_folder, writer, variables) = classic(format);
            for at in 0..300 {
                put(&variables[2], 2, at, 0);
            }
            let found = Found::default();
            std::thread::scope(|scope| {
                for reader in 0..READERS {
                    let (file, found) = (writer.file(), &found);
                    scope.spawn(move || {
                        let mut seed = Sequence(reader);
                        loop {
                            let first = seed.below(290);
                            let values = file
                                .variable("v2")
                                .and_then(|variable| variable.read_as::<i64>(&rows(first, 10)));
                            match values {
                                Ok((values, _)) => found.add(fault(2, first, &values)),
                                Err(error) if matches!(error.kind, ErrorKind::Closed) => return,
                                Err(error) => return found.add(Some(error.to_string())),
                            }
                        }
                    });
                }
                while found.reads.load(Relaxed) < 20 {
                    std::thread::yield_now();
                }
                writer.close().unwrap();
            });
            found.check();
        }
    }
}
