//! Groups: what they hold, found by name or listed.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, MutexGuard, PoisonError, Weak};

use isotach_model::UserType;
use isotach_model::names::normalized;

use super::dimension::{Dim, named_dimensions};
use super::member::{self, Member, Members, look_at_each, object_id};
use super::scope::DefinedType;
use super::variable::NetCdf4Variable;
use super::{Contents, GROUP_DEPTH, ObjectId, attribute, extents, reserved, scope};
use crate::attribute::Attribute;
use crate::dimension::Dimension;
use crate::error::{Error, ErrorKind, Result};
use crate::fault::Readable;
use crate::file::LeftOut;
use crate::mapping::hdf5::{self, Dataset, Link, LinkTarget, Object};
use crate::mapping::once::Once;
use crate::mapping::{GroupMapping, VariableMapping};
use crate::sync::Mutex;

/// Links that are looked through, the oldest first, before all of a group's are read to find the
/// name of a scale: programs define dimensions before variables.
const OLDEST_LINKS: usize = 64;

/// What is known of a group. Groups above keep those below them.
pub(super) struct GroupData {
    pub(super) group: hdf5::Group,
    pub(super) path: Arc<str>,
    pub(super) file_name: Arc<str>,
    parent: Option<Weak<GroupData>>,
    depth: u32,
    paths_left: Arc<PathsLeft>,
    /// Before the members, see there.
    opened: Mutex<Opened>,
    members: Once<Members>,
    names_by_address: Once<HashMap<u64, Arc<str>>>,
    types: Once<Arc<[DefinedType]>>,
    extents: Once<HashMap<ObjectId, u64>>,
    has_phony_dimensions: Once<bool>,
}

/// How many more paths to groups are followed in the file, and how many were at first.
struct PathsLeft {
    left: AtomicU64,
    limit: u64,
}

/// What was opened by name, so that it is the same when it is asked for again.
#[derive(Default)]
struct Opened {
    groups: HashMap<Arc<str>, Arc<GroupData>>,
    datasets: HashMap<Arc<str>, Arc<Member>>,
    /// The names of the oldest links by what they lead to.
    oldest: Option<HashMap<u64, Arc<str>>>,
}

impl GroupData {
    /// The root group of a file in which up to `paths` paths to groups are followed.
    pub(super) fn root(group: hdf5::Group, file_name: &Arc<str>, paths: u64) -> Self {
        let paths_left = PathsLeft { left: AtomicU64::new(paths), limit: paths };
        Self::new(group, file_name, Arc::new(paths_left), None)
    }

    fn new(
        group: hdf5::Group,
        file_name: &Arc<str>,
        paths_left: Arc<PathsLeft>,
        parent: Option<&Arc<GroupData>>,
    ) -> Self {
        Self {
            path: Arc::clone(group.node().path()),
            file_name: Arc::clone(file_name),
            group,
            parent: parent.map(Arc::downgrade),
            depth: parent.map_or(0, |parent| parent.depth + 1),
            paths_left,
            members: Once::new(),
            opened: Mutex::default(),
            names_by_address: Once::new(),
            types: Once::new(),
            extents: Once::new(),
            has_phony_dimensions: Once::new(),
        }
    }

    /// Which object it is.
    pub(super) fn object(&self) -> ObjectId {
        object_id(self.group.node())
    }

    /// The group, the one above it, and so on to the root.
    pub(super) fn with_ancestors(self: &Arc<Self>) -> impl Iterator<Item = Arc<Self>> + use<> {
        let above = |group: &Arc<Self>| group.parent.as_ref()?.upgrade();
        std::iter::successors(Some(Arc::clone(self)), above)
    }

    /// The group and all below it, each before those below it.
    pub(super) fn with_descendants(self: &Arc<Self>) -> Result<Vec<Arc<Self>>> {
        let mut found = Vec::new();
        let mut waiting = vec![Arc::clone(self)];
        while let Some(group) = waiting.pop() {
            // A damaged group has nothing below it that could be found.
            if let Some(members) = group.members().readable()? {
                let below = waiting.len();
                waiting.extend(members.groups().map(Arc::clone));
                waiting[below..].reverse();
            }
            found.push(group);
        }
        Ok(found)
    }

    /// All that it holds.
    pub(super) fn members(self: &Arc<Self>) -> Result<&Members> {
        self.members.get_or_find(|| Members::find(self))
    }

    /// The group that its link `name` leads to.
    ///
    /// # Errors
    /// It is one of those above it, or too deep.
    pub(super) fn child(
        self: &Arc<Self>,
        name: &Arc<str>,
        group: hdf5::Group,
    ) -> Result<Arc<Self>> {
        if let Some(known) = self.opened().groups.get(name) {
            return Ok(Arc::clone(known));
        }
        let address = group.node().address();
        if self.with_ancestors().any(|above| above.object() == object_id(group.node())) {
            // HDF5 allows that, netCDF does not.
            let feature = "a group inside itself, at";
            let kind = isotach_format::ErrorKind::Unsupported { feature, value: address };
            let structure = isotach_format::Error { structure: "group", address, kind };
            return Err(self.error(ErrorKind::Structure(structure)));
        }
        if self.depth >= GROUP_DEPTH {
            let (value, limit) = (u64::from(self.depth) + 1, u64::from(GROUP_DEPTH));
            return Err(self.error(ErrorKind::Limit { what: "depth of groups", value, limit }));
        }
        self.count_path()?;
        let paths_left = Arc::clone(&self.paths_left);
        let child = Arc::new(Self::new(group, &self.file_name, paths_left, Some(self)));
        Ok(Arc::clone(self.opened().groups.entry(Arc::clone(name)).or_insert(child)))
    }

    fn count_path(&self) -> Result<()> {
        let PathsLeft { left, limit } = &*self.paths_left;
        let less = |left: u64| left.checked_sub(1);
        match left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less) {
            Ok(_) => Ok(()),
            Err(_) => {
                let what = "number of paths to groups";
                Err(self.error(ErrorKind::Limit { what, value: limit + 1, limit: *limit }))
            }
        }
    }

    /// The data set that its link `name` leads to.
    pub(super) fn member(
        self: &Arc<Self>,
        name: &Arc<str>,
        dataset: Dataset,
    ) -> Result<Arc<Member>> {
        if let Some(known) = self.opened().datasets.get(name) {
            return Ok(Arc::clone(known));
        }
        let member = Arc::new(Member::new(self, name, dataset)?);
        Ok(Arc::clone(self.opened().datasets.entry(Arc::clone(name)).or_insert(member)))
    }

    /// The dimension of a scale of this group, found without a look at other objects.
    pub(super) fn scale(self: &Arc<Self>, object: ObjectId) -> Result<Option<Arc<Dim>>> {
        if let Some(members) = self.members.found() {
            return Ok(members.scale(object).map(Arc::clone));
        }
        if object.0 != self.group.node().file_id() {
            return Ok(None);
        }
        let Some(name) = self.name_of(object.1)? else { return Ok(None) };
        Ok(self.dataset(&name)?.and_then(|member| member.scale.clone()))
    }

    /// The name of the first link that leads to the data set at `address`.
    fn name_of(&self, address: u64) -> Result<Option<Arc<str>>> {
        if let Some(names) = self.names_by_address.found() {
            return Ok(names.get(&address).map(Arc::clone));
        }
        if let Some(name) = self.own_name_of(address)? {
            return Ok(Some(name));
        }
        let mut opened = self.opened();
        let oldest = match &mut opened.oldest {
            Some(oldest) => oldest,
            none => none.insert(names_by_address(&self.group.oldest_links(OLDEST_LINKS)?)),
        };
        if let Some(name) = oldest.get(&address) {
            return Ok(Some(Arc::clone(name)));
        }
        drop(opened);
        let all = || self.group.links_by_creation_order().map(|links| names_by_address(&links));
        Ok(self.names_by_address.get_or_find(all)?.get(&address).map(Arc::clone))
    }

    /// The name that the scale at `address` gives itself, where that is the name of the only link
    /// that leads to it. (A dimension that is not a variable has none.)
    fn own_name_of(&self, address: u64) -> Result<Option<Arc<str>>> {
        let object = self.group.object_at(address)?;
        let Some(node) = object.node().filter(|node| node.reference_count() == 1) else {
            return Ok(None);
        };
        let Some(name) = member::scale_name(node)? else { return Ok(None) };
        let link = self.group.link(&name)?;
        let link = link.filter(|link| link.target == LinkTarget::Hard { address });
        Ok(link.map(|link| Arc::clone(link.name())))
    }

    /// The variable of that name, found without a look at other objects.
    pub(super) fn variable(self: &Arc<Self>, name: &str) -> Result<Option<Arc<Member>>> {
        if let Some(members) = self.members.found() {
            return Ok(members.variable(name).map(Arc::clone));
        }
        for link_name in [name.to_owned(), format!("{}{name}", reserved::NOT_A_COORDINATE)] {
            let found = self.dataset(&link_name)?;
            if let Some(member) = found.filter(|member| member.is_variable && *member.name == *name)
            {
                return Ok(Some(member));
            }
        }
        Ok(None)
    }

    /// The data set called `link_name`; `None` also where it cannot be shown.
    fn dataset(self: &Arc<Self>, link_name: &str) -> Result<Option<Arc<Member>>> {
        let Some(link) = self.group.link(link_name)? else { return Ok(None) };
        match self.group.resolve(&link).readable()? {
            Some(Object::Dataset(dataset)) => self.member(link.name(), dataset).readable(),
            _ => Ok(None),
        }
    }

    fn find_child(self: &Arc<Self>, name: &str) -> Result<Option<Arc<Self>>> {
        let known = self.opened().groups.get(name).map(Arc::clone);
        if known.is_some() {
            return Ok(known);
        }
        let Some(link) = self.group.link(name)? else { return Ok(None) };
        match self.group.resolve(&link).readable()? {
            Some(Object::Group(group)) => self.child(link.name(), group).readable(),
            _ => Ok(None),
        }
    }

    /// Its committed types.
    pub(super) fn committed_types(self: &Arc<Self>) -> Result<&Arc<[DefinedType]>> {
        self.types.get_or_find(|| scope::define(self))
    }

    /// How far the variables along each unlimited dimension reach, here and below.
    pub(super) fn extents(
        self: &Arc<Self>,
        contents: &Contents,
    ) -> Result<&HashMap<ObjectId, u64>> {
        self.extents.get_or_find(|| extents::find(contents, self))
    }

    fn opened(&self) -> MutexGuard<'_, Opened> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn error(&self, kind: ErrorKind) -> Error {
        Error::new(&self.file_name, kind)
    }
}

/// Of the links that lead to the same object, the first names it.
fn names_by_address(links: &[Link]) -> HashMap<u64, Arc<str>> {
    let mut names = HashMap::new();
    for link in links {
        if let LinkTarget::Hard { address } = link.target {
            names.entry(address).or_insert_with(|| Arc::clone(link.name()));
        }
    }
    names
}

/// A group of an open file.
pub(super) struct NetCdf4Group {
    contents: Arc<Contents>,
    data: Arc<GroupData>,
}

impl NetCdf4Group {
    pub(super) fn new(contents: &Arc<Contents>, data: &Arc<GroupData>) -> Self {
        Self { contents: Arc::clone(contents), data: Arc::clone(data) }
    }

    /// Its dimensions in the order of their objects, and then those that are made up.
    fn dims(&self) -> Result<Vec<Arc<Dim>>> {
        let mut dims: Vec<Arc<Dim>> = self.data.members()?.scales().map(Arc::clone).collect();
        if self.has_phony_dimensions()? {
            dims.extend(self.contents.phony()?.of_group(&self.data).iter().cloned());
        }
        Ok(dims)
    }

    fn shown(&self, dims: &[Arc<Dim>]) -> Arc<[Dimension]> {
        dims.iter().map(|dim| dim.dimension(&self.contents)).collect()
    }

    /// Has the group dimensions that are made up?
    fn has_phony_dimensions(&self) -> Result<bool> {
        let found = self.data.has_phony_dimensions.get_or_find(|| {
            let variables: Vec<_> = self.data.members()?.variables().collect();
            let has_unnamed = |variable: &&Arc<Member>| {
                let named = named_dimensions(&self.contents, &self.data, variable)?;
                Ok(named.iter().any(Option::is_none))
            };
            let each: Result<Vec<bool>> =
                look_at_each(&self.data, &variables, has_unnamed).into_iter().collect();
            Ok(each?.contains(&true))
        });
        found.copied()
    }
}

impl GroupMapping for NetCdf4Group {
    fn path(&self) -> &str {
        &self.data.path
    }

    fn dimensions(&self) -> Result<Arc<[Dimension]>> {
        let numbered = |dim: Arc<Dim>| Ok((dim.stated_id(&self.contents)?, dim));
        let mut dims = self.dims()?.into_iter().map(numbered).collect::<Result<Vec<_>>>()?;
        dims.sort_by_key(|(id, _)| *id);
        let dims: Vec<Arc<Dim>> = dims.into_iter().map(|(_, dim)| dim).collect();
        Ok(self.shown(&dims))
    }

    fn listed_dimensions(&self) -> Result<Arc<[Dimension]>> {
        Ok(self.shown(&self.dims()?))
    }

    fn types(&self) -> Result<Arc<[Arc<UserType>]>> {
        scope::types_of(&self.contents, &self.data)
    }

    fn attributes(&self) -> Result<Arc<[Attribute]>> {
        attribute::list(&self.contents, &self.data, self.data.group.node())
    }

    fn attribute_count(&self) -> Result<usize> {
        attribute::count(&self.contents, &self.data, self.data.group.node())
    }

    fn attribute(&self, name: &str) -> Result<Option<Attribute>> {
        let node = self.data.group.node();
        if node.path().as_ref() == "/"
            && let Some(special) = attribute::special(&self.contents, name)?
        {
            return Ok(Some(special));
        }
        attribute::find(&self.contents, &self.data, node, name)
    }

    fn variable_names(&self) -> Result<Arc<[Arc<str>]>> {
        let members = self.data.members()?;
        Ok(members.variables().map(|member| Arc::clone(&member.name)).collect())
    }

    fn variable(&self, name: &str) -> Result<Option<Arc<dyn VariableMapping>>> {
        let found = match self.data.variable(name)? {
            None => self.data.variable(&normalized(name))?,
            found => found,
        };
        let Some(member) = found else { return Ok(None) };
        let variable = NetCdf4Variable::new(&self.contents, &self.data, member)?;
        Ok(Some(Arc::new(variable) as Arc<dyn VariableMapping>))
    }

    fn group_names(&self) -> Result<Arc<[Arc<str>]>> {
        Ok(self.data.members()?.group_names().map(Arc::clone).collect())
    }

    fn group(&self, name: &str) -> Result<Option<Arc<dyn GroupMapping>>> {
        let found = match self.data.find_child(name)? {
            None => self.data.find_child(&normalized(name))?,
            found => found,
        };
        Ok(found.map(|data| Arc::new(Self::new(&self.contents, &data)) as Arc<dyn GroupMapping>))
    }

    fn left_out(&self) -> Result<Arc<[LeftOut]>> {
        Ok(self.data.members()?.left_out().into())
    }
}
