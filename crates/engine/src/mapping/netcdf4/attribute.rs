//! Attributes as netCDF has them.
//!
//! ```text
//! one string of fixed length           -> chars, padding and all
//! an array of strings of fixed length  -> strings
//! strings of variable length           -> strings
//! anything else                        -> its elements in a row, whatever their shape
//! ```

use std::sync::Arc;

use isotach_format::hdf5::message::Dataspace;
use isotach_format::hdf5::message::datatype::Datatype;
use isotach_model::names::normalized;
use isotach_model::{Atomic, DataType, StoredType, Values};

use super::group::GroupData;
use super::{Contents, reserved, scope, types};
use crate::attribute::{Attribute, Source};
use crate::draft::DraftAttribute;
use crate::error::Result;
use crate::fault::Readable;
use crate::mapping::hdf5::{self, Node};

/// An attribute as HDF5 has it, and its type in netCDF's words.
#[derive(Clone)]
pub(crate) struct NetCdf4Attribute {
    attribute: hdf5::Attribute,
    data_type: DataType,
}

/// How netCDF takes an attribute's bytes.
enum Form {
    /// As so many chars.
    Chars(usize),
    /// As elements.
    Elements(StoredType),
}

/// All that are not hidden. They share what the object's node keeps, so that they need not be kept
/// themselves.
pub(super) fn list(
    contents: &Contents,
    group: &Arc<GroupData>,
    node: &Node,
) -> Result<Arc<[Attribute]>> {
    let attributes = node.attributes()?;
    let mut shown = Vec::with_capacity(attributes.len());
    let is_shown = |attribute: &hdf5::Attribute| !reserved::is_hidden(attribute.name());
    for attribute in attributes.iter().filter(is_shown) {
        shown.push(attribute_of(contents, group, node, attribute)?);
    }
    Ok(shown.into())
}

/// How many are not hidden. In a file that netCDF-4 wrote nothing is left out, so that the index of names
/// tells it; one that cannot be read is met again by whoever reads all.
pub(super) fn count(contents: &Contents, group: &Arc<GroupData>, node: &Node) -> Result<usize> {
    let root = contents.root.group.node();
    let indexed = match root.attribute(reserved::PROPERTIES)? {
        Some(_) => node.indexed_attribute_count().readable()?.flatten(),
        None => None,
    };
    let Some(indexed) = indexed else { return Ok(list(contents, group, node)?.len()) };
    let mut hidden = 0;
    for name in reserved::hidden() {
        hidden += u64::from(node.attribute(name)?.is_some());
    }
    Ok(usize::try_from(indexed.saturating_sub(hidden)).unwrap_or(usize::MAX))
}

/// The one called `name`, unless it is hidden.
pub(super) fn find(
    contents: &Contents,
    group: &Arc<GroupData>,
    node: &Node,
    name: &str,
) -> Result<Option<Attribute>> {
    if reserved::is_hidden(name) {
        return Ok(None);
    }
    let found = match node.attribute(name)? {
        None => node.attribute(&normalized(name))?,
        found => found,
    };
    found.map(|attribute| attribute_of(contents, group, node, attribute)).transpose()
}

/// The attributes that the root group has without showing them in the list.
pub(super) fn special(contents: &Contents, name: &str) -> Result<Option<Attribute>> {
    let number =
        |name: &'static str, value: i32| Attribute { source: Source::AboutFile { name, value } };
    Ok(match name {
        reserved::PROPERTIES => {
            let node = contents.root.group.node();
            let properties = node.attribute(name)?;
            let found = |properties| attribute_of(contents, &contents.root, node, properties);
            properties.map(found).transpose()?.map(as_text).transpose()?
        }
        reserved::IS_NETCDF4 => {
            let is_from_netcdf4 = i32::from(is_from_netcdf4(contents)?);
            Some(number(reserved::IS_NETCDF4, is_from_netcdf4))
        }
        reserved::SUPERBLOCK_VERSION => {
            let version = i32::from(contents.objects.superblock().version);
            Some(number(reserved::SUPERBLOCK_VERSION, version))
        }
        _ => None,
    })
}

/// One string of variable length, as some libraries other than libnetcdf write it, as its chars. A damaged one
/// stays: whoever asks for its value gets the error.
fn as_text(attribute: Attribute) -> Result<Attribute> {
    if attribute.data_type().atomic() != Some(Atomic::String) {
        return Ok(attribute);
    }
    let Some(Values::String(strings)) = attribute.values().readable()? else {
        return Ok(attribute);
    };
    let [Some(text)] = &strings[..] else { return Ok(attribute) };
    let draft = DraftAttribute {
        name: attribute.name().into(),
        name_room: 0,
        data_type: Atomic::Char.into(),
        values: Arc::new(Values::Char(text.to_vec())),
    };
    Ok(Attribute { source: Source::Draft(draft) })
}

/// Did netCDF-4 write the file? Answered as libnetcdf answers `_IsNetcdf4`: by two marks on data
/// sets, and "no" for every file of the classic model.
fn is_from_netcdf4(contents: &Contents) -> Result<bool> {
    if contents.root.group.node().attribute(reserved::CLASSIC_MODEL)?.is_some() {
        return Ok(false);
    }
    let mut marks = 0;
    for group in contents.groups()? {
        let Some(members) = group.members().readable()? else { continue };
        for member in members.datasets() {
            // Damaged attributes are no marks.
            let Some(attributes) = member.dataset.node().attributes().readable()? else { continue };
            marks += attributes.iter().filter(|a| reserved::is_mark_of_netcdf4(a.name())).count();
            if marks >= 2 {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

fn attribute_of(
    contents: &Contents,
    group: &Arc<GroupData>,
    node: &Node,
    attribute: hdf5::Attribute,
) -> Result<Attribute> {
    let data_type = match (attribute.datatype(), attribute.dataspace()) {
        (Datatype::String { .. }, Dataspace::Null | Dataspace::Scalar) => Atomic::Char.into(),
        (Datatype::String { .. }, _) => Atomic::String.into(),
        (datatype, _) => {
            let committed = attribute.committed_datatype();
            let committed_at = committed.map(|address| (node.file_id(), address));
            scope::attribute_type(contents, group, datatype, committed_at)?
        }
    };
    Ok(Attribute { source: Source::NetCdf4(NetCdf4Attribute { attribute, data_type }) })
}

impl NetCdf4Attribute {
    pub(crate) fn name(&self) -> &str {
        self.attribute.name()
    }

    pub(crate) fn data_type(&self) -> &DataType {
        &self.data_type
    }

    pub(crate) fn len(&self) -> u64 {
        match self.form() {
            Form::Chars(len) => len as u64,
            Form::Elements(_) => self.attribute.element_count().unwrap_or(0),
        }
    }

    pub(crate) fn values(&self) -> Result<Values> {
        match self.form() {
            Form::Chars(len) => match self.attribute.data().get(..len) {
                Some(bytes) => Ok(Values::Char(bytes.to_vec())),
                // Says what is missing.
                None => self.attribute.values(),
            },
            Form::Elements(stored) => self.attribute.values_as(&stored),
        }
    }

    pub(crate) fn native_bytes(&self) -> Option<&[u8]> {
        let len = match self.form() {
            Form::Chars(len) => len,
            Form::Elements(stored) => {
                let is_native =
                    stored.number().is_some_and(|number| number.size() == stored.size())
                        && stored.native_order().is_native();
                let count = usize::try_from(self.attribute.element_count().ok()?).ok()?;
                count.checked_mul(stored.size()).filter(|_| is_native)?
            }
        };
        self.attribute.data().get(..len)
    }

    fn form(&self) -> Form {
        let size = match self.attribute.datatype() {
            Datatype::String { size, .. } => *size as usize,
            datatype => return Form::Elements(types::stored_type(datatype)),
        };
        match self.attribute.dataspace() {
            Dataspace::Null => Form::Chars(0),
            Dataspace::Scalar => Form::Chars(size),
            _ => Form::Elements(StoredType::FixedString { size, space_padded: false }),
        }
    }
}
