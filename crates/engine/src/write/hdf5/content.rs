//! What an object of the draft consists of: its messages, attributes and links.
//!
//! Addresses of other objects are part of it, but never its size: it is made once to know how much room
//! each object takes, and again when all of them have their places.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use isotach_format::hdf5::Encoding;
use isotach_format::hdf5::message::dataspace::{Dataspace, Dimension};
use isotach_format::hdf5::message::fill_value::{AllocationTime, Fill, FillValue, WriteTime};
use isotach_format::hdf5::message::layout::Layout;
use isotach_format::hdf5::message::link::{Link, LinkTarget};
use isotach_format::hdf5::message::{Message, MessageFlags, MessageType, NewMessage};
use isotach_model::Atomic;

use super::attributes::{self, Encoded};
use super::datatypes;
use super::heap::FileHeap;
use super::index::tree_layout;
use super::known::KnownAttributes;
use super::origin::{self, Origin, Origins};
use super::planned::Planned;
use super::scales::{Node, Scales};
use crate::attribute::{Attribute, Source};
use crate::draft::{
    AttributeList, DimensionId, Draft, GroupId, ROOT, TypeId, VariableDraft, VariableId,
};
use crate::error::{DefinitionFault, ErrorKind};
use crate::file::Format;
use crate::mapping::hdf5::Dataset;
use crate::mapping::netcdf4;
use crate::variable::Endianness;

/// What an object's header and its dense storage say.
#[derive(Debug)]
pub(super) struct Content {
    /// All messages but attributes and links, and what counts these; in an object that was opened also
    /// attributes and links that stay as they are.
    pub(super) messages: Vec<NewMessage>,
    /// Messages of attributes in the order of their creation.
    pub(super) attributes: Option<Vec<NewMessage>>,
    /// A group's links in the order of their creation.
    pub(super) links: Option<Links>,
}

/// A group's links, and how the group keeps them.
#[derive(Debug)]
pub(super) enum Links {
    /// In messages or dense storage. Whether their order of creation is kept.
    New { links: Vec<Link>, tracks_order: bool },
    /// In a symbol table.
    SymbolTable(Vec<Link>),
}

/// What everything about a draft's objects is made from.
pub(super) struct Maker<'m> {
    pub(super) draft: &'m Draft,
    pub(super) scales: &'m Scales,
    pub(super) heap: &'m FileHeap,
    pub(super) encoding: Encoding,
    /// The objects that were there when the file was opened.
    pub(super) origins: &'m Origins,
    /// The scales that there were then.
    pub(super) opened_scales: &'m Scales,
    /// Those objects whose dimensions are others since, or are referred to by others.
    pub(super) related: &'m HashSet<Node>,
    /// How variables are stored.
    pub(super) planned: &'m HashMap<VariableId, Arc<Planned>>,
    /// Where chunk indexes and contiguous values begin, and compact values.
    pub(super) places: &'m HashMap<VariableId, Layout>,
    /// Where the objects are; 0 while that is not known yet.
    pub(super) addresses: Option<&'m HashMap<Node, u64>>,
    /// The seconds since 1970 that objects keep; `None` where they keep none.
    pub(super) time: Option<u32>,
}

impl Maker<'_> {
    /// The content of an object.
    pub(super) fn content(&self, node: Node, known: &mut KnownAttributes) -> Encoded<Content> {
        match node {
            _ if self.origins.contains(node) => self.opened(node, known),
            Node::Group(id) => self.group(id, known),
            Node::Type(id) => self.committed_type(id),
            Node::Dimension(id) => self.dimension(id),
            Node::Variable(id) => self.variable(id, known),
        }
    }

    fn group(&self, id: GroupId, known: &mut KnownAttributes) -> Encoded<Content> {
        let group = self.draft.group(id)?;
        let mut attributes = Vec::new();
        if id == ROOT {
            attributes.push(attributes::properties(self.encoding)?);
            if self.draft.format == Format::NetCdf4Classic {
                attributes.push(attributes::classic_model(self.encoding)?);
            }
        }
        self.user_attributes(Node::Group(id), &group.attributes, known, &mut attributes)?;
        let link = |(order, (name, _, address)): (usize, (String, Node, u64))| {
            let target = LinkTarget::Hard { address };
            origin::new_link(name.as_bytes(), Some(order as i64), target)
        };
        let links = self.members(id)?.into_iter().enumerate().map(link).collect();
        let links = Some(Links::New { links, tracks_order: true });
        Ok(Content { messages: Vec::new(), attributes: Some(attributes), links })
    }

    /// The members of a group in their order: the names of their links, and where they are.
    fn members(&self, id: GroupId) -> Encoded<Vec<(String, Node, u64)>> {
        let group = self.draft.group(id)?;
        let mut named: Vec<(u64, String, Node)> = Vec::new();
        for (name, &id) in &group.types {
            let user = self.draft.user_type(id)?;
            if !user.is_made_up {
                named.push((user.creation, name.to_string(), Node::Type(id)));
            }
        }
        for (name, &id) in &group.dimensions {
            if self.scales.scale(id) == Some(Node::Dimension(id)) {
                let creation = self.draft.dimension(id)?.creation;
                named.push((creation, name.to_string(), Node::Dimension(id)));
            }
        }
        for &id in group.variables.values() {
            let variable = self.draft.variable(id)?;
            let name = self.scales.link_name(self.draft, id, variable);
            named.push((variable.creation, name, Node::Variable(id)));
        }
        for (name, &id) in &group.groups {
            let creation = self.draft.group(id)?.creation;
            named.push((creation, name.to_string(), Node::Group(id)));
        }
        named.sort_by_key(|&(creation, ..)| creation);
        let place = |(_, name, node)| (name, node, self.address(node));
        Ok(named.into_iter().map(place).collect())
    }

    /// An object that was there when the file was opened: what did not change stays as it is.
    fn opened(&self, node: Node, known: &mut KnownAttributes) -> Encoded<Content> {
        let Some(origin) = self.origins.get(node) else {
            return Err(DefinitionFault::Deleted { what: "object" }.into());
        };
        let mut replaced = Vec::new();
        let mut changed = Vec::new();
        let extent = match node {
            Node::Variable(id) => Some(&self.draft.variable(id)?.extent[..]),
            Node::Dimension(id) => Some(std::slice::from_ref(&self.draft.dimension(id)?.len)),
            Node::Group(_) | Node::Type(_) => None,
        };
        if let (Some(extent), Some(dataset)) = (extent, &origin.dataset) {
            let dataspace = self.opened_dataspace(dataset, extent)?;
            replaced.extend(dataspace.iter().map(|message| message.message_type));
            changed.extend(dataspace);
        }
        if let Node::Variable(id) = node
            && let Some(layout) = self.places.get(&id)
        {
            replaced.push(MessageType::LAYOUT);
            changed.push(self.message(layout, MessageFlags::NONE)?);
        }
        let attributes = self.opened_attributes(node, origin, known)?;
        if attributes.is_some() {
            replaced.extend([MessageType::ATTRIBUTE, MessageType::ATTRIBUTE_INFO]);
        }
        let mut links = None;
        if let Node::Group(id) = node
            && self.draft.group(id)?.members_changed
        {
            let found = origin::links(origin, &self.members(id)?)?;
            replaced.extend([MessageType::LINK, MessageType::LINK_INFO, MessageType::SYMBOL_TABLE]);
            links = Some(match origin.has_symbol_table() {
                true => Links::SymbolTable(found),
                false => Links::New { links: found, tracks_order: origin.tracks_links },
            });
        }
        let mut messages = origin.messages(&replaced);
        messages.extend(changed);
        Ok(Content { messages, attributes, links })
    }

    /// The shape of a data set that was opened, where it is another now.
    fn opened_dataspace(&self, dataset: &Dataset, extent: &[u64]) -> Encoded<Option<NewMessage>> {
        let axes = dataset.dimensions().map_err(|error| error.kind)?;
        if axes.iter().zip(extent).all(|(axis, &len)| axis.size == len) {
            return Ok(None);
        }
        let axes = axes.iter().zip(extent);
        let axes = axes.map(|(axis, &size)| Dimension { size, max: axis.max }).collect();
        self.message(&Dataspace::Simple(axes), MessageFlags::NONE).map(Some)
    }

    /// All attributes of an object that was opened; `None` where none of them changed.
    fn opened_attributes(
        &self,
        node: Node,
        origin: &Origin,
        known: &mut KnownAttributes,
    ) -> Encoded<Option<Vec<NewMessage>>> {
        let list = match node {
            Node::Group(id) => Some(&self.draft.group(id)?.attributes),
            Node::Variable(id) => Some(&self.draft.variable(id)?.attributes),
            Node::Dimension(_) | Node::Type(_) => None,
        };
        let is_related = self.related.contains(&node);
        let joins_classic_model = node == Node::Group(ROOT) && self.draft.joins_classic_model;
        let is_changed = list.is_some_and(AttributeList::is_changed);
        if !is_related && !joins_classic_model && !is_changed {
            return Ok(None);
        }
        origin.check_attributes(0).map_err(|error| error.kind)?;
        let mut attributes = Vec::new();
        match node {
            Node::Variable(id) if is_related => {
                self.dimension_attributes(id, Some(origin), &mut attributes)?;
                self.reference_attributes(id, known, &mut attributes)?;
            }
            Node::Dimension(id) if is_related => {
                let len = self.draft.dimension(id)?.len;
                attributes.push(attributes::class(self.encoding)?);
                attributes.push(attributes::name_without_variable(len, self.encoding)?);
                self.scale_attributes(id, &mut attributes)?;
            }
            _ => attributes = origin.hidden_attributes(self.encoding)?,
        }
        if joins_classic_model {
            attributes.push(attributes::classic_model(self.encoding)?);
        }
        if let Some(list) = list {
            self.user_attributes(node, list, known, &mut attributes)?;
        }
        Ok(Some(attributes))
    }

    fn committed_type(&self, id: TypeId) -> Encoded<Content> {
        let user = &self.draft.user_type(id)?.user;
        let datatype = datatypes::user_type(user, Endianness::Native, self.encoding.sizes)
            .ok_or_else(|| {
                ErrorKind::Definition(DefinitionFault::ForeignType {
                    description: user.name.clone(),
                })
            })?;
        let flags = MessageFlags::CONSTANT.with(MessageFlags::NOT_SHARED);
        let messages = vec![self.message(&datatype, flags)?];
        Ok(Content { messages, attributes: Some(Vec::new()), links: None })
    }

    /// A dimension that is not a variable: a data set of floats that nobody ever writes.
    fn dimension(&self, id: DimensionId) -> Encoded<Content> {
        let dimension = self.draft.dimension(id)?;
        let datatype = datatypes::atomic_type(Atomic::Float, Endianness::Big, self.encoding.sizes);
        let max = (!dimension.is_unlimited).then_some(dimension.len);
        let dataspace = Dataspace::Simple(vec![Dimension { size: dimension.len, max }]);
        let layout = match dimension.is_unlimited {
            true => tree_layout(vec![1], datatype.size().into(), None),
            false => {
                let len_bytes = dimension.len.saturating_mul(datatype.size().into());
                Layout::Contiguous { address: None, len_bytes: Some(len_bytes) }
            }
        };
        let fill = FillValue {
            allocation_time: match dimension.is_unlimited {
                true => AllocationTime::Incremental,
                false => AllocationTime::Late,
            },
            write_time: WriteTime::IfSet,
            value: Fill::Default,
        };
        let messages = vec![
            self.message(&dataspace, MessageFlags::NONE)?,
            self.message(&datatype, MessageFlags::CONSTANT)?,
            self.message(&fill, MessageFlags::CONSTANT)?,
            self.message(&layout, MessageFlags::NONE)?,
        ];
        let mut attributes = vec![
            attributes::class(self.encoding)?,
            attributes::name_without_variable(dimension.len, self.encoding)?,
        ];
        self.scale_attributes(id, &mut attributes)?;
        Ok(Content { messages, attributes: Some(attributes), links: None })
    }

    fn variable(&self, id: VariableId, known: &mut KnownAttributes) -> Encoded<Content> {
        let variable = self.draft.variable(id)?;
        let planned = self.planned.get(&id).ok_or(DefinitionFault::Deleted { what: "variable" })?;
        let mut messages = vec![
            self.dataspace(variable)?,
            self.message(&planned.datatype, MessageFlags::CONSTANT)?,
            self.message(&planned.fill_message(), MessageFlags::CONSTANT)?,
        ];
        if !planned.filters.filters.is_empty() {
            messages.push(self.message(&planned.filters, MessageFlags::CONSTANT)?);
        }
        messages.push(self.layout(id, planned)?);
        let mut attributes = Vec::new();
        self.dimension_attributes(id, None, &mut attributes)?;
        self.user_attributes(Node::Variable(id), &variable.attributes, known, &mut attributes)?;
        self.reference_attributes(id, known, &mut attributes)?;
        Ok(Content { messages, attributes: Some(attributes), links: None })
    }

    /// The present extent of a variable.
    fn dataspace(&self, variable: &VariableDraft) -> Encoded<NewMessage> {
        let dimensions = variable.extent.iter().zip(&variable.dimensions);
        let axes = dimensions.map(|(&size, &dimension)| {
            let is_unlimited = self.draft.dimension(dimension)?.is_unlimited;
            Ok(Dimension { size, max: (!is_unlimited).then_some(size) })
        });
        let axes = axes.collect::<Encoded<Vec<Dimension>>>()?;
        let dataspace = if axes.is_empty() { Dataspace::Scalar } else { Dataspace::Simple(axes) };
        self.message(&dataspace, MessageFlags::NONE)
    }

    /// Where the values of a variable are.
    fn layout(&self, id: VariableId, planned: &Planned) -> Encoded<NewMessage> {
        match self.places.get(&id) {
            Some(layout) => self.message(layout, MessageFlags::NONE),
            None => {
                let extent = &self.draft.variable(id)?.extent;
                self.message(&planned.unwritten_layout(extent), MessageFlags::NONE)
            }
        }
    }

    /// True for what has an unlimited dimension, so that it changes without being defined anew. Of an
    /// object that was opened, little but that is made anew anyway.
    pub(super) fn grows(&self, node: Node) -> bool {
        let is_unlimited = |&id: &DimensionId| {
            self.draft.dimension(id).is_ok_and(|dimension| dimension.is_unlimited)
        };
        match node {
            _ if self.origins.contains(node) => false,
            Node::Variable(id) => {
                let variable = self.draft.variable(id);
                variable.is_ok_and(|variable| variable.dimensions.iter().any(is_unlimited))
            }
            Node::Dimension(id) => is_unlimited(&id),
            Node::Group(_) | Node::Type(_) => false,
        }
    }

    /// The content of an object of which nothing changed but its extent and where its values are.
    pub(super) fn grown(&self, node: Node, mut content: Content) -> Encoded<Content> {
        let news = match node {
            Node::Variable(id) => {
                let planned =
                    self.planned.get(&id).ok_or(DefinitionFault::Deleted { what: "variable" })?;
                vec![self.dataspace(self.draft.variable(id)?)?, self.layout(id, planned)?]
            }
            Node::Dimension(id) => {
                let size = self.draft.dimension(id)?.len;
                let dataspace = Dataspace::Simple(vec![Dimension { size, max: None }]);
                vec![self.message(&dataspace, MessageFlags::NONE)?]
            }
            Node::Group(_) | Node::Type(_) => Vec::new(),
        };
        for new in news {
            let known = content.messages.iter_mut();
            known
                .filter(|known| known.message_type == new.message_type)
                .for_each(|known| known.clone_from(&new));
        }
        Ok(content)
    }

    /// What stands before the user's attributes: a variable's dimensions, a coordinate variable's
    /// dimension.
    fn dimension_attributes(
        &self,
        id: VariableId,
        origin: Option<&Origin>,
        into: &mut Vec<NewMessage>,
    ) -> Encoded<()> {
        let variable = self.draft.variable(id)?;
        let scale = self.scales.dimension_of(Node::Variable(id));
        let along = variable.dimensions.iter().map(|&id| Ok(self.draft.dimension(id)?));
        let along = along.collect::<Encoded<Vec<_>>>()?;
        // Only these tell the dimensions behind the first of a scale.
        let has_only_numbers = scale.is_some() && along.len() > 1;
        let is_numbered = along.iter().all(|dimension| dimension.is_numbered);
        if !along.is_empty() && (is_numbered || has_only_numbers) {
            let numbers: Vec<i32> = along.iter().map(|dimension| dimension.number).collect();
            into.push(attributes::coordinates(&numbers, self.encoding)?);
        }
        let Some(dimension) = scale else { return Ok(()) };
        into.push(attributes::class(self.encoding)?);
        let is_renamed =
            variable.origin.as_ref().is_some_and(|opened| opened.name() != &*variable.name);
        let own_name = match origin.filter(|_| !is_renamed) {
            Some(origin) => origin.message(netcdf4::NAME, netcdf4::NAME, self.encoding)?,
            None => None,
        };
        into.push(match own_name {
            Some(message) => message,
            None => attributes::name_of_variable(&variable.name, self.encoding)?,
        });
        self.dimension_number(dimension, into)
    }

    fn dimension_number(&self, id: DimensionId, into: &mut Vec<NewMessage>) -> Encoded<()> {
        let dimension = self.draft.dimension(id)?;
        if dimension.is_numbered {
            into.push(attributes::dimension_number(dimension.number, self.encoding)?);
        }
        Ok(())
    }

    /// What stands behind them: who refers to a scale, or to which scales a variable refers.
    fn reference_attributes(
        &self,
        id: VariableId,
        known: &mut KnownAttributes,
        into: &mut Vec<NewMessage>,
    ) -> Encoded<()> {
        let variable = self.draft.variable(id)?;
        if let Some(dimension) = self.scales.dimension_of(Node::Variable(id)) {
            return self.reference_list(dimension, into);
        }
        if variable.dimensions.is_empty() {
            return Ok(());
        }
        let rank = variable.dimensions.len();
        into.push(match self.addresses {
            // It has its size, and refers to nothing yet.
            None => attributes::dimension_list(rank, &[], &mut &*self.heap, self.encoding)?,
            Some(_) => {
                let scales = self.attached_scales(id, variable)?;
                known.dimension_list(scales, self.heap, |scales, heap| {
                    attributes::dimension_list(rank, scales, heap, self.encoding)
                })?
            }
        });
        Ok(())
    }

    /// The scales of each axis. Programs attach several to one, of which netCDF knows the last.
    fn attached_scales(&self, id: VariableId, variable: &VariableDraft) -> Encoded<Vec<Vec<u64>>> {
        let mut axes = match self.origins.get(Node::Variable(id)) {
            Some(origin) => origin.attached_scales()?,
            None => Vec::new(),
        };
        axes.resize(variable.dimensions.len(), Vec::new());
        for (axis, &dimension) in axes.iter_mut().zip(&variable.dimensions) {
            if let Some(scale) = self.scales.scale(dimension) {
                axis.pop();
                axis.push(self.address(scale));
            }
        }
        Ok(axes)
    }

    fn scale_attributes(&self, id: DimensionId, into: &mut Vec<NewMessage>) -> Encoded<()> {
        self.dimension_number(id, into)?;
        self.reference_list(id, into)
    }

    fn reference_list(&self, id: DimensionId, into: &mut Vec<NewMessage>) -> Encoded<()> {
        let users = self.scales.users(id);
        // What was attached to it by others than netCDF stays.
        let scale = self.scales.scale(id);
        if users == self.opened_scales.users(id)
            && scale == self.opened_scales.scale(id)
            && let Some(origin) = scale.and_then(|scale| self.origins.get(scale))
        {
            let name = netcdf4::REFERENCE_LIST;
            into.extend(origin.message(name, name, self.encoding)?);
            return Ok(());
        }
        if users.is_empty() {
            return Ok(());
        }
        let address =
            |&(user, axis): &(VariableId, u32)| (self.address(Node::Variable(user)), axis);
        let users: Vec<(u64, u32)> = users.iter().map(address).collect();
        into.push(attributes::reference_list(&users, self.encoding)?);
        Ok(())
    }

    /// An attribute that was there when the file was opened, perhaps under another name.
    fn opened_attribute(
        &self,
        node: Node,
        name: &str,
        attribute: &Attribute,
    ) -> Encoded<Option<NewMessage>> {
        let Some(origin) = self.origins.get(node) else { return Ok(None) };
        let old_name = match &attribute.source {
            Source::Renamed { of, .. } => of.name(),
            _ => attribute.name(),
        };
        origin.message(old_name, name, self.encoding)
    }

    fn user_attributes(
        &self,
        node: Node,
        list: &AttributeList,
        known: &mut KnownAttributes,
        into: &mut Vec<NewMessage>,
    ) -> Encoded<()> {
        for (name, attribute) in list.iter_as_stored() {
            let set = match &attribute.source {
                Source::Draft(set) => set,
                _ => {
                    into.extend(self.opened_attribute(node, name, attribute)?);
                    continue;
                }
            };
            into.push(known.user(name, &set.values, self.heap, |heap| {
                attributes::user(set, heap, self.encoding)
            })?);
        }
        known.retain(list, self.heap);
        Ok(())
    }

    fn address(&self, node: Node) -> u64 {
        self.addresses.and_then(|addresses| addresses.get(&node)).copied().unwrap_or(0)
    }

    fn message<M: Message>(&self, message: &M, flags: MessageFlags) -> Encoded<NewMessage> {
        NewMessage::new(message, flags, self.encoding).map_err(ErrorKind::Structure)
    }
}

impl From<DefinitionFault> for ErrorKind {
    fn from(fault: DefinitionFault) -> Self {
        Self::Definition(fault)
    }
}
