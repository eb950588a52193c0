//! What readers and the writer of a local file tell each other: locks on bytes far behind its end.
//!
//! ```text
//! 2^60       shared     a reader that met one new state after the other, and asks writers for time
//! 2^61 + n   shared     a reader holds the state that the writer published as generation n (0: without a writer)
//! 2^62 + n   exclusive  the writer's present generation
//! ```
//! They are locks of open file descriptions: each opening has its own, also within one process; nobody waits
//! for them; and the kernel takes them back when the process ends, however it does.
//!
//! Unsafe room: `fcntl` is given a descriptor that is borrowed for the call and a structure on the stack, which
//! it fills for `F_OFD_GETLK` and only reads for `F_OFD_SETLK`.

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

const IN_TURN: u64 = 1 << 60;
const READERS: u64 = 1 << 61;
const WRITER: u64 = 1 << 62;
/// Generations are below this.
const GENERATIONS: u64 = 1 << 56;

/// Switches locks off: readers and writers then do as on a file system whose locks do not reach everybody.
const OFF_VARIABLE: &str = "ISOTACH_RANGE_LOCKS";

/// Whether locks on this file reach all who may open it. Those of network file systems may not, or are
/// mandatory, or take the place of `flock`.
pub(super) fn reach_everybody(file: &File) -> bool {
    !are_off() && system::is_local(file)
}

/// Whether they are switched off, which does not change. A process that is forked finds nothing half-way here.
fn are_off() -> bool {
    const UNKNOWN: u8 = 0;
    static KNOWN: AtomicU8 = AtomicU8::new(UNKNOWN);
    if KNOWN.load(Relaxed) == UNKNOWN {
        let are_off = std::env::var_os(OFF_VARIABLE).is_some_and(|value| value == "off");
        KNOWN.store(1 + u8::from(are_off), Relaxed);
    }
    KNOWN.load(Relaxed) == 2
}

/// The generation that a writer has published last, where there is one.
pub(super) fn published(file: &File) -> io::Result<Option<u64>> {
    let found = system::conflict(file, false, WRITER, GENERATIONS)?;
    Ok(found.map(|start| start.saturating_sub(WRITER)))
}

/// Publishes a generation in the place of the one `before`. There is one at any moment.
pub(super) fn publish(file: &File, before: Option<u64>, generation: u64) -> io::Result<()> {
    system::set(file, system::EXCLUSIVE, WRITER + generation)?;
    before.map_or(Ok(()), |before| end(file, before))
}

/// Ends the writer's last generation.
pub(super) fn end(file: &File, generation: u64) -> io::Result<()> {
    system::set(file, system::NONE, WRITER + generation)
}

/// Holds the state of this generation until the descriptor is closed.
pub(super) fn hold(file: &File, generation: u64) -> io::Result<()> {
    system::set(file, system::SHARED, READERS + generation)
}

/// Gives back what [`hold`] took.
pub(super) fn let_go(file: &File, generation: u64) -> io::Result<()> {
    system::set(file, system::NONE, READERS + generation)
}

/// Asks writers for time, until [`end_turn`] or the descriptor is closed.
pub(super) fn begin_turn(file: &File) -> io::Result<()> {
    system::set(file, system::SHARED, IN_TURN)
}

/// Gives back what [`begin_turn`] took.
pub(super) fn end_turn(file: &File) -> io::Result<()> {
    system::set(file, system::NONE, IN_TURN)
}

/// Whether some reader asks for time.
pub(super) fn is_anybody_in_turn(file: &File) -> io::Result<bool> {
    Ok(system::conflict(file, true, IN_TURN, 1)?.is_some())
}

/// The generation of a state that some reader holds, from `from` on and before `to`; any one of them.
pub(super) fn held(file: &File, from: u64, to: u64) -> io::Result<Option<u64>> {
    if to <= from {
        return Ok(None);
    }
    let found = system::conflict(file, true, READERS + from, to - from)?;
    // A lock that begins before the range can only be one that goes on into it.
    Ok(found.map(|start| start.saturating_sub(READERS).max(from)))
}

/// The latest generation of a state that some reader holds.
pub(super) fn last_held(file: &File) -> io::Result<Option<u64>> {
    let mut last = None;
    while let Some(found) = held(file, last.map_or(0, |last| last + 1), GENERATIONS)? {
        last = Some(found);
    }
    Ok(last)
}

#[cfg(all(any(target_os = "linux", target_os = "android"), target_pointer_width = "64"))]
mod system {
    use std::fs::File;
    use std::io;
    use std::os::fd::AsRawFd;

    pub(super) const NONE: i16 = libc::F_UNLCK as i16;
    pub(super) const SHARED: i16 = libc::F_RDLCK as i16;
    pub(super) const EXCLUSIVE: i16 = libc::F_WRLCK as i16;

    /// File systems of this machine alone: ext2 to ext4, XFS, Btrfs, tmpfs, ramfs, overlayfs, ZFS, F2FS, bcachefs,
    /// JFS, FAT, exFAT, NTFS, ISO 9660, UDF, SquashFS, EROFS.
    const LOCAL: [u64; 18] = [
        0xEF53,
        0x5846_5342,
        0x9123_683E,
        0x0102_1994,
        0x8584_58F6,
        0x794C_7630,
        0x2FC1_2FC1,
        0xF2F5_2010,
        0xCA45_1A4E,
        0x3153_464A,
        0x4D44,
        0x2011_BAB0,
        0x5346_544E,
        0x7366_746E,
        0x9660,
        0x1501_3346,
        0x7371_7368,
        0xE0F5_E1E2,
    ];

    pub(super) fn is_local(file: &File) -> bool {
        rustix::fs::fstatfs(file).is_ok_and(|found| LOCAL.contains(&(found.f_type as u64)))
    }

    fn lock(kind: i16, start: u64, len: u64) -> libc::flock {
        libc::flock {
            l_type: kind,
            l_whence: libc::SEEK_SET as i16,
            l_start: start as libc::off_t,
            l_len: len as libc::off_t,
            l_pid: 0,
        }
    }

    pub(super) fn set(file: &File, kind: i16, start: u64) -> io::Result<()> {
        let lock = lock(kind, start, 1);
        // SAFETY: the descriptor is open as long as `file` is borrowed, and `lock` is only read.
        let outcome = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &raw const lock) };
        if outcome == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// Where a lock begins that would keep this opening from locking the range.
    pub(super) fn conflict(
        file: &File,
        exclusive: bool,
        start: u64,
        len: u64,
    ) -> io::Result<Option<u64>> {
        let mut lock = lock(if exclusive { EXCLUSIVE } else { SHARED }, start, len);
        // SAFETY: the descriptor is open as long as `file` is borrowed, and `lock` is this function's own.
        let outcome = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_GETLK, &raw mut lock) };
        if outcome != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok((lock.l_type != NONE).then_some(lock.l_start as u64))
    }
}

#[cfg(not(all(any(target_os = "linux", target_os = "android"), target_pointer_width = "64")))]
mod system {
    use std::fs::File;
    use std::io;

    pub(super) const NONE: i16 = 0;
    pub(super) const SHARED: i16 = 1;
    pub(super) const EXCLUSIVE: i16 = 2;

    /// Nothing else is asked then.
    pub(super) fn is_local(_file: &File) -> bool {
        false
    }

    pub(super) fn set(_file: &File, _kind: i16, _start: u64) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn conflict(
        _file: &File,
        _exclusive: bool,
        _start: u64,
        _len: u64,
    ) -> io::Result<Option<u64>> {
        Ok(None)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn readers_and_a_writer_see_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, b"data").unwrap();
        let open = || File::options().read(true).write(true).open(&path).unwrap();
        let (writer, first, second) = (open(), open(), open());
        assert!(reach_everybody(&writer));
        assert_eq!((published(&first).unwrap(), last_held(&writer).unwrap()), (None, None));
        publish(&writer, None, 7).unwrap();
        publish(&writer, Some(7), 8).unwrap();
        assert_eq!(published(&first).unwrap(), Some(8));
        hold(&first, 8).unwrap();
        hold(&second, 0).unwrap();
        assert_eq!(last_held(&writer).unwrap(), Some(8));
        assert_eq!(held(&writer, 0, 9).unwrap().map(|it| it == 0 || it == 8), Some(true));
        assert_eq!(held(&writer, 0, 8).unwrap(), Some(0));
        drop(second);
        assert_eq!(held(&writer, 0, 8).unwrap(), None);
        let_go(&first, 8).unwrap();
        begin_turn(&first).unwrap();
        assert!(is_anybody_in_turn(&writer).unwrap());
        end_turn(&first).unwrap();
        assert!(!is_anybody_in_turn(&writer).unwrap());
        assert_eq!(last_held(&writer).unwrap(), None);
        end(&writer, 8).unwrap();
        assert_eq!(published(&first).unwrap(), None);
    }
}
