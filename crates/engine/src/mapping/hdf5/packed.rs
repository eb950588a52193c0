//! The bytes of many values in few allocations.

use std::ops::Range;

/// Values share a vector up to this many bytes: one that grows without bound is copied again and
/// again, and half empty in the end.
const BLOCK_BYTES: usize = 32 << 10;

/// Bytes of values, found again by their [`Place`].
#[derive(Default)]
pub(super) struct Packed {
    latest: Vec<u8>,
    /// The vectors before it, to which nothing is added.
    full: Vec<Vec<u8>>,
}

/// Where a value's bytes stand.
#[derive(Debug)]
pub(super) struct Place {
    /// Which of the full vectors it is, or the latest behind them.
    block: usize,
    range: Range<usize>,
}

impl Packed {
    /// Makes room for values of `byte_count` bytes.
    pub(super) fn reserve(&mut self, byte_count: usize) {
        self.latest.reserve(byte_count);
    }

    /// Takes in the `bytes` of a value.
    pub(super) fn add(&mut self, bytes: &[u8]) -> Place {
        let room = self.latest.capacity();
        let needed = self.latest.len() + bytes.len();
        if needed > room && needed > BLOCK_BYTES {
            let next = Vec::with_capacity(bytes.len().max(BLOCK_BYTES));
            self.full.push(std::mem::replace(&mut self.latest, next));
        } else if needed > room {
            let grown = needed.max(room * 2).min(BLOCK_BYTES);
            self.latest.reserve_exact(grown - self.latest.len());
        }
        let start = self.latest.len();
        self.latest.extend_from_slice(bytes);
        Place { block: self.full.len(), range: start..self.latest.len() }
    }

    /// The bytes at `place`, one of its own.
    pub(super) fn get(&self, place: &Place) -> &[u8] {
        let block = self.full.get(place.block).unwrap_or(&self.latest);
        &block[place.range.clone()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_again() {
        let lens = [0, 1, 300, 0, BLOCK_BYTES - 400, 200, 3 * BLOCK_BYTES, 0, 7, BLOCK_BYTES, 5];
        let value = |(index, len): (usize, usize)| vec![index as u8; len];
        let values: Vec<Vec<u8>> = lens.into_iter().enumerate().map(value).collect();
        let mut packed = Packed::default();
        packed.reserve(100);
        let places: Vec<Place> = values.iter().map(|value| packed.add(value)).collect();
        for (place, value) in places.iter().zip(&values) {
            assert_eq!(packed.get(place), value);
        }
    }

    #[test]
    fn little_room_stays_empty() {
        let (value, mut packed) = ([1; 800], Packed::default());
        let places: Vec<Place> = (0..10_000).map(|_| packed.add(&value)).collect();
        let taken = packed.latest.capacity() + packed.full.iter().map(Vec::capacity).sum::<usize>();
        assert!(taken < places.len() * value.len() * 21 / 20, "{taken}");
    }
}
