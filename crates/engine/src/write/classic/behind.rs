//! Small writes wait here until there are enough of them for large ones.
//!
//! Programs write a record variable by variable, or a variable row by row: what lies side by side
//! in the end goes to storage in one call. Where little lies between two pieces, it is read and
//! written again, as that costs less than a call for each.

use std::collections::BTreeMap;
use std::mem::MaybeUninit;
use std::ops::Bound;

use super::Target;
use crate::error::Result;

/// Bytes that wait at most where nobody says how many, with what keeping them takes.
const CAPACITY_BYTES: usize = 4 << 20;
/// From this length on, a write does not wait.
const DIRECT_BYTES: usize = 1 << 20;
/// What keeping a piece takes beside its bytes.
const PIECE_BYTES: usize = 64;
/// Bytes that are written again rather than that there is another call.
const GAP_BYTES: u64 = 4 << 10;

/// Pieces by address. They neither overlap nor touch.
pub(super) struct Behind {
    pieces: BTreeMap<u64, Vec<u8>>,
    kept_bytes: usize,
    capacity_bytes: usize,
}

impl Default for Behind {
    fn default() -> Self {
        Self { pieces: BTreeMap::new(), kept_bytes: 0, capacity_bytes: CAPACITY_BYTES }
    }
}

impl Behind {
    /// Lets so many bytes wait at most.
    pub(super) fn limit(&mut self, capacity_bytes: u64) {
        self.capacity_bytes = usize::try_from(capacity_bytes).unwrap_or(usize::MAX);
    }

    /// Takes `bytes`, which are to stand at `address`.
    pub(super) fn put(&mut self, target: &Target, address: u64, bytes: &[u8]) -> Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        if bytes.len() >= DIRECT_BYTES.min(self.capacity_bytes) {
            self.flush(target)?;
            return target.write(address, bytes);
        }
        self.insert(address, bytes);
        if self.kept_bytes > self.capacity_bytes { self.flush(target) } else { Ok(()) }
    }

    /// Writes what waits. What could not be written goes on waiting.
    pub(super) fn flush(&mut self, target: &Target) -> Result<()> {
        while let Some((&first, piece)) = self.pieces.first_key_value() {
            let mut end = first + piece.len() as u64;
            let mut last = first;
            for (&address, piece) in self.pieces.range((Bound::Excluded(first), Bound::Unbounded)) {
                let piece_end = address + piece.len() as u64;
                if address - end > GAP_BYTES || piece_end - first > self.capacity_bytes as u64 {
                    break;
                }
                (last, end) = (address, piece_end);
            }
            if last == first {
                target.write(first, piece)?;
            } else {
                target.write(first, &self.joined(target, first, end)?)?;
            }
            let behind = self.pieces.split_off(&end);
            let written = std::mem::replace(&mut self.pieces, behind);
            self.kept_bytes -=
                written.values().map(|piece| piece.len() + PIECE_BYTES).sum::<usize>();
        }
        Ok(())
    }

    /// Forgets what waits.
    pub(super) fn forget(&mut self) {
        *self = Self { capacity_bytes: self.capacity_bytes, ..Self::default() };
    }

    /// The bytes from `first` to `end`: those that wait, and between them those of the file.
    fn joined(&self, target: &Target, first: u64, end: u64) -> Result<Vec<u8>> {
        let mut window = vec![MaybeUninit::uninit(); (end - first) as usize];
        let mut bytes = target.read_committed_with_zeros(first, &mut window)?.to_vec();
        for (address, piece) in self.pieces.range(first..end) {
            let at = (address - first) as usize;
            bytes[at..at + piece.len()].copy_from_slice(piece);
        }
        Ok(bytes)
    }

    fn insert(&mut self, address: u64, bytes: &[u8]) {
        let end = address + bytes.len() as u64;
        let before = self.pieces.range(..=address).next_back();
        let start = match before {
            Some((&start, piece)) if start + piece.len() as u64 >= address => start,
            _ => address,
        };
        let piece = self.pieces.entry(start).or_insert_with(|| {
            self.kept_bytes += PIECE_BYTES;
            Vec::new()
        });
        let at = (address - start) as usize;
        let inside = bytes.len().min(piece.len() - at);
        piece[at..at + inside].copy_from_slice(&bytes[..inside]);
        piece.extend_from_slice(&bytes[inside..]);
        self.kept_bytes += bytes.len() - inside;
        self.absorb(start, end);
    }

    /// Appends to the piece at `start`, which was extended up to `end`, the pieces that it reached.
    fn absorb(&mut self, start: u64, end: u64) {
        loop {
            let next = self.pieces.range((Bound::Excluded(start), Bound::Included(end))).next();
            let Some((&address, _)) = next else { return };
            let Some(next) = self.pieces.remove(&address) else { return };
            let Some(piece) = self.pieces.get_mut(&start) else { return };
            let hidden = ((start + piece.len() as u64 - address) as usize).min(next.len());
            piece.extend_from_slice(&next[hidden..]);
            self.kept_bytes -= hidden + PIECE_BYTES;
        }
    }
}
