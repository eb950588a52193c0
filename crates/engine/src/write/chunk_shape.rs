//! The shape of chunks where nobody says one.
//!
//! See `docs/decisions/0018-chunk-shapes.md` for the rule and what it gives.

/// Bytes of a chunk that is neither small enough to cost calls nor large enough to cost decoding what
/// nobody asked for.
const TARGET_BYTES: u64 = 1 << 20;
/// Bytes of a chunk below which calls cost more than what they bring.
const LEAST_BYTES: u64 = 32 << 10;
/// The same where nothing is written behind the records that are there, and a chunk takes all of its place in the file.
const LEAST_BYTES_AT_THE_END: u64 = 4 << 10;
/// Elements along an unlimited dimension that are reckoned with.
const UNLIMITED_LEN: u64 = 1024;
/// Along each axis, one element in so many may be stored beyond the variable's edge.
const WASTE_SHARE: u64 = 32;
/// Ways to cut an axis that are tried on either side of the wanted one.
const TRIED: u64 = 64;

/// What is known of a variable when the first commit brings values of it.
pub(super) struct Written<'a> {
    /// How long it is along each axis.
    pub(super) extent: &'a [u64],
    /// Whether the file is closed by this commit and a chunk takes as much of it as it has elements.
    pub(super) is_all: bool,
}

/// Elements of a chunk along each axis; `None` is an unlimited one.
///
/// A map (all axes but the first) and a series (the first axis) meet about as many chunks as one
/// another. Of what is written already, a chunk has no more along unlimited axes than there is, or what 32 KiB have, 4 KiB
/// at the end: who commits record by record writes all of a chunk again each time, and what is not filtered takes the
/// place of whole chunks.
pub(super) fn chunk_shape(
    axes: &[Option<u64>],
    element_bytes: u64,
    written: Option<&Written<'_>>,
) -> Vec<u64> {
    let extent = |axis: usize| written.map_or(UNLIMITED_LEN, |found| found.extent[axis].max(1));
    let reckoned = |(axis, len): (usize, &Option<u64>)| match (axis, *len) {
        (_, Some(len)) => len.max(1),
        (0, None) => UNLIMITED_LEN,
        (_, None) => extent(axis).min(UNLIMITED_LEN),
    };
    let lens: Vec<u64> = axes.iter().enumerate().map(reckoned).collect();
    let bytes_of = |lens: &[u64]| {
        lens.iter().fold(element_bytes.max(1), |bytes, &len| bytes.saturating_mul(len))
    };
    let mut pieces_left = (bytes_of(&lens) as f64 / TARGET_BYTES as f64).max(1.0);
    let mut shape = vec![1; lens.len()];
    // The first axis, then the others from the shortest on: what a short one cannot give, longer ones do.
    let mut order: Vec<usize> = (0..lens.len()).collect();
    order.sort_by_key(|&axis| (axis != 0, lens[axis]));
    for (place, &axis) in order.iter().enumerate() {
        let axes_left = (lens.len() - place) as f64;
        // Half of the cuts across the first axis, the other half across the others together.
        let share = match (place, lens.len()) {
            (0, 2..) => 0.5,
            _ => axes_left.recip(),
        };
        shape[axis] = cut(lens[axis], pieces_left.powf(share));
        if written.is_some() && axes[axis].is_none() {
            let len = extent(axis);
            shape[axis] = cut(len, len as f64 / shape[axis] as f64);
        }
        pieces_left = (pieces_left / lens[axis].div_ceil(shape[axis]) as f64).max(1.0);
    }
    if let Some(written) = written
        && let Some(unlimited) = axes.iter().position(Option::is_none)
    {
        let least = if written.is_all { LEAST_BYTES_AT_THE_END } else { LEAST_BYTES };
        let others = bytes_of(&shape) / shape[unlimited];
        shape[unlimited] = shape[unlimited].max((least / others).min(UNLIMITED_LEN));
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
        assert_eq!(chunk_shape(&[Some(0), Some(3)], 4, None), [1, 3]);
    }

    #[test]
    fn shapes_of_what_is_written() {
        let shape = |axes: &[Option<u64>], bytes, extent: &[u64], is_all| {
            chunk_shape(axes, bytes, Some(&Written { extent, is_all }))
        };
        let maps = [None, Some(721), Some(1440)];
        assert_eq!(shape(&maps, 4, &[1, 721, 1440], false), [1, 361, 720]);
        assert_eq!(shape(&maps, 4, &[40, 721, 1440], true), [20, 81, 160]);
        assert_eq!(shape(&maps, 4, &[5000, 721, 1440], true), [16, 91, 180]);
        assert_eq!(shape(&[None, Some(1000)], 8, &[1, 1000], false), [4, 1000]);
        assert_eq!(shape(&[None, Some(1000)], 8, &[1, 1000], true), [1, 1000]);
        assert_eq!(shape(&[None], 8, &[1], false), [1024]);
        assert_eq!(shape(&[None], 8, &[1], true), [512]);
        assert_eq!(shape(&[None, Some(5), Some(6)], 4, &[4, 5, 6], true), [34, 5, 6]);
        assert_eq!(shape(&[None, None], 4, &[2, 3], true), [341, 3]);
        assert_eq!(shape(&[Some(100), None], 4, &[100, 30], true), [100, 30]);
    }

    /// However many records there are, hardly more is stored than they have, or 4 KiB.
    #[test]
    fn what_is_written_takes_hardly_more_than_it_has() {
        let mut random = numbers();
        for _ in 0..20_000 {
            let rank = 1 + random(4) as usize;
            let extent: Vec<u64> = (0..rank).map(|_| 1 + random(300)).collect();
            let axes: Vec<_> = extent.iter().map(|&len| (random(2) > 0).then_some(len)).collect();
            let shape = chunk_shape(&axes, 4, Some(&Written { extent: &extent, is_all: true }));
            let (mut stored, mut whole) = (4, 4);
            for (len, &piece) in extent.iter().zip(&shape) {
                stored *= len.div_ceil(piece) * piece;
                whole *= len;
            }
            let most = (1.2 * whole as f64).max(LEAST_BYTES_AT_THE_END as f64);
            assert!(stored as f64 <= most, "{axes:?} {extent:?} {shape:?}");
        }
    }

    fn numbers() -> impl FnMut(u64) -> u64 {
        let mut state = 1_u64;
        move |below| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % below
        }
    }

    /// Of axes from 1 to 2,000 long, in all ranks up to 5: chunks stay within their bounds, and hardly
    /// more is stored than there is.
    #[test]
    fn chunks_are_bounded_and_hardly_reach_beyond_the_edge() {
        let mut random = numbers();
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
