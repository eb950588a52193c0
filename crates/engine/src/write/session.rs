//! A file that is open for writing: its draft, its backend, and who may use them when.
//!
//! Whoever writes values or looks at the draft shares it; whoever changes the draft or commits has it
//! alone. So a commit never meets a half-written array.

mod values;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use isotach_model::quantize::{Float, Quantization};
use isotach_model::{Atomic, DataType, Values, fill};

use super::Backend;
use super::clock::Clock;
use super::home::Home;
use super::told::ToTell;
use crate::draft::{AttributeOwner, Defined, DimensionId, Draft, FILL_VALUE, Item, VariableId};
use crate::error::{DefinitionFault, Error, ErrorKind, Result, User};
use crate::file::Format;
use crate::process;
use crate::read::calls::Calls;
use crate::read::live::{Moves, Source, Watch};
use crate::read::{Array, Live};
use crate::variable::StorageInfo;
use crate::writer::{Fill, HeaderRoom, VariableOptions};

/// See the module.
pub(crate) struct Session {
    shared: Arc<Shared>,
    /// The process that opened the file. One that it forks has the same memory, but not the file.
    process: u32,
}

/// What the thread that commits by itself knows, too.
struct Shared {
    name: Arc<str>,
    state: RwLock<State>,
    /// Whether others may have it open before it is closed.
    is_seen: bool,
    /// `None` where only the caller commits.
    clock: Option<Arc<Clock>>,
    /// Why the last commit that nobody asked for failed, until somebody is told.
    failed: ToTell,
    /// Whether only the caller commits for the time being.
    holds: AtomicBool,
    /// How often values of the file moved; once more when it is closed.
    moves: Moves,
    /// Those that read and write values.
    calls: Calls,
}

/// A variable as its readers know it.
struct Seen {
    shared: Arc<Shared>,
    process: u32,
    id: VariableId,
}

struct State {
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
        let is_seen = home.is_seen();
        let interval = commit_interval.filter(|_| is_seen);
        let clock = interval.map(|interval| Arc::new(Clock::new(interval)));
        let moves = backend.moves();
        let state = RwLock::new(State { draft, backend, home, is_closed: false });
        let shared = Arc::new(Shared {
            name,
            state,
            is_seen,
            clock,
            failed: ToTell::default(),
            holds: AtomicBool::new(false),
            moves,
            calls: Calls::default(),
        });
        Self { shared, process: process::generation() }
    }

    /// The name it was opened by.
    pub(crate) fn name(&self) -> &Arc<str> {
        &self.shared.name
    }

    /// What `look` finds in the draft.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&Draft) -> Defined<T>) -> Result<T> {
        look(&self.shared()?.draft).map_err(|fault| self.fault(fault))
    }

    /// How long a dimension of this length is for those who read.
    pub(crate) fn visible(&self, dimension: DimensionId, len: u64) -> u64 {
        self.shared.calls.visible(dimension, len)
    }

    /// Changes the draft.
    pub(crate) fn change<T>(&self, change: impl FnOnce(&mut Draft) -> Defined<T>) -> Result<T> {
        change(&mut self.to_change()?.draft).map_err(|fault| self.fault(fault))
    }

    /// Changes the attributes of a group or variable.
    pub(crate) fn change_attributes(
        &self,
        owner: AttributeOwner,
        change: impl FnOnce(&mut Draft) -> Defined<()>,
    ) -> Result<()> {
        let mut state = self.to_change()?;
        state.check_attributes(owner, 0)?;
        change(&mut state.draft).map_err(|fault| self.fault(fault))
    }

    /// Sets an attribute; `_FillValue` of a variable is its fill value too.
    pub(crate) fn set_attribute(
        &self,
        owner: AttributeOwner,
        name: &str,
        data_type: DataType,
        values: Values,
    ) -> Result<()> {
        let mut state = self.to_change()?;
        let bytes = (data_type.layout().size as u64).saturating_mul(values.len() as u64);
        state.check_attributes(owner, bytes)?;
        if let (AttributeOwner::Variable(id), FILL_VALUE) = (owner, name) {
            let id = state.draft.owner(id);
            let set = state.set_fill(id, (data_type.clone(), values.clone()));
            let is_hdf5 = matches!(state.draft.format, Format::NetCdf4 | Format::NetCdf4Classic);
            match set {
                // In a classic file that is an attribute as any other, and not the fill value; nor does it say that
                // anything is filled.
                Err(DefinitionFault::FillValue) if !is_hdf5 => {}
                set => set.map_err(|fault| self.fault(fault))?,
            }
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
        let mut state = self.to_change()?;
        let (id, what) = (state.draft.owner(id), "storage");
        if state.backend.has_values(id) {
            return Err(self.fault(DefinitionFault::HasValues { what }));
        }
        state.draft.change_options(id, change).map_err(|fault| self.fault(fault))
    }

    /// The variable's elements, for reading.
    pub(crate) fn array(&self, id: VariableId) -> Result<Array> {
        Seen { shared: Arc::clone(&self.shared), process: self.process, id }.array()
    }

    /// How the variable is stored.
    pub(crate) fn storage_info(&self, id: VariableId) -> Result<StorageInfo> {
        let state = self.shared()?;
        state.backend.storage_info(&state.draft, state.draft.owner(id))
    }

    /// The same, after it is settled how the chunks are cut.
    pub(crate) fn settled_storage_info(&self, id: VariableId) -> Result<StorageInfo> {
        let mut state = self.alone()?;
        let State { draft, backend, .. } = &mut *state;
        let owner = draft.owner(id);
        backend.tell_chunks(draft, owner)?;
        backend.storage_info(draft, owner)
    }

    /// Ends a round of definitions.
    pub(crate) fn end_definitions(&self, room: HeaderRoom) -> Result<()> {
        let mut state = self.alone()?;
        let State { draft, backend, .. } = &mut *state;
        draft.settle();
        backend.end_definitions(draft, room)
    }

    /// Says whether only the caller commits from now on.
    pub(crate) fn hold_commits(&self, holds: bool) {
        self.shared.holds.store(holds, Relaxed);
    }

    /// Makes what was done since the last commit a part of the file.
    pub(crate) fn commit(&self) -> Result<()> {
        let mut state = self.alone()?;
        self.shared.commit(&mut state, false)?;
        state.tell_lost()
    }

    /// Commits and closes; closing twice is no error. Where that fails, what came after the last
    /// commit is lost.
    pub(crate) fn close(&self) -> Result<()> {
        let Ok(mut state) = self.alone() else { return Ok(()) };
        let committed = self.shared.commit(&mut state, true);
        self.end(&mut state);
        let told = state.tell_lost();
        let closed = committed.and_then(|()| state.backend.close());
        if closed.is_err() {
            // The error that is told is the first one.
            let _ = state.discard();
        }
        closed?;
        state.home.publish()?;
        told
    }

    /// Closes without a commit.
    pub(crate) fn discard(&self) -> Result<()> {
        let Ok(mut state) = self.alone() else { return Ok(()) };
        self.end(&mut state);
        state.discard()
    }

    fn end(&self, state: &mut State) {
        state.is_closed = true;
        // What is cut off, or freed for good, is read by nobody.
        self.shared.moves.begin();
        if let Some(clock) = &self.shared.clock {
            clock.end();
        }
    }

    /// The bytes of a file in memory, once.
    pub(crate) fn take_bytes(&self) -> Option<Vec<u8>> {
        self.check_process().ok()?;
        self.shared.alone().home.take_bytes()
    }

    fn shared(&self) -> Result<RwLockReadGuard<'_, State>> {
        self.check_process()?;
        self.shared.open()
    }

    fn alone(&self) -> Result<RwLockWriteGuard<'_, State>> {
        self.check_process()?;
        let state = self.shared.alone();
        if state.is_closed { Err(self.error(ErrorKind::Closed)) } else { Ok(state) }
    }

    /// The state for writing values.
    fn to_write(&self) -> Result<RwLockReadGuard<'_, State>> {
        self.tell_failure()?;
        self.shared()
    }

    /// The state for a change that the next commit brings to the file.
    fn to_change(&self) -> Result<RwLockWriteGuard<'_, State>> {
        self.tell_failure()?;
        let state = self.alone()?;
        self.start_clock();
        Ok(state)
    }

    /// What is changed from now on is due after the interval. The caller has the state, so that no
    /// commit comes between this and the change.
    fn start_clock(&self) {
        let Some(clock) = &self.shared.clock else { return };
        clock.start(|| {
            let shared = Arc::downgrade(&self.shared);
            Box::new(move || match shared.upgrade() {
                Some(shared) => shared.commit_by_itself(),
                None => false,
            })
        });
    }

    /// The error of the last commit that nobody asked for, once.
    fn tell_failure(&self) -> Result<()> {
        self.check_process()?;
        match self.shared.failed.take() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// Locks that another thread holds while a process forks are held for ever in the new one.
    fn check_process(&self) -> Result<()> {
        self.shared.check_process(self.process)
    }

    fn fault(&self, fault: DefinitionFault) -> Error {
        self.error(ErrorKind::Definition(fault))
    }

    fn error(&self, kind: ErrorKind) -> Error {
        Error::new(&self.shared.name, kind)
    }
}

impl Source for Seen {
    fn is_ours(&self) -> bool {
        self.shared.check_process(self.process).is_ok()
    }

    fn array(&self) -> Result<Array> {
        self.shared.check_process(self.process)?;
        let state = self.shared.open()?;
        // Before the backend, which may move values for this: then it is looked at once more.
        let Shared { moves, calls, .. } = &*self.shared;
        let counts = (moves.count(), calls.writes());
        let variable = state.draft.owner(self.id);
        let mut array = state.backend.array(&state.draft, variable)?;
        let found = state.draft.variable(variable);
        for (len, &dimension) in
            array.shape.iter_mut().zip(found.iter().flat_map(|found| &found.dimensions))
        {
            *len = calls.visible(dimension, *len);
        }
        let source = Arc::new(Self { shared: Arc::clone(&self.shared), ..*self });
        let (moves, calls) = (moves.clone(), calls.clone());
        array.live = Live::new(Watch { source, variable, moves, calls, counts });
        Ok(array)
    }
}

impl Shared {
    /// That the file was opened by this process.
    fn check_process(&self, opened_by: u32) -> Result<()> {
        if process::generation() == opened_by {
            return Ok(());
        }
        Err(Error::new(&self.name, ErrorKind::InUse { by: User::ParentProcess }))
    }

    /// The state of a file that was not closed.
    fn open(&self) -> Result<RwLockReadGuard<'_, State>> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        match state.is_closed {
            true => Err(Error::new(&self.name, ErrorKind::Closed)),
            false => Ok(state),
        }
    }

    fn alone(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn commit(&self, state: &mut State, is_last: bool) -> Result<()> {
        state.draft.give_places();
        let committed = state.backend.commit(&mut state.draft, is_last);
        committed.map_err(|error| state.not_committed(&self.name, error))?;
        state.draft.mark_committed();
        state.home.keep();
        if let Some(clock) = &self.clock {
            clock.stop();
        }
        // What it was about is in the file now.
        self.failed.take();
        Ok(())
    }

    /// Whether commits that the caller did not ask for are welcome, or seen by nobody.
    fn commits_by_itself(&self) -> bool {
        !self.holds.load(Relaxed) && (self.clock.is_some() || !self.is_seen)
    }

    /// Commits for a writer who does not; false where he has closed the file.
    fn commit_by_itself(&self) -> bool {
        let mut state = self.alone();
        if state.is_closed {
            return false;
        }
        if self.holds.load(Relaxed) {
            return true;
        }
        if let Err(error) = self.commit(&mut state, false).and_then(|()| state.tell_lost()) {
            self.failed.put(error);
        }
        true
    }
}

impl State {
    /// The error of a commit that failed with this one.
    fn not_committed(&self, file: &Arc<str>, error: Error) -> Error {
        let mut changed: BTreeSet<VariableId> = self.backend.put_into().into_iter().collect();
        changed.extend(self.draft.touched().iter().filter_map(|item| match item {
            Item::Variable(id) => Some(*id),
            _ => None,
        }));
        let path = |id| {
            let variable = self.draft.variable(id).ok()?;
            Some(self.draft.group(variable.group).ok()?.path_of(&variable.name))
        };
        let changed = changed.into_iter().filter_map(path).collect();
        Error::new(file, ErrorKind::NotCommitted { changed, source: Box::new(error) })
    }

    /// The error that some values are lost, where a commit that was made had to do without them.
    fn tell_lost(&mut self) -> Result<()> {
        self.backend.take_lost().map_or(Ok(()), Err)
    }

    /// Leaves the file as the last commit has it.
    fn discard(&mut self) -> Result<()> {
        let discarded = self.backend.discard();
        self.home.discard();
        discarded
    }

    fn check_attributes(&self, owner: AttributeOwner, bytes: u64) -> Result<()> {
        let owner = match owner {
            AttributeOwner::Variable(id) => AttributeOwner::Variable(self.draft.owner(id)),
            group => group,
        };
        self.backend.check_attributes(owner, bytes)
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
        let is_hdf5 = matches!(self.draft.format, Format::NetCdf4 | Format::NetCdf4Classic);
        self.draft.change_options(id, |options| {
            if is_hdf5 || options.fill != Fill::None {
                options.fill = Fill::Value(values);
            }
        })
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if self.check_process().is_err() {
            // The file, its lock and what stands beside it are the other process's.
            std::mem::forget(Arc::clone(&self.shared));
            return;
        }
        // Whoever wants to know whether it succeeded closes. A file that takes the place of another
        // does so only when it is known to be whole.
        let is_beside = self.shared.alone().home.is_beside();
        let _ = if is_beside { self.discard() } else { self.close() };
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
