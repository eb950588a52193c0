//! Places by hand, as libnetcdf 4.10 gives them.

use super::*;
use crate::ErrorKind;

const SPACED: Spacing = Spacing { h_minfree: 100, v_align: 512, v_minfree: 50, r_align: 256 };

/// A header without attributes: dimensions t (records), x (3) and those given; variables by
/// dimension ids and type.
fn header(version: Version, more: &[u64], variables: &[(&[usize], ExternalType)]) -> Header {
    let dimension = |(index, &length): (usize, &u64)| Dimension {
        name: format!("d{index}"),
        name_room: 0,
        length,
        is_record: length == 0,
    };
    let lengths = [&[0, 3], more].concat();
    let variable = |(index, &(ids, external_type)): (usize, &(&[usize], ExternalType))| Variable {
        name: format!("v{index}"),
        name_room: 0,
        dimension_ids: ids.to_vec(),
        attributes: [].into(),
        external_type,
        is_record: ids.first() == Some(&0),
        stated_size_bytes: 0,
        begin: 0,
    };
    Header {
        version,
        record_count: RecordCount::Known(0),
        dimensions: lengths.iter().enumerate().map(dimension).collect(),
        attributes: [].into(),
        variables: variables.iter().enumerate().map(variable).collect(),
        size_bytes: 0,
    }
}

fn laid_out(mut header: Header, previous: Option<&Header>, spacing: &Spacing) -> Header {
    header.lay_out(previous, spacing).unwrap();
    header
}

fn begins(header: &Header) -> Vec<u64> {
    header.variables.iter().map(|variable| variable.begin).collect()
}

fn plain(version: Version) -> Header {
    let variables: [(&[usize], ExternalType); 4] = [
        (&[0, 1], ExternalType::Short),
        (&[1], ExternalType::Byte),
        (&[0], ExternalType::Double),
        (&[], ExternalType::Int),
    ];
    header(version, &[], &variables)
}

#[test]
fn fixed_variables_come_first_and_each_part_is_padded() {
    for version in [Version::Cdf1, Version::Cdf2, Version::Cdf5] {
        let header = laid_out(plain(version), None, &Spacing::default());
        let h = header.size_bytes;
        assert_eq!(begins(&header), [h + 8, h, h + 16, h + 4]);
        let sizes: Vec<u64> = header.variables.iter().map(|v| v.stated_size_bytes).collect();
        assert_eq!(sizes, [8, 4, 8, 4]);
        assert_eq!(header.encode().unwrap().len() as u64, h);
    }
}

#[test]
fn space_is_left_where_it_is_asked_for() {
    let header = laid_out(plain(Version::Cdf1), None, &SPACED);
    assert!(header.size_bytes + 100 <= 512);
    assert_eq!(begins(&header), [768, 512, 776, 516]);
}

#[test]
fn a_header_that_grows_into_its_gap_moves_nothing() {
    let previous = laid_out(plain(Version::Cdf2), None, &SPACED);
    let mut grown = previous.clone();
    let text = Attribute {
        name: "history".into(),
        name_room: 0,
        external_type: ExternalType::Char,
        value_count: 60,
        value_bytes: vec![b'x'; 60],
    };
    grown.attributes = [text.clone()].into();
    let grown = laid_out(grown, Some(&previous), &Spacing::default());
    assert_eq!(begins(&grown), begins(&previous));
    let mut larger = previous.clone();
    larger.attributes =
        [Attribute { value_count: 400, value_bytes: vec![b'x'; 400], ..text }].into();
    let larger = laid_out(larger, Some(&previous), &Spacing::default());
    let h = larger.size_bytes;
    assert!(h > 512);
    // The gap behind the fixed variables takes them up.
    assert_eq!(begins(&larger), [768, h, 776, h + 4]);
}

#[test]
fn added_variables_stand_behind_those_of_their_kind() {
    let previous = laid_out(plain(Version::Cdf1), None, &SPACED);
    let mut more = previous.clone();
    more.variables.extend(header(Version::Cdf1, &[], &[(&[1], ExternalType::Int)]).variables);
    more.variables.extend(header(Version::Cdf1, &[], &[(&[0], ExternalType::Int)]).variables);
    let more = laid_out(more, Some(&previous), &Spacing::default());
    assert_eq!(begins(&more), [768, 512, 776, 516, 520, 784]);
}

#[test]
fn another_order_is_kept_until_it_cannot_be() {
    let mut odd = laid_out(plain(Version::Cdf1), None, &SPACED);
    odd.variables[1].begin = 516;
    odd.variables[3].begin = 512;
    let kept = laid_out(odd.clone(), Some(&odd), &Spacing::default());
    assert_eq!(begins(&kept), begins(&odd));
    let mut more = odd.clone();
    more.variables.extend(header(Version::Cdf1, &[], &[(&[1], ExternalType::Int)]).variables);
    let more = laid_out(more, Some(&odd), &Spacing::default());
    let h = more.size_bytes;
    assert_eq!(begins(&more), [h + 20, h, h + 28, h + 4, h + 8]);
}

#[test]
fn sizes_that_no_place_can_be_computed_from_are_refused() {
    let large: (&[usize], _) = (&[2], ExternalType::Int);
    let small: (&[usize], _) = (&[1], ExternalType::Int);
    let record: (&[usize], _) = (&[0], ExternalType::Int);
    let large_record: (&[usize], _) = (&[0, 2], ExternalType::Int);
    let of = |version, length, variables: &[(&[usize], ExternalType)]| {
        header(version, &[length], variables).lay_out(None, &Spacing::default())
    };
    for (version, length, limit) in [
        (Version::Cdf1, 1 << 29, i32::MAX as u64 - 3),
        (Version::Cdf2, 1 << 30, u64::from(u32::MAX) - 3),
    ] {
        let refused = |variable| Err(LayoutError::VariableSize { variable, limit });
        assert_eq!(of(version, length, &[small, large]), Ok(()));
        assert_eq!(of(version, length, &[large, small]), refused(0));
        assert_eq!(of(version, length, &[large, large]), refused(0));
        assert_eq!(of(version, length, &[large, record]), refused(0));
        assert_eq!(of(version, length, &[small, record, large_record]), Ok(()));
        assert_eq!(of(version, length, &[large_record, record]), refused(0));
        assert_eq!(of(version, length - 100, &[large, record]), Ok(()));
    }
    assert_eq!(of(Version::Cdf5, 1 << 40, &[large, large, large_record, record]), Ok(()));
    let limit = i64::MAX as u64 - 3;
    let refused = Err(LayoutError::VariableSize { variable: 0, limit });
    assert_eq!(of(Version::Cdf5, 1 << 61, &[large]), refused);
    let behind = Err(LayoutError::Begin { variable: 1, limit: i64::MAX as u64 });
    assert_eq!(of(Version::Cdf5, 1 << 60, &[large, large]), behind);
    let behind = Err(LayoutError::Begin { variable: 2, limit: i32::MAX as u64 });
    assert_eq!(of(Version::Cdf1, (1 << 29) - 100, &[large, large, small]), behind);
}

#[test]
fn a_size_that_32_bits_cannot_say_is_all_ones() {
    let large: (&[usize], _) = (&[2], ExternalType::Double);
    for (version, stated) in [(Version::Cdf2, u64::from(u32::MAX)), (Version::Cdf5, 8 << 30)] {
        let header = laid_out(header(version, &[1 << 30], &[large]), None, &Spacing::default());
        assert_eq!(header.variables[0].stated_size_bytes, stated);
        let bytes = header.encode().unwrap();
        assert_eq!(Header::decode(&bytes, bytes.len() as u64), Ok(header));
    }
}

#[test]
fn what_does_not_fit_its_field_is_refused() {
    let long = header(Version::Cdf2, &[1 << 32], &[]).encode().unwrap_err();
    let (value, limit) = (1 << 32, u32::MAX.into());
    assert_eq!(long.kind, ErrorKind::Limit { field: "length", value, limit });
    let mut many = header(Version::Cdf1, &[], &[]);
    many.record_count = RecordCount::Known(u32::MAX.into());
    let (value, limit) = (u32::MAX.into(), u64::from(u32::MAX) - 1);
    let refused = ErrorKind::Limit { field: "record count", value, limit };
    assert_eq!(many.encode().unwrap_err().kind, refused);
    many.record_count = RecordCount::Streaming;
    assert!(many.encode().unwrap().starts_with(b"CDF\x01\xff\xff\xff\xff\0"));
}

#[test]
fn names_that_are_not_utf8_keep_their_bytes() {
    for name in ["caf\\xe9", "caf\\xe9é\\xff", "\\x41", "\\xc3\\xa9", "é", "\\x", "\\xe"] {
        let mut header = header(Version::Cdf1, &[], &[]);
        header.dimensions[0].name = name.to_owned();
        let bytes = header.encode().unwrap();
        let read = Header::decode(&bytes, bytes.len() as u64).unwrap();
        assert_eq!(read.dimensions[0].name, name);
    }
    let mut header = header(Version::Cdf1, &[], &[]);
    header.dimensions[0].name = "caf\\xe9".to_owned();
    assert!(header.encode().unwrap().windows(4).any(|bytes| bytes == b"caf\xe9"));
}
