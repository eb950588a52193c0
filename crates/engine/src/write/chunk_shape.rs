//! The shape of chunks where nobody says one.
//!
//! See `docs/decisions/0018-chunk-shapes.md` for the rule and what it gives.

/// Bytes of a chunk that is neither small enough to cost calls nor large enough to cost decoding what
/// nobody asked for.
const TARGET_BYTES: u64 = 1 << 20;
/// Bytes of a chunk below which calls cost more than what they bring.
const LEAST_BYTES: u64 = 32 << 10;
/// Elements along an unlimited dimension that are reckoned with.
const UNLIMITED_LEN: u64 = 1024;
/// Along each axis, one element in so many may be stored beyond the variable's edge.
const WASTE_SHARE: u64 = 32;
/// Ways to cut an axis that are tried on either side of the wanted one.
const TRIED: u64 = 64;

/// Elements of a chunk along each axis; `None` is an unlimited one.
///
/// A map (all axes but the first) and a series (the first axis) meet about as many chunks as one
/// another. Where the first axis is unlimited and the first commit brings some `records`, a chunk has no more
/// than these, or what 32 KiB have: who commits record by record writes all of a chunk again each time.
pub(super) fn chunk_shape(
    axes: &[Option<u64>],
    element_bytes: u64,
    records: Option<u64>,
) -> Vec<u64> {
    let lens: Vec<u64> = axes.iter().map(|len| len.unwrap_or(UNLIMITED_LEN).max(1)).collect();
    let whole = lens.iter().fold(element_bytes.max(1), |bytes, &len| bytes.saturating_mul(len));
    let mut pieces_left = (whole as f64 / TARGET_BYTES as f64).max(1.0);
    let mut shape = vec![1; lens.len()];
    // The first axis, then the others from the shortest on: what a short one cannot give, longer ones do.
    let mut order: Vec<usize> = (0..lens.len()).collect();
    order.sort_by_key(|&axis| (axis != 0, lens[axis]));
    let others =
        lens.iter().skip(1).fold(element_bytes.max(1), |bytes, &len| bytes.saturating_mul(len));
    let most = match (records, axes.first()) {
        (Some(records), Some(None)) => records.max(LEAST_BYTES / others),
        _ => u64::MAX,
    };
    for (place, &axis) in order.iter().enumerate() {
        let axes_left = (lens.len() - place) as f64;
        // Half of the cuts across the first axis, the other half across the others together.
        let share = match (place, lens.len()) {
            (0, 2..) => 0.5,
            _ => axes_left.recip(),
        };
        shape[axis] = cut(lens[axis], pieces_left.powf(share));
        if axis == 0 {
            shape[axis] = shape[axis].min(most);
        }
        pieces_left = (pieces_left / lens[axis].div_ceil(shape[axis]) as f64).max(1.0);
    }
    shape
}

/// The length of pieces, about `count` of them, that reach hardly beyond `len`.
fn cut(len: u64, count: f64) -> u64 {
    let wanted = (count.round() as u64).clamp(1, len);
    let fits = |count: u64| {
        let piece = len.div_ceil(count);
        let beyond = piece.saturating_mul(len.div_ceil(piece)) - len;
        (beyond.saturating_mul(WASTE_SHARE) <= len).then_some(piece)
    };
    let near = (0..=TRIED).flat_map(|step| [wanted.checked_sub(step), wanted.checked_add(step)]);
    let mut counts = near.flatten().filter(|count| (1..=len).contains(count));
    // As many pieces as elements fit always, and so does one.
    counts.find_map(fits).unwrap_or(len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_shapes() {
        assert_eq!(chunk_shape(&[Some(100)], 8, None), [100]);
        assert_eq!(chunk_shape(&[None], 8, None), [1024]);
        assert_eq!(chunk_shape(&[None, Some(721), Some(1440)], 4, None), [16, 91, 180]);
        assert_eq!(chunk_shape(&[None, Some(1000)], 8, Some(1)), [4, 1000]);
        assert_eq!(chunk_shape(&[None, Some(721), Some(1440)], 4, Some(1)), [1, 361, 720]);
        assert_eq!(chunk_shape(&[None, Some(721), Some(1440)], 4, Some(40)), [16, 91, 180]);
        assert_eq!(chunk_shape(&[None], 8, Some(1)), [1024]);
        assert_eq!(chunk_shape(&[Some(0), Some(3)], 4, None), [1, 3]);
    }

    /// Of axes from 1 to 2,000 long, in all ranks up to 5: chunks stay within their bounds, and hardly
    /// more is stored than there is.
    #[test]
    fn chunks_are_bounded_and_hardly_reach_beyond_the_edge() {
        let mut state = 1_u64;
        let mut random = move |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % below
        };
        for _ in 0..20_000 {
            let rank = 1 + random(5) as usize;
            let axes: Vec<Option<u64>> = (0..rank).map(|_| Some(1 + random(2000))).collect();
            let element_bytes = [1, 2, 4, 8][random(4) as usize];
            let shape = chunk_shape(&axes, element_bytes, None);
            let (mut stored, mut whole, mut chunk) = (element_bytes, element_bytes, element_bytes);
            for (len, &piece) in axes.iter().flatten().zip(&shape) {
                assert!((1..=*len).contains(&piece), "{axes:?} {shape:?}");
                stored = stored.saturating_mul(len.div_ceil(piece) * piece);
                whole = whole.saturating_mul(*len);
                chunk *= piece;
            }
            assert!(stored as f64 <= 1.2 * whole as f64, "{axes:?} {shape:?}");
            assert!(chunk <= 4 << 20, "{axes:?} {shape:?}: {chunk}");
            assert!(chunk >= (64 << 10).min(whole), "{axes:?} {shape:?}: {chunk}");
        }
    }
}
