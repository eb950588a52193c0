//! Small writes that follow one another gather here and go to storage together.
//!
//! ```text
//! write where the last one ended -> waiting -> enough of it: leaving -> storage, on another thread
//! any other write                ---------------------------------> storage
//! ```
//! Who writes an array row by row pays for few large calls, and goes on while they are made. What waits is
//! found by those who read here; everybody else finds it after [`WriteBehind::flush`].

use std::io;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::{Storage, WritableStorage};
use crate::parallel;

/// From this length on a write does not wait.
const DIRECT_BYTES: usize = 256 << 10;
/// So many bytes go to storage at once; as many may wait meanwhile.
const PIECE_BYTES: usize = 1 << 20;

/// A storage whose small writes gather.
pub(crate) struct WriteBehind {
    shared: Arc<Shared>,
}

/// The same, for the thread that writes.
struct Shared {
    storage: Arc<dyn WritableStorage>,
    state: Mutex<State>,
    /// A piece has left.
    left: Condvar,
}

#[derive(Default)]
struct State {
    /// Where the last write ended.
    end: u64,
    waiting: Piece,
    leaving: Leaving,
    /// Memory that was used before.
    spare: Vec<u8>,
}

/// Bytes and where they go.
#[derive(Default)]
struct Piece {
    offset: u64,
    bytes: Vec<u8>,
}

#[derive(Default)]
enum Leaving {
    #[default]
    Nothing,
    /// Whoever wants it gone first may write it: the thread that is to do so may be busy.
    Ready(Piece),
    /// A thread is writing this range.
    Underway(Range<u64>),
}

impl Piece {
    fn range(&self) -> Range<u64> {
        self.offset..self.offset + self.bytes.len() as u64
    }
}

impl WriteBehind {
    pub(crate) fn new(storage: Arc<dyn WritableStorage>) -> Self {
        let shared = Shared { storage, state: Mutex::default(), left: Condvar::new() };
        Self { shared: Arc::new(shared) }
    }

    /// Comes back when storage has everything that was written. What it did not take goes on waiting.
    pub(crate) fn flush(&self) -> io::Result<()> {
        self.shared.drain(self.shared.lock()).map(drop)
    }

    /// Forgets what storage does not have; what is under way is over then.
    pub(crate) fn forget(&self) {
        let mut state = self.shared.lock();
        while let Leaving::Underway(_) = state.leaving {
            state = self.shared.left.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        (state.leaving, state.waiting) = (Leaving::Nothing, Piece::default());
    }

    /// From the first to the last byte that storage does not have yet; empty at 0 where it has all.
    pub(crate) fn pending(&self) -> Range<u64> {
        self.shared.pending()
    }
}

impl Shared {
    /// Keeps `bytes` for later where they follow the last write; false where they do not.
    fn keep(self: &Arc<Self>, offset: u64, bytes: &[u8]) -> io::Result<bool> {
        let mut state = self.lock();
        let end = offset.saturating_add(bytes.len() as u64);
        if state.end != offset || bytes.len() >= DIRECT_BYTES {
            state.end = end;
            self.drain_where(state, &(offset..end))?;
            return Ok(false);
        }
        loop {
            let waiting = &mut state.waiting;
            if waiting.bytes.is_empty() {
                waiting.offset = offset;
            }
            state = match waiting.range().end == offset {
                // Something else was written in between.
                false => self.drain(state)?,
                true if waiting.bytes.len() >= PIECE_BYTES => self.let_go(state)?,
                true => {
                    waiting.bytes.extend_from_slice(bytes);
                    state.end = end;
                    return Ok(true);
                }
            };
        }
    }

    /// Hands what waits to another thread, when the piece before it has left.
    fn let_go<'s>(
        self: &'s Arc<Self>,
        state: MutexGuard<'s, State>,
    ) -> io::Result<MutexGuard<'s, State>> {
        let mut state = self.wait_for_leaving(state)?;
        let spare = std::mem::take(&mut state.spare);
        let piece = std::mem::replace(&mut state.waiting, Piece { offset: 0, bytes: spare });
        state.leaving = Leaving::Ready(piece);
        drop(state);
        let shared = Arc::clone(self);
        parallel::soon(move || {
            // An error is met again by whoever wants the piece gone.
            let state = shared.lock();
            if matches!(state.leaving, Leaving::Ready(_)) {
                drop(shared.write_leaving(state));
            }
        });
        Ok(self.lock())
    }

    /// Writes the piece that is ready to leave.
    fn write_leaving<'s>(
        &'s self,
        mut state: MutexGuard<'s, State>,
    ) -> io::Result<MutexGuard<'s, State>> {
        let mut piece = match std::mem::take(&mut state.leaving) {
            Leaving::Ready(piece) => piece,
            other => {
                state.leaving = other;
                return Ok(state);
            }
        };
        state.leaving = Leaving::Underway(piece.range());
        drop(state);
        let written = self.storage.write_at(piece.offset, &piece.bytes);
        let mut state = self.lock();
        state.leaving = match written {
            Ok(()) => {
                piece.bytes.clear();
                state.spare = piece.bytes;
                Leaving::Nothing
            }
            Err(_) => Leaving::Ready(piece),
        };
        self.left.notify_all();
        written.map(|()| state)
    }

    /// Comes back when no piece is leaving.
    fn wait_for_leaving<'s>(
        &'s self,
        mut state: MutexGuard<'s, State>,
    ) -> io::Result<MutexGuard<'s, State>> {
        loop {
            state = match state.leaving {
                Leaving::Nothing => return Ok(state),
                Leaving::Ready(_) => self.write_leaving(state)?,
                Leaving::Underway(_) => {
                    self.left.wait(state).unwrap_or_else(PoisonError::into_inner)
                }
            };
        }
    }

    /// Comes back when storage has everything.
    fn drain<'s>(&'s self, state: MutexGuard<'s, State>) -> io::Result<MutexGuard<'s, State>> {
        let mut state = self.wait_for_leaving(state)?;
        if !state.waiting.bytes.is_empty() {
            let waiting = std::mem::take(&mut state.waiting);
            state.leaving = Leaving::Ready(waiting);
            state = self.wait_for_leaving(state)?;
        }
        Ok(state)
    }

    /// The same where some of it lies in `range`.
    fn drain_where(&self, state: MutexGuard<'_, State>, range: &Range<u64>) -> io::Result<()> {
        let meets = |other: &Range<u64>| other.start < range.end && range.start < other.end;
        let is_leaving = match &state.leaving {
            Leaving::Nothing => false,
            Leaving::Ready(piece) => meets(&piece.range()),
            Leaving::Underway(range) => meets(range),
        };
        if is_leaving || meets(&state.waiting.range()) {
            self.drain(state).map(drop)
        } else {
            Ok(())
        }
    }

    /// From the first to the last byte that is not in storage yet; empty at 0 where all are.
    fn pending(&self) -> Range<u64> {
        let state = self.lock();
        let leaving = match &state.leaving {
            Leaving::Nothing => None,
            Leaving::Ready(piece) => Some(piece.range()),
            Leaving::Underway(range) => Some(range.clone()),
        };
        let waiting = Some(state.waiting.range()).filter(|range| !range.is_empty());
        match (leaving, waiting) {
            (Some(a), Some(b)) => a.start.min(b.start)..a.end.max(b.end),
            (one, other) => one.or(other).unwrap_or_default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Storage for WriteBehind {
    fn len(&self) -> io::Result<u64> {
        let pending = self.pending().end;
        self.shared.storage.len().map(|len| len.max(pending))
    }

    fn read_at<'into>(
        &self,
        offset: u64,
        into: &'into mut [MaybeUninit<u8>],
    ) -> io::Result<&'into mut [u8]> {
        let end = offset.saturating_add(into.len() as u64);
        self.shared.drain_where(self.shared.lock(), &(offset..end))?;
        self.shared.storage.read_at(offset, into)
    }

    fn call_cost_bytes(&self) -> u64 {
        self.shared.storage.call_cost_bytes()
    }

    fn parallel(&self) -> bool {
        self.shared.storage.parallel()
    }
}

impl WritableStorage for WriteBehind {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() || self.shared.keep(offset, bytes)? {
            return Ok(());
        }
        self.shared.storage.write_at(offset, bytes)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let _state = self.shared.drain(self.shared.lock())?;
        self.shared.storage.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        self.flush()?;
        self.shared.storage.sync()
    }

    fn largest_len(&self) -> u64 {
        self.shared.storage.largest_len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::{GrowingMemory, uninit};

    /// Refuses every write while `is_full`, and counts the others.
    #[derive(Default)]
    struct Disk {
        bytes: GrowingMemory,
        writes: Mutex<usize>,
        is_full: Mutex<bool>,
    }

    impl Storage for Disk {
        fn len(&self) -> io::Result<u64> {
            self.bytes.len()
        }

        fn read_at<'into>(
            &self,
            offset: u64,
            into: &'into mut [MaybeUninit<u8>],
        ) -> io::Result<&'into mut [u8]> {
            self.bytes.read_at(offset, into)
        }
    }

    impl WritableStorage for Disk {
        fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
            if *self.is_full.lock().unwrap() {
                return Err(io::Error::from(io::ErrorKind::StorageFull));
            }
            *self.writes.lock().unwrap() += 1;
            self.bytes.write_at(offset, bytes)
        }

        fn set_len(&self, len: u64) -> io::Result<()> {
            self.bytes.set_len(len)
        }

        fn sync(&self) -> io::Result<()> {
            self.bytes.sync()
        }
    }

    fn read(storage: &dyn Storage) -> Vec<u8> {
        let mut bytes = Vec::new();
        let len = storage.len().unwrap() as usize;
        uninit::read_vec(storage, 0, len, &mut bytes).unwrap();
        bytes
    }

    #[test]
    fn rows_go_to_storage_together() {
        let disk = Arc::new(Disk::default());
        let behind = WriteBehind::new(Arc::clone(&disk) as _);
        let row_bytes = 12_648;
        let mut expected = Vec::new();
        for row in 0..500_u64 {
            let bytes = vec![row as u8; row_bytes];
            behind.write_at(row * row_bytes as u64, &bytes).unwrap();
            expected.extend(bytes);
            assert_eq!(behind.len().unwrap(), expected.len() as u64);
        }
        assert_eq!(read(&behind), expected);
        behind.flush().unwrap();
        assert_eq!(read(&*disk), expected);
        assert!(*disk.writes.lock().unwrap() <= 2 + expected.len() / PIECE_BYTES);
    }

    #[test]
    fn later_bytes_stand_over_earlier_ones() {
        let disk = Arc::new(Disk::default());
        let behind = WriteBehind::new(Arc::clone(&disk) as _);
        behind.write_at(0, b"abc").unwrap();
        behind.write_at(3, b"defg").unwrap();
        behind.write_at(4, b"E").unwrap();
        behind.write_at(5, b"F").unwrap();
        behind.write_at(2, b"C").unwrap();
        assert_eq!(read(&behind), b"abCdEFg");
        behind.set_len(3).unwrap();
        assert_eq!(read(&*disk), b"abC");
    }

    #[test]
    fn what_a_full_disk_did_not_take_waits() {
        let disk = Arc::new(Disk::default());
        let behind = WriteBehind::new(Arc::clone(&disk) as _);
        behind.write_at(0, &[1; 10]).unwrap();
        *disk.is_full.lock().unwrap() = true;
        let row = vec![2; 100_000];
        let mut end = 10;
        // The piece that has to leave before the next one cannot.
        while behind.write_at(end, &row).is_ok() {
            end += row.len() as u64;
            assert!(end < 10 * PIECE_BYTES as u64);
        }
        assert!(behind.flush().is_err());
        *disk.is_full.lock().unwrap() = false;
        behind.flush().unwrap();
        let found = read(&*disk);
        assert_eq!(found.len() as u64, end);
        assert!(found[10..].iter().all(|&byte| byte == 2));
        behind.write_at(end, &row).unwrap();
        behind.forget();
        behind.flush().unwrap();
        assert_eq!(read(&*disk).len() as u64, end);
    }
}
