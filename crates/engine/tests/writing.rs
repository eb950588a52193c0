//! Files that are written are read back as what was written: while they are open, and when they are
//! closed and opened anew.

mod support {
    pub mod contents;
}

use isotach::model::selection::{Axis, Selection};
use isotach::model::{Atomic, DataType, Field, UserClass, UserType, Values};
use isotach::{
    CreateOptions, DefinitionFault, Endianness, ErrorKind, File, Fill, FilterRequest, Format,
    OpenOptions, Quantization, StorageKind, VariableOptions, Writer,
};

use support::contents::contents;

const ALL_FORMATS: [Format; 5] = [
    Format::Classic,
    Format::Offset64Bit,
    Format::Data64Bit,
    Format::NetCdf4,
    Format::NetCdf4Classic,
];

fn create(format: Format) -> Writer {
    CreateOptions::new(format).create_in_memory("test").unwrap()
}

/// The file as others find it.
fn closed(writer: Writer) -> File {
    let bytes = writer.into_bytes().unwrap().unwrap();
    let storage = std::sync::Arc::new(isotach::storage::Memory::new(bytes));
    OpenOptions::default().open_storage("test", storage).unwrap()
}

fn range(start: u64, count: u64) -> Axis {
    Axis::range(start, count, 1)
}

fn select(axes: impl IntoIterator<Item = Axis>) -> Selection {
    Selection { axes: axes.into_iter().collect() }
}

#[test]
fn an_empty_file() {
    for format in ALL_FORMATS {
        let file = closed(create(format));
        assert_eq!(file.format().unwrap(), format);
        assert_eq!(contents(&file), "");
    }
}

/// HDF5 has one name for a group, a type and a dimension; a variable steps aside for a dimension.
#[test]
fn names_that_groups_and_dimensions_cannot_share() {
    let root = create(Format::NetCdf4).root();
    let taken = |error: isotach::Error, wanted: &'static str| {
        let name = wanted.to_owned();
        let fault = DefinitionFault::NameInUse { what: wanted, name };
        assert!(matches!(&error.kind, ErrorKind::Definition(found) if *found == fault), "{error}");
    };
    let list = |name| UserType::vlen(name, DataType::Atomic(Atomic::Int)).unwrap();
    root.define_group("group").unwrap();
    root.define_type(list("type")).unwrap();
    let dimension = root.define_dimension("dimension", Some(2)).unwrap();
    root.define_variable("variable", Atomic::Int, &[dimension], Default::default()).unwrap();
    taken(root.define_dimension("group", None).unwrap_err(), "group");
    taken(root.define_dimension("type", None).unwrap_err(), "type");
    taken(root.define_group("dimension").map(drop).unwrap_err(), "dimension");
    taken(root.define_type(list("dimension")).unwrap_err(), "dimension");
    let group = root.group("group").unwrap().unwrap();
    taken(group.rename("dimension").unwrap_err(), "dimension");
    let writer = create(Format::NetCdf4);
    writer.root().define_group("group").unwrap();
    let moved = writer.root().define_dimension("variable", Some(1)).unwrap();
    taken(writer.rename_dimension(moved, "group").unwrap_err(), "group");
    root.define_dimension("variable", Some(3)).unwrap();
}

/// Blocks of szip must not be larger than chunks; what else is in the file is not lost by that.
#[test]
fn filters_that_chunks_are_too_small_for() {
    let writer = create(Format::NetCdf4);
    let root = writer.root();
    let x = root.define_dimension("x", Some(30)).unwrap();
    let szip = FilterRequest::Szip { option_mask: 32, pixels_per_block: 8 };
    let options = |chunk| VariableOptions {
        chunk_shape: Some(vec![chunk]),
        filters: vec![szip.clone()],
        ..VariableOptions::default()
    };
    let error = root.define_variable("v", Atomic::Int, &[x], options(6)).map(drop).unwrap_err();
    let kind = &error.kind;
    assert!(matches!(kind, ErrorKind::Definition(DefinitionFault::Filter(_))), "{error}");
    let variable = root.define_variable("v", Atomic::Int, &[x], options(16)).unwrap();
    variable.write_as(&select([range(0, 3)]), &[1, 2, 3]).unwrap();
    assert_eq!(closed(writer).root().variable_names().unwrap().len(), 1);
}

/// Rows that go to the places that they have already change no object, and wait to become a large write.
#[test]
fn rows_that_follow_a_commit_where_nothing_else_changes() {
    const WIDTH: u64 = 10_000;
    let writer = create(Format::NetCdf4);
    let root = writer.root();
    let y = root.define_dimension("y", Some(8)).unwrap();
    let x = root.define_dimension("x", Some(WIDTH)).unwrap();
    let options =
        VariableOptions { layout: Some(StorageKind::Contiguous), ..VariableOptions::default() };
    let variable = root.define_variable("v", Atomic::Double, &[y, x], options).unwrap();
    for row in 0..8_u64 {
        let number = row as f64 + 1.0;
        let numbers = vec![number; WIDTH as usize];
        variable.write_as(&select([range(row, 1), range(0, WIDTH)]), &numbers).unwrap();
        if row == 2 {
            writer.commit().unwrap();
        }
    }
    let file = closed(writer);
    let every_first = select([range(0, 8), range(0, 1)]);
    let (found, _) = file.variable("v").unwrap().read_as::<f64>(&every_first).unwrap();
    assert_eq!(found, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
}

#[test]
fn dimensions_attributes_variables_and_values() {
    for format in ALL_FORMATS {
        let writer = create(format);
        let root = writer.root();
        root.set_attribute("title", "winds").unwrap();
        root.set_attribute("levels", vec![1.5_f64, 2.5]).unwrap();
        let time = root.define_dimension("time", None).unwrap();
        let x = root.define_dimension("x", Some(3)).unwrap();
        let plain = VariableOptions::default;
        let times = root.define_variable("time", Atomic::Double, &[time], plain()).unwrap();
        let speed = root.define_variable("speed", Atomic::Float, &[time, x], plain()).unwrap();
        let count = root.define_variable("count", Atomic::Int, &[], plain()).unwrap();
        let name = root.define_variable("name", Atomic::Char, &[x], plain()).unwrap();
        speed.set_attribute("units", "m s-1").unwrap();
        speed.set_attribute("_FillValue", -1.0_f32).unwrap();
        times.write_as(&select([range(0, 2)]), &[10.0_f64, 20.0]).unwrap();
        speed.write_as(&select([range(0, 1), range(0, 3)]), &[1.0_f32, 2.0, 3.0]).unwrap();
        speed.write_as(&select([range(3, 1), range(1, 2)]), &[4_i16, 5]).unwrap();
        count.write_as(&select([]), &[7_i32]).unwrap();
        name.write(&select([range(0, 3)]), &Values::Char(b"abc".to_vec())).unwrap();
        let open = contents(&writer.file());
        let file = closed(writer);
        assert_eq!(contents(&file), open, "{format:?}");
        let speed = file.variable("speed").unwrap();
        let (values, _) = speed.read_as::<f32>(&Selection::all(&[4, 3])).unwrap();
        let expected = [1.0, 2.0, 3.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, 4.0, 5.0];
        assert_eq!(values, expected, "{format:?}");
        let times = file.variable("time").unwrap().read(&Selection::all(&[4])).unwrap();
        let fill = isotach::model::fill::DOUBLE;
        assert_eq!(times, Values::F64(vec![10.0, 20.0, fill, fill]), "{format:?}");
    }
}

#[test]
fn several_commits_add_to_one_another() {
    for format in ALL_FORMATS {
        let writer = create(format);
        let root = writer.root();
        let time = root.define_dimension("time", None).unwrap();
        let plain = VariableOptions::default;
        let first = root.define_variable("first", Atomic::Int, &[time], plain()).unwrap();
        for record in 0..20_u64 {
            first.write_as(&select([range(record, 1)]), &[record as i32]).unwrap();
            if record == 10 {
                let name = "a variable that comes later and has a name which needs room";
                let later = root.define_variable(name, Atomic::Short, &[time], plain()).unwrap();
                later.set_attribute("long_name", "x".repeat(300).as_str()).unwrap();
                root.set_attribute("history", "y".repeat(300).as_str()).unwrap();
                later.write_as(&select([range(2, 2)]), &[1_i16, 2]).unwrap();
            }
            writer.commit().unwrap();
        }
        let open = contents(&writer.file());
        let file = closed(writer);
        assert_eq!(contents(&file), open, "{format:?}");
        let (values, _) =
            file.variable("first").unwrap().read_as::<i32>(&Selection::all(&[20])).unwrap();
        assert_eq!(values, (0..20).collect::<Vec<_>>());
    }
}

#[test]
fn groups_types_strings_and_filters() {
    let writer = create(Format::NetCdf4);
    let root = writer.root();
    let x = root.define_dimension("x", Some(4)).unwrap();
    let group = root.define_group("deep").unwrap().define_group("er").unwrap();
    let y = group.define_dimension("y", None).unwrap();
    let string =
        group.define_variable("s", Atomic::String, &[y], VariableOptions::default()).unwrap();
    let words = ["", "one", "two three"].map(|word| Some(word.as_bytes().into()));
    string.write(&select([range(0, 3)]), &Values::String(words.to_vec())).unwrap();
    string.set_attribute("words", vec!["a".to_owned(), "bc".to_owned()]).unwrap();
    let pair = UserType {
        name: "pair".to_owned(),
        group: String::new(),
        size: 16,
        class: UserClass::Compound(vec![
            Field { name: "a".to_owned(), offset: 0, data_type: Atomic::Int.into(), shape: vec![] },
            Field {
                name: "b".to_owned(),
                offset: 8,
                data_type: Atomic::Double.into(),
                shape: vec![],
            },
        ]),
    };
    let pair: DataType = root.define_type(pair).unwrap();
    let pairs = root.define_variable("pairs", pair, &[x], VariableOptions::default()).unwrap();
    let members = vec![
        ("a".to_owned(), Values::I32(vec![1, 2])),
        ("b".to_owned(), Values::F64(vec![0.5, 0.25])),
    ];
    pairs.write(&select([range(1, 2)]), &Values::Compound { count: 2, members }).unwrap();
    let options = VariableOptions {
        chunk_shape: Some(vec![2, 3]),
        filters: vec![
            FilterRequest::Shuffle,
            FilterRequest::Deflate { level: 4 },
            FilterRequest::Fletcher32,
        ],
        ..VariableOptions::default()
    };
    let packed = group.define_variable("packed", Atomic::Int64, &[y, x], options).unwrap();
    let numbers: Vec<i64> = (0..20).collect();
    packed.write_as(&select([range(0, 5), range(0, 4)]), &numbers).unwrap();
    let open = contents(&writer.file());
    let file = closed(writer);
    assert_eq!(contents(&file), open);
    let packed = file.variable("deep/er/packed").unwrap();
    assert_eq!(packed.storage().unwrap().kind, StorageKind::Chunked);
    assert_eq!(packed.storage().unwrap().filters.len(), 3);
    assert_eq!(packed.read(&Selection::all(&[5, 4])).unwrap(), Values::I64(numbers));
}

#[test]
fn many_variables_and_attributes() {
    let writer = create(Format::NetCdf4);
    let root = writer.root();
    let x = root.define_dimension("x", Some(2)).unwrap();
    for index in 0..500 {
        let name = format!("variable_{index}");
        let options = VariableOptions { fill: Fill::None, ..VariableOptions::default() };
        let variable = root.define_variable(&name, Atomic::Int, &[x], options).unwrap();
        variable.set_attribute("number", index).unwrap();
        variable.write_as(&select([range(0, 2)]), &[index, -index]).unwrap();
        root.set_attribute(&format!("attribute_{index}"), vec![f64::from(index); 20]).unwrap();
    }
    root.set_attribute("large", vec![1_u8; 100_000]).unwrap();
    let open = contents(&writer.file());
    assert_eq!(contents(&closed(writer)), open);
}

#[test]
fn renaming_and_deleting() {
    let writer = create(Format::NetCdf4);
    let root = writer.root();
    let x = root.define_dimension("x", Some(2)).unwrap();
    let plain = VariableOptions::default;
    let axis = root.define_variable("x", Atomic::Int, &[x], plain()).unwrap();
    let value = root.define_variable("value", Atomic::Float, &[x], plain()).unwrap();
    axis.write_as(&select([range(0, 2)]), &[1, 2]).unwrap();
    value.set_attribute("a", 1).unwrap();
    value.set_attribute("b", 2).unwrap();
    writer.commit().unwrap();
    axis.rename("position").unwrap();
    value.rename_attribute("a", "c").unwrap();
    value.delete_attribute("b").unwrap();
    writer.commit().unwrap();
    writer.rename_dimension(x, "position").unwrap();
    root.define_group("gone").unwrap();
    writer.commit().unwrap();
    root.group("gone").unwrap().unwrap().delete().unwrap();
    value.delete().unwrap();
    assert!(matches!(
        value.set_attribute("d", 1).unwrap_err().kind,
        ErrorKind::Definition(DefinitionFault::Deleted { what: "variable" })
    ));
    let open = contents(&writer.file());
    let file = closed(writer);
    assert_eq!(contents(&file), open);
    let position = file.variable("position").unwrap();
    assert_eq!(position.dimensions().unwrap()[0].name(), "position");
    assert_eq!(position.read(&Selection::all(&[2])).unwrap(), Values::I32(vec![1, 2]));
}

#[test]
fn what_cannot_be_is_refused() {
    let writer = create(Format::Classic);
    let root = writer.root();
    let fault = |error: isotach::Error| match error.kind {
        ErrorKind::Definition(fault) => fault,
        other => panic!("{other}"),
    };
    let time = root.define_dimension("time", None).unwrap();
    let x = root.define_dimension("x", Some(2)).unwrap();
    assert_eq!(
        fault(root.define_dimension("y", None).unwrap_err()),
        DefinitionFault::SecondUnlimited
    );
    let plain = VariableOptions::default;
    let define = |name, data_type, dimensions: &[_]| {
        root.define_variable(name, data_type, dimensions, plain()).map(drop)
    };
    assert_eq!(
        fault(define("a", Atomic::Int, &[x, time]).unwrap_err()),
        DefinitionFault::UnlimitedNotFirst
    );
    assert!(matches!(
        fault(define("a", Atomic::Int64, &[x]).unwrap_err()),
        DefinitionFault::NotInFormat { .. }
    ));
    define("a", Atomic::Int, &[x]).unwrap();
    assert_eq!(
        fault(define("a", Atomic::Int, &[x]).unwrap_err()),
        DefinitionFault::NameInUse { what: "variable", name: "a".to_owned() }
    );
    assert!(matches!(
        fault(define("a/b", Atomic::Int, &[x]).unwrap_err()),
        DefinitionFault::Name(_)
    ));
    assert!(matches!(
        fault(root.define_group("g").map(drop).unwrap_err()),
        DefinitionFault::NotInFormat { what: "groups", .. }
    ));
    let a = root.variable("a").unwrap().unwrap();
    let error = a.write_as(&select([range(1, 2)]), &[1, 2]).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Selection(_)), "{error}");
    let error = a.write_as(&select([range(0, 2)]), &[1]).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Source { .. }), "{error}");
    writer.clone().close().unwrap();
    let error = a.write_as(&select([range(0, 1)]), &[1]).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Closed), "{error}");
}

#[test]
fn what_is_overwritten_after_it_was_read_is_read_anew() {
    for format in ALL_FORMATS {
        let writer = create(format);
        let x = writer.root().define_dimension("x", Some(100)).unwrap();
        let is_hdf5 = matches!(format, Format::NetCdf4 | Format::NetCdf4Classic);
        let options = VariableOptions {
            filters: if is_hdf5 { vec![FilterRequest::Deflate { level: 1 }] } else { Vec::new() },
            ..VariableOptions::default()
        };
        let variable = writer.root().define_variable("v", Atomic::Int, &[x], options).unwrap();
        variable.write_as(&select([range(0, 100)]), &[1; 100]).unwrap();
        for round in 2..5 {
            let read = || {
                let values = variable.variable().unwrap().read(&select([range(5, 2)]));
                values.unwrap()
            };
            assert_eq!(read(), Values::I32(vec![round - 1, 1]), "{format:?}");
            variable.write_as(&select([range(5, 1)]), &[round]).unwrap();
            assert_eq!(read(), Values::I32(vec![round, 1]), "{format:?}");
        }
    }
}

#[test]
fn a_user_block_stays_in_front() {
    let options = CreateOptions { user_block_bytes: 1024, ..CreateOptions::default() };
    let writer = options.create_in_memory("test").unwrap();
    let x = writer.root().define_dimension("x", Some(3)).unwrap();
    let options = VariableOptions { chunk_shape: Some(vec![2]), ..VariableOptions::default() };
    let variable = writer.root().define_variable("v", Atomic::Int, &[x], options).unwrap();
    variable.write_as(&select([range(0, 3)]), &[1, 2, 3]).unwrap();
    let file = closed(writer);
    assert_eq!(file.hdf5().unwrap().user_block_bytes(), 1024);
    let values = file.variable("v").unwrap().read(&Selection::all(&[3])).unwrap();
    assert_eq!(values, Values::I32(vec![1, 2, 3]));
}

#[test]
fn floats_are_quantized_as_the_attribute_says() {
    let numbers: Vec<f32> = (1..100).map(|number| 1.0 / number as f32).collect();
    let mut expected = numbers.clone();
    let mode = isotach::model::quantize::Mode::BitGroom;
    let rounding = isotach::model::quantize::Quantization::new(mode, 3, Atomic::Float).unwrap();
    rounding.apply(&mut expected, isotach::model::fill::FLOAT);
    for endianness in [Endianness::Little, Endianness::Big] {
        let writer = create(Format::NetCdf4);
        let x = writer.root().define_dimension("x", Some(99)).unwrap();
        let options = VariableOptions {
            quantization: Some(Quantization::BitGroom(3)),
            endianness: Some(endianness),
            ..VariableOptions::default()
        };
        let variable = writer.root().define_variable("v", Atomic::Float, &[x], options).unwrap();
        variable.write(&select([range(0, 99)]), &Values::F32(numbers.clone())).unwrap();
        let file = closed(writer);
        let v = file.variable("v").unwrap();
        assert_eq!(v.read(&Selection::all(&[99])).unwrap(), Values::F32(expected.clone()));
        let attribute = v.attribute(mode.attribute_name()).unwrap().unwrap();
        assert_eq!(attribute.values().unwrap(), Values::I32(vec![3]));
    }
}
