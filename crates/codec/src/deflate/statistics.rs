//! How often each byte occurs, and what that says about what it costs.

/// How often each byte occurs.
pub(super) type Histogram = [u32; 256];

/// Counts of bytes, four of each byte: a counter does not wait for an equal neighbour's.
pub(super) struct Counter([Histogram; 4]);

impl Counter {
    pub(super) fn new() -> Self {
        Self([[0; 256]; 4])
    }

    pub(super) fn add(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            for (index, &byte) in word.iter().enumerate() {
                self.0[index & 3][usize::from(byte)] += 1;
            }
        }
        for &byte in rest {
            self.0[0][usize::from(byte)] += 1;
        }
    }

    pub(super) fn total(&self) -> Histogram {
        std::array::from_fn(|byte| self.0.iter().map(|counts| counts[byte]).sum())
    }
}

/// Counts the bytes of `bytes`.
pub(super) fn histogram(bytes: &[u8]) -> Histogram {
    // Rows of exponents: compared at the speed of memory, while counts of equal bytes wait for each other.
    if let [first, rest @ ..] = bytes
        && rest == &bytes[..rest.len()]
    {
        let mut alike = [0; 256];
        alike[usize::from(*first)] = bytes.len() as u32;
        return alike;
    }
    let mut counter = Counter::new();
    counter.add(bytes);
    counter.total()
}

/// The bits that a Huffman code of `histogram` needs, about: the entropy, but at least a bit for
/// each byte.
pub(super) fn cost_bits(histogram: &Histogram) -> f32 {
    let total: u32 = histogram.iter().sum();
    let total = log2(total as f32);
    // Eight sums, so that they can be made at once.
    let mut bits = [0.0; 8];
    for counts in histogram.as_chunks::<8>().0 {
        for (bits, &count) in bits.iter_mut().zip(counts) {
            // As signed numbers, for which processors have an instruction.
            let count = count.cast_signed() as f32;
            *bits += count * (total - log2(count)).max(1.0);
        }
    }
    bits.iter().sum()
}

/// The logarithm to two decimals, for finite numbers that are not negative; some number for 0.
#[inline(always)]
fn log2(x: f32) -> f32 {
    let bits = x.to_bits();
    let exponent = (bits >> 23) as f32 - 128.0;
    let mantissa = f32::from_bits(bits & 0x007F_FFFF | 0x3F80_0000);
    exponent + (-0.344_848_43 * mantissa + 2.024_665_8) * mantissa - 0.674_877_6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_bytes_cost_is_their_entropy_but_at_least_a_bit() {
        let bytes: Vec<u8> = (0..4096_u32).map(|i| (i % 8) as u8).collect();
        assert_eq!(histogram(&bytes)[..9], [512, 512, 512, 512, 512, 512, 512, 512, 0]);
        assert!((cost_bits(&histogram(&bytes)) - 3.0 * 4096.0).abs() < 0.01 * 4096.0);
        assert_eq!(cost_bits(&histogram(&[7; 1000])), 1000.0);
        assert_eq!(cost_bits(&histogram(&[])), 0.0);
    }

    #[test]
    fn logarithms_are_right_to_two_decimals() {
        for x in (1..100_000).map(|x| x as f32) {
            assert!((log2(x) - x.log2()).abs() < 0.01, "{x}");
        }
        assert!(log2(0.0).is_finite());
    }
}
