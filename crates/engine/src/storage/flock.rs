//! `flock`, the advisory lock that libhdf5 takes, too: its readers share one, its writers do not.

use std::fs::File;
use std::io;

use rustix::fs::FlockOperation;
use rustix::io::Errno;

use crate::error::User;

/// What became of taking a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flock {
    /// It is held until the file is closed.
    Held,
    /// The file system has no locks.
    NotOffered,
    /// Somebody else's lock is in the way.
    HeldBy(User),
}

/// Locks `file` against everybody else.
pub(super) fn lock_alone(file: &File) -> io::Result<Flock> {
    match try_lock(file, FlockOperation::NonBlockingLockExclusive)? {
        Flock::HeldBy(_) => {}
        other => return Ok(other),
    }
    let shared = try_lock(file, FlockOperation::NonBlockingLockShared)?;
    // What was only tried must keep nobody else out.
    unlock(file);
    Ok(Flock::HeldBy(if shared == Flock::Held { User::OtherReader } else { User::OtherWriter }))
}

/// Locks `file` against writers; readers that lock it, as libhdf5's do, go on.
pub(super) fn lock_shared(file: &File) -> io::Result<Flock> {
    try_lock(file, FlockOperation::NonBlockingLockShared)
}

/// Gives the lock back; where there are no locks there is none to give back.
pub(super) fn unlock(file: &File) {
    let _ = rustix::fs::flock(file, FlockOperation::Unlock);
}

fn try_lock(file: &File, operation: FlockOperation) -> io::Result<Flock> {
    match rustix::fs::flock(file, operation) {
        Ok(()) => Ok(Flock::Held),
        Err(Errno::WOULDBLOCK) => Ok(Flock::HeldBy(User::OtherWriter)),
        // What the file system does not offer cannot be asked of it.
        Err(Errno::NOLCK | Errno::NOTSUP | Errno::NOSYS) => Ok(Flock::NotOffered),
        Err(error) => Err(error.into()),
    }
}
