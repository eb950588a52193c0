//! How a variable is stored, as C programs say and hear it.
//!
//! What was said of a new variable is kept beside the engine: as long as the file is open, netCDF tells it
//! back as it was said (filters without the parameters that follow from the chunks, no byte order where none
//! was asked for), and forgets no chunk shape while the variable is contiguous.

use std::ffi::c_int;
use std::sync::Arc;

use isotach::model::{DataType, Quantization};
use isotach::{
    Endianness, Fill, FilterRequest, StorageInfo, StorageKind, Variable, VariableOptions,
};
use isotach_codec::registry;

use super::chunk_cache::ChunkCache;
use super::chunk_shape::default_shape;
use super::{fill, quantize};
use crate::handle;
use crate::model::{DimensionNode, OpenFile, VariableNode};
use crate::status::{Outcome, Status};

/// Values of `nc_def_var_endian`.
const NC_ENDIAN_NATIVE: c_int = 0;
const NC_ENDIAN_LITTLE: c_int = 1;
const NC_ENDIAN_BIG: c_int = 2;

/// Szip's options that choose the coder: entropy coding (4) and nearest neighbour (32).
const SZIP_CODERS: u32 = 4 | 32;

/// What C programs said of one variable.
#[derive(Debug, Clone, Default)]
pub(crate) struct Said {
    /// `None` for one that was in the file when it was opened: the file tells.
    pub(crate) storage: Option<Storage>,
    /// How its values are to be rounded. The engine hears of it when the definitions end, as only then the
    /// attribute that tells it appears.
    pub(crate) quantization: Option<Quantization>,
    /// What `nc_inq_var_fill` tells as the mode; `None` where the file tells.
    pub(crate) no_fill: Option<c_int>,
    /// `None` for what there was when the file was opened: then it is the file's.
    pub(crate) cache: Option<ChunkCache>,
}

/// Chunks, filters, byte order.
#[derive(Debug, Clone)]
pub(crate) struct Storage {
    pub(crate) kind: StorageKind,
    /// As it was said, or is where chunks are asked for; for a variable of the file as it is.
    pub(crate) chunk_shape: Option<Vec<u64>>,
    pub(crate) filters: Vec<Filter>,
    pub(crate) endianness: c_int,
}

/// A filter with the parameters that a program gave.
#[derive(Debug, Clone)]
pub(crate) struct Filter {
    pub(crate) id: u16,
    pub(crate) parameters: Vec<u32>,
}

impl Said {
    /// What holds for a new variable before anything was said.
    pub(super) fn of_new(
        file: &OpenFile,
        along: &[DimensionNode],
        data_type: &DataType,
    ) -> Outcome<Self> {
        let has_unlimited = along.iter().any(|node| node.dimension.is_unlimited());
        let kind = if has_unlimited { StorageKind::Chunked } else { StorageKind::Contiguous };
        let dimensions: Vec<_> = along.iter().map(|node| &node.dimension).collect();
        let element_bytes = data_type.layout().size as u64;
        let chunk_shape = match file.is_hdf5() {
            true => default_shape(file, &dimensions, element_bytes)?,
            false => None,
        };
        let (filters, endianness) = (Vec::new(), NC_ENDIAN_NATIVE);
        Ok(Self {
            storage: Some(Storage { kind, chunk_shape, filters, endianness }),
            quantization: None,
            no_fill: Some(fill::mode_of_new(file, data_type)?),
            cache: Some(ChunkCache::default()),
        })
    }

    /// What the engine hears of a new variable when it is defined.
    pub(super) fn options(&self) -> VariableOptions {
        let storage = self.storage.as_ref();
        let chunked = storage.filter(|storage| storage.kind == StorageKind::Chunked);
        let chunk_shape = chunked.and_then(|storage| storage.chunk_shape.clone());
        VariableOptions { chunk_shape, ..VariableOptions::default() }
    }
}

impl Storage {
    fn of_existing(info: &StorageInfo) -> Self {
        let filter = |found: &isotach::FilterUse| {
            let parameters = match (found.id, found.parameters.as_slice()) {
                // The file also has what HDF5 made of the two that a program gives.
                (registry::SZIP, &[options, pixels, ..]) => vec![options & SZIP_CODERS, pixels],
                (_, parameters) => parameters.to_vec(),
            };
            Filter { id: found.id, parameters }
        };
        let endianness = match info.endianness {
            Endianness::Native => NC_ENDIAN_NATIVE,
            Endianness::Little => NC_ENDIAN_LITTLE,
            Endianness::Big => NC_ENDIAN_BIG,
        };
        let (kind, chunk_shape) = (info.kind, info.chunk_shape.clone());
        let mut storage = Self { kind, chunk_shape, filters: Vec::new(), endianness };
        info.filters.iter().map(filter).for_each(|filter| storage.insert(filter));
        storage
    }

    /// The filter of that number.
    pub(crate) fn filter(&self, id: u32) -> Option<&Filter> {
        self.filters.iter().find(|filter| u32::from(filter.id) == id)
    }

    /// Adds a filter, or gives it other parameters.
    pub(super) fn set_filter(&mut self, id: u16, parameters: Vec<u32>) {
        self.kind = StorageKind::Chunked;
        self.insert(Filter { id, parameters });
    }

    /// Takes in a filter as netCDF-C lists them, those of files too: checksums come first, then the
    /// shuffle, then the others in their order.
    fn insert(&mut self, filter: Filter) {
        if let Some(known) = self.filters.iter_mut().find(|known| known.id == filter.id) {
            *known = filter;
            return;
        }
        let has_checksum =
            self.filters.first().is_some_and(|first| first.id == registry::FLETCHER32);
        let place = match filter.id {
            registry::FLETCHER32 => 0,
            registry::SHUFFLE => usize::from(has_checksum),
            _ => self.filters.len(),
        };
        self.filters.insert(place, filter);
    }

    fn apply_to(&self, options: &mut VariableOptions) {
        options.layout = Some(self.kind);
        let is_chunked = self.kind == StorageKind::Chunked;
        options.chunk_shape = self.chunk_shape.clone().filter(|_| is_chunked);
        let request = |filter: &Filter| FilterRequest::Registered {
            id: filter.id,
            parameters: filter.parameters.clone(),
        };
        options.filters = self.filters.iter().map(request).collect();
        options.endianness = match self.endianness {
            NC_ENDIAN_LITTLE => Some(Endianness::Little),
            NC_ENDIAN_BIG => Some(Endianness::Big),
            _ => None,
        };
    }
}

impl VariableNode {
    /// How it is stored.
    pub(crate) fn storage(&self) -> Outcome<Storage> {
        let said = self.said().storage.clone();
        match said {
            Some(said) => Ok(said),
            None => Ok(Storage::of_existing(&*self.variable.storage()?)),
        }
    }

    /// Changes how a new variable shall be stored.
    pub(super) fn change_storage(&self, change: impl FnOnce(&mut Storage) -> Outcome) -> Outcome {
        let before = self.storage()?;
        let mut storage = before.clone();
        change(&mut storage)?;
        let writer = self.writer()?;
        writer.change_options(|options| storage.apply_to(options))?;
        // A filter that such chunks cannot have is told here, and not when the file is closed.
        if !storage.filters.is_empty()
            && let Err(error) = self.variable.storage()
        {
            writer.change_options(|options| before.apply_to(options))?;
            return Err(error.into());
        }
        let mut said = self.said();
        if storage.kind == StorageKind::Chunked
            && let Some(shape) = &storage.chunk_shape
        {
            said.cache.get_or_insert_default().make_room_for(chunk_bytes(&self.variable, shape));
        }
        said.storage = Some(storage);
        Ok(())
    }
}

/// Bytes of a chunk in a C program's memory.
pub(super) fn chunk_bytes(variable: &Variable, shape: &[u64]) -> u64 {
    let element = variable.data_type().layout().size as u64;
    shape.iter().fold(element, |bytes, &len| bytes.saturating_mul(len))
}

/// Says something of a new variable of a netCDF-4 file.
///
/// # Errors
/// In this order: `NC_EBADID`, `NC_ENOTNC4`, `NC_EPERM`, `NC_ENOTVAR`, and `NC_ELATEDEF` where it is in
/// the file already.
pub(super) fn define(
    group: c_int,
    id: c_int,
    say: impl FnOnce(&VariableNode) -> Outcome,
) -> Outcome {
    let file = netcdf4(group)?;
    let (_, group) = handle::group(group)?;
    file.writer()?;
    let node = group.variable(id)?;
    let _alone = file.phase_mut();
    check_open(&node)?;
    say(&node)
}

/// The file, if it is netCDF-4.
///
/// # Errors
/// `NC_EBADID`, `NC_ENOTNC4`.
pub(super) fn netcdf4(id: c_int) -> Outcome<Arc<OpenFile>> {
    let file = handle::file(id)?;
    if file.is_hdf5() { Ok(file) } else { Err(Status::ENOTNC4) }
}

/// Makes sure that it can still be said how a variable is stored.
///
/// # Errors
/// `NC_ELATEDEF`.
pub(super) fn check_open(node: &VariableNode) -> Outcome {
    if node.is_open() { Ok(()) } else { Err(Status::ELATEDEF) }
}

/// Tells the engine at the end of definitions what it has not heard of a new variable: how it is rounded, and
/// that it stays without filling, whatever fill value an attribute tells.
pub(crate) fn hand_over(node: &VariableNode) -> Outcome {
    let (quantization, no_fill) = {
        let said = node.said();
        (said.quantization.map(quantize::for_engine), said.no_fill.is_some_and(|mode| mode != 0))
    };
    let is_unfilled = no_fill && node.variable.fill_value()?.fill;
    if quantization.is_none() && !is_unfilled {
        return Ok(());
    }
    node.writer()?.change_options(|options| {
        options.quantization = quantization;
        if is_unfilled {
            options.fill = Fill::None;
        }
    })?;
    Ok(())
}
