//! Attributes out of the header.

use std::sync::Arc;

use isotach_format::classic;
use isotach_model::names::normalized;
use isotach_model::{NoHeap, StoredType, Values};

use super::atomic;
use super::variable::stored_type;
use crate::attribute::Attribute;
use crate::error::{Error, ErrorKind, Result};

/// All of them, in the file's order.
pub(super) fn list(file: &Arc<str>, attributes: &[classic::Attribute]) -> Arc<[Attribute]> {
    attributes.iter().map(|attribute| decoded(file, attribute)).collect()
}

/// The one called `name`.
pub(super) fn find(
    file: &Arc<str>,
    attributes: &[classic::Attribute],
    name: &str,
) -> Option<Attribute> {
    let named = |wanted: &str| attributes.iter().find(|attribute| attribute.name == wanted);
    let composed = normalized(name);
    let found = named(name)
        .or_else(|| attributes.iter().find(|attribute| normalized(&attribute.name) == composed));
    found.map(|attribute| decoded(file, attribute))
}

fn decoded(file: &Arc<str>, attribute: &classic::Attribute) -> Attribute {
    Attribute {
        name: attribute.name.clone(),
        data_type: atomic(attribute.external_type).into(),
        len: attribute.value_count,
        values: values(file, attribute),
    }
}

fn values(file: &Arc<str>, attribute: &classic::Attribute) -> Result<Values> {
    let stored: StoredType = stored_type(attribute.external_type);
    let count = attribute.value_bytes.len() / stored.size();
    stored.decode(&attribute.value_bytes, count, &NoHeap).map_err(|_| {
        // The header's decoder kept exactly the bytes of the values, so this does not come about.
        let fault = isotach_format::Error {
            structure: "classic attribute",
            address: 0,
            kind: isotach_format::ErrorKind::Field {
                field: "count of values",
                value: attribute.value_count,
            },
        };
        Error::new(file, ErrorKind::Structure(fault))
    })
}
