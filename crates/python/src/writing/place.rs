//! Where an assignment `variable[key] = data` goes, by netCDF4-python's rules: like its reads, but
//! indices along unlimited dimensions may lie beyond the end, and slices of them that are open reach
//! as far as the data do.

use isotach::model::selection::{Axis, Index, Selection};
use pyo3::exceptions::{PyIndexError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

/// The elements that an assignment names.
#[pyclass(frozen, module = "isotach._native")]
pub(crate) struct Place {
    selection: Selection,
    /// How many along each axis; single indices count 1. A scalar has one axis of length 1.
    #[pyo3(get)]
    shape: Vec<u64>,
    /// How the first axis was named: `i` by an integer, `s` by a slice, `l` by a list.
    #[pyo3(get)]
    first: char,
    /// Reaches beyond a dimension that cannot grow, which is an error only when it is written to.
    is_beyond: bool,
}

/// One axis, lists of evenly ascending positions being slices.
enum Wanted {
    Integer(i64),
    Slice { start: Option<i64>, stop: Option<i64>, step: Option<i64> },
    List(Vec<u64>),
}

const WHOLE: Index = Index::Slice { start: None, stop: None, step: None };
const TOO_MANY: &str = "slicing expression exceeds the number of dimensions of the variable";
const NOT_CONFORMING: &str = "shape of data does not conform to slice";

impl Place {
    /// For a variable of `shape`, whose dimensions can grow where `grows` says so.
    pub(crate) fn new(
        indices: Vec<Index>,
        shape: &[u64],
        grows: &[bool],
        data_shape: &[u64],
    ) -> PyResult<Self> {
        let is_scalar = shape.is_empty();
        let (shape, grows) = if is_scalar { (&[1][..], &[false][..]) } else { (shape, grows) };
        let axes = Axes { shape, grows };
        let indices = whole(indices, shape.len())?;
        let is_whole = indices.iter().all(|index| *index == WHOLE);
        let wanted = indices.into_iter().enumerate();
        let wanted = wanted.map(|(axis, index)| axes.wanted(axis, index));
        let wanted = wanted.collect::<PyResult<Vec<_>>>()?;
        let mut data_shape = data_shape.to_vec();
        if is_whole && !data_shape.is_empty() && !grows.contains(&true) {
            data_shape = broadcast(shape, &data_shape)?;
        }
        let data_shape = axes.padded(&wanted, data_shape)?;
        let first = match wanted.first() {
            Some(Wanted::Integer(_)) => 'i',
            Some(Wanted::List(_)) => 'l',
            _ => 's',
        };
        let found = wanted.into_iter().enumerate();
        let found = found.map(|(axis, wanted)| axes.axis(axis, wanted, &data_shape));
        let selection = Selection { axes: found.collect::<PyResult<_>>()? };
        let shape = selection.shape();
        if is_scalar && !selection.is_empty() {
            let selection = Selection { axes: Vec::new() };
            return Ok(Self { selection, shape, first, is_beyond: false });
        }
        let is_beyond = axes.is_left_by(&selection);
        Ok(Self { selection, shape, first, is_beyond })
    }
}

impl Place {
    /// The elements to be written; `None` where there are none, so that nothing grows.
    pub(super) fn elements(&self) -> PyResult<Option<&Selection>> {
        if self.is_beyond {
            return Err(PyRuntimeError::new_err("NetCDF: Index exceeds dimension bound"));
        }
        Ok(Some(&self.selection).filter(|selection| !selection.is_empty()))
    }
}

struct Axes<'a> {
    shape: &'a [u64],
    grows: &'a [bool],
}

impl Axes<'_> {
    /// Positions from the end and masks as positions; lists as slices where they can be.
    fn wanted(&self, axis: usize, index: Index) -> PyResult<Wanted> {
        let (len, grows) = (self.shape[axis], self.grows[axis]);
        let positions: Vec<u64> = match index {
            Index::Integer(position) => return Ok(Wanted::Integer(position)),
            Index::Slice { start, stop, step } => return Ok(Wanted::Slice { start, stop, step }),
            Index::Mask(mask) => {
                if !grows && mask.len() as u64 != len {
                    return Err(PyIndexError::new_err(
                        "Boolean array must have the same shape as the data along this dimension.",
                    ));
                }
                let chosen = mask.iter().enumerate().filter(|(_, chosen)| **chosen);
                chosen.map(|(position, _)| position as u64).collect()
            }
            Index::Integers(list) => {
                let from_start = |&index: &i64| {
                    let position = if index < 0 { len.checked_add_signed(index) } else { None };
                    position.or(u64::try_from(index).ok())
                };
                list.iter()
                    .map(from_start)
                    .collect::<Option<_>>()
                    .ok_or_else(|| PyIndexError::new_err("integer index out of range"))?
            }
            Index::Ellipsis | Index::NewAxis => return Err(PyIndexError::new_err(TOO_MANY)),
        };
        if !grows && positions.iter().any(|&position| position >= len) {
            return Err(PyIndexError::new_err("integer index exceeds dimension size"));
        }
        Ok(as_slice(&positions).unwrap_or(Wanted::List(positions)))
    }

    /// The data's shape with a 0 for each single index, where the data have no axes for those.
    fn padded(&self, wanted: &[Wanted], data_shape: Vec<u64>) -> PyResult<Vec<u64>> {
        if data_shape.is_empty() || data_shape.len() == wanted.len() {
            return Ok(data_shape);
        }
        let named: Vec<bool> =
            wanted.iter().map(|wanted| !matches!(wanted, Wanted::Integer(_))).collect();
        let slices = wanted.iter().filter(|wanted| matches!(wanted, Wanted::Slice { .. })).count();
        let counted = if self.is_empty(wanted)? {
            named.iter().filter(|named| **named).count()
        } else {
            slices
        };
        if data_shape.len() != counted {
            return Ok(data_shape);
        }
        let mut given = data_shape.into_iter();
        let padded = named.iter().map(|&named| if named { given.next() } else { Some(0) });
        padded.collect::<Option<_>>().ok_or_else(|| PyIndexError::new_err(NOT_CONFORMING))
    }

    /// Whether a slice whose end is known selects nothing.
    fn is_empty(&self, wanted: &[Wanted]) -> PyResult<bool> {
        for (axis, wanted) in wanted.iter().enumerate() {
            let Wanted::Slice { start, stop, step } = *wanted else { continue };
            let len = match stop {
                None if self.grows[axis] => continue,
                Some(stop) if self.grows[axis] => signed(self.shape[axis]).max(stop),
                _ => signed(self.shape[axis]),
            };
            if slice_range(start, stop, step, len)?.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn axis(&self, axis: usize, wanted: Wanted, data_shape: &[u64]) -> PyResult<Axis> {
        let (len, grows) = (self.shape[axis], self.grows[axis]);
        let (start, stop, step) = match wanted {
            Wanted::List(positions) => return Ok(Axis::from_positions(positions)),
            Wanted::Integer(index) => {
                let position = if index < 0 {
                    len.checked_add_signed(index)
                } else {
                    u64::try_from(index).ok()
                };
                let position =
                    position.ok_or_else(|| PyIndexError::new_err("Index out of range"))?;
                return Ok(Axis::range(position, 1, 1));
            }
            Wanted::Slice { start, stop, step } => (start, stop, step),
        };
        let len = match stop {
            Some(stop) if grows && stop > signed(len) => stop,
            None if grows && !data_shape.is_empty() => {
                let given = data_shape.get(axis);
                let given = given.ok_or_else(|| PyIndexError::new_err(NOT_CONFORMING))?;
                start.unwrap_or(0).saturating_add(signed(*given))
            }
            // One element along a dimension without any, for which netCDF4-python looks at the last.
            _ if grows && data_shape.is_empty() && self.shape.last() == Some(&0) => 1,
            _ => signed(len),
        };
        slice_range(start, stop, step, len)
    }

    /// Whether single positions lie beyond a dimension that cannot grow.
    fn is_left_by(&self, selection: &Selection) -> bool {
        let mut axes = self.shape.iter().zip(self.grows).zip(&selection.axes);
        !selection.is_empty() && axes.any(|((&len, grows), axis)| !grows && !axis.fits(len))
    }
}

/// One index for each axis.
fn whole(indices: Vec<Index>, rank: usize) -> PyResult<Vec<Index>> {
    let ellipses = indices.iter().filter(|index| **index == Index::Ellipsis).count();
    if ellipses > 1 {
        return Err(PyIndexError::new_err("At most one ellipsis allowed in a slicing expression"));
    }
    let given = indices.len() - ellipses;
    let Some(missing) = rank.checked_sub(given) else {
        let is_list = |index: &Index| matches!(index, Index::Integers(_) | Index::Mask(_));
        return Err(if indices.iter().skip(rank).any(is_list) {
            PyIndexError::new_err(TOO_MANY)
        } else {
            PyValueError::new_err(TOO_MANY)
        });
    };
    let mut found = Vec::with_capacity(rank);
    for index in indices {
        match index {
            Index::Ellipsis => found.extend(std::iter::repeat_n(WHOLE, missing)),
            index => found.push(index),
        }
    }
    found.resize(rank, WHOLE);
    Ok(found)
}

/// Positions as the slice that names them; `None` where none does that ascends.
fn as_slice(positions: &[u64]) -> Option<Wanted> {
    let slice = |start: u64, stop: u64, step: u64| {
        let (start, stop, step) = (signed(start), signed(stop), signed(step));
        Some(Wanted::Slice { start: Some(start), stop: Some(stop), step: Some(step) })
    };
    match *positions {
        [] => slice(0, 0, 1),
        [only] => slice(only, only.saturating_add(1), 1),
        [first, second, .., last] | [first, second @ last] => {
            let step = second.checked_sub(first).filter(|step| *step > 0)?;
            let even = positions.windows(2).all(|pair| pair[0].checked_add(step) == Some(pair[1]));
            if even { slice(first, last.saturating_add(1), step) } else { None }
        }
    }
}

/// Python's `slice.indices`.
fn slice_range(
    start: Option<i64>,
    stop: Option<i64>,
    step: Option<i64>,
    len: i64,
) -> PyResult<Axis> {
    let step = step.unwrap_or(1);
    if step == 0 {
        return Err(PyValueError::new_err("slice step cannot be zero"));
    }
    if len < 0 {
        return Err(PyValueError::new_err("length should not be negative"));
    }
    let (lowest, highest) = if step < 0 { (-1, len - 1) } else { (0, len) };
    let bound = |given: Option<i64>, default: i64| match given {
        None => default,
        Some(given) if given < 0 => given.saturating_add(len).max(lowest),
        Some(given) => given.min(highest),
    };
    let (first, end) = if step < 0 { (highest, lowest) } else { (lowest, highest) };
    let (first, end) = (bound(start, first), bound(stop, end));
    let way = if step < 0 { first.saturating_sub(end) } else { end.saturating_sub(first) };
    let count = u64::try_from(way).unwrap_or(0).div_ceil(step.unsigned_abs());
    Ok(Axis::range(u64::try_from(first).unwrap_or(0), count, step))
}

/// The shape to which both broadcast.
fn broadcast(left: &[u64], right: &[u64]) -> PyResult<Vec<u64>> {
    let rank = left.len().max(right.len());
    let len = |shape: &[u64], axis: usize| {
        (axis + shape.len()).checked_sub(rank).map_or(1, |axis| shape[axis])
    };
    let both = (0..rank).map(|axis| match (len(left, axis), len(right, axis)) {
        (1, len) | (len, 1) => Some(len),
        (left, right) => (left == right).then_some(left),
    });
    both.collect::<Option<_>>().ok_or_else(|| {
        PyValueError::new_err(format!(
            "shape mismatch: data of shape {right:?} cannot be broadcast to a variable of shape {left:?}"
        ))
    })
}

fn signed(len: u64) -> i64 {
    i64::try_from(len).unwrap_or(i64::MAX)
}
