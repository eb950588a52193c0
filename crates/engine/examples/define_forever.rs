//! Defines a variable, sets attributes and appends a record in each commit of a classic file, until it is killed:
//! `define_forever FILE CDF1|CDF2|CDF5`. Prints how many commits there were.

use std::error::Error;
use std::io::Write as _;

use isotach::model::Atomic;
use isotach::model::selection::{Axis, Selection};
use isotach::{CreateOptions, Format, VariableOptions};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("which file?")?;
    let format = match arguments.next().as_deref() {
        Some("CDF2") => Format::Offset64Bit,
        Some("CDF5") => Format::Data64Bit,
        _ => Format::Classic,
    };
    let mut options = CreateOptions::new(format);
    options.edit.commit_interval = None;
    let writer = options.create(&path)?;
    let root = writer.root();
    let time = root.define_dimension("time", None)?;
    let x = root.define_dimension("x", Some(7))?;
    let times = root.define_variable("time", Atomic::Int, &[time], VariableOptions::default())?;
    let mut output = std::io::stdout();
    for round in 0.. {
        let along = if round % 3 == 0 { vec![time, x] } else { vec![x] };
        let name = format!("v{round}");
        let variable =
            root.define_variable(&name, Atomic::Int, &along, VariableOptions::default())?;
        variable.set_attribute("round", round)?;
        root.set_attribute("count", round + 1)?;
        root.set_attribute("history", "x".repeat(round as usize * 3).as_str())?;
        let record = Axis::range(round as u64, 1, 1);
        times.write_as(&Selection { axes: vec![record.clone()] }, &[round])?;
        let whole = Axis::range(0, 7, 1);
        let axes = if round % 3 == 0 { vec![record, whole] } else { vec![whole] };
        variable.write_as(&Selection { axes }, &[round; 7])?;
        writer.commit()?;
        writeln!(output, "{}", round + 1)?;
    }
    Ok(())
}
