//! The global heap block of a virtual data set: from which other data sets its elements come.
//!
//! ```text
//!   0 version | number of mappings (L)
//!   for each mapping:
//!     [version 1: flags]
//!     source file \0 | source data set \0
//!     source selection | virtual selection
//!   checksum (4)
//! flags: bit 0, 1: instead of the file, the data set, the number (L) of an earlier mapping that
//!        has the same one; bit 2: no file is stored, it is this one
//! ```
//! Specification: III.F "Global Heap Block for Virtual Datasets".

use std::sync::Arc;

use crate::cursor::Cursor;
use crate::error::{ErrorKind, Result};
use crate::hdf5::Sizes;
use crate::hdf5::selection::Selection;

const NAME: &str = "virtual data set mappings";

const FLAG_FILE_SHARED: u8 = 1;
const FLAG_DATA_SET_SHARED: u8 = 2;
const FLAG_SAME_FILE: u8 = 4;

/// What a source file is called that is the virtual data set's own.
pub const SAME_FILE: &[u8] = b".";

/// A part of a virtual data set and the part of another data set that it shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VirtualMapping {
    /// Name of the file, which may have `%b` for the number of a block; [`SAME_FILE`] for this
    /// one.
    pub source_file: Arc<[u8]>,
    /// Path of the data set, which may have `%b` too.
    pub source_data_set: Arc<[u8]>,
    /// Elements of the source.
    pub source_selection: Selection,
    /// The elements of the virtual data set that they are, in the same number and order.
    pub virtual_selection: Selection,
}

impl VirtualMapping {
    /// Decodes all mappings of a virtual data set from the bytes of the heap object.
    ///
    /// # Errors
    /// A wrong checksum before all else.
    pub fn decode_all(bytes: &[u8], address: u64, sizes: Sizes) -> Result<Vec<Self>> {
        decode_block(bytes, address, sizes).map_err(|error| error.at_end(bytes.len() as u64))
    }

    fn decode(cursor: &mut Cursor<'_>, flags: u8, earlier: &[Self], sizes: Sizes) -> Result<Self> {
        let source_file = if flags & FLAG_SAME_FILE != 0 {
            SAME_FILE.into()
        } else if flags & FLAG_FILE_SHARED != 0 {
            Arc::clone(&decode_earlier(cursor, earlier, sizes)?.source_file)
        } else {
            cursor.nul_terminated()?.into()
        };
        let source_data_set = if flags & FLAG_DATA_SET_SHARED != 0 {
            Arc::clone(&decode_earlier(cursor, earlier, sizes)?.source_data_set)
        } else {
            cursor.nul_terminated()?.into()
        };
        Ok(Self {
            source_file,
            source_data_set,
            source_selection: Selection::decode(cursor)?,
            virtual_selection: Selection::decode(cursor)?,
        })
    }
}

fn decode_earlier<'a>(
    cursor: &mut Cursor<'_>,
    earlier: &'a [VirtualMapping],
    sizes: Sizes,
) -> Result<&'a VirtualMapping> {
    let number = cursor.uint(sizes.length)?;
    usize::try_from(number)
        .ok()
        .and_then(|number| earlier.get(number))
        .ok_or_else(|| cursor.bad_field("earlier mapping", number))
}

fn decode_block(bytes: &[u8], address: u64, sizes: Sizes) -> Result<Vec<VirtualMapping>> {
    let mut whole = Cursor::new(bytes, NAME, address);
    let body = whole.take(bytes.len().saturating_sub(4))?;
    whole.verify_checksum()?;
    let mut cursor = Cursor::new(body, NAME, address);
    let version = cursor.u8()?;
    if version > 1 {
        return Err(cursor.error(ErrorKind::Version { found: u64::from(version) }));
    }
    let count = cursor.uint(sizes.length)?;
    // A mapping has two selections of at least 16 bytes: the bytes bound the count.
    cursor.require(count.saturating_mul(32))?;
    let mut mappings: Vec<VirtualMapping> = Vec::new();
    for _ in 0..count {
        let flags = if version == 0 { 0 } else { cursor.u8()? };
        if flags & !(FLAG_FILE_SHARED | FLAG_DATA_SET_SHARED | FLAG_SAME_FILE) != 0 {
            return Err(cursor.bad_field("mapping flags", u64::from(flags)));
        }
        let mapping = VirtualMapping::decode(&mut cursor, flags, &mappings, sizes)?;
        mappings.push(mapping);
    }
    Ok(mappings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checksum::lookup3;
    use crate::hdf5::damage::survive;

    const SIZES: Sizes = Sizes { offset: 8, length: 2 };
    const ALL: [u8; 16] = [3, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

    fn block(version: u8, mappings: &[&[u8]]) -> Vec<u8> {
        let mut bytes = vec![version, mappings.len() as u8, 0];
        for mapping in mappings {
            bytes.extend(*mapping);
            bytes.extend(ALL);
            bytes.extend(ALL);
        }
        bytes.extend(lookup3(&bytes).to_le_bytes());
        bytes
    }

    fn names(bytes: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
        let mappings = VirtualMapping::decode_all(bytes, 0, SIZES).unwrap();
        let names = mappings.iter().map(|m| (m.source_file.to_vec(), m.source_data_set.to_vec()));
        names.collect()
    }

    #[test]
    fn names_are_written_out_in_version_0() {
        let bytes = block(0, &[b"f.h5\0/a\0", b".\0/b\0"]);
        let expected = [(b"f.h5".to_vec(), b"/a".to_vec()), (b".".to_vec(), b"/b".to_vec())];
        assert_eq!(names(&bytes), expected);
    }

    #[test]
    fn names_are_shared_in_version_1() {
        let bytes = block(1, &[b"\0f\0a\0", b"\x01\0\0b\0", b"\x06\x01\0", b"\x03\0\0\x02\0"]);
        let expected = [(b"f", b"a"), (b"f", b"b"), (b".", b"b"), (b"f", b"b")];
        let expected = expected.map(|(file, set)| (file.to_vec(), set.to_vec()));
        assert_eq!(names(&bytes), expected);
    }

    #[test]
    fn faults() {
        let forward = block(1, &[b"\x01\0\0a\0"]);
        assert!(VirtualMapping::decode_all(&forward, 0, SIZES).is_err());
        let mut wrong = block(0, &[b"f\0a\0"]);
        wrong[4] ^= 1;
        let error = VirtualMapping::decode_all(&wrong, 0, SIZES).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Checksum { .. }));
    }

    #[test]
    fn damage_never_panics() {
        let valid = block(1, &[b"\0f\0a\0", b"\x01\0\0b\0", b"\x06\x01\0"]);
        let body = &valid[..valid.len() - 4];
        survive(body, |damaged| {
            // With a good checksum, so that the damage gets past it.
            let bytes = [damaged, &lookup3(damaged).to_le_bytes()].concat();
            drop(VirtualMapping::decode_all(&bytes, 0, SIZES));
        });
    }
}
