//! Small arrays that lie in the object header: HDF5's compact layout.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use isotach_model::selection::Selection;
use isotach_model::shape;

use super::cover::Cover;
use super::gather::{Elements, Gather};
use super::{Target, fill_with};
use crate::error::Result;

/// The elements of an array that stays in memory until its header is written.
pub struct InlineStore {
    target: Target,
    shape: Vec<u64>,
    element_size: usize,
    /// Bytes from one element to the next along each axis.
    strides: Vec<u64>,
    bytes: Mutex<Vec<u8>>,
}

impl InlineStore {
    /// An array of `shape` that holds the bytes it has in the file, or else is all `fill`. An error
    /// says that it is too large.
    pub fn new(
        target: Target,
        shape: Vec<u64>,
        element_size: usize,
        fill: &[u8],
        existing: Option<&[u8]>,
    ) -> Result<Self> {
        let too_large = || target.limit("bytes of a compact array", u64::MAX, isize::MAX as u64);
        let len = shape::byte_count(&shape, element_size).ok_or_else(too_large)?;
        let strides = shape::row_major_strides(&shape).ok_or_else(too_large)?;
        let mut bytes = vec![0; len];
        fill_with(&mut bytes, fill);
        if let Some(existing) = existing {
            let common = len.min(existing.len());
            bytes[..common].copy_from_slice(&existing[..common]);
        }
        let strides = strides.into_iter().map(|stride| stride * element_size as u64).collect();
        Ok(Self { target, shape, element_size, strides, bytes: Mutex::new(bytes) })
    }

    fn lock(&self) -> MutexGuard<'_, Vec<u8>> {
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes elements; see [`super::Store::write`].
    pub fn write(&self, selection: &Selection, elements: &[u8], shape: &[u64]) -> Result<()> {
        let size = self.element_size;
        let source_strides = self.target.check(selection, elements, shape, size)?;
        if elements.is_empty() {
            return Ok(());
        }
        let len = elements.len() as u64;
        let too_large = || self.target.limit("bytes of a compact array", len, len);
        // All of the array is one chunk.
        let cover = Cover::new(selection, &self.shape, &self.shape).ok_or_else(too_large)?;
        let elements = Elements { bytes: elements, strides: &source_strides, element_size: size };
        let mut gather = Gather::new(elements, &self.shape, &self.strides);
        let region = cover.cursor(0).region;
        gather.copy(&region, &mut self.lock(), 0, |_| ()).map_err(|_| too_large())
    }

    /// The elements as they are now, row-major.
    pub fn bytes(&self) -> Arc<[u8]> {
        self.lock().as_slice().into()
    }
}
