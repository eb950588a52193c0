//! The rows on reading. Each prints one number a line as `name seconds`.

use std::fs::File as StdFile;
use std::hint::black_box;
use std::mem::MaybeUninit;
use std::os::unix::fs::FileExt;
use std::time::Instant;

use isotach::model::selection::{Axis, Selection};
use isotach::{File, Group, Result};

/// The whole variable, for profiles.
pub fn whole(path: &str, variable: &str) -> Result<()> {
    let variable = File::open(path)?.variable(variable)?;
    let everything = Selection::all(&variable.shape()?);
    let seconds = median(5, || {
        black_box(variable.read(&everything)?);
        Ok(())
    })?;
    println!("whole {seconds:e}");
    Ok(())
}

/// Every slice along the first and the last axis of a variable of four, for profiles.
pub fn slices(path: &str, variable: &str) -> Result<()> {
    let variable = File::open(path)?.variable(variable)?;
    let shape = variable.shape()?;
    let start = Instant::now();
    for z in 0..shape[1] {
        for y in 0..shape[2] {
            let axes = vec![
                Axis::all(shape[0]),
                Axis::range(z, 1, 1),
                Axis::range(y, 1, 1),
                Axis::all(shape[3]),
            ];
            black_box(variable.read(&Selection { axes })?);
        }
    }
    println!("slices {:e}", start.elapsed().as_secs_f64());
    println!("decoded {:e}", isotach::cache::statistics().decoded_bytes as f64);
    Ok(())
}

/// Series along the first axis of a variable of three: the first, 1,000 at random places, one on
/// each page of 1,024 elements; and all slabs along the first and the last axis.
pub fn series(path: &str, variable: &str) -> Result<()> {
    let timed = |name: &str, places: &mut dyn Iterator<Item = (u64, u64, u64)>| -> Result<()> {
        // Opened anew: nothing is in the cache.
        let variable = File::open(path)?.variable(variable)?;
        let steps = variable.shape()?[0];
        let start = Instant::now();
        for (y, x, count) in places {
            let axes = vec![Axis::all(steps), Axis::range(y, 1, 1), Axis::range(x, count, 1)];
            black_box(variable.read(&Selection { axes })?);
        }
        println!("{name} {:e}", start.elapsed().as_secs_f64());
        Ok(())
    };
    let shape = File::open(path)?.variable(variable)?.shape()?;
    let [_, rows, columns] = shape[..] else { return Ok(()) };
    let mut state = 1u64;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    let random: Vec<(u64, u64, u64)> =
        (0..1000).map(|_| (random(rows), random(columns), 1)).collect();
    let map = rows * columns;
    let pages = (0..map / 1024).map(|page| (page * 1024 / columns, page * 1024 % columns, 1));
    timed("first", &mut random.iter().copied().take(1))?;
    timed("random", &mut random.iter().copied())?;
    timed("apart", &mut pages.clone())?;
    timed("twice", &mut pages.clone().chain(pages.clone()))?;
    timed("slabs", &mut (0..rows).map(|y| (y, 0, columns)))?;
    Ok(())
}

/// The median of `runs` timings of `work`.
fn median(runs: usize, mut work: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut seconds = Vec::with_capacity(runs);
    for _ in 0..runs {
        let start = Instant::now();
        work()?;
        seconds.push(start.elapsed().as_secs_f64());
    }
    seconds.sort_by(f64::total_cmp);
    Ok(seconds[runs / 2])
}

pub fn open(path: &str) -> Result<()> {
    let seconds = median(501, || {
        black_box(File::open(path)?);
        Ok(())
    })?;
    println!("open {seconds:e}");
    Ok(())
}

pub fn list(path: &str) -> Result<()> {
    let seconds = median(11, || {
        let file = File::open(path)?;
        black_box(list_group(&file.root())?);
        Ok(())
    })?;
    println!("list {seconds:e}");
    Ok(())
}

/// Counts all there is to name, so that none of it can be left out.
fn list_group(group: &Group) -> Result<usize> {
    let mut count = group.dimensions()?.len() + group.attributes()?.len();
    for variable in group.variables()? {
        let attributes = variable.attributes()?;
        count += attributes.iter().filter(|attribute| attribute.values().is_ok()).count();
        count += variable.dimensions()?.len();
    }
    for inner in group.groups()? {
        count += list_group(&inner)?;
    }
    Ok(count)
}

/// Whole and in slabs, into memory that has been touched, beside `pread` of the same bytes.
pub fn contiguous(path: &str, name: &str) -> Result<()> {
    let file = File::open(path)?;
    let variable = file.variable(name)?;
    let shape = variable.shape()?;
    let (rows, columns) = (shape[0], shape[1]);
    let bytes = (rows * columns * 8) as usize;
    let mut memory = vec![MaybeUninit::new(1_u8); bytes];
    let everything = Selection::all(&shape);
    let offset = contiguous_address(&variable)?;
    let raw = StdFile::open(path).expect("it was just opened");
    for slab_rows in [1, 16, 256, rows] {
        let slab_bytes = (slab_rows * columns * 8) as usize;
        let (mut ours, mut preads) = (Vec::new(), Vec::new());
        for turn in 0..22 {
            // The same memory, in the same state: where it lies decides about a tenth.
            let plain = variable.read_native_into(&everything, &mut memory)?;
            if turn % 2 == 0 {
                let start = Instant::now();
                for (slab, into) in plain.chunks_exact_mut(slab_bytes).enumerate() {
                    let from = offset + (slab * slab_bytes) as u64;
                    raw.read_exact_at(into, from).expect("it is there");
                }
                preads.push(start.elapsed().as_secs_f64());
                continue;
            }
            let start = Instant::now();
            for (slab, into) in memory.chunks_exact_mut(slab_bytes).enumerate() {
                let first = slab as u64 * slab_rows;
                let selection =
                    Selection::hyperslab(&[first, 0], &[slab_rows, columns], None, &shape);
                variable.read_native_into(&selection.expect("it is inside"), into)?;
            }
            ours.push(start.elapsed().as_secs_f64());
        }
        ours.sort_by(f64::total_cmp);
        preads.sort_by(f64::total_cmp);
        println!("slab_{slab_bytes} {:e} {:e}", ours[5], preads[5]);
    }
    Ok(())
}

fn contiguous_address(variable: &isotach::Variable) -> Result<u64> {
    match &variable.array()?.layout.placement {
        isotach::plan::layout::Placement::Strided { address, .. } => Ok(*address),
        _ => {
            eprintln!("the variable is not contiguous");
            std::process::exit(2);
        }
    }
}

/// The plainest parallel reader of deflated chunks: two threads, each `pread` and `inflate` into
/// its own buffer, no unshuffling and no copying into place. What the engine is held against.
pub fn inflate(path: &str, name: &str) -> Result<()> {
    let file = File::open(path)?;
    let array = file.variable(name)?.array()?;
    let isotach::plan::layout::Placement::Chunked(chunked) = &array.layout.placement else {
        eprintln!("the variable is not chunked");
        std::process::exit(2);
    };
    let chunk_bytes =
        chunked.chunk_shape.iter().product::<u64>() as usize * array.layout.element_size;
    let mut places = Vec::new();
    chunked.index.for_each(&mut |_, place| {
        places.push(place);
        Ok(())
    })?;
    let raw = StdFile::open(path).expect("it was just opened");
    let seconds = median(5, || {
        let next = std::sync::atomic::AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let mut inflater = libdeflater::Decompressor::new();
                    let (mut stored, mut decoded) = (Vec::new(), vec![0; chunk_bytes]);
                    loop {
                        let mine = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                        let Some(place) = places.get(mine) else { break };
                        stored.resize(place.stored_bytes as usize, 0);
                        raw.read_exact_at(&mut stored, place.address).expect("it is there");
                        inflater.zlib_decompress(&stored, &mut decoded).expect("it is deflated");
                        black_box(&decoded);
                    }
                });
            }
        });
        Ok(())
    })?;
    println!("inflate {seconds:e}");
    Ok(())
}
