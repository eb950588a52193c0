//! Appends records and commits without end, for the test that kills it: `append_forever FILE`.
//! Goes on where a file ends, and prints the count of records after each commit.

use std::io::Write;
use std::path::Path;

use isotach::model::selection::{Axis, Selection};
use isotach::model::{Atomic, Values};
use isotach::{
    CreateOptions, EditOptions, FilterRequest, GroupWriter, VariableOptions, VariableWriter, Writer,
};

/// Elements of one record of each variable.
const COLUMNS: u64 = 100;
const VARIABLES: [&str; 3] = ["a", "b", "c"];

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("which file?")?;
    let writer = if Path::new(&path).exists() {
        EditOptions::default().open(&path)?
    } else {
        define(&path)?
    };
    let root = writer.root();
    let first = writer.file().variable("time")?.shape()?[0];
    let mut output = std::io::stdout();
    for record in first.. {
        append(&root, record)?;
        writer.commit()?;
        writeln!(output, "{}", record + 1)?;
        output.flush()?;
    }
    Ok(())
}

fn define(path: &str) -> Outcome<Writer> {
    let writer = CreateOptions::default().create(path)?;
    let root = writer.root();
    let time = root.define_dimension("time", None)?;
    let x = root.define_dimension("x", Some(COLUMNS))?;
    root.define_variable("time", Atomic::Double, &[time], VariableOptions::default())?;
    for name in VARIABLES {
        let options = VariableOptions {
            chunk_shape: Some(vec![8, COLUMNS]),
            filters: vec![FilterRequest::Shuffle, FilterRequest::Deflate { level: 1 }],
            ..VariableOptions::default()
        };
        root.define_variable(name, Atomic::Float, &[time, x], options)?;
    }
    root.set_attribute("count", 0)?;
    writer.commit()?;
    Ok(writer)
}

/// Every element of a record is its number.
fn append(root: &GroupWriter, record: u64) -> Outcome<()> {
    let here = Axis::range(record, 1, 1);
    let time = Selection { axes: vec![here.clone()] };
    variable(root, "time")?.write(&time, &Values::F64(vec![record as f64]))?;
    for name in VARIABLES {
        let row = Selection { axes: vec![here.clone(), Axis::all(COLUMNS)] };
        variable(root, name)?.write_as(&row, &[record as f32; COLUMNS as usize])?;
    }
    Ok(root.set_attribute("count", record as i32 + 1)?)
}

fn variable(root: &GroupWriter, name: &str) -> Outcome<VariableWriter> {
    Ok(root.variable(name)?.ok_or("no such variable")?)
}
