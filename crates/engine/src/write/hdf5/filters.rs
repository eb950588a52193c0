//! The filters that a user asks for, with all that the file says of them.

use isotach_codec::registry::registered_name;
use isotach_codec::{ChunkType, Element, Filter, Number, NumberClass, Pipeline};
use isotach_format::hdf5::Encoding;
use isotach_format::hdf5::message::Message;
use isotach_format::hdf5::message::datatype::{ByteOrder, Datatype, FixedPoint, Float};

use super::attributes::Encoded;
use crate::error::DefinitionFault;
use crate::writer::FilterRequest;

/// Filters below this are HDF5's own: files do not hold their names.
const FIRST_NAMED: u16 = 256;

/// The pipeline for chunks of this shape, with the fill value as it is stored.
pub(super) fn pipeline(
    requests: &[FilterRequest],
    datatype: &Datatype,
    chunk_shape: &[u64],
    fill: &[u8],
) -> Encoded<Pipeline> {
    if requests.is_empty() {
        return Ok(Pipeline::default());
    }
    let (element, message) = (element(datatype), datatype.encode(Encoding::default())?);
    let fill = Some(fill);
    let chunk = ChunkType { element: &element, datatype: &message, shape: chunk_shape, fill };
    let filters = requests.iter().map(|request| filter(request, &chunk));
    let pipeline = Pipeline { filters: filters.collect::<Encoded<_>>()? };
    match pipeline.not_encodable() {
        Some(filter) => Err(DefinitionFault::Filter(filter.not_encodable()).into()),
        None => Ok(pipeline),
    }
}

/// The filter with all that follows from what it is applied to.
fn filter(request: &FilterRequest, chunk: &ChunkType<'_>) -> Encoded<Filter> {
    let asked = request.filter();
    if matches!(request, FilterRequest::Exact(_)) {
        return Ok(asked);
    }
    let name = registered_name(asked.id).filter(|_| asked.id >= FIRST_NAMED).map(str::to_owned);
    let filter = Filter { name, ..asked };
    let completed = filter.complete(chunk);
    completed.map_err(|error| DefinitionFault::Filter(error).into())
}

/// What filters need to know of a type.
fn element(datatype: &Datatype) -> Element {
    match datatype {
        Datatype::FixedPoint(FixedPoint {
            size,
            byte_order,
            bit_offset,
            precision,
            signed,
            ..
        }) => {
            let class = if *signed { NumberClass::Signed } else { NumberClass::Unsigned };
            number(*size, class, *byte_order, (*precision).into(), (*bit_offset).into())
        }
        Datatype::Float(Float { size, byte_order, bit_offset, precision, .. }) => {
            let class = NumberClass::Float;
            number(*size, class, *byte_order, (*precision).into(), (*bit_offset).into())
        }
        Datatype::Enumeration { base, .. } => element(base),
        Datatype::Array { base, size, .. } => {
            let count = size.checked_div(base.size()).unwrap_or(0);
            Element::Array { base: Box::new(element(base)), count }
        }
        Datatype::Compound { size, members } => {
            let member = members.iter().map(|member| (member.offset, element(&member.datatype)));
            Element::Compound { size: *size, members: member.collect() }
        }
        other => Element::Other { size: other.size() },
    }
}

fn number(
    size: u32,
    class: NumberClass,
    byte_order: ByteOrder,
    precision: u32,
    offset: u32,
) -> Element {
    let big_endian = byte_order == ByteOrder::Big;
    Element::Number(Number { size, class, big_endian, precision, offset })
}
