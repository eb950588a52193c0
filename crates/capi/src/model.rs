//! What the ids of an open file mean: groups, dimensions, variables and types, in netCDF's order.
//!
//! Nothing is looked at before it is asked for. What was looked at stays, so that an id leads to its
//! variable without a search; names lead to ids.

mod attributes;
mod group;
mod heard;
mod ids;
mod types;
mod variable;

use std::borrow::Cow;
use std::collections::HashMap;
use std::ffi::{CString, c_int};
use std::sync::{Arc, MutexGuard, PoisonError, RwLockReadGuard, RwLockWriteGuard};

use isotach::model::Atomic;
use isotach::model::convert::{Misfit, Rules, convert};
use isotach::model::names;
use isotach::storage::Turn;
use isotach::sync::{Kept, Mutex, RwLock};
use isotach::{Dimension, DimensionHandle, ErrorKind, File, Format, HeaderRoom, Writer};

pub(crate) use attributes::AttributeList;
pub(crate) use group::{GroupNode, is_by_netcdf};
pub(crate) use types::{
    EnumMember, FIRST_USER_TYPE, FieldNode, LAST_ATOMIC, Names, TypeClass, TypeNode, are_alike,
    atomic, class, enum_value,
};
pub(crate) use variable::VariableNode;

use crate::boundary::checked;
use crate::file::mode::{Mode, NC_CLASSIC_MODEL, NC_SHARE};
use crate::file::{Edited, Memory};
use crate::handle;
use crate::status::{Outcome, Status};
use crate::variable::chunk_cache::ChunkCache;
use crate::variable::hand_over;

/// A file between `nc_open` or `nc_create` and `nc_close`.
pub(crate) struct OpenFile {
    /// The id of the file and its root group.
    pub(crate) id: c_int,
    /// The path as the caller gave it.
    pub(crate) path: CString,
    /// The flags that hold for it.
    pub(crate) mode: Mode,
    pub(crate) format: Format,
    /// Its writer, where it may be changed.
    pub(crate) writer: Option<Writer>,
    /// Its share in a file that this process changes: also where somebody else does and this one reads.
    pub(crate) edited: Option<Edited>,
    /// `None` on disk.
    pub(crate) memory: Option<Memory>,
    /// The chunk cache that its variables begin with.
    pub(crate) chunk_cache: ChunkCache,
    /// Held for writing while something is defined or the phase changes, for reading while values move.
    phase: RwLock<Phase>,
    /// What was defined since data mode.
    open_variables: Mutex<Vec<Arc<VariableNode>>>,
    /// By number; every group comes after the one above it, and after everything in the groups before.
    groups: Kept<Groups>,
    dimensions: RwLock<HashMap<c_int, DimensionNode>>,
    heard_lengths: heard::HeardLengths,
    types: RwLock<types::Types>,
    /// Held while the file is made to show another state.
    moving: Mutex<()>,
}

/// What may be done to a file at the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Phase {
    /// Define mode of a file that was just created.
    Creating,
    /// Define mode of a file that was there.
    Redefining {
        /// Whether what was there before is stored, so that `nc_abort` can go back to it.
        is_stored: bool,
    },
    /// Data mode.
    #[default]
    Data,
}

impl Phase {
    /// Goes to define mode from data mode.
    pub(crate) fn begin_definitions(&mut self) {
        if *self == Self::Data {
            *self = Self::Redefining { is_stored: false };
        }
    }
}

#[derive(Clone, Default)]
struct Groups {
    nodes: Vec<Arc<GroupNode>>,
    /// Whether all groups of the file are there, not only the root.
    is_complete: bool,
}

/// A dimension by its id.
#[derive(Clone)]
pub(crate) struct DimensionNode {
    /// Number of the group that defines it.
    pub(crate) group: u16,
    pub(crate) dimension: Dimension,
    /// For variables that are defined along it, where the file may be changed.
    pub(crate) handle: Option<DimensionHandle>,
}

impl OpenFile {
    /// A file that is only read; `edited` where this process changes it elsewhere.
    pub(crate) fn reading(
        path: CString,
        mode: Mode,
        file: &File,
        edited: Option<Edited>,
    ) -> Outcome<Self> {
        let root = GroupNode::root(file.root(), None);
        Ok(Self { edited, ..Self::new(path, mode, file.format()?, root) })
    }

    /// A file that may be changed.
    pub(crate) fn writing(
        path: CString,
        mode: Mode,
        edited: Edited,
        phase: Phase,
    ) -> Outcome<Self> {
        let writer = edited.writer.clone();
        let file = writer.file();
        let root = GroupNode::root(file.root(), Some(writer.root()));
        let opened = Self::new(path, mode, file.format()?, root);
        opened.set_defining(&writer, phase == Phase::Creating && opened.has_modes())?;
        let phase = RwLock::new(phase);
        Ok(Self { writer: Some(writer), edited: Some(edited), phase, ..opened })
    }

    fn new(path: CString, mode: Mode, format: Format, root: GroupNode) -> Self {
        let groups = Groups { nodes: vec![Arc::new(root)], is_complete: false };
        let format = match format {
            // Who says so cannot leave the classic model.
            Format::NetCdf4 if mode.has(NC_CLASSIC_MODEL) => Format::NetCdf4Classic,
            format => format,
        };
        Self {
            id: 0,
            path,
            mode: mode.of_format(format),
            format,
            writer: None,
            edited: None,
            memory: None,
            chunk_cache: ChunkCache::default(),
            phase: RwLock::new(Phase::Data),
            open_variables: Mutex::default(),
            groups: Kept::new(groups),
            dimensions: RwLock::default(),
            heard_lengths: heard::HeardLengths::default(),
            types: RwLock::default(),
            moving: Mutex::default(),
        }
    }

    pub(crate) fn in_memory(self, memory: Memory) -> Self {
        Self { memory: Some(memory), ..self }
    }

    /// Whether it was opened by that name.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        self.group(0).is_ok_and(|root| root.group().file().name() == name)
    }

    /// Asks those who write a file that is only read here for time.
    pub(crate) fn turn(&self) -> Option<Turn> {
        self.group(0).ok()?.group().file().turn()
    }

    /// Has a file that is only read show its newest state, where all ids that a program may have of it mean the same
    /// there; whether that is another state.
    ///
    /// # Errors
    /// `ESTALE` where they do not.
    pub(crate) fn move_on(&self) -> Outcome<bool> {
        if self.writer.is_some() || self.edited.is_some() {
            return Ok(false);
        }
        // One at a time: no older state takes the place of a newer one.
        let _only = self.moving.lock().unwrap_or_else(PoisonError::into_inner);
        let mut file = self.group(0)?.group().file().clone();
        if !file.refresh()? {
            return Ok(false);
        }
        let ids = self.known_ids()?;
        match ids.mean_the_same(&file) {
            Ok(true) => self.show(&file),
            Ok(false) => return Err(Status(libc::ESTALE)),
            // It has changed once more.
            Err(Status(libc::ESTALE)) => {}
            Err(status) => return Err(status),
        }
        Ok(true)
    }

    fn show(&self, file: &File) {
        let root = Arc::new(GroupNode::root(file.root(), None));
        let known = Groups { nodes: vec![root], is_complete: false };
        self.groups.change(|groups| groups.clone_from(&known));
        self.dimensions.write().unwrap_or_else(PoisonError::into_inner).clear();
        self.forget_types();
        handle::outdate();
    }

    /// Looks at a file anew that is only read: what others have stored by now is seen.
    pub(crate) fn refresh(&self) -> Outcome {
        let _only = self.moving.lock().unwrap_or_else(PoisonError::into_inner);
        let mut file = self.group(0)?.group().file().clone();
        let is_new = match file.refresh() {
            // A file that is gone stays as it was found.
            Err(error) if matches!(error.kind, ErrorKind::Open(_)) => false,
            refreshed => refreshed?,
        };
        if !is_new && self.edited.is_none() {
            return Ok(());
        }
        self.show(&file);
        Ok(())
    }

    pub(crate) fn with_id(self, id: c_int) -> Self {
        Self { id, ..self }
    }

    /// True for netCDF-4, false for classic files.
    pub(crate) fn is_hdf5(&self) -> bool {
        matches!(self.format, Format::NetCdf4 | Format::NetCdf4Classic)
    }

    /// How numbers convert, as netCDF-C does it where it was built as Debian builds it.
    pub(crate) fn rules(&self) -> Rules {
        let byte_is_either = !matches!(self.format, Format::Data64Bit | Format::NetCdf4);
        let misfit = if self.is_hdf5() { Misfit::SignedC } else { Misfit::C };
        Rules { misfit, byte_is_either }
    }

    /// Converts numbers that are to be stored; false where some are out of range. In classic files that is so for
    /// infinite floats that become doubles.
    ///
    /// # Errors
    /// `NC_EBADTYPE`, `NC_ECHAR` between what does not convert.
    pub(crate) fn convert(
        &self,
        source: &[u8],
        from: Atomic,
        target: &mut [u8],
        to: Atomic,
    ) -> Outcome<bool> {
        let report = convert(source, from, target, to, self.rules());
        let is_in_range = report.map_err(|_| Status::EBADTYPE)?.is_in_range();
        let is_finite = self.is_hdf5() || (from, to) != (Atomic::Float, Atomic::Double) || {
            let (numbers, _) = source.as_chunks();
            !numbers.iter().any(|&number| f32::from_ne_bytes(number).is_infinite())
        };
        Ok(is_in_range && is_finite)
    }

    /// True where define and data mode are kept apart: all formats but netCDF-4's full model.
    pub(crate) fn has_modes(&self) -> bool {
        self.format != Format::NetCdf4
    }

    /// The writer.
    ///
    /// # Errors
    /// `NC_EPERM` where the file was opened for reading.
    pub(crate) fn writer(&self) -> Outcome<&Writer> {
        self.writer.as_ref().ok_or(Status::EPERM)
    }

    /// The phase, which cannot change as long as the guard lives.
    pub(crate) fn phase(&self) -> RwLockReadGuard<'_, Phase> {
        self.phase.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The phase, to change it or to define something: no other call comes between.
    pub(crate) fn phase_mut(&self) -> RwLockWriteGuard<'_, Phase> {
        self.phase.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes sure that something may be defined now, and keeps other calls away. A netCDF-4 file in data
    /// mode goes to define mode by itself.
    ///
    /// # Errors
    /// `NC_EPERM`, `NC_ENOTINDEFINE`.
    pub(crate) fn defining(&self) -> Outcome<RwLockWriteGuard<'_, Phase>> {
        let mut phase = self.phase_mut();
        self.check_definable(*phase)?;
        phase.begin_definitions();
        Ok(phase)
    }

    /// Defines something, and goes to define mode as [`OpenFile::defining`] does where that works.
    ///
    /// # Errors
    /// Those of [`OpenFile::defining`] and of `make`.
    pub(crate) fn define<T>(&self, make: impl FnOnce() -> Outcome<T>) -> Outcome<T> {
        let mut phase = self.phase_mut();
        self.check_definable(*phase)?;
        let made = make()?;
        phase.begin_definitions();
        Ok(made)
    }

    fn check_definable(&self, phase: Phase) -> Outcome {
        self.writer()?;
        if self.has_modes() && phase == Phase::Data { Err(Status::ENOTINDEFINE) } else { Ok(()) }
    }

    /// The name that something is to have instead of its own.
    ///
    /// # Errors
    /// `NC_EINVAL` for NULL, `NC_EPERM`, `NC_EBADNAME`, `NC_EMAXNAME`; of classic files the second is the first.
    pub(crate) fn new_name<'a>(&self, name: Outcome<&'a str>) -> Outcome<Cow<'a, str>> {
        let name = match name {
            Err(Status::EINVAL) if self.is_hdf5() => return Err(Status::EINVAL),
            name => self.writer().and(name),
        };
        checked(name?)
    }

    /// That a name of a netCDF-4 file with modes does not become longer in data mode.
    ///
    /// # Errors
    /// `NC_ENOTINDEFINE` where it does.
    pub(crate) fn check_name_room(&self, phase: Phase, new: &str, old: &str) -> Outcome {
        let is_held = self.format == Format::NetCdf4Classic && phase == Phase::Data;
        if is_held && new.len() > old.len() { Err(Status::ENOTINDEFINE) } else { Ok(()) }
    }

    /// A name as it is looked up; `missing` is told where nothing is found.
    ///
    /// # Errors
    /// In netCDF-4 files `NC_EMAXNAME` for one that is too long and `NC_EBADNAME` for one that is no UTF-8; in
    /// classic files nothing is found by those.
    pub(crate) fn sought_name<'a>(
        &self,
        name: Outcome<&'a str>,
        missing: Status,
    ) -> Outcome<Cow<'a, str>> {
        let name = match name {
            Err(Status::EBADNAME) if !self.is_hdf5() => return Err(missing),
            name => names::normalized(name?),
        };
        match self.is_hdf5() && name.len() > names::MAX_NAME_BYTES {
            true => Err(Status::EMAXNAME),
            false => Ok(name),
        }
    }

    /// Makes sure that the file is in define mode, where that is kept apart.
    ///
    /// # Errors
    /// `NC_ENOTINDEFINE`, also for a file that is only read.
    pub(crate) fn check_define_mode(&self) -> Outcome {
        match self.has_modes() && *self.phase() == Phase::Data {
            true => Err(Status::ENOTINDEFINE),
            false => Ok(()),
        }
    }

    /// Makes sure that values may be moved now. A netCDF-4 file in define mode goes to data mode by itself.
    ///
    /// # Errors
    /// `NC_EINDEFINE`.
    pub(crate) fn moving_values(&self) -> Outcome<RwLockReadGuard<'_, Phase>> {
        loop {
            let phase = self.phase();
            if *phase == Phase::Data {
                return Ok(phase);
            }
            if self.has_modes() {
                return Err(Status::EINDEFINE);
            }
            drop(phase);
            self.end_definitions(&mut self.phase_mut(), HeaderRoom::default())?;
        }
    }

    /// Has the engine know that definitions belong together or not: then they are not stored in parts, else
    /// nothing moves for them in a classic file.
    pub(crate) fn set_defining(&self, writer: &Writer, is_defining: bool) -> Outcome {
        writer.hold_commits(is_defining);
        if !self.is_hdf5() {
            writer.hold_header(!is_defining)?;
        }
        Ok(())
    }

    /// Goes to data mode. A netCDF-4 file does so whatever fails, with all definitions but the one that cannot
    /// be; of that one the next call tells again.
    pub(crate) fn end_definitions(&self, phase: &mut Phase, room: HeaderRoom) -> Outcome {
        let types = self.commit_types();
        let ended = self.settle(room);
        if ended.is_ok() || self.is_hdf5() {
            self.set_defining(self.writer()?, false)?;
            *phase = Phase::Data;
        }
        types.and(ended)
    }

    /// Has the engine know all that was defined.
    fn settle(&self, room: HeaderRoom) -> Outcome {
        if self.format == Format::NetCdf4Classic {
            // The file says so from now on.
            self.writer()?.keep_to_classic_model()?;
        }
        let mut open_variables = self.open_variables();
        open_variables.iter().try_for_each(|variable| hand_over(variable))?;
        self.writer()?.end_definitions(room)?;
        open_variables.drain(..).for_each(|variable| variable.close());
        Ok(())
    }

    /// The variables that were defined since data mode.
    pub(crate) fn open_variables(&self) -> MutexGuard<'_, Vec<Arc<VariableNode>>> {
        self.open_variables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores what was changed, where others are to see that at once: of netCDF-4 files netCDF does not say so.
    pub(crate) fn share(&self) -> Outcome {
        match &self.writer {
            Some(writer) if self.mode.has(NC_SHARE) && !self.is_hdf5() => Ok(writer.commit()?),
            _ => Ok(()),
        }
    }

    /// The group of that number.
    ///
    /// # Errors
    /// `NC_EBADID`.
    pub(crate) fn group(&self, number: u16) -> Outcome<Arc<GroupNode>> {
        let find = |groups: &Groups| groups.nodes.get(usize::from(number)).cloned();
        let groups = self.groups.read();
        match find(&groups) {
            Some(found) => Ok(found),
            None if groups.is_complete => Err(Status::EBADID),
            None => {
                drop(groups);
                find(&*self.all_groups()?).ok_or(Status::EBADID)
            }
        }
    }

    /// What `look` makes of the group of that number, where it is known already. `look` must not wait.
    pub(crate) fn glance<T>(
        &self,
        number: u16,
        look: impl FnOnce(&GroupNode) -> Option<T>,
    ) -> Option<T> {
        let groups = self.groups.read();
        look(groups.nodes.get(usize::from(number))?)
    }

    /// The groups directly below a group, in order.
    pub(crate) fn groups_of(&self, parent: u16) -> Outcome<Vec<Arc<GroupNode>>> {
        let groups = self.all_groups()?;
        let below = groups.nodes.iter().filter(|node| node.parent == Some(parent));
        Ok(below.cloned().collect())
    }

    /// All groups by number.
    pub(crate) fn every_group(&self) -> Outcome<Vec<Arc<GroupNode>>> {
        Ok(self.all_groups()?.nodes.clone())
    }

    /// Takes in a group that `make` defines, once those before it have their numbers.
    pub(crate) fn add_group(
        &self,
        make: impl FnOnce(u16) -> Outcome<Option<Arc<GroupNode>>>,
    ) -> Outcome<Arc<GroupNode>> {
        drop(self.all_groups()?);
        let (mut make, mut made) = (Some(make), None);
        self.groups.change(|groups| {
            if let Some(make) = make.take() {
                let number = u16::try_from(groups.nodes.len()).map_err(|_| Status::ENOMEM);
                made = Some(number.and_then(make).and_then(|new| new.ok_or(Status::EINTERNAL)));
            }
            groups.nodes.extend(made.iter().flatten().cloned());
        });
        made.unwrap_or(Err(Status::EINTERNAL))
    }

    /// Numbers the groups the first time: each before those in it, and these before the next one.
    fn all_groups(&self) -> Outcome<RwLockReadGuard<'_, Groups>> {
        loop {
            let groups = self.groups.read();
            if groups.is_complete {
                return Ok(groups);
            }
            let root = Arc::clone(groups.nodes.first().ok_or(Status::EINTERNAL)?);
            drop(groups);
            let mut nodes = vec![Arc::clone(&root)];
            number_groups(&mut nodes, 0)?;
            let all = Groups { nodes, is_complete: true };
            self.groups.change(|groups| {
                // Not where somebody was faster, or the file shows another state by now.
                let is_the_same = groups.nodes.first().is_some_and(|it| Arc::ptr_eq(it, &root));
                if is_the_same && !groups.is_complete {
                    groups.clone_from(&all);
                }
            });
        }
    }

    /// The dimension of that id, of whichever group.
    ///
    /// # Errors
    /// `NC_EBADDIM`.
    pub(crate) fn dimension(&self, id: c_int) -> Outcome<DimensionNode> {
        let known = || {
            let dimensions = self.dimensions.read().unwrap_or_else(PoisonError::into_inner);
            dimensions.get(&id).cloned()
        };
        if let Some(found) = known() {
            return Ok(found);
        }
        // The root group has most of them; the others are asked only where it has not this one.
        self.learn_dimensions(&*self.group(0)?)?;
        if let Some(found) = known() {
            return Ok(found);
        }
        for group in self.every_group()? {
            self.learn_dimensions(&group)?;
        }
        known().ok_or(Status::EBADDIM)
    }

    /// Takes in a dimension that was just defined.
    pub(crate) fn add_dimension(&self, id: c_int, node: DimensionNode) {
        self.hear_none(id);
        let mut dimensions = self.dimensions.write().unwrap_or_else(PoisonError::into_inner);
        dimensions.insert(id, node);
    }

    /// Whether a variable, a group or a type of the group has that name, which only one of them can have.
    pub(crate) fn is_taken(&self, group: &GroupNode, name: &str) -> Outcome<bool> {
        if group.variable_id(name)?.is_some() {
            return Ok(true);
        }
        if !self.is_hdf5() {
            return Ok(false);
        }
        let is_being_defined = self.is_defining_type(group.number, name);
        let group = group.group();
        let is_there = group.types()?.iter().any(|user| user.name == name);
        Ok(is_being_defined || is_there || group.group(name)?.is_some())
    }

    /// The group, the one above it, and so on to the root.
    pub(crate) fn with_ancestors(
        &self,
        group: Arc<GroupNode>,
    ) -> impl Iterator<Item = Outcome<Arc<GroupNode>>> {
        let above = |group: &Outcome<Arc<GroupNode>>| {
            let parent = group.as_ref().ok()?.parent?;
            Some(self.group(parent))
        };
        std::iter::successors(Some(Ok(group)), above)
    }

    /// Looks at the dimensions of a group again, as when one of them was renamed.
    pub(crate) fn learn_dimensions(&self, group: &GroupNode) -> Outcome {
        let found = group.dimensions()?;
        let mut dimensions = self.dimensions.write().unwrap_or_else(PoisonError::into_inner);
        for dimension in found.iter() {
            let handle = match group.writer() {
                Some(writer) => writer.find_dimension(dimension.name())?,
                None => None,
            };
            let id = dimension.id()?;
            let (group, dimension) = (group.number, dimension.clone());
            dimensions.insert(id, DimensionNode { group, dimension, handle });
        }
        Ok(())
    }
}

fn number_groups(nodes: &mut Vec<Arc<GroupNode>>, parent: u16) -> Outcome {
    let Some(above) = nodes.get(usize::from(parent)).cloned() else { return Ok(()) };
    for name in above.group().group_names()?.iter() {
        let number = u16::try_from(nodes.len()).map_err(|_| Status::ENOMEM)?;
        let Some(node) = above.below(name, number)? else { continue };
        nodes.push(Arc::new(node));
        number_groups(nodes, number)?;
    }
    Ok(())
}
