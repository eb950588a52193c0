//! Prefix codes from the lengths of their words (RFC 1951, 3.2.2).

use super::entry::Entry;

/// The longest word.
pub(super) const MAX_BITS: usize = 15;
/// The most symbols in an alphabet.
pub(super) const MAX_SYMBOLS: usize = 288;

/// A canonical prefix code.
pub(super) struct Code {
    /// How many words have each length.
    counts: [u16; MAX_BITS + 1],
    /// The symbols in the order of their words.
    symbols: [u16; MAX_SYMBOLS],
}

/// A symbol with its word.
#[derive(Clone, Copy)]
pub(super) struct Word {
    pub(super) symbol: usize,
    /// In the order of the stream: the first bit lowest.
    pub(super) bits: usize,
    pub(super) len: u32,
}

impl Code {
    /// The code in which symbol `n` has a word of `lengths[n]` bits, or none where that is 0.
    ///
    /// `None` where there are more words than can be told apart, or words left over: only a single one,
    /// of one bit, may be alone, and there may be none.
    pub(super) fn new(lengths: &[u8]) -> Option<Self> {
        let mut counts = [0_u16; MAX_BITS + 1];
        for &len in lengths {
            counts[usize::from(len)] += 1;
        }
        counts[0] = 0;
        let mut starts = [0_u16; MAX_BITS + 1];
        let mut used = 0;
        let mut space = 0_u32;
        for (len, &count) in counts.iter().enumerate() {
            starts[len] = used;
            used += count;
            space += u32::from(count) << (MAX_BITS - len);
        }
        let complete = space == 1 << MAX_BITS;
        let alone = used == 0 || used == 1 && counts[1] == 1;
        if !complete && !alone {
            return None;
        }
        let mut symbols = [0; MAX_SYMBOLS];
        for (symbol, &len) in lengths.iter().enumerate().filter(|(_, len)| **len > 0) {
            let place = &mut starts[usize::from(len)];
            symbols[usize::from(*place)] = symbol as u16;
            *place += 1;
        }
        Some(Self { counts, symbols })
    }

    /// How many words of each length there are.
    pub(super) fn counts(&self) -> &[u16; MAX_BITS + 1] {
        &self.counts
    }

    /// Calls `with` for all words, in their order: shorter ones first.
    #[inline(always)]
    pub(super) fn for_each_word(&self, mut with: impl FnMut(Word)) {
        let mut symbols = self.symbols.iter();
        let mut bits = 0;
        for len in 1..=MAX_BITS as u32 {
            for &symbol in symbols.by_ref().take(usize::from(self.counts[len as usize])) {
                with(Word { symbol: usize::from(symbol), bits, len });
                bits = following(bits, len);
            }
        }
    }

    /// Fills `table`, indexed by as many bits as its length is a power of two, with what `entry` says of
    /// words; what it says of longer ones comes to `more`, and [`Entry::further`] leads there.
    #[inline(always)]
    pub(super) fn fill(
        &self,
        table: &mut [Entry],
        more: &mut Vec<Entry>,
        entry: impl Fn(usize, u32) -> Entry,
    ) {
        let index_bits = table.len().ilog2();
        let longest = self.counts.iter().rposition(|count| *count > 0).unwrap_or(0) as u32;
        let more_bits = longest.saturating_sub(index_bits);
        more.clear();
        table[0] = Entry::INVALID;
        let mut known = 0;
        let mut last = usize::MAX;
        self.for_each_word(|word| {
            while known < word.len.min(index_bits) {
                // What fewer bits say holds for either value of the next one.
                table.copy_within(..1 << known, 1 << known);
                known += 1;
            }
            let entry = entry(word.symbol, word.len);
            if word.len <= index_bits {
                table[word.bits] = entry;
                return;
            }
            let index = word.bits & (table.len() - 1);
            if index != last {
                last = index;
                table[index] = Entry::further(more.len(), more_bits);
                more.resize(more.len() + (1 << more_bits), Entry::INVALID);
            }
            let start = more.len() - (1 << more_bits) + (word.bits >> index_bits);
            let places = more[start..].iter_mut().step_by(1 << (word.len - index_bits));
            places.for_each(|place| *place = entry);
        });
        for known in known..index_bits {
            table.copy_within(..1 << known, 1 << known);
        }
    }
}

/// The word after `bits`, both in the order of the stream: one is added where the last bit stands.
#[inline(always)]
fn following(bits: usize, len: u32) -> usize {
    let ones = (!((bits as u32) << (32 - len))).leading_zeros();
    let place = 1_usize << (len.wrapping_sub(ones + 1) & 31);
    if ones < len { bits & (place - 1) | place } else { 0 }
}
