//! Values that are written over those of the last commit: they wait here for the next one.
//!
//! The file has one place for each, where readers find what is committed. Whoever reads through this storage finds what
//! was written last.

use std::collections::BTreeMap;
use std::io;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::storage::{Storage, WritableStorage, uninit};

/// Pieces that touch become one up to this size.
const JOINED_BYTES: usize = 64 << 10;
/// What keeping a piece takes beside its bytes.
const PIECE_BYTES: u64 = 64;

/// See the module.
pub(super) struct Held {
    storage: Arc<dyn WritableStorage>,
    pieces: RwLock<Pieces>,
    /// How much memory they take, for those who ask all the time.
    bytes: AtomicU64,
}

/// Pieces by address. They do not overlap. A commit that is not over shares them.
type Pieces = BTreeMap<u64, Arc<Vec<u8>>>;

impl Held {
    /// `storage`, with nothing that waits.
    pub(super) fn new(storage: Arc<dyn WritableStorage>) -> Self {
        Self { storage, pieces: RwLock::default(), bytes: AtomicU64::new(0) }
    }

    /// The bytes as they are committed.
    pub(super) fn committed(&self) -> &dyn WritableStorage {
        &*self.storage
    }

    /// About how many bytes of memory are taken.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Relaxed)
    }

    /// Takes `bytes`, which are to stand at `address` from the next commit on.
    pub(super) fn put(&self, address: u64, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let mut pieces = self.write();
        let end = address + bytes.len() as u64;
        if let Some((&start, piece)) = pieces.range_mut(..=address).next_back() {
            let at = (address - start) as usize;
            if at + bytes.len() <= piece.len() {
                return Arc::make_mut(piece)[at..at + bytes.len()].copy_from_slice(bytes);
            }
        }
        self.cut(&mut pieces, address..end);
        let before = pieces.range_mut(..address).next_back();
        let touching = before.filter(|(start, piece)| {
            **start + piece.len() as u64 == address && piece.len() + bytes.len() <= JOINED_BYTES
        });
        let taken = match touching {
            Some((_, piece)) => {
                Arc::make_mut(piece).extend_from_slice(bytes);
                bytes.len() as u64
            }
            None => {
                pieces.insert(address, Arc::new(bytes.to_vec()));
                bytes.len() as u64 + PIECE_BYTES
            }
        };
        self.bytes.fetch_add(taken, Relaxed);
    }

    /// Forgets what waits for `range`.
    pub(super) fn forget(&self, range: Range<u64>) {
        if self.bytes() > 0 {
            self.cut(&mut self.write(), range);
        }
    }

    /// Forgets all that waits.
    pub(super) fn clear(&self) {
        let mut pieces = self.write();
        pieces.clear();
        self.bytes.store(0, Relaxed);
    }

    /// What waits, by addresses that ascend.
    pub(super) fn pieces(&self) -> Vec<(u64, Arc<Vec<u8>>)> {
        self.read().iter().map(|(&address, bytes)| (address, Arc::clone(bytes))).collect()
    }

    fn cut(&self, pieces: &mut Pieces, range: Range<u64>) {
        while let Some((&start, piece)) = pieces.range(..range.end).next_back() {
            let end = start + piece.len() as u64;
            if end <= range.start {
                return;
            }
            let Some(piece) = pieces.remove(&start) else { return };
            let mut piece = Arc::unwrap_or_clone(piece);
            let before = piece.len() as u64 + PIECE_BYTES;
            let mut left = 0;
            if end > range.end {
                let rest = piece.split_off((range.end - start) as usize);
                left += rest.len() as u64 + PIECE_BYTES;
                pieces.insert(range.end, Arc::new(rest));
            }
            if start < range.start {
                piece.truncate((range.start - start) as usize);
                left += piece.len() as u64 + PIECE_BYTES;
                pieces.insert(start, Arc::new(piece));
            }
            self.bytes.fetch_add(left.wrapping_sub(before), Relaxed);
            if start < range.start {
                return;
            }
        }
    }

    fn read(&self) -> RwLockReadGuard<'_, Pieces> {
        self.pieces.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Pieces> {
        self.pieces.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Storage for Held {
    fn len(&self) -> io::Result<u64> {
        self.storage.len()
    }

    fn read_at<'into>(
        &self,
        offset: u64,
        into: &'into mut [MaybeUninit<u8>],
    ) -> io::Result<&'into mut [u8]> {
        if self.bytes() == 0 {
            return self.storage.read_at(offset, into);
        }
        // Held while the file is read: what a commit brings there is either still here or there already.
        let pieces = self.read();
        let into = uninit::read_at(&*self.storage, offset, into)?;
        let end = offset + into.len() as u64;
        for (&start, piece) in pieces.range(..end).rev() {
            let (from, to) = (start.max(offset), end.min(start + piece.len() as u64));
            if from >= to {
                break;
            }
            into[(from - offset) as usize..(to - offset) as usize]
                .copy_from_slice(&piece[(from - start) as usize..(to - start) as usize]);
        }
        Ok(into)
    }

    fn call_cost_bytes(&self) -> u64 {
        self.storage.call_cost_bytes()
    }

    fn parallel(&self) -> bool {
        self.storage.parallel()
    }
}

impl WritableStorage for Held {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.storage.write_at(offset, bytes)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.storage.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        self.storage.sync()
    }

    fn beneath(&self) -> Option<&dyn WritableStorage> {
        Some(&*self.storage)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::storage::GrowingMemory;

    proptest! {
        #[test]
        fn who_reads_finds_what_was_written_last(
            steps in prop::collection::vec((0u64..64, 0usize..20, any::<u8>(), prop::bool::weighted(0.2)), 0..20),
        ) {
            let committed: Vec<u8> = (0..84).collect();
            let held = Held::new(Arc::new(GrowingMemory::new(committed.clone())));
            let mut model = committed.clone();
            for (at, len, byte, forgets) in steps {
                let range = at as usize..at as usize + len;
                if forgets {
                    held.forget(at..at + len as u64);
                    model[range.clone()].copy_from_slice(&committed[range]);
                } else {
                    held.put(at, &vec![byte; len]);
                    model[range].fill(byte);
                }
                let pieces = held.pieces();
                let taken: u64 = pieces.iter().map(|(_, piece)| piece.len() as u64 + PIECE_BYTES).sum();
                prop_assert_eq!(held.bytes(), taken);
                prop_assert!(pieces.windows(2).all(|pair| pair[0].0 + pair[0].1.len() as u64 <= pair[1].0));
                let mut bytes = Vec::new();
                for start in (0..84).step_by(3) {
                    uninit::read_vec(&held, start as u64, 84 - start, &mut bytes).unwrap();
                    prop_assert_eq!(&bytes[..], &model[start..]);
                }
            }
            held.clear();
            let mut bytes = Vec::new();
            uninit::read_vec(&held, 0, 84, &mut bytes).unwrap();
            prop_assert_eq!(bytes, committed);
        }
    }
}
