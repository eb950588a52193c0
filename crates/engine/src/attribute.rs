//! Attributes.

use std::fmt;
use std::sync::Arc;

use isotach_model::{Atomic, DataType, Values};

use crate::draft::DraftAttribute;
use crate::error::Result;
use crate::mapping::classic::ClassicAttribute;
use crate::mapping::netcdf4::NetCdf4Attribute;

/// An attribute of a group or variable. Cheap to clone.
///
/// It refers to what was read of its group or variable: name, type and length are told from that,
/// and its values are decoded each time they are asked for.
#[derive(Clone)]
pub struct Attribute {
    pub(crate) source: Source,
}

/// What tells an attribute. No `dyn`, which would be an allocation for each.
#[derive(Clone)]
pub(crate) enum Source {
    NetCdf4(NetCdf4Attribute),
    Classic(ClassicAttribute),
    /// One that is not in the file: an int about the file itself.
    AboutFile {
        name: &'static str,
        value: i32,
    },
    /// One that was set and is not in the file yet.
    Draft(DraftAttribute),
    /// One of the file under another name.
    Renamed {
        name: Arc<str>,
        name_room: u64,
        of: Arc<Attribute>,
    },
}

impl Attribute {
    /// Its name.
    pub fn name(&self) -> &str {
        match &self.source {
            Source::NetCdf4(attribute) => attribute.name(),
            Source::Classic(attribute) => attribute.name(),
            Source::AboutFile { name, .. } => name,
            Source::Draft(attribute) => &attribute.name,
            Source::Renamed { name, .. } => name,
        }
    }

    /// The type of its elements.
    pub fn data_type(&self) -> &DataType {
        match &self.source {
            Source::NetCdf4(attribute) => attribute.data_type(),
            Source::Classic(attribute) => attribute.data_type(),
            Source::AboutFile { .. } => &DataType::Atomic(Atomic::Int),
            Source::Draft(attribute) => &attribute.data_type,
            Source::Renamed { of, .. } => of.data_type(),
        }
    }

    /// Number of elements; a char attribute's bytes. 0 also where the file says more than 64 bits
    /// can count: asked for its values, it then gives the error.
    pub fn len(&self) -> u64 {
        match &self.source {
            Source::NetCdf4(attribute) => attribute.len(),
            Source::Classic(attribute) => attribute.len(),
            Source::AboutFile { .. } => 1,
            Source::Draft(attribute) => attribute.values.len() as u64,
            Source::Renamed { of, .. } => of.len(),
        }
    }

    /// Bytes that a classic header keeps for its name, where they are more than its own; else 0.
    pub(crate) fn name_room(&self) -> u64 {
        match &self.source {
            Source::Classic(attribute) => attribute.name_room(),
            Source::Draft(DraftAttribute { name_room, .. }) | Source::Renamed { name_room, .. } => {
                *name_room
            }
            Source::NetCdf4(_) | Source::AboutFile { .. } => 0,
        }
    }

    /// The same under another name, for which a classic header keeps so many bytes.
    pub(crate) fn renamed(&self, name: &Arc<str>, name_room: u64) -> Self {
        let name = Arc::clone(name);
        let source = match &self.source {
            Source::Draft(attribute) => {
                Source::Draft(DraftAttribute { name, name_room, ..attribute.clone() })
            }
            Source::Renamed { of, .. } => Source::Renamed { name, name_room, of: Arc::clone(of) },
            _ => Source::Renamed { name, name_room, of: Arc::new(self.clone()) },
        };
        Self { source }
    }

    /// True where it has no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Its values, decoded now. Strings of variable length and sequences are read from the file.
    ///
    /// # Errors
    /// The file has fewer bytes than the elements take, elements of a kind that cannot be decoded,
    /// or strings or sequences that cannot be read.
    pub fn values(&self) -> Result<Values> {
        match &self.source {
            Source::NetCdf4(attribute) => attribute.values(),
            Source::Classic(attribute) => attribute.values(),
            Source::AboutFile { value, .. } => Ok(Values::I32(vec![*value])),
            Source::Draft(attribute) => Ok(Values::clone(&attribute.values)),
            Source::Renamed { of, .. } => of.values(),
        }
    }

    /// The bytes of its values as this machine's memory has them, where they stand somewhere in just that
    /// form: chars, and numbers in this machine's byte order. `None` says nothing else than that
    /// [`Attribute::values`] has to be asked.
    pub fn native_bytes(&self) -> Option<&[u8]> {
        match &self.source {
            Source::NetCdf4(attribute) => attribute.native_bytes(),
            Source::Renamed { of, .. } => of.native_bytes(),
            Source::Classic(_) | Source::AboutFile { .. } | Source::Draft(_) => None,
        }
    }
}

impl fmt::Debug for Attribute {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Attribute")
            .field("name", &self.name())
            .field("data_type", self.data_type())
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}
