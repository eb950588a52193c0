//! The fixed array index.

use std::sync::Arc;

use isotach_format::hdf5::chunk_index::fixed_array::{
    FixedArray, FixedArrayBlock, FixedArrayPlace,
};
use isotach_format::hdf5::chunk_index::grid::ChunkGrid;

use super::ChunkedArray;
use super::runs::{Run, Runs};
use crate::error::Result;
use crate::plan::layout::{ChunkIndex, ChunkPlace};
use crate::storage::MetadataBytes;
use crate::sync::OnceLock;

/// Bytes of a header with addresses and lengths of 8 bytes.
const HEADER_BYTES: u64 = 28;
/// A first guess at a block: what 1,024 elements need that are not filtered.
const BLOCK_BYTES: u64 = 8 * 1024 + 18;

/// Chunks in an array whose length is fixed.
pub(in super::super) struct FixedArrayIndex {
    array: ChunkedArray,
    grid: ChunkGrid,
    address: u64,
    opened: OnceLock<Opened>,
    runs: Runs,
}

/// Header and data block.
struct Opened {
    header: FixedArray,
    /// `None` where no chunk was ever written.
    block: Option<(u64, MetadataBytes)>,
}

impl FixedArrayIndex {
    pub(in super::super) fn new(array: ChunkedArray, address: u64) -> Result<Self> {
        let grid = array.grid("fixed array header", address)?;
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
            FixedArray::decode(bytes, self.address, sizes)
        })?;
        let Some(address) = header.block_address else {
            return Ok(Opened { header, block: None });
        };
        let byte_len = context.structure(address, BLOCK_BYTES, |bytes| {
            FixedArrayBlock::decode(bytes, address, &header).map(|_| bytes.len() as u64)
        })?;
        let block = Some((address, context.fetch(address, byte_len)?));
        Ok(Opened { header, block })
    }

    /// The run with the element `index`; `None` where its page was never written.
    fn run(&self, index: u64) -> Result<Option<Arc<Run>>> {
        if let Some(run) = self.runs.find(index) {
            return Ok(Some(run));
        }
        let opened = self.opened()?;
        let Some((address, bytes)) = &opened.block else { return Ok(None) };
        let fail = |error| self.array.structure_error(error);
        let block = FixedArrayBlock::decode(bytes, *address, &opened.header).map_err(fail)?;
        let run = match block.locate(&opened.header, index).map_err(fail)? {
            FixedArrayPlace::Absent => return Ok(None),
            FixedArrayPlace::Elements(elements) => Run::decode(&elements).map_err(fail)?,
            FixedArrayPlace::Page(page) => self
                .array
                .context
                .structure(page.address, BLOCK_BYTES, |bytes| {
                    Run::decode(&page.decode(bytes, &opened.header)?)
                })
                .map_err(|error| self.array.at(error))?,
        };
        Ok(Some(self.runs.keep(run)))
    }
}

impl ChunkIndex for FixedArrayIndex {
    fn locate(&self, coordinates: &[u64]) -> Result<Option<ChunkPlace>> {
        let Some(index) = self.grid.index(coordinates) else { return Ok(None) };
        let element = self.run(index)?.and_then(|run| run.get(index));
        Ok(element.and_then(|element| self.array.element_place(element)))
    }

    fn for_each(&self, visit: &mut dyn FnMut(&[u64], ChunkPlace) -> Result<()>) -> Result<()> {
        let header = &self.opened()?.header;
        let end = match header.block_address {
            Some(_) => header.element_count,
            None => 0,
        };
        let mut index = 0;
        while index < end {
            match self.run(index)? {
                Some(run) => index = self.array.visit_run(&run, index, end, &self.grid, visit)?,
                // Never less than one further, so that the walk ends.
                None => index = header.page_end(index).max(index + 1),
            }
        }
        Ok(())
    }
}
