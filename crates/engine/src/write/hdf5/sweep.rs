//! Strings and sequences that were overwritten: which collections of the heap nothing refers to.
//!
//! Attributes say what they no longer refer to. Values do not: whoever overwrites a part of a chunk would
//! have to read it before. Instead, when as much was put into the heap as is in use, a commit looks
//! at all references of the variables that were written, and gives back what none leads to.
//! Only collections that were made since the file was opened are looked at: those before may be
//! referred to from anywhere.

use std::collections::HashSet;
use std::sync::PoisonError;

use isotach_model::shape;

use super::Hdf5Backend;
use crate::draft::Draft;
use crate::error::Result;
use crate::mapping::hdf5::HeapReferences;
use crate::plan::layout::ArrayLayout;
use crate::read::for_each_piece;

impl Hdf5Backend {
    /// Gives back what overwritten values had in the heap, where that is due. Everything that was put
    /// is in the file, and nobody puts anything meanwhile. What cannot be read is looked at later.
    pub(super) fn sweep_heap(&self, draft: &Draft) {
        if let Ok(Some(in_use)) = self.used_collections(draft) {
            self.heap.sweep(&in_use);
        }
    }

    /// The collections that values refer to; `None` where it is not time to look.
    fn used_collections(&self, draft: &Draft) -> Result<Option<HashSet<u64>>> {
        if !self.heap.is_sweep_due(0) {
            return Ok(None);
        }
        let mut in_use = HashSet::new();
        let mut arrays: Vec<(ArrayLayout, HeapReferences)> = Vec::new();
        let mut cost_bytes = 0_u64;
        let variables = self.variables.read().unwrap_or_else(PoisonError::into_inner);
        for (&id, written) in variables.iter() {
            let planned = &written.planned;
            // A variable that is deleted by now refers to nothing.
            if planned.stored.is_flat() || draft.variable(id).is_err() {
                continue;
            }
            let Some(references) = HeapReferences::of(&planned.datatype, planned.sizes) else {
                return Ok(None);
            };
            if let Some(fill) = &planned.fill {
                in_use.extend(references.collections(fill));
            }
            let layout = self.layout_of(draft, id, written, written.reading.tell())?;
            let bytes = shape::byte_count(&layout.shape, layout.element_size);
            cost_bytes = cost_bytes.saturating_add(bytes.unwrap_or(usize::MAX) as u64);
            arrays.push((layout, references));
        }
        if !self.heap.is_sweep_due(cost_bytes) {
            return Ok(None);
        }
        for (layout, references) in &arrays {
            let mut mark = |elements: &[u8]| in_use.extend(references.collections(elements));
            for_each_piece(layout, &mut mark)?;
        }
        Ok(Some(in_use))
    }
}
