//! Filter 3, fletcher32: the data, then its checksum in four bytes, little-endian.
//!
//! ```text
//! | data (any length) | checksum (4) |
//! ```
//! The sums run over big-endian 16-bit words modulo 65,535; an odd last byte is the high half of
//! a word. Libraries up to 1.6.2 wrote the two halves byte-swapped on little-endian machines, and
//! such files are about: both forms are accepted, as libhdf5 accepts them.

use crate::error::ErrorKind;

const CHECKSUM_LEN: usize = 4;

/// Verifies the checksum at the end of `input` and returns the length of the data before it.
pub(crate) fn verify(input: &[u8]) -> Result<usize, ErrorKind> {
    let Some((data, stored)) = input.split_last_chunk::<CHECKSUM_LEN>() else {
        return Err(ErrorKind::Corrupt { what: "no room for a checksum", at_byte: input.len() });
    };
    let stored = u32::from_le_bytes(*stored);
    let computed = checksum(data);
    if stored == computed || stored == swap_halves(computed) {
        Ok(data.len())
    } else {
        Err(ErrorKind::Checksum { stored, computed })
    }
}

/// Appends the checksum of what `data` holds.
pub(crate) fn append(data: &mut Vec<u8>) -> Result<(), ErrorKind> {
    let checksum = checksum(data).to_le_bytes();
    data.try_reserve(CHECKSUM_LEN)
        .map_err(|_| ErrorKind::OutOfMemory { wanted_bytes: data.len() + CHECKSUM_LEN })?;
    data.extend_from_slice(&checksum);
    Ok(())
}

/// Swaps the bytes within each 16-bit half.
fn swap_halves(checksum: u32) -> u32 {
    checksum.swap_bytes().rotate_left(16)
}

/// The sum of words in the low half, the sum of the running sums in the high half.
fn checksum(data: &[u8]) -> u32 {
    // 64-bit sums hold this many words without overflow: n words add at most n (n + 1) / 2 * 65,535
    // to the second sum and n times the first sum's remainder.
    const WORDS_PER_FOLD: usize = 1 << 16;
    let (mut sum1, mut sum2) = (0_u64, 0_u64);
    for block in data.chunks(2 * WORDS_PER_FOLD) {
        let (words, odd) = block.as_chunks::<2>();
        for &word in words {
            sum1 += u64::from(u16::from_be_bytes(word));
            sum2 += sum1;
        }
        if let [last] = odd {
            sum1 += u64::from(*last) << 8;
            sum2 += sum1;
        }
        sum1 = fold(sum1);
        sum2 = fold(sum2);
    }
    (sum2 as u32) << 16 | sum1 as u32
}

/// `sum` modulo 65,535, as 1 to 65,535; only nothing at all gives 0.
fn fold(sum: u64) -> u64 {
    if sum == 0 { 0 } else { (sum - 1) % 65_535 + 1 }
}
