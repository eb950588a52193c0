//! The filters that a user asks for, with all that the file says of them.

use isotach_codec::{Filter, Pipeline};
use isotach_format::hdf5::message::datatype::Datatype;

use super::attributes::Encoded;
use crate::writer::FilterRequest;

const DEFLATE: u16 = 1;
const SHUFFLE: u16 = 2;
const FLETCHER32: u16 = 3;

/// The pipeline for chunks of this shape.
pub(super) fn pipeline(
    requests: &[FilterRequest],
    datatype: &Datatype,
    _chunk_shape: &[u64],
    _fill: Option<&[u8]>,
) -> Encoded<Pipeline> {
    let filters = requests.iter().map(|request| filter(request, datatype)).collect();
    Ok(Pipeline { filters })
}

fn filter(request: &FilterRequest, datatype: &Datatype) -> Filter {
    let filter = |id, optional, parameters| Filter { id, name: None, optional, parameters };
    match request {
        FilterRequest::Shuffle => filter(SHUFFLE, true, vec![datatype.size()]),
        FilterRequest::Deflate { level } => filter(DEFLATE, true, vec![*level]),
        FilterRequest::Fletcher32 => filter(FLETCHER32, false, Vec::new()),
        FilterRequest::Exact(exact) => exact.clone(),
        _ => filter(0, false, Vec::new()),
    }
}
