//! The caller's elements, apart in his memory, together in a chunk: the mirror of `read::scatter`.
//!
//! ```text
//! source: offset = sum(result * source stride)                 the caller's memory
//! target: offset = sum((position - origin) * chunk stride)     a chunk
//! ```

use crate::plan::axis_runs::AxisRun;
use crate::strided_copy::{CopyAxis, OutOfBounds, copy_box, push_axis};

/// The elements that the caller writes, row-major over the selection's shape.
#[derive(Clone, Copy)]
pub(super) struct Elements<'e> {
    pub(super) bytes: &'e [u8],
    /// Bytes from one result to the next along each axis.
    pub(super) strides: &'e [usize],
    /// Bytes of an element.
    pub(super) element_size: usize,
}

/// Finds the elements of one chunk after the other.
pub(super) struct Gather<'e> {
    elements: Elements<'e>,
    /// Bytes from one position to the next along each axis of a chunk.
    chunk_strides: &'e [u64],
    /// Elements of a chunk along each axis: a position's place in its chunk is what remains.
    chunk_shape: &'e [u64],
    /// The chosen run of each axis.
    chosen: Vec<usize>,
    axes: Vec<CopyAxis>,
}

/// A box of evenly spaced elements, which stand at `from` in the caller's memory and at `to` in the
/// chunk.
pub(super) struct GatherBox<'g> {
    pub(super) axes: &'g [CopyAxis],
    pub(super) from: usize,
    pub(super) to: usize,
}

/// Bytes that follow one another both in the caller's memory, from `from`, and in the chunk.
#[derive(Clone, Copy)]
pub(super) struct Run {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) len: usize,
}

impl<'e> Gather<'e> {
    /// Finds `elements` for chunks of `chunk_shape`.
    pub(super) fn new(
        elements: Elements<'e>,
        chunk_shape: &'e [u64],
        chunk_strides: &'e [u64],
    ) -> Self {
        let rank = chunk_shape.len();
        Self {
            elements,
            chunk_strides,
            chunk_shape,
            chosen: vec![0; rank],
            axes: Vec::with_capacity(rank),
        }
    }

    /// Where the elements of `region` begin in the caller's memory, if they are `len` bytes that
    /// stand there just as they do in the chunk.
    pub(super) fn one_run(&mut self, region: &[&[AxisRun]], len: usize) -> Option<usize> {
        if region.iter().any(|runs| runs.len() != 1) {
            return None;
        }
        self.chosen.fill(0);
        let size = self.elements.element_size;
        let GatherBox { axes, from, .. } = self.chosen_box(region);
        let is_run = match axes {
            [] => len == size,
            [axis] => {
                let step = size as isize;
                (axis.source_step, axis.target_step) == (step, step) && axis.count * size == len
            }
            _ => false,
        };
        is_run.then_some(from)
    }

    /// Copies the elements of `region` into `chunk`, which begins at position `origin` of its
    /// chunk (in bytes), and shows every box to `visit`. Of several results for one position the
    /// last one stays.
    pub(super) fn copy(
        &mut self,
        region: &[&[AxisRun]],
        chunk: &mut [u8],
        origin: usize,
        mut visit: impl FnMut(&GatherBox<'_>),
    ) -> Result<(), OutOfBounds> {
        if region.iter().any(|runs| runs.is_empty()) {
            return Ok(());
        }
        self.chosen.fill(0);
        let Elements { bytes, element_size, .. } = self.elements;
        loop {
            let elements = self.chosen_box(region);
            let to = elements.to.checked_sub(origin).ok_or(OutOfBounds)?;
            copy_box(elements.axes, bytes, elements.from, chunk, to, element_size)?;
            visit(&elements);
            if !self.choose_next(region) {
                return Ok(());
            }
        }
    }

    /// The runs of bytes of `region` that are such both in the caller's memory and in the chunk;
    /// `None` where they are shorter than `least` bytes.
    pub(super) fn long_runs(&mut self, region: &[&[AxisRun]], least: usize) -> Option<Vec<Run>> {
        if region.iter().any(|runs| runs.len() != 1) {
            return None;
        }
        self.chosen.fill(0);
        let size = self.elements.element_size;
        let step = size as isize;
        let GatherBox { axes, from, to } = self.chosen_box(region);
        let (outer, len) = match axes.split_last() {
            Some((inner, outer)) if (inner.source_step, inner.target_step) == (step, step) => {
                (outer, inner.count * size)
            }
            _ => (axes, size),
        };
        if len < least {
            return None;
        }
        let mut runs = vec![Run { from, to, len }];
        for axis in outer {
            let each = |run: Run| {
                (0..axis.count as isize).map(move |index| Run {
                    from: run.from.wrapping_add_signed(index * axis.source_step),
                    to: run.to.wrapping_add_signed(index * axis.target_step),
                    len,
                })
            };
            runs = runs.into_iter().flat_map(each).collect();
        }
        Some(runs)
    }

    /// The box of the chosen run of each axis.
    fn chosen_box(&mut self, region: &[&[AxisRun]]) -> GatherBox<'_> {
        let (mut from, mut to) = (0, 0);
        self.axes.clear();
        for (axis, runs) in region.iter().enumerate() {
            let run = &runs[self.chosen[axis]];
            let (source, target) = (self.elements.strides[axis], self.chunk_strides[axis]);
            // Sizes of the selection and of a chunk were checked to fit memory.
            from += run.result as usize * source;
            to += (run.position % self.chunk_shape[axis] * target) as usize;
            if run.count > 1 {
                let target_step = run.stride as isize * target as isize;
                let count = run.count as usize;
                push_axis(
                    &mut self.axes,
                    CopyAxis { count, source_step: source as isize, target_step },
                );
            }
        }
        GatherBox { axes: &self.axes, from, to }
    }

    /// Goes on to the next choice of runs; false after the last.
    fn choose_next(&mut self, region: &[&[AxisRun]]) -> bool {
        for axis in (0..region.len()).rev() {
            self.chosen[axis] += 1;
            if self.chosen[axis] < region[axis].len() {
                return true;
            }
            self.chosen[axis] = 0;
        }
        false
    }
}
