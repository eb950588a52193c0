//! Which elements of a chunk were written: one bit for each.

use crate::strided_copy::CopyAxis;

/// Bit `i` stands for element `i` of the chunk, row-major.
pub(super) struct Written {
    words: Vec<u64>,
    /// Elements of the chunk.
    count: usize,
    /// Those that were not written yet.
    left: usize,
}

impl Written {
    /// Nothing of `count` elements.
    pub(super) fn nothing(count: usize) -> Self {
        Self { words: vec![0; count.div_ceil(64)], count, left: count }
    }

    /// Nothing is written any more.
    pub(super) fn clear(&mut self) {
        self.words.fill(0);
        self.left = self.count;
    }

    /// Memory that it takes for `count` elements.
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
        let mut at = first;
        while at < end {
            let (word, low) = (at / 64, at % 64);
            let taken = (64 - low).min(end - at);
            let mask = (u64::MAX >> (64 - taken)) << low;
            self.left -= (mask & !self.words[word]).count_ones() as usize;
            self.words[word] |= mask;
            at += taken;
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
        }
    }
}
