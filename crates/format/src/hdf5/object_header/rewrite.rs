//! Headers that are there already, with other messages.
//!
//! The first block keeps its place and size, because every reference to the object is its
//! address. What does not fit there goes to one continuation block, wherever there is space.

use super::block::MessageFormat;
use super::{
    CHECKSUM_BYTES, CONTINUATION_SIGNATURE, Continuation, FIRST_PREFIX_BYTES, NAME, ObjectHeader,
};
use crate::error::Result;
use crate::hdf5::message::{MessageFlags, NewMessage};
use crate::hdf5::{Encoding, Sizes};
use crate::output::Output;

/// The new blocks of a header, but for the address of the second one.
#[derive(Debug, Clone)]
pub struct Rewrite {
    format: MessageFormat,
    sizes: Sizes,
    /// Prefix and messages of the first block.
    first: Output,
    /// What is left of the first block behind them and the continuation message.
    gap_bytes: usize,
    continuation: Option<Vec<u8>>,
}

/// The blocks of a rewritten header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RewrittenHeader {
    /// Everything that stands at the header's address, as many bytes as before.
    pub first: Vec<u8>,
    /// The continuation block, where there is one.
    pub continuation: Option<Vec<u8>>,
}

impl ObjectHeader {
    /// Lays out `messages`, all that the header is to have, in their order. The prefix becomes
    /// what the fields of `self` say.
    ///
    /// # Errors
    /// A message that is too long, more of them than version 1 can count, or a first block that
    /// has no room for a continuation message.
    pub fn rewrite(&self, messages: &[NewMessage], sizes: Sizes) -> Result<Rewrite> {
        let format = self.format();
        let area_bytes = self.area_bytes()?;
        let continuation_bytes = format.message_bytes(Continuation::byte_len(sizes));
        let is_whole = format.total_bytes(messages) <= area_bytes;
        let reserved_bytes = if is_whole { 0 } else { continuation_bytes };
        let mut gap_bytes = Output::of(NAME)
            .limited("bytes of a continuation message", reserved_bytes as u64, area_bytes as u64)
            .map(|reserved_bytes| area_bytes - reserved_bytes as usize)?;
        let mut first_count = 0;
        for message in messages {
            let Some(left) = gap_bytes.checked_sub(format.message_bytes(message.bytes.len()))
            else {
                break;
            };
            gap_bytes = left;
            first_count += 1;
        }
        let (first_messages, others) = messages.split_at(first_count);
        let count =
            messages.len() + usize::from(!is_whole) + format.nil_messages(gap_bytes).count();
        let mut first = Output::of(NAME);
        self.encode_prefix(&mut first, area_bytes, count)?;
        for message in first_messages {
            format.encode(&mut first, message)?;
        }
        let continuation = if is_whole { None } else { Some(encode_continuation(format, others)?) };
        Ok(Rewrite { format, sizes, first, gap_bytes, continuation })
    }

    /// Bytes of the messages of the first block.
    fn area_bytes(&self) -> Result<usize> {
        let around = match self.version {
            1 => FIRST_PREFIX_BYTES,
            _ => self.properties().prefix_bytes(1 << self.width_bits) + CHECKSUM_BYTES,
        };
        let len_bytes = self.first_block_bytes;
        let around = Output::of(NAME).limited("bytes of the prefix", around as u64, len_bytes)?;
        Ok((len_bytes - around) as usize)
    }

    fn encode_prefix(&self, output: &mut Output, area_bytes: usize, count: usize) -> Result<()> {
        if self.version != 1 {
            return self.properties().encode(output, self.width_bits, area_bytes);
        }
        output.put(&[1, 0]);
        output.sized("number of messages", count as u64, 2)?;
        output.u32(self.reference_count.unwrap_or(1));
        output.sized("bytes of the first block", area_bytes as u64, 4)?;
        output.zeros(4);
        Ok(())
    }
}

impl Rewrite {
    /// Bytes of the continuation block, which needs a place; `None` where everything fits the
    /// first block.
    pub fn continuation_bytes(&self) -> Option<u64> {
        self.continuation.as_ref().map(|block| block.len() as u64)
    }

    /// The blocks, the second one of which will stand at `continuation_address`.
    ///
    /// # Errors
    /// No such address where there is a second block, or one that is too great for the file.
    pub fn finish(self, continuation_address: Option<u64>) -> Result<RewrittenHeader> {
        let mut first = self.first;
        if let Some(block) = &self.continuation {
            let address = continuation_address
                .ok_or_else(|| first.bad_field("address of the continuation", u64::MAX))?;
            let continuation = Continuation { address, len_bytes: block.len() as u64 };
            let encoding = Encoding { sizes: self.sizes, ..Encoding::default() };
            let message = NewMessage::new(&continuation, MessageFlags::NONE, encoding)?;
            self.format.encode(&mut first, &message)?;
        }
        self.format.encode_gap(&mut first, self.gap_bytes);
        if self.format.version != 1 {
            first.checksum();
        }
        Ok(RewrittenHeader { first: first.into_bytes(), continuation: self.continuation })
    }
}

fn encode_continuation(format: MessageFormat, messages: &[NewMessage]) -> Result<Vec<u8>> {
    let mut output = Output::of(super::CONTINUATION_NAME);
    if format.version != 1 {
        output.put(&CONTINUATION_SIGNATURE);
    }
    for message in messages {
        format.encode(&mut output, message)?;
    }
    if format.version != 1 {
        output.checksum();
    }
    Ok(output.into_bytes())
}
