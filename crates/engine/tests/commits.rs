//! Commits over storage that fails, is killed or loses power: what is found is the last state or the
//! next one, and a record that is stale is left alone.
//!
//! The file is as small as a file can be: a root in its first bytes (the end of the file, the number
//! of the commit), and extents that a model knows.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use isotach::storage::{Durability, GrowingMemory, Memory, Storage, WritableStorage};
use isotach::write::{Commit, CommitError, Committer, Space, recovery};
use isotach::{ErrorKind, Result};
use isotach_format::redo::{Change, Record};
use isotach_testkit::{CrashImage, FailingWrites, Fault, Random, RecordingStorage};

/// Where the file begins in its storage: behind a user block.
const BASE: u64 = 512;
const ROOT_BYTES: u64 = 16;

/// What is in the file: the bytes of each extent.
type Extents = BTreeMap<u64, Vec<u8>>;

/// A writer of such a file.
struct Writer {
    storage: Arc<dyn WritableStorage>,
    committer: Committer,
    space: Space,
    number: u64,
    /// As the last commit left them.
    committed: Extents,
    /// As they will be after the next one.
    extents: Extents,
    commit: Commit,
}

fn name() -> Arc<str> {
    "file".into()
}

fn root(end: u64, number: u64) -> Vec<u8> {
    [end.to_le_bytes(), number.to_le_bytes()].concat()
}

fn bytes_at(storage: &dyn Storage, offset: u64, count: usize) -> Vec<u8> {
    let mut bytes = vec![std::mem::MaybeUninit::uninit(); count];
    storage.read_at(offset, &mut bytes).unwrap().to_vec()
}

/// The end of the file and the number of the commit as the root has them.
fn read_root(storage: &dyn Storage) -> (u64, u64) {
    let bytes = bytes_at(storage, BASE, ROOT_BYTES as usize);
    let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    (number(0), number(8))
}

impl Writer {
    fn new(storage: Arc<dyn WritableStorage>, durability: Durability) -> Self {
        let committer =
            Committer::open(&name(), Arc::clone(&storage), BASE, 0, durability).unwrap();
        let space = Space::new(ROOT_BYTES);
        let (committed, extents) = Default::default();
        let commit = Commit::new();
        Self { storage, committer, space, number: 0, committed, extents, commit }
    }

    fn add(&mut self, bytes: Vec<u8>, alignment: u64) -> u64 {
        let address = self.space.allocate(bytes.len() as u64, alignment);
        self.storage.write_at(BASE + address, &bytes).unwrap();
        self.extents.insert(address, bytes);
        address
    }

    fn remove(&mut self, address: u64) {
        let bytes = self.extents.remove(&address).unwrap();
        self.space.free(address, bytes.len() as u64);
    }

    /// Changes part of an extent of the last commit, or of a new one.
    fn change(&mut self, address: u64, at: usize, bytes: &[u8]) {
        self.extents.get_mut(&address).unwrap()[at..at + bytes.len()].copy_from_slice(bytes);
        if self.committed.contains_key(&address) {
            self.commit.change(address + at as u64, bytes);
        } else {
            self.storage.write_at(BASE + address + at as u64, bytes).unwrap();
        }
    }

    fn try_commit(&mut self) -> std::result::Result<(), CommitError> {
        let number = self.number + 1;
        let root = |end| -> Result<Vec<u8>> { Ok(root(end, number)) };
        let outcome = self.committer.apply(&self.space, &self.commit, 0, root);
        if !matches!(outcome, Err(CommitError::NotBegun(_))) {
            self.commit = Commit::new();
            self.number = number;
            self.committed = self.extents.clone();
        }
        outcome
    }

    fn commit(&mut self) {
        self.try_commit().unwrap();
    }

    fn close(&mut self) {
        let number = self.number;
        self.committer.close(&self.space, 0, |end| Ok(root(end, number))).unwrap();
    }

    /// A random extent of the file.
    fn any(&self, random: &mut Random) -> Option<u64> {
        let count = self.extents.len() as u64;
        (count > 0).then(|| *self.extents.keys().nth(random.below(count) as usize).unwrap())
    }

    /// One transaction of random changes; some change only what is there.
    fn random_changes(&mut self, random: &mut Random) {
        if random.below(3) > 0 {
            for _ in 0..random.below(4) {
                let most = if random.below(8) == 0 { 9000 } else { 300 };
                let len = 1 + random.below(most);
                let bytes = random.bytes(len as usize);
                self.add(bytes, 1 << random.below(4));
            }
            for _ in 0..random.below(4) {
                if let Some(address) = self.any(random) {
                    self.remove(address);
                }
            }
        }
        for _ in 0..random.below(6) {
            let Some(address) = self.any(random) else { continue };
            let len = self.extents[&address].len() as u64;
            let at = random.below(len);
            let count = 1 + random.below(len - at);
            let bytes = random.bytes(count as usize);
            self.change(address, at as usize, &bytes);
        }
        // What was changed and then freed must not be written over who has the place next.
        let kept: Vec<(u64, Vec<u8>)> = self
            .extents
            .iter()
            .filter(|(address, _)| self.committed.contains_key(address))
            .map(|(address, bytes)| (*address, bytes.clone()))
            .collect();
        self.commit = Commit::new();
        for (address, bytes) in kept {
            let before = &self.committed[&address];
            let differs = |at: &usize| before[*at] != bytes[*at];
            let Some(first) = (0..bytes.len()).find(differs) else { continue };
            let last = (0..bytes.len()).rfind(differs).unwrap();
            self.commit.change(address + first as u64, &bytes[first..=last]);
        }
    }
}

/// Checks that `storage`, as a reader finds it, is in the state `extents`.
fn check_extents(storage: &dyn Storage, extents: &Extents, what: &str) {
    for (address, bytes) in extents {
        let found = bytes_at(storage, BASE + address, bytes.len());
        assert!(found == *bytes, "{what}: {} bytes at {address}", bytes.len());
    }
}

/// Checks that the image is one of `states`, by number of commit, for a reader and for a writer: the
/// state's number.
fn check_image(image: &CrashImage, states: &[Extents], durability: Durability) -> u64 {
    let storage: Arc<dyn Storage> = Arc::new(Memory::new(image.bytes.clone()));
    let (end, _) = read_root(storage.as_ref());
    assert!(storage.len().unwrap() >= BASE + end, "shorter than the root says");
    let committed = recovery::lay_over(&name(), &storage, BASE, end).unwrap();
    let found = committed.as_ref().unwrap_or(&storage);
    let (found_end, number) = read_root(found.as_ref());
    assert_eq!(found_end, end);
    let what = format!("after {} events, commit {number}", image.events);
    check_extents(found.as_ref(), &states[number as usize], &what);

    let memory = Arc::new(GrowingMemory::new(image.bytes.clone()));
    let committer = Committer::open(&name(), memory.clone(), BASE, end, durability).unwrap();
    let storage = committer.storage();
    check_extents(storage.as_ref(), &states[number as usize], &what);
    drop(committer);
    assert!(bytes_at(memory.as_ref(), 0, image.bytes.len()) == image.bytes, "opening changed it");
    // The first write finishes what was interrupted.
    storage.write_at(BASE + end, &[]).unwrap();
    assert_eq!(read_root(memory.as_ref()), (end, number));
    check_extents(memory.as_ref(), &states[number as usize], &what);
    number
}

/// The numbers of commits that may be found after `events`: `ends` has how many events there were
/// at the end of each.
fn allowed(ends: &[usize], events: usize) -> std::ops::RangeInclusive<u64> {
    let last = ends.partition_point(|end| *end <= events) as u64;
    last - 1..=last.min(ends.len() as u64 - 1)
}

/// A random run of commits: what storage was told, the states by number, the events at their ends.
fn random_run(
    seed: u64,
    commits: usize,
    durability: Durability,
) -> (Arc<RecordingStorage>, Vec<Extents>, Vec<usize>) {
    let mut random = Random::new(seed);
    let storage = Arc::new(RecordingStorage::new(vec![]));
    let mut writer = Writer::new(storage.clone(), durability);
    let mut states = vec![Extents::new()];
    let mut ends = vec![0];
    for _ in 0..commits {
        writer.random_changes(&mut random);
        writer.commit();
        states.push(writer.committed.clone());
        ends.push(storage.event_count());
        let end = read_root(storage.as_ref()).0;
        let record = recovery::find(&name(), storage.as_ref(), BASE, end).unwrap();
        assert_eq!(record, None, "what is over leaves no record behind");
    }
    writer.close();
    let len = storage.len().unwrap();
    assert_eq!(len, BASE + read_root(storage.as_ref()).0, "nothing is left behind the end");
    (storage, states, ends)
}

/// How many images are of a file: until the first commit there is none.
fn has_file(image: &CrashImage, ends: &[usize]) -> bool {
    image.events >= ends[1]
}

#[test]
fn a_killed_writer_leaves_the_last_or_the_next_state() {
    let (mut points, mut next) = (0, 0);
    for seed in 0..80 {
        let (storage, states, ends) = random_run(seed, 20, Durability::Process);
        storage.recording().killed_images(|image| {
            if has_file(image, &ends) {
                let number = check_image(image, &states, Durability::Process);
                let allowed = allowed(&ends, image.events);
                assert!(allowed.contains(&number), "{seed}: {number} in {allowed:?}");
                points += 1;
                next += u64::from(number == *allowed.end());
            }
        });
    }
    assert!(
        points > 5000 && next > 1000 && points > next + 1000,
        "{points} points, {next} of the next"
    );
}

#[test]
fn a_loss_of_power_leaves_the_last_or_the_next_state() {
    let (mut points, mut next) = (0, 0);
    for seed in 100..112 {
        let (storage, states, ends) = random_run(seed, 14, Durability::Power);
        storage.recording().power_loss_images(seed, 6, |image| {
            if has_file(image, &ends) {
                let number = check_image(image, &states, Durability::Power);
                let allowed = allowed(&ends, image.events);
                assert!(allowed.contains(&number), "{seed}: {number} in {allowed:?}");
                points += 1;
                next += u64::from(number == *allowed.end());
            }
        });
    }
    assert!(
        points > 5000 && next > 500 && points > next + 1000,
        "{points} points, {next} of the next"
    );
}

#[test]
fn a_recovered_file_is_written_on() {
    let (storage, states, ends) = random_run(7, 12, Durability::Process);
    let mut seed = 0;
    storage.recording().killed_images(|image| {
        seed += 1;
        if !has_file(image, &ends) || seed % 7 != 0 {
            return;
        }
        let recording = Arc::new(RecordingStorage::new(image.bytes.clone()));
        let end = read_root(recording.as_ref()).0;
        let process = Durability::Process;
        let committer = Committer::open(&name(), recording.clone(), BASE, end, process).unwrap();
        let number = read_root(recording.as_ref()).1;
        let extents = states[number as usize].clone();
        let mut writer = Writer {
            storage: committer.storage(),
            space: Space::new(committer.first_free()),
            committer,
            number: 0,
            committed: extents.clone(),
            extents: extents.clone(),
            commit: Commit::new(),
        };
        writer.random_changes(&mut Random::new(seed));
        let before = recording.event_count();
        writer.commit();
        let states = [extents, writer.committed.clone()];
        recording.recording().killed_images(|image| {
            let mut image = image.clone();
            if image.events >= before {
                // The states are numbered anew from here.
                let at = BASE as usize + 8;
                let found = u64::from_le_bytes(image.bytes[at..at + 8].try_into().unwrap());
                if found == number {
                    image.bytes[at..at + 8].fill(0);
                }
                check_image(&image, &states, Durability::Process);
            }
        });
    });
}

/// A writer over storage that fails, with two extents committed and changes of both under way; with
/// `grows` there is a new extent too.
fn writer_over(storage: &Arc<FailingWrites>, grows: bool, durability: Durability) -> Writer {
    let mut writer = Writer::new(storage.clone(), durability);
    let first = writer.add(vec![1; 100], 8);
    let second = writer.add(vec![2; 6000], 8);
    writer.commit();
    writer.change(second, 10, &[3; 5000]);
    writer.change(first, 0, &[4; 50]);
    if grows {
        writer.add(vec![5; 100], 1);
    }
    writer
}

#[test]
fn after_a_failure_the_next_commit_makes_up_for_it() {
    let (mut not_begun, mut unfinished) = (0, 0);
    for durability in [Durability::Process, Durability::Power] {
        for (grows, count) in
            [false, true].into_iter().flat_map(|grows| (0..20).map(move |count| (grows, count)))
        {
            let storage = Arc::new(FailingWrites::new(vec![]));
            let mut writer = writer_over(&storage, grows, durability);
            let before = writer.committed.clone();
            let after = writer.extents.clone();
            storage.fail_after_writes(count, Fault::Broken);
            let outcome = writer.try_commit();
            storage.fail_after_writes(u64::MAX, Fault::Broken);
            let bytes = bytes_at(storage.as_ref(), 0, storage.len().unwrap() as usize);
            let image = CrashImage { events: count as usize, bytes };
            let states = [Extents::new(), before, after.clone()];
            let found = check_image(&image, &states, durability);
            match outcome {
                Ok(()) => assert_eq!(found, 2),
                Err(CommitError::NotBegun(_)) => {
                    not_begun += 1;
                    assert_eq!(found, 1);
                }
                Err(CommitError::Unfinished(_)) => unfinished += 1,
            }
            let added = writer.add(vec![6; 300], 1);
            match writer.try_commit() {
                Ok(()) => check_extents(storage.as_ref(), &writer.committed, "again"),
                // Who could not keep what it took is not believed again.
                Err(error) => {
                    assert_eq!(durability, Durability::Power);
                    assert!(matches!(error.into_error().kind, ErrorKind::Write { .. }));
                    continue;
                }
            }
            assert!(writer.committed.contains_key(&added));
            writer.close();
            check_extents(storage.as_ref(), &writer.committed, "closed");
        }
    }
    assert!(not_begun >= 4 && unfinished >= 10, "{not_begun} not begun, {unfinished} unfinished");
}

#[test]
fn a_full_disk_loses_nothing_that_was_committed() {
    for grows in [false, true] {
        for count in (0..20_000).step_by(37) {
            let storage = Arc::new(FailingWrites::new(vec![]));
            let mut writer = writer_over(&storage, grows, Durability::Process);
            let states = [Extents::new(), writer.committed.clone(), writer.extents.clone()];
            storage.fail_after_bytes(count, Fault::DiskFull);
            let is_over = writer.try_commit().is_ok();
            let bytes = bytes_at(storage.as_ref(), 0, storage.len().unwrap() as usize);
            let image = CrashImage { events: count as usize, bytes };
            let found = check_image(&image, &states, Durability::Process);
            assert!(!is_over || found == 2);
        }
    }
}

/// A file whose writer was killed before it changed anything in place: its bytes and its end.
fn file_with_record() -> (Vec<u8>, u64) {
    let storage = Arc::new(RecordingStorage::new(vec![]));
    let mut writer = Writer::new(storage.clone(), Durability::Process);
    let first = writer.add(vec![1; 100], 8);
    writer.commit();
    writer.change(first, 20, &[2; 30]);
    writer.change(first, 70, &[3; 10]);
    writer.add(vec![4; 100], 8);
    writer.commit();
    let mut found = None;
    storage.recording().killed_images(|image| {
        let is_file = image.bytes.len() > BASE as usize + 16;
        if is_file && read_root(&Memory::new(image.bytes.as_slice())).1 == 2 {
            found.get_or_insert_with(|| image.bytes.clone());
        }
    });
    let bytes = found.unwrap();
    let end = read_root(&Memory::new(bytes.as_slice())).0;
    (bytes, end)
}

fn find(bytes: Vec<u8>, end: u64) -> Option<Record> {
    recovery::find(&name(), &Memory::new(bytes), BASE, end).unwrap()
}

#[test]
fn a_record_that_is_stale_is_left_alone() {
    let (bytes, end) = file_with_record();
    let record = find(bytes.clone(), end).unwrap();
    assert_eq!(record.changes.len(), 3, "the root and two extents");
    // Cut off at any place behind the end.
    let record_at = (BASE + end) as usize;
    let record_len = record.encode().len();
    for len in record_at..record_at + record_len {
        assert_eq!(find(bytes[..len].to_vec(), end), None);
    }
    // Somebody wrote behind the end, for whatever the file got longer.
    for place in record_at..record_at + record_len {
        let mut bytes = bytes.clone();
        bytes[place] = !bytes[place];
        assert_eq!(find(bytes, end), None);
    }
    // Somebody who did not know it went on, and the end is another one now.
    let mut moved = bytes.clone();
    moved.splice(record_at..record_at, [0; 64]);
    assert_eq!(find(moved.clone(), end), None);
    assert_eq!(find(moved, end + 64), None);
    // Somebody who did not know it changed what it changes.
    for change in &record.changes[1..] {
        for at in 0..change.after.len() {
            let mut bytes = bytes.clone();
            let place = (BASE + change.address) as usize + at;
            bytes[place] = change.after[at];
            assert_eq!(find(bytes.clone(), end).as_ref(), Some(&record));
            bytes[place] = 0x77;
            assert_eq!(find(bytes, end), None);
        }
    }
}

#[test]
fn a_record_that_was_made_is_gone() {
    let (bytes, end) = file_with_record();
    let storage = Arc::new(GrowingMemory::new(bytes.clone()));
    let process = Durability::Process;
    let committer = Committer::open(&name(), storage.clone(), BASE, end, process).unwrap();
    committer.storage().write_at(BASE, &[]).unwrap();
    // Whatever is appended to it, it does not come back.
    let mut recovered = storage.take_bytes();
    recovered.extend([0; 1000]);
    assert_eq!(find(recovered, end), None);
    // A user block that is taken off or added moves all of it.
    let mut moved = vec![7; 1024];
    moved.extend(&bytes[BASE as usize..]);
    assert!(recovery::find(&name(), &Memory::new(moved), 1024, end).unwrap().is_some());
}

#[test]
fn a_shorter_file_finds_no_record_of_its_longer_past() {
    let storage = Arc::new(GrowingMemory::default());
    let mut writer = Writer::new(storage.clone(), Durability::Process);
    let first = writer.add(vec![1; 100], 1);
    writer.commit();
    let end = writer.space.end();
    // A record, as of a commit that ended here, where space is free again: it would be believed.
    let second = writer.add(vec![2; 1000], 1);
    writer.commit();
    let change = Change { address: first, before: vec![1; 10], after: vec![9; 10] };
    let stale = Record { end, changes: vec![change] }.encode();
    storage.write_at(BASE + end, &stale).unwrap();
    writer.remove(second);
    for _ in 0..3 {
        writer.commit();
    }
    assert_eq!(read_root(storage.as_ref()).0, end);
    let bytes = bytes_at(storage.as_ref(), 0, storage.len().unwrap() as usize);
    assert_eq!(bytes[(BASE + end) as usize + 4..][..8], stale[4..12], "it is there");
    assert_eq!(find(bytes, end), None);
}

#[test]
fn a_record_of_a_version_to_come_is_an_error() {
    let (mut bytes, end) = file_with_record();
    let at = (BASE + end) as usize;
    let len = find(bytes.clone(), end).unwrap().encode().len();
    bytes[at + 4] = 2;
    let checksum = isotach_format::checksum::lookup3_wide(&bytes[at..at + len - 8]);
    bytes[at + len - 8..at + len].copy_from_slice(&checksum.to_le_bytes());
    let error = recovery::find(&name(), &Memory::new(bytes), BASE, end).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Structure(_)));
}

#[test]
fn changes_are_made_in_their_order_and_by_pages() {
    let storage = Arc::new(RecordingStorage::new(vec![]));
    let mut writer = Writer::new(storage.clone(), Durability::Process);
    let first = writer.add(vec![0; 20_000], 4096);
    writer.commit();
    let before = storage.event_count();
    for (at, len) in [(8000, 10), (100, 10), (110, 10), (90, 10), (4090, 6), (4096, 5), (8005, 10)]
    {
        writer.change(first, at, &vec![at as u8 | 1; len]);
    }
    writer.commit();
    let recording = storage.recording();
    let writes = recording.events()[before..].iter().filter_map(|event| match event {
        isotach_testkit::writing::Event::Write { offset, bytes } => {
            let at = (*offset).checked_sub(BASE + first)?;
            (at < 20_000).then_some((at, bytes.len()))
        }
        _ => None,
    });
    assert_eq!(writes.collect::<Vec<_>>(), [(90, 30), (4090, 6), (4096, 5), (8000, 15)]);
    check_extents(storage.as_ref(), &writer.committed, "after all of them");
}

#[test]
fn threads_write_on_while_a_commit_is_made() {
    let storage = Arc::new(GrowingMemory::default());
    let mut writer = Writer::new(storage.clone(), Durability::Process);
    let shared = writer.add(vec![0; 64], 8);
    writer.commit();
    let space = std::mem::replace(&mut writer.space, Space::new(0));
    let allocated = AtomicU64::new(0);
    let written = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for thread in 0..3_u8 {
            let (space, storage, allocated, written) = (&space, &storage, &allocated, &written);
            scope.spawn(move || {
                for round in 0..300_u64 {
                    let bytes = vec![thread + 1; 1 + (round as usize * 37) % 200];
                    let address = space.allocate(bytes.len() as u64, 1);
                    storage.write_at(BASE + address, &bytes).unwrap();
                    allocated.fetch_add(1, SeqCst);
                    written.lock().unwrap().push((address, bytes));
                }
            });
        }
        let mut number = 1;
        while allocated.load(SeqCst) < 900 {
            number += 1;
            let mut commit = Commit::new();
            commit.change(shared, &[number as u8; 64]);
            writer.committer.apply(&space, &commit, 0, |end| Ok(root(end, number))).unwrap();
        }
    });
    for (address, bytes) in written.into_inner().unwrap() {
        assert_eq!(bytes_at(storage.as_ref(), BASE + address, bytes.len()), bytes);
    }
}
