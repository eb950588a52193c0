//! The checksum that HDF5 stores with its metadata.
//!
//! Every structure of the newer versions (superblock 2, object header 2, the heaps and trees of
//! dense storage) ends with it; the decoders verify it before they believe anything else.

/// Bob Jenkins' `lookup3` hash ("hashlittle", initial value 0) of `bytes`: the metadata checksum.
///
/// ```
/// assert_eq!(isotach_format::checksum::lookup3(b""), 0xdead_beef);
/// assert_eq!(isotach_format::checksum::lookup3(b"Four score and seven years ago"), 0x1777_0551);
/// ```
pub fn lookup3(bytes: &[u8]) -> u32 {
    // The length is folded in modulo 2^32, as in the original.
    let start = 0xdead_beef_u32.wrapping_add(bytes.len() as u32);
    let mut state = [start; 3];
    if bytes.is_empty() {
        return start;
    }
    // The last group, full or not, is not mixed but finished.
    let body_bytes = (bytes.len() - 1) / 12 * 12;
    let (body, tail) = bytes.split_at(body_bytes);
    for group in body.chunks_exact(12) {
        add_group(&mut state, group);
        mix(&mut state);
    }
    let mut last = [0; 12];
    last[..tail.len()].copy_from_slice(tail);
    add_group(&mut state, &last);
    finish(&mut state);
    state[2]
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
    use super::lookup3;

    #[test]
    fn published_values() {
        assert_eq!(lookup3(b""), 0xdead_beef);
        assert_eq!(lookup3(b"Four score and seven years ago"), 0x1777_0551);
    }

    #[test]
    fn every_tail_length_matters() {
        let bytes: Vec<u8> = (1..=40).collect();
        let mut seen: Vec<u32> = (0..=40).map(|n| lookup3(&bytes[..n])).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 41);
    }
}
