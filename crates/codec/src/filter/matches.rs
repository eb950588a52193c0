//! Finds repetitions for the encoders of the LZ77 family, quickly rather than thoroughly.
//!
//! One position is kept for each hash of four bytes, the last one. Where nothing repeats, ever more
//! bytes are passed without a look.

/// Bits of a hash: the table takes 32 KiB, so that it stays in the nearest cache.
const HASH_BITS: u32 = 13;
/// The shortest repetition that is found.
pub(super) const MIN_LEN: usize = 4;
/// After `2^n` bytes without a match the search goes on by one byte more at a time.
const PATIENCE_BITS: u32 = 6;

/// `len` bytes from `start` on are those that stand `distance` bytes before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Match {
    pub(super) start: usize,
    pub(super) len: usize,
    pub(super) distance: usize,
}

/// Repetitions in `input`, in order, none within another.
pub(super) struct Matches<'a> {
    input: &'a [u8],
    /// Where the search goes on.
    at: usize,
    /// Where the last match ended.
    end: usize,
    max_distance: usize,
    max_len: usize,
    /// For each hash, the last position plus one; 0 for none.
    last: Box<[u32; 1 << HASH_BITS]>,
}

impl<'a> Matches<'a> {
    /// `input` is at most 4 GiB; what lies behind is not searched.
    pub(super) fn new(input: &'a [u8], max_distance: usize, max_len: usize) -> Self {
        let last = Box::new([0; 1 << HASH_BITS]);
        Self { input, at: 0, end: 0, max_distance, max_len, last }
    }
}

impl Iterator for Matches<'_> {
    type Item = Match;

    fn next(&mut self) -> Option<Match> {
        loop {
            let rest = self.input.get(self.at..)?;
            let bytes = u32::from_le_bytes(*rest.first_chunk::<MIN_LEN>()?);
            let place = u32::try_from(self.at + 1).ok()?;
            let hash = bytes.wrapping_mul(0x9E37_79B1) >> (32 - HASH_BITS);
            let last = std::mem::replace(&mut self.last[hash as usize], place) as usize;
            let start = self.at;
            if last > 0 && start + 1 - last <= self.max_distance {
                let len = common_prefix(&self.input[last - 1..], rest).min(self.max_len);
                if len >= MIN_LEN {
                    self.at = start + len;
                    self.end = self.at;
                    return Some(Match { start, len, distance: start + 1 - last });
                }
            }
            self.at += 1 + ((start - self.end) >> PATIENCE_BITS);
        }
    }
}

/// The number of bytes with which both begin; `later` is the end of `earlier`.
fn common_prefix(earlier: &[u8], later: &[u8]) -> usize {
    let (a, b) = (earlier.as_chunks::<8>().0, later.as_chunks::<8>().0);
    let words = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let bytes = earlier[words * 8..].iter().zip(&later[words * 8..]);
    words * 8 + bytes.take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_are_true_in_order_and_within_their_bounds() {
        let input: Vec<u8> = (0..40_000_u32).map(|i| (i % 91 * (i / 4096) % 13) as u8).collect();
        let (mut end, mut count) = (0, 0);
        for Match { start, len, distance } in Matches::new(&input, 200, 50) {
            assert!(start >= end && (MIN_LEN..=50).contains(&len));
            assert!((1..=200).contains(&distance) && distance <= start);
            assert_eq!(input[start..start + len], input[start - distance..][..len]);
            (end, count) = (start + len, count + 1);
        }
        assert!(end <= input.len() && count > 700, "{count}");
    }
}
