//! Appends records to 50 record variables and commits after each: `append_records FILE [RECORDS]`.
//!
//! Prints how long each thousand took. A file that grows this way should grow as fast at its end as at its
//! beginning.

use std::error::Error;
use std::time::Instant;

use isotach::model::Atomic;
use isotach::model::selection::{Axis, Selection};
use isotach::{CreateOptions, Format, VariableOptions};

const VARIABLES: usize = 50;
const SHOWN: u64 = 1000;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("which file?")?;
    let records: u64 = arguments.next().map_or(Ok(10_000), |count| count.parse())?;
    let mut options = CreateOptions::new(Format::NetCdf4);
    options.edit.commit_interval = None;
    let writer = options.create(&path)?;
    let root = writer.root();
    let time = root.define_dimension("time", None)?;
    let x = root.define_dimension("x", Some(10))?;
    let options = VariableOptions { chunk_shape: Some(vec![1, 10]), ..VariableOptions::default() };
    let variables = (0..VARIABLES).map(|number| {
        root.define_variable(&format!("v{number}"), Atomic::Float, &[time, x], options.clone())
    });
    let variables = variables.collect::<Result<Vec<_>, _>>()?;
    let mut began = Instant::now();
    for record in 0..records {
        let selection = Selection { axes: vec![Axis::range(record, 1, 1), Axis::range(0, 10, 1)] };
        for variable in &variables {
            variable.write_as(&selection, &[record as f32; 10])?;
        }
        writer.commit()?;
        if (record + 1) % SHOWN == 0 {
            println!("records to {:6}: {:8.3} s", record + 1, began.elapsed().as_secs_f64());
            began = Instant::now();
        }
    }
    writer.close()?;
    Ok(())
}
