//! The attributes of a group or variable of a draft.

use std::sync::Arc;

use indexmap::IndexMap;
use isotach_model::{DataType, Values};

use super::Defined;
use crate::attribute::{Attribute, Source};
use crate::error::DefinitionFault;

/// An attribute that was set since the file was opened.
#[derive(Debug, Clone)]
pub(crate) struct DraftAttribute {
    pub(crate) name: Arc<str>,
    pub(crate) data_type: DataType,
    pub(crate) values: Arc<Values>,
}

/// Attributes by name, in their order.
#[derive(Default, Clone)]
pub(crate) struct AttributeList {
    attributes: IndexMap<Arc<str>, Attribute>,
    is_changed: bool,
}

impl AttributeList {
    /// Those of a file that was opened.
    pub(crate) fn existing(attributes: &[Attribute]) -> Self {
        let named = attributes.iter().map(|attribute| (attribute.name().into(), attribute.clone()));
        Self { attributes: named.collect(), is_changed: false }
    }

    /// Whether any was set, deleted or renamed since the file was opened.
    pub(crate) fn is_changed(&self) -> bool {
        self.is_changed
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Attribute> {
        self.attributes.get(name)
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = (&Arc<str>, &Attribute)> {
        self.attributes.iter()
    }

    /// Sets `name`, at its old place where there is one of that name.
    pub(crate) fn set(&mut self, name: Arc<str>, data_type: DataType, values: Arc<Values>) {
        let draft = DraftAttribute { name: Arc::clone(&name), data_type, values };
        self.is_changed = true;
        self.attributes.insert(name, Attribute { source: Source::Draft(draft) });
    }

    /// Takes `name` away; those behind it move up.
    pub(crate) fn delete(&mut self, name: &str) -> Defined<()> {
        self.is_changed = true;
        self.attributes.shift_remove(name).map(drop).ok_or_else(|| not_found(name))
    }

    /// Gives `from` the name `to`; its place stays.
    pub(crate) fn rename(&mut self, from: &str, to: Arc<str>) -> Defined<()> {
        if !self.attributes.contains_key(from) {
            return Err(not_found(from));
        }
        if from != &*to && self.attributes.contains_key(&to) {
            return Err(DefinitionFault::NameInUse { what: "attribute", name: to.to_string() });
        }
        let renamed = std::mem::take(&mut self.attributes).into_iter().map(|(name, attribute)| {
            if &*name == from {
                (Arc::clone(&to), attribute.renamed(&to))
            } else {
                (name, attribute)
            }
        });
        self.is_changed = true;
        self.attributes = renamed.collect();
        Ok(())
    }
}

fn not_found(name: &str) -> DefinitionFault {
    DefinitionFault::NotFound { what: "attribute", name: name.to_owned() }
}
