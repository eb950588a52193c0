//! An object's header, gathered from all its blocks.

use isotach_format::hdf5::message::comment::Comment;
use isotach_format::hdf5::message::reference_count::ReferenceCount;
use isotach_format::hdf5::message::{Message, MessageType, RawMessage};
use isotach_format::hdf5::object_header::{ObjectHeader, Times, USUAL_BYTES};
use isotach_format::hdf5::text::text;

use super::context::Context;
use crate::error::Result;

/// An object's header with all its messages, those that are shared not yet followed.
#[derive(Debug)]
pub struct Header {
    header: ObjectHeader,
    reference_count: u32,
    byte_len: u64,
}

impl Header {
    /// Reads the header at `address` with its continuation blocks.
    pub(super) fn read(context: &Context, address: u64) -> Result<Self> {
        let sizes = context.sizes();
        let mut byte_len = 0;
        let mut header = context.structure(address, USUAL_BYTES as u64, |bytes| {
            byte_len = bytes.len() as u64;
            ObjectHeader::decode_prefix(bytes, address, sizes)
        })?;
        // The decoder refuses a block that it has seen, and too many of them.
        while let Some(block) = header.next_continuation() {
            let bytes = context.fetch(block.address, block.len_bytes)?;
            byte_len += block.len_bytes;
            header
                .decode_continuation(&bytes, sizes)
                .map_err(|error| context.structure_error(error.at_end(block.len_bytes)))?;
        }
        if let Some(message) = header.unknown_message() {
            let kind = isotach_format::ErrorKind::Unsupported {
                feature: "message type",
                value: u64::from(message.message_type.0),
            };
            let address = message.address;
            let error = isotach_format::Error { structure: "object header", address, kind };
            return Err(context.structure_error(error));
        }
        let counted = header
            .find(MessageType::REFERENCE_COUNT)
            .and_then(|message| message.decode_own::<ReferenceCount>(sizes).ok())
            .map(|count| count.0);
        let reference_count = counted.or(header.reference_count).unwrap_or(1);
        Ok(Self { header, reference_count, byte_len })
    }

    /// As it stands in the file.
    pub(crate) fn format(&self) -> &ObjectHeader {
        &self.header
    }

    /// Its address.
    pub fn address(&self) -> u64 {
        self.header.address
    }

    /// Version, 1 or 2.
    pub fn version(&self) -> u8 {
        self.header.version
    }

    /// Bytes of all its blocks, about.
    pub fn byte_len(&self) -> u64 {
        self.byte_len
    }

    /// When the object was used, where the writer kept it.
    pub fn times(&self) -> Option<Times> {
        self.header.times
    }

    /// Whether attributes have an order of creation.
    pub fn tracks_attribute_order(&self) -> bool {
        self.header.attribute_order_tracked
    }

    /// All messages in their order.
    pub fn messages(&self) -> &[RawMessage] {
        self.header.messages()
    }

    /// The first message of a type.
    pub fn find(&self, message_type: MessageType) -> Option<&RawMessage> {
        self.header.find(message_type)
    }

    /// All messages of a type.
    pub fn all(&self, message_type: MessageType) -> impl Iterator<Item = &RawMessage> {
        self.messages().iter().filter(move |message| message.message_type == message_type)
    }

    /// The comment, where there is one that can be decoded.
    pub(super) fn comment(&self, context: &Context) -> Option<String> {
        let message = self.find(MessageType::COMMENT)?;
        let comment = message.decode_own::<Comment>(context.sizes()).ok()?;
        Some(text(&comment.0))
    }

    /// Hard links that lead here.
    pub(super) fn reference_count(&self) -> u32 {
        self.reference_count
    }

    /// The first message of type `M`, followed to where it is shared; `None` where there is none.
    pub(super) fn message<M: Message>(&self, context: &Context) -> Result<Option<M>> {
        self.find(M::TYPE).map(|message| context.message(message)).transpose()
    }
}
