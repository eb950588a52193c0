//! Filter pipelines, from the message's form to the codec's.

use isotach_codec::{Filter, Pipeline};
use isotach_format::hdf5::message::FilterPipeline;
use isotach_format::hdf5::text::text;

/// The codec's form of a filter pipeline message.
pub(crate) fn pipeline_of(message: &FilterPipeline) -> Pipeline {
    let filters = message
        .filters
        .iter()
        .map(|filter| Filter {
            id: filter.id,
            name: (!filter.name.is_empty()).then(|| text(&filter.name)),
            optional: filter.is_optional(),
            parameters: filter.values.clone(),
        })
        .collect();
    Pipeline { filters }
}
