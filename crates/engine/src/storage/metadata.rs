//! A file's structures, fetched in blocks that are kept.
//!
//! ```text
//! mapping --structure(address, guess, decode)--> blocks kept --miss--> Storage::read_at
//! ```
//! A block begins and ends anywhere, so a structure always lies in one block and is never copied
//! together. The first read is small. A miss close to what is kept means that structures lie
//! together: the next block is larger. A miss far away starts small again. Calls that are costly
//! (see [`Storage::call_cost_bytes`]) start larger, grow faster and end larger.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::{Deref, Range};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use super::{Storage, storage_error, unexpected_end, uninit};
use crate::error::{Error, ErrorKind, Result};

/// Bytes of blocks that one file keeps. A file of 10,000 variables has some 5 MB of structures.
const KEPT_BYTES: u64 = 16 << 20;
/// The smallest read: half a page, so that opening a file whose root header lies far from its
/// superblock reads no more than a page.
const SMALLEST_READ: u64 = 2 << 10;
/// The largest first read, where calls are costly.
const LARGEST_FIRST_READ: u64 = 256 << 10;
/// The largest read that nobody asked for in this size.
const LARGEST_READ: u64 = 1 << 20;
/// Structures that are written one after another lie no further apart than this, mostly.
const NEAR: u64 = 16 << 10;
/// A storage whose calls cost more than this is worth waiting for a read under way.
const COSTLY_CALL: u64 = 64 << 10;

/// Reads a file's structures; see the module. Shared by all threads that use the file.
pub struct MetadataReader {
    file: Arc<str>,
    storage: Arc<dyn Storage>,
    len: u64,
    sizes: ReadSizes,
    blocks: RwLock<Blocks>,
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

#[derive(Debug, Clone, Copy)]
struct ReadSizes {
    first: u64,
    growth: u64,
    largest: u64,
    /// Whoever has asked for much of the file will ask for more of it, wherever that is.
    grows_with_file_read: bool,
    /// Bytes that are not read once more if that needs a call more.
    worth_sparing: u64,
}

struct Blocks {
    /// By the address of their first byte.
    by_start: BTreeMap<u64, Block>,
    kept_bytes: u64,
    /// How much the next miss reads if it is close to what is kept.
    next_read: u64,
}

struct Block {
    bytes: Arc<Vec<u8>>,
    used: AtomicU64,
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
            sizes,
            blocks: RwLock::new(Blocks::new(sizes.first)),
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
        let costly = self.storage.call_cost_bytes() > COSTLY_CALL;
        let _gate = costly.then(|| self.fetching.lock().unwrap_or_else(PoisonError::into_inner));
        if let Some(bytes) = self.find(address, end) {
            return Ok(bytes);
        }
        self.read_block(address, end).map_err(fail)
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
        // No block lies within another, so the nearest one before reaches furthest.
        let (start, block) = blocks.by_start.range(..=address).next_back()?;
        if end - *start > block.bytes.len() as u64 {
            return None;
        }
        block.used.store(self.clock.fetch_add(1, Relaxed), Relaxed);
        let range = (address - start) as usize..(end - start) as usize;
        Some(MetadataBytes { source: Source::Block(Arc::clone(&block.bytes)), range })
    }

    /// Reads a block around what is wanted and keeps it.
    fn read_block(&self, address: u64, end: u64) -> std::io::Result<MetadataBytes> {
        let window = {
            let mut blocks = self.blocks.write().unwrap_or_else(PoisonError::into_inner);
            blocks.window(address, end, self.len, self.sizes)
        };
        let mut bytes = Vec::new();
        let window_len = usize::try_from(window.end - window.start)
            .map_err(|_| std::io::Error::from(std::io::ErrorKind::OutOfMemory))?;
        uninit::read_vec(self.storage.as_ref(), window.start, window_len, &mut bytes)?;
        let bytes = Arc::new(bytes);
        // What is large is used once: a heap's block, a whole index node.
        if window_len as u64 <= KEPT_BYTES / 4 {
            let used = AtomicU64::new(self.clock.fetch_add(1, Relaxed));
            let block = Block { bytes: Arc::clone(&bytes), used };
            let mut blocks = self.blocks.write().unwrap_or_else(PoisonError::into_inner);
            blocks.keep(window.start, block);
        }
        let range = (address - window.start) as usize..(end - window.start) as usize;
        Ok(MetadataBytes { source: Source::Block(bytes), range })
    }
}

impl ReadSizes {
    fn new(call_cost_bytes: u64) -> Self {
        let costly = call_cost_bytes > COSTLY_CALL;
        let first = if costly { call_cost_bytes / 4 } else { SMALLEST_READ };
        let first = first.clamp(SMALLEST_READ, LARGEST_FIRST_READ);
        Self {
            first,
            growth: if costly { 4 } else { 2 },
            largest: call_cost_bytes.saturating_mul(4).clamp(first, LARGEST_READ),
            grows_with_file_read: costly,
            worth_sparing: call_cost_bytes / 4,
        }
    }
}

impl Blocks {
    fn new(next_read: u64) -> Self {
        Self { by_start: BTreeMap::new(), kept_bytes: 0, next_read }
    }

    /// What to read so that `address..end` is in it: more behind it, or before it where the
    /// structures come backwards, up to what is kept. (What is kept and smaller than a call is
    /// dear is read once more.)
    fn window(&mut self, address: u64, end: u64, file_len: u64, sizes: ReadSizes) -> Range<u64> {
        let before = self.by_start.range(..=address).next_back();
        let before_end = before.map(|(start, block)| start + block.bytes.len() as u64);
        let after = self.by_start.range(address + 1..).next().map(|(&start, _)| start);
        let near = NEAR + self.next_read / 8;
        let follows = before_end.is_some_and(|kept| address.saturating_sub(kept) <= near);
        let precedes = after.is_some_and(|kept| kept.saturating_sub(end) <= near);
        if follows || precedes {
            self.next_read = self.next_read.saturating_mul(sizes.growth).min(sizes.largest);
        } else {
            self.next_read = sizes.first;
        }
        if sizes.grows_with_file_read {
            self.next_read = self.next_read.max(self.kept_bytes / 8).min(sizes.largest);
        }
        if precedes && !follows {
            // Up to what is kept behind it, and the rest of the size before it.
            let stop = after.filter(|&after| after >= end).unwrap_or(end);
            let start = address.min(stop.saturating_sub(self.next_read));
            return before_end.map_or(start, |kept| start.max(kept.min(address)))..stop;
        }
        let stop = address.saturating_add(self.next_read).max(end).min(file_len);
        let mut behind = self.by_start.range(address + 1..stop.max(address + 1));
        let kept = behind.find(|(_, block)| block.bytes.len() as u64 >= sizes.worth_sparing);
        address..kept.map_or(stop, |(&kept, _)| kept.max(end))
    }

    /// Keeps `block`; where that is more than may be kept, those not used for longest go.
    fn keep(&mut self, start: u64, block: Block) {
        let end = start + block.bytes.len() as u64;
        // No block lies within another.
        let inside = self.by_start.range(start..end);
        let inside = inside.take_while(|(start, block)| **start + block.bytes.len() as u64 <= end);
        for start in inside.map(|(&start, _)| start).collect::<Vec<u64>>() {
            self.remove(start);
        }
        self.kept_bytes += block.bytes.len() as u64;
        self.by_start.insert(start, block);
        if self.kept_bytes <= KEPT_BYTES {
            return;
        }
        let mut by_use: Vec<(u64, u64)> =
            self.by_start.iter().map(|(&start, block)| (block.used.load(Relaxed), start)).collect();
        by_use.sort_unstable();
        for (_, start) in by_use {
            // Some room, so that not every read has to look for the oldest.
            if self.kept_bytes <= KEPT_BYTES / 4 * 3 {
                break;
            }
            self.remove(start);
        }
    }

    fn remove(&mut self, start: u64) {
        if let Some(block) = self.by_start.remove(&start) {
            self.kept_bytes -= block.bytes.len() as u64;
        }
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
