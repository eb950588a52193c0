//! Storage that fails at any single write, once or again and again: what was committed stays, and when
//! it works again, the next commit has everything.

use std::mem::MaybeUninit;
use std::sync::Arc;

use isotach::model::selection::{Axis, Selection};
use isotach::model::{Atomic, Values};
use isotach::storage::{Durability, Memory, Storage};
use isotach::{
    CreateOptions, EditOptions, ErrorKind, FilterRequest, Format, Layout, OpenOptions, Result,
    VariableOptions, Writer,
};
use isotach_testkit::{FailingWrites, Fault};

mod support {
    pub mod contents;
}

use support::contents::{contents, try_contents};

/// One call or two; tried again where it fails.
type Operation = fn(&Writer) -> Result<()>;

/// What is done between commits.
struct Scenario {
    create: CreateOptions,
    steps: Vec<Vec<Operation>>,
}

/// What is done when something failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Then {
    /// It works again.
    Works,
    /// It fails for so many more calls, each after the first of its writes.
    Fails(u64),
    /// The writer gives up, while the storage still fails.
    Discard,
    /// The writer closes, while the storage still fails.
    Close,
}

impl Scenario {
    fn new(format: Format, layout: Layout, durability: Durability) -> Self {
        let mut create = CreateOptions { layout, ..CreateOptions::new(format) };
        create.edit = EditOptions { durability, commit_interval: None, ..EditOptions::default() };
        Self { create, steps: Vec::new() }
    }

    fn then(mut self, operations: &[Operation]) -> Self {
        self.steps.push(operations.to_vec());
        self
    }

    /// Fails after every count of writes, in every way.
    fn check(&self) {
        let states = self.states();
        let repeated = [Then::Works, Then::Fails(1), Then::Fails(4), Then::Discard, Then::Close];
        for then in repeated {
            let mut writes = 0;
            while self.fails_after(writes, then, &states) {
                writes += 1;
            }
            assert!(writes > 10, "{writes} writes");
        }
    }

    /// What is in the file after each commit.
    fn states(&self) -> Vec<String> {
        let storage = Arc::new(FailingWrites::new(Vec::new()));
        let writer = self.create.create_in("file", Arc::clone(&storage) as _).unwrap();
        let mut states = vec![shown(&storage).unwrap()];
        for step in &self.steps {
            step.iter().for_each(|operation| operation(&writer).unwrap());
            writer.commit().unwrap();
            states.push(shown(&storage).unwrap());
        }
        states
    }

    /// Whether anything failed.
    fn fails_after(&self, writes: u64, then: Then, states: &[String]) -> bool {
        let storage = Arc::new(FailingWrites::new(Vec::new()));
        let fail_after = |writes| storage.fail_after_writes(writes, Fault::DiskFull);
        let works = || storage.fail_after_writes(u64::MAX, Fault::DiskFull);
        fail_after(writes);
        let Ok(writer) = self.create.create_in("file", Arc::clone(&storage) as _) else {
            return true;
        };
        let mut has_failed = false;
        let mut failures_left = if let Then::Fails(count) = then { count } else { 0 };
        for (number, step) in self.steps.iter().enumerate() {
            let commit: Operation = |writer| writer.commit();
            for (index, operation) in step.iter().chain([&commit]).enumerate() {
                let where_to = format!("{writes} writes, {then:?}, step {number}, {index}");
                let mut is_mended = false;
                while let Err(error) = operation(&writer) {
                    has_failed = true;
                    let is_commit = index == step.len();
                    assert!(!is_mended || !is_commit, "{where_to}: {error}");
                    let is_told = matches!(error.kind, ErrorKind::NotCommitted { .. });
                    assert_eq!(is_told, is_commit, "{where_to}: {error}");
                    let allowed = &states[number..=number + usize::from(is_commit)];
                    let seen =
                        shown(&storage).unwrap_or_else(|error| panic!("{where_to}: {error}"));
                    assert!(allowed.contains(&seen), "{where_to}: {seen}\n{}", allowed.join("\n"));
                    match then {
                        Then::Discard | Then::Close => {
                            let ended =
                                if then == Then::Close { writer.close() } else { writer.discard() };
                            assert!(then == Then::Discard || ended.is_err(), "{where_to}");
                            let left = shown(&storage).unwrap();
                            assert!(allowed.contains(&left), "{where_to}: left {left}");
                            works();
                            let writer =
                                self.create.edit.open_in("file", storage.clone() as _).unwrap();
                            assert_eq!(contents(&writer.file()), left, "{where_to}");
                            writer.close().unwrap();
                            assert_eq!(shown(&storage).unwrap(), left, "{where_to}");
                            return true;
                        }
                        _ if failures_left > 0 => {
                            failures_left -= 1;
                            fail_after(1);
                        }
                        _ => {
                            works();
                            is_mended = true;
                        }
                    }
                }
            }
            assert_eq!(
                shown(&storage).unwrap(),
                states[number + 1],
                "{writes} writes, step {number}"
            );
        }
        works();
        writer.close().unwrap();
        assert_eq!(shown(&storage).unwrap(), states[self.steps.len()], "{writes} writes, closed");
        has_failed
    }
}

/// What a reader finds in the storage.
fn shown(storage: &FailingWrites) -> Result<String> {
    let mut memory = vec![MaybeUninit::uninit(); storage.len().unwrap() as usize];
    let bytes = storage.read_at(0, &mut memory).unwrap().to_vec();
    try_contents(&OpenOptions::default().open_storage("file", Arc::new(Memory::new(bytes)))?)
}

fn select<const RANK: usize>(axes: [(u64, u64); RANK]) -> Selection {
    Selection { axes: axes.map(|(start, count)| Axis::range(start, count, 1)).to_vec() }
}

fn put<const RANK: usize>(writer: &Writer, name: &str, axes: [(u64, u64); RANK]) -> Result<()> {
    let selection = select(axes);
    let count = selection.element_count().unwrap() as i32;
    let numbers: Vec<i32> = (0..count).map(|number| number * 7 + axes[0].0 as i32).collect();
    writer.root().variable(name)?.unwrap().write_as(&selection, &numbers).map(drop)
}

fn define(
    writer: &Writer,
    name: &str,
    dimensions: &[&str],
    chunk_shape: Option<&[u64]>,
) -> Result<()> {
    let root = writer.root();
    let found = dimensions.iter().map(|name| root.find_dimension(name));
    let dimensions = found.map(|found| Ok(found?.unwrap())).collect::<Result<Vec<_>>>()?;
    let deflate = FilterRequest::Deflate { level: 1 };
    let options = VariableOptions {
        chunk_shape: chunk_shape.map(<[u64]>::to_vec),
        filters: chunk_shape.iter().map(|_| deflate.clone()).collect(),
        ..VariableOptions::default()
    };
    root.define_variable(name, Atomic::Int, &dimensions, options).map(drop)
}

/// Dimensions `t` and `x`, variables along them, and attributes.
const DEFINE: Operation = |writer| {
    let root = writer.root();
    root.define_dimension("t", None)?;
    root.define_dimension("x", Some(6))?;
    root.set_attribute("title", "failures")
};

fn netcdf4(layout: Layout, durability: Durability) -> Scenario {
    Scenario::new(Format::NetCdf4, layout, durability)
        .then(&[
            DEFINE,
            |writer| define(writer, "packed", &["t", "x"], Some(&[1, 4])),
            |writer| define(writer, "fixed", &["x"], None),
            |writer| put(writer, "packed", [(0, 1), (0, 6)]),
            |writer| put(writer, "fixed", [(0, 6)]),
        ])
        // Only values: the tree of chunks grows, and splits.
        .then(&[|writer| put(writer, "packed", [(1, 90), (0, 6)])])
        .then(&[
            |writer| put(writer, "packed", [(20, 3), (1, 2)]),
            |writer| put(writer, "packed", [(91, 40), (0, 6)]),
        ])
        // Strings, attributes that are kept in a heap, another group.
        .then(&[
            |writer| {
                let root = writer.root();
                let x = root.find_dimension("x")?.unwrap();
                root.define_variable("words", Atomic::String, &[x], VariableOptions::default())?;
                let group = root.define_group("group")?;
                for number in 0..40 {
                    group.set_attribute(&format!("attribute{number}"), &*"x".repeat(1000))?;
                }
                Ok(())
            },
            |writer| {
                let words = (0..6).map(|number| Some(vec![b'a' + number; 900].into())).collect();
                let variable = writer.root().variable("words")?.unwrap();
                variable.write(&select([(0, 6)]), &Values::String(words)).map(drop)
            },
        ])
        .then(&[
            |writer| writer.root().variable("packed")?.unwrap().rename("squeezed"),
            |writer| put(writer, "squeezed", [(50, 100), (0, 6)]),
            |writer| writer.root().variable("words")?.unwrap().delete(),
            |writer| writer.root().set_attribute("title", "after"),
        ])
        .then(&[|writer| put(writer, "squeezed", [(0, 10), (0, 6)])])
}

#[test]
fn netcdf4_files() {
    netcdf4(Layout::Compatible, Durability::Process).check();
}

#[test]
fn netcdf4_files_of_new_structures() {
    netcdf4(Layout::Latest, Durability::Process).check();
}

#[test]
fn classic_files() {
    Scenario::new(Format::Classic, Layout::Compatible, Durability::Process)
        .then(&[
            DEFINE,
            |writer| define(writer, "record", &["t", "x"], None),
            |writer| define(writer, "fixed", &["x"], None),
            |writer| put(writer, "record", [(0, 3), (0, 6)]),
            |writer| put(writer, "fixed", [(0, 6)]),
        ])
        .then(&[|writer| put(writer, "record", [(3, 4), (0, 6)])])
        // Everything has to move, which is a commit of its own.
        .then(&[
            |writer| writer.root().set_attribute("long", &*"x".repeat(3000)),
            |writer| define(writer, "other", &["t"], None),
        ])
        .then(&[
            |writer| put(writer, "other", [(7, 1)]),
            |writer| put(writer, "record", [(8, 2), (0, 6)]),
        ])
        .then(&[|writer| writer.root().variable("fixed")?.unwrap().rename("firm")])
        .check();
}

/// Values that have to move and find no room give back what they had taken.
#[test]
fn a_move_that_fails_leaves_no_bytes() {
    let storage = Arc::new(FailingWrites::new(Vec::new()));
    let mut options = CreateOptions::new(Format::Classic);
    options.edit.commit_interval = None;
    let writer = options.create_in("file", Arc::clone(&storage) as _).unwrap();
    DEFINE(&writer).unwrap();
    define(&writer, "record", &["t", "x"], None).unwrap();
    put(&writer, "record", [(0, 100_000), (0, 6)]).unwrap();
    writer.commit().unwrap();
    let (before, len) = (shown(&storage).unwrap(), storage.len().unwrap());
    define(&writer, "other", &["t"], None).unwrap();
    storage.fail_after_bytes(2_000_000, Fault::DiskFull);
    for _ in 0..3 {
        writer.commit().unwrap_err();
        assert_eq!(storage.len().unwrap(), len);
    }
    assert_eq!(shown(&storage).unwrap(), before);
    storage.fail_after_writes(u64::MAX, Fault::DiskFull);
    writer.close().unwrap();
    assert!(shown(&storage).unwrap().contains("/other"));
}

/// Storage that fails to say that it keeps something takes no commits any more; what was committed is
/// there.
#[test]
fn a_storage_that_does_not_keep_its_word() {
    for format in [Format::NetCdf4, Format::Classic] {
        let mut options = CreateOptions::new(format);
        options.edit.commit_interval = None;
        options.edit.durability = Durability::Power;
        for writes in 1..200 {
            let storage = Arc::new(FailingWrites::new(Vec::new()));
            let writer = options.create_in("file", Arc::clone(&storage) as _).unwrap();
            DEFINE(&writer).unwrap();
            define(&writer, "v", &["t", "x"], None).unwrap();
            writer.commit().unwrap();
            let before = shown(&storage).unwrap();
            put(&writer, "v", [(0, 5), (0, 6)]).unwrap();
            let after = contents(&writer.file());
            storage.fail_after_writes(writes, Fault::Broken);
            if writer.commit().is_ok() {
                assert!(writes > 2, "{writes}");
                break;
            }
            storage.fail_after_writes(u64::MAX, Fault::Broken);
            let again = writer.commit();
            let seen = shown(&storage).unwrap();
            assert!(seen == after || again.is_err() && seen == before, "{writes}: {again:?}");
            let closed = writer.close();
            assert_eq!(closed.is_ok(), again.is_ok(), "{writes}");
            let left = shown(&storage).unwrap();
            assert!([&before, &after].contains(&&left), "{writes}");
        }
    }
}
