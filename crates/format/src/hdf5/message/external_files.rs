//! The external data files message: contiguous data that stands in other files.
//!
//! ```text
//!   0 version (1) | - (3) | allocated slots (2) | used slots (2) | local heap address (O)
//!     for each used slot: name offset in the heap (L) | offset in the file (L) | size (L)
//! ```
//! Specification: IV.A.2.h "The Data Storage - External Data Files Message".

use super::{Message, MessageType};
use crate::cursor::Cursor;
use crate::error::Result;
use crate::hdf5::{Encoding, Sizes};
use crate::output::Output;

pub(super) const NAME: &str = "external data files message";

/// The files that hold a data set's bytes, one after another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExternalFileList {
    /// Address of the local heap that holds the files' names.
    pub heap_address: u64,
    /// In the order of the data.
    pub slots: Vec<ExternalFile>,
}

/// A part of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExternalFile {
    /// Where the name stands in the heap.
    pub name_offset: u64,
    /// Where the data begins in the file.
    pub file_offset: u64,
    /// Bytes of data; `None` is unlimited.
    pub len_bytes: Option<u64>,
}

impl Message for ExternalFileList {
    const TYPE: MessageType = MessageType::EXTERNAL_FILES;
    const NAME: &'static str = NAME;

    fn decode_fields(cursor: &mut Cursor<'_>, sizes: Sizes) -> Result<Self> {
        cursor.version(1)?;
        cursor.skip(3)?;
        let allocated = cursor.u16()?;
        let used = cursor.u16()?;
        if used > allocated {
            return Err(cursor.bad_field("used slots", u64::from(used)));
        }
        let heap_address = cursor.address_field(sizes.offset)?;
        let heap_address =
            heap_address.ok_or_else(|| cursor.bad_field("local heap address", u64::MAX))?;
        cursor.require(u64::from(used) * 3 * sizes.length as u64)?;
        let slots = (0..used)
            .map(|_| {
                Ok(ExternalFile {
                    name_offset: cursor.uint(sizes.length)?,
                    file_offset: cursor.uint(sizes.length)?,
                    len_bytes: cursor.address_field(sizes.length)?,
                })
            })
            .collect::<Result<_>>()?;
        Ok(Self { heap_address, slots })
    }

    fn encode_fields(&self, output: &mut Output, encoding: Encoding) -> Result<()> {
        let sizes = encoding.sizes;
        output.u8(1);
        output.zeros(3);
        for _ in ["allocated slots", "used slots"] {
            output.sized("number of files", self.slots.len() as u64, 2)?;
        }
        output.sized_address("local heap address", Some(self.heap_address), sizes.offset)?;
        for slot in &self.slots {
            output.sized("name offset", slot.name_offset, sizes.length)?;
            output.sized("offset in the file", slot.file_offset, sizes.length)?;
            output.sized_address("size", slot.len_bytes, sizes.length)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hdf5::damage::survive;

    #[test]
    fn a_sized_and_an_unlimited_file() {
        let decode =
            |bytes: &[u8]| ExternalFileList::decode(bytes, 0, Sizes { offset: 2, length: 2 });
        let valid = [1, 0, 0, 0, 4, 0, 2, 0, 0x40, 0, 8, 0, 16, 0, 100, 0, 24, 0, 0, 0, 255, 255];
        let list = decode(&valid).unwrap();
        assert_eq!(list.heap_address, 0x40);
        let first = ExternalFile { name_offset: 8, file_offset: 16, len_bytes: Some(100) };
        let second = ExternalFile { name_offset: 24, file_offset: 0, len_bytes: None };
        assert_eq!(list.slots, [first, second]);
        survive(&valid, |bytes| drop(decode(bytes)));
    }
}
