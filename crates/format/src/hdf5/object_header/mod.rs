//! Object headers: the messages of a group, a data set or a committed datatype.
//!
//! ```text
//! version 1                                   version 2
//!   0 version | - | messages (2)                0 OHDR | version | flags
//!   4 reference count (4) | bytes (4) | - (4)     [flags 5: four times (4 each)]
//!  16 messages, each:                             [flags 4: phase change values (2, 2)]
//!       type (2) | size (2) | flags | - (3)       bytes (1, 2, 4 or 8 as flags 0-1 say)
//!       data, padded to 8                         messages, each:
//!                                                   type | size (2) | flags
//!   continuation block: messages                    [flags 2: creation order (2)] | data
//!                                                 gap | checksum (4)
//!                                               continuation block:
//!                                                 OCHK | messages | gap | checksum (4)
//! ```
//! A header is read block by block: [`ObjectHeader::decode_prefix`] has the first block, and
//! while [`ObjectHeader::next_continuation`] names another, its bytes go to
//! [`ObjectHeader::decode_continuation`]. A [`NewHeader`] is written in one block;
//! [`ObjectHeader::rewrite`] gives an object that exists other messages.
//!
//! Specification: IV.A "Data Object Headers".

mod block;
mod new_header;
mod rewrite;
#[cfg(test)]
mod tests;

use std::collections::{HashSet, VecDeque};
use std::ops::Range;
use std::sync::Arc;

use crate::cursor::Cursor;
use crate::error::{ErrorKind, Result};
use crate::hdf5::Sizes;
use crate::hdf5::message::{Continuation, Message, MessageFlags, MessageType, RawMessage};
use crate::limits;
use block::MessageFormat;

pub use new_header::NewHeader;
pub use rewrite::{Rewrite, RewrittenHeader};

const NAME: &str = "object header";
const CONTINUATION_NAME: &str = "object header continuation block";
const SIGNATURE: [u8; 4] = *b"OHDR";
const CONTINUATION_SIGNATURE: [u8; 4] = *b"OCHK";
const CHECKSUM_BYTES: usize = 4;
/// Bytes of a version-1 prefix.
const FIRST_PREFIX_BYTES: usize = 16;
/// Bytes of a version-2 prefix up to the flags.
const FIXED_PREFIX_BYTES: usize = 6;

/// A good first read of a header: most have no more.
pub const USUAL_BYTES: usize = 512;
/// Messages of a usual header.
const USUAL_MESSAGES: usize = 8;

const FLAG_CREATION_ORDER_TRACKED: u8 = 0x04;
const FLAG_CREATION_ORDER_INDEXED: u8 = 0x08;
const FLAG_PHASE_CHANGE: u8 = 0x10;
const FLAG_TIMES: u8 = 0x20;

/// An object's header, as far as its blocks have been decoded.
#[derive(Debug, Clone, PartialEq)]
pub struct ObjectHeader {
    /// Where it is; every reference to the object is this address.
    pub address: u64,
    /// Version, 1 or 2.
    pub version: u8,
    /// Hard links to the object (version 1; in version 2 a message tells where it is not one).
    pub reference_count: Option<u32>,
    /// Number of messages in all blocks (version 1).
    pub stored_message_count: Option<u16>,
    /// When the object was used (version 2, where the writer keeps it).
    pub times: Option<Times>,
    /// Most attributes in the header, fewest in dense storage, where not 8 and 6 (version 2).
    pub attribute_phase_change: Option<(u16, u16)>,
    /// True where attributes have a creation order (version 2).
    pub attribute_order_tracked: bool,
    /// True where dense attributes are indexed by it (version 2).
    pub attribute_order_indexed: bool,
    /// Bytes at the header's address, prefix, messages and checksum.
    first_block_bytes: u64,
    /// Says how many bytes the size of the first block takes (version 2).
    width_bits: u8,
    messages: Vec<RawMessage>,
    pending: VecDeque<Continuation>,
    continuations: Vec<Continuation>,
    /// Addresses of continuation blocks.
    visited: HashSet<u64>,
}

/// What a version-2 prefix says of the object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Properties {
    /// See [`ObjectHeader::times`].
    pub times: Option<Times>,
    /// See [`ObjectHeader::attribute_phase_change`].
    pub attribute_phase_change: Option<(u16, u16)>,
    /// See [`ObjectHeader::attribute_order_tracked`].
    pub attribute_order_tracked: bool,
    /// See [`ObjectHeader::attribute_order_indexed`].
    pub attribute_order_indexed: bool,
}

/// Seconds since 1970-01-01 00:00 UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    /// Last access.
    pub access: u32,
    /// Last change of data.
    pub modification: u32,
    /// Last change of metadata.
    pub change: u32,
    /// Creation.
    pub birth: u32,
}

impl ObjectHeader {
    /// Decodes the prefix and the first block from `bytes`, which stand at `address`.
    ///
    /// # Errors
    /// [`ErrorKind::NeedMore`] says the size of prefix and block, once the prefix is there.
    pub fn decode_prefix(bytes: &[u8], address: u64, sizes: Sizes) -> Result<Self> {
        let mut cursor = Cursor::new(bytes, NAME, address);
        let mut header = Self {
            address,
            version: 1,
            reference_count: None,
            stored_message_count: None,
            times: None,
            attribute_phase_change: None,
            attribute_order_tracked: false,
            attribute_order_indexed: false,
            first_block_bytes: 0,
            width_bits: 0,
            messages: Vec::new(),
            pending: VecDeque::new(),
            continuations: Vec::new(),
            visited: HashSet::new(),
        };
        if bytes.first() == Some(&1) {
            header.decode_first(&mut cursor, bytes, sizes)?;
        } else {
            header.version = 2;
            header.decode_second(&mut cursor, bytes, sizes)?;
        }
        Ok(header)
    }

    /// The next block to decode; `None` when the header is whole.
    pub fn next_continuation(&self) -> Option<Continuation> {
        self.pending.front().copied()
    }

    /// Decodes the block that [`Self::next_continuation`] names from its `bytes`.
    pub fn decode_continuation(&mut self, bytes: &[u8], sizes: Sizes) -> Result<()> {
        let Some(block) = self.next_continuation() else { return Ok(()) };
        let mut cursor = Cursor::new(bytes, CONTINUATION_NAME, block.address);
        cursor.require(block.len_bytes)?;
        let bytes = cursor.take(block.len_bytes as usize)?;
        let mut cursor = Cursor::new(bytes, CONTINUATION_NAME, block.address);
        let end = if self.version == 1 {
            bytes.len()
        } else {
            cursor.signature(&CONTINUATION_SIGNATURE)?;
            let end = bytes.len().checked_sub(CHECKSUM_BYTES);
            let end = end.filter(|&end| end >= cursor.position());
            end.ok_or_else(|| cursor.bad_field("bytes", block.len_bytes))?
        };
        let messages = cursor.position()..end;
        if self.version == 2 {
            cursor.skip(messages.len())?;
            cursor.verify_checksum()?;
        }
        self.pending.pop_front();
        self.add_block(&cursor, bytes, messages, sizes)
    }

    /// The messages of the blocks decoded so far, in their order, without empty ones and
    /// continuations.
    pub fn messages(&self) -> &[RawMessage] {
        &self.messages
    }

    /// Bytes at the header's address: those that stay where they are while the object exists.
    pub fn first_block_bytes(&self) -> u64 {
        self.first_block_bytes
    }

    /// The further blocks that were found so far.
    pub fn continuations(&self) -> &[Continuation] {
        &self.continuations
    }

    /// What the prefix says, where it is one of version 2.
    pub fn properties(&self) -> Properties {
        Properties {
            times: self.times,
            attribute_phase_change: self.attribute_phase_change,
            attribute_order_tracked: self.attribute_order_tracked,
            attribute_order_indexed: self.attribute_order_indexed,
        }
    }

    /// The first message of a type.
    pub fn find(&self, message_type: MessageType) -> Option<&RawMessage> {
        self.messages.iter().find(|message| message.message_type == message_type)
    }

    /// Whatever stands in the way of opening the object: a message of an unknown type that says
    /// so.
    pub fn unknown_message(&self) -> Option<&RawMessage> {
        self.messages.iter().find(|message| {
            message.message_type.name().is_none() && message.flags.fails_if_unknown()
        })
    }

    fn decode_first(&mut self, cursor: &mut Cursor<'_>, bytes: &[u8], sizes: Sizes) -> Result<()> {
        cursor.version(1)?;
        cursor.skip(1)?;
        self.stored_message_count = Some(cursor.u16()?);
        self.reference_count = Some(cursor.u32()?);
        let len = cursor.u32()?;
        cursor.skip(4)?;
        let start = cursor.position();
        cursor.require(u64::from(len))?;
        cursor.skip(len as usize)?;
        self.first_block_bytes = cursor.position() as u64;
        self.add_block(cursor, bytes, start..cursor.position(), sizes)
    }

    fn decode_second(&mut self, cursor: &mut Cursor<'_>, bytes: &[u8], sizes: Sizes) -> Result<()> {
        cursor.signature(&SIGNATURE)?;
        cursor.version(2)?;
        let flags = cursor.u8()?;
        self.attribute_order_tracked = flags & FLAG_CREATION_ORDER_TRACKED != 0;
        self.attribute_order_indexed = flags & FLAG_CREATION_ORDER_INDEXED != 0;
        if flags & FLAG_TIMES != 0 {
            self.times = Some(Times {
                access: cursor.u32()?,
                modification: cursor.u32()?,
                change: cursor.u32()?,
                birth: cursor.u32()?,
            });
        }
        if flags & FLAG_PHASE_CHANGE != 0 {
            self.attribute_phase_change = Some((cursor.u16()?, cursor.u16()?));
        }
        self.width_bits = flags & 3;
        let len = cursor.uint(1 << self.width_bits)?;
        cursor.require(len.saturating_add(CHECKSUM_BYTES as u64))?;
        let start = cursor.position();
        cursor.skip(len as usize)?;
        let end = cursor.position();
        cursor.verify_checksum()?;
        self.first_block_bytes = cursor.position() as u64;
        self.add_block(cursor, bytes, start..end, sizes)
    }

    /// Cuts the part `range` of a block's `bytes` into messages.
    fn add_block(
        &mut self,
        cursor: &Cursor<'_>,
        bytes: &[u8],
        range: Range<usize>,
        sizes: Sizes,
    ) -> Result<()> {
        let block: Arc<[u8]> = bytes.get(range.clone()).unwrap_or_default().into();
        let block_address = cursor.address().saturating_add(range.start as u64);
        let mut inner = Cursor::new(&block, NAME, block_address);
        let prefix_bytes = self.format().prefix_bytes();
        if self.messages.is_empty() {
            self.messages.reserve(USUAL_MESSAGES);
        }
        // What is left behind the last message is a gap, too small for an empty message.
        while inner.remaining() >= prefix_bytes {
            let message = self
                .decode_message(&mut inner, &block)
                .map_err(|error| error.at_end(block.len() as u64))?;
            match message.message_type {
                MessageType::NULL => continue,
                MessageType::CONTINUATION => self.add_continuation(&inner, &message, sizes)?,
                _ => self.messages.push(message),
            }
            let count = self.messages.len() as u64;
            inner.limited("number of messages", count, limits::HEADER_MESSAGES)?;
        }
        Ok(())
    }

    fn format(&self) -> MessageFormat {
        let Self { version, attribute_order_tracked, .. } = *self;
        MessageFormat { version, attribute_order_tracked }
    }

    fn decode_message(&self, cursor: &mut Cursor<'_>, block: &Arc<[u8]>) -> Result<RawMessage> {
        let is_first = self.version == 1;
        let message_type =
            MessageType(if is_first { cursor.u16()? } else { u16::from(cursor.u8()?) });
        let size = usize::from(cursor.u16()?);
        let flags = MessageFlags(cursor.u8()?);
        let mut creation_order = None;
        if is_first {
            cursor.skip(3)?;
        } else if self.attribute_order_tracked {
            creation_order = Some(cursor.u16()?);
        }
        let start = cursor.position();
        cursor.skip(size)?;
        Ok(RawMessage {
            message_type,
            flags,
            creation_order,
            address: cursor.address().saturating_add(start as u64),
            block: Arc::clone(block),
            range: start..start + size,
        })
    }

    /// Notes a further block, which must be a new one.
    fn add_continuation(
        &mut self,
        cursor: &Cursor<'_>,
        message: &RawMessage,
        sizes: Sizes,
    ) -> Result<()> {
        let continuation = Continuation::decode(message.bytes(), message.address, sizes)?;
        let is_first_block = continuation.address == self.address;
        if is_first_block || !self.visited.insert(continuation.address) {
            return Err(cursor.error(ErrorKind::Cycle));
        }
        let count = self.visited.len() as u64;
        cursor.limited("number of continuation blocks", count, limits::HEADER_CONTINUATIONS)?;
        self.pending.push_back(continuation);
        self.continuations.push(continuation);
        Ok(())
    }
}
