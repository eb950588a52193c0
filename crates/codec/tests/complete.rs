//! Completed parameters are those that libhdf5 and its plugins store.

mod common;

use common::filter;
use isotach_codec::NumberClass::{Float, Signed, Unsigned};
use isotach_codec::{ChunkType, Element, ErrorKind, Number, NumberClass};

fn number(size: u32, class: NumberClass, big_endian: bool) -> Element {
    Element::Number(Number::whole(size, class, big_endian))
}

fn complete(id: u16, given: &[u32], element: &Element, shape: &[u64]) -> Vec<u32> {
    complete_with_fill(id, given, element, shape, None)
}

fn complete_with_fill(
    id: u16,
    given: &[u32],
    element: &Element,
    shape: &[u64],
    fill: Option<&[u8]>,
) -> Vec<u32> {
    filter(id, given)
        .complete(&ChunkType { element, datatype: &[], shape, fill })
        .unwrap()
        .parameters
}

#[test]
fn filters_that_know_their_chunks() {
    let (f4, big_f4) = (number(4, Float, false), number(4, Float, true));
    assert_eq!(complete(2, &[], &f4, &[50, 30]), [4]);
    assert_eq!(complete(1, &[6], &f4, &[50, 30]), [6]);
    assert_eq!(complete(32_000, &[], &big_f4, &[1000, 3000]), [4, 261, 12_000_000]);
    let given = [0, 0, 0, 0, 5, 1, 1];
    assert_eq!(complete(32_001, &given, &f4, &[50, 30]), [2, 2, 4, 6000, 5, 1, 1]);
    let vectors = Element::Array { base: Box::new(f4.clone()), count: 100 };
    assert_eq!(complete(32_001, &given, &vectors, &[7]), [2, 2, 4, 2800, 5, 1, 1]);
    let opaque = Element::Other { size: 300 };
    assert_eq!(complete(32_001, &given, &opaque, &[7]), [2, 2, 1, 2100, 5, 1, 1]);
    // As hdf5plugin 7.1 stores them.
    assert_eq!(complete(32_026, &given, &f4, &[7]), [1, 0, 4, 28, 5, 1, 1]);
    assert_eq!(complete(32_026, &given, &f4, &[50, 30]), [1, 0, 4, 6000, 5, 1, 1, 2, 50, 30]);
    assert_eq!(complete(32_026, &given, &vectors, &[7]), [1, 0, 4, 2800, 5, 1, 1]);
    assert_eq!(complete(32_026, &given, &opaque, &[3, 4]), [1, 0, 300, 3600, 5, 1, 1, 2, 3, 4]);
    assert_eq!(complete(32_026, &given, &f4, &[1; 17]), [1, 0, 4, 4, 5, 1, 1]);
    assert_eq!(complete(32_008, &[0, 2], &f4, &[7]), [0, 4, 4, 0, 2]);
}

#[test]
fn szip_gets_its_pixels_and_lines() {
    let (i2, f4, big_f4) =
        (number(2, Signed, false), number(4, Float, false), number(4, Float, true));
    assert_eq!(complete(4, &[32, 16], &i2, &[50, 30]), [169, 16, 16, 30]);
    assert_eq!(complete(4, &[32, 16], &big_f4, &[1000, 3000]), [177, 16, 32, 2048]);
    assert_eq!(complete(4, &[4, 32], &f4, &[50, 30]), [141, 32, 32, 1500]);
    let wrong = |given: &[u32], element: &Element, shape: &[u64]| {
        let chunk = ChunkType { element, datatype: &[], shape, fill: None };
        filter(4, given).complete(&chunk).unwrap_err().kind
    };
    assert_eq!(wrong(&[32, 16], &f4, &[7]), ErrorKind::Parameter { index: 1, value: 16 });
    assert_eq!(wrong(&[32, 15], &f4, &[70]), ErrorKind::Parameter { index: 1, value: 15 });
    assert_eq!(wrong(&[32], &f4, &[70]), ErrorKind::MissingParameter { index: 1 });
    let opaque = Element::Other { size: 4 };
    assert!(matches!(wrong(&[32, 16], &opaque, &[70]), ErrorKind::Unsupported { .. }));
}

#[test]
fn scale_offset_gets_the_type_and_the_fill_value() {
    let with_fill = |given: &[u32], element: Element, fill| {
        let parameters = complete_with_fill(6, given, &element, &[50, 30], fill);
        assert_eq!((parameters.len(), &parameters[10..]), (20, &[0; 10][..]));
        parameters[..10].to_vec()
    };
    let fill = 2.5_f32.to_be_bytes();
    assert_eq!(
        with_fill(&[0, 3], number(4, Float, true), Some(&fill)),
        [0, 3, 1500, 1, 4, 0, 1, 1, 0x4020_0000, 0]
    );
    let fill = (-2_i16).to_le_bytes();
    assert_eq!(
        with_fill(&[2, 0], number(2, Signed, false), Some(&fill)),
        [2, 0, 1500, 0, 2, 1, 0, 1, 65_534, 0]
    );
    let fill = 0x0102_0304_0506_0708_u64.to_be_bytes();
    assert_eq!(
        with_fill(&[2, 0], number(8, Unsigned, true), Some(&fill)),
        [2, 0, 1500, 0, 8, 0, 1, 1, 0x0506_0708, 0x0102_0304]
    );
    assert_eq!(
        with_fill(&[2, 0], number(1, Unsigned, false), None),
        [2, 0, 1500, 0, 1, 0, 0, 0, 0, 0]
    );
}

#[test]
fn nbit_gets_the_whole_type() {
    let narrow = |size, big_endian, precision, offset| {
        Element::Number(Number { size, class: Signed, big_endian, precision, offset })
    };
    assert_eq!(complete(5, &[], &narrow(4, true, 17, 4), &[8, 10]), [8, 0, 80, 1, 4, 1, 17, 4]);
    assert_eq!(complete(5, &[], &number(4, Signed, false), &[80]), [8, 1, 80, 1, 4, 0, 32, 0]);
    let vector = Element::Array { base: Box::new(narrow(2, true, 9, 2)), count: 3 };
    let members = vec![
        (0, narrow(4, false, 17, 4)),
        (4, Element::Other { size: 1 }),
        (6, vector),
        (12, number(4, Float, false)),
    ];
    assert_eq!(
        complete(5, &[], &Element::Compound { size: 16, members }, &[40]),
        [
            29, 0, 40, 3, 16, 4, // the compound, its members:
            0, 1, 4, 0, 17, 4, //
            4, 4, 1, //
            6, 2, 6, 1, 2, 1, 9, 2, //
            12, 1, 4, 0, 32, 0,
        ]
    );
}

#[test]
fn chunks_too_large_for_a_parameter_are_errors() {
    let element = number(4, Float, false);
    let chunk =
        ChunkType { element: &element, datatype: &[], shape: &[1 << 40, 1 << 40], fill: None };
    let error = filter(32_000, &[]).complete(&chunk).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Unsupported { value: u64::MAX, .. }));
}
