//! Object header messages: what an object says about itself.
//!
//! [`crate::hdf5::object_header`] cuts a header into [`RawMessage`]s; each type of message is
//! decoded by the file that owns it, through [`Message`]. A message whose bytes stand elsewhere
//! (a committed datatype, a message of the shared heap) is [`MaybeShared::Shared`] until the
//! engine has followed the reference.
//!
//! Specification: IV.A.2 "Data Object Header Messages".

pub mod attribute;
pub mod attribute_info;
pub mod btree_k;
pub mod cache_image;
pub mod comment;
pub mod continuation;
pub mod dataspace;
pub mod datatype;
pub mod driver_info;
pub mod external_files;
pub mod file_space_info;
pub mod fill_value;
pub mod filter_pipeline;
pub mod group_info;
pub mod layout;
pub mod link;
pub mod link_info;
pub mod modification_time;
pub mod reference_count;
pub mod shared;
pub mod shared_table;
pub mod symbol_table;

use std::ops::Range;
use std::sync::Arc;

use crate::cursor::Cursor;
use crate::error::{Error, ErrorKind, Result};
use crate::hdf5::{Encoding, Sizes};
use crate::output::Output;

pub use attribute::{Attribute, AttributeView};
pub use attribute_info::AttributeInfo;
pub use continuation::Continuation;
pub use dataspace::Dataspace;
pub use datatype::Datatype;
pub use external_files::ExternalFileList;
pub use fill_value::FillValue;
pub use filter_pipeline::FilterPipeline;
pub use group_info::GroupInfo;
pub use layout::Layout;
pub use link::Link;
pub use link_info::LinkInfo;
pub use shared::{MaybeShared, SharedReference};
pub use symbol_table::SymbolTable;

/// The number that says what a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MessageType(pub u16);

#[allow(missing_docs)] // The names are the specification's.
impl MessageType {
    pub const NULL: Self = Self(0x00);
    pub const DATASPACE: Self = Self(0x01);
    pub const LINK_INFO: Self = Self(0x02);
    pub const DATATYPE: Self = Self(0x03);
    pub const OLD_FILL_VALUE: Self = Self(0x04);
    pub const FILL_VALUE: Self = Self(0x05);
    pub const LINK: Self = Self(0x06);
    pub const EXTERNAL_FILES: Self = Self(0x07);
    pub const LAYOUT: Self = Self(0x08);
    pub const BOGUS: Self = Self(0x09);
    pub const GROUP_INFO: Self = Self(0x0a);
    pub const FILTER_PIPELINE: Self = Self(0x0b);
    pub const ATTRIBUTE: Self = Self(0x0c);
    pub const COMMENT: Self = Self(0x0d);
    pub const OLD_MODIFICATION_TIME: Self = Self(0x0e);
    pub const SHARED_MESSAGE_TABLE: Self = Self(0x0f);
    pub const CONTINUATION: Self = Self(0x10);
    pub const SYMBOL_TABLE: Self = Self(0x11);
    pub const MODIFICATION_TIME: Self = Self(0x12);
    pub const BTREE_K: Self = Self(0x13);
    pub const DRIVER_INFO: Self = Self(0x14);
    pub const ATTRIBUTE_INFO: Self = Self(0x15);
    pub const REFERENCE_COUNT: Self = Self(0x16);
    pub const FILE_SPACE_INFO: Self = Self(0x17);
    pub const CACHE_IMAGE: Self = Self(0x18);
}

impl MessageType {
    /// The message's name, for people; `None` for a type that this crate does not know.
    pub fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::NULL => "NIL message",
            Self::DATASPACE => dataspace::NAME,
            Self::LINK_INFO => link_info::NAME,
            Self::DATATYPE => datatype::NAME,
            Self::OLD_FILL_VALUE => fill_value::OLD_NAME,
            Self::FILL_VALUE => fill_value::NAME,
            Self::LINK => link::NAME,
            Self::EXTERNAL_FILES => external_files::NAME,
            Self::LAYOUT => layout::NAME,
            Self::BOGUS => "bogus message",
            Self::GROUP_INFO => group_info::NAME,
            Self::FILTER_PIPELINE => filter_pipeline::NAME,
            Self::ATTRIBUTE => attribute::NAME,
            Self::COMMENT => comment::NAME,
            Self::OLD_MODIFICATION_TIME => modification_time::OLD_NAME,
            Self::SHARED_MESSAGE_TABLE => shared_table::NAME,
            Self::CONTINUATION => continuation::NAME,
            Self::SYMBOL_TABLE => symbol_table::NAME,
            Self::MODIFICATION_TIME => modification_time::NAME,
            Self::BTREE_K => btree_k::NAME,
            Self::DRIVER_INFO => driver_info::NAME,
            Self::ATTRIBUTE_INFO => attribute_info::NAME,
            Self::REFERENCE_COUNT => reference_count::NAME,
            Self::FILE_SPACE_INFO => file_space_info::NAME,
            Self::CACHE_IMAGE => cache_image::NAME,
            _ => return None,
        })
    }
}

/// A kind of message that can be decoded from its own bytes.
pub trait Message: Sized {
    /// The type in the message's prefix.
    const TYPE: MessageType;
    /// What errors call the structure.
    const NAME: &'static str;

    /// Decodes the fields at the cursor's place.
    fn decode_fields(cursor: &mut Cursor<'_>, sizes: Sizes) -> Result<Self>;

    /// Encodes the fields, without what a header of version 1 pads them with.
    ///
    /// # Errors
    /// What the format has no room for.
    fn encode_fields(&self, output: &mut Output, encoding: Encoding) -> Result<()>;

    /// Decodes `bytes`, all the bytes there are, which stand at `address`.
    ///
    /// # Errors
    /// [`ErrorKind::Truncated`] where they end too early, and what is wrong with a field.
    fn decode(bytes: &[u8], address: u64, sizes: Sizes) -> Result<Self> {
        let mut cursor = Cursor::new(bytes, Self::NAME, address);
        Self::decode_fields(&mut cursor, sizes).map_err(|error| error.at_end(bytes.len() as u64))
    }

    /// The bytes behind the message's prefix.
    ///
    /// # Errors
    /// See [`Self::encode_fields`].
    fn encode(&self, encoding: Encoding) -> Result<Vec<u8>> {
        let mut output = Output::of(Self::NAME);
        self.encode_fields(&mut output, encoding)?;
        Ok(output.into_bytes())
    }
}

/// The flags in a message's prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MessageFlags(pub u8);

impl MessageFlags {
    /// Nothing special.
    pub const NONE: Self = Self(0);
    /// The message never changes.
    pub const CONSTANT: Self = Self(0x01);
    /// The bytes are a reference to the message, not the message.
    pub const SHARED: Self = Self(0x02);
    /// The message is never shared.
    pub const NOT_SHARED: Self = Self(0x04);

    /// These and `other`.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The message never changes.
    pub fn is_constant(self) -> bool {
        self.0 & 0x01 != 0
    }

    /// The bytes are a reference to the message, not the message.
    pub fn is_shared(self) -> bool {
        self.0 & 0x02 != 0
    }

    /// Whoever does not know the type must not change the object.
    pub fn fails_write_if_unknown(self) -> bool {
        self.0 & 0x08 != 0
    }

    /// A library that did not know the type has changed the object since, so that the message may
    /// not be true any more: it counts as unknown. (The file space info message of libraries
    /// before 1.10 was released has another layout and is found marked like this.)
    pub fn was_unknown(self) -> bool {
        self.0 & 0x20 != 0
    }

    /// Whoever does not know the type must not open the object.
    pub fn fails_if_unknown(self) -> bool {
        self.0 & 0x80 != 0
    }
}

/// A message as it stands in its header, not decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawMessage {
    /// What it is.
    pub message_type: MessageType,
    /// How it may be treated.
    pub flags: MessageFlags,
    /// When it was added, among the attributes of the object, where the header tracks that.
    pub creation_order: Option<u16>,
    /// Address of its first byte behind the prefix.
    pub address: u64,
    /// The block of the header that it stands in, which all messages of the block share.
    pub(crate) block: Arc<[u8]>,
    /// Its place in the block.
    pub(crate) range: Range<usize>,
}

impl RawMessage {
    /// The bytes behind the prefix.
    pub fn bytes(&self) -> &[u8] {
        self.block.get(self.range.clone()).unwrap_or_default()
    }

    /// The message, or the reference to it where it is shared.
    pub fn decode<M: Message>(&self, sizes: Sizes) -> Result<MaybeShared<M>> {
        if self.flags.is_shared() {
            SharedReference::decode(self.bytes(), self.address, sizes).map(MaybeShared::Shared)
        } else {
            M::decode(self.bytes(), self.address, sizes).map(MaybeShared::Own)
        }
    }

    /// The message, of a type that is never shared.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] where it is shared after all.
    pub fn decode_own<M: Message>(&self, sizes: Sizes) -> Result<M> {
        match self.decode(sizes)? {
            MaybeShared::Own(message) => Ok(message),
            MaybeShared::Shared(_) => Err(Error {
                structure: M::NAME,
                address: self.address,
                kind: ErrorKind::Unsupported {
                    feature: "sharing of message type",
                    value: u64::from(self.message_type.0),
                },
            }),
        }
    }
}

/// A message that is to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewMessage {
    /// What it is.
    pub message_type: MessageType,
    /// How it may be treated.
    pub flags: MessageFlags,
    /// When it was added, among the attributes of the object, where the header tracks that.
    pub creation_order: Option<u16>,
    /// The bytes behind the prefix.
    pub bytes: Vec<u8>,
}

impl NewMessage {
    /// `message` encoded.
    ///
    /// # Errors
    /// What the format has no room for.
    pub fn new<M: Message>(message: &M, flags: MessageFlags, encoding: Encoding) -> Result<Self> {
        let bytes = message.encode(encoding)?;
        Ok(Self { message_type: M::TYPE, flags, creation_order: None, bytes })
    }

    /// `message` encoded, or the reference to it; the flag that tells which is set accordingly.
    ///
    /// # Errors
    /// What the format has no room for.
    pub fn maybe_shared<M: Message>(
        message: &MaybeShared<M>,
        flags: MessageFlags,
        encoding: Encoding,
    ) -> Result<Self> {
        let shared = if message.is_shared() { MessageFlags::SHARED } else { MessageFlags::NONE };
        let (bytes, flags) = (message.encode(encoding)?, flags.with(shared));
        Ok(Self { message_type: M::TYPE, flags, creation_order: None, bytes })
    }
}

impl From<&RawMessage> for NewMessage {
    /// The same message; [`RawMessage::bytes`] may be longer than its fields, and stay so.
    fn from(raw: &RawMessage) -> Self {
        let RawMessage { message_type, flags, creation_order, .. } = *raw;
        Self { message_type, flags, creation_order, bytes: raw.bytes().to_vec() }
    }
}
