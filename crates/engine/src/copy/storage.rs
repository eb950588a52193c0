//! How the copy of a variable is stored.

use std::sync::Arc;

use isotach_codec::Filter;
use isotach_model::{Atomic, DataType};

use super::CopyOptions;
use crate::dimension::Dimension;
use crate::draft::Defined;
use crate::error::{DefinitionFault, Error, ErrorKind, Result};
use crate::file::Format;
use crate::variable::{FillValue, FilterUse, StorageInfo, StorageKind, Variable};
use crate::write::data::buffer_budget;
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

/// A variable whose chunks are not as long as was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CutChunks {
    /// Its path.
    pub path: String,
    /// The lengths that were asked for, and those that the chunks have.
    pub asked: Vec<u64>,
    /// See `asked`.
    pub used: Vec<u64>,
    /// Bytes of one element.
    pub element_bytes: u64,
}

/// The options for the copy of a variable, from a file of one format into one of another. `file` is its
/// file's name; `cut` gets what is not as it was asked for.
pub(super) fn options(
    file: &Arc<str>,
    variable: &Variable,
    [from, into]: [Format; 2],
    options: &CopyOptions,
    cut: &mut Vec<CutChunks>,
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
    let element_bytes = variable.array()?.layout.element_size as u64;
    let asked = chunk_shape(&storage, &dimensions, options)?;
    let chunk_shape = match &asked {
        Some(asked) => Some(bounded(asked.clone(), &dimensions, options, element_bytes)?),
        None => None,
    };
    if let (Some(asked), Some(used)) = (asked, &chunk_shape)
        && asked != *used
    {
        cut.push(CutChunks { path: variable.path(), asked, used: used.clone(), element_bytes });
    }
    // Small floats become larger ones in the classic model, and so do the parameters that follow from that.
    let is_widened =
        matches!(variable.data_type(), DataType::SmallFloat(_)) && into != Format::NetCdf4;
    let has_same_chunks = storage.chunk_shape == chunk_shape && !is_widened;
    let filters = filters(&storage, has_same_chunks, options)
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

    /// Whether lengths of chunks along it are asked for.
    fn is_asked(&self, dimension: &Dimension) -> bool {
        self.chunk_lens.iter().any(|(name, _)| name == dimension.name())
    }

    /// Length of chunks that is asked for along a dimension.
    fn chunk_len(&self, dimension: &Dimension) -> Result<Option<u64>> {
        let asked = self.chunk_lens.iter().find(|(name, _)| name == dimension.name());
        asked.map(|(_, len)| len.map_or_else(|| dimension.len(), Ok)).transpose()
    }
}

/// Bytes for which chunks that are longer than an unlimited dimension is by now may make room, all together: all of a
/// chunk takes room in memory, and without compression in the file.
const GROWING_BYTES: u64 = 4 << 20;

/// Chunks that somebody asked for, held against lengths and memory: along a dimension that cannot grow none is longer
/// than it; along an unlimited one longer than what is there only as far as the variable then takes 4 MiB; and none has more bytes than chunks may have that wait to be written.
fn bounded(
    mut shape: Vec<u64>,
    dimensions: &[Dimension],
    options: &CopyOptions,
    element_bytes: u64,
) -> Result<Vec<u64>> {
    let bytes = |shape: &[u64]| {
        shape.iter().fold(element_bytes.max(1), |bytes, &len| bytes.saturating_mul(len.max(1)))
    };
    let lens = dimensions.iter().map(Dimension::len).collect::<Result<Vec<u64>>>()?;
    let asked: Vec<bool> = dimensions.iter().map(|along| options.is_asked(along)).collect();
    for axis in 0..shape.len() {
        let there = lens[axis].max(1);
        if !options.keeps_unlimited(&dimensions[axis]) {
            shape[axis] = shape[axis].min(there);
        } else if asked[axis] && shape[axis] > there {
            let mut others = lens.clone();
            others[axis] = 1;
            shape[axis] = (GROWING_BYTES / bytes(&others)).clamp(there, shape[axis]);
        }
    }
    // The longest of those that were asked for are cut in half until it is enough.
    while bytes(&shape) > buffer_budget()
        && let Some(axis) = (0..shape.len())
            .rev()
            .filter(|&axis| asked[axis] && shape[axis] > 1)
            .max_by_key(|&axis| shape[axis])
    {
        shape[axis] = shape[axis].div_ceil(2);
    }
    Ok(shape)
}

/// Chunks as they were or as they are asked for; `None` for none, or for what the rules choose. Those that were are
/// no longer than a dimension that cannot grow.
fn chunk_shape(
    storage: &StorageInfo,
    dimensions: &[Dimension],
    options: &CopyOptions,
) -> Result<Option<Vec<u64>>> {
    let asked = dimensions.iter().map(|along| options.chunk_len(along));
    let asked = asked.collect::<Result<Vec<_>>>()?;
    if storage.chunk_shape.is_none() && asked.iter().all(Option::is_none) {
        return Ok(None);
    }
    let was = |axis: usize| storage.chunk_shape.as_ref().and_then(|shape| shape.get(axis).copied());
    let axes = dimensions.iter().zip(asked).enumerate();
    let lens = axes.map(|(axis, (along, asked))| {
        if let Some(asked) = asked {
            return Ok(asked.max(1));
        }
        if options.keeps_unlimited(along) {
            return Ok(was(axis).unwrap_or(1).max(1));
        }
        let whole = along.len()?.max(1);
        Ok(was(axis).unwrap_or(whole).clamp(1, whole))
    });
    lens.collect::<Result<_>>().map(Some)
}

/// The filters as they were, or those that are asked for in their place.
fn filters(
    storage: &StorageInfo,
    has_same_chunks: bool,
    options: &CopyOptions,
) -> Defined<Vec<FilterRequest>> {
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
