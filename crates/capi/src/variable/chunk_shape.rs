//! The shape of chunks where a program says none: that of libnetcdf, as programs reckon with it.

use isotach::Dimension;

use crate::model::OpenFile;
use crate::status::Outcome;

/// Bytes of a chunk that a shape comes close to.
const CHUNK_BYTES: f64 = 16.0 * 1024.0 * 1024.0;
/// Bytes of a chunk along nothing but one unlimited dimension.
const SERIES_BYTES: u64 = 4096;
/// A chunk has less than this.
const MOST_BYTES: u64 = 1 << 32;

/// A dimension as the shape reckons with it.
struct Axis {
    /// That of an unlimited dimension as it was heard last.
    len: u64,
    is_unlimited: bool,
}

/// The shape for a variable along these dimensions whose elements have that many bytes in memory.
///
/// One element along unlimited dimensions, and of the others shares that make up a chunk.
pub(super) fn default_shape(
    file: &OpenFile,
    along: &[&Dimension],
    element_bytes: u64,
) -> Outcome<Option<Vec<u64>>> {
    let axis = |dimension: &&Dimension| {
        let is_unlimited = dimension.is_unlimited();
        let len = if is_unlimited { file.heard(dimension.id()?)? } else { dimension.len()? };
        Ok(Axis { len, is_unlimited })
    };
    let along: Vec<Axis> = along.iter().map(axis).collect::<Outcome<_>>()?;
    Ok(shape(&along, element_bytes))
}

fn shape(along: &[Axis], element_bytes: u64) -> Option<Vec<u64>> {
    let rank = along.len();
    let element_bytes = element_bytes.max(1);
    let unlimited = along.iter().filter(|axis| axis.is_unlimited).count();
    let mut shape: Vec<u64> = match (rank, unlimited) {
        (0, _) => return None,
        (1, 1) => vec![(SERIES_BYTES / element_bytes).max(1)],
        _ if unlimited == rank => {
            let elements = (CHUNK_BYTES / element_bytes as f64).powf(1.0 / rank as f64);
            vec![(elements as u64).max(1); rank]
        }
        _ => shares(along, unlimited, element_bytes),
    };
    let bytes =
        |shape: &[u64]| shape.iter().fold(element_bytes, |all, &len| all.saturating_mul(len));
    while bytes(&shape) >= MOST_BYTES {
        shape.iter_mut().for_each(|len| *len = (*len / 2).max(1));
    }
    // The last chunk hardly reaches beyond the edge.
    for (len, axis) in shape.iter_mut().zip(along) {
        let count = axis.len.div_ceil(*len);
        let beyond = count.saturating_mul(*len).saturating_sub(axis.len);
        *len -= beyond.checked_div(count).unwrap_or(0);
    }
    Some(shape)
}

fn shares(along: &[Axis], unlimited: usize, element_bytes: u64) -> Vec<u64> {
    let limited = along.iter().filter(|axis| !axis.is_unlimited);
    let elements: f64 = limited.map(|axis| axis.len as f64).product();
    let rank = (along.len() - unlimited) as f64;
    let share = (CHUNK_BYTES / (elements * element_bytes as f64)).powf(1.0 / rank);
    let len = |axis: &Axis| match axis.is_unlimited {
        true => 1,
        false => ((share * axis.len as f64 - 0.5) as u64).clamp(1, axis.len.max(1)),
    };
    along.iter().map(len).collect()
}
