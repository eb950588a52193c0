//! Written files against a model in memory; interrupted at every write, they are what they were or
//! what they were to become.

use std::collections::BTreeMap;
use std::io;
use std::mem::MaybeUninit;

use isotach_format::classic::{Attribute, Dimension, ExternalType, Variable};
use proptest::prelude::*;

use super::*;
use crate::mapping::classic::fill;
use crate::storage::{Memory, past_end};

/// A storage that remembers what it was told.
#[derive(Default)]
struct Recorder {
    bytes: Mutex<Vec<u8>>,
    events: Mutex<Vec<Event>>,
}

#[derive(Debug, Clone)]
enum Event {
    Write(u64, Vec<u8>),
    SetLen(u64),
}

fn apply(bytes: &mut Vec<u8>, event: &Event) {
    match event {
        Event::Write(offset, written) => {
            let (at, end) = (*offset as usize, *offset as usize + written.len());
            bytes.resize(bytes.len().max(end), 0);
            bytes[at..end].copy_from_slice(written);
        }
        Event::SetLen(len) => bytes.resize(*len as usize, 0),
    }
}

impl Recorder {
    fn of(bytes: Vec<u8>) -> Arc<Self> {
        Arc::new(Self { bytes: Mutex::new(bytes), events: Mutex::default() })
    }

    fn bytes(&self) -> Vec<u8> {
        self.bytes.lock().unwrap().clone()
    }

    fn take_events(&self) -> Vec<Event> {
        std::mem::take(&mut self.events.lock().unwrap())
    }

    fn take(&self, event: Event) -> io::Result<()> {
        apply(&mut self.bytes.lock().unwrap(), &event);
        self.events.lock().unwrap().push(event);
        Ok(())
    }
}

impl Storage for Recorder {
    fn len(&self) -> io::Result<u64> {
        Ok(self.bytes.lock().unwrap().len() as u64)
    }

    fn read_at<'into>(
        &self,
        offset: u64,
        into: &'into mut [MaybeUninit<u8>],
    ) -> io::Result<&'into mut [u8]> {
        let bytes = self.bytes.lock().unwrap();
        let from = bytes.get(offset as usize..).and_then(|rest| rest.get(..into.len()));
        Ok(into.write_copy_of_slice(from.ok_or_else(past_end)?))
    }
}

impl WritableStorage for Recorder {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.take(Event::Write(offset, bytes.to_vec()))
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.take(Event::SetLen(len))
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

/// What a file is to hold: each variable's values in their order, by name.
#[derive(Debug, Clone, PartialEq, Default)]
struct Model {
    record_count: u64,
    attributes: Vec<Attribute>,
    values: BTreeMap<String, Vec<u8>>,
}

fn name() -> Arc<str> {
    "test.nc".into()
}

/// What a reader finds in these bytes; `None` where they are no file.
fn read(bytes: &[u8]) -> Option<Model> {
    let storage: Arc<dyn Storage> = Arc::new(Memory::new(bytes.to_vec()));
    let Committed { header, records, storage } =
        read_header(MetadataReader::new(name(), storage).ok()?).ok()?;
    let mut committed = Vec::new();
    crate::storage::uninit::read_vec(&*storage, 0, bytes.len(), &mut committed).unwrap();
    let bytes = &committed[..];
    let mut values = BTreeMap::new();
    for (variable, place) in header.variables.iter().zip(places(&header, &records, true)) {
        let mut found = Vec::new();
        for (address, length) in place.pieces(0..place.len(records.record_count)) {
            let inside = (address as usize).min(bytes.len())..;
            found.extend(
                bytes[inside].iter().copied().chain(std::iter::repeat(0)).take(length as usize),
            );
        }
        values.insert(variable.name.clone(), found);
    }
    let attributes = header.attributes.to_vec();
    Some(Model { record_count: records.record_count, attributes, values })
}

fn text(name: &str, length: usize) -> Attribute {
    Attribute {
        name: name.to_owned(),
        name_room: 0,
        external_type: ExternalType::Char,
        value_count: length as u64,
        value_bytes: vec![b'x'; length],
    }
}

/// Dimensions t (records), x (5), y (3); variables by name, dimension ids and type.
fn header(version: Version, variables: &[(String, Vec<usize>, ExternalType)]) -> Header {
    let dimension = |name: &str, length: u64| Dimension {
        name: name.to_owned(),
        name_room: 0,
        length,
        is_record: length == 0,
    };
    let variable = |(name, ids, external_type): &(String, Vec<usize>, ExternalType)| Variable {
        name: name.clone(),
        name_room: 0,
        dimension_ids: ids.clone(),
        attributes: Arc::default(),
        external_type: *external_type,
        is_record: ids.first() == Some(&0),
        stated_size_bytes: 0,
        begin: 0,
    };
    Header {
        version,
        record_count: RecordCount::Known(0),
        dimensions: vec![dimension("t", 0), dimension("x", 5), dimension("y", 3)],
        attributes: Arc::default(),
        variables: variables.iter().map(variable).collect(),
        size_bytes: 0,
    }
}

fn define(writer: &mut ClassicWriter, header: Header, sources: &[Option<usize>]) {
    let fill = vec![true; sources.len()];
    let spacing = Spacing::default();
    writer
        .define(Definition { header, sources, fill: &fill, fills_records: true, spacing })
        .unwrap();
}

fn new_variables(count: usize) -> Vec<Option<usize>> {
    vec![None; count]
}

fn two_records() -> Header {
    let of =
        |name: &str, ids: &[usize], external_type| (name.to_owned(), ids.to_vec(), external_type);
    let variables = [
        of("f", &[1], ExternalType::Short),
        of("r", &[0, 2], ExternalType::Byte),
        of("s", &[0], ExternalType::Int),
    ];
    header(Version::Cdf1, &variables)
}

#[test]
fn records_written_one_value_at_a_time_go_to_storage_together() {
    let storage = Recorder::of(Vec::new());
    let mut writer =
        ClassicWriter::create(&name(), Arc::clone(&storage) as Arc<_>, Durability::Process);
    let variables: Vec<_> =
        (0..50).map(|index| (format!("v{index}"), vec![0, 1], ExternalType::Short)).collect();
    define(&mut writer, header(Version::Cdf2, &variables), &new_variables(50));
    for record in 0..1000 {
        for variable in 0..50 {
            let axes = vec![Axis::range(record, 1, 1), Axis::all(5)];
            writer.write(variable, &Selection { axes }, &[variable as u8; 10]).unwrap();
        }
    }
    writer.commit().unwrap();
    assert_eq!(storage.take_events().len(), 2, "the values and the header");
    for record in 1000..1010 {
        for variable in 0..50 {
            let axes = vec![Axis::range(record, 1, 1), Axis::all(5)];
            writer.write(variable, &Selection { axes }, &[variable as u8; 10]).unwrap();
        }
        writer.commit().unwrap();
        let events = storage.take_events();
        assert!(matches!(&events[..], [Event::Write(_, values), Event::Write(4, count)]
            if values.len() == 600 && count.len() == 4));
    }
    let found = read(&storage.bytes()).unwrap();
    assert!((0..50).all(|index| found.values[&format!("v{index}")] == vec![index as u8; 10_100]));
}

#[test]
fn what_is_written_in_order_is_not_filled_first() {
    let storage = Recorder::of(Vec::new());
    let mut writer =
        ClassicWriter::create(&name(), Arc::clone(&storage) as Arc<_>, Durability::Process);
    let mut definition = header(Version::Cdf5, &[("v".into(), vec![1, 2], ExternalType::Double)]);
    definition.dimensions[1].length = 1000;
    definition.dimensions[2].length = 1000;
    define(&mut writer, definition, &new_variables(1));
    for row in 0..1000 {
        let axes = vec![Axis::range(row, 1, 1), Axis::all(1000)];
        writer.write(0, &Selection { axes }, &[row as u8; 8000]).unwrap();
    }
    writer.commit().unwrap();
    let written: usize = storage
        .take_events()
        .iter()
        .map(|event| match event {
            Event::Write(_, bytes) => bytes.len(),
            Event::SetLen(_) => 0,
        })
        .sum();
    assert!(written < 8_001_000, "{written} bytes");
}

#[test]
fn a_failed_write_can_be_made_again_and_the_count_of_records_is_last() {
    let storage = Recorder::of(Vec::new());
    let mut writer =
        ClassicWriter::create(&name(), Arc::clone(&storage) as Arc<_>, Durability::Power);
    define(&mut writer, two_records(), &new_variables(3));
    writer.commit().unwrap();
    storage.take_events();
    let axes = vec![Axis::range(2, 1, 1)];
    writer.write(2, &Selection { axes }, &[0, 0, 0, 7]).unwrap();
    writer.commit().unwrap();
    let found = read(&storage.bytes()).unwrap();
    assert_eq!(found.record_count, 3);
    assert_eq!(found.values["s"], [0x80, 0, 0, 1, 0x80, 0, 0, 1, 0, 0, 0, 7]);
    assert_eq!(found.values["r"], [0x81; 9]);
    let events = storage.take_events();
    assert!(matches!(events.last(), Some(Event::Write(4, count)) if *count == [0, 0, 0, 3]));
}

#[test]
fn the_values_of_a_write_that_was_given_up_are_gone() {
    let storage = Recorder::of(Vec::new());
    let mut writer =
        ClassicWriter::create(&name(), Arc::clone(&storage) as Arc<_>, Durability::Process);
    define(&mut writer, two_records(), &new_variables(3));
    writer.commit().unwrap();
    let committed = storage.bytes();
    writer.write(2, &Selection { axes: vec![Axis::range(4, 1, 1)] }, &[0; 4]).unwrap();
    writer.settle().unwrap();
    assert!(storage.bytes().len() > committed.len());
    writer.discard().unwrap();
    assert_eq!(storage.bytes(), committed);
}

/// A step of a random script.
#[derive(Debug, Clone)]
enum Step {
    Add { ids: Vec<usize>, external_type: ExternalType },
    Delete { which: usize },
    Attribute { length: usize },
    Write { which: usize, first: u64, count: u64, inner: Vec<(u64, u64, i64)>, seed: u8 },
    Commit,
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    let ids =
        prop::sample::select(vec![vec![], vec![1], vec![2, 1], vec![0], vec![0, 2], vec![0, 1, 2]]);
    let types = prop::sample::select(vec![
        ExternalType::Byte,
        ExternalType::Short,
        ExternalType::Int,
        ExternalType::Double,
    ]);
    let inner = prop::collection::vec((0..3u64, 1..=3u64, 1..=2i64), 3);
    prop_oneof![
        3 => (ids, types).prop_map(|(ids, external_type)| Step::Add { ids, external_type }),
        1 => (0..8usize).prop_map(|which| Step::Delete { which }),
        2 => (0..200usize).prop_map(|length| Step::Attribute { length }),
        6 => (0..8usize, 0..6u64, 1..3u64, inner, any::<u8>()).prop_map(
            |(which, first, count, inner, seed)| Step::Write { which, first, count, inner, seed }
        ),
        2 => Just(Step::Commit),
        1 => Just(Step::Reopen),
    ]
}

/// What a commit holds, and of each value whether it was ever put: others show what is put there before it is committed.
#[derive(Debug, Clone)]
struct State {
    model: Model,
    written: BTreeMap<String, Vec<bool>>,
}

impl State {
    fn is(&self, found: &Model) -> bool {
        let Model { record_count, attributes, values } = &self.model;
        let has = |(name, values): (&String, &Vec<u8>)| {
            let (written, found) = (&self.written[name], &found.values[name]);
            let mut each = values.iter().zip(found).zip(written);
            values.len() == found.len()
                && each.all(|((value, found), written)| !written || value == found)
        };
        (record_count, attributes) == (&found.record_count, &found.attributes)
            && values.keys().eq(found.values.keys())
            && values.iter().all(has)
    }
}

/// A file and the model of it.
struct Script {
    storage: Arc<Recorder>,
    writer: ClassicWriter,
    variables: Vec<(String, Vec<usize>, ExternalType)>,
    attributes: Vec<Attribute>,
    model: Model,
    written: BTreeMap<String, Vec<bool>>,
    version: Version,
    named: usize,
}

impl Script {
    fn new(version: Version) -> Self {
        let storage = Recorder::of(Vec::new());
        let writer =
            ClassicWriter::create(&name(), Arc::clone(&storage) as Arc<_>, Durability::Process);
        let (variables, attributes) = (Vec::new(), Vec::new());
        let mut script = Self {
            storage,
            writer,
            variables,
            attributes,
            model: Model::default(),
            written: BTreeMap::new(),
            version,
            named: 0,
        };
        script.define(&[]);
        script.writer.commit().unwrap();
        script
    }

    fn define(&mut self, sources: &[Option<usize>]) {
        let mut definition = header(self.version, &self.variables);
        definition.attributes = self.attributes.clone().into();
        self.model.attributes = self.attributes.clone();
        define(&mut self.writer, definition, sources);
    }

    fn state(&self) -> State {
        State { model: self.model.clone(), written: self.written.clone() }
    }

    fn same_sources(&self) -> Vec<Option<usize>> {
        (0..self.variables.len()).map(Some).collect()
    }

    fn lengths(ids: &[usize], record_count: u64) -> Vec<u64> {
        ids.iter().map(|&id| [record_count, 5, 3][id]).collect()
    }

    /// Makes the model's values as long as its records are many.
    fn reach(&mut self) {
        for (name, ids, external_type) in &self.variables {
            let lengths = Self::lengths(ids, self.model.record_count);
            let fill = fill::stored(
                &header(self.version, &[(name.clone(), ids.clone(), *external_type)]).variables[0],
            );
            let len = lengths.iter().product::<u64>() as usize * fill.len();
            let values = self.model.values.entry(name.clone()).or_default();
            let more = fill.iter().copied().cycle().take(len.saturating_sub(values.len()));
            values.extend(more);
            self.written.entry(name.clone()).or_default().resize(values.len(), false);
        }
    }

    fn run(&mut self, step: &Step) {
        match step {
            Step::Add { ids, external_type } => {
                let mut sources = self.same_sources();
                self.named += 1;
                self.variables.push((format!("v{}", self.named), ids.clone(), *external_type));
                sources.push(None);
                self.define(&sources);
            }
            Step::Delete { which } if *which < self.variables.len() => {
                let mut sources = self.same_sources();
                sources.remove(*which);
                let (name, ..) = self.variables.remove(*which);
                self.model.values.remove(&name);
                self.written.remove(&name);
                self.define(&sources);
            }
            Step::Attribute { length } => {
                self.attributes = vec![text("history", *length)];
                self.define(&self.same_sources());
            }
            Step::Write { which, first, count, inner, seed } if *which < self.variables.len() => {
                self.write(*which, (*first, *count), inner, *seed);
            }
            Step::Reopen => {
                self.writer.commit().unwrap();
                let storage = Arc::clone(&self.storage) as Arc<_>;
                self.writer = ClassicWriter::open(&name(), storage, Durability::Process).unwrap();
            }
            Step::Commit => self.writer.commit().unwrap(),
            Step::Delete { .. } | Step::Write { .. } => {}
        }
        self.reach();
    }

    fn write(&mut self, which: usize, records: (u64, u64), inner: &[(u64, u64, i64)], seed: u8) {
        let (name, ids, external_type) = self.variables[which].clone();
        let axis = |(&id, &(start, count, stride)): (&usize, &(u64, u64, i64))| match id {
            0 => Axis::range(records.0, records.1, 1),
            _ if start == 2 => Axis::all([0, 5, 3][id]),
            _ => Axis::range(
                start,
                count.min(([0, 5, 3][id] - start).div_ceil(stride as u64)),
                stride,
            ),
        };
        let selection = Selection { axes: ids.iter().zip(inner).map(axis).collect() };
        if ids.first() == Some(&0) {
            self.model.record_count = self.model.record_count.max(records.0 + records.1);
        }
        self.reach();
        let size = external_type.size_bytes() as usize;
        let count = selection.element_count().unwrap() as usize;
        let elements: Vec<u8> =
            (0..count * size).map(|at| seed.wrapping_add(at as u8).wrapping_mul(31)).collect();
        self.writer.write(which, &selection, &elements).unwrap();
        let lengths = Self::lengths(&ids, self.model.record_count);
        let values = self.model.values.get_mut(&name).unwrap();
        for (index, element) in elements.chunks(size).enumerate() {
            let (mut index, mut at, mut stride) = (index as u64, 0, 1);
            for (axis, length) in selection.axes.iter().zip(&lengths).rev() {
                at += axis.get(index % axis.len()).unwrap() * stride;
                index /= axis.len();
                stride *= length;
            }
            values[at as usize * size..][..size].copy_from_slice(element);
            self.written.get_mut(&name).unwrap()[at as usize * size..][..size].fill(true);
        }
    }
}

fn versions() -> impl Strategy<Value = Version> {
    prop::sample::select(vec![Version::Cdf1, Version::Cdf2, Version::Cdf5])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn random_scripts_leave_what_the_model_says(
        version in versions(),
        steps in prop::collection::vec(step(), 1..25),
    ) {
        let mut script = Script::new(version);
        for step in &steps {
            script.run(step);
        }
        script.writer.settle().unwrap();
        script.writer.commit().unwrap();
        prop_assert_eq!(read(&script.storage.bytes()).unwrap(), script.model);
        prop_assert!(pending(&script.storage.bytes()).is_none());
    }

    /// Every write that did not come about, wholly or in part, leaves the state of a commit.
    #[test]
    fn scripts_interrupted_anywhere_lose_nothing(
        version in versions(),
        before in prop::collection::vec(step(), 1..12),
        after in prop::collection::vec(step(), 1..6),
        together in any::<bool>(),
        torn in 0..100usize,
    ) {
        let mut script = Script::new(version);
        for step in &before {
            script.run(step);
        }
        script.writer.commit().unwrap();
        let mut bytes = script.storage.bytes();
        script.storage.take_events();
        let mut states = vec![script.state()];
        for step in &after {
            if together && matches!(step, Step::Commit | Step::Reopen) {
                continue;
            }
            script.run(step);
            if !together {
                script.writer.commit().unwrap();
                states.push(script.state());
            }
        }
        if together {
            let first = script.model.record_count;
            let of_records = |which: &usize| script.variables[*which].1.first() == Some(&0);
            for which in (0..script.variables.len()).filter(of_records).collect::<Vec<_>>() {
                script.run(&Step::Write { which, first, count: 2, inner: vec![(0, 1, 1); 3], seed: 7 });
            }
        }
        script.writer.commit().unwrap();
        states.push(script.state());
        for event in script.storage.take_events() {
            check(&bytes, &states)?;
            if let Event::Write(offset, written) = &event {
                let mut there = written.len() * torn / 100;
                let is_within = *offset > 0 && *offset + written.len() as u64 <= bytes.len() as u64;
                if is_within {
                    // Sectors of values that are overwritten are written or not.
                    there = there.saturating_sub((*offset as usize + there) % 512);
                }
                let mut half = bytes.clone();
                apply(&mut half, &Event::Write(*offset, written[..there].to_vec()));
                check(&half, &states)?;
            }
            apply(&mut bytes, &event);
        }
        check(&bytes, &states[states.len() - 1..])?;
    }

    /// Records that are appended are there when their count says so.
    #[test]
    fn appended_records_come_about_whole(
        version in versions(),
        firsts in prop::collection::vec((0..3usize, 0..3u64), 1..12),
    ) {
        let mut script = Script::new(version);
        for (ids, external_type) in [(vec![0, 2], ExternalType::Byte), (vec![0], ExternalType::Double), (vec![0, 1], ExternalType::Short)] {
            script.run(&Step::Add { ids, external_type });
        }
        script.writer.commit().unwrap();
        let mut bytes = script.storage.bytes();
        script.storage.take_events();
        let mut states = vec![script.state()];
        for (which, skipped) in firsts {
            let first = script.model.record_count + skipped;
            script.run(&Step::Write { which, first, count: 1, inner: vec![(2, 1, 1); 3], seed: 5 });
            script.writer.commit().unwrap();
            states.push(script.state());
        }
        for event in script.storage.take_events() {
            check(&bytes, &states)?;
            apply(&mut bytes, &event);
        }
        check(&bytes, &states[states.len() - 1..])?;
    }
}

/// The record at the end of these bytes.
fn pending(bytes: &[u8]) -> Option<Redo> {
    crate::mapping::classic::pending_redo(&name(), &Memory::new(bytes.to_vec())).unwrap()
}

/// That a reader finds one of these states, and so does who goes on writing.
fn check(bytes: &[u8], states: &[State]) -> std::result::Result<(), TestCaseError> {
    let found = read(bytes);
    let is_one = |found| states.iter().any(|state| state.is(found));
    prop_assert!(found.as_ref().is_some_and(is_one), "{:?}", found);
    let storage = Recorder::of(bytes.to_vec());
    let writer =
        ClassicWriter::open(&name(), Arc::clone(&storage) as Arc<_>, Durability::Process).unwrap();
    prop_assert!(storage.bytes() == bytes, "opening changed it");
    // The first write finishes what was interrupted.
    writer.storage().write_at(0, &[]).unwrap();
    prop_assert_eq!(read(&storage.bytes()), found);
    prop_assert!(pending(&storage.bytes()).is_none());
    Ok(())
}

/// Files that libnetcdf wrote: `tests/make_data.py classic-expected`.
macro_rules! expected {
    ($change:literal) => {
        [
            &include_bytes!(concat!("expected/", $change, "_cdf1.nc"))[..],
            &include_bytes!(concat!("expected/", $change, "_cdf2.nc"))[..],
            &include_bytes!(concat!("expected/", $change, "_cdf5.nc"))[..],
        ]
    };
}

/// The definition that these bytes have, with nothing but what a user says.
fn definition(bytes: &[u8]) -> Header {
    let mut header = Header::decode(bytes, bytes.len() as u64).unwrap();
    header.size_bytes = 0;
    for variable in &mut header.variables {
        (variable.begin, variable.stated_size_bytes) = (0, 0);
    }
    header
}

fn put(writer: &ClassicWriter, name: &str, axes: Vec<Axis>, elements: &[u8]) {
    let header = writer.header().unwrap();
    let index = header.variables.iter().position(|variable| variable.name == name).unwrap();
    writer.write(index, &Selection { axes }, elements).unwrap();
}

fn put_first(writer: &ClassicWriter) {
    put(writer, "fixed", vec![Axis::range(1, 2, 1)], &[0, 1, 0, 2]);
    put(writer, "records", vec![Axis::range(1, 1, 1), Axis::all(3)], &[4, 5, 6]);
}

fn put_later(writer: &ClassicWriter) {
    let floats: Vec<u8> = (0..5).flat_map(|value| (value as f32).to_be_bytes()).collect();
    put(writer, "later", vec![Axis::range(0, 1, 1), Axis::all(5)], &floats);
}

fn new_file() -> (Arc<Recorder>, ClassicWriter) {
    let storage = Recorder::of(Vec::new());
    let target = Arc::clone(&storage) as Arc<_>;
    (storage, ClassicWriter::create(&name(), target, Durability::Process))
}

#[test]
fn files_are_those_of_libnetcdf_byte_for_byte() {
    for (none, more) in expected!("none").into_iter().zip(expected!("more")) {
        let (storage, mut writer) = new_file();
        define(&mut writer, definition(none), &new_variables(4));
        put_first(&writer);
        put(&writer, "times", vec![Axis::range(2, 1, 1)], &[0, 0, 0, 7]);
        writer.commit().unwrap();
        assert_eq!(storage.bytes(), none);
        let again = Arc::clone(&storage) as Arc<_>;
        let mut writer = ClassicWriter::open(&name(), again, Durability::Process).unwrap();
        writer.commit().unwrap();
        assert_eq!(storage.bytes(), none, "nothing was changed");
        let sources = [Some(0), Some(1), Some(2), Some(3), None, None];
        define(&mut writer, definition(more), &sources);
        put_later(&writer);
        writer.commit().unwrap();
        assert_eq!(storage.bytes(), more);
    }
    for second in expected!("second") {
        let after = definition(second);
        let mut before = after.clone();
        before.attributes = before.attributes[..1].into();
        before.variables.truncate(2);
        let (storage, mut writer) = new_file();
        define(&mut writer, before, &new_variables(2));
        put_first(&writer);
        writer.commit().unwrap();
        define(&mut writer, after, &[Some(0), Some(1), None, None]);
        put_later(&writer);
        writer.commit().unwrap();
        assert_eq!(storage.bytes(), second);
    }
}

#[test]
fn an_image_that_cdf1_cannot_address_is_not_put_into_use() {
    let mut header = two_records();
    header.lay_out(None, &Spacing::default()).unwrap();
    let low = header.variables[0].begin;
    let last = header.variables[2].begin;
    let room = i32::MAX as u64 - last;
    let far = relocation::far_header(&header, low, room).unwrap();
    assert_eq!(far.variables[2].begin, i32::MAX as u64);
    assert_eq!(relocation::far_header(&header, low, room + 1), None);
    header.version = Version::Cdf2;
    assert!(relocation::far_header(&header, low, room + 1).is_some());
    let only_records = relocation::far_header(&header, last, 8).unwrap();
    assert_eq!(only_records.variables[2].begin, last + 8);
    assert_eq!(only_records.variables[0], header.variables[0]);
}
