use proptest::prelude::*;

use super::*;

fn compound() -> Values {
    Values::Compound {
        count: 2,
        members: vec![
            ("a".into(), Values::I16(vec![1, -2])),
            (
                "b".into(),
                Values::Array {
                    len: 2,
                    count: 2,
                    elements: Box::new(Values::F32(vec![1.0, 2.0, 3.0, 4.0])),
                },
            ),
            ("c".into(), Values::String(vec![Some(b"xy"[..].into()), None])),
            ("d".into(), Values::Sequence(vec![Values::U8(vec![7, 8]), Values::U8(vec![])])),
            ("e".into(), Values::Bytes { size: 3, bytes: b"abcdef".to_vec() }),
        ],
    }
}

#[test]
fn canonical_bytes_go_row_by_row() {
    let mut expected = Vec::new();
    expected.extend(1i16.to_le_bytes());
    expected.extend(1f32.to_le_bytes());
    expected.extend(2f32.to_le_bytes());
    expected.extend(*b"\x02\0\0\0xy");
    expected.extend(*b"\x02\0\0\0\x07\x08");
    expected.extend(*b"abc");
    let first_row_bytes = expected.len();
    expected.extend((-2i16).to_le_bytes());
    expected.extend(3f32.to_le_bytes());
    expected.extend(4f32.to_le_bytes());
    expected.extend([0; 4]);
    expected.extend([0; 4]);
    expected.extend(*b"def");
    let values = compound();
    assert_eq!(values.canonical_bytes(), expected);
    let mut second = Vec::new();
    values.canonical_range_into(1..9, &mut |piece| second.extend_from_slice(piece));
    assert_eq!(second, expected[first_row_bytes..]);
    assert_eq!(values.slice(1..2).canonical_bytes(), second);
    assert_eq!(values.slice(1..2).len(), 1);
    assert_eq!(values.slice(2..2).canonical_bytes(), b"");
    assert_eq!(values.repeat(3).canonical_bytes(), expected.repeat(3));
    assert_eq!(
        values.slice(0..1).repeat(2).canonical_bytes(),
        expected[..first_row_bytes].repeat(2)
    );
    assert_eq!(values.repeat(3).len(), 6);
}

#[test]
fn numbers_go_to_the_sink_whole() {
    let values = Values::from(vec![1.5f64; 100_000]);
    let mut pieces = 0;
    let mut bytes = 0;
    values.canonical_into(&mut |piece| {
        pieces += 1;
        bytes += piece.len();
    });
    assert_eq!((pieces, bytes), (1, 800_000));
}

#[test]
fn text_is_seen() {
    assert_eq!(Values::Char(b"K m-2".to_vec()).as_str(), Some("K m-2"));
    assert_eq!(Values::from(vec!["\u{b5}m".to_owned()]).as_str(), Some("\u{b5}m"));
    assert_eq!(Values::Char(vec![0xff]).as_str(), None);
    assert_eq!(Values::String(vec![None]).as_text(), None);
    assert_eq!(Values::from(vec![1u8]).as_str(), None);
    assert_eq!(Values::from(vec![1u8]).as_slice::<u8>(), Some(&[1][..]));
    assert_eq!(Values::from(vec![1u8]).as_slice::<i8>(), None);
    assert_eq!(Values::from(vec![1u8, 255]).to_f64(), Some(vec![1.0, 255.0]));
    assert_eq!(compound().to_f64(), None);
}

proptest! {
    #[test]
    fn parts_make_the_whole(
        numbers in prop::collection::vec(any::<i32>(), 0..5000),
        cut in any::<prop::sample::Index>(),
    ) {
        let values = Values::from(numbers.clone());
        let expected: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        prop_assert_eq!(values.canonical_bytes(), expected.clone());
        let cut = cut.index(numbers.len() + 1);
        let mut parts = values.slice(0..cut).canonical_bytes();
        parts.extend(values.slice(cut..usize::MAX).canonical_bytes());
        prop_assert_eq!(parts, expected);
    }
}
