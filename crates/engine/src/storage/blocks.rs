//! The blocks of a file's structures that are kept, and how much a miss reads.
//!
//! The first read is small. A miss close to what is kept means that structures lie together: the
//! next block is larger. A miss far away starts small again. Calls that are costly (see
//! [`super::Storage::call_cost_bytes`]) start larger, grow faster and end larger; holes that are
//! smaller than a call is dear are filled, and what is expected beside a miss comes along.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::expected::Expected;

/// Bytes of blocks that one file keeps. A file of 10,000 variables has some 5 MB of structures.
const KEPT_BYTES: u64 = 16 << 20;
/// The same where calls are costly and reads bring along what lies between structures: 10,000
/// variables with ten attributes each are spread over 30 MB.
const KEPT_BYTES_COSTLY: u64 = 32 << 20;
/// The smallest read: half a page, so that opening a file whose root header lies far from its
/// superblock reads no more than a page.
const SMALLEST_READ: u64 = 2 << 10;
/// The largest first read, where calls are costly.
const LARGEST_FIRST_READ: u64 = 256 << 10;
/// The largest read that nobody asked for in this size.
const LARGEST_READ: u64 = 1 << 20;
/// Structures that are written one after another lie no further apart than this, mostly.
const NEAR: u64 = 16 << 10;
/// What may be read in all for each object that will be opened, wherever its structures are. A
/// variable with ten attributes takes 3 KB.
const BYTES_PER_OBJECT: u64 = 8 << 10;
/// Few structures that lie across the border of a block reach further across it than this.
const ACROSS: u64 = 4 << 10;
/// A storage whose calls cost more than this is worth waiting for a read under way.
const COSTLY_CALL: u64 = 64 << 10;

/// How much is read and kept of a storage, by what its calls cost.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReadSizes {
    pub(super) costly: bool,
    first: u64,
    growth: u64,
    largest: u64,
    /// What is kept between a read and this many bytes more is read once more: that is cheaper
    /// than one call for each side of it.
    worth_sparing: u64,
    /// Bytes between structures that are read with both.
    joined: u64,
    pub(super) kept: u64,
}

/// The blocks that are kept. None lies within another.
#[derive(Clone)]
pub(super) struct Blocks {
    sizes: ReadSizes,
    /// By the address of their first byte.
    by_start: BTreeMap<u64, Block>,
    kept_bytes: u64,
    /// How much the next miss reads if it is close to what is kept, and calls cost little.
    next_read: u64,
    /// Where calls are costly.
    ahead: Option<Box<Ahead>>,
}

/// What is known of reads to come.
#[derive(Default, Clone)]
struct Ahead {
    expected: Expected,
    /// Bytes that have been asked of storage.
    read_bytes: u64,
    /// Bytes that may be, by the objects that will be opened.
    allowed_bytes: u64,
}

pub(super) struct Block {
    pub(super) bytes: Arc<Vec<u8>>,
    pub(super) used: AtomicU64,
}

impl Clone for Block {
    fn clone(&self) -> Self {
        let used = AtomicU64::new(self.used.load(Relaxed));
        Self { bytes: Arc::clone(&self.bytes), used }
    }
}

impl Default for Blocks {
    /// Those of a storage whose calls cost little: what a forked process begins with where its parent's were just
    /// being changed.
    fn default() -> Self {
        Self::new(ReadSizes::new(COSTLY_CALL / 4))
    }
}

impl Block {
    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }
}

impl ReadSizes {
    pub(super) fn new(call_cost_bytes: u64) -> Self {
        let costly = call_cost_bytes > COSTLY_CALL;
        let times = |factor| call_cost_bytes.saturating_mul(factor);
        if !costly {
            return Self {
                costly,
                first: SMALLEST_READ,
                growth: 2,
                largest: times(4).clamp(SMALLEST_READ, LARGEST_READ),
                worth_sparing: call_cost_bytes / 4,
                joined: 0,
                kept: KEPT_BYTES,
            };
        }
        let first = (call_cost_bytes / 4).min(LARGEST_FIRST_READ);
        let kept = times(64).clamp(KEPT_BYTES, KEPT_BYTES_COSTLY);
        Self {
            costly,
            first,
            growth: 4,
            // With both borders still a block that is kept.
            largest: times(16).min(kept / 4) - 2 * ACROSS,
            worth_sparing: call_cost_bytes / 4,
            joined: call_cost_bytes,
            kept,
        }
    }
}

impl Blocks {
    pub(super) fn new(sizes: ReadSizes) -> Self {
        let ahead = sizes.costly.then(Box::default);
        Self { sizes, by_start: BTreeMap::new(), kept_bytes: 0, next_read: sizes.first, ahead }
    }

    /// The block that holds `address..end`, and where it begins.
    pub(super) fn find(&self, address: u64, end: u64) -> Option<(u64, &Block)> {
        // No block lies within another, so the nearest one before reaches furthest.
        let (&start, block) = self.by_start.range(..=address).next_back()?;
        (end - start <= block.len()).then_some((start, block))
    }

    /// Remembers that structures at addresses with lengths will be asked for.
    pub(super) fn expect(&mut self, structures: impl Iterator<Item = (u64, u64)>) {
        let kept = |address: u64, length: u64| {
            let block = self.by_start.range(..=address).next_back();
            block.is_some_and(|(start, block)| {
                (address - start).saturating_add(length) <= block.len()
            })
        };
        // What is larger than a read is a read of its own.
        let largest = self.sizes.largest;
        let missing = structures.filter(|&(at, length)| length <= largest && !kept(at, length));
        if let Some(ahead) = &mut self.ahead {
            ahead.expected.extend(missing);
        }
    }

    /// Remembers that `count` objects will be opened.
    pub(super) fn expect_objects(&mut self, count: u64) {
        let bytes = count.saturating_mul(BYTES_PER_OBJECT);
        if let Some(ahead) = &mut self.ahead {
            ahead.allowed_bytes = ahead.allowed_bytes.saturating_add(bytes);
        }
    }

    /// What to read so that `address..end` is in it: more behind it, or before it where the
    /// structures come backwards, up to what is kept. (What is kept and smaller than a call is
    /// dear is read once more.)
    pub(super) fn window(&mut self, address: u64, end: u64, file_len: u64) -> Range<u64> {
        let before = self.by_start.range(..=address).next_back();
        let before = before.map(|(start, block)| (start + block.len(), block.len()));
        let after = self.by_start.range(address + 1..).next();
        let after = after.map(|(&start, block)| (start, block.len()));
        if let Some(mut ahead) = self.ahead.take() {
            let window = self.window_of_costly(&ahead, address..end, before, after, file_len);
            ahead.expected.forget(&window);
            ahead.read_bytes = ahead.read_bytes.saturating_add(window.end - window.start);
            self.ahead = Some(ahead);
            return window;
        }
        let near = NEAR + self.next_read / 8;
        let follows = before.is_some_and(|(kept, _)| address.saturating_sub(kept) <= near);
        let precedes = after.is_some_and(|(kept, _)| kept.saturating_sub(end) <= near);
        if follows || precedes {
            let grown = self.next_read.saturating_mul(self.sizes.growth);
            self.next_read = grown.min(self.sizes.largest);
        } else {
            self.next_read = self.sizes.first;
        }
        if precedes && !follows {
            return self.window_before(address..end, self.next_read, before, after);
        }
        self.window_behind(address..end, self.next_read, file_len)
    }

    /// `wanted` and `size` bytes: up to what is kept behind it, and the rest of the size before it.
    fn window_before(
        &self,
        wanted: Range<u64>,
        size: u64,
        before: Option<(u64, u64)>,
        after: Option<(u64, u64)>,
    ) -> Range<u64> {
        let stop = after.map(|(kept, _)| kept).filter(|&after| after >= wanted.end);
        let stop = stop.unwrap_or(wanted.end);
        let start = wanted.start.min(stop.saturating_sub(size));
        before.map_or(start, |(kept, _)| start.max(kept.min(wanted.start)))..stop
    }

    /// `wanted` and what is behind it, `size` bytes in all.
    fn window_behind(&self, wanted: Range<u64>, size: u64, file_len: u64) -> Range<u64> {
        let Range { start, end } = wanted;
        let stop = start.saturating_add(size).max(end).min(file_len);
        start..self.kept_behind(start + 1, stop.max(start + 1)).map_or(stop, |kept| kept.max(end))
    }

    /// The first block that begins in `from..stop` and is too large to be read once more.
    fn kept_behind(&self, from: u64, stop: u64) -> Option<u64> {
        let mut behind = self.by_start.range(from..stop);
        behind.find(|(_, block)| block.len() >= self.sizes.worth_sparing).map(|(&kept, _)| kept)
    }

    /// The same over a costly storage. A read is larger than the block that it is near to, so a run
    /// of structures is read in a logarithm of calls, and islands far apart in small ones each.
    fn window_of_costly(
        &self,
        ahead: &Ahead,
        wanted: Range<u64>,
        before: Option<(u64, u64)>,
        after: Option<(u64, u64)>,
        file_len: u64,
    ) -> Range<u64> {
        let sizes = self.sizes;
        let near = |len: u64| len.clamp(NEAR, sizes.joined);
        let follows = before.filter(|(kept, len)| wanted.start <= kept.saturating_add(near(*len)));
        let precedes = after.filter(|(kept, len)| kept.saturating_sub(near(*len)) <= wanted.end);
        let beside = [follows, precedes].into_iter().flatten().map(|(_, len)| len).max();
        let grown = beside.unwrap_or(0).saturating_mul(sizes.growth);
        let size = grown.clamp(sizes.first, sizes.largest);
        let hole_start = before.map_or(0, |(kept, _)| kept.min(wanted.start));
        let hole_end = after.map_or(file_len, |(kept, _)| kept.max(wanted.end));
        let allowed = self.allowed(ahead, &wanted, &(hole_start..hole_end), file_len);
        let window = if hole_end - hole_start <= sizes.joined.max(wanted.end - wanted.start) {
            hole_start..hole_end
        } else if allowed <= size && precedes.is_some() && follows.is_none() {
            self.window_before(wanted, size, before, after)
        } else {
            // A run of structures goes on where the block before it ends.
            let from = match follows {
                Some((kept, _)) if allowed <= size => kept.min(wanted.start),
                _ => wanted.start,
            };
            let size = size.max(allowed);
            let behind = self.window_behind(from..wanted.end, size, file_len);
            // Nothing more is behind it, as at the end of the file, where writers put what they commit.
            let start = behind.end.saturating_sub(size).max(hole_start);
            start.min(behind.start)..behind.end
        };
        self.with_expected(&ahead.expected, window, hole_start, file_len)
    }

    /// How much may be read in the `hole` between blocks that `wanted` is in because of objects
    /// that will be opened: what is allowed for them, if it is enough for all of the file, or if
    /// structures lie so near.
    fn allowed(&self, ahead: &Ahead, wanted: &Range<u64>, hole: &Range<u64>, file_len: u64) -> u64 {
        // Whatever a file says of itself, it is not read over and over.
        let most = file_len.saturating_mul(2).min(ahead.allowed_bytes);
        let spare = most.saturating_sub(ahead.read_bytes);
        let from_kept = (wanted.start - hole.start).min(hole.end - wanted.end);
        let is_near = from_kept <= self.sizes.largest || spare >= file_len;
        if is_near { spare.min(self.sizes.largest) } else { 0 }
    }

    /// `window` and what is expected around it, as far as it is not kept.
    fn with_expected(
        &self,
        expected: &Expected,
        window: Range<u64>,
        kept_before: u64,
        file_len: u64,
    ) -> Range<u64> {
        let Range { start, end } = window;
        let stop = start.saturating_add(self.sizes.largest).min(file_len).max(end);
        let kept_behind =
            self.kept_behind(start + 1, stop.max(start + 1)).map(|kept| kept.max(end));
        let reach = kept_behind.unwrap_or(stop);
        let mut end = expected.reach_behind(&(start..end), self.sizes.joined, reach).max(end);
        let from = end.saturating_sub(self.sizes.largest).max(kept_before).min(start);
        let mut start = expected.reach_before(&(start..end), self.sizes.joined, from);
        if kept_behind == Some(end) {
            end = end.saturating_add(ACROSS).min(file_len);
        }
        if start == kept_before {
            start = start.saturating_sub(ACROSS);
        }
        start..end
    }

    /// Keeps `block`; where that is more than may be kept, those not used for longest go.
    pub(super) fn keep(&mut self, start: u64, block: Block) {
        let end = start + block.len();
        // No block lies within another.
        let inside = self.by_start.range(start..end);
        let inside = inside.take_while(|(start, block)| **start + block.len() <= end);
        for start in inside.map(|(&start, _)| start).collect::<Vec<u64>>() {
            self.remove(start);
        }
        self.kept_bytes += block.len();
        self.by_start.insert(start, block);
        if self.kept_bytes <= self.sizes.kept {
            return;
        }
        let mut by_use: Vec<(u64, u64)> =
            self.by_start.iter().map(|(&start, block)| (block.used.load(Relaxed), start)).collect();
        by_use.sort_unstable();
        for (_, start) in by_use {
            // Some room, so that not every read has to look for the oldest.
            if self.kept_bytes <= self.sizes.kept / 4 * 3 {
                break;
            }
            self.remove(start);
        }
    }

    /// Keeps all of them from now on.
    pub(super) fn keep_all(&mut self) {
        self.sizes.kept = u64::MAX;
    }

    fn remove(&mut self, start: u64) {
        if let Some(block) = self.by_start.remove(&start) {
            self.kept_bytes -= block.len();
        }
    }
}
