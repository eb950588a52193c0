//! Filter 2, shuffle: the first bytes of all elements, then all second bytes, and so on.
//!
//! ```text
//! stored   | a0 b0 c0 .. | a1 b1 c1 .. | .. | rest |
//! decoded  | a0 a1 .. | b0 b1 .. | c0 c1 .. | rest |
//! ```
//! Where the length is no multiple of the element size, the rest stands behind as it was.

use std::mem::MaybeUninit;

use crate::error::ErrorKind;
use crate::filter::simd;
use crate::uninit::{Output, fill_vec};

/// Bytes that are shuffled at a time, so that they stay in the nearest cache meanwhile.
const TILE_BYTES: usize = 8 << 10;

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
    let (elements, rest) = input.split_at(count * size);
    output.extend_with(elements.len(), |place| {
        unshuffle_range(elements, size, count, 0, count, place)
    })?;
    output.extend(rest)
}

/// Puts the first bytes of all elements together, then the second ones, ...
pub(crate) fn encode(
    parameters: &[u32],
    input: &[u8],
    output: &mut Vec<u8>,
) -> Result<(), ErrorKind> {
    let size = element_size(parameters)?;
    let (elements, rest) = input.split_at(input.len() / size * size);
    fill_vec(output, input.len(), |output| {
        output.extend_with(elements.len(), |place| simd::shuffle(elements, size, place))?;
        output.extend(rest)
    })
}

/// Shuffles the `len` bytes that `pieces` gives one after the other, each some whole elements of `size`
/// bytes. False where it gives fewer.
pub(crate) fn encode_pieces(
    size: usize,
    len: usize,
    pieces: impl FnOnce(&mut dyn FnMut(&[u8])),
    output: &mut Vec<u8>,
) -> Result<bool, ErrorKind> {
    let mut is_whole = false;
    fill_vec(output, len, |output| {
        is_whole = output.extend_if(len, |place| {
            let mut rows = simd::Rows::new(size, place);
            pieces(&mut |piece| rows.add(piece));
            rows.finish()
        })?;
        Ok(())
    })?;
    Ok(is_whole)
}

/// Restores the elements `first .. first + count` of the `total` that are shuffled in `input`, and
/// gives `out` back, every byte of it written.
///
/// # Panics
/// If `input` has fewer than `total * element_size` bytes, the run is not within `total`,
/// `element_size` is 0, or `out` does not have `count * element_size` bytes.
pub fn unshuffle_range<'o>(
    input: &[u8],
    element_size: usize,
    total: usize,
    first: usize,
    count: usize,
    out: &'o mut [MaybeUninit<u8>],
) -> &'o mut [u8] {
    assert!(element_size > 0, "elements of no bytes");
    assert!(first <= total && count <= total - first, "elements beyond the chunk");
    assert_eq!(Some(out.len()), count.checked_mul(element_size), "the place has another length");
    assert!(
        total.checked_mul(element_size).is_some_and(|len| len <= input.len()),
        "the chunk is shorter than its elements"
    );
    let run = Run { input, element_size, total, first, count };
    simd::unshuffle(run, out)
}

/// A run of the elements of a shuffled chunk; within bounds.
#[derive(Clone, Copy)]
pub(crate) struct Run<'a> {
    pub(crate) input: &'a [u8],
    pub(crate) element_size: usize,
    pub(crate) total: usize,
    pub(crate) first: usize,
    pub(crate) count: usize,
}

/// Restores the run, and writes every byte of `out`, on any processor.
pub(crate) fn unshuffle_portable(run: Run<'_>, out: &mut [MaybeUninit<u8>]) {
    // Sizes for which compilers turn the rows into vectors; beyond 8 they do not.
    match run.element_size {
        2 => unshuffle_rows::<2>(run, out),
        3 => unshuffle_rows::<3>(run, out),
        4 => unshuffle_rows::<4>(run, out),
        8 => unshuffle_rows::<8>(run, out),
        _ => unshuffle_bytes(run, out),
    }
}

/// Element by element.
fn unshuffle_rows<const N: usize>(run: Run<'_>, out: &mut [MaybeUninit<u8>]) {
    let rows: [&[u8]; N] =
        std::array::from_fn(|byte| &run.input[byte * run.total + run.first..][..run.count]);
    let places = &mut out.as_chunks_mut::<N>().0[..run.count];
    for index in 0..run.count {
        places[index] = std::array::from_fn(|byte| MaybeUninit::new(rows[byte][index]));
    }
}

/// The oracle of all faster ways: row by row, one byte of each element after the other.
///
/// In tiles, so that a place in `out` is still in the nearest cache when its next byte comes.
pub(crate) fn unshuffle_bytes(run: Run<'_>, out: &mut [MaybeUninit<u8>]) {
    let size = run.element_size;
    let tile_len = (TILE_BYTES / size).max(1);
    for (tile, place) in out.chunks_mut(tile_len * size).enumerate() {
        let first = run.first + tile * tile_len;
        let count = place.len() / size;
        for byte in 0..size {
            let row = &run.input[byte * run.total + first..][..count];
            for (place, &value) in place[byte..].iter_mut().step_by(size).zip(row) {
                place.write(value);
            }
        }
    }
}

/// Where shuffled elements go: into rows of `total` bytes, one for each byte of an element, from
/// place `first` of each on.
#[derive(Clone, Copy)]
pub(crate) struct InRows {
    pub(crate) total: usize,
    pub(crate) first: usize,
}

/// Shuffles elements on any processor.
pub(crate) fn shuffle_portable(
    elements: &[u8],
    size: usize,
    at: InRows,
    out: &mut [MaybeUninit<u8>],
) {
    match size {
        2 => shuffle_rows::<2>(elements, at, out),
        4 => shuffle_rows::<4>(elements, at, out),
        8 => shuffle_rows::<8>(elements, at, out),
        _ => shuffle_bytes(elements, size, at, out),
    }
}

/// Element by element.
fn shuffle_rows<const N: usize>(elements: &[u8], at: InRows, out: &mut [MaybeUninit<u8>]) {
    for (index, element) in elements.as_chunks::<N>().0.iter().enumerate() {
        for (byte, &value) in element.iter().enumerate() {
            out[byte * at.total + at.first + index].write(value);
        }
    }
}

/// The oracle of all faster ways: row by row, in tiles as [`unshuffle_bytes`].
pub(crate) fn shuffle_bytes(elements: &[u8], size: usize, at: InRows, out: &mut [MaybeUninit<u8>]) {
    let tile_len = (TILE_BYTES / size).max(1);
    for (tile, elements) in elements.chunks(tile_len * size).enumerate() {
        let first = at.first + tile * tile_len;
        for byte in 0..size {
            let row = &mut out[byte * at.total + first..];
            for (place, &value) in row.iter_mut().zip(elements[byte..].iter().step_by(size)) {
                place.write(value);
            }
        }
    }
}
