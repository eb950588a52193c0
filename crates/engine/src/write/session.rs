//! A file that is open for writing: its draft, its backend, and who may use them when.
//!
//! Whoever writes values or looks at the draft shares it; whoever changes the draft or commits has it
//! alone. So a commit never meets a half-written array.

use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};

use isotach_model::convert::{Number, RangeReport, convert};
use isotach_model::quantize::{Float, Quantization};
use isotach_model::selection::{Axis, Selection};
use isotach_model::{Atomic, DataType, Values, fill};

use super::Backend;
use super::home::Home;
use crate::draft::{AttributeOwner, Defined, Draft, FILL_VALUE, VariableDraft, VariableId};
use crate::error::{DefinitionFault, Error, ErrorKind, Result};
use crate::read::Array;
use crate::variable::StorageInfo;
use crate::writer::{Fill, VariableOptions};

/// See the module.
pub(crate) struct Session {
    name: Arc<str>,
    state: RwLock<State>,
    commit_interval: Option<Duration>,
    committed_at: Mutex<Instant>,
}

pub(super) struct State {
    draft: Draft,
    backend: Box<dyn Backend>,
    home: Home,
    is_closed: bool,
}

impl Session {
    pub(super) fn new(
        name: Arc<str>,
        draft: Draft,
        backend: Box<dyn Backend>,
        home: Home,
        commit_interval: Option<Duration>,
    ) -> Self {
        Self {
            name,
            state: RwLock::new(State { draft, backend, home, is_closed: false }),
            commit_interval,
            committed_at: Mutex::new(Instant::now()),
        }
    }

    /// The name it was opened by.
    pub(crate) fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// What `look` finds in the draft.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&Draft) -> Defined<T>) -> Result<T> {
        look(&self.shared()?.draft).map_err(|fault| self.fault(fault))
    }

    /// Changes the draft.
    pub(crate) fn change<T>(&self, change: impl FnOnce(&mut Draft) -> Defined<T>) -> Result<T> {
        change(&mut self.alone()?.draft).map_err(|fault| self.fault(fault))
    }

    /// Sets an attribute; `_FillValue` of a variable is its fill value too.
    pub(crate) fn set_attribute(
        &self,
        owner: AttributeOwner,
        name: &str,
        data_type: DataType,
        values: Values,
    ) -> Result<()> {
        let mut state = self.alone()?;
        if let (AttributeOwner::Variable(id), FILL_VALUE) = (owner, name) {
            let id = state.draft.owner(id);
            let fill = (data_type.clone(), values.clone());
            state.set_fill(id, fill).map_err(|fault| self.fault(fault))?;
        }
        let set = state.draft.set_attribute(owner, name, data_type, values);
        set.map_err(|fault| self.fault(fault))
    }

    /// Changes how a variable without values shall be stored.
    pub(crate) fn change_options(
        &self,
        id: VariableId,
        change: impl FnOnce(&mut VariableOptions),
    ) -> Result<()> {
        let mut state = self.alone()?;
        let (id, what) = (state.draft.owner(id), "storage");
        if state.backend.has_values(id) {
            return Err(self.fault(DefinitionFault::HasValues { what }));
        }
        state.draft.change_options(id, change).map_err(|fault| self.fault(fault))
    }

    /// Writes values of any type.
    pub(crate) fn write_values(
        &self,
        id: VariableId,
        selection: &Selection,
        values: &Values,
    ) -> Result<RangeReport> {
        let (state, id) = self.ready_for(id, selection)?;
        self.check_count(selection, values.len())?;
        let stored = state.backend.stored_type(&state.draft, id)?;
        let mut elements = Vec::new();
        let report = state.backend.encode(&stored, values, state.draft.rules(), &mut elements)?;
        if state.is_quantized(id) {
            stored.native_order().apply(&mut elements);
            state.quantize(id, &mut elements);
            stored.native_order().apply(&mut elements);
        }
        state.backend.put(&state.draft, id, selection, &elements)?;
        drop(state);
        self.commit_if_due()?;
        Ok(report)
    }

    /// Writes elements in this machine's byte order.
    pub(crate) fn write_native(
        &self,
        id: VariableId,
        selection: &Selection,
        elements: &[u8],
    ) -> Result<()> {
        let (state, id) = self.ready_for(id, selection)?;
        let stored = state.backend.stored_type(&state.draft, id)?;
        if !stored.is_flat() {
            let kind = ErrorKind::WrongType { stored: format!("{stored:?}"), wanted: "bytes" };
            return Err(self.error(kind));
        }
        self.check_count(selection, elements.len() / stored.size().max(1))?;
        let order = stored.native_order();
        if order.is_native() && !state.is_quantized(id) {
            state.backend.put(&state.draft, id, selection, elements)?;
        } else {
            let mut stored = elements.to_vec();
            state.quantize(id, &mut stored);
            // Bringing bytes to this machine's order and back is the same exchange.
            order.apply(&mut stored);
            state.backend.put(&state.draft, id, selection, &stored)?;
        }
        drop(state);
        self.commit_if_due()
    }

    /// Writes numbers, converted where the variable has others.
    pub(crate) fn write_numbers<T: Number>(
        &self,
        id: VariableId,
        selection: &Selection,
        numbers: &[T],
    ) -> Result<RangeReport> {
        let (to, rules) = {
            let state = self.shared()?;
            let stored = state.backend.stored_type(&state.draft, state.draft.owner(id))?;
            let wanted = "numbers";
            let to = stored.number().ok_or_else(|| {
                self.error(ErrorKind::WrongType { stored: format!("{stored:?}"), wanted })
            })?;
            (to, state.draft.rules())
        };
        self.check_count(selection, numbers.len())?;
        let given = bytemuck::cast_slice(numbers);
        if to == T::ATOMIC {
            self.write_native(id, selection, given)?;
            return Ok(RangeReport { element_count: numbers.len() as u64, out_of_range_count: 0 });
        }
        let mut converted = vec![0; numbers.len() * to.size()];
        let report = convert(given, T::ATOMIC, &mut converted, to, rules)
            .map_err(|error| self.error(ErrorKind::Convert(error)))?;
        self.write_native(id, selection, &converted)?;
        Ok(report)
    }

    /// The variable's elements, for reading.
    pub(crate) fn array(&self, id: VariableId) -> Result<Array> {
        let state = self.shared()?;
        state.backend.array(&state.draft, state.draft.owner(id))
    }

    /// How the variable is stored.
    pub(crate) fn storage_info(&self, id: VariableId) -> Result<StorageInfo> {
        let state = self.shared()?;
        state.backend.storage_info(&state.draft, state.draft.owner(id))
    }

    /// Makes what was done since the last commit a part of the file.
    pub(crate) fn commit(&self) -> Result<()> {
        self.alone()?.commit()?;
        *self.committed_at.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        Ok(())
    }

    /// Commits and closes; closing twice is no error.
    pub(crate) fn close(&self) -> Result<()> {
        let Ok(mut state) = self.alone() else { return Ok(()) };
        let committed = state.commit();
        state.is_closed = true;
        committed?;
        state.backend.close()?;
        state.home.publish()
    }

    /// Closes without a commit.
    pub(crate) fn abandon(&self) -> Result<()> {
        let Ok(mut state) = self.alone() else { return Ok(()) };
        state.is_closed = true;
        state.home.abandon()
    }

    /// The bytes of a file in memory, once.
    pub(crate) fn take_bytes(&self) -> Option<Vec<u8>> {
        self.state.write().unwrap_or_else(PoisonError::into_inner).home.take_bytes()
    }

    /// Commits where the last commit is longer ago than the interval.
    fn commit_if_due(&self) -> Result<()> {
        let Some(interval) = self.commit_interval else { return Ok(()) };
        let since = *self.committed_at.lock().unwrap_or_else(PoisonError::into_inner);
        if since.elapsed() < interval { Ok(()) } else { self.commit() }
    }

    /// The state to write into the selected elements: unlimited dimensions reach as far. And the
    /// variable that has them.
    fn ready_for(
        &self,
        id: VariableId,
        selection: &Selection,
    ) -> Result<(RwLockReadGuard<'_, State>, VariableId)> {
        let state = self.shared()?;
        let id = state.draft.owner(id);
        let variable = state.draft.variable(id).map_err(|fault| self.fault(fault))?;
        let needed = self.needed_extent(&state.draft, variable, selection)?;
        if needed.iter().zip(&variable.extent).all(|(needed, extent)| needed <= extent) {
            return Ok((state, id));
        }
        drop(state);
        self.change(|draft| draft.grow(id, &needed))?;
        Ok((self.shared()?, id))
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
        let reach = |axis: &Axis| axis.bounds().map_or(0, |(_, last)| last.saturating_add(1));
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

    fn shared(&self) -> Result<RwLockReadGuard<'_, State>> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        if state.is_closed { Err(self.error(ErrorKind::Closed)) } else { Ok(state) }
    }

    fn alone(&self) -> Result<RwLockWriteGuard<'_, State>> {
        let state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        if state.is_closed { Err(self.error(ErrorKind::Closed)) } else { Ok(state) }
    }

    fn fault(&self, fault: DefinitionFault) -> Error {
        self.error(ErrorKind::Definition(fault))
    }

    fn error(&self, kind: ErrorKind) -> Error {
        Error::new(&self.name, kind)
    }
}

impl State {
    fn commit(&mut self) -> Result<()> {
        self.backend.commit(&mut self.draft)?;
        self.draft.mark_committed();
        Ok(())
    }

    fn is_quantized(&self, id: VariableId) -> bool {
        self.draft.variable(id).is_ok_and(|variable| variable.quantization().is_some())
    }

    /// Rounds a variable's elements, which are in this machine's byte order, as it says.
    fn quantize(&self, id: VariableId, elements: &mut [u8]) {
        let Ok(variable) = self.draft.variable(id) else { return };
        let Some(quantization) = variable.quantization() else { return };
        let stated = variable.attributes.get(FILL_VALUE).and_then(|fill| fill.values().ok());
        match variable.data_type.atomic() {
            Some(Atomic::Float) => quantize(quantization, elements, stated.as_ref(), fill::FLOAT),
            _ => quantize(quantization, elements, stated.as_ref(), fill::DOUBLE),
        }
    }

    fn set_fill(&mut self, id: VariableId, fill: (DataType, Values)) -> Defined<()> {
        let (data_type, values) = fill;
        if data_type != self.draft.variable(id)?.data_type || values.len() != 1 {
            return Err(DefinitionFault::FillValue);
        }
        if self.backend.has_values(id) {
            return Err(DefinitionFault::HasValues { what: FILL_VALUE });
        }
        self.draft.change_options(id, |options| options.fill = Fill::Value(values))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Whoever wants to know whether it succeeded closes.
        let _ = self.close();
    }
}

/// Rounds numbers where they stand; those that are the fill value stay.
fn quantize<T: Float + bytemuck::Pod>(
    quantization: Quantization,
    elements: &mut [u8],
    stated_fill: Option<&Values>,
    default_fill: T,
) {
    let stated = stated_fill.and_then(|fill| fill.as_slice::<T>()?.first().copied());
    let mut numbers: Vec<T> = bytemuck::pod_collect_to_vec(elements);
    quantization.apply(&mut numbers, stated.unwrap_or(default_fill));
    elements.copy_from_slice(bytemuck::cast_slice(&numbers));
}
