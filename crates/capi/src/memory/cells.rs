//! Where the elements of one column lie in memory that holds whole rows.

use isotach::model::{DataType, Field};
use smallvec::{SmallVec, smallvec};

use crate::status::{Outcome, Status};

/// Elements in row-major order along axes, each with its own stride: those of a member of an array in an
/// array of structures have three.
pub(super) struct Cells {
    /// From the outermost; neighbours that can be one are.
    axes: SmallVec<[Axis; 2]>,
    /// Bytes of an element.
    size: usize,
    count: usize,
}

#[derive(Clone, Copy)]
struct Axis {
    count: usize,
    stride: usize,
}

impl Cells {
    /// `count` elements, one behind the other.
    ///
    /// # Errors
    /// `NC_EINVAL` for more than memory can have.
    pub(super) fn new(data_type: &DataType, count: usize) -> Outcome<Self> {
        let size = data_type.layout().size;
        let bytes = count.checked_mul(size).filter(|bytes| isize::try_from(*bytes).is_ok());
        match bytes {
            // Nothing has elements without bytes: then `count` would bound nothing.
            Some(0) if count > 0 => Err(Status::EBADTYPE),
            Some(_) => Ok(Self { axes: smallvec![Axis { count, stride: size }], size, count }),
            None => Err(Status::EINVAL),
        }
    }

    /// The elements of a member: how many each of these has, and all of them.
    pub(super) fn within(&self, field: &Field) -> Outcome<(usize, Self)> {
        let product = |count: usize, &len: &usize| count.checked_mul(len);
        let len = field.shape.iter().try_fold(1, product).ok_or(Status::EINVAL)?;
        // What is asked of all elements is asked of those in one of these.
        let Self { size, .. } = Self::new(&field.data_type, len)?;
        let count = self.count.checked_mul(len).ok_or(Status::EINVAL)?;
        let mut axes = self.axes.clone();
        match axes.last_mut() {
            Some(last) if last.stride == len * size => {
                *last = Axis { count: last.count * len, stride: size };
            }
            _ => axes.push(Axis { count: len, stride: size }),
        }
        Ok((len, Self { axes, size, count }))
    }

    /// How many elements.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// The byte offset of each element.
    pub(super) fn each(&self, mut visit: impl FnMut(usize) -> Outcome) -> Outcome {
        walk(&self.axes, 0, &mut visit)
    }

    /// The byte offset and byte count of each run of elements that lie without a gap.
    pub(super) fn each_run(&self, mut visit: impl FnMut(usize, usize) -> Outcome) -> Outcome {
        match self.axes.split_last() {
            Some((last, outer)) if last.stride == self.size => {
                let len = last.count * self.size;
                walk(outer, 0, &mut |offset| visit(offset, len))
            }
            _ => self.each(|offset| visit(offset, self.size)),
        }
    }
}

fn walk(axes: &[Axis], offset: usize, visit: &mut dyn FnMut(usize) -> Outcome) -> Outcome {
    let Some((axis, inner)) = axes.split_first() else { return visit(offset) };
    (0..axis.count).try_for_each(|index| walk(inner, offset + index * axis.stride, visit))
}
