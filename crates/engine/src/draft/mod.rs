//! The model of a file that is being written: what it will be at the next commit.
//!
//! No I/O: everything that defines, renames, deletes or sets something changes the draft, `view` shows
//! it through the ordinary reading face, and a commit turns it into structures. Values do not go
//! through it; see `write`.
//!
//! ```text
//! Writer, GroupWriter, VariableWriter -> Draft -> write::hdf5 | write::classic -> the file
//!                                          \----> view -> File, Group, Variable, Attribute
//! ```

mod attributes;
mod definition;
mod existing;
mod members;
mod order;
mod rules;
pub(crate) mod view;

use std::collections::HashSet;
use std::sync::Arc;

use isotach_model::convert::Rules;
use isotach_model::{DataType, UserType};

pub(crate) use attributes::{AttributeList, DraftAttribute};
pub(crate) use definition::{AttributeOwner, FILL_VALUE};
use members::Members;

use crate::attribute::Attribute;
use crate::error::DefinitionFault;
use crate::file::{Format, LeftOut};
use crate::variable::Variable;
use crate::writer::VariableOptions;

/// What can be wrong with a definition; the caller knows the file's name.
pub(crate) type Defined<T> = std::result::Result<T, DefinitionFault>;

/// A group of the draft. 0 is the root group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct GroupId(pub(crate) usize);

/// A dimension of the draft.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct DimensionId(pub(crate) usize);

/// A variable of the draft.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct VariableId(pub(crate) usize);

/// A user-defined type of the draft.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct TypeId(pub(crate) usize);

/// Anything that has a name in a draft.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Item {
    Group(GroupId),
    Dimension(DimensionId),
    Type(TypeId),
    Variable(VariableId),
}

/// The root group.
pub(crate) const ROOT: GroupId = GroupId(0);

/// Everything that is in the file but the values of its variables.
pub(crate) struct Draft {
    /// Which of netCDF's formats it has; decides what may be defined.
    pub(crate) format: Format,
    /// `_NCProperties`, which cannot be changed; `None` where the file has none.
    properties: Option<Attribute>,
    /// Deleted ones leave a gap, so that an id never means something else.
    groups: Vec<Option<GroupDraft>>,
    /// How many groups the file had when it was opened.
    opened_groups: usize,
    dimensions: Vec<Option<DimensionDraft>>,
    variables: Vec<Option<VariableDraft>>,
    types: Vec<Option<TypeDraft>>,
    /// Number of the next dimension, netCDF's dimid.
    next_dimension_number: i32,
    /// Counts what is defined, over all kinds.
    next_creation: u64,
    /// What was defined since places among the links were given last.
    placeless: Vec<Item>,
    /// Whether the file, which was opened, has yet to say that it keeps to the classic model.
    pub(crate) joins_classic_model: bool,
    /// Whether variables that do not say have fill values, and in classic files records that come about.
    pub(crate) fills: bool,
    /// Whether the header of a classic file stays as large as it is.
    holds_header: bool,
    /// What differs from what was committed.
    touched: HashSet<Item>,
    /// What was defined or changed since definitions ended last.
    unsettled: HashSet<Item>,
    /// Counts changes of definitions; values and records do not count.
    revision: u64,
}

/// A group: names and what they stand for, each in the order of definition.
pub(crate) struct GroupDraft {
    pub(crate) name: Arc<str>,
    pub(crate) path: Arc<str>,
    pub(crate) parent: Option<GroupId>,
    pub(crate) creation: u64,
    pub(crate) attributes: AttributeList,
    pub(crate) dimensions: Members<DimensionId>,
    pub(crate) types: Members<TypeId>,
    pub(crate) variables: Members<VariableId>,
    pub(crate) groups: Members<GroupId>,
    /// Whether anything in it was defined, renamed or deleted since the file was opened.
    pub(crate) members_changed: bool,
    /// Whether only a soft or external link leads to it, or a second hard one: nothing can be changed
    /// in it.
    pub(crate) is_elsewhere: bool,
    /// The group that is the same object, where that is in the draft: what is said of the one is said of both.
    pub(crate) twin: Option<GroupId>,
    /// Names of links to what netCDF does not show.
    pub(crate) hidden_names: HashSet<Arc<str>>,
    /// What could not be shown of it when the file was opened, and why.
    pub(crate) left_out: Arc<[LeftOut]>,
}

/// A dimension.
pub(crate) struct DimensionDraft {
    pub(crate) name: Arc<str>,
    /// Bytes that a classic header keeps for the name, where they are more than its own.
    pub(crate) name_room: u64,
    pub(crate) group: GroupId,
    pub(crate) creation: u64,
    /// Present length; of an unlimited dimension that of the longest variable along it.
    pub(crate) len: u64,
    pub(crate) is_unlimited: bool,
    /// netCDF's dimid.
    pub(crate) number: i32,
    /// Whether the file is to tell it. One that tells those of some dimensions only is as good as
    /// broken: what has none is counted.
    pub(crate) is_numbered: bool,
    /// True where the file has no object for it: libnetcdf makes dimensions up for plain HDF5 files.
    pub(crate) is_made_up: bool,
    /// True for such a one that netCDF does not show.
    pub(crate) is_foreign: bool,
    /// True for one whose object is elsewhere.
    pub(crate) is_elsewhere: bool,
}

/// Which object a variable is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// One of its own.
    Own,
    /// That of another variable: more than one link leads to it.
    Twin(VariableId),
    /// One to which only a link in or to another file leads.
    Elsewhere,
}

/// A user-defined type.
pub(crate) struct TypeDraft {
    /// True where the file has the type without a name, and one was made up.
    pub(crate) is_made_up: bool,
    pub(crate) creation: u64,
    pub(crate) user: Arc<UserType>,
}

/// A variable.
pub(crate) struct VariableDraft {
    pub(crate) name: Arc<str>,
    /// Bytes that a classic header keeps for the name, where they are more than its own.
    pub(crate) name_room: u64,
    pub(crate) group: GroupId,
    pub(crate) creation: u64,
    pub(crate) data_type: DataType,
    pub(crate) dimensions: Vec<DimensionId>,
    pub(crate) attributes: AttributeList,
    /// How it shall be stored; without effect on one that is in the file already.
    pub(crate) options: VariableOptions,
    /// How far its own elements reach along each dimension: at most the dimensions' lengths.
    pub(crate) extent: Vec<u64>,
    /// How far they can reach, where the file says so: one that was opened may lie along an unlimited
    /// dimension and not grow.
    pub(crate) limits: Option<Vec<u64>>,
    /// The same variable in the file that was opened; `None` for one defined since.
    pub(crate) origin: Option<Variable>,
    /// Which object it is.
    pub(crate) place: Place,
}

impl Draft {
    /// An empty file of this format.
    pub(crate) fn new(format: Format) -> Self {
        let root = GroupDraft::new("/".into(), "/".into(), None, 0);
        Self {
            format,
            properties: DraftAttribute::properties(format),
            groups: vec![Some(root)],
            opened_groups: 1,
            dimensions: Vec::new(),
            variables: Vec::new(),
            types: Vec::new(),
            next_dimension_number: 0,
            next_creation: 1,
            placeless: Vec::new(),
            joins_classic_model: false,
            fills: true,
            holds_header: false,
            touched: HashSet::from([Item::Group(ROOT)]),
            unsettled: HashSet::new(),
            revision: 0,
        }
    }

    /// A group that was not deleted.
    pub(crate) fn group(&self, id: GroupId) -> Defined<&GroupDraft> {
        let found = self.groups.get(id.0).and_then(Option::as_ref);
        found.ok_or(DefinitionFault::Deleted { what: "group" })
    }

    /// The group that has the members of a group: it itself, or the one that is the same object.
    pub(crate) fn with_members_of(&self, id: GroupId) -> Defined<&GroupDraft> {
        let group = self.group(id)?;
        let twin = group.twin.and_then(|twin| self.group(twin).ok());
        Ok(twin.unwrap_or(group))
    }

    /// The groups in a group. In one that is the object of another they are those of that one which were
    /// shown when the file was opened (never those that lead around in a circle), and all that came since.
    pub(crate) fn groups_in(&self, id: GroupId) -> Defined<Vec<(&Arc<str>, GroupId)>> {
        let all = self.with_members_of(id)?.groups.iter();
        Ok(all.filter_map(|(name, &below)| Some((name, self.shown_in(id, name, below)?))).collect())
    }

    /// The group `name` in a group.
    pub(crate) fn group_in(&self, id: GroupId, name: &str) -> Defined<Option<GroupId>> {
        let below = self.with_members_of(id)?.groups.get(name);
        Ok(below.and_then(|&below| self.shown_in(id, name, below)))
    }

    /// What `group` shows for a group that its object has under this name.
    fn shown_in(&self, group: GroupId, name: &str, below: GroupId) -> Option<GroupId> {
        let group = self.group(group).ok()?;
        if group.groups.get(name) == Some(&below) || below.0 >= self.opened_groups {
            return Some(below);
        }
        let object_of = |id: GroupId| self.group(id).ok()?.twin;
        let object = object_of(below).unwrap_or(below);
        let is_same = |own: &GroupId| object_of(*own) == Some(object);
        let by_name = group.groups.get(name).copied();
        let own = by_name.filter(is_same).or_else(|| group.groups.values().copied().find(is_same));
        // What is in another file is known by its name alone.
        own.or_else(|| by_name.filter(|&own| object_of(own).is_none()))
    }

    /// A dimension that was not deleted.
    pub(crate) fn dimension(&self, id: DimensionId) -> Defined<&DimensionDraft> {
        let found = self.dimensions.get(id.0).and_then(Option::as_ref);
        found.ok_or(DefinitionFault::Deleted { what: "dimension" })
    }

    /// A variable that was not deleted.
    pub(crate) fn variable(&self, id: VariableId) -> Defined<&VariableDraft> {
        let found = self.variables.get(id.0).and_then(Option::as_ref);
        found.ok_or(DefinitionFault::Deleted { what: "variable" })
    }

    /// A type that was not deleted.
    pub(crate) fn user_type(&self, id: TypeId) -> Defined<&TypeDraft> {
        let found = self.types.get(id.0).and_then(Option::as_ref);
        found.ok_or(DefinitionFault::Deleted { what: "type" })
    }

    /// Whether the file tells the numbers of all its dimensions.
    fn numbers_dimensions(&self) -> bool {
        self.dimensions().all(|(_, dimension)| dimension.is_made_up || dimension.is_numbered)
    }

    /// The variable whose object it is.
    pub(crate) fn owner(&self, id: VariableId) -> VariableId {
        match self.variable(id).map(|variable| variable.place) {
            Ok(Place::Twin(owner)) => owner,
            _ => id,
        }
    }

    /// All variables with their ids, in the order of their definition.
    pub(crate) fn variables(&self) -> impl Iterator<Item = (VariableId, &VariableDraft)> {
        let numbered = self.variables.iter().enumerate();
        numbered.filter_map(|(index, variable)| Some((VariableId(index), variable.as_ref()?)))
    }

    /// All dimensions with their ids, in the order of their definition.
    pub(crate) fn dimensions(&self) -> impl Iterator<Item = (DimensionId, &DimensionDraft)> {
        let numbered = self.dimensions.iter().enumerate();
        numbered.filter_map(|(index, dimension)| Some((DimensionId(index), dimension.as_ref()?)))
    }

    /// The group, the one above it, and so on to the root.
    pub(crate) fn with_ancestors(&self, id: GroupId) -> impl Iterator<Item = GroupId> {
        let above = |id: &GroupId| self.group(*id).ok()?.parent;
        std::iter::successors(Some(id), above)
    }

    /// The dimension `name` of the group or the nearest above it that has one.
    pub(crate) fn find_dimension(&self, group: GroupId, name: &str) -> Option<DimensionId> {
        self.with_ancestors(group)
            .find_map(|group| self.with_members_of(group).ok()?.dimensions.get(name).copied())
    }

    /// The draft's number of a user-defined type, known by its name and group.
    pub(crate) fn find_type(&self, user: &UserType) -> Option<TypeId> {
        let group = self.find_group(&user.group)?;
        self.group(group).ok()?.types.get(user.name.as_str()).copied()
    }

    /// The group at a path from the root.
    pub(crate) fn find_group(&self, path: &str) -> Option<GroupId> {
        let mut names = path.split('/').filter(|name| !name.is_empty());
        names.try_fold(ROOT, |group, name| self.group(group).ok()?.groups.get(name).copied())
    }

    /// Present lengths of a variable's dimensions.
    pub(crate) fn shape(&self, variable: &VariableDraft) -> Defined<Vec<u64>> {
        variable.dimensions.iter().map(|&id| Ok(self.dimension(id)?.len)).collect()
    }

    /// Whether a variable lies along an unlimited dimension first, as those do that classic files store by record.
    pub(crate) fn is_record(&self, variable: &VariableDraft) -> bool {
        let first = variable.dimensions.first();
        first.is_some_and(|&id| self.dimension(id).is_ok_and(|first| first.is_unlimited))
    }

    /// How far a variable's elements can reach along each dimension.
    pub(crate) fn limits(&self, variable: &VariableDraft) -> Defined<Vec<u64>> {
        let limit = |&id| {
            let dimension = self.dimension(id)?;
            Ok(if dimension.is_unlimited { u64::MAX } else { dimension.len })
        };
        match &variable.limits {
            Some(limits) => Ok(limits.clone()),
            None => variable.dimensions.iter().map(limit).collect(),
        }
    }

    /// What was defined or changed since the last commit, and groups from which something was deleted.
    pub(crate) fn touched(&self) -> &HashSet<Item> {
        &self.touched
    }

    /// Says that what is in the draft is in the file now.
    pub(crate) fn mark_committed(&mut self) {
        self.touched.clear();
    }

    /// Restricts a netCDF-4 file to the classic model.
    pub(crate) fn keep_to_classic_model(&mut self) {
        if self.format == Format::NetCdf4 {
            self.format = Format::NetCdf4Classic;
            self.joins_classic_model = true;
            self.touch(Item::Group(ROOT));
        }
    }

    /// Says that definitions ended: what stands behind others from now on shows by what is changed after this.
    pub(crate) fn settle(&mut self) {
        self.give_places();
        for item in std::mem::take(&mut self.unsettled) {
            let list = match item {
                Item::Group(id) => self
                    .groups
                    .get_mut(id.0)
                    .and_then(Option::as_mut)
                    .map(|group| &mut group.attributes),
                Item::Variable(id) => self
                    .variables
                    .get_mut(id.0)
                    .and_then(Option::as_mut)
                    .map(|variable| &mut variable.attributes),
                Item::Dimension(_) | Item::Type(_) => None,
            };
            list.into_iter().for_each(AttributeList::settle);
        }
    }

    /// By which of netCDF's rules numbers convert.
    pub(crate) fn rules(&self) -> Rules {
        match self.format {
            Format::Classic | Format::Offset64Bit => Rules::CLASSIC,
            Format::Data64Bit => Rules::CLASSIC_64BIT_DATA,
            Format::NetCdf4 => Rules::NETCDF4,
            Format::NetCdf4Classic => Rules::NETCDF4_CLASSIC,
        }
    }

    /// Tells definitions apart: another number after every change of one.
    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }

    fn touch(&mut self, item: Item) {
        self.touched.insert(item);
        self.unsettled.insert(item);
        self.revision += 1;
    }

    fn next_creation(&mut self) -> u64 {
        self.next_creation += 1;
        self.next_creation - 1
    }

    /// Counts an item that is being defined.
    fn create(&mut self, item: Item) -> u64 {
        self.touch(item);
        self.placeless.push(item);
        self.next_creation()
    }
}

impl GroupDraft {
    fn new(name: Arc<str>, path: Arc<str>, parent: Option<GroupId>, creation: u64) -> Self {
        Self {
            name,
            path,
            parent,
            creation,
            attributes: AttributeList::default(),
            dimensions: Members::default(),
            types: Members::default(),
            variables: Members::default(),
            groups: Members::default(),
            members_changed: false,
            is_elsewhere: false,
            twin: None,
            hidden_names: HashSet::new(),
            left_out: Arc::default(),
        }
    }

    /// The path of what is called `name` in this group.
    pub(crate) fn path_of(&self, name: &str) -> String {
        path_below(&self.path, name)
    }

    /// What kind of thing `name` stands for; dimensions share their names with variables.
    fn kind_of(&self, name: &str) -> Option<&'static str> {
        if self.variables.contains_key(name) {
            Some("variable")
        } else if self.groups.contains_key(name) {
            Some("group")
        } else if self.types.contains_key(name) {
            Some("type")
        } else {
            self.hidden_names.contains(name).then_some("object")
        }
    }
}

/// The path of what is called `name` in the group at `path`.
fn path_below(path: &str, name: &str) -> String {
    format!("{}/{name}", path.trim_end_matches('/'))
}
