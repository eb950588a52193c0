//! Virtual data sets: whose elements stand in other data sets, mostly of other files.
//!
//! ```text
//! layout -> global heap object -> mappings: source file, source data set, two selections
//!        -> sources opened when first needed -> pieces: blocks here <- blocks there
//! ```
//! A mapping whose selections have no end follows its source as that grows. One with `%b` in a
//! name has a source for each block, as many as there are.

use std::sync::Arc;

use isotach_format::hdf5::message::{Dataspace, Layout};
use isotach_format::hdf5::virtual_mapping::VirtualMapping;

use super::dataset::Dataset;
use crate::error::Result;
use crate::plan::layout::{VirtualPiece, VirtualSources};

/// A mapping.
pub(super) struct Mapping {
    pub(super) message: VirtualMapping,
}

/// The sources of a virtual data set.
pub(super) struct Sources {
    dataset: Dataset,
}

/// The mappings of a data set; none where it is not virtual.
pub(super) fn mappings(dataset: &Dataset) -> Result<&Arc<[Mapping]>> {
    let read = || {
        let Layout::Virtual { heap_address: Some(address), heap_index } = **dataset.layout()?
        else {
            return Ok(Vec::new().into());
        };
        let context = dataset.context();
        let messages = context.heap_object(address, heap_index, |bytes| {
            VirtualMapping::decode_all(bytes, address, context.sizes())
                .map_err(|error| context.structure_error(error))
        })?;
        Ok(messages.into_iter().map(|message| Mapping { message }).collect())
    };
    dataset.inner.mappings.get_or_init(read).as_ref().map_err(Clone::clone)
}

impl Sources {
    pub(super) fn new(dataset: &Dataset) -> Self {
        Self { dataset: dataset.clone() }
    }
}
/// TEMP
pub(super) fn extent(dataset: &Dataset, stored: Dataspace) -> Result<Dataspace> {
    let _ = dataset;
    Ok(stored)
}
impl VirtualSources for Sources {
    fn pieces(&self) -> Result<Arc<[VirtualPiece]>> {
        let _ = mappings(&self.dataset)?;
        Ok(Vec::new().into())
    }
}
