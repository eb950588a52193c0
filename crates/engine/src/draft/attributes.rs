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
    /// Whether it stands where the file had one of that name, type and length.
    pub(crate) keeps_place: bool,
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
            keeps_place: false,
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

    /// The same in the order that HDF5 files have: as libnetcdf leaves them, what was renamed or set to
    /// another type or length since the file was opened stands behind the others.
    pub(crate) fn iter_as_stored(&self) -> impl Iterator<Item = (&Arc<str>, &Attribute)> {
        let keep = self.attributes.iter().filter(|(_, attribute)| keeps_place(attribute));
        keep.chain(self.attributes.iter().filter(|(_, attribute)| !keeps_place(attribute)))
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
        let is_as_before =
            |old: &&Attribute| (old.data_type(), old.len()) == (&data_type, values.len() as u64);
        let keeps_place = self.get(&name).filter(is_as_before).is_some_and(keeps_place);
        let before = self.get(&name).filter(|_| is_in_place);
        let name_room = before.map_or(0, Attribute::name_room);
        let draft =
            DraftAttribute { name: Arc::clone(&name), name_room, data_type, values, keeps_place };
        self.note_change();
        self.attributes.insert(name, Attribute { source: Source::Draft(draft) });
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
        let name_room = room_of(from, renamed.name_room())?;
        if from != &*to && self.attributes.contains_key(&to) {
            return Err(DefinitionFault::NameInUse { what: "attribute", name: to.to_string() });
        }
        let renamed = std::mem::take(&mut self.attributes).into_iter().map(|(name, attribute)| {
            if &*name == from {
                (Arc::clone(&to), attribute.renamed(&to, name_room))
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

/// Whether an attribute stands where the file has it already.
fn keeps_place(attribute: &Attribute) -> bool {
    match &attribute.source {
        Source::Draft(draft) => draft.keeps_place,
        Source::Renamed { .. } => false,
        _ => true,
    }
}

fn not_found(name: &str) -> DefinitionFault {
    DefinitionFault::NotFound { what: "attribute", name: name.to_owned() }
}
