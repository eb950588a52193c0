//! What small reads cost, and how long a file becomes whose states somebody holds: numbers of
//! `docs/decisions/0024-states-of-a-file.md`.

use std::path::Path;
use std::time::Instant;

use isotach::model::selection::{Axis, Selection};
use isotach::model::{Atomic, Values};
use isotach::{CreateOptions, File, FilterRequest, Format, VariableOptions};

const COUNT: u64 = 1 << 18;

fn main() {
    let without_growing = std::env::args().any(|argument| argument == "reads");
    let folder = tempfile::tempdir().unwrap();
    for (name, format, chunk) in [
        ("classic", Format::Classic, None),
        ("contiguous", Format::NetCdf4, None),
        ("chunked", Format::NetCdf4, Some(64)),
        ("deflated", Format::NetCdf4, Some(1024)),
    ] {
        let path = folder.path().join(name);
        create(&path, format, chunk);
        let opening = time(50, |_| {
            File::open(&path).unwrap().variable("v").unwrap();
        });
        let variable = File::open(&path).unwrap().variable("v").unwrap();
        let read =
            |at: u64| variable.read(&Selection { axes: vec![Axis::range(at, 1, 1)] }).unwrap();
        let anywhere = time(1000, |number| drop(read(number * 977 % COUNT)));
        // Of chunks that are kept.
        let again = time(1000, |number| drop(read(number % 256)));
        println!(
            "{name}: {opening:.2} us to open and find, {anywhere:.3} us for a value, {again:.3} for one again"
        );
    }
    for holds in [false, true].into_iter().filter(|_| !without_growing) {
        let path = folder.path().join("grows");
        grow(&path, holds);
    }
}

fn create(path: &Path, format: Format, chunk: Option<u64>) {
    let writer = CreateOptions::new(format).create(path).unwrap();
    let x = writer.root().define_dimension("x", Some(COUNT)).unwrap();
    let is_deflated = path.ends_with("deflated");
    let filters = is_deflated.then_some(FilterRequest::Deflate { level: 1 }).into_iter().collect();
    let chunk_shape = chunk.map(|len| vec![len]);
    let options = VariableOptions { chunk_shape, filters, ..Default::default() };
    let variable = writer.root().define_variable("v", Atomic::Int, &[x], options).unwrap();
    let numbers = (0..COUNT as i32).collect();
    variable.write(&Selection::all(&[COUNT]), &Values::I32(numbers)).unwrap();
    writer.close().unwrap();
}

/// Microseconds of each of `count` calls: the best of many short rounds, which other work seldom interrupts.
fn time(count: u64, call: impl Fn(u64)) -> f64 {
    let round = |round: u64| {
        let begun = Instant::now();
        (round * count..(round + 1) * count).for_each(&call);
        begun.elapsed().as_secs_f64() * 1e6 / count as f64
    };
    (0..300).map(round).fold(f64::INFINITY, f64::min)
}

/// Overwrites a deflated variable in 40 commits, beside a reader that holds its state or refreshes it each time.
fn grow(path: &Path, holds: bool) {
    let writer = CreateOptions::default().create(path).unwrap();
    let x = writer.root().define_dimension("x", Some(COUNT)).unwrap();
    let filters = vec![FilterRequest::Deflate { level: 1 }];
    let options =
        VariableOptions { filters, chunk_shape: Some(vec![1 << 14]), ..Default::default() };
    let variable = writer.root().define_variable("v", Atomic::Int, &[x], options).unwrap();
    let mut reader: Option<File> = None;
    let mut lengths = Vec::new();
    for number in 0..40 {
        let noise = |at: u64| (at.wrapping_mul(2_654_435_761).wrapping_add(number) % 5000) as i32;
        let numbers = (0..COUNT).map(noise).collect();
        variable.write(&Selection::all(&[COUNT]), &Values::I32(numbers)).unwrap();
        writer.commit().unwrap();
        match &mut reader {
            None => reader = Some(File::open(path).unwrap()),
            Some(_) if holds => {}
            Some(reader) => drop(reader.refresh().unwrap()),
        }
        lengths.push(path.metadata().unwrap().len() / 1024);
    }
    writer.close().unwrap();
    let closed = path.metadata().unwrap().len() / 1024;
    drop(reader);
    println!("holds {holds}: {lengths:?} KiB, closed {closed} KiB");
}
