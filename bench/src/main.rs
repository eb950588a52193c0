//! The rows of the performance table that are measured in Rust: `isotach-bench ROW FILE [...]`.
//!
//! Each prints one number a line as `name seconds`, which `bench/run.py` puts beside the rivals'.

mod reading;
mod writing;

use isotach::Result;

/// That of the `isotach` command.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [row, path, rest @ ..] = arguments.as_slice() else {
        eprintln!("isotach-bench open|list|contiguous|inflate|whole|slices|series FILE [VARIABLE]");
        eprintln!("isotach-bench write|write-rows|write-plain FILE LAYOUT CHUNK LENGTH...");
        std::process::exit(2);
    };
    let variable = rest.first().map_or("v", String::as_str);
    match row.as_str() {
        "open" => reading::open(path),
        "list" => reading::list(path),
        "contiguous" => reading::contiguous(path, variable),
        "inflate" => reading::inflate(path, variable),
        "whole" => reading::whole(path, variable),
        "slices" => reading::slices(path, variable),
        "series" => reading::series(path, variable),
        "write" => writing::write(path, rest, writing::in_one_call),
        "write-rows" => writing::write(path, rest, writing::by_rows),
        "write-plain" => writing::write(path, rest, writing::bytes_alone),
        other => {
            eprintln!("no row {other}");
            std::process::exit(2);
        }
    }
}
