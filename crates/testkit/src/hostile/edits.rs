//! Whatever file is there, edited: attributes, definitions, values, names, deletions.
//!
//! ```text
//! length of the script (1 byte), the script, FNV-1a of the file (8 bytes, little-endian), the file
//! ```
//! Where the checksum is right, the file is one that a library wrote as netCDF, and editing it keeps its
//! promises: a call that is refused changes nothing, one that is not changes what it names and no more, and
//! what is seen while the file is open is what is in it once that is committed. A file that the fuzzer has changed
//! only has to be survived: its structures may lie one over the other.

use std::collections::BTreeMap;
use std::sync::Arc;

use isotach::model::selection::{Axis, Selection};
use isotach::model::{Atomic, DataType};
use isotach::storage::{GrowingMemory, Memory};
use isotach::{
    EditOptions, File, Group, GroupWriter, OpenOptions, Result, Variable, VariableOptions,
    VariableWriter, Writer,
};

use isotach_codec::Filter;

use super::plain_file::join;
use super::script::Script;
use super::whole_file::clipped;

const STEPS: usize = 16;
/// Groups and variables of a file that are looked at.
const OBJECTS: usize = 60;
/// Elements of a variable that are compared, and of one write.
const ELEMENTS: u64 = 64;
/// The most bytes that a file may come to: arrays that are not in chunks take all their space with the first
/// element that is written.
const FILE_BYTES: u64 = 64 << 20;
/// Bytes of one element, beyond which it is not read.
const ELEMENT_BYTES: usize = 1 << 12;
const NAMES: [&str; 6] =
    ["units", "new", "time", "é", "x", "a longer name than most of the others"];

/// What is to be seen in a file: what it is and its path, with all that it says.
pub(super) type View = BTreeMap<String, String>;

/// Edits a file by a script.
///
/// # Panics
/// Where one of the promises is broken.
pub fn edits(data: &[u8]) {
    let Some((script, checksum, file)) = parts(data) else { return };
    let is_whole = checksum == fnv(file).to_le_bytes();
    let options = EditOptions { commit_interval: None, ..EditOptions::default() };
    let Some((storage, writer)) = opened(&options, file.to_vec()) else { return };
    let mut edit = Edit { before: seen(&writer.file()).ok(), storage, writer, options, is_whole };
    let mut script = Script::new(script);
    for _ in 0..STEPS {
        if script.is_over() {
            break;
        }
        if edit.step(&mut script).is_none() {
            return;
        }
    }
    edit.reopen();
}

fn parts(data: &[u8]) -> Option<(&[u8], [u8; 8], &[u8])> {
    let (&len, rest) = data.split_first()?;
    let (script, rest) = rest.split_at_checked(len.into())?;
    let (checksum, file) = rest.split_first_chunk()?;
    Some((script, *checksum, file))
}

fn fnv(bytes: &[u8]) -> u64 {
    let step = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

fn opened(options: &EditOptions, bytes: Vec<u8>) -> Option<(Arc<GrowingMemory>, Writer)> {
    let storage = Arc::new(GrowingMemory::with_limit(bytes, FILE_BYTES));
    let writer = options.open_in("edited", Arc::clone(&storage) as _).ok()?;
    Some((storage, writer))
}

struct Edit {
    storage: Arc<GrowingMemory>,
    writer: Writer,
    options: EditOptions,
    is_whole: bool,
    /// What was seen last; `None` where the file cannot be listed.
    before: Option<View>,
}

/// Edits what a writer has open.
pub(super) struct Editor<'w> {
    pub(super) writer: &'w Writer,
}

/// What an edit may change: all that is at this path and below, and other things that hang on it.
#[derive(Debug)]
pub(super) enum Touched {
    /// The attributes of one group or variable.
    Attributes(String),
    /// The values of the variable at this path, and lengths where it grows.
    Values(String, bool),
    /// What begins with one of these.
    Below(Vec<String>),
    /// Lengths and values, too, of whatever shares a dimension.
    Anything,
}

impl Touched {
    fn covers(&self, what: &str) -> bool {
        match self {
            Self::Attributes(path) => what == format!("attributes {path}"),
            Self::Below(paths) => {
                let path = what.split_once(' ').map_or("", |(_, path)| path);
                paths.iter().any(|below| {
                    let rest = path.strip_prefix(below.as_str());
                    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
                })
            }
            // Other names may lead to it.
            Self::Values(..) | Self::Anything => true,
        }
    }

    /// The same where each variable has one name.
    pub(super) fn covers_by_name(&self, what: &str) -> bool {
        match self {
            Self::Values(path, false) => what == format!("values {path}"),
            other => other.covers(what),
        }
    }
}

impl Edit {
    /// One edit, or a commit; `None` where the file is lost, as a damaged one may be.
    fn step(&mut self, script: &mut Script<'_>) -> Option<()> {
        let kind = script.below(14);
        if kind == 13 {
            return self.commit();
        }
        let editor = Editor { writer: &self.writer };
        if let Some((outcome, touched)) = editor.edit(kind, script) {
            self.check(outcome, &touched);
        }
        Some(())
    }

    /// Holds what is seen now against what was seen before.
    fn check(&mut self, outcome: Result<()>, touched: &Touched) {
        let now = seen(&self.writer.file()).ok();
        if let (true, Some(before), Some(now)) = (self.is_whole, &self.before, &now) {
            for path in differences(before, now) {
                let (old, new) = (before.get(path), now.get(path));
                assert!(outcome.is_ok(), "a refused edit changed {path}: {old:?} to {new:?}");
                assert!(touched.covers(path), "an edit changed {path}: {old:?} to {new:?}");
            }
        }
        self.before = now;
    }

    /// Commits, and goes on with what is in the file then.
    fn commit(&mut self) -> Option<()> {
        let outcome = self.writer.commit();
        self.check(Ok(()), &Touched::Below(Vec::new()));
        assert!(!self.is_whole || outcome.is_ok(), "not committed: {outcome:?}");
        let bytes = self.reopen()?;
        (self.storage, self.writer) = opened(&self.options, bytes)?;
        Some(())
    }

    /// Closes; the bytes of the file, which a reader sees as they were seen before.
    fn reopen(&mut self) -> Option<Vec<u8>> {
        let closed = self.writer.clone().close();
        assert!(!self.is_whole || closed.is_ok(), "not closed: {closed:?}");
        closed.ok()?;
        let bytes = self.storage.take_bytes();
        let storage = Arc::new(Memory::new(bytes.clone()));
        let file = OpenOptions::default().open_storage("edited", storage);
        let found = file.and_then(|file| seen(&file));
        if let (true, Some(before)) = (self.is_whole, &self.before) {
            let found = found.unwrap_or_else(|error| panic!("after a commit: {error}"));
            if let Some(path) = differences(before, &found).next() {
                panic!("{path} was {:?} and is {:?}", before.get(path), found.get(path));
            }
        }
        Some(bytes)
    }
}

impl Editor<'_> {
    /// An edit of some kind, and what it may change; `None` where there is nothing for it.
    pub(super) fn edit(&self, kind: u64, script: &mut Script<'_>) -> Option<(Result<()>, Touched)> {
        let (groups, variables) = self.listed()?;
        let group = script.pick(&groups)?.clone();
        let variable = script.pick(&variables).cloned();
        let name = *script.pick(&NAMES)?;
        let new = join(&group, name);
        let owner = match &variable {
            Some(path) if script.one_of(2) => path.clone(),
            _ => group.clone(),
        };
        let is_variable = variable.as_ref() == Some(&owner);
        Some(match kind {
            0..3 => {
                let set = self.set_attribute(&owner, is_variable, name, script);
                (set, Touched::Attributes(owner))
            }
            3 => {
                let deleted = self.delete_attribute(&owner, is_variable, script);
                (deleted, Touched::Attributes(owner))
            }
            4 => {
                let len = (!script.one_of(3)).then(|| 1 + script.below(9));
                let defined = self.group(&group)?.define_dimension(name, len).map(drop);
                (defined, Touched::Below(vec![new]))
            }
            5 | 6 => {
                let defined = self.define_variable(&group, name, script);
                (defined, Touched::Below(vec![new]))
            }
            7 => {
                let defined = self.group(&group)?.define_group(name).map(drop);
                (defined, Touched::Below(vec![new]))
            }
            8..11 => {
                let path = variable?;
                let (written, grows) = self.write(&path, script)?;
                (written, Touched::Values(path, grows))
            }
            11 => {
                let old = variable?;
                let renamed = self.variable(&old)?.rename(name);
                let new = join(old.rsplit_once('/')?.0, name);
                (renamed, Touched::Below(vec![old, new]))
            }
            _ => (self.variable(&variable?)?.delete(), Touched::Anything),
        })
    }

    /// The paths of groups and of variables.
    fn listed(&self) -> Option<(Vec<String>, Vec<String>)> {
        let mut listed = (Vec::new(), Vec::new());
        walk(&self.writer.file().root(), &mut |group, variable| match variable {
            Some(variable) => listed.1.push(variable.path()),
            None => listed.0.push(group.path().to_owned()),
        })
        .ok()?;
        Some(listed)
    }

    fn group(&self, path: &str) -> Option<GroupWriter> {
        let mut names = path.split('/').filter(|name| !name.is_empty());
        names.try_fold(self.writer.root(), |group, name| group.group(name).ok()?)
    }

    fn variable(&self, path: &str) -> Option<VariableWriter> {
        let (group, name) = path.rsplit_once('/')?;
        self.group(group)?.variable(name).ok()?
    }

    fn set_attribute(
        &self,
        owner: &str,
        is_variable: bool,
        name: &str,
        script: &mut Script<'_>,
    ) -> Result<()> {
        let numbers =
            vec![script.below(256) as i32; [0, 1, 3, 40, 17_000][script.below(5) as usize]];
        match is_variable {
            true => self.variable(owner).map_or(Ok(()), |it| it.set_attribute(name, numbers)),
            false => self.group(owner).map_or(Ok(()), |it| it.set_attribute(name, numbers)),
        }
    }

    fn delete_attribute(
        &self,
        owner: &str,
        is_variable: bool,
        script: &mut Script<'_>,
    ) -> Result<()> {
        let file = self.writer.file();
        let attributes = match is_variable {
            true => file.variable(owner)?.attributes()?,
            false => file.group(owner)?.attributes()?,
        };
        let Some(attribute) = script.pick(&attributes) else { return Ok(()) };
        match is_variable {
            true => self.variable(owner).map_or(Ok(()), |it| it.delete_attribute(attribute.name())),
            false => self.group(owner).map_or(Ok(()), |it| it.delete_attribute(attribute.name())),
        }
    }

    /// Along up to two dimensions that the group has.
    fn define_variable(&self, group: &str, name: &str, script: &mut Script<'_>) -> Result<()> {
        let Some(writer) = self.group(group) else { return Ok(()) };
        let dimensions = self.writer.file().group(group)?.dimensions()?;
        let mut along = Vec::new();
        for _ in 0..script.below(3) {
            if let Some(dimension) = script.pick(&dimensions) {
                along.extend(writer.find_dimension(dimension.name())?);
            }
        }
        let kinds = [Atomic::Int, Atomic::Double, Atomic::Byte];
        let kind = *script.pick(&kinds).unwrap_or(&Atomic::Int);
        writer.define_variable(name, kind, &along, VariableOptions::default()).map(drop)
    }

    /// Writes numbers near the end of a variable, or beyond it along unlimited dimensions; `None` where it has
    /// none.
    fn write(&self, path: &str, script: &mut Script<'_>) -> Option<(Result<()>, bool)> {
        let writer = self.variable(path)?;
        let variable = writer.variable().ok()?;
        if !matches!(variable.data_type(), DataType::Atomic(kind) if *kind != Atomic::String) {
            return None;
        }
        // A chunk of which a part is written is decoded first.
        let filters = &variable.storage().ok()?.filters;
        if !filters.iter().all(|filter| can_apply(filter.id)) {
            return None;
        }
        let (mut left, mut grows) = (ELEMENTS, false);
        let dimensions = variable.dimensions().ok()?;
        let axes = dimensions.iter().map(|dimension| {
            let beyond = if dimension.is_unlimited() { script.below(4) } else { 0 };
            let end = dimension.len().ok()?.saturating_add(beyond);
            grows |= beyond > 0;
            let count = (1 + script.below(8)).min(end).min(left);
            left = (left / count.max(1)).max(1);
            Some(Axis::range(end - count, count, 1))
        });
        let selection = Selection { axes: axes.collect::<Option<_>>()? };
        let count = selection.element_count()?;
        let first = script.below(60);
        let numbers: Vec<f64> =
            (first..first + count).map(|number| (number % 100) as f64).collect();
        Some((writer.write_as(&selection, &numbers).map(drop), grows))
    }
}

fn can_apply(filter: u16) -> bool {
    Filter { id: filter, name: None, optional: false, parameters: Vec::new() }.can_encode()
}

/// Calls `see` with each group, and with each of its variables.
fn walk(root: &Group, see: &mut dyn FnMut(&Group, Option<&Variable>)) -> Result<()> {
    let (mut waiting, mut objects_left) = (vec![root.clone()], OBJECTS);
    while let Some(group) = waiting.pop() {
        see(&group, None);
        for name in group.variable_names()?.iter() {
            if let Some(variable) = group.variable(name)? {
                see(&group, Some(&variable));
            }
        }
        for name in group.group_names()?.iter() {
            waiting.extend(group.group(name)?);
        }
        objects_left = objects_left.saturating_sub(1);
        if objects_left == 0 {
            break;
        }
    }
    Ok(())
}

/// What is to be seen in a file; of what cannot be read, that it cannot. Dimensions that are made up for data sets
/// without any are left out, with what lies along them: they are others when lengths are.
pub(super) fn seen(file: &File) -> Result<View> {
    let mut view = View::new();
    walk(&file.root(), &mut |group, variable| match variable {
        Some(variable) => see_variable(variable, &mut view),
        None => see_group(group, &mut view),
    })?;
    Ok(view)
}

fn told<T: std::fmt::Debug>(result: Result<T>) -> String {
    result.map_or_else(|_| "unreadable".into(), |value| format!("{value:?}"))
}

fn see_group(group: &Group, view: &mut View) {
    let dimensions = group.dimensions();
    for dimension in dimensions.iter().flat_map(|all| all.iter()).filter(|one| !is_made_up(one)) {
        let about = (told(dimension.len()), dimension.is_unlimited());
        view.insert(format!("dimension {}", dimension.path()), format!("{about:?}"));
    }
    view.insert(format!("group {}", group.path()), String::new());
    view.insert(format!("attributes {}", group.path()), attributes(group.attributes()));
}

fn see_variable(variable: &Variable, view: &mut View) {
    let path = variable.path();
    view.insert(format!("attributes {path}"), attributes(variable.attributes()));
    if variable.dimensions().is_ok_and(|all| all.iter().any(is_made_up)) {
        return;
    }
    let along = variable.dimensions().map(|all| {
        let paths = all.iter().map(isotach::Dimension::path);
        paths.collect::<Vec<_>>()
    });
    let about = format!("{:?} along {}", variable.data_type(), told(along));
    view.insert(format!("variable {path}"), about);
    if variable.data_type().layout().size <= ELEMENT_BYTES {
        let values = variable.shape().and_then(|shape| {
            let from_the_end = clipped(&shape, ELEMENTS, -1);
            Ok((variable.read(&from_the_end)?, shape))
        });
        view.insert(format!("values {path}"), told(values));
    }
}

fn is_made_up(dimension: &isotach::Dimension) -> bool {
    dimension.name().starts_with("phony_dim_")
}

/// In the order of their names: not every file keeps another.
fn attributes(attributes: Result<Arc<[isotach::Attribute]>>) -> String {
    let all = attributes.map(|all| {
        let about = |attribute: &isotach::Attribute| {
            format!("{} {:?} {}", attribute.name(), attribute.data_type(), told(attribute.values()))
        };
        let mut all: Vec<String> = all.iter().map(about).collect();
        all.sort();
        all
    });
    told(all)
}

/// What is not in both as it is in the other.
pub(super) fn differences<'v>(one: &'v View, other: &'v View) -> impl Iterator<Item = &'v String> {
    let differs = |path: &&String| one.get(*path) != other.get(*path);
    let missing = other.keys().filter(|path| !one.contains_key(*path));
    one.keys().filter(differs).chain(missing)
}
