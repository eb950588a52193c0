//! How a variable is stored: what its options say, and what follows from its type and shape.

use std::sync::Arc;

use isotach_codec::Pipeline;
use isotach_format::hdf5::Sizes;
use isotach_format::hdf5::message::datatype::Datatype;
use isotach_format::hdf5::message::fill_value::{
    AllocationTime, Fill as StoredFill, FillValue, WriteTime,
};
use isotach_format::hdf5::message::filter_pipeline::{Filter as StoredFilter, FilterPipeline};
use isotach_format::hdf5::message::layout::Layout;
use isotach_model::convert::Rules;
use isotach_model::{StoredType, fill};

use super::attributes::Encoded;
use super::heap::{FileHeap, encode_error};
use super::index::IndexKind;
use super::{datatypes, filters};
use crate::draft::{Draft, VariableDraft};
use crate::error::{DefinitionFault, Result};
use crate::mapping::hdf5::{self, Dataset, FillStatus, LayoutKind};
use crate::mapping::netcdf4;
use crate::variable::{Endianness, StorageKind};
use crate::write::chunk_shape::{Written, chunk_shape};
use crate::writer::{Fill, FilterRequest, Layout as Structures};

/// See the module.
#[derive(Clone)]
pub(super) struct Planned {
    pub(super) datatype: Datatype,
    /// Widths of addresses and lengths in the file.
    pub(super) sizes: Sizes,
    /// How netCDF takes an element of that type.
    pub(super) stored: StoredType,
    pub(super) kind: StorageKind,
    /// Elements of a chunk along each dimension; `None` where there are no chunks.
    pub(super) chunk_shape: Option<Vec<u64>>,
    /// What finds the chunks.
    pub(super) index: IndexKind,
    /// True where chunks that reach over the array's edge are not filtered.
    pub(super) edge_chunks_unfiltered: bool,
    pub(super) pipeline: Arc<Pipeline>,
    pub(super) filters: FilterPipeline,
    /// One element for what is never written, as it is stored; `None` for anything.
    pub(super) fill: Option<Arc<[u8]>>,
    /// The same for what lies beyond the extent, where that is another.
    pub(super) fill_beyond: Option<Arc<[u8]>>,
}

impl Planned {
    /// The plan for a variable of the draft; `told` is the shape of its chunks where the draft has none and it is settled.
    pub(super) fn new(
        draft: &Draft,
        variable: &VariableDraft,
        heap: &FileHeap,
        structures: Structures,
        told: Option<&Vec<u64>>,
    ) -> Encoded<Self> {
        let options = &variable.options;
        let endianness = options.endianness.unwrap_or(Endianness::Native);
        let description = variable.data_type.name().to_owned();
        let datatype = datatypes::datatype(&variable.data_type, endianness, heap.sizes())
            .ok_or(DefinitionFault::ForeignType { description })?;
        let stored = netcdf4::stored_type(&datatype);
        let fill = fill_bytes(variable, &stored, heap)?;
        let fill_beyond = match fill {
            Some(_) => None,
            None => netcdf4::default_fill(&datatype),
        };
        let axes = axes(draft, variable)?;
        let needs_chunks = !options.filters.is_empty()
            || options.chunk_shape.is_some()
            || axes.iter().any(Option::is_none);
        // HDF5 has no chunks of a scalar: filters have no effect on one.
        let kind = match options.layout {
            Some(StorageKind::Compact) => StorageKind::Compact,
            _ if axes.is_empty() => StorageKind::Contiguous,
            Some(kind) => kind,
            None if needs_chunks => StorageKind::Chunked,
            None => StorageKind::Contiguous,
        };
        let mut planned = Self {
            sizes: heap.sizes(),
            stored,
            kind,
            index: IndexKind::BtreeV1,
            edge_chunks_unfiltered: false,
            chunk_shape: None,
            pipeline: Arc::default(),
            filters: FilterPipeline::default(),
            fill_beyond,
            fill,
            datatype,
        };
        if kind == StorageKind::Chunked {
            let shape = match options.chunk_shape.as_ref().or(told) {
                Some(settled) => settled.clone(),
                None => chunk_shape(&axes, planned.element_size() as u64, None),
            };
            planned.cut(shape, &axes, &options.filters, structures)?;
        }
        Ok(planned)
    }

    /// The same with chunks of this shape.
    pub(super) fn with_chunks(
        &self,
        shape: Vec<u64>,
        draft: &Draft,
        variable: &VariableDraft,
        structures: Structures,
    ) -> Encoded<Self> {
        let mut planned = self.clone();
        planned.cut(shape, &axes(draft, variable)?, &variable.options.filters, structures)?;
        Ok(planned)
    }

    /// Gives it chunks of this shape.
    fn cut(
        &mut self,
        shape: Vec<u64>,
        axes: &[Option<u64>],
        filters: &[FilterRequest],
        structures: Structures,
    ) -> Encoded<()> {
        // What filters are told where nothing is filled, as libnetcdf has libhdf5 tell them.
        let fill = self.fill_element();
        let pipeline = filters::pipeline(filters, &self.datatype, &shape, &fill)?;
        self.index = IndexKind::choose(structures, axes, &shape);
        self.filters =
            FilterPipeline { filters: pipeline.filters.iter().map(stored_filter).collect() };
        self.pipeline = Arc::new(pipeline);
        self.chunk_shape = Some(shape);
        Ok(())
    }

    /// The shape that chunks of a variable have which nobody gave one, as much of it as there is by now; `is_last`
    /// where nothing follows.
    pub(super) fn fitting_shape(
        &self,
        draft: &Draft,
        variable: &VariableDraft,
        is_last: bool,
    ) -> Encoded<Vec<u64>> {
        let is_all = is_last && self.filters.filters.is_empty();
        let written = Written { extent: &variable.extent, is_all };
        let axes = axes(draft, variable)?;
        Ok(chunk_shape(&axes, self.element_size() as u64, Some(&written)))
    }

    /// That of a variable which was there when the file was opened.
    pub(super) fn opened(dataset: &Dataset, sizes: Sizes) -> Result<Self> {
        let datatype = Datatype::clone(dataset.datatype()?);
        let filters = FilterPipeline::clone(dataset.filters()?);
        let fill = dataset.fill()?;
        let kind = match dataset.layout_kind()? {
            LayoutKind::Compact => StorageKind::Compact,
            LayoutKind::Contiguous => StorageKind::Contiguous,
            LayoutKind::Chunked => StorageKind::Chunked,
            LayoutKind::Virtual => StorageKind::Virtual,
        };
        let max_shape: Vec<Option<u64>> =
            dataset.dimensions()?.iter().map(|dimension| dimension.max).collect();
        let (index, edge_chunks_unfiltered) = match &**dataset.layout()? {
            Layout::Chunked(chunked) => {
                (IndexKind::of(chunked, &max_shape), chunked.edge_chunks_unfiltered)
            }
            _ => (IndexKind::BtreeV1, false),
        };
        Ok(Self {
            sizes,
            stored: netcdf4::stored_type(&datatype),
            kind,
            index,
            edge_chunks_unfiltered,
            chunk_shape: dataset.chunk_shape()?.map(<[u64]>::to_vec),
            pipeline: Arc::new(hdf5::pipeline_of(&filters)),
            filters,
            fill_beyond: netcdf4::fill_beyond(dataset)?,
            fill: match fill.status {
                FillStatus::Undefined => None,
                // One that the reader has held against what an element may take.
                FillStatus::Default => Some(Arc::clone(&dataset.array()?.layout.fill)),
                FillStatus::User => fill.value,
            },
            datatype,
        })
    }

    /// Bytes of an element.
    pub(super) fn element_size(&self) -> usize {
        self.datatype.size() as usize
    }

    /// One element for what is never written, zeros where it may be anything.
    pub(super) fn fill_element(&self) -> Arc<[u8]> {
        self.fill.clone().unwrap_or_else(|| vec![0; self.element_size()].into())
    }

    /// The fill value message.
    pub(super) fn fill_message(&self) -> FillValue {
        FillValue {
            allocation_time: match self.kind {
                StorageKind::Chunked => AllocationTime::Incremental,
                StorageKind::Compact => AllocationTime::Early,
                _ => AllocationTime::Late,
            },
            write_time: if self.fill.is_some() { WriteTime::IfSet } else { WriteTime::Never },
            value: self.fill.clone().map_or(StoredFill::Undefined, StoredFill::User),
        }
    }

    /// The layout while there is no value.
    pub(super) fn unwritten_layout(&self, extent: &[u64]) -> Layout {
        match &self.chunk_shape {
            Some(chunk_shape) => {
                let is_filtered = !self.pipeline.filters.is_empty();
                let element_bytes = self.element_size() as u64;
                self.index.unwritten(chunk_shape.clone(), element_bytes, is_filtered)
            }
            None => {
                let count = extent.iter().fold(1_u64, |count, &len| count.saturating_mul(len));
                let len_bytes = Some(count.saturating_mul(self.element_size() as u64));
                Layout::Contiguous { address: None, len_bytes }
            }
        }
    }
}

/// How long a variable is along each axis; `None` where that has no limit.
fn axes(draft: &Draft, variable: &VariableDraft) -> Encoded<Vec<Option<u64>>> {
    let axes = variable.dimensions.iter().map(|&id| {
        let dimension = draft.dimension(id)?;
        Ok((!dimension.is_unlimited).then_some(dimension.len))
    });
    axes.collect()
}

/// One element of the variable's fill value; `None` in the mode without fill values.
fn fill_bytes(
    variable: &VariableDraft,
    stored: &StoredType,
    heap: &FileHeap,
) -> Encoded<Option<Arc<[u8]>>> {
    let default = fill::default_fill_of(&variable.data_type);
    let value = match (&variable.options.fill, default) {
        (Fill::None, _) => return Ok(None),
        (Fill::Value(value) | Fill::Unstated(value), _) => value.clone(),
        (Fill::Default, Some(value)) => value,
        // Other types that a user has defined have no fill value: their bytes are zero.
        (Fill::Default, None) => return Ok(Some(vec![0; stored.size()].into())),
    };
    let mut bytes = Vec::with_capacity(stored.size());
    stored.encode(&value, Rules::NETCDF4, &mut &*heap, &mut bytes).map_err(encode_error)?;
    Ok(Some(bytes.into()))
}

fn stored_filter(filter: &isotach_codec::Filter) -> StoredFilter {
    StoredFilter {
        id: filter.id,
        name: filter.name.as_deref().unwrap_or_default().as_bytes().into(),
        flags: u16::from(filter.optional),
        values: filter.parameters.clone(),
    }
}
