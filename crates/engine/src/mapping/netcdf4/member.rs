//! What stands in a group: data sets that are variables or dimensions or both, groups, types.

use std::collections::HashMap;
use std::sync::Arc;

use isotach_format::hdf5::message::Dataspace;
use isotach_format::hdf5::message::dataspace::Dimension as Axis;
use isotach_format::hdf5::message::datatype::Datatype;
use isotach_model::{DataType, Values};

use super::dimension::{self, Dim};
use super::group::GroupData;
use super::{Contents, ObjectId, reserved, scope};
use crate::error::{DefinitionFault, Error, ErrorKind, Result};
use crate::fault::Readable;
use crate::file::LeftOut;
use crate::mapping::hdf5::{Dataset, Link, Node, Object};
use crate::mapping::once::Once;
use crate::parallel;
use crate::variable::StorageInfo;

/// A thread takes some 50 us to begin, an object some 10 us to be looked at, and its dimensions some 2 us.
const SHARED_FROM: usize = 200;

/// A data set of a group: a variable, a dimension, or both.
pub(super) struct Member {
    pub(super) link_name: Arc<str>,
    /// The variable's name.
    pub(super) name: Arc<str>,
    pub(super) dataset: Dataset,
    /// The dimension that it is.
    pub(super) scale: Option<Arc<Dim>>,
    pub(super) is_variable: bool,
    axes: Vec<Axis>,
    data_type: Once<DataType>,
    /// For each axis, the dimension that the file says is along it.
    pub(super) named: Once<Vec<Option<Arc<Dim>>>>,
    pub(super) storage: Once<Arc<StorageInfo>>,
}

impl Member {
    /// The data set to which the link `link_name` of `group` leads.
    ///
    /// # Errors
    /// Its type or its shape cannot be read, or storage failed.
    pub(super) fn new(
        group: &Arc<GroupData>,
        link_name: &Arc<str>,
        dataset: Dataset,
    ) -> Result<Self> {
        dataset.datatype()?;
        let axes = match dataset.dataspace()? {
            // HDF5 has a shape without any element; netCDF has dimensions of length 0.
            Dataspace::Null => vec![Axis { size: 0, max: Some(0) }],
            dataspace => dataspace.dimensions().to_vec(),
        };
        let node = dataset.node();
        let scale = match axes.first() {
            Some(&axis) if is_scale(node)? => {
                let id = dimension_id(node)?;
                Some(dimension::of_scale(group, link_name, object_id(node), axis, id))
            }
            _ => None,
        };
        let is_variable = scale.is_none() || !is_only_dimension(node)?;
        let name = match link_name.strip_prefix(reserved::NOT_A_COORDINATE) {
            Some(name) if !name.is_empty() => name.into(),
            _ => Arc::clone(link_name),
        };
        Ok(Self {
            link_name: Arc::clone(link_name),
            name,
            dataset,
            scale,
            is_variable,
            axes,
            data_type: Once::new(),
            named: Once::new(),
            storage: Once::new(),
        })
    }

    /// Its type in netCDF's words, as a variable of `group`.
    ///
    /// # Errors
    /// Storage failed while user-defined types were looked for.
    pub(super) fn data_type(
        &self,
        contents: &Contents,
        group: &Arc<GroupData>,
    ) -> Result<&DataType> {
        self.data_type.get_or_find(|| {
            let committed = self.dataset.committed_datatype()?;
            let committed_at = committed.map(|address| (self.file_id(), address));
            scope::variable_type(contents, group, self.dataset.datatype()?, committed_at)
        })
    }

    /// Its axes; none for a scalar.
    pub(super) fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// The values of one of its attributes; one that is damaged or not supported is as good as none.
    pub(super) fn attribute_values(&self, name: &str) -> Result<Option<Values>> {
        attribute_values(self.dataset.node(), name)
    }

    pub(super) fn file_id(&self) -> u64 {
        self.dataset.node().file_id()
    }
}

/// Which object it is.
pub(super) fn object_id(node: &Node) -> ObjectId {
    (node.file_id(), node.address())
}

fn is_scale(node: &Node) -> Result<bool> {
    let class = text_of(node, reserved::CLASS)?;
    Ok(class.is_some_and(|class| class == reserved::DIMENSION_SCALE))
}

fn is_only_dimension(node: &Node) -> Result<bool> {
    let name = text_of(node, reserved::NAME)?;
    Ok(name.is_some_and(|name| name.starts_with(reserved::DIMENSION_WITHOUT_VARIABLE)))
}

/// The name that a scale gives itself; `None` where it says that it has none.
pub(super) fn scale_name(node: &Node) -> Result<Option<String>> {
    let name = text_of(node, reserved::NAME)?;
    let named = name.filter(|name| !name.starts_with(reserved::DIMENSION_WITHOUT_VARIABLE));
    Ok(named.and_then(|name| String::from_utf8(name).ok()))
}

fn dimension_id(node: &Node) -> Result<Option<i32>> {
    Ok(match attribute_values(node, reserved::DIMENSION_ID)? {
        Some(Values::I32(ids)) => ids.first().copied(),
        _ => None,
    })
}

fn attribute_values(node: &Node, name: &str) -> Result<Option<Values>> {
    match node.attribute(name).readable()?.flatten() {
        Some(attribute) => attribute.values().readable(),
        None => Ok(None),
    }
}

/// The text of an attribute up to its first zero byte.
fn text_of(node: &Node, name: &str) -> Result<Option<Vec<u8>>> {
    let Some(attribute) = node.attribute(name).readable()?.flatten() else { return Ok(None) };
    let bytes = match attribute.datatype() {
        Datatype::String { size, .. } => attribute.data().get(..*size as usize).map(<[u8]>::to_vec),
        Datatype::VariableString { .. } => {
            attribute.values().readable()?.and_then(|text| text.as_text().map(<[u8]>::to_vec))
        }
        _ => None,
    };
    Ok(bytes.map(|mut bytes| {
        let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
        bytes.truncate(end);
        bytes
    }))
}

/// A committed type, and its place among the links of its group.
pub(super) struct CommittedType {
    pub(super) place: usize,
    pub(super) name: Arc<str>,
    pub(super) object: ObjectId,
    pub(super) datatype: Arc<Datatype>,
}

/// What a link leads to, with what every member is asked for and keeps.
fn object(group: &GroupData, link: &Link) -> Result<Object> {
    let object = group.group.resolve(link)?;
    if let Object::Dataset(dataset) = &object {
        // Now, while the header is at hand. What is broken says so where it is asked for.
        dataset.datatype().readable()?;
        dataset.dataspace().readable()?;
        dataset.node().attributes()?;
    }
    Ok(object)
}

/// What `look` makes of each of a group's links or members, in order. At many several threads look at some
/// each.
pub(super) fn look_at_each<T: Sync, R: Send>(
    group: &GroupData,
    items: &[T],
    look: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    match items.len() >= SHARED_FROM && group.group.is_read_in_parallel() {
        true => parallel::map_beside(items, look),
        false => items.iter().map(look).collect(),
    }
}

/// All that stands in a group, in the order in which libnetcdf lists it.
pub(super) struct Members {
    by_name: HashMap<Arc<str>, Arc<Member>>,
    /// Behind all other places that have them: fields go in their order, and members that go in
    /// the order of their making leave memory in one piece. In a map's order it took four times
    /// as long, a third of a listing.
    datasets: Vec<(usize, Arc<Member>)>,
    scales: Vec<Arc<Dim>>,
    by_scale: HashMap<ObjectId, Arc<Dim>>,
    groups: Vec<(Arc<str>, Arc<GroupData>)>,
    types: Vec<CommittedType>,
    left_out: Vec<LeftOut>,
}

impl Members {
    /// Looks at every object of `group`.
    pub(super) fn find(group: &Arc<GroupData>) -> Result<Self> {
        let links = group.group.links_by_creation_order()?;
        group.group.expect_targets(&links);
        let mut members = Self {
            datasets: Vec::with_capacity(links.len()),
            by_name: HashMap::with_capacity(links.len()),
            scales: Vec::new(),
            by_scale: HashMap::new(),
            groups: Vec::new(),
            types: Vec::new(),
            left_out: Vec::new(),
        };
        let objects = look_at_each(group, &links, |link| object(group, link));
        for ((place, link), object) in links.iter().enumerate().zip(objects) {
            let added = object.and_then(|object| members.add(group, place, link, object));
            let path = || group.group.child_path(link.name()).as_ref().to_owned();
            added.or_leave_out(path, &mut members.left_out)?;
        }
        for error in group.group.link_errors()?.iter() {
            let path = group.path.as_ref().to_owned();
            members.left_out.push(LeftOut { path, reason: error.clone() });
        }
        Ok(members)
    }

    fn add(
        &mut self,
        group: &Arc<GroupData>,
        place: usize,
        link: &Link,
        object: Object,
    ) -> Result<()> {
        match object {
            Object::Group(found) => {
                let child = group.child(link.name(), found)?;
                self.groups.push((Arc::clone(link.name()), child));
            }
            Object::Dataset(dataset) => {
                let member = group.member(link.name(), dataset)?;
                if member.is_variable {
                    let name = Arc::clone(&member.name);
                    self.by_name.entry(name).or_insert_with(|| Arc::clone(&member));
                }
                if let Some(dim) = &member.scale {
                    self.scales.push(Arc::clone(dim));
                    let object = object_id(member.dataset.node());
                    self.by_scale.entry(object).or_insert_with(|| Arc::clone(dim));
                }
                self.datasets.push((place, member));
            }
            Object::Datatype(datatype) if super::types::needs_name(datatype.datatype()) => {
                self.types.push(CommittedType {
                    place,
                    name: Arc::clone(link.name()),
                    object: object_id(datatype.node()),
                    datatype: Arc::clone(datatype.datatype()),
                });
            }
            Object::Datatype(datatype) => {
                let description = format!("for a committed {}", datatype.datatype().describe());
                let kind = ErrorKind::Definition(DefinitionFault::ForeignType { description });
                return Err(Error::new(&group.file_name, kind));
            }
            Object::Unknown(unknown) => return Err(unknown.error),
        }
        Ok(())
    }

    /// The variables.
    pub(super) fn variables(&self) -> impl Iterator<Item = &Arc<Member>> {
        self.placed_variables().map(|(_, member)| member)
    }

    /// The variables with their places among the links of the group.
    pub(super) fn placed_variables(&self) -> impl Iterator<Item = (usize, &Arc<Member>)> {
        let placed = self.datasets.iter().map(|(place, member)| (*place, member));
        placed.filter(|(_, member)| member.is_variable)
    }

    /// The variable of that name.
    pub(super) fn variable(&self, name: &str) -> Option<&Arc<Member>> {
        self.by_name.get(name)
    }

    /// The data sets, variables and dimensions.
    pub(super) fn datasets(&self) -> impl Iterator<Item = &Arc<Member>> {
        self.datasets.iter().map(|(_, member)| member)
    }

    /// The dimensions that the group defines.
    pub(super) fn scales(&self) -> impl Iterator<Item = &Arc<Dim>> + Clone {
        self.scales.iter()
    }

    /// The dimension of a scale.
    pub(super) fn scale(&self, object: ObjectId) -> Option<&Arc<Dim>> {
        self.by_scale.get(&object)
    }

    /// The groups.
    pub(super) fn groups(&self) -> impl Iterator<Item = &Arc<GroupData>> {
        self.groups.iter().map(|(_, group)| group)
    }

    /// The names of the groups.
    pub(super) fn group_names(&self) -> impl Iterator<Item = &Arc<str>> {
        self.groups.iter().map(|(name, _)| name)
    }

    /// The committed types.
    pub(super) fn types(&self) -> &[CommittedType] {
        &self.types
    }

    /// What could not be shown.
    pub(super) fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }
}
