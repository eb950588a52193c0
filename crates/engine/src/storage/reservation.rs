//! Room on the disk that is asked for before it is written to.
//!
//! ext4 finds room for a page at a time where a file grows by writing, which takes a third of the time of
//! writing large arrays; asked for many pages at once it does not (`docs/decisions/0019`). The file does not get
//! longer by that, and nobody sees what is reserved.

use std::fs::File;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// Smaller writes reserve nothing.
const FROM_BYTES: u64 = 256 << 10;
/// What is reserved at once.
const AHEAD_BYTES: u64 = 16 << 20;

/// How far a file that grows has room.
#[derive(Debug)]
pub(super) struct Reservation {
    /// `None` where reserving gains nothing, or is not possible.
    end: Mutex<Option<u64>>,
    /// What is going to be written ends there: more is not reserved on the way to it.
    expected: AtomicU64,
}

impl Reservation {
    /// Nothing is reserved behind what the file has.
    pub(super) fn new(file: &File) -> Self {
        let end = if is_ext4(file) { file.metadata().ok().map(|meta| meta.len()) } else { None };
        Self { end: Mutex::new(end), expected: AtomicU64::new(0) }
    }

    /// Says that all up to `end` is going to be written.
    pub(super) fn expect(&self, end: u64) {
        self.expected.fetch_max(end, Relaxed);
    }

    /// Called before `len` bytes are written at `offset`. Failing costs nothing but time: whether there
    /// is room is what writing tells.
    pub(super) fn reach(&self, file: &File, offset: u64, len: u64) {
        if len < FROM_BYTES {
            return;
        }
        let mut reserved = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(end) = *reserved else { return };
        let wanted = offset.saturating_add(len);
        if wanted <= end {
            return;
        }
        // What is left out between two writes may stay a hole.
        let from = if offset.saturating_sub(end) > AHEAD_BYTES { offset } else { end };
        let ahead = from.saturating_add(AHEAD_BYTES);
        let to = match self.expected.load(Relaxed) {
            expected if expected > from => wanted.max(ahead.min(expected)),
            _ => wanted.max(ahead),
        };
        *reserved = allocate(file, from, to - from).then_some(to);
    }

    /// Gives back what was reserved in vain.
    pub(super) fn give_back(&self, file: &File) {
        let reserved = self.end.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let (Some(end), Ok(metadata)) = (reserved, file.metadata())
            && end > metadata.len()
        {
            // The room is lost for as long as the file is there, and nothing else is.
            let _ = file.set_len(metadata.len());
        }
    }
}

#[cfg(target_os = "linux")]
fn is_ext4(file: &File) -> bool {
    /// Of ext2, ext3 and ext4; the first two refuse.
    const MAGIC: u64 = 0xEF53;
    rustix::fs::fstatfs(file).is_ok_and(|system| system.f_type as u64 == MAGIC)
}

#[cfg(target_os = "linux")]
fn allocate(file: &File, from: u64, len: u64) -> bool {
    use rustix::fs::{FallocateFlags, fallocate};
    fallocate(file, FallocateFlags::KEEP_SIZE, from, len).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn is_ext4(_: &File) -> bool {
    false
}

#[cfg(not(target_os = "linux"))]
fn allocate(_: &File, _: u64, _: u64) -> bool {
    false
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::os::unix::fs::{FileExt, MetadataExt};

    use super::*;

    #[test]
    fn what_is_reserved_in_vain_is_given_back() {
        let file = tempfile::tempfile().unwrap();
        let reservation = Reservation::new(&file);
        file.write_all_at(&[1; 1000], 0).unwrap();
        reservation.reach(&file, 1000, FROM_BYTES - 1);
        assert!(file.metadata().unwrap().blocks() * 512 < FROM_BYTES);
        reservation.reach(&file, 1000, FROM_BYTES);
        assert_eq!(file.metadata().unwrap().len(), 1000);
        if is_ext4(&file) {
            assert!(file.metadata().unwrap().blocks() * 512 >= AHEAD_BYTES);
        }
        reservation.give_back(&file);
        assert_eq!(file.metadata().unwrap().len(), 1000);
        assert!(file.metadata().unwrap().blocks() * 512 < FROM_BYTES);
    }

    #[test]
    fn no_more_is_reserved_than_is_expected() {
        let file = tempfile::tempfile().unwrap();
        let reservation = Reservation::new(&file);
        reservation.expect(2 * FROM_BYTES);
        reservation.reach(&file, 0, FROM_BYTES);
        let reserved = file.metadata().unwrap().blocks() * 512;
        assert!(reserved < 3 * FROM_BYTES);
        reservation.reach(&file, FROM_BYTES, FROM_BYTES);
        assert!(!is_ext4(&file) || reserved >= 2 * FROM_BYTES);
        assert_eq!(file.metadata().unwrap().blocks() * 512, reserved);
        // What nobody spoke of.
        reservation.reach(&file, 2 * FROM_BYTES, FROM_BYTES);
        assert!(!is_ext4(&file) || file.metadata().unwrap().blocks() * 512 >= AHEAD_BYTES);
    }

    #[test]
    fn a_hole_stays_a_hole() {
        let file = tempfile::tempfile().unwrap();
        let reservation = Reservation::new(&file);
        reservation.reach(&file, 1 << 40, FROM_BYTES);
        assert!(file.metadata().unwrap().blocks() * 512 <= 2 * AHEAD_BYTES);
        assert_eq!(file.metadata().unwrap().len(), 0);
    }
}
