//! Elements of one stored form into elements of another, as HDF5 converts them.

use super::{ConvertError, Rules, convert};
use crate::data_type::Atomic;
use crate::stored::{NativeOrder, PartialFloat, StoredType};

/// How stored elements become elements that are stored otherwise: what libhdf5 does between the
/// source of a virtual data set and that itself, by [`Rules::HDF5`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ElementConversion {
    source_size: usize,
    target_size: usize,
    source_order: NativeOrder,
    target_order: NativeOrder,
    /// What the numbers are; `None` where only bytes change places.
    numbers: Option<(Atomic, Atomic)>,
    /// Floats of one or two bytes, which are numbers of more bytes in between.
    source_small: Option<PartialFloat>,
    target_small: Option<PartialFloat>,
}

impl ElementConversion {
    /// From numbers to numbers of any type and byte order; `None` where one of them is no number,
    /// or one of 4 or 8 bytes that does not use all their bits.
    pub fn of_numbers(source: &StoredType, target: &StoredType) -> Option<Self> {
        let is_partial = |stored: &&StoredType| {
            matches!(stored, StoredType::PartialInt(_))
                || matches!(stored, StoredType::PartialFloat(float) if !float.format.is_small())
        };
        if [source, target].iter().any(is_partial) {
            return None;
        }
        let numbers = Some((source.number()?, target.number()?));
        let (source_small, target_small) = (small_float(source), small_float(target));
        Some(Self { numbers, source_small, target_small, ..Self::between(source, target) })
    }

    /// Between forms that the caller knows to differ in nothing but the order of bytes; `None`
    /// where not even the sizes are the same.
    pub fn of_byte_order(source: &StoredType, target: &StoredType) -> Option<Self> {
        (source.size() == target.size()).then(|| Self::between(source, target))
    }

    fn between(source: &StoredType, target: &StoredType) -> Self {
        Self {
            source_size: source.size(),
            target_size: target.size(),
            source_order: source.native_order(),
            target_order: target.native_order(),
            numbers: None,
            source_small: None,
            target_small: None,
        }
    }

    /// Bytes of an element before the conversion.
    pub fn source_size(&self) -> usize {
        self.source_size
    }

    /// Bytes of an element after the conversion.
    pub fn target_size(&self) -> usize {
        self.target_size
    }

    /// Converts all of `source`, which is overwritten, into `target`.
    ///
    /// # Errors
    /// [`ConvertError::Length`] where they do not hold as many elements.
    pub fn convert(&self, source: &mut [u8], target: &mut [u8]) -> Result<(), ConvertError> {
        let (source_bytes, target_bytes) = (source.len(), target.len());
        if let Some((from, to)) = self.numbers
            && (self.source_small.is_some() || self.target_small.is_some())
        {
            return self.convert_small(source, from, target, to);
        }
        self.source_order.apply(source);
        match self.numbers {
            Some((from, to)) => {
                convert(source, from, target, to, Rules::HDF5)?;
            }
            None if source_bytes == target_bytes => target.copy_from_slice(source),
            None => return Err(ConvertError::Length { source_bytes, target_bytes }),
        }
        // What makes a stored element native makes a native one stored.
        self.target_order.apply(target);
        Ok(())
    }

    fn convert_small(
        &self,
        source: &mut [u8],
        from: Atomic,
        target: &mut [u8],
        to: Atomic,
    ) -> Result<(), ConvertError> {
        let unpacked;
        let source = match self.source_small {
            Some(float) => {
                unpacked = float.unpacked(source);
                &unpacked
            }
            None => {
                self.source_order.apply(source);
                &*source
            }
        };
        match self.target_small {
            Some(float) => {
                let mut whole = vec![0; target.len() / self.target_size.max(1) * to.size()];
                convert(source, from, &mut whole, to, Rules::HDF5)?;
                float.pack_into(&whole, target);
            }
            None => {
                convert(source, from, target, to, Rules::HDF5)?;
                self.target_order.apply(target);
            }
        }
        Ok(())
    }
}

fn small_float(stored: &StoredType) -> Option<PartialFloat> {
    match stored {
        StoredType::PartialFloat(float) if float.format.is_small() => Some(*float),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stored::{FloatFormat, StoredMember};

    const fn int(size: usize, big_endian: bool) -> StoredType {
        StoredType::Int { size, big_endian }
    }

    fn converted(source: &StoredType, target: &StoredType, bytes: &[u8], len: usize) -> Vec<u8> {
        let mut into = vec![0; len];
        let conversion = ElementConversion::of_numbers(source, target).unwrap();
        conversion.convert(&mut bytes.to_vec(), &mut into).unwrap();
        into
    }

    #[test]
    fn what_does_not_fit_becomes_the_nearest_value() {
        let cases: [(i32, i8); 5] = [(300, 127), (-300, -128), (-1, -1), (127, 127), (128, 127)];
        for (value, expected) in cases {
            let bytes = converted(&int(4, true), &int(1, false), &value.to_be_bytes(), 1);
            assert_eq!(bytes, expected.to_be_bytes(), "{value}");
        }
        let unsigned = StoredType::UInt { size: 2, big_endian: true };
        for (value, expected) in [(-1_i64, 0_u16), (70_000, u16::MAX), (258, 258)] {
            let bytes = converted(&int(8, false), &unsigned, &value.to_le_bytes(), 2);
            assert_eq!(bytes, expected.to_be_bytes(), "{value}");
        }
    }

    #[test]
    fn floats_lose_their_fraction_and_become_infinite() {
        let float = |size| StoredType::Float { size, big_endian: false };
        let cases =
            [(2.9_f64, 2_i16), (-2.9, -2), (f64::NAN, 0), (1e300, i16::MAX), (-1e300, i16::MIN)];
        for (value, expected) in cases {
            let bytes = converted(&float(8), &int(2, true), &value.to_le_bytes(), 2);
            assert_eq!(bytes, expected.to_be_bytes(), "{value}");
        }
        for (value, expected) in [(1e300, f32::INFINITY), (-1e300, f32::NEG_INFINITY), (0.1, 0.1)] {
            let bytes = converted(&float(8), &float(4), &f64::to_le_bytes(value), 4);
            assert_eq!(bytes, expected.to_le_bytes(), "{value}");
        }
    }

    #[test]
    fn small_floats_convert_to_other_numbers_and_back() {
        let small =
            |format, big_endian| StoredType::PartialFloat(PartialFloat { format, big_endian });
        let half = small(FloatFormat::HALF, true);
        let double = StoredType::Float { size: 8, big_endian: true };
        let bytes = converted(&half, &double, &[0x3e, 0x00, 0xfc, 0x00], 16);
        assert_eq!(bytes, [1.5_f64.to_be_bytes(), f64::NEG_INFINITY.to_be_bytes()].concat());
        assert_eq!(converted(&double, &half, &bytes, 4), [0x3e, 0x00, 0xfc, 0x00]);
        let brain = small(FloatFormat::BFLOAT16, false);
        assert_eq!(converted(&half, &brain, &[0x3e, 0x00], 2), [0xc0, 0x3f]);
        assert_eq!(converted(&int(4, false), &half, &3_i32.to_le_bytes(), 2), [0x42, 0x00]);
    }

    #[test]
    fn members_change_the_order_of_their_bytes() {
        let compound = |big_endian| StoredType::Compound {
            size: 3,
            members: vec![
                StoredMember { name: "a".into(), offset: 0, stored: StoredType::Char },
                StoredMember { name: "b".into(), offset: 1, stored: int(2, big_endian) },
            ],
        };
        let (source, target) = (compound(true), compound(false));
        assert_eq!(ElementConversion::of_numbers(&source, &target), None);
        let conversion = ElementConversion::of_byte_order(&source, &target).unwrap();
        let mut into = [0; 6];
        conversion.convert(&mut [1, 2, 3, 4, 5, 6], &mut into).unwrap();
        assert_eq!(into, [1, 3, 2, 4, 6, 5]);
        let error = conversion.convert(&mut [1, 2, 3], &mut into).unwrap_err();
        assert_eq!(error, ConvertError::Length { source_bytes: 3, target_bytes: 6 });
    }
}
