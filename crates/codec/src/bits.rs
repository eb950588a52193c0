//! Bits from the most significant down, as szip, nbit and scale-offset pack them.

/// Reads bits of `input` from its first byte's most significant bit on.
pub(crate) struct BitReader<'a> {
    input: &'a [u8],
    /// The byte that comes after those in `window`.
    next: usize,
    /// Bits not read yet, the next one on top. Behind the first `count` bits stands nothing, or
    /// what the coming bytes will put there again.
    window: u64,
    count: u32,
}

/// Bits that a refill always reaches, as long as there is input.
const REFILLED: u32 = 56;

impl<'a> BitReader<'a> {
    /// Bits that one refill is enough for.
    pub(crate) const AT_ONCE: u32 = REFILLED;

    pub(crate) fn new(input: &'a [u8]) -> Self {
        Self { input, next: 0, window: 0, count: 0 }
    }

    /// The byte that the next bit stands in, for errors.
    pub(crate) fn at_byte(&self) -> usize {
        self.next - self.count.div_ceil(8) as usize
    }

    /// The next `count` bits as a number, or `None` where the input ends before. At most 64.
    pub(crate) fn take(&mut self, count: u32) -> Option<u64> {
        debug_assert!(count <= 64);
        if count > REFILLED {
            let low = count - 32;
            let high = self.take(32)?;
            return Some(high << low | self.take(low)?);
        }
        if count == 0 {
            return Some(0);
        }
        if self.count < count {
            self.refill();
            if self.count < count {
                return None;
            }
        }
        let bits = self.window >> (64 - count);
        self.drop_bits(count);
        Some(bits)
    }

    /// Counts zeros up to the next one, which it passes ("fundamental sequence").
    #[inline]
    pub(crate) fn take_unary(&mut self) -> Option<u32> {
        let mut zeros = 0_u32;
        loop {
            let leading = self.window.leading_zeros();
            if leading < self.count {
                self.drop_bits(leading + 1);
                return zeros.checked_add(leading);
            }
            zeros = zeros.checked_add(self.count)?;
            self.window = 0;
            self.count = 0;
            self.refill();
            if self.count == 0 {
                return None;
            }
        }
    }

    /// Passes fewer than 64 bits that are in the window.
    fn drop_bits(&mut self, count: u32) {
        self.window <<= count;
        self.count -= count;
    }

    fn refill(&mut self) {
        if let Some(bytes) = self.input[self.next..].first_chunk::<8>() {
            self.window |= u64::from_be_bytes(*bytes) >> self.count;
            self.next += ((63 - self.count) / 8) as usize;
            self.count |= REFILLED;
            return;
        }
        while self.count < REFILLED {
            let Some(&byte) = self.input.get(self.next) else { return };
            self.window |= u64::from(byte) << (REFILLED - self.count);
            self.next += 1;
            self.count += 8;
        }
    }
}

/// Writes bits to the end of a vector, from each byte's most significant bit on.
pub(crate) struct BitWriter<'a> {
    output: &'a mut Vec<u8>,
    /// Bits not written yet, the newest one lowest; fewer than 32.
    window: u64,
    count: u32,
}

impl<'a> BitWriter<'a> {
    pub(crate) fn new(output: &'a mut Vec<u8>) -> Self {
        Self { output, window: 0, count: 0 }
    }

    /// Puts the lowest `count` bits of `bits`, at most 64.
    pub(crate) fn put(&mut self, bits: u64, count: u32) {
        debug_assert!(count <= 64);
        if count > 32 {
            self.put(bits >> 32, count - 32);
            return self.put(bits, 32);
        }
        let mask = (1_u64 << count) - 1;
        self.window = self.window << count | bits & mask;
        self.count += count;
        if self.count >= 32 {
            self.count -= 32;
            self.output.extend_from_slice(&((self.window >> self.count) as u32).to_be_bytes());
        }
    }

    /// Puts `zeros` zeros and a one ("fundamental sequence").
    pub(crate) fn put_unary(&mut self, zeros: u32) {
        for _ in 0..zeros / 32 {
            self.put(0, 32);
        }
        self.put(1, zeros % 32 + 1);
    }

    /// Puts the lowest `count` bits of all `numbers`, at most 32 of each.
    pub(crate) fn put_all(&mut self, numbers: &[u32], count: u32) {
        if count == 0 {
            return;
        }
        let mask = u32::MAX >> (32 - count);
        for some in numbers.chunks((32 / count) as usize) {
            let joined = |all, number: &u32| all << count | u64::from(number & mask);
            self.put(some.iter().fold(0, joined), count * some.len() as u32);
        }
    }

    /// Puts all `numbers` as zeros and a one each.
    pub(crate) fn put_all_unary(&mut self, numbers: impl Iterator<Item = u32>) {
        let (mut bits, mut count) = (0, 0);
        for zeros in numbers {
            if zeros >= 32 - count {
                self.put(bits, count);
                (bits, count) = (0, 0);
            }
            match zeros {
                0..32 => {
                    bits = bits << (zeros + 1) | 1;
                    count += zeros + 1;
                }
                _ => self.put_unary(zeros),
            }
        }
        self.put(bits, count);
    }

    /// Writes what is left, the last byte filled up with zeros.
    pub(crate) fn finish(self) {
        let bytes = ((self.window << (32 - self.count)) as u32).to_be_bytes();
        self.output.extend_from_slice(&bytes[..self.count.div_ceil(8) as usize]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_come_in_order_across_refills() {
        let input: Vec<u8> = (0..40_u8).map(|i| i.wrapping_mul(73) ^ 0x5a).collect();
        let bit = |i: usize| u64::from(input[i / 8] >> (7 - i % 8) & 1);
        for width in 1..=64_u32 {
            let mut reader = BitReader::new(&input);
            let mut at = 0;
            while at + width as usize <= input.len() * 8 {
                let expected = (0..width as usize).fold(0, |sum, i| sum << 1 | bit(at + i));
                assert_eq!(reader.take(width), Some(expected), "{width} bits at {at}");
                at += width as usize;
            }
            assert_eq!(reader.take(width), None);
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let (mut output, mut state) = (vec![0xA5], 1_u64);
        let mut numbers = Vec::new();
        for count in (0..=64).cycle().take(1000) {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            numbers.push((state, count));
        }
        let mut writer = BitWriter::new(&mut output);
        for &(bits, count) in &numbers {
            writer.put(bits, count);
            writer.put_unary(count * 3);
        }
        let many: Vec<u32> = (0..200).map(|number| number * 7 % 41).collect();
        for count in 0..=32 {
            writer.put_all(&many, count);
            writer.put_all_unary(many.iter().copied());
        }
        writer.finish();
        let mut reader = BitReader::new(&output[1..]);
        for (bits, count) in numbers {
            let expected = if count == 64 { bits } else { bits & ((1 << count) - 1) };
            assert_eq!(
                (reader.take(count), reader.take_unary()),
                (Some(expected), Some(count * 3))
            );
        }
        for count in 0..=32 {
            let low = |number: u32| u64::from(number) & ((1 << count) - 1);
            assert!(many.iter().all(|&number| reader.take(count) == Some(low(number))));
            assert!(many.iter().all(|&number| reader.take_unary() == Some(number)));
        }
        assert!(reader.take(8).is_none());
    }

    #[test]
    fn a_unary_number_may_be_longer_than_the_window() {
        let mut input = vec![0; 30];
        input.push(0b0001_0110);
        let mut reader = BitReader::new(&input);
        assert_eq!(reader.take_unary(), Some(243));
        assert_eq!(reader.take_unary(), Some(1));
        assert_eq!(reader.take_unary(), Some(0));
        assert_eq!(reader.at_byte(), 30);
        assert_eq!(reader.take_unary(), None);
    }
}
