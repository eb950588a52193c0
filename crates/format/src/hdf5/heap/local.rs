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
use crate::output::Output;

const STRUCTURE: &str = "local heap";

/// A free-list head with this value means that nothing is free.
const FREE_NONE: u64 = 1;

/// Bytes of the smallest data segment: that of an empty group as libhdf5 makes it.
const MIN_SEGMENT_BYTES: usize = 88;

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

    /// Bytes of the header.
    pub fn byte_len(sizes: Sizes) -> usize {
        (8 + 2 * sizes.length + sizes.offset).next_multiple_of(8)
    }

    /// The header's bytes.
    pub fn encode(&self, sizes: Sizes) -> Vec<u8> {
        let mut output = Output::with_capacity(Self::byte_len(sizes));
        output.put(b"HEAP\0\0\0\0");
        output.uint(self.segment_bytes, sizes.length);
        output.uint(self.free_list_offset.unwrap_or(FREE_NONE), sizes.length);
        output.uint(self.segment_address, sizes.offset);
        output.pad_to(8);
        output.into_bytes()
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

/// The names of a heap that is being built: header and data segment behind each other.
///
/// ```text
/// segment: | 0  8, the empty name | name, NUL, pad to 8 | ... | free block: next = 1   length |
///          | its bytes   length | zeros |
/// ```
#[derive(Debug, Clone)]
pub struct LocalHeapBuilder {
    segment: Output,
    sizes: Sizes,
}

impl LocalHeapBuilder {
    /// A heap with nothing but the empty name, at offset 0, which the first key of a group's
    /// B-tree is.
    pub fn new(sizes: Sizes) -> Self {
        let mut segment = Output::new();
        segment.zeros(8);
        Self { segment, sizes }
    }

    /// Takes a name, or the value of a soft link, in; returns its offset.
    pub fn push(&mut self, name: &[u8]) -> u64 {
        let offset = self.segment.len() as u64;
        self.segment.put(name);
        self.segment.u8(0);
        self.segment.pad_to(8);
        offset
    }

    /// Bytes of header and data segment.
    pub fn byte_len(&self) -> u64 {
        (LocalHeap::byte_len(self.sizes) + self.segment_bytes()) as u64
    }

    /// The bytes of header and data segment at `address`.
    ///
    /// # Errors
    /// An address or size too large for its field.
    pub fn encode(&self, address: u64) -> Result<Vec<u8>> {
        self.sizes.check_space(STRUCTURE, address, self.byte_len())?;
        let used = self.segment.len();
        let free = self.segment_bytes() - used;
        let header = LocalHeap {
            address,
            segment_address: address + LocalHeap::byte_len(self.sizes) as u64,
            segment_bytes: self.segment_bytes() as u64,
            free_list_offset: (free > 0).then_some(used as u64),
        };
        let mut output = Output::with_capacity(self.byte_len() as usize);
        output.put(&header.encode(self.sizes));
        output.put(self.segment.bytes());
        if free > 0 {
            output.uint(FREE_NONE, self.sizes.length);
            output.uint(free as u64, self.sizes.length);
            output.zeros(free - 2 * self.sizes.length);
        }
        Ok(output.into_bytes())
    }

    /// Bytes of the segment: what is free behind the names has room for a free block, or is not.
    fn segment_bytes(&self) -> usize {
        let free_block_bytes = (2 * self.sizes.length).next_multiple_of(8);
        match MIN_SEGMENT_BYTES.saturating_sub(self.segment.len()) {
            0 => self.segment.len(),
            free => self.segment.len() + free.max(free_block_bytes),
        }
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
        assert_eq!(heap.encode(Sizes::default()), header());
        let segment = b"\0\0\0\0temperature\0end";
        assert_eq!(heap.name(segment, 4).unwrap(), b"temperature");
        assert_eq!(heap.name(segment, 0).unwrap(), b"");
        assert!(heap.name(segment, 16).is_err(), "no NUL follows");
        assert!(heap.name(segment, 20).is_err());
        assert!(heap.name(segment, u64::MAX).is_err());
    }

    #[test]
    fn built_heaps() {
        for sizes in [Sizes::default(), Sizes { offset: 4, length: 4 }] {
            for count in 0..20 {
                let mut builder = LocalHeapBuilder::new(sizes);
                let names: Vec<_> = (0..count).map(|index| format!("name{index}")).collect();
                let offsets: Vec<_> = names.iter().map(|n| builder.push(n.as_bytes())).collect();
                let bytes = builder.encode(4096).unwrap();
                assert_eq!(bytes.len() as u64, builder.byte_len());
                let heap = LocalHeap::decode(&bytes, 4096, sizes).unwrap();
                let segment = &bytes[(heap.segment_address - 4096) as usize..];
                assert_eq!(segment.len() as u64, heap.segment_bytes);
                assert!(segment.len() >= 88 && segment.len().is_multiple_of(8));
                for (name, &offset) in names.iter().zip(&offsets) {
                    assert_eq!(heap.name(segment, offset).unwrap(), name.as_bytes());
                }
                assert_eq!(heap.name(segment, 0).unwrap(), b"");
                // Ten names of 6 bytes fit the smallest segment behind the empty one.
                let used = 8 + 8 * count;
                assert_eq!(heap.free_list_offset, (used < 88).then_some(used as u64));
                if let Some(offset) = heap.free_list_offset {
                    let mut free = Cursor::new(&segment[offset as usize..], "free block", 0);
                    assert_eq!(free.uint(sizes.length).unwrap(), 1);
                    assert_eq!(free.uint(sizes.length).unwrap(), heap.segment_bytes - offset);
                }
            }
        }
    }

    #[test]
    fn undefined_segment() {
        let mut bytes = header();
        bytes[24..].fill(0xff);
        let error = LocalHeap::decode(&bytes, 680, Sizes::default()).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Field { field: "data segment address", .. }));
    }
}
