use std::collections::HashMap;

use proptest::prelude::*;

use super::*;
use crate::values::Values;

const I16BE: StoredType = StoredType::Int { size: 2, big_endian: true };
const F64LE: StoredType = StoredType::Float { size: 8, big_endian: false };
const STRING: StoredType = StoredType::VarString { size: 4 };

pub(super) fn compound(size: usize, members: &[(usize, StoredType)]) -> StoredType {
    let member = |(offset, stored): &(usize, StoredType)| StoredMember {
        name: format!("at{offset}"),
        offset: *offset,
        stored: stored.clone(),
    };
    StoredType::Compound { size, members: members.iter().map(member).collect() }
}

pub(super) fn array(len: usize, base: StoredType) -> StoredType {
    StoredType::Array { len, base: Box::new(base) }
}

pub(super) fn sequence(base: StoredType) -> StoredType {
    StoredType::Sequence { size: 4, base: Box::new(base) }
}

/// References are keys of four bytes; zeros are the null reference.
pub(super) struct Table {
    pub(super) entries: HashMap<[u8; 4], Found>,
    pub(super) size_bytes: u64,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Missing(pub(super) [u8; 4]);

impl Heap for Table {
    type Error = Missing;

    fn look_up(&self, reference: &[u8], _size: usize) -> Result<Option<Found>, Missing> {
        let key: [u8; 4] = reference.try_into().expect("references have four bytes");
        if key == [0; 4] {
            return Ok(None);
        }
        self.entries.get(&key).cloned().map(Some).ok_or(Missing(key))
    }

    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }
}

fn table(entries: &[(&[u8; 4], u64, &[u8])]) -> Table {
    let entries = entries.iter().map(|(key, count, bytes)| (**key, (*count, bytes.to_vec())));
    Table { entries: entries.collect(), size_bytes: 1 << 20 }
}

#[test]
fn strings_come_out_of_the_heap() {
    let heap = table(&[(b"aaaa", 3, b"abc"), (b"bbbb", 4, b"de\0f"), (b"cccc", 9, b"abc")]);
    let shared: &dyn Heap<Error = Missing> = &heap;
    let strings = STRING.decode(b"aaaabbbb\0\0\0\0", 3, shared).unwrap();
    let text = |text: &[u8]| Some(text.into());
    assert_eq!(strings, Values::String(vec![text(b"abc"), text(b"de"), None]));
    let error = DecodeError::Sequence { count: 9, element_size: 1, available_bytes: 3 };
    assert_eq!(STRING.decode(b"cccc", 1, &heap), Err(error));
    assert_eq!(STRING.decode(b"dddd", 1, &heap), Err(DecodeError::Heap(Missing(*b"dddd"))));
}

#[test]
fn sequences_nest() {
    let heap = table(&[(b"aaaa", 2, b"bbbb\0\0\0\0"), (b"bbbb", 3, &[0, 1, 0, 2, 0, 3])]);
    let nested = sequence(sequence(I16BE)).decode(b"aaaa\0\0\0\0", 2, &heap).unwrap();
    let inner = vec![Values::I16(vec![1, 2, 3]), Values::I16(vec![])];
    assert_eq!(nested, Values::Sequence(vec![Values::Sequence(inner), Values::Sequence(vec![])]));
    let heap = table(&[(b"aaaa", u64::MAX, b"abcdefgh")]);
    let error = DecodeError::Sequence { count: u64::MAX, element_size: 2, available_bytes: 8 };
    assert_eq!(sequence(I16BE).decode(b"aaaa", 1, &heap), Err(error));
}

#[test]
fn circling_references_are_stopped() {
    let mut nested = I16BE;
    for _ in 0..20 {
        nested = sequence(nested);
    }
    // Every element of every level is the same 64 elements: 64 to the power of 20 in all.
    let mut heap = table(&[(b"aaaa", 64, &b"aaaa".repeat(64))]);
    heap.size_bytes = 1000;
    let error = DecodeError::HeapLimit { limit_bytes: 1000 + 4 * 64 };
    assert_eq!(nested.decode(b"aaaa", 1, &heap), Err(error));
}

#[test]
fn types_that_lie_are_refused() {
    use TypeFault::{MemberOutside, MembersOverlap, NoSize, NumberSize, TooDeep, TooLarge};
    let fault = |stored: &StoredType| match stored.decode(&[0; 64], 2, &NoHeap) {
        Err(DecodeError::Type(fault)) => fault,
        other => panic!("{other:?}"),
    };
    let outside = compound(9, &[(2, F64LE)]);
    assert_eq!(fault(&outside), MemberOutside { offset: 2, size: 8, compound_size: 9 });
    let far = compound(9, &[(usize::MAX, F64LE)]);
    assert!(matches!(fault(&far), MemberOutside { .. }));
    let overlap = compound(9, &[(0, F64LE), (1, F64LE)]);
    assert_eq!(fault(&overlap), MembersOverlap { compound_size: 9 });
    assert_eq!(fault(&StoredType::Int { size: 3, big_endian: false }), NumberSize { size: 3 });
    assert_eq!(fault(&StoredType::Float { size: 2, big_endian: false }), NumberSize { size: 2 });
    assert_eq!(fault(&array(usize::MAX, F64LE)), TooLarge);
    assert_eq!(fault(&array(3, compound(0, &[]))), NoSize);
    assert_eq!(fault(&compound(0, &[])), NoSize);
    assert_eq!(fault(&sequence(StoredType::Bytes { size: 0, reversed: false })), NoSize);
    let mut deep = I16BE;
    for _ in 0..100 {
        deep = array(1, deep);
    }
    assert_eq!(fault(&deep), TooDeep { limit: 64 });
}

#[test]
fn missing_bytes_are_told() {
    let error = DecodeError::TooShort { needed_bytes: 6, available_bytes: 5 };
    assert_eq!(I16BE.decode(&[0; 5], 3, &NoHeap), Err(error));
    let error = DecodeError::TooShort { needed_bytes: usize::MAX, available_bytes: 5 };
    assert_eq!(I16BE.decode(&[0; 5], usize::MAX, &NoHeap), Err(error));
}

#[test]
fn fixed_strings_are_cut() {
    let stored = |space_padded| StoredType::FixedString { size: 4, space_padded };
    let texts =
        |texts: &[&[u8]]| Values::String(texts.iter().map(|&text| Some(text.into())).collect());
    let bytes = b"ab\0cab   b  abcd";
    let zero = stored(false).decode(bytes, 4, &NoHeap).unwrap();
    assert_eq!(zero, texts(&[b"ab", b"ab  ", b" b  ", b"abcd"]));
    let space = stored(true).decode(bytes, 4, &NoHeap).unwrap();
    assert_eq!(space, texts(&[b"ab\0c", b"ab", b" b", b"abcd"]));
}

#[test]
fn a_plain_width_is_seen() {
    assert_eq!(I16BE.native_order().plain_width(), Some(2));
    assert_eq!(array(3, array(4, I16BE)).native_order().plain_width(), Some(2));
    assert!(F64LE.native_order().is_native());
    assert!(StoredType::UInt { size: 1, big_endian: true }.native_order().is_native());
    assert_eq!(compound(4, &[(2, I16BE)]).native_order().plain_width(), None);
}

/// Canonical bytes of one flat element, one byte after the other.
fn naive(stored: &StoredType, element: &[u8], canonical: &mut Vec<u8>) {
    match stored {
        StoredType::Int { size, big_endian: reversed }
        | StoredType::UInt { size, big_endian: reversed }
        | StoredType::Float { size, big_endian: reversed }
        | StoredType::Bytes { size, reversed } => {
            for at in 0..*size {
                canonical.push(element[if *reversed { size - 1 - at } else { at }]);
            }
        }
        StoredType::Char => canonical.push(element[0]),
        StoredType::Compound { members, .. } => {
            for member in members {
                naive(&member.stored, &element[member.offset..], canonical);
            }
        }
        StoredType::Array { len, base } => {
            for at in 0..*len {
                naive(base, &element[at * base.size()..], canonical);
            }
        }
        other => panic!("{other:?} is not made here"),
    }
}

/// The same type with every number in the machine's byte order.
fn in_native_order(stored: &StoredType) -> StoredType {
    let native = cfg!(target_endian = "big");
    match stored.clone() {
        StoredType::Int { size, .. } => StoredType::Int { size, big_endian: native },
        StoredType::UInt { size, .. } => StoredType::UInt { size, big_endian: native },
        StoredType::Float { size, .. } => StoredType::Float { size, big_endian: native },
        StoredType::Bytes { size, .. } => StoredType::Bytes { size, reversed: false },
        StoredType::Array { len, base } => array(len, in_native_order(&base)),
        StoredType::Compound { size, mut members } => {
            for member in &mut members {
                member.stored = in_native_order(&member.stored);
            }
            StoredType::Compound { size, members }
        }
        other => other,
    }
}

pub(super) fn flat_type() -> impl Strategy<Value = StoredType> {
    let size = || prop::sample::select(vec![1usize, 2, 4, 8]);
    let leaf = prop_oneof![
        (size(), any::<bool>()).prop_map(|(size, big_endian)| StoredType::Int { size, big_endian }),
        (size(), any::<bool>())
            .prop_map(|(size, big_endian)| StoredType::UInt { size, big_endian }),
        (prop::sample::select(vec![4usize, 8]), any::<bool>())
            .prop_map(|(size, big_endian)| StoredType::Float { size, big_endian }),
        (1usize..20, any::<bool>())
            .prop_map(|(size, reversed)| StoredType::Bytes { size, reversed }),
        Just(StoredType::Char),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            (1usize..4, inner.clone()).prop_map(|(len, base)| array(len, base)),
            (prop::collection::vec((0usize..3, inner), 1..4), 0usize..3).prop_map(
                |(members, tail)| {
                    let mut end = 0;
                    let placed: Vec<_> = members
                        .into_iter()
                        .map(|(gap, stored)| {
                            let offset = end + gap;
                            end = offset + stored.size();
                            (offset, stored)
                        })
                        .collect();
                    compound(end + tail, &placed)
                }
            ),
        ]
    })
}

proptest! {
    #[test]
    fn decodes_as_byte_by_byte(stored in flat_type(), count in 0usize..4, seed in any::<u8>()) {
        let mut bytes: Vec<u8> =
            (0..stored.size() * count).map(|at| (at as u8).wrapping_mul(31) ^ seed).collect();
        let mut expected = Vec::new();
        for element in bytes.chunks(stored.size()) {
            naive(&stored, element, &mut expected);
        }
        prop_assert!(stored.is_flat());
        let values = stored.decode(&bytes, count, &NoHeap).unwrap();
        prop_assert_eq!(values.len(), count);
        prop_assert_eq!(values.canonical_bytes(), expected);

        let order = stored.native_order();
        let as_it_stood = bytes.clone();
        order.apply(&mut bytes);
        prop_assert!(!order.is_native() || bytes == as_it_stood);
        let native = in_native_order(&stored).decode(&bytes, count, &NoHeap).unwrap();
        prop_assert_eq!(native.canonical_bytes(), values.canonical_bytes());
    }
}

#[test]
fn integers_of_some_bits_are_numbers() {
    let integer = |big_endian, signed, bit_offset, precision| {
        let size = 4;
        PartialInt { size, big_endian, signed, bit_offset, precision }
    };
    // Padding is set, the number is -3 or 2^17 - 3.
    let stored = ((0x1fffd_u32 << 5) | 0xf000_001f).to_le_bytes();
    let reversed: Vec<u8> = stored.iter().rev().copied().collect();
    for (bytes, big_endian) in [(stored.to_vec(), false), (reversed, true)] {
        let signed = StoredType::PartialInt(integer(big_endian, true, 5, 17));
        assert_eq!(signed.decode(&bytes, 1, &NoHeap).unwrap(), Values::I32(vec![-3]));
        let unsigned = StoredType::PartialInt(integer(big_endian, false, 5, 17));
        assert_eq!(unsigned.decode(&bytes, 1, &NoHeap).unwrap(), Values::U32(vec![0x1fffd]));
        // The same where it stands, also behind something else.
        let members = vec![
            StoredMember { name: "a".into(), offset: 0, stored: StoredType::Char },
            StoredMember { name: "b".into(), offset: 1, stored: signed.clone() },
        ];
        let compound = StoredType::Compound { size: 5, members };
        let mut element = [&b"x"[..], &bytes].concat();
        compound.native_order().apply(&mut element);
        assert_eq!(element[1..], (-3_i32).to_ne_bytes());
        let mut plain = bytes.clone();
        signed.native_order().apply(&mut plain);
        assert_eq!(plain, (-3_i32).to_ne_bytes());
    }
}

#[test]
fn integers_whose_bits_lie_outside_are_refused() {
    for (bit_offset, precision) in [(16, 17), (0, 0), (33, 1), (u32::MAX, 2)] {
        let integer =
            PartialInt { size: 4, big_endian: false, signed: true, bit_offset, precision };
        let stored = StoredType::PartialInt(integer);
        assert!(stored.decode(&[0; 4], 1, &NoHeap).is_err());
        let mut bytes = [1, 2, 3, 4];
        stored.native_order().apply(&mut bytes);
        assert_eq!(bytes, [1, 2, 3, 4]);
    }
}

/// A float of 20 bits as HDF5's tests store it: sign at 26, six bits of exponent at 20, mantissa at 7.
const SMALL: FloatFormat =
    FloatFormat { size: 4, sign: 26, exponent: (20, 6), bias: 31, mantissa: (7, 13) };

const fn float_of(format: FloatFormat, big_endian: bool) -> StoredType {
    StoredType::PartialFloat(PartialFloat { format, big_endian })
}

#[test]
fn floats_of_some_bits_are_numbers() {
    let stored = |sign: u32, exponent: u32, mantissa: u32| {
        // Padding is set.
        (sign << 26 | exponent << 20 | mantissa << 7 | 0xf800_007f).to_le_bytes()
    };
    let least = 2f32.powi(-30 - 13);
    let cases = [
        (stored(0, 31, 0), 1.0),
        (stored(1, 32, 1 << 12), -3.0),
        (stored(0, 0, 0), 0.0),
        (stored(1, 0, 1), -least),
        (stored(0, 62, 0x1fff), (2.0 - 2f32.powi(-13)) * 2f32.powi(31)),
        (stored(1, 63, 0), f32::NEG_INFINITY),
    ];
    for (bytes, expected) in cases {
        for big_endian in [false, true] {
            let mut bytes = bytes;
            if big_endian {
                bytes.reverse();
            }
            let float = float_of(SMALL, big_endian);
            assert_eq!(float.decode(&bytes, 1, &NoHeap).unwrap(), Values::F32(vec![expected]));
            let mut there_and_back = bytes;
            float.native_order().apply(&mut there_and_back);
            assert_eq!(f32::from_ne_bytes(there_and_back), expected);
            float.native_order().undo(&mut there_and_back);
            assert_eq!(
                float.decode(&there_and_back, 1, &NoHeap).unwrap(),
                Values::F32(vec![expected])
            );
        }
    }
    let float = float_of(SMALL, false);
    let nan = float.decode(&stored(0, 63, 5), 1, &NoHeap).unwrap();
    assert!(nan.as_slice::<f32>().unwrap()[0].is_nan());
}

#[test]
fn floats_of_more_bits_become_the_nearest() {
    let last = 2f32.powi(-13);
    let largest = (2.0 - last) * 2f32.powi(31);
    let least = 2f32.powi(-30 - 13);
    let cases = [
        (1.0 + last / 2.0, 1.0 + last),
        (1.0 + last * 0.4, 1.0),
        (2.0 - last / 4.0, 2.0),
        (largest * 2.0, f32::INFINITY),
        (-1e30, f32::NEG_INFINITY),
        (least * 0.6, least),
        (least * 0.4, 0.0),
        (1e-40, 0.0),
        (f32::INFINITY, f32::INFINITY),
    ];
    for (given, expected) in cases {
        let mut bytes = given.to_ne_bytes();
        let order = float_of(SMALL, false).native_order();
        assert_eq!(order.undo(&mut bytes), 0);
        order.apply(&mut bytes);
        assert_eq!(f32::from_ne_bytes(bytes), expected, "{given}");
    }
}

#[test]
fn floats_whose_bits_lie_outside_are_refused() {
    let odd = [
        FloatFormat { sign: 32, ..SMALL },
        FloatFormat { mantissa: (20, 13), ..SMALL },
        FloatFormat { exponent: (0, 0), ..SMALL },
        FloatFormat { bias: u32::MAX, ..SMALL },
        FloatFormat { size: 2, ..SMALL },
    ];
    for format in odd {
        let float = float_of(format, false);
        assert!(float.decode(&[0; 4], 1, &NoHeap).is_err());
        let mut bytes = [1, 2, 3, 4];
        float.native_order().apply(&mut bytes);
        float.native_order().undo(&mut bytes);
        assert_eq!(bytes, [1, 2, 3, 4]);
    }
}

#[test]
fn integers_of_some_bits_go_back_where_they_were() {
    let integer =
        PartialInt { size: 4, big_endian: true, signed: true, bit_offset: 5, precision: 17 };
    let order = StoredType::PartialInt(integer).native_order();
    for (given, expected, misfits) in [(-3, -3, 0), (65_535, 65_535, 0), (65_536, 65_535, 1)] {
        let mut bytes = i32::to_ne_bytes(given);
        assert_eq!(order.undo(&mut bytes), misfits);
        order.apply(&mut bytes);
        assert_eq!(i32::from_ne_bytes(bytes), expected);
    }
}
