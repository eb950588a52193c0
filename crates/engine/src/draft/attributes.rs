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
    /// Bytes that a classic header keeps for the name, where they are more than its own.
    pub(crate) name_room: u64,
    pub(crate) data_type: DataType,
    pub(crate) values: Arc<Values>,
}

impl DraftAttribute {
    /// `_NCProperties` of a new file.
    pub(super) fn properties(format: Format) -> Option<Attribute> {
        let is_hdf5 = matches!(format, Format::NetCdf4 | Format::NetCdf4Classic);
        let draft = Self {
            name: netcdf4::PROPERTIES.into(),
            name_room: 0,
            data_type: Atomic::Char.into(),
            values: Arc::new(netcdf4::OWN_PROPERTIES.into()),
        };
        is_hdf5.then_some(Attribute { source: Source::Draft(draft) })
    }
}

/// An attribute, and its place among those that are stored.
#[derive(Clone)]
struct Entry {
    attribute: Attribute,
    /// `None` for one that was not there, or had another name, when definitions ended last.
    place: Option<Place>,
}

#[derive(Clone)]
struct Place {
    number: usize,
    /// Type and length that stand there, where the attribute was set to other values since.
    form: Option<(DataType, u64)>,
}

impl Entry {
    /// Where it stands: libnetcdf writes over what has the same type and length, and makes anew what has not.
    fn place(&self) -> Option<usize> {
        let place = self.place.as_ref()?;
        let is_same = |(data_type, len): &(DataType, u64)| {
            (self.attribute.data_type(), self.attribute.len()) == (data_type, *len)
        };
        place.form.as_ref().is_none_or(is_same).then_some(place.number)
    }
}

/// Attributes by name, in their order.
#[derive(Default, Clone)]
pub(crate) struct AttributeList {
    attributes: IndexMap<Arc<str>, Entry>,
    is_changed: bool,
    /// Whether something was changed since definitions ended last.
    is_unsettled: bool,
    /// All of them as readers have them, until one is changed.
    shown: OnceLock<Arc<[Attribute]>>,
}

impl AttributeList {
    /// Those of a file that was opened.
    pub(crate) fn existing(attributes: &[Attribute]) -> Self {
        let entries = attributes.iter().enumerate().map(|(number, attribute)| {
            let place = Some(Place { number, form: None });
            (attribute.name().into(), Entry { attribute: attribute.clone(), place })
        });
        Self { attributes: entries.collect(), ..Self::default() }
    }

    /// Whether any was set, deleted or renamed since the file was opened.
    pub(crate) fn is_changed(&self) -> bool {
        self.is_changed
    }

    /// All of them, in their order.
    pub(crate) fn all(&self) -> Arc<[Attribute]> {
        let shown =
            self.shown.get_or_init(|| self.iter().map(|(_, found)| found.clone()).collect());
        Arc::clone(shown)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Attribute> {
        self.attributes.get(name).map(|entry| &entry.attribute)
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = (&Arc<str>, &Attribute)> {
        self.attributes.iter().map(|(name, entry)| (name, &entry.attribute))
    }

    /// The same in the order that HDF5 files have: as libnetcdf leaves them, what was renamed or set to
    /// another type or length after definitions had ended stands behind the others.
    pub(crate) fn iter_as_stored(&self) -> impl Iterator<Item = (&Arc<str>, &Attribute)> {
        let mut sorted: Vec<(&Arc<str>, &Entry)> = self.attributes.iter().collect();
        sorted.sort_by_key(|(_, entry)| entry.place().unwrap_or(usize::MAX));
        sorted.into_iter().map(|(name, entry)| (name, &entry.attribute))
    }

    /// Says that definitions ended: the order in which they would be stored now stays.
    pub(super) fn settle(&mut self) {
        if !std::mem::take(&mut self.is_unsettled) {
            return;
        }
        let order: Vec<Arc<str>> =
            self.iter_as_stored().map(|(name, _)| Arc::clone(name)).collect();
        for (number, name) in order.iter().enumerate() {
            if let Some(entry) = self.attributes.get_mut(name) {
                entry.place = Some(Place { number, form: None });
            }
        }
    }

    /// Sets `name`, at its old place where there is one of that name. One that is set in place keeps the room of
    /// its name.
    pub(crate) fn set(
        &mut self,
        name: Arc<str>,
        data_type: DataType,
        values: Arc<Values>,
        is_in_place: bool,
    ) {
        let before = self.attributes.get(&name);
        let place = before.and_then(|old| {
            let Place { number, form } = old.place.clone()?;
            let own = || (old.attribute.data_type().clone(), old.attribute.len());
            Some(Place { number, form: Some(form.unwrap_or_else(own)) })
        });
        let before = before.filter(|_| is_in_place);
        let name_room = before.map_or(0, |old| old.attribute.name_room());
        let draft = DraftAttribute { name: Arc::clone(&name), name_room, data_type, values };
        let source = Source::Draft(draft);
        self.note_change();
        self.attributes.insert(name, Entry { attribute: Attribute { source }, place });
    }

    /// Takes `name` away; those behind it move up.
    pub(crate) fn delete(&mut self, name: &str) -> Defined<()> {
        self.note_change();
        self.attributes.shift_remove(name).map(drop).ok_or_else(|| not_found(name))
    }

    /// Gives `from` the name `to`; its place stays. `room_of` says what is kept for it.
    pub(crate) fn rename(
        &mut self,
        from: &str,
        to: Arc<str>,
        room_of: impl FnOnce(&str, u64) -> Defined<u64>,
    ) -> Defined<()> {
        let renamed = self.attributes.get(from).ok_or_else(|| not_found(from))?;
        let name_room = room_of(from, renamed.attribute.name_room())?;
        if from != &*to && self.attributes.contains_key(&to) {
            return Err(DefinitionFault::NameInUse { what: "attribute", name: to.to_string() });
        }
        let renamed = std::mem::take(&mut self.attributes).into_iter().map(|(name, entry)| {
            if &*name == from {
                let attribute = entry.attribute.renamed(&to, name_room);
                (Arc::clone(&to), Entry { attribute, place: None })
            } else {
                (name, entry)
            }
        });
        self.attributes = renamed.collect();
        self.note_change();
        Ok(())
    }

    fn note_change(&mut self) {
        self.is_changed = true;
        self.is_unsettled = true;
        self.shown = OnceLock::new();
    }
}

fn not_found(name: &str) -> DefinitionFault {
    DefinitionFault::NotFound { what: "attribute", name: name.to_owned() }
}
