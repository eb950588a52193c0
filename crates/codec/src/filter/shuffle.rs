//! Filter 2, shuffle: the first bytes of all elements, then all second bytes, and so on.
//!
//! ```text
//! stored   | a0 b0 c0 .. | a1 b1 c1 .. | .. | rest |
//! decoded  | a0 a1 .. | b0 b1 .. | c0 c1 .. | rest |
//! ```
//! Where the length is no multiple of the element size, the rest stands behind as it was.

use std::mem::MaybeUninit;

use crate::error::ErrorKind;
use crate::uninit::Output;

/// The element size among the filter's parameters.
pub(crate) fn element_size(parameters: &[u32]) -> Result<usize, ErrorKind> {
    match parameters.first() {
        None => Err(ErrorKind::MissingParameter { index: 0 }),
        Some(0) => Err(ErrorKind::Parameter { index: 0, value: 0 }),
        Some(&size) => Ok(size as usize),
    }
}

/// Puts the bytes of each element together again.
pub(crate) fn decode(
    parameters: &[u32],
    input: &[u8],
    output: &mut Output<'_>,
) -> Result<(), ErrorKind> {
    let size = element_size(parameters)?;
    let count = input.len() / size;
    let rest = &input[count * size..];
    // SAFETY: `unshuffle_range` writes every byte of a place of `count * size` bytes.
    unsafe {
        output.extend_with(count * size, |place| {
            unshuffle_range(input, size, count, 0, count, place);
        })?;
    }
    output.extend(rest)
}

/// Restores the elements `first .. first + count` of the `total` that are shuffled in `input`.
///
/// Writes every byte of `out`.
///
/// # Panics
/// If `input` has fewer than `total * element_size` bytes, the run is not within `total`, or `out`
/// does not have `count * element_size` bytes.
pub fn unshuffle_range(
    input: &[u8],
    element_size: usize,
    total: usize,
    first: usize,
    count: usize,
    out: &mut [MaybeUninit<u8>],
) {
    assert!(first <= total && count <= total - first, "elements beyond the chunk");
    assert_eq!(Some(out.len()), count.checked_mul(element_size), "the place has another length");
    assert!(total.checked_mul(element_size).is_some_and(|len| len <= input.len()));
    for byte in 0..element_size {
        let row = &input[byte * total + first..][..count];
        for (place, &value) in out[byte..].iter_mut().step_by(element_size).zip(row) {
            place.write(value);
        }
    }
}
