//! HDF5's own objects: groups, links, data sets, attributes, as the file has them.
//!
//! The station between `format`, which decodes structures, and `netcdf4`, which makes netCDF's
//! model of the objects. Nothing is read before it is asked for: opening reads the superblock and
//! the root group's header, everything else is read on first use.
//!
//! ```text
//! Objects -> Group -> Link -> Object: Group | Dataset | CommittedDatatype | Unknown
//!                               each with a Node: address, path, header, attributes
//!            Dataset -> datatype, data space, layout, filters, fill value -> read::Array
//! ```
//!
//! `context` is the open file and what is kept of it; `header` gathers an object's messages;
//! `heap`, `btree` and `chunks` walk the structures that messages point at; `virtual_dataset` and
//! `other_files` go beyond the file.

mod array;
mod attribute;
mod btree2;
mod chunks;
mod context;
mod dataset;
mod filters;
mod fractal_heap;
mod global_heap;
mod group;
mod header;
mod heap_references;
mod kept;
mod link;
mod node;
mod other_files;
mod packed;
mod reach;
mod resolve;
mod shared_message;
mod space;
mod stored;
mod survey;
mod values;
mod virtual_dataset;
mod virtual_selection;

use std::path::PathBuf;
use std::sync::Arc;

use isotach_format::hdf5::message::MessageType;
pub use isotach_format::hdf5::message::dataspace::{Dataspace, Dimension};
pub use isotach_format::hdf5::message::datatype;
pub use isotach_format::hdf5::message::datatype::Datatype;
use isotach_format::hdf5::superblock::{BtreeK, Superblock};

pub use attribute::{Attribute, Attributes};
pub use dataset::{Dataset, ExternalFile, Fill, FillStatus, LayoutKind, VirtualSource};
pub(crate) use filters::pipeline_of;
pub use group::Group;
pub use header::Header;
pub(crate) use heap_references::HeapReferences;
pub use link::{Link, LinkTarget};
pub use node::{CommittedDatatype, Node, Object, Unknown};
pub(crate) use space::Pieces;
pub use stored::stored_type;
pub(super) use stored::{stored_float, stored_integer};

use crate::error::Result;
use crate::file::OpenOptions;
use crate::storage::{MetadataReader, Storage};
use context::Context;
use other_files::OtherFiles;

/// The objects of an open HDF5 file. Cheap to clone; may be used by many threads at once.
#[derive(Clone)]
pub struct Objects {
    context: Arc<Context>,
    root: Group,
}

impl Objects {
    /// Opens what `reader` delivers: reads the superblock and the root group's header.
    ///
    /// # Errors
    /// There is no superblock, or the root group's header cannot be read.
    pub fn open(reader: MetadataReader, options: &OpenOptions) -> Result<Self> {
        Self::open_at(reader, options, None)
    }

    /// The same of a file that the caller opened by its path.
    pub(crate) fn open_at(
        reader: MetadataReader,
        options: &OpenOptions,
        path: Option<Arc<PathBuf>>,
    ) -> Result<Self> {
        Self::of(Context::open(reader, options, OtherFiles::of_first(options, path))?)
    }

    fn of(context: Arc<Context>) -> Result<Self> {
        let root = context.root()?;
        Ok(Self { context, root })
    }

    /// Has all structures that are read from now on be kept.
    pub(crate) fn keep_all(&self) {
        self.context.keep_all();
    }

    /// The file's name as it was given to open.
    pub fn file_name(&self) -> &Arc<str> {
        &self.context.name
    }

    /// The superblock.
    pub fn superblock(&self) -> &Superblock {
        &self.context.superblock
    }

    /// Sizes of version-1 B-tree nodes; from version 2 on, the superblock's extension has them.
    ///
    /// # Errors
    /// The extension cannot be read.
    pub fn btree_k(&self) -> Result<BtreeK> {
        let superblock = &self.context.superblock;
        let Some(extension) = superblock.extension_address else { return Ok(superblock.btree_k) };
        let stored = Header::read(&self.context, extension)?.message(&self.context)?;
        Ok(stored.unwrap_or(superblock.btree_k))
    }

    /// Whether the superblock, or its extension, says that the file is more than its bytes: several
    /// files, or structures of which others stand in an image of libhdf5's cache.
    ///
    /// # Errors
    /// The extension cannot be read.
    pub(crate) fn has_other_parts(&self) -> Result<bool> {
        let superblock = &self.context.superblock;
        let Some(extension) = superblock.extension_address else {
            return Ok(superblock.driver_information_address.is_some());
        };
        let extension = Header::read(&self.context, extension)?;
        let has = |kind| extension.find(kind).is_some();
        Ok(has(MessageType::DRIVER_INFO) || has(MessageType::CACHE_IMAGE))
    }

    /// The pieces of the file that something is in, as addresses and bytes, in their order. What lies
    /// between them, up to the end of the file, nothing leads to: writers may use it.
    ///
    /// # Errors
    /// Not all that the file has can be told: it cannot be read, or it is nothing that this library
    /// keeps account of. Such a file has no space that may be used.
    pub fn used_space(&self) -> Result<Vec<(u64, u64)>> {
        survey::used_space(self)
    }

    /// That headers, links, attributes, values and what leads to these stand apart from each other, as whoever changes one of
    /// them takes for granted. What cannot be read is passed over.
    ///
    /// # Errors
    /// They lie over each other.
    pub(crate) fn check_apart(&self) -> Result<()> {
        survey::check_apart(self)
    }

    /// Bytes before the superblock, which belong to somebody else.
    pub fn user_block_bytes(&self) -> u64 {
        self.context.superblock.base_address
    }

    /// The bytes the file is read from.
    pub fn storage(&self) -> &Arc<dyn Storage> {
        &self.context.storage
    }

    /// The root group.
    pub fn root(&self) -> &Group {
        &self.root
    }

    /// The object whose header is at `address` (as object references have it); `path` is what
    /// it is called in errors and in paths of what lies below it.
    ///
    /// # Errors
    /// Storage failed. That there is no object that can be read is none: see [`Object::Unknown`].
    pub fn object_at(&self, address: u64, path: &str) -> Result<Object> {
        Object::open(&self.context, address, path.into())
    }

    /// The object at `path` such as `/group/data`, links followed on the way; `None` where there
    /// is no link of that name.
    pub fn object(&self, path: &str) -> Result<Option<Object>> {
        self.root.object(path)
    }
}
