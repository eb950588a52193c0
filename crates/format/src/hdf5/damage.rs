//! Damaged copies of valid bytes, for the tests of decoders.

/// Calls `decode` with every truncation of `valid`, with every bit flipped, and with bytes set to
/// extreme values, alone and in pairs. Only a panic, an overflow or an endless loop fails.
pub(crate) fn survive(valid: &[u8], mut decode: impl FnMut(&[u8])) {
    for len in 0..=valid.len() {
        decode(&valid[..len]);
    }
    let mut bytes = valid.to_vec();
    for index in 0..valid.len() {
        for bit in 0..8 {
            bytes[index] = valid[index] ^ (1 << bit);
            decode(&bytes);
        }
        for extreme in [0, 1, 0x7f, 0xff] {
            bytes[index] = extreme;
            decode(&bytes);
        }
        bytes[index] = valid[index];
    }
    // A linear congruential generator: the same damage in every run.
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    for _ in 0..2_000 {
        let mut damaged = valid.to_vec();
        for _ in 0..1 + (state >> 60) {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            if let Some(place) = damaged.len().checked_sub(1) {
                damaged[(state >> 33) as usize % (place + 1)] = (state >> 24) as u8;
            }
        }
        decode(&damaged);
    }
}
