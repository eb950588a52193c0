//! The shape of chunks where nobody says one.
//!
//! See `docs/decisions/0018-chunk-shapes.md` for the rule and what it was measured against.

/// Bytes of a chunk that is neither small enough to cost calls nor large enough to cost decoding what
/// nobody asked for.
const TARGET_BYTES: u64 = 1 << 20;
/// Elements along an unlimited dimension that a chunk has where nothing else bounds it.
const UNLIMITED_LEN: u64 = 1024;
/// Of all elements stored, one in so many may lie beyond the variable's edge.
const WASTE_SHARE: u64 = 5;

/// Elements of a chunk along each axis; `None` is an unlimited one.
///
/// A map (all of the axes but the first) and a series (the first axis) meet as many chunks as one
/// another.
pub(super) fn chunk_shape(axes: &[Option<u64>], element_bytes: u64) -> Vec<u64> {
    let element_bytes = element_bytes.max(1);
    let lens: Vec<u64> = axes.iter().map(|len| len.unwrap_or(UNLIMITED_LEN).max(1)).collect();
    let total = lens.iter().fold(element_bytes, |bytes, &len| bytes.saturating_mul(len));
    let chunk_count = (total as f64 / TARGET_BYTES as f64).max(1.0);
    let rank = axes.len().max(1) as f64;
    let mut shape = Vec::with_capacity(axes.len());
    for (axis, &len) in lens.iter().enumerate() {
        // Half of the cuts across the first axis, the other half across the others together.
        let exponent = match (axis, axes.len()) {
            (_, 1) => 1.0,
            (0, _) => 0.5,
            _ => 0.5 / (rank - 1.0),
        };
        let chunk = (len as f64 / chunk_count.powf(exponent)).round().max(1.0) as u64;
        shape.push(even(len, chunk.min(len)));
    }
    shape
}

/// A length near `chunk` whose chunks do not reach far beyond `len`.
fn even(len: u64, chunk: u64) -> u64 {
    let count = len.div_ceil(chunk);
    let stored = count * chunk;
    if (stored - len) * WASTE_SHARE * 4 <= len { chunk } else { len.div_ceil(count) }
}
