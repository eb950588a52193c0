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

/// The bytes of a piece: with what becomes of them they stay in the nearest cache.
const PIECE_BYTES: usize = 16 << 10;

/// All elements of a chunk, in its order: a box in the caller's memory, from `from`.
pub(super) struct WholeBox<'g> {
    source: &'g [u8],
    axes: &'g [CopyAxis],
    from: usize,
    element_size: usize,
}

impl WholeBox<'_> {
    /// Puts piece after piece together in `memory`, and gives it to `take`.
    pub(super) fn pieces(
        &self,
        memory: &mut Vec<u8>,
        mut take: impl FnMut(&[u8]),
    ) -> Result<(), OutOfBounds> {
        // Inner axes that make up a block, the next one, of which a piece has some, and outer ones.
        let (mut block, mut inner) = (self.element_size, self.axes.len());
        while inner > 0 && block * self.axes[inner - 1].count <= PIECE_BYTES {
            inner -= 1;
            block *= self.axes[inner].count;
        }
        let (outer, inner) = self.axes.split_at(inner);
        let one = CopyAxis { count: 1, source_step: 0, target_step: 0 };
        let (shared, outer) = outer.split_last().unwrap_or((&one, &[]));
        let at_once = (PIECE_BYTES / block).clamp(1, shared.count);
        if memory.len() < at_once * block {
            memory.resize(at_once * block, 0);
        }
        let mut part = [std::slice::from_ref(shared), inner].concat();
        each_start(outer, self.from, &mut |start| {
            for first in (0..shared.count).step_by(at_once) {
                part[0].count = at_once.min(shared.count - first);
                let from = start.wrapping_add_signed(first as isize * shared.source_step);
                let piece = &mut memory[..part[0].count * block];
                copy_box(&part, self.source, from, piece, 0, self.element_size)?;
                take(piece);
            }
            Ok(())
        })
    }
}

/// Calls `work` with the place of every element of a box, the inner axes fastest.
fn each_start(
    axes: &[CopyAxis],
    from: usize,
    work: &mut impl FnMut(usize) -> Result<(), OutOfBounds>,
) -> Result<(), OutOfBounds> {
    let [axis, inner @ ..] = axes else { return work(from) };
    (0..axis.count as isize).try_for_each(|index| {
        each_start(inner, from.wrapping_add_signed(index * axis.source_step), work)
    })
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
        let size = self.elements.element_size;
        let GatherBox { axes, from, .. } = self.only_box(region)?;
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

    /// The elements of `region` as one box, if they are the `len` bytes of a chunk in its order.
    pub(super) fn whole_box(&mut self, region: &[&[AxisRun]], len: usize) -> Option<WholeBox<'_>> {
        let Elements { bytes: source, element_size, .. } = self.elements;
        let GatherBox { axes, from, to } = self.only_box(region)?;
        let mut block = element_size;
        for axis in axes.iter().rev() {
            if axis.target_step != block as isize {
                return None;
            }
            block *= axis.count;
        }
        (to == 0 && block == len).then_some(WholeBox { source, axes, from, element_size })
    }

    /// The runs of bytes of `region` that are such both in the caller's memory and in the chunk;
    /// `None` where they are shorter than `least` bytes.
    pub(super) fn long_runs(&mut self, region: &[&[AxisRun]], least: usize) -> Option<Vec<Run>> {
        let size = self.elements.element_size;
        let step = size as isize;
        let GatherBox { axes, from, to } = self.only_box(region)?;
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

    /// The box that `region` is, if it has one run along each axis.
    fn only_box(&mut self, region: &[&[AxisRun]]) -> Option<GatherBox<'_>> {
        self.chosen.fill(0);
        region.iter().all(|runs| runs.len() == 1).then(|| self.chosen_box(region))
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A chunk of the caller's elements of `size` bytes, which stand `strides` apart, and the bytes of
    /// the largest piece it comes in.
    fn in_pieces(shape: &[u64], strides: &[usize], size: usize) -> (Vec<u8>, Vec<u8>, usize) {
        let last = shape.iter().zip(strides).map(|(&count, stride)| (count as usize - 1) * stride);
        let bytes: Vec<u8> =
            (0..last.sum::<usize>() + size).map(|i| ((i * 31) >> 3) as u8).collect();
        let elements = Elements { bytes: &bytes, strides, element_size: size };
        let chunk_strides: Vec<u64> = (0..shape.len())
            .map(|axis| shape[axis + 1..].iter().product::<u64>() * size as u64)
            .collect();
        let runs: Vec<AxisRun> = shape
            .iter()
            .map(|&count| AxisRun { result: 0, count, position: 0, stride: 1 })
            .collect();
        let region: Vec<&[AxisRun]> = runs.iter().map(std::slice::from_ref).collect();
        let mut gather = Gather::new(elements, shape, &chunk_strides);
        let mut expected = vec![0; shape.iter().product::<u64>() as usize * size];
        gather.copy(&region, &mut expected, 0, |_| ()).unwrap();
        let (mut memory, mut chunk, mut largest) = (Vec::new(), Vec::new(), 0);
        let whole = gather.whole_box(&region, expected.len()).unwrap();
        let take = |piece: &[u8]| {
            chunk.extend_from_slice(piece);
            largest = largest.max(piece.len());
        };
        whole.pieces(&mut memory, take).unwrap();
        (chunk, expected, largest)
    }

    #[test]
    fn pieces_follow_one_another_and_are_small() {
        let cases: &[(&[u64], &[usize], usize)] = &[
            // Rows, some to a piece; whole planes; one row in several pieces.
            (&[16, 64, 64], &[1 << 18, 1 << 10, 4], 4),
            (&[100, 7, 9], &[5000, 100, 8], 8),
            (&[3, 10_001], &[100_000, 4], 4),
            // The other order, a stretch of one axis, no axis that counts, elements larger than a piece.
            (&[40, 50, 60], &[8, 400, 40_000], 8),
            (&[1, 30_000, 1], &[1, 6, 1], 2),
            (&[1, 1], &[1, 1], 3),
            (&[2, 3], &[200_000, 50_000], 40_000),
        ];
        for (shape, strides, size) in cases {
            let (chunk, expected, largest) = in_pieces(shape, strides, *size);
            assert!(chunk == expected, "{shape:?}");
            assert!(largest <= PIECE_BYTES.max(*size), "{shape:?}: {largest}");
        }
    }

    #[test]
    fn what_is_no_chunk_in_its_order_is_no_whole_box() {
        let bytes = [0; 64];
        let elements = Elements { bytes: &bytes, strides: &[8, 1], element_size: 1 };
        let mut gather = Gather::new(elements, &[4, 4], &[4, 1]);
        let run = |count, position, stride| AxisRun { result: 0, count, position, stride };
        let whole = run(4, 0, 1);
        for rows in [run(3, 0, 1), run(3, 1, 1), run(4, 3, -1), run(4, 0, 0), run(2, 0, 2)] {
            assert!(gather.whole_box(&[&[rows], &[whole]], 16).is_none(), "{rows:?}");
            assert!(gather.whole_box(&[&[whole], &[rows]], 16).is_none(), "{rows:?}");
        }
        let halves = [run(2, 0, 1), run(2, 2, 1)];
        assert!(gather.whole_box(&[&halves, &[whole]], 16).is_none());
        assert!(gather.whole_box(&[&[whole], &[whole]], 16).is_some());
    }
}
