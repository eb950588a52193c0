//! Headers of version 2 of objects that are new.

use super::block::MessageFormat;
use super::{CHECKSUM_BYTES, Continuation, FIXED_PREFIX_BYTES, NAME, Properties};
use crate::error::Result;
use crate::hdf5::Sizes;
use crate::hdf5::message::NewMessage;
use crate::hdf5::message::link::width_bits;
use crate::output::Output;

/// A header of version 2 that is to be written, with all messages in its one block.
#[derive(Debug, Clone, Default)]
pub struct NewHeader {
    /// What the prefix says.
    pub properties: Properties,
    /// In the order in which they are to stand.
    pub messages: Vec<NewMessage>,
    /// Room for messages that come later, prefixes included.
    pub spare_bytes: usize,
}

impl NewHeader {
    /// Bytes that [`Self::encode`] gives, whatever addresses the messages have in them.
    pub fn len_bytes(&self, sizes: Sizes) -> usize {
        let area_bytes = self.area_bytes(sizes);
        let width = 1 << width_bits(area_bytes as u64);
        self.properties.prefix_bytes(width) + area_bytes + CHECKSUM_BYTES
    }

    /// The bytes of the header.
    ///
    /// # Errors
    /// A message that is too long, or of a type that version 2 has no room for.
    pub fn encode(&self, sizes: Sizes) -> Result<Vec<u8>> {
        let (format, area_bytes) = (self.format(), self.area_bytes(sizes));
        let mut output = Output::of(NAME);
        let width_bits = width_bits(area_bytes as u64);
        self.properties.encode(&mut output, width_bits, area_bytes)?;
        for message in &self.messages {
            format.encode(&mut output, message)?;
        }
        format.encode_gap(&mut output, area_bytes - format.total_bytes(&self.messages));
        output.checksum();
        Ok(output.into_bytes())
    }

    fn format(&self) -> MessageFormat {
        let attribute_order_tracked = self.properties.attribute_order_tracked;
        MessageFormat { version: 2, attribute_order_tracked }
    }

    /// Bytes of the messages; a continuation message has room at least, so that the header can
    /// grow.
    fn area_bytes(&self, sizes: Sizes) -> usize {
        let format = self.format();
        let least_bytes = format.message_bytes(Continuation::byte_len(sizes));
        (format.total_bytes(&self.messages) + self.spare_bytes).max(least_bytes)
    }
}

impl Properties {
    /// Bytes of a version-2 prefix whose size field has `width`.
    pub(super) fn prefix_bytes(&self, width: usize) -> usize {
        let times = if self.times.is_some() { 16 } else { 0 };
        let phase_change = if self.attribute_phase_change.is_some() { 4 } else { 0 };
        FIXED_PREFIX_BYTES + times + phase_change + width
    }

    /// Encodes a version-2 prefix up to the size of the block's messages.
    pub(super) fn encode(
        &self,
        output: &mut Output,
        width_bits: u8,
        area_bytes: usize,
    ) -> Result<()> {
        output.put(&super::SIGNATURE);
        let flags = [
            (self.attribute_order_tracked, super::FLAG_CREATION_ORDER_TRACKED),
            (self.attribute_order_indexed, super::FLAG_CREATION_ORDER_INDEXED),
            (self.attribute_phase_change.is_some(), super::FLAG_PHASE_CHANGE),
            (self.times.is_some(), super::FLAG_TIMES),
        ];
        let set = flags.iter().filter(|(is_set, _)| *is_set);
        output.put(&[2, set.fold(width_bits, |flags, (_, flag)| flags | flag)]);
        if let Some(times) = self.times {
            for time in [times.access, times.modification, times.change, times.birth] {
                output.u32(time);
            }
        }
        if let Some((most_compact, fewest_dense)) = self.attribute_phase_change {
            output.u16(most_compact);
            output.u16(fewest_dense);
        }
        output.sized("bytes of the first block", area_bytes as u64, 1 << width_bits)
    }
}
