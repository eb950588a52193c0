//! Times writing the values of one variable, beside plain `write` of the same bytes:
//! `cargo run --release -p isotach --example write_values [DIRECTORY [MIB [PART OF A NAME]]]`.
//!
//! Everything goes to a new file each time, without structures around it; the shortest of some runs
//! counts. `MIB` is the size of the compressed rows' array; only rows whose name has the part are run.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use isotach::model::selection::{Axis, Selection};
use isotach::storage::WritableFile;
use isotach::storage::writable_file::Creation;
use isotach::write::data::{Allocate, ChunkParts, ChunkStore, Store, StridedStore, Target};
use isotach_codec::{Filter, Pipeline};

const RUNS: usize = 15;
/// Axes of the 2008 report's table.
const SIDE: u64 = 3162;

/// Space that is never given back.
struct End(AtomicU64);

impl Allocate for End {
    fn allocate(&self, bytes: u64) -> u64 {
        self.0.fetch_add(bytes, Relaxed)
    }

    fn free(&self, _: u64, _: u64) {}
}

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn main() -> Outcome {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments.next().map_or_else(std::env::temp_dir, PathBuf::from);
    let mib: u64 = arguments.next().map_or(Ok(256), |text| text.parse())?;
    let path = directory.join(format!("isotach-write-{}.bin", std::process::id()));
    let part = arguments.next().unwrap_or_default();
    let outcome = squares(&path, &part).and_then(|()| compressed(&path, mib, &part));
    std::fs::remove_file(&path)?;
    outcome
}

/// 3162 x 3162 integers in every way.
fn squares(path: &Path, part: &str) -> Outcome {
    let values: Vec<u8> = (0..(SIDE * SIDE) as u32).flat_map(u32::to_le_bytes).collect();
    let shape = [SIDE, SIDE];
    let plain = shortest(|| {
        let mut file = File::create(path)?;
        let start = Instant::now();
        file.write_all(&values)?;
        Ok(start.elapsed())
    })?;
    report("plain write", plain, values.len(), plain);
    let by_row = shortest(|| {
        let mut file = File::create(path)?;
        let start = Instant::now();
        values.chunks(SIDE as usize * 4).try_for_each(|row| file.write_all(row))?;
        Ok(start.elapsed())
    })?;
    report("plain write, row by row", by_row, values.len(), plain);
    let run = |name: &str, make: &dyn Fn(Target) -> isotach::Result<Store>, rows: u64| {
        if !name.contains(part) {
            return Ok(());
        }
        let time = shortest(|| {
            let store = make(target(path)?)?;
            let start = Instant::now();
            for first in (0..SIDE).step_by(rows as usize) {
                let rows = rows.min(SIDE - first);
                let axes = vec![Axis::range(first, rows, 1), Axis::all(SIDE)];
                let from = (first * SIDE * 4) as usize;
                let bytes = &values[from..from + (rows * SIDE * 4) as usize];
                store.write(&Selection { axes }, bytes, &shape)?;
            }
            store.flush(&shape)?;
            Ok(start.elapsed())
        })?;
        report(name, time, values.len(), plain);
        Outcome::Ok(())
    };
    let strided = |target| {
        let fill: Arc<[u8]> = Arc::new([0; 4]);
        StridedStore::new(target, shape.to_vec(), 4, Some(fill), None).map(Store::Strided)
    };
    run("contiguous, whole", &strided, SIDE)?;
    run("contiguous, row by row", &strided, 1)?;
    for side in [8, 16, 32, 64, 128, 512, 791, SIDE] {
        let make = |target| chunks(target, &[side, side], &shape, Pipeline::default());
        run(&format!("chunks of {side}, whole"), &make, SIDE)?;
        run(&format!("chunks of {side}, row by row"), &make, 1)?;
    }
    Ok(())
}

/// Climate-like numbers, deflated.
fn compressed(path: &Path, mib: u64, part: &str) -> Outcome {
    let (rows, columns) = (1024, 1024);
    let steps = (mib << 20) / (rows * columns * 4);
    let mut state = 1u32;
    let values: Vec<u8> = (0..steps * rows * columns)
        .flat_map(|index| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let noise = (state >> 24) as f32 * 0.01;
            let (x, y) = (index % columns, index / columns % rows);
            let smooth = (x as f32 * 0.01).sin() * 10.0 + (y as f32 * 0.02).cos() * 15.0;
            (280.0 + ((smooth + noise) * 16.0).round() / 16.0).to_le_bytes()
        })
        .collect();
    let shape = [steps, rows, columns];
    let filter =
        |id, parameter| Filter { id, name: None, optional: false, parameters: vec![parameter] };
    for (name, chunk) in [("128 KiB", [1, 32, 1024]), ("4 MiB", [1, 1024, 1024])] {
        for (how, per_write) in [("whole", steps), ("step by step", 1)] {
            let name = format!("shuffle, deflate 1, {name}, {how}");
            if !name.contains(part) {
                continue;
            }
            let time = shortest(|| {
                let pipeline = Pipeline { filters: vec![filter(2, 4), filter(1, 1)] };
                let store = chunks(target(path)?, &chunk, &shape, pipeline)?;
                let start = Instant::now();
                for first in (0..steps).step_by(per_write as usize) {
                    let axes =
                        vec![Axis::range(first, per_write, 1), Axis::all(rows), Axis::all(columns)];
                    let step = (rows * columns * 4) as usize;
                    let bytes = &values[first as usize * step..][..per_write as usize * step];
                    store.write(&Selection { axes }, bytes, &shape)?;
                }
                store.flush(&shape)?;
                Ok(start.elapsed())
            })?;
            let stored = std::fs::metadata(path)?.len();
            let share = 100.0 * stored as f64 / values.len() as f64;
            report(&format!("{name} ({share:.1} %)"), time, values.len(), time);
        }
    }
    Ok(())
}

fn target(path: &Path) -> isotach::Result<Target> {
    // Each one is written to a new file; there may be none yet.
    let _ = std::fs::remove_file(path);
    Ok(Target {
        storage: Arc::new(WritableFile::open(path, Creation::New, false)?),
        space: Arc::new(End(AtomicU64::new(0))),
        file: path.to_string_lossy().into(),
        path: "/v".into(),
    })
}

fn chunks(
    target: Target,
    chunk_shape: &[u64],
    shape: &[u64],
    pipeline: Pipeline,
) -> isotach::Result<Store> {
    let parts = ChunkParts {
        chunk_shape: chunk_shape.to_vec(),
        max_shape: shape.to_vec(),
        element_size: 4,
        fill: Arc::new([0; 4]),
        shape: shape.to_vec(),
        pipeline: Arc::new(pipeline),
        edge_chunks_unfiltered: false,
        existing: None,
    };
    ChunkStore::new(target, parts).map(Store::Chunked)
}

fn shortest(
    mut run: impl FnMut() -> Result<Duration, Box<dyn std::error::Error>>,
) -> Result<Duration, Box<dyn std::error::Error>> {
    let mut shortest = Duration::MAX;
    for _ in 0..RUNS {
        shortest = shortest.min(run()?);
    }
    Ok(shortest)
}

fn report(name: &str, time: Duration, bytes: usize, plain: Duration) {
    let seconds = time.as_secs_f64();
    let rate = bytes as f64 / seconds / 1e6;
    let ratio = seconds / plain.as_secs_f64();
    println!("{name:60} {:9.2} ms {rate:8.0} MB/s {ratio:7.2} x", seconds * 1e3);
}
