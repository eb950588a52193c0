//! HDF5: "HDF5 File Format Specification Version 4.0".

pub mod btree;
pub mod chunk_index;
#[cfg(test)]
pub(crate) mod damage;
pub mod group;
pub mod heap;
pub mod message;
pub mod object_header;
pub mod selection;
pub mod superblock;
pub mod text;
pub mod virtual_mapping;

use crate::error::{Error, ErrorKind, Result};
use crate::limits;

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

impl Sizes {
    /// An error unless a structure of `byte_len` bytes can be built whole at `address`: all of its
    /// addresses and lengths must fit their fields, and it must not be beyond
    /// [`limits::BUILT_BYTES`].
    fn check_space(self, structure: &'static str, address: u64, byte_len: u64) -> Result<()> {
        let most = |width: usize| u64::MAX >> (64 - 8 * width.clamp(1, 8));
        let last_address = most(self.offset).min(limits::FILE_BYTES);
        let kind = if byte_len > most(self.length).min(limits::BUILT_BYTES) {
            ErrorKind::Limit { field: "size", value: byte_len, limit: limits::BUILT_BYTES }
        } else if address > last_address - byte_len.min(last_address) {
            ErrorKind::Limit { field: "address", value: address, limit: last_address }
        } else {
            return Ok(());
        };
        Err(Error { structure, address, kind })
    }
}

impl Default for Sizes {
    fn default() -> Self {
        Self { offset: 8, length: 8 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn space_for_structures() {
        let (wide, narrow) = (Sizes::default(), Sizes { offset: 4, length: 2 });
        assert!(wide.check_space("test", 1 << 62, 1 << 32).is_ok());
        assert!(wide.check_space("test", 0, (1 << 32) + 1).is_err());
        assert!(wide.check_space("test", limits::FILE_BYTES, 1).is_err());
        assert!(narrow.check_space("test", 0xffff_0000, 0xffff).is_ok());
        assert!(narrow.check_space("test", 0xffff_0001, 0xffff).is_err());
        assert!(narrow.check_space("test", 0, 0x1_0000).is_err());
        assert!(narrow.check_space("test", u64::MAX, 0).is_err());
    }
}
