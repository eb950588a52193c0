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

impl Default for Sizes {
    fn default() -> Self {
        Self { offset: 8, length: 8 }
    }
}
