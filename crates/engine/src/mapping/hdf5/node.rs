//! What every object has: an address, a path, a header, attributes. And what kinds there are.

use std::sync::Arc;

use isotach_format::hdf5::message::MessageType;
use isotach_format::hdf5::message::datatype::Datatype;

use super::attribute::{Attribute, Attributes};
use super::context::Context;
use super::dataset::Dataset;
use super::group::Group;
use super::header::Header;
use crate::error::{Error, ErrorKind, Result};
use crate::fault::Readable;
use crate::mapping::once::Once;

/// An object of the file, by what its header's messages make of it.
#[derive(Clone)]
pub enum Object {
    /// Has links.
    Group(Group),
    /// Has elements.
    Dataset(Dataset),
    /// A type with a name.
    Datatype(CommittedDatatype),
    /// The header is broken, is not supported, or makes none of the above.
    Unknown(Unknown),
}

/// An object that cannot be told what it is.
#[derive(Clone)]
pub struct Unknown {
    /// Address of its header.
    pub address: u64,
    /// The path by which it was reached.
    pub path: Arc<str>,
    /// Why.
    pub error: Error,
}

/// A committed (named) data type.
#[derive(Clone)]
pub struct CommittedDatatype {
    node: Node,
    datatype: Arc<Datatype>,
}

/// What every object has. Cheap to clone.
#[derive(Clone)]
pub struct Node {
    pub(super) inner: Arc<NodeInner>,
}

pub(super) struct NodeInner {
    pub(super) context: Arc<Context>,
    pub(super) path: Arc<str>,
    pub(super) header: Arc<Header>,
    pub(super) attributes: Once<Attributes>,
}

impl Object {
    /// The object whose header stands at `address`; [`Object::Unknown`] where the file has none there that
    /// can be read.
    ///
    /// # Errors
    /// Storage failed, so that nobody knows.
    pub(super) fn open(context: &Arc<Context>, address: u64, path: Arc<str>) -> Result<Self> {
        match context.header(address).map_err(|error| error.at(&path)).or_fault()? {
            Ok(header) => Self::of(Node::new(context, header, path)),
            Err(error) => Ok(Self::Unknown(Unknown { address, path, error })),
        }
    }

    /// libhdf5's rules, in its order (`H5O__obj_class_real`).
    fn of(node: Node) -> Result<Self> {
        let header = node.header();
        let has = |kind| header.find(kind).is_some();
        if has(MessageType::SYMBOL_TABLE) || has(MessageType::LINK_INFO) {
            return Ok(Self::Group(Group::new(node)));
        }
        if has(MessageType::DATATYPE) && has(MessageType::DATASPACE) {
            return Ok(Self::Dataset(Dataset::new(node)));
        }
        Ok(match node.datatype_message().or_fault()? {
            Ok((datatype, _)) => Self::Datatype(CommittedDatatype { node, datatype }),
            Err(error) => Self::Unknown(Unknown {
                address: node.address(),
                path: Arc::clone(node.path()),
                error,
            }),
        })
    }

    /// The same object under the path by which a soft or external link reaches it.
    pub(super) fn renamed(self, path: &Arc<str>) -> Self {
        match self {
            Self::Unknown(unknown) => Self::Unknown(Unknown { path: Arc::clone(path), ..unknown }),
            Self::Group(group) => Self::Group(Group::new(group.node().renamed(path))),
            Self::Dataset(dataset) => Self::Dataset(Dataset::new(dataset.node().renamed(path))),
            Self::Datatype(CommittedDatatype { node, datatype }) => {
                Self::Datatype(CommittedDatatype { node: node.renamed(path), datatype })
            }
        }
    }

    /// What every object has; `None` for an unknown one.
    pub fn node(&self) -> Option<&Node> {
        match self {
            Self::Group(group) => Some(group.node()),
            Self::Dataset(dataset) => Some(dataset.node()),
            Self::Datatype(datatype) => Some(datatype.node()),
            Self::Unknown(_) => None,
        }
    }

    /// The path by which it was reached.
    pub fn path(&self) -> &Arc<str> {
        match self {
            Self::Unknown(unknown) => &unknown.path,
            Self::Group(group) => group.node().path(),
            Self::Dataset(dataset) => dataset.node().path(),
            Self::Datatype(datatype) => datatype.node().path(),
        }
    }

    /// Address of its header.
    pub fn address(&self) -> u64 {
        match self {
            Self::Unknown(unknown) => unknown.address,
            Self::Group(group) => group.node().address(),
            Self::Dataset(dataset) => dataset.node().address(),
            Self::Datatype(datatype) => datatype.node().address(),
        }
    }
}

impl CommittedDatatype {
    /// What every object has.
    pub fn node(&self) -> &Node {
        &self.node
    }

    /// The type.
    pub fn datatype(&self) -> &Arc<Datatype> {
        &self.datatype
    }
}

impl Node {
    pub(super) fn new(context: &Arc<Context>, header: Arc<Header>, path: Arc<str>) -> Self {
        let context = Arc::clone(context);
        let attributes = Once::new();
        Self { inner: Arc::new(NodeInner { context, path, header, attributes }) }
    }

    /// The path by which it was reached; `/` for the root group.
    pub fn path(&self) -> &Arc<str> {
        &self.inner.path
    }

    /// Address of its header: two paths with the same address are the same object of a file.
    pub fn address(&self) -> u64 {
        self.inner.header.address()
    }

    /// Tells apart the files that are open in this process: objects reached through external
    /// links have another number than the objects of the file with the link.
    pub fn file_id(&self) -> u64 {
        self.inner.context.file_number.get()
    }

    /// The header with all its messages.
    pub fn header(&self) -> &Arc<Header> {
        &self.inner.header
    }

    /// All attributes; read on first use, then kept.
    ///
    /// They come in order of creation where the object tracks that, else as the file has them
    /// (what libhdf5 gives to `H5Aiterate` by creation order).
    ///
    /// What is damaged or not supported, be it one attribute or the structures that hold them, is in
    /// [`Attributes::errors`].
    ///
    /// # Errors
    /// Storage failed.
    pub fn attributes(&self) -> Result<&Attributes> {
        self.inner.attributes.get_or_find(|| Attributes::read(&self.inner))
    }

    /// How many attributes the index of names has, where there is one and they are not read yet.
    pub(crate) fn indexed_attribute_count(&self) -> Result<Option<u64>> {
        match self.inner.attributes.found() {
            Some(_) => Ok(None),
            None => Attributes::dense_count(&self.inner).map_err(|error| error.at(self.path())),
        }
    }

    /// The attribute `name`, found without reading others where the file has an index of names.
    pub fn attribute(&self, name: &str) -> Result<Option<Attribute>> {
        if let Some(read) = self.inner.attributes.found() {
            return Ok(read.get(name));
        }
        Attributes::find(&self.inner, name).map_err(|error| error.at(self.path()))
    }

    /// The comment message, where there is one.
    pub fn comment(&self) -> Option<String> {
        self.inner.header.comment(&self.inner.context)
    }

    /// Hard links that lead here, as the file counts them.
    pub fn reference_count(&self) -> u32 {
        self.inner.header.reference_count()
    }

    /// An error of this object.
    pub(crate) fn error(&self, kind: ErrorKind) -> Error {
        self.error_at(self.inner.context.error(kind))
    }

    /// `error` with this object's path.
    pub(super) fn error_at(&self, error: Error) -> Error {
        error.at(self.path())
    }

    /// The data type in the header's data type message, and the address of the committed type
    /// that it is, if it is one.
    pub(super) fn datatype_message(&self) -> Result<(Arc<Datatype>, Option<u64>)> {
        let context = &self.inner.context;
        let read = || {
            let Some(message) = self.inner.header.find(MessageType::DATATYPE) else {
                let structure = "object header";
                return Err(context.bad_field(structure, self.address(), "messages", 0));
            };
            let message = message
                .decode::<Datatype>(context.sizes())
                .map_err(|error| context.structure_error(error))?;
            let (datatype, committed) = context.datatype_of(message)?;
            Ok((Arc::new(datatype), committed))
        };
        read().map_err(|error| self.error_at(error))
    }

    /// The same object under another path.
    pub(super) fn renamed(&self, path: &Arc<str>) -> Self {
        Self::new(&self.inner.context, Arc::clone(&self.inner.header), Arc::clone(path))
    }
}
