//! Headers made by hand, field by field, and what becomes of them when they are damaged.

use super::*;
use crate::error::{Error, ErrorKind};

/// Writes headers as the grammar has them.
struct Builder {
    bytes: Vec<u8>,
    version: u8,
}

impl Builder {
    fn new(version: u8, record_count: u64) -> Self {
        let mut builder = Self { bytes: vec![b'C', b'D', b'F', version], version };
        builder.count(record_count);
        builder
    }

    fn u32(&mut self, value: u32) -> &mut Self {
        self.bytes.extend(value.to_be_bytes());
        self
    }

    fn count(&mut self, value: u64) -> &mut Self {
        match self.version {
            5 => self.bytes.extend(value.to_be_bytes()),
            _ => self.bytes.extend((value as u32).to_be_bytes()),
        }
        self
    }

    fn begin(&mut self, value: u64) -> &mut Self {
        match self.version {
            1 => self.bytes.extend((value as u32).to_be_bytes()),
            _ => self.bytes.extend(value.to_be_bytes()),
        }
        self
    }

    fn padded(&mut self, bytes: &[u8]) -> &mut Self {
        self.bytes.extend(bytes);
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        self
    }

    fn name(&mut self, name: &[u8]) -> &mut Self {
        self.count(name.len() as u64).padded(name)
    }

    fn absent(&mut self) -> &mut Self {
        self.u32(0).count(0)
    }

    fn dimensions(&mut self, dimensions: &[(&str, u64)]) -> &mut Self {
        self.u32(10).count(dimensions.len() as u64);
        for &(name, length) in dimensions {
            self.name(name.as_bytes()).count(length);
        }
        self
    }

    /// A variable without attributes, with a size that is not true.
    fn variable(&mut self, name: &str, ids: &[u64], code: u32, begin: u64) -> &mut Self {
        self.name(name.as_bytes()).count(ids.len() as u64);
        for &id in ids {
            self.count(id);
        }
        self.absent().u32(code).count(77).begin(begin)
    }

    fn decode(&self) -> Result<Header, Error> {
        Header::decode(&self.bytes, self.bytes.len() as u64)
    }
}

/// Dimensions t (records) and x (3); variables as given.
fn with_variables(version: u8, records: u64, variables: &[(&str, &[u64], u32, u64)]) -> Builder {
    let mut builder = Builder::new(version, records);
    builder.dimensions(&[("t", 0), ("x", 3)]).absent();
    builder.u32(11).count(variables.len() as u64);
    for &(name, ids, code, begin) in variables {
        builder.variable(name, ids, code, begin);
    }
    builder
}

fn kind(decoded: Result<Header, Error>) -> ErrorKind {
    decoded.expect_err("an error").kind
}

#[test]
fn an_empty_file_of_each_version_has_only_absent_lists() {
    for (number, version) in [(1, Version::Cdf1), (2, Version::Cdf2), (5, Version::Cdf5)] {
        let mut builder = Builder::new(number, 0);
        builder.absent().absent().absent();
        let header = builder.decode().unwrap();
        assert_eq!(header.version, version);
        assert_eq!(header.record_count, RecordCount::Known(0));
        assert!(header.dimensions.is_empty() && header.variables.is_empty());
        assert_eq!(header.size_bytes, if number == 5 { 48 } else { 32 });
        let layout = RecordLayout::new(&header, header.size_bytes).unwrap();
        assert_eq!((layout.record_size_bytes, layout.begin), (0, None));
    }
}

#[test]
fn attributes_keep_their_bytes_without_the_padding() {
    for version in [1, 2, 5] {
        let mut builder = Builder::new(version, 0);
        builder.absent().u32(12).count(2);
        builder.name(b"s").u32(3).count(3).padded(&[0, 1, 0, 2, 0, 3]);
        builder.name(b"text").u32(2).count(0).absent();
        let header = builder.decode().unwrap();
        assert_eq!(header.attributes[0].value_bytes, [0, 1, 0, 2, 0, 3]);
        assert_eq!(header.attributes[0].external_type, ExternalType::Short);
        assert_eq!(
            (header.attributes[1].value_count, header.attributes[1].value_bytes.len()),
            (0, 0)
        );
    }
}

#[test]
fn every_type_code_has_its_size_and_no_other_code_a_type() {
    let sizes: Vec<_> =
        (1..=11).map(|c| ExternalType::from_code(c).unwrap().size_bytes()).collect();
    assert_eq!(sizes, [1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8]);
    assert!((1..=11).all(|code| ExternalType::from_code(code).unwrap() as u32 == code));
    assert!([0, 12, u32::MAX].into_iter().all(|code| ExternalType::from_code(code).is_none()));
    let bad = with_variables(5, 0, &[("v", &[1], 12, 0)]);
    assert_eq!(kind(bad.decode()), ErrorKind::Field { field: "type", value: 12 });
}

#[test]
fn names_end_at_a_zero_byte_and_show_bytes_that_are_not_utf8() {
    let names: [(&[u8], &str); 4] =
        [(b"a\0b", "a"), (b"caf\xe9", "caf\\xe9"), ("é".as_bytes(), "é"), (b"", "")];
    for (stored, shown) in names {
        let mut builder = Builder::new(1, 0);
        builder.u32(10).count(1).name(stored).count(4).absent().absent();
        assert_eq!(builder.decode().unwrap().dimensions[0].name, shown);
    }
}

#[test]
fn records_of_several_variables_are_padded_each() {
    let variables: [(&str, &[u64], u32, u64); 3] =
        [("fixed", &[1], 3, 400), ("r", &[0, 1], 1, 408), ("s", &[0], 3, 412)];
    let header = with_variables(1, 2, &variables).decode().unwrap();
    let layout = RecordLayout::new(&header, 424).unwrap();
    assert_eq!((layout.record_size_bytes, layout.begin), (8, Some(408)));
    let fixed = layout.variable(&header, &header.variables[0]).unwrap();
    assert_eq!((fixed.shape, fixed.byte_strides, fixed.end), (vec![3], vec![2], 406));
    let r = layout.variable(&header, &header.variables[1]).unwrap();
    assert_eq!((r.shape, r.byte_strides, r.end), (vec![2, 3], vec![8, 1], 419));
    assert_eq!(header.variables[1].stated_size_bytes, 77);
}

#[test]
fn records_of_one_variable_are_not_padded() {
    let header = with_variables(1, 5, &[("r", &[0, 1], 1, 400)]).decode().unwrap();
    let layout = RecordLayout::new(&header, 415).unwrap();
    assert_eq!((layout.record_size_bytes, layout.complete_record_count), (3, 5));
    let r = layout.variable(&header, &header.variables[0]).unwrap();
    assert_eq!((&r.byte_strides[..], r.end, r.missing_bytes(415)), (&[3, 1][..], 415, 0));
}

#[test]
fn an_open_record_count_is_what_the_file_holds() {
    for (version, open) in [(1, u64::from(u32::MAX)), (2, u64::from(u32::MAX)), (5, u64::MAX)] {
        let variables: [(&str, &[u64], u32, u64); 2] =
            [("r", &[0, 1], 4, 400), ("s", &[0], 3, 412)];
        let header = with_variables(version, open, &variables).decode().unwrap();
        assert_eq!(header.record_count, RecordCount::Streaming);
        // A record is 16 bytes, of which the last 2 are padding.
        for (size, count) in [(0, 0), (413, 0), (414, 1), (416, 1), (429, 1), (430, 2), (432, 2)] {
            let layout = RecordLayout::new(&header, size).unwrap();
            assert_eq!((layout.record_count, size), (count, size));
        }
    }
}

#[test]
fn values_missing_at_the_end_are_counted_and_no_error() {
    let header = with_variables(2, 4, &[("v", &[1], 4, 400), ("r", &[0, 1], 4, 412)]);
    let header = header.decode().unwrap();
    let layout = RecordLayout::new(&header, 430).unwrap();
    assert_eq!((layout.record_count, layout.complete_record_count), (4, 1));
    let missing = |index: usize, size| {
        layout.variable(&header, &header.variables[index]).unwrap().missing_bytes(size)
    };
    assert_eq!((missing(0, 430), missing(0, 404), missing(0, 0)), (0, 8, 12));
    assert_eq!((missing(1, 430), missing(1, 460)), (30, 0));
}

#[test]
fn no_records_are_an_empty_shape_with_nothing_missing() {
    let header = with_variables(5, 0, &[("r", &[0, 1], 11, 4000)]).decode().unwrap();
    let layout = RecordLayout::new(&header, 100).unwrap();
    let r = layout.variable(&header, &header.variables[0]).unwrap();
    assert_eq!((&r.shape[..], r.end, r.missing_bytes(100)), (&[0, 3][..], 4000, 0));
}

#[test]
fn a_scalar_is_one_value() {
    let header = with_variables(1, 0, &[("v", &[], 6, 200)]).decode().unwrap();
    let layout = RecordLayout::new(&header, 208).unwrap();
    let v = layout.variable(&header, &header.variables[0]).unwrap();
    assert!(v.shape.is_empty() && v.byte_strides.is_empty());
    assert_eq!(v.end, 208);
}

#[test]
fn dimension_ids_and_the_record_axis_are_checked() {
    let bad = with_variables(5, 0, &[("v", &[2], 4, 0)]).decode();
    assert_eq!(kind(bad), ErrorKind::Field { field: "dimension id", value: 2 });
    let bad = with_variables(1, 0, &[("v", &[1, 0], 4, 0)]).decode();
    assert_eq!(kind(bad), ErrorKind::Field { field: "axis of the record dimension", value: 1 });
}

#[test]
fn each_dimension_of_length_zero_counts_the_records() {
    let mut builder = Builder::new(1, 2);
    builder.dimensions(&[("a", 0), ("b", 0)]).absent().u32(11).count(2);
    builder.variable("v", &[0], 4, 200).variable("w", &[1], 4, 204);
    let header = builder.decode().unwrap();
    assert_eq!(header.record_dimension_id(), Some(0));
    let layout = RecordLayout::new(&header, 216).unwrap();
    let w = layout.variable(&header, &header.variables[1]).unwrap();
    assert_eq!((w.shape, w.byte_strides, w.end), (vec![2], vec![8], 216));
}

#[test]
fn an_error_says_where_the_variable_stands() {
    let good = with_variables(1, 0, &[("v", &[1], 4, 0)]);
    let both = with_variables(1, 0, &[("v", &[1], 4, 0), ("w", &[9], 4, 0)]);
    let error = both.decode().expect_err("dimension 9 is not there");
    assert_eq!((error.structure, error.address), ("classic variable", good.bytes.len() as u64));
}

#[test]
fn sizes_beyond_any_file_are_refused_one_variable_at_a_time() {
    let mut builder = Builder::new(5, 1);
    builder.dimensions(&[("x", 1 << 62), ("y", 7)]).absent().u32(11).count(3);
    builder.variable("huge", &[0, 0], 6, 0).variable("far", &[1], 6, u64::MAX - 8);
    builder.variable("fine", &[1], 6, 100);
    let header = builder.decode().unwrap();
    let layout = RecordLayout::new(&header, 1000).unwrap();
    for index in [0, 1] {
        let error = layout.variable(&header, &header.variables[index]).expect_err("too large");
        assert!(matches!(error.kind, ErrorKind::Limit { .. }));
    }
    assert_eq!(layout.variable(&header, &header.variables[2]).unwrap().end, 156);
}

#[test]
fn a_record_count_beyond_any_file_is_refused_where_it_is_used() {
    let header = with_variables(5, 1 << 63, &[("r", &[0], 6, 0), ("v", &[1], 6, 0)]);
    let header = header.decode().unwrap();
    let layout = RecordLayout::new(&header, 1000).unwrap();
    assert!(layout.variable(&header, &header.variables[0]).is_err());
    assert!(layout.variable(&header, &header.variables[1]).is_ok());
}

#[test]
fn counts_that_the_file_is_too_short_for_are_refused_before_allocating() {
    for version in [1, 2, 5] {
        let most = if version == 5 { u64::MAX - 1 } else { u64::from(u32::MAX) };
        let mut lists = Vec::new();
        for (skipped, tag) in [10, 12, 11].into_iter().enumerate() {
            let mut builder = Builder::new(version, 0);
            for _ in 0..skipped {
                builder.absent();
            }
            builder.u32(tag).count(most);
            lists.push(builder);
        }
        let mut name = Builder::new(version, 0);
        name.u32(10).count(1).count(most).padded(b"abcd").count(1);
        lists.push(name);
        for mut builder in lists {
            builder.bytes.resize(200, 0);
            assert!(matches!(kind(builder.decode()), ErrorKind::Truncated { .. }));
        }
    }
    let rank = with_variables(5, 0, &[("v", &[1; 1025], 4, 0)]).decode();
    assert_eq!(kind(rank), ErrorKind::Limit { field: "rank", value: 1025, limit: 1024 });
}

#[test]
fn a_list_with_a_foreign_tag_is_refused_unless_empty() {
    let mut builder = Builder::new(1, 0);
    builder.u32(10).count(0).absent().absent();
    assert!(builder.decode().is_ok());
    let mut builder = Builder::new(1, 0);
    builder.u32(12).count(1).name(b"x").count(1).absent().absent();
    assert_eq!(kind(builder.decode()), ErrorKind::Field { field: "list tag", value: 12 });
}

#[test]
fn other_magic_numbers_are_refused() {
    assert!(matches!(kind(Header::decode(b"\x89HDF\r\n", 6)), ErrorKind::Signature { .. }));
    assert_eq!(kind(Header::decode(b"CDF\x03", 4)), ErrorKind::Version { found: 3 });
    assert!(matches!(kind(Header::decode(b"CD", 2)), ErrorKind::Truncated { .. }));
}

/// A header with something of everything.
fn rich(version: u8) -> Builder {
    let mut builder = Builder::new(version, 3);
    builder.dimensions(&[("t", 0), ("latitude", 3), ("x", 40)]);
    builder.u32(12).count(1).name(b"title").u32(2).count(5).padded(b"hello");
    builder.u32(11).count(3).variable("v", &[1, 2], 5, 1000);
    builder.name(b"r").count(2).count(0).count(2);
    builder.u32(12).count(1).name(b"scale").u32(6).count(1).padded(&1.5_f64.to_be_bytes());
    builder.u32(3).count(80).begin(2000);
    builder.variable("s", &[0], 1, 2080);
    builder
}

#[test]
fn asking_for_more_ends_at_the_same_header_in_few_steps() {
    for version in [1, 2, 5] {
        let bytes = rich(version).bytes;
        let whole = Header::decode(&bytes, bytes.len() as u64).unwrap();
        let (mut at_hand, mut steps) = (0, 0);
        let in_steps = loop {
            match Header::decode(&bytes[..at_hand], bytes.len() as u64) {
                Err(Error { kind: ErrorKind::NeedMore { bytes: more }, address: 0, .. }) => {
                    assert!(more > at_hand as u64 && more <= bytes.len() as u64);
                    at_hand = more as usize;
                    steps += 1;
                }
                decoded => break decoded.unwrap(),
            }
        };
        assert_eq!(in_steps, whole);
        assert!(steps <= 9, "{steps} steps for {} bytes", bytes.len());
    }
}

#[test]
fn every_truncation_is_said_and_every_damaged_byte_survived() {
    for version in [1, 2, 5] {
        let bytes = rich(version).bytes;
        for cut in 0..bytes.len() {
            let decoded = Header::decode(&bytes[..cut], cut as u64);
            assert!(matches!(kind(decoded), ErrorKind::Truncated { .. }), "cut at {cut}");
        }
        let (mut decoded_count, mut refused_count) = (0, 0);
        for index in 0..bytes.len() {
            for value in [0, 1, 0x7f, 0x80, 0xff, bytes[index] ^ 1, bytes[index] ^ 0x20] {
                let mut damaged = bytes.clone();
                damaged[index] = value;
                let Ok(header) = Header::decode(&damaged, bytes.len() as u64) else {
                    refused_count += 1;
                    continue;
                };
                decoded_count += 1;
                let Ok(layout) = RecordLayout::new(&header, 2100) else { continue };
                for variable in &header.variables {
                    if let Ok(place) = layout.variable(&header, variable) {
                        assert!(place.begin <= place.end);
                        assert!(place.missing_bytes(2100) <= place.end - place.begin);
                    }
                }
            }
        }
        assert!(decoded_count > 100 && refused_count > 100);
    }
}

#[test]
fn a_name_that_became_shorter_in_place_keeps_its_field() {
    let mut builder = Builder::new(2, 0);
    builder.u32(10).count(1).name(b"colour\0").count(4).absent().absent();
    let header = Header::decode(&builder.bytes, builder.bytes.len() as u64).unwrap();
    let found = &header.dimensions[0];
    assert_eq!((found.name.as_str(), found.name_room), ("colour", 7));
    assert_eq!(header.encode().unwrap(), builder.bytes);
}
