//! The chunks of a new variable as it turns out to be written.

use std::sync::Arc;

use super::planned::Planned;
use super::scales::Node;
use super::{Hdf5Backend, index};
use crate::draft::{Draft, VariableId};
use crate::error::Result;
use crate::write::data::Store;

impl Hdf5Backend {
    /// Settles the shape of chunks that nobody has said by how many records come with the first commit of any:
    /// who commits each of them writes its chunk anew each time, so that may not be many times as long.
    pub(super) fn fit_chunks(&mut self, draft: &Draft, id: VariableId) -> Result<()> {
        let variable = draft.variable(id).map_err(|fault| self.fault(fault))?;
        let records = variable.extent.first().copied().unwrap_or(0);
        if variable.origin.is_some() || variable.options.chunk_shape.is_some() || records == 0 {
            return Ok(());
        }
        let known = self.variables.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        let Some(written) = known.get(&id).map(Arc::clone) else { return Ok(()) };
        drop(known);
        let Store::Chunked(store) = &written.store else { return Ok(()) };
        // The fill value of anything else would be put into the heap again.
        if !written.planned.stored.is_flat() {
            return Ok(());
        }
        let planned = Planned::new(draft, variable, &self.heap, self.structures, Some(records))
            .map_err(|kind| self.target.error(kind))?;
        if planned.chunk_shape == written.planned.chunk_shape {
            return Ok(());
        }
        let fitting = index::store(draft, id, &planned, None, &self.target)?;
        if let Store::Chunked(fitting) = &fitting
            && !store.copy_into(fitting, &variable.extent)?
        {
            return Ok(());
        }
        self.objects.forget_content(Node::Variable(id));
        let written = Arc::new(super::WrittenVariable::new(planned, fitting));
        let known = self.variables.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner);
        known.insert(id, written);
        Ok(())
    }
}
