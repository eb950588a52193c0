//! The rows on writing. `bench/rivals/netcdf.c` does the same work.

use std::time::Instant;

use isotach::model::Atomic;
use isotach::model::selection::{Axis, Selection};
use isotach::{CreateOptions, Result, StorageKind, VariableOptions, VariableWriter, Writer};

const RUNS: usize = 5;

/// What is written: `v`, int32 numbers from 0 on.
pub struct Work {
    path: String,
    shape: Vec<u64>,
    options: VariableOptions,
    numbers: Vec<i32>,
}

/// `contiguous|chunked CHUNK LENGTH...`, chunks having CHUNK elements along each dimension. Prints the
/// median seconds of `work`, which is all from create to close.
pub fn write(path: &str, rest: &[String], work: fn(&Work) -> Result<()>) -> Result<()> {
    let [layout, chunk, lengths @ ..] = rest else {
        eprintln!("which LAYOUT CHUNK LENGTH...?");
        std::process::exit(2);
    };
    let number = |text: &String| text.parse::<u64>().expect("a number");
    let shape: Vec<u64> = lengths.iter().map(number).collect();
    let mut options = VariableOptions::default();
    if layout == "chunked" {
        let most = number(chunk);
        options.chunk_shape = Some(shape.iter().map(|&length| length.min(most)).collect());
    } else {
        options.layout = Some(StorageKind::Contiguous);
    }
    let numbers = (0..shape.iter().product::<u64>()).map(|n| n as i32).collect();
    let given = Work { path: path.to_owned(), shape, options, numbers };
    let mut seconds = Vec::new();
    for _ in 0..=RUNS {
        // What is there is removed before the clock runs: its pages take time to free.
        let _ = std::fs::remove_file(path);
        let start = Instant::now();
        work(&given)?;
        seconds.push(start.elapsed().as_secs_f64());
    }
    // The first run is not counted.
    seconds.remove(0);
    seconds.sort_by(f64::total_cmp);
    println!("seconds {:e}", seconds[RUNS / 2]);
    Ok(())
}

/// The whole variable in one call.
pub fn in_one_call(work: &Work) -> Result<()> {
    let (writer, variable) = work.create()?;
    variable.write_as(&Selection::all(&work.shape), &work.numbers)?;
    writer.close()
}

/// A call for each index of the first dimension.
pub fn by_rows(work: &Work) -> Result<()> {
    let (writer, variable) = work.create()?;
    let mut selection = Selection::all(&work.shape);
    let row = work.numbers.len() / work.shape[0] as usize;
    for (index, numbers) in work.numbers.chunks_exact(row).enumerate() {
        selection.axes[0] = Axis::range(index as u64, 1, 1);
        variable.write_as(&selection, numbers)?;
    }
    writer.close()
}

/// What the system's calls alone take for the same bytes.
pub fn bytes_alone(work: &Work) -> Result<()> {
    std::fs::write(&work.path, bytemuck::cast_slice(&work.numbers)).expect("there is room");
    Ok(())
}

impl Work {
    fn create(&self) -> Result<(Writer, VariableWriter)> {
        let writer = CreateOptions::default().create(&self.path)?;
        let root = writer.root();
        let along = self.shape.iter().enumerate();
        let along: Vec<_> = along
            .map(|(axis, &length)| root.define_dimension(&format!("d{axis}"), Some(length)))
            .collect::<Result<_>>()?;
        let variable = root.define_variable("v", Atomic::Int, &along, self.options.clone())?;
        Ok((writer, variable))
    }
}
