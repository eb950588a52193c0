//! Which elements of a read are missing: the comparisons behind automatic masks.
//!
//! `python/isotach` makes a rule of a variable's attributes once; every read is then held against
//! it here, in one pass over the new array while its bytes are still in the processor's cache.

use bytemuck::Pod;
use isotach::model::{FloatFormat, PartialFloat};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Elements that are looked at together, so that the comparisons become vector instructions.
const BLOCK: usize = 256;

/// What makes an element missing, for one type of numbers.
#[pyclass(frozen, name = "MaskRule", module = "isotach._native")]
pub(crate) struct MaskRule(Rule);

enum Rule {
    I8(Tests<i8>),
    U8(Tests<u8>),
    I16(Tests<i16>),
    U16(Tests<u16>),
    I32(Tests<i32>),
    U32(Tests<u32>),
    I64(Tests<i64>),
    U64(Tests<u64>),
    F16(Tests<f32>),
    F32(Tests<f32>),
    F64(Tests<f64>),
}

struct Tests<T> {
    missing: Vec<T>,
    fill: Vec<T>,
    minimum: Option<T>,
    maximum: Option<T>,
}

/// Something is to be masked; `mask` says what.
pub(crate) struct Found<'r> {
    rule: &'r MaskRule,
    /// True where an element is one of `missing_value`'s, not only the fill value.
    pub(crate) missing: bool,
}

macro_rules! with_tests {
    ($rule:expr, $tests:ident => $then:expr) => {
        match $rule {
            Rule::I8($tests) => $then,
            Rule::U8($tests) => $then,
            Rule::I16($tests) => $then,
            Rule::U16($tests) => $then,
            Rule::I32($tests) => $then,
            Rule::U32($tests) => $then,
            Rule::I64($tests) => $then,
            Rule::U64($tests) => $then,
            Rule::F16($tests) => $then,
            Rule::F32($tests) => $then,
            Rule::F64($tests) => $then,
        }
    };
}

#[pymethods]
impl MaskRule {
    /// A rule for numbers of NumPy's `code` (such as `f4`; `S1` for chars). The values are bytes of
    /// such numbers in native order; `minimum` and `maximum` hold one or none.
    #[new]
    fn new(
        code: &str,
        missing: &[u8],
        fill: &[u8],
        minimum: &[u8],
        maximum: &[u8],
    ) -> PyResult<Self> {
        let parts = [missing, fill, minimum, maximum];
        Ok(Self(match code {
            "i1" => Rule::I8(Tests::new(parts)?),
            "u1" | "S1" => Rule::U8(Tests::new(parts)?),
            "i2" => Rule::I16(Tests::new(parts)?),
            "u2" => Rule::U16(Tests::new(parts)?),
            "i4" => Rule::I32(Tests::new(parts)?),
            "u4" => Rule::U32(Tests::new(parts)?),
            "i8" => Rule::I64(Tests::new(parts)?),
            "u8" => Rule::U64(Tests::new(parts)?),
            "f2" => {
                let singles = parts.map(singles);
                Rule::F16(Tests::new(singles.each_ref().map(|part| bytemuck::cast_slice(part)))?)
            }
            "f4" => Rule::F32(Tests::new(parts)?),
            "f8" => Rule::F64(Tests::new(parts)?),
            _ => return Err(PyValueError::new_err(format!("{code} is no type of numbers"))),
        }))
    }
}

impl MaskRule {
    /// Bytes of one element.
    pub(crate) fn element_size(&self) -> usize {
        match &self.0 {
            Rule::I8(_) | Rule::U8(_) => 1,
            Rule::I16(_) | Rule::U16(_) | Rule::F16(_) => 2,
            Rule::I32(_) | Rule::U32(_) | Rule::F32(_) => 4,
            Rule::I64(_) | Rule::U64(_) | Rule::F64(_) => 8,
        }
    }

    /// Whether any of the elements, whose memory is `bytes`, is missing.
    pub(crate) fn find(&self, bytes: &[u8]) -> Option<Found<'_>> {
        let widened = self.widened(bytes);
        let bytes = widened.as_deref().map_or(bytes, bytemuck::cast_slice);
        with_tests!(&self.0, tests => {
            let elements = bytemuck::try_cast_slice(bytes).ok()?;
            let missing = tests.any_missing(elements);
            (missing || tests.any_other(elements)).then_some(Found { rule: self, missing })
        })
    }

    /// Halves, which Rust does not compare, as numbers of its own.
    fn widened(&self, bytes: &[u8]) -> Option<Vec<f32>> {
        matches!(self.0, Rule::F16(_)).then(|| singles(bytes))
    }
}

impl Found<'_> {
    /// The mask of `bytes`, a 1 for each missing element.
    pub(crate) fn mask(&self, bytes: &[u8]) -> Vec<u8> {
        let widened = self.rule.widened(bytes);
        let bytes = widened.as_deref().map_or(bytes, bytemuck::cast_slice);
        with_tests!(&self.rule.0, tests => {
            let elements = bytemuck::try_cast_slice(bytes).unwrap_or_default();
            let mut mask = vec![0; elements.len()];
            for (block, mask) in elements.chunks(BLOCK).zip(mask.chunks_mut(BLOCK)) {
                tests.mark(block, mask);
            }
            mask
        })
    }
}

impl<T: Pod + PartialOrd> Tests<T> {
    fn new([missing, fill, minimum, maximum]: [&[u8]; 4]) -> PyResult<Self> {
        Ok(Self {
            missing: numbers(missing)?,
            fill: numbers(fill)?,
            minimum: numbers(minimum)?.first().copied(),
            maximum: numbers(maximum)?.first().copied(),
        })
    }

    fn any_missing(&self, elements: &[T]) -> bool {
        self.missing.iter().any(|&value| any_equal(elements, value))
    }

    fn any_other(&self, elements: &[T]) -> bool {
        self.fill.iter().any(|&value| any_equal(elements, value))
            || self.minimum.is_some_and(|minimum| any(elements, |element| element < minimum))
            || self.maximum.is_some_and(|maximum| any(elements, |element| element > maximum))
    }

    /// Makes the mask of each element that is missing a 1.
    fn mark(&self, elements: &[T], mask: &mut [u8]) {
        for &value in self.missing.iter().chain(&self.fill) {
            mark_equal(elements, mask, value);
        }
        if let Some(minimum) = self.minimum {
            mark(elements, mask, |element| element < minimum);
        }
        if let Some(maximum) = self.maximum {
            mark(elements, mask, |element| element > maximum);
        }
    }
}

/// Halves in the machine's byte order as singles.
fn singles(halves: &[u8]) -> Vec<f32> {
    let half = PartialFloat { format: FloatFormat::HALF, big_endian: cfg!(target_endian = "big") };
    bytemuck::pod_collect_to_vec(&half.unpacked(halves))
}

fn numbers<T: Pod>(bytes: &[u8]) -> PyResult<Vec<T>> {
    let chunks = bytes.chunks(size_of::<T>().max(1)).map(bytemuck::try_pod_read_unaligned);
    let numbers: Result<Vec<T>, _> = chunks.collect();
    numbers.map_err(|_| PyValueError::new_err("half a number"))
}

/// Marks what is equal to `value`, or not a number as it is.
#[allow(clippy::eq_op)]
fn mark_equal<T: Pod + PartialOrd>(elements: &[T], mask: &mut [u8], value: T) {
    if value == value {
        mark(elements, mask, |element| element == value);
    } else {
        mark(elements, mask, |element| element != element);
    }
}

/// Marks what `test` is true of; without a branch for each element.
fn mark<T: Copy>(elements: &[T], mask: &mut [u8], test: impl Fn(T) -> bool) {
    for (marked, &element) in mask.iter_mut().zip(elements) {
        *marked |= u8::from(test(element));
    }
}

#[allow(clippy::eq_op)]
fn any_equal<T: Pod + PartialOrd>(elements: &[T], value: T) -> bool {
    if value == value {
        any(elements, |element| element == value)
    } else {
        any(elements, |element| element != element)
    }
}

/// Whether `test` is true of any element; without a branch for each one.
fn any<T: Copy>(elements: &[T], test: impl Fn(T) -> bool) -> bool {
    elements
        .chunks(BLOCK)
        .any(|block| block.iter().fold(false, |found, &element| found | test(element)))
}
