//! Chunks on their last step: those that are ready together get their space together, and go to
//! the file with as few calls as can be.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, PoisonError};

use super::partial::{Partial, Waiting};
use super::table::{ChunkTable, OldPlace};
use super::{Allocate, Target};
use crate::error::Result;
use crate::plan::layout::ChunkPlace;

/// Stored chunks that are to be written.
#[derive(Default)]
pub(super) struct Batch {
    /// The stored bytes of chunks that are not somewhere else, one after the other.
    bytes: Vec<u8>,
    /// How many of them are in use; what is behind them is memory for more.
    used: usize,
    /// Chunks that have waited, and wait on if they cannot be written.
    waited: Vec<Waiting>,
    /// Coordinates of one chunk after the other.
    coordinates: Vec<u64>,
    chunks: Vec<Ready>,
    old: Vec<Option<OldPlace>>,
    /// Pieces of the file that they were given: address and bytes.
    pieces: Vec<(u64, u64)>,
    ends: Vec<u64>,
}

/// One chunk of a batch.
struct Ready {
    memory: Memory,
    /// Where in that memory its stored bytes begin.
    start: usize,
    len: usize,
    filter_mask: u32,
    /// Where in the file it goes.
    address: u64,
}

/// Where stored bytes are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Memory {
    Batch,
    Caller,
    Waited(usize),
}

/// What a batch is written to.
pub(super) struct Destination<'d> {
    pub(super) target: &'d Target,
    pub(super) table: &'d ChunkTable,
    /// Chunks along each axis of the variable as it is now.
    pub(super) grid: &'d [u64],
    /// Bytes of the caller's that chunks were taken from as they are.
    pub(super) caller: &'d [u8],
    pub(super) turn: Turn<'d>,
}

/// When a batch gets its space: in an order that does not depend on threads, so that what lies together in the array
/// lies together in the file, and the same calls make the same file.
#[derive(Clone, Copy)]
pub(super) enum Turn<'t> {
    /// At that place among the batches of its call, after all who are in line.
    Of(&'t Turns, usize),
    /// Now, as its turn in the line has come.
    InLine,
}

/// Whose turn it is among workers that count their work up from 0, one after the other.
#[derive(Default)]
pub(super) struct Turns {
    state: Mutex<TurnState>,
    changed: Condvar,
    /// What the workers do not need any more, by turn: address and bytes. It is free when all are done, as what one
    /// gives back while others take space is theirs by chance.
    left: Mutex<BTreeMap<usize, Vec<(u64, u64)>>>,
}

#[derive(Default)]
struct TurnState {
    next: usize,
    /// How many wait: waking nobody is a call to the system too.
    waiting: usize,
    /// A worker failed, and will not have its turn.
    is_over: bool,
}

impl Turns {
    /// Does `work` when all turns before this one have been taken, or when order no longer matters.
    fn take<R>(&self, turn: usize, work: impl FnOnce() -> R) -> R {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while state.next < turn && !state.is_over {
            state.waiting += 1;
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.waiting -= 1;
        }
        let done = work();
        state.next = state.next.max(turn + 1);
        if state.waiting > 0 {
            self.changed.notify_all();
        }
        done
    }

    /// Gives back what the workers left: all of them are done.
    pub(super) fn give_back(self, space: &dyn Allocate) {
        let left = self.left.into_inner().unwrap_or_else(PoisonError::into_inner);
        for (address, bytes) in left.into_values().flatten() {
            space.free(address, bytes);
        }
    }

    /// Does `work`; where it fails, nobody waits any more.
    pub(super) fn guard<R>(&self, work: impl FnOnce() -> Result<R>) -> Result<R> {
        /// Also where it panics.
        struct End<'t>(&'t Turns);
        impl Drop for End<'_> {
            fn drop(&mut self) {
                self.0.state.lock().unwrap_or_else(PoisonError::into_inner).is_over = true;
                self.0.changed.notify_all();
            }
        }
        let end = End(self);
        let done = work()?;
        std::mem::forget(end);
        Ok(done)
    }
}

impl Destination<'_> {
    /// Gives back bytes of the file that a batch does not need any more.
    fn leave(&self, address: u64, bytes: u64) {
        match self.turn {
            Turn::Of(turns, turn) => {
                let mut left = turns.left.lock().unwrap_or_else(PoisonError::into_inner);
                left.entry(turn).or_default().push((address, bytes));
            }
            Turn::InLine => self.target.space.free(address, bytes),
        }
    }
}

impl Batch {
    /// Memory held, in bytes.
    pub(super) fn allocated_bytes(&self) -> usize {
        self.bytes.capacity()
            + self.coordinates.capacity() * size_of::<u64>()
            + self.chunks.capacity() * size_of::<Ready>()
            + self.old.capacity() * size_of::<Option<OldPlace>>()
            + self.pieces.capacity() * size_of::<(u64, u64)>()
            + self.ends.capacity() * size_of::<u64>()
    }

    /// Begins anew.
    pub(super) fn clear(&mut self) {
        self.used = 0;
        self.waited.clear();
        self.coordinates.clear();
        self.chunks.clear();
    }

    /// Adds a chunk of `len` bytes as they are stored, and gives the memory for them.
    pub(super) fn add(&mut self, coordinates: &[u64], len: usize, filter_mask: u32) -> &mut [u8] {
        let start = self.used;
        self.used += len;
        if self.bytes.len() < self.used {
            self.bytes.resize(self.used, 0);
        }
        self.push(coordinates, Memory::Batch, start, len, filter_mask);
        &mut self.bytes[start..start + len]
    }

    /// Adds a chunk as it is stored; leaves some other memory in `stored`. A first one is not copied: large
    /// chunks have a batch for themselves.
    pub(super) fn add_stored(
        &mut self,
        coordinates: &[u64],
        stored: &mut Vec<u8>,
        filter_mask: u32,
    ) {
        let len = stored.len();
        if self.used > 0 {
            self.add(coordinates, len, filter_mask).copy_from_slice(stored);
            return;
        }
        std::mem::swap(&mut self.bytes, stored);
        self.used = len;
        self.push(coordinates, Memory::Batch, 0, len, filter_mask);
    }

    /// Adds a chunk whose stored bytes are `len` of the caller's, from `start`.
    pub(super) fn add_callers(&mut self, coordinates: &[u64], start: usize, len: usize) {
        self.push(coordinates, Memory::Caller, start, len, 0);
    }

    /// Adds a chunk that has waited, whose stored bytes are those of its elements.
    pub(super) fn add_waited(&mut self, coordinates: Box<[u64]>, partial: Partial) {
        let memory = Memory::Waited(self.waited.len());
        self.push(&coordinates, memory, 0, partial.bytes.len(), 0);
        self.waited.push((coordinates, partial));
    }

    /// Keeps a chunk that has waited, and was added already, until all are written.
    pub(super) fn keep_waited(&mut self, coordinates: Box<[u64]>, partial: Partial) {
        self.waited.push((coordinates, partial));
    }

    /// The chunks that have waited, written or not.
    pub(super) fn take_waited(&mut self) -> impl Iterator<Item = Waiting> {
        self.waited.drain(..)
    }

    fn push(
        &mut self,
        coordinates: &[u64],
        memory: Memory,
        start: usize,
        len: usize,
        filter_mask: u32,
    ) {
        self.coordinates.extend_from_slice(coordinates);
        self.chunks.push(Ready { memory, start, len, filter_mask, address: 0 });
    }

    /// Writes all chunks, enters them into the table and gives back the space they had before.
    /// A chunk of the last commit goes to new space, one that is in none may stay where it is.
    pub(super) fn write(&mut self, to: &Destination<'_>) -> Result<()> {
        if self.chunks.is_empty() {
            if let Turn::Of(turns, turn) = to.turn {
                turns.take(turn, || ());
            }
            return Ok(());
        }
        let rank = self.coordinates.len() / self.chunks.len();
        let coordinates = self.coordinates.chunks_exact(rank.max(1));
        to.table.old_places(coordinates.clone(), &mut self.old)?;
        match to.turn {
            Turn::Of(turns, turn) => turns.take(turn, || {
                to.target.space.settle();
                self.give_space(to.target);
            }),
            Turn::InLine => self.give_space(to.target),
        }
        if let Err(error) = self.write_runs(to) {
            for &(address, bytes) in &self.pieces {
                to.leave(address, bytes);
            }
            return Err(error);
        }
        let coordinates = self.coordinates.chunks_exact(rank.max(1));
        let places = self.chunks.iter().map(|chunk| ChunkPlace {
            address: chunk.address,
            stored_bytes: chunk.len as u64,
            filter_mask: chunk.filter_mask,
        });
        to.table.put(to.grid, coordinates.zip(places));
        for (chunk, old) in self.chunks.iter().zip(&self.old) {
            let Some(OldPlace { place, .. }) = old else { continue };
            // What stayed where it was needs its first bytes still.
            let kept = if place.address == chunk.address { chunk.len as u64 } else { 0 };
            if place.stored_bytes > kept {
                to.leave(place.address + kept, place.stored_bytes - kept);
            }
        }
        Ok(())
    }

    /// Gives every chunk its address: those that need new space lie one after the other, in one piece
    /// where there is room for it.
    fn give_space(&mut self, target: &Target) {
        self.pieces.clear();
        let mut homeless = Vec::new();
        for (chunk, old) in self.chunks.iter_mut().zip(&self.old) {
            match old.filter(|old| old.is_fresh && old.place.stored_bytes >= chunk.len as u64) {
                Some(old) => chunk.address = old.place.address,
                None => homeless.push(chunk),
            }
        }
        let mut homeless = &mut homeless[..];
        while !homeless.is_empty() {
            self.ends.clear();
            let mut end = 0u64;
            for chunk in &mut *homeless {
                let len = chunk.len as u64;
                let multiple = target.space.alignment(len);
                chunk.address = end.checked_next_multiple_of(multiple).unwrap_or(end);
                end = chunk.address + len;
                self.ends.push(end);
            }
            let (first, count) = target.space.allocate_first(&self.ends);
            let (placed, rest) = homeless.split_at_mut(count);
            placed.iter_mut().for_each(|chunk| chunk.address += first);
            self.pieces.push((first, self.ends[count - 1]));
            homeless = rest;
        }
    }

    /// Writes chunks that are neighbours both in memory and in the file with one call.
    fn write_runs(&self, to: &Destination<'_>) -> Result<()> {
        let mut chunks = self.chunks.iter().peekable();
        while let Some(first) = chunks.next() {
            let mut len = first.len;
            while let Some(next) = chunks.peek()
                && next.memory == first.memory
                && next.start == first.start + len
                && next.address == first.address + len as u64
            {
                len += next.len;
                chunks.next();
            }
            let memory = match first.memory {
                Memory::Batch => &self.bytes,
                Memory::Caller => to.caller,
                Memory::Waited(index) => &self.waited[index].1.bytes,
            };
            to.target.write_at(first.address, &memory[first.start..first.start + len])?;
        }
        Ok(())
    }
}
