//! Forks while another thread is in the midst of reading: the child reads the same file, whatever that thread
//! had locked.
//!
//! The storage holds a thread up at its first, second, third ... read, and the process forks while it waits
//! there. So each lock that is held while storage is read is held at some fork, on any machine.
//!
//! Unsafe room: `fork`, and the calls by which a parent waits for its child. A child touches nothing of the test
//! harness, and ends by `_exit`.

use std::io;
use std::mem::MaybeUninit;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use isotach::model::Values;
use isotach::model::selection::{Axis, Selection};
use isotach::model::{Atomic, DataType};
use isotach::storage::Storage;
use isotach::{
    CreateOptions, ErrorKind, File, FilterRequest, Format, Group, OpenOptions, VariableOptions,
};

/// A child that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// Bytes whose `at`-th read waits in the process that made it, until it may go on.
struct Holding {
    bytes: Vec<u8>,
    cost: u64,
    process: u32,
    reads: AtomicU64,
    at: u64,
    stage: Mutex<Stage>,
    changed: Condvar,
}

#[derive(Clone, Copy, PartialEq)]
enum Stage {
    /// The read has not come.
    Before,
    Waiting,
    /// It may go on.
    Free,
}

impl Holding {
    fn new(bytes: Vec<u8>, cost: u64, at: u64) -> Self {
        let (stage, changed) = (Mutex::new(Stage::Before), Condvar::new());
        let process = std::process::id();
        Self { bytes, cost, process, reads: AtomicU64::new(0), at, stage, changed }
    }

    fn set(&self, stage: Stage) {
        *self.stage.lock().unwrap() = stage;
        self.changed.notify_all();
    }

    /// Waits while it is at `stage`: what comes after.
    fn after(&self, stage: Stage) -> Stage {
        *self.changed.wait_while(self.stage.lock().unwrap(), |now| *now == stage).unwrap()
    }
}

impl Storage for Holding {
    fn len(&self) -> io::Result<u64> {
        Ok(self.bytes.len() as u64)
    }

    fn read_at<'into>(
        &self,
        offset: u64,
        into: &'into mut [MaybeUninit<u8>],
    ) -> io::Result<&'into mut [u8]> {
        // A child has none of what the parent's threads wait for.
        if std::process::id() == self.process && self.reads.fetch_add(1, SeqCst) == self.at {
            self.set(Stage::Waiting);
            self.after(Stage::Waiting);
        }
        let from = self.bytes.get(offset as usize..).and_then(|rest| rest.get(..into.len()));
        Ok(into.write_copy_of_slice(from.ok_or(io::ErrorKind::UnexpectedEof)?))
    }

    fn call_cost_bytes(&self) -> u64 {
        self.cost
    }
}

/// What became of a child that does `work`: `None` where that panics, or takes too long.
fn forked(work: impl FnOnce()) -> Option<()> {
    // SAFETY: the child does what this module's contract says.
    let child = unsafe { libc::fork() };
    assert!(child >= 0);
    if child == 0 {
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
        // SAFETY: ends the process, which is the child.
        unsafe { libc::_exit(done.is_err().into()) };
    }
    let begun = Instant::now();
    let mut status = 0;
    loop {
        // SAFETY: a child of this process that nobody else waits for, and a place for its status.
        let ended = unsafe { libc::waitpid(child, &mut status, libc::WNOHANG) };
        if ended == child {
            return (status == 0).then_some(());
        }
        if begun.elapsed() > PATIENCE {
            // SAFETY: as above; it is killed, and so comes to an end.
            unsafe {
                libc::kill(child, libc::SIGKILL);
                libc::waitpid(child, &mut status, 0);
            }
            return None;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A file of each kind of structure that is looked up under some lock.
fn make(path: &Path, format: Format) {
    let writer = CreateOptions::new(format).create(path).unwrap();
    let root = writer.root();
    let t = root.define_dimension("t", None).unwrap();
    let x = root.define_dimension("x", Some(64)).unwrap();
    root.set_attribute("title", "a file").unwrap();
    let is_hdf5 = format == Format::NetCdf4;
    for (number, chunk) in [(0, 8), (1, 1), (2, 64)] {
        let options = match is_hdf5 {
            true => VariableOptions {
                chunk_shape: Some(vec![chunk, 16]),
                filters: vec![FilterRequest::Deflate { level: 1 }],
                ..VariableOptions::default()
            },
            false => VariableOptions::default(),
        };
        let variable =
            root.define_variable(&format!("v{number}"), Atomic::Int, &[t, x], options).unwrap();
        // As many as are stored in a heap of their own.
        for attribute in 0..20 {
            variable.set_attribute(&format!("a{attribute}"), "text").unwrap();
        }
        let numbers: Vec<i32> = (0..64 * 64).collect();
        variable.write_as(&Selection::all(&[64, 64]), &numbers).unwrap();
    }
    if is_hdf5 {
        let group = root.define_group("g").unwrap();
        let s = group
            .define_variable("s", DataType::from(Atomic::String), &[x], VariableOptions::default())
            .unwrap();
        s.write(&Selection::all(&[64]), &Values::String(vec![Some((*b"text").into()); 64]))
            .unwrap();
    }
    writer.close().unwrap();
}

/// All there is in a group, as text: some of each variable first, then all of it.
fn contents(group: &Group) -> String {
    let attributes = |list: isotach::Result<Arc<[isotach::Attribute]>>| {
        let list = list.unwrap();
        let values = list.iter().map(|one| format!("{}={:?}", one.name(), one.values().unwrap()));
        values.collect::<Vec<_>>().join(",")
    };
    let mut text = attributes(group.attributes());
    for variable in group.variables().unwrap() {
        let shape = variable.shape().unwrap();
        let some = Selection { axes: shape.iter().map(|_| Axis::range(3, 2, 1)).collect() };
        text +=
            &format!("{:?} {}", variable.read(&some).unwrap(), attributes(variable.attributes()));
        text += &format!("{:?}", variable.read(&Selection::all(&shape)).unwrap());
    }
    group.groups().unwrap().iter().for_each(|group| text += &contents(group));
    text
}

#[test]
fn a_child_reads_whatever_its_parent_was_reading() {
    let folder = tempfile::tempdir().unwrap();
    let mut forks = 0;
    for format in [Format::NetCdf4, Format::Classic] {
        let path = folder.path().join(format!("{format:?}.nc"));
        make(&path, format);
        let bytes = std::fs::read(&path).unwrap();
        let expected = contents(&File::open(&path).unwrap().root());
        for cost in [16 << 10, 512 << 10] {
            // Opening reads, too: by the thread that is to fork.
            let opening = Arc::new(Holding::new(bytes.clone(), cost, u64::MAX));
            OpenOptions::default().open_storage("file.nc", Arc::clone(&opening) as _).unwrap();
            for at in opening.reads.load(SeqCst).. {
                let storage = Arc::new(Holding::new(bytes.clone(), cost, at));
                let file =
                    OpenOptions::default().open_storage("file.nc", Arc::clone(&storage) as _);
                let file = file.unwrap();
                let held = std::thread::scope(|scope| {
                    let reader = scope.spawn(|| {
                        assert_eq!(contents(&file.root()), expected);
                        storage.set(Stage::Free);
                    });
                    let is_held = storage.after(Stage::Before) == Stage::Waiting;
                    let outcome = is_held.then(|| {
                        forked(|| {
                            assert_eq!(contents(&file.root()), expected);
                            let anew = File::open(&path).unwrap();
                            assert_eq!(contents(&anew.root()), expected);
                            forked(|| assert_eq!(contents(&file.root()), expected)).unwrap();
                        })
                    });
                    storage.set(Stage::Free);
                    reader.join().unwrap();
                    outcome
                });
                let Some(outcome) = held else { break };
                assert!(outcome.is_some(), "{format:?}, held at read {at}, calls of {cost} bytes");
                forks += 1;
            }
        }
    }
    assert!(forks > 20, "only {forks} reads were held up");
}

#[test]
fn a_child_cannot_use_what_its_parent_writes() {
    for format in [Format::NetCdf4, Format::Classic] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file.nc");
        make(&path, format);
        let writer = isotach::Writer::open(&path).unwrap();
        let file = writer.file();
        let variable = file.variable("v0").unwrap();
        // Found before the fork, and used after it.
        let array = variable.array().unwrap();
        let all = Selection::all(&[64, 64]);
        let child = forked(|| {
            let is_refused = |error: isotach::Error| matches!(error.kind, ErrorKind::InUse { .. });
            assert!(is_refused(variable.read(&all).unwrap_err()));
            assert!(is_refused(array.read(&all).unwrap_err()));
            assert!(is_refused(file.variable("v0").map(drop).unwrap_err()));
            // Another file is another matter.
            let other = folder.path().join("other.nc");
            make(&other, format);
            let found = contents(&File::open(&other).unwrap().root());
            assert_eq!(found, contents(&File::open(&path).unwrap().root()));
        });
        assert!(child.is_some(), "{format:?}");
        assert_eq!(array.read(&all).unwrap().len(), 64 * 64);
        writer.close().unwrap();
    }
}
