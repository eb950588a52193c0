//! What the writer of a local file tells its readers: each state of it by a generation, and none twice.
//!
//! While it is open, by a lock ([`locks`]); from then on, by the file's times: closing sets one that
//! no reader can have seen. Those who hold one state to the end are told more by the file's [`Log`].

use std::fs::{File, FileTimes};
use std::io;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::locks;
use super::logbook::Log;
use super::state::{GRACE, Stamp};
use crate::process::uncancelled;
use crate::sync::Mutex;

/// How long a commit waits at first for readers that ask for time, and twice as long each time that this was in vain.
const FIRST_GIVEN: Duration = Duration::from_millis(100);
/// How long at most.
const MOST_GIVEN: Duration = Duration::from_secs(1);
/// For how many times as long commits then do not wait: readers may have been stopped.
const SHARE_FOR_COMMITS: u32 = 4;
/// How often is looked whether such readers are done.
const LOOK: Duration = Duration::from_micros(500);
/// How long is waited at most until the kernel's clock gives a file another time.
const MOST_WAITED: Duration = Duration::from_secs(3);
/// What a file system's times may be cut to.
const STEPS: [Duration; 3] =
    [Duration::from_nanos(1), Duration::from_secs(1), Duration::from_secs(2)];

/// See the module.
#[derive(Debug)]
pub(super) struct Published {
    /// The present generation; 0 where locks do not tell of it.
    generation: AtomicU64,
    /// The time of the file when it was opened.
    opened: Option<SystemTime>,
    is_written: AtomicBool,
    /// What the file says of its writers, or will say once it is written.
    log: Mutex<Log>,
    /// When a commit has waited in vain for readers last, and for how long.
    waited_in_vain: Mutex<Option<(Instant, Duration)>>,
}

impl Published {
    /// Nothing: for a file that is not written.
    pub(super) fn none() -> Self {
        Self {
            generation: AtomicU64::new(0),
            opened: None,
            is_written: AtomicBool::new(false),
            log: Mutex::default(),
            waited_in_vain: Mutex::default(),
        }
    }

    /// Publishes the first generation, before anything is written.
    pub(super) fn begin(file: &File) -> Self {
        let opened = file.metadata().and_then(|metadata| metadata.modified()).ok();
        let published = Self { opened, ..Self::none() };
        if locks::reach_everybody(file) {
            // Later than those of all writers before, whose readers may still compare with them.
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let now = u64::try_from(now.as_micros()).unwrap_or_default().max(1);
            if let Ok(held) = locks::last_held(file) {
                let first = now.max(held.map_or(0, |held| held + 1));
                if locks::publish(file, None, first).is_ok() {
                    published.generation.store(first, Relaxed);
                    published.find_log(file);
                }
            }
        }
        published
    }

    /// Publishes the next generation. From the first time on that this fails, there is none, and nobody counts
    /// on it.
    pub(super) fn next(&self, file: &File) {
        let before = self.generation();
        if before == 0 {
            return;
        }
        let next = match locks::publish(file, Some(before), before + 1) {
            Ok(()) => before + 1,
            Err(_) => {
                let _ = locks::end(file, before).and_then(|()| locks::end(file, before + 1));
                0
            }
        };
        self.generation.store(next, Relaxed);
    }

    pub(super) fn generation(&self) -> u64 {
        self.generation.load(Relaxed)
    }

    /// The generation of a state in `from..to` that somebody may still read; any one of them. 0 where that
    /// cannot be told.
    pub(super) fn held_between(&self, file: &File, from: u64, to: u64) -> Option<u64> {
        if self.generation() == 0 {
            return Some(0);
        }
        locks::held(file, from, to).unwrap_or(Some(0))
    }

    /// Waits where there are readers, for as long as they may take values for those of the generation before
    /// the present one without having asked ([`GRACE`]).
    pub(super) fn outwait_readers(&self, file: &File) {
        if self.held_between(file, 0, self.generation()).is_some() {
            uncancelled(|| std::thread::sleep(GRACE));
        }
    }

    /// Waits before a commit for readers that ask for time, as each state that they begin to read is gone before they
    /// are done.
    pub(super) fn give_time(&self, file: &File) {
        let asked = || locks::is_anybody_in_turn(file).unwrap_or(false);
        if self.generation() == 0 {
            return;
        }
        let mut in_vain = self.waited_in_vain.lock().unwrap_or_else(PoisonError::into_inner);
        if !asked() {
            *in_vain = None;
            return;
        }
        let given = match *in_vain {
            Some((since, given)) if since.elapsed() < given * SHARE_FOR_COMMITS => return,
            Some((_, given)) => (given * 2).min(MOST_GIVEN),
            None => FIRST_GIVEN,
        };
        let begun = Instant::now();
        while asked() {
            if begun.elapsed() >= given {
                *in_vain = Some((Instant::now(), given));
                return;
            }
            uncancelled(|| std::thread::sleep(LOOK));
        }
        *in_vain = None;
    }

    /// Finds what was noted of the file before anything is written.
    fn find_log(&self, file: &File) {
        // Without it, those who hold a state are told that there is another one.
        if let (Ok(stamp), Ok(Some(found))) = (Stamp::of_open(file), Log::of(file)) {
            let foreign = found.foreign_of(&stamp);
            *self.log.lock().unwrap_or_else(PoisonError::into_inner) = Log { foreign, ..found };
        }
    }

    /// Notes that the file is not what it was when it was opened, before it is so.
    pub(super) fn note_written(&self, file: &File) {
        if self.is_written.load(Relaxed) {
            return;
        }
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        if self.generation() != 0 && !self.is_written.load(Relaxed) {
            log.is_open = true;
            // Where it fails, readers take what is written for somebody else's.
            let _ = log.put(file);
        }
        self.is_written.store(true, Relaxed);
    }

    /// Notes that values which have one place only become others with the next generation.
    pub(super) fn note_overwriting(&self, file: &File) -> io::Result<()> {
        let generation = self.generation();
        if generation == 0 {
            return Ok(());
        }
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.overwritten = generation + 1;
        log.put(file)
    }

    /// Ends the last generation: the file has a time from now on that it never had before.
    pub(super) fn end(&self, file: &File) {
        if self.opened.is_some() && self.is_written.swap(false, Relaxed) {
            // Where it fails, readers take the file for younger than it is, or wait.
            let _ = self.give_new_time(file);
            if self.generation() != 0 {
                let _ = self.close_log(file);
            }
        }
        let generation = self.generation.swap(0, Relaxed);
        if generation > 0 {
            // It ends with the descriptor, too.
            let _ = locks::end(file, generation);
        }
    }

    /// Notes that what the file has now is ours.
    fn close_log(&self, file: &File) -> io::Result<()> {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        let stamp = Stamp::of_open(file)?;
        log.is_open = false;
        log.closed = if stamp.is_ours() { 0 } else { stamp.as_number() };
        log.put(file)
    }

    fn give_new_time(&self, file: &File) -> io::Result<()> {
        let modified = || file.metadata().and_then(|metadata| metadata.modified());
        let seen = modified()?.max(self.opened.unwrap_or(UNIX_EPOCH));
        for step in STEPS {
            let time = seen.max(SystemTime::now()) + step;
            match file.set_times(FileTimes::new().set_modified(time)) {
                Ok(()) if modified()? > seen => return Ok(()),
                Ok(()) => {}
                Err(_) => return wait_for_new_time(file, seen),
            }
        }
        Ok(())
    }
}

/// For those who may write the file but are not its owner: they can only give it the present time.
fn wait_for_new_time(file: &File, seen: SystemTime) -> io::Result<()> {
    use rustix::fs::{Timespec, Timestamps, UTIME_NOW};
    let begun = SystemTime::now();
    let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
    let times = Timestamps { last_access: now, last_modification: now };
    loop {
        rustix::fs::futimens(file, &times)?;
        let is_waited = begun.elapsed().map_or(true, |since| since > MOST_WAITED);
        if file.metadata()?.modified()? > seen || is_waited {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}
