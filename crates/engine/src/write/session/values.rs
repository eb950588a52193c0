//! Values on their way from the caller to the backend.
//!
//! ```text
//! the calls that it meets -> the state, shared -> longer dimensions -> checks -> Backend::put
//! ```
//! Others that write or read wait for each other before they have the state: whoever commits waits for it.

use std::sync::{RwLockReadGuard, RwLockWriteGuard};

use isotach_model::convert::{Number, RangeReport, convert};
use isotach_model::selection::{Axis, Selection};
use isotach_model::{NoHeap, Values};

use super::{Session, State};
use crate::draft::{DimensionId, Draft, VariableDraft, VariableId};
use crate::error::{ErrorKind, Result};
use crate::read::calls::Writing;

/// From so many bytes on that wait in memory because others stand at their places, there is a commit.
const HELD_BYTES: u64 = 8 << 20;
/// The most of them where only the caller commits: half of what a redo record can have, and room for its table.
const MOST_HELD_BYTES: u64 = isotach_format::limits::REDO_RECORD_BYTES / 4;

impl Session {
    /// Makes a variable's unlimited dimensions at least as long as `extent` says.
    pub(crate) fn grow(&self, id: VariableId, extent: &[u64]) -> Result<()> {
        let nothing = Selection { axes: vec![Axis::range(0, 0, 1)] };
        let mut writing = self.begin_write(id, &nothing)?;
        let mut state = self.to_change()?;
        let id = state.draft.owner(id);
        writing.reaches(state.draft.reach(id, extent.iter().copied()));
        state.draft.check_record_fill().map_err(|fault| self.fault(fault))?;
        state.backend.grow(&state.draft, id, extent)?;
        state.draft.grow(id, extent).map_err(|fault| self.fault(fault))
    }

    /// Writes values of any type.
    pub(crate) fn write_values(
        &self,
        id: VariableId,
        selection: &Selection,
        values: &Values,
    ) -> Result<RangeReport> {
        let mut writing = self.begin_write(id, selection)?;
        let (state, id) = self.ready_for(id, selection, &mut writing, |state, id| {
            self.check_count(selection, values.len())?;
            // What goes to the heap may only be put there when nothing comes between it and its references.
            let stored = state.backend.stored_type(&state.draft, id)?;
            let encoded = stored.encode(values, state.draft.rules(), &mut NoHeap, &mut Vec::new());
            encoded.map(drop).map_err(|error| self.error(ErrorKind::Values(error)))
        })?;
        self.check_count(selection, values.len())?;
        let stored = state.backend.stored_type(&state.draft, id)?;
        let mut elements = Vec::new();
        let report = state.backend.encode(&stored, values, state.draft.rules(), &mut elements)?;
        if state.is_quantized(id) {
            stored.native_order().apply(&mut elements);
            state.quantize(id, &mut elements);
            stored.native_order().undo(&mut elements);
        }
        self.put(state, id, selection, &elements)?;
        Ok(report)
    }

    /// Writes elements of the stored type's native form.
    pub(crate) fn write_native(
        &self,
        id: VariableId,
        selection: &Selection,
        elements: &[u8],
    ) -> Result<()> {
        let mut writing = self.begin_write(id, selection)?;
        let flat_type = |state: &State, id| {
            let stored = state.backend.stored_type(&state.draft, id)?;
            if !stored.is_flat() {
                let kind = ErrorKind::WrongType { stored: format!("{stored:?}"), wanted: "bytes" };
                return Err(self.error(kind));
            }
            self.check_count(selection, elements.len() / stored.native_size().max(1))?;
            Ok(stored)
        };
        let check = |state: &State, id| flat_type(state, id).map(drop);
        let (state, id) = self.ready_for(id, selection, &mut writing, check)?;
        let stored = flat_type(&state, id)?;
        if stored.is_resized() {
            let count = elements.len() / stored.native_size().max(1);
            let mut resized = vec![0; count * stored.size()];
            stored.from_native(elements, &mut resized);
            return self.put(state, id, selection, &resized);
        }
        let order = stored.native_order();
        if order.is_native() && !state.is_quantized(id) {
            self.put(state, id, selection, elements)
        } else {
            let mut stored = elements.to_vec();
            state.quantize(id, &mut stored);
            // What has more bits than are stored is cut without a word, as libhdf5 does it.
            order.undo(&mut stored);
            self.put(state, id, selection, &stored)
        }
    }

    /// Hands elements as they are stored on to the backend. Where those of the last commit are overwritten, which wait in
    /// memory for the next, and nobody minds a commit in between, it takes them part by part.
    fn put<'s>(
        &'s self,
        mut state: RwLockReadGuard<'s, State>,
        id: VariableId,
        selection: &Selection,
        elements: &[u8],
    ) -> Result<()> {
        let is_large = elements.len() as u64 > HELD_BYTES && self.shared.commits_by_itself();
        if !is_large || !state.backend.may_hold(id) {
            state.backend.put(&state.draft, id, selection, elements)?;
            return self.relieve(state);
        }
        let element_bytes = elements.len() as u64 / selection.element_count().unwrap_or(1).max(1);
        let mut rest = elements;
        for part in parts(selection, HELD_BYTES / element_bytes.max(1)) {
            let bytes = part.element_count().unwrap_or(0) * element_bytes;
            let (now, later) = rest.split_at(bytes as usize);
            state.backend.put(&state.draft, id, &part, now)?;
            self.relieve(state)?;
            (state, rest) = (self.shared()?, later);
        }
        Ok(())
    }

    /// Commits where so much waits for it that it takes too much memory.
    fn relieve(&self, state: RwLockReadGuard<'_, State>) -> Result<()> {
        let value = state.backend.held_bytes();
        drop(state);
        if value <= HELD_BYTES {
            return Ok(());
        }
        if self.shared.commits_by_itself() {
            self.shared.commit_by_itself();
        } else if value > MOST_HELD_BYTES {
            let what = "bytes that are overwritten in one commit";
            return Err(self.error(ErrorKind::Limit { what, value, limit: MOST_HELD_BYTES }));
        }
        Ok(())
    }

    /// Writes numbers, converted where the variable has others.
    pub(crate) fn write_numbers<T: Number>(
        &self,
        id: VariableId,
        selection: &Selection,
        numbers: &[T],
    ) -> Result<RangeReport> {
        let state = self.to_write()?;
        let stored = state.backend.stored_type(&state.draft, state.draft.owner(id))?;
        let wanted = "numbers";
        let to = stored.number().ok_or_else(|| {
            self.error(ErrorKind::WrongType { stored: format!("{stored:?}"), wanted })
        })?;
        self.check_count(selection, numbers.len())?;
        if to.size() != stored.native_size() {
            drop(state);
            return self.write_values(id, selection, &T::into_values(numbers.to_vec()));
        }
        let given = bytemuck::cast_slice(numbers);
        if to == T::ATOMIC {
            drop(state);
            self.write_native(id, selection, given)?;
            return Ok(RangeReport { element_count: numbers.len() as u64, out_of_range_count: 0 });
        }
        let rules = state.draft.rules();
        drop(state);
        let mut converted = vec![0; numbers.len() * to.size()];
        let report = convert(given, T::ATOMIC, &mut converted, to, rules)
            .map_err(|error| self.error(ErrorKind::Convert(error)))?;
        self.write_native(id, selection, &converted)?;
        Ok(report)
    }

    /// Begins to write to the selected elements.
    fn begin_write(&self, id: VariableId, selection: &Selection) -> Result<Writing> {
        // Not held any more while others are waited for.
        let owner = self.to_write()?.draft.owner(id);
        Ok(self.shared.calls.write(owner, selection))
    }

    /// The state to write into the selected elements: unlimited dimensions reach as far. And the
    /// variable that has them. A write that is refused makes none of them longer: `check` is what can be
    /// wrong with the elements. No commit comes between the new length and the elements.
    fn ready_for<'s>(
        &'s self,
        id: VariableId,
        selection: &Selection,
        writing: &mut Writing,
        check: impl FnOnce(&State, VariableId) -> Result<()>,
    ) -> Result<(RwLockReadGuard<'s, State>, VariableId)> {
        let state = self.shared()?;
        let id = state.draft.owner(id);
        let variable = state.draft.variable(id).map_err(|fault| self.fault(fault))?;
        if selection.fits(&variable.extent) {
            state.backend.check_put(&state.draft, id, selection, &variable.extent)?;
            writing.reaches(state.draft.reach(id, selection.axes.iter().map(reach)));
            self.start_clock();
            return Ok((state, id));
        }
        let needed = self.needed_extent(&state.draft, variable, selection)?;
        state.backend.check_put(&state.draft, id, selection, &needed)?;
        if needed.iter().zip(&variable.extent).all(|(needed, extent)| needed <= extent) {
            self.start_clock();
            return Ok((state, id));
        }
        check(&state, id)?;
        drop(state);
        let mut state = self.to_change()?;
        let ends = state.draft.reach(id, needed.iter().copied());
        for &(dimension, end) in &ends {
            let len = state.draft.dimension(dimension).map_or(end, |found| found.len);
            if len < end {
                writing.grows(dimension, len);
            }
        }
        writing.reaches(ends);
        state.draft.grow(id, &needed).map_err(|fault| self.fault(fault))?;
        Ok((RwLockWriteGuard::downgrade(state), id))
    }

    /// How far the variable must reach for the selection to lie within it.
    fn needed_extent(
        &self,
        draft: &Draft,
        variable: &VariableDraft,
        selection: &Selection,
    ) -> Result<Vec<u64>> {
        let is_nothing = selection.axes.len() == variable.dimensions.len()
            && selection.element_count() == Some(0);
        if is_nothing {
            return Ok(variable.extent.clone());
        }
        let limits = draft.limits(variable).map_err(|fault| self.fault(fault))?;
        selection.check(&limits).map_err(|error| self.error(ErrorKind::Selection(error)))?;
        Ok(selection.axes.iter().map(reach).collect())
    }

    fn check_count(&self, selection: &Selection, given: usize) -> Result<()> {
        let needed = selection.element_count().unwrap_or(u64::MAX);
        if needed == given as u64 {
            return Ok(());
        }
        let (needed_bytes, given_bytes) = (needed, given as u64);
        Err(self.error(ErrorKind::Source { needed_bytes, given_bytes }))
    }
}

/// The selection in parts of about `most` elements, which follow one another as its elements do.
fn parts(selection: &Selection, most: u64) -> Vec<Selection> {
    let mut inner = selection.element_count().unwrap_or(0);
    let outer = selection.axes.iter().position(|axis| axis.len() > 1);
    let Some(outer) = outer.filter(|_| inner > most) else { return vec![selection.clone()] };
    let axis = &selection.axes[outer];
    inner /= axis.len();
    let step = (most / inner.max(1)).max(1);
    let part = |first: u64| {
        let mut axes = selection.axes.clone();
        axes[outer] = axis.part(first, step.min(axis.len() - first));
        parts(&Selection { axes }, most)
    };
    (0..axis.len()).step_by(step as usize).flat_map(part).collect()
}

/// How long an axis must be at least for the selected positions.
fn reach(axis: &Axis) -> u64 {
    axis.bounds().map_or(0, |(_, last)| last.saturating_add(1))
}

impl Draft {
    /// The unlimited dimensions of a variable with the lengths that are given for its axes.
    fn reach(&self, id: VariableId, lens: impl Iterator<Item = u64>) -> Vec<(DimensionId, u64)> {
        let dimensions = self.variable(id).map_or(&[][..], |variable| &variable.dimensions);
        let is_unlimited = |id| self.dimension(id).is_ok_and(|dimension| dimension.is_unlimited);
        let along = dimensions.iter().copied().zip(lens);
        along.filter(|(dimension, _)| is_unlimited(*dimension)).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn axis() -> impl Strategy<Value = Axis> {
        prop_oneof![
            (10u64..20, 0u64..8, prop::sample::select(vec![-2i64, -1, 1, 3]))
                .prop_map(|(start, count, stride)| Axis::range(start, count, stride)),
            prop::collection::vec(0u64..20, 0..6).prop_map(Axis::Indices),
        ]
    }

    fn positions(selection: &Selection) -> Vec<Vec<u64>> {
        selection.axes.iter().fold(vec![vec![]], |outer, axis| {
            let with = |outer: Vec<u64>| {
                axis.positions().map(move |at| outer.iter().copied().chain([at]).collect())
            };
            outer.into_iter().flat_map(with).collect()
        })
    }

    proptest! {
        #[test]
        fn parts_follow_one_another(axes in prop::collection::vec(axis(), 0..4), most in 1u64..30) {
            let whole = Selection { axes };
            let parts = parts(&whole, most);
            prop_assert!(parts.len() == 1 || parts.iter().all(|part| part.element_count().unwrap() <= most));
            let joined: Vec<_> = parts.iter().flat_map(positions).collect();
            prop_assert_eq!(joined, positions(&whole));
        }
    }
}
