//! The file space info message, in the superblock extension: how the writer manages free space.
//!
//! ```text
//! version 0                            version 1
//!   0 version | strategy                 0 version | strategy | persistent
//!   2 threshold (L)                      3 threshold (L) | page size (L)
//!     [strategy 1: 6 addresses (O)]        page-end threshold (2) | end of allocated space (O)
//!                                          [persistent: 12 addresses (O)]
//! ```
//! Specification: IV.A.2.x "The File Space Info Message".

use super::{Message, MessageType};
use crate::cursor::Cursor;
use crate::error::{ErrorKind, Result};
use crate::hdf5::{Encoding, Sizes};
use crate::output::Output;

pub(super) const NAME: &str = "file space info message";

/// Free-space managers of version 0, of version 1.
const OLD_MANAGERS: usize = 6;
const MANAGERS: usize = 12;

/// How free space is managed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSpaceInfo {
    /// Version, whose number also says what `strategy` means.
    pub version: u8,
    /// The strategy, by the version's own numbers.
    pub strategy: u8,
    /// Smallest piece of free space that is tracked, in bytes.
    pub threshold_bytes: u64,
    /// Size of a page of the file, in bytes; `None` in version 0.
    pub page_bytes: Option<u64>,
    /// Free space at the end of a page that is smaller than this is not tracked; version 1.
    pub page_end_threshold_bytes: u16,
    /// End of allocated space before the free-space managers were written; version 1.
    pub end_of_allocation_address: Option<u64>,
    /// The free-space managers, where the file keeps them: 6 in version 0, 12 in version 1.
    pub manager_addresses: Vec<Option<u64>>,
}

impl Message for FileSpaceInfo {
    const TYPE: MessageType = MessageType::FILE_SPACE_INFO;
    const NAME: &'static str = NAME;

    fn decode_fields(cursor: &mut Cursor<'_>, sizes: Sizes) -> Result<Self> {
        let version = cursor.u8()?;
        let strategy = cursor.u8()?;
        let mut info = Self {
            version,
            strategy,
            threshold_bytes: 0,
            page_bytes: None,
            page_end_threshold_bytes: 0,
            end_of_allocation_address: None,
            manager_addresses: Vec::new(),
        };
        let managers = match version {
            0 => {
                info.threshold_bytes = cursor.uint(sizes.length)?;
                if strategy == 1 { OLD_MANAGERS } else { 0 }
            }
            1 => {
                let persistent = cursor.u8()? != 0;
                info.threshold_bytes = cursor.uint(sizes.length)?;
                info.page_bytes = Some(cursor.uint(sizes.length)?);
                info.page_end_threshold_bytes = cursor.u16()?;
                info.end_of_allocation_address = cursor.address_field(sizes.offset)?;
                if persistent { MANAGERS } else { 0 }
            }
            _ => return Err(cursor.error(ErrorKind::Version { found: u64::from(version) })),
        };
        for _ in 0..managers {
            info.manager_addresses.push(cursor.address_field(sizes.offset)?);
        }
        Ok(info)
    }

    fn encode_fields(&self, output: &mut Output, encoding: Encoding) -> Result<()> {
        let (sizes, count) = (encoding.sizes, self.manager_addresses.len());
        let is_complete = match self.version {
            0 => count == if self.strategy == 1 { OLD_MANAGERS } else { 0 },
            1 => count == 0 || count == MANAGERS,
            found => return Err(output.error(ErrorKind::Version { found: u64::from(found) })),
        };
        if !is_complete {
            return Err(output.bad_field("number of free-space managers", count as u64));
        }
        output.u8(self.version);
        output.u8(self.strategy);
        if self.version == 0 {
            output.sized("threshold", self.threshold_bytes, sizes.length)?;
        } else {
            output.u8(u8::from(count > 0));
            output.sized("threshold", self.threshold_bytes, sizes.length)?;
            output.sized("page size", self.page_bytes.unwrap_or(0), sizes.length)?;
            output.u16(self.page_end_threshold_bytes);
            let end = self.end_of_allocation_address;
            output.sized_address("end of allocated space", end, sizes.offset)?;
        }
        for &address in &self.manager_addresses {
            output.sized_address("free-space manager address", address, sizes.offset)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hdf5::damage::survive;

    #[test]
    fn both_versions() {
        let decode = |bytes: &[u8]| FileSpaceInfo::decode(bytes, 0, Sizes { offset: 2, length: 2 });
        let mut old = vec![0, 1, 1, 0];
        old.extend([255; 12]);
        assert_eq!(decode(&old).unwrap().manager_addresses, [None; 6]);
        let new = [1, 1, 0, 1, 0, 0, 16, 0, 0, 255, 255];
        let info = decode(&new).unwrap();
        assert_eq!((info.threshold_bytes, info.page_bytes), (1, Some(4096)));
        survive(&old, |bytes| drop(decode(bytes)));
        survive(&new, |bytes| drop(decode(bytes)));
    }
}
