//! Files that were written by anybody are changed, and the rest of them stays what it was.

use isotach::model::selection::{Axis, Selection};
use isotach::model::{Atomic, Values};
use isotach::{
    CreateOptions, DefinitionFault, DimensionHandle, EditOptions, ErrorKind, File, Fill, Format,
    GroupWriter, Layout, OpenOptions, StorageKind, VariableOptions, VariableWriter, Writer,
};

const ALL_FORMATS: [Format; 5] = [
    Format::Classic,
    Format::Offset64Bit,
    Format::Data64Bit,
    Format::NetCdf4,
    Format::NetCdf4Classic,
];

fn opened(bytes: &[u8]) -> File {
    let storage = std::sync::Arc::new(isotach::storage::Memory::new(bytes.to_vec()));
    OpenOptions::default().open_storage("test", storage).unwrap()
}

fn edit(bytes: Vec<u8>, change: impl FnOnce(&Writer)) -> Vec<u8> {
    let writer = EditOptions::default().open_bytes("test", bytes).unwrap();
    change(&writer);
    writer.into_bytes().unwrap().unwrap()
}

fn range(start: u64, count: u64) -> Selection {
    Selection { axes: vec![Axis::range(start, count, 1)] }
}

/// A file with an unlimited dimension, a coordinate variable, attributes.
fn sample(format: Format) -> Vec<u8> {
    let writer = CreateOptions::new(format).create_in_memory("test").unwrap();
    let root = writer.root();
    root.set_attribute("title", "before").unwrap();
    let time = root.define_dimension("time", None).unwrap();
    let x = root.define_dimension("x", Some(3)).unwrap();
    let plain = VariableOptions::default;
    let times = root.define_variable("time", Atomic::Double, &[time], plain()).unwrap();
    let fixed = root.define_variable("fixed", Atomic::Int, &[x], plain()).unwrap();
    fixed.set_attribute("units", "m").unwrap();
    times.write_as(&range(0, 2), &[1.0_f64, 2.0]).unwrap();
    fixed.write_as(&range(0, 3), &[1, 2, 3]).unwrap();
    writer.into_bytes().unwrap().unwrap()
}

#[test]
fn opening_and_closing_changes_nothing() {
    for format in ALL_FORMATS {
        let before = sample(format);
        assert!(before == edit(before.clone(), |_| ()), "{format:?}");
    }
}

#[test]
fn values_are_appended_and_overwritten() {
    for format in ALL_FORMATS {
        let mut bytes = sample(format);
        for round in 0..20_u64 {
            bytes = edit(bytes, |writer| {
                let root = writer.root();
                let time = root.variable("time").unwrap().unwrap();
                time.write_as(&range(2 + round, 1), &[round as f64]).unwrap();
                let fixed = root.variable("fixed").unwrap().unwrap();
                fixed.write_as(&range(1, 1), &[round as i32]).unwrap();
            });
        }
        let file = opened(&bytes);
        let (times, _) =
            file.variable("time").unwrap().read_as::<f64>(&Selection::all(&[22])).unwrap();
        let expected: Vec<f64> = [1.0, 2.0].into_iter().chain((0..20).map(f64::from)).collect();
        assert_eq!(times, expected, "{format:?}");
        let fixed = file.variable("fixed").unwrap().read(&Selection::all(&[3])).unwrap();
        assert_eq!(fixed, Values::I32(vec![1, 19, 3]), "{format:?}");
    }
}

#[test]
fn definitions_are_added_changed_and_taken_away() {
    for format in ALL_FORMATS {
        let bytes = edit(sample(format), |writer| {
            let root = writer.root();
            root.set_attribute("title", "a title that is much longer than the one before").unwrap();
            let fixed = root.variable("fixed").unwrap().unwrap();
            fixed.rename("renamed").unwrap();
            fixed.rename_attribute("units", "unit").unwrap();
            let x = root.find_dimension("x").unwrap().unwrap();
            let y = root.define_dimension("y", Some(2)).unwrap();
            let plain = VariableOptions::default;
            let new = root.define_variable("x", Atomic::Float, &[x], plain()).unwrap();
            new.write_as(&range(0, 3), &[0.5_f32, 1.5, 2.5]).unwrap();
            root.define_variable("last", Atomic::Short, &[y, x], plain()).unwrap();
        });
        let bytes = edit(bytes, |writer| {
            let last = writer.root().variable("last").unwrap().unwrap();
            last.set_attribute("note", vec![1_i16, 2, 3]).unwrap();
            writer.root().delete_attribute("title").unwrap();
        });
        let file = opened(&bytes);
        assert!(file.root().attribute("title").unwrap().is_none());
        let renamed = file.variable("renamed").unwrap();
        assert_eq!(renamed.attributes().unwrap()[0].name(), "unit", "{format:?}");
        assert_eq!(renamed.read(&Selection::all(&[3])).unwrap(), Values::I32(vec![1, 2, 3]));
        let names: Vec<String> =
            file.root().variable_names().unwrap().iter().map(|name| name.to_string()).collect();
        assert_eq!(names, ["time", "renamed", "x", "last"], "{format:?}");
        let x = file.variable("x").unwrap();
        assert_eq!(x.dimensions().unwrap()[0].name(), "x");
        assert_eq!(x.read(&Selection::all(&[3])).unwrap(), Values::F32(vec![0.5, 1.5, 2.5]));
        let last = file.variable("last").unwrap();
        assert_eq!(last.shape().unwrap(), [2, 3]);
        let fill = isotach::model::fill::SHORT;
        assert_eq!(last.read(&Selection::all(&[2, 3])).unwrap(), Values::I16(vec![fill; 6]));
    }
}

#[test]
fn the_space_of_what_was_deleted_is_used_again() {
    let writer = CreateOptions::default().create_in_memory("test").unwrap();
    let root = writer.root();
    let x = root.define_dimension("x", Some(100_000)).unwrap();
    let plain = VariableOptions::default;
    for round in 0..10 {
        let name = format!("round_{round}");
        let variable = root.define_variable(&name, Atomic::Double, &[x], plain()).unwrap();
        variable.write_as(&range(0, 100_000), &vec![f64::from(round); 100_000]).unwrap();
        writer.commit().unwrap();
        if round < 9 {
            variable.delete().unwrap();
            writer.commit().unwrap();
        }
    }
    let bytes = writer.into_bytes().unwrap().unwrap();
    // The last one, and those that the last two commits may still refer to.
    assert!(bytes.len() < 4 * 800_000, "{} bytes", bytes.len());
    let file = opened(&bytes);
    let values = file.variable("round_9").unwrap().read(&Selection::all(&[100_000])).unwrap();
    assert_eq!(values, Values::F64(vec![9.0; 100_000]));
}

/// What was never written of a new variable has the fill value or, without one, zeros, whatever was at its place.
#[test]
fn new_variables_show_nothing_of_those_deleted() {
    const COUNT: u64 = 40_000;
    let chunked =
        VariableOptions { layout: Some(StorageKind::Chunked), ..VariableOptions::default() };
    for (options, fill) in [
        (VariableOptions { fill: Fill::None, ..VariableOptions::default() }, 0),
        (VariableOptions { fill: Fill::None, ..chunked.clone() }, 0),
        (VariableOptions::default(), -2_147_483_647),
        (chunked, -2_147_483_647),
    ] {
        let writer = CreateOptions::default().create_in_memory("test").unwrap();
        let root = writer.root();
        let x = root.define_dimension("x", Some(COUNT)).unwrap();
        let room = root.define_dimension("room", Some(3 * COUNT)).unwrap();
        let old =
            root.define_variable("old", Atomic::Int, &[room], VariableOptions::default()).unwrap();
        old.write_as(&range(0, 3 * COUNT), &vec![7; 3 * COUNT as usize]).unwrap();
        writer.commit().unwrap();
        old.delete().unwrap();
        // The last two commits may still refer to it.
        for round in 0..3 {
            root.set_attribute("round", round).unwrap();
            writer.commit().unwrap();
        }
        let new = root.define_variable("new", Atomic::Int, &[x], options).unwrap();
        for start in [100, 9_000] {
            new.write_as(&range(start, 2), &[1, 2]).unwrap();
            writer.commit().unwrap();
        }
        let bytes = writer.into_bytes().unwrap().unwrap();
        let is_old_place_taken = bytes.len() < 4 * 4 * COUNT as usize;
        assert!(is_old_place_taken, "{} bytes", bytes.len());
        let mut expected = vec![fill; COUNT as usize];
        for start in [100, 9_000] {
            expected[start..start + 2].copy_from_slice(&[1, 2]);
        }
        let values = opened(&bytes).variable("new").unwrap().read(&Selection::all(&[COUNT]));
        assert_eq!(values.unwrap(), Values::I32(expected));
    }
}

/// Groups and attributes that are dense, and variables of several chunks.
fn dense(layout: Layout) -> Vec<u8> {
    let options = CreateOptions { layout, ..CreateOptions::default() };
    let writer = options.create_in_memory("test").unwrap();
    let root = writer.root();
    define_dense(&root, &root.define_dimension("x", Some(40)).unwrap());
    writer.into_bytes().unwrap().unwrap()
}

fn define_dense(root: &GroupWriter, x: &DimensionHandle) {
    for index in 0..100 {
        let name = format!("variable_{index}");
        let chunks = VariableOptions { chunk_shape: Some(vec![4]), ..VariableOptions::default() };
        let variable = root.define_variable(&name, Atomic::Int, &[*x], chunks).unwrap();
        variable.write_as(&range(0, 40), &[index; 40]).unwrap();
        root.set_attribute(&format!("attribute_{index}"), vec![f64::from(index); 60]).unwrap();
    }
    let numbers = VariableOptions::default();
    root.define_variable("numbers", Atomic::Double, &[*x], numbers).unwrap();
    for (name, chunk_shape) in [("words", None), ("words_in_chunks", Some(vec![7]))] {
        let options = VariableOptions { chunk_shape, ..VariableOptions::default() };
        let words = root.define_variable(name, Atomic::String, &[*x], options).unwrap();
        write_words(&words, 0, 40, 0);
    }
}

/// Strings that are all different.
fn write_words(variable: &VariableWriter, start: u64, count: u64, round: u64) {
    let word = |at| format!("the word {at} of round {round}, of some length");
    let words: Vec<String> = (start..start + count).map(word).collect();
    variable.write(&range(start, count), &Values::from(words)).unwrap();
}

/// Bytes of a file to which the same is done in so many commits of one session.
fn size_after(bytes: &[u8], commits: u64, change: impl Fn(&Writer, u64)) -> usize {
    let writer = EditOptions::default().open_bytes("test", bytes.to_vec()).unwrap();
    for round in 0..commits {
        change(&writer, round);
        writer.commit().unwrap();
    }
    writer.into_bytes().unwrap().unwrap().len()
}

/// Bytes of a file after each of so many sessions with one commit.
fn sizes_after_sessions(bytes: &[u8], sessions: u64, change: impl Fn(&Writer, u64)) -> Vec<usize> {
    let mut bytes = bytes.to_vec();
    let session = |round| {
        bytes = edit(std::mem::take(&mut bytes), |writer| change(writer, round));
        bytes.len()
    };
    (0..sessions).map(session).collect()
}

type Change = fn(&Writer, u64);

/// What is done to a file of [`dense`] in each of many rounds.
const CHANGES: [(&str, Change); 10] = [
    ("an attribute", |writer, round| {
        writer.root().set_attribute("attribute_7", vec![round as f64; 60]).unwrap();
    }),
    ("strings", |writer, round| {
        let words = vec![format!("word {}", round % 10); 20];
        writer.root().set_attribute("words", words).unwrap();
    }),
    ("the name of a variable", |writer, round| {
        let (from, to) = (format!("variable_5{}", "_".repeat(round as usize % 2)), round + 1);
        let to = format!("variable_5{}", "_".repeat(to as usize % 2));
        writer.root().variable(&from).unwrap().unwrap().rename(&to).unwrap();
    }),
    ("the name of a dimension", |writer, round| {
        let from = if round.is_multiple_of(2) { "x" } else { "another name" };
        let to = if round.is_multiple_of(2) { "another name" } else { "x" };
        let x = writer.root().find_dimension(from).unwrap().unwrap();
        writer.rename_dimension(x, to).unwrap();
    }),
    ("a chunk", |writer, round| {
        let variable = writer.root().variable("variable_9").unwrap().unwrap();
        variable.write_as(&range(round % 40, 1), &[1]).unwrap();
    }),
    ("a variable", |writer, _| {
        let root = writer.root();
        if let Some(old) = root.variable("variable_3").unwrap() {
            old.delete().unwrap();
        }
        let x = root.find_dimension("x").unwrap().unwrap();
        let chunks = VariableOptions { chunk_shape: Some(vec![5]), ..Default::default() };
        let new = root.define_variable("variable_3", Atomic::Int, &[x], chunks).unwrap();
        new.write_as(&range(0, 40), &[3; 40]).unwrap();
    }),
    ("a number", |writer, round| {
        let numbers = writer.root().variable("numbers").unwrap().unwrap();
        numbers.write_as(&range(round % 40, 1), &[round as f64]).unwrap();
    }),
    ("the strings of a variable", |writer, round| {
        let words = writer.root().variable("words").unwrap().unwrap();
        write_words(&words, 0, 40, round % 10);
    }),
    ("strings in chunks", |writer, round| {
        let words = writer.root().variable("words_in_chunks").unwrap().unwrap();
        write_words(&words, 0, 40, round % 10);
    }),
    ("a string in a chunk", |writer, round| {
        let words = writer.root().variable("words_in_chunks").unwrap().unwrap();
        write_words(&words, round % 40, 1, round % 10);
    }),
];

#[test]
fn what_is_changed_again_and_again_takes_its_space_once() {
    let bytes = dense(Layout::Latest);
    for (what, change) in CHANGES {
        // What is replaced takes its space a second time, now and then at the end.
        let few = (60..63).map(|commits| size_after(&bytes, commits, change)).max().unwrap_or(0);
        let many = size_after(&bytes, 1000, change);
        assert!(many <= few + few / 10, "{what}: {few} bytes, then {many}");
    }
}

#[test]
fn session_after_session_takes_its_space_once() {
    for layout in [Layout::Compatible, Layout::Latest] {
        let bytes = dense(layout);
        for (what, change) in CHANGES {
            let sizes = sizes_after_sessions(&bytes, 120, change);
            // What was there takes its space a second time while it is replaced; after 40 sessions each
            // string of the last change has had its turn. Up to an eighth is not looked for.
            let largest = |of: &[usize]| of.iter().copied().max().unwrap_or(0);
            let (few, many) = (largest(&sizes[..45]), largest(&sizes[45..]));
            assert!(many <= few + few / 8, "{what}: {few} bytes, then {many}");
        }
    }
}

#[test]
fn the_space_of_a_file_that_was_opened_is_used_again() {
    // What is made in a file that is there already has the structures of HDF5 1.8.
    let bytes = dense(Layout::Compatible);
    let writer = EditOptions::default().open_bytes("test", bytes.clone()).unwrap();
    let root = writer.root();
    for variable in writer.file().root().variables().unwrap() {
        root.variable(variable.name()).unwrap().unwrap().delete().unwrap();
    }
    for index in 0..100 {
        root.delete_attribute(&format!("attribute_{index}")).unwrap();
    }
    for round in 0..3 {
        root.set_attribute("count", round).unwrap();
        writer.commit().unwrap();
    }
    define_dense(&root, &root.find_dimension("x").unwrap().unwrap());
    let again = writer.into_bytes().unwrap().unwrap();
    assert!(
        again.len() < bytes.len() + bytes.len() / 4,
        "{} bytes, then {}",
        bytes.len(),
        again.len()
    );
    let (before, after) = (opened(&bytes), opened(&again));
    for variable in before.root().variables().unwrap() {
        let all = Selection::all(&[40]);
        let found = after.variable(variable.name()).unwrap();
        assert_eq!(found.read(&all).unwrap(), variable.read(&all).unwrap());
    }
}

#[test]
fn a_dimension_is_as_long_as_what_is_left_along_it() {
    let bytes = edit(sample(Format::NetCdf4), |writer| {
        let root = writer.root();
        let time = root.find_dimension("time").unwrap().unwrap();
        let plain = VariableOptions::default;
        let longer = root.define_variable("longer", Atomic::Int, &[time], plain()).unwrap();
        longer.write_as(&range(0, 9), &[1; 9]).unwrap();
    });
    let bytes = edit(bytes, |writer| {
        let len = || writer.file().root().dimensions().unwrap()[0].len().unwrap();
        assert_eq!(len(), 9);
        writer.root().variable("longer").unwrap().unwrap().delete().unwrap();
        assert_eq!(len(), 2);
        writer.root().variable("time").unwrap().unwrap().delete().unwrap();
        assert_eq!(len(), 0);
    });
    let file = opened(&bytes);
    assert_eq!(file.root().dimensions().unwrap()[0].len().unwrap(), 0);
    let bytes = edit(bytes, |writer| {
        let root = writer.root();
        let time = root.find_dimension("time").unwrap().unwrap();
        let again = root.define_variable("time", Atomic::Int, &[time], Default::default()).unwrap();
        again.write_as(&range(0, 3), &[4, 5, 6]).unwrap();
    });
    let again = opened(&bytes).variable("time").unwrap();
    assert_eq!(again.read(&Selection::all(&[3])).unwrap(), Values::I32(vec![4, 5, 6]));
}

#[test]
fn dimensions_of_any_group_are_along_variables() {
    let writer = CreateOptions::default().create_in_memory("test").unwrap();
    let group = |name| writer.root().define_group(name).unwrap();
    let (one, other) = (group("one"), group("other"));
    let x = one.define_dimension("x", Some(3)).unwrap();
    let y = one.define_dimension("y", None).unwrap();
    // To netCDF, an unlimited dimension is as long as what is along it in its group and below.
    let plain = VariableOptions::default;
    let own = one.define_variable("y", Atomic::Int, &[y], plain()).unwrap();
    own.write_as(&range(0, 3), &[1, 2, 3]).unwrap();
    let variable = other.define_variable("v", Atomic::Int, &[y, x], plain()).unwrap();
    variable.write_as(&Selection::all(&[2, 3]), &[1, 2, 3, 4, 5, 6]).unwrap();
    let bytes = edit(writer.into_bytes().unwrap().unwrap(), |writer| {
        let root = writer.root();
        let fault = root.group("one").unwrap().unwrap().delete().unwrap_err().kind;
        assert!(matches!(fault, ErrorKind::Definition(DefinitionFault::InUse { .. })), "{fault}");
        let other = root.group("other").unwrap().unwrap();
        let row = Selection { axes: vec![Axis::range(2, 1, 1), Axis::all(3)] };
        other.variable("v").unwrap().unwrap().write_as(&row, &[7, 8, 9]).unwrap();
    });
    let variable = opened(&bytes).variable("/other/v").unwrap();
    let paths: Vec<String> =
        variable.dimensions().unwrap().iter().map(|dimension| dimension.path()).collect();
    assert_eq!(paths, ["/one/y", "/one/x"]);
    let values = variable.read(&Selection::all(&[3, 3])).unwrap();
    assert_eq!(values, Values::I32((1..10).collect()));
}

/// A second path to a group, by a soft link or another hard one, shows what the first shows.
#[test]
fn attributes_are_those_of_the_object_whichever_link_leads_there() {
    let Some(corpus) = isotach_testkit::corpus() else { return };
    for (name, by_link, own) in [
        ("hdf5-1.14.5/h5diff_softlinks.h5", "softlink_group1", "target_group"),
        ("hdf5-1.14.5/tmany.h5", "g2/slink2", "g1"),
    ] {
        let group = |file: &File, path: &str| {
            let group =
                path.split('/').fold(file.root(), |at, name| at.group(name).unwrap().unwrap());
            let attributes = group.attributes().unwrap();
            let one = |found: &isotach::Attribute| {
                assert!(group.attribute(found.name()).unwrap().is_some());
                format!("{} {:?}", found.name(), found.values())
            };
            attributes.iter().map(one).collect::<Vec<String>>()
        };
        let bytes = edit(std::fs::read(corpus.join(name)).unwrap(), |writer| {
            let target = writer.root().group(own).unwrap().unwrap();
            let check = |count: usize| {
                let seen = group(&writer.file(), by_link);
                assert_eq!(seen, group(&writer.file(), own), "{name}");
                assert_eq!(
                    seen.iter().filter(|found| found.contains("of the test")).count(),
                    count
                );
            };
            check(0);
            target.set_attribute("first of the test", 1).unwrap();
            check(1);
            target.set_attribute("second of the test", "text").unwrap();
            writer.commit().unwrap();
            check(2);
            target.delete_attribute("first of the test").unwrap();
            target.rename_attribute("second of the test", "third of the test").unwrap();
            check(1);
        });
        let file = opened(&bytes);
        assert_eq!(group(&file, by_link), group(&file, own), "{name}");
    }
}

/// All names in a group and below it, as they are shown by the path that led there.
fn names(group: &isotach::Group, found: &mut Vec<String>) {
    let listed = group.dimensions().unwrap();
    found.extend(listed.iter().map(|it| format!("{} = {}", it.path(), it.len().unwrap())));
    found.extend(group.types().unwrap().iter().map(|user| format!("type {}", user.name)));
    for variable in group.variables().unwrap() {
        let along = variable.dimensions().unwrap();
        let along: Vec<String> = along.iter().map(|it| it.path()).collect();
        found.push(format!("{}({along:?})", variable.path()));
    }
    for below in group.groups().unwrap() {
        found.push(below.path().to_owned());
        assert!(group.group(below.name()).unwrap().is_some());
        names(&below, found);
    }
}

#[test]
fn members_are_those_of_the_object_whichever_link_leads_there() {
    let Some(corpus) = isotach_testkit::corpus() else { return };
    for (name, by_link, own) in [
        ("hdf5-1.14.5/h5diff_softlinks.h5", "/softlink_group1", "target_group"),
        ("hdf5-1.14.5/tmany.h5", "/g2/slink2", "g1"),
    ] {
        let seen = |file: &File, path: &str| {
            let mut found = Vec::new();
            names(&file.group(path).unwrap(), &mut found);
            // Others may have found a name for a dimension first.
            found.sort();
            found
        };
        let mut told = Vec::new();
        let bytes = edit(std::fs::read(corpus.join(name)).unwrap(), |writer| {
            let target = writer.root().group(own).unwrap().unwrap();
            let plain = VariableOptions::default;
            let check = |new: &[&str]| {
                let seen_here = seen(&writer.file(), by_link);
                let expected = seen(&writer.file(), &format!("/{own}"));
                let renamed =
                    |line: &String| line.replace(&format!("/{own}/"), &format!("{by_link}/"));
                let mut expected: Vec<String> = expected.iter().map(renamed).collect();
                expected.sort();
                assert_eq!(seen_here, expected, "{name}");
                for new in new {
                    assert!(seen_here.contains(&format!("{by_link}{new}")), "{name} {new}");
                }
                seen_here
            };
            check(&[]);
            let time = target.define_dimension("new time", None).unwrap();
            let new = target.define_variable("new", Atomic::Int, &[time], plain()).unwrap();
            new.write_as(&range(0, 2), &[7, 8]).unwrap();
            let below = target.define_group("below").unwrap();
            below.define_variable("deep", Atomic::Int, &[time], plain()).unwrap();
            check(&["/new time = 2", "/below"]);
            let path = format!("{by_link}/new");
            let values = writer.file().variable(&path).unwrap().read(&Selection::all(&[2]));
            assert_eq!(values.unwrap(), Values::I32(vec![7, 8]));
            writer.commit().unwrap();
            new.rename("renamed").unwrap();
            below.rename("below it").unwrap();
            new.write_as(&range(2, 1), &[9]).unwrap();
            told = check(&["/new time = 3", "/below it"]);
        });
        // Dimensions and types that are made up get their numbers and places anew.
        let named = |found: Vec<String>| -> Vec<String> {
            let is_named = |line: &String| !line.contains("phony") && !line.contains("Anonymous");
            found.into_iter().filter(is_named).collect()
        };
        assert_eq!(named(seen(&opened(&bytes), by_link)), named(told), "{name}");
    }
}

#[test]
fn a_user_block_stays_what_it_was() {
    for layout in [Layout::Compatible, Layout::Latest] {
        let options = CreateOptions { user_block_bytes: 1024, layout, ..CreateOptions::default() };
        let writer = options.create_in_memory("test").unwrap();
        define_dense(&writer.root(), &writer.root().define_dimension("x", Some(40)).unwrap());
        let mut bytes = writer.into_bytes().unwrap().unwrap();
        let block: Vec<u8> = (0..1024_u32).map(|at| (at * 7) as u8).collect();
        bytes[..1024].copy_from_slice(&block);
        for round in 0..6_i32 {
            bytes = edit(bytes, |writer| {
                let root = writer.root();
                root.set_attribute(&format!("round {round}"), vec![round; 900]).unwrap();
                let time = root.define_dimension(&format!("time {round}"), None).unwrap();
                let plain = VariableOptions::default();
                let name = format!("variable {round}");
                let new = root.define_variable(&name, Atomic::Int, &[time], plain).unwrap();
                new.write_as(&range(0, 3), &[round; 3]).unwrap();
                writer.commit().unwrap();
                if round > 0 {
                    root.variable(&format!("variable {}", round - 1))
                        .unwrap()
                        .unwrap()
                        .delete()
                        .unwrap();
                }
            });
            assert!(bytes[..1024] == block, "{layout:?} {round}");
        }
        let file = opened(&bytes);
        assert_eq!(file.hdf5().unwrap().user_block_bytes(), 1024);
        let last = file.variable("variable 5").unwrap().read(&Selection::all(&[3])).unwrap();
        assert_eq!(last, Values::I32(vec![5; 3]));
        assert!(file.variable("variable 4").is_err());
    }
}
