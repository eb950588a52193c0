//! The chunks of a new variable as it turns out to be written.

use std::sync::{Arc, PoisonError};

use super::scales::Node;
use super::{Hdf5Backend, WrittenVariable, index};
use crate::draft::{Draft, VariableDraft, VariableId};
use crate::error::Result;
use crate::write::data::Store;

impl Hdf5Backend {
    /// Settles the shape of chunks that nobody has said by how much comes with the first commit of any. `is_last` where
    /// nothing follows.
    pub(super) fn fit_chunks(
        &mut self,
        draft: &Draft,
        id: VariableId,
        is_last: bool,
    ) -> Result<()> {
        let variable = draft.variable(id).map_err(|fault| self.fault(fault))?;
        if !is_open(variable) || self.told.contains_key(&id) || variable.extent.contains(&0) {
            return Ok(());
        }
        let known = self.variables.get_mut().unwrap_or_else(PoisonError::into_inner);
        let Some(written) = known.get(&id).map(Arc::clone) else { return Ok(()) };
        let shape = written.planned.fitting_shape(draft, variable, is_last);
        let shape = shape.map_err(|kind| self.target.error(kind))?;
        self.refit(draft, id, &written, shape)
    }

    /// Settles the shape of the chunks of a variable that nobody gave one, for somebody who asks for it.
    pub(super) fn tell_chunks(&mut self, draft: &Draft, id: VariableId) -> Result<()> {
        let variable = draft.variable(id).map_err(|fault| self.fault(fault))?;
        if !is_open(variable) || self.told.contains_key(&id) {
            return Ok(());
        }
        let known = self.variables.get_mut().unwrap_or_else(PoisonError::into_inner);
        let written = known.get(&id).map(Arc::clone);
        let planned = match &written {
            Some(written) => Arc::clone(&written.planned),
            None => Arc::new(self.plan(draft, id)?),
        };
        if planned.chunk_shape.is_none() {
            return Ok(());
        }
        let shape = planned.fitting_shape(draft, variable, false);
        let shape = shape.map_err(|kind| self.target.error(kind))?;
        if let Some(written) = written {
            return self.refit(draft, id, &written, shape);
        }
        self.told.insert(id, shape);
        Ok(())
    }

    /// Has a variable without a chunk in the file have chunks of this shape.
    fn refit(
        &mut self,
        draft: &Draft,
        id: VariableId,
        written: &WrittenVariable,
        shape: Vec<u64>,
    ) -> Result<()> {
        let Store::Chunked(store) = &written.store else { return Ok(()) };
        let variable = draft.variable(id).map_err(|fault| self.fault(fault))?;
        if written.planned.chunk_shape.as_ref() != Some(&shape) {
            let planned =
                written.planned.with_chunks(shape.clone(), draft, variable, self.structures);
            let planned = planned.map_err(|kind| self.target.error(kind))?;
            let fitting = index::store(draft, id, &planned, None, &self.target)?;
            if let Store::Chunked(fitting) = &fitting
                && !store.copy_into(fitting, &variable.extent)?
            {
                // Chunks that are in the file have settled it.
                self.told.extend(written.planned.chunk_shape.clone().map(|shape| (id, shape)));
                return Ok(());
            }
            self.objects.forget_content(Node::Variable(id));
            let fitted = Arc::new(WrittenVariable::new(planned, fitting));
            let known = self.variables.get_mut().unwrap_or_else(PoisonError::into_inner);
            known.insert(id, fitted);
        }
        self.told.insert(id, shape);
        Ok(())
    }
}

/// Whether nobody has said how the chunks of this variable are cut, nor is it in the file.
fn is_open(variable: &VariableDraft) -> bool {
    variable.origin.is_none() && variable.options.chunk_shape.is_none()
}
