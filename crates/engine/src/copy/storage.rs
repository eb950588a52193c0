//! How the copy of a variable is stored.

use std::sync::Arc;

use isotach_codec::Filter;
use isotach_model::Atomic;

use super::CopyOptions;
use crate::dimension::Dimension;
use crate::draft::Defined;
use crate::error::{DefinitionFault, Error, ErrorKind, Result};
use crate::file::Format;
use crate::variable::{FillValue, FilterUse, StorageInfo, StorageKind, Variable};
use crate::writer::{Fill, FilterRequest, VariableOptions};

const DEFLATE: u16 = 1;
const SHUFFLE: u16 = 2;
const FLETCHER32: u16 = 3;
const SZIP: u16 = 4;
const NBIT: u16 = 5;
const SCALE_OFFSET: u16 = 6;

/// The formats that say how a variable is stored.
pub(super) fn is_hdf5(format: Format) -> bool {
    matches!(format, Format::NetCdf4 | Format::NetCdf4Classic)
}

/// The options for the copy of a variable, from a file of one format into one of another. `file` is its
/// file's name.
pub(super) fn options(
    file: &Arc<str>,
    variable: &Variable,
    [from, into]: [Format; 2],
    options: &CopyOptions,
) -> Result<VariableOptions> {
    if !is_hdf5(into) {
        return Ok(VariableOptions::default());
    }
    let (storage, dimensions) = (variable.storage()?, variable.dimensions()?);
    // The classic formats have one byte order, which nobody chose.
    let endianness = is_hdf5(from).then_some(storage.endianness);
    if dimensions.is_empty() {
        return Ok(VariableOptions { endianness, ..VariableOptions::default() });
    }
    let chunk_shape = chunk_shape(&storage, &dimensions, options);
    let filters = filters(&storage, chunk_shape.as_deref(), options)
        .map_err(|fault| Error::new(file, ErrorKind::Definition(fault)))?;
    let needs_chunks = chunk_shape.is_some()
        || !filters.is_empty()
        || dimensions.iter().any(|along| options.keeps_unlimited(along));
    let layout = match storage.kind {
        _ if needs_chunks => StorageKind::Chunked,
        StorageKind::Compact => StorageKind::Compact,
        _ => StorageKind::Contiguous,
    };
    let layout = Some(layout);
    Ok(VariableOptions { layout, chunk_shape, filters, endianness, ..VariableOptions::default() })
}

/// What the file has as the variable's fill value, where it is more than the attribute tells.
pub(super) fn fill(variable: &Variable) -> Result<Option<Fill>> {
    let FillValue { fill, value } = variable.fill_value()?;
    let is_number =
        value.len() == 1 && value.atomic().is_some_and(|atomic| atomic != Atomic::String);
    Ok(match fill {
        false => Some(Fill::None),
        true if is_number => Some(Fill::Unstated(value)),
        true => None,
    })
}

impl CopyOptions {
    /// Whether the dimension's copy is unlimited.
    pub(super) fn keeps_unlimited(&self, dimension: &Dimension) -> bool {
        dimension.is_unlimited() && !self.fix_unlimited
    }

    /// Length of chunks that is asked for along a dimension.
    fn chunk_len(&self, dimension: &Dimension) -> Option<u64> {
        let asked = self.chunk_lens.iter().find(|(name, _)| name == dimension.name());
        asked.map(|(_, len)| len.unwrap_or_else(|| dimension.len()))
    }
}

/// Chunks as they were or as they are asked for; `None` for none, or for what the rules choose. No
/// chunk is longer than a dimension that cannot grow.
fn chunk_shape(
    storage: &StorageInfo,
    dimensions: &[Dimension],
    options: &CopyOptions,
) -> Option<Vec<u64>> {
    let asked: Vec<_> = dimensions.iter().map(|along| options.chunk_len(along)).collect();
    if storage.chunk_shape.is_none() && asked.iter().all(Option::is_none) {
        return None;
    }
    let was = |axis: usize| storage.chunk_shape.as_ref().and_then(|shape| shape.get(axis).copied());
    let axes = dimensions.iter().zip(asked).enumerate();
    let lens = axes.map(|(axis, (along, asked))| {
        let can_grow = options.keeps_unlimited(along);
        let other = || if can_grow { 1 } else { along.len() };
        let len = asked.or_else(|| was(axis)).unwrap_or_else(other).max(1);
        if can_grow { len } else { len.min(along.len().max(1)) }
    });
    Some(lens.collect())
}

/// The filters as they were, or those that are asked for in their place.
fn filters(
    storage: &StorageInfo,
    chunk_shape: Option<&[u64]>,
    options: &CopyOptions,
) -> Defined<Vec<FilterRequest>> {
    let has_same_chunks = storage.chunk_shape.as_deref() == chunk_shape;
    let requests = storage.filters.iter().map(|filter| request(filter, has_same_chunks));
    let Some(level) = options.deflate_level else { return requests.collect() };
    let has = |id| storage.filters.iter().any(|filter| filter.id == id);
    let mut asked = Vec::new();
    if level > 0 {
        if options.shuffle || has(SHUFFLE) {
            asked.push(FilterRequest::Shuffle);
        }
        asked.push(FilterRequest::Deflate { level });
    }
    if has(FLETCHER32) {
        asked.push(FilterRequest::Fletcher32);
    }
    Ok(asked)
}

/// What asks for the filter again. Parameters that follow from the chunks are found anew where these
/// are others.
fn request(filter: &FilterUse, has_same_chunks: bool) -> Defined<FilterRequest> {
    let parameter = |index: usize| filter.parameters.get(index).copied().unwrap_or_default();
    Ok(match filter.id {
        SHUFFLE => FilterRequest::Shuffle,
        DEFLATE => FilterRequest::Deflate { level: parameter(0) },
        FLETCHER32 => FilterRequest::Fletcher32,
        SZIP if !has_same_chunks => {
            FilterRequest::Szip { option_mask: parameter(0), pixels_per_block: parameter(1) }
        }
        NBIT if !has_same_chunks => FilterRequest::NBit,
        SCALE_OFFSET if !has_same_chunks => FilterRequest::ScaleOffset {
            scale_type: parameter(0),
            scale_factor: parameter(1).cast_signed(),
        },
        id => {
            let exact = Filter {
                id,
                name: Some(filter.name.clone()),
                optional: true,
                parameters: filter.parameters.clone(),
            };
            // Optional filters that cannot be applied would be left out without a word.
            if !exact.can_encode() {
                return Err(DefinitionFault::Filter(exact.not_encodable()));
            }
            FilterRequest::Exact(exact)
        }
    })
}
