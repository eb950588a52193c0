//! A file's structures, fetched in blocks that are kept.
//!
//! ```text
//! mapping --structure(address, guess, decode)--> blocks kept --miss--> Storage::read_at
//! ```
//! A block begins and ends anywhere, so a structure always lies in one block and is never copied
//! together. How much a miss reads is decided in `blocks`.
//!
//! All that is read is of the one committed state in which the storage was opened: after each read the storage is
//! asked ([`Storage::ensure_state`]), and where it is in another one, what was read is not used.

use std::fmt;
use std::io::ErrorKind::{OutOfMemory, UnexpectedEof};
use std::ops::{Deref, Range};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, PoisonError};

use super::blocks::{Block, Blocks, ReadSizes};
use super::{Storage, became_shorter, is_past_end, past_end, storage_error, uninit};
use crate::error::{Error, ErrorKind, Result};
use crate::sync::{Mutex, RwLock};

/// Reads a file's structures; see the module. Shared by all threads that use the file.
pub struct MetadataReader {
    file: Arc<str>,
    storage: Arc<dyn Storage>,
    len: u64,
    costly: bool,
    /// The largest block that is kept.
    largest_kept: u64,
    blocks: RwLock<Blocks>,
    /// Held while a block is read from a costly storage: whoever comes second finds it kept.
    fetching: Mutex<()>,
    keeps_all: AtomicBool,
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
            fetching: Mutex::new(()),
            keeps_all: AtomicBool::new(false),
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
    /// [`ErrorKind::Storage`] where the storage fails or ends before that; [`ErrorKind::Changed`].
    pub fn fetch(&self, address: u64, length: u64) -> Result<MetadataBytes> {
        let fail = |source| storage_error(&self.file, address, length, source);
        let end = address.checked_add(length).filter(|&end| end <= self.len);
        let end = end.ok_or_else(|| fail(past_end()))?;
        if let Some(bytes) = self.find_in_memory(address, end).or_else(|| self.find(address, end)) {
            return Ok(bytes);
        }
        let _gate =
            self.is_costly().then(|| self.fetching.lock().unwrap_or_else(PoisonError::into_inner));
        if let Some(bytes) = self.find(address, end) {
            return Ok(bytes);
        }
        // What lies within the length that the file had is there, or it is another file by now.
        let shorter = |source| if is_past_end(&source) { became_shorter() } else { source };
        self.read_block(address, end).map_err(shorter).map_err(fail)
    }

    /// As [`Self::fetch`], of bytes that stay what they are as long as the storage's state is held
    /// ([`Storage::ensure_values`]), though that may be another one by now. They are not kept.
    pub(crate) fn fetch_held(&self, address: u64, length: u64) -> Result<MetadataBytes> {
        let len = usize::try_from(length).map_err(|_| OutOfMemory.into());
        let mut bytes = Vec::new();
        len.and_then(|len| uninit::read_vec(self.storage.as_ref(), address, len, &mut bytes))
            .and_then(|()| self.storage.ensure_values())
            .map_err(|source| storage_error(&self.file, address, length, source))?;
        let range = 0..bytes.len();
        Ok(MetadataBytes { source: Source::Block(Arc::new(bytes)), range })
    }

    /// Has all that is read from now on be kept, however much that is: what was read once is never read again.
    pub(crate) fn keep_all(&self) {
        self.blocks.write().unwrap_or_else(PoisonError::into_inner).keep_all();
        self.keeps_all.store(true, Relaxed);
    }

    /// Whether [`Self::keep_all`] was said.
    pub(crate) fn keeps_all(&self) -> bool {
        self.keeps_all.load(Relaxed)
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
        let mut outcome = self.read_window(&window, &mut bytes);
        if outcome.as_ref().is_err_and(|error| error.kind() == UnexpectedEof)
            && window != (address..end)
        {
            // A writer may have cut off what stood behind all that counts, such as a redo record.
            window = address..end;
            outcome = self.read_window(&window, &mut bytes);
        }
        self.storage.ensure_state()?;
        outcome?;
        let bytes = Arc::new(bytes);
        // What is larger is used once: a heap's block, a whole index node.
        if bytes.len() as u64 <= self.largest_kept || self.keeps_all() {
            let mut blocks = self.blocks.write().unwrap_or_else(PoisonError::into_inner);
            let used = AtomicU64::new(self.clock.fetch_add(1, Relaxed));
            blocks.keep(window.start, Block { bytes: Arc::clone(&bytes), used });
        }
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
