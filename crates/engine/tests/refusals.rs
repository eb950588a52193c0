//! What cannot be done is refused when it is asked for, and nothing has changed then: neither the file nor
//! what is seen of it, and everything else goes on.

use std::sync::Arc;

use isotach::model::selection::{Axis, Selection};
use isotach::model::{Atomic, Values};
use isotach::storage::{GrowingMemory, Memory};
use isotach::{
    CreateOptions, DefinitionFault, EditOptions, Error, ErrorKind, File, FilterRequest, Format,
    OpenOptions, StorageKind, VariableOptions, VariableWriter, Writer,
};
use isotach_codec::Filter;
use isotach_format::checksum::lookup3;
use isotach_testkit::corpus;

const ZSTD: [u8; 2] = 32_015_u16.to_le_bytes();
/// Registered, and there is no code for it here.
const ZFP: [u8; 2] = 32_013_u16.to_le_bytes();

fn range(start: u64, count: u64) -> Selection {
    Selection { axes: vec![Axis::range(start, count, 1)] }
}

fn opened(bytes: &[u8]) -> File {
    let storage = Arc::new(Memory::new(bytes.to_vec()));
    OpenOptions::default().open_storage("test", storage).unwrap()
}

/// A file of one variable `filtered` along an unlimited dimension, two chunks of four that a filter
/// compressed for which there is no code here, and one that is `plain`.
fn with_unknown_filter(optional: bool) -> Vec<u8> {
    let writer = CreateOptions::default().create_in_memory("test").unwrap();
    let root = writer.root();
    let x = root.define_dimension("x", None).unwrap();
    let zstd = Filter { id: 32_015, name: Some("zstd".into()), optional, parameters: vec![3] };
    let options = VariableOptions {
        chunk_shape: Some(vec![4]),
        filters: vec![FilterRequest::Exact(zstd)],
        ..VariableOptions::default()
    };
    let filtered = root.define_variable("filtered", Atomic::Int, &[x], options).unwrap();
    let options = VariableOptions { chunk_shape: Some(vec![4]), ..VariableOptions::default() };
    let plain = root.define_variable("plain", Atomic::Int, &[x], options).unwrap();
    for variable in [filtered, plain] {
        variable.write_as(&range(0, 8), &[1, 2, 3, 4, 5, 6, 7, 8]).unwrap();
    }
    renumbered(writer.into_bytes().unwrap().unwrap(), ZSTD, ZFP)
}

/// The file with another number for the one filter `from`, which has a name of 5 bytes.
fn renumbered(mut bytes: Vec<u8>, from: [u8; 2], to: [u8; 2]) -> Vec<u8> {
    let message = [&from[..], &5_u16.to_le_bytes()].concat();
    let places: Vec<usize> =
        (0..bytes.len()).filter(|&at| bytes[at..].starts_with(&message)).collect();
    let [at] = places[..] else { panic!("at {places:?}") };
    bytes[at..at + 2].copy_from_slice(&to);
    // The checksum of the part of the object header that it stands in.
    let starts =
        |at: &usize| [&b"OHDR"[..], b"OCHK"].iter().any(|name| bytes[*at..].starts_with(name));
    let start = (0..at).rev().find(starts).unwrap();
    let is_sealed = |end: &usize| {
        let mut old = bytes[start..*end].to_vec();
        old[at - start..at - start + 2].copy_from_slice(&from);
        bytes[*end..].starts_with(&lookup3(&old).to_le_bytes())
    };
    let end = (at + 2..bytes.len()).find(is_sealed).unwrap();
    let checksum = lookup3(&bytes[start..end]).to_le_bytes();
    bytes[end..end + 4].copy_from_slice(&checksum);
    bytes
}

fn variable(writer: &Writer, name: &str) -> VariableWriter {
    writer.root().variable(name).unwrap().unwrap()
}

fn len(writer: &Writer) -> u64 {
    writer.file().root().dimensions().unwrap()[0].len().unwrap()
}

fn ints(file: &File, name: &str) -> Values {
    let variable = file.variable(name).unwrap();
    variable.read(&Selection::all(&variable.shape().unwrap())).unwrap()
}

/// Without a clock that commits in the midst of a test.
fn edit(bytes: Vec<u8>) -> Writer {
    let options = EditOptions { commit_interval: None, ..EditOptions::default() };
    options.open_bytes("test", bytes).unwrap()
}

fn assert_names_the_filter(error: &Error) {
    let text = error.to_string();
    for part in ["test", "/filtered", "filter 32013 (zfp)", "not supported"] {
        assert!(text.contains(part), "no {part:?} in {text:?}");
    }
}

#[test]
fn a_filter_that_cannot_be_applied_is_told_by_the_write() {
    let writer = edit(with_unknown_filter(false));
    let filtered = variable(&writer, "filtered");
    // Parts of chunks, whole ones, new ones; several chunks, which other threads would encode later.
    for (start, count) in [(1, 2), (0, 4), (2, 6), (8, 4), (9, 1), (0, 80_000)] {
        let error = filtered.write_as(&range(start, count), &vec![9; count as usize]).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Encode { .. }), "{error:?}");
        assert_names_the_filter(&error);
        assert_eq!(len(&writer), 8, "{start} {count}");
    }
    // Everything else is written and committed.
    variable(&writer, "plain").write_as(&range(6, 4), &[70, 80, 90, 100]).unwrap();
    filtered.set_attribute("units", "m").unwrap();
    writer.commit().unwrap();
    filtered.rename("renamed").unwrap();
    let file = opened(&writer.into_bytes().unwrap().unwrap());
    let expected = Values::I32(vec![1, 2, 3, 4, 5, 6, 70, 80, 90, 100]);
    assert_eq!(ints(&file, "plain"), expected);
    let attributes = file.variable("renamed").unwrap().attributes().unwrap();
    assert_eq!(attributes[0].name(), "units");
}

#[test]
fn a_part_of_a_chunk_that_cannot_be_read_back_is_refused() {
    let writer = edit(with_unknown_filter(true));
    let filtered = variable(&writer, "filtered");
    for (start, count) in [(1, 2), (3, 1), (2, 6), (7, 3)] {
        let error = filtered.write_as(&range(start, count), &vec![9; count as usize]).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Chunk { .. }), "{error:?}");
        assert_names_the_filter(&error);
        assert_eq!(len(&writer), 8, "{start} {count}");
    }
    // A filter that is optional is left out of what is new, whole or in part.
    filtered.write_as(&range(4, 4), &[50, 60, 70, 80]).unwrap();
    filtered.write_as(&range(8, 1), &[90]).unwrap();
    // And those chunks are not filtered any more, before the commit and after it.
    filtered.write_as(&range(5, 1), &[61]).unwrap();
    writer.commit().unwrap();
    filtered.write_as(&range(6, 1), &[71]).unwrap();
    filtered.write_as(&range(0, 2), &[10, 20]).unwrap_err();
    let bytes = writer.into_bytes().unwrap().unwrap();
    let file = opened(&bytes);
    let (last, _) = file.variable("filtered").unwrap().read_as::<i32>(&range(4, 5)).unwrap();
    assert_eq!(last, [50, 61, 71, 80, 90]);
    // The chunk that was left alone is as it was: the filter's number is all that hides it.
    let first = file.variable("filtered").unwrap().read_as::<i32>(&range(0, 4)).unwrap_err();
    assert_names_the_filter(&first);
    let restored = opened(&renumbered(bytes, ZFP, ZSTD));
    let (all, _) = restored.variable("filtered").unwrap().read_as::<i32>(&range(0, 9)).unwrap();
    assert_eq!(all, [1, 2, 3, 4, 50, 61, 71, 80, 90]);
}

#[test]
fn values_that_are_refused_make_no_dimension_longer() {
    let writer = CreateOptions::default().create_in_memory("test").unwrap();
    let root = writer.root();
    let x = root.define_dimension("x", None).unwrap();
    let plain = VariableOptions::default;
    let numbers = root.define_variable("numbers", Atomic::Int, &[x], plain()).unwrap();
    let words = root.define_variable("words", Atomic::String, &[x], plain()).unwrap();
    let strings = Values::String(vec![Some(b"a"[..].into()); 3]);
    numbers.write(&range(0, 3), &strings).unwrap_err();
    numbers.write(&range(0, 3), &Values::I32(vec![1, 2])).unwrap_err();
    numbers.write_as(&range(0, 3), &[1, 2]).unwrap_err();
    numbers.write_native(&range(0, 3), &[0; 11]).unwrap_err();
    words.write(&range(0, 3), &Values::I32(vec![1, 2, 3])).unwrap_err();
    words.write(&range(0, 4), &strings).unwrap_err();
    words.write_native(&range(0, 3), &[0; 48]).unwrap_err();
    assert_eq!(len(&writer), 0);
    words.write(&range(0, 3), &strings).unwrap();
    assert_eq!(len(&writer), 3);
    assert_eq!(ints(&opened(&writer.into_bytes().unwrap().unwrap()), "words"), strings);
}

#[test]
fn a_write_to_a_virtual_data_set_makes_no_dimension_longer() {
    let Some(corpus) = corpus() else { return };
    let mut refused = 0;
    for name in ["hdf5-1.14.5/2_vds.bundle/2_vds.h5", "derived/vds.h5"] {
        let writer = edit(std::fs::read(corpus.join(name)).unwrap());
        for shown in writer.file().root().variables().unwrap() {
            if shown.storage().unwrap().kind != StorageKind::Virtual {
                continue;
            }
            let lens = || -> Vec<u64> {
                let all = writer.file().root().dimensions().unwrap();
                all.iter().map(|dimension| dimension.len().unwrap()).collect()
            };
            let before = lens();
            // Right behind what there is, along every dimension that can grow.
            let end = |dimension: &isotach::Dimension| match dimension.is_unlimited() {
                true => Axis::range(dimension.len().unwrap() + 3, 1, 1),
                false => Axis::range(0, 1, 1),
            };
            let dimensions = shown.dimensions().unwrap();
            let selection = Selection { axes: dimensions.iter().map(end).collect() };
            let virtual_one = variable(&writer, shown.name());
            let extent: Vec<u64> = before.iter().map(|_| 1000).take(dimensions.len()).collect();
            for outcome in
                [virtual_one.write_as(&selection, &[1]).map(drop), virtual_one.grow(&extent)]
            {
                let error = outcome.unwrap_err();
                let kind = &error.kind;
                let is_expected =
                    matches!(kind, ErrorKind::Definition(DefinitionFault::NotWritable { .. }));
                assert!(is_expected, "{name}: {error}");
                assert_eq!(lens(), before, "{name}: {}", shown.name());
            }
            refused += usize::from(dimensions.iter().any(|dimension| dimension.is_unlimited()));
        }
        writer.commit().unwrap();
    }
    assert!(refused > 0);
}

#[test]
fn an_array_larger_than_a_file_in_memory_can_be_is_refused() {
    let storage = Arc::new(GrowingMemory::with_limit(Vec::new(), 1 << 20));
    let writer = CreateOptions::default().create_in("test", Arc::clone(&storage) as _).unwrap();
    let root = writer.root();
    let plain = VariableOptions::default;
    let large = root.define_dimension("large", Some(1 << 32)).unwrap();
    let small = root.define_dimension("small", Some(1000)).unwrap();
    let arrays = [("too_large", [large, small]), ("fitting", [small, small])];
    let [too_large, fitting] = arrays.map(|(name, along)| {
        let options = VariableOptions { layout: Some(StorageKind::Contiguous), ..plain() };
        root.define_variable(name, Atomic::Byte, &along, options).unwrap()
    });
    let one = |at: u64| Selection { axes: vec![Axis::range(at, 1, 1), Axis::range(0, 1, 1)] };
    for at in [0, (1 << 32) - 1] {
        let error = too_large.write_as(&one(at), &[1_i8]).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Limit { limit: 1_048_576, .. }), "{error}");
    }
    fitting.write_as(&one(7), &[1_i8]).unwrap();
    writer.close().unwrap();
    assert!((1_000_000..1 << 20).contains(&storage.take_bytes().len()));
}

#[test]
fn more_records_than_a_file_in_memory_can_have_are_refused() {
    const LIMIT: u64 = 1 << 20;
    let define = |writer: &Writer| {
        let time = writer.root().define_dimension("time", None).unwrap();
        let options = VariableOptions::default();
        writer.root().define_variable("v", Atomic::Int, &[time], options).unwrap()
    };
    let is_limit = |error: Error| {
        assert!(matches!(error.kind, ErrorKind::Limit { limit: LIMIT, .. }), "{error}");
    };
    let storage = Arc::new(GrowingMemory::with_limit(Vec::new(), LIMIT));
    let create = CreateOptions::new(Format::Classic);
    let writer = create.create_in("test", Arc::clone(&storage) as _).unwrap();
    let variable = define(&writer);
    is_limit(variable.write_as(&range(1 << 30, 1), &[1]).unwrap_err());
    variable.write_as(&range(7, 1), &[1]).unwrap();
    writer.close().unwrap();
    assert!(storage.take_bytes().len() < 200);

    // A file of nothing but a count.
    let mut bytes = b"CDF\x01".to_vec();
    bytes.extend(((1_u32 << 31) + 7).to_be_bytes());
    bytes.extend([0; 24]);
    let storage = Arc::new(GrowingMemory::with_limit(bytes.clone(), LIMIT));
    let edit = EditOptions { commit_interval: None, ..EditOptions::default() };
    let writer = edit.open_in("test", Arc::clone(&storage) as _).unwrap();
    define(&writer);
    let ErrorKind::NotCommitted { source, .. } = writer.commit().unwrap_err().kind else {
        panic!("not told what is lost")
    };
    is_limit(*source);
    writer.root().variable("v").unwrap().unwrap().delete().unwrap();
    writer.close().unwrap();
    assert!(storage.take_bytes().len() < 200);
}

/// A file of `broken`, three chunks of four of which the second one's checksum is wrong, and of `plain`.
fn with_broken_chunk() -> Vec<u8> {
    const MARK: i32 = 0x1234_5600;
    let writer = CreateOptions::default().create_in_memory("test").unwrap();
    let root = writer.root();
    let x = root.define_dimension("x", None).unwrap();
    let options = VariableOptions {
        chunk_shape: Some(vec![4]),
        filters: vec![FilterRequest::Fletcher32],
        ..VariableOptions::default()
    };
    let broken = root.define_variable("broken", Atomic::Int, &[x], options).unwrap();
    let numbers: Vec<i32> = (0..12).map(|index| MARK + index).collect();
    broken.write_as(&range(0, 12), &numbers).unwrap();
    let plain = root.define_variable("plain", Atomic::Int, &[x], VariableOptions::default());
    plain.unwrap().write_as(&range(0, 12), &[0; 12]).unwrap();
    let mut bytes = writer.into_bytes().unwrap().unwrap();
    let found = (MARK + 7).to_le_bytes();
    let at = bytes.windows(4).position(|window| window == found).unwrap();
    bytes[at] ^= 1;
    bytes
}

fn assert_names_the_chunk(error: &Error) {
    let ErrorKind::Chunk { coordinates, .. } = &error.kind else { panic!("{error:?}") };
    assert_eq!(coordinates, &[1]);
    let text = error.to_string();
    assert!(text.contains("test") && text.contains("/broken") && text.contains("[1]"), "{text}");
}

#[test]
fn a_part_of_a_broken_chunk_is_refused() {
    let writer = edit(with_broken_chunk());
    let (broken, plain) = (variable(&writer, "broken"), variable(&writer, "plain"));
    for (start, count) in [(5, 1), (7, 1), (6, 4), (3, 3), (5, 9)] {
        let refused = broken.write_as(&range(start, count), &vec![9; count as usize]);
        if start < 4 {
            // From the first of its elements on: only the commit has to know the others.
            refused.unwrap();
            assert_names_the_chunk(&writer.commit().unwrap_err());
        } else {
            assert_names_the_chunk(&refused.unwrap_err());
        }
        assert_eq!(len(&writer), 12, "{start} {count}");
        plain.write_as(&range(start, 1), &[start as i32]).unwrap();
        writer.commit().unwrap();
    }
    let file = opened(&writer.into_bytes().unwrap().unwrap());
    assert_eq!(ints(&file, "plain"), Values::I32(vec![0, 0, 0, 3, 0, 5, 6, 7, 0, 0, 0, 0]));
    let read = |from, count| file.variable("broken").unwrap().read_as::<i32>(&range(from, count));
    assert_eq!(read(3, 1).unwrap().0, [9]);
    read(4, 4).unwrap_err();
}

#[test]
fn a_broken_chunk_keeps_nothing_else_from_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.nc");
    for is_closed in [false, true] {
        std::fs::write(&path, with_broken_chunk()).unwrap();
        let options = EditOptions { commit_interval: None, ..EditOptions::default() };
        let writer = options.open(&path).unwrap();
        let (broken, plain) = (variable(&writer, "broken"), variable(&writer, "plain"));
        broken.write_as(&range(4, 2), &[7, 7]).unwrap();
        broken.write_as(&range(8, 2), &[8, 8]).unwrap();
        plain.write_as(&range(0, 2), &[1, 2]).unwrap();
        broken.set_attribute("units", "m").unwrap();
        let told = if is_closed { writer.clone().close() } else { writer.commit() };
        assert_names_the_chunk(&told.unwrap_err());
        let file = File::open(&path).unwrap();
        let (first, _) = file.variable("plain").unwrap().read_as::<i32>(&range(0, 3)).unwrap();
        assert_eq!(first, [1, 2, 0]);
        let found = file.variable("broken").unwrap();
        assert_eq!(found.read_as::<i32>(&range(8, 2)).unwrap().0, [8, 8]);
        assert!(found.attribute("units").unwrap().is_some());
        if !is_closed {
            // Who gives all of the chunk makes it whole.
            broken.write_as(&range(4, 3), &[4, 5, 6]).unwrap();
            broken.write_as(&range(7, 1), &[7]).unwrap();
            writer.close().unwrap();
            let (whole, _) = File::open(&path)
                .and_then(|file| file.variable("broken")?.read_as::<i32>(&range(4, 4)))
                .unwrap();
            assert_eq!(whole, [4, 5, 6, 7]);
        }
    }
}
