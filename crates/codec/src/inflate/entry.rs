//! What the next bits of a block mean, as a table tells it.

use super::code::MAX_SYMBOLS;

/// One or two literals, a repetition, or half of one; how many bits tell it, and where in them the extra
/// bits begin.
///
/// ```text
/// bits  0..6   bits of the codes and of their extra bits
///       6      literals, not a repetition
///       7      something else than literals or a whole repetition
///       8..14  where the extra bits of the length, of the distance, begin
/// literals:
///      14..16  how many
///      16..32  these, the first one lowest
/// a whole repetition, a distance:
///      14..17  the length less 3
///      17..32  the distance without its extra bits
/// something else:
///      14..16  which
///      16..32  a length without its extra bits; where the table for longer codes goes on
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry(u32);

const LITERALS: u32 = 1 << 6;
const ELSE: u32 = 1 << 7;
const INVALID: u32 = ELSE;
const LENGTH: u32 = ELSE | 1 << 14;
const FURTHER: u32 = ELSE | 2 << 14;
const END_OF_BLOCK: u32 = ELSE | 3 << 14;
const KIND: u32 = LITERALS | ELSE | 3 << 14;

const SECOND_SHIFT: u32 = 8;
const COUNT_SHIFT: u32 = 14;
const LENGTH_SHIFT: u32 = 14;
const VALUE_SHIFT: u32 = 16;
const DISTANCE_SHIFT: u32 = 17;

const SHORTEST: usize = 3;
const LONGEST_JOINED: usize = SHORTEST + 7;

/// The lengths that symbols 257 to 285 stand for, without their extra bits, and how many those are.
const LENGTHS: [(u16, u8); 29] = lengths();
/// The most extra bits that a length, and that a distance has.
pub(super) const MAX_LENGTH_EXTRA: u32 = 5;
pub(super) const MAX_DISTANCE_EXTRA: u32 = 13;

const fn lengths() -> [(u16, u8); 29] {
    let mut lengths = [(0, 0); 29];
    let mut next = SHORTEST as u16;
    let mut index = 0;
    while index < 28 {
        let extra = if index < 8 { 0 } else { index / 4 - 1 };
        lengths[index] = (next, extra as u8);
        next += 1 << extra;
        index += 1;
    }
    // The longest has a symbol of its own, though the one before could tell it.
    lengths[28] = (258, 0);
    lengths
}

/// Entries of symbols with codes of no bits.
const SYMBOLS: [u32; MAX_SYMBOLS] = symbols();
const DISTANCES: [u32; MAX_SYMBOLS] = distances();

const fn symbols() -> [u32; MAX_SYMBOLS] {
    let mut entries = [INVALID; MAX_SYMBOLS];
    let mut symbol = 0;
    while symbol < 256 {
        entries[symbol] = LITERALS | 1 << COUNT_SHIFT | (symbol as u32) << VALUE_SHIFT;
        symbol += 1;
    }
    entries[256] = END_OF_BLOCK;
    let mut index = 0;
    while index < LENGTHS.len() {
        let (length, extra) = LENGTHS[index];
        entries[257 + index] = LENGTH | extra as u32 | (length as u32) << VALUE_SHIFT;
        index += 1;
    }
    entries
}

const fn distances() -> [u32; MAX_SYMBOLS] {
    let mut entries = [INVALID; MAX_SYMBOLS];
    let mut symbol = 0;
    while symbol < 30 {
        let half = symbol as u32 / 2;
        let (extra, distance) = if half == 0 {
            (0, symbol as u32)
        } else {
            (half - 1, (2 + symbol as u32 % 2) << (half - 1))
        };
        entries[symbol] = extra | (distance + 1) << DISTANCE_SHIFT;
        symbol += 1;
    }
    entries
}

impl Entry {
    /// No code begins so.
    pub(super) const INVALID: Self = Self(INVALID);

    /// What a code of `bits` bits means in the alphabet of literals and lengths (RFC 1951, 3.2.5).
    #[inline(always)]
    pub(super) fn of_symbol(symbol: usize, bits: u32) -> Self {
        Self(SYMBOLS[symbol] + (bits | bits << SECOND_SHIFT))
    }

    /// What a code of `bits` bits means in the alphabet of distances.
    #[inline(always)]
    pub(super) fn of_distance(symbol: usize, bits: u32) -> Self {
        Self(DISTANCES[symbol] + (bits | bits << SECOND_SHIFT))
    }

    /// What a code of `bits` bits means in the alphabet of code lengths.
    pub(super) fn of_code_length(symbol: usize, bits: u32) -> Self {
        Self(LITERALS | bits | (symbol as u32) << VALUE_SHIFT)
    }

    /// The symbol that [`Self::of_code_length`] was told.
    pub(super) fn code_length(self) -> Option<u8> {
        self.is_literals().then_some(self.literals()[0])
    }

    /// Says where `count` bits more are looked up: from entry `start` on of the table for long codes.
    pub(super) fn further(start: usize, count: u32) -> Self {
        Self(FURTHER | count << SECOND_SHIFT | (start as u32) << VALUE_SHIFT)
    }

    /// Both literals at once.
    pub(super) fn with_literal(self, second: Self) -> Self {
        let second_value = (second.value() as u32) << (VALUE_SHIFT + 8);
        Self(self.0 + second.bits() + (1 << COUNT_SHIFT) + second_value)
    }

    /// Whether [`Self::with_distance`] gives anything.
    pub(super) fn can_have_distance(self) -> bool {
        self.length(0) <= LONGEST_JOINED
    }

    /// The repetition of the length that `bits` tell, its extra bits among them, where the distance follows;
    /// nothing where it is too long.
    pub(super) fn with_distance(self, bits: u64, distance: Self) -> Option<Self> {
        let length = self.length(bits);
        let before = self.bits() | self.bits() << SECOND_SHIFT;
        let joined = || distance.0 + before + (((length - SHORTEST) as u32) << LENGTH_SHIFT);
        (length <= LONGEST_JOINED).then(|| Self(joined()))
    }

    #[inline(always)]
    pub(super) fn is_literals(self) -> bool {
        self.0 & LITERALS != 0
    }

    #[inline(always)]
    pub(super) fn is_repetition(self) -> bool {
        self.0 & (LITERALS | ELSE) == 0
    }

    /// Whether it is a length, and its distance is to be looked up.
    #[inline(always)]
    pub(super) fn is_length(self) -> bool {
        self.0 & KIND == LENGTH
    }

    /// Whether the code is longer than what the table tells.
    #[inline(always)]
    pub(super) fn is_further(self) -> bool {
        self.0 & KIND == FURTHER
    }

    pub(super) fn is_end_of_block(self) -> bool {
        self.0 & KIND == END_OF_BLOCK
    }

    /// Bits of the codes and of their extra bits.
    #[inline(always)]
    pub(super) fn bits(self) -> u32 {
        self.0 & 63
    }

    /// [`Self::bits`] in the lowest six bits, and anything above.
    #[inline(always)]
    pub(super) fn bits_and_more(self) -> u32 {
        self.0
    }

    /// Bits of the codes before the last extra bits.
    #[inline(always)]
    pub(super) fn code_bits(self) -> u32 {
        self.0 >> SECOND_SHIFT & 63
    }

    /// How many literals there are.
    #[inline(always)]
    pub(super) fn count(self) -> usize {
        (self.0 >> COUNT_SHIFT & 3) as usize
    }

    /// The literals, and zeros behind them; the length without extra bits; where more bits are looked up.
    #[inline(always)]
    fn value(self) -> usize {
        (self.0 >> VALUE_SHIFT) as usize
    }

    /// The literals, and zeros behind them.
    #[inline(always)]
    pub(super) fn literals(self) -> [u8; 4] {
        (self.0 >> VALUE_SHIFT).to_le_bytes()
    }

    /// Where in the table for long codes `window`, from which `index_bits` were looked up, is told.
    #[inline(always)]
    pub(super) fn place(self, window: u64, index_bits: u32) -> usize {
        self.value() + (window >> index_bits & low_bits(self.code_bits())) as usize
    }

    /// The number that the extra bits tell: the last bits of all that this entry stands for.
    #[inline(always)]
    fn extra(self, window: u64) -> usize {
        ((window & low_bits(self.bits())) >> self.code_bits()) as usize
    }

    /// The length of a repetition that is told by this entry alone.
    #[inline(always)]
    pub(super) fn whole_length(self) -> usize {
        (self.0 >> LENGTH_SHIFT & 7) as usize + SHORTEST
    }

    /// A length.
    #[inline(always)]
    pub(super) fn length(self, window: u64) -> usize {
        self.value() + self.extra(window)
    }

    /// A distance.
    #[inline(always)]
    pub(super) fn distance(self, window: u64) -> usize {
        (self.0 >> DISTANCE_SHIFT) as usize + self.extra(window)
    }
}

/// A mask of the `count` lowest bits; at most 63.
#[inline(always)]
pub(super) fn low_bits(count: u32) -> u64 {
    !(u64::MAX << (count & 63))
}
