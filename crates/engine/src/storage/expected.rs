//! Structures that will be asked for, told before they are.
//!
//! Whoever reads a level of an index, the blocks of a heap or the headers of a group knows where all
//! of them stand. Where a call costs much, those that lie together are read with the first of them.
//! Each is read ahead once: what is no longer kept is fetched like any other structure.

use std::collections::BTreeMap;
use std::ops::Range;

/// Structures that are remembered, by count: 1.5 MB. Those beyond are not read ahead.
const REMEMBERED: usize = 64 << 10;

/// What is expected: lengths by addresses.
#[derive(Debug, Default, Clone)]
pub(super) struct Expected {
    lengths: BTreeMap<u64, u64>,
}

impl Expected {
    /// Remembers structures at addresses with lengths.
    pub(super) fn extend(&mut self, structures: impl Iterator<Item = (u64, u64)>) {
        let room = REMEMBERED.saturating_sub(self.lengths.len());
        self.lengths.extend(structures.take(room));
    }

    /// Forgets the structures that begin in `read`.
    pub(super) fn forget(&mut self, read: &Range<u64>) {
        while let Some((&start, _)) = self.lengths.range(read.clone()).next() {
            self.lengths.remove(&start);
        }
    }

    /// How far a read of `window` goes on so that the structures behind it come along: across gaps
    /// of up to `gap` bytes, and to no more than `end`.
    pub(super) fn reach_behind(&self, window: &Range<u64>, gap: u64, end: u64) -> u64 {
        let mut reach = window.end;
        for (&start, &length) in self.lengths.range(window.start..end) {
            if start.saturating_sub(reach) > gap {
                break;
            }
            let stop = start.saturating_add(length);
            if stop > end {
                // All of it comes with the next read.
                return reach.max(start);
            }
            reach = reach.max(stop);
        }
        reach
    }

    /// The same for those before it, from `start` on.
    pub(super) fn reach_before(&self, window: &Range<u64>, gap: u64, start: u64) -> u64 {
        let mut reach = window.start;
        for (&at, &length) in self.lengths.range(start..window.start.max(start)).rev() {
            if reach.saturating_sub(at.saturating_add(length)) > gap {
                break;
            }
            reach = at;
        }
        reach
    }
}
