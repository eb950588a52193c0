//! Objects of a file that was opened: what of them stays as it is when they are written again.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use indexmap::IndexMap;
use isotach_format::hdf5::message::link::{Link, LinkTarget};
use isotach_format::hdf5::message::{MessageType, NewMessage};
use isotach_format::hdf5::superblock::BtreeK;
use isotach_format::hdf5::{Encoding, text};
use isotach_model::Values;

use super::attributes::{self, Encoded};
use super::scales::{Node, Scales};
use crate::draft::{DimensionId, Draft, GroupDraft, GroupId, Place, ROOT, VariableId};
use crate::error::{DefinitionFault, ErrorKind, Result};
use crate::fault::Readable;
use crate::mapping::hdf5::{self, Dataset, LayoutKind, Object, Objects, Pieces};
use crate::mapping::netcdf4;

/// The values of an attribute whose message has room for its name and type, too.
const LARGEST_ATTRIBUTE_BYTES: u64 = (64 << 10) - 1024;

/// An object as it was when the file was opened.
pub(super) struct Origin {
    pub(super) object: hdf5::Node,
    /// Its data set, where it is one.
    pub(super) dataset: Option<Dataset>,
    /// Its group, where it is one.
    group: Option<hdf5::Group>,
    /// The links of a group in their order.
    pub(super) links: Arc<[hdf5::Link]>,
    /// Whether a group keeps the order in which its links were made.
    pub(super) tracks_links: bool,
    /// What the links of a group lead to, by their names: also to objects elsewhere. Links to what
    /// netCDF does not show are missing.
    members: HashMap<Arc<str>, Node>,
}

/// All objects of the file that the draft shows.
#[derive(Default)]
pub(super) struct Origins {
    objects: HashMap<Node, Origin>,
    /// The group whose link leads to an item, and its name.
    links: HashMap<Node, (GroupId, Arc<str>)>,
}

impl Origins {
    pub(super) fn get(&self, node: Node) -> Option<&Origin> {
        self.objects.get(&node)
    }

    pub(super) fn contains(&self, node: Node) -> bool {
        self.objects.contains_key(&node)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Node, &Origin)> {
        self.objects.iter().map(|(&node, origin)| (node, origin))
    }

    /// Forgets an object that is no longer in the file: its space is another's soon, and a dimension
    /// that loses its coordinate variable gets a new object.
    pub(super) fn forget(&mut self, node: Node) {
        self.objects.remove(&node);
        let Some((group, name)) = self.links.remove(&node) else { return };
        if let Some(parent) = self.objects.get_mut(&Node::Group(group)) {
            parent.members.remove(&name);
            parent.links =
                parent.links.iter().filter(|link| *link.name() != name).cloned().collect();
        }
    }

    fn link(&mut self, group: GroupId, name: &Arc<str>, node: Node) {
        self.links.insert(node, (group, Arc::clone(name)));
        if let Some(parent) = self.objects.get_mut(&Node::Group(group)) {
            parent.members.insert(Arc::clone(name), node);
        }
    }
}

impl Origin {
    fn new(object: Object) -> Result<Option<Self>> {
        let mut links: Arc<[hdf5::Link]> = Arc::default();
        let mut tracks_links = false;
        let (object, dataset, group) = match object {
            Object::Group(group) => {
                links = group.links_by_creation_order()?;
                if let Some(error) = group.link_errors()?.first() {
                    return Err(error.clone());
                }
                tracks_links = group.tracks_creation_order()?;
                (group.node().clone(), None, Some(group))
            }
            Object::Dataset(dataset) => (dataset.node().clone(), Some(dataset), None),
            Object::Datatype(datatype) => (datatype.node().clone(), None, None),
            Object::Unknown(_) => return Ok(None),
        };
        Ok(Some(Self { object, dataset, group, links, tracks_links, members: HashMap::new() }))
    }

    /// What its links take that are not in its header.
    pub(super) fn link_space(&self, btree_k: BtreeK) -> Result<Pieces> {
        self.group.as_ref().map_or(Ok(Vec::new()), |group| group.link_space(btree_k))
    }

    /// Whether its group is one of symbol tables.
    pub(super) fn has_symbol_table(&self) -> bool {
        self.object.header().find(MessageType::SYMBOL_TABLE).is_some()
    }

    /// The object's messages but those of `replaced` types and what only holds the header together.
    pub(super) fn messages(&self, replaced: &[MessageType]) -> Vec<NewMessage> {
        let is_kept = |kind: MessageType| {
            kind != MessageType::NULL
                && kind != MessageType::CONTINUATION
                && !replaced.contains(&kind)
        };
        let messages = self.object.header().messages().iter();
        messages.filter(|raw| is_kept(raw.message_type)).map(NewMessage::from).collect()
    }

    /// An error where some of its attributes cannot be read, and would be lost when they are written
    /// anew; or where one of so many bytes does not fit into a message, and a header of version 1 has no
    /// other place for it.
    pub(super) fn check_attributes(&self, bytes: u64) -> Result<()> {
        self.object.attributes()?.errors.first().map_or(Ok(()), |error| Err(error.clone()))?;
        let (what, limit) =
            ("bytes of an attribute in an old object header", LARGEST_ATTRIBUTE_BYTES);
        if self.object.header().version() > 1 || bytes <= limit {
            return Ok(());
        }
        Err(self.object.error(ErrorKind::Limit { what, value: bytes, limit }))
    }

    /// One of its attributes.
    pub(super) fn attribute(&self, name: &str) -> Encoded<Option<hdf5::Attribute>> {
        // All are read at once: where they are dense, they are somewhere else after the next commit.
        self.object.attributes().map(|all| all.get(name)).map_err(|error| error.kind)
    }

    /// The number that a scale gives its dimension.
    fn dimension_number(&self) -> Result<Option<i32>> {
        let Some(number) = self.object.attributes()?.get(netcdf4::DIMENSION_ID) else {
            return Ok(None);
        };
        Ok(match number.values().readable()? {
            Some(Values::I32(numbers)) => numbers.first().copied(),
            _ => None,
        })
    }

    /// The largest number by which it refers to a dimension. In a damaged file that may be the number of none.
    fn last_coordinate(&self) -> Result<Option<i32>> {
        if self.dataset.is_none() {
            return Ok(None);
        }
        let numbers = self.object.attribute(netcdf4::COORDINATES).readable()?.flatten();
        let numbers = numbers.map(|numbers| numbers.values().readable()).transpose()?.flatten();
        Ok(match numbers {
            Some(Values::I32(numbers)) => numbers.into_iter().max(),
            _ => None,
        })
    }

    /// One of its attributes as a message, under a name.
    pub(super) fn message(
        &self,
        name: &str,
        shown_as: &str,
        encoding: Encoding,
    ) -> Encoded<Option<NewMessage>> {
        let found = self.attribute(name)?;
        found.map(|found| attributes::existing(&found, shown_as, encoding)).transpose()
    }

    /// The scales that are attached to each axis of a data set.
    pub(super) fn attached_scales(&self) -> Encoded<Vec<Vec<u64>>> {
        let Some(list) = self.attribute(netcdf4::DIMENSION_LIST)? else { return Ok(Vec::new()) };
        let Values::Sequence(axes) = list.values().map_err(|error| error.kind)? else {
            return Ok(Vec::new());
        };
        let address = |bytes: &[u8]| {
            bytes.iter().rev().fold(0_u64, |value, &byte| value << 8 | u64::from(byte))
        };
        let scales = |axis: &Values| match axis {
            Values::Bytes { size, bytes } => {
                bytes.chunks_exact(*size.max(&1)).map(address).collect()
            }
            _ => Vec::new(),
        };
        Ok(axes.iter().map(scales).collect())
    }

    /// Its attributes that netCDF does not show.
    pub(super) fn hidden_attributes(&self, encoding: Encoding) -> Encoded<Vec<NewMessage>> {
        let all = self.object.attributes().map_err(|error| error.kind)?;
        let hidden = all.iter().filter(|found| netcdf4::is_reserved(found.name()));
        hidden.map(|found| attributes::existing(&found, found.name(), encoding)).collect()
    }
}

/// Finds the objects of `draft`, which was made of the same file, and says in the draft what has none
/// of its own.
pub(super) fn find(draft: &mut Draft, objects: &Objects) -> Result<Origins> {
    let mut finder = Finder {
        draft,
        origins: Origins::default(),
        by_address: HashMap::new(),
        twins: Vec::new(),
        twin_groups: Vec::new(),
    };
    let root = objects.root();
    finder.insert(Node::Group(ROOT), Object::Group(root.clone()))?;
    let mut waiting = vec![(ROOT, root.clone())];
    while let Some((id, group)) = waiting.pop() {
        waiting.append(&mut finder.look_into(id, group)?);
    }
    let Finder { origins, by_address, twins, twin_groups, .. } = finder;
    let same_object = |object: &Object| {
        let node = object.node().filter(|node| node.file_id() == root.node().file_id())?;
        by_address.get(&node.address()).copied()
    };
    let scales = Scales::find(draft);
    let mut numbered: Vec<DimensionId> = Vec::new();
    for (id, dimension) in draft.dimensions() {
        if let Some(scale) = scales.scale(id).and_then(|scale| origins.get(scale))
            && scale.dimension_number()? == Some(dimension.number)
        {
            numbered.push(id);
        }
    }
    draft.set_numbered(&numbered);
    let mut last = None;
    for (_, origin) in origins.iter() {
        last = last.max(origin.last_coordinate()?);
    }
    draft.number_dimensions_behind(last);
    for (id, object) in twins {
        let place = match same_object(&object) {
            Some(Node::Variable(twin)) => Place::Twin(twin),
            _ => Place::Elsewhere,
        };
        draft.set_place(id, place);
    }
    for (id, object) in twin_groups {
        if let Some(Node::Group(twin)) = same_object(&object) {
            draft.set_elsewhere(id, Some(twin));
        }
    }
    Ok(origins)
}

/// Finds the objects of one group after the other.
struct Finder<'f> {
    draft: &'f mut Draft,
    origins: Origins,
    /// The first item to which a hard link leads, for each object.
    by_address: HashMap<u64, Node>,
    /// Variables that are objects to which other links lead, too.
    twins: Vec<(VariableId, Object)>,
    /// The same for groups.
    twin_groups: Vec<(GroupId, Object)>,
}

/// The group that is looked into.
struct Parent {
    id: GroupId,
    group: hdf5::Group,
    links: Arc<[hdf5::Link]>,
    by_name: HashMap<Arc<str>, usize>,
    /// Whether it is an object of the draft.
    is_own: bool,
}

impl Parent {
    fn link(&self, name: &str) -> Option<&hdf5::Link> {
        self.by_name.get(name).and_then(|&index| self.links.get(index))
    }
}

impl Finder<'_> {
    /// Finds all objects of a group; gives the groups below it.
    fn look_into(
        &mut self,
        id: GroupId,
        group: hdf5::Group,
    ) -> Result<Vec<(GroupId, hdf5::Group)>> {
        let links = group.links_by_creation_order()?;
        let by_name =
            links.iter().enumerate().map(|(at, link)| (Arc::clone(link.name()), at)).collect();
        let is_own = self.origins.contains(Node::Group(id));
        let parent = Parent { id, group, links, by_name, is_own };
        let below = self.groups(&parent)?;
        self.types(&parent)?;
        self.variables(&parent)?;
        self.dimensions(&parent)?;
        let is_hidden = |link: &&hdf5::Link| {
            self.origins
                .get(Node::Group(id))
                .is_some_and(|own| !own.members.contains_key(link.name()))
        };
        let hidden = parent.links.iter().filter(is_hidden).map(|link| Arc::clone(link.name()));
        self.draft.set_hidden_names(id, hidden.collect());
        Ok(below)
    }

    fn groups(&mut self, parent: &Parent) -> Result<Vec<(GroupId, hdf5::Group)>> {
        let mut below = Vec::new();
        for (name, id) in self.shown(parent, |group| &group.groups) {
            let Some(link) = parent.link(&name) else { continue };
            let Object::Group(group) = parent.group.resolve(link)? else { continue };
            let object = Object::Group(group.clone());
            if !self.take(parent, link, Node::Group(id), object.clone())? {
                self.draft.set_elsewhere(id, None);
                self.twin_groups.push((id, object));
            }
            below.push((id, group));
        }
        Ok(below)
    }

    fn types(&mut self, parent: &Parent) -> Result<()> {
        for (name, id) in self.shown(parent, |group| &group.types) {
            match parent.link(&name) {
                Some(link) => {
                    let object = parent.group.resolve(link)?;
                    self.take(parent, link, Node::Type(id), object)?;
                }
                None => self.draft.set_type_made_up(id),
            }
        }
        Ok(())
    }

    fn variables(&mut self, parent: &Parent) -> Result<()> {
        for (name, id) in self.shown(parent, |group| &group.variables) {
            let other_name = format!("{}{name}", netcdf4::NOT_A_COORDINATE);
            let link = parent.link(&other_name).or_else(|| parent.link(&name));
            let Some(link) = link else { continue };
            let object = parent.group.resolve(link)?;
            if !self.take(parent, link, Node::Variable(id), object.clone())? {
                self.draft.set_place(id, Place::Elsewhere);
                self.twins.push((id, object));
            } else if let Object::Dataset(dataset) = object {
                let axes = dataset.dimensions()?.iter();
                // An array without chunks cannot become more, whatever a damaged file says.
                let kind = dataset.layout_kind()?;
                let can_grow = !matches!(kind, LayoutKind::Contiguous | LayoutKind::Compact);
                let most = |max: Option<u64>| max.unwrap_or(u64::MAX);
                let limits = axes.map(|axis| if can_grow { most(axis.max) } else { axis.size });
                let limits = limits.collect();
                self.draft.set_limits(id, limits);
            }
        }
        Ok(())
    }

    fn dimensions(&mut self, parent: &Parent) -> Result<()> {
        for (name, id) in self.shown(parent, |group| &group.dimensions) {
            let Some(link) = parent.link(&name) else {
                self.draft.set_made_up(id, false);
                continue;
            };
            let known =
                self.origins.get(Node::Group(parent.id)).and_then(|own| own.members.get(&name));
            let is_elsewhere = match known {
                Some(&Node::Variable(variable)) => match self.draft.variable(variable) {
                    // What stands for it is the variable.
                    Ok(found) if found.is_own() && found.dimensions.first() == Some(&id) => {
                        continue;
                    }
                    found => found.is_ok_and(|found| !found.is_own()),
                },
                Some(_) => false,
                None => {
                    let object = parent.group.resolve(link)?;
                    let is_scale = match object.node() {
                        Some(node) => {
                            node.attribute(netcdf4::CLASS).readable()?.flatten().is_some()
                        }
                        None => false,
                    };
                    if is_scale && self.take(parent, link, Node::Dimension(id), object)? {
                        continue;
                    }
                    is_scale || !parent.is_own
                }
            };
            self.draft.set_made_up(id, is_elsewhere);
        }
        Ok(())
    }

    /// What the draft shows in a group.
    fn shown<I: Copy>(
        &self,
        parent: &Parent,
        of: impl Fn(&GroupDraft) -> &IndexMap<Arc<str>, I>,
    ) -> Vec<(Arc<str>, I)> {
        let group = self.draft.group(parent.id);
        group.map_or(Vec::new(), |group| {
            of(group).iter().map(|(name, &id)| (Arc::clone(name), id)).collect()
        })
    }

    /// Takes what a link leads to as the object of an item; false where it is elsewhere, or is that of
    /// another item.
    fn take(
        &mut self,
        parent: &Parent,
        link: &hdf5::Link,
        node: Node,
        object: Object,
    ) -> Result<bool> {
        self.origins.link(parent.id, link.name(), node);
        let is_hard = matches!(link.target, hdf5::LinkTarget::Hard { .. });
        if !parent.is_own || !is_hard || self.by_address.contains_key(&object.address()) {
            return Ok(false);
        }
        self.insert(node, object)?;
        Ok(true)
    }

    fn insert(&mut self, node: Node, object: Object) -> Result<()> {
        self.by_address.insert(object.address(), node);
        if let Some(origin) = Origin::new(object)? {
            self.origins.objects.insert(node, origin);
        }
        Ok(())
    }
}

/// The links of a group that was opened, as they are to be now: those of members that are still there
/// under their present names, those of objects that netCDF does not show as they were, new ones behind.
/// `members` are the names of all members, and where they are.
///
/// # Errors
/// Two of them have the same name.
pub(super) fn links(origin: &Origin, members: &[(String, Node, u64)]) -> Encoded<Vec<Link>> {
    let names: HashMap<Node, &str> =
        members.iter().map(|(name, node, _)| (*node, name.as_str())).collect();
    let mut links = Vec::with_capacity(members.len());
    let mut old: HashSet<&Node> = HashSet::new();
    for link in origin.links.iter() {
        let name = match origin.members.get(link.name()) {
            None => link.name_bytes(),
            Some(node) => match (node, names.get(node)) {
                (_, None) => continue,
                // As libhdf5 leaves it, a group that was moved is the last one.
                (Node::Group(_), Some(&name)) if *name != **link.name() => continue,
                (node, Some(name)) => {
                    old.insert(node);
                    name.as_bytes()
                }
            },
        };
        links.push(new_link(name, link.creation_order, target(&link.target)));
    }
    let orders = origin.links.iter().filter_map(|link| link.creation_order);
    let next = orders.max().map_or(0, |last| last + 1);
    let new = members.iter().filter(|(_, node, _)| !old.contains(node));
    for (order, (name, _, address)) in (next..).zip(new) {
        let order = origin.tracks_links.then_some(order);
        links.push(new_link(name.as_bytes(), order, LinkTarget::Hard { address: *address }));
    }
    let mut seen = HashSet::new();
    match links.iter().find(|link| !seen.insert(&link.name)) {
        Some(twice) => {
            let name = String::from_utf8_lossy(&twice.name).into_owned();
            Err(DefinitionFault::NameInUse { what: "link", name }.into())
        }
        None => Ok(links),
    }
}

/// A link to be written.
pub(super) fn new_link(name: &[u8], creation_order: Option<i64>, target: LinkTarget) -> Link {
    Link { name: name.into(), charset: attributes::charset(name), creation_order, target }
}

fn target(target: &hdf5::LinkTarget) -> LinkTarget {
    match target {
        hdf5::LinkTarget::Hard { address } => LinkTarget::Hard { address: *address },
        hdf5::LinkTarget::Soft { path } => LinkTarget::Soft { path: text::bytes(path).into() },
        hdf5::LinkTarget::External { file, path } => {
            LinkTarget::External { file: text::bytes(file).into(), path: text::bytes(path).into() }
        }
        hdf5::LinkTarget::User { class, data } => {
            LinkTarget::UserDefined { class: *class, data: Arc::clone(data) }
        }
    }
}
