//! Local heap: the names of the links of one group of the first kind.
//!
//! Its data segment usually follows the header but may have moved; the engine fetches it whole and
//! every symbol table entry and B-tree key then finds its name in it.
//!
//! ```text
//! | "HEAP" | version 1 = 0 | reserved 3 | data segment size   length |
//! | head of free list   length | data segment address   offset |
//! ```
//! Section III.D, "Disk Format: Level 1D - Local Heaps".

use super::super::Sizes;
use crate::cursor::Cursor;
use crate::error::{Error, ErrorKind, Result};

const STRUCTURE: &str = "local heap";

/// A free-list head with this value means that nothing is free.
const FREE_NONE: u64 = 1;

/// Where the data segment lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalHeap {
    /// The header's own address.
    pub address: u64,
    /// The data segment's address.
    pub segment_address: u64,
    /// The data segment's bytes.
    pub segment_bytes: u64,
    /// Offset in the segment of the first free block; `None` where nothing is free.
    pub free_list_offset: Option<u64>,
}

impl LocalHeap {
    /// Reads the header that stands at `address`.
    ///
    /// # Errors
    /// Signature, version, or a data segment without address.
    pub fn decode(bytes: &[u8], address: u64, sizes: Sizes) -> Result<Self> {
        let mut cursor = Cursor::new(bytes, STRUCTURE, address);
        cursor.signature(b"HEAP")?;
        cursor.version(0)?;
        cursor.skip(3)?;
        cursor.require(2 * sizes.length as u64 + sizes.offset as u64)?;
        let segment_bytes = cursor.uint(sizes.length)?;
        // All ones is "none" too: the specification allows the undefined address here.
        let free_list_offset = cursor.address_field(sizes.length)?.filter(|&o| o != FREE_NONE);
        let segment_address = cursor
            .address_field(sizes.offset)?
            .ok_or_else(|| cursor.bad_field("data segment address", u64::MAX))?;
        Ok(Self { address, segment_address, segment_bytes, free_list_offset })
    }

    /// The name that begins at `offset` of the data segment, without the NUL that ends it.
    ///
    /// # Errors
    /// The offset lies outside `segment`, or no NUL follows it.
    pub fn name<'a>(&self, segment: &'a [u8], offset: u64) -> Result<&'a [u8]> {
        let fault = || Error {
            structure: STRUCTURE,
            address: self.address,
            kind: ErrorKind::Field { field: "name offset", value: offset },
        };
        let rest = usize::try_from(offset).ok().and_then(|start| segment.get(start..));
        let rest = rest.ok_or_else(fault)?;
        let end = rest.iter().position(|&byte| byte == 0).ok_or_else(fault)?;
        Ok(&rest[..end])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> Vec<u8> {
        let mut bytes = b"HEAP\0\0\0\0".to_vec();
        for field in [88_u64, 1, 712] {
            bytes.extend(field.to_le_bytes());
        }
        bytes
    }

    #[test]
    fn header_and_names() {
        let heap = LocalHeap::decode(&header(), 680, Sizes::default()).unwrap();
        assert_eq!((heap.segment_address, heap.segment_bytes), (712, 88));
        assert_eq!(heap.free_list_offset, None);
        let segment = b"\0\0\0\0temperature\0end";
        assert_eq!(heap.name(segment, 4).unwrap(), b"temperature");
        assert_eq!(heap.name(segment, 0).unwrap(), b"");
        assert!(heap.name(segment, 16).is_err(), "no NUL follows");
        assert!(heap.name(segment, 20).is_err());
        assert!(heap.name(segment, u64::MAX).is_err());
    }

    #[test]
    fn undefined_segment() {
        let mut bytes = header();
        bytes[24..].fill(0xff);
        let error = LocalHeap::decode(&bytes, 680, Sizes::default()).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Field { field: "data segment address", .. }));
    }
}
