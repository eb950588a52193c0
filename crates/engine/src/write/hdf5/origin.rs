//! Objects of a file that was opened: what of them stays as it is when they are written again.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use isotach_format::hdf5::Encoding;
use isotach_format::hdf5::message::link::{Link, LinkTarget};
use isotach_format::hdf5::message::{MessageType, NewMessage};

use super::attributes::{self, Encoded};
use super::scales::{Node, Scales};
use crate::draft::{Draft, GroupId};
use crate::error::Result;
use crate::mapping::hdf5::{self, Dataset, Object, Objects};
use crate::mapping::netcdf4;

/// An object as it was when the file was opened.
pub(super) struct Origin {
    pub(super) object: hdf5::Node,
    /// Its data set, where it is one.
    pub(super) dataset: Option<Dataset>,
    /// The links of a group in their order.
    pub(super) links: Arc<[hdf5::Link]>,
    /// Whether a group keeps the order in which its links were made.
    pub(super) tracks_links: bool,
    /// The group in which a link of this name leads to it; `None` for the root group.
    parent: Option<GroupId>,
    link_name: Arc<str>,
}

/// All objects of the file that the draft shows.
pub(super) type Origins = HashMap<Node, Origin>;

impl Origin {
    fn new(object: Object, parent: Option<GroupId>, link_name: &Arc<str>) -> Result<Option<Self>> {
        let mut links: Arc<[hdf5::Link]> = Arc::default();
        let mut tracks_links = false;
        let (object, dataset) = match object {
            Object::Group(group) => {
                links = group.links_by_creation_order()?;
                tracks_links = group.tracks_creation_order()?;
                (group.node().clone(), None)
            }
            Object::Dataset(dataset) => (dataset.node().clone(), Some(dataset)),
            Object::Datatype(datatype) => (datatype.node().clone(), None),
            Object::Unknown(_) => return Ok(None),
        };
        let link_name = Arc::clone(link_name);
        Ok(Some(Self { object, dataset, links, tracks_links, parent, link_name }))
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

    /// One of its attributes as a message, under a name.
    pub(super) fn attribute(
        &self,
        name: &str,
        shown_as: &str,
        encoding: Encoding,
    ) -> Encoded<Option<NewMessage>> {
        let found = self.object.attribute(name).map_err(|error| error.kind)?;
        found.map(|found| attributes::existing(&found, shown_as, encoding)).transpose()
    }

    /// Its attributes that netCDF does not show.
    pub(super) fn hidden_attributes(&self, encoding: Encoding) -> Encoded<Vec<NewMessage>> {
        let all = self.object.attributes().map_err(|error| error.kind)?;
        let hidden = all.iter().filter(|found| netcdf4::is_reserved(found.name()));
        hidden.map(|found| attributes::existing(&found, found.name(), encoding)).collect()
    }
}

/// Finds the objects of `draft`, which was made of the same file. Dimensions without an object are
/// marked in the draft.
pub(super) fn find(draft: &mut Draft, objects: &Objects) -> Result<Origins> {
    let mut origins = Origins::new();
    let (mut made_up, mut unnamed) = (Vec::new(), Vec::new());
    let root = Object::Group(objects.root().clone());
    if let Some(origin) = Origin::new(root, None, &"/".into())? {
        origins.insert(Node::Group(crate::draft::ROOT), origin);
    }
    let mut waiting = vec![crate::draft::ROOT];
    while let Some(id) = waiting.pop() {
        let Some(links) = origins.get(&Node::Group(id)).map(|origin| Arc::clone(&origin.links))
        else {
            continue;
        };
        let by_name: HashMap<&str, &hdf5::Link> =
            links.iter().map(|link| (&**link.name(), link)).collect();
        let Ok(group) = draft.group(id) else { continue };
        let open = |name: &str| -> Result<Option<Origin>> {
            let Some(link) = by_name.get(name) else { return Ok(None) };
            let hdf5::LinkTarget::Hard { address } = link.target else { return Ok(None) };
            Origin::new(objects.object_at(address, &group.path_of(name)), Some(id), link.name())
        };
        for (name, &below) in &group.groups {
            origins.extend(open(name)?.map(|origin| (Node::Group(below), origin)));
            waiting.push(below);
        }
        for (name, &user) in &group.types {
            match open(name)? {
                Some(origin) => drop(origins.insert(Node::Type(user), origin)),
                None => unnamed.push(user),
            }
        }
        for (name, &variable) in &group.variables {
            let other_name = format!("{}{name}", netcdf4::NOT_A_COORDINATE);
            let origin = match open(&other_name)? {
                Some(origin) => Some(origin),
                None => open(name)?,
            };
            origins.extend(origin.map(|origin| (Node::Variable(variable), origin)));
        }
        for (name, &dimension) in &group.dimensions {
            let origin = open(name)?.filter(|origin| {
                origin.object.attribute(netcdf4::CLASS).is_ok_and(|class| class.is_some())
            });
            match origin {
                Some(origin) => drop(origins.insert(Node::Dimension(dimension), origin)),
                None => made_up.push(dimension),
            }
        }
    }
    made_up.into_iter().for_each(|dimension| draft.set_made_up(dimension));
    unnamed.into_iter().for_each(|user| draft.set_type_made_up(user));
    // What stands for a dimension that is a variable is the variable.
    let scales = Scales::find(draft);
    origins.retain(|node, _| match *node {
        Node::Dimension(id) => scales.scale(id) == Some(*node),
        _ => true,
    });
    Ok(origins)
}

/// Forgets an object that is no longer in the file: its space is another's soon, and a dimension that
/// loses its coordinate variable gets a new object.
pub(super) fn forget(origins: &mut Origins, node: Node) {
    let Some(gone) = origins.remove(&node) else { return };
    let parent = gone.parent.and_then(|parent| origins.get_mut(&Node::Group(parent)));
    if let Some(parent) = parent {
        let others = parent.links.iter().filter(|link| *link.name() != gone.link_name);
        parent.links = others.cloned().collect();
    }
}

/// Whether an item was there when the file was opened, and is an object elsewhere to which only a soft or
/// external link leads.
pub(super) fn is_elsewhere(draft: &Draft, origins: &Origins, node: Node) -> bool {
    let is_opened = match node {
        Node::Group(id) => draft.group(id).is_ok_and(|group| group.is_opened),
        Node::Variable(id) => draft.variable(id).is_ok_and(|variable| variable.origin.is_some()),
        Node::Type(_) | Node::Dimension(_) => false,
    };
    is_opened && !origins.contains_key(&node)
}

/// The links of a group that was opened, as they are to be now: those of members that are still there
/// under their present names, those of objects that netCDF does not show as they were, new ones behind.
/// `members` are the names of all members, and where they are.
pub(super) fn links(
    id: GroupId,
    origin: &Origin,
    origins: &Origins,
    members: Vec<(String, Node, u64)>,
) -> Vec<Link> {
    let opened = origins.iter().filter(|(_, found)| found.parent == Some(id));
    let opened: HashMap<&str, Node> =
        opened.map(|(node, found)| (&*found.link_name, *node)).collect();
    let old: HashSet<Node> = opened.values().copied().collect();
    let names: HashMap<Node, &str> =
        members.iter().map(|(name, node, _)| (*node, name.as_str())).collect();
    let mut links = Vec::with_capacity(members.len());
    for link in origin.links.iter() {
        let name = match opened.get(&**link.name()).map(|node| names.get(node)) {
            Some(None) => continue,
            Some(Some(name)) => name.as_bytes(),
            None => link.name_bytes(),
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
    links
}

/// A link to be written.
pub(super) fn new_link(name: &[u8], creation_order: Option<i64>, target: LinkTarget) -> Link {
    Link { name: name.into(), charset: attributes::charset(name), creation_order, target }
}

fn target(target: &hdf5::LinkTarget) -> LinkTarget {
    match target {
        hdf5::LinkTarget::Hard { address } => LinkTarget::Hard { address: *address },
        hdf5::LinkTarget::Soft { path } => LinkTarget::Soft { path: path.as_bytes().into() },
        hdf5::LinkTarget::External { file, path } => {
            LinkTarget::External { file: file.as_bytes().into(), path: path.as_bytes().into() }
        }
        hdf5::LinkTarget::User { class, data } => {
            LinkTarget::UserDefined { class: *class, data: Arc::clone(data) }
        }
    }
}
