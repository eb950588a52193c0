//! The attributes of a group or variable of a draft.

use std::sync::{Arc, OnceLock};

use indexmap::IndexMap;
use isotach_model::{Atomic, DataType, Values};

use super::Defined;
use crate::attribute::{Attribute, Source};
use crate::error::DefinitionFault;
use crate::file::Format;
use crate::mapping::netcdf4;

/// An attribute that was set since the file was opened.
#[derive(Debug, Clone)]
pub(crate) struct DraftAttribute {
    pub(crate) name: Arc<str>,
    pub(crate) data_type: DataType,
    pub(crate) values: Arc<Values>,
}

impl DraftAttribute {
    /// `_NCProperties` of a new file.
    pub(super) fn properties(format: Format) -> Option<Attribute> {
        let is_hdf5 = matches!(format, Format::NetCdf4 | Format::NetCdf4Classic);
        let draft = Self {
            name: netcdf4::PROPERTIES.into(),
            data_type: Atomic::Char.into(),
            values: Arc::new(netcdf4::OWN_PROPERTIES.into()),
        };
        is_hdf5.then_some(Attribute { source: Source::Draft(draft) })
    }
}

/// Attributes by name, in their order.
#[derive(Default, Clone)]
pub(crate) struct AttributeList {
    attributes: IndexMap<Arc<str>, Attribute>,
    is_changed: bool,
    /// All of them as readers have them, until one is changed.
    shown: OnceLock<Arc<[Attribute]>>,
}

impl AttributeList {
    /// Those of a file that was opened.
    pub(crate) fn existing(attributes: &[Attribute]) -> Self {
        let named = attributes.iter().map(|attribute| (attribute.name().into(), attribute.clone()));
        Self { attributes: named.collect(), ..Self::default() }
    }

    /// Whether any was set, deleted or renamed since the file was opened.
    pub(crate) fn is_changed(&self) -> bool {
        self.is_changed
    }

    /// All of them, in their order.
    pub(crate) fn all(&self) -> Arc<[Attribute]> {
        let shown = self.shown.get_or_init(|| self.attributes.values().cloned().collect());
        Arc::clone(shown)
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
        self.note_change();
        self.attributes.insert(name, Attribute { source: Source::Draft(draft) });
    }

    /// Takes `name` away; those behind it move up.
    pub(crate) fn delete(&mut self, name: &str) -> Defined<()> {
        self.note_change();
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
        self.note_change();
        self.attributes = renamed.collect();
        Ok(())
    }

    fn note_change(&mut self) {
        self.is_changed = true;
        self.shown = OnceLock::new();
    }
}

fn not_found(name: &str) -> DefinitionFault {
    DefinitionFault::NotFound { what: "attribute", name: name.to_owned() }
}
