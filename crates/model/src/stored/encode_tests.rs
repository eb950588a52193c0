use proptest::prelude::*;

use super::tests::{Missing, Table, array, compound, flat_type, sequence};
use super::*;
use crate::convert::{RangeReport, Rules};
use crate::values::{Kind, Values};

/// Keeps everything under keys that it counts.
impl HeapWriter for Table {
    type Error = Missing;

    fn put(
        &mut self,
        element_count: u64,
        bytes: &[u8],
        reference_size: usize,
        into: &mut Vec<u8>,
    ) -> Result<(), Missing> {
        assert_eq!(reference_size, 4);
        let key = (self.entries.len() as u32 + 1).to_be_bytes();
        if self.entries.len() as u64 == self.size_bytes {
            return Err(Missing(key));
        }
        self.entries.insert(key, (element_count, bytes.to_vec()));
        into.extend_from_slice(&key);
        Ok(())
    }
}

fn table() -> Table {
    Table { entries: Default::default(), size_bytes: 1 << 20 }
}

const INT: StoredType = StoredType::Int { size: 4, big_endian: true };
const STRING: StoredType = StoredType::VarString { size: 4 };

fn encoded(stored: &StoredType, values: &Values) -> Result<Vec<u8>, EncodeError<Missing>> {
    let mut bytes = b"before".to_vec();
    let result = stored.encode(values, Rules::NETCDF4, &mut table(), &mut bytes);
    assert_eq!(bytes[..6], *b"before");
    match result {
        Ok(report) => assert!(report.is_in_range()),
        Err(_) => assert_eq!(bytes.len(), 6),
    }
    result.map(|_| bytes.split_off(6))
}

#[test]
fn numbers_convert_and_misfits_are_counted() {
    let mut bytes = Vec::new();
    let short = StoredType::Int { size: 2, big_endian: true };
    let pair = compound(7, &[(1, short), (3, INT)]);
    let column = |name: &str, numbers: Values| (name.to_owned(), numbers);
    let columns = vec![
        column("at3", Values::from([3_u64, 1 << 40])),
        column("at1", Values::from([2.0_f64, 1e6])),
    ];
    let values = Values::Compound { count: 2, members: columns };
    let report = pair.encode(&values, Rules::CLASSIC, &mut table(), &mut bytes).unwrap();
    assert_eq!(report, RangeReport { element_count: 4, out_of_range_count: 2 });
    let mut expected = vec![0, 0, 2, 0, 0, 0, 3, 0];
    expected.extend((-32767_i16).to_be_bytes());
    expected.extend((-2_147_483_647_i32).to_be_bytes());
    assert_eq!(bytes, expected);
}

#[test]
fn partial_integers_become_the_nearest() {
    let integer =
        PartialInt { size: 2, big_endian: true, signed: true, bit_offset: 4, precision: 5 };
    let stored = StoredType::PartialInt(integer);
    let mut bytes = Vec::new();
    let values = Values::from([-1_i32, 15, 16, -16, -17]);
    let report = stored.encode(&values, Rules::NETCDF4, &mut table(), &mut bytes).unwrap();
    assert_eq!(report.out_of_range_count, 2);
    assert_eq!(bytes, [1, 0xf0, 0, 0xf0, 0, 0xf0, 1, 0, 1, 0]);
    let read = stored.decode(&bytes, 5, &NoHeap).unwrap();
    assert_eq!(read, Values::from([-1_i16, 15, 15, -16, -16]));
}

#[test]
fn texts_are_filled_up() {
    let strings = Values::from(["ab", "x\0y", "four"]);
    let fixed = |space_padded| StoredType::FixedString { size: 4, space_padded };
    assert_eq!(encoded(&fixed(true), &strings).unwrap(), b"ab  x   four");
    assert_eq!(encoded(&fixed(false), &strings).unwrap(), b"ab\0\0x\0\0\0four");
    let chars = array(4, StoredType::Char);
    assert_eq!(encoded(&chars, &strings).unwrap(), b"ab\0\0x\0\0\0four");
    let error = EncodeError::TextTooLong { text_bytes: 5, room_bytes: 4 };
    assert_eq!(encoded(&chars, &Values::from(["fives"])), Err(error));
    let nothing = Values::String(vec![None]);
    assert_eq!(encoded(&STRING, &nothing).unwrap(), [0; 4]);
    assert_eq!(encoded(&STRING, &Values::from([""])).unwrap(), [0, 0, 0, 1]);
}

#[test]
fn wrong_kinds_are_named() {
    let kinds = |stored: &StoredType, values: &Values| match encoded(stored, values) {
        Err(EncodeError::Kind { given, stored }) => (given, stored),
        other => panic!("{other:?}"),
    };
    let int = Kind::Number(crate::Atomic::Int);
    assert_eq!(kinds(&INT, &Values::from("1")), (Kind::Char, int));
    assert_eq!(kinds(&INT, &Values::from(["1"])), (Kind::String, int));
    assert_eq!(kinds(&StoredType::Char, &Values::from(1)), (int, Kind::Char));
    assert_eq!(kinds(&STRING, &Values::from("abc")), (Kind::Char, Kind::String));
    let bytes = |size| Values::Bytes { size, bytes: vec![1; 12] };
    let opaque = StoredType::Bytes { size: 4, reversed: false };
    assert_eq!(kinds(&opaque, &bytes(3)), (Kind::Bytes { size: 3 }, Kind::Bytes { size: 4 }));
    assert_eq!(kinds(&array(3, INT), &Values::from(1)), (int, Kind::Array { len: 3 }));
    assert_eq!(kinds(&sequence(INT), &Values::from(1)), (int, Kind::Sequence));
    assert_eq!(kinds(&compound(4, &[(0, INT)]), &Values::from(1)), (int, Kind::Compound));
}

#[test]
fn values_that_contradict_themselves_are_refused() {
    let stored = compound(8, &[(0, INT), (4, INT)]);
    let values = |columns: &[(&str, i32)]| Values::Compound {
        count: 1,
        members: columns.iter().map(|(name, n)| ((*name).into(), Values::from(*n))).collect(),
    };
    assert!(encoded(&stored, &values(&[("at0", 1), ("at4", 2)])).is_ok());
    let error = EncodeError::MissingMember { name: "at4".into() };
    assert_eq!(encoded(&stored, &values(&[("at0", 1), ("x", 2)])), Err(error));
    let error = EncodeError::UnknownMember { name: "x".into() };
    assert_eq!(encoded(&stored, &values(&[("at0", 1), ("at4", 2), ("x", 3)])), Err(error));
    let column = |name: &str| (name.to_owned(), Values::from([1, 2]));
    let ragged = Values::Compound { count: 3, members: vec![column("at0"), column("at4")] };
    let error = EncodeError::Ragged { expected_count: 3, found_count: 2 };
    assert_eq!(encoded(&stored, &ragged), Err(error.clone()));
    let ragged = Values::Array { len: 3, count: 1, elements: Box::new(Values::from([1, 2])) };
    assert_eq!(encoded(&array(3, INT), &ragged), Err(error));
    let uneven = Values::Bytes { size: 4, bytes: vec![7; 6] };
    assert_eq!(encoded(&StoredType::Bytes { size: 4, reversed: true }, &uneven).unwrap(), [7; 4]);
}

#[test]
fn a_full_heap_is_told() {
    let mut heap = Table { size_bytes: 1, ..table() };
    let mut bytes = Vec::new();
    let values = Values::from(["a", "b"]);
    let error = STRING.encode(&values, Rules::NETCDF4, &mut heap, &mut bytes).unwrap_err();
    assert_eq!((error, bytes.len()), (EncodeError::Heap(Missing([0, 0, 0, 2])), 0));
}

/// Types of every kind, nested.
fn any_type() -> impl Strategy<Value = StoredType> {
    let partial = (any::<bool>(), any::<bool>(), 0..16_u32, 1..16_u32).prop_map(
        |(big_endian, signed, bit_offset, precision)| {
            let size = 4;
            PartialInt { size, big_endian, signed, bit_offset, precision }.simplified()
        },
    );
    let leaf = prop_oneof![
        3 => flat_type(),
        1 => partial,
        1 => (1usize..9, any::<bool>())
            .prop_map(|(size, space_padded)| StoredType::FixedString { size, space_padded }),
        1 => Just(STRING),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            inner.clone().prop_map(sequence),
            (1usize..4, inner.clone()).prop_map(|(len, base)| array(len, base)),
            prop::collection::vec((0usize..3, inner), 1..4).prop_map(|members| {
                let mut end = 0;
                let mut place = |(gap, stored): (usize, StoredType)| {
                    let offset = end + gap;
                    end = offset + stored.size();
                    (offset, stored)
                };
                let placed: Vec<_> = members.into_iter().map(&mut place).collect();
                compound(end + 1, &placed)
            }),
        ]
    })
}

/// Elements of any type, made of numbers that follow one another.
struct Maker(u64);

impl Maker {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        self.0 >> 11
    }

    fn text(&mut self, longest: usize) -> Box<[u8]> {
        let len = self.next() as usize % (longest + 1);
        (0..len).map(|_| b'a' + self.next() as u8 % 26).collect()
    }

    fn elements(&mut self, stored: &StoredType, count: usize) -> Values {
        match stored {
            StoredType::FixedString { size, .. } => {
                Values::String((0..count).map(|_| Some(self.text(*size))).collect())
            }
            StoredType::VarString { .. } => {
                let mut string = || (self.next() & 3 > 0).then(|| self.text(6));
                Values::String((0..count).map(|_| string()).collect())
            }
            StoredType::Sequence { base, .. } => {
                let mut sequence = || {
                    let len = self.next() as usize % 4;
                    self.elements(base, len)
                };
                Values::Sequence((0..count).map(|_| sequence()).collect())
            }
            StoredType::Compound { members, .. } => {
                let mut column = |member: &StoredMember| {
                    (member.name.clone(), self.elements(&member.stored, count))
                };
                Values::Compound { count, members: members.iter().map(&mut column).collect() }
            }
            StoredType::Array { len, base } => {
                let elements = Box::new(self.elements(base, len * count));
                Values::Array { len: *len, count, elements }
            }
            flat => {
                let bytes: Vec<u8> = (0..flat.size() * count).map(|_| self.next() as u8).collect();
                flat.decode(&bytes, count, &NoHeap).unwrap()
            }
        }
    }
}

proptest! {
    #[test]
    fn what_is_encoded_is_decoded(stored in any_type(), count in 0usize..5, seed in any::<u64>()) {
        let values = Maker(seed).elements(&stored, count);
        let mut heap = table();
        let mut bytes = Vec::new();
        let report = stored.encode(&values, Rules::NETCDF4, &mut heap, &mut bytes).unwrap();
        prop_assert!(report.is_in_range());
        prop_assert_eq!(bytes.len(), count * stored.size());
        let read = stored.decode(&bytes, count, &heap).unwrap();
        // Debug text, because NaN is not equal to itself.
        prop_assert_eq!(format!("{read:?}"), format!("{values:?}"));
        prop_assert_eq!(read.canonical_bytes(), values.canonical_bytes());
    }
}
