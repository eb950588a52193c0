//! A file of records whose every value says where it stands, and by which commit.

use std::path::Path;

use isotach::model::selection::{Axis, Selection};
use isotach::model::{Atomic, Values};
use isotach::{CreateOptions, EditOptions, File, FilterRequest, Result, VariableOptions, Writer};

/// Values in a record.
pub const WIDTH: u64 = 700;
/// The variables.
pub const NAMES: [&str; 3] = ["plain", "packed", "other"];

/// Commits come only when they are asked for.
pub fn by_hand() -> EditOptions {
    EditOptions { commit_interval: None, ..EditOptions::default() }
}

/// A file of records, each in chunks of their own; `packed` is deflated.
pub fn create(path: &Path) -> Writer {
    let options = CreateOptions { edit: by_hand(), ..CreateOptions::default() };
    let writer = options.create(path).unwrap();
    let root = writer.root();
    let time = root.define_dimension("time", None).unwrap();
    let x = root.define_dimension("x", Some(WIDTH)).unwrap();
    for name in NAMES {
        let filters = match name {
            "packed" => vec![FilterRequest::Deflate { level: 1 }],
            _ => Vec::new(),
        };
        let chunk_shape = Some(vec![1, WIDTH]);
        let options = VariableOptions { chunk_shape, filters, ..VariableOptions::default() };
        let dimensions = [time, x];
        root.define_variable(name, Atomic::Int, &dimensions, options).unwrap();
    }
    writer
}

/// These positions.
pub fn select(axes: [Axis; 2]) -> Selection {
    Selection { axes: axes.to_vec() }
}

/// What stands at an element in commit `number`.
fn value(name: &str, record: u64, x: u64, number: i32) -> i32 {
    let which = NAMES.iter().position(|known| *known == name).unwrap() as i32;
    number * 1_000_000 + which * 300_000 + (record as i32 % 200) * 1000 + x as i32
}

/// A record of a variable in commit `number`.
pub fn values(name: &str, record: u64, number: i32) -> Vec<i32> {
    (0..WIDTH).map(|x| value(name, record, x, number)).collect()
}

/// Puts the values of commit `number` into all of the first `count` records.
pub fn put(writer: &Writer, count: u64, number: i32) -> Result<()> {
    for name in NAMES {
        let variable = writer.root().variable(name)?.unwrap();
        for record in 0..count {
            let row = select([Axis::range(record, 1, 1), Axis::all(WIDTH)]);
            variable.write(&row, &Values::I32(values(name, record, number)))?;
        }
    }
    writer.root().set_attribute("number", number)
}

/// What the file shows: how many records, and the number of the one commit that all is of.
pub fn look(file: &File) -> Result<(u64, i32)> {
    let Values::I32(number) = file.root().attribute("number")?.unwrap().values()? else { panic!() };
    let mut counts = Vec::new();
    for name in NAMES {
        let variable = file.variable(name)?;
        let shape = variable.shape()?;
        let Values::I32(found) = variable.read(&Selection::all(&shape))? else { panic!() };
        assert_eq!(found.len() as u64, shape[0] * WIDTH);
        for (record, row) in found.chunks(WIDTH as usize).enumerate() {
            assert_eq!(row, values(name, record as u64, number[0]), "{name} {record}");
        }
        counts.push(shape[0]);
    }
    assert!(counts.iter().all(|count| *count == counts[0]), "{counts:?}");
    Ok((counts[0], number[0]))
}
