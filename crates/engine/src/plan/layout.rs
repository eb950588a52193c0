//! Where the elements of an array lie: what `mapping` says and `plan` works on.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use isotach_codec::Pipeline;
use isotach_model::convert::ElementConversion;
use isotach_model::selection::{Axis, Selection};
use isotach_model::shape;

use super::one_run::OneRun;
use crate::error::Result;
use crate::settings::MissingBytes;
use crate::storage::Storage;

/// Tells arrays apart in the cache: which open file, and which object in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ArrayId {
    /// Unique for each opened file in this process.
    pub file: u64,
    /// Address of the object header, or number of the classic variable.
    pub address: u64,
}

/// An array in a file: its shape, its elements' size, and where they lie.
#[derive(Clone)]
pub struct ArrayLayout {
    /// The array's name in the cache.
    pub id: ArrayId,
    /// The file's name and the object's path, for errors.
    pub file: Arc<str>,
    /// Path of the variable or data set.
    pub path: Arc<str>,
    /// The file's bytes. Addresses below are offsets into it (base address already added).
    pub storage: Arc<dyn Storage>,
    /// Stored extent of each axis.
    pub shape: Vec<u64>,
    /// Bytes of one stored element.
    pub element_size: usize,
    /// One element, in stored form, for what was never written; zeros where no fill is defined.
    pub fill: Arc<[u8]>,
    /// The same for what lies beyond the stored extent, where that is another: netCDF has a fill value there
    /// also for what is never filled.
    pub fill_beyond: Option<Arc<[u8]>>,
    /// Where the elements are.
    pub placement: Placement,
}

impl ArrayLayout {
    /// Where the selected elements begin, if they lie in the file in one run, in their order.
    pub(crate) fn one_run(&self, selection: &Selection) -> Option<u64> {
        match &self.placement {
            Placement::Strided { address, strides_bytes, .. } => {
                self.one_run_of_rows(selection, *address, strides_bytes)
            }
            Placement::Chunked(chunked) => chunked.one_run(self, selection),
            _ => None,
        }
    }

    fn one_run_of_rows(
        &self,
        selection: &Selection,
        address: u64,
        strides_bytes: &[u64],
    ) -> Option<u64> {
        if selection.axes.len() != self.shape.len() {
            return None;
        }
        let (mut start_of_run, mut run_bytes) = (address, self.element_size as u64);
        let axes = selection.axes.iter().zip(&self.shape).zip(strides_bytes);
        for ((axis, &len), &stride) in axes.rev() {
            let Axis::Range { start, count, stride: 1 } = *axis else { return None };
            let is_inside = start.checked_add(count).is_some_and(|end| end <= len);
            if !is_inside || (count != 1 && stride != run_bytes) {
                return None;
            }
            start_of_run = start_of_run.checked_add(start.checked_mul(stride)?)?;
            run_bytes = run_bytes.checked_mul(count)?;
        }
        Some(start_of_run)
    }

    /// How many bytes of the extent of elements that lie in rows are behind the end of the storage; 0 for other
    /// placements, and where the storage tells no length.
    pub fn missing_bytes(&self) -> u64 {
        self.extent_bytes().zip(self.storage.len().ok()).map_or(0, |((begin, bytes), len)| {
            begin.saturating_add(bytes).saturating_sub(len.max(begin))
        })
    }

    /// Where elements that lie in rows begin, and how many bytes their extent has.
    pub(crate) fn extent_bytes(&self) -> Option<(u64, u64)> {
        let Placement::Strided { address, strides_bytes, .. } = &self.placement else {
            return None;
        };
        if self.shape.contains(&0) {
            return Some((*address, 0));
        }
        let axes = self.shape.iter().zip(strides_bytes);
        let steps = axes.map(|(&len, &stride)| (len - 1).saturating_mul(stride));
        Some((*address, steps.fold(self.element_size as u64, u64::saturating_add)))
    }
}

/// The ways elements lie in a file.
#[derive(Clone)]
pub enum Placement {
    /// No storage was ever allocated: all fill.
    Unallocated,
    /// In the object header itself, row-major (HDF5's compact layout).
    Inline(Arc<[u8]>),
    /// At `address + sum(index * stride)`: HDF5's contiguous layout and classic variables, whose
    /// first stride is the record size where they are record variables. Bytes beyond the end of
    /// the file read as `beyond_end` says.
    Strided { address: u64, strides_bytes: Vec<u64>, beyond_end: BeyondEnd },
    /// In chunks.
    Chunked(Chunked),
    /// In raw files, one segment after the other, row-major. Bytes beyond the end of a raw file read as `beyond_end` says.
    External { segments: Arc<[ExternalSegment]>, beyond_end: BeyondEnd },
    /// Put together from other arrays.
    Virtual(Arc<dyn VirtualSources>),
}

/// What stands beyond the end of a truncated file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BeyondEnd {
    /// A fault of the storage, or of what refers to it.
    Error,
    /// Values that are missing (of truncated classic and raw files): an error that says so.
    Missing,
    /// Zero bytes (as libnetcdf shows truncated classic files, and libhdf5 raw ones).
    Zeros,
}

impl From<MissingBytes> for BeyondEnd {
    fn from(missing_bytes: MissingBytes) -> Self {
        match missing_bytes {
            MissingBytes::Error => Self::Missing,
            MissingBytes::Zeros => Self::Zeros,
        }
    }
}

/// A chunked array.
#[derive(Clone)]
pub struct Chunked {
    /// Elements of a chunk along each axis; none is 0.
    pub chunk_shape: Vec<u64>,
    /// Finds chunks.
    pub index: Arc<dyn ChunkIndex>,
    /// How their bytes were filtered; empty for none.
    pub pipeline: Arc<Pipeline>,
    /// True where chunks that reach over the array's edge are stored unfiltered.
    pub edge_chunks_unfiltered: bool,
    /// The chunks that were decoded so far.
    pub decoded: DecodeCount,
}

impl Chunked {
    /// Where the selected elements of `layout` begin, if they lie in one run in one chunk that is stored as it is.
    fn one_run(&self, layout: &ArrayLayout, selection: &Selection) -> Option<u64> {
        if !self.pipeline.filters.is_empty() {
            return None;
        }
        let run = OneRun::new(selection, &layout.shape, &self.chunk_shape)?;
        // What is wrong comes up again where it is planned.
        let place = self.index.locate(run.coordinates()).ok()??;
        let is_whole = shape::byte_count(&self.chunk_shape, layout.element_size)
            .is_some_and(|bytes| bytes as u64 <= place.stored_bytes);
        let inside = run.first.checked_mul(layout.element_size as u64)?;
        place.address.checked_add(inside).filter(|_| is_whole)
    }
}

/// Counts chunks that are decoded, each as often as that happens, for those who look at access patterns.
#[derive(Debug, Clone, Default)]
pub struct DecodeCount(Arc<AtomicU64>);

impl DecodeCount {
    pub(crate) fn add_one(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// The number so far.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A stored chunk's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkPlace {
    /// Offset of its first byte in the storage.
    pub address: u64,
    /// Stored (filtered) bytes.
    pub stored_bytes: u64,
    /// Bit `i` set: filter `i` was not applied.
    pub filter_mask: u32,
}

/// Finds the stored chunks of one array. Nodes are fetched when first needed and then kept.
pub trait ChunkIndex: Send + Sync {
    /// The place of the chunk with these coordinates (element offset divided by chunk shape);
    /// `None` where it was never written.
    fn locate(&self, coordinates: &[u64]) -> Result<Option<ChunkPlace>>;

    /// Calls `visit` with coordinates and place of every stored chunk; a fault ends the walk.
    fn for_each(&self, visit: &mut dyn FnMut(&[u64], ChunkPlace) -> Result<()>) -> Result<()>;
}

/// A part of an external raw data file.
#[derive(Clone)]
pub struct ExternalSegment {
    /// What the data set calls the raw file.
    pub name: Box<str>,
    /// The raw file; `None` where it does not exist: its elements cannot be read.
    pub storage: Option<Arc<dyn Storage>>,
    /// First byte in the raw file.
    pub offset: u64,
    /// Bytes of the array that stand there; `u64::MAX` for all the rest.
    pub length_bytes: u64,
}

/// A virtual array's sources, found when first needed.
pub trait VirtualSources: Send + Sync {
    /// The pieces, later ones on top; unlimited and printf-style mappings already resolved.
    fn pieces(&self) -> Result<Arc<[VirtualPiece]>>;
}

/// A piece of a virtual array.
#[derive(Clone)]
pub struct VirtualPiece {
    /// Where in the virtual array it stands.
    pub target: Vec<Blocks>,
    /// The array it comes from.
    pub source: Arc<ArrayLayout>,
    /// Which of the source's elements, in row-major correspondence with `target`.
    pub selection: Vec<Blocks>,
    /// How the source's elements become the virtual array's; `None` where they are stored alike.
    pub conversion: Option<Arc<ElementConversion>>,
}

/// One axis of a regular hyperslab: `count` blocks of `block` elements, `stride` apart.
/// An irregular selection is several pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Blocks {
    /// First element.
    pub start: u64,
    /// Elements from one block's start to the next one's.
    pub stride: u64,
    /// Number of blocks.
    pub count: u64,
    /// Elements of a block.
    pub block: u64,
}
