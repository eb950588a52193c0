//! The extensible array index.

use std::sync::Arc;

use isotach_format::hdf5::chunk_index::extensible_array::ExtensibleArray;
use isotach_format::hdf5::chunk_index::extensible_block::{
    DataBlockRef, ExtensiblePlace, IndexBlock, PageRef, SuperBlock, SuperBlockRef,
};
use isotach_format::hdf5::chunk_index::grid::ChunkGrid;

use super::ChunkedArray;
use super::runs::{Run, Runs};
use crate::error::Result;
use crate::plan::layout::{ChunkIndex, ChunkPlace};
use crate::storage::MetadataBytes;
use crate::sync::OnceLock;

/// Bytes of a header with addresses and lengths of 8 bytes.
const HEADER_BYTES: u64 = 72;
/// First guesses at an index block or super block, and at a data block or page.
const INDEX_BYTES: u64 = 512;
const BLOCK_BYTES: u64 = 2048;

/// Chunks in an array that grows at its end.
pub(in super::super) struct ExtensibleArrayIndex {
    array: ChunkedArray,
    grid: ChunkGrid,
    address: u64,
    opened: OnceLock<Opened>,
    runs: Runs,
}

struct Opened {
    header: ExtensibleArray,
    /// `None` where no chunk was ever written.
    index_block: Option<(u64, MetadataBytes)>,
}

/// What an element's block or page turned out to be.
enum Found {
    Run(Arc<Run>),
    /// Nothing was written up to this index.
    AbsentUntil(u64),
}

/// Where a block leads to, without its bytes.
enum Next {
    Run(Run),
    DataBlock(DataBlockRef),
    Page(PageRef),
    SuperBlock(SuperBlockRef),
    Absent,
}

impl Next {
    fn of(place: ExtensiblePlace<'_>) -> isotach_format::Result<Self> {
        Ok(match place {
            ExtensiblePlace::Elements(elements) => Self::Run(Run::decode(&elements)?),
            ExtensiblePlace::DataBlock(block) => Self::DataBlock(block),
            ExtensiblePlace::Page(page) => Self::Page(page),
            ExtensiblePlace::SuperBlock(block) => Self::SuperBlock(block),
            ExtensiblePlace::Absent => Self::Absent,
        })
    }
}

impl ExtensibleArrayIndex {
    pub(in super::super) fn new(array: ChunkedArray, address: u64) -> Result<Self> {
        let grid = array.grid("extensible array header", address)?;
        Ok(Self { array, grid, address, opened: OnceLock::new(), runs: Runs::default() })
    }

    fn opened(&self) -> Result<&Opened> {
        if let Some(opened) = self.opened.get() {
            return Ok(opened);
        }
        let opened = self.open().map_err(|error| self.array.at(error))?;
        Ok(self.opened.get_or_init(|| opened))
    }

    fn open(&self) -> Result<Opened> {
        let context = &self.array.context;
        let sizes = context.sizes();
        let header = context.structure(self.address, HEADER_BYTES, |bytes| {
            ExtensibleArray::decode(bytes, self.address, sizes)
        })?;
        let Some(address) = header.index_block_address else {
            return Ok(Opened { header, index_block: None });
        };
        let byte_len = context.structure(address, INDEX_BYTES, |bytes| {
            IndexBlock::decode(bytes, address, &header).map(|_| bytes.len() as u64)
        })?;
        let index_block = Some((address, context.fetch(address, byte_len)?));
        Ok(Opened { header, index_block })
    }

    fn find(&self, index: u64) -> Result<Found> {
        if let Some(run) = self.runs.find(index) {
            return Ok(Found::Run(run));
        }
        let opened = self.opened()?;
        let header = &opened.header;
        let Some((address, bytes)) = &opened.index_block else {
            return Ok(Found::AbsentUntil(u64::MAX));
        };
        let mut next = IndexBlock::decode(bytes, *address, header)
            .and_then(|block| Next::of(block.locate(header, index)?))
            .map_err(|error| self.array.structure_error(error))?;
        let mut in_super_block = false;
        // Index block, super block, data block or page: at most three steps.
        loop {
            next = match next {
                Next::Run(run) => return Ok(Found::Run(self.runs.keep(run))),
                Next::Absent => {
                    return Ok(Found::AbsentUntil(header.absent_end(index, in_super_block)));
                }
                Next::DataBlock(block) => self.next(block.address, |bytes| {
                    Next::of(ExtensiblePlace::Elements(block.decode(bytes, header)?))
                })?,
                Next::Page(page) => self.next(page.address, |bytes| {
                    Next::of(ExtensiblePlace::Elements(page.decode(bytes, header)?))
                })?,
                Next::SuperBlock(place) => {
                    in_super_block = true;
                    self.next(place.address, |bytes| {
                        Next::of(SuperBlock::decode(bytes, &place, header)?.locate(header, index)?)
                    })?
                }
            };
        }
    }

    fn next(
        &self,
        address: u64,
        decode: impl FnMut(&[u8]) -> isotach_format::Result<Next>,
    ) -> Result<Next> {
        let context = &self.array.context;
        context.structure(address, BLOCK_BYTES, decode).map_err(|error| self.array.at(error))
    }
}

impl ChunkIndex for ExtensibleArrayIndex {
    fn locate(&self, coordinates: &[u64]) -> Result<Option<ChunkPlace>> {
        let Some(index) = self.grid.index(coordinates) else { return Ok(None) };
        Ok(match self.find(index)? {
            Found::Run(run) => run.get(index).and_then(|element| self.array.element_place(element)),
            Found::AbsentUntil(_) => None,
        })
    }

    fn for_each(&self, visit: &mut dyn FnMut(&[u64], ChunkPlace) -> Result<()>) -> Result<()> {
        let end = self.opened()?.header.element_count;
        let mut index = 0;
        while index < end {
            match self.find(index)? {
                Found::Run(run) => {
                    index = self.array.visit_run(&run, index, end, &self.grid, visit)?;
                }
                // Never less than one further, so that the walk ends.
                Found::AbsentUntil(next) => index = next.max(index + 1),
            }
        }
        Ok(())
    }
}
