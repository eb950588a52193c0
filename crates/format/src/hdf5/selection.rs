//! Serialized selections: the elements of a dataspace that a virtual mapping or a region
//! reference means.
//!
//! ```text
//!   0 type (4) | version (4)
//!     none, all:   - (4) | length (4) = 0
//!     points 1:    - (4) | length (4) | rank (4) | count (4) | coordinates (4 each)
//!     points 2:    width W | rank (4) | count (W) | coordinates (W each)
//!     blocks 1:    - (4) | length (4) | rank (4) | count (4) | first and last corners (4 each)
//!     blocks 2:    flags | length (4) | rank (4) | start, stride, count, block (8 each) per axis
//!     blocks 3:    flags | width W | rank (4) | [regular: as 2, W each]
//!                  [else: count (W) | first and last corners (W each)]
//! ```
//! Specification: VIII "Appendix D: Encoding for Dataspace and Reference".

use crate::cursor::Cursor;
use crate::error::{ErrorKind, Result};
use crate::hdf5::Sizes;
use crate::limits;

const REGION_NAME: &str = "region reference";

/// Selected elements of a dataspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    /// None.
    None,
    /// All.
    All,
    /// Single elements, in this order.
    Points {
        /// Axes of the dataspace.
        rank: usize,
        /// `rank` coordinates for each point.
        coordinates: Vec<u64>,
    },
    /// Blocks in equal distances.
    Regular(Vec<RegularAxis>),
    /// Blocks anywhere.
    Blocks {
        /// Axes of the dataspace.
        rank: usize,
        /// For each block `rank` coordinates of its first corner and `rank` of its last, which
        /// is not before the first.
        corners: Vec<u64>,
    },
}

/// A regular hyperslab along one axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RegularAxis {
    /// First element.
    pub start: u64,
    /// From the start of a block to that of the next.
    pub stride: u64,
    /// Number of blocks; `None` is unlimited.
    pub count: Option<u64>,
    /// Elements of a block; `None` is unlimited.
    pub block: Option<u64>,
}

impl Selection {
    /// Decodes the selection at the cursor's place.
    pub fn decode(cursor: &mut Cursor<'_>) -> Result<Self> {
        let selection_type = cursor.u32()?;
        let version = cursor.u32()?;
        match (selection_type, version) {
            (0, 1) => cursor.skip(8).map(|()| Self::None),
            (3, 1) => cursor.skip(8).map(|()| Self::All),
            (1, 1) => {
                cursor.skip(8)?;
                decode_points(cursor, 4)
            }
            (1, 2) => {
                let width = decode_width(cursor)?;
                decode_points(cursor, width)
            }
            (2, 1) => {
                cursor.skip(8)?;
                let rank = decode_rank(cursor)?;
                decode_blocks(cursor, rank, 4)
            }
            (2, 2) => {
                let is_regular = cursor.u8()? & 1 != 0;
                cursor.skip(4)?;
                decode_hyperslab(cursor, is_regular, 8)
            }
            (2, 3) => {
                let is_regular = cursor.u8()? & 1 != 0;
                let width = decode_width(cursor)?;
                decode_hyperslab(cursor, is_regular, width)
            }
            (0..=3, _) => Err(cursor.error(ErrorKind::Version { found: u64::from(version) })),
            _ => Err(cursor.bad_field("selection type", u64::from(selection_type))),
        }
    }

    /// Axes of the dataspace that the selection belongs to; `None` where any will do.
    pub fn rank(&self) -> Option<usize> {
        match self {
            Self::None | Self::All => None,
            Self::Points { rank, .. } | Self::Blocks { rank, .. } => Some(*rank),
            Self::Regular(axes) => Some(axes.len()),
        }
    }
}

/// What a region reference refers to in the global heap: an object's address and a selection.
///
/// ```text
///   0 object header address (O) | selection
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegionReference {
    /// Address of the data set's object header.
    pub object_address: u64,
    /// Its selected elements.
    pub selection: Selection,
}

impl RegionReference {
    /// Decodes the bytes of a heap object, which stand at `address`.
    pub fn decode(bytes: &[u8], address: u64, sizes: Sizes) -> Result<Self> {
        let mut cursor = Cursor::new(bytes, REGION_NAME, address);
        let mut decode = || {
            let object_address = cursor.address_field(sizes.offset)?;
            let object_address =
                object_address.ok_or_else(|| cursor.bad_field("object address", u64::MAX))?;
            Ok(Self { object_address, selection: Selection::decode(&mut cursor)? })
        };
        decode().map_err(|error: crate::Error| error.at_end(bytes.len() as u64))
    }
}

fn decode_width(cursor: &mut Cursor<'_>) -> Result<usize> {
    match cursor.u8()? {
        width @ (2 | 4 | 8) => Ok(usize::from(width)),
        width => Err(cursor.bad_field("width of coordinates", u64::from(width))),
    }
}

fn decode_rank(cursor: &mut Cursor<'_>) -> Result<usize> {
    let rank = u64::from(cursor.u32()?);
    if rank == 0 {
        return Err(cursor.bad_field("rank", 0));
    }
    cursor.limited("rank", rank, limits::RANK).map(|rank| rank as usize)
}

fn decode_points(cursor: &mut Cursor<'_>, width: usize) -> Result<Selection> {
    let rank = decode_rank(cursor)?;
    let count = cursor.uint(width)?;
    let coordinates = decode_coordinates(cursor, count, rank, width)?;
    Ok(Selection::Points { rank, coordinates })
}

/// `count` times `per_item` coordinates.
fn decode_coordinates(
    cursor: &mut Cursor<'_>,
    count: u64,
    per_item: usize,
    width: usize,
) -> Result<Vec<u64>> {
    let total = count.saturating_mul(per_item as u64);
    cursor.limited("number of coordinates", total, limits::SELECTION_COORDINATES)?;
    cursor.require(total.saturating_mul(width as u64))?;
    (0..total).map(|_| cursor.uint(width)).collect()
}

fn decode_blocks(cursor: &mut Cursor<'_>, rank: usize, width: usize) -> Result<Selection> {
    let count = cursor.uint(width)?;
    let corners = decode_coordinates(cursor, count, 2 * rank, width)?;
    for block in corners.chunks_exact(2 * rank) {
        let (first, last) = block.split_at(rank);
        if let Some((_, &last)) = first.iter().zip(last).find(|(first, last)| first > last) {
            return Err(cursor.bad_field("last corner of a block", last));
        }
    }
    Ok(Selection::Blocks { rank, corners })
}

fn decode_hyperslab(cursor: &mut Cursor<'_>, is_regular: bool, width: usize) -> Result<Selection> {
    let rank = decode_rank(cursor)?;
    if !is_regular {
        return decode_blocks(cursor, rank, width);
    }
    let mut axes = Vec::with_capacity(rank);
    for _ in 0..rank {
        axes.push(decode_axis(cursor, width)?);
    }
    Ok(Selection::Regular(axes))
}

fn decode_axis(cursor: &mut Cursor<'_>, width: usize) -> Result<RegularAxis> {
    // All ones is "unlimited" here as it is "undefined" for an address.
    let axis = RegularAxis {
        start: cursor.uint(width)?,
        stride: cursor.uint(width)?,
        count: cursor.address_field(width)?,
        block: cursor.address_field(width)?,
    };
    if axis.stride == 0 {
        return Err(cursor.bad_field("stride", 0));
    }
    if axis.count.is_none() && axis.block.is_none() {
        return Err(cursor.bad_field("count", u64::MAX));
    }
    Ok(axis)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hdf5::damage::survive;

    fn words(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    fn decode(bytes: &[u8]) -> Result<Selection> {
        Selection::decode(&mut Cursor::new(bytes, "selection", 0))
    }

    fn points() -> Vec<u8> {
        words(&[1, 1, 0, 24, 2, 2, 1, 2, 3, 4])
    }

    fn blocks() -> Vec<u8> {
        words(&[2, 1, 0, 40, 2, 2, 1, 2, 2, 2, 5, 6, 6, 7])
    }

    fn regular() -> Vec<u8> {
        let mut bytes = words(&[2, 3]);
        bytes.extend([1, 2, 2, 0, 0, 0]);
        bytes.extend([3, 0, 1, 0, 1, 0, 1, 0, 0, 0, 2, 0, 255, 255, 1, 0]);
        bytes
    }

    #[test]
    fn every_type() {
        assert_eq!(decode(&words(&[0, 1, 0, 0])), Ok(Selection::None));
        assert_eq!(decode(&words(&[3, 1, 0, 0])), Ok(Selection::All));
        let coordinates = vec![1, 2, 3, 4];
        assert_eq!(decode(&points()), Ok(Selection::Points { rank: 2, coordinates }));
        let corners = vec![1, 2, 2, 2, 5, 6, 6, 7];
        assert_eq!(decode(&blocks()), Ok(Selection::Blocks { rank: 2, corners }));
        let first = RegularAxis { start: 3, stride: 1, count: Some(1), block: Some(1) };
        let second = RegularAxis { start: 0, stride: 2, count: None, block: Some(1) };
        assert_eq!(decode(&regular()), Ok(Selection::Regular(vec![first, second])));
    }

    #[test]
    fn second_versions() {
        let mut bytes = words(&[1, 2]);
        bytes.extend([2, 1, 0, 0, 0, 2, 0, 7, 0, 9, 0]);
        let coordinates = vec![7, 9];
        assert_eq!(decode(&bytes), Ok(Selection::Points { rank: 1, coordinates }));
        let mut bytes = words(&[2, 2]);
        bytes.extend([1, 36, 0, 0, 0, 1, 0, 0, 0]);
        for word in [5_u64, 10, 3, u64::MAX] {
            bytes.extend(word.to_le_bytes());
        }
        let axis = RegularAxis { start: 5, stride: 10, count: Some(3), block: None };
        assert_eq!(decode(&bytes), Ok(Selection::Regular(vec![axis])));
    }

    #[test]
    fn counts_are_not_believed() {
        let error = decode(&words(&[1, 1, 0, 24, 2, 1 << 20])).unwrap_err();
        assert_eq!(error.kind, ErrorKind::NeedMore { bytes: 24 + (8 << 20) });
        let error = decode(&words(&[1, 1, 0, 24, 2, u32::MAX])).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Limit { .. }));
    }

    #[test]
    fn region_reference() {
        let bytes = [vec![0x40, 0], points()].concat();
        let narrow = Sizes { offset: 2, length: 2 };
        let reference = RegionReference::decode(&bytes, 0, narrow).unwrap();
        assert_eq!(reference.object_address, 0x40);
        assert_eq!(reference.selection.rank(), Some(2));
        survive(&bytes, |bytes| drop(RegionReference::decode(bytes, 0, narrow)));
    }

    #[test]
    fn damage_never_panics() {
        for valid in [points(), blocks(), regular()] {
            survive(&valid, |bytes| drop(decode(bytes)));
        }
    }
}
