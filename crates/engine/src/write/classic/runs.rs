//! The runs of bytes that a selection is written in.

use isotach_model::selection::{Axis, Selection};

/// The runs of neighbours that a selection falls into, by their first byte among all values.
pub(super) struct Runs<'a> {
    outer: &'a [Axis],
    /// Bytes from one position to the next of each outer axis.
    strides: Vec<u64>,
    /// Where the inner axes begin.
    base: u64,
    pub(super) run_bytes: u64,
    /// The next run, as the index along each outer axis; `None` behind the last.
    next: Option<Vec<u64>>,
}

impl<'a> Runs<'a> {
    /// The runs of a selection that is not empty of a variable with these lengths.
    pub(super) fn new(selection: &'a Selection, lengths: &[u64], element: u64) -> Self {
        let axes = &selection.axes;
        let (mut stride, mut base, mut run_bytes) = (element, 0, element);
        let (mut outer_rank, mut is_open) = (axes.len(), true);
        let mut strides = vec![0; axes.len()];
        for (index, axis) in axes.iter().enumerate().rev() {
            strides[index] = stride;
            if is_open && axis.is_ascending_run() {
                outer_rank = index;
                base += axis.get(0).unwrap_or(0) * stride;
                run_bytes *= axis.len();
                is_open = axis.len() == lengths[index];
            } else {
                is_open = false;
            }
            stride = stride.saturating_mul(lengths[index]);
        }
        strides.truncate(outer_rank);
        let next = Some(vec![0; outer_rank]);
        Self { outer: &axes[..outer_rank], strides, base, run_bytes, next }
    }
}

impl Iterator for Runs<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let at = self.next.as_mut()?;
        let positions = self.outer.iter().zip(at.iter()).zip(&self.strides);
        let offset = positions
            .map(|((axis, &index), stride)| axis.get(index).unwrap_or(0) * stride)
            .sum::<u64>();
        let advanced = (0..at.len()).rev().any(|axis| {
            at[axis] += 1;
            let goes_on = at[axis] < self.outer[axis].len();
            if !goes_on {
                at[axis] = 0;
            }
            goes_on
        });
        if !advanced {
            self.next = None;
        }
        Some(self.base + offset)
    }
}
