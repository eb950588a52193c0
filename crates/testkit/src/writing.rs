//! Storages that are written: that fail when told to, and that tell what a crash would leave.

use std::io;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use isotach::storage::{GrowingMemory, Storage, WritableStorage};

use crate::random::Random;

/// How a storage fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// No space is left (`ENOSPC`).
    DiskFull,
    /// The device is broken (`EIO`).
    Broken,
}

/// Bytes that take only so many writes, or bytes, until told otherwise.
pub struct FailingWrites {
    memory: GrowingMemory,
    limit: Mutex<Limit>,
}

#[derive(Debug, Clone, Copy)]
struct Limit {
    writes: u64,
    bytes: u64,
    fault: Fault,
}

impl FailingWrites {
    /// A storage that begins as `bytes` and does not fail yet.
    pub fn new(bytes: Vec<u8>) -> Self {
        let limit = Limit { writes: u64::MAX, bytes: u64::MAX, fault: Fault::Broken };
        Self { memory: GrowingMemory::new(bytes), limit: Mutex::new(limit) }
    }

    /// From now on `count` calls of `write_at`, `set_len` and `sync` succeed.
    pub fn fail_after_writes(&self, count: u64, fault: Fault) {
        *self.limit() = Limit { writes: count, bytes: u64::MAX, fault };
    }

    /// From now on `count` bytes are taken. The write that has more leaves those that fit.
    pub fn fail_after_bytes(&self, count: u64, fault: Fault) {
        *self.limit() = Limit { writes: u64::MAX, bytes: count, fault };
    }

    /// What is in it; it is empty from now on.
    pub fn take_bytes(&self) -> Vec<u8> {
        self.memory.take_bytes()
    }

    fn limit(&self) -> MutexGuard<'_, Limit> {
        lock(&self.limit)
    }

    /// How many of `bytes` may be taken by the next call, and how it fails afterwards.
    fn spend(&self, bytes: u64) -> (u64, io::Result<()>) {
        let mut limit = self.limit();
        let taken = if limit.writes == 0 { 0 } else { bytes.min(limit.bytes) };
        let fails = limit.writes == 0 || taken < bytes;
        limit.writes = limit.writes.saturating_sub(1);
        limit.bytes -= taken;
        (taken, if fails { Err(limit.fault.into()) } else { Ok(()) })
    }
}

impl From<Fault> for io::Error {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::DiskFull => io::ErrorKind::StorageFull.into(),
            Fault::Broken => Self::other("input/output error"),
        }
    }
}

impl Storage for FailingWrites {
    fn len(&self) -> io::Result<u64> {
        self.memory.len()
    }

    fn read_at<'into>(
        &self,
        offset: u64,
        into: &'into mut [MaybeUninit<u8>],
    ) -> io::Result<&'into mut [u8]> {
        self.memory.read_at(offset, into)
    }
}

impl WritableStorage for FailingWrites {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let (taken, outcome) = self.spend(bytes.len() as u64);
        if taken > 0 {
            self.memory.write_at(offset, &bytes[..taken as usize])?;
        }
        outcome
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.spend(0).1?;
        self.memory.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        self.spend(0).1
    }
}

/// Bytes that remember how they came to be; see [`Recording`].
pub struct RecordingStorage {
    memory: GrowingMemory,
    recording: Mutex<Recording>,
}

/// Everything that a storage was told to do, and so what any crash would leave of it.
#[derive(Debug, Clone, Default)]
pub struct Recording {
    initial: Vec<u8>,
    events: Vec<Event>,
}

/// One call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// `write_at`.
    Write { offset: u64, bytes: Vec<u8> },
    /// `set_len`.
    SetLen(u64),
    /// `sync`.
    Sync,
}

impl RecordingStorage {
    /// A storage that begins as `bytes`.
    pub fn new(bytes: Vec<u8>) -> Self {
        let recording = Recording { initial: bytes.clone(), events: Vec::new() };
        Self { memory: GrowingMemory::new(bytes), recording: Mutex::new(recording) }
    }

    /// How many calls there were: the count of events after which something is known to be done.
    pub fn event_count(&self) -> usize {
        lock(&self.recording).events.len()
    }

    /// What was recorded so far.
    pub fn recording(&self) -> Recording {
        lock(&self.recording).clone()
    }

    fn record(&self, event: Event, apply: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        // Held while it is applied: the order of the record is that of what was done.
        let mut recording = lock(&self.recording);
        recording.events.push(event);
        apply()
    }
}

impl Storage for RecordingStorage {
    fn len(&self) -> io::Result<u64> {
        self.memory.len()
    }

    fn read_at<'into>(
        &self,
        offset: u64,
        into: &'into mut [MaybeUninit<u8>],
    ) -> io::Result<&'into mut [u8]> {
        self.memory.read_at(offset, into)
    }
}

impl WritableStorage for RecordingStorage {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let event = Event::Write { offset, bytes: bytes.to_vec() };
        self.record(event, || self.memory.write_at(offset, bytes))
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.record(Event::SetLen(len), || self.memory.set_len(len))
    }

    fn sync(&self) -> io::Result<()> {
        self.record(Event::Sync, || Ok(()))
    }
}

/// What a crash left.
#[derive(Debug, Clone)]
pub struct CrashImage {
    /// How many events were over; the one after them may have been under way.
    pub events: usize,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// What is written at once or not at all when a process is killed: a page of the kernel's cache.
const PAGE: usize = 4096;
/// What is written at once or not at all when power is lost: a sector.
const SECTOR: usize = 512;

impl Recording {
    /// The calls in their order.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// Calls `see` with what is left when the process is killed after each event, and after each
    /// page of each write: writes are done in their order, and none is lost.
    pub fn killed_images(&self, mut see: impl FnMut(&CrashImage)) {
        let mut image = CrashImage { events: 0, bytes: self.initial.clone() };
        see(&image);
        for (index, event) in self.events.iter().enumerate() {
            image.events = index;
            if let Event::Write { offset, bytes } = event {
                for piece in pieces(*offset, bytes.len(), PAGE) {
                    let is_last = piece.end == bytes.len();
                    write(&mut image.bytes, *offset, bytes, piece);
                    if !is_last {
                        see(&image);
                    }
                }
            }
            apply(&mut image.bytes, event);
            image.events = index + 1;
            see(&image);
        }
    }

    /// Calls `see` with what may be left when power is lost after each event, `count` times each:
    /// of what was not synced, any writes are lost, whole or by sectors; `seed` says which.
    pub fn power_loss_images(&self, seed: u64, count: usize, mut see: impl FnMut(&CrashImage)) {
        let mut random = Random::new(seed);
        let mut synced = self.initial.clone();
        let mut first_unsynced = 0;
        for events in 0..=self.events.len() {
            for _ in 0..count {
                let mut bytes = synced.clone();
                // How much is lost differs as much as what is lost.
                let lost_of_8 = random.below(9);
                for event in &self.events[first_unsynced..events] {
                    lose(&mut random, lost_of_8, &mut bytes, event);
                }
                see(&CrashImage { events, bytes });
            }
            if self.events.get(events) == Some(&Event::Sync) {
                for event in &self.events[first_unsynced..events] {
                    apply(&mut synced, event);
                }
                first_unsynced = events + 1;
            }
        }
    }
}

/// Does what is left of `event` where about `lost_of_8` of 8 writes, or sectors, are lost.
fn lose(random: &mut Random, lost_of_8: u64, image: &mut Vec<u8>, event: &Event) {
    let is_torn = random.below(2) == 0;
    match event {
        Event::Write { offset, bytes } if is_torn => {
            for piece in pieces(*offset, bytes.len(), SECTOR) {
                if random.below(8) >= lost_of_8 {
                    write(image, *offset, bytes, piece);
                } else if random.below(2) == 0 {
                    // The file became longer, what should be there did not arrive.
                    let end = *offset as usize + piece.end;
                    image.resize(image.len().max(end), 0);
                }
            }
        }
        event if random.below(8) >= lost_of_8 => apply(image, event),
        _ => {}
    }
}

fn apply(image: &mut Vec<u8>, event: &Event) {
    match event {
        Event::Write { offset, bytes } => write(image, *offset, bytes, 0..bytes.len()),
        Event::SetLen(len) => image.resize(*len as usize, 0),
        Event::Sync => {}
    }
}

/// Writes the part `piece` of `bytes`, the whole of which belong at `offset`.
fn write(image: &mut Vec<u8>, offset: u64, bytes: &[u8], piece: Range<usize>) {
    let start = offset as usize + piece.start;
    let end = offset as usize + piece.end;
    image.resize(image.len().max(end), 0);
    image[start..end].copy_from_slice(&bytes[piece]);
}

/// The parts of `len` bytes at `offset` that lie in one block of `size` each.
fn pieces(offset: u64, len: usize, size: usize) -> impl Iterator<Item = Range<usize>> {
    let first = size - offset as usize % size;
    let starts = std::iter::once(0).chain((first..).step_by(size)).take_while(move |&at| at < len);
    starts.map(move |start| {
        let end = if start == 0 { first } else { start + size };
        start..end.min(len)
    })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_takes_what_fits() {
        let storage = FailingWrites::new(vec![]);
        storage.fail_after_bytes(5, Fault::DiskFull);
        storage.write_at(0, b"abc").unwrap();
        let error = storage.write_at(3, b"def").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        storage.fail_after_writes(1, Fault::Broken);
        storage.write_at(5, b"fg").unwrap();
        assert!(storage.sync().is_err() && storage.set_len(0).is_err());
        assert_eq!(storage.take_bytes(), b"abcdefg");
    }

    #[test]
    fn a_killed_process_leaves_what_it_wrote_in_pages() {
        let storage = RecordingStorage::new(vec![]);
        storage.write_at(PAGE as u64 - 1, &vec![1; PAGE + 2]).unwrap();
        storage.sync().unwrap();
        storage.set_len(1).unwrap();
        let mut seen = Vec::new();
        storage.recording().killed_images(|image| seen.push((image.events, image.bytes.len())));
        let (one, two, three) = (PAGE, 2 * PAGE, 2 * PAGE + 1);
        assert_eq!(seen, [(0, 0), (0, one), (0, two), (1, three), (2, three), (3, 1)]);
    }

    #[test]
    fn what_was_synced_survives_and_the_rest_may_not() {
        let storage = RecordingStorage::new(vec![]);
        storage.write_at(0, &[1; 100]).unwrap();
        storage.sync().unwrap();
        storage.write_at(100, &[2; 1000]).unwrap();
        storage.write_at(0, &[3; 100]).unwrap();
        let mut seen = std::collections::BTreeSet::new();
        storage.recording().power_loss_images(1, 1000, |image| {
            if image.events == 4 {
                assert!(image.bytes[..100] == [1; 100] || image.bytes[..100] == [3; 100]);
                seen.insert((image.bytes[0], image.bytes.get(100).copied(), image.bytes.len()));
            }
        });
        for expected in [(1, None, 100), (3, None, 100), (1, Some(2), 1100), (3, Some(2), 512)] {
            assert!(seen.contains(&expected), "{expected:?} in {seen:?}");
        }
    }
}
