//! Files that were written by anybody are changed, and the rest of them stays what it was.

use isotach::model::selection::{Axis, Selection};
use isotach::model::{Atomic, Values};
use isotach::{CreateOptions, EditOptions, File, Format, OpenOptions, VariableOptions, Writer};

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
