//! Files are copied: into the same format, into another, and with another way of storing.

use isotach::model::selection::{Axis, Selection};
use isotach::model::{Atomic, Values};
use isotach::{
    CopyOptions, CreateOptions, DefinitionFault, ErrorKind, File, FilterRequest, Format,
    OpenOptions, StorageKind, VariableOptions, Writer,
};
use isotach_testkit::FailingStorage;

fn opened(writer: Writer) -> File {
    opened_bytes(writer.into_bytes().unwrap().unwrap())
}

fn opened_bytes(bytes: Vec<u8>) -> File {
    let storage = std::sync::Arc::new(isotach::storage::Memory::new(bytes));
    OpenOptions::default().open_storage("test", storage).unwrap()
}

fn copied(from: &File, format: Format, options: &CopyOptions) -> isotach::Result<File> {
    let writer = CreateOptions::new(format).create_in_memory("copy").unwrap();
    isotach::copy(from, &writer, options, &mut |_| ())?;
    Ok(opened(writer))
}

fn rows(start: u64, count: u64, columns: u64) -> Selection {
    Selection { axes: vec![Axis::range(start, count, 1), Axis::all(columns)] }
}

/// An unlimited and a fixed dimension, a variable of chunks that was written in part.
fn sample(format: Format) -> File {
    opened_bytes(sample_bytes(format))
}

fn sample_bytes(format: Format) -> Vec<u8> {
    let writer = CreateOptions::new(format).create_in_memory("test").unwrap();
    let root = writer.root();
    root.set_attribute("title", "").unwrap();
    let time = root.define_dimension("time", None).unwrap();
    let x = root.define_dimension("x", Some(5)).unwrap();
    let is_classic = !matches!(format, Format::NetCdf4 | Format::NetCdf4Classic);
    let options = VariableOptions {
        chunk_shape: (!is_classic).then(|| vec![2, 3]),
        filters: if is_classic { vec![] } else { vec![FilterRequest::Shuffle] },
        ..VariableOptions::default()
    };
    let speed = root.define_variable("speed", Atomic::Short, &[time, x], options).unwrap();
    speed.set_attribute("_FillValue", -1_i16).unwrap();
    speed.set_attribute("units", "m s-1").unwrap();
    speed.write_as(&rows(4, 2, 5), &[7_i16; 10]).unwrap();
    writer.into_bytes().unwrap().unwrap()
}

fn values(file: &File) -> Values {
    file.variable("speed").unwrap().read(&Selection::all(&[6, 5])).unwrap()
}

#[test]
fn to_every_format() {
    use Format::{Classic, Data64Bit, NetCdf4, NetCdf4Classic, Offset64Bit};
    for from in [Classic, NetCdf4] {
        let from = sample(from);
        for format in [Classic, Offset64Bit, Data64Bit, NetCdf4, NetCdf4Classic] {
            let copy = copied(&from, format, &CopyOptions::default()).unwrap();
            assert_eq!(copy.format().unwrap(), format);
            assert_eq!(values(&copy), values(&from), "{format:?}");
            let speed = copy.variable("speed").unwrap();
            let names: Vec<_> =
                speed.attributes().unwrap().iter().map(|found| found.name().to_owned()).collect();
            assert_eq!(names, ["_FillValue", "units"]);
            assert!(speed.dimensions().unwrap()[0].is_unlimited());
            assert_eq!(
                speed.fill_value().unwrap(),
                from.variable("speed").unwrap().fill_value().unwrap()
            );
            let title = copy.root().attribute("title").unwrap().unwrap();
            assert_eq!(title.values().unwrap(), Values::Char(vec![]), "{format:?}");
        }
    }
}

#[test]
fn storage_is_kept_or_asked_for() {
    let from = sample(Format::NetCdf4);
    let storage = |options: &CopyOptions| {
        let copy = copied(&from, Format::NetCdf4, options).unwrap();
        assert_eq!(values(&copy), values(&from), "{options:?}");
        let speed = copy.variable("speed").unwrap();
        let is_unlimited = speed.dimensions().unwrap()[0].is_unlimited();
        let storage = speed.storage().unwrap();
        let filters: Vec<u16> = storage.filters.iter().map(|filter| filter.id).collect();
        (storage.chunk_shape.clone(), filters, is_unlimited)
    };
    let plain = CopyOptions::default();
    assert_eq!(storage(&plain), (Some(vec![2, 3]), vec![2], true));
    let packed = CopyOptions { deflate_level: Some(1), ..CopyOptions::default() };
    assert_eq!(storage(&packed), (Some(vec![2, 3]), vec![2, 1], true));
    let unpacked = CopyOptions { deflate_level: Some(0), ..CopyOptions::default() };
    assert_eq!(storage(&unpacked), (Some(vec![2, 3]), vec![], true));
    let fixed = CopyOptions {
        fix_unlimited: true,
        chunk_lens: vec![("time".to_owned(), Some(100)), ("x".to_owned(), None)],
        ..CopyOptions::default()
    };
    assert_eq!(storage(&fixed), (Some(vec![6, 5]), vec![2], false));
}

#[test]
fn what_a_format_cannot_hold_is_an_error_or_left_out() {
    let writer = CreateOptions::default().create_in_memory("test").unwrap();
    let root = writer.root();
    let x = root.define_dimension("x", Some(2)).unwrap();
    let plain = VariableOptions::default;
    let kept = root.define_variable("kept", Atomic::Int, &[x], plain()).unwrap();
    kept.set_attribute("words", vec!["a".to_owned(), "b".to_owned()]).unwrap();
    root.define_variable("long", Atomic::Int64, &[x], plain()).unwrap();
    root.define_group("group")
        .unwrap()
        .define_variable("below", Atomic::Int, &[x], plain())
        .unwrap();
    let from = opened(writer);
    let error = copied(&from, Format::Classic, &CopyOptions::default()).map(drop).unwrap_err();
    let is_expected = matches!(
        error.kind,
        ErrorKind::Definition(DefinitionFault::NotInFormat { format: Format::Classic, .. })
    );
    assert!(is_expected && error.object.as_deref() == Some("/group"), "{error}");
    let writer = CreateOptions::new(Format::Classic).create_in_memory("copy").unwrap();
    let options = CopyOptions { leave_out: true, ..CopyOptions::default() };
    let left_out = isotach::copy(&from, &writer, &options, &mut |_| ()).unwrap().left_out;
    let paths: Vec<&str> = left_out.iter().map(|left_out| &*left_out.path).collect();
    assert_eq!(paths, ["/group", "/kept:words", "/long"]);
    let copy = opened(writer);
    assert_eq!(copy.root().variable_names().unwrap().len(), 1);
    assert_eq!(copy.variable("kept").unwrap().storage().unwrap().kind, StorageKind::Contiguous);
}

/// Bytes of a file that fails to be read at some point are not damage: nothing is left out for it.
#[test]
fn what_a_storage_fails_to_deliver_is_not_left_out() {
    for format in [Format::NetCdf4, Format::Classic] {
        let bytes = sample_bytes(format);
        let expected = values(&opened_bytes(bytes.clone()));
        let (mut copies, mut errors) = (0, 0);
        for successes in 0..200 {
            let storage = std::sync::Arc::new(FailingStorage::new(bytes.clone(), successes));
            let Ok(from) = OpenOptions::default().open_storage("failing", storage) else {
                continue;
            };
            let writer = CreateOptions::new(format).create_in_memory("copy").unwrap();
            let options = CopyOptions { leave_out: true, ..CopyOptions::default() };
            match isotach::copy(&from, &writer, &options, &mut |_| ()) {
                Ok(copied) if copied.left_out.is_empty() && copied.gaps.is_empty() => {
                    assert_eq!(values(&opened(writer)), expected, "{format:?} {successes}");
                    copies += 1;
                }
                Ok(copied) => panic!("{format:?} after {successes} reads: {copied:?}"),
                Err(_) => errors += 1,
            }
        }
        assert!(copies > 0 && errors > 0, "{format:?}: {copies} copies, {errors} errors");
    }
}

/// Of a file that ends early, what is there is copied, and the rest filled.
#[test]
fn of_a_truncated_file_what_is_there_is_copied() {
    let whole = sample_bytes(Format::Classic);
    let expected = values(&opened_bytes(whole.clone()));
    // Rows of five numbers of two bytes; the last ends the file.
    for missing in 1..10 {
        let from = opened_bytes(whole[..whole.len() - missing].to_vec());
        let refused =
            copied(&from, Format::NetCdf4, &CopyOptions::default()).map(drop).unwrap_err();
        assert!(matches!(refused.kind, ErrorKind::MissingBytes { .. }), "{refused}");
        assert_eq!(refused.object.as_deref(), Some("/speed"));
        let writer = CreateOptions::default().create_in_memory("copy").unwrap();
        let options = CopyOptions { leave_out: true, ..CopyOptions::default() };
        let told = isotach::copy(&from, &writer, &options, &mut |_| ()).unwrap();
        let lost = missing.div_ceil(2);
        assert_eq!(told.gaps[0].elements, (lost as u64, 30));
        let (Values::I16(found), Values::I16(right)) = (values(&opened(writer)), &expected) else {
            panic!("numbers of two bytes");
        };
        let kept = 30 - lost;
        assert_eq!(found[..kept], right[..kept]);
        assert!(found[kept..].iter().all(|&value| value == -1), "{found:?}");
    }
}
