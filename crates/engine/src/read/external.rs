//! External raw data: segments of other files, one after the other, as one storage.

use std::io;
use std::mem::MaybeUninit;

use crate::plan::layout::ExternalSegment;
use crate::storage::{Storage, uninit};

/// Segments as one run of bytes. A file that is missing reads as fill, and what is missing at the
/// end of a file as zeros: so libhdf5 has it.
pub(super) struct Segments<'s> {
    segments: &'s [ExternalSegment],
    fill: &'s [u8],
}

impl<'s> Segments<'s> {
    /// The bytes of `segments`; `fill` is one element.
    pub(super) fn new(segments: &'s [ExternalSegment], fill: &'s [u8]) -> Self {
        Self { segments, fill }
    }

    /// What of a read at `offset` lies in one segment: the segment, where in it, how many bytes.
    fn segment_at(&self, offset: u64) -> Option<(&'s ExternalSegment, u64, u64)> {
        let mut start = 0u64;
        for segment in self.segments {
            let end = start.saturating_add(segment.length_bytes);
            if offset < end {
                return Some((segment, offset - start, end - offset));
            }
            start = end;
        }
        None
    }
}

impl Storage for Segments<'_> {
    fn len(&self) -> io::Result<u64> {
        Ok(self.segments.iter().fold(0, |sum, segment| sum.saturating_add(segment.length_bytes)))
    }

    fn read_at<'into>(
        &self,
        offset: u64,
        into: &'into mut [MaybeUninit<u8>],
    ) -> io::Result<&'into mut [u8]> {
        uninit::fill(into, |done, rest| {
            let at = offset.saturating_add(done);
            // Nothing filled says that the bytes end here.
            let Some((segment, within, left)) = self.segment_at(at) else {
                return Ok(uninit::zeroed(&mut rest[..0]));
            };
            let len = usize::try_from(left).unwrap_or(usize::MAX).min(rest.len());
            let part = &mut rest[..len];
            match &segment.storage {
                Some(storage) => {
                    let from = segment.offset.saturating_add(within);
                    uninit::read_with_zeros(storage.as_ref(), from, part)
                }
                None => {
                    let bytes = uninit::zeroed(part);
                    let phase = (at % (self.fill.len().max(1) as u64)) as usize;
                    let values = self.fill.iter().cycle().skip(phase);
                    bytes.iter_mut().zip(values).for_each(|(byte, value)| *byte = *value);
                    Ok(bytes)
                }
            }
        })
    }

    fn call_cost_bytes(&self) -> u64 {
        let costs = self.segments.iter().filter_map(|segment| segment.storage.as_ref());
        costs.map(|storage| storage.call_cost_bytes()).max().unwrap_or(64)
    }

    fn parallel(&self) -> bool {
        self.segments
            .iter()
            .filter_map(|segment| segment.storage.as_ref())
            .all(|storage| storage.parallel())
    }
}
