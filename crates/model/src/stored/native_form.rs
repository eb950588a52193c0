//! Elements as this machine's programs take them, where that takes more bytes than the file has.
//!
//! ```text
//! file:   | int, big-endian | bfloat16 | ...
//! native: | int             | float          | ...
//! ```
//! What keeps its size is brought there where it stands, by a [`NativeOrder`](super::NativeOrder).

use super::{FloatFormat, StoredMember, StoredType};

const NATIVE_IS_BIG: bool = cfg!(target_endian = "big");

impl StoredType {
    /// The type that an element has once it is native: numbers in this machine's byte order that use all their
    /// bits, small floats but float16 as floats of 4 bytes. Members that follow larger ones move up.
    #[must_use]
    pub fn native(&self) -> Self {
        match self {
            Self::Int { size, .. } => Self::Int { size: *size, big_endian: NATIVE_IS_BIG },
            Self::UInt { size, .. } => Self::UInt { size: *size, big_endian: NATIVE_IS_BIG },
            Self::Float { size, .. } => Self::Float { size: *size, big_endian: NATIVE_IS_BIG },
            Self::PartialInt(integer) => integer.whole(),
            Self::PartialFloat(float) if float.format == FloatFormat::HALF => {
                Self::PartialFloat(super::PartialFloat { big_endian: NATIVE_IS_BIG, ..*float })
            }
            Self::PartialFloat(float) => float.whole(),
            Self::Bytes { size, .. } => Self::Bytes { size: *size, reversed: false },
            Self::Char
            | Self::FixedString { .. }
            | Self::VarString { .. }
            | Self::Sequence { .. } => self.clone(),
            Self::Array { len, base } => Self::Array { len: *len, base: Box::new(base.native()) },
            Self::Compound { size, members } => native_compound(*size, members),
        }
    }

    /// True where native elements take other bytes than stored ones, and have to be moved.
    pub fn is_resized(&self) -> bool {
        match self {
            Self::PartialFloat(float) => {
                float.format.is_small() && float.format != FloatFormat::HALF
            }
            Self::Array { base, .. } => base.is_resized(),
            Self::Compound { members, .. } => {
                members.iter().any(|member| member.stored.is_resized())
            }
            _ => false,
        }
    }

    /// Bytes of one native element.
    pub fn native_size(&self) -> usize {
        if self.is_resized() { self.native().size() } else { self.size() }
    }

    /// Makes native elements of all that are in `stored`; `native` has room for as many.
    pub fn to_native(&self, stored: &[u8], native: &mut [u8]) {
        if !self.is_resized() {
            native.copy_from_slice(stored);
            return self.native_order().apply(native);
        }
        if let Self::PartialFloat(float) = self {
            return float.unpack_into(stored, native);
        }
        let to = self.native();
        let elements = stored.chunks_exact(self.size().max(1));
        for (element, into) in elements.zip(native.chunks_exact_mut(to.size().max(1))) {
            self.each_part(&to, |part, at, to_at| {
                let from = element.get(at..at.saturating_add(part.size()));
                let into = into.get_mut(to_at..to_at.saturating_add(part.native_size()));
                if let (Some(from), Some(into)) = (from, into) {
                    part.to_native(from, into);
                }
            });
        }
    }

    /// The inverse of [`StoredType::to_native`], with zeros between members. Returns how many numbers did not fit.
    pub fn from_native(&self, native: &[u8], stored: &mut [u8]) -> u64 {
        if !self.is_resized() {
            stored.copy_from_slice(native);
            return self.native_order().undo(stored);
        }
        if let Self::PartialFloat(float) = self {
            return float.pack_into(native, stored);
        }
        stored.fill(0);
        let from = self.native();
        let mut misfit_count = 0;
        let elements = native.chunks_exact(from.size().max(1));
        for (element, into) in elements.zip(stored.chunks_exact_mut(self.size().max(1))) {
            self.each_part(&from, |part, at, from_at| {
                let from = element.get(from_at..from_at.saturating_add(part.native_size()));
                let into = into.get_mut(at..at.saturating_add(part.size()));
                if let (Some(from), Some(into)) = (from, into) {
                    misfit_count += part.from_native(from, into);
                }
            });
        }
        misfit_count
    }

    /// The members of a compound, or the elements of an array, with where each is in a stored and in a native
    /// element.
    fn each_part(&self, native: &Self, mut each: impl FnMut(&Self, usize, usize)) {
        match (self, native) {
            (Self::Compound { members, .. }, Self::Compound { members: moved, .. }) => {
                for (member, to) in members.iter().zip(moved) {
                    each(&member.stored, member.offset, to.offset);
                }
            }
            (Self::Array { len, base }, _) => {
                let (size, native_size) = (base.size(), base.native_size());
                for number in 0..*len {
                    each(base, number * size, number * native_size);
                }
            }
            _ => {}
        }
    }
}

fn native_compound(size: usize, members: &[StoredMember]) -> StoredType {
    let growth =
        |member: &StoredMember| member.stored.native_size().saturating_sub(member.stored.size());
    let before = |offset: usize| {
        let earlier = members.iter().filter(|member| member.offset < offset);
        earlier.map(growth).fold(0, usize::saturating_add)
    };
    let moved = members.iter().map(|member| StoredMember {
        name: member.name.clone(),
        offset: member.offset.saturating_add(before(member.offset)),
        stored: member.stored.native(),
    });
    StoredType::Compound { size: size.saturating_add(before(usize::MAX)), members: moved.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::convert::Rules;
    use crate::stored::tests::{array, compound};
    use crate::stored::{NoHeap, PartialFloat};
    use crate::values::Values;

    const fn small(format: FloatFormat, big_endian: bool) -> StoredType {
        StoredType::PartialFloat(PartialFloat { format, big_endian })
    }

    /// What IEEE 754 says of a half.
    fn half(bits: u16) -> f32 {
        let (exponent, mantissa) = (i32::from(bits >> 10 & 31), f32::from(bits & 1023));
        let magnitude = match exponent {
            0 => mantissa * 2f32.powi(-24),
            31 if mantissa == 0.0 => f32::INFINITY,
            31 => f32::NAN,
            _ => (1024.0 + mantissa) * 2f32.powi(exponent - 25),
        };
        if bits >> 15 == 1 { -magnitude } else { magnitude }
    }

    #[test]
    fn all_floats_of_two_bytes_are_numbers_and_go_back() {
        let bfloat16 = |bits: u16| f32::from_bits(u32::from(bits) << 16);
        let oracles: [(FloatFormat, &dyn Fn(u16) -> f32); 2] =
            [(FloatFormat::HALF, &half), (FloatFormat::BFLOAT16, &bfloat16)];
        for (format, oracle) in oracles {
            for big_endian in [false, true] {
                let stored = small(format, big_endian);
                let all =
                    |bits: u16| if big_endian { bits.to_be_bytes() } else { bits.to_le_bytes() };
                let bytes: Vec<u8> = (0..=u16::MAX).flat_map(all).collect();
                let values = stored.decode(&bytes, 65536, &NoHeap).unwrap();
                let numbers = values.as_slice::<f32>().unwrap();
                for (bits, &number) in (0..=u16::MAX).zip(numbers) {
                    let expected = oracle(bits);
                    assert!(
                        number.to_bits() == expected.to_bits()
                            || number.is_nan() && expected.is_nan(),
                        "{bits:#06x}: {number} for {expected}"
                    );
                }
                let mut back = Vec::new();
                let report =
                    stored.encode(&values, Rules::NETCDF4, &mut NoHeap, &mut back).unwrap();
                assert_eq!(report.out_of_range_count, 0);
                let again = stored.decode(&back, 65536, &NoHeap).unwrap();
                for ((bits, was), number) in
                    (0..).zip(bytes.chunks(2)).zip(again.as_slice::<f32>().unwrap())
                {
                    assert!(number.is_nan() || was == &back[2 * bits..][..2], "{number}");
                }
            }
        }
    }

    #[test]
    fn floats_that_do_not_fit_are_told() {
        let mut bytes = Vec::new();
        let given = Values::F64(vec![65504.0, 1e6, f64::INFINITY, -1e300, f64::NAN]);
        let half = small(FloatFormat::HALF, false);
        let report = half.encode(&given, Rules::NETCDF4, &mut NoHeap, &mut bytes).unwrap();
        // netCDF counts an infinite double that becomes a float as well, and what no float is once for each.
        assert!(report.out_of_range_count >= 2, "{report:?}");
        let found = half.decode(&bytes, 5, &NoHeap).unwrap();
        let found = found.as_slice::<f32>().unwrap();
        assert_eq!(found[..4], [65504.0, f32::INFINITY, f32::INFINITY, f32::NEG_INFINITY]);
        assert!(found[4].is_nan());
        assert!(FloatFormat::BFLOAT16.holds(crate::fill::FLOAT.into()));
        assert!(!FloatFormat::HALF.holds(crate::fill::FLOAT.into()));
    }

    #[test]
    fn members_make_room_for_what_becomes_larger() {
        let brain = |big_endian| small(FloatFormat::BFLOAT16, big_endian);
        let short = StoredType::Int { size: 2, big_endian: true };
        let inner = compound(5, &[(1, brain(true)), (3, short.clone())]);
        let stored = compound(
            26,
            &[
                (24, brain(false)),
                (0, StoredType::Char),
                (2, array(3, inner)),
                (18, short),
                (20, small(FloatFormat::HALF, true)),
                (22, brain(true)),
            ],
        );
        let native = stored.native();
        assert_eq!((native.size(), stored.native_size()), (26 + 6 + 2 + 2, 36));
        let bytes: Vec<u8> = (0..52).map(|at: u8| at.wrapping_mul(37) & 0x3f).collect();
        let mut moved = vec![0; 72];
        stored.to_native(&bytes, &mut moved);
        let values = stored.decode(&bytes, 2, &NoHeap).unwrap();
        assert_eq!(native.decode(&moved, 2, &NoHeap).unwrap(), values);
        let mut back = vec![0xff; 52];
        assert_eq!(stored.from_native(&moved, &mut back), 0);
        assert_eq!(stored.decode(&back, 2, &NoHeap).unwrap(), values);
    }
}
