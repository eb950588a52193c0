//! Finds repetitions, as long as they are worth more than the literals they stand for.

/// The longest match that deflate can tell.
pub(super) const MAX_LEN: usize = 258;
/// The farthest.
const MAX_DISTANCE: usize = 1 << 15;
/// Bytes that are loaded at once.
const WORD: usize = 8;
/// Bytes that are compared at once.
const WIDE: usize = 16;

const HASH_BITS: u32 = 15;
/// After `2^n` literals in a row, the search goes on by one byte more at a time.
const PATIENCE_BITS: u32 = 6;
/// The most bytes passed without a look.
const MAX_STEP: usize = 16;
/// Costs are counted in sixteenths of a bit.
const BIT: u32 = 16;
/// What a match costs beside the bits of its distance: typical codes of length and distance.
const MATCH_BITS: u32 = 9;

/// Some literals, then a match.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sequence {
    pub(super) literals: u32,
    /// 3 to 258.
    pub(super) len: u16,
    pub(super) distance: u16,
}

/// The last position of each hash, of which the lower 16 bits are kept: every candidate is held
/// against the bytes themselves.
pub(super) struct Search {
    last: Box<[u16; 1 << HASH_BITS]>,
}

impl Default for Search {
    fn default() -> Self {
        Self { last: Box::new([0; 1 << HASH_BITS]) }
    }
}

impl Search {
    /// Forgets all positions: what is found depends on nothing but the input.
    pub(super) fn forget(&mut self) {
        self.last.fill(0);
    }

    /// Finds matches from `start` on in `input`, also with what stands before, where a literal
    /// costs `literal_bits`.
    pub(super) fn run(
        &mut self,
        input: &[u8],
        start: usize,
        literal_bits: f32,
        sequences: &mut Vec<Sequence>,
    ) {
        sequences.clear();
        let literal_bits = (literal_bits * BIT as f32) as u32;
        let mut literals_from = start;
        let mut at = start;
        while at + WORD <= input.len() {
            let Some((len, distance)) = self
                .candidate(input, at)
                .filter(|&(len, distance)| len as u32 * literal_bits > match_bits(distance))
            else {
                at += 1 + ((at - literals_from) >> PATIENCE_BITS).min(MAX_STEP);
                continue;
            };
            let back = extend_back(input, literals_from, at, distance);
            let first = at - back;
            let len = (len + back).min(MAX_LEN);
            sequences.push(Sequence {
                literals: (first - literals_from) as u32,
                len: len as u16,
                distance: distance as u16,
            });
            at = first + len;
            literals_from = at;
            if at + WORD <= input.len() {
                self.last[hash(word_at(input, at - 1))] = (at - 1) as u16;
            }
        }
    }

    /// The length and distance of the match at `at`, where there is one with the last position of
    /// the same hash.
    #[inline(always)]
    fn candidate(&mut self, input: &[u8], at: usize) -> Option<(usize, usize)> {
        let word = word_at(input, at);
        let last = std::mem::replace(&mut self.last[hash(word)], at as u16);
        // No distance at all counts as the farthest.
        let distance = usize::from((at as u16).wrapping_sub(last));
        if distance.wrapping_sub(1) >= MAX_DISTANCE.min(at) {
            return None;
        }
        let is_match = word as u32 == word_at(input, at - distance) as u32;
        is_match.then(|| (extend(input, at, distance), distance))
    }
}

/// What a match costs, in units of [`BIT`].
fn match_bits(distance: usize) -> u32 {
    (MATCH_BITS + distance.ilog2()) * BIT
}

#[inline(always)]
fn hash(word: u64) -> usize {
    ((word as u32).wrapping_mul(0x9E37_79B1) >> (32 - HASH_BITS)) as usize
}

#[inline(always)]
fn word_at(input: &[u8], at: usize) -> u64 {
    let mut word = [0; WORD];
    word.copy_from_slice(&input[at..at + WORD]);
    u64::from_le_bytes(word)
}

#[inline(always)]
fn wide_at(input: &[u8], at: usize) -> u128 {
    let mut wide = [0; WIDE];
    wide.copy_from_slice(&input[at..at + WIDE]);
    u128::from_le_bytes(wide)
}

/// How many bytes from `at` on are those `distance` before, up to the longest match.
#[inline(always)]
fn extend(input: &[u8], at: usize, distance: usize) -> usize {
    let end = input.len().min(at + MAX_LEN);
    let mut to = at;
    while to + 2 * WIDE <= end {
        // Both halves are looked at before it is known which one counts: most matches end within
        // them, but where is nothing that a processor could foresee.
        let differs = |from: usize| wide_at(input, from) ^ wide_at(input, from - distance);
        let (first, second) = (differs(to), differs(to + WIDE));
        let in_second = WIDE + second.trailing_zeros() as usize / 8;
        let same = if first == 0 { in_second } else { first.trailing_zeros() as usize / 8 };
        to += same;
        if same < 2 * WIDE {
            return to - at;
        }
    }
    while to < end && input[to] == input[to - distance] {
        to += 1;
    }
    to - at
}

/// How many bytes before `at`, down to `from`, are those `distance` before.
fn extend_back(input: &[u8], from: usize, at: usize, distance: usize) -> usize {
    let most = (at - from).min(at.saturating_sub(distance));
    let mut back = 0;
    while back + WORD <= most {
        let end = at - back;
        let differs = word_at(input, end - WORD) ^ word_at(input, end - WORD - distance);
        if differs != 0 {
            return back + differs.leading_zeros() as usize / 8;
        }
        back += WORD;
    }
    while back < most && input[at - back - 1] == input[at - back - 1 - distance] {
        back += 1;
    }
    back
}
