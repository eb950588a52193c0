//! Chunk caches.
//!
//! One cache with a budget for the whole process serves all variables whose cache nobody set. Where a program sets one,
//! that bounds what is kept of the variable's decoded chunks: so many bytes, and so many chunks. The preemption is the
//! part of the bytes that chunks do not keep of which all was read: with 1 they go at once, with 0 like others.

use std::ffi::c_int;

use isotach::cache::Bound;
use isotach::sync::Kept;

use super::definition::netcdf4;
use super::find;
use crate::boundary::{answer, put};
use crate::handle;
use crate::model::{OpenFile, VariableNode};
use crate::status::{Outcome, Status};

/// Bytes, places and preemption of a cache.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ChunkCache {
    bytes: usize,
    slot_count: usize,
    preemption: f32,
    /// Whether a program asked for it.
    is_asked: bool,
}

const MEBIBYTE: usize = 1 << 20;
/// Chunks larger than the cache make it larger: so many of them fit.
const CHUNKS_IN_CACHE: u64 = 10;
/// By which no cache becomes larger than this.
const MAX_BYTES: u64 = 64 << 20;

/// What variables begin with.
static DEFAULT: Kept<Option<ChunkCache>> = Kept::fixed(None, None);
/// What they begin with where the program says nothing.
const FIRST: ChunkCache =
    ChunkCache { bytes: 64 * MEBIBYTE, slot_count: 1000, preemption: 0.75, is_asked: false };

fn set_default(cache: ChunkCache) {
    DEFAULT.change(|default| *default = Some(cache));
}

impl Default for ChunkCache {
    fn default() -> Self {
        DEFAULT.read().unwrap_or(FIRST)
    }
}

impl ChunkCache {
    fn new(bytes: usize, slot_count: usize, preemption: f32) -> Outcome<Self> {
        match (0.0..=1.0).contains(&preemption) {
            true => Ok(Self { bytes, slot_count, preemption, is_asked: true }),
            false => Err(Status::EINVAL),
        }
    }

    /// What may be kept, where a program asked for it.
    fn bound(self) -> Option<Bound> {
        let bytes = self.bytes as u64;
        let spent_bytes = (bytes as f64 * f64::from(1.0 - self.preemption)) as u64;
        self.is_asked.then_some(Bound { bytes, chunks: self.slot_count as u64, spent_bytes })
    }

    /// Makes the cache large enough for some chunks of that size.
    pub(super) fn make_room_for(&mut self, chunk_bytes: u64) {
        if chunk_bytes > self.bytes as u64 {
            let wanted = chunk_bytes.saturating_mul(CHUNKS_IN_CACHE).min(MAX_BYTES);
            self.bytes = usize::try_from(wanted).unwrap_or(self.bytes);
        }
    }
}

fn percent(preemption: f32) -> c_int {
    (preemption * 100.0) as c_int
}

/// Sets the chunk cache that variables have which are opened or defined from now on.
#[unsafe(no_mangle)]
pub extern "C" fn nc_set_chunk_cache(bytes: usize, slot_count: usize, preemption: f32) -> c_int {
    answer(|| {
        set_default(ChunkCache::new(bytes, slot_count, preemption)?);
        Ok(())
    })
}

/// The chunk cache that variables begin with.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_get_chunk_cache(
    bytes: *mut usize,
    slot_count: *mut usize,
    preemption: *mut f32,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's places for the three.
        unsafe { put_cache(ChunkCache::default(), bytes, slot_count, preemption) };
        Ok(())
    })
}

/// The same as `nc_set_chunk_cache` for Fortran, the preemption in percent.
#[unsafe(no_mangle)]
pub extern "C" fn nc_set_chunk_cache_ints(
    bytes: c_int,
    slot_count: c_int,
    preemption: c_int,
) -> c_int {
    answer(|| {
        let positive = |value: c_int| match usize::try_from(value) {
            Ok(value @ 1..) => Ok(value),
            _ => Err(Status::EINVAL),
        };
        let (bytes, slot_count) = (positive(bytes)?, positive(slot_count)?);
        let cache = ChunkCache::new(bytes, slot_count, preemption as f32 / 100.0)?;
        set_default(cache);
        Ok(())
    })
}

/// The same as `nc_get_chunk_cache` for Fortran, the preemption in percent.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_get_chunk_cache_ints(
    bytes: *mut c_int,
    slot_count: *mut c_int,
    preemption: *mut c_int,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's places for the three.
        unsafe { put_ints(ChunkCache::default(), 1, bytes, slot_count, preemption) };
        Ok(())
    })
}

/// Sets a variable's chunk cache.
#[unsafe(no_mangle)]
pub extern "C" fn nc_set_var_chunk_cache(
    group: c_int,
    id: c_int,
    bytes: usize,
    slot_count: usize,
    preemption: f32,
) -> c_int {
    answer(|| {
        if !handle::any_file(group)?.is_hdf5() {
            return Err(Status::ENOTNC4);
        }
        let cache = ChunkCache::new(bytes, slot_count, preemption)?;
        find(group, id)?.said().cache = Some(cache);
        Ok(())
    })
}

/// A variable's chunk cache.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_get_var_chunk_cache(
    group: c_int,
    id: c_int,
    bytes: *mut usize,
    slot_count: *mut usize,
    preemption: *mut f32,
) -> c_int {
    answer(|| {
        let cache = cache_of(&*netcdf4(group)?, &*find(group, id)?);
        // SAFETY: the caller's places for the three.
        unsafe { put_cache(cache, bytes, slot_count, preemption) };
        Ok(())
    })
}

/// The same as `nc_set_var_chunk_cache` for Fortran: MiB, and the preemption in percent. What is negative
/// has no limit, or the usual preemption.
#[unsafe(no_mangle)]
pub extern "C" fn nc_set_var_chunk_cache_ints(
    group: c_int,
    id: c_int,
    mebibytes: c_int,
    slot_count: c_int,
    preemption: c_int,
) -> c_int {
    answer(|| {
        let count = |value: c_int| usize::try_from(value).unwrap_or(usize::MAX);
        let bytes = count(mebibytes).saturating_mul(MEBIBYTE);
        let preemption = if preemption < 0 { 0.75 } else { preemption as f32 / 100.0 };
        let cache = ChunkCache::new(bytes, count(slot_count), preemption)?;
        netcdf4(group).map_err(|_| Status::EBADID)?;
        find(group, id)?.said().cache = Some(cache);
        Ok(())
    })
}

/// The same as `nc_get_var_chunk_cache` for Fortran: MiB, and the preemption in percent.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_get_var_chunk_cache_ints(
    group: c_int,
    id: c_int,
    mebibytes: *mut c_int,
    slot_count: *mut c_int,
    preemption: *mut c_int,
) -> c_int {
    answer(|| {
        let file = netcdf4(group).map_err(|_| Status::EBADID)?;
        let cache = cache_of(&file, &*find(group, id)?);
        // SAFETY: the caller's places for the three.
        unsafe { put_ints(cache, MEBIBYTE, mebibytes, slot_count, preemption) };
        Ok(())
    })
}

/// What variables have from the time when their file was opened, or what was said since.
fn cache_of(file: &OpenFile, node: &VariableNode) -> ChunkCache {
    node.said().cache.unwrap_or(file.chunk_cache)
}

/// Bounds what is kept of a variable that is read now, where a program asked for it.
pub(crate) fn take_effect(file: &OpenFile, node: &VariableNode) -> Outcome {
    if let Some(bound) = cache_of(file, node).bound().filter(|_| file.is_hdf5()) {
        isotach::cache::bound(node.variable.array()?.layout.id, bound);
    }
    Ok(())
}

/// # Safety
/// Each of the three is NULL or valid for one element.
unsafe fn put_cache(
    cache: ChunkCache,
    bytes: *mut usize,
    slot_count: *mut usize,
    preemption: *mut f32,
) {
    // SAFETY: by this function's contract.
    unsafe {
        put(bytes, cache.bytes);
        put(slot_count, cache.slot_count);
        put(preemption, cache.preemption);
    }
}

/// # Safety
/// Each of the three is NULL or valid for one element.
unsafe fn put_ints(
    cache: ChunkCache,
    unit: usize,
    bytes: *mut c_int,
    slot_count: *mut c_int,
    preemption: *mut c_int,
) {
    // SAFETY: by this function's contract.
    unsafe {
        put(bytes, (cache.bytes / unit) as c_int);
        put(slot_count, cache.slot_count as c_int);
        put(preemption, percent(cache.preemption));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_chunks_make_the_cache_larger() {
        let mut cache = ChunkCache::new(1000, 1, 0.5).unwrap();
        cache.make_room_for(1000);
        assert_eq!(cache.bytes, 1000);
        cache.make_room_for(1001);
        assert_eq!(cache.bytes, 10_010);
        cache.make_room_for(u64::MAX);
        assert_eq!(cache.bytes, 64 << 20);
    }
}
