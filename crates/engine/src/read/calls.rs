//! Calls of several threads that read and write values of one file: which of them meet, and who begins anew.
//!
//! ```text
//! write: a reader who is in turn there? wait -> disturb those who read there -> grow -> put -> ended
//!                                                  rows before these still under way? wait -/
//! read:  a write under way there? wait -> look up, read -> disturbed? begin anew; in turn after some times
//! ```
//! So a read of one variable sees each write call whole or not at all, readers keep writers waiting only when
//! writers have disturbed them again and again, and a length is seen when the rows before it are there. Where "there"
//! is, the bounds of the selections say: two that are nested in each other meet, even if they have no element in common.
//!
//! Nobody waits in a circle. Who is inside a call, as a storage that calls back is, waits for nobody; a write that has
//! begun waits for no reader; and a write that has ended waits only for those that grew a dimension before it.

use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, PoisonError};

use isotach_model::selection::Selection;

use crate::draft::{DimensionId, VariableId};
use crate::sync::primitives::{AtomicU64, Condvar, Mutex, MutexGuard, ThreadId, this_thread};

/// A reader that was disturbed so often comes in turn.
const FREE_TRIES: u32 = 3;

/// The calls that are under way in one file; see the module. Files that are only read have none.
#[derive(Clone, Default)]
pub(crate) struct Calls(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    ended: Condvar,
    /// Writes that began, and once more those that ended.
    writes: AtomicU64,
}

#[derive(Default)]
struct State {
    under_way: Vec<Call>,
    /// The number of the last call.
    last: u64,
    /// Threads that wait for the end of a call.
    waiting: u32,
}

struct Call {
    number: u64,
    thread: ThreadId,
    variable: VariableId,
    bounds: Bounds,
    kind: Kind,
}

enum Kind {
    Read {
        is_in_turn: bool,
        is_disturbed: bool,
    },
    Write {
        /// Its values are there, but not those of rows before.
        has_ended: bool,
        /// How long dimensions were that it made longer.
        grown: Vec<(DimensionId, u64)>,
    },
}

/// The first and the last position along each axis; `None` where nothing is selected.
struct Bounds(Option<Vec<(u64, u64)>>);

/// A read that is under way.
pub(crate) struct Reading {
    calls: Calls,
    number: u64,
    writes: u64,
}

/// A write that is under way.
pub(crate) struct Writing {
    calls: Calls,
    number: u64,
    /// How long dimensions must be for its values to be within the shape.
    reach: Vec<(DimensionId, u64)>,
}

impl Calls {
    /// A count that changes when a write begins or ends.
    pub(crate) fn writes(&self) -> u64 {
        self.0.writes.load(SeqCst)
    }

    /// Begins to read, for the `tries`-th time after the first.
    pub(crate) fn read(&self, variable: VariableId, selection: &Selection, tries: u32) -> Reading {
        let (is_in_turn, thread) = (tries >= FREE_TRIES, this_thread());
        let bounds = Bounds::of(selection);
        let kind = Kind::Read { is_in_turn, is_disturbed: false };
        let mut state = self.lock();
        let may_wait = !state.is_inside(thread, 0);
        let number = if is_in_turn {
            // Before it waits: writes that come now come later.
            let number = state.begin(variable, bounds, kind);
            drop(self.wait(state, |state| may_wait && state.is_written(number, thread)));
            number
        } else {
            state = self.wait(state, |state| {
                may_wait && state.others(thread).any(|call| call.is_write_in(variable, &bounds))
            });
            state.begin(variable, bounds, kind)
        };
        Reading { calls: self.clone(), number, writes: self.writes() }
    }

    /// Begins to write.
    pub(crate) fn write(&self, variable: VariableId, selection: &Selection) -> Writing {
        let bounds = Bounds::of(selection);
        let (state, thread) = (self.lock(), this_thread());
        let may_wait = !state.is_inside(thread, 0);
        let mut state = self.wait(state, |state| {
            may_wait && state.others(thread).any(|call| call.is_turn_in(variable, &bounds))
        });
        state.disturb(variable, &bounds);
        let kind = Kind::Write { has_ended: false, grown: Vec::new() };
        let number = state.begin(variable, bounds, kind);
        self.0.writes.fetch_add(1, SeqCst);
        Writing { calls: self.clone(), number, reach: Vec::new() }
    }

    /// How long a dimension of this length is for those who read: rows that are being appended come with their values.
    pub(crate) fn visible(&self, dimension: DimensionId, len: u64) -> u64 {
        let state = self.lock();
        let before = state.under_way.iter().filter_map(|call| call.len_before(dimension));
        before.fold(len, u64::min)
    }

    fn wait<'s>(
        &'s self,
        mut state: MutexGuard<'s, State>,
        is_to_wait: impl Fn(&State) -> bool,
    ) -> MutexGuard<'s, State> {
        while is_to_wait(&state) {
            state.waiting += 1;
            state = self.0.ended.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.waiting -= 1;
        }
        state
    }

    /// Something ended that others may wait for.
    fn tell(&self, state: MutexGuard<'_, State>) {
        let is_waited_for = state.waiting > 0;
        drop(state);
        if is_waited_for {
            self.0.ended.notify_all();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn begin(&mut self, variable: VariableId, bounds: Bounds, kind: Kind) -> u64 {
        self.last += 1;
        let (number, thread) = (self.last, this_thread());
        self.under_way.push(Call { number, thread, variable, bounds, kind });
        number
    }

    fn end(&mut self, number: u64) {
        self.under_way.retain(|call| call.number != number);
    }

    fn get(&mut self, number: u64) -> Option<&mut Call> {
        self.under_way.iter_mut().find(|call| call.number == number)
    }

    fn others(&self, thread: ThreadId) -> impl Iterator<Item = &Call> {
        self.under_way.iter().filter(move |call| call.thread != thread)
    }

    /// Whether this thread is in a call beside that of this number. Others may wait for that one.
    fn is_inside(&self, thread: ThreadId, number: u64) -> bool {
        self.under_way.iter().any(|call| call.thread == thread && call.number != number)
    }

    /// Whether another thread writes where this call reads.
    fn is_written(&self, number: u64, thread: ThreadId) -> bool {
        let call = self.under_way.iter().find(|call| call.number == number);
        call.is_some_and(|Call { variable, bounds, .. }| {
            self.others(thread).any(|call| call.is_write_in(*variable, bounds))
        })
    }

    /// Tells those who read there that they have to begin anew.
    fn disturb(&mut self, variable: VariableId, bounds: &Bounds) {
        for call in &mut self.under_way {
            if call.is_in(variable, bounds)
                && let Kind::Read { is_disturbed, .. } = &mut call.kind
            {
                *is_disturbed = true;
            }
        }
    }

    /// Whether another thread has made a dimension longer where this one has written, and rows before that are
    /// not there yet.
    fn is_ahead(&self, reach: &[(DimensionId, u64)], thread: ThreadId) -> bool {
        let is_before = |call: &Call| {
            reach.iter().any(|&(dimension, end)| {
                call.len_before(dimension).is_some_and(|before| before < end)
            })
        };
        self.others(thread).any(is_before)
    }
}

impl Call {
    fn is_in(&self, variable: VariableId, bounds: &Bounds) -> bool {
        self.variable == variable && self.bounds.meet(bounds)
    }

    fn is_write_in(&self, variable: VariableId, bounds: &Bounds) -> bool {
        matches!(self.kind, Kind::Write { has_ended: false, .. }) && self.is_in(variable, bounds)
    }

    fn is_turn_in(&self, variable: VariableId, bounds: &Bounds) -> bool {
        matches!(self.kind, Kind::Read { is_in_turn: true, .. }) && self.is_in(variable, bounds)
    }

    /// How long the dimension was before this call made it longer.
    fn len_before(&self, dimension: DimensionId) -> Option<u64> {
        let Kind::Write { grown, .. } = &self.kind else { return None };
        grown.iter().find(|(grown, _)| *grown == dimension).map(|(_, before)| *before)
    }
}

impl Bounds {
    fn of(selection: &Selection) -> Self {
        Self(selection.axes.iter().map(|axis| axis.bounds()).collect())
    }

    fn meet(&self, other: &Self) -> bool {
        let (Some(these), Some(those)) = (&self.0, &other.0) else { return false };
        these.iter().zip(those).all(|(this, that)| this.0 <= that.1 && that.0 <= this.1)
    }
}

impl Reading {
    /// Whether no write was there meanwhile, or none but this thread's own.
    pub(crate) fn is_whole(&self) -> bool {
        let mut state = self.calls.lock();
        state.get(self.number).is_some_and(|call| match call.kind {
            Kind::Read { is_in_turn, is_disturbed } => is_in_turn || !is_disturbed,
            Kind::Write { .. } => false,
        })
    }

    /// [`Calls::writes`] when it began.
    pub(crate) fn writes(&self) -> u64 {
        self.writes
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        let mut state = self.calls.lock();
        state.end(self.number);
        self.calls.tell(state);
    }
}

impl Writing {
    /// A dimension of this length is about to become longer.
    pub(crate) fn grows(&self, dimension: DimensionId, len: u64) {
        if let Some(Call { kind: Kind::Write { grown, .. }, .. }) =
            self.calls.lock().get(self.number)
        {
            grown.push((dimension, len));
        }
    }

    /// For its values to be within the shape, dimensions must be so long.
    pub(crate) fn reaches(&mut self, reach: Vec<(DimensionId, u64)>) {
        self.reach = reach;
    }
}

impl Drop for Writing {
    /// The values are there, or never will be. Comes back when those who come next see them.
    fn drop(&mut self) {
        self.calls.0.writes.fetch_add(1, SeqCst);
        let (mut state, thread) = (self.calls.lock(), this_thread());
        let may_wait = !state.is_inside(thread, self.number);
        if may_wait && state.is_ahead(&self.reach, thread) {
            if let Some(Call { kind: Kind::Write { has_ended, .. }, .. }) = state.get(self.number) {
                *has_ended = true;
            }
            self.calls.0.ended.notify_all();
            state = self.calls.wait(state, |state| state.is_ahead(&self.reach, thread));
        }
        state.end(self.number);
        self.calls.tell(state);
    }
}
