//! From a data set's messages to the array that `plan` and `read` work on.

use std::sync::Arc;

use isotach_codec::Pipeline;
use isotach_format::hdf5::message::dataspace::Dimension;
use isotach_format::hdf5::message::layout::{ChunkIndex as IndexKind, ChunkedLayout};
use isotach_format::hdf5::message::{Dataspace, Layout};
use isotach_model::convert::Rules;
use isotach_model::shape::row_major_strides;

use super::chunks::{
    BTree1Index, BTree2Index, ChunkedArray, ExtensibleArrayIndex, FixedArrayIndex, ImplicitIndex,
    SingleChunk,
};
use super::dataset::Dataset;
use super::filters::pipeline_of;
use super::global_heap::GlobalHeap;
use super::stored::stored_type;
use super::virtual_dataset::Sources;
use crate::error::{Error, ErrorKind, Result};
use crate::plan::layout::{
    ArrayId, ArrayLayout, BeyondEnd, ChunkIndex, Chunked, DecodeCount, ExternalSegment, Placement,
};
use crate::read::{Array, Live};
use crate::settings::MissingBytes;

const LAYOUT: &str = "data layout message";

/// Bytes of an element that are believed whatever the file's length: one is held in memory as the
/// fill value. Larger elements are believed where the file is as large.
const ELEMENT_BYTES: u64 = 1 << 26;

/// The array of a data set.
pub(super) fn build(dataset: &Dataset) -> Result<Array> {
    let context = dataset.context();
    let datatype = dataset.datatype()?;
    let dataspace = dataset.dataspace()?;
    let shape: Vec<u64> = match dataspace {
        // There is nothing to read, and no scalar either.
        Dataspace::Null => vec![0],
        _ => dataspace.dimensions().iter().map(|axis| axis.size).collect(),
    };
    let limit = ELEMENT_BYTES.max(context.len());
    if u64::from(datatype.size()) > limit {
        let value = u64::from(datatype.size());
        return Err(context.error(ErrorKind::Limit { what: "element's bytes", value, limit }));
    }
    let element_size = datatype.size() as usize;
    let layout = ArrayLayout {
        id: ArrayId { file: context.file_number.get(), address: dataset.node().address() },
        file: Arc::clone(&context.name),
        path: Arc::clone(dataset.node().path()),
        storage: Arc::clone(&context.storage),
        fill: fill(dataset, element_size)?,
        fill_beyond: None,
        placement: match dataspace {
            Dataspace::Null => Placement::Unallocated,
            _ => placement(dataset, &shape, element_size)?,
        },
        shape: shape.clone(),
        element_size,
    };
    let heap = datatype.has_heap_data().then(|| Arc::new(GlobalHeap::new(context)) as _);
    let (rules, live) = (Rules::NETCDF4, Live::default());
    Ok(Array { layout, shape, stored: stored_type(datatype), heap, rules, live })
}

fn fill(dataset: &Dataset, element_size: usize) -> Result<Arc<[u8]>> {
    match dataset.fill()?.value {
        Some(value) if value.len() == element_size => Ok(value),
        Some(value) => Err(dataset.bad_field("fill value message", "size", value.len() as u64)),
        None => Ok(vec![0; element_size].into()),
    }
}

fn placement(dataset: &Dataset, shape: &[u64], element_size: usize) -> Result<Placement> {
    match &**dataset.layout()? {
        Layout::Compact(data) => {
            let needed = element_count(dataset, shape)?.checked_mul(element_size as u64);
            match needed {
                Some(needed) if needed <= data.len() as u64 => {
                    Ok(Placement::Inline(Arc::clone(data)))
                }
                _ => Err(dataset.bad_field(LAYOUT, "size", data.len() as u64)),
            }
        }
        Layout::Contiguous { address, .. } => {
            let files = dataset.external_files()?;
            if !files.is_empty() {
                return external(dataset);
            }
            let Some(address) = address else { return Ok(Placement::Unallocated) };
            element_count(dataset, shape)?;
            let strides = row_major_strides(shape).ok_or_else(|| too_large(dataset))?;
            let strides_bytes = strides
                .iter()
                .map(|stride| stride.checked_mul(element_size as u64))
                .collect::<Option<Vec<u64>>>()
                .ok_or_else(|| too_large(dataset))?;
            Ok(Placement::Strided {
                address: dataset.context().offset(*address),
                strides_bytes,
                beyond_end: BeyondEnd::Error,
            })
        }
        Layout::Chunked(layout) => chunked(dataset, layout, shape, element_size),
        Layout::Virtual { .. } => Ok(Placement::Virtual(Arc::new(Sources::new(dataset)))),
    }
}

fn external(dataset: &Dataset) -> Result<Placement> {
    let context = dataset.context();
    let segments = dataset
        .external_files()?
        .into_iter()
        .map(|file| {
            Ok(ExternalSegment {
                storage: context.raw_file(&file.name)?,
                name: file.name.into(),
                offset: file.offset,
                length_bytes: file.size.unwrap_or(u64::MAX),
            })
        })
        .collect::<Result<Vec<_>>>()?;
    let missing_bytes = MissingBytes::of(context.options.missing_bytes)?;
    Ok(Placement::External { segments: segments.into(), beyond_end: missing_bytes.into() })
}

/// The index of all chunks there are, also of those beyond the present shape, which a data set that was
/// made smaller may have.
pub(super) fn all_chunks(dataset: &Dataset, layout: &ChunkedLayout) -> Result<Arc<dyn ChunkIndex>> {
    let shape = vec![u64::MAX; dataset.dimensions()?.len()];
    let element_size = dataset.datatype()?.size() as usize;
    index(chunked_array(dataset, layout, &shape, element_size)?, layout)
}

fn chunked_array(
    dataset: &Dataset,
    layout: &ChunkedLayout,
    shape: &[u64],
    element_size: usize,
) -> Result<ChunkedArray> {
    if layout.chunk_shape.len() != shape.len() {
        return Err(dataset.bad_field(LAYOUT, "rank", layout.chunk_shape.len() as u64));
    }
    let chunk_bytes = layout
        .chunk_shape
        .iter()
        .try_fold(element_size as u64, |product, &axis| product.checked_mul(axis))
        .ok_or_else(|| too_large(dataset))?;
    let max_chunks = dataset
        .dimensions()?
        .iter()
        .zip(&layout.chunk_shape)
        .map(|(&Dimension { max, .. }, &chunk)| max.map(|max| max.div_ceil(chunk)))
        .collect();
    Ok(ChunkedArray {
        context: Arc::clone(dataset.context()),
        path: Arc::clone(dataset.node().path()),
        shape: shape.to_vec(),
        chunk_shape: layout.chunk_shape.clone(),
        chunk_bytes,
        max_chunks,
    })
}

fn chunked(
    dataset: &Dataset,
    layout: &ChunkedLayout,
    shape: &[u64],
    element_size: usize,
) -> Result<Placement> {
    let array = chunked_array(dataset, layout, shape, element_size)?;
    let pipeline: Pipeline = pipeline_of(dataset.filters()?);
    Ok(Placement::Chunked(Chunked {
        chunk_shape: layout.chunk_shape.clone(),
        index: index(array, layout)?,
        pipeline: Arc::new(pipeline),
        edge_chunks_unfiltered: layout.edge_chunks_unfiltered,
        decoded: DecodeCount::default(),
    }))
}

fn index(array: ChunkedArray, layout: &ChunkedLayout) -> Result<Arc<dyn ChunkIndex>> {
    Ok(match (layout.index, layout.address) {
        (IndexKind::BtreeV1, root) => Arc::new(BTree1Index::new(array, root)),
        (IndexKind::Single { filtered }, address) => {
            let (stored_bytes, filter_mask) = match filtered {
                Some(chunk) => (Some(chunk.len_bytes), chunk.filter_mask),
                None => (None, 0),
            };
            Arc::new(SingleChunk::new(&array, address, stored_bytes, filter_mask))
        }
        // No chunk was ever written.
        (_, None) => Arc::new(BTree1Index::new(array, None)),
        (IndexKind::Implicit, Some(address)) => Arc::new(ImplicitIndex::new(array, address)?),
        (IndexKind::FixedArray { .. }, Some(address)) => {
            Arc::new(FixedArrayIndex::new(array, address)?)
        }
        (IndexKind::ExtensibleArray(_), Some(address)) => {
            Arc::new(ExtensibleArrayIndex::new(array, address)?)
        }
        (IndexKind::BtreeV2 { .. }, Some(address)) => Arc::new(BTree2Index::new(array, address)),
    })
}

fn element_count(dataset: &Dataset, shape: &[u64]) -> Result<u64> {
    isotach_model::shape::element_count(shape).ok_or_else(|| too_large(dataset))
}

fn too_large(dataset: &Dataset) -> Error {
    let limit = u64::MAX;
    dataset.context().error(ErrorKind::Limit { what: "data set's bytes", value: limit, limit })
}
