//! A file that is open is of one committed state of it, whatever a writer does meanwhile.

use std::io;
use std::mem::MaybeUninit;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use isotach::model::selection::{Axis, Selection};
use isotach::model::{Atomic, Values};
use isotach::storage::{Creation, LocalFile, Storage, WritableFile, WritableStorage};
use isotach::{
    CreateOptions, EditOptions, ErrorKind, File, Format, OpenOptions, Result, VariableOptions,
    Writer,
};

#[path = "support/records.rs"]
mod records;
use records::{NAMES, WIDTH, by_hand, create, look, put, select, values};

fn is_changed<T: std::fmt::Debug>(result: Result<T>) -> bool {
    matches!(result.unwrap_err().kind, ErrorKind::Changed)
}

#[test]
fn values_of_a_state_stay_while_it_is_open() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file.nc");
    let writer = create(&path);
    put(&writer, 5, 0).unwrap();
    writer.commit().unwrap();
    let mut file = File::open(&path).unwrap();
    assert_eq!(look(&file).unwrap(), (5, 0));
    for number in 1..=20 {
        put(&writer, 5 + number as u64, number).unwrap();
        writer.commit().unwrap();
        // All structures are known, and the cache is not asked: rows were never read before.
        let again = File::open(&path).unwrap();
        assert_eq!(look(&again).unwrap(), (5 + number as u64, number));
    }
    assert_eq!(look(&file).unwrap(), (5, 0));
    assert!(file.refresh().unwrap());
    assert_eq!(look(&file).unwrap(), (25, 20));
    writer.close().unwrap();
    assert_eq!(look(&file).unwrap(), (25, 20));
}

#[test]
fn a_state_outlives_the_sessions_of_writers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file.nc");
    let writer = create(&path);
    put(&writer, 5, 0).unwrap();
    writer.close().unwrap();
    let mut held = Vec::new();
    for number in 1..=8 {
        let file = File::open(&path).unwrap();
        let known: Vec<_> = NAMES.iter().map(|name| file.variable(name).unwrap()).collect();
        // The way to the chunks, and no more.
        for variable in &known {
            variable.read(&select([Axis::range(0, 1, 1), Axis::range(0, 1, 1)])).unwrap();
        }
        held.push((number - 1, file, known));
        let writer = by_hand().open(&path).unwrap();
        put(&writer, 5, number).unwrap();
        writer.close().unwrap();
        for (number, _file, known) in &held {
            for variable in known {
                let shape = variable.shape().unwrap();
                let Values::I32(found) = variable.read(&Selection::all(&shape)).unwrap() else {
                    panic!()
                };
                for (record, row) in found.chunks(WIDTH as usize).enumerate() {
                    assert_eq!(row, values(variable.name(), record as u64, *number));
                }
            }
        }
    }
    let held_len = path.metadata().unwrap().len();
    drop(held);
    for number in 9..=14 {
        let writer = by_hand().open(&path).unwrap();
        put(&writer, 5, number).unwrap();
        writer.close().unwrap();
        assert_eq!(look(&File::open(&path).unwrap()).unwrap(), (5, number));
    }
    let len = path.metadata().unwrap().len();
    assert!(len < held_len / 3, "what nobody holds is used again: {len} of {held_len}");
}

#[test]
fn what_was_not_looked_for_is_of_this_state_or_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file.nc");
    let writer = create(&path);
    put(&writer, 3, 0).unwrap();
    // No read of anything else brings it along.
    let large = vec![1; 12_000];
    writer.root().set_attribute("large", large.clone()).unwrap();
    writer.commit().unwrap();
    let before = |file: &File| file.root().attribute("large")?.unwrap().values();
    let file = File::open(&path).unwrap();
    put(&writer, 3, 1).unwrap();
    assert_eq!(look(&File::open(&path).unwrap()).unwrap(), (3, 0), "nothing is committed");
    assert_eq!(before(&file.clone()).unwrap(), Values::I32(large.clone()));
    let file = File::open(&path).unwrap();
    writer.commit().unwrap();
    for _ in 0..2 {
        assert!(is_changed(before(&file)));
        assert!(look(&file).is_ok_and(|found| found == (3, 0)) || is_changed(look(&file)));
    }
    // A writer who only opens the file, or closes it again, changes nothing.
    writer.close().unwrap();
    let file = File::open(&path).unwrap();
    let writer = by_hand().open(&path).unwrap();
    assert_eq!(before(&file).unwrap(), Values::I32(large));
    writer.close().unwrap();
    assert_eq!(look(&file).unwrap(), (3, 1));
}

/// How far a writer is that commits without a pause.
struct Endless {
    commits: Arc<AtomicUsize>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Endless {
    fn begin(writer: Writer) -> Self {
        let (commits, is_over) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let (count, end) = (Arc::clone(&commits), Arc::clone(&is_over));
        let thread = std::thread::spawn(move || {
            while !end.load(SeqCst) {
                let number = count.load(SeqCst) as i32;
                writer.root().set_attribute("number", number).unwrap();
                writer.commit().unwrap();
                count.fetch_add(1, SeqCst);
            }
            writer.close().unwrap();
        });
        Self { commits, is_over, thread: Some(thread) }
    }

    /// Comes back after so many commits, or that time.
    fn wait(&self, commits: usize, time: Duration) {
        let (begun, before) = (Instant::now(), self.commits.load(SeqCst));
        while self.commits.load(SeqCst) < before + commits && begun.elapsed() < time {
            std::thread::sleep(Duration::from_micros(100));
        }
    }
}

impl Drop for Endless {
    fn drop(&mut self) {
        self.is_over.store(true, SeqCst);
        self.thread.take().unwrap().join().unwrap();
    }
}

/// A reader who needs longer than a writer for a commit asks for time, and gets it.
#[test]
fn a_writer_gives_time_to_readers_that_ask() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file.nc");
    let writer = create(&path);
    // No read of anything else brings it along.
    writer.root().set_attribute("large", vec![1; 12_000]).unwrap();
    writer.commit().unwrap();
    let endless = Endless::begin(writer);
    let is_found_after = |commits| {
        let file = File::open(&path).unwrap();
        endless.wait(commits, Duration::from_millis(20));
        file.root().attribute("large").and_then(|found| found.unwrap().values()).is_ok()
    };
    endless.wait(1, Duration::MAX);
    let in_turn = File::open(&path).unwrap().turn().unwrap();
    // The writer has all time there is to commit five times. On a busy machine its patience may end once.
    let found = (0..50).any(|_| is_found_after(5));
    assert!(found, "it is given no time");
    drop(in_turn);
    // Nobody asks any more.
    endless.wait(20, Duration::MAX);
}

/// Whoever asks for time and never comes keeps a writer for a moment, and not from anything.
#[test]
fn a_reader_that_never_ends_keeps_no_writer() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file.nc");
    let writer = create(&path);
    writer.commit().unwrap();
    let _in_turn = File::open(&path).unwrap().turn();
    Endless::begin(writer).wait(100, Duration::MAX);
}

#[test]
fn no_two_states_have_the_same_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file.nc");
    create(&path).close().unwrap();
    let mut times = vec![path.metadata().unwrap().modified().unwrap()];
    for number in 0..50 {
        let mut file = File::open(&path).unwrap();
        assert!(!file.refresh().unwrap(), "closed by our writer: nothing to wait for");
        let writer = by_hand().open(&path).unwrap();
        writer.root().set_attribute("number", number).unwrap();
        writer.close().unwrap();
        times.push(path.metadata().unwrap().modified().unwrap());
        assert!(file.refresh().unwrap());
        let found = file.root().attribute("number").unwrap().unwrap().values().unwrap();
        assert_eq!(found, Values::I32(vec![number]));
    }
    assert!(times.is_sorted_by(|earlier, later| earlier < later), "{times:?}");
}

#[test]
fn a_second_writer_is_refused_with_locks_and_without() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file.nc");
    let writer = create(&path);
    for lock in [true, false] {
        let options = EditOptions { lock, ..by_hand() };
        assert!(matches!(options.open(&path).err().unwrap().kind, ErrorKind::InUse { .. }));
        let options = CreateOptions { edit: options, ..CreateOptions::default() };
        assert!(matches!(options.create(&path).err().unwrap().kind, ErrorKind::InUse { .. }));
    }
    put(&writer, 2, 0).unwrap();
    writer.close().unwrap();
    assert_eq!(look(&File::open(&path).unwrap()).unwrap(), (2, 0));
}

/// Looks at all of a file: how many rows there are, and of which commit it is.
type Look = fn(&File) -> Result<(u64, i32)>;

/// A file whose writer stops before each of its steps and lets others look.
struct Stepping {
    file: WritableFile,
    look: Mutex<Box<dyn FnMut() + Send>>,
}

impl Stepping {
    fn step(&self) {
        // Who looks may have the writer finish something, which is a step of its own.
        if let Ok(mut look) = self.look.try_lock() {
            look();
        }
    }
}

impl Storage for Stepping {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn read_at<'into>(
        &self,
        offset: u64,
        into: &'into mut [MaybeUninit<u8>],
    ) -> io::Result<&'into mut [u8]> {
        self.file.read_at(offset, into)
    }
}

impl WritableStorage for Stepping {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.step();
        self.file.write_at(offset, bytes)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.step();
        self.file.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync()
    }

    fn publish(&self) {
        self.step();
        self.file.publish();
    }

    fn beneath(&self) -> Option<&dyn WritableStorage> {
        Some(&self.file)
    }
}

/// What readers met who opened the file at a step and looked some steps later.
#[derive(Debug, Default)]
struct Met {
    looks: usize,
    changed: usize,
}

impl Met {
    /// What was found, or that it was told to be of another state; no other error is one.
    fn add(&mut self, found: Result<(u64, i32)>) -> Option<(u64, i32)> {
        self.looks += 1;
        match found {
            Ok(found) => Some(found),
            Err(error) if matches!(error.kind, ErrorKind::Changed) => {
                self.changed += 1;
                None
            }
            Err(error) => panic!("{error}"),
        }
    }
}

/// A writer of the file at `path` that has others look before each of its steps.
fn open_stepping(path: &Path, look: Box<dyn FnMut() + Send>) -> Writer {
    let file = WritableFile::open(path, Creation::Open, true).unwrap();
    let storage = Arc::new(Stepping { file, look: Mutex::new(look) });
    by_hand().open_in("file.nc", storage).unwrap()
}

/// Has readers look at each step of a writer: those who have just opened the file see a whole state, those who did so
/// earlier see the one of then or [`ErrorKind::Changed`].
fn look_at_steps(
    path: &Path,
    committed: Arc<AtomicI32>,
    met: Arc<Mutex<Met>>,
    look: Look,
) -> Box<dyn FnMut() + Send> {
    let path = path.to_owned();
    let mut waiting: Vec<(usize, i32, File)> = Vec::new();
    let mut step = 0;
    Box::new(move || {
        let number = committed.load(SeqCst);
        let (_, found) = look(&File::open(&path).unwrap()).unwrap();
        assert!((number..=number + 1).contains(&found), "{found} at {number}");
        waiting
            .extend([1, 2, 4, 9].map(|after| (step + after, number, File::open(&path).unwrap())));
        let (due, rest): (Vec<_>, Vec<_>) =
            waiting.drain(..).partition(|(until, ..)| *until <= step);
        waiting = rest;
        let mut met = met.lock().unwrap();
        for (_, number, file) in due {
            if let Some((_, found)) = met.add(look(&file)) {
                assert!((number..=number + 1).contains(&found));
            }
        }
        step += 1;
    })
}

#[test]
fn readers_at_each_step_of_a_writer_see_one_state() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file.nc");
    let writer = create(&path);
    put(&writer, 3, 0).unwrap();
    writer.close().unwrap();
    let (committed, met) = (Arc::new(AtomicI32::new(0)), Arc::new(Mutex::new(Met::default())));
    for session in 0..3 {
        let look = look_at_steps(&path, Arc::clone(&committed), Arc::clone(&met), look);
        let writer = open_stepping(&path, look);
        for number in 4 * session + 1..=4 * session + 3 {
            put(&writer, 3 + number as u64, number).unwrap();
            // Names that come and go have the group's links be built anew.
            let root = writer.root();
            let options = VariableOptions::default;
            root.define_variable(&format!("new {number}"), Atomic::Int, &[], options()).unwrap();
            if let Some(old) = root.variable(&format!("new {}", number - 1)).unwrap() {
                old.delete().unwrap();
            }
            writer.commit().unwrap();
            committed.store(number, SeqCst);
        }
        put(&writer, 4 * session as u64 + 7, 4 * session + 4).unwrap();
        writer.close().unwrap();
        committed.store(4 * session + 4, SeqCst);
    }
    let met = met.lock().unwrap();
    println!("{met:?}");
    assert!(met.looks > 300 && met.changed > 50 && met.looks - met.changed > 50, "{met:?}");
}

/// A file whose reader stops once, behind one of its reads, until it is told to go on.
struct Halting {
    file: LocalFile,
    reads: AtomicUsize,
    halts_behind: usize,
    halted: mpsc::Sender<()>,
    goes_on: Mutex<mpsc::Receiver<()>>,
}

impl Storage for Halting {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn read_at<'into>(
        &self,
        offset: u64,
        into: &'into mut [MaybeUninit<u8>],
    ) -> io::Result<&'into mut [u8]> {
        let read = self.file.read_at(offset, into);
        if self.reads.fetch_add(1, SeqCst) == self.halts_behind {
            let _ = self.halted.send(());
            let _ = self.goes_on.lock().unwrap().recv();
        }
        read
    }

    fn ensure_state(&self) -> io::Result<()> {
        self.file.ensure_state()
    }

    fn ensure_values(&self) -> io::Result<()> {
        self.file.ensure_values()
    }

    fn present(&self) -> io::Result<Option<Arc<dyn Storage>>> {
        self.file.present()
    }

    fn has_writer(&self) -> bool {
        self.file.has_writer()
    }
}

/// A reader that has stopped, and what it finds when it goes on.
struct Halted {
    until: usize,
    goes_on: mpsc::Sender<()>,
    found: JoinHandle<Result<(u64, i32)>>,
}

impl Halted {
    /// Opens the file, and stops behind so many reads; `None` where there are not so many.
    fn open(path: &Path, reads: usize, until: usize, look: Look) -> Option<Self> {
        let (halted, halts) = mpsc::channel();
        let (goes_on, told) = mpsc::channel();
        let (reads_made, file) = (AtomicUsize::new(0), LocalFile::open(path).unwrap());
        let storage = Halting {
            file,
            reads: reads_made,
            halts_behind: reads,
            halted,
            goes_on: Mutex::new(told),
        };
        let found = std::thread::spawn(move || {
            let file = OpenOptions::default().open_storage("file.nc", Arc::new(storage))?;
            look(&file)
        });
        // It says so, or it has come to its end.
        halts.recv().ok()?;
        Some(Self { until, goes_on, found })
    }

    fn go_on(self) -> Result<(u64, i32)> {
        let _ = self.goes_on.send(());
        self.found.join().unwrap()
    }
}

/// Has readers stop behind each of the reads that opening takes, at each step of a writer, and go on some steps later:
/// they see one state whole or [`ErrorKind::Changed`].
fn halt_at_steps(path: &Path, met: Arc<Mutex<Met>>, look: Look) -> Box<dyn FnMut() + Send> {
    let path = path.to_owned();
    let mut waiting: Vec<Halted> = Vec::new();
    let mut step = 0;
    Box::new(move || {
        let (due, rest): (Vec<_>, Vec<_>) =
            waiting.drain(..).partition(|halted| halted.until <= step);
        waiting = rest;
        let mut met = met.lock().unwrap();
        for halted in due {
            met.add(halted.go_on());
        }
        for reads in 0..4 {
            let open = |after| Halted::open(&path, reads, step + after, look);
            waiting.extend([1, 2, 3].into_iter().filter_map(open));
        }
        step += 1;
    })
}

#[test]
fn readers_that_are_slow_to_open_see_one_state() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file.nc");
    let writer = create(&path);
    put(&writer, 3, 0).unwrap();
    writer.close().unwrap();
    let met = Arc::new(Mutex::new(Met::default()));
    let halt = halt_at_steps(&path, Arc::clone(&met), look);
    let writer = open_stepping(&path, halt);
    for number in 1..=5 {
        put(&writer, 3 + number as u64, number).unwrap();
        writer.commit().unwrap();
    }
    writer.close().unwrap();
    let met = met.lock().unwrap();
    println!("{met:?}");
    assert!(met.looks > 300 && met.changed > 50 && met.looks - met.changed > 20, "{met:?}");
}

#[test]
fn readers_that_are_slow_to_open_see_one_classic_state() {
    let folder = tempfile::tempdir().unwrap();
    for format in [Format::Classic, Format::Data64Bit] {
        let path = folder.path().join(format.to_string());
        let writer = create_classic(&path, format);
        commit_classic(&writer, 0);
        writer.close().unwrap();
        let met = Arc::new(Mutex::new(Met::default()));
        let halt = halt_at_steps(&path, Arc::clone(&met), look_at_classic);
        let writer = open_stepping(&path, halt);
        for number in 1..=6 {
            commit_classic(&writer, number);
            writer.commit().unwrap();
        }
        writer.close().unwrap();
        let met = met.lock().unwrap();
        println!("{format}: {met:?}");
        assert!(met.looks > 100 && met.changed > 20, "{met:?}");
    }
}

/// Two record variables whose rows every commit continues.
fn create_classic(path: &Path, format: Format) -> Writer {
    let options = CreateOptions { edit: by_hand(), ..CreateOptions::new(format) };
    let writer = options.create(path).unwrap();
    let root = writer.root();
    let time = root.define_dimension("time", None).unwrap();
    let x = root.define_dimension("x", Some(WIDTH)).unwrap();
    for name in NAMES {
        let dimensions = [time, x];
        root.define_variable(name, Atomic::Int, &dimensions, VariableOptions::default()).unwrap();
    }
    writer
}

/// What commit `number` of a classic file brings: a longer header, and a row.
fn commit_classic(writer: &Writer, number: i32) {
    let text = String::from(char::from(b'a' + (number % 26) as u8));
    writer.root().set_attribute("text", &*text.repeat(40 * number as usize + 1)).unwrap();
    writer.root().set_attribute("number", number).unwrap();
    for name in NAMES {
        let variable = writer.root().variable(name).unwrap().unwrap();
        let first = if number == 0 { 0 } else { 2 + number as u64 };
        for record in first..3 + number as u64 {
            let row = select([Axis::range(record, 1, 1), Axis::all(WIDTH)]);
            variable.write(&row, &Values::I32(values(name, record, 0))).unwrap();
        }
    }
}

/// What a classic file shows whose values are the same in all commits.
fn look_at_classic(file: &File) -> Result<(u64, i32)> {
    let Values::Char(text) = file.root().attribute("text")?.unwrap().values()? else { panic!() };
    let Values::I32(number) = file.root().attribute("number")?.unwrap().values()? else { panic!() };
    let number = number[0];
    assert_eq!(text, vec![b'a' + (number % 26) as u8; 40 * number as usize + 1]);
    let mut counts = Vec::new();
    for name in NAMES {
        let variable = file.variable(name)?;
        let shape = variable.shape()?;
        let Values::I32(found) = variable.read(&Selection::all(&shape))? else { panic!() };
        for (record, row) in found.chunks(WIDTH as usize).enumerate() {
            assert_eq!(row, values(name, record as u64, 0), "{name} {record} of {number}");
        }
        counts.push(shape[0]);
    }
    // A definition that has to move values is committed by itself.
    let is_due = |count: &u64| (2..=3).contains(&(count - number as u64));
    assert!(counts.iter().all(|count| *count == counts[0] && is_due(count)), "{counts:?}");
    Ok((counts[0], number))
}

#[test]
fn readers_at_each_step_of_a_writer_see_one_classic_state() {
    let folder = tempfile::tempdir().unwrap();
    for format in [Format::Classic, Format::Offset64Bit, Format::Data64Bit] {
        let path = folder.path().join("file.nc");
        let writer = create_classic(&path, format);
        commit_classic(&writer, 0);
        writer.close().unwrap();
        let (committed, met) = (Arc::new(AtomicI32::new(0)), Arc::new(Mutex::new(Met::default())));
        let look = look_at_steps(&path, Arc::clone(&committed), Arc::clone(&met), look_at_classic);
        let writer = open_stepping(&path, look);
        for number in 1..=6 {
            commit_classic(&writer, number);
            writer.commit().unwrap();
            committed.store(number, SeqCst);
        }
        writer.close().unwrap();
        let met = met.lock().unwrap();
        println!("{format}: {met:?}");
        assert!(met.looks > 100 && met.changed > 20, "{met:?}");
    }
}

/// Elements of a variable that has one place in the file, more than are kept of small ones.
const ELEMENTS: u64 = 60_000;

/// What commit `number` writes over, in two calls, and an attribute that says so.
fn overwrite(writer: &Writer, number: i32) {
    writer.root().set_attribute("number", number).unwrap();
    let variable = writer.root().variable("whole").unwrap().unwrap();
    for first in [0, ELEMENTS / 2] {
        let half = Selection { axes: vec![Axis::range(first, ELEMENTS / 2, 1)] };
        variable.write(&half, &Values::I32(vec![number; ELEMENTS as usize / 2])).unwrap();
    }
}

/// A reader that was opened at a step of a writer, and reads at a later one.
struct Waiting {
    until: i32,
    /// The last commit by then.
    opened_at: i32,
    snapshot: bool,
    file: File,
}

/// The commit that the attribute is of, and the one that all values are of.
fn look_at_overwritten(file: &File) -> Result<(u64, i32)> {
    let Values::I32(number) = file.root().attribute("number")?.unwrap().values()? else { panic!() };
    let found = file.variable("whole")?.read(&Selection::all(&[ELEMENTS]))?;
    let Values::I32(found) = found else { panic!() };
    let others = found.iter().filter(|value| **value != found[0]).count();
    assert_eq!(others, 0, "of {} and {}", found[0], found[ELEMENTS as usize - 1]);
    Ok((number[0] as u64, found[0]))
}

#[test]
fn values_that_are_overwritten_come_with_their_commit() {
    let folder = tempfile::tempdir().unwrap();
    for format in [Format::Classic, Format::Offset64Bit, Format::Data64Bit, Format::NetCdf4] {
        let path = folder.path().join("file.nc");
        create_overwritten(&path, format);
        let (committed, met) = (Arc::new(AtomicI32::new(0)), Arc::new(Mutex::new(Met::default())));
        let (step, mut waiting) = (Arc::new(AtomicI32::new(0)), Vec::<Waiting>::new());
        let look = {
            let (path, committed, met) = (path.clone(), Arc::clone(&committed), Arc::clone(&met));
            let step = Arc::clone(&step);
            Box::new(move || {
                let (number, step) = (committed.load(SeqCst), step.fetch_add(1, SeqCst));
                let found = look_at_overwritten(&File::open(&path).unwrap()).unwrap();
                assert_eq!(found.0, found.1 as u64, "{format}: one state");
                assert!(
                    (number..=number + 1).contains(&found.1),
                    "{format}: {found:?} at {number}"
                );
                for (after, snapshot) in
                    [1, 2, 4, 9].into_iter().flat_map(|after| [(after, false), (after, true)])
                {
                    let options = OpenOptions { snapshot, ..OpenOptions::default() };
                    let (until, file) = (step + after, options.open(&path).unwrap());
                    waiting.push(Waiting { until, opened_at: number, snapshot, file });
                }
                for waiting in waiting.extract_if(.., |waiting| waiting.until <= step) {
                    let Waiting { opened_at, snapshot, file, .. } = waiting;
                    let Some(found) = met.lock().unwrap().add(look_at_overwritten(&file)) else {
                        assert!(!snapshot || format != Format::NetCdf4, "a snapshot holds these");
                        continue;
                    };
                    // Values of classic files are those of the last commit, all others of the state.
                    match format {
                        Format::NetCdf4 => assert_eq!(found.0, found.1 as u64),
                        _ if snapshot => assert_eq!(found.0, found.1 as u64, "{format}"),
                        _ => assert!((opened_at..=number + 1).contains(&found.1), "{found:?}"),
                    }
                }
            })
        };
        let writer = open_stepping(&path, look);
        for number in 1..=6 {
            overwrite(&writer, number);
            writer.commit().unwrap();
            committed.store(number, SeqCst);
        }
        overwrite(&writer, 77);
        let variable = writer.root().variable("whole").unwrap().unwrap();
        let found = variable.variable().unwrap().read(&Selection::all(&[ELEMENTS])).unwrap();
        assert_eq!(found, Values::I32(vec![77; ELEMENTS as usize]), "the writer sees his own");
        writer.discard().unwrap();
        assert_eq!(look_at_overwritten(&File::open(&path).unwrap()).unwrap(), (6, 6));
        let met = met.lock().unwrap();
        println!("{format}: {} steps, {met:?}", step.load(SeqCst));
        assert!(met.looks > 60, "{format}: {met:?}");
        std::fs::remove_file(&path).unwrap();
    }
}

/// A file of [`ELEMENTS`] values that are 0.
fn create_overwritten(path: &Path, format: Format) {
    let options = CreateOptions { edit: by_hand(), ..CreateOptions::new(format) };
    let writer = options.create(path).unwrap();
    let x = writer.root().define_dimension("x", Some(ELEMENTS)).unwrap();
    writer.root().define_variable("whole", Atomic::Int, &[x], VariableOptions::default()).unwrap();
    overwrite(&writer, 0);
    writer.close().unwrap();
}

/// Readers of values in their only place do not ask after each request whether they are still there: a writer
/// waits for those who have just asked.
#[test]
fn quick_requests_are_of_one_state_while_values_are_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    for format in [Format::Classic, Format::Data64Bit] {
        let path = folder.path().join(format.to_string());
        create_overwritten(&path, format);
        let writer = EditOptions { commit_interval: None, ..EditOptions::default() };
        let writer = writer.open(&path).unwrap();
        let is_over = AtomicBool::new(false);
        let looks = std::thread::scope(|scope| {
            let readers = [(); 2].map(|()| {
                scope.spawn(|| {
                    let variable = File::open(&path).unwrap().variable("whole").unwrap();
                    let ends = Selection { axes: vec![Axis::range(0, 2, ELEMENTS as i64 - 1)] };
                    let (mut last, mut looks) = (0, 0);
                    while !is_over.load(SeqCst) {
                        let Values::I32(found) = variable.read(&ends).unwrap() else { panic!() };
                        assert_eq!(found[0], found[1], "{format}: after {looks} requests");
                        assert!(found[0] >= last, "{format}: {} after {last}", found[0]);
                        (last, looks) = (found[0], looks + 1);
                    }
                    looks
                })
            });
            for number in 1..=60 {
                overwrite(&writer, number);
                writer.commit().unwrap();
            }
            is_over.store(true, SeqCst);
            readers.map(|reader| reader.join().unwrap())
        });
        assert!(looks.iter().all(|&looks| looks > 0), "{format}: {looks:?}");
        println!("{format}: {looks:?} requests");
        writer.close().unwrap();
    }
}

#[test]
fn a_snapshot_shows_one_state_to_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file.nc");
    let writer = create(&path);
    put(&writer, 5, 0).unwrap();
    let text = writer.root().define_dimension("n", Some(2000)).unwrap();
    let root = writer.root();
    let options = VariableOptions::default;
    let words = root.define_variable("words", Atomic::String, &[text], options()).unwrap();
    let strings = |number: i32| {
        let word = |at| Some(format!("word {at} of commit {number}").into_bytes().into());
        Values::String((0..2000).map(word).collect())
    };
    words.write(&Selection::all(&[2000]), &strings(0)).unwrap();
    root.set_attribute("large", vec![1; 12_000]).unwrap();
    writer.commit().unwrap();
    let file = OpenOptions { snapshot: true, ..OpenOptions::default() }.open(&path).unwrap();
    for number in 1..=6 {
        put(&writer, 5 + number as u64, number).unwrap();
        words.write(&Selection::all(&[2000]), &strings(number)).unwrap();
        root.set_attribute("large", vec![number; 12_000]).unwrap();
        writer.commit().unwrap();
    }
    writer.close().unwrap();
    let again = by_hand().open(&path).unwrap();
    put(&again, 12, 7).unwrap();
    again.close().unwrap();
    assert_eq!(look(&file).unwrap(), (5, 0));
    let large = file.root().attribute("large").unwrap().unwrap().values().unwrap();
    assert_eq!(large, Values::I32(vec![1; 12_000]));
    let found = file.variable("words").unwrap().read(&Selection::all(&[2000])).unwrap();
    assert_eq!(found, strings(0));
}
