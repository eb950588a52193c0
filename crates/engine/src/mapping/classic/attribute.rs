//! Attributes out of the header.

use std::sync::Arc;

use isotach_format::classic;
use isotach_model::names::normalized;
use isotach_model::{DataType, NoHeap, StoredType, Values};

use super::variable::{data_type, stored_type};
use crate::attribute::{Attribute, Source};
use crate::error::{Error, ErrorKind, Result};

/// An attribute as the header has it.
#[derive(Clone)]
pub(crate) struct ClassicAttribute {
    file: Arc<str>,
    /// All of its variable, or of the file.
    attributes: Arc<[classic::Attribute]>,
    index: usize,
}

/// All of them, in the file's order.
pub(super) fn list(file: &Arc<str>, attributes: &Arc<[classic::Attribute]>) -> Arc<[Attribute]> {
    (0..attributes.len()).map(|index| attribute_at(file, attributes, index)).collect()
}

/// The one called `name`.
pub(super) fn find(
    file: &Arc<str>,
    attributes: &Arc<[classic::Attribute]>,
    name: &str,
) -> Option<Attribute> {
    let composed = normalized(name);
    let found = attributes
        .iter()
        .position(|attribute| attribute.name == name)
        .or_else(|| attributes.iter().position(|found| normalized(&found.name) == composed));
    found.map(|index| attribute_at(file, attributes, index))
}

fn attribute_at(
    file: &Arc<str>,
    attributes: &Arc<[classic::Attribute]>,
    index: usize,
) -> Attribute {
    let (file, attributes) = (Arc::clone(file), Arc::clone(attributes));
    Attribute { source: Source::Classic(ClassicAttribute { file, attributes, index }) }
}

impl ClassicAttribute {
    fn stored(&self) -> &classic::Attribute {
        // The index was found in the list of these very attributes.
        &self.attributes[self.index]
    }

    pub(crate) fn name(&self) -> &str {
        &self.stored().name
    }

    pub(crate) fn name_room(&self) -> u64 {
        self.stored().name_room
    }

    pub(crate) fn data_type(&self) -> &DataType {
        data_type(self.stored().external_type)
    }

    pub(crate) fn len(&self) -> u64 {
        self.stored().value_count
    }

    pub(crate) fn values(&self) -> Result<Values> {
        let attribute = self.stored();
        let stored: StoredType = stored_type(attribute.external_type);
        let count = attribute.value_bytes.len() / stored.size();
        stored.decode(&attribute.value_bytes, count, &NoHeap).map_err(|_| {
            // The header's decoder kept exactly the bytes of the values, so this does not come
            // about.
            let fault = isotach_format::Error {
                structure: "classic attribute",
                address: 0,
                kind: isotach_format::ErrorKind::Field {
                    field: "count of values",
                    value: attribute.value_count,
                },
            };
            Error::new(&self.file, ErrorKind::Structure(fault))
        })
    }
}
