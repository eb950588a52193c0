//! Storage of which some bytes are others than those below it.

use std::io;
use std::mem::MaybeUninit;
use std::sync::Arc;

use super::{Storage, uninit};

/// A storage with a few extents laid over it. Only reading what they touch costs more.
pub(crate) struct Overlay {
    below: Arc<dyn Storage>,
    /// Offset and bytes of each extent; they ascend and do not overlap.
    extents: Vec<(u64, Vec<u8>)>,
}

impl Overlay {
    /// `below` with `extents` laid over it, which do not overlap.
    pub(crate) fn new(below: Arc<dyn Storage>, mut extents: Vec<(u64, Vec<u8>)>) -> Self {
        extents.sort_unstable_by_key(|(offset, _)| *offset);
        Self { below, extents }
    }
}

impl Storage for Overlay {
    fn len(&self) -> io::Result<u64> {
        self.below.len()
    }

    fn read_at<'into>(
        &self,
        offset: u64,
        into: &'into mut [MaybeUninit<u8>],
    ) -> io::Result<&'into mut [u8]> {
        let into = uninit::read_at(self.below.as_ref(), offset, into)?;
        // The storage delivered these bytes: their offsets are numbers.
        let end = offset + into.len() as u64;
        let first = self.extents.partition_point(|(at, bytes)| at + bytes.len() as u64 <= offset);
        for (at, bytes) in self.extents[first..].iter().take_while(|(at, _)| *at < end) {
            let (from, to) = (offset.max(*at), end.min(at + bytes.len() as u64));
            into[(from - offset) as usize..(to - offset) as usize]
                .copy_from_slice(&bytes[(from - at) as usize..(to - at) as usize]);
        }
        Ok(into)
    }

    fn call_cost_bytes(&self) -> u64 {
        self.below.call_cost_bytes()
    }

    fn ensure_state(&self) -> io::Result<()> {
        self.below.ensure_state()
    }

    fn ensure_values(&self) -> io::Result<()> {
        self.below.ensure_values()
    }

    fn ensure_lately(&self) -> io::Result<()> {
        self.below.ensure_lately()
    }

    /// What lies over a later state is another matter.
    fn present(&self) -> io::Result<Option<Arc<dyn Storage>>> {
        self.below.present()
    }

    fn has_writer(&self) -> bool {
        self.below.has_writer()
    }

    fn parallel(&self) -> bool {
        self.below.parallel()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::Memory;

    #[test]
    fn every_read_finds_what_lies_on_top() {
        let below: Vec<u8> = (0..40).collect();
        let extents = vec![(30, vec![130, 131]), (5, vec![105]), (6, vec![106, 107, 108])];
        let mut expected = below.clone();
        for (at, bytes) in &extents {
            expected[*at as usize..][..bytes.len()].copy_from_slice(bytes);
        }
        let overlay = Overlay::new(Arc::new(Memory::new(below)), extents);
        let mut bytes = Vec::new();
        for start in 0..=40 {
            for end in start..=40 {
                uninit::read_vec(&overlay, start as u64, end - start, &mut bytes).unwrap();
                assert_eq!(bytes, expected[start..end]);
            }
        }
        assert!(uninit::read_vec(&overlay, 30, 11, &mut bytes).is_err());
    }
}
