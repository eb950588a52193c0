//! What functions change that only say how: sizes of blocks, of memory, of the chunk cache. In one test, as what they
//! change is the whole process's.

mod support;

use std::ffi::c_int;
use std::path::Path;
use std::ptr::null_mut;

use isotach::cache;
use support::*;

const NC_UBYTE: c_int = 7;
const SIDE: usize = 256;
const CHUNK: usize = 64;
/// Bytes of one chunk of bytes.
const CHUNK_BYTES: usize = CHUNK * CHUNK;

/// A number that the kernel tells of this process.
fn told(file: &str, field: usize, label: &str) -> u64 {
    let text = std::fs::read_to_string(file).unwrap();
    let line = text.lines().find(|line| line.starts_with(label)).unwrap();
    line.split_whitespace().nth(field).unwrap().parse().unwrap()
}

/// A netCDF-4 file of 16 deflated chunks.
fn chunked(folder: &Path) -> std::ffi::CString {
    let path = c(folder.join("chunked.nc").to_str().unwrap());
    let (mut file, mut dimensions, mut variable) = (0, [0; 2], 0);
    let values: Vec<u8> = (0..SIDE * SIDE).map(|at| (at % 251) as u8).collect();
    // SAFETY: strings, places and lists that are there.
    unsafe {
        assert_eq!(nc_create(path.as_ptr(), NC_NETCDF4, &mut file), 0);
        for (name, id) in [c"y", c"x"].into_iter().zip(&mut dimensions) {
            assert_eq!(nc_def_dim(file, name.as_ptr(), SIDE, id), 0);
        }
        let (name, ids) = (c"v".as_ptr(), dimensions.as_ptr());
        assert_eq!(nc_def_var(file, name, NC_UBYTE, 2, ids, &mut variable), 0);
        assert_eq!(nc_def_var_chunking(file, 0, 0, [CHUNK, CHUNK].as_ptr()), 0);
        assert_eq!(nc_def_var_deflate(file, 0, 1, 1, 1), 0);
        assert_eq!(nc_put_var(file, 0, values.as_ptr().cast()), 0);
    }
    assert_eq!(nc_close(file), 0);
    path
}

/// Reads all rows from `first` on, one by one; the chunks that had to be decoded.
fn decoded(file: c_int, rows: std::ops::Range<usize>) -> u64 {
    let before = cache::statistics().decoded_bytes;
    let mut row = vec![0_u8; SIDE];
    for at in rows {
        let (start, count) = ([at, 0], [1, SIDE]);
        // SAFETY: lists of two, and room for a row.
        let status = unsafe {
            nc_get_vara(file, 0, start.as_ptr(), count.as_ptr(), row.as_mut_ptr().cast())
        };
        assert_eq!(status, 0);
        assert!(row.iter().enumerate().all(|(x, &value)| value == ((at * SIDE + x) % 251) as u8));
    }
    (cache::statistics().decoded_bytes - before) / CHUNK_BYTES as u64
}

fn open(path: &std::ffi::CStr) -> c_int {
    let mut file = 0;
    // SAFETY: a string and a place.
    assert_eq!(unsafe { nc_open(path.as_ptr(), 0, &mut file) }, 0);
    file
}

fn chunk_cache(folder: &Path) {
    let path = chunked(folder);
    let kept = || cache::statistics().kept_bytes / CHUNK_BYTES as u64;
    let file = open(&path);
    // A row of chunks is decoded once; nobody has set a bound.
    assert_eq!((decoded(file, 0..32), decoded(file, 0..32)), (4, 0));
    assert_eq!(kept(), 4);
    // So many bytes: two chunks of the four.
    assert_eq!(nc_set_var_chunk_cache(file, 0, 2 * CHUNK_BYTES, 100, 0.0), 0);
    assert!(decoded(file, 0..4) >= 2 * 4);
    assert_eq!(kept(), 2);
    // So many chunks.
    assert_eq!(nc_set_var_chunk_cache(file, 0, 100 * CHUNK_BYTES, 3, 0.0), 0);
    assert!(decoded(file, 0..4) >= 4);
    assert_eq!(kept(), 3);
    // None.
    assert_eq!(nc_set_var_chunk_cache(file, 0, 0, 0, 0.0), 0);
    assert_eq!(decoded(file, 0..2), 8);
    assert_eq!(kept(), 0);
    // What is used up goes at once, or stays.
    for (preemption, stay) in [(1.0, 0), (0.5, 4), (0.0, 8)] {
        let again = open(&path);
        assert_eq!(nc_set_var_chunk_cache(again, 0, 8 * CHUNK_BYTES, 100, preemption), 0);
        assert_eq!(decoded(again, 0..128), 8);
        assert_eq!(kept(), stay, "{preemption}");
        assert_eq!(nc_close(again), 0);
    }
    // Larger than the whole cache, which is the usual one again when the file is closed.
    let usual = cache::budget();
    let larger = usual as usize + 1000 * CHUNK_BYTES;
    assert_eq!(nc_set_var_chunk_cache(file, 0, larger, 100, 0.0), 0);
    decoded(file, 0..1);
    assert_eq!(cache::budget(), larger as u64);
    assert_eq!(nc_close(file), 0);
    assert_eq!(cache::budget(), usual);

    // What is said of all files holds for those that are opened from then on.
    assert_eq!(nc_set_chunk_cache(CHUNK_BYTES, 100, 0.0), 0);
    let file = open(&path);
    assert!(decoded(file, 0..2) >= 6);
    assert_eq!(kept(), 1);
    assert_eq!(nc_close(file), 0);
}

/// Writes a classic file in small pieces, here and there; how many calls to the system that took.
fn calls(folder: &Path, mut block: usize) -> u64 {
    let path = c(folder.join("blocks.nc").to_str().unwrap());
    let (mut file, mut dimension, mut variable) = (0, 0, 0);
    let before = told("/proc/self/io", 1, "syscw:");
    // SAFETY: strings, places and lists that are there.
    unsafe {
        assert_eq!(nc__create(path.as_ptr(), 0, 0, &mut block, &mut file), 0);
        assert_eq!(nc_def_dim(file, c"x".as_ptr(), 1 << 20, &mut dimension), 0);
        assert_eq!(nc_def_var(file, c"v".as_ptr(), NC_BYTE, 1, &dimension, &mut variable), 0);
        assert_eq!(nc_set_fill(file, NC_NOFILL, null_mut()), 0);
        assert_eq!(nc_enddef(file), 0);
        for piece in 0..1024_usize {
            let values = [piece as u8; 512];
            let (start, count) = ([piece * 1024], [512]);
            let values = values.as_ptr().cast();
            assert_eq!(nc_put_vara(file, 0, start.as_ptr(), count.as_ptr(), values), 0);
        }
    }
    assert_eq!(nc_close(file), 0);
    let stored = std::fs::read(folder.join("blocks.nc")).unwrap();
    let values = &stored[stored.len() - (1 << 20)..];
    let is_right = |piece: usize| values[piece * 1024..][..512].iter().all(|&v| v == piece as u8);
    assert!((0..1024).all(is_right));
    told("/proc/self/io", 1, "syscw:") - before
}

fn block_sizes(folder: &Path) {
    let (usual, small, large) = (calls(folder, 0), calls(folder, 8192), calls(folder, 1 << 20));
    // Half a megabyte in pieces of 8 KiB.
    assert!((64..=300).contains(&small), "{small}");
    assert!(usual < 30 && large < 30, "{usual} {large}");

    // The same file opened, 512 bytes in each of its kilobytes: pieces of one block are one call.
    let path = c(folder.join("blocks.nc").to_str().unwrap());
    let write = |mut block: usize| {
        let (mut file, mut variable) = (0, 0);
        // SAFETY: strings, places and lists that are there.
        unsafe {
            assert_eq!(nc__open(path.as_ptr(), NC_WRITE, &mut block, &mut file), 0);
            assert_eq!(nc_inq_varid(file, c"v".as_ptr(), &mut variable), 0);
        }
        assert_eq!(nc_close(file), 0);
        block
    };
    assert_eq!([0, 100, 10_000, 10_001].map(write), [8192, 8192, 10_000, 10_008]);
}

fn initial_size() {
    const BYTES: usize = 300 << 20;
    let page = 4096;
    let size = || told("/proc/self/statm", 0, "") * page;
    let mut file = 0;
    let before = size();
    // SAFETY: a string and a place.
    assert_eq!(unsafe { nc_create_mem(c"memory".as_ptr(), 0, BYTES, &mut file) }, 0);
    assert!(size() - before >= BYTES as u64, "{} of {BYTES}", size() - before);
    assert_eq!(nc_abort(file), 0);
    // SAFETY: a string and a place.
    let status = unsafe { nc_create_mem(c"memory".as_ptr(), 0, usize::MAX, &mut file) };
    assert_ne!(status, 0, "nobody has so much");
}

#[test]
fn what_is_said_is_done() {
    let folder = tempfile::tempdir().unwrap();
    // SAFETY: no other thread of this test looks at the environment.
    unsafe {
        std::env::remove_var("ISOTACH_CACHE");
        // Nothing is decoded ahead.
        std::env::set_var("ISOTACH_THREADS", "1");
    }
    chunk_cache(folder.path());
    block_sizes(folder.path());
    initial_size();
}
