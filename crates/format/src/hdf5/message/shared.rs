//! A shared message: the place where a message's bytes really are.
//!
//! ```text
//! version 1                     version 2              version 3
//!   0 version | type | - (6)      0 version | type       0 version | type
//!   8 - (L) | address (O)         2 address (O)          2 type 1: heap ID (8), else address (O)
//! ```
//! O, L = size of offsets, of lengths. Specification: IV.A.2 "Shared Message".

use crate::cursor::Cursor;
use crate::error::{ErrorKind, Result};
use crate::hdf5::message::Message;
use crate::hdf5::{Encoding, Sizes};
use crate::output::Output;

const NAME: &str = "shared message";

const SHARING_HEAP: u8 = 1;
const SHARING_OBJECT: u8 = 2;

/// A message, or the reference that leads to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MaybeShared<T> {
    /// The message itself.
    Own(T),
    /// Where it is.
    Shared(SharedReference),
}

/// Where a shared message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SharedReference {
    /// In another object's header, such as that of a committed datatype: the header's address.
    Object(u64),
    /// In the fractal heap of the file's shared messages of this type: the heap ID.
    Heap([u8; 8]),
}

impl<T> MaybeShared<T> {
    /// The message where it is not shared.
    pub fn own(self) -> Option<T> {
        match self {
            Self::Own(message) => Some(message),
            Self::Shared(_) => None,
        }
    }

    /// True where the bytes are a reference.
    pub fn is_shared(&self) -> bool {
        matches!(self, Self::Shared(_))
    }
}

impl<M: Message> MaybeShared<M> {
    /// The message's own bytes, or those of the reference.
    ///
    /// # Errors
    /// What the format has no room for.
    pub fn encode(&self, encoding: Encoding) -> Result<Vec<u8>> {
        match self {
            Self::Own(message) => message.encode(encoding),
            Self::Shared(reference) => reference.encode(encoding.sizes),
        }
    }
}

impl SharedReference {
    /// Decodes the bytes of a message whose "shared" flag is set.
    pub fn decode(bytes: &[u8], address: u64, sizes: Sizes) -> Result<Self> {
        let mut cursor = Cursor::new(bytes, NAME, address);
        Self::decode_fields(&mut cursor, sizes).map_err(|error| error.at_end(bytes.len() as u64))
    }

    fn decode_fields(cursor: &mut Cursor<'_>, sizes: Sizes) -> Result<Self> {
        let version = cursor.u8()?;
        let sharing = cursor.u8()?;
        match (version, sharing) {
            // The place of a symbol table entry's name offset stays unused.
            (1, _) => cursor.skip(6 + sizes.length)?,
            (3, SHARING_HEAP) => return Ok(Self::Heap(cursor.array()?)),
            (2 | 3, _) => {}
            _ => return Err(cursor.error(ErrorKind::Version { found: u64::from(version) })),
        }
        cursor
            .address_field(sizes.offset)?
            .map(Self::Object)
            .ok_or_else(|| cursor.bad_field("address", u64::MAX))
    }

    /// The bytes of a message whose "shared" flag is set: version 2, which HDF5 1.6 reads, and
    /// version 3 for what only that one can say.
    ///
    /// # Errors
    /// An address that the file's addresses have no room for.
    pub fn encode(&self, sizes: Sizes) -> Result<Vec<u8>> {
        let mut output = Output::of(NAME);
        match self {
            Self::Object(address) => {
                output.put(&[2, SHARING_OBJECT]);
                output.sized_address("address", Some(*address), sizes.offset)?;
            }
            Self::Heap(id) => {
                output.put(&[3, SHARING_HEAP]);
                output.put(id);
            }
        }
        Ok(output.into_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hdf5::damage::survive;

    #[test]
    fn every_version() {
        let narrow = Sizes { offset: 2, length: 4 };
        let decode = |bytes: &[u8]| SharedReference::decode(bytes, 0, narrow);
        let first = [1, 0, 0, 0, 0, 0, 0, 0, 9, 9, 9, 9, 0x10, 0x20];
        assert_eq!(decode(&first), Ok(SharedReference::Object(0x2010)));
        assert_eq!(decode(&[2, 0, 0x10, 0x20]), Ok(SharedReference::Object(0x2010)));
        assert_eq!(decode(&[3, 2, 0x10, 0x20]), Ok(SharedReference::Object(0x2010)));
        let heap = [3, 1, 1, 2, 3, 4, 5, 6, 7, 8];
        assert_eq!(decode(&heap), Ok(SharedReference::Heap([1, 2, 3, 4, 5, 6, 7, 8])));
        assert!(decode(&[2, 0, 0xff, 0xff]).is_err());
        assert!(decode(&[4, 0, 0, 0]).is_err());
        survive(&first, |bytes| drop(decode(bytes)));
        survive(&heap, |bytes| drop(decode(bytes)));
    }
}
