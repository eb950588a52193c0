//! The storage that is written, with the errors that name it.

use std::collections::VecDeque;
use std::mem::MaybeUninit;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use isotach_format::classic::{Moved, Overwrite, Redo};

use super::held::Held;
use crate::error::{Error, ErrorKind, Result};
use crate::storage::interrupted::{Change, Interrupted};
use crate::storage::{Durability, WritableStorage, storage_error, uninit};

/// Bytes that are copied at a time.
const COPY_BYTES: u64 = 4 << 20;
/// Bytes that are looked at, or gathered, at a time.
const WINDOW_BYTES: u64 = 1 << 20;
/// What is shorter goes to a record together with others.
const GATHERED_BYTES: usize = 64 << 10;

/// See the module.
pub(super) struct Target {
    pub(super) file: Arc<str>,
    /// The bytes as this writer has them.
    pub(super) storage: Arc<dyn WritableStorage>,
    /// The same, by what it adds to those of the last commit.
    pub(super) held: Arc<Held>,
    durability: Durability,
    commits: Mutex<Commits>,
    /// Where the values of a file would end that is shorter than its header says: see [`Self::is_short`].
    claimed_len: Option<u64>,
}

#[derive(Default)]
struct Commits {
    /// What takes the place of what is there, one after the other. Nothing else is written before that is over.
    unfinished: VecDeque<Step>,
    /// Set when the storage could not say that it keeps what it took: it would say so when it is
    /// asked again, whatever it has lost.
    lost: Option<Error>,
}

struct Step {
    redo: Redo,
    /// The same as it stands behind the file: what is before the bytes of the changes, and what is behind them.
    record: (Vec<u8>, Vec<u8>),
    is_recorded: bool,
}

impl Step {
    /// Bytes of the record.
    fn record_len(&self) -> u64 {
        let (front, trailer) = &self.record;
        let changes = self.redo.changes.iter().map(|change| change.after().len());
        (front.len() + trailer.len() + changes.sum::<usize>()) as u64
    }
}

impl Target {
    pub(super) fn new(
        file: Arc<str>,
        storage: Arc<dyn WritableStorage>,
        durability: Durability,
    ) -> Self {
        let held = Arc::new(Held::new(storage));
        let storage = Arc::clone(&held) as _;
        Self { file, storage, held, durability, commits: Mutex::default(), claimed_len: None }
    }

    /// Says that values of the file would end at `len`, and are not there.
    pub(super) fn claims(&mut self, len: u64) {
        self.claimed_len = Some(len);
    }

    /// Whether values are missing at the end of the file that was opened. It is not made any longer: what is
    /// missing would become zeros then, and how much that is only the header says.
    pub(super) fn is_short(&self) -> bool {
        self.claimed_len.is_some()
    }

    /// That no values are missing that would have to be moved, or written beyond.
    pub(super) fn check_whole(&self) -> Result<()> {
        let Some(needed_bytes) = self.claimed_len else { return Ok(()) };
        let available_bytes = self.len()?;
        let kind = isotach_format::ErrorKind::Truncated { needed_bytes, available_bytes };
        let structure = "values of a file that is to be written";
        let fault = isotach_format::Error { structure, address: available_bytes, kind };
        Err(Error::new(&self.file, ErrorKind::Structure(fault)))
    }

    /// That there is room for so many bytes more.
    pub(super) fn check_room(&self, bytes: u64) -> Result<()> {
        let limit = self.storage.room();
        if bytes <= limit {
            return Ok(());
        }
        let what = "bytes that the file needs";
        Err(Error::new(&self.file, ErrorKind::Limit { what, value: bytes, limit }))
    }

    /// Writes values. What of the last commit is not over is finished first.
    pub(super) fn write(&self, address: u64, bytes: &[u8]) -> Result<()> {
        self.finish()?;
        self.write_now(address, bytes)
    }

    /// Has bytes of the last commit be others with the next one.
    pub(super) fn hold(&self, address: u64, bytes: &[u8]) -> Result<()> {
        let is_absent =
            || Ok(self.is_short() && address.saturating_add(bytes.len() as u64) > self.len()?);
        // Nobody else looks into memory, which may have no room for a record.
        if self.storage.largest_len() < u64::MAX || is_absent()? {
            return self.write(address, bytes);
        }
        self.held.put(address, bytes);
        Ok(())
    }

    /// What [`Self::hold`] has taken, and the file does not have.
    pub(super) fn held_changes(&self) -> Result<Vec<Overwrite>> {
        let mut window = Vec::new();
        let mut change = |(start, after): (u64, Arc<Vec<u8>>)| {
            let (end, mut at, mut before) = (start + after.len() as u64, start, Vec::new());
            while at < end {
                let length = Overwrite::part(at, WINDOW_BYTES).min(end - at);
                uninit::read_vec(self.held.committed(), at, length as usize, &mut window)
                    .map_err(|source| storage_error(&self.file, at, length, source))?;
                Overwrite::sum(at, &window, &mut before);
                at += length;
            }
            Ok(Overwrite::new(start, after, before))
        };
        self.held.pieces().into_iter().map(&mut change).collect()
    }

    fn write_now(&self, address: u64, bytes: &[u8]) -> Result<()> {
        if self.is_short() && address > self.len()? {
            self.check_whole()?;
        }
        let written = self.storage.write_at(address, bytes);
        written.map_err(|source| self.write_error(address, bytes.len() as u64, source))
    }

    pub(super) fn len(&self) -> Result<u64> {
        self.storage.len().map_err(|source| storage_error(&self.file, 0, 0, source))
    }

    /// That it can be so long: what cannot be finished is not begun, however many records a file says it has.
    pub(super) fn check_len(&self, len: u64) -> Result<()> {
        let limit = self.storage.largest_len().min(i64::MAX as u64);
        if len <= limit {
            return Ok(());
        }
        Err(Error::new(
            &self.file,
            ErrorKind::Limit { what: "bytes of the file", value: len, limit },
        ))
    }

    pub(super) fn set_len(&self, len: u64) -> Result<()> {
        self.storage.set_len(len).map_err(|source| self.write_error(len, 0, source))
    }

    /// The end of a step of a commit: where the durability asks for it, everything written before
    /// is on the medium.
    pub(super) fn step(&self) -> Result<()> {
        self.step_of(&mut self.commits())
    }

    fn step_of(&self, commits: &mut Commits) -> Result<()> {
        if self.durability == Durability::Process {
            return Ok(());
        }
        self.storage.sync().map_err(|source| {
            let error = self.write_error(0, 0, source);
            commits.lost = Some(error.clone());
            error
        })
    }

    /// The bytes at `address`; zeros where the storage has ended.
    pub(super) fn read_with_zeros<'into>(
        &self,
        address: u64,
        into: &'into mut [MaybeUninit<u8>],
    ) -> Result<&'into mut [u8]> {
        let length = into.len() as u64;
        uninit::read_with_zeros(&*self.storage, address, into)
            .map_err(|source| storage_error(&self.file, address, length, source))
    }

    /// The same without what waits for the next commit.
    pub(super) fn read_committed_with_zeros<'into>(
        &self,
        address: u64,
        into: &'into mut [MaybeUninit<u8>],
    ) -> Result<&'into mut [u8]> {
        let length = into.len() as u64;
        uninit::read_with_zeros(self.held.committed(), address, into)
            .map_err(|source| storage_error(&self.file, address, length, source))
    }

    /// Has [`Self::finish`] put a header in the place of the one that is there, after those that came
    /// before: see [`Redo`]. Whenever that is interrupted, [`resumed`] finishes it or finds the
    /// old state.
    pub(super) fn switch_next(&self, redo: Redo) {
        let record = redo.encode();
        self.commits().unfinished.push_back(Step { redo, record, is_recorded: false });
    }

    /// Finishes what [`Self::switch_next`] has begun; where that fails, the next call goes on.
    pub(super) fn finish(&self) -> Result<()> {
        let mut commits = self.commits();
        if let Some(lost) = &commits.lost {
            return Err(lost.clone());
        }
        while let Some(mut step) = commits.unfinished.pop_front() {
            self.storage.publish();
            let recorded = if step.is_recorded { Ok(()) } else { self.record(&mut commits, &step) };
            step.is_recorded = recorded.is_ok();
            let done = recorded.and_then(|()| self.redo(&mut commits, &step));
            if let Err(error) = done {
                commits.unfinished.push_front(step);
                return Err(error);
            }
        }
        Ok(())
    }

    fn record(&self, commits: &mut Commits, Step { redo, record, .. }: &Step) -> Result<()> {
        self.step_of(commits)?;
        // Behind everything that is, or will be: the header can be longer than the file was.
        let mut address = self.len()?.max(redo.file_len).max(redo.header.len() as u64);
        let (front, trailer) = record;
        let changes = redo.changes.iter().map(|change| &change.after()[..]);
        let mut gathered = Vec::new();
        for part in [&front[..]].into_iter().chain(changes).chain([&trailer[..]]) {
            if part.len() < GATHERED_BYTES && gathered.len() + part.len() <= WINDOW_BYTES as usize {
                gathered.extend_from_slice(part);
                continue;
            }
            for part in [&gathered[..], part] {
                self.write_now(address, part)?;
                address += part.len() as u64;
            }
            gathered.clear();
        }
        self.write_now(address, &gathered)?;
        self.step_of(commits)
    }

    fn redo(&self, commits: &mut Commits, step: &Step) -> Result<()> {
        let redo = &step.redo;
        if !redo.changes.is_empty() {
            let noted = self.storage.note_overwriting();
            noted.map_err(|source| self.write_error(0, 0, source))?;
        }
        // Whoever opens the file from now on finds the record, until it is cut off.
        self.storage.publish_changes();
        let Moved { from, to, length_bytes } = redo.moved;
        let mut window = Vec::new();
        window.resize_with(length_bytes.min(COPY_BYTES) as usize, MaybeUninit::uninit);
        for done in (0..length_bytes).step_by(COPY_BYTES as usize) {
            let part = (length_bytes - done).min(COPY_BYTES) as usize;
            let bytes = self.read_with_zeros(from + done, &mut window[..part])?;
            self.write_now(to + done, bytes)?;
        }
        for change in &redo.changes {
            self.write_now(change.address(), change.after())?;
        }
        self.step_of(commits)?;
        self.write_now(0, &redo.header)?;
        self.step_of(commits)?;
        self.cut_record(step)?;
        // Those who found it read what it refers to: they are told before that is cut off.
        self.storage.publish_changes();
        self.set_len(redo.file_len)?;
        self.step_of(commits)
    }

    /// Takes the record away, if it stands at the very end, and nothing else.
    fn cut_record(&self, step: &Step) -> Result<()> {
        // It has the checksums.
        let trailer = &step.record.1[..];
        let (len, mut memory) = (self.len()?, vec![MaybeUninit::uninit(); trailer.len()]);
        let address = len.saturating_sub(trailer.len() as u64);
        if self.read_committed_with_zeros(address, &mut memory)? != trailer {
            return Ok(());
        }
        self.set_len(len.saturating_sub(step.record_len()))
    }

    fn commits(&self) -> MutexGuard<'_, Commits> {
        self.commits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_error(&self, address: u64, length_bytes: u64, source: std::io::Error) -> Error {
        let source = Arc::new(source);
        Error::new(&self.file, ErrorKind::Write { address, length_bytes, source })
    }
}

/// `storage` as an earlier writer has committed it, who was interrupted: its first write finishes that.
pub(super) fn resumed(
    file: &Arc<str>,
    storage: Arc<dyn WritableStorage>,
    durability: Durability,
) -> Result<Arc<dyn WritableStorage>> {
    let Some(redo) = crate::mapping::classic::pending_redo(file, &*storage)? else {
        return Ok(storage);
    };
    let Redo { header, changes, moved: Moved { from, to, length_bytes }, file_len } = redo;
    let copied = Change::Copy { from, to, length_bytes };
    let overwritten = |change: Overwrite| Change::Bytes(change.address(), change.after().to_vec());
    let changes = std::iter::once(copied)
        .chain(changes.into_iter().map(overwritten))
        .chain([Change::Bytes(0, header)])
        .collect();
    Ok(Arc::new(Interrupted::new(storage, changes, file_len, durability)))
}
