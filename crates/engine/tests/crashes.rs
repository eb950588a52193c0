//! Writers that are killed, lose power, or whose disk is full, at every single write: what is found
//! afterwards is the last committed state or the next one, whole, and a writer can go on from there.
//!
//! Left out is what decisions 16 and 20 do not promise: values of classic files and numbers of large
//! contiguous variables that are overwritten in place may be the old or the new ones; and where the values
//! of a classic file have to move, its new definition is committed before values are put there.

mod support {
    pub mod contents;
}

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use isotach::model::selection::{Axis, Selection};
use isotach::model::{Atomic, Values};
use isotach::storage::{Durability, Memory, Storage};
use isotach::{
    CreateOptions, EditOptions, ErrorKind, File, Fill, FilterRequest, Format, GroupWriter,
    HeaderRoom, Layout, OpenOptions, Result, StorageKind, VariableOptions, VariableWriter, Writer,
};
use isotach_testkit::{
    CrashImage, FailingWrites, Fault, Random, Recording, RecordingStorage, corpus,
};

use support::contents::{contents, try_contents};

/// What is done before a commit. It finds all things by their names, as it is also done by who opens
/// what a crash left.
type Step = Box<dyn Fn(&Writer)>;

/// Losses of power of one scenario where there is time for it; some of them leave the same.
const LONG_LOSSES: usize = 8000;
/// Different crashes that a scenario is judged after then, at least: of small classic files there are not
/// many more, however often power is lost.
const LEAST_LONG: usize = 500;

/// A file, and what is done to it from commit to commit.
struct Scenario {
    start: Start,
    /// What classic files reserve.
    room: HeaderRoom,
    steps: Vec<Step>,
}

enum Start {
    New(CreateOptions),
    File(Vec<u8>),
}

impl Scenario {
    fn new(format: Format) -> Self {
        Self::created(CreateOptions::new(format))
    }

    fn created(options: CreateOptions) -> Self {
        Self { start: Start::New(options), room: HeaderRoom::default(), steps: Vec::new() }
    }

    fn of(bytes: Vec<u8>) -> Self {
        Self { start: Start::File(bytes), room: HeaderRoom::default(), steps: Vec::new() }
    }

    fn then(mut self, step: impl Fn(&Writer) + 'static) -> Self {
        self.steps.push(Box::new(step));
        self
    }

    /// The same step for each of a count, which it gets.
    fn repeat(mut self, count: u64, step: impl Fn(&Writer, u64) + Copy + 'static) -> Self {
        for index in 0..count {
            self = self.then(move |writer| step(writer, index));
        }
        self
    }

    /// Tries crashes of every kind, about `most` of each; all there are, and so many losses of power that
    /// they are thousands, where there is time for it (`ISOTACH_LONG_TESTS`).
    fn survives(&self, most: usize) {
        let is_long = std::env::var_os("ISOTACH_LONG_TESTS").is_some();
        let most = if is_long { usize::MAX } else { most };
        let mut judged = 0;
        for durability in [Durability::Process, Durability::Power] {
            let run = Run::new(self, durability);
            judged += run.judge(most, |see| run.recording.killed_images(see));
            if durability == Durability::Power {
                let events = run.recording.events().len() + 1;
                let count = if is_long { LONG_LOSSES.div_ceil(events) } else { 3 };
                judged += run.judge(most, |see| run.recording.power_loss_images(7, count, see));
            }
        }
        println!("{judged} crashes");
        assert!(!is_long || judged >= LEAST_LONG, "only {judged} crashes");
    }
}

/// A scenario that was run.
struct Run<'s> {
    scenario: &'s Scenario,
    recording: Recording,
    /// What was to be seen after each commit, and how many events were over when it was.
    states: Vec<(usize, String)>,
}

impl<'s> Run<'s> {
    fn new(scenario: &'s Scenario, durability: Durability) -> Self {
        let edit = EditOptions { header_room: scenario.room, ..options(durability) };
        let storage;
        let writer = match &scenario.start {
            Start::New(create) => {
                storage = Arc::new(RecordingStorage::new(Vec::new()));
                let create = CreateOptions { edit, ..create.clone() };
                create.create_in("file", storage.clone()).unwrap()
            }
            Start::File(bytes) => {
                storage = Arc::new(RecordingStorage::new(bytes.clone()));
                edit.open_in("file", storage.clone()).unwrap()
            }
        };
        let state = || (storage.event_count(), contents(&opened(storage.clone()).unwrap()));
        let mut states = vec![state()];
        for (index, step) in scenario.steps.iter().enumerate() {
            step(&writer);
            let draft = contents(&writer.file());
            writer.commit().unwrap();
            states.push(state());
            let committed = &states[index + 1].1;
            assert!(sorted(committed) == sorted(&draft), "{}", differences(committed, &draft));
        }
        writer.close().unwrap();
        assert_eq!(state().1, states[scenario.steps.len()].1, "closed");
        Self { scenario, recording: storage.recording(), states }
    }

    /// Looks at about `most` of the images, each only once, and goes on from some of them. Tells how many
    /// there were.
    fn judge(&self, most: usize, images: impl Fn(&mut dyn FnMut(&CrashImage))) -> usize {
        let mut count = 0;
        images(&mut |_| count += 1);
        let mut random = Random::new(1);
        let mut judged = HashSet::new();
        images(&mut |image| {
            if random.below(count) < most as u64 && judged.insert(fingerprint(image)) {
                let shown = self.state_of(image);
                if random.below(10) == 0 {
                    self.go_on(image, shown);
                }
            }
        });
        judged.len()
    }

    /// Which state is seen; `None` where the file had not come about.
    fn state_of(&self, image: &CrashImage) -> Option<usize> {
        let next = self.states.partition_point(|(events, _)| *events <= image.events);
        let seen =
            opened(Arc::new(Memory::new(image.bytes.clone()))).and_then(|file| try_contents(&file));
        let seen = match seen {
            Err(_) if next == 0 => return None,
            seen => seen.unwrap_or_else(|error| panic!("after {} events: {error}", image.events)),
        };
        let allowed = next.saturating_sub(1)..=next.min(self.states.len() - 1);
        let found = allowed.clone().find(|&state| self.states[state].1 == seen);
        assert!(
            found.is_some(),
            "after {} events, states {allowed:?} of {}:\n{}",
            image.events,
            self.states.len(),
            differences(&seen, &self.states[*allowed.end()].1),
        );
        found
    }

    /// Opens what was left and does what was not done.
    fn go_on(&self, image: &CrashImage, shown: Option<usize>) {
        let Some(shown) = shown else { return };
        let header_room = self.scenario.room;
        let edit = EditOptions { header_room, ..options(Durability::Process) };
        let writer = edit.open_bytes("file", image.bytes.clone()).unwrap();
        assert_eq!(contents(&writer.file()), self.states[shown].1, "opened for writing");
        for (index, step) in self.scenario.steps.iter().enumerate().skip(shown) {
            step(&writer);
            if let Err(error) = writer.commit() {
                panic!("step {index}, from state {shown} after {} events: {error}", image.events);
            }
        }
        let bytes = writer.into_bytes().unwrap().unwrap();
        let file = opened(Arc::new(Memory::new(bytes))).unwrap();
        let (seen, expected) = (contents(&file), &self.states[self.scenario.steps.len()].1);
        // What was renamed stands behind what the file had when it was opened, so that the order of
        // attributes depends on when that was.
        assert!(
            in_order(&seen) == in_order(expected),
            "went on from state {shown} after {} events:\n{}",
            image.events,
            differences(&seen, expected)
        );
    }
}

fn in_order(contents: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = contents.lines().collect();
    lines.sort_unstable();
    lines
}

fn fingerprint(image: &CrashImage) -> u64 {
    let mut hasher = DefaultHasher::new();
    (image.events, &image.bytes).hash(&mut hasher);
    hasher.finish()
}

/// The lines that differ, from shortly before they do.
fn differences(seen: &str, expected: &str) -> String {
    let mut found = String::new();
    for (one, other) in seen.lines().zip(expected.lines()).filter(|(one, other)| one != other) {
        let equal = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
        let from = equal.saturating_sub(60);
        let part = |text: &str| text.chars().skip(from).take(160).collect::<String>();
        found += &format!("seen     {}\nexpected {}\n", part(one), part(other));
    }
    found + &format!("{} lines for {}", seen.lines().count(), expected.lines().count())
}

/// Where a file does not keep the order of things, they are where they were defined only until then.
fn sorted(contents: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = contents.lines().collect();
    lines.sort_unstable();
    lines
}

fn options(durability: Durability) -> EditOptions {
    EditOptions { durability, commit_interval: None, ..EditOptions::default() }
}

fn opened(storage: Arc<dyn Storage>) -> Result<File> {
    OpenOptions::default().open_storage("file", storage)
}

fn range(start: u64, count: u64) -> Axis {
    Axis::range(start, count, 1)
}

fn select(axes: impl IntoIterator<Item = Axis>) -> Selection {
    Selection { axes: axes.into_iter().collect() }
}

fn plain() -> VariableOptions {
    VariableOptions::default()
}

fn chunked(chunk_shape: &[u64], filters: &[FilterRequest]) -> VariableOptions {
    VariableOptions {
        chunk_shape: Some(chunk_shape.to_vec()),
        filters: filters.to_vec(),
        ..VariableOptions::default()
    }
}

const DEFLATE: [FilterRequest; 2] = [FilterRequest::Shuffle, FilterRequest::Deflate { level: 1 }];

fn variable(group: &GroupWriter, name: &str) -> VariableWriter {
    group.variable(name).unwrap().unwrap()
}

fn words<const COUNT: usize>(words: [String; COUNT]) -> Values {
    Values::String(words.map(|word| Some(word.as_bytes().into())).to_vec())
}

#[test]
fn a_new_file() {
    Scenario::new(Format::NetCdf4)
        .then(|writer| {
            let root = writer.root();
            root.set_attribute("title", "winds").unwrap();
            let time = root.define_dimension("time", None).unwrap();
            let x = root.define_dimension("x", Some(30)).unwrap();
            let times = root.define_variable("time", Atomic::Double, &[time], plain()).unwrap();
            times.set_attribute("units", "days since 2000-01-01").unwrap();
            let packed = chunked(&[2, 10], &DEFLATE);
            root.define_variable("speed", Atomic::Float, &[time, x], packed).unwrap();
            root.define_variable("fixed", Atomic::Int, &[x], plain()).unwrap();
        })
        .then(|writer| {
            let root = writer.root();
            let numbers: Vec<i32> = (0..30).collect();
            variable(&root, "fixed").write_as(&select([range(0, 30)]), &numbers).unwrap();
            variable(&root, "time").write_as(&select([range(0, 2)]), &[1.0_f64, 2.0]).unwrap();
            let speeds: Vec<f32> = (0..60).map(|number| number as f32).collect();
            let all = select([range(0, 2), range(0, 30)]);
            variable(&root, "speed").write_as(&all, &speeds).unwrap();
        })
        .then(|writer| {
            let group = writer.root().define_group("deep").unwrap().define_group("er").unwrap();
            let y = group.define_dimension("y", None).unwrap();
            let x = group.find_dimension("x").unwrap().unwrap();
            let counts = chunked(&[4, 30], &[FilterRequest::Fletcher32]);
            let count = group.define_variable("count", Atomic::Int64, &[y, x], counts).unwrap();
            count.write_as(&select([range(0, 3), range(0, 30)]), &[7_i64; 90]).unwrap();
            group.set_attribute("words", vec!["one".to_owned(), "two".to_owned()]).unwrap();
        })
        .then(|writer| {
            let root = writer.root();
            root.set_attribute("history", "x".repeat(3000).as_str()).unwrap();
            variable(&root, "time").set_attribute("calendar", "standard").unwrap();
            variable(&root, "speed").set_attribute("valid_range", vec![0.0_f32, 80.0]).unwrap();
        })
        .survives(1500);
}

/// Variables along `time`, with and without filters, strings among them.
fn define_records(writer: &Writer) {
    let root = writer.root();
    let time = root.define_dimension("time", None).unwrap();
    let x = root.define_dimension("x", Some(5)).unwrap();
    root.define_variable("time", Atomic::Double, &[time], chunked(&[4], &[])).unwrap();
    for name in ["a", "b", "c"] {
        root.define_variable(name, Atomic::Float, &[time, x], chunked(&[3, 5], &DEFLATE)).unwrap();
    }
    root.define_variable("name", Atomic::String, &[time], chunked(&[2], &[])).unwrap();
    root.set_attribute("count", 0).unwrap();
}

fn append_record(writer: &Writer, record: u64) {
    let root = writer.root();
    let here = range(record, 1);
    variable(&root, "time").write_as(&select([here.clone()]), &[record as f64]).unwrap();
    for name in ["a", "b", "c"] {
        let row = select([here.clone(), range(0, 5)]);
        variable(&root, name).write_as(&row, &[record as f32 + 0.5; 5]).unwrap();
    }
    let name = words([format!("record {record}")]);
    variable(&root, "name").write(&select([here]), &name).unwrap();
    root.set_attribute("count", record as i32 + 1).unwrap();
}

#[test]
fn records_of_several_variables() {
    Scenario::new(Format::NetCdf4).then(define_records).repeat(25, append_record).survives(2000);
}

#[test]
fn records_where_nothing_else_changes() {
    let user_block_bytes = 512;
    let format = Format::NetCdf4Classic;
    Scenario::created(CreateOptions { user_block_bytes, ..CreateOptions::new(format) })
        .then(|writer| {
            let root = writer.root();
            let time = root.define_dimension("time", None).unwrap();
            root.define_variable("v", Atomic::Int, &[time], chunked(&[16], &[])).unwrap();
        })
        .repeat(40, |writer, record| {
            let v = variable(&writer.root(), "v");
            v.write_as(&select([range(record, 1)]), &[record as i32]).unwrap();
        })
        .survives(1500);
}

#[test]
fn renaming_and_deleting() {
    Scenario::new(Format::NetCdf4)
        .then(|writer| {
            let root = writer.root();
            let x = root.define_dimension("x", Some(4)).unwrap();
            let time = root.define_dimension("time", None).unwrap();
            let axis = root.define_variable("x", Atomic::Int, &[x], plain()).unwrap();
            axis.write_as(&select([range(0, 4)]), &[1, 2, 3, 4]).unwrap();
            let value = root.define_variable("value", Atomic::Int, &[time, x], plain()).unwrap();
            value.write_as(&select([range(0, 2), range(0, 4)]), &[5; 8]).unwrap();
            value.set_attribute("a", 1).unwrap();
            value.set_attribute("b", 2).unwrap();
            root.define_variable("gone", Atomic::Double, &[x], plain()).unwrap();
            let group = root.define_group("group").unwrap();
            group.define_dimension("z", Some(2)).unwrap();
            group.define_group("below").unwrap().set_attribute("deep", "down").unwrap();
        })
        // A coordinate variable that stops being one.
        .then(|writer| variable(&writer.root(), "x").rename("position").unwrap())
        // A variable that becomes one.
        .then(|writer| {
            let x = writer.root().find_dimension("x").unwrap().unwrap();
            writer.rename_dimension(x, "position").unwrap();
        })
        .then(|writer| {
            let time = writer.root().find_dimension("time").unwrap().unwrap();
            writer.rename_dimension(time, "a much longer name of a dimension").unwrap();
        })
        .then(|writer| {
            let value = variable(&writer.root(), "value");
            value.rename_attribute("a", "c").unwrap();
            value.delete_attribute("b").unwrap();
        })
        .then(|writer| variable(&writer.root(), "gone").delete().unwrap())
        .then(|writer| writer.root().group("group").unwrap().unwrap().rename("other").unwrap())
        .then(|writer| variable(&writer.root(), "position").delete().unwrap())
        .then(|writer| writer.root().group("other").unwrap().unwrap().delete().unwrap())
        .then(|writer| variable(&writer.root(), "value").rename("last").unwrap())
        .survives(1500);
}

#[test]
fn dense_groups_and_attributes() {
    Scenario::new(Format::NetCdf4)
        .then(|writer| {
            writer.root().define_dimension("x", Some(2)).unwrap();
        })
        .repeat(3, |writer, part| {
            let root = writer.root();
            let x = root.find_dimension("x").unwrap().unwrap();
            for index in part * 70..(part + 1) * 70 {
                let options = VariableOptions { fill: Fill::None, ..plain() };
                let name = format!("variable_{index}");
                let new = root.define_variable(&name, Atomic::Int, &[x], options).unwrap();
                new.write_as(&select([range(0, 2)]), &[index as i32; 2]).unwrap();
                let values = vec![index as f64; 60];
                root.set_attribute(&format!("attribute_{index}"), values).unwrap();
            }
        })
        .then(|writer| {
            let root = writer.root();
            for index in (0..200).step_by(9) {
                variable(&root, &format!("variable_{index}")).delete().unwrap();
                root.delete_attribute(&format!("attribute_{index}")).unwrap();
            }
        })
        .then(|writer| {
            let root = writer.root();
            for index in (1..200).step_by(9) {
                let (from, to) = (format!("variable_{index}"), format!("renamed_{index}"));
                variable(&root, &from).rename(&to).unwrap();
                root.rename_attribute(&format!("attribute_{index}"), &to).unwrap();
            }
        })
        .survives(300);
}

#[test]
fn chunks_that_are_overwritten() {
    // A B-tree, a fixed array, an extensible array, a version-2 B-tree.
    for (layout, y, x) in [
        (Layout::Compatible, Some(20), None),
        (Layout::Latest, Some(20), Some(30)),
        (Layout::Latest, Some(20), None),
        (Layout::Latest, None, None),
    ] {
        println!("{layout:?} {y:?} {x:?}");
        Scenario::created(CreateOptions { layout, ..CreateOptions::default() })
            .then(move |writer| define_chunks(writer, y, x))
            .repeat(12, overwrite)
            .survives(400);
    }
}

/// Small arrays that are not in chunks: what a commit overwrites comes with it, or not at all.
#[test]
fn small_arrays_that_are_overwritten() {
    for layout in [None, Some(StorageKind::Compact)] {
        Scenario::new(Format::NetCdf4)
            .then(move |writer| {
                let root = writer.root();
                let x = root.define_dimension("x", Some(1000)).unwrap();
                let stored = || VariableOptions { layout, ..plain() };
                root.define_variable("count", Atomic::Int, &[], stored()).unwrap();
                root.define_variable("numbers", Atomic::Double, &[x], stored()).unwrap();
            })
            .repeat(8, |writer, round| {
                let root = writer.root();
                variable(&root, "count").write_as(&select([]), &[round as i32]).unwrap();
                let part = select([range(round * 50, 400)]);
                variable(&root, "numbers").write_as(&part, &[round as f64; 400]).unwrap();
            })
            .survives(400);
    }
}

/// What earlier sessions left free is used before there is a commit that says so.
#[test]
fn the_gaps_of_earlier_sessions() {
    for layout in [Layout::Compatible, Layout::Latest] {
        let options = CreateOptions { layout, ..CreateOptions::default() };
        let writer = options.create_in_memory("file").unwrap();
        define_chunks(&writer, Some(20), None);
        define_words(&writer);
        let mut bytes = writer.into_bytes().unwrap().unwrap();
        for round in 0..4 {
            let writer = EditOptions::default().open_bytes("file", bytes).unwrap();
            overwrite(&writer, round);
            overwrite_words(&writer, round);
            bytes = writer.into_bytes().unwrap().unwrap();
        }
        Scenario::of(bytes).repeat(4, overwrite).repeat(4, overwrite_words).survives(400);
    }
}

fn define_chunks(writer: &Writer, y: Option<u64>, x: Option<u64>) {
    let root = writer.root();
    let y = root.define_dimension("y", y).unwrap();
    let x = root.define_dimension("x", x).unwrap();
    let deflate = chunked(&[7, 5], &DEFLATE);
    root.define_variable("deflate", Atomic::Short, &[y, x], deflate).unwrap();
    let checked = chunked(&[20, 5], &[FilterRequest::Fletcher32]);
    root.define_variable("checked", Atomic::Short, &[y, x], checked).unwrap();
    let plain = chunked(&[3, 3], &[]);
    root.define_variable("plain", Atomic::Short, &[y, x], plain).unwrap();
}

fn overwrite(writer: &Writer, round: u64) {
    for name in ["deflate", "checked", "plain"] {
        let (rows, columns) = (1 + round * 7 % 19, 3 + round * 5 % 17);
        let first = round % (20 - rows + 1);
        let values: Vec<i16> =
            (0..rows * columns).map(|at| (at * at + round * 31) as i16).collect();
        let part = select([range(first, rows), range(round, columns)]);
        variable(&writer.root(), name).write_as(&part, &values).unwrap();
    }
}

#[test]
fn strings_that_are_overwritten() {
    Scenario::new(Format::NetCdf4).then(define_words).repeat(10, overwrite_words).survives(1000);
}

fn define_words(writer: &Writer) {
    let root = writer.root();
    let words = root.define_dimension("number of words", Some(4)).unwrap();
    root.define_variable("words", Atomic::String, &[words], chunked(&[3], &DEFLATE)).unwrap();
    root.define_variable("contiguous", Atomic::String, &[words], plain()).unwrap();
}

fn overwrite_words(writer: &Writer, round: u64) {
    let root = writer.root();
    let long = "long ".repeat(round as usize * 300);
    let values = words([format!("word {round}"), long]);
    let two = select([range(round % 3, 2)]);
    variable(&root, "words").write(&two, &values).unwrap();
    variable(&root, "contiguous").write(&two, &values).unwrap();
    root.set_attribute("words", vec![format!("attribute {round}")]).unwrap();
}

#[test]
fn classic_files() {
    for format in [Format::Classic, Format::Offset64Bit, Format::Data64Bit] {
        Scenario::new(format)
            .then(|writer| {
                let root = writer.root();
                let time = root.define_dimension("time", None).unwrap();
                let x = root.define_dimension("x", Some(5)).unwrap();
                root.define_variable("fixed", Atomic::Int, &[x], plain()).unwrap();
                root.define_variable("a", Atomic::Short, &[time, x], plain()).unwrap();
                root.define_variable("b", Atomic::Byte, &[time], plain()).unwrap();
            })
            .then(|writer| {
                let fixed = variable(&writer.root(), "fixed");
                fixed.set_attribute("units", "m").unwrap();
            })
            .repeat(20, |writer, record| {
                let root = writer.root();
                let row = select([range(record * 2, 1), range(0, 5)]);
                variable(&root, "a").write_as(&row, &[record as i16; 5]).unwrap();
                let one = select([range(record * 2 + 1, 1)]);
                variable(&root, "b").write_as(&one, &[record as i8]).unwrap();
            })
            .then(|writer| writer.root().set_attribute("title", "t").unwrap())
            .then(|writer| {
                writer.root().set_attribute("history", "long ".repeat(400).as_str()).unwrap();
            })
            .then(|writer| {
                let root = writer.root();
                let (time, x) = (root.find_dimension("time").unwrap().unwrap(), "x");
                let x = root.find_dimension(x).unwrap().unwrap();
                root.define_variable("new fixed", Atomic::Double, &[x], plain()).unwrap();
                root.define_variable("new", Atomic::Float, &[time, x], plain()).unwrap();
            })
            .then(|writer| {
                let row = select([range(40, 2), range(0, 5)]);
                variable(&writer.root(), "new").write_as(&row, &[0.5_f32; 10]).unwrap();
            })
            .then(|writer| {
                let x = writer.root().find_dimension("x").unwrap().unwrap();
                writer.rename_dimension(x, "a longer name").unwrap();
            })
            .then(|writer| variable(&writer.root(), "a").rename("the first").unwrap())
            .then(|writer| variable(&writer.root(), "fixed").delete().unwrap())
            .then(|writer| writer.root().delete_attribute("history").unwrap())
            .survives(700);
    }
}

/// Values that move by less than they are long, with and without space that is reserved for that.
#[test]
fn classic_values_that_move() {
    let reserved = HeaderRoom {
        header_free: 100,
        fixed_alignment: 512,
        fixed_free: 60,
        record_alignment: 256,
    };
    for format in [Format::Classic, Format::Offset64Bit, Format::Data64Bit] {
        for room in [HeaderRoom::default(), reserved] {
            Scenario { room, ..moving(format, 300) }.survives(250);
        }
    }
}

/// The same where they are more than is moved at once.
#[test]
fn large_classic_values_that_move() {
    // Some crashes of thousands are enough, each of which costs as much as all of a small file.
    let scenario = moving(Format::Offset64Bit, 700_000);
    let run = Run::new(&scenario, Durability::Power);
    let judged = run.judge(20, |see| run.recording.killed_images(see))
        + run.judge(20, |see| run.recording.power_loss_images(7, 1, see));
    assert!(judged > 20, "only {judged} crashes");
}

/// Fixed and record variables that have to make room, each time for another reason.
fn moving(format: Format, len: u64) -> Scenario {
    const FIXED: [(&str, Atomic); 3] =
        [("fixed 0", Atomic::Byte), ("fixed 1", Atomic::Short), ("fixed 2", Atomic::Byte)];
    fn define(writer: &Writer, name: &str, kind: Atomic, along: &str) {
        let root = writer.root();
        let dimension = root.find_dimension(along).unwrap().unwrap();
        root.define_variable(name, kind, &[dimension], plain()).unwrap();
    }
    fn append(writer: &Writer, names: &[&str], first: u64) {
        for name in names {
            let numbers: Vec<i32> = (0..5).map(|number| number * 3 + first as i32).collect();
            variable(&writer.root(), name).write_as(&select([range(first, 5)]), &numbers).unwrap();
        }
    }
    Scenario::new(format)
        .then(move |writer| {
            let root = writer.root();
            root.define_dimension("time", None).unwrap();
            root.define_dimension("x", Some(len)).unwrap();
            for (name, kind) in FIXED {
                define(writer, name, kind, "x");
            }
            // Records of one variable have no padding until there is another.
            define(writer, "record", Atomic::Byte, "time");
            for (index, (name, _)) in FIXED.into_iter().enumerate() {
                let most = 90 + index as i32;
                let numbers: Vec<i32> = (0..len as i32).map(|number| number % most).collect();
                variable(&root, name).write_as(&select([range(0, len)]), &numbers).unwrap();
            }
            append(writer, &["record"], 0);
        })
        .then(|writer| writer.root().set_attribute("title", "some bytes").unwrap())
        .then(|writer| define(writer, "another record", Atomic::Short, "time"))
        .then(|writer| append(writer, &["record", "another record"], 5))
        .then(|writer| define(writer, "fixed 3", Atomic::Double, "x"))
        .then(|writer| {
            variable(&writer.root(), "fixed 1").set_attribute("note", vec![7; 500]).unwrap();
        })
        .then(|writer| append(writer, &["another record"], 10))
        .then(|writer| variable(&writer.root(), "fixed 1").delete().unwrap())
        .then(|writer| variable(&writer.root(), "record").delete().unwrap())
        .then(|writer| variable(&writer.root(), "fixed 2").rename("a longer name").unwrap())
}

/// Changes of every kind to any file.
fn change_everything(bytes: Vec<u8>) -> Scenario {
    let names = |writer: &Writer| -> Vec<String> {
        let names = writer.file().root().variable_names().unwrap();
        let mut names: Vec<String> = names.iter().map(|name| name.to_string()).collect();
        names.sort_unstable();
        names
    };
    Scenario::of(bytes)
        .then(move |writer| {
            let root = writer.root();
            root.set_attribute("added", "to the root group").unwrap();
            for name in names(writer) {
                variable(&root, &name).set_attribute("added", vec![1, 2, 3]).unwrap();
            }
        })
        .then(|writer| {
            let root = writer.root();
            let is_hdf5 = writer.file().format().unwrap() == Format::NetCdf4;
            let new = root.define_dimension("new dimension", (!is_hdf5).then_some(3)).unwrap();
            root.define_variable("new", Atomic::Int, &[new], plain()).unwrap();
        })
        .then(|writer| {
            let new = variable(&writer.root(), "new");
            new.write_as(&select([range(0, 3)]), &[1, 2, 3]).unwrap();
        })
        .repeat(3, move |writer, round| {
            for variable in names(writer).iter().map(|name| variable(&writer.root(), name)) {
                append_to(&variable, round);
            }
        })
        .then(|writer| {
            let dimensions = writer.file().root().dimensions().unwrap();
            let first = dimensions.iter().map(|dimension| dimension.name()).min().unwrap();
            let found = writer.root().find_dimension(first).unwrap().unwrap();
            writer.rename_dimension(found, "another name of a dimension").unwrap();
        })
        .then(move |writer| {
            let first = &names(writer)[0];
            variable(&writer.root(), first).rename("another name").unwrap();
        })
        .then(|writer| {
            let root = writer.root();
            for index in 0..15 {
                let name = format!("scalar {index}");
                root.define_variable(&name, Atomic::Byte, &[], plain()).unwrap();
                root.set_attribute(&name, vec![index; 600]).unwrap();
            }
        })
        // Not the last variable along an unlimited dimension, whose length would be lost with it.
        .then(move |writer| {
            let root = writer.root();
            let mut fixed = names(writer).into_iter().filter(|name| {
                let dimensions = variable(&root, name).variable().unwrap().dimensions().unwrap();
                !dimensions.iter().any(isotach::Dimension::is_unlimited)
            });
            variable(&root, &fixed.next().unwrap()).delete().unwrap();
        })
}

/// Makes a variable of numbers along unlimited dimensions longer along the first.
fn append_to(variable: &VariableWriter, round: u64) {
    let found = variable.variable().unwrap();
    let shape = found.shape().unwrap();
    let dimensions = found.dimensions().unwrap();
    let is_number = found
        .data_type()
        .atomic()
        .is_some_and(|kind| !matches!(kind, Atomic::Char | Atomic::String));
    if is_number && dimensions.first().is_some_and(|first| first.is_unlimited()) {
        let rest = shape[1..].iter().map(|&len| range(0, len));
        let row = select([range(shape[0], 1)].into_iter().chain(rest));
        let numbers = vec![round as i32 + 60; row.element_count().unwrap() as usize];
        variable.write_as(&row, &numbers).unwrap();
    }
}

#[test]
fn files_of_other_libraries() {
    let Some(corpus) = corpus() else { return };
    for name in [
        "netcdf-rust/nc4_unlimited.nc",
        "netcdf-rust/nc4_classic_model.nc",
        "netcdf-rust/record_vars.nc",
        "netcdf-rust/same_size_dims.nc",
        "netcdf-c/ref_tst_irish_rover.nc",
        "netcdf-c/ref_hdf5_compat2.nc",
        "netcdf-c-4.9.0/test_unlim1.nc",
        "derived/nccopy_0_nc4.nc",
        "derived/nccopy_2_nc4c.nc",
    ] {
        println!("{name}");
        change_everything(std::fs::read(corpus.join(name)).unwrap()).survives(250);
    }
}

/// Version-1 and version-2 B-trees, fixed and extensible arrays, implicit indexes and single chunks,
/// and what of them is replaced, used again or deleted.
#[test]
fn chunk_indexes_of_other_libraries() {
    let Some(corpus) = corpus() else { return };
    for name in ["derived/chunks_earliest.h5", "derived/chunks_latest.h5"] {
        println!("{name}");
        Scenario::of(std::fs::read(corpus.join(name)).unwrap())
            // Dimensions that are made up get an object when they get a name.
            .then(|writer| {
                for (index, dimension) in
                    writer.file().root().dimensions().unwrap().iter().enumerate()
                {
                    let found = writer.root().find_dimension(dimension.name()).unwrap().unwrap();
                    writer.rename_dimension(found, &format!("dimension {index}")).unwrap();
                }
            })
            .repeat(4, |writer, round| {
                for found in writer.file().root().variables().unwrap() {
                    if found.storage().unwrap().kind == StorageKind::Contiguous {
                        continue;
                    }
                    let to = variable(&writer.root(), found.name());
                    let part = select([range(round, 2), range(round, 3)]);
                    to.write_as(&part, &[round as i32 + 1; 6]).unwrap();
                    append_to(&to, round);
                }
            })
            .then(|writer| {
                for found in writer.file().root().variables().unwrap().iter().step_by(2) {
                    variable(&writer.root(), found.name()).delete().unwrap();
                }
            })
            .repeat(3, |writer, round| {
                for found in writer.file().root().variables().unwrap() {
                    append_to(&variable(&writer.root(), found.name()), round);
                }
            })
            .survives(40);
    }
}

/// Closing a file whose disk is full from any write on, and what is found then.
#[test]
fn a_disk_that_is_full() {
    for (format, fault) in [(Format::NetCdf4, Fault::DiskFull), (Format::Classic, Fault::Broken)] {
        for writes in 0.. {
            let storage = Arc::new(FailingWrites::new(Vec::new()));
            let create =
                CreateOptions { edit: options(Durability::Power), ..CreateOptions::new(format) };
            let writer = create.create_in("full.nc", storage.clone()).unwrap();
            define_numbers(&writer);
            writer.commit().unwrap();
            let before = contents(&writer.file());
            storage.fail_after_writes(writes, fault);
            let outcome = append_numbers(&writer).and_then(|()| writer.commit());
            let closed = writer.clone().close();
            assert!(matches!(writer.commit().unwrap_err().kind, ErrorKind::Closed));
            drop(writer);
            storage.fail_after_writes(u64::MAX, fault);
            let found = contents(&opened(Arc::new(Memory::new(storage.take_bytes()))).unwrap());
            if outcome.is_ok() {
                assert_ne!(found, before, "after {writes} writes");
                if closed.is_ok() {
                    break;
                }
                continue;
            }
            for error in [outcome.unwrap_err(), closed.unwrap_err()] {
                assert!(error.to_string().contains("full.nc"), "{error}");
                let kind = match &error.kind {
                    ErrorKind::NotCommitted { source, .. } => &source.kind,
                    kind => kind,
                };
                assert!(matches!(kind, ErrorKind::Write { .. }), "{error}");
            }
            let begun = found != before;
            assert!(!begun || found.contains("[0, 1, 2, 3]"), "after {writes} writes: {found}");
        }
    }
}

fn define_numbers(writer: &Writer) {
    let root = writer.root();
    let time = root.define_dimension("time", None).unwrap();
    for name in ["a", "b"] {
        root.define_variable(name, Atomic::Int, &[time], plain()).unwrap();
    }
}

fn append_numbers(writer: &Writer) -> Result<()> {
    for name in ["a", "b"] {
        variable(&writer.root(), name).write_as(&select([range(0, 4)]), &[0, 1, 2, 3])?;
    }
    writer.root().set_attribute("title", "a title that makes the header longer")
}
