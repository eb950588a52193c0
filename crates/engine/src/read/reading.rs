//! A request on its way: which elements of a layout go where, whatever the layout.

use std::io;

use isotach_model::shape;

use super::scatter::{OutOfBounds, Region, Source, Target, scatter};
use super::{chunked, external, strided, tiled, virtual_array};
use crate::cache::ChunkCache;
use crate::cache::read_ahead::Ahead;
use crate::error::{Error, ErrorKind, Result};
use crate::plan::axis_runs::{AxisRun, split_at_extent};
use crate::plan::layout::{ArrayLayout, BeyondEnd, Placement};

/// Virtual arrays may be made of virtual arrays. Real ones are two deep; libhdf5 has no bound.
const VIRTUAL_DEPTH: u32 = 16;

/// What a request needs beside the elements that it wants.
#[derive(Clone, Copy)]
pub(super) struct Reading<'r> {
    pub(super) layout: &'r ArrayLayout,
    pub(super) cache: &'static ChunkCache,
    /// What may be decoded for the next request.
    pub(super) ahead: Option<&'r Ahead<'r>>,
    /// How many virtual arrays this one is inside of.
    pub(super) depth: u32,
}

impl Reading<'_> {
    /// Reads the elements that `axes` name into `target`. Positions beyond the stored extent are
    /// fill. Writes each wanted element exactly once, virtual arrays aside.
    pub(super) fn read(&self, axes: Vec<Vec<AxisRun>>, target: &Target<'_, '_>) -> Result<()> {
        let mut inside: Vec<Vec<AxisRun>> = Vec::with_capacity(axes.len());
        let mut outside: Vec<Vec<AxisRun>> = Vec::with_capacity(axes.len());
        for (runs, &len) in axes.into_iter().zip(&self.layout.shape) {
            let (within, beyond) = split_at_extent(runs, len);
            inside.push(within);
            outside.push(beyond);
        }
        self.fill_outside(&inside, &outside, target)?;
        if inside.iter().any(Vec::is_empty) {
            return Ok(());
        }
        let read = self.read_inside(inside, target);
        // What was wrong with bytes of another state does not matter.
        let ensured = self.layout.storage.ensure_values();
        ensured.map_err(|source| self.storage_error(self.layout.id.address, 0, source))?;
        read
    }

    /// Reads positions within the stored extent, some along each axis.
    fn read_inside(&self, inside: Vec<Vec<AxisRun>>, target: &Target<'_, '_>) -> Result<()> {
        match &self.layout.placement {
            Placement::Unallocated => self.fill(&as_region(&inside), target),
            Placement::Inline(bytes) => {
                let strides = self.row_major_bytes(&self.layout.shape)?;
                let origin = vec![0; strides.len()];
                let source = Source { bytes, start: 0, origin: &origin, strides: &strides };
                scatter(&source, &as_region(&inside), target)
                    .map_err(|OutOfBounds| self.short(bytes.len() as u64))
            }
            Placement::Strided { address, strides_bytes, beyond_end } => {
                let place = strided::Place {
                    storage: self.layout.storage.as_ref(),
                    address: *address,
                    strides: strides_bytes,
                    beyond_end: *beyond_end,
                };
                tiled::read(self, &place, inside, target)
            }
            Placement::Chunked(chunked) => chunked::read(self, chunked, &inside, target),
            Placement::External { segments, beyond_end } => {
                let storage = external::Segments::new(segments, *beyond_end);
                let strides = self.row_major_bytes(&self.layout.shape)?;
                let place = strided::Place {
                    storage: &storage,
                    address: 0,
                    strides: &strides,
                    beyond_end: BeyondEnd::Error,
                };
                strided::read(self, &place, inside, target).map_err(external::named)
            }
            Placement::Virtual(_) if self.depth >= VIRTUAL_DEPTH => {
                let (value, limit) = (u64::from(self.depth) + 1, u64::from(VIRTUAL_DEPTH));
                Err(self.error(ErrorKind::Limit { what: "depth of virtual arrays", value, limit }))
            }
            Placement::Virtual(sources) => {
                virtual_array::read(self, sources.as_ref(), &inside, target)
            }
        }
    }

    /// Fills what has a position beyond the stored extent along any axis: for each axis, the
    /// positions inside along the axes before it, beyond along it, and all along those behind it.
    fn fill_outside(
        &self,
        inside: &[Vec<AxisRun>],
        outside: &[Vec<AxisRun>],
        target: &Target<'_, '_>,
    ) -> Result<()> {
        for axis in (0..outside.len()).filter(|&axis| !outside[axis].is_empty()) {
            let all: Vec<Vec<AxisRun>> = (axis + 1..outside.len())
                .map(|behind| inside[behind].iter().chain(&outside[behind]).copied().collect())
                .collect();
            let before = inside[..axis].iter().map(Vec::as_slice);
            let behind = all.iter().map(Vec::as_slice);
            let region: Vec<&[AxisRun]> =
                before.chain([outside[axis].as_slice()]).chain(behind).collect();
            let element = self.layout.fill_beyond.as_ref().unwrap_or(&self.layout.fill);
            self.fill_with(element, &region, target)?;
        }
        Ok(())
    }

    /// Writes the fill value to the elements of `region`.
    pub(super) fn fill(&self, region: &Region<'_>, target: &Target<'_, '_>) -> Result<()> {
        self.fill_with(&self.layout.fill, region, target)
    }

    fn fill_with(
        &self,
        element: &[u8],
        region: &Region<'_>,
        target: &Target<'_, '_>,
    ) -> Result<()> {
        let nowhere = vec![0; region.len()];
        let source = Source { bytes: element, start: 0, origin: &nowhere, strides: &nowhere };
        scatter(&source, region, target).map_err(|OutOfBounds| self.short(element.len() as u64))
    }

    /// Bytes from one element to the next along each axis of a row-major block of `shape`.
    pub(super) fn row_major_bytes(&self, shape: &[u64]) -> Result<Vec<u64>> {
        let size = self.layout.element_size as u64;
        let strides = shape::row_major_strides(shape);
        let bytes = strides.and_then(|strides| {
            strides.into_iter().map(|stride| stride.checked_mul(size)).collect::<Option<Vec<_>>>()
        });
        bytes.ok_or_else(|| self.too_large())
    }

    /// An error about the array.
    pub(super) fn error(&self, kind: ErrorKind) -> Error {
        Error::new(&self.layout.file, kind).at(&self.layout.path)
    }

    /// The error that storage failed.
    pub(super) fn storage_error(&self, address: u64, length: u64, source: io::Error) -> Error {
        crate::storage::storage_error(&self.layout.file, address, length, source)
            .at(&self.layout.path)
    }

    /// The error that the array lies beyond 64-bit addresses.
    pub(super) fn too_large(&self) -> Error {
        let bytes = shape::element_count(&self.layout.shape).unwrap_or(u64::MAX);
        self.error(ErrorKind::Limit { what: "element count", value: bytes, limit: i64::MAX as u64 })
    }

    /// The error that only `available` bytes are there for more elements than that.
    pub(super) fn short(&self, available: u64) -> Error {
        let bytes = shape::byte_count(&self.layout.shape, self.layout.element_size);
        let needed_bytes = bytes.map_or(u64::MAX, |bytes| bytes as u64);
        let kind =
            isotach_format::ErrorKind::Truncated { needed_bytes, available_bytes: available };
        let address = self.layout.id.address;
        self.error(ErrorKind::Structure(isotach_format::Error {
            structure: "array",
            address,
            kind,
        }))
    }
}

/// Runs along each axis as a region.
pub(super) fn as_region(axes: &[Vec<AxisRun>]) -> Vec<&[AxisRun]> {
    axes.iter().map(Vec::as_slice).collect()
}

/// Bytes from one result to the next along each axis of a result of `shape`, whose size in bytes
/// was checked to fit memory.
pub(crate) fn target_strides(shape: &[u64], element_size: usize) -> Vec<usize> {
    let mut stride = element_size;
    let mut strides = vec![0; shape.len()];
    for (place, &len) in strides.iter_mut().zip(shape).rev() {
        *place = stride;
        stride = stride.saturating_mul(usize::try_from(len).unwrap_or(usize::MAX));
    }
    strides
}
