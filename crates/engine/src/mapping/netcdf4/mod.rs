//! NetCDF-4: dimensions, types, variables and groups over HDF5 objects.
//!
//! Between `hdf5`, which shows the objects as the file has them, and the public face. Nothing is
//! read before it is asked for: a variable is found by its name alone, its dimensions by the
//! addresses of their scales, and a group's objects are looked through only when they are listed.
//!
//! ```text
//! group     -> group        members: one look at every object of a group
//! data set  -> variable     and, where it is a dimension scale, -> dimension
//! data type -> user type    types: HDF5's types in netCDF's words
//! attribute -> attribute    without those that HDF5 and netCDF keep for themselves
//! ```
//! What needs the whole file is found on first need and kept: `numbering` (ids of dimensions that
//! the file does not number), `phony` (dimensions of data sets without any, as in plain HDF5
//! files), `scope` (the types of all groups), `anonymous` (types without a name), `extents` (lengths of
//! unlimited dimensions).
//!
//! One odd object never costs the file: what cannot be shown is left out, with the reason.

mod anonymous;
mod attribute;
mod dimension;
mod extents;
mod group;
mod member;
mod numbering;
mod phony;
mod reserved;
mod scope;
#[cfg(test)]
mod tests;
mod types;
mod variable;

use std::path::PathBuf;
use std::sync::Arc;

use self::anonymous::AnonymousTypes;
pub(crate) use self::attribute::NetCdf4Attribute;
use self::group::{GroupData, NetCdf4Group};
use self::numbering::Numbering;
use self::phony::PhonyDimensions;
pub(crate) use self::reserved::{
    CLASS, CLASSIC_MODEL, COORDINATES, DIMENSION_ID, DIMENSION_LIST, DIMENSION_SCALE,
    DIMENSION_WITHOUT_VARIABLE, NAME, NOT_A_COORDINATE, OWN_PROPERTIES, PROPERTIES, REFERENCE_LIST,
    is_hidden as is_reserved,
};
use self::scope::DefinedType;
pub(crate) use self::types::{default_fill, stored_type};
pub(crate) use self::variable::{endianness, fill_beyond};
use super::hdf5::Objects;
use super::once::Once;
use super::{FileMapping, GroupMapping};
use crate::error::Result;
use crate::file::{Format, OpenOptions};
use crate::storage::MetadataReader;

/// Groups in groups deeper than this are left out: walks over the tree recurse. Real files stay
/// below 30.
const GROUP_DEPTH: u32 = 256;

/// Paths to groups that are followed, beyond the groups that the file has room for: a few dozen
/// hard links can make more paths than there is time for.
const GROUP_PATHS: u64 = 1 << 16;
/// Bytes that a group takes in a file, at least.
const GROUP_BYTES: u64 = 32;

/// Which object: the file's number in this process, and the address of the object's header.
type ObjectId = (u64, u64);

/// What is known of an open file. Groups and variables are kept in the tree below `root`.
struct Contents {
    objects: Objects,
    root: Arc<GroupData>,
    is_classic: Once<bool>,
    numbering: Once<Numbering>,
    phony: Once<PhonyDimensions>,
    committed: Once<Vec<DefinedType>>,
    anonymous: Once<AnonymousTypes>,
}

struct NetCdf4File {
    contents: Arc<Contents>,
}

/// Opens what `reader` delivers as an HDF5 file: reads the superblock and the root group's header.
pub(crate) fn open(
    reader: MetadataReader,
    options: &OpenOptions,
    path: Option<Arc<PathBuf>>,
) -> Result<Arc<dyn FileMapping>> {
    let paths = GROUP_PATHS + reader.file_len() / GROUP_BYTES;
    let objects = Objects::open_at(reader, options, path)?;
    let root = Arc::new(GroupData::root(objects.root().clone(), objects.file_name(), paths));
    let contents = Contents {
        objects,
        root,
        is_classic: Once::new(),
        numbering: Once::new(),
        phony: Once::new(),
        committed: Once::new(),
        anonymous: Once::new(),
    };
    Ok(Arc::new(NetCdf4File { contents: Arc::new(contents) }))
}

impl FileMapping for NetCdf4File {
    fn root(&self) -> Arc<dyn GroupMapping> {
        Arc::new(NetCdf4Group::new(&self.contents, &self.contents.root))
    }

    fn format(&self) -> Result<Format> {
        Ok(match self.contents.is_classic()? {
            true => Format::NetCdf4Classic,
            false => Format::NetCdf4,
        })
    }

    fn keep_all(&self) {
        self.contents.objects.keep_all();
    }

    fn hdf5(&self) -> Option<&Objects> {
        Some(&self.contents.objects)
    }
}

impl Contents {
    /// True where the file says that it keeps to the classic model.
    fn is_classic(&self) -> Result<bool> {
        let find = || Ok(self.root.group.node().attribute(reserved::CLASSIC_MODEL)?.is_some());
        self.is_classic.get_or_find(find).copied()
    }

    fn numbering(&self) -> Result<&Numbering> {
        self.numbering.get_or_find(|| Numbering::find(self))
    }

    fn phony(&self) -> Result<&PhonyDimensions> {
        self.phony.get_or_find(|| PhonyDimensions::find(self))
    }

    /// The committed types of all groups.
    fn committed_types(&self) -> Result<&[DefinedType]> {
        self.committed.get_or_find(|| scope::of_all_groups(self)).map(Vec::as_slice)
    }

    fn anonymous(&self) -> Result<&AnonymousTypes> {
        self.anonymous.get_or_find(|| AnonymousTypes::find(self))
    }

    /// All groups, each before those below it.
    fn groups(&self) -> Result<Vec<Arc<GroupData>>> {
        self.root.with_descendants()
    }
}

/// A number that the root group of every file that netCDF-4 has written tells without having it as an
/// attribute.
pub(crate) fn about_new_file(name: &str) -> Option<(&'static str, i32)> {
    match name {
        reserved::IS_NETCDF4 => Some((reserved::IS_NETCDF4, 1)),
        reserved::SUPERBLOCK_VERSION => Some((reserved::SUPERBLOCK_VERSION, 2)),
        _ => None,
    }
}
