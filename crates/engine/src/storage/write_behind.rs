//! Small writes that follow one another gather here and go to storage together.
//!
//! ```text
//! write where the last one ended -> piece -> all of it is there -> storage
//! any other write                --------------------------------> storage
//! ```
//! Who writes an array row by row pays for few large calls. What waits is found by those who read here;
//! everybody else finds it after [`WriteBehind::flush`].

use std::io;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::{Storage, WritableStorage};

/// From this length on a write does not wait.
const DIRECT_BYTES: usize = 256 << 10;
/// A piece ends where the file has a multiple of so many bytes: pages of the kernel's are written whole.
const PIECE_BYTES: u64 = 1 << 20;
/// Bytes have the same place in a page of this length in memory and in the file. Where they have not, the kernel
/// takes a third longer to copy them.
const PAGE_BYTES: usize = 4096;

/// Memory of the file that was closed last, for the next one: memory that was touched once is fast memory.
static SPARE: crate::sync::Mutex<Vec<u8>> = crate::sync::Mutex::fixed(Vec::new());

/// A storage whose small writes gather.
pub(crate) struct WriteBehind {
    storage: Arc<dyn WritableStorage>,
    state: Mutex<State>,
    /// A piece has left.
    left: Condvar,
}

#[derive(Default)]
struct State {
    /// Where the last write ended.
    end: u64,
    piece: Piece,
    /// What a thread is writing; nobody adds to the piece meanwhile.
    leaving: Option<Range<u64>>,
    /// How many wait for that: waking nobody is a call to the system too.
    waiting: usize,
}

/// Bytes that wait, and where they go.
#[derive(Default)]
struct Piece {
    offset: u64,
    /// What comes before the bytes has them at their place in a page.
    before: usize,
    memory: Vec<u8>,
}

impl Piece {
    fn bytes(&self) -> &[u8] {
        &self.memory[self.before..]
    }

    fn range(&self) -> Range<u64> {
        self.offset..self.offset + self.bytes().len() as u64
    }

    fn is_empty(&self) -> bool {
        self.bytes().is_empty()
    }

    /// Begins anew at `offset`.
    fn begin(&mut self, offset: u64) {
        self.memory.clear();
        if self.memory.capacity() == 0
            && let Ok(mut spare) = SPARE.try_lock()
        {
            self.memory = std::mem::take(&mut spare);
        }
        // As much as there can ever be: memory that moves has another place in a page.
        self.memory.reserve_exact(PIECE_BYTES as usize + PAGE_BYTES);
        let place = self.memory.as_ptr().addr() % PAGE_BYTES;
        let wanted = (offset % PAGE_BYTES as u64) as usize;
        self.before = (wanted + PAGE_BYTES - place) % PAGE_BYTES;
        self.offset = offset;
        self.memory.resize(self.before, 0);
    }

    /// Adds as many of `bytes` as belong to this piece, and gives the others.
    fn add<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        let room = PIECE_BYTES - self.range().end % PIECE_BYTES;
        let (own, others) = bytes.split_at(bytes.len().min(room as usize));
        self.memory.extend_from_slice(own);
        others
    }

    /// Takes back the last `len` bytes.
    fn take_back(&mut self, len: usize) {
        self.memory.truncate(self.memory.len() - len);
    }

    fn forget(&mut self) {
        self.memory.clear();
        self.before = 0;
    }
}

impl WriteBehind {
    pub(crate) fn new(storage: Arc<dyn WritableStorage>) -> Self {
        Self { storage, state: Mutex::default(), left: Condvar::new() }
    }

    /// Comes back when storage has everything that was written. What it did not take goes on waiting.
    pub(crate) fn flush(&self) -> io::Result<()> {
        self.drain(self.lock()).map(drop)
    }

    /// Forgets what storage does not have; what is under way is over then.
    pub(crate) fn forget(&self) {
        self.settled(self.lock()).piece.forget();
    }

    /// From the first to the last byte that storage does not have yet; empty at 0 where it has all.
    pub(crate) fn pending(&self) -> Range<u64> {
        let state = self.lock();
        let waiting = Some(state.piece.range()).filter(|range| !range.is_empty());
        state.leaving.clone().or(waiting).unwrap_or_default()
    }

    /// Keeps `bytes` for later where they follow the last write; false where they do not.
    fn keep(&self, mut offset: u64, mut bytes: &[u8]) -> io::Result<bool> {
        let mut state = self.lock();
        let end = offset.saturating_add(bytes.len() as u64);
        if state.end != offset || bytes.len() >= DIRECT_BYTES {
            state.end = end;
            self.drain_where(state, &(offset..end))?;
            return Ok(false);
        }
        loop {
            state = self.settled(state);
            if state.piece.range().end != offset {
                // Something else was written in between.
                state = self.drain(state)?;
            }
            if state.piece.is_empty() {
                state.piece.begin(offset);
            }
            let others = state.piece.add(bytes);
            if others.is_empty() {
                // Not before: what was refused follows where it is tried again.
                state.end = end;
                return Ok(true);
            }
            // All of the call waits, or nothing.
            let own = bytes.len() - others.len();
            state = self.write_piece(state, own)?;
            (offset, bytes) = (offset + own as u64, others);
        }
    }

    /// Writes the piece, which nobody else is at; what it did not take waits on, but for the last `but` bytes.
    fn write_piece<'s>(
        &'s self,
        mut state: MutexGuard<'s, State>,
        but: usize,
    ) -> io::Result<MutexGuard<'s, State>> {
        let mut piece = std::mem::take(&mut state.piece);
        state.leaving = Some(piece.range());
        drop(state);
        let written = self.storage.write_at(piece.offset, piece.bytes());
        let mut state = self.lock();
        match written {
            Ok(()) => piece.forget(),
            Err(_) => piece.take_back(but),
        }
        (state.piece, state.leaving) = (piece, None);
        if state.waiting > 0 {
            self.left.notify_all();
        }
        written.map(|()| state)
    }

    /// Comes back when no piece is leaving.
    fn settled<'s>(&'s self, mut state: MutexGuard<'s, State>) -> MutexGuard<'s, State> {
        while state.leaving.is_some() {
            state.waiting += 1;
            state = self.left.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.waiting -= 1;
        }
        state
    }

    /// Comes back when storage has everything.
    fn drain<'s>(&'s self, state: MutexGuard<'s, State>) -> io::Result<MutexGuard<'s, State>> {
        let state = self.settled(state);
        if state.piece.is_empty() { Ok(state) } else { self.write_piece(state, 0) }
    }

    /// The same where some of it lies in `range`.
    fn drain_where(&self, state: MutexGuard<'_, State>, range: &Range<u64>) -> io::Result<()> {
        let meets = |other: &Range<u64>| other.start < range.end && range.start < other.end;
        if state.leaving.as_ref().is_some_and(meets) || meets(&state.piece.range()) {
            self.drain(state).map(drop)
        } else {
            Ok(())
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for WriteBehind {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        state.piece.forget();
        if let Ok(mut spare) = SPARE.try_lock() {
            *spare = std::mem::take(&mut state.piece.memory);
        }
    }
}

impl Storage for WriteBehind {
    fn len(&self) -> io::Result<u64> {
        let pending = self.pending().end;
        self.storage.len().map(|len| len.max(pending))
    }

    fn read_at<'into>(
        &self,
        offset: u64,
        into: &'into mut [MaybeUninit<u8>],
    ) -> io::Result<&'into mut [u8]> {
        let end = offset.saturating_add(into.len() as u64);
        self.drain_where(self.lock(), &(offset..end))?;
        self.storage.read_at(offset, into)
    }

    fn call_cost_bytes(&self) -> u64 {
        self.storage.call_cost_bytes()
    }

    fn parallel(&self) -> bool {
        self.storage.parallel()
    }
}

impl WritableStorage for WriteBehind {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() || self.keep(offset, bytes)? {
            return Ok(());
        }
        self.storage.write_at(offset, bytes)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let _state = self.drain(self.lock())?;
        self.storage.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        self.flush()?;
        self.storage.sync()
    }

    fn beneath(&self) -> Option<&dyn WritableStorage> {
        Some(&*self.storage)
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
        assert!(*disk.writes.lock().unwrap() <= 2 + expected.len() / PIECE_BYTES as usize);
    }

    /// Tells where each write begins and ends, and whether memory and file have the same place in a page.
    #[derive(Default)]
    struct Ruler(Mutex<Vec<(u64, u64, bool)>>);

    impl Storage for Ruler {
        fn len(&self) -> io::Result<u64> {
            Ok(0)
        }

        fn read_at<'into>(
            &self,
            _: u64,
            _: &'into mut [MaybeUninit<u8>],
        ) -> io::Result<&'into mut [u8]> {
            Err(io::ErrorKind::Unsupported.into())
        }
    }

    impl WritableStorage for Ruler {
        fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
            let end = offset + bytes.len() as u64;
            let pages = [offset as usize, bytes.as_ptr().addr()].map(|at| at % PAGE_BYTES);
            self.0.lock().unwrap().push((offset, end, pages[0] == pages[1]));
            Ok(())
        }

        fn set_len(&self, _: u64) -> io::Result<()> {
            Ok(())
        }

        fn sync(&self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn pieces_end_where_pages_end() {
        let ruler = Arc::new(Ruler::default());
        let behind = WriteBehind::new(Arc::clone(&ruler) as _);
        let row = [0; 1000];
        let begin = 7 * PIECE_BYTES + 1205;
        behind.write_at(begin, &row).unwrap();
        for number in 1..3_000 {
            behind.write_at(begin + number * row.len() as u64, &row).unwrap();
        }
        behind.flush().unwrap();
        let writes = std::mem::take(&mut *ruler.0.lock().unwrap());
        let end = begin + 3_000 * row.len() as u64;
        let ends = [begin + 1000, 8 * PIECE_BYTES, 9 * PIECE_BYTES, end];
        assert_eq!(writes.iter().map(|write| write.1).collect::<Vec<_>>(), ends);
        assert!(writes.windows(2).all(|pair| pair[0].1 == pair[1].0));
        assert!(writes[1..].iter().all(|write| write.2));
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
            assert!(end < 10 * PIECE_BYTES);
        }
        assert!(behind.flush().is_err());
        *disk.is_full.lock().unwrap() = false;
        behind.flush().unwrap();
        let found = read(&*disk);
        assert_eq!(found.len() as u64, end);
        assert!(found[10..].iter().all(|&byte| byte == 2));
        behind.write_at(end, &row[..10]).unwrap();
        behind.forget();
        behind.flush().unwrap();
        assert_eq!(read(&*disk).len() as u64, end);
    }
}
