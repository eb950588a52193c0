//! The checksum that HDF5 stores with its metadata.
//!
//! Every structure of the newer versions (superblock 2, object header 2, the heaps and trees of
//! dense storage) ends with it; the decoders verify it before they believe anything else.

use std::ops::Range;

/// Bob Jenkins' `lookup3` hash ("hashlittle", initial value 0) of `bytes`: the metadata checksum.
///
/// ```
/// assert_eq!(isotach_format::checksum::lookup3(b""), 0xdead_beef);
/// assert_eq!(isotach_format::checksum::lookup3(b"Four score and seven years ago"), 0x1777_0551);
/// ```
pub fn lookup3(bytes: &[u8]) -> u32 {
    lookup3_with_zeros(bytes, 0..0)
}

/// The same hash with 64 bits ("hashlittle2"), for structures of our own.
pub fn lookup3_wide(bytes: &[u8]) -> u64 {
    let [_, high, low] = lookup3_state(bytes, 0..0);
    u64::from(high) << 32 | u64::from(low)
}

/// The checksum of `bytes` as if zeros stood in the range `zeros`: that of a structure in whose
/// midst the checksum itself is.
pub(crate) fn lookup3_with_zeros(bytes: &[u8], zeros: Range<usize>) -> u32 {
    lookup3_state(bytes, zeros)[2]
}

/// The three words that are left when all of `bytes` went in.
fn lookup3_state(bytes: &[u8], zeros: Range<usize>) -> [u32; 3] {
    // The length is folded in modulo 2^32, as in the original.
    let start = 0xdead_beef_u32.wrapping_add(bytes.len() as u32);
    let mut state = [start; 3];
    if bytes.is_empty() {
        return state;
    }
    // The last group, full or not, is not mixed but finished.
    let body_bytes = (bytes.len() - 1) / 12 * 12;
    let copied_bytes = zeros.end.next_multiple_of(12).min(body_bytes);
    let (body, tail) = bytes.split_at(body_bytes);
    let (copied, body) = body.split_at(copied_bytes);
    let copy = |group: &[u8], group_start: usize| {
        let mut copy = [0; 12];
        copy[..group.len()].copy_from_slice(group);
        for (place, byte) in copy.iter_mut().enumerate() {
            if zeros.contains(&(group_start + place)) {
                *byte = 0;
            }
        }
        copy
    };
    for (index, group) in copied.chunks_exact(12).enumerate() {
        add_group(&mut state, &copy(group, index * 12));
        mix(&mut state);
    }
    for group in body.chunks_exact(12) {
        add_group(&mut state, group);
        mix(&mut state);
    }
    add_group(&mut state, &copy(tail, body_bytes));
    finish(&mut state);
    state
}

fn add_group(state: &mut [u32; 3], group: &[u8]) {
    for (word, bytes) in state.iter_mut().zip(group.chunks_exact(4)) {
        *word = word.wrapping_add(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
    }
}

/// One reversible round over 12 bytes.
fn mix([a, b, c]: &mut [u32; 3]) {
    let step = |target: &mut u32, from: u32, rotation: u32| {
        *target = target.wrapping_sub(from) ^ from.rotate_left(rotation);
    };
    step(a, *c, 4);
    *c = c.wrapping_add(*b);
    step(b, *a, 6);
    *a = a.wrapping_add(*c);
    step(c, *b, 8);
    *b = b.wrapping_add(*a);
    step(a, *c, 16);
    *c = c.wrapping_add(*b);
    step(b, *a, 19);
    *a = a.wrapping_add(*c);
    step(c, *b, 4);
    *b = b.wrapping_add(*a);
}

/// The final avalanche.
fn finish([a, b, c]: &mut [u32; 3]) {
    let step = |target: &mut u32, from: u32, rotation: u32| {
        *target = (*target ^ from).wrapping_sub(from.rotate_left(rotation));
    };
    step(c, *b, 14);
    step(a, *c, 11);
    step(b, *a, 25);
    step(c, *b, 16);
    step(a, *c, 4);
    step(b, *a, 14);
    step(c, *b, 24);
}

#[cfg(test)]
mod tests {
    use super::{lookup3, lookup3_wide, lookup3_with_zeros};

    #[test]
    fn published_values() {
        assert_eq!(lookup3(b""), 0xdead_beef);
        assert_eq!(lookup3(b"Four score and seven years ago"), 0x1777_0551);
        assert_eq!(lookup3_wide(b""), 0xdead_beef_dead_beef);
        assert_eq!(lookup3_wide(b"Four score and seven years ago"), 0xce72_26e6_1777_0551);
    }

    #[test]
    fn every_tail_length_matters() {
        let bytes: Vec<u8> = (1..=40).collect();
        let mut seen: Vec<u32> = (0..=40).map(|n| lookup3(&bytes[..n])).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 41);
    }

    #[test]
    fn zeros_count_instead_of_what_stands_there() {
        let bytes: Vec<u8> = (1..=40).collect();
        for len in 0..=40 {
            for zeros in [0..0, 0..4, 9..13, 17..21, 30..40] {
                let mut zeroed = bytes[..len].to_vec();
                let within = zeros.start.min(len)..zeros.end.min(len);
                zeroed[within].fill(0);
                assert_eq!(lookup3_with_zeros(&bytes[..len], zeros), lookup3(&zeroed), "{len}");
            }
        }
    }
}
