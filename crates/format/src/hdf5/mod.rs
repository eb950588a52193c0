//! HDF5: "HDF5 File Format Specification Version 4.0".

pub mod btree;
pub mod chunk_index;
#[cfg(test)]
mod damage;
pub mod group;
pub mod heap;
pub mod message;
pub mod object_header;
pub mod selection;
pub mod superblock;
pub mod text;
pub mod virtual_mapping;

/// Widths of addresses and lengths, which the superblock fixes for the whole file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Bytes of an address ("size of offsets").
    pub offset: usize,
    /// Bytes of a length ("size of lengths").
    pub length: usize,
}

/// How structures are encoded that can be encoded in several ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Encoding {
    /// Widths of addresses and lengths in the file.
    pub sizes: Sizes,
    /// Whom the versions are chosen for.
    pub oldest_reader: OldestReader,
}

/// The oldest HDF5 library that must be able to read what is written.
///
/// The versions are those that libhdf5 chooses where this is its lower bound
/// (`H5Pset_libver_bounds`); what an older version cannot say gets a newer one all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum OldestReader {
    /// HDF5 1.6 and before; what h5py writes when nothing is asked for.
    V16,
    /// HDF5 1.8; what libnetcdf writes.
    #[default]
    V18,
    /// HDF5 1.10.
    V110,
}

impl Default for Sizes {
    fn default() -> Self {
        Self { offset: 8, length: 8 }
    }
}
