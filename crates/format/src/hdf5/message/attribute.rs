//! The attribute message: a name, a type, a shape, and the value itself.
//!
//! ```text
//!   0 version | flags (version 1: -) | name bytes (2) | datatype bytes (2) | dataspace bytes (2)
//!   8 [version 3: character set of the name]
//!     name | datatype message | dataspace message      (version 1: each padded to 8)
//!     value
//! flags (version 2, 3): bit 0 the datatype, bit 1 the dataspace is a shared message
//! ```
//! The same bytes are what the fractal heap of an object with dense attributes holds.
//! Specification: IV.A.2.m "The Attribute Message".

use std::sync::Arc;

use super::datatype::CharacterSet;
use super::{Dataspace, Datatype, MaybeShared, Message, MessageType, SharedReference};
use crate::cursor::Cursor;
use crate::error::{ErrorKind, Result};
use crate::hdf5::{Encoding, OldestReader, Sizes};
use crate::output::Output;

pub(super) const NAME: &str = "attribute message";

/// An attribute with its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attribute {
    /// The name, without its terminating zero.
    pub name: Arc<[u8]>,
    /// What the name's bytes are.
    pub charset: CharacterSet,
    /// Type of each element.
    pub datatype: MaybeShared<Datatype>,
    /// How the elements are arranged.
    pub dataspace: MaybeShared<Dataspace>,
    /// The elements, as the type has them in the file. May be longer than they are (older
    /// versions pad messages), and shorter in broken files: whoever knows the type checks.
    pub data: Arc<[u8]>,
}

/// An attribute whose name and value are left where they stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttributeView<'a> {
    /// See [`Attribute::name`].
    pub name: &'a [u8],
    /// See [`Attribute::charset`].
    pub charset: CharacterSet,
    /// See [`Attribute::datatype`].
    pub datatype: MaybeShared<Datatype>,
    /// See [`Attribute::dataspace`].
    pub dataspace: MaybeShared<Dataspace>,
    /// See [`Attribute::data`].
    pub data: &'a [u8],
}

impl Message for Attribute {
    const TYPE: MessageType = MessageType::ATTRIBUTE;
    const NAME: &'static str = NAME;

    fn decode_fields(cursor: &mut Cursor<'_>, sizes: Sizes) -> Result<Self> {
        let AttributeView { name, charset, datatype, dataspace, data } =
            AttributeView::decode_fields(cursor, sizes)?;
        Ok(Self { name: name.into(), charset, datatype, dataspace, data: data.into() })
    }

    fn encode_fields(&self, output: &mut Output, encoding: Encoding) -> Result<()> {
        self.view().encode_fields(output, encoding)
    }
}

impl Attribute {
    /// The same, borrowed.
    pub fn view(&self) -> AttributeView<'_> {
        AttributeView {
            name: &self.name,
            charset: self.charset,
            datatype: self.datatype.clone(),
            dataspace: self.dataspace.clone(),
            data: &self.data,
        }
    }
}

impl<'a> AttributeView<'a> {
    /// Encodes as [`Message::encode`] does.
    ///
    /// # Errors
    /// What the format has no room for.
    pub fn encode(&self, encoding: Encoding) -> Result<Vec<u8>> {
        let mut output = Output::of(NAME);
        self.encode_fields(&mut output, encoding)?;
        Ok(output.into_bytes())
    }

    fn encode_fields(&self, output: &mut Output, encoding: Encoding) -> Result<()> {
        if self.name.contains(&0) {
            return Err(output.bad_field("byte of the name", 0));
        }
        let version = self.version(encoding.oldest_reader);
        let shared = [self.datatype.is_shared(), self.dataspace.is_shared()].map(u8::from);
        let parts = [
            [self.name, &[0]].concat(),
            self.datatype.encode(encoding)?,
            self.dataspace.encode(encoding)?,
        ];
        output.reserve(parts.iter().map(|part| part.len() + 16).sum::<usize>() + self.data.len());
        output.put(&[version, shared[0] | shared[1] << 1]);
        let lengths = ["length of the name", "length of the datatype", "length of the dataspace"];
        for (field, part) in lengths.into_iter().zip(&parts) {
            output.sized(field, part.len() as u64, 2)?;
        }
        if version == 3 {
            output.u8(self.charset.number());
        }
        for part in parts {
            output.put(&part);
            if version == 1 {
                output.zeros(part.len().next_multiple_of(8) - part.len());
            }
        }
        output.put(self.data);
        Ok(())
    }

    /// Version 1 knows no shared parts, version 2 no character sets.
    fn version(&self, oldest_reader: OldestReader) -> u8 {
        if oldest_reader > OldestReader::V16 || self.charset != CharacterSet::Ascii {
            3
        } else if self.datatype.is_shared() || self.dataspace.is_shared() {
            2
        } else {
            1
        }
    }

    /// Decodes as [`Message::decode`] does, without copying what can stay.
    pub fn decode(bytes: &'a [u8], address: u64, sizes: Sizes) -> Result<Self> {
        let mut cursor = Cursor::new(bytes, NAME, address);
        Self::decode_fields(&mut cursor, sizes).map_err(|error| error.at_end(bytes.len() as u64))
    }

    /// The name of the attribute alone.
    ///
    /// # Errors
    /// What comes before the name, or the name itself, cannot be decoded.
    pub fn name_of(bytes: &'a [u8], address: u64) -> Result<&'a [u8]> {
        let mut cursor = Cursor::new(bytes, NAME, address);
        let front = Front::decode_fields(&mut cursor);
        front.map(|front| front.name).map_err(|error| error.at_end(bytes.len() as u64))
    }

    fn decode_fields(cursor: &mut Cursor<'a>, sizes: Sizes) -> Result<Self> {
        let Front { version, flags, datatype_len, dataspace_len, charset, name } =
            Front::decode_fields(cursor)?;
        let datatype = decode_part(cursor, version, datatype_len, flags & 1 != 0, sizes)?;
        let dataspace = decode_part(cursor, version, dataspace_len, flags & 2 != 0, sizes)?;
        Ok(Self {
            name,
            charset: CharacterSet::from_number(charset),
            datatype,
            dataspace,
            data: cursor.take_rest(),
        })
    }
}

/// What stands before the type, the name included.
struct Front<'a> {
    version: u8,
    flags: u8,
    datatype_len: u16,
    dataspace_len: u16,
    charset: u8,
    name: &'a [u8],
}

impl<'a> Front<'a> {
    fn decode_fields(cursor: &mut Cursor<'a>) -> Result<Self> {
        let version = cursor.u8()?;
        if !(1..=3).contains(&version) {
            return Err(cursor.error(ErrorKind::Version { found: u64::from(version) }));
        }
        // Where version 1 has a reserved byte, files exist that have something in it.
        let flags = cursor.u8()? & if version == 1 { 0 } else { 3 };
        let name_len = cursor.u16()?;
        let datatype_len = cursor.u16()?;
        let dataspace_len = cursor.u16()?;
        let charset = if version == 3 { cursor.u8()? } else { 0 };
        let (_, name) = take_part(cursor, version, name_len)?;
        let name_end = name.iter().position(|&byte| byte == 0).unwrap_or(name.len());
        let name = &name[..name_end];
        Ok(Self { version, flags, datatype_len, dataspace_len, charset, name })
    }
}

/// The next `len` bytes and their address, behind which version 1 pads.
fn take_part<'a>(cursor: &mut Cursor<'a>, version: u8, len: u16) -> Result<(u64, &'a [u8])> {
    let address = cursor.address().saturating_add(cursor.position() as u64);
    let len = usize::from(len);
    let part = cursor.take(len)?;
    if version == 1 {
        cursor.skip(len.next_multiple_of(8) - len)?;
    }
    Ok((address, part))
}

fn decode_part<M: Message>(
    cursor: &mut Cursor<'_>,
    version: u8,
    len: u16,
    is_shared: bool,
    sizes: Sizes,
) -> Result<MaybeShared<M>> {
    let (address, part) = take_part(cursor, version, len)?;
    if is_shared {
        SharedReference::decode(part, address, sizes).map(MaybeShared::Shared)
    } else {
        M::decode(part, address, sizes).map(MaybeShared::Own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hdf5::damage::survive;

    const FIRST: &[u8] = &[
        1, 0, 2, 0, 12, 0, 8, 0, b'n', 0, 0, 0, 0, 0, 0, 0, 0x10, 8, 0, 0, 2, 0, 0, 0, 0, 0, 16, 0,
        0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0x34, 0x12, 0, 0, 0, 0, 0, 0,
    ];
    const THIRD: &[u8] =
        &[3, 1, 3, 0, 10, 0, 4, 0, 1, 0xc3, 0xa9, 0, 2, 0, 0x40, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 2];

    fn decode(bytes: &[u8]) -> Result<Attribute> {
        Attribute::decode(bytes, 0, Sizes::default())
    }

    #[test]
    fn first_version() {
        let attribute = decode(FIRST).unwrap();
        assert_eq!(&attribute.name[..], b"n");
        assert_eq!(attribute.dataspace, MaybeShared::Own(Dataspace::Scalar));
        let MaybeShared::Own(datatype) = attribute.datatype else { panic!("shared") };
        assert_eq!(datatype.describe(), "i2le");
        assert_eq!(&attribute.data[..2], [0x34, 0x12]);
    }

    #[test]
    fn third_version_with_a_committed_type() {
        let attribute = decode(THIRD).unwrap();
        assert_eq!(&attribute.name[..], "\u{e9}".as_bytes());
        assert_eq!(attribute.charset, CharacterSet::Utf8);
        assert_eq!(attribute.datatype, MaybeShared::Shared(SharedReference::Object(0x40)));
        assert_eq!(attribute.dataspace, MaybeShared::Own(Dataspace::Null));
        assert!(attribute.data.is_empty());
    }

    #[test]
    fn a_truncated_part_names_itself() {
        let mut bytes = THIRD.to_vec();
        bytes[6] = 1;
        let error = decode(&bytes).unwrap_err();
        assert_eq!(error.structure, "dataspace message");
        assert_eq!(error.address, 22);
    }

    #[test]
    fn damage_never_panics() {
        for valid in [FIRST, THIRD] {
            survive(valid, |bytes| drop(decode(bytes)));
        }
    }
}
