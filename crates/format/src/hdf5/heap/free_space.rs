//! The free-space manager of a fractal heap: the entrance to the list of its gaps.
//!
//! Nothing here reads the list: who gives a heap's space back wants to know where it stands.
//!
//! ```text
//! | "FSHD" | version 1 = 0 | client 1 | free space   length | sections   length |
//! | serialised sections   length | others   length | classes 2 | shrink 2 | expand 2 |
//! | address bits 2 | largest section   length | section list   offset |
//! | bytes of the list that are used   length | bytes of the list   length | checksum 4 |
//! ```
//! Section III.H, "Disk Format: Level 1H - Free-space Manager".

use super::super::Sizes;
use crate::cursor::Cursor;
use crate::error::Result;

/// The header of a free-space manager.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FreeSpaceManager {
    /// Address and bytes of the list of sections; `None` where there is none in the file.
    pub sections: Option<(u64, u64)>,
}

impl FreeSpaceManager {
    /// Reads the header that stands at `address`.
    ///
    /// # Errors
    /// Signature, version, checksum.
    pub fn decode(bytes: &[u8], address: u64, sizes: Sizes) -> Result<Self> {
        let mut cursor = Cursor::new(bytes, "free-space manager", address);
        cursor.signature(b"FSHD")?;
        cursor.version(0)?;
        cursor.require(Self::byte_len(sizes) as u64 - 5)?;
        cursor.u8()?;
        cursor.take(4 * sizes.length + 8 + sizes.length)?;
        let list = cursor.address_field(sizes.offset)?;
        cursor.uint(sizes.length)?;
        let list_bytes = cursor.uint(sizes.length)?;
        cursor.verify_checksum()?;
        Ok(Self { sections: list.map(|list| (list, list_bytes)) })
    }

    /// Bytes of the header.
    pub fn byte_len(sizes: Sizes) -> usize {
        18 + 7 * sizes.length + sizes.offset
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checksum::lookup3;

    /// As h5py wrote it for a group of which links had been deleted.
    fn manager() -> Vec<u8> {
        let mut bytes = b"FSHD\0\0".to_vec();
        for field in [500_u64, 3, 3, 0] {
            bytes.extend(field.to_le_bytes());
        }
        for field in [4_u16, 80, 120, 40] {
            bytes.extend(field.to_le_bytes());
        }
        for field in [4096_u64, 9000, 60, 77] {
            bytes.extend(field.to_le_bytes());
        }
        bytes.extend(lookup3(&bytes).to_le_bytes());
        bytes
    }

    #[test]
    fn the_list_of_sections() {
        let bytes = manager();
        assert_eq!(bytes.len(), FreeSpaceManager::byte_len(Sizes::default()));
        let found = FreeSpaceManager::decode(&bytes, 64, Sizes::default()).unwrap();
        assert_eq!(found.sections, Some((9000, 77)));
        for index in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[index] ^= 1;
            assert!(FreeSpaceManager::decode(&damaged, 64, Sizes::default()).is_err());
        }
        assert!(FreeSpaceManager::decode(&bytes[..70], 64, Sizes::default()).is_err());
    }
}
