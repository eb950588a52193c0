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
use crate::attribute::Attribute;
use crate::error::Result;
use crate::mapping::hdf5::{self, Node};

/// All that are not hidden.
pub(super) fn list(group: &Arc<GroupData>, node: &Node) -> Result<Arc<[Attribute]>> {
    let shown = node.map_attributes(|attribute| {
        (!reserved::is_hidden(attribute.name())).then(|| attribute_of(group, node, attribute))
    });
    Ok(shown.into())
}

/// The one called `name`, unless it is hidden.
pub(super) fn find(group: &Arc<GroupData>, node: &Node, name: &str) -> Result<Option<Attribute>> {
    if reserved::is_hidden(name) {
        return Ok(None);
    }
    let found = match node.attribute(name)? {
        None => node.attribute(&normalized(name))?,
        found => found,
    };
    Ok(found.map(|attribute| attribute_of(group, node, &attribute)))
}

/// The attributes that the root group has without showing them in the list.
pub(super) fn special(contents: &Contents, name: &str) -> Result<Option<Attribute>> {
    let number = |value: i32| Attribute {
        name: name.to_owned(),
        data_type: Atomic::Int.into(),
        len: 1,
        values: Ok(Values::I32(vec![value])),
    };
    Ok(match name {
        reserved::PROPERTIES => {
            let node = contents.root.group.node();
            let properties = node.attribute(name)?;
            properties.map(|properties| attribute_of(&contents.root, node, &properties))
        }
        reserved::IS_NETCDF4 => Some(number(i32::from(is_from_netcdf4(contents)?))),
        reserved::SUPERBLOCK_VERSION => {
            Some(number(i32::from(contents.objects.superblock().version)))
        }
        _ => None,
    })
}

/// Did netCDF-4 write the file? Answered as libnetcdf answers `_IsNetcdf4`: by two marks on data
/// sets, and "no" for every file of the classic model.
fn is_from_netcdf4(contents: &Contents) -> Result<bool> {
    if contents.root.group.node().attribute(reserved::CLASSIC_MODEL)?.is_some() {
        return Ok(false);
    }
    let mut marks = 0;
    for group in contents.groups() {
        let Ok(members) = group.members() else { continue };
        for member in members.datasets() {
            // Attributes that cannot be read are no marks.
            let attributes = member.dataset.node().attributes();
            let attributes = attributes.map(|found| Arc::clone(&found.attributes));
            let attributes = attributes.unwrap_or_default();
            marks += attributes.iter().filter(|a| reserved::is_mark_of_netcdf4(a.name())).count();
            if marks >= 2 {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

fn attribute_of(group: &Arc<GroupData>, node: &Node, attribute: &hdf5::Attribute) -> Attribute {
    let name = attribute.name().to_owned();
    if let (Datatype::String { size, .. }, Dataspace::Null | Dataspace::Scalar) =
        (&**attribute.datatype(), attribute.dataspace())
    {
        let len = match attribute.dataspace() {
            Dataspace::Null => 0,
            _ => *size as usize,
        };
        return chars(name, attribute, len);
    }
    let committed_at = attribute.committed_datatype().map(|address| (node.file_id(), address));
    let (data_type, stored) = match &**attribute.datatype() {
        Datatype::String { size, .. } => {
            let stored = StoredType::FixedString { size: *size as usize, space_padded: false };
            (Atomic::String.into(), stored)
        }
        datatype => {
            let data_type: DataType = scope::attribute_type(group, datatype, committed_at);
            (data_type, types::stored_type(datatype))
        }
    };
    match attribute.element_count() {
        Ok(len) => Attribute { name, data_type, len, values: attribute.values_as(&stored) },
        Err(error) => Attribute { name, data_type, len: 0, values: Err(error) },
    }
}

/// A text: its bytes are its elements.
fn chars(name: String, attribute: &hdf5::Attribute, len: usize) -> Attribute {
    let values = match attribute.data().get(..len) {
        Some(bytes) => Ok(Values::Char(bytes.to_vec())),
        // Says what is missing.
        None => attribute.values(),
    };
    Attribute { name, data_type: Atomic::Char.into(), len: len as u64, values }
}
