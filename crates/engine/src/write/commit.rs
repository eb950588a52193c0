//! Makes a new state of the file the one that everybody finds, at once or not at all.
//!
//! ```text
//! 1 new data, new structures   to fresh space: the caller's part
//! 2 redo record                behind the new end of the file, where nobody looks yet
//! 3 root                       the superblock with the new end: from now on the record is looked at
//! 4 changes in place           in the order given
//! 5 record                     erased
//! ```
//! Step 3 is one small write within a sector: before it the last state is found, after it the next
//! one. Where the end stays what it was, the record is looked at as soon as it is whole, and whole is
//! the commit. Between any two writes of step 4 the file is as long as its superblock says, so
//! programs that know nothing of the record find every structure that they are pointed to.
//!
//! Readers tell states apart by generations ([`WritableStorage::publish`]): there is a new one before step 2, before
//! step 4, before step 5, and at the end. Under the first of them the last state is found or the next one, and nothing
//! changes in place; under the second the next one, with the record, which hides what changes in place; under the
//! third nothing changes in place any more. So who read something while it was changed, and finds no record later, is
//! told that he has read another state.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use isotach_format::redo::{self, Change, Record};

use super::recovery;
use super::space::Space;
use crate::error::{Error, ErrorKind, Result};
use crate::storage::interrupted::{self, Interrupted};
use crate::storage::{Durability, WritableStorage, storage_error, uninit, write_error};

/// Changes that touch are made by one write up to this size, as long as they lie within one page:
/// the kernel writes a page at once or not at all where a process is killed.
const PAGE_BYTES: u64 = 4096;

/// What one commit changes in the midst of the file, in addresses of the file.
#[derive(Debug, Clone, Default)]
pub struct Commit {
    /// In their order; `None` for those that became part of a later one.
    changes: Vec<Option<(u64, Vec<u8>)>>,
    /// Start of each change that is there -> its place in `changes`.
    by_start: BTreeMap<u64, usize>,
}

impl Commit {
    /// No change.
    pub fn new() -> Self {
        Self::default()
    }

    /// True where there is no change.
    pub fn is_empty(&self) -> bool {
        self.by_start.is_empty()
    }

    /// `bytes` are to stand at `address`, where the last commit has bytes in use. Changes are made
    /// in the order in which they come here; one that overlaps earlier ones is made one with them,
    /// at its own turn.
    pub fn change(&mut self, address: u64, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let mut whole = (address, bytes.to_vec());
        while let Some(index) = self.joined(&whole) {
            if let Some(earlier) = self.changes[index].take() {
                self.by_start.remove(&earlier.0);
                whole = over(earlier, whole);
            }
        }
        self.by_start.insert(whole.0, self.changes.len());
        self.changes.push(Some(whole));
    }

    /// An earlier change that has to be, or may be, one with `change`.
    fn joined(&self, change: &(u64, Vec<u8>)) -> Option<usize> {
        let (start, end) = (change.0, end_of(change));
        let below = self.by_start.range(..=end).rev();
        let mut near = below.filter_map(|(_, &index)| Some((index, self.changes[index].as_ref()?)));
        near.by_ref().take_while(|(_, earlier)| end_of(earlier) >= start).find_map(
            |(index, earlier)| {
                let overlaps = earlier.0 < end && end_of(earlier) > start;
                let first_page = earlier.0.min(start) / PAGE_BYTES;
                let last_page = (end_of(earlier).max(end) - 1) / PAGE_BYTES;
                let is_last = index + 1 == self.changes.len();
                (overlaps || is_last && first_page == last_page).then_some(index)
            },
        )
    }
}

fn end_of((address, bytes): &(u64, Vec<u8>)) -> u64 {
    address.saturating_add(bytes.len() as u64)
}

/// `earlier` and `later`, which overlap or touch, as one change.
fn over(earlier: (u64, Vec<u8>), later: (u64, Vec<u8>)) -> (u64, Vec<u8>) {
    let start = earlier.0.min(later.0);
    let len = end_of(&earlier).max(end_of(&later)) - start;
    let mut bytes = vec![0; len as usize];
    for (address, part) in [earlier, later] {
        bytes[(address - start) as usize..][..part.len()].copy_from_slice(&part);
    }
    (start, bytes)
}

/// Why a commit is not over.
#[derive(Debug, Clone)]
pub enum CommitError {
    /// It did not begin: the last commit is what everybody finds, and the changes are the caller's.
    NotBegun(Error),
    /// It has begun, and may be what others find already. The changes are taken over: the next
    /// commit makes them first, or whoever opens the file.
    Unfinished(Error),
}

impl CommitError {
    /// What went wrong.
    pub fn into_error(self) -> Error {
        match self {
            Self::NotBegun(error) | Self::Unfinished(error) => error,
        }
    }
}

/// Makes the commits of one file that is open for writing.
pub struct Committer {
    file: Arc<str>,
    storage: Arc<dyn WritableStorage>,
    base: u64,
    durability: Durability,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The end of the file in the last commit.
    end: u64,
    unfinished: Option<Unfinished>,
    /// Bytes of the storage when it was opened, as long as there was no commit since: it is left with as many.
    opened_len: Option<u64>,
    /// Set when the storage could not say that it keeps what it took. It may have lost anything,
    /// and would say that all is well when it is asked again.
    lost: Option<Error>,
}

/// A commit from the moment where others may find it.
struct Unfinished {
    end: u64,
    root: Option<Change>,
    changes: Vec<Change>,
    /// Empty where nothing changes in place.
    record: Vec<u8>,
    /// True where something failed: every step is done again.
    again: bool,
}

impl Unfinished {
    /// Whether others find anything else by it.
    fn changes_anything(&self) -> bool {
        self.root.is_some() || !self.changes.is_empty()
    }
}

impl Committer {
    /// Takes over `storage`, which nobody else writes, for the file that begins at `base` and whose
    /// end-of-file address, counted from there, is `end`: 0 for a file that is new. That changes nothing in it:
    /// what an earlier writer had committed and not made is made before the first write, and until then laid over
    /// what is read of [`Self::storage`]. What else lies behind the end stays where it is.
    ///
    /// # Errors
    /// The storage cannot be read, or is shorter than the file; see also [`recovery::find`].
    pub fn open(
        file: &Arc<str>,
        storage: Arc<dyn WritableStorage>,
        base: u64,
        end: u64,
        durability: Durability,
    ) -> Result<Self> {
        let file_end = base.saturating_add(end);
        let len = storage.len().map_err(|source| storage_error(file, 0, 0, source))?;
        if end > 0 && len < file_end {
            let (needed_bytes, available_bytes) = (file_end, len);
            let kind = isotach_format::ErrorKind::Truncated { needed_bytes, available_bytes };
            let error = isotach_format::Error { structure: "file to be written", address: 0, kind };
            return Err(Error::new(file, ErrorKind::Structure(error)));
        }
        let record = recovery::find(file, storage.as_ref(), base, end)?;
        let opened_len = if record.is_some() { file_end } else { len };
        let storage: Arc<dyn WritableStorage> = match record {
            Some(Record { changes, .. }) => {
                let change = |change: Change| {
                    interrupted::Change::Bytes(base + change.address, change.after)
                };
                let changes = changes.into_iter().map(change).collect();
                Arc::new(Interrupted::new(storage, changes, file_end, durability))
            }
            None => storage,
        };
        let state = Mutex::new(State { end, opened_len: Some(opened_len), ..State::default() });
        Ok(Self { file: Arc::clone(file), storage, base, durability, state })
    }

    /// What is read and written from now on.
    pub fn storage(&self) -> Arc<dyn WritableStorage> {
        Arc::clone(&self.storage)
    }

    /// Where new space begins: behind the end of the file, and behind whatever else stood there when it was opened.
    pub fn first_free(&self) -> u64 {
        let state = self.lock();
        state.end.max(state.opened_len.unwrap_or(0).saturating_sub(self.base))
    }

    /// Makes `commit` and everything that was written to fresh `space` the state of the file.
    /// `root` is the structure at `root_address` from which the end of the file and all others are
    /// found, given that end; its length does not depend on it. It is called twice.
    ///
    /// # Errors
    /// See [`CommitError`].
    pub fn apply(
        &self,
        space: &Space,
        commit: &Commit,
        root_address: u64,
        root: impl Fn(u64) -> Result<Vec<u8>>,
    ) -> std::result::Result<(), CommitError> {
        let mut state = self.lock();
        self.finish(&mut state, space).map_err(CommitError::NotBegun)?;
        space.look_at_tail();
        let changes = self.changes(commit).map_err(CommitError::NotBegun)?;
        let root_len = root(space.end()).map_err(CommitError::NotBegun)?.len();
        let record_len = self.record_len(&changes, root_len).map_err(CommitError::NotBegun)?;
        let end = space.begin_commit(record_len);
        let prepared = root(end).and_then(|root| self.prepare(end, root_address, root, changes));
        let mut prepared = match prepared {
            Ok(prepared) => prepared,
            Err(error) => {
                space.abandon_commit();
                return Err(CommitError::NotBegun(error));
            }
        };
        if prepared.changes_anything() {
            self.storage.give_time();
            self.storage.publish();
        }
        if let Err(error) = self.write_ahead(&mut state, &prepared) {
            // Where the end stays the same, the record counts as soon as it is whole.
            let is_known =
                end != state.end || self.erase(end).and_then(|()| self.sync(&mut state)).is_ok();
            if is_known {
                space.abandon_commit();
                return Err(CommitError::NotBegun(error));
            }
            prepared.again = true;
            state.unfinished = Some(prepared);
            return Err(CommitError::Unfinished(error));
        }
        state.unfinished = Some(prepared);
        self.finish(&mut state, space).map_err(CommitError::Unfinished)
    }

    /// Finishes the last commit, where that has begun and is not over.
    ///
    /// # Errors
    /// The storage fails.
    pub fn finish_last(&self, space: &Space) -> Result<()> {
        self.finish(&mut self.lock(), space)
    }

    /// Comes back when values that were overwritten where they are survive what they are to survive.
    ///
    /// # Errors
    /// The storage fails.
    pub fn sync_values(&self) -> Result<()> {
        self.sync(&mut self.lock())
    }

    /// Ends the writing: frees what waited and no reader holds, and cuts off the tail that nobody uses. `root` as for
    /// [`Committer::apply`], of the last commit. Where there was none, the file is left as it was.
    ///
    /// # Errors
    /// See [`CommitError`].
    pub fn close(
        &self,
        space: &Space,
        root_address: u64,
        root: impl Fn(u64) -> Result<Vec<u8>>,
    ) -> std::result::Result<(), CommitError> {
        self.finish(&mut self.lock(), space).map_err(CommitError::NotBegun)?;
        if self.lock().opened_len.is_some() {
            return self.cut_fresh().map_err(CommitError::NotBegun);
        }
        space.free_waiting(self.storage.generation());
        self.apply(space, &Commit::new(), root_address, root)?;
        let mut state = self.lock();
        self.cut(state.end).and_then(|()| self.sync(&mut state)).map_err(CommitError::NotBegun)
    }

    /// Ends the writing without a commit: what was written to fresh space since the last one is cut
    /// off. A commit that others may have seen is finished first; where that fails, what is needed
    /// for it stays, and whoever opens the file next finishes it.
    ///
    /// # Errors
    /// The storage fails.
    pub fn discard(&self, space: &Space) -> Result<()> {
        self.finish_last(space)?;
        self.cut_fresh()
    }

    /// Cuts off what was written since the last commit.
    fn cut_fresh(&self) -> Result<()> {
        let state = self.lock();
        match state.opened_len {
            Some(opened_len) => self.cut_at(opened_len),
            None => self.cut(state.end),
        }
    }

    /// The changes of `commit` that change anything, with the bytes before them.
    fn changes(&self, commit: &Commit) -> Result<Vec<Change>> {
        let mut changes = Vec::with_capacity(commit.by_start.len());
        for (address, after) in commit.changes.iter().flatten() {
            let before = self.read(*address, after.len())?;
            if before != *after {
                changes.push(Change { address: *address, before, after: after.clone() });
            }
        }
        Ok(changes)
    }

    /// Bytes of the record of `changes` and the root; 0 where nothing changes but the root.
    fn record_len(&self, changes: &[Change], root_len: usize) -> Result<u64> {
        if changes.is_empty() {
            return Ok(0);
        }
        let mut lengths: Vec<usize> = changes.iter().map(|change| change.after.len()).collect();
        lengths.push(root_len);
        Record::encoded_len(&lengths).ok_or_else(|| {
            let value = changes.iter().map(|change| change.after.len() as u64).sum();
            let limit = isotach_format::limits::REDO_RECORD_BYTES / 2;
            Error::new(
                &self.file,
                ErrorKind::Limit { what: "a commit's changes in bytes", value, limit },
            )
        })
    }

    /// The commit as it will be done.
    fn prepare(
        &self,
        end: u64,
        root_address: u64,
        root: Vec<u8>,
        changes: Vec<Change>,
    ) -> Result<Unfinished> {
        let len = self.storage.len().map_err(|source| storage_error(&self.file, 0, 0, source))?;
        let is_there = self.offset(root_address).saturating_add(root.len() as u64) <= len;
        let before = if is_there { self.read(root_address, root.len())? } else { Vec::new() };
        let root =
            (before != root).then_some(Change { address: root_address, before, after: root });
        let record = if changes.is_empty() {
            Vec::new()
        } else {
            let changes = root.iter().chain(&changes).cloned().collect();
            Record { end, changes }.encode()
        };
        Ok(Unfinished { end, root, changes, record, again: false })
    }

    /// Step 2, and makes sure that it is behind step 1 and before step 3.
    fn write_ahead(&self, state: &mut State, commit: &Unfinished) -> Result<()> {
        if commit.record.is_empty() {
            self.erase(commit.end)?;
        } else {
            if commit.end == state.end {
                self.sync(state)?;
            }
            self.write(commit.end, &commit.record)?;
        }
        self.sync(state)
    }

    /// Steps 3 to 5 of the commit that has begun, if there is one.
    fn finish(&self, state: &mut State, space: &Space) -> Result<()> {
        if let Some(lost) = &state.lost {
            return Err(lost.clone());
        }
        let Some(mut commit) = state.unfinished.take() else { return Ok(()) };
        let outcome = self.finish_commit(state, &commit);
        if outcome.is_ok() {
            state.end = commit.end;
            state.opened_len = None;
            if commit.changes_anything() {
                self.storage.publish();
            }
            space.finish_commit(self.storage.generation());
        } else {
            commit.again = true;
            state.unfinished = Some(commit);
        }
        outcome
    }

    fn finish_commit(&self, state: &mut State, commit: &Unfinished) -> Result<()> {
        if commit.again {
            self.storage.publish();
            self.write_ahead(state, commit)?;
        }
        if let Some(root) = &commit.root {
            self.make(root)?;
            self.sync(state)?;
        }
        if commit.changes.is_empty() {
            return Ok(());
        }
        self.storage.publish();
        for change in &commit.changes {
            self.make(change)?;
        }
        self.sync(state)?;
        self.storage.publish();
        self.erase(commit.end)
    }

    /// Sees to it that there is no record at the address `end`, and that the file reaches it: others
    /// refuse a file that is shorter than its superblock says.
    fn erase(&self, end: u64) -> Result<()> {
        let offset = self.offset(end);
        let fail = |source| write_error(&self.file, offset, 0, source);
        let len = self.storage.len().map_err(fail)?;
        if len < offset {
            return self.storage.set_len(offset).map_err(fail);
        }
        match (len - offset).min(redo::SIGNATURE.len() as u64) {
            0 => Ok(()),
            there => self.write(end, &[0; redo::SIGNATURE.len()][..there as usize]),
        }
    }

    /// Cuts off what lies behind the address `end`.
    fn cut(&self, end: u64) -> Result<()> {
        self.cut_at(self.offset(end))
    }

    fn cut_at(&self, offset: u64) -> Result<()> {
        let fail = |source| write_error(&self.file, offset, 0, source);
        if self.storage.len().map_err(fail)? > offset {
            self.storage.set_len(offset).map_err(fail)?;
        }
        Ok(())
    }

    fn make(&self, change: &Change) -> Result<()> {
        self.write(change.address, &change.after)
    }

    fn write(&self, address: u64, bytes: &[u8]) -> Result<()> {
        let offset = self.offset(address);
        let outcome = self.storage.write_at(offset, bytes);
        outcome.map_err(|source| write_error(&self.file, offset, bytes.len() as u64, source))
    }

    fn read(&self, address: u64, count: usize) -> Result<Vec<u8>> {
        let (offset, mut bytes) = (self.offset(address), Vec::new());
        uninit::read_vec(self.storage.as_ref(), offset, count, &mut bytes)
            .map_err(|source| storage_error(&self.file, offset, count as u64, source))?;
        Ok(bytes)
    }

    /// Waits until what was written survives what it is to survive.
    fn sync(&self, state: &mut State) -> Result<()> {
        if self.durability == Durability::Process {
            return Ok(());
        }
        self.storage.sync().map_err(|source| {
            let error = write_error(&self.file, 0, 0, source);
            state.lost = Some(error.clone());
            error
        })
    }

    /// Offset in the storage of an address of the file.
    fn offset(&self, address: u64) -> u64 {
        self.base.saturating_add(address)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
