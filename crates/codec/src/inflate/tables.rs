//! The tables of a block: what the next bits mean.

use super::code::{Code, MAX_BITS, Word};
use super::entry::Entry;

/// Bits that are looked up where an entry tells a symbol.
pub(super) const PLAIN_BITS: u32 = 11;
/// Where it may tell two: more bits would take longer to fill in than they save.
pub(super) const JOINED_BITS: u32 = 10;
pub(super) const DISTANCE_BITS: u32 = 9;
// What is behind the shortest word is told by the table of distances.
const _: () = assert!(JOINED_BITS - 1 <= DISTANCE_BITS && JOINED_BITS <= PLAIN_BITS);

/// A block of fewer bytes is not worth joining for.
const MIN_JOINED: usize = 8 << 10;

const LITERAL_COUNT: usize = 256;

/// What the bits of a block mean.
pub(super) struct Tables {
    /// What begins with each of the values that [`PLAIN_BITS`] or [`JOINED_BITS`] bits have.
    symbols: Box<[Entry; 1 << PLAIN_BITS]>,
    distances: Box<[Entry; 1 << DISTANCE_BITS]>,
    /// What longer words mean, by the bits behind those.
    long_symbols: Vec<Entry>,
    long_distances: Vec<Entry>,
    /// Whether entries tell more than a symbol.
    joined: bool,
}

impl Default for Tables {
    fn default() -> Self {
        Self {
            symbols: Box::new([Entry::INVALID; 1 << PLAIN_BITS]),
            distances: Box::new([Entry::INVALID; 1 << DISTANCE_BITS]),
            long_symbols: Vec::new(),
            long_distances: Vec::new(),
            joined: false,
        }
    }
}

impl Tables {
    /// Prepares for a block of at most `room` bytes in the codes whose words have these lengths, or
    /// says which of them is none.
    pub(super) fn fill(
        &mut self,
        symbol_lengths: &[u8],
        distance_lengths: &[u8],
        room: usize,
    ) -> Result<(), &'static str> {
        let symbols =
            Code::new(symbol_lengths).ok_or("no complete code of literals and lengths")?;
        let distances = Code::new(distance_lengths).ok_or("no complete code of distances")?;
        distances.fill(&mut self.distances[..], &mut self.long_distances, Entry::of_distance);
        let gain = Gain::new(&symbols, symbol_lengths, &distances);
        self.joined = room >= MIN_JOINED && (gain.pairs || gain.repetitions);
        let bits = if self.joined { JOINED_BITS } else { PLAIN_BITS };
        symbols.fill(&mut self.symbols[..1 << bits], &mut self.long_symbols, Entry::of_symbol);
        if self.joined {
            self.join(&symbols, &gain);
        }
        Ok(())
    }

    /// Whether [`JOINED_BITS`] are looked up, not [`PLAIN_BITS`].
    pub(super) fn joined(&self) -> bool {
        self.joined
    }

    /// What begins with the bits of `window`, of which `BITS` are looked at.
    #[inline(always)]
    pub(super) fn symbol<const BITS: u32>(&self, window: u64) -> Entry {
        self.symbols[..1 << BITS][window as usize & ((1 << BITS) - 1)]
    }

    /// The entry of a word of which [`Self::symbol`] gave the beginning.
    #[inline(always)]
    pub(super) fn long_symbol<const BITS: u32>(&self, first: Entry, window: u64) -> Entry {
        self.long_symbols[first.place(window, BITS)]
    }

    /// Which distance begins with the bits of `window`, of which [`DISTANCE_BITS`] are looked at.
    #[inline(always)]
    pub(super) fn distance(&self, window: u64) -> Entry {
        self.distances[window as usize & ((1 << DISTANCE_BITS) - 1)]
    }

    /// The entry of a word of which [`Self::distance`] gave the beginning.
    #[inline(always)]
    pub(super) fn long_distance(&self, first: Entry, window: u64) -> Entry {
        self.long_distances[first.place(window, DISTANCE_BITS)]
    }

    /// Lets entries tell what follows their symbol too, where the bits of the index tell that.
    fn join(&mut self, symbols: &Code, gain: &Gain) {
        let table = &mut self.symbols[..1 << JOINED_BITS];
        let mut single = [Entry::INVALID; 1 << JOINED_BITS];
        single.copy_from_slice(table);
        symbols.for_each_word(|Word { bits, len, .. }| {
            let Some(first) = single.get(bits).filter(|_| len < JOINED_BITS) else { return };
            if first.is_literals() && gain.pairs {
                join_literals(table, *first, bits, &single);
            } else if first.is_length() && gain.repetitions && first.bits() < JOINED_BITS {
                for extra in 0..1 << (first.bits() - len) {
                    join_distances(table, *first, bits | extra << len, &self.distances[..]);
                }
            }
        });
    }
}

/// Lets the entries of the literal that `bits` tell have a second one.
fn join_literals(table: &mut [Entry], first: Entry, bits: usize, single: &[Entry]) {
    let left = JOINED_BITS - first.bits();
    let entries = table[bits..].iter_mut().step_by(1 << first.bits());
    for (entry, second) in entries.zip(&single[..1 << left]) {
        if second.is_literals() && second.bits() <= left {
            *entry = first.with_literal(*second);
        }
    }
}

/// Lets the entries of the length that `bits` tell, its extra bits among them, have their distances.
fn join_distances(table: &mut [Entry], length: Entry, bits: usize, distances: &[Entry]) {
    let left = JOINED_BITS - length.bits();
    let entries = table[bits..].iter_mut().step_by(1 << length.bits());
    for (entry, distance) in entries.zip(&distances[..1 << left]) {
        if distance.is_repetition()
            && distance.code_bits() <= left
            && let Some(whole) = length.with_distance(bits as u64, *distance)
        {
            *entry = whole;
        }
    }
}

/// The part of a block's symbols that is worth the filling in.
const WORTHWHILE: f32 = 0.2;
/// Where a part of the repetitions cannot be joined, the processor has to guess which: so large it must be.
const FORESEEABLE: f32 = 0.75;

/// Which entries are worth joining.
struct Gain {
    pairs: bool,
    repetitions: bool,
}

impl Gain {
    /// A word of `n` bits stands for one symbol in `2^n`: so much is told without a look at the block.
    fn new(symbols: &Code, symbol_lengths: &[u8], distances: &Code) -> Self {
        let share = |bits: usize| 1.0 / (1_u32 << bits) as f32;
        let mut distances_up_to = [0.0; MAX_BITS + 1];
        for bits in 1..=MAX_BITS {
            let more = f32::from(distances.counts()[bits]) * share(bits);
            distances_up_to[bits] = distances_up_to[bits - 1] + more;
        }
        let mut literals = *symbols.counts();
        let (mut lengths, mut repetitions) = (0.0, 0.0);
        let others = symbol_lengths.iter().enumerate().skip(LITERAL_COUNT);
        for (symbol, &bits) in others.filter(|(_, bits)| **bits > 0) {
            literals[usize::from(bits)] -= 1;
            let entry = Entry::of_symbol(symbol, bits.into());
            if entry.is_length() {
                lengths += share(bits.into());
            }
            if entry.is_length() && entry.can_have_distance() {
                let left = JOINED_BITS.saturating_sub(entry.bits());
                repetitions += share(bits.into()) * distances_up_to[left as usize];
            }
        }
        let mut pairs = 0.0;
        for first in 1..JOINED_BITS as usize {
            for second in 1..=JOINED_BITS as usize - first {
                let count = u32::from(literals[first]) * u32::from(literals[second]);
                pairs += count as f32 * share(first + second);
            }
        }
        Self {
            pairs: pairs > WORTHWHILE,
            repetitions: repetitions > WORTHWHILE.max(FORESEEABLE * lengths),
        }
    }
}
