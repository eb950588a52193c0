use super::*;
use crate::error::ErrorKind;
use crate::hdf5::damage::survive;
use crate::hdf5::message::Message;
use crate::hdf5::{Encoding, OldestReader, Sizes};

/// The bytes that hexadecimal digits say.
fn hex(digits: &str) -> Vec<u8> {
    digits
        .as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

fn decode(digits: &str) -> crate::Result<Datatype> {
    Datatype::decode(&hex(digits), 0, Sizes::default())
}

const I32LE: &str = "100800000400000000002000";
const F16LE: &str = "11200f0002000000000010000a05000a0f000000";

/// Encodings as libhdf5 2.0 writes them, and what they are.
const CASES: &[(&str, u32, &str)] = &[
    (I32LE, 4, "i4le"),
    (F16LE, 2, "f2le"),
    ("5b0100001000000011203f000800000000004000340b0034ff030000", 16, "complex(f8le)"),
    ("5b0100000800000011211f000400000000002000170800177f000000", 8, "complex(f4be)"),
    ("1700000008000000", 8, "ref[object]"),
    ("170100000c000000", 12, "ref[region]"),
    ("4712000010000000", 16, "ref[std]"),
    ("12000000040000002000", 4, "t4le"),
    ("1900000010000000100800000400000000002000", 16, "vlen(i4le)"),
    ("1901010008000000100000000100000000000800", 8, "vstr[nullterm,utf8]"),
    ("1312000005000000", 5, "str[5,spacepad,utf8]"),
    (
        "2a000000180000000200000002000000030000000000000001000000100800000400000000002000",
        24,
        "array[2,3](i4le)",
    ),
    (
        "18020000020000001009000002000000000010005245440000000000475245454e49534800000000000000000000fffd",
        2,
        "enum(i2be){\"RED\"=0,\"GREENISH\"=-3}",
    ),
    (
        "260200001400000061000000000000000000000010080000010000000000080062636465666768690000000000000000040000002a000000100000000200000002000000020000000000000001000000100800000400000000002000",
        20,
        "compound{\"a\":i1le,\"bcdefghi\":array[2,2](i4le)}",
    ),
    ("151000000500000074616774616774616700000000000000", 5, "opaque[5,\"tagtagtag\"]"),
    ("100100000400000003001100", 4, "u4be{prec=17,off=3}"),
    (
        "11201a0004000000070014001406070d1f000000",
        4,
        "f4le{prec=20,off=7,sign=26,exp=20+6,mant=7+13,bias=31}",
    ),
    ("31611f000400000000002000170800177f000000", 4, "f4vax"),
];

#[test]
fn described_as_agreed() {
    for (digits, size, description) in CASES {
        let datatype = decode(digits).unwrap();
        assert_eq!(datatype.size(), *size, "{description}");
        assert_eq!(datatype.describe(), *description);
    }
}

#[test]
fn encoded_as_written() {
    let oldest_reader = OldestReader::V16;
    let encoding = Encoding { oldest_reader, ..Encoding::default() };
    for (digits, _, description) in CASES {
        let datatype = decode(digits).unwrap();
        assert_eq!(datatype.encode(encoding), Ok(hex(digits)), "{description}");
    }
}

#[test]
fn what_the_format_has_no_room_for_is_not_encoded() {
    let tag = |len| Datatype::Opaque { size: 1, tag: vec![b't'; len].into() };
    assert!(tag(248).encode(Encoding::default()).is_ok());
    assert!(tag(249).encode(Encoding::default()).is_err());
    let Ok(Datatype::FixedPoint(integer)) = decode(I32LE) else { panic!("not an integer") };
    let named = |name: &[u8], value| {
        let members = [EnumMember { name: name.into(), value }].into();
        Datatype::Enumeration { base: Arc::new(Datatype::FixedPoint(integer)), members }
    };
    assert!(named(b"n", -(1 << 31)).encode(Encoding::default()).is_ok());
    assert!(named(b"n", 1 << 31).encode(Encoding::default()).is_err());
    assert!(named(b"a\0b", 0).encode(Encoding::default()).is_err());
    let deep = (0..100).fold(Datatype::FixedPoint(integer), |base, _| Datatype::Sequence {
        size: 16,
        base: Arc::new(base),
    });
    let error = deep.encode(Encoding::default()).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Limit { field: "nesting depth", .. }));
}

#[test]
fn first_version_members_have_dimensions() {
    let member = "6100000000000000 04000000 02000000 00000000 00000000 02000000 03000000 00000000 \
                  00000000";
    let digits = format!("160100001c000000{member}{I32LE}").replace(' ', "");
    assert_eq!(decode(&digits).unwrap().describe(), "compound{\"a\":array[2,3](i4le)}");
}

#[test]
fn third_version_names_and_offsets_are_packed() {
    let digits = format!("360200000a000000 6100 00 {I32LE} 62ff00 06 {I32LE}").replace(' ', "");
    assert_eq!(decode(&digits).unwrap().describe(), r#"compound{"a":i4le,"b\\xff":i4le}"#);
}

#[test]
fn members_stay_inside() {
    let digits = format!("360100000a000000 6100 07 {I32LE}").replace(' ', "");
    let error = decode(&digits).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Field { field: "member offset", value: 7 });
}

#[test]
fn nesting_is_bounded() {
    let digits = "1900000010000000".repeat(10_000);
    let error = decode(&digits).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Limit { field: "nesting depth", .. }));
}

#[test]
fn ieee_is_recognized() {
    let Datatype::Float(half) = decode(F16LE).unwrap() else { panic!("not a float") };
    assert!(half.is_ieee());
    // bfloat16 is as wide, cut elsewhere.
    let digits = "11200f000200000000001000070800077f000000";
    let Datatype::Float(brain) = decode(digits).unwrap() else { panic!("not a float") };
    assert!(!brain.is_ieee());
}

#[test]
fn heap_data_is_found_inside() {
    let sequence = "1900000010000000100800000400000000002000";
    let digits = format!("3601000010000000 6100 00 {sequence}").replace(' ', "");
    assert!(decode(&digits).unwrap().has_heap_data());
    assert!(!decode(I32LE).unwrap().has_heap_data());
}

#[test]
fn damage_never_panics() {
    for (digits, ..) in CASES {
        survive(&hex(digits), |bytes| {
            if let Ok(datatype) = Datatype::decode(bytes, 0, Sizes::default()) {
                assert!(!datatype.describe().is_empty());
            }
        });
    }
}
