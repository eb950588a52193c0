//! Handles that many threads use at once: everything they read is what one thread reads.

use std::mem::MaybeUninit;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use isotach::model::Values;
use isotach::model::selection::{Axis, Selection};
use isotach::read::Array;
use isotach::{File, Group, Variable};
use isotach_testkit::{CountingStorage, StoredArray, corpus, naive_read};

const THREADS: usize = 8;
/// Small reads of all threads together.
const SMALL_READS: usize = 1_000_000;
/// Larger variables take long to compare under a sanitizer.
const MOST_ELEMENTS: u64 = 200_000;

/// Files of these folders: classic, netCDF-4 and HDF5 with every kind of chunk index and filter.
fn real_files(corpus: &Path) -> Vec<PathBuf> {
    let listed = |folder: &str| std::fs::read_dir(corpus.join(folder)).into_iter().flatten();
    let files =
        ["derived", "netcdf-rust", "netcdf-c", "xarray", "h5py"].into_iter().flat_map(listed);
    let paths = files.flatten().map(|entry| entry.path());
    let kinds = ["nc", "nc4", "h5", "cdf"];
    let is_data = |path: &PathBuf| {
        path.extension().is_some_and(|kind| kinds.iter().any(|wanted| kind == *wanted))
    };
    let mut paths: Vec<PathBuf> = paths.filter(is_data).collect();
    paths.sort();
    paths
}

/// Every variable of a group and of those below it that is not too large.
fn variables(group: &Group) -> Vec<Variable> {
    let mut found = group.variables().unwrap_or_default();
    found.retain(|variable| {
        let shape = variable.shape().unwrap_or_default();
        shape.iter().try_fold(1u64, |count, len| count.checked_mul(*len)).unwrap_or(u64::MAX)
            <= MOST_ELEMENTS
    });
    found.extend(group.groups().unwrap_or_default().iter().flat_map(variables));
    found
}

/// All of a variable: its attributes and elements, or that they cannot be read.
fn everything(variable: &Variable) -> (usize, Option<Values>) {
    let attributes = variable.attributes().map_or(0, |attributes| {
        attributes.iter().filter(|attribute| attribute.values().is_ok()).count()
    });
    let values = variable.shape().and_then(|shape| variable.read(&Selection::all(&shape)));
    (attributes, values.ok())
}

/// Equal, where a NaN equals itself.
fn same(one: &(usize, Option<Values>), other: &(usize, Option<Values>)) -> bool {
    one.0 == other.0 && format!("{:?}", one.1) == format!("{:?}", other.1)
}

#[test]
fn threads_see_what_one_thread_sees() {
    let Some(corpus) = corpus() else { return };
    let paths = real_files(&corpus);
    assert!(paths.len() > 80, "only {} files", paths.len());
    let alone: Vec<Vec<_>> = paths
        .iter()
        .map(|path| {
            let file = File::open(path);
            file.map_or_else(
                |_| Vec::new(),
                |file| variables(&file.root()).iter().map(everything).collect(),
            )
        })
        .collect();
    // All files open at once; every thread lists and reads all of them, beginning elsewhere.
    let files: Vec<Option<File>> = paths.iter().map(|path| File::open(path).ok()).collect();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (files, alone, paths) = (&files, &alone, &paths);
            scope.spawn(move || {
                for step in 0..files.len() {
                    // Neighbouring threads meet in the same file.
                    let at = (step + thread / 2 * files.len() / THREADS) % files.len();
                    let Some(file) = &files[at] else { continue };
                    let found = variables(&file.root());
                    assert_eq!(found.len(), alone[at].len(), "{}", paths[at].display());
                    for (variable, expected) in found.iter().zip(&alone[at]) {
                        let read = everything(variable);
                        assert!(same(&read, expected), "{}", paths[at].display());
                    }
                }
            });
        }
    });
}

fn read(array: &Array, selection: &Selection, bytes: usize) -> Vec<u8> {
    let mut into = vec![MaybeUninit::uninit(); bytes];
    array.read_stored_into(selection, &mut into).unwrap().to_vec()
}

#[test]
fn a_million_small_reads() {
    let stored = StoredArray::new(&[120, 64, 32], 4).chunked(&[16, 16, 16], true, 3);
    let storage = Arc::new(CountingStorage::new(stored.file.clone(), 16 << 10));
    let array = stored.array(storage, &stored.shape);
    let whole = naive_read(&stored, &Selection::all(&stored.shape));
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (array, whole) = (&array, &whole);
            scope.spawn(move || {
                for round in 0..SMALL_READS / THREADS {
                    let at = (round * 7 + thread * 13_001) % (120 * 64);
                    let (z, y) = (at / 64, at % 64);
                    let axes = vec![
                        Axis::range(z as u64, 1, 1),
                        Axis::range(y as u64, 1, 1),
                        Axis::range(8, 16, 1),
                    ];
                    let start = (at * 32 + 8) * 4;
                    let found = read(array, &Selection { axes }, 64);
                    assert_eq!(found, whole[start..start + 64]);
                }
            });
        }
    });
}
