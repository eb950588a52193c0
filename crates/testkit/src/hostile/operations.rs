//! Random operations on a file that is written, against lists that know nothing of files: what is seen
//! is always what was done, also when the file is opened anew, a write has failed, or the writer died.

use std::collections::HashSet;
use std::sync::Arc;

use isotach::model::selection::{Axis, Selection};
use isotach::model::{Atomic, Values};
use isotach::storage::{Durability, Memory, Storage, WritableStorage};
use isotach::{
    CreateOptions, DimensionHandle, EditOptions, Endianness, File, Fill, FilterRequest, Format,
    GroupWriter, Layout, OpenOptions, Result, StorageKind, VariableOptions, VariableWriter, Writer,
};

use super::plain_file::{
    Attributes, PlainDimension, PlainFile, PlainVariable, View, default_fill, join, positions,
    seen, string_of,
};
use super::script::Script;
use crate::{CrashImage, FailingWrites, Fault, RecordingStorage};

const STEPS: usize = 200;
/// So many of a kind are defined at most.
const GROUPS: usize = 6;
const DIMENSIONS: usize = 12;
const VARIABLES: usize = 14;
/// Up to here unlimited dimensions grow.
const LONGEST: u64 = 9;
/// Events of a recording, beyond which no crash of it is tried.
const EVENTS: usize = 300;

pub(super) const NAMES: [&str; 12] =
    ["a", "b", "c", "d", "e", "f", "x y", "é", "_z", "A", "long long long name", "9"];
const KINDS: [Atomic; 8] = [
    Atomic::Byte,
    Atomic::Short,
    Atomic::Int,
    Atomic::Float,
    Atomic::Double,
    Atomic::UByte,
    Atomic::Int64,
    Atomic::String,
];
const FORMATS: [(Format, Layout); 6] = [
    (Format::NetCdf4, Layout::Compatible),
    (Format::NetCdf4, Layout::Latest),
    (Format::NetCdf4Classic, Layout::Compatible),
    (Format::Classic, Layout::Compatible),
    (Format::Offset64Bit, Layout::Compatible),
    (Format::Data64Bit, Layout::Compatible),
];

/// A script of operations, the first byte the format.
///
/// # Panics
/// Where something is not as it was written, or is refused for no reason.
pub fn operations(data: &[u8]) {
    let mut script = Script::new(data);
    let mut run = Run::new(&mut script);
    for _ in 0..STEPS {
        if script.is_over() || run.step(&mut script).is_none() {
            return;
        }
    }
    run.commit();
}

/// Where the file is.
enum Medium {
    Failing(Arc<FailingWrites>),
    Recording(Arc<RecordingStorage>),
}

impl Medium {
    fn new(bytes: Vec<u8>, script: &mut Script<'_>) -> Self {
        match script.below(2) {
            0 => Self::Failing(Arc::new(FailingWrites::new(bytes))),
            _ => Self::Recording(Arc::new(RecordingStorage::new(bytes))),
        }
    }

    fn writable(&self) -> Arc<dyn WritableStorage> {
        match self {
            Self::Failing(storage) => storage.clone(),
            Self::Recording(storage) => storage.clone(),
        }
    }

    fn bytes(&self) -> Vec<u8> {
        let storage = self.writable();
        let mut bytes = Vec::with_capacity(storage.len().unwrap() as usize);
        storage.read_at(0, bytes.spare_capacity_mut()).map(|read| read.to_vec()).unwrap()
    }

    fn events(&self) -> usize {
        match self {
            Self::Failing(_) => 0,
            Self::Recording(storage) => storage.event_count(),
        }
    }
}

pub(super) struct Run {
    pub(super) format: Format,
    edit: EditOptions,
    medium: Medium,
    pub(super) writer: Writer,
    pub(super) plain: PlainFile,
    /// The states since the medium was new, each with how many events were over.
    committed: Vec<(usize, PlainFile)>,
}

impl Run {
    fn new(script: &mut Script<'_>) -> Self {
        let &(format, layout) = script.pick(&FORMATS).unwrap();
        let durability = [Durability::Process, Durability::Power][script.below(2) as usize];
        let edit = EditOptions { durability, commit_interval: None, ..EditOptions::default() };
        let is_hdf5 = matches!(format, Format::NetCdf4 | Format::NetCdf4Classic);
        let user_block_bytes = if is_hdf5 && script.one_of(8) { 512 } else { 0 };
        let create = CreateOptions {
            layout,
            user_block_bytes,
            edit: edit.clone(),
            ..CreateOptions::new(format)
        };
        let medium = Medium::new(Vec::new(), script);
        let writer = create.create_in("file", medium.writable()).unwrap();
        let events = medium.events();
        let plain = PlainFile::new();
        // A file is there, empty, as soon as it was created.
        let committed = vec![(events, plain.clone())];
        Self { format, edit, medium, writer, plain, committed }
    }

    /// One operation; `None` where the file is lost, as it may be.
    fn step(&mut self, script: &mut Script<'_>) -> Option<()> {
        match script.below(28) {
            0..3 => self.define_dimension(script),
            3..7 => self.define_variable(script),
            7 => self.define_group(script),
            8..14 => self.write(script),
            14..16 => self.set_attribute(script),
            16 => self.delete_attribute(script),
            17 => self.rename_attribute(script),
            18 => self.rename_dimension(script),
            19 => self.rename_variable(script),
            20 => self.rename_group(script),
            21 => self.delete_variable(script),
            22 => self.delete_group(script),
            23 => self.look(),
            24..26 => self.commit(),
            26 => self.reopen(script),
            _ => return self.interrupt(script),
        }
        Some(())
    }

    pub(super) fn is_hdf5(&self) -> bool {
        matches!(self.format, Format::NetCdf4 | Format::NetCdf4Classic)
    }

    pub(super) fn group(&self, path: &str) -> GroupWriter {
        let names = path.split('/').filter(|name| !name.is_empty());
        names.fold(self.writer.root(), |group, name| group.group(name).unwrap().unwrap())
    }

    pub(super) fn dimension(&self, index: usize) -> DimensionHandle {
        let dimension = &self.plain.dimensions[index];
        let group = self.group(dimension.group.as_ref().unwrap());
        group.find_dimension(&dimension.name).unwrap().unwrap()
    }

    pub(super) fn variable(&self, index: usize) -> VariableWriter {
        let variable = &self.plain.variables[index];
        self.group(&variable.group).variable(&variable.name).unwrap().unwrap()
    }

    pub(super) fn pick_group(&self, script: &mut Script<'_>) -> String {
        let paths: Vec<&String> = self.plain.groups.keys().collect();
        (*script.pick(&paths).unwrap()).clone()
    }

    pub(super) fn pick_variable(&self, script: &mut Script<'_>) -> Option<usize> {
        let count = self.plain.variables.len() as u64;
        (count > 0).then(|| script.below(count) as usize)
    }

    pub(super) fn has_dimension(&self, group: &str, name: &str) -> bool {
        let mut dimensions = self.plain.dimensions.iter();
        dimensions.any(|found| found.group.as_deref() == Some(group) && found.name == name)
    }

    pub(super) fn has_group(&self, group: &str, name: &str) -> bool {
        self.plain.groups.contains_key(&join(group, name))
    }

    pub(super) fn has_variable(&self, group: &str, name: &str) -> bool {
        self.plain.variables.iter().any(|found| found.group == group && found.name == name)
    }

    fn define_dimension(&mut self, script: &mut Script<'_>) {
        let (group, name) = (self.pick_group(script), *script.pick(&NAMES).unwrap());
        let len = (!script.one_of(3)).then(|| script.below(6));
        let mut dimensions = self.plain.dimensions.iter();
        let has_unlimited = dimensions.any(|found| found.group.is_some() && found.is_unlimited);
        if self.plain.dimensions.len() == DIMENSIONS {
            return;
        }
        let is_second_unlimited = len.is_none() && has_unlimited && self.format != Format::NetCdf4;
        let is_allowed = !self.has_dimension(&group, name)
            && !self.has_group(&group, name)
            && len != Some(0)
            && !is_second_unlimited;
        let defined = self.group(&group).define_dimension(name, len);
        if agree(&format!("dimension {name:?} of {len:?} in {group}"), defined, is_allowed) {
            let (is_unlimited, len) = (len.is_none(), len.unwrap_or(0));
            let dimension =
                PlainDimension { group: Some(group), name: name.into(), len, is_unlimited };
            self.plain.dimensions.push(dimension);
        }
    }

    /// Dimensions that a variable of the group can lie along.
    fn dimensions_for(&self, group: &str, script: &mut Script<'_>) -> Vec<usize> {
        let mut along = Vec::new();
        for _ in 0..script.below(4) {
            let is_in_scope = |&index: &usize| {
                let dimension = &self.plain.dimensions[index];
                let home = dimension.group.as_deref();
                let is_above = home.is_some_and(|home| {
                    group == home || home == "/" || group.starts_with(&format!("{home}/"))
                });
                // Along two axes of one growing dimension, a write would grow both.
                is_above && !(dimension.is_unlimited && along.contains(&index))
            };
            let choices: Vec<usize> =
                (0..self.plain.dimensions.len()).filter(is_in_scope).collect();
            along.extend(script.pick(&choices));
        }
        along
    }

    fn define_variable(&mut self, script: &mut Script<'_>) {
        let (group, name) = (self.pick_group(script), *script.pick(&NAMES).unwrap());
        let kinds = match self.format {
            Format::NetCdf4 => &KINDS[..],
            Format::Data64Bit => &KINDS[..7],
            _ => &KINDS[..5],
        };
        let &kind = script.pick(kinds).unwrap();
        let along = self.dimensions_for(&group, script);
        if self.plain.variables.len() == VARIABLES {
            return;
        }
        let unlimited = along.iter().map(|&index| self.plain.dimensions[index].is_unlimited);
        let has_unlimited = unlimited.clone().any(|unlimited| unlimited);
        let is_allowed = !self.has_variable(&group, name)
            && !self.has_group(&group, name)
            && (self.is_hdf5() || !unlimited.skip(1).any(|unlimited| unlimited));
        let mut options = VariableOptions::default();
        if self.is_hdf5() && !along.is_empty() {
            self.choose_storage(&along, has_unlimited, &mut options, script);
        }
        let fill = match kind {
            Atomic::Int if script.one_of(3) => {
                options.fill = Fill::Value(Values::I32(vec![77]));
                77.0
            }
            kind => default_fill(kind),
        };
        let is_chunked =
            has_unlimited || options.chunk_shape.is_some() || !options.filters.is_empty();
        let handles: Vec<_> = along.iter().map(|&index| self.dimension(index)).collect();
        let what = format!("{kind:?} {name:?} in {group} along {along:?}, {options:?}");
        let defined = self.group(&group).define_variable(name, kind, &handles, options);
        if agree(&what, defined, is_allowed) {
            let fixed = |&index: &usize| {
                let dimension = &self.plain.dimensions[index];
                if dimension.is_unlimited { 0 } else { dimension.len }
            };
            let extent = along.iter().map(fixed).collect();
            self.plain.variables.push(PlainVariable {
                group,
                name: name.into(),
                kind,
                dimensions: along,
                extent,
                fill,
                elements: Default::default(),
                attributes: Attributes::new(),
                shows_first: !self.is_hdf5() || !(is_chunked || kind == Atomic::String),
            });
        }
    }

    fn choose_storage(
        &self,
        along: &[usize],
        has_unlimited: bool,
        options: &mut VariableOptions,
        script: &mut Script<'_>,
    ) {
        let filters = [
            FilterRequest::Shuffle,
            FilterRequest::Deflate { level: 1 },
            FilterRequest::Fletcher32,
        ];
        options.filters = filters.into_iter().filter(|_| script.one_of(3)).collect();
        if !has_unlimited && options.filters.is_empty() && script.one_of(2) {
            let kinds = [StorageKind::Contiguous, StorageKind::Compact];
            options.layout = script.pick(&kinds).copied();
        } else if script.one_of(2) {
            let most = |&index: &usize| {
                let dimension = &self.plain.dimensions[index];
                if dimension.is_unlimited { 5 } else { dimension.len.max(1) }
            };
            let chunk = |index| 1 + script.below(most(index));
            options.chunk_shape = Some(along.iter().map(chunk).collect());
        }
        if script.one_of(4) {
            options.endianness = Some(Endianness::Big);
        }
    }

    fn define_group(&mut self, script: &mut Script<'_>) {
        let (parent, name) = (self.pick_group(script), *script.pick(&NAMES).unwrap());
        if self.plain.groups.len() == GROUPS {
            return;
        }
        let is_allowed = self.format == Format::NetCdf4
            && !self.has_dimension(&parent, name)
            && !self.has_group(&parent, name)
            && !self.has_variable(&parent, name);
        let defined = self.group(&parent).define_group(name);
        if agree(&format!("group {name:?} in {parent}"), defined, is_allowed) {
            self.plain.groups.insert(join(&parent, name), Attributes::new());
        }
    }

    fn write(&mut self, script: &mut Script<'_>) {
        let Some(index) = self.pick_variable(script) else { return };
        let variable = &self.plain.variables[index];
        let axes = variable.dimensions.iter().map(|&index| {
            let dimension = &self.plain.dimensions[index];
            axis(if dimension.is_unlimited { LONGEST } else { dimension.len }, script)
        });
        let selection = Selection { axes: axes.collect() };
        let first = script.below(100);
        let count = selection.element_count().unwrap();
        let numbers: Vec<f64> =
            (first..first + count).map(|number| (number % 120) as f64).collect();
        let handle = self.variable(index);
        let written = match variable.kind {
            Atomic::String => {
                let strings = numbers.iter().map(|&number| string_of(number)).collect();
                handle.write(&selection, &Values::String(strings))
            }
            _ => handle.write_as(&selection, &numbers),
        };
        agree(&format!("{selection} of {}", variable.name), written, true);
        if count > 0 {
            self.put(index, &selection, &numbers);
        }
    }

    /// What a write does to the lists.
    fn put(&mut self, index: usize, selection: &Selection, numbers: &[f64]) {
        let variable = &mut self.plain.variables[index];
        for (place, &number) in positions(&selection.shape()).iter().zip(numbers) {
            let axes = selection.axes.iter().zip(place);
            let position: Vec<u64> = axes.map(|(axis, &at)| axis.get(at).unwrap()).collect();
            for (extent, &at) in variable.extent.iter_mut().zip(&position) {
                *extent = (*extent).max(at + 1);
            }
            variable.elements.insert(position, number);
        }
        for (&dimension, &extent) in variable.dimensions.iter().zip(&variable.extent) {
            let dimension = &mut self.plain.dimensions[dimension];
            dimension.len = dimension.len.max(extent);
        }
    }

    /// What is seen while it is open for writing.
    fn look(&self) {
        assert_same("being written", &self.writer.file(), &self.plain);
    }

    fn commit(&mut self) {
        self.writer.commit().unwrap();
        self.committed.push((self.medium.events(), self.plain.clone()));
        assert_same("committed", &opened(self.medium.writable()).unwrap(), &self.plain);
        self.look();
    }

    fn reopen(&mut self, script: &mut Script<'_>) {
        self.writer.clone().close().unwrap();
        let bytes = self.medium.bytes();
        let file = opened(Arc::new(Memory::new(bytes.clone()))).unwrap();
        assert_same("closed", &file, &self.plain);
        self.open(bytes, script);
    }

    /// Goes on with these bytes.
    fn open(&mut self, bytes: Vec<u8>, script: &mut Script<'_>) {
        self.medium = Medium::new(bytes, script);
        self.writer = self.edit.open_in("file", self.medium.writable()).unwrap();
        self.committed = vec![(self.medium.events(), self.plain.clone())];
        self.look();
    }

    /// A write fails, or the writer is killed, or power is lost.
    fn interrupt(&mut self, script: &mut Script<'_>) -> Option<()> {
        if let Medium::Failing(storage) = &self.medium {
            let storage = Arc::clone(storage);
            storage.fail_after_writes(script.below(12), Fault::DiskFull);
            let outcome = self.writer.commit();
            let closed = self.writer.clone().close();
            storage.fail_after_writes(u64::MAX, Fault::DiskFull);
            if outcome.is_ok() && closed.is_ok() {
                self.committed.push((0, self.plain.clone()));
            }
            let last = self.committed.last()?.1.clone();
            return self.go_on(self.medium.bytes(), &[last, self.plain.clone()], script);
        }
        let Medium::Recording(storage) = &self.medium else { return None };
        let recording = storage.recording();
        let events = recording.events().len();
        if events > EVENTS {
            return Some(());
        }
        let (wanted, seed) = (script.below(256) as usize * (events + 1) / 256, script.below(256));
        let mut image = None;
        let mut keep = |found: &CrashImage| {
            if found.events == wanted && image.is_none() {
                image = Some(found.clone());
            }
        };
        match self.edit.durability {
            Durability::Power if seed % 2 == 0 => recording.power_loss_images(seed, 1, &mut keep),
            _ => recording.killed_images(&mut keep),
        }
        let image = image?;
        let next = self.committed.partition_point(|(events, _)| *events <= image.events);
        let range = next.checked_sub(1)?..=next.min(self.committed.len() - 1);
        let mut states: Vec<_> =
            self.committed[range].iter().map(|(_, state)| state.clone()).collect();
        // What was done since the last commit may be under way.
        states.push(self.plain.clone());
        let _ = self.writer.clone().discard();
        self.go_on(image.bytes, &states, script)
    }

    /// Goes on with what was left, in whichever of these states it is.
    fn go_on(
        &mut self,
        bytes: Vec<u8>,
        states: &[PlainFile],
        script: &mut Script<'_>,
    ) -> Option<()> {
        let file = opened(Arc::new(Memory::new(bytes.clone()))).unwrap();
        let shown = |state: &&PlainFile| seen(&file, &state.loose()).unwrap() == state.view(true);
        let Some(state) = states.iter().find(shown) else {
            let last = states.last()?;
            let found = seen(&file, &last.loose()).unwrap();
            panic!("interrupted: {}", difference(&found, &last.view(true)));
        };
        self.plain = state.clone();
        self.plain.adopt_loose(&file).unwrap();
        self.open(bytes, script);
        Some(())
    }
}

/// Some positions below `len`: in a row, with strides in both directions, or in any order.
fn axis(len: u64, script: &mut Script<'_>) -> Axis {
    let first = script.below(len);
    let left = len - first;
    match script.below(5) {
        0 => Axis::range(first, left.min(1), 1),
        1 => Axis::range(0, first + left.min(1), 1),
        2 => Axis::range(first, left.div_ceil(2), 2),
        3 => Axis::range(first, (first + left.min(1)).div_ceil(2), -2),
        _ => {
            let mut positions: Vec<u64> = (first..len).collect();
            let middle = script.below(left.max(1)) as usize;
            positions.rotate_left(middle);
            Axis::from_positions(positions)
        }
    }
}

/// Whether it was done; it is where it may be.
pub(super) fn agree<T>(what: &str, outcome: Result<T>, is_allowed: bool) -> bool {
    match outcome {
        Ok(_) => assert!(is_allowed, "{what}: should have been refused"),
        Err(error) => assert!(!is_allowed, "{what}: {error}"),
    }
    is_allowed
}

fn opened(storage: Arc<dyn Storage>) -> Result<File> {
    OpenOptions::default().open_storage("file", storage)
}

fn assert_same(when: &str, file: &File, plain: &PlainFile) {
    let found = seen(file, &HashSet::new()).unwrap_or_else(|error| panic!("{when}: {error}"));
    let expected = plain.view(false);
    assert!(found == expected, "{when}: {}", difference(&found, &expected));
}

/// The first thing that differs.
fn difference(found: &View, expected: &View) -> String {
    let paths = found.keys().chain(expected.keys());
    let differs = |path: &&String| found.get(*path) != expected.get(*path);
    let Some(path) = paths.into_iter().find(differs) else { return String::new() };
    format!("{path} is\n{:?}\ninstead of\n{:?}", found.get(path), expected.get(path))
}
