//! Room for unsafe code: memory that filters write before anybody reads it.
//!
//! Filters stand between a stored chunk and the user's array. Zeroing the array first would touch
//! every page twice, so filters write to an [`Output`]: a bounded run of uninitialised bytes of
//! which a growing prefix has been written.
//!
//! The contract:
//! - `buffer[..len]` is initialised, always; only this file moves `len`.
//! - Bytes behind `len` are only ever written, never read.
//! - `len <= buffer.len()`, and `buffer.len()` is the most that a filter may decode: there is no
//!   way to grow it, so a decompression bomb ends in [`ErrorKind::Length`].

use std::mem::MaybeUninit;

use crate::error::ErrorKind;

/// A bounded run of bytes that is filled from the front.
pub(crate) struct Output<'a> {
    buffer: &'a mut [MaybeUninit<u8>],
    len: usize,
}

impl<'a> Output<'a> {
    /// An empty output over `buffer`, which may hold anything.
    pub(crate) fn new(buffer: &'a mut [MaybeUninit<u8>]) -> Self {
        Self { buffer, len: 0 }
    }

    /// Bytes written so far.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The most bytes that can be written in all.
    pub(crate) fn limit(&self) -> usize {
        self.buffer.len()
    }

    /// Bytes that can still be written.
    pub(crate) fn remaining(&self) -> usize {
        self.buffer.len() - self.len
    }

    /// The error of a filter that has more bytes than [`Self::limit`].
    pub(crate) fn overflow(&self) -> ErrorKind {
        ErrorKind::Length {
            expected_bytes: self.limit(),
            decoded_bytes: self.limit().saturating_add(1),
        }
    }

    /// The error of a chunk that says beforehand that it has `len` bytes, more than there may be.
    pub(crate) fn too_long(&self, len: u64) -> ErrorKind {
        let decoded_bytes = usize::try_from(len).unwrap_or(usize::MAX);
        ErrorKind::Length { expected_bytes: self.limit(), decoded_bytes }
    }

    /// Appends `bytes`.
    pub(crate) fn extend(&mut self, bytes: &[u8]) -> Result<(), ErrorKind> {
        let overflow = self.overflow();
        let place = self.buffer[self.len..].get_mut(..bytes.len()).ok_or(overflow)?;
        place.copy_from_slice(as_uninit(bytes));
        self.len += bytes.len();
        Ok(())
    }

    /// Appends `bytes`, for which there is room.
    ///
    /// # Panics
    /// If there is none.
    pub(crate) fn put(&mut self, bytes: &[u8]) {
        self.buffer[self.len..][..bytes.len()].copy_from_slice(as_uninit(bytes));
        self.len += bytes.len();
    }

    /// Appends the first `count` of eight bytes; the others may be written behind them. So bits are
    /// written without a look at how many they are.
    ///
    /// # Panics
    /// If there is no room for all eight.
    #[inline(always)]
    pub(crate) fn put_first(&mut self, bytes: [u8; 8], count: usize) {
        assert!(count <= bytes.len());
        self.buffer[self.len..][..bytes.len()].copy_from_slice(as_uninit(&bytes));
        self.len += count;
    }

    /// Appends `count` bytes that stand `distance` bytes back, which may overlap what they give:
    /// a distance of 1 repeats the last byte. False where there are no such bytes.
    pub(crate) fn repeat_from_back(
        &mut self,
        distance: usize,
        count: usize,
    ) -> Result<bool, ErrorKind> {
        if distance == 0 || distance > self.len {
            return Ok(false);
        }
        if count > self.remaining() {
            return Err(self.overflow());
        }
        let from = self.len - distance;
        if distance >= count {
            self.buffer.copy_within(from..from + count, self.len);
        } else {
            for at in from..from + count {
                self.buffer[at + distance] = self.buffer[at];
            }
        }
        self.len += count;
        Ok(true)
    }

    /// Appends `count` zeros and gives them, for a library that wants initialised memory.
    pub(crate) fn extend_zeroed(&mut self, count: usize) -> Result<&mut [u8], ErrorKind> {
        let overflow = self.overflow();
        let place = self.buffer[self.len..].get_mut(..count).ok_or(overflow)?;
        place.fill(MaybeUninit::new(0));
        self.len += count;
        // SAFETY: the line above wrote every byte of `place`.
        Ok(unsafe { assume_written(place) })
    }

    /// Lets `write` fill `count` bytes in place; it gives back the place it was given, initialised.
    ///
    /// # Panics
    /// If `write` gives back another slice: then nothing says what is in the place.
    pub(crate) fn extend_with(
        &mut self,
        count: usize,
        write: impl FnOnce(&mut [MaybeUninit<u8>]) -> &mut [u8],
    ) -> Result<(), ErrorKind> {
        self.extend_if(count, |place| Some(write(place))).map(|_| ())
    }

    /// As [`Self::extend_with`]; nothing is appended, and it says false, where `write` gives nothing back.
    pub(crate) fn extend_if(
        &mut self,
        count: usize,
        write: impl FnOnce(&mut [MaybeUninit<u8>]) -> Option<&mut [u8]>,
    ) -> Result<bool, ErrorKind> {
        let overflow = self.overflow();
        let place = self.buffer[self.len..].get_mut(..count).ok_or(overflow)?;
        let start = place.as_ptr().cast::<u8>();
        let Some(written) = write(place) else { return Ok(false) };
        assert!(written.as_ptr() == start && written.len() == count, "not the place given");
        self.len += count;
        Ok(true)
    }

    /// Lets `write` fill as much of the remaining bytes as it has; it returns their count.
    ///
    /// # Safety
    /// The first `n` bytes of the slice are initialised when `write` returns `Ok(n)`.
    pub(crate) unsafe fn extend_up_to<E>(
        &mut self,
        write: impl FnOnce(&mut [MaybeUninit<u8>]) -> Result<usize, E>,
    ) -> Result<usize, E> {
        let place = &mut self.buffer[self.len..];
        let room = place.len();
        let count = write(place)?;
        assert!(count <= room, "a writer claims more bytes than it was given");
        self.len += count;
        Ok(count)
    }

    /// The bytes written.
    pub(crate) fn into_written(self) -> &'a mut [u8] {
        // SAFETY: the first `len` bytes are initialised, by the contract.
        unsafe { assume_written(&mut self.buffer[..self.len]) }
    }
}

// SAFETY: the pointer and capacity are those of the whole buffer, and `as_slice` gives the prefix
// that has been written. zstd overwrites from the front, so this serves outputs still empty.
unsafe impl zstd_safe::WriteBuf for Output<'_> {
    fn as_slice(&self) -> &[u8] {
        // SAFETY: the first `len` bytes are initialised, by the contract.
        unsafe { &*(&raw const self.buffer[..self.len] as *const [u8]) }
    }

    fn capacity(&self) -> usize {
        self.buffer.len()
    }

    fn as_mut_ptr(&mut self) -> *mut u8 {
        self.buffer.as_mut_ptr().cast()
    }

    unsafe fn filled_until(&mut self, n: usize) {
        assert!(n <= self.buffer.len(), "a writer claims more bytes than it was given");
        self.len = n;
    }
}

/// Empties `vec` and makes room for `limit` bytes.
pub(crate) fn reserve(vec: &mut Vec<u8>, limit: usize) -> Result<(), ErrorKind> {
    vec.clear();
    vec.try_reserve_exact(limit).map_err(|_| ErrorKind::OutOfMemory { wanted_bytes: limit })
}

/// Empties `vec`, lets `write` fill at most `limit` bytes of it, and keeps what was written.
///
/// On error `vec` is left empty.
pub(crate) fn fill_vec(
    vec: &mut Vec<u8>,
    limit: usize,
    write: impl FnOnce(&mut Output<'_>) -> Result<(), ErrorKind>,
) -> Result<(), ErrorKind> {
    reserve(vec, limit)?;
    fill_reserved(vec, limit, write)
}

/// [`fill_vec`] for a vector in which there is room.
pub(crate) fn fill_reserved<E>(
    vec: &mut Vec<u8>,
    limit: usize,
    write: impl FnOnce(&mut Output<'_>) -> Result<(), E>,
) -> Result<(), E> {
    vec.clear();
    let mut output = Output::new(&mut vec.spare_capacity_mut()[..limit]);
    write(&mut output)?;
    let len = output.len();
    // SAFETY: the output began at the start of the vector's memory and wrote its first `len` bytes.
    unsafe { vec.set_len(len) };
    Ok(())
}

/// `bytes`, for copying to where there may be none yet.
fn as_uninit(bytes: &[u8]) -> &[MaybeUninit<u8>] {
    // SAFETY: the types have the same layout, and what is initialised may count as uninitialised
    // while nobody can write to it.
    unsafe { &*(std::ptr::from_ref(bytes) as *const [MaybeUninit<u8>]) }
}

/// `place` as the bytes that it is.
///
/// # Safety
/// Every byte of `place` has been written.
pub(crate) unsafe fn assume_written(place: &mut [MaybeUninit<u8>]) -> &mut [u8] {
    // SAFETY: the types have the same layout, and the caller vouches for the bytes.
    unsafe { &mut *(std::ptr::from_mut(place) as *mut [u8]) }
}
