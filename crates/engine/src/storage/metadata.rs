//! A file's structures, fetched in blocks that are kept.
//!
//! ```text
//! mapping --structure(address, guess, decode)--> blocks kept --miss--> Storage::read_at
//! ```
//! A block begins and ends anywhere, so a structure always lies in one block and is never copied
//! together. How much a miss reads is decided in `blocks`.
//!
//! All blocks that are kept are of one state of the file. Beside a writer a block may have bytes that nobody
//! used when it was read: what a later commit puts there is another structure, of which only those that
//! are read later know.

use std::fmt;
use std::io::ErrorKind::UnexpectedEof;
use std::ops::{Deref, Range};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use super::blocks::{Block, Blocks, ReadSizes};
use super::{Stamp, Storage, storage_error, unexpected_end, uninit};
use crate::error::{Error, ErrorKind, Result};

/// Reads a file's structures; see the module. Shared by all threads that use the file.
pub struct MetadataReader {
    file: Arc<str>,
    storage: Arc<dyn Storage>,
    len: u64,
    costly: bool,
    /// The largest block that is kept.
    largest_kept: u64,
    blocks: RwLock<Blocks>,
    /// What the file was before the first block that is kept was read.
    state: Mutex<Option<Stamp>>,
    /// Held while a block is read from a costly storage: whoever comes second finds it kept.
    fetching: Mutex<()>,
    /// Counts uses, for telling which block was not used for longest.
    clock: AtomicU64,
}

/// Bytes of structures; cheap to clone, and keeps the block it lies in alive.
#[derive(Clone)]
pub struct MetadataBytes {
    source: Source,
    range: Range<usize>,
}

#[derive(Clone)]
enum Source {
    Block(Arc<Vec<u8>>),
    Storage(Arc<dyn Storage>),
}

impl MetadataReader {
    /// A reader of `storage`; `file` names it in errors. Asks for the length, reads nothing.
    pub fn new(file: Arc<str>, storage: Arc<dyn Storage>) -> Result<Self> {
        let len = storage.len().map_err(|source| storage_error(&file, 0, 0, source))?;
        let sizes = ReadSizes::new(storage.call_cost_bytes());
        Ok(Self {
            file,
            storage,
            len,
            costly: sizes.costly,
            largest_kept: sizes.kept / 4,
            blocks: RwLock::new(Blocks::new(sizes)),
            state: Mutex::default(),
            fetching: Mutex::new(()),
            clock: AtomicU64::new(0),
        })
    }

    /// The file's length in bytes when it was opened.
    pub fn file_len(&self) -> u64 {
        self.len
    }

    /// The name that stands in errors.
    pub fn file(&self) -> &Arc<str> {
        &self.file
    }

    /// The storage itself, for elements and chunks.
    pub fn storage(&self) -> &Arc<dyn Storage> {
        &self.storage
    }

    /// Exactly `length` bytes at `address` (an offset into the storage).
    ///
    /// # Errors
    /// [`ErrorKind::Storage`] where the storage fails or ends before that.
    pub fn fetch(&self, address: u64, length: u64) -> Result<MetadataBytes> {
        let fail = |source| storage_error(&self.file, address, length, source);
        let end = address.checked_add(length).filter(|&end| end <= self.len);
        let end = end.ok_or_else(|| fail(unexpected_end()))?;
        if let Some(bytes) = self.find_in_memory(address, end).or_else(|| self.find(address, end)) {
            return Ok(bytes);
        }
        let _gate =
            self.is_costly().then(|| self.fetching.lock().unwrap_or_else(PoisonError::into_inner));
        if let Some(bytes) = self.find(address, end) {
            return Ok(bytes);
        }
        self.read_block(address, end).map_err(fail)
    }

    /// Whether calls cost so much that [`MetadataReader::expect`] spares some.
    pub fn is_costly(&self) -> bool {
        self.costly
    }

    /// Says that `structures` (addresses and lengths, at least about) will be asked for: those that
    /// lie together are read in one call. Reads nothing now, and does nothing where calls cost
    /// little.
    pub fn expect(&self, structures: impl Iterator<Item = (u64, u64)>) {
        if self.is_costly() {
            let mut blocks = self.blocks.write().unwrap_or_else(PoisonError::into_inner);
            blocks.expect(structures);
        }
    }

    /// Says that `count` objects will be opened, wherever they are: some bytes for each may be read
    /// along with other structures. Does nothing where calls cost little.
    pub fn expect_objects(&self, count: u64) {
        if self.is_costly() {
            let mut blocks = self.blocks.write().unwrap_or_else(PoisonError::into_inner);
            blocks.expect_objects(count);
        }
    }

    /// The structure at `address`, of which `decode` is given `first_guess` bytes and then as many
    /// as it says it needs. At the end of the file it is given what is there.
    ///
    /// # Errors
    /// Those of `decode` as [`ErrorKind::Structure`]; one that needs more than the file has, or
    /// asks for no more than it was given, becomes "truncated".
    pub fn structure<T>(
        &self,
        address: u64,
        first_guess: u64,
        mut decode: impl FnMut(&[u8]) -> isotach_format::Result<T>,
    ) -> Result<T> {
        let available = self.len.saturating_sub(address);
        let mut length = first_guess.max(1).min(available);
        let mut round = 0;
        loop {
            let bytes =
                if length == 0 { MetadataBytes::empty() } else { self.fetch(address, length)? };
            let error = match decode(&bytes) {
                Ok(structure) => return Ok(structure),
                Err(error) => error,
            };
            match error.kind {
                isotach_format::ErrorKind::NeedMore { bytes: needed }
                    if needed > length && needed <= available =>
                {
                    // A structure that asks again and again is decoded a logarithm of times.
                    let doubled = if round < 4 { 0 } else { length.saturating_mul(2) };
                    round += 1;
                    length = needed.max(doubled).min(available);
                }
                _ => return Err(self.structure_error(error.at_end(available))),
            }
        }
    }

    fn structure_error(&self, error: isotach_format::Error) -> Error {
        Error::new(&self.file, ErrorKind::Structure(error))
    }

    /// Forgets all blocks where the file is not any more what it was when they were read: before something
    /// is looked for whose address was not found in one of them.
    pub(crate) fn forget_other_states(&self) {
        let state = self.state().clone();
        if !self.is_still(state.as_ref()) {
            self.forget(&mut self.blocks.write().unwrap_or_else(PoisonError::into_inner));
        }
    }

    fn forget(&self, blocks: &mut Blocks) {
        blocks.clear();
        *self.state() = None;
    }

    /// Whether nothing was written since the file had this stamp, as far as anybody can tell.
    fn is_still(&self, state: Option<&Stamp>) -> bool {
        state.is_none_or(|state| {
            self.storage.present_stamp().is_some_and(|now| state.is_still(&now))
        })
    }

    fn state(&self) -> MutexGuard<'_, Option<Stamp>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where the storage lies in memory: the bytes themselves.
    fn find_in_memory(&self, address: u64, end: u64) -> Option<MetadataBytes> {
        let range = usize::try_from(address).ok()?..usize::try_from(end).ok()?;
        self.storage.as_slice()?.get(range.clone())?;
        Some(MetadataBytes { source: Source::Storage(Arc::clone(&self.storage)), range })
    }

    /// The bytes out of a block that is kept.
    fn find(&self, address: u64, end: u64) -> Option<MetadataBytes> {
        let blocks = self.blocks.read().unwrap_or_else(PoisonError::into_inner);
        let (start, block) = blocks.find(address, end)?;
        block.used.store(self.clock.fetch_add(1, Relaxed), Relaxed);
        let range = (address - start) as usize..(end - start) as usize;
        Some(MetadataBytes { source: Source::Block(Arc::clone(&block.bytes)), range })
    }

    fn read_window(&self, window: &Range<u64>, bytes: &mut Vec<u8>) -> std::io::Result<()> {
        let len = usize::try_from(window.end - window.start)
            .map_err(|_| std::io::Error::from(std::io::ErrorKind::OutOfMemory))?;
        uninit::read_vec(self.storage.as_ref(), window.start, len, bytes)
    }

    /// Reads a block around what is wanted and keeps it.
    fn read_block(&self, address: u64, end: u64) -> std::io::Result<MetadataBytes> {
        let mut window = {
            let mut blocks = self.blocks.write().unwrap_or_else(PoisonError::into_inner);
            blocks.window(address, end, self.len)
        };
        let mut bytes = Vec::new();
        let state = self.state().clone().or_else(|| self.storage.present_stamp());
        match self.read_window(&window, &mut bytes) {
            // A writer may have cut off what stood behind all that counts, such as a redo record.
            Err(error) if error.kind() == UnexpectedEof && window != (address..end) => {
                window = address..end;
                self.read_window(&window, &mut bytes)?;
            }
            outcome => outcome?,
        }
        let window_len = bytes.len();
        let bytes = Arc::new(bytes);
        let is_of_that_state = self.is_still(state.as_ref());
        let mut blocks = self.blocks.write().unwrap_or_else(PoisonError::into_inner);
        if !is_of_that_state {
            self.forget(&mut blocks);
        } else if window_len as u64 <= self.largest_kept {
            // What is larger is used once: a heap's block, a whole index node.
            let used = AtomicU64::new(self.clock.fetch_add(1, Relaxed));
            blocks.keep(window.start, Block { bytes: Arc::clone(&bytes), used });
            *self.state() = state;
        }
        drop(blocks);
        let range = (address - window.start) as usize..(end - window.start) as usize;
        Ok(MetadataBytes { source: Source::Block(bytes), range })
    }
}

impl MetadataBytes {
    fn empty() -> Self {
        Self { source: Source::Block(Arc::default()), range: 0..0 }
    }

    /// The part `range` of them; cut at their end.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Self {
        let end = self.range.start.saturating_add(range.end).min(self.range.end);
        let start = self.range.start.saturating_add(range.start).min(end);
        Self { source: self.source.clone(), range: start..end }
    }
}

impl Deref for MetadataBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        let all = match &self.source {
            Source::Block(bytes) => bytes.as_slice(),
            Source::Storage(storage) => storage.as_slice().unwrap_or_default(),
        };
        all.get(self.range.clone()).unwrap_or_default()
    }
}

impl AsRef<[u8]> for MetadataBytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl fmt::Debug for MetadataBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.range.len())
    }
}
