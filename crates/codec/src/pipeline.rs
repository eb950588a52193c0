//! The filters of a data set, and a chunk's way back through them.

use std::mem::MaybeUninit;

use crate::error::Result;

/// One filter as the file describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    /// Registered identifier: 1 deflate, 2 shuffle, 3 fletcher32, 4 szip, ...
    pub id: u16,
    /// The name stored in the file, where there is one.
    pub name: Option<String>,
    /// True where a chunk may be stored without it.
    pub optional: bool,
    /// The filter's own parameters ("client data").
    pub parameters: Vec<u32>,
}

/// The filters of a data set in the order in which they were applied.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pipeline {
    /// In order of encoding; decoding goes backwards.
    pub filters: Vec<Filter>,
}

/// Buffers that one thread uses again for every chunk.
#[derive(Debug, Default)]
pub struct Scratch {
    _private: (),
}

impl Pipeline {
    /// The first filter for which there is no code here, if any.
    pub fn unsupported(&self) -> Option<&Filter> {
        todo!()
    }

    /// Decodes one stored chunk into `out`, whose length is the chunk's decoded length.
    ///
    /// Bit `i` of `filter_mask` says that filter `i` was not applied to this chunk.
    pub fn decode<'o>(
        &self,
        stored: &[u8],
        filter_mask: u32,
        scratch: &mut Scratch,
        out: &'o mut [MaybeUninit<u8>],
    ) -> Result<&'o mut [u8]> {
        let _ = (stored, filter_mask, scratch, out);
        todo!()
    }
}
