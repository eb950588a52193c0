//! The link message: a name in a group and what it leads to.
//!
//! ```text
//!   0 version (1) | flags
//!     [flags 3: link type] [flags 2: creation order (8)] [flags 4: character set]
//!     length of the name (1, 2, 4 or 8 as flags 0-1 say) | name
//!     hard: object header address (O)
//!     soft: length (2) | path
//!     external: length (2) | version and flags | file name \0 | path \0
//!     user-defined: length (2) | data
//! ```
//! The same bytes are what the fractal heap of a group with dense links holds.
//! Specification: IV.A.2.g "The Link Message".

use std::sync::Arc;

use super::datatype::CharacterSet;
use super::{Message, MessageType};
use crate::cursor::Cursor;
use crate::error::{ErrorKind, Result};
use crate::hdf5::{Encoding, Sizes};
use crate::output::Output;

pub(super) const NAME: &str = "link message";

const HARD: u8 = 0;
const SOFT: u8 = 1;
const EXTERNAL: u8 = 64;

const FLAG_CREATION_ORDER: u8 = 0x04;
const FLAG_LINK_TYPE: u8 = 0x08;
const FLAG_CHARSET: u8 = 0x10;

/// A name in a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The name; never empty.
    pub name: Arc<[u8]>,
    /// What the name's bytes are.
    pub charset: CharacterSet,
    /// When the link was made, in its group; `None` where the group does not track it.
    pub creation_order: Option<i64>,
    /// What it leads to.
    pub target: LinkTarget,
}

/// What a link leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkTarget {
    /// An object, by the address of its header.
    Hard {
        /// The address.
        address: u64,
    },
    /// A path in the same file, which need not exist.
    Soft {
        /// The path.
        path: Arc<[u8]>,
    },
    /// A path in another file, which need not exist.
    External {
        /// Name of the file.
        file: Arc<[u8]>,
        /// The path.
        path: Arc<[u8]>,
    },
    /// What only the program that wrote it knows to follow.
    UserDefined {
        /// The link class, 65 to 255.
        class: u8,
        /// Its data.
        data: Arc<[u8]>,
    },
}

impl Message for Link {
    const TYPE: MessageType = MessageType::LINK;
    const NAME: &'static str = NAME;

    fn decode_fields(cursor: &mut Cursor<'_>, sizes: Sizes) -> Result<Self> {
        cursor.version(1)?;
        let flags = cursor.u8()?;
        let link_type = if flags & FLAG_LINK_TYPE != 0 { cursor.u8()? } else { HARD };
        let creation_order = match flags & FLAG_CREATION_ORDER {
            0 => None,
            _ => Some(i64::from_le_bytes(cursor.array()?)),
        };
        let charset = if flags & FLAG_CHARSET != 0 { cursor.u8()? } else { 0 };
        let len = cursor.uint(1 << (flags & 3))?;
        if len == 0 {
            return Err(cursor.bad_field("length of the name", 0));
        }
        cursor.require(len)?;
        let name = cursor.take(len as usize)?.into();
        let target = match link_type {
            HARD => {
                let address = cursor.address_field(sizes.offset)?;
                let address = address.ok_or_else(|| cursor.bad_field("address", u64::MAX))?;
                LinkTarget::Hard { address }
            }
            SOFT => LinkTarget::Soft { path: decode_value(cursor)?.into() },
            EXTERNAL => decode_external(cursor)?,
            65.. => {
                LinkTarget::UserDefined { class: link_type, data: decode_value(cursor)?.into() }
            }
            _ => return Err(cursor.bad_field("link type", u64::from(link_type))),
        };
        Ok(Self { name, charset: CharacterSet::from_number(charset), creation_order, target })
    }

    fn encode_fields(&self, output: &mut Output, encoding: Encoding) -> Result<()> {
        let name_len = self.name.len() as u64;
        if name_len == 0 {
            return Err(output.bad_field("length of the name", 0));
        }
        let width_bits = width_bits(name_len);
        let link_type = match self.target {
            LinkTarget::Hard { .. } => HARD,
            LinkTarget::Soft { .. } => SOFT,
            LinkTarget::External { .. } => EXTERNAL,
            LinkTarget::UserDefined { class, .. } => class,
        };
        let mut flags = width_bits;
        flags |= if link_type == HARD { 0 } else { FLAG_LINK_TYPE };
        flags |= if self.creation_order.is_some() { FLAG_CREATION_ORDER } else { 0 };
        flags |= if self.charset == CharacterSet::Ascii { 0 } else { FLAG_CHARSET };
        output.put(&[1, flags]);
        if link_type != HARD {
            output.u8(link_type);
        }
        if let Some(order) = self.creation_order {
            output.put(&order.to_le_bytes());
        }
        if self.charset != CharacterSet::Ascii {
            output.u8(self.charset.number());
        }
        output.uint(name_len, 1 << width_bits);
        output.put(&self.name);
        self.target.encode(output, encoding.sizes)
    }
}

/// The bits that say how many bytes a count of up to `len` takes: 0 to 3 for 1, 2, 4 and 8.
pub(in crate::hdf5) fn width_bits(len: u64) -> u8 {
    match len {
        0..=0xff => 0,
        0x100..=0xffff => 1,
        0x1_0000..=0xffff_ffff => 2,
        _ => 3,
    }
}

impl LinkTarget {
    fn encode(&self, output: &mut Output, sizes: Sizes) -> Result<()> {
        match self {
            Self::Hard { address } => output.sized_address("address", Some(*address), sizes.offset),
            Self::Soft { path } => output.counted("length of the path", path),
            Self::External { file, path } => {
                if file.contains(&0) || path.contains(&0) {
                    return Err(output.bad_field("byte of the file name or path", 0));
                }
                let value = [&[0], &file[..], &[0], path, &[0]].concat();
                output.counted("length of file name and path", &value)
            }
            Self::UserDefined { class, data } => {
                if *class <= EXTERNAL {
                    return Err(output.bad_field("link type", u64::from(*class)));
                }
                output.counted("length of the data", data)
            }
        }
    }
}

fn decode_value<'a>(cursor: &mut Cursor<'a>) -> Result<&'a [u8]> {
    let len = usize::from(cursor.u16()?);
    cursor.take(len)
}

fn decode_external(cursor: &mut Cursor<'_>) -> Result<LinkTarget> {
    let address = cursor.address();
    let value = decode_value(cursor)?;
    let mut value = Cursor::new(value, NAME, address);
    let version_and_flags = value.u8()?;
    if version_and_flags >> 4 != 0 {
        return Err(value.error(ErrorKind::Version { found: u64::from(version_and_flags >> 4) }));
    }
    Ok(LinkTarget::External {
        file: value.nul_terminated()?.into(),
        path: value.nul_terminated()?.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hdf5::damage::survive;

    const HARD: &[u8] = &[1, 0x14, 7, 0, 0, 0, 0, 0, 0, 0, 1, 1, b'x', 0x10, 0x20];
    const SOFT: &[u8] = &[1, 0x08, 1, 2, b'a', b'b', 3, 0, b'/', b'c', b'd'];
    const EXTERNAL: &[u8] = &[1, 0x09, 64, 1, 0, b'e', 5, 0, 0, b'f', 0, b'g', 0];

    fn decode(bytes: &[u8]) -> Result<Link> {
        Link::decode(bytes, 0, Sizes { offset: 2, length: 2 })
    }

    #[test]
    fn every_kind() {
        let hard = decode(HARD).unwrap();
        assert_eq!((&hard.name[..], hard.creation_order), (&b"x"[..], Some(7)));
        assert_eq!(hard.charset, CharacterSet::Utf8);
        assert_eq!(hard.target, LinkTarget::Hard { address: 0x2010 });
        let soft = decode(SOFT).unwrap().target;
        assert_eq!(soft, LinkTarget::Soft { path: b"/cd".as_slice().into() });
        let external = decode(EXTERNAL).unwrap().target;
        let (file, path) = (b"f".as_slice().into(), b"g".as_slice().into());
        assert_eq!(external, LinkTarget::External { file, path });
        let user = decode(&[1, 0x08, 70, 1, b'u', 1, 0, 9]).unwrap().target;
        assert_eq!(user, LinkTarget::UserDefined { class: 70, data: [9].as_slice().into() });
    }

    #[test]
    fn faults() {
        assert!(decode(&[1, 0, 0]).is_err());
        assert!(decode(&[1, 0x08, 2, 1, b'u', 0, 0]).is_err());
        assert!(decode(&[1, 0, 1, b'u', 0xff, 0xff]).is_err());
        let error = decode(&SOFT[..9]).unwrap_err();
        let kind = ErrorKind::Truncated { needed_bytes: 11, available_bytes: 9 };
        assert_eq!(error.kind, kind);
    }

    #[test]
    fn damage_never_panics() {
        for valid in [HARD, SOFT, EXTERNAL] {
            survive(valid, |bytes| drop(decode(bytes)));
        }
    }
}
