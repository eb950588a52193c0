//! The committed state of a local file that one opening of it is of.
//!
//! ```text
//! a writer is there   the generation that it has published (locks.rs): it publishes another before and after
//!                     whatever changes what others find
//! none is there       the file's stamp: number, length, times
//! ```
//! What was read is of that state if the same is true afterwards. While the state is held, the writer gives none of
//! its space to others, so values need no such look. Values that have one place only are looked after, but for a moment
//! ([`LEASE`]) the last look is taken for true: a writer waits for longer than that before it changes them ([`GRACE`]).
//! Programs that know nothing of this are looked for every millisecond: where none of our writers is at work, and none has
//! closed the file last, somebody else has written it.

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant, SystemTime};

use super::locks;
use super::logbook::Log;
use crate::process::uncancelled;

/// How often a state is looked for while writers publish one after the other.
const MOST_ATTEMPTS: usize = 1000;
/// After so long, another change gives a file another time: the kernel's clock for that goes by a few
/// milliseconds.
const FINE_TIMES: Duration = Duration::from_millis(100);
/// The same for file systems that know seconds only, or every other one.
const COARSE_TIMES: Duration = Duration::from_secs(3);
/// For how long a look at the state is taken for true by who reads values in their only place.
const LEASE: Duration = Duration::from_micros(250);
/// For how long a writer waits, where there are readers, between publishing that such values become others and changing them.
pub(super) const GRACE: Duration = Duration::from_millis(1);
/// How often a file is looked at whose writer comes and goes.
const LOOKS: usize = 3;
/// How often that is waited for where nothing else tells states apart.
const MOST_WAITS: usize = 20;

/// What a storage's error says where its bytes are of another state than when it was opened.
#[derive(Debug)]
pub(crate) struct ChangedSince;

impl std::fmt::Display for ChangedSince {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the file has changed since it was opened: refresh() shows its present state")
    }
}

impl std::error::Error for ChangedSince {}

/// The error of a storage whose bytes are of another state than when it was opened.
pub(crate) fn changed() -> io::Error {
    io::Error::other(ChangedSince)
}

/// Whether an error is [`changed`]'s.
pub(crate) fn is_changed(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|source| source.is::<ChangedSince>())
}

/// By what a file is known to be the same, and unchanged.
#[derive(Debug, Clone)]
pub(super) struct Stamp {
    pub(super) device_and_inode: (u64, u64),
    len: u64,
    /// When its bytes, and anything about it, were changed last: seconds and nanoseconds.
    modified: (i64, i64),
    changed: (i64, i64),
    /// Whether a change after this would have shown.
    is_sure: bool,
}

impl Stamp {
    /// What the file at `path` is now.
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        let now = SystemTime::now();
        std::fs::metadata(path).map(|metadata| Self::new(&metadata, now))
    }

    /// What `file` is now.
    pub(super) fn of_open(file: &File) -> io::Result<Self> {
        let now = SystemTime::now();
        file.metadata().map(|metadata| Self::new(&metadata, now))
    }

    /// What was found after `now`.
    fn new(metadata: &Metadata, now: SystemTime) -> Self {
        let (modified, changed) =
            ((metadata.mtime(), metadata.mtime_nsec()), (metadata.ctime(), metadata.ctime_nsec()));
        let needed = if modified.1 != 0 { FINE_TIMES } else { COARSE_TIMES };
        let since = |time: SystemTime| now.duration_since(time).ok();
        let since = metadata.modified().ok().and_then(since);
        Self {
            device_and_inode: (metadata.dev(), metadata.ino()),
            len: metadata.len(),
            modified,
            changed,
            // A time to come is another machine's.
            is_sure: modified != changed || since.is_none_or(|since| since > needed),
        }
    }

    /// Whether our writer has closed the file last: it sets the first time to the present one then. Whoever writes makes
    /// both the same, and who copies another file over this one, times and all, sets an earlier one.
    pub(super) fn is_ours(&self) -> bool {
        let seconds = self.modified.0.abs_diff(self.changed.0);
        self.modified != self.changed && seconds <= 1
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Length and time of the bytes, mixed; never 0.
    pub(super) fn as_number(&self) -> u64 {
        let (seconds, nanoseconds) = self.modified;
        let time = (seconds as u64).wrapping_mul(1_000_000_000).wrapping_add(nanoseconds as u64);
        (time ^ self.len.wrapping_mul(0x9e37_79b9_7f4a_7c15)).max(1)
    }

    /// Whether the file has the bytes that it had: its name, owner and mode may have changed.
    fn has_same_bytes(&self, other: &Self) -> bool {
        let of_bytes = |stamp: &Self| (stamp.device_and_inode, stamp.len, stamp.modified);
        of_bytes(self) == of_bytes(other)
    }
}

/// Whether only our writers have written `file`, which has this stamp, since others had left it with that number.
fn is_left_by(file: &File, stamp: &Stamp, foreign: u64) -> io::Result<bool> {
    Ok(Log::of(file)?.is_some_and(|log| log.foreign_of(stamp) == foreign))
}

/// See the module.
#[derive(Debug)]
pub(super) struct CommittedState {
    /// Whether locks tell of writers.
    has_locks: bool,
    /// The generation of the writer that was there when the file was opened.
    generation: Option<u64>,
    stamp: Stamp,
    /// The first generation of a writer that came later and had changed nothing by then; 0 where none was seen.
    joined: AtomicU64,
    /// In which millisecond writers were looked for last.
    looked_for_writers: AtomicU64,
    is_held: bool,
    /// Whether writers see a lock of this opening, of whichever state.
    is_seen: bool,
    /// When it was known last that this is the present state: nanoseconds of [`Foreign::since`]; 0 where it never was.
    ensured: AtomicU64,
    /// What was noted of the file, where the state is held to the end.
    noted: Option<Noted>,
    foreign: Foreign,
}

/// What was noted of a file ([`Log`]) when it was opened.
#[derive(Debug, Clone, Copy)]
enum Noted {
    /// Its file system keeps no notes.
    Nothing,
    These {
        foreign: u64,
        overwritten: u64,
    },
}

/// What is known of programs that write without a word.
#[derive(Debug)]
struct Foreign {
    since: Instant,
    /// When they were looked for last, in milliseconds since then.
    looked: AtomicU64,
    /// The stamp that one of our writers left, as a number; 0 where there was none yet.
    ours: AtomicU64,
}

impl Foreign {
    fn new() -> Self {
        Self { since: Instant::now(), looked: AtomicU64::new(0), ours: AtomicU64::new(0) }
    }

    /// Milliseconds since then, of which the first is 1.
    fn now(&self) -> u64 {
        self.since.elapsed().as_millis() as u64 + 1
    }
}

impl CommittedState {
    /// The present state of `file`, which is held where it `may_hold` and locks work.
    ///
    /// # Errors
    /// [`changed`] where there was another each time it was looked at.
    pub(super) fn find(file: &File, may_hold: bool) -> io::Result<Self> {
        if !locks::reach_everybody(file) {
            return Self::without_locks(file);
        }
        for _ in 0..MOST_ATTEMPTS {
            let Ok(generation) = locks::published(file) else {
                return Self::without_locks(file);
            };
            let slot = generation.unwrap_or(0);
            let is_held = may_hold && locks::hold(file, slot).is_ok();
            let stamp = Stamp::of_open(file)?;
            // Else a writer may have looked for readers before this one was seen.
            if locks::published(file)? == generation {
                let joined = AtomicU64::new(0);
                let foreign = Foreign::new();
                return Ok(Self {
                    has_locks: true,
                    generation,
                    stamp,
                    joined,
                    looked_for_writers: AtomicU64::new(0),
                    is_held,
                    is_seen: is_held,
                    ensured: AtomicU64::new(0),
                    noted: None,
                    foreign,
                });
            }
            if is_held {
                locks::let_go(file, slot)?;
            }
        }
        Err(changed())
    }

    /// Only the stamp tells: one that is so young that another change would not show is waited for.
    fn without_locks(file: &File) -> io::Result<Self> {
        for _ in 0..MOST_WAITS {
            let stamp = Stamp::of_open(file)?;
            // Seconds would be too long.
            if stamp.is_sure || stamp.modified.1 == 0 {
                let joined = AtomicU64::new(0);
                return Ok(Self {
                    has_locks: false,
                    generation: None,
                    stamp,
                    joined,
                    looked_for_writers: AtomicU64::new(0),
                    is_held: false,
                    is_seen: false,
                    ensured: AtomicU64::new(0),
                    noted: None,
                    foreign: Foreign::new(),
                });
            }
            uncancelled(|| std::thread::sleep(FINE_TIMES));
        }
        Err(changed())
    }

    /// Whether a writer is at work on `file`.
    pub(super) fn has_writer(&self, file: &File) -> bool {
        self.has_locks && matches!(locks::published(file), Ok(Some(_)))
    }

    /// That `file` is in this state: what was read of it until now is of this state.
    ///
    /// # Errors
    /// [`changed`] where it is not.
    pub(super) fn ensure(&self, file: &File) -> io::Result<()> {
        if self.is_untouched(file)? {
            return Ok(());
        }
        let published = if self.has_locks { locks::published(file)? } else { None };
        let is_present = match (self.generation, published) {
            (Some(mine), Some(now)) => mine == now,
            // The writer is gone, and may have committed again before.
            (Some(_), None) => false,
            (None, None) => self.is_stamped(file)?,
            (None, Some(now)) => {
                self.joined.load(Relaxed) == now
                    || self.stamp.is_sure && self.is_stamped(file)? && {
                        // It had written nothing when it had published this.
                        self.joined.store(now, Relaxed);
                        true
                    }
            }
        };
        if is_present { Ok(()) } else { Err(changed()) }
    }

    /// That values which have one place only, and were read of `file` until now, are of this state. Where the last look was
    /// less than [`LEASE`] ago, that is enough.
    ///
    /// # Errors
    /// [`changed`] where they may be others.
    pub(super) fn ensure_lately(&self, file: &File) -> io::Result<()> {
        let nanoseconds = |time: Duration| time.as_nanos() as u64;
        let now = nanoseconds(self.foreign.since.elapsed()).max(1);
        let ensured = self.ensured.load(Relaxed);
        if self.is_seen && ensured != 0 && now < ensured + nanoseconds(LEASE) {
            return Ok(());
        }
        self.ensure(file)?;
        // When it was asked, not when the answer came.
        self.ensured.store(now, Relaxed);
        Ok(())
    }

    /// The present state of `file`, which is the one of this opening: locks are those of both.
    ///
    /// # Errors
    /// As for [`CommittedState::find`].
    pub(super) fn find_present(&self, file: &File) -> io::Result<Self> {
        Ok(Self { is_seen: self.is_seen, ..Self::find(file, false)? })
    }

    /// Has this state be held until `file` is closed: what was noted of its writers tells then whose changes come.
    ///
    /// # Errors
    /// [`changed`] where there is another state by now.
    pub(super) fn hold_to_the_end(&mut self, file: &File) -> io::Result<()> {
        self.noted = Some(match Log::of(file)? {
            Some(log) => {
                let foreign = log.foreign_of(&self.stamp);
                Noted::These { foreign, overwritten: log.overwritten }
            }
            None => Noted::Nothing,
        });
        self.ensure(file)
    }

    /// That values which have one place only, and are read of a later state of `file`, are those of this one, where it
    /// is held to the end.
    ///
    /// # Errors
    /// [`changed`] where they may be others.
    pub(super) fn ensure_places(&self, file: &File) -> io::Result<()> {
        let (is_overwritten, foreign) = match self.noted {
            None => return Ok(()),
            Some(Noted::These { foreign, overwritten }) if self.has_locks => {
                let Some(log) = Log::of(file)? else { return Err(changed()) };
                let since = match self.generation {
                    Some(generation) => log.overwritten > generation,
                    None => log.overwritten != overwritten,
                };
                (since, foreign)
            }
            Some(_) => return Err(changed()),
        };
        for _ in 0..LOOKS {
            if !is_overwritten && is_left_by(file, &Stamp::of_open(file)?, foreign)? {
                return Ok(());
            }
        }
        Err(changed())
    }

    /// That values which were read of `file` until now are of this state, though it may be another one by now.
    ///
    /// # Errors
    /// [`changed`] where they may be others.
    pub(super) fn ensure_values(&self, file: &File) -> io::Result<()> {
        if !self.is_held {
            return self.ensure(file);
        }
        let Foreign { looked, ours, .. } = &self.foreign;
        let now = self.foreign.now();
        if looked.load(Relaxed) == now {
            return Ok(());
        }
        for _ in 0..LOOKS {
            let found = Stamp::of_open(file)?;
            if self.stamp.has_same_bytes(&found) || found.as_number() == ours.load(Relaxed) {
                looked.store(now, Relaxed);
                return Ok(());
            }
            let is_ours = match self.noted {
                Some(Noted::These { foreign, .. }) => is_left_by(file, &found, foreign)?,
                _ if locks::published(file)?.is_some() => return Ok(()),
                _ => found.is_ours(),
            };
            if is_ours {
                ours.store(found.as_number(), Relaxed);
                looked.store(now, Relaxed);
                return Ok(());
            }
            // A writer that was there at the first of these looks has closed the file since.
        }
        Err(changed())
    }

    /// Whether nobody has written `file` since, as far as one question tells. Once a millisecond it is not asked alone: a
    /// writer that is there by then, and has written nothing, is known from then on.
    fn is_untouched(&self, file: &File) -> io::Result<bool> {
        if self.generation.is_some() || !self.stamp.is_sure {
            return Ok(false);
        }
        let now = self.foreign.now();
        if self.has_locks && self.looked_for_writers.swap(now, Relaxed) != now {
            return Ok(false);
        }
        self.is_stamped(file)
    }

    fn is_stamped(&self, file: &File) -> io::Result<bool> {
        let found = rustix::fs::fstat(file)?;
        let Stamp { device_and_inode, len, modified, .. } = self.stamp;
        Ok(device_and_inode == (found.st_dev, found.st_ino)
            && len == found.st_size as u64
            && modified == (found.st_mtime, found.st_mtime_nsec as i64))
    }

    /// Whether there is nothing newer at `path` than this state of `file`: neither a commit, nor values that were
    /// overwritten, nor another file.
    pub(super) fn is_newest(&self, file: &File, path: &Path) -> io::Result<bool> {
        let found = Stamp::of(path)?;
        let is_same = self.stamp.is_sure
            && self.stamp.has_same_bytes(&found)
            && self.stamp.changed == found.changed;
        Ok(is_same && (self.has_locks || found.is_sure) && self.ensure(file).is_ok())
    }

    /// Device and number of the file.
    pub(super) fn device_and_inode(&self) -> (u64, u64) {
        self.stamp.device_and_inode
    }
}
