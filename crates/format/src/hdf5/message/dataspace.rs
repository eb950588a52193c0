//! The dataspace message: the shape of a data set or an attribute.
//!
//! ```text
//! version 1                                  version 2
//!   0 version | rank | flags | - (5)           0 version | rank | flags | type
//!   8 size of each dimension (L each)          4 size of each dimension (L each)
//!     [flags 1: maximum of each (L)]             [flags 1: maximum of each (L)]
//!     [flags 2: permutation (L), never used]
//! ```
//! L = size of lengths. Specification: IV.A.2.b "The Dataspace Message".

use super::{Message, MessageType};
use crate::cursor::Cursor;
use crate::error::{ErrorKind, Result};
use crate::hdf5::{Encoding, OldestReader, Sizes};
use crate::limits;
use crate::output::Output;

pub(super) const NAME: &str = "dataspace message";

/// How elements are arranged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Dataspace {
    /// No element at all.
    Null,
    /// One element.
    Scalar,
    /// An array.
    Simple(Vec<Dimension>),
}

/// One axis of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dimension {
    /// Present length.
    pub size: u64,
    /// Greatest length; `None` is unlimited. Not needed for reading, so not held against `size`.
    pub max: Option<u64>,
}

impl Dataspace {
    /// The axes; none for a scalar and for a null space.
    pub fn dimensions(&self) -> &[Dimension] {
        match self {
            Self::Null | Self::Scalar => &[],
            Self::Simple(dimensions) => dimensions,
        }
    }

    /// Number of elements, `None` where it does not fit 64 bits.
    pub fn element_count(&self) -> Option<u64> {
        match self {
            Self::Null => Some(0),
            Self::Scalar => Some(1),
            // Zero first: another axis may then be of any length.
            Self::Simple(axes) if axes.iter().any(|axis| axis.size == 0) => Some(0),
            Self::Simple(axes) => axes.iter().try_fold(1_u64, |n, axis| n.checked_mul(axis.size)),
        }
    }
}

impl Message for Dataspace {
    const TYPE: MessageType = MessageType::DATASPACE;
    const NAME: &'static str = NAME;

    fn decode_fields(cursor: &mut Cursor<'_>, sizes: Sizes) -> Result<Self> {
        let version = cursor.u8()?;
        let rank = usize::from(cursor.u8()?);
        cursor.limited("rank", rank as u64, limits::RANK)?;
        let flags = cursor.u8()?;
        let space_type = match version {
            1 => {
                cursor.skip(5)?;
                u8::from(rank > 0)
            }
            2 => cursor.u8()?,
            _ => return Err(cursor.error(ErrorKind::Version { found: u64::from(version) })),
        };
        match (space_type, rank) {
            (0, 0) => return Ok(Self::Scalar),
            (2, 0) => return Ok(Self::Null),
            (1, _) => {}
            (0 | 2, _) => return Err(cursor.bad_field("rank", rank as u64)),
            _ => return Err(cursor.bad_field("dataspace type", u64::from(space_type))),
        }
        let mut current = cursor.clone();
        cursor.skip(rank * sizes.length)?;
        let has_max = flags & 1 != 0;
        let mut dimensions = Vec::with_capacity(rank);
        for _ in 0..rank {
            let size = current.uint(sizes.length)?;
            // All ones is "unlimited" here as it is "undefined" for an address.
            let max = if has_max { cursor.address_field(sizes.length)? } else { Some(size) };
            dimensions.push(Dimension { size, max });
        }
        Ok(Self::Simple(dimensions))
    }

    fn encode_fields(&self, output: &mut Output, encoding: Encoding) -> Result<()> {
        let sizes = encoding.sizes;
        // Version 1 cannot tell a null space from a scalar.
        let is_first = encoding.oldest_reader == OldestReader::V16 && *self != Self::Null;
        let axes = self.dimensions();
        output.limited("rank", axes.len() as u64, limits::RANK)?;
        output.put(&[if is_first { 1 } else { 2 }, axes.len() as u8, u8::from(!axes.is_empty())]);
        if is_first {
            output.zeros(5);
        } else {
            output.u8(match self {
                Self::Scalar => 0,
                Self::Simple(_) => 1,
                Self::Null => 2,
            });
        }
        for axis in axes {
            output.sized("size of a dimension", axis.size, sizes.length)?;
        }
        for axis in axes {
            output.sized_address("maximum of a dimension", axis.max, sizes.length)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hdf5::damage::survive;

    const SIMPLE_1: &[u8] = &[
        1, 2, 1, 0, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0, 0, 0, 12, 0, 0, 0, 0, 0, 0, 0, 20, 0, 0, 0, 0,
        0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255,
    ];
    const SIMPLE_2: &[u8] = &[2, 1, 0, 1, 3, 0];

    #[test]
    fn both_versions() {
        let space = Dataspace::decode(SIMPLE_1, 0, Sizes::default()).unwrap();
        let expected = [Dimension { size: 10, max: Some(20) }, Dimension { size: 12, max: None }];
        assert_eq!(space.dimensions(), expected);
        assert_eq!(space.element_count(), Some(120));
        let narrow = Sizes { offset: 2, length: 2 };
        let space = Dataspace::decode(SIMPLE_2, 0, narrow).unwrap();
        assert_eq!(space.dimensions(), [Dimension { size: 3, max: Some(3) }]);
    }

    #[test]
    fn scalar_and_null() {
        let decode = |bytes: &[u8]| Dataspace::decode(bytes, 0, Sizes::default());
        assert_eq!(decode(&[1, 0, 0, 0, 0, 0, 0, 0]), Ok(Dataspace::Scalar));
        assert_eq!(decode(&[2, 0, 0, 0]), Ok(Dataspace::Scalar));
        assert_eq!(decode(&[2, 0, 0, 2]), Ok(Dataspace::Null));
        assert!(decode(&[2, 33, 0, 1]).is_err());
        assert!(decode(&[3, 0, 0, 0]).is_err());
    }

    #[test]
    fn counts_do_not_overflow() {
        let axis = |size| Dimension { size, max: None };
        assert_eq!(Dataspace::Simple(vec![axis(1 << 40), axis(1 << 40)]).element_count(), None);
        let empty = Dataspace::Simple(vec![axis(1 << 40), axis(1 << 40), axis(0)]);
        assert_eq!(empty.element_count(), Some(0));
    }

    #[test]
    fn damage_never_panics() {
        for bytes in [SIMPLE_1, SIMPLE_2] {
            survive(bytes, |bytes| drop(Dataspace::decode(bytes, 0, Sizes::default())));
        }
    }
}
