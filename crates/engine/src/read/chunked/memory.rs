//! Room for unsafe code: memory for chunks that are decoded to be kept, and how much may be.
//!
//! The contract: a vector's length is set only when all of its memory came back written.

use std::mem::MaybeUninit;

use isotach_codec::pipeline::intermediate_limit;

use crate::error::ErrorKind;
use crate::plan::layout::ChunkPlace;
use crate::read::memory::advise_huge_pages;

/// The largest chunk: HDF5 has 32 bits for its size, and a chunk must be in memory as a whole.
const CHUNK_BYTES: u64 = 4 << 30;
/// Chunks below this size are decoded whatever they promise.
const HARMLESS_BYTES: u64 = 64 << 20;
/// The most decoded bytes for each stored one. Deflate gives at most 1,032, twice deflated data
/// a million; run lengths of bzip2 and zstd lie between.
const EXPANSION: u64 = 1 << 20;

/// Whether so large a chunk may be decoded at all.
pub(super) fn check(chunk_bytes: usize, place: &ChunkPlace) -> Result<(), ErrorKind> {
    let value = chunk_bytes as u64;
    let justified = place.stored_bytes.saturating_mul(EXPANSION).max(HARMLESS_BYTES);
    let limit = CHUNK_BYTES.min(justified);
    let too_much = |limit| ErrorKind::Limit { what: "bytes of a chunk", value, limit };
    if value > limit {
        return Err(too_much(limit));
    }
    // The codec's buffers cannot fail softly: whether there is memory is asked beforehand.
    if value > HARMLESS_BYTES {
        let probe = Vec::<u8>::new().try_reserve_exact(intermediate_limit(chunk_bytes));
        probe.map_err(|_| too_much(HARMLESS_BYTES))?;
    }
    Ok(())
}

/// A vector of `len` bytes that `decode` writes and gives back; in `spare` memory where it fits.
pub(in crate::read) fn decoded_vec<E>(
    spare: Vec<u8>,
    len: usize,
    decode: impl FnOnce(&mut [MaybeUninit<u8>]) -> Result<&mut [u8], E>,
) -> Result<Vec<u8>, E> {
    let mut bytes = spare;
    bytes.clear();
    if bytes.capacity() < len {
        bytes = Vec::with_capacity(len);
        advise_huge_pages(bytes.spare_capacity_mut());
    }
    let memory = &mut bytes.spare_capacity_mut()[..len];
    let start = memory.as_ptr().cast::<u8>();
    let written = decode(memory)?;
    assert!(written.as_ptr() == start && written.len() == len, "other memory came back");
    // SAFETY: all of the first `len` bytes came back written.
    unsafe { bytes.set_len(len) };
    Ok(bytes)
}
