//! Writes the chunk indexes of HDF5 1.10, one variable for each: write_latest PATH
//!
//! Each variable is named after its index, and holds 0, 1, 2, ... in the order of its elements.

use isotach::model::Atomic;
use isotach::model::selection::Selection;
use isotach::{CreateOptions, FilterRequest, Layout, Result, VariableOptions};

fn main() -> Result<()> {
    let path = std::env::args().nth(1).expect("a path");
    let writer =
        CreateOptions { layout: Layout::Latest, ..CreateOptions::default() }.create(&path)?;
    let root = writer.root();
    let x = root.define_dimension("x", Some(30))?;
    let y = root.define_dimension("y", Some(20))?;
    let t = root.define_dimension("t", None)?;
    let u = root.define_dimension("u", None)?;
    let deflate = [FilterRequest::Shuffle, FilterRequest::Deflate { level: 1 }];
    for (name, dimensions, chunk_shape) in [
        ("Single Chunk", [x, y], [30, 20]),
        ("Fixed Array", [x, y], [4, 7]),
        ("Fixed Array of pages", [x, y], [1, 1]),
        ("Extensible Array", [t, y], [1, 20]),
        ("v2 B-tree", [t, u], [3, 4]),
    ] {
        for (name, filters) in [(name.to_owned(), &[][..]), (format!("{name}, filtered"), &deflate)]
        {
            let options = VariableOptions {
                chunk_shape: Some(chunk_shape.to_vec()),
                filters: filters.to_vec(),
                ..VariableOptions::default()
            };
            let variable = root.define_variable(&name, Atomic::Int, &dimensions, options)?;
            let shape = if dimensions[0] == x { [30, 20] } else { [300, 20] };
            let numbers: Vec<i32> = (0..(shape[0] * shape[1]) as i32).collect();
            variable.write_as(&Selection::all(&shape), &numbers)?;
            writer.commit()?;
        }
    }
    writer.close()
}
