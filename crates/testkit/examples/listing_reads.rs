//! What opening and listing files asks of storage: `listing_reads [--reads] COST FILE...`.
//!
//! One line a file: its length, the reads and the bytes read over a storage whose calls cost COST
//! bytes, and how much there is to list. With `--reads`, the address and length of each read.

use std::sync::Arc;

use isotach::{Group, OpenOptions, Result};
use isotach_testkit::CountingStorage;

fn main() {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let with_reads = arguments.first().is_some_and(|first| first == "--reads");
    arguments.drain(..usize::from(with_reads));
    let cost = arguments.first().and_then(|cost| cost.parse().ok());
    let (Some(cost), Some(paths)) = (cost, arguments.get(1..)) else {
        eprintln!("listing_reads [--reads] COST FILE...");
        std::process::exit(2);
    };
    for path in paths {
        let bytes = std::fs::read(path).expect("a file that can be read");
        let len = bytes.len();
        let storage = Arc::new(CountingStorage::new(bytes, cost));
        let options = OpenOptions::default();
        let listed =
            options.open_storage(path, storage.clone()).and_then(|file| list(&file.root()));
        let reads = storage.take_reads();
        let total: u64 = reads.iter().map(|(_, length)| length).sum();
        let what = listed.map_or_else(|error| error.to_string(), |count| format!("{count} things"));
        println!(
            "{len:>10} bytes  {:>5} reads  {total:>10} bytes read  {path}: {what}",
            reads.len()
        );
        if with_reads {
            for (at, length) in reads {
                println!("    {at:>12} {length:>9}");
            }
        }
    }
}

/// Counts all there is to name, so that none of it can be left out.
fn list(group: &Group) -> Result<usize> {
    let mut count = group.attributes()?.len();
    for dimension in group.dimensions()?.iter() {
        count += usize::from(dimension.len()? < u64::MAX);
    }
    for variable in group.variables()? {
        let attributes = variable.attributes()?;
        count += attributes.iter().filter(|attribute| attribute.values().is_ok()).count();
        count += variable.dimensions()?.len() + variable.shape()?.len();
    }
    for inner in group.groups()? {
        count += list(&inner)?;
    }
    Ok(count)
}
