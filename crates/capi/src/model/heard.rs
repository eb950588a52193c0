//! The lengths of unlimited dimensions as a program heard them last.
//!
//! netCDF-C reckons with them where it chooses chunks along nothing but unlimited dimensions: lengths that nobody
//! asked for since are none, or those that a coordinate variable had when the file was opened.

use std::collections::HashMap;
use std::ffi::c_int;
use std::sync::{MutexGuard, PoisonError};

use isotach::Dimension;
use isotach::sync::Mutex;

use super::{DimensionNode, OpenFile};
use crate::status::Outcome;

/// By the dimension's id.
#[derive(Default)]
pub(super) struct HeardLengths(Mutex<HashMap<c_int, u64>>);

impl HeardLengths {
    fn all(&self) -> MutexGuard<'_, HashMap<c_int, u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenFile {
    /// Remembers that a program hears how long a dimension is at present.
    pub(crate) fn hear(&self, dimension: &Dimension) -> Outcome {
        if self.keeps_lengths() && dimension.is_unlimited() {
            let (id, len) = (dimension.id()?, dimension.len()?);
            self.heard_lengths.all().insert(id, len);
        }
        Ok(())
    }

    /// Remembers that a new dimension has no length yet.
    pub(super) fn hear_none(&self, id: c_int) {
        self.heard_lengths.all().insert(id, 0);
    }

    /// Takes down what was heard of dimensions along which values are about to be written.
    pub(crate) fn keep_heard(&self, along: &[Dimension]) -> Outcome {
        if self.keeps_lengths() {
            for dimension in along.iter().filter(|dimension| dimension.is_unlimited()) {
                self.heard(dimension.id()?)?;
            }
        }
        Ok(())
    }

    /// How long an unlimited dimension was when its length was heard last.
    pub(crate) fn heard(&self, id: c_int) -> Outcome<u64> {
        if let Some(&len) = self.heard_lengths.all().get(&id) {
            return Ok(len);
        }
        let len = self.scale_len(&self.dimension(id)?)?;
        Ok(*self.heard_lengths.all().entry(id).or_insert(len))
    }

    /// Whether definitions may come that reckon with lengths.
    fn keeps_lengths(&self) -> bool {
        self.is_hdf5() && self.writer.is_some()
    }

    /// The extent of a dimension's coordinate variable; 0 where it has none.
    fn scale_len(&self, node: &DimensionNode) -> Outcome<u64> {
        let group = self.group(node.group)?;
        let Some(id) = group.variable_id(node.dimension.name())? else { return Ok(0) };
        let variable = &group.variable(id)?.variable;
        let first = variable.dimensions()?.first().map(Dimension::id).transpose()?;
        if first != Some(node.dimension.id()?) {
            return Ok(0);
        }
        Ok(variable.array()?.layout.shape.first().copied().unwrap_or(0))
    }
}
