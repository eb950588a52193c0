//! Which elements of a chunk were written: all from the first to some other, as row after row brings them, or
//! else one bit for each.

use std::ops::Range;

use crate::strided_copy::CopyAxis;

pub(super) struct Written {
    /// Elements from the first on that were written, and no others; where there are words, these tell.
    front: usize,
    /// Bit `i` stands for element `i` of the chunk, row-major. None until they are needed.
    words: Vec<u64>,
    /// Elements of the chunk.
    count: usize,
    /// Those that were not written yet.
    left: usize,
    /// From the first to behind the last of those that were written since the file had all of them.
    changed: Range<usize>,
}

impl Written {
    /// Nothing of `count` elements.
    pub(super) fn nothing(count: usize) -> Self {
        Self { front: 0, words: Vec::new(), count, left: count, changed: 0..0 }
    }

    /// Nothing is written any more.
    pub(super) fn clear(&mut self) {
        self.words.clear();
        (self.front, self.left) = (0, self.count);
        self.forget_changed();
    }

    /// From the first to behind the last element that was written since the file had all of them.
    pub(super) fn changed(&self) -> Range<usize> {
        self.changed.clone()
    }

    /// The file has all that was written.
    pub(super) fn forget_changed(&mut self) {
        self.changed = 0..0;
    }

    /// The most memory that it takes for `count` elements.
    pub(super) fn bytes(count: usize) -> usize {
        count.div_ceil(64) * size_of::<u64>()
    }

    /// How many elements were written.
    pub(super) fn len(&self) -> usize {
        self.count - self.left
    }

    /// True where every element was written.
    pub(super) fn is_all(&self) -> bool {
        self.left == 0
    }

    /// Marks a box of elements of `size` bytes, the first of which stands `to` bytes from the
    /// beginning of the chunk. What lies beyond the chunk is not marked.
    pub(super) fn mark(&mut self, axes: &[CopyAxis], to: usize, size: usize) {
        match axes {
            [] => self.mark_run(to / size, 1),
            [axis] if axis.target_step == size as isize => self.mark_run(to / size, axis.count),
            [axis, inner @ ..] => {
                for index in 0..axis.count {
                    let to = to.wrapping_add_signed(index as isize * axis.target_step);
                    self.mark(inner, to, size);
                }
            }
        }
    }

    /// Marks `count` elements from `first`.
    pub(super) fn mark_run(&mut self, first: usize, count: usize) {
        let end = first.saturating_add(count).min(self.count);
        if first >= end {
            return;
        }
        let Range { start: low, end: high } = self.changed;
        self.changed = if low < high { low.min(first)..high.max(end) } else { first..end };
        if self.words.is_empty() {
            if first <= self.front {
                self.front = self.front.max(end);
                self.left = self.count - self.front;
                return;
            }
            self.words.resize(self.count.div_ceil(64), 0);
            self.left = self.count;
            self.mark_bits(0, self.front);
        }
        self.mark_bits(first, end);
    }

    /// Sets the bits of elements `first .. end`.
    fn mark_bits(&mut self, first: usize, end: usize) {
        if first >= end {
            return;
        }
        let last = (end - 1) / 64;
        let from_first = u64::MAX << (first % 64);
        let to_last = u64::MAX >> (63 - (end - 1) % 64);
        let words = &mut self.words[first / 64..=last];
        match words {
            [only] => self.left -= set(only, from_first & to_last),
            [low, whole @ .., high] => {
                self.left -= set(low, from_first) + set(high, to_last);
                self.left -= whole.iter_mut().map(|word| set(word, u64::MAX)).sum::<usize>();
            }
            [] => {}
        }
    }

    /// Calls `visit` with every run of elements that were not written: the first and one past the
    /// last.
    pub(super) fn each_gap(&self, mut visit: impl FnMut(usize, usize)) {
        let mut at = 0;
        while let Some(first) = self.next(at, false) {
            let end = self.next(first, true).unwrap_or(self.count);
            visit(first, end);
            at = end;
        }
    }

    /// The first element from `at` on that was written, or was not.
    fn next(&self, at: usize, written: bool) -> Option<usize> {
        if self.words.is_empty() {
            return match written {
                true => (at < self.front).then_some(at),
                false => Some(at.max(self.front)).filter(|&found| found < self.count),
            };
        }
        let mut word = at / 64;
        let mut mask = u64::MAX << (at % 64);
        while let Some(&bits) = self.words.get(word) {
            let wanted = if written { bits } else { !bits } & mask;
            if wanted != 0 {
                let found = word * 64 + wanted.trailing_zeros() as usize;
                return (found < self.count).then_some(found);
            }
            (word, mask) = (word + 1, u64::MAX);
        }
        None
    }
}

/// Sets the bits of `mask`: how many of them were not set.
fn set(word: &mut u64, mask: u64) -> usize {
    let new = mask & !*word;
    *word |= mask;
    new.count_ones() as usize
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn bits_are_as_a_list_of_booleans(
            count in 1usize..300,
            runs in prop::collection::vec((0usize..300, 0usize..150, 1usize..5), 0..6),
        ) {
            let (mut written, mut model) = (Written::nothing(count), vec![false; count]);
            for (first, len, step) in runs {
                let first = first % count;
                let len = len.min((count - first).div_ceil(step));
                if len > 0 {
                    let axis = CopyAxis { count: len, source_step: 0, target_step: 4 * step as isize };
                    written.mark(&[axis], first * 4, 4);
                }
                (0..len).for_each(|index| model[first + index * step] = true);
            }
            let mut gaps = vec![true; count];
            written.each_gap(|first, end| gaps[first..end].fill(false));
            prop_assert_eq!(&gaps, &model);
            prop_assert_eq!(written.len(), model.iter().filter(|&&bit| bit).count());
            prop_assert_eq!(written.is_all(), !model.contains(&false));
            let first = model.iter().position(|&bit| bit).unwrap_or(0);
            let end = model.iter().rposition(|&bit| bit).map_or(0, |last| last + 1);
            prop_assert_eq!(written.changed(), first..end);
        }
    }
}
