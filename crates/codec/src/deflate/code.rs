//! Huffman codes with a longest length (RFC 1951, 3.2.2).

/// The most symbols in an alphabet.
pub(super) const MAX_SYMBOLS: usize = 288;

/// A symbol's code, first bit lowest, and its length in bits; 0 for symbols that never occur.
#[derive(Clone, Copy, Default)]
pub(super) struct Code {
    pub(super) bits: u16,
    pub(super) len: u8,
}

/// Gives each of the symbols that `counts` counts a code of at most `limit` bits.
///
/// Symbols that do not occur get none. Where fewer than two occur, the one, or symbol 0, has one
/// bit.
pub(super) fn assign<const N: usize>(counts: &[u32; N], limit: u8) -> [Code; N] {
    let mut codes = [Code::default(); N];
    let mut order = [0_u32; MAX_SYMBOLS];
    let mut used = 0;
    for (symbol, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        order[used] = count << SYMBOL_BITS | symbol as u32;
        used += 1;
    }
    let order = &mut order[..used];
    if let [] | [_] = order {
        let symbol = order.first().map_or(0, |entry| entry & SYMBOL_MASK);
        codes[symbol as usize].len = 1;
        return codes;
    }
    order.sort_unstable();
    let mut per_length = lengths(order, limit);
    let mut length = limit;
    for &entry in &*order {
        while per_length[usize::from(length)] == 0 {
            length -= 1;
        }
        per_length[usize::from(length)] -= 1;
        codes[(entry & SYMBOL_MASK) as usize].len = length;
    }
    number(&mut codes);
    codes
}

/// A count stands above its symbol, so that they can be sorted together.
const SYMBOL_BITS: u32 = 9;
const SYMBOL_MASK: u32 = (1 << SYMBOL_BITS) - 1;
/// The largest count that does not lose bits.
pub(super) const MAX_COUNT: u32 = u32::MAX >> SYMBOL_BITS;

/// How many symbols have codes of each length, for at least two symbols in ascending order.
fn lengths(order: &[u32], limit: u8) -> [u32; 33] {
    let mut tree = [0_u32; MAX_SYMBOLS];
    let tree = &mut tree[..order.len()];
    for (node, entry) in tree.iter_mut().zip(order) {
        *node = entry >> SYMBOL_BITS;
    }
    depths(tree);
    let limit = usize::from(limit);
    let mut per_length = [0_u32; 33];
    for &depth in &*tree {
        per_length[(depth as usize).min(limit)] += 1;
    }
    // Codes that were cut to the limit take too much of the code space. For each unit of that, a
    // longest code goes to beside another one, which becomes longer by a bit.
    let taken: u64 = (1..=limit).map(|len| u64::from(per_length[len]) << (limit - len)).sum();
    for _ in (1_u64 << limit)..taken {
        let shorter = (1..limit).rev().find(|&len| per_length[len] > 0);
        let Some(len) = shorter else { break };
        per_length[limit] -= 1;
        per_length[len] -= 1;
        per_length[len + 1] += 2;
    }
    per_length
}

/// Turns ascending weights into the depths of their leaves, in place, as Moffat and Katajainen do:
/// first into parents of inner nodes, then into depths of these, then of the leaves.
fn depths(tree: &mut [u32]) {
    let n = tree.len();
    let (mut root, mut leaf) = (0, 0);
    for next in 0..n - 1 {
        let mut weight = 0;
        for _ in 0..2 {
            if leaf >= n || (root < next && tree[root] < tree[leaf]) {
                weight += tree[root];
                tree[root] = next as u32;
                root += 1;
            } else {
                weight += tree[leaf];
                leaf += 1;
            }
        }
        tree[next] = weight;
    }
    tree[n - 2] = 0;
    for next in (0..n - 2).rev() {
        tree[next] = tree[tree[next] as usize] + 1;
    }
    let (mut available, mut depth) = (1, 0);
    let (mut inner, mut next) = (n - 1, n);
    while available > 0 {
        let before = inner;
        while inner > 0 && tree[inner - 1] == depth {
            inner -= 1;
        }
        let used = before - inner;
        for _ in used..available {
            next -= 1;
            tree[next] = depth;
        }
        available = 2 * used;
        depth += 1;
    }
}

/// Numbers the codes: shorter ones first, equal ones by symbol.
fn number(codes: &mut [Code]) {
    let mut per_length = [0_u16; 16];
    for code in &*codes {
        per_length[usize::from(code.len)] += 1;
    }
    let mut next = [0_u16; 16];
    for len in 2..16 {
        next[len] = (next[len - 1] + per_length[len - 1]) << 1;
    }
    for code in codes.iter_mut().filter(|code| code.len > 0) {
        let place = &mut next[usize::from(code.len)];
        code.bits = place.reverse_bits() >> (16 - code.len);
        *place = place.wrapping_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum of code space that the codes take, of `2^15`.
    fn space(codes: &[Code]) -> u32 {
        codes.iter().filter(|code| code.len > 0).map(|code| 1 << (15 - code.len)).sum()
    }

    #[test]
    fn codes_are_complete_within_their_limit_and_none_begins_another() {
        let mut fibonacci = [0_u32; 30];
        (fibonacci[0], fibonacci[1]) = (1, 1);
        for i in 2..30 {
            fibonacci[i] = fibonacci[i - 1] + fibonacci[i - 2];
        }
        for limit in [5, 7, 14, 15] {
            for used in 2..=30 {
                let mut counts = fibonacci;
                counts[used..].fill(0);
                let codes = assign(&counts, limit);
                assert_eq!(space(&codes), 1 << 15, "{used} symbols, {limit} bits");
                let codes = &codes[..used];
                assert!(codes.is_sorted_by(|a, b| a.len >= b.len) && codes[0].len <= limit);
                for (i, a) in codes.iter().enumerate() {
                    for b in &codes[..i] {
                        let common = (1_u16 << a.len.min(b.len)) - 1;
                        assert_ne!(a.bits & common, b.bits & common);
                    }
                }
            }
        }
    }

    #[test]
    fn lone_symbols_have_one_bit() {
        assert_eq!(assign(&[0, 0, 9], 15).map(|code| code.len), [0, 0, 1]);
        assert_eq!(assign(&[0, 0, 0], 15).map(|code| code.len), [1, 0, 0]);
        assert_eq!(
            assign(&[3, 1, 2], 15).map(|code| (code.bits, code.len)),
            [(0, 1), (1, 2), (3, 2)]
        );
    }
}
