//! How messages stand in the blocks of a header.

use crate::error::Result;
use crate::hdf5::message::{MessageType, NewMessage};
use crate::output::Output;

/// Most bytes of a NIL message: a multiple of 8, so that it can stand in either version.
const NIL_BYTES: usize = 0xfff8;

/// What decides the shape of a message in a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MessageFormat {
    /// The header's version.
    pub version: u8,
    /// True where messages carry their creation order (version 2).
    pub attribute_order_tracked: bool,
}

impl MessageFormat {
    /// Bytes before the data.
    pub fn prefix_bytes(self) -> usize {
        match (self.version, self.attribute_order_tracked) {
            (1, _) => 8,
            (_, true) => 6,
            (_, false) => 4,
        }
    }

    /// Bytes of a message with `data_bytes`, prefix and padding included.
    pub fn message_bytes(self, data_bytes: usize) -> usize {
        self.prefix_bytes() + self.padded(data_bytes)
    }

    /// Bytes of all `messages`.
    pub fn total_bytes(self, messages: &[NewMessage]) -> usize {
        messages.iter().map(|message| self.message_bytes(message.bytes.len())).sum()
    }

    fn padded(self, data_bytes: usize) -> usize {
        if self.version == 1 { data_bytes.next_multiple_of(8) } else { data_bytes }
    }

    /// Encodes prefix, data and padding of a message.
    ///
    /// # Errors
    /// More than 64 KiB of data, or a type of more than 8 bits in version 2.
    pub fn encode(self, output: &mut Output, message: &NewMessage) -> Result<()> {
        let padded = self.padded(message.bytes.len());
        let type_bytes = if self.version == 1 { 2 } else { 1 };
        output.sized("message type", u64::from(message.message_type.0), type_bytes)?;
        output.sized("bytes of a message", padded as u64, 2)?;
        output.u8(message.flags.0);
        if self.version == 1 {
            output.zeros(3);
        } else if self.attribute_order_tracked {
            output.u16(message.creation_order.unwrap_or(0));
        }
        output.put(&message.bytes);
        output.zeros(padded - message.bytes.len());
        Ok(())
    }

    /// Fills `gap_bytes` at the end of a block: with NIL messages, or with zeros where there is
    /// no room for one. libhdf5 takes one or the other in a block, not both.
    pub fn encode_gap(self, output: &mut Output, gap_bytes: usize) {
        let mut left = gap_bytes;
        for data_bytes in self.nil_messages(gap_bytes) {
            output.uint(u64::from(MessageType::NULL.0), if self.version == 1 { 2 } else { 1 });
            output.uint(data_bytes as u64, 2);
            output.zeros(self.message_bytes(data_bytes) - if self.version == 1 { 4 } else { 3 });
            left -= self.message_bytes(data_bytes);
        }
        output.zeros(left);
    }

    /// Bytes of data of each NIL message that fills a gap.
    pub fn nil_messages(self, gap_bytes: usize) -> impl Iterator<Item = usize> {
        let prefix_bytes = self.prefix_bytes();
        let mut left = gap_bytes;
        std::iter::from_fn(move || {
            let mut data_bytes = left.checked_sub(prefix_bytes)?.min(NIL_BYTES);
            if self.version == 1 {
                data_bytes -= data_bytes % 8;
            }
            left -= prefix_bytes + data_bytes;
            // What is left must have room for another one.
            if data_bytes == NIL_BYTES && (1..prefix_bytes).contains(&left) {
                data_bytes -= prefix_bytes;
                left += prefix_bytes;
            }
            Some(data_bytes)
        })
    }
}
