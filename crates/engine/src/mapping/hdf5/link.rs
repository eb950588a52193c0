//! Links: the names by which a group holds objects.

use std::sync::Arc;

use isotach_format::hdf5::{message, text};

/// A link of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    name: Arc<str>,
    /// The name's bytes where they are not UTF-8.
    raw_name: Option<Box<[u8]>>,
    /// What it leads to.
    pub target: LinkTarget,
    /// Its place in the order of creation, where the group tracks that.
    pub creation_order: Option<i64>,
}

/// What a link leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkTarget {
    /// The object whose header has this address.
    Hard {
        /// Address of the object header.
        address: u64,
    },
    /// A path, taken from the group the link is in unless it begins with `/`.
    Soft {
        /// The path.
        path: Arc<str>,
    },
    /// An object in another file.
    External {
        /// The other file's name.
        file: Arc<str>,
        /// Path of the object from that file's root group.
        path: Arc<str>,
    },
    /// A link of a class that a program registered.
    User {
        /// The class's number, from 65 on.
        class: u8,
        /// What the program stored.
        data: Arc<[u8]>,
    },
}

impl Link {
    /// A link called `name`.
    pub(super) fn new(name: &[u8], target: LinkTarget, creation_order: Option<i64>) -> Self {
        let (name, raw_name) = match std::str::from_utf8(name) {
            Ok(name) => (name.into(), None),
            Err(_) => (text::text(name).into(), Some(name.into())),
        };
        Self { name, raw_name, target, creation_order }
    }

    /// The link that a link message tells.
    pub(super) fn from_message(message: &message::Link) -> Self {
        let target = match &message.target {
            message::link::LinkTarget::Hard { address } => LinkTarget::Hard { address: *address },
            message::link::LinkTarget::Soft { path } => LinkTarget::soft(path),
            message::link::LinkTarget::External { file, path } => LinkTarget::External {
                file: text::text(file).into(),
                path: text::text(path).into(),
            },
            message::link::LinkTarget::UserDefined { class, data } => {
                LinkTarget::User { class: *class, data: Arc::clone(data) }
            }
        };
        Self::new(&message.name, target, message.creation_order)
    }

    /// Its name; bytes that are not UTF-8 stand as `\xNN`.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// The name's bytes as the file has them.
    pub fn name_bytes(&self) -> &[u8] {
        self.raw_name.as_deref().unwrap_or(self.name.as_bytes())
    }
}

impl LinkTarget {
    /// A soft link to the path with these bytes.
    pub(super) fn soft(path: &[u8]) -> Self {
        Self::Soft { path: text::text(path).into() }
    }
}
