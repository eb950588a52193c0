//! Filters for which there is no code here, but elsewhere in the program: plugins.
//!
//! Whoever has such filters says once how they are found by their number ([`look_up_with`]); from then on
//! pipelines use them as they use those here. Where there is code here, it comes first.

use std::sync::OnceLock;

use crate::complete::ChunkType;
use crate::error::ErrorKind;

/// The code for one filter, from elsewhere.
pub trait ForeignFilter: Sync {
    /// The bytes that `encoded` stands for.
    ///
    /// # Errors
    /// [`ErrorKind::Foreign`] where the filter fails.
    fn decode(&self, parameters: &[u32], encoded: &[u8]) -> Result<Vec<u8>, ErrorKind>;

    /// The bytes to store for `bytes`; `None` where this filter cannot be applied here.
    fn encoder(&self) -> Option<&dyn ForeignEncoder>;
}

/// The part of a filter from elsewhere that applies it.
pub trait ForeignEncoder: Sync {
    /// What files call the filter.
    fn name(&self) -> Option<&str>;

    /// The parameters that a file holds where the filter is applied to chunks of the type `chunk`, made of those
    /// that users give.
    ///
    /// # Errors
    /// [`ErrorKind::Foreign`] where the filter does not take such chunks.
    fn complete(&self, given: &[u32], chunk: &ChunkType<'_>) -> Result<Vec<u32>, ErrorKind>;

    /// The bytes to store for `bytes`.
    ///
    /// # Errors
    /// [`ErrorKind::Foreign`] where the filter fails.
    fn encode(&self, parameters: &[u32], bytes: &[u8]) -> Result<Vec<u8>, ErrorKind>;
}

/// Finds the code for a filter's number.
pub type LookUp = fn(u16) -> Option<&'static dyn ForeignFilter>;

static LOOK_UP: OnceLock<LookUp> = OnceLock::new();

/// Says how filters are found for which there is no code here. The first one who says so is heard.
pub fn look_up_with(look_up: LookUp) {
    LOOK_UP.get_or_init(|| look_up);
}

pub(crate) fn find(id: u16) -> Option<&'static dyn ForeignFilter> {
    LOOK_UP.get()?(id)
}
