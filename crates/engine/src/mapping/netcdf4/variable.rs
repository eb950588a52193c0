//! Variables: data sets as netCDF shows them.

use std::sync::Arc;

use isotach_codec::registry::registered_name;
use isotach_format::hdf5::message::datatype::{ByteOrder, Datatype};
use isotach_format::hdf5::text::text;
use isotach_model::convert::Rules;
use isotach_model::selection::Selection;
use isotach_model::{DataType, fill};

use super::group::GroupData;
use super::member::Member;
use super::{Contents, attribute, dimension, types};
use crate::attribute::Attribute;
use crate::dimension::Dimension;
use crate::error::Result;
use crate::mapping::VariableMapping;
use crate::mapping::hdf5::{Dataset, FillStatus, LayoutKind};
use crate::plan::layout::Placement;
use crate::read::Array;
use crate::variable::{Endianness, FillValue, FilterUse, StorageInfo, StorageKind};

/// A variable of an open file.
pub(super) struct NetCdf4Variable {
    contents: Arc<Contents>,
    group: Arc<GroupData>,
    member: Arc<Member>,
    data_type: DataType,
}

impl NetCdf4Variable {
    pub(super) fn new(
        contents: &Arc<Contents>,
        group: &Arc<GroupData>,
        member: Arc<Member>,
    ) -> Result<Self> {
        let data_type = member.data_type(contents, group)?.clone();
        let (contents, group) = (Arc::clone(contents), Arc::clone(group));
        Ok(Self { contents, group, member, data_type })
    }

    fn find_storage(&self) -> Result<Arc<StorageInfo>> {
        let dataset = &self.member.dataset;
        let kind = match dataset.layout_kind()? {
            LayoutKind::Compact => StorageKind::Compact,
            LayoutKind::Contiguous => StorageKind::Contiguous,
            LayoutKind::Chunked => StorageKind::Chunked,
            LayoutKind::Virtual => StorageKind::Virtual,
        };
        let filters = dataset.filters()?.filters.iter().map(|filter| FilterUse {
            id: filter.id,
            name: registered_name(filter.id).map_or_else(|| text(&filter.name), str::to_owned),
            parameters: filter.values.clone(),
        });
        Ok(Arc::new(StorageInfo {
            kind,
            chunk_shape: dataset.chunk_shape()?.map(<[u64]>::to_vec),
            filters: filters.collect(),
            endianness: endianness(dataset.datatype()?),
        }))
    }

    /// The array with elements as netCDF shows them, in the data set's own shape.
    fn own_array(&self) -> Result<Array> {
        let dataset = &self.member.dataset;
        let mut array = Array::clone(dataset.array()?);
        array.stored = types::stored_type(dataset.datatype()?);
        array.rules = match self.contents.is_classic()? {
            true => Rules::NETCDF4_CLASSIC,
            false => Rules::NETCDF4,
        };
        Ok(array)
    }
}

impl VariableMapping for NetCdf4Variable {
    fn name(&self) -> &str {
        &self.member.name
    }

    fn group(&self) -> &str {
        &self.group.path
    }

    fn data_type(&self) -> &DataType {
        &self.data_type
    }

    fn dimensions(&self) -> Result<Arc<[Dimension]>> {
        let dims = dimension::of_variable(&self.contents, &self.group, &self.member)?;
        Ok(dims.iter().map(|dim| dim.dimension(&self.contents)).collect())
    }

    fn attributes(&self) -> Result<Arc<[Attribute]>> {
        attribute::list(&self.contents, &self.group, self.member.dataset.node())
    }

    fn attribute(&self, name: &str) -> Result<Option<Attribute>> {
        attribute::find(&self.contents, &self.group, self.member.dataset.node(), name)
    }

    fn storage(&self) -> Result<Arc<StorageInfo>> {
        self.member.storage.get_or_find(|| self.find_storage()).cloned()
    }

    fn fill_value(&self) -> Result<FillValue> {
        let fill = self.member.dataset.fill()?.status == FillStatus::User;
        if let (false, Some(atomic)) = (fill, self.data_type().atomic()) {
            return Ok(FillValue { fill, value: fill::default_fill(atomic) });
        }
        // One element that was never written.
        let mut array = self.own_array()?;
        array.shape = Vec::new();
        array.layout.shape = Vec::new();
        array.layout.placement = Placement::Unallocated;
        Ok(FillValue { fill, value: array.read(&Selection::all(&[]))? })
    }

    fn array(&self) -> Result<Arc<Array>> {
        let mut array = self.own_array()?;
        let dimensions = self.dimensions()?;
        array.shape = dimensions.iter().map(Dimension::len).collect::<Result<_>>()?;
        if array.shape != array.layout.shape {
            array.layout.fill_beyond = fill_beyond(&self.member.dataset)?;
        }
        Ok(Arc::new(array))
    }
}

/// One element, as it is stored, for what lies within the dimensions and beyond the data set's own extent, where
/// that is another than for what was never written.
pub(crate) fn fill_beyond(dataset: &Dataset) -> Result<Option<Arc<[u8]>>> {
    Ok(match dataset.fill()?.status {
        FillStatus::User => None,
        FillStatus::Undefined | FillStatus::Default => types::default_fill(dataset.datatype()?),
    })
}

/// Numbers have a byte order; what consists of other things has none that netCDF would tell.
pub(crate) fn endianness(datatype: &Datatype) -> Endianness {
    let byte_order = match datatype {
        Datatype::FixedPoint(integer) => integer.byte_order,
        Datatype::Float(float) => float.byte_order,
        _ => return Endianness::Native,
    };
    match byte_order {
        ByteOrder::Little => Endianness::Little,
        ByteOrder::Big => Endianness::Big,
        ByteOrder::Vax => Endianness::Native,
    }
}
